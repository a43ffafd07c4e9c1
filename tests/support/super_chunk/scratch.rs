//! A directory for the files of one test, removed afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A new temporary directory.
pub struct ScratchDir {
    root: PathBuf,
    next: AtomicU32,
}

impl ScratchDir {
    pub fn new() -> ScratchDir {
        ScratchDir::below(&std::env::temp_dir())
    }

    /// Returns a directory in memory, if the system has a file system for that. A test that creates and removes many
    /// files takes 7 times as much system time on ext4 (`durability level_off::outcomes`), because ext4 does not use
    /// the inode of a removed file again for 5 seconds.
    pub fn in_memory() -> ScratchDir {
        let place = Path::new("/dev/shm");
        if place.is_dir() { ScratchDir::below(place) } else { ScratchDir::new() }
    }

    fn below(place: &Path) -> ScratchDir {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("blosc2-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let root = place.join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).expect("a directory for the test");
        ScratchDir { root, next: AtomicU32::new(0) }
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Returns an unused path in the directory.
    pub fn new_path(&self) -> PathBuf {
        self.root.join(format!("{}.b2frame", self.next.fetch_add(1, Relaxed)))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
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
