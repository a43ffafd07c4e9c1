//! Who may use a super-chunk: any number of threads that read, or one that changes it (design decision 7).
//!
//! A program's own I/O functions run while the gate is held, and may come back: a read from inside any of them is let
//! through; a change is refused, since it would wait for itself.
//!
//! The only thread of a process takes no lock, unless functions of the program may run meanwhile and start other threads:
//! those of an I/O back-end, and the threads callback (`blosc2_set_threads_callback`).

use crate::err;
use crate::error::Result;
#[cfg(loom)]
use crate::sync::WithBorrow;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::{pool, thread};
use std::cell::RefCell;

/// The gate.
pub(crate) struct Gate {
    lock: RwLock<()>,
    /// The thread that changes the super-chunk; 0 for none.
    owner: AtomicUsize,
    /// Whether reads run a program's functions, so that a thread has to remember what it holds.
    calls_back: bool,
}

/// Shared access to a super-chunk; released on drop.
#[must_use]
pub(crate) struct Reading<'a> {
    gate: &'a Gate,
    _lock: Option<RwLockReadGuard<'a, ()>>,
    remembered: bool,
}

/// Exclusive access to a super-chunk; released on drop. Functions that change a super-chunk take it by reference.
#[must_use]
pub(crate) struct Changing<'a> {
    gate: &'a Gate,
    _lock: Option<RwLockWriteGuard<'a, ()>>,
}

crate::sync::per_thread! {
    /// The gates through which this thread has gone to read.
    static HELD: RefCell<Vec<*const Gate>> = const { RefCell::new(Vec::new()) };
}

impl Gate {
    /// An open gate. `calls_back` tells whether reading runs a program's I/O functions.
    pub(crate) fn new(calls_back: bool) -> Self {
        Gate { lock: RwLock::new(()), owner: AtomicUsize::new(0), calls_back }
    }

    /// Waits until nobody changes the super-chunk, nor has waited longer to do so: readers that come one after another
    /// do not keep a change out.
    pub(crate) fn read(&self) -> Reading<'_> {
        if self.owner.load(Ordering::Relaxed) == thread::id() || self.is_free() {
            return Reading { gate: self, _lock: None, remembered: false };
        }
        if !self.calls_back {
            return Reading { gate: self, _lock: Some(self.lock.read()), remembered: false };
        }
        // From inside a program's function: whoever waits to change waits for this thread.
        let lock = if self.is_held() { self.lock.read_recursive() } else { self.lock.read() };
        HELD.with_borrow_mut(|held| held.push(self));
        Reading { gate: self, _lock: Some(lock), remembered: true }
    }

    /// Whether no other thread can use the super-chunk, neither now nor before this one has released it.
    #[inline]
    fn is_free(&self) -> bool {
        !self.calls_back && thread::is_alone() && !pool::has_callback()
    }

    /// Whether this thread has gone through to read, as far as that is remembered.
    fn is_held(&self) -> bool {
        self.calls_back && HELD.with_borrow(|held| held.iter().any(|&gate| std::ptr::eq(gate, self)))
    }

    /// Waits until nobody else uses the super-chunk.
    ///
    /// # Errors
    /// `Failure` when this very thread is using it.
    #[inline(always)]
    pub(crate) fn change(&self) -> Result<Changing<'_>> {
        let me = thread::id();
        if self.owner.load(Ordering::Relaxed) == me || self.is_held() {
            return Err(err!(Failure, "a change from inside an I/O function of the same super-chunk"));
        }
        let lock = if self.is_free() { None } else { Some(self.lock.write()) };
        self.owner.store(me, Ordering::Relaxed);
        Ok(Changing { gate: self, _lock: lock })
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if self.remembered {
            HELD.with_borrow_mut(|held| {
                if let Some(at) = held.iter().rposition(|&gate| std::ptr::eq(gate, self.gate)) {
                    held.swap_remove(at);
                }
            });
        }
    }
}

impl Changing<'_> {
    /// Whether this is the access that `gate` gave.
    pub(crate) fn is_of(&self, gate: &Gate) -> bool {
        std::ptr::eq(self.gate, gate)
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.gate.owner.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_change_lets_its_own_reads_through_and_no_other_change() {
        let gate = Gate::new(true);
        let changing = gate.change().unwrap();
        drop(gate.read());
        assert!(gate.change().is_err());
        drop(changing);
        let reading = gate.read();
        let again = gate.read();
        assert!(gate.change().is_err());
        drop(reading);
        assert!(gate.change().is_err());
        drop(again);
        assert!(gate.change().is_ok());
    }

    #[test]
    fn readers_one_after_another_do_not_keep_a_change_out() {
        let gate = Gate::new(false);
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // At any time one of them is inside.
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut reading = gate.read();
                    while !over.load(Ordering::Relaxed) {
                        drop(reading);
                        reading = gate.read();
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                });
            }
            for _ in 0..20 {
                drop(gate.change().unwrap());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_read_inside_a_read_does_not_wait_for_a_change() {
        let gate = Gate::new(true);
        std::thread::scope(|scope| {
            let reading = gate.read();
            let change = scope.spawn(|| drop(gate.change().unwrap()));
            while !gate.lock.is_locked() || gate.lock.try_read().is_some() {
                std::thread::yield_now();
            }
            // The change waits by now.
            drop(gate.read());
            drop(reading);
            change.join().unwrap();
        });
    }

    #[test]
    fn changes_exclude_each_other_and_readers() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 1000 };
        let gate = Gate::new(false);
        struct Shared(std::cell::UnsafeCell<u64>);
        // SAFETY: only used behind the gate.
        unsafe impl Sync for Shared {}
        impl Shared {
            fn get(&self) -> *mut u64 {
                self.0.get()
            }
        }
        let shared = &Shared(std::cell::UnsafeCell::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let _changing = gate.change().unwrap();
                        // SAFETY: the gate lets one thread through.
                        unsafe { *shared.get() += 1 };
                    }
                });
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let _reading = gate.read();
                        // SAFETY: the gate keeps changes out.
                        let before = unsafe { *shared.get() };
                        std::hint::spin_loop();
                        // SAFETY: as above.
                        assert_eq!(before, unsafe { *shared.get() });
                    }
                });
            }
        });
        // SAFETY: the other threads are gone.
        assert_eq!(unsafe { *shared.get() }, 4 * ROUNDS);
    }
}
