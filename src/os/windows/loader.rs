//! Loading of shared libraries.

use std::ffi::CStr;

/// Opens the library at that path, or the library of that name on the system's search path.
///
/// # Safety
/// The entry point of the library runs.
pub(in crate::os) unsafe fn open_library(path: &CStr) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { libloading::Library::new(super::files::path_from_c(path).as_os_str()) }
}
