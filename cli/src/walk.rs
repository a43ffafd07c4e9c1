//! The files in directories, and in the directories in them.

use crate::error::{Failure, WithPath};
use crate::kind::Kind;
use crate::store;
use crate::terminal::Terminal;
use crate::transfer::for_each_file;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that were found.
pub(crate) struct Found {
    /// Sorted by name.
    pub files: Vec<PathBuf>,
    /// Whether all directories and files could be read. The others are reported.
    pub is_whole: bool,
}

impl Found {
    /// Returns the files and the directories of sparse frames for which `is_wanted` returns `true`, in a directory and the
    /// directories in it. Symbolic links are left out.
    pub(crate) fn in_directory(
        directory: &Path,
        terminal: &Terminal,
        is_wanted: impl Fn(Kind, &Path) -> bool,
    ) -> Found {
        let mut found = Found { files: Vec::new(), is_whole: true };
        // A list instead of recursion, so that the depth of the directories has no limit.
        let mut pending = vec![directory.to_owned()];
        while let Some(path) = pending.pop() {
            let entries = Kind::of(&path).and_then(|kind| match kind {
                Kind::Directory => sorted_entries(&path),
                kind => {
                    if is_wanted(kind, &path) {
                        found.files.push(path);
                    }
                    Ok(Vec::new())
                }
            });
            match entries {
                Ok(entries) => pending.extend(entries.into_iter().rev()),
                Err(failure) => {
                    found.is_whole = false;
                    terminal.error(failure.message().unwrap_or_default());
                }
            }
        }
        found
    }

    /// Returns `paths`, where, if `recursive`, directories are replaced by the wanted files in them.
    pub(crate) fn expand(
        paths: &[PathBuf],
        recursive: bool,
        terminal: &Terminal,
        is_wanted: impl Fn(Kind, &Path) -> bool,
    ) -> Found {
        let mut all = Found { files: Vec::new(), is_whole: true };
        for path in paths {
            if !recursive || !matches!(Kind::of(path), Ok(Kind::Directory)) {
                all.files.push(path.clone());
                continue;
            }
            let found = Found::in_directory(path, terminal, &is_wanted);
            all.files.extend(found.files);
            all.is_whole &= found.is_whole;
        }
        all
    }

    /// Runs `action` for each file, as [`for_each_file`].
    pub(crate) fn for_each(
        &self,
        terminal: &Terminal,
        action: impl FnMut(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for_each_file(&self.files, terminal, action)?;
        if self.is_whole { Ok(()) } else { Err(Failure::reported()) }
    }
}

/// Returns `paths`, where stores are replaced by their members, for example `store.b2z/group/array`.
pub(crate) fn with_members(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        if store::is_store(path) {
            all.extend(
                store::members(path)?.iter().map(|member| path.join(member.key.trim_start_matches('/'))),
            );
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

/// Returns the files and directories in a directory, sorted by name.
fn sorted_entries(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).with_path(directory)? {
        let entry = entry.with_path(directory)?;
        let file_type = entry.file_type().with_path(directory)?;
        // Neither symbolic links nor devices and pipes.
        if file_type.is_file() || file_type.is_dir() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}
