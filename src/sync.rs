//! The atomics, locks and threads that the worker pool is made of: those of the standard library, or those of loom under
//! `cfg(loom)`, with which the model tests run the same code in every order of its threads.
//!
//! Statics, and locks that no model test reaches, use the standard library's types directly.

#[cfg(loom)]
mod model;

#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic};

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(loom)]
pub(crate) use model::OnceLock;

/// Threads.
pub(crate) mod thread {
    #[cfg(loom)]
    pub(crate) use loom::thread::{Builder, JoinHandle};
    #[cfg(not(loom))]
    pub(crate) use std::thread::{Builder, JoinHandle};

    use std::time::Duration;

    /// Suspends the calling thread for at least `duration`. A model has no clock: loom runs the other threads first.
    pub(crate) fn sleep(duration: Duration) {
        #[cfg(not(loom))]
        std::thread::sleep(duration);
        #[cfg(loom)]
        {
            let _ = duration;
            loom::thread::yield_now();
        }
    }
}
