//! The location of the C library that unit tests compare with. `tests/support/library.rs` does the same for the tests
//! of the shared library.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the path of the C library: the file that `BLOSC2_REFERENCE` names, or the one that
/// `scripts/fetch-reference.sh` fetched. Returns `None`, after printing a line to standard error, if it was not
/// fetched, or if `BLOSC2_REFERENCE` is set and empty, which means that there is none for this processor: the test is
/// skipped then.
///
/// # Panics
/// If `BLOSC2_REFERENCE` names no file, or there is no library and `BLOSC2_REQUIRE_REFERENCE` is set and not 0.
pub(crate) fn path() -> Option<PathBuf> {
    let named = std::env::var_os("BLOSC2_REFERENCE").map(PathBuf::from);
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/blosc2/lib/libblosc2.so");
    let is_required = std::env::var("BLOSC2_REQUIRE_REFERENCE").is_ok_and(|value| value != "0");
    let path = choose(named, fetched, is_required);
    if path.is_none() {
        // Written to standard error directly: the test runner does not capture it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no reference library (run scripts/fetch-reference.sh)");
    }
    path
}

fn choose(named: Option<PathBuf>, fetched: PathBuf, is_required: bool) -> Option<PathBuf> {
    if let Some(path) = &named
        && !path.as_os_str().is_empty()
    {
        assert!(path.is_file(), "BLOSC2_REFERENCE names no file: {}", path.display());
        return named;
    }
    if named.is_none() && fetched.is_file() {
        return Some(fetched);
    }
    assert!(!is_required, "no reference library (run scripts/fetch-reference.sh)");
    None
}

#[test]
fn a_missing_library_is_a_failure_only_where_it_is_required() {
    let present = std::env::current_exe().unwrap();
    let missing = || PathBuf::from("/there/is/no/such/libblosc2.so");
    assert_eq!(choose(None, missing(), false), None);
    for is_required in [false, true] {
        assert_eq!(choose(None, present.clone(), is_required), Some(present.clone()));
        assert_eq!(choose(Some(present.clone()), missing(), is_required), Some(present.clone()));
        assert!(std::panic::catch_unwind(|| choose(Some(missing()), missing(), is_required)).is_err());
    }
    assert!(std::panic::catch_unwind(|| choose(None, missing(), true)).is_err());
    // An empty name means no library, even if one was fetched.
    assert_eq!(choose(Some(PathBuf::new()), present.clone(), false), None);
    assert!(std::panic::catch_unwind(|| choose(Some(PathBuf::new()), present.clone(), true)).is_err());
}

/// A test that compares finds the library with [`path`]: it is not skipped where [`path`] would fail.
#[test]
fn comparing_test_fails_if_a_required_library_is_missing() {
    let test = "codec::blosclz::tests::reference::both_directions_agree_with_the_reference";
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args([test, "--exact"]).env("BLOSC2_REQUIRE_REFERENCE", "1");
    let output = again.env("BLOSC2_REFERENCE", "/there/is/no/such/libblosc2.so").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("1 failed"), "{text}");
}
