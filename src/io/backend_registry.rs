//! The back-ends that programs register (`frame.md` 5.1). Entries are never removed, also not by `blosc2_destroy`, and
//! the address of an entry is valid until the process ends.

use crate::abi::{BLOSC2_IO_REGISTERED, blosc2_io_cb, blosc2x_io_range};
use crate::error::{Result, err};
use crate::fork_count::PerProcessLock;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

/// Maximum number of entries, including the two of the library.
const CAPACITY: usize = 255;
const BUILT_IN_COUNT: usize = 2;

/// An entry. The program may change the struct at its address, which is never freed.
#[derive(Clone, Copy)]
struct BackendEntry {
    id: u8,
    /// A copy of the name at registration, or NULL.
    name: *const c_char,
    callbacks: *mut blosc2_io_cb,
    fetch: Option<FetchCallbacks>,
}

/// The functions that fetch ranges of files before they are read, and release them.
#[derive(Clone, Copy)]
pub(crate) struct FetchCallbacks {
    pub(crate) fetch: unsafe extern "C" fn(*const blosc2x_io_range, i64, *mut c_void) -> *mut c_void,
    pub(crate) release: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

// SAFETY: the pointers refer to memory that is never freed.
unsafe impl Send for BackendEntry {}
// SAFETY: nothing in it is ever written.
unsafe impl Sync for BackendEntry {}

static ENTRIES: PerProcessLock<Vec<BackendEntry>> = PerProcessLock::new_static(Vec::new());

/// Adds a back-end under `name`, or without a name. The struct and `name` are copied; the name in the struct is
/// ignored. Registering an id again under the same name changes nothing and is no error.
///
/// # Errors
/// `PluginIo` for an id below 160, for an id that is registered under another name, and when the table is full.
///
/// # Safety
/// The callbacks obey the contracts of their types, and stay loaded.
pub(crate) unsafe fn register(callbacks: &blosc2_io_cb, name: Option<&CStr>) -> Result<()> {
    let id = callbacks.id;
    if i32::from(id) < BLOSC2_IO_REGISTERED {
        return Err(err!(
            PluginIo,
            "the id of I/O back-end {name:?} is {id}, expected at least {BLOSC2_IO_REGISTERED}"
        ));
    }
    let mut entries = ENTRIES.write();
    if entries.len() + BUILT_IN_COUNT >= CAPACITY {
        return Err(err!(
            PluginIo,
            "cannot register I/O back-end {name:?}: there are {CAPACITY}, the maximum"
        ));
    }
    if let Some(known) = entries.iter().find(|entry| entry.id == id) {
        // SAFETY: NULL or a copy that is never freed.
        let taken_by = (!known.name.is_null()).then(|| unsafe { CStr::from_ptr(known.name) });
        return if taken_by == name {
            Ok(())
        } else {
            Err(err!(PluginIo, "the id {id} of I/O back-end {name:?} is registered as {taken_by:?}"))
        };
    }
    let name = name.map_or(null_mut(), |name| name.to_owned().into_raw());
    let callbacks = Box::into_raw(Box::new(blosc2_io_cb { name, ..*callbacks }));
    entries.push(BackendEntry { id, name, callbacks, fetch: None });
    Ok(())
}

/// Gives the back-end `id` functions that fetch ranges of its files, in place of earlier ones; `None` removes them.
///
/// # Errors
/// `PluginIo` for an id that is not registered.
///
/// # Safety
/// The functions obey the contracts of their types, and stay loaded.
pub(crate) unsafe fn register_fetch(id: u8, fetch: Option<FetchCallbacks>) -> Result<()> {
    let mut entries = ENTRIES.write();
    let entry = entries.iter_mut().find(|entry| entry.id == id);
    entry.ok_or_else(|| err!(PluginIo, "I/O back-end {id} is not registered"))?.fetch = fetch;
    Ok(())
}

/// Returns the address of the struct of a registered back-end.
pub(crate) fn find_callbacks(id: u8) -> Option<*mut blosc2_io_cb> {
    ENTRIES.read().iter().find(|entry| entry.id == id).map(|entry| entry.callbacks)
}

/// Returns a copy of the current callbacks of a registered back-end, and its functions that fetch ranges.
///
/// # Safety
/// The program does not change the struct of that id during the call; `blosc2_get_io_cb` gives it a pointer to it.
pub(super) unsafe fn copy_callbacks(id: u8) -> Option<(blosc2_io_cb, Option<FetchCallbacks>)> {
    let entry = ENTRIES.read().iter().find(|entry| entry.id == id).copied();
    // SAFETY: never freed, and not changed during the call, guaranteed by the caller.
    entry.map(|entry| (unsafe { *entry.callbacks }, entry.fetch))
}
