//! The lock of the shape of an array and its views: held in shared mode by threads that write items, or exclusively by
//! one thread that changes the shape.
//!
//! With another shape, the same item can be in another chunk. So no items are written while the shape changes. Reads do
//! not wait: a read during which the shape has changed is repeated. (It may call the program's postfilter, which may
//! use the array.)

use super::MAX_DIM;
use crate::error::Result;
use crate::schunk::access_lock::{AccessLock, LockProof, Lockable, ReadGuard, WriteGuard};
use parking_lot::RwLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The lock of the shape of one array. Views of the array share it.
pub(super) struct ShapeLock {
    lock: AccessLock,
    /// Number of changes that have begun plus the number that have ended: odd while the shape changes.
    change_count: AtomicU64,
    /// [`Geometry::chunk_steps`](super::geometry::Geometry::chunk_steps) of the array, for its views.
    chunk_steps: RwLock<[i64; MAX_DIM]>,
}

// SAFETY: a shape has one lock, which is returned each time; an array and its views share the shape of the array.
unsafe impl Lockable for ShapeLock {
    fn access_lock(&self) -> &AccessLock {
        &self.lock
    }
}

/// Proof that no thread changes the shape; released on drop.
pub(super) type ShapeReadGuard<'a> = ReadGuard<'a, ShapeLock>;

/// Proof that no other thread changes the shape or writes items; released on drop.
pub(super) struct ShapeWriteGuard<'a>(WriteGuard<'a, ShapeLock>);

impl ShapeWriteGuard<'_> {
    /// Lends the proof that the lock is held.
    pub(super) fn locked(&self) -> LockProof<'_, ShapeLock> {
        self.0.lock_proof()
    }
}

impl ShapeLock {
    pub(super) fn new(chunk_steps: [i64; MAX_DIM]) -> ShapeLock {
        // `true`: threads record that they hold the lock, since a prefilter of the program may write to the array, too.
        ShapeLock {
            lock: AccessLock::new(true),
            change_count: AtomicU64::new(0),
            chunk_steps: RwLock::new(chunk_steps),
        }
    }

    /// Stores the steps of the array's current shape.
    pub(super) fn set_chunk_steps(&self, chunk_steps: [i64; MAX_DIM]) {
        *self.chunk_steps.write() = chunk_steps;
    }

    pub(super) fn chunk_steps(&self) -> [i64; MAX_DIM] {
        *self.chunk_steps.read()
    }

    /// Waits until no thread changes the shape.
    pub(super) fn lock_shared(&self) -> ShapeReadGuard<'_> {
        ReadGuard::lock(self)
    }

    /// Waits until no other thread changes the shape or writes items. Reads in progress are repeated.
    ///
    /// # Errors
    /// `Failure` when this thread is writing items or changing the shape.
    pub(super) fn lock_exclusive(&self) -> Result<ShapeWriteGuard<'_>> {
        let guard = WriteGuard::lock(self)?;
        self.change_count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::Release);
        Ok(ShapeWriteGuard(guard))
    }

    /// Returns the counter of changes at the start of a read; `None` while the shape changes.
    pub(super) fn start_read(&self) -> Option<u64> {
        Some(self.change_count.load(Ordering::Acquire)).filter(|changes| changes.is_multiple_of(2))
    }

    /// Returns whether no change has begun since [`start_read`](Self::start_read), which returned `before`; called at
    /// the end of a read.
    pub(super) fn is_unchanged(&self, before: u64) -> bool {
        fence(Ordering::Acquire);
        self.change_count.load(Ordering::Relaxed) == before
    }
}

impl Drop for ShapeWriteGuard<'_> {
    fn drop(&mut self) {
        self.0.change_count.fetch_add(1, Ordering::Release);
    }
}
