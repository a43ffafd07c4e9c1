//! The lock for changes of a frame with transactions.

use super::access_lock::{AccessLock, Lockable};

/// The lock that a thread holds while it changes a frame with transactions: for one change or for a transaction.
pub(super) struct ChangeLock(AccessLock);

// SAFETY: a super-chunk has one such lock.
unsafe impl Lockable for ChangeLock {
    fn access_lock(&self) -> &AccessLock {
        &self.0
    }
}

impl ChangeLock {
    pub(super) fn new() -> ChangeLock {
        // `true`: threads record that they hold the lock, because functions of the program that a transaction calls may
        // change the super-chunk, too.
        ChangeLock(AccessLock::new(true))
    }
}
