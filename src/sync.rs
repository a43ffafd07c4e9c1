//! The atomics, locks and threads of the worker pool and of the access lock of super-chunks: those of the standard
//! library and of `parking_lot`, or those of loom under `cfg(loom)`, with which the model tests run the same code in
//! every order of its threads.
//!
//! Statics, and locks that no model test reaches, use the types of the libraries directly.

#[cfg(loom)]
mod model;

#[cfg(not(loom))]
pub(crate) use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic},
    thread_local as per_thread,
};

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(all(loom, test))]
pub(crate) use model::explore;
#[cfg(loom)]
pub(crate) use model::{OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard, WithBorrow, per_thread};

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
