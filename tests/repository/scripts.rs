//! Checks that each script prints its usage with `--help`, and does nothing else then.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that a script must not start for its usage.
const TOOLS: [&str; 11] =
    ["cargo", "rustc", "rustup", "cc", "gcc", "git", "pip", "curl", "valgrind", "apt-get", "make"];

/// Returns an empty directory in the temporary directory of the tests.
fn empty_directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("the directory of the last run can be removed");
    }
    fs::create_dir_all(&path).expect("a directory");
    path
}

/// Writes a program for each of [`TOOLS`] that appends its name to `log` and fails.
fn write_failing_tools(directory: &Path, log: &Path) {
    for tool in TOOLS {
        let path = directory.join(tool);
        fs::write(&path, format!("#!/bin/sh\necho {tool} >>'{}'\nexit 1\n", log.display()))
            .expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable script");
    }
}

#[test]
fn each_script_prints_its_usage() {
    let root = crate::root();
    let mut scripts: Vec<String> = fs::read_dir(root.join("scripts"))
        .expect("scripts/")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_file())
        .map(|entry| format!("scripts/{}", entry.file_name().to_string_lossy()))
        .collect();
    scripts.extend([".ci/run".to_string(), "capi-tests/clients/run.sh".to_string()]);
    scripts.sort();
    assert!(scripts.len() > 20, "{scripts:?}");

    let tools = empty_directory("failing tools");
    let log = tools.join("log");
    write_failing_tools(&tools, &log);
    let work = empty_directory("work of scripts");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    for script in &scripts {
        for option in ["--help", "-h"] {
            let output = Command::new(root.join(script))
                .arg(option)
                .current_dir(&work)
                .env("PATH", &path)
                .env("TMPDIR", &work)
                .env("CARGO_TARGET_DIR", &work)
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .output()
                .unwrap_or_else(|e| panic!("{script}: {e}"));
            let usage = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && errors.is_empty(), "{script} {option}: {usage}{errors}");
            assert!(usage.lines().count() >= 3, "{script} {option} prints no usage: {usage}");
            // A line with the command, indented.
            let command = |line: &str| line.starts_with("  ") && line.contains(script.as_str());
            assert!(usage.lines().any(command), "{script} {option} does not show the command: {usage}");
            assert!(!usage.contains("set -e"), "{script} {option} prints its code: {usage}");
        }
        let started = fs::read_to_string(&log).unwrap_or_default();
        assert!(started.is_empty(), "{script} starts programs for its usage: {started}");
        let left = fs::read_dir(&work).expect("the directory").count();
        assert_eq!(left, 0, "{script} writes files for its usage");
    }
}
