//! Loading of shared libraries.

use crate::os::types::SymbolInfo;
use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_void};
use std::mem::{self, MaybeUninit};
use std::os::unix::ffi::OsStrExt;

/// An open library, closed when dropped.
pub(crate) struct OsLibrary(UnixLibrary);

impl OsLibrary {
    /// Opens the library at that path, or the library of that name on the system's search path.
    ///
    /// All its symbols are resolved at once: a missing symbol is an error here, instead of ending the process
    /// at its first call.
    ///
    /// # Errors
    /// The message of the loader.
    ///
    /// # Safety
    /// The constructors of the library run.
    pub(crate) unsafe fn open(path: &CStr) -> Result<OsLibrary, String> {
        let path = OsStr::from_bytes(path.to_bytes());
        // SAFETY: guaranteed by the caller.
        let opened = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        opened.map(OsLibrary).map_err(|error| loader_message(&error))
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
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// Makes the symbols of the library that has the address `own` visible to libraries that are loaded later. Returns whether
/// that succeeded.
pub(crate) fn make_symbols_global(own: *const c_void) -> bool {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address; the struct consists of pointers, for which zero is valid.
    let info = unsafe {
        if libc::dladdr(own, info.as_mut_ptr()) == 0 {
            return false;
        }
        info.assume_init()
    };
    if info.dli_fname.is_null() {
        return false;
    }
    // SAFETY: the path of a loaded object, which is this library; opening it again runs no constructors.
    let loaded = unsafe {
        let path = OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes());
        UnixLibrary::open(Some(path), RTLD_NOW | RTLD_GLOBAL | libc::RTLD_NOLOAD)
    };
    match loaded {
        Ok(loaded) => {
            mem::forget(loaded);
            true
        }
        Err(_) => false,
    }
}

/// Returns the symbol at exactly that address, if the system provides it.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
pub(crate) fn symbol_info(address: *const c_void) -> Option<SymbolInfo> {
    /// The bits of `st_info` that hold the type of a symbol.
    const TYPE_MASK: u8 = 0xF;
    /// Types of data symbols: object, common block, thread-local object.
    const DATA_TYPES: [u8; 3] = [1, 5, 6];
    /// Types of function symbols: function, function chosen at load time.
    const FUNCTION_TYPES: [u8; 2] = [2, 10];
    /// Value of the last argument of `dladdr1` that requests the entry of the symbol table.
    const SYMBOL_ENTRY: libc::c_int = 1;

    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    let mut entry = std::ptr::null_mut();
    // SAFETY: `dladdr1` accepts any address; only the call writes both results, and all-zero is valid.
    let (found, info) = unsafe {
        (libc::dladdr1(address, info.as_mut_ptr(), &raw mut entry, SYMBOL_ENTRY), info.assume_init())
    };
    // SAFETY: NULL, or an entry of the symbol table of a library that is open.
    let entry = unsafe { entry.cast::<libc::Elf64_Sym>().as_ref() }?;
    if found == 0 || info.dli_saddr.cast_const() != address {
        return None;
    }
    let kind = entry.st_info & TYPE_MASK;
    Some(SymbolInfo {
        size: usize::try_from(entry.st_size).unwrap_or(usize::MAX),
        is_function: FUNCTION_TYPES.contains(&kind),
        is_data: DATA_TYPES.contains(&kind),
    })
}

/// Returns `None`: this system does not provide symbols by address.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
pub(crate) fn symbol_info(_: *const c_void) -> Option<SymbolInfo> {
    None
}
