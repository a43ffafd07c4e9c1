//! Loading of shared libraries.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
use crate::os::types::SymbolInfo;
use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_void};
use std::mem::{self, MaybeUninit};
use std::os::unix::ffi::OsStrExt;

/// Opens the library at that path, or the library of that name on the system's search path.
///
/// All its symbols are resolved at once: a missing symbol is an error here, instead of ending the process at its first call.
///
/// # Safety
/// The constructors of the library run.
pub(in crate::os) unsafe fn open_library(path: &CStr) -> Result<libloading::Library, libloading::Error> {
    // The functions `dlopen` and `dlsym` of Emscripten abort a program that is not linked with the option `MAIN_MODULE`.
    if cfg!(target_os = "emscripten") {
        return Err(libloading::Error::DlOpenUnknown);
    }
    let path = OsStr::from_bytes(path.to_bytes());
    // SAFETY: guaranteed by the caller.
    unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
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
