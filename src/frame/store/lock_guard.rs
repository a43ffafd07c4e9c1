//! The lock of a frame between processes while it is held.

use crate::error::Result;
use crate::fork_count;
use crate::io::FrameLock;
use crate::trace;

/// The lock of a frame between processes while it is held; released on drop.
#[must_use]
pub(crate) struct FrameLockGuard<'a> {
    /// The lock, and the process that acquired it, identified by its [`fork_count`]: a child of it does not have the
    /// lock.
    lock: Option<(&'a FrameLock, u32)>,
}

impl<'a> FrameLockGuard<'a> {
    /// Returns the guard of a lock that this process has acquired; `None` for a frame without a lock.
    pub(super) fn new(lock: Option<&'a FrameLock>) -> FrameLockGuard<'a> {
        FrameLockGuard { lock: lock.map(|lock| (lock, fork_count::current())) }
    }

    /// Keeps the lock acquired until `Frame::unlock`.
    pub(crate) fn keep_locked(mut self) {
        self.lock = None;
    }

    /// Releases the lock, as dropping does, but returns the error.
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn release(mut self) -> Result<()> {
        self.unlock()
    }

    fn unlock(&mut self) -> Result<()> {
        match self.lock.take() {
            Some((lock, process)) if process == fork_count::current() => lock.unlock(),
            _ => Ok(()),
        }
    }
}

impl Drop for FrameLockGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Err(error) = self.unlock() {
            trace::error(&error);
        }
    }
}
