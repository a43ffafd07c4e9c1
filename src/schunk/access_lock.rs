//! The lock of a super-chunk, or of the shape of an array, and the proofs that it is held (design decision 7).
//!
//! Any number of threads may hold the lock for reading, or one thread for changes. A [`ReadGuard`] or a [`WriteGuard`]
//! proves that the lock of one particular `T` is held. Both lend [`LockProof`], which is `Copy`. Functions that read
//! what the lock protects are methods of `LockProof<'_, T>`, and functions that change it are methods of
//! `WriteGuard<'_, T>` that take `&mut self`. A proof carries the object whose lock is held, so that these methods need
//! no other argument to find it. They cannot be called without the lock, and nothing that a `LockProof` has lent is in
//! use during a change. [`WriteGuard::without_lock`] takes no lock, while `T` is made or dropped.
//!
//! The lock is held while I/O functions of the program run, and these may call the library. Reads from inside them do
//! not wait. Changes from inside them are rejected, since they would wait for their own thread. The same applies to I/O
//! functions on another thread that works on a job of the thread with the lock ([`held_locks`]).
//!
//! The only thread of a process takes no lock, unless functions of the program may run during the access and start
//! other threads: those of an I/O back-end, and the threads callback (`blosc2_set_threads_callback`). Guards that hold
//! no lock are counted, so that a change during a read by the same thread returns an error.
//!
//! A child of `fork()` has locks of its own, since threads of its parent may have held a lock at the fork, and do not
//! exist in the child. If a thread was changing the object, the child cannot use it, and the calls return an error. If
//! threads were reading it, see [`Lockable::use_after_interrupted_reads`].

use crate::err;
use crate::error::Result;
use crate::held_locks::{self, LockMode};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::{fork_count, pool, thread};
use once_cell::race::OnceBox;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

/// An object with an [`AccessLock`].
///
/// # Safety
/// [`access_lock`](Self::access_lock) returns the same lock each time. Objects that share what the lock protects return
/// the same lock.
pub(crate) unsafe trait Lockable {
    fn access_lock(&self) -> &AccessLock;

    /// Returns which use of the object other threads have interrupted for a child, if threads of its parent were
    /// reading the object at the fork: `Nothing` if they held no other lock that a change needs.
    fn use_after_interrupted_reads(&self) -> Interrupted {
        Interrupted::Nothing
    }
}

/// A lock for any number of readers or one writer, in one process.
pub(crate) struct AccessLock {
    /// The process, identified by its [`fork_count`].
    process: u32,
    /// The use of the object that the fork has interrupted.
    interrupted: Interrupted,
    /// The lock in a descendant of the process.
    next: OnceBox<AccessLock>,
    lock: RwLock<()>,
    /// [`thread::id`] of the thread with the [`WriteGuard`]; 0 for none.
    writer: AtomicUsize,
    /// Number of [`ReadGuard`]s that hold no lock: those of the only thread of the process, or of the thread with the
    /// [`WriteGuard`]. Only that thread writes the field.
    unlocked_readers: AtomicUsize,
    /// Whether reads run functions of the program, so that threads record the locks that they hold.
    has_user_callbacks: bool,
}

/// The uses of an object by threads of the parent that do not exist in a child.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Nothing,
    /// Reads, with locks that a change needs.
    Reads,
    Change,
}

// SAFETY: the lock itself, each time; it protects nothing else.
unsafe impl Lockable for AccessLock {
    fn access_lock(&self) -> &AccessLock {
        self
    }
}

impl AccessLock {
    /// Returns a lock that is not held. `has_user_callbacks` states whether accesses run functions of the program.
    pub(crate) fn new(has_user_callbacks: bool) -> Self {
        // Without the handler a child does not find out that it is one.
        let _ = fork_count::register_handler();
        AccessLock::after(Interrupted::Nothing, has_user_callbacks)
    }

    /// Returns a lock that is not held, of an object whose use by other threads a fork may have interrupted.
    fn after(interrupted: Interrupted, has_user_callbacks: bool) -> Self {
        AccessLock {
            process: fork_count::current(),
            interrupted,
            next: OnceBox::new(),
            lock: RwLock::new(()),
            writer: AtomicUsize::new(0),
            unlocked_readers: AtomicUsize::new(0),
            has_user_callbacks,
        }
    }

    /// Returns the lock of `object` in this process, for a read.
    ///
    /// # Panics
    /// If the fork of this process has interrupted a change.
    #[inline]
    fn for_reading<T: Lockable>(object: &T) -> &AccessLock {
        let lock = object.access_lock();
        if lock.process == fork_count::current() {
            return lock;
        }
        let lock = AccessLock::in_this_process(object);
        assert!(lock.interrupted != Interrupted::Change, "a fork has interrupted a change of the object");
        lock
    }

    /// Returns the lock of `object` in this process, for a change.
    ///
    /// # Errors
    /// `Failure` if the fork of this process has interrupted a use of the object.
    #[inline]
    fn for_change<T: Lockable>(object: &T) -> Result<&AccessLock> {
        let lock = object.access_lock();
        if lock.process == fork_count::current() {
            return Ok(lock);
        }
        let lock = AccessLock::in_this_process(object);
        match lock.interrupted {
            Interrupted::Nothing => Ok(lock),
            _ => Err(err!(Failure, "another thread was using the object when the process was forked")),
        }
    }

    /// Returns the lock of `object` in this process, which may be a descendant of the process that made the object. A
    /// thread that has forked inside an access uses the lock that it holds until the access ends.
    #[cold]
    fn in_this_process<T: Lockable>(object: &T) -> &AccessLock {
        let mut lock = object.access_lock();
        // Whether this thread holds a lock, as far as that is recorded.
        let is_held = |lock: &Self| {
            lock.writer.load(Ordering::Relaxed) == thread::id() || lock.recorded_hold().is_some()
        };
        while lock.process != fork_count::current() && !is_held(lock) {
            lock = lock.next.get_or_init(|| {
                let interrupted = lock.interrupted_use(object);
                Box::new(AccessLock::after(interrupted, lock.has_user_callbacks))
            });
        }
        lock
    }

    /// Returns the use of the object at the fork, in a child. The state of the lock does not change any more.
    fn interrupted_use(&self, object: &impl Lockable) -> Interrupted {
        if self.writer.load(Ordering::Relaxed) != 0 {
            return Interrupted::Change;
        }
        match self.interrupted {
            Interrupted::Nothing if self.lock.is_locked() || self.has_unlocked_readers() => {
                object.use_after_interrupted_reads()
            }
            before => before,
        }
    }

    /// Returns whether no other thread can use the object until this thread has released it.
    #[inline]
    fn is_single_threaded(&self) -> bool {
        !self.has_user_callbacks && thread::is_only_thread() && !pool::has_callback()
    }

    /// Returns how this thread, or the thread whose job it works on, holds the lock, if that is recorded.
    fn recorded_hold(&self) -> Option<LockMode> {
        if self.has_user_callbacks { held_locks::find(self.key()) } else { None }
    }

    /// Returns whether this thread, or the thread whose job it works on, holds the lock of `object`, which records its
    /// holders.
    pub(super) fn is_held_by_this_thread(object: &impl Lockable) -> bool {
        AccessLock::in_this_process(object).recorded_hold().is_some()
    }

    /// Returns the key of the lock in [`held_locks`].
    fn key(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Waits until no thread changes the object.
    fn exclude_changes(&self) -> ReadExclusion<'_> {
        if !self.has_user_callbacks {
            return ReadExclusion::Locked { _lock: self.lock.read(), is_recorded: false };
        }
        let lock = match self.recorded_hold() {
            None => self.lock.read(),
            // Inside a function of the program: a thread that waits to change the object waits for this thread.
            Some(LockMode::Shared) => self.lock.read_recursive(),
            Some(LockMode::Exclusive) => return ReadExclusion::Inherited,
        };
        held_locks::add(self.key(), LockMode::Shared);
        ReadExclusion::Locked { _lock: lock, is_recorded: true }
    }

    /// Adds `change` to the number of readers without a lock. Only one thread at a time calls this, so that no atomic
    /// addition is needed.
    #[inline]
    fn add_unlocked_readers(&self, change: isize) {
        let count = self.unlocked_readers.load(Ordering::Relaxed);
        self.unlocked_readers.store(count.wrapping_add_signed(change), Ordering::Relaxed);
    }

    #[inline]
    fn has_unlocked_readers(&self) -> bool {
        self.unlocked_readers.load(Ordering::Relaxed) != 0
    }
}

/// How a [`ReadGuard`] excludes changes.
enum ReadExclusion<'a> {
    /// It is counted in `unlocked_readers`.
    Counted,
    /// By the [`WriteGuard`] of the thread whose job this thread works on.
    Inherited,
    Locked {
        _lock: RwLockReadGuard<'a, ()>,
        is_recorded: bool,
    },
}

/// Shared access to a `T`; released on drop.
#[must_use]
pub(crate) struct ReadGuard<'a, T: Lockable> {
    object: &'a T,
    access: &'a AccessLock,
    exclusion: ReadExclusion<'a>,
}

impl<'a, T: Lockable> ReadGuard<'a, T> {
    /// Waits until no thread changes `object` and no thread has waited longer for a change: a continuous sequence of
    /// readers does not starve a change.
    ///
    /// # Panics
    /// In a child of `fork()`, if another thread was changing `object` at the fork: it would wait forever.
    #[inline]
    pub(crate) fn lock(object: &'a T) -> Self {
        let access = AccessLock::for_reading(object);
        if access.is_single_threaded() || access.writer.load(Ordering::Relaxed) == thread::id() {
            access.add_unlocked_readers(1);
            return ReadGuard { object, access, exclusion: ReadExclusion::Counted };
        }
        ReadGuard { object, access, exclusion: access.exclude_changes() }
    }

    /// Lends the proof that the lock is held.
    #[inline]
    pub(crate) fn lock_proof(&self) -> LockProof<'_, T> {
        LockProof { object: self.object }
    }
}

impl<T: Lockable> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let ReadExclusion::Counted = self.exclusion {
            self.access.add_unlocked_readers(-1);
        } else if let ReadExclusion::Locked { is_recorded: true, .. } = self.exclusion {
            held_locks::remove(self.access.key(), LockMode::Shared);
        }
    }
}

/// How a [`WriteGuard`] excludes other threads.
enum WriteExclusion<'a> {
    /// By the contract of [`WriteGuard::without_lock`].
    WithoutLock,
    /// No other thread can use the object.
    SingleThreaded,
    Locked {
        _lock: RwLockWriteGuard<'a, ()>,
    },
}

/// Exclusive access to a `T`; released on drop.
#[must_use]
pub(crate) struct WriteGuard<'a, T: Lockable> {
    object: &'a T,
    access: &'a AccessLock,
    exclusion: WriteExclusion<'a>,
    /// The guard belongs to the thread in `writer`.
    _not_send: PhantomData<*const ()>,
}

impl<'a, T: Lockable> WriteGuard<'a, T> {
    /// Waits until no other thread uses `object`.
    ///
    /// # Errors
    /// `Failure` when this thread is using it already; in a child of `fork()`, also if another thread was using it at
    /// the fork.
    #[inline(always)]
    pub(crate) fn lock(object: &'a T) -> Result<Self> {
        let access = AccessLock::for_change(object)?;
        let me = thread::id();
        if access.writer.load(Ordering::Relaxed) == me || access.recorded_hold().is_some() {
            return Err(err!(Failure, "a function called during an access to an object tries to change it"));
        }
        let exclusion = if access.is_single_threaded() {
            WriteExclusion::SingleThreaded
        } else {
            WriteExclusion::Locked { _lock: access.lock.write() }
        };
        if access.has_unlocked_readers() {
            return Err(err!(Failure, "this thread tries to change an object while it reads the object"));
        }
        access.writer.store(me, Ordering::Relaxed);
        if access.has_user_callbacks {
            held_locks::add(access.key(), LockMode::Exclusive);
        }
        Ok(WriteGuard { object, access, exclusion, _not_send: PhantomData })
    }

    /// Returns exclusive access to an object that no other code can use; no lock is taken.
    ///
    /// # Safety
    /// While the guard lives, no other code uses what is changed or read through it.
    #[inline]
    pub(crate) unsafe fn without_lock(object: &'a T) -> Self {
        let access = object.access_lock();
        WriteGuard { object, access, exclusion: WriteExclusion::WithoutLock, _not_send: PhantomData }
    }

    /// Lends the proof that the lock is held.
    #[inline]
    pub(crate) fn lock_proof(&self) -> LockProof<'_, T> {
        LockProof { object: self.object }
    }

    #[inline]
    pub(crate) fn object(&self) -> &'a T {
        self.object
    }

    /// Returns the object for a change of the data that the lock protects: nothing borrowed from a [`LockProof`] is in
    /// use.
    ///
    /// # Panics
    /// While this thread has a [`ReadGuard`] of the same lock. No function of the library keeps one beyond a call from
    /// an I/O function of the program, so that a panic is a defect of the library.
    #[inline]
    pub(crate) fn object_for_change(&mut self) -> &'a T {
        let is_unshared = matches!(self.exclusion, WriteExclusion::WithoutLock);
        assert!(is_unshared || !self.access.has_unlocked_readers(), "a change during a read");
        self.object
    }
}

impl<T: Lockable> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.exclusion, WriteExclusion::WithoutLock) {
            let access = self.access;
            access.writer.store(0, Ordering::Relaxed);
            if access.has_user_callbacks {
                held_locks::remove(access.key(), LockMode::Exclusive);
            }
        }
    }
}

/// Proof that the lock of a `T` is held, shared or exclusive, for at least `'a`.
pub(crate) struct LockProof<'a, T> {
    object: &'a T,
}

impl<T> Clone for LockProof<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LockProof<'_, T> {}

impl<'a, T> LockProof<'a, T> {
    #[inline]
    pub(crate) fn object(self) -> &'a T {
        self.object
    }
}

impl<T> Deref for LockProof<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.object
    }
}

impl<T: Lockable> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.object
    }
}

impl<T: Lockable> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.object
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pipeline::jobs::for_each_item;

    struct Number {
        lock: AccessLock,
        value: std::cell::UnsafeCell<u64>,
    }

    // SAFETY: `value` is only used with the lock held.
    unsafe impl Sync for Number {}

    // SAFETY: the one lock of the number.
    unsafe impl Lockable for Number {
        fn access_lock(&self) -> &AccessLock {
            &self.lock
        }
    }

    impl Number {
        fn new(has_user_callbacks: bool) -> Number {
            Number { lock: AccessLock::new(has_user_callbacks), value: std::cell::UnsafeCell::new(0) }
        }
    }

    impl LockProof<'_, Number> {
        fn get(self) -> u64 {
            // SAFETY: the lock is held, so that no thread changes the number.
            unsafe { *self.object().value.get() }
        }
    }

    impl WriteGuard<'_, Number> {
        fn add(&mut self) {
            // SAFETY: exclusive access.
            unsafe { *self.object_for_change().value.get() += 1 }
        }
    }

    #[test]
    fn reads_inside_a_change_succeed_and_nested_changes_fail() {
        let number = Number::new(true);
        let change = WriteGuard::lock(&number).unwrap();
        drop(ReadGuard::lock(&number));
        assert!(WriteGuard::lock(&number).is_err());
        drop(change);
        let read = ReadGuard::lock(&number);
        let again = ReadGuard::lock(&number);
        assert!(WriteGuard::lock(&number).is_err());
        drop(read);
        assert!(WriteGuard::lock(&number).is_err());
        drop(again);
        assert!(WriteGuard::lock(&number).is_ok());
    }

    #[test]
    fn changing_during_a_nested_read_panics() {
        let number = Number::new(true);
        let mut change = WriteGuard::lock(&number).unwrap();
        change.add();
        let read = ReadGuard::lock(&number);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| change.add()));
        assert!(outcome.is_err());
        drop(change);
        // The guard holds no lock, but excludes changes.
        assert!(WriteGuard::lock(&number).is_err());
        assert_eq!(read.lock_proof().get(), 1);
        drop(read);
        WriteGuard::lock(&number).unwrap().add();
        assert_eq!(ReadGuard::lock(&number).lock_proof().get(), 2);
    }

    #[test]
    fn write_guard_without_lock_changes_the_object() {
        let number = Number::new(false);
        // SAFETY: the number has a lock of its own.
        let mut change = unsafe { WriteGuard::without_lock(&number) };
        change.add();
        assert_eq!(change.lock_proof().get(), 1);
        drop(change);
        WriteGuard::lock(&number).unwrap().add();
        assert_eq!(ReadGuard::lock(&number).lock_proof().get(), 2);
    }

    #[test]
    fn continuous_readers_do_not_starve_a_change() {
        let number = Number::new(false);
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // At any time one of them holds the lock.
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut read = ReadGuard::lock(&number);
                    while !over.load(Ordering::Relaxed) {
                        drop(read);
                        read = ReadGuard::lock(&number);
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                });
            }
            for _ in 0..20 {
                drop(WriteGuard::lock(&number).unwrap());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_read_inside_a_read_does_not_wait_for_a_change() {
        let number = Number::new(true);
        std::thread::scope(|scope| {
            let read = ReadGuard::lock(&number);
            let change = scope.spawn(|| drop(WriteGuard::lock(&number).unwrap()));
            while !number.lock.lock.is_locked() || number.lock.lock.try_read().is_some() {
                std::thread::yield_now();
            }
            // Now the change waits.
            drop(ReadGuard::lock(&number));
            drop(read);
            change.join().unwrap();
        });
    }

    #[test]
    fn job_threads_inherit_the_lock_of_the_waiting_thread() {
        let number = Number::new(true);
        let use_it = |_: usize| {
            drop(ReadGuard::lock(&number));
            assert!(WriteGuard::lock(&number).is_err());
            // Gives the other threads time to take some of the items.
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok(())
        };
        std::thread::scope(|scope| {
            let read = ReadGuard::lock(&number);
            let change = scope.spawn(|| drop(WriteGuard::lock(&number).unwrap()));
            while !number.lock.lock.is_locked() || number.lock.lock.try_read().is_some() {
                std::thread::yield_now();
            }
            // Now the change waits.
            for_each_item(3, 0..20, use_it).unwrap();
            drop(read);
            change.join().unwrap();
        });
        let change = WriteGuard::lock(&number).unwrap();
        for_each_item(3, 0..20, use_it).unwrap();
        drop(change);
        // No record of the lock is left.
        for_each_item(3, 0..20, |_| WriteGuard::lock(&number).map(drop)).unwrap();
    }

    #[test]
    fn changes_exclude_each_other_and_readers() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 1000 };
        let number = Number::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        WriteGuard::lock(&number).unwrap().add();
                    }
                });
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let read = ReadGuard::lock(&number);
                        let before = read.lock_proof().get();
                        std::hint::spin_loop();
                        assert_eq!(before, read.lock_proof().get());
                    }
                });
            }
        });
        assert_eq!(ReadGuard::lock(&number).lock_proof().get(), 4 * ROUNDS);
    }
}
