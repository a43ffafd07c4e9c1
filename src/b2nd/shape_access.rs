//! Access to an array whose shape another thread or process may change: with the [`ShapeLock`],
//! or by repeated reads.
//!
//! Between processes, the lock of the frame is held while the shape changes and while items are written, from before
//! the shape is read.

use super::array::{Array, read_array_meta_bytes};
use super::geometry::Geometry;
use super::metalayer;
use super::shape_lock::{ShapeLock, ShapeWriteGuard};
use crate::error::{Result, to_failure_unless_lock};
use crate::frame::format::array_meta::{B2ND_METALAYER, CATERVA_METALAYER};
use crate::io::FrameLockGuard;
use crate::schunk::SuperChunk;
use crate::schunk::access_lock::LockProof;
use std::cmp;
use std::ptr;
use std::sync::Arc;

/// Number of attempts of a read without the lock. After them, the read takes the lock, so that changes of the shape by
/// this process wait.
const OPTIMISTIC_READ_ATTEMPTS: usize = 2;

/// Proof that neither another thread, nor another process that takes the lock of the frame, changes the shape of an
/// array. Functions that write items are methods of this type.
pub(super) struct ShapeLockedArray<'a> {
    array: &'a Array,
    schunk: &'a SuperChunk,
}

impl<'a> ShapeLockedArray<'a> {
    fn new(
        array: &'a Array,
        schunk: &'a SuperChunk,
        shape: LockProof<'a, ShapeLock>,
    ) -> ShapeLockedArray<'a> {
        assert!(
            ptr::eq(shape.object(), array.shape_lock()),
            "the proof is for the shape lock of another array"
        );
        ShapeLockedArray { array, schunk }
    }

    pub(super) fn array(&self) -> &'a Array {
        self.array
    }

    pub(super) fn schunk(&self) -> &'a SuperChunk {
        self.schunk
    }
}

/// Exclusive access to the shape of an array and, between processes, to its frame.
pub(super) struct ShapeChange<'a> {
    array: &'a Array,
    schunk: &'a SuperChunk,
    guard: ShapeWriteGuard<'a>,
}

impl<'a> ShapeChange<'a> {
    pub(super) fn array(&self) -> &'a Array {
        self.array
    }

    pub(super) fn schunk(&self) -> &'a SuperChunk {
        self.schunk
    }

    /// Lends access for writing items.
    pub(super) fn shape_locked(&self) -> ShapeLockedArray<'_> {
        ShapeLockedArray::new(self.array, self.schunk, self.guard.locked())
    }

    /// Writes a shape into the metalayer (`b2nd.md` 6.14), keeps the data type in it, and stores the geometry in the
    /// array.
    ///
    /// # Errors
    /// `Failure` when it cannot be written.
    pub(super) fn publish(&mut self, geometry: Arc<Geometry>) -> Result<()> {
        let schunk = self.schunk;
        let name = if schunk.has_metalayer(B2ND_METALAYER) { B2ND_METALAYER } else { CATERVA_METALAYER };
        let mut bytes = read_array_meta_bytes(schunk)?;
        metalayer::write_shape(&mut bytes, geometry.shape())?;
        schunk.meta_update(name, &bytes).map_err(to_failure_unless_lock)?;
        self.array.update_geometry(geometry, schunk.change_tick(), schunk);
        Ok(())
    }
}

impl Array {
    /// Runs `change`, with the current shape, while no other thread writes items or changes the shape.
    ///
    /// # Errors
    /// `Failure` inside a write to the same array by this thread, `NullPointer` without a super-chunk, `Lock`, those of
    /// a refresh and of `change`.
    pub(super) fn change_shape<R>(
        &self,
        change: impl FnOnce(&mut ShapeChange<'_>) -> Result<R>,
    ) -> Result<R> {
        let guard = self.shape_lock().lock_exclusive()?;
        let schunk = self.schunk()?;
        let mut access = ShapeChange { array: self, schunk, guard };
        self.with_frame_lock(schunk, || change(&mut access))
    }

    /// As [`change_shape`](Self::change_shape), while no thread changes the shape of `other` either.
    pub(super) fn change_shape_with<R>(
        &self,
        other: &Array,
        change: impl FnOnce(&mut ShapeChange<'_>) -> Result<R>,
    ) -> Result<R> {
        let lock_other = || other.shape_lock().lock_shared();
        // Two threads that each append one of two arrays to the other must lock them in the same order.
        // A view has the lock of its base.
        match ptr::from_ref(other.shape_lock()).cmp(&ptr::from_ref(self.shape_lock())) {
            cmp::Ordering::Equal => self.change_shape(change),
            cmp::Ordering::Less => {
                let _other_guard = lock_other();
                self.change_shape(change)
            }
            cmp::Ordering::Greater => self.change_shape(|access| {
                let _other_guard = lock_other();
                change(access)
            }),
        }
    }

    /// Runs `write` while no thread changes the shape.
    ///
    /// # Errors
    /// `NullPointer` without a super-chunk, `Lock`, those of a refresh and of `write`.
    pub(super) fn with_shape_lock<R>(
        &self,
        write: impl FnOnce(&ShapeLockedArray<'_>) -> Result<R>,
    ) -> Result<R> {
        let guard = self.shape_lock().lock_shared();
        self.check_chunk_numbers()?;
        let access = ShapeLockedArray::new(self, self.schunk()?, guard.lock_proof());
        self.with_frame_lock(access.schunk, || write(&access))
    }

    /// Runs `work` with the lock of the frame, after a refresh. All its changes are committed together, where the frame
    /// has transactions; those with atomic changes have read the header then, so that the refresh reads nothing.
    fn with_frame_lock<R>(&self, schunk: &SuperChunk, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let frame_lock = schunk.lock_frame()?;
        let done = schunk.in_transaction(to_failure_unless_lock, || {
            self.refresh()?;
            work()
        });
        if done.is_err() && schunk.change_tick() != self.last_tick() {
            // The shape before the call is that of the rolled back metalayer.
            let _ = self.refresh();
        }
        let unlocked = frame_lock.map_or(Ok(()), FrameLockGuard::release);
        done.and_then(|done| unlocked.map(|()| done))
    }

    /// Runs `read` until the shape has not changed during a run; that is one or more times.
    pub(super) fn read_with_retry<R>(&self, mut read: impl FnMut(&Arc<Geometry>) -> Result<R>) -> Result<R> {
        let lock = self.shape_lock();
        for _ in 0..OPTIMISTIC_READ_ATTEMPTS {
            self.refresh()?;
            let before = lock.start_read();
            let tick = self.change_tick();
            if let Some(before) = before {
                let result = self.check_chunk_numbers().and_then(|()| read(&self.geometry()));
                if lock.is_unchanged(before) && self.change_tick() == tick {
                    return result;
                }
            }
        }
        let _shape_locked = lock.lock_shared();
        self.refresh()?;
        self.check_chunk_numbers()?;
        read(&self.geometry())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{BLOSC2_IO_DEFAULTS, CBool, blosc2_io, blosc2_stdio_params};
    use crate::b2nd::array::ArrayParams;
    use crate::chunk::SpecialValue;
    use crate::io::tests::TempDir;
    use crate::schunk::storage::Storage;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;
    use std::time::Duration;

    /// The default back-end with the lock between processes.
    fn locking() -> blosc2_io {
        static PARAMS: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::TRUE };
        blosc2_io { params: ptr::from_ref(&PARAMS).cast_mut().cast(), ..BLOSC2_IO_DEFAULTS }
    }

    #[test]
    #[cfg_attr(miri, ignore = "uses files: Miri has no getrlimit")]
    fn panic_releases_the_frame_lock() {
        let dir = TempDir::new();
        let path = dir.c_path("array.b2nd");
        let (io, mut cparams) = (locking(), *Storage::default().cparams);
        (cparams.typesize, cparams.blocksize) = (4, 8);
        let storage = Storage {
            contiguous: true,
            urlpath: Some(&path),
            cparams: &cparams,
            io: &io,
            ..Storage::default()
        };
        let params = ArrayParams {
            shape: &[4],
            chunkshape: &[2],
            blockshape: &[2],
            dtype: None,
            dtype_format: 0,
            storage,
            metalayers: &[],
        };
        // SAFETY: the pointers in the parameters are those of literals and of a static.
        let array = unsafe { Array::create(&params, SpecialValue::Zero) }.unwrap();
        array.schunk().unwrap().finish_creation().unwrap();
        for by in ["a write", "a change of the shape"] {
            let panicked = catch_unwind(AssertUnwindSafe(|| match by {
                "a write" => array.with_shape_lock(|_| -> Result<()> { panic!("a test") }),
                _ => array.change_shape(|_| -> Result<()> { panic!("a test") }),
            }));
            assert!(panicked.is_err());
            // SAFETY: the back-end of `locking()` is the plain one, whose parameters are a static.
            let other = unsafe { SuperChunk::open(&path, 0, &locking()) }.unwrap();
            let (send, receive) = mpsc::channel();
            std::thread::spawn(move || {
                send.send(other.hold_frame_lock().and_then(|()| other.release_frame_lock()).is_ok())
            });
            assert_eq!(receive.recv_timeout(Duration::from_secs(20)), Ok(true), "after {by}");
        }
    }
}
