//! A plugin's shared object and its exports. No other code reads memory of a plugin: this module reads its descriptor.

use crate::trace;
use libloading::os::unix::{Library as OsLibrary, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::mem::{self, MaybeUninit};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};

/// The reason for which a plugin cannot be used, for `BLOSC_TRACE`.
pub(in crate::registry) type LoadFailure = String;

/// The symbol of a plugin's descriptor: a struct of the names of its functions (`abi.md` 3.14).
const DESCRIPTOR_SYMBOL: &CStr = c"info";

/// The address of a function of a plugin, valid for as long as the plugin is loaded.
pub(crate) type SymbolAddress = NonNull<c_void>;

/// An open library, closed when dropped.
pub(super) struct Library(OsLibrary);

impl Library {
    /// Opens the library at that path, or the library of that name on the system's search path.
    ///
    /// All its symbols are resolved at once: a missing symbol is an error here, instead of ending the process
    /// at its first call.
    pub(super) fn open(path: &CStr) -> Result<Library, LoadFailure> {
        match Self::try_open(path) {
            // A plugin that uses functions of this library resolves them if the program is linked with this library;
            // not if the program has loaded it with local visibility, as most language bindings do.
            Err(reason) if is_missing_this_library(&reason) && make_symbols_global() => Self::try_open(path),
            outcome => outcome,
        }
    }

    fn try_open(path: &CStr) -> Result<Library, LoadFailure> {
        // SAFETY: the library's constructors run; installing a plugin implies consent to that.
        match unsafe { OsLibrary::open(Some(OsStr::from_bytes(path.to_bytes())), RTLD_NOW | RTLD_LOCAL) } {
            Ok(loaded) => Ok(Library(loaded)),
            Err(error) => {
                let reason = format!("cannot load the library {path:?}: {}", loader_message(&error));
                trace::warning(|| reason.clone());
                Err(reason)
            }
        }
    }

    /// Returns the `COUNT` functions that the descriptor names.
    ///
    /// # Errors
    /// The reason, if the descriptor is missing or invalid, or a function is missing.
    pub(super) fn functions<const COUNT: usize>(&self) -> Result<[SymbolAddress; COUNT], LoadFailure> {
        let mut functions = [NonNull::dangling(); COUNT];
        for (function, name) in functions.iter_mut().zip(self.descriptor::<COUNT>()?) {
            let Some(name) = NonNull::new(name) else {
                return Err(format!(
                    "the symbol {DESCRIPTOR_SYMBOL:?} has a NULL name, expected {COUNT} names"
                ));
            };
            // SAFETY: a C string, by the contract of plugins; the library is open.
            let name = unsafe { CStr::from_ptr(name.as_ptr()) };
            *function = self.symbol(name)?;
            if let Some(SymbolInfo { is_data: true, .. }) = symbol_info(*function) {
                return Err(format!("the symbol {name:?} is data, expected a function"));
            }
        }
        Ok(functions)
    }

    fn descriptor<const COUNT: usize>(&self) -> Result<[*mut c_char; COUNT], LoadFailure> {
        let address = self.symbol(DESCRIPTOR_SYMBOL)?;
        let wanted = mem::size_of::<[*mut c_char; COUNT]>();
        match symbol_info(address) {
            Some(SymbolInfo { is_function: true, .. }) => {
                return Err(format!("the symbol {DESCRIPTOR_SYMBOL:?} is a function, expected data"));
            }
            // Some linkers do not store the size.
            Some(SymbolInfo { size, .. }) if size != 0 && size < wanted => {
                return Err(format!(
                    "the symbol {DESCRIPTOR_SYMBOL:?} has {size} bytes, expected {wanted} or more"
                ));
            }
            _ => {}
        }
        // SAFETY: a data symbol of at least that size, by the contract of plugins; checked if the size is known.
        Ok(unsafe { address.cast::<[*mut c_char; COUNT]>().read_unaligned() })
    }

    fn symbol(&self, name: &CStr) -> Result<SymbolAddress, LoadFailure> {
        // SAFETY: only the address of the symbol is used, which is valid for a symbol of any type.
        let symbol = unsafe { self.0.get::<*mut c_void>(name.to_bytes_with_nul()) };
        let address = symbol.map_err(|error| format!("no symbol {name:?}: {}", loader_message(&error)))?;
        NonNull::new(*address).ok_or_else(|| format!("the symbol {name:?} is NULL"))
    }

    /// Leaves the library open for the life of the process: its functions are called from now on.
    pub(super) fn keep_loaded(self) {
        mem::forget(self.0);
    }
}

/// Returns the loader's message for an error, on one line.
fn loader_message(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// Returns whether a library could not be opened because a function of this library was not found.
fn is_missing_this_library(reason: &str) -> bool {
    ["undefined symbol: blosc", "undefined symbol: b2nd_"].iter().any(|text| reason.contains(text))
}

/// Makes the functions of this library visible to libraries that are loaded later. Returns whether that succeeded.
fn make_symbols_global() -> bool {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    let own = ptr::from_ref(&LIBRARY_ADDRESS).cast::<c_void>();
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
        OsLibrary::open(Some(path), RTLD_NOW | RTLD_GLOBAL | libc::RTLD_NOLOAD)
    };
    match loaded {
        Ok(loaded) => {
            mem::forget(loaded);
            true
        }
        Err(_) => false,
    }
}

/// A static of this library, whose address identifies the library.
static LIBRARY_ADDRESS: u8 = 0;

/// The entry of a library's symbol table for an address.
struct SymbolInfo {
    size: usize,
    is_function: bool,
    is_data: bool,
}

/// Returns the symbol at exactly that address, if the system provides it.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn symbol_info(address: SymbolAddress) -> Option<SymbolInfo> {
    /// The bits of `st_info` that hold the type of a symbol.
    const TYPE_MASK: u8 = 0xF;
    /// Types of data symbols: object, common block, thread-local object.
    const DATA_TYPES: [u8; 3] = [1, 5, 6];
    /// Types of function symbols: function, function chosen at load time.
    const FUNCTION_TYPES: [u8; 2] = [2, 10];
    /// Value of the last argument of `dladdr1` that requests the entry of the symbol table.
    const SYMBOL_ENTRY: libc::c_int = 1;

    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    let mut entry = ptr::null_mut();
    // SAFETY: `dladdr1` accepts any address; only the call writes both results, and all-zero is valid.
    let (found, info) = unsafe {
        (libc::dladdr1(address.as_ptr(), info.as_mut_ptr(), &raw mut entry, SYMBOL_ENTRY), info.assume_init())
    };
    // SAFETY: NULL, or an entry of the symbol table of a library that is open.
    let entry = unsafe { entry.cast::<libc::Elf64_Sym>().as_ref() }?;
    if found == 0 || info.dli_saddr != address.as_ptr() {
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
fn symbol_info(_: SymbolAddress) -> Option<SymbolInfo> {
    None
}
