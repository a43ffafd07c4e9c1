use super::super::replacement::{Replacement, write_whole_file};
use super::*;
use crate::os::{self, FileStat, Ownership};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

/// Returns the names in a directory, sorted.
fn names(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(&dir.0).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Replaces the file called `file` and returns the new one, which must take its place.
#[track_caller]
fn replace(dir: &TempDir, text: &str) -> fs::File {
    let path = dir.c_path("file");
    let new = Replacement::prepare(&path, text.as_bytes()).unwrap().commit(false).unwrap();
    new.expect("a new file")
}

#[test]
fn file_is_replaced_by_a_new_one_with_its_permissions() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "a first, longer text").unwrap();
    #[cfg(unix)]
    fs::set_permissions(dir.join("file"), fs::Permissions::from_mode(0o640)).unwrap();
    let old = fs::metadata(dir.join("file")).unwrap();
    let identity = |file: &fs::File| FileStat::of(file).map(|found| found.identity);
    let mut last = None;
    for text in ["second", "third"] {
        let new = replace(&dir, text);
        let found = fs::metadata(dir.join("file")).unwrap();
        assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), text);
        assert_eq!(Ownership::of(&found).mode, Ownership::of(&old).mode, "{text}");
        let at_path = FileStat::at(&dir.c_path("file")).map(|found| found.identity);
        assert_eq!(at_path, identity(&new), "{text}: the returned file");
        let mut bytes = vec![0; text.len()];
        os::read_exact_at(&new, &mut bytes, 0).unwrap();
        assert_eq!(bytes, text.as_bytes(), "{text}: the returned file can be read");
        assert_ne!(at_path, last, "{text}: another file");
        last = at_path;
    }
    assert_eq!(names(&dir), ["file"]);
}

#[test]
fn open_file_keeps_its_content_through_two_replacements() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "first").unwrap();
    let reader = fs::File::open(dir.join("file")).unwrap();
    let second = replace(&dir, "other");
    replace(&dir, "third");
    let mut bytes = [0; 5];
    os::read_exact_at(&reader, &mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"first");
    os::read_exact_at(&second, &mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"other");
}

#[test]
fn dropped_replacement_leaves_the_old_file_alone() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "old").unwrap();
    let path = dir.c_path("file");
    let new = Replacement::prepare(&path, b"new").unwrap();
    assert_eq!(names(&dir).len(), 2, "the new file is beside the old one");
    new.start_write_back();
    drop(new);
    assert_eq!(names(&dir), ["file"]);
    assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "old");
}

#[test]
#[cfg(unix)]
fn file_that_became_a_link_stays_a_link() {
    let dir = TempDir::new();
    drop(replace(&dir, "first"));
    fs::rename(dir.join("file"), dir.join("target")).unwrap();
    symlink("target", dir.join("file")).unwrap();
    replace(&dir, "second");
    assert!(dir.join("file").is_symlink());
    assert_eq!(fs::read_to_string(dir.join("target")).unwrap(), "second");
    assert_eq!(names(&dir), ["file", "target"]);
}

#[test]
fn file_that_got_a_second_name_is_overwritten_in_place() {
    let dir = TempDir::new();
    drop(replace(&dir, "a first, longer text"));
    fs::hard_link(dir.join("file"), dir.join("other")).unwrap();
    let path = dir.c_path("file");
    assert!(Replacement::prepare(&path, b"second").unwrap().commit(false).unwrap().is_none());
    assert_eq!(fs::read_to_string(dir.join("other")).unwrap(), "second");
    assert_eq!(names(&dir), ["file", "other"]);
}

#[test]
fn whole_file_is_created_where_there_is_none() {
    let dir = TempDir::new();
    write_whole_file(&dir.c_path("file"), b"text", true).unwrap();
    assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "text");
    assert_eq!(names(&dir), ["file"]);
    assert_eq!(error_code(write_whole_file(&dir.c_path("none/file"), b"text", false)), -15);
}
