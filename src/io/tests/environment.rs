//! Environment variables: each value is tested in a separate process.

use super::*;
use std::fs;
use std::process::Command;

/// The variable that holds the result that a child process must find.
const EXPECTED_RESULT_VAR: &str = "BLOSC2_IO_TEST_EXPECTS";

/// In a child process, checks that `what()` returns the expected result; otherwise starts a child for each value of
/// `variable`.
fn run_in_child_processes(
    test: &str,
    variable: &str,
    values: &[(Option<&str>, bool)],
    what: impl FnOnce() -> bool,
) {
    if let Some(expected) = std::env::var_os(EXPECTED_RESULT_VAR) {
        assert_eq!(what().to_string().as_str(), expected);
        return;
    }
    for &(value, expected) in values {
        let program = std::env::current_exe().unwrap();
        // A program that runs in an emulator must start another one in it, too.
        let runner = std::env::var_os("BLOSC2_TEST_RUNNER").filter(|runner| !runner.is_empty());
        let mut child = Command::new(runner.as_deref().unwrap_or(program.as_os_str()));
        if runner.is_some() {
            child.arg(&program);
        }
        child.args([&format!("io::tests::environment::{test}"), "--exact"]).env_remove(variable);
        child.env(EXPECTED_RESULT_VAR, expected.to_string());
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
fn blosc_locking_variable_enables_locking() {
    let values =
        [(None, false), (Some(""), false), (Some("0"), false), (Some("00"), true), (Some("1"), true)];
    run_in_child_processes("blosc_locking_variable_enables_locking", "BLOSC_LOCKING", &values, || {
        Backend::native().needs_locking()
    });
}

#[test]
fn reader_is_cached_unless_the_variable_is_zero() {
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
    run_in_child_processes(
        "reader_is_cached_unless_the_variable_is_zero",
        "BLOSC_MAX_CACHED_READERS",
        &values,
        || {
            let dir = TempDir::new();
            fs::write(dir.join("file"), "0").unwrap();
            let reader = PathReader::new(dir.c_path("file"));
            reader.with_stream(|_| Ok(())).unwrap();
            fs::remove_file(dir.join("file")).unwrap();
            reader.with_stream(|_| Ok(())).is_ok()
        },
    );
}

#[test]
fn cached_readers_do_not_exceed_the_limit() {
    run_in_child_processes(
        "cached_readers_do_not_exceed_the_limit",
        "BLOSC_MAX_CACHED_READERS",
        &[(Some("2"), true)],
        || {
            let dir = TempDir::new();
            fs::write(dir.join("file"), "0").unwrap();
            let mut readers: Vec<_> = (0..4).map(|_| PathReader::new(dir.c_path("file"))).collect();
            for reader in &readers {
                reader.with_stream(|_| Ok(())).unwrap();
            }
            // One descriptor slot is free again, but not for readers that were refused one.
            readers.remove(0);
            readers.push(PathReader::new(dir.c_path("file")));
            for reader in &readers {
                reader.with_stream(|_| Ok(())).unwrap();
            }
            fs::remove_file(dir.join("file")).unwrap();
            let kept: Vec<_> = readers.iter().map(|reader| reader.with_stream(|_| Ok(())).is_ok()).collect();
            kept == [true, false, false, true]
        },
    );
}
