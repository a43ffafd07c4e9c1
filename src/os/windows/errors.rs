//! Errors of calls.

/// Returns the error of this thread's last call if `succeeded` is false.
pub(super) fn check(succeeded: bool) -> std::io::Result<()> {
    if succeeded { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
