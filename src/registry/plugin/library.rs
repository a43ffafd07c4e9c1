//! A plugin's shared object and its exports. No other code reads memory of a plugin: this module reads its descriptor.

use crate::os::{self, OsLibrary, SymbolInfo};
use crate::trace;
use std::ffi::{CStr, c_char, c_void};
use std::mem;
use std::ptr::NonNull;

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
        match unsafe { OsLibrary::open(path) } {
            Ok(loaded) => Ok(Library(loaded)),
            Err(error) => {
                let reason = format!("cannot load the library {path:?}: {error}");
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
            if let Some(SymbolInfo { is_data: true, .. }) = os::symbol_info(function.as_ptr()) {
                return Err(format!("the symbol {name:?} is data, expected a function"));
            }
        }
        Ok(functions)
    }

    fn descriptor<const COUNT: usize>(&self) -> Result<[*mut c_char; COUNT], LoadFailure> {
        let address = self.symbol(DESCRIPTOR_SYMBOL)?;
        let wanted = mem::size_of::<[*mut c_char; COUNT]>();
        match os::symbol_info(address.as_ptr()) {
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
        let address = self.0.symbol(name).map_err(|error| format!("no symbol {name:?}: {error}"))?;
        NonNull::new(address).ok_or_else(|| format!("the symbol {name:?} is NULL"))
    }

    /// Leaves the library open for the life of the process: its functions are called from now on.
    pub(super) fn keep_loaded(self) {
        mem::forget(self.0);
    }
}

/// Returns whether a library could not be opened because a function of this library was not found.
fn is_missing_this_library(reason: &str) -> bool {
    ["undefined symbol: blosc", "undefined symbol: b2nd_"].iter().any(|text| reason.contains(text))
}

/// A static of this library, whose address identifies the library.
static LIBRARY_ADDRESS: u8 = 0;

/// Makes the functions of this library visible to libraries that are loaded later. Returns whether that succeeded.
fn make_symbols_global() -> bool {
    os::make_symbols_global((&raw const LIBRARY_ADDRESS).cast())
}
