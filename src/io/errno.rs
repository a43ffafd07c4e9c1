//! Access to `errno` of the C library, through which callbacks report errors.

use crate::os;

/// Sets `errno` of this thread to 0, so that a later value is that of the callback.
pub(super) fn clear() {
    // SAFETY: the address of this thread's `errno`, valid for the lifetime of the thread.
    unsafe { *os::errno_location() = 0 };
}

/// Returns whether `errno` of this thread is `ENOENT`.
pub(super) fn is_not_found() -> bool {
    // SAFETY: as in `clear`.
    unsafe { *os::errno_location() == libc::ENOENT }
}

/// Sets `errno` of this thread to `ENOENT`, as a back-end does for a missing file.
#[cfg(test)]
pub(super) fn set_not_found() {
    // SAFETY: as in `clear`.
    unsafe { *os::errno_location() = libc::ENOENT };
}
