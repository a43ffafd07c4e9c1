//! The public struct of a super-chunk (design decision 1): every access to it is in this module.
//!
//! C code reads and writes the struct between calls, so the library keeps no copy of the fields: it reads them at the
//! start of a call and writes them at its end, through raw pointers. The fields point at `malloc` blocks (`abi.md` 3.6,
//! 3.7).
//!
//! The rule that all `unsafe` here relies on: the struct is valid and its pointers are NULL or as the ABI requires,
//! since only the library sets them and programs follow `abi.md` 3.6.1. Fields that change while the super-chunk is in
//! use are either only accessed atomically, or read by methods of [`LockProof`] and written by methods of
//! [`WriteGuard`]. All other fields are only written while the super-chunk is made.
//!
//! | module | owns |
//! |---|---|
//! | this one | counters, parameters of compression, the frame |
//! | [`contexts`] | the contexts, the locks for their use, and their parameters as structs for C |
//! | [`metalayer_kind`], [`metalayer_lists`] | the two lists of metalayers |
//! | [`chunk_array`] | the array of chunks of a super-chunk without a frame |

pub(super) mod chunk_array;
pub(super) mod contexts;
pub(super) mod metalayer_kind;
pub(super) mod metalayer_lists;

use super::access_lock::{LockProof, WriteGuard};
use super::rules::Counters;
use super::{StorageKind, SuperChunk};
use crate::abi::{blosc2_cparams, blosc2_dparams, blosc2_frame, blosc2_schunk, blosc2_storage};
use crate::error::{Result, ensure};
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::store::{DiskFrame, Frame};
use crate::pipeline::context::{Context, OwnedContext};
use crate::pipeline::params::CallbackPointer;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, Ordering};

/// The counter fields of the public struct as atomics; see [`SuperChunk::counter_fields`].
struct CounterFields<'a> {
    nchunks: &'a AtomicI64,
    nbytes: &'a AtomicI64,
    cbytes: &'a AtomicI64,
    chunksize: &'a AtomicI32,
    blocksize: &'a AtomicI32,
    flags2: &'a AtomicU8,
}

impl SuperChunk {
    /// Returns a pointer to the public struct.
    pub(crate) fn as_ptr(&self) -> *mut blosc2_schunk {
        self.public.get()
    }

    /// Returns the handle by which C code names the super-chunk in parameters.
    pub(super) fn handle(&self) -> CallbackPointer {
        CallbackPointer(self.as_ptr().cast())
    }

    fn field<T>(&self, read: impl FnOnce(*const blosc2_schunk) -> T) -> T {
        read(self.as_ptr())
    }

    /// Returns the counters. Without the lock the five values may come from different changes.
    pub(crate) fn counters(&self) -> Counters {
        let fields = self.counter_fields();
        Counters {
            nchunks: fields.nchunks.load(Ordering::Relaxed),
            nbytes: fields.nbytes.load(Ordering::Relaxed),
            cbytes: fields.cbytes.load(Ordering::Relaxed),
            chunksize: fields.chunksize.load(Ordering::Relaxed),
            flags2: fields.flags2.load(Ordering::Relaxed),
        }
    }

    /// Returns the current field `chunksize`, in bytes.
    #[inline]
    pub(super) fn chunksize(&self) -> i32 {
        self.counter_fields().chunksize.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn nchunks(&self) -> i64 {
        self.counter_fields().nchunks.load(Ordering::Relaxed)
    }

    /// Returns the counter fields as atomics: they are also read without the lock.
    fn counter_fields(&self) -> CounterFields<'_> {
        let s = self.as_ptr();
        // SAFETY: the rule of the module; aligned fields, which the library only accesses in this way.
        unsafe {
            CounterFields {
                nchunks: AtomicI64::from_ptr(&raw mut (*s).nchunks),
                nbytes: AtomicI64::from_ptr(&raw mut (*s).nbytes),
                cbytes: AtomicI64::from_ptr(&raw mut (*s).cbytes),
                chunksize: AtomicI32::from_ptr(&raw mut (*s).chunksize),
                blocksize: AtomicI32::from_ptr(&raw mut (*s).blocksize),
                flags2: AtomicU8::from_ptr(&raw mut (*s).flags2),
            }
        }
    }

    /// Returns the item size in bytes.
    pub(crate) fn typesize(&self) -> i32 {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).typesize })
    }

    /// Returns the requested block size in bytes.
    pub(crate) fn blocksize(&self) -> i32 {
        self.counter_fields().blocksize.load(Ordering::Relaxed)
    }

    /// Returns whether the super-chunk is a view: its chunks and frame belong to another super-chunk.
    pub(crate) fn is_view(&self) -> bool {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).view })
    }

    pub(super) fn filters(&self) -> [u8; 6] {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).filters })
    }

    /// Stores `current_nchunk`, which pre- and postfilters read. Several threads may store it; the last one wins.
    pub(super) fn set_current_nchunk(&self, nchunk: i64) {
        // SAFETY: the rule of the module; an aligned field that the library only accesses atomically.
        unsafe { AtomicI64::from_ptr(&raw mut (*self.as_ptr()).current_nchunk) }
            .store(nchunk, Ordering::Relaxed);
    }

    /// Returns the change tick: the number of changes of metalayers, and of changes by other handles that were read.
    /// Waits for the end of a change.
    pub(crate) fn change_tick(&self) -> i64 {
        self.read_lock().change_tick_field().load(Ordering::Relaxed)
    }

    fn change_tick_field(&self) -> &AtomicI64 {
        // SAFETY: the rule of the module; an aligned field that the library only accesses atomically.
        unsafe { AtomicI64::from_ptr(&raw mut (*self.as_ptr()).change_tick) }
    }

    /// Returns the storage parameters with which the super-chunk was made.
    pub(crate) fn storage(&self) -> &blosc2_storage {
        // SAFETY: the rule of the module; `with_storage` sets it before other code can use the `SuperChunk`.
        unsafe { &*(*self.as_ptr()).storage }
    }

    /// Returns the frame, if the chunks are in one.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        let owner = self.owner()?.as_ptr();
        // SAFETY: the rule of the module: NULL or a `Frame`, which lives as long as the super-chunk that owns it.
        unsafe { (*owner).frame.cast::<Frame>().as_ref() }
    }

    /// Returns the frame, if the chunks are in one on disk.
    pub(crate) fn disk_frame(&self) -> Option<&DiskFrame> {
        self.frame().and_then(Frame::disk)
    }

    /// Gives a new super-chunk its frame.
    ///
    /// # Safety
    /// No other code uses the super-chunk.
    pub(super) unsafe fn set_frame(&self, frame: Frame) {
        // SAFETY: by the contract of this function no other code uses the super-chunk.
        drop(unsafe { self.take_frame() });
        // SAFETY: the rule of the module.
        unsafe { (*self.as_ptr()).frame = Box::into_raw(Box::new(frame)).cast::<blosc2_frame>() }
    }

    /// Takes the frame away from the super-chunk, unless it is that of the owner of a view.
    ///
    /// # Safety
    /// No other code uses the frame.
    pub(super) unsafe fn take_frame(&self) -> Option<Box<Frame>> {
        if self.is_view() {
            return None;
        }
        // SAFETY: the rule of the module; the frame is NULL or comes from `set_frame`, and no other code uses it.
        unsafe {
            let frame = ptr::replace(&raw mut (*self.as_ptr()).frame, ptr::null_mut()).cast::<Frame>();
            if frame.is_null() { None } else { Some(Box::from_raw(frame)) }
        }
    }

    /// Returns how chunks are stored.
    pub(crate) fn storage_kind(&self) -> StorageKind {
        match self.frame().map(Frame::kind) {
            None => StorageKind::Memory,
            Some(FrameKind::Contiguous) => StorageKind::Contiguous,
            Some(FrameKind::Sparse) => StorageKind::Sparse,
        }
    }
}

impl LockProof<'_, SuperChunk> {
    pub(super) fn frame_header(self, counters: &Counters) -> FrameHeader {
        let schunk = self.object();
        let nthreads_c = schunk.nthreads_to_compress().unwrap_or(1);
        let nthreads_d = schunk.nthreads_to_decompress().unwrap_or(1);
        let blocksize = schunk.blocksize();
        // SAFETY: the rule of the module; the lock is held.
        schunk.field(|s| unsafe {
            FrameHeader {
                kind: schunk.frame().map_or(FrameKind::Contiguous, Frame::kind),
                compcode: (*s).compcode,
                compcode_meta: (*s).compcode_meta,
                clevel: (*s).clevel,
                splitmode: (*s).splitmode,
                use_dict: (*s).use_dict != 0,
                nbytes: counters.nbytes,
                cbytes: counters.cbytes,
                typesize: (*s).typesize,
                blocksize,
                chunksize: counters.chunksize,
                nthreads_c,
                nthreads_d,
                has_vlmetalayers: (*s).nvlmetalayers > 0,
                filters: (*s).filters,
                filters_meta: (*s).filters_meta,
                flags2: counters.flags2,
                ..FrameHeader::default()
            }
        })
    }
}

impl WriteGuard<'_, SuperChunk> {
    #[inline(always)]
    pub(super) fn set_counters(&mut self, counters: &Counters) {
        let fields = self.object_for_change().counter_fields();
        fields.nchunks.store(counters.nchunks, Ordering::Relaxed);
        fields.nbytes.store(counters.nbytes, Ordering::Relaxed);
        fields.cbytes.store(counters.cbytes, Ordering::Relaxed);
        fields.chunksize.store(counters.chunksize, Ordering::Relaxed);
        fields.flags2.store(counters.flags2, Ordering::Relaxed);
    }

    /// Publishes the block size in bytes.
    pub(super) fn set_blocksize(&mut self, blocksize: i32) {
        self.object_for_change().counter_fields().blocksize.store(blocksize, Ordering::Relaxed);
    }

    /// Increments the change tick, after a change of metalayers or by another handle.
    pub(super) fn increment_change_tick(&mut self) {
        let schunk = self.object_for_change();
        let tick = schunk.change_tick_field();
        tick.store(tick.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        schunk.array_chunk_nbytes.store(-1, Ordering::Relaxed);
    }
}

/// Writers of fields, for use while a super-chunk is made.
impl SuperChunk {
    /// Presets the size of chunks in bytes, before there are any.
    pub(crate) fn preset_chunksize(&self, chunksize: i32) {
        self.counter_fields().chunksize.store(chunksize, Ordering::Relaxed);
    }

    /// Sets the fields that state how chunks are compressed.
    ///
    /// # Safety
    /// No other code uses the super-chunk.
    pub(super) unsafe fn set_coding(&self, cparams: &blosc2_cparams) {
        let s = self.as_ptr();
        // SAFETY: the rule of the module, and the guarantee of the caller.
        unsafe {
            (*s).compcode = cparams.compcode;
            (*s).compcode_meta = cparams.compcode_meta;
            (*s).clevel = cparams.clevel;
            (*s).splitmode = cparams.splitmode as u8;
            (*s).use_dict = u8::from(cparams.use_dict != 0);
            (*s).typesize = cparams.typesize;
            (*s).blocksize = cparams.blocksize;
            (*s).filters = cparams.filters;
            (*s).filters_meta = cparams.filters_meta;
        }
    }

    /// Makes the contexts. Existing contexts are freed.
    ///
    /// # Safety
    /// The parameters fulfil the safety conditions of [`Context::for_compression`] and [`Context::for_decompression`].
    /// No other code uses the super-chunk.
    pub(super) unsafe fn make_contexts(
        &self,
        cparams: &blosc2_cparams,
        dparams: &blosc2_dparams,
    ) -> Result<()> {
        ensure!(cparams.typesize > 0, InvalidParam, "`typesize` is {}, expected 1 or more", cparams.typesize);
        let s = self.as_ptr();
        // SAFETY: by the contract of this function the parameters are as both constructors require, and no other code
        // uses the super-chunk, whose fields are written here.
        unsafe {
            let cctx = Context::for_compression(cparams)?;
            drop(OwnedContext::from_c(ptr::replace(&raw mut (*s).cctx, cctx.into_c())));
            let dctx = Context::for_decompression(dparams)?;
            drop(OwnedContext::from_c(ptr::replace(&raw mut (*s).dctx, dctx.into_c())));
        }
        Ok(())
    }
}
