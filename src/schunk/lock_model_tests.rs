//! Runs the access lock of super-chunks under loom, in every interleaving of its threads (up to a number of
//! preemptions):
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release --lib loom
//!
//! Checked in each execution: no deadlock, and no data race between accesses with the lock held.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::access_lock::{AccessLock, Lockable, ReadGuard, WriteGuard};
use crate::sync::explore;

/// A value that the lock guards.
struct Guarded {
    lock: AccessLock,
    value: UnsafeCell<usize>,
}

// SAFETY: loom reports every pair of accesses that is not ordered.
unsafe impl Sync for Guarded {}
// SAFETY: loom reports every pair of accesses that is not ordered.
unsafe impl Send for Guarded {}

// SAFETY: the one lock of the value.
unsafe impl Lockable for Guarded {
    fn access_lock(&self) -> &AccessLock {
        &self.lock
    }
}

impl Guarded {
    fn new(has_user_callbacks: bool) -> Arc<Guarded> {
        Arc::new(Guarded { lock: AccessLock::new(has_user_callbacks), value: UnsafeCell::new(0) })
    }

    /// Changes the value with exclusive access, and reads from inside the change, as a program's I/O functions do.
    fn change(&self) {
        let _changing = WriteGuard::lock(self).unwrap();
        // SAFETY: loom reports an access that is not ordered.
        let before = self.value.with_mut(|value| unsafe {
            *value += 1;
            *value - 1
        });
        assert_eq!(self.read(), before + 1);
        assert!(WriteGuard::lock(self).is_err());
        // The nested read did not release the lock of the change.
        // SAFETY: loom reports an access that is not ordered.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }

    fn read(&self) -> usize {
        let _reading = ReadGuard::lock(self);
        // SAFETY: loom reports an access that is not ordered.
        self.value.with(|value| unsafe { *value })
    }
}

#[test]
fn loom_changes_exclude_each_other() {
    explore("access lock: two changes", 3, || {
        let guarded = Guarded::new(false);
        let other = guarded.clone();
        let other = thread::spawn(move || other.change());
        guarded.change();
        other.join().unwrap();
        assert_eq!(guarded.read(), 4);
    });
}

#[test]
fn loom_a_change_excludes_readers() {
    explore("access lock: a change, two readers", 2, || {
        let guarded = Guarded::new(false);
        let readers = [0; 2].map(|_| {
            let guarded = guarded.clone();
            thread::spawn(move || assert!([0, 2].contains(&guarded.read())))
        });
        guarded.change();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn loom_a_read_inside_a_read_does_not_wait_for_a_change() {
    explore("access lock: reads inside reads, two changes", 2, || {
        let guarded = Guarded::new(true);
        let changes = [0; 2].map(|_| {
            let guarded = guarded.clone();
            thread::spawn(move || guarded.change())
        });
        {
            let _reading = ReadGuard::lock(&*guarded);
            let first = guarded.read();
            assert!(WriteGuard::lock(&*guarded).is_err());
            assert_eq!(guarded.read(), first);
        }
        changes.into_iter().for_each(|change| change.join().unwrap());
        assert_eq!(guarded.read(), 4);
    });
}
