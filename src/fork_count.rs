//! The number of forks between this process and the one that registered the fork handler first. State that belongs to
//! one process stores the number: a child of `fork()` finds another one, and does not use what only its parent may use.

use crate::os;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use once_cell::race::OnceBox;

static FORK_COUNT: AtomicU32 = AtomicU32::new(0);

/// Whether the handler is registered. Not a `Once`: a fork could leave a `Once` half done.
static HANDLER_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Returns the number of forks between this process and the one that called [`register_handler`] first.
#[inline]
pub(crate) fn current() -> u32 {
    FORK_COUNT.load(Relaxed)
}

/// Registers the handler that counts forks, at the first call. Returns false if that fails: forks are not counted then.
#[inline]
pub(crate) fn register_handler() -> bool {
    HANDLER_REGISTERED.load(Acquire) || register_once()
}

#[cold]
fn register_once() -> bool {
    // Two threads may both register the handler: a fork then adds 2, which is another number all the same.
    let is_registered = os::call_in_forked_children(count_fork);
    // Release: a thread that skips the registration, and forks, runs with a registered handler.
    if is_registered {
        HANDLER_REGISTERED.store(true, Release);
    }
    is_registered
}

/// A value that each process has for itself: a lock, which a thread of the parent may hold at a fork.
pub(crate) struct PerProcess<T> {
    /// The process, identified by the number of forks.
    process: u32,
    value: T,
    /// The value of a descendant of the process.
    next: OnceBox<PerProcess<T>>,
}

impl<T> PerProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        PerProcess { process: current(), value, next: OnceBox::new() }
    }

    /// Returns the value of this process. At the first call in a descendant, `in_child` makes it from the value of the
    /// nearest ancestor that has one, as it was at the fork.
    #[inline]
    pub(crate) fn get(&self, in_child: impl Fn(&T) -> T) -> &T {
        if self.process == current() { &self.value } else { self.of_descendant(in_child) }
    }

    /// Returns the value of this process, or else of its nearest ancestor that has one.
    #[inline]
    pub(crate) fn newest(&self) -> &T {
        let mut found = self;
        while let Some(next) = found.next.get() {
            found = next;
        }
        &found.value
    }

    #[cold]
    fn of_descendant(&self, in_child: impl Fn(&T) -> T) -> &T {
        let mut found = self;
        while found.process != current() {
            found = found.next.get_or_init(|| Box::new(PerProcess::new(in_child(&found.value))));
        }
        &found.value
    }
}

/// A value behind a lock. A child of a fork has its own copy, with a lock that no thread of the parent holds. If a thread
/// of the parent was changing the value at the fork, the child's value is `T::default()`.
pub(crate) struct PerProcessLock<T>(PerProcess<RwLock<T>>);

impl<T: Default> Default for PerProcessLock<T> {
    fn default() -> Self {
        PerProcessLock(PerProcess::new(RwLock::default()))
    }
}

impl<T: Clone + Default> PerProcessLock<T> {
    pub(crate) const fn new_static(value: T) -> Self {
        PerProcessLock(PerProcess { process: 0, value: RwLock::new(value), next: OnceBox::new() })
    }

    /// Returns the lock of a value that is made while the program runs.
    pub(crate) fn new(value: T) -> Self {
        PerProcessLock(PerProcess::new(RwLock::new(value)))
    }

    /// Waits until no thread changes the value.
    #[inline]
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.lock().read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread uses the value.
    #[inline]
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.lock().write().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn lock(&self) -> &RwLock<T> {
        // Without the handler a child does not find out that it is one.
        let _ = register_handler();
        self.0.get(|parents| RwLock::new(value_at_fork(parents)))
    }
}

#[cold]
fn value_at_fork<T: Clone + Default>(parents: &RwLock<T>) -> T {
    match parents.try_read() {
        Ok(value) => value.clone(),
        Err(TryLockError::Poisoned(guard)) => guard.into_inner().clone(),
        Err(TryLockError::WouldBlock) => T::default(),
    }
}

/// The fork handler of the child: uses only an atomic, takes no lock and allocates no memory.
extern "C" fn count_fork() {
    FORK_COUNT.fetch_add(1, Relaxed);
}
