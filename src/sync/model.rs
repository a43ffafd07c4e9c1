//! Replacements, built from loom's types, for types that loom lacks.

use std::cell::RefCell;
use std::ptr;
#[cfg(test)]
use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

use loom::sync::atomic::AtomicPtr;
use loom::sync::atomic::Ordering::{Acquire, Release};
use loom::sync::{Condvar, Mutex};
use loom::thread::LocalKey;

/// `std::thread_local!` of one constant value.
macro_rules! per_thread {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = const $value:block;) => {
        loom::thread_local! {
            $(#[$attribute])*
            static $name: $type = $value;
        }
    };
}
pub(crate) use per_thread;

/// The functions of `std::thread::LocalKey<RefCell<T>>`.
pub(crate) trait WithBorrow<T> {
    fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R;
    fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R;
}

impl<T: 'static> WithBorrow<T> for LocalKey<RefCell<T>> {
    fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

/// `std::sync::OnceLock`.
pub(crate) struct OnceLock<T> {
    /// A box, or null.
    value: AtomicPtr<T>,
    /// Held while the value is created.
    lock: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// Returns a cell without a value.
    pub(crate) fn new() -> Self {
        OnceLock { value: AtomicPtr::new(ptr::null_mut()), lock: Mutex::new(()) }
    }

    /// Returns the value if there is one.
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: the pointer is null or was released by `get_or_init`, which stores a box once; only `drop` frees it.
        unsafe { self.value.load(Acquire).as_ref() }
    }

    /// Returns the value, after creating it with `make` if there is none.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _guard = self.lock.lock();
        if self.get().is_none() {
            self.value.store(Box::into_raw(Box::new(make())), Release);
        }
        self.get().expect("the value was stored above, under the lock")
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        let value = self.value.with_mut(|value| *value);
        if !value.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw` in `get_or_init`, and nothing else owns the box.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

/// Model of `parking_lot::RwLock` in which a new reader always waits for a waiting writer unless it reads recursively.
/// The real lock may admit it.
pub(crate) struct RwLock<T> {
    state: Mutex<RwLockState>,
    state_changed: Condvar,
    _value: T,
}

/// The threads that hold the lock or wait for it.
#[derive(Default)]
struct RwLockState {
    readers: usize,
    has_writer: bool,
    waiting_writers: usize,
}

/// Shared access, released on drop.
pub(crate) struct RwLockReadGuard<'a, T>(&'a RwLock<T>);

/// Exclusive access, released on drop.
pub(crate) struct RwLockWriteGuard<'a, T>(&'a RwLock<T>);

impl<T> RwLock<T> {
    /// Returns a lock that no thread holds.
    pub(crate) fn new(content: T) -> Self {
        RwLock { state: Mutex::new(RwLockState::default()), state_changed: Condvar::new(), _value: content }
    }

    /// Waits until no thread writes or waits to write.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.read_unless(|state| state.has_writer || state.waiting_writers > 0)
    }

    /// Returns whether a thread holds the lock.
    pub(crate) fn is_locked(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.has_writer || state.readers > 0
    }

    /// Waits until no thread writes.
    pub(crate) fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        self.read_unless(|state| state.has_writer)
    }

    fn read_unless(&self, is_barred: impl Fn(&RwLockState) -> bool) -> RwLockReadGuard<'_, T> {
        let mut state = self.state.lock().unwrap();
        while is_barred(&state) {
            state = self.state_changed.wait(state).unwrap();
        }
        state.readers += 1;
        RwLockReadGuard(self)
    }

    /// Waits until no other thread reads or writes.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        let mut state = self.state.lock().unwrap();
        state.waiting_writers += 1;
        while state.has_writer || state.readers > 0 {
            state = self.state_changed.wait(state).unwrap();
        }
        state.waiting_writers -= 1;
        state.has_writer = true;
        RwLockWriteGuard(self)
    }

    fn release(&self, change: impl FnOnce(&mut RwLockState)) {
        change(&mut self.state.lock().unwrap());
        self.state_changed.notify_all();
    }
}

impl<T> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.0.release(|state| state.readers -= 1);
    }
}

impl<T> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.0.release(|state| state.has_writer = false);
    }
}

/// Runs `scenario` in all executions with at most `preemptions` preemptions, prints how many there were, and checks
/// that there was more than one.
#[cfg(test)]
pub(crate) fn explore(name: &str, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = executions.clone();
    let mut model = loom::model::Builder::new();
    model.preemption_bound.get_or_insert(preemptions);
    model.max_branches = 10_000;
    let bound = model.preemption_bound;
    model.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        scenario();
    });
    let executions = executions.load(Ordering::Relaxed);
    println!("{name}: {executions} executions, preemption bound {bound:?}");
    assert!(executions > 1);
}
