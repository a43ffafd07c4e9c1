//! New chunk files that must be on disk before the next commit (level `power`).
//!
//! The system writes the files to disk while the change goes on, and the files are synchronised together: on file
//! systems with a journal, the first `fdatasync` of a group writes the journal for all of them. Each file stays open
//! until it is synchronised, because a file that is closed and opened again may not report that writing it has failed.

use crate::error::{Result, err};
use crate::fallible;
use crate::io::IoStream;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of files that are kept open and synchronised together.
const MAX_OPEN_FILES: usize = 32;

/// Chunk files that may not be on disk yet. Copies share the state of the files.
#[derive(Clone, Default)]
pub(super) struct UnsyncedFiles {
    files: Vec<Arc<UnsyncedFile>>,
    /// Whether each file is synchronised when it is added, because the process has too many open files.
    keeps_none_open: bool,
}

/// A chunk file that may not be on disk yet.
struct UnsyncedFile {
    number: u64,
    state: Mutex<SyncState>,
}

enum SyncState {
    Open(IoStream),
    Synced,
    /// A synchronisation has failed. A later one may succeed although the file is not on disk.
    Failed,
}

impl UnsyncedFiles {
    pub(super) fn try_clone(&self) -> Result<UnsyncedFiles> {
        Ok(UnsyncedFiles { files: fallible::collect(self.files.iter().cloned())?, ..*self })
    }

    /// Adds a file, and starts writing it to disk. If there are too many files, waits until all are on disk.
    ///
    /// # Errors
    /// `FileWrite`, perhaps for a file that was added before; `MemoryAlloc`.
    pub(super) fn add(&mut self, number: u64, stream: IoStream) -> Result<()> {
        stream.start_write_back();
        let file = UnsyncedFile { number, state: Mutex::new(SyncState::Open(stream)) };
        fallible::push(&mut self.files, Arc::new(file))?;
        if self.files.len() < MAX_OPEN_FILES && !self.keeps_none_open { Ok(()) } else { self.sync() }
    }

    /// Synchronises and closes all files, and later each file when it is added.
    pub(super) fn keep_none_open(&mut self) -> Result<()> {
        self.keeps_none_open = true;
        self.sync()
    }

    /// Removes a file that the next commit does not refer to, if it is there.
    pub(super) fn forget(&mut self, number: u64) {
        self.files.retain(|file| file.number != number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Waits until all files are on disk, and closes them. A file for which that fails stays, so that later calls fail
    /// too.
    pub(super) fn sync(&mut self) -> Result<()> {
        while let Some(file) = self.files.first() {
            file.sync()?;
            self.files.remove(0);
        }
        Ok(())
    }
}

impl UnsyncedFile {
    fn sync(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = match &*state {
            SyncState::Open(stream) => stream.sync_data(),
            SyncState::Synced => Ok(()),
            SyncState::Failed => {
                Err(err!(FileWrite, "chunk file {} could not be written to disk before", self.number))
            }
        };
        *state = if synced.is_ok() { SyncState::Synced } else { SyncState::Failed };
        synced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::tests::TempDir;
    use crate::io::{Backend, OpenMode};

    /// Opens a file that cannot be synchronised.
    fn unsyncable() -> IoStream {
        Backend::native().open(c"/dev/null", OpenMode::Update).expect("a device")
    }

    fn text(result: Result<()>) -> String {
        result.map_or_else(|error| error.to_string(), |()| "no error".to_string())
    }

    #[test]
    fn failed_synchronisation_is_not_repeated_and_fails_in_copies_too() {
        let mut files = UnsyncedFiles::default();
        files.add(7, unsyncable()).unwrap();
        let mut copy = files.clone();
        let first = text(files.sync());
        assert!(first.contains("to disk:"), "{first}");
        for files in [&mut files, &mut copy] {
            let second = text(files.sync());
            assert!(second.contains("chunk file 7 could not be written to disk before"), "{second}");
        }
        copy.forget(8);
        assert!(!copy.is_empty());
        copy.forget(7);
        copy.sync().unwrap();
        assert!(!files.is_empty(), "the file is forgotten in the copy only");
    }

    #[test]
    fn limit_of_open_files_is_kept() {
        let dir = TempDir::new();
        let name = dir.c_path("file");
        let open = || Backend::native().open(&name, OpenMode::Create).expect("a file");
        let mut files = UnsyncedFiles::default();
        for number in 0..MAX_OPEN_FILES as u64 - 1 {
            files.add(number, open()).unwrap();
        }
        let copy = files.clone();
        files.add(99, open()).unwrap();
        assert!(files.is_empty());
        let is_closed = |file: &Arc<UnsyncedFile>| matches!(*file.state.lock().unwrap(), SyncState::Synced);
        assert!(copy.files.iter().all(is_closed), "copies keep no file open");
    }
}
