//! Who may use the shape of an array: those that write items, together, or one that changes the shape.
//!
//! With another shape, the same item can be in another chunk. So no items are written while the shape changes. Reads do not
//! wait: a read during which the shape has changed is repeated. (It may call the program's postfilter, which may use the array.)
//!
//! Between processes, the lock of the frame is held while the shape changes and while items are written, from before the shape is
//! read.

use super::array::Array;
use super::geometry::Geometry;
use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::schunk::gate::{Changing, Gate};
use std::cmp;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The number of times that a read is tried before it makes changes of the shape by this process wait.
const ATTEMPTS: usize = 2;

/// The lock of the shape of one array.
pub(super) struct ShapeLock {
    gate: Gate,
    /// How many changes have begun, and how many have ended: an odd sum while the shape changes.
    changes: AtomicU64,
}

impl ShapeLock {
    pub(super) fn new() -> ShapeLock {
        // A thread remembers that it writes: a program's prefilter may write to the array, too.
        ShapeLock { gate: Gate::new(true), changes: AtomicU64::new(0) }
    }
}

/// Exclusive access to the shape of an array and, between processes, to its frame.
pub(super) struct ShapeChange<'a> {
    pub array: &'a Array,
    pub schunk: &'a SuperChunk,
    _changing: Changing<'a>,
}

impl Drop for ShapeChange<'_> {
    fn drop(&mut self) {
        self.array.shape_lock().changes.fetch_add(1, Ordering::Release);
    }
}

impl Array {
    /// Runs `change`, with the present shape, while no other thread writes items or changes the shape.
    ///
    /// # Errors
    /// `Failure` from inside a write of the same array by this thread, `NullPointer` without a super-chunk, `Lock`, those of a refresh
    /// and of `change`.
    pub(super) fn change_shape<R>(&self, change: impl FnOnce(&ShapeChange<'_>) -> Result<R>) -> Result<R> {
        let lock = self.shape_lock();
        let changing = lock.gate.change()?;
        let schunk = self.schunk()?;
        lock.changes.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::Release);
        let access = ShapeChange { array: self, schunk, _changing: changing };
        self.locked(schunk, || change(&access))
    }

    /// As [`change_shape`](Self::change_shape), while no thread changes the shape of `other` either.
    ///
    /// # Errors
    /// As [`change_shape`](Self::change_shape).
    pub(super) fn change_shape_with<R>(
        &self,
        other: &Array,
        change: impl FnOnce(&ShapeChange<'_>) -> Result<R>,
    ) -> Result<R> {
        let steady = || other.shape_lock().gate.read();
        // Two arrays that are put behind each other at once must be locked in the same order.
        match ptr::from_ref(other).cmp(&ptr::from_ref(self)) {
            cmp::Ordering::Equal => self.change_shape(change),
            cmp::Ordering::Less => {
                let _steady = steady();
                self.change_shape(change)
            }
            cmp::Ordering::Greater => self.change_shape(|access| {
                let _steady = steady();
                change(access)
            }),
        }
    }

    /// Runs `write` while no thread changes the shape.
    ///
    /// # Errors
    /// `NullPointer` without a super-chunk, `Lock`, those of a refresh and of `write`.
    pub(super) fn writing<R>(
        &self,
        write: impl FnOnce(&SuperChunk, &Arc<Geometry>) -> Result<R>,
    ) -> Result<R> {
        let _steady = self.shape_lock().gate.read();
        let schunk = self.schunk()?;
        self.locked(schunk, || write(schunk, &self.geometry()))
    }

    /// Runs `work` with the lock of the frame, after a refresh.
    fn locked<R>(&self, schunk: &SuperChunk, work: impl FnOnce() -> Result<R>) -> Result<R> {
        schunk.lock()?;
        let done = self.refresh().and_then(|_| work());
        let unlocked = schunk.unlock();
        done.and_then(|done| unlocked.map(|()| done))
    }

    /// Runs `read`, once or more, so that the shape does not change during the last time.
    ///
    /// # Errors
    /// Those of a refresh and of `read`.
    pub(super) fn reading<R>(&self, mut read: impl FnMut(&Arc<Geometry>) -> Result<R>) -> Result<R> {
        let lock = self.shape_lock();
        for _ in 0..ATTEMPTS {
            self.refresh()?;
            let before = (lock.changes.load(Ordering::Acquire), self.change_tick());
            if before.0.is_multiple_of(2) {
                let result = read(&self.geometry());
                fence(Ordering::Acquire);
                if (lock.changes.load(Ordering::Relaxed), self.change_tick()) == before {
                    return result;
                }
            }
        }
        let _steady = lock.gate.read();
        self.refresh()?;
        read(&self.geometry())
    }
}
