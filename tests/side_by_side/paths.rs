//! Removing and renaming on the host's file system (abi.md 2.10, frame.md 3.3).

use std::ffi::{CString, c_int};
use std::fs;
use std::os::unix::fs::symlink;

use crate::support::files::{TempDir, c_path};
use crate::support::library::Library;

/// The steps of a scenario with their results.
type StepLog = Vec<String>;

/// Runs the same steps with both libraries, each in a new directory; the results and the remaining files must be
/// equal.
fn compare_step_logs(scenario: impl Fn(&Library, &TempDir, &mut StepLog)) {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let [mine, theirs] = [ours, reference].map(|library| {
        let (dir, mut log) = (TempDir::new(), StepLog::new());
        scenario(library, &dir, &mut log);
        log.extend(dir.listing());
        let unnamed = dir.path().to_string_lossy().into_owned();
        log.into_iter().map(|line| line.replace(&unnamed, "DIR")).collect::<StepLog>()
    });
    assert_eq!(mine, theirs, "ours (left) and the reference (right)");
}

fn remove_dir(library: &Library, path: &CString) -> c_int {
    // SAFETY: a string.
    unsafe { (library.blosc2_remove_dir)(path.as_ptr()) }
}

fn remove_urlpath(library: &Library, path: &CString) -> c_int {
    // SAFETY: a string.
    unsafe { (library.blosc2_remove_urlpath)(path.as_ptr()) }
}

fn rename(library: &Library, old: &CString, new: &CString) -> c_int {
    // SAFETY: two strings, which are not written to.
    unsafe { (library.blosc2_rename_urlpath)(old.as_ptr().cast_mut(), new.as_ptr().cast_mut()) }
}

#[test]
fn directories_are_removed_as_by_the_reference() {
    compare_step_logs(|library, dir, log| {
        // SAFETY: NULL is allowed.
        log.push(format!("NULL: {}", unsafe { (library.blosc2_remove_dir)(std::ptr::null()) }));
        for (name, end) in [("plain", ""), ("slash", "/"), ("backslash", "\\"), ("two", "//")] {
            fs::create_dir(dir.join(name)).unwrap();
            fs::write(dir.join(name).join("a"), "1").unwrap();
            fs::write(dir.join(name).join(".hidden"), "2").unwrap();
            let path = dir.c_path(&format!("{name}{end}"));
            log.push(format!("{path:?}: {}", remove_dir(library, &path)));
            log.push(format!("{path:?} again: {}", remove_dir(library, &path)));
        }
        fs::create_dir_all(dir.join("nested/inner")).unwrap();
        log.push(format!("nested: {}", remove_dir(library, &dir.c_path("nested"))));
        fs::create_dir(dir.join("dangling")).unwrap();
        symlink("nowhere", dir.join("dangling/link")).unwrap();
        log.push(format!("dangling: {}", remove_dir(library, &dir.c_path("dangling"))));
        log.push(format!("link left: {}", dir.join("dangling/link").is_symlink()));
        fs::create_dir(dir.join("links")).unwrap();
        fs::write(dir.join("kept"), "kept").unwrap();
        symlink(dir.join("kept"), dir.join("links/file")).unwrap();
        log.push(format!("links: {}", remove_dir(library, &dir.c_path("links"))));
        fs::write(dir.join("file"), "3").unwrap();
        for name in ["file", "missing", "file/below", ""] {
            let path = if name.is_empty() { CString::default() } else { dir.c_path(name) };
            log.push(format!("{name:?}: {}", remove_dir(library, &path)));
        }
    });
}

#[test]
fn frames_are_removed_as_by_the_reference() {
    compare_step_logs(|library, dir, log| {
        // SAFETY: NULL is allowed.
        log.push(format!("NULL: {}", unsafe { (library.blosc2_remove_urlpath)(std::ptr::null()) }));
        fs::write(dir.join("frame"), "1").unwrap();
        fs::write(dir.join("frame.b2lock"), "2").unwrap();
        fs::write(dir.join("other.b2lock"), "3").unwrap();
        fs::create_dir(dir.join("sparse")).unwrap();
        fs::write(dir.join("sparse/chunks.b2frame"), "4").unwrap();
        fs::write(dir.join("sparse/.b2lock"), "5").unwrap();
        fs::create_dir(dir.join("sparse2")).unwrap();
        fs::create_dir_all(dir.join("nested/inner")).unwrap();
        symlink("nowhere", dir.join("dangling")).unwrap();
        for name in [
            "frame",
            "frame",
            "sparse",
            "sparse2/",
            "other",
            "missing",
            "other.b2lock/below",
            "nested",
            "dangling",
        ] {
            log.push(format!("{name}: {}", remove_urlpath(library, &dir.c_path(name))));
        }
        log.push(format!("empty: {}", remove_urlpath(library, &CString::default())));
        log.push(format!("link left: {}", dir.join("dangling").is_symlink()));
    });
}

#[test]
fn frames_are_renamed_as_by_the_reference() {
    compare_step_logs(|library, dir, log| {
        fs::write(dir.join("frame"), "1").unwrap();
        fs::write(dir.join("frame.b2lock"), "2").unwrap();
        fs::write(dir.join("target"), "3").unwrap();
        fs::create_dir(dir.join("sparse")).unwrap();
        fs::create_dir(dir.join("full")).unwrap();
        fs::write(dir.join("full/a"), "4").unwrap();
        for (old, new) in [
            ("missing", "new"),
            ("frame", "new"),
            ("new", "target"),
            ("target", "full"),
            ("target", "missing/new"),
            ("sparse", "sparse3"),
            ("sparse3", "full"),
            ("sparse3/", "sparse4"),
        ] {
            let result = rename(library, &dir.c_path(old), &dir.c_path(new));
            log.push(format!("{old} to {new}: {result}"));
        }
        let path = c_path(&dir.join("target"));
        let (some, null) = (path.as_ptr().cast_mut(), std::ptr::null_mut());
        for (old, new) in [(null, some), (some, null), (null, null)] {
            // SAFETY: strings or NULL.
            log.push(format!("NULL: {}", unsafe { (library.blosc2_rename_urlpath)(old, new) }));
        }
    });
}
