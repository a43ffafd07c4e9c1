//! Plugin libraries: codecs, filters and tuners in separate shared objects, which are loaded at their first use
//! (`codecs.md` 13, `abi.md` 9.6).
//!
//! Finds the library, opens it, and returns the addresses of its functions. Does not access the tables, keeps no state,
//! and never calls a function of a plugin (except its constructors, which the system's loader runs).

mod library;
mod python;

use crate::{environment, trace};
use library::Library;
pub(super) use library::{LoadFailure, SymbolAddress};
use std::ffi::{CStr, CString};

/// Returns the `COUNT` functions that the plugin for `name` exports, in the order of its descriptor.
///
/// After success the library stays loaded for the life of the process; after a failure it is closed.
///
/// # Errors
/// The reason, if the library cannot be found or opened or a function is missing.
pub(super) fn load<const COUNT: usize>(name: &str) -> Result<[SymbolAddress; COUNT], LoadFailure> {
    check_name(name)?;
    let library = open_library(name)?;
    let functions = library.functions::<COUNT>()?;
    library.keep_loaded();
    Ok(functions)
}

/// Checks that `name` can be part of a file name and of a Python module: other names are rejected.
fn check_name(name: &str) -> Result<(), LoadFailure> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("the plugin name is {name:?}, expected ASCII letters, digits and underscores"));
    }
    Ok(())
}

/// The places that are searched for plugins: the value of `BLOSC2_PLUGINS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchScope {
    /// No places.
    Off,
    /// The system's search path for libraries. No other program is run.
    Path,
    /// The system's search path, then the path that the plugin's Python package prints when run by a Python
    /// interpreter.
    All,
}

impl SearchScope {
    /// Returns the scope for a value of the variable, `None` for one that is not defined.
    fn parse(value: &CStr) -> Option<SearchScope> {
        match value.to_bytes() {
            b"off" => Some(SearchScope::Off),
            b"path" => Some(SearchScope::Path),
            b"all" => Some(SearchScope::All),
            _ => None,
        }
    }

    /// Reads the variable: `All` without it, `Off` for a value that is not defined, because setting it is meant to
    /// restrict the search.
    fn from_environment() -> SearchScope {
        let Some(value) = environment::var(c"BLOSC2_PLUGINS") else { return SearchScope::All };
        SearchScope::parse(&value).unwrap_or_else(|| {
            trace::warning(|| format!("BLOSC2_PLUGINS is {value:?}, expected off, path or all: off is used"));
            SearchScope::Off
        })
    }
}

/// Opens the library of the plugin, from the places that the search scope permits.
fn open_library(name: &str) -> Result<Library, LoadFailure> {
    let scope = SearchScope::from_environment();
    if scope == SearchScope::Off {
        return Err("BLOSC2_PLUGINS disables the search for plugins".into());
    }
    let file = CString::new(format!("libblosc2_{name}.so")).map_err(|e| e.to_string())?;
    let not_installed = match Library::open(&file) {
        Ok(library) => return Ok(library),
        Err(reason) => reason,
    };
    if scope == SearchScope::Path {
        return Err(format!("{not_installed}; BLOSC2_PLUGINS=path excludes Python packages"));
    }
    let Some(path) = python::find_library_path(name) else {
        return Err(format!("{not_installed}; no Python package blosc2_{name} prints its path"));
    };
    Library::open(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_names_are_ascii_identifiers() {
        for name in ["openzl", "J2K", "a", "_", "9", "a_b_9"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "a-b", "a b", "a.b", "../a", "a/b", "a;b", "a\n", "é", "a'", "$(a)"] {
            assert!(check_name(name).is_err(), "{name:?}");
            assert!(load::<2>(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn search_scope_parses_only_off_path_and_all() {
        for (value, scope) in
            [(c"off", SearchScope::Off), (c"path", SearchScope::Path), (c"all", SearchScope::All)]
        {
            assert_eq!(SearchScope::parse(value), Some(scope));
        }
        for value in [c"", c"OFF", c"of", c"all ", c"path,all", c"1"] {
            assert_eq!(SearchScope::parse(value), None, "{value:?}");
        }
    }

    #[test]
    fn missing_plugin_error_names_the_library_file() {
        let reason = load::<2>("there_is_no_such_plugin").expect_err("a reason");
        assert!(reason.contains("libblosc2_there_is_no_such_plugin.so"), "{reason}");
    }
}
