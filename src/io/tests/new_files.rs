//! Files that get their name when they are complete.

use super::TempDir;
use crate::io::new_files::{NewFiles, link_or_rename};
use std::fs;

#[test]
fn files_appear_complete_and_replace_nothing() {
    for is_directory in [false, true] {
        let dir = TempDir::new();
        let create = |name: &str| NewFiles::create(dir.join(name), is_directory);
        let mut new = create("new").unwrap().unwrap();
        let temporary = new.temporary_path().to_owned();
        assert!(temporary.exists() && !dir.join("new").exists());
        new.publish(true).unwrap();
        assert!(create("new").is_err());
        drop(new);
        assert!(dir.join("new").exists() && !temporary.exists());

        // Something else gets the name before the file is complete.
        let mut late = create("taken").unwrap().unwrap();
        let temporary = late.temporary_path().to_owned();
        fs::write(dir.join("taken"), "content").unwrap();
        assert!(late.publish(false).is_err());
        drop(late);
        assert!(!temporary.exists());
        assert_eq!(fs::read(dir.join("taken")).unwrap(), b"content");

        assert!(create(&"x".repeat(250)).unwrap().is_none());
    }
}

#[test]
fn links_replace_nothing() {
    let dir = TempDir::new();
    for name in ["from", "to"] {
        fs::write(dir.join(name), name).unwrap();
        fs::create_dir(dir.join(name).with_extension("d")).unwrap();
    }
    assert!(link_or_rename(&dir.join("from"), &dir.join("to")).is_err());
    assert_eq!(fs::read(dir.join("to")).unwrap(), b"to");
    link_or_rename(&dir.join("from"), &dir.join("free")).unwrap();
    assert_eq!(fs::read(dir.join("free")).unwrap(), b"from");
    assert!(!dir.join("from").exists());
    assert!(link_or_rename(&dir.join("from.d"), &dir.join("to.d")).is_err());
    link_or_rename(&dir.join("from.d"), &dir.join("free.d")).unwrap();
    assert!(dir.join("free.d").is_dir() && !dir.join("from.d").exists());
}
