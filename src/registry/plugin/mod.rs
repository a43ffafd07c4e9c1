//! Plugin libraries: codecs, filters and tuners that live in a shared object of their own and are loaded when they
//! are first needed (`codecs.md` 13, `abi.md` 9.6).
//!
//! Owns finding the library, opening it, and taking the addresses of its functions. Knows nothing of the tables,
//! keeps nothing, and never calls a function of a plugin (its constructors aside, which the system's loader runs).

mod library;
mod python;

use library::Library;
pub use library::Symbol;
use std::ffi::CString;

/// Why a plugin cannot be used, for `BLOSC_TRACE`.
pub type Reason = String;

/// The functions that the plugin for `name` exports, in the order of its descriptor, `COUNT` of them.
///
/// The library stays loaded for ever once this has succeeded; after a failure nothing of it stays.
///
/// # Errors
/// The reason, if the library cannot be found or opened or lacks anything.
pub fn load<const COUNT: usize>(name: &str) -> Result<[Symbol; COUNT], Reason> {
    check_name(name)?;
    let library = find(name)?;
    let functions = library.functions::<COUNT>()?;
    library.keep();
    Ok(functions)
}

/// Only names that can be part of a file name and of a Python module are looked for.
fn check_name(name: &str) -> Result<(), Reason> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("{name:?} cannot name a plugin"));
    }
    Ok(())
}

/// First where the system looks for libraries, then where the Python package of the plugin says that it is.
fn find(name: &str) -> Result<Library, Reason> {
    let file = CString::new(format!("libblosc2_{name}.so")).map_err(|e| e.to_string())?;
    let not_installed = match Library::open(&file) {
        Ok(library) => return Ok(library),
        Err(reason) => reason,
    };
    let Some(path) = python::library_of(name) else {
        return Err(format!("{not_installed}; no Python package tells where it is"));
    };
    Library::open(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["openzl", "J2K", "a", "_", "9", "a_b_9"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "a-b", "a b", "a.b", "../a", "a/b", "a;b", "a\n", "é", "a'", "$(a)"] {
            assert!(check_name(name).is_err(), "{name:?}");
            assert!(load::<2>(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn nothing_there() {
        let reason = load::<2>("there_is_no_such_plugin").expect_err("a reason");
        assert!(reason.contains("libblosc2_there_is_no_such_plugin.so"), "{reason}");
    }
}
