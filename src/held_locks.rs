//! The locks that a thread holds while functions of the program may run. The threads that work on a job inherit the
//! locks of the thread that waits for the job: a call of the library from inside a program's function must not wait for
//! them.

#[cfg(loom)]
use crate::sync::WithBorrow;
use std::cell::RefCell;
use std::mem::ManuallyDrop;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

/// Locks, by their addresses.
pub(crate) type HeldLocks = Vec<(usize, LockMode)>;

crate::sync::per_thread! {
    /// The locks that this thread holds, or the thread for which it works. Never dropped, so that destructors of other
    /// variables of the thread can call the library; an empty list has no memory.
    static HELD_LOCKS: RefCell<ManuallyDrop<HeldLocks>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Records that this thread holds a lock.
#[inline(never)]
pub(crate) fn add(lock: usize, mode: LockMode) {
    HELD_LOCKS.with_borrow_mut(|held| held.push((lock, mode)));
}

/// Records that this thread has released a lock, which was [added](add) before.
#[inline(never)]
pub(crate) fn remove(lock: usize, mode: LockMode) {
    HELD_LOCKS.with_borrow_mut(|held| {
        if let Some(at) = held.iter().rposition(|&known| known == (lock, mode)) {
            held.swap_remove(at);
        }
        if held.is_empty() {
            **held = Vec::new();
        }
    });
}

/// Returns how a lock is held by this thread, or by the thread for which it works; `None` if it is not.
#[inline(never)]
pub(crate) fn find(lock: usize) -> Option<LockMode> {
    HELD_LOCKS.with_borrow(|held| {
        let mut modes = held.iter().filter(|known| known.0 == lock).map(|known| known.1);
        let first = modes.next()?;
        Some(if modes.any(|mode| mode == LockMode::Exclusive) { LockMode::Exclusive } else { first })
    })
}

/// Returns the locks that this thread holds, for the threads that work on a job for it.
pub(crate) fn current() -> HeldLocks {
    HELD_LOCKS.with_borrow(|held| HeldLocks::clone(held))
}

/// Locks that count as held by this thread until this value is dropped.
pub(crate) struct InheritedLocksGuard<'a>(&'a HeldLocks);

/// Makes the locks of the thread that waits for a job count as held by this thread.
pub(crate) fn inherit(locks: &HeldLocks) -> InheritedLocksGuard<'_> {
    for &(lock, mode) in locks {
        add(lock, mode);
    }
    InheritedLocksGuard(locks)
}

impl Drop for InheritedLocksGuard<'_> {
    fn drop(&mut self) {
        for &(lock, mode) in self.0 {
            remove(lock, mode);
        }
    }
}
