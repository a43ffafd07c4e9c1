//! Loading of shared libraries.

use std::error::Error;
use std::ffi::{CStr, c_void};

/// An open library, closed when dropped.
pub(crate) struct OsLibrary(libloading::Library);

impl OsLibrary {
    /// Opens the library at that path, or the library of that name on the system's search path.
    ///
    /// # Errors
    /// The message of the loader.
    ///
    /// # Safety
    /// The constructors of the library run.
    pub(crate) unsafe fn open(path: &CStr) -> Result<OsLibrary, String> {
        // SAFETY: guaranteed by the caller.
        unsafe { super::open_library(path) }.map(OsLibrary).map_err(|error| loader_message(&error))
    }

    /// Returns the address of a symbol.
    ///
    /// # Errors
    /// The message of the loader.
    pub(crate) fn symbol(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: only the address of the symbol is used, which is valid for a symbol of any type.
        let symbol = unsafe { self.0.get::<*mut c_void>(name.to_bytes_with_nul()) };
        symbol.map(|symbol| *symbol).map_err(|error| loader_message(&error))
    }
}

/// Returns the loader's message for an error, on one line.
fn loader_message(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}
