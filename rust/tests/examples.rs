//! The example programs run. `cargo test -p blosc2-safe` builds them; with `--test`, `cargo build --examples` has to be first.

use std::path::PathBuf;
use std::process::Command;

/// Runs an example with arguments, and returns its output.
fn run(name: &str, arguments: &[&std::ffi::OsStr]) -> String {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    // From `deps/examples-HASH`.
    path.pop();
    path.pop();
    path.push("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&path)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{path:?}: {error}; `cargo build --examples` builds it"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The name by which scripts skip the tests where no examples are built.
mod example_programs {
    use super::run;

    #[test]
    fn array_on_disk() {
        let directory = tempfile::tempdir().unwrap();
        let text = run("array_on_disk", &[directory.path().join("a").as_os_str()]);
        assert!(text.contains("1000000 items"), "{text}");
    }

    #[test]
    fn climate() {
        let directory = tempfile::tempdir().unwrap();
        let text = run("climate", &[directory.path().join("a").as_os_str()]);
        assert!(text.contains("12 chunks") && text.contains("month 11"), "{text}");
    }

    #[test]
    fn crash_log() {
        let directory = tempfile::tempdir().unwrap();
        let text = run("crash_log", &[directory.path().join("a").as_os_str()]);
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[cfg(all(feature = "ndarray", feature = "ndarray-0_16"))]
    #[test]
    fn ndarray_interop() {
        let text = run("ndarray_interop", &[]);
        assert!(text.contains("[300, 200]"), "{text}");
    }
}
