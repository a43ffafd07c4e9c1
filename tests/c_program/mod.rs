//! Compiles and runs the C programs of `capi-tests/` for the tests of the headers and of the package.
#![allow(dead_code)] // each test binary uses a part of this module

use libblosc2_test_support::support::child::target_command;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the directory of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the directory of the repository")
}

/// Prints to the terminal, bypassing the output capture of the test harness, which tests are skipped and why.
pub fn print_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The headers of the reference: `BLOSC2_REFERENCE_INCLUDE`, those next to the library that `BLOSC2_REFERENCE` names,
/// or those that `scripts/fetch-reference.sh` fetched. With `BLOSC2_REQUIRE_REFERENCE=1` they must exist.
pub fn reference_include() -> Option<PathBuf> {
    let named = std::env::var_os("BLOSC2_REFERENCE_INCLUDE").map(PathBuf::from);
    let beside =
        || Some(Path::new(&std::env::var_os("BLOSC2_REFERENCE")?).parent()?.parent()?.join("include"));
    let place = named.or_else(beside).unwrap_or_else(|| root().join("reference/blosc2/include"));
    if place.join("blosc2.h").is_file() {
        return Some(place);
    }
    let required = std::env::var("BLOSC2_REQUIRE_REFERENCE").is_ok_and(|value| value != "0");
    assert!(!required, "no headers of the reference at {}", place.display());
    print_skipped(&format!(
        "no headers of the reference at {} (run scripts/fetch-reference.sh)",
        place.display()
    ));
    None
}

/// Returns a command for the C compiler, `CC` or `cc`.
pub fn c_compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Compiles `capi-tests/<source>` against the headers in `include`, with additional arguments. Returns the path of
/// the program in the temporary directory of the test, under a name that `tag` makes unique.
pub fn build(source: &str, include: &Path, tag: &str, arguments: &[OsString]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{tag}", source.replace('.', "-")));
    let output = c_compiler()
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(include)
        .arg(root().join("capi-tests").join(source))
        .arg("-o")
        .arg(&program)
        .args(arguments)
        .output()
        .expect("the tests need a C compiler");
    assert!(output.status.success(), "{source}:\n{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs a program, which must succeed, without any variable of the library in its environment.
pub fn run(command: &mut Command) -> Output {
    for name in ["BLOSC_TRACE", "BLOSC_INFO"] {
        if !command.get_envs().any(|(key, _)| key == name) {
            command.env_remove(name);
        }
    }
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?} failed, {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Returns the standard output of a program; bytes that are not UTF-8 become replacement characters.
pub fn stdout_of(program: &Path) -> String {
    let output = run(&mut target_command(program));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
