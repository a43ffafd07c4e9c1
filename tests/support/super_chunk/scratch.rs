//! A directory for the files of one test, removed afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::support::files::TempDir;

/// A new temporary directory.
pub struct ScratchDir {
    root: TempDir,
    next: AtomicU32,
}

impl ScratchDir {
    pub fn new() -> ScratchDir {
        ScratchDir { root: TempDir::new(), next: AtomicU32::new(0) }
    }

    /// Returns a directory in memory, if the system has a file system for that. A test that creates and removes many
    /// files takes 7 times as much system time on ext4 (`durability level_off::outcomes`), because ext4 does not use
    /// the inode of a removed file again for 5 seconds.
    pub fn in_memory() -> ScratchDir {
        let place = Path::new("/dev/shm");
        let root = if place.is_dir() { TempDir::below(place) } else { TempDir::new() };
        ScratchDir { root, next: AtomicU32::new(0) }
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Returns an unused path in the directory.
    pub fn new_path(&self) -> PathBuf {
        self.root.join(&format!("{}.b2frame", self.next.fetch_add(1, Relaxed)))
    }
}

/// Returns the files of a directory and their contents.
pub fn read_files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| {
            let path = entry.expect("a directory entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("a file"))
        })
        .collect()
}
