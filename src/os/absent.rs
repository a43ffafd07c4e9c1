//! Services that a system does not have: each system exports those of its own that are missing.
#![allow(dead_code, unused_imports, reason = "each system uses a part of this module")]

use super::types::SymbolInfo;
use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Does nothing: there is no call that starts writing the changed pages of a file to disk without waiting.
pub(crate) fn start_write_back(_: &File) {}

/// Does nothing: directories cannot be synchronised.
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns an error: two names cannot be exchanged.
///
/// # Errors
/// `Unsupported`.
pub(crate) fn exchange_names(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns an error: there is no call that renames a file only if the new name does not exist.
///
/// # Errors
/// `Unsupported`.
pub(crate) fn rename_without_replacing(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns `None`: the number of open files is not limited, or the limit is not known.
pub(crate) fn max_open_files() -> Option<u64> {
    None
}

/// Returns false: libraries name the library of each function that they use, or there are no libraries.
pub(crate) fn make_symbols_global(_: *const c_void) -> bool {
    false
}

/// Returns `None`: the system does not provide symbols by address.
pub(crate) fn symbol_info(_: *const c_void) -> Option<SymbolInfo> {
    None
}

/// Returns true: there are no forks.
pub(crate) fn call_in_forked_children(_: extern "C" fn()) -> bool {
    true
}

/// Returns `None`: threads are identified by the address of a variable.
#[inline(always)]
pub(crate) fn thread_pointer() -> Option<usize> {
    None
}

/// Returns NULL: the C library has no flag for processes with one thread.
pub(crate) fn single_threaded_flag() -> *const c_char {
    std::ptr::null()
}

/// Returns true: the environment is not searched.
pub(crate) fn environment_may_have(_: &[u8]) -> bool {
    true
}
