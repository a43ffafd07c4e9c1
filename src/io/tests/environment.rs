//! Environment variables: each value is tested in a separate process.

use super::*;
use std::fs;
use std::process::Command;

/// The variable that holds the result that a child process must find.
const EXPECTED: &str = "BLOSC2_IO_TEST_EXPECTS";

/// In a child process, checks that `what()` returns the expected result; otherwise starts a child for each value of
/// `variable`.
fn in_children(test: &str, variable: &str, values: &[(Option<&str>, bool)], what: impl FnOnce() -> bool) {
    if let Some(expected) = std::env::var_os(EXPECTED) {
        assert_eq!(what().to_string().as_str(), expected);
        return;
    }
    for &(value, expected) in values {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([&format!("io::tests::environment::{test}"), "--exact"]).env_remove(variable);
        child.env(EXPECTED, expected.to_string());
        if let Some(value) = value {
            child.env(variable, value);
        }
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{variable}={value:?} is not {expected}: {text}"
        );
    }
}

#[test]
fn locking() {
    let values =
        [(None, false), (Some(""), false), (Some("0"), false), (Some("00"), true), (Some("1"), true)];
    in_children("locking", "BLOSC_LOCKING", &values, || Backend::native().wants_locking());
}

#[test]
fn kept_readers() {
    // The value is read as by `strtol`: text that is not a number is 0.
    let values = [
        (None, true),
        (Some(""), true),
        (Some("-1"), true),
        (Some("5x"), true),
        (Some("99999999999"), true),
        (Some("0"), false),
        (Some("abc"), false),
    ];
    in_children("kept_readers", "BLOSC_MAX_CACHED_READERS", &values, || {
        let dir = TempDir::new();
        fs::write(dir.join("file"), "0").unwrap();
        let reader = CachedReader::new(Backend::native(), dir.c_path("file"));
        reader.with(|_| Ok(())).unwrap();
        fs::remove_file(dir.join("file")).unwrap();
        reader.with(|_| Ok(())).is_ok()
    });
}

#[test]
fn no_more_readers_are_kept_than_allowed() {
    in_children(
        "no_more_readers_are_kept_than_allowed",
        "BLOSC_MAX_CACHED_READERS",
        &[(Some("2"), true)],
        || {
            let dir = TempDir::new();
            fs::write(dir.join("file"), "0").unwrap();
            let mut readers: Vec<_> =
                (0..4).map(|_| CachedReader::new(Backend::native(), dir.c_path("file"))).collect();
            for reader in &readers {
                reader.with(|_| Ok(())).unwrap();
            }
            // One descriptor slot is free again, but not for readers that were refused one.
            readers.remove(0);
            readers.push(CachedReader::new(Backend::native(), dir.c_path("file")));
            for reader in &readers {
                reader.with(|_| Ok(())).unwrap();
            }
            fs::remove_file(dir.join("file")).unwrap();
            let kept: Vec<_> = readers.iter().map(|reader| reader.with(|_| Ok(())).is_ok()).collect();
            kept == [true, false, false, true]
        },
    );
}
