//! Super-chunks: chunks in order, kept one by one in memory or in a frame (`schunk.md`).
//!
//! | room | owns |
//! |---|---|
//! | [`live`] | the public struct that C sees, and every access to it |
//! | [`gate`] | who may use a super-chunk: readers together, a change alone |
//! | [`rules`] | what a change does to the counters; pure |
//! | [`create`], [`open`] | making and opening |
//! | [`read`], [`cache`] | chunks for reading; the block that was decoded last |
//! | [`slice`], [`sparse`], [`blocks`] | items in a row, and here and there; blocks for arrays |
//! | [`gathered`] | chunks made of blocks that change, for arrays |
//! | [`change`], [`special`] | putting chunks in and taking them out; filling with special ones |
//! | [`snapshot`] | read-modify-writes that run a program's functions |
//! | [`metalayers`] | metalayers of both kinds |
//! | [`copy`] | copies, and frames for others |
//! | [`sync`] | other handles on the same frame: locks, and what they have changed |
//! | [`view`] | super-chunks that show the chunks of another |
//!
//! A call goes through the gate, takes the lock between processes if the frame has one, looks whether another handle
//! has changed the frame, and then works. What a program lets the library call (codecs, filters, pre- and postfilters)
//! runs outside the gate.

pub(crate) mod blocks;
pub(crate) mod cache;
pub(crate) mod change;
pub(crate) mod copy;
pub(crate) mod create;
pub(crate) mod gate;
pub(crate) mod gathered;
pub(crate) mod live;
#[cfg(all(test, loom))]
mod lock_model_tests;
pub(crate) mod metalayers;
pub(crate) mod open;
pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod slice;
mod snapshot;
pub(crate) mod sparse;
pub(crate) mod special;
pub(crate) mod sync;
pub(crate) mod view;

pub(crate) use rules::Keeping;

use crate::abi::{blosc2_cparams, blosc2_dparams, blosc2_schunk, blosc2_storage};
use crate::buffers::limits;
use crate::err;
use crate::error::Result;
use crate::io::Backend;
use crate::pipeline::context::{Context, OwnedContext};
use crate::pipeline::scratch;
use cache::LastBlock;
use gate::Gate;
use live::Layer;
use parking_lot::{Mutex, MutexGuard};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

/// A super-chunk. It begins with the struct that C sees.
#[repr(C)]
pub(crate) struct SuperChunk {
    public: UnsafeCell<blosc2_schunk>,
    /// Views share the gate of their owner.
    gate: Arc<Gate>,
    /// What moves the bytes of frames on disk, and has to be told when the super-chunk goes.
    backend: Option<Backend>,
    /// The block that was decoded last; views share it, as they share the chunks.
    cache: Arc<Mutex<LastBlock>>,
    /// Whether there may be one, so that a change need not ask. Set behind the gate for reading.
    has_block: Arc<AtomicBool>,
    /// Whose the chunks are: of this super-chunk, unless it is a view; NULL once the owner is gone.
    owner: Arc<AtomicPtr<SuperChunk>>,
    /// Held while the decompression context is looked at or told something.
    dctx_use: Mutex<()>,
    /// Held while the compression context works, unless that runs a program's functions.
    cctx_use: Mutex<()>,
    /// Uncompressed size of the last chunk; -1 when it is not known.
    last_nbytes: AtomicI32,
}

// SAFETY: the public struct is only touched as `live` says, behind the gate; the rest is `Sync`.
unsafe impl Sync for SuperChunk {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for SuperChunk {}

impl SuperChunk {
    /// An empty struct, all zeros but for what every super-chunk has.
    fn blank(backend: Option<Backend>) -> Box<SuperChunk> {
        let calls_back = backend.as_ref().is_some_and(|backend| backend.id() > 1);
        let owner = Arc::new(AtomicPtr::new(ptr::null_mut()));
        let schunk = SuperChunk::blank_with(
            backend,
            Arc::new(Gate::new(calls_back)),
            Arc::default(),
            Arc::default(),
            Arc::clone(&owner),
        );
        owner.store(ptr::from_ref(&*schunk).cast_mut(), Ordering::Relaxed);
        schunk
    }

    /// As [`blank`](Self::blank), with what views share with their owner.
    fn blank_with(
        backend: Option<Backend>,
        gate: Arc<Gate>,
        cache: Arc<Mutex<LastBlock>>,
        has_block: Arc<AtomicBool>,
        owner: Arc<AtomicPtr<SuperChunk>>,
    ) -> Box<SuperChunk> {
        let layout = Layout::new::<SuperChunk>();
        // SAFETY: the layout is not empty.
        let place = unsafe { alloc_zeroed(layout) }.cast::<SuperChunk>();
        if place.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: fresh memory of that layout. Zeros are a valid public struct; the other fields are written.
        unsafe {
            (&raw mut (*place).gate).write(gate);
            (&raw mut (*place).backend).write(backend);
            (&raw mut (*place).cache).write(cache);
            (&raw mut (*place).has_block).write(has_block);
            (&raw mut (*place).owner).write(owner);
            (&raw mut (*place).dctx_use).write(Mutex::default());
            (&raw mut (*place).cctx_use).write(Mutex::default());
            (&raw mut (*place).last_nbytes).write(AtomicI32::new(-1));
            Box::from_raw(place)
        }
    }

    /// The super-chunk behind the pointer that C has.
    ///
    /// # Safety
    /// `schunk` came from this library and was not freed.
    pub(crate) unsafe fn from_ptr<'a>(schunk: *mut blosc2_schunk) -> Option<&'a SuperChunk> {
        // SAFETY: NULL, or by the caller's word the start of one of ours.
        unsafe { schunk.cast::<SuperChunk>().as_ref() }
    }

    /// Hands the super-chunk to C.
    pub(crate) fn into_raw(self: Box<Self>) -> *mut blosc2_schunk {
        Box::into_raw(self).cast()
    }

    /// Makes the contexts of a new super-chunk.
    ///
    /// # Safety
    /// The parameters are as [`Context::for_compression`] and [`Context::for_decompression`] want them.
    ///
    /// # Errors
    /// What these say.
    unsafe fn make_contexts(&self, cparams: &blosc2_cparams, dparams: &blosc2_dparams) -> Result<()> {
        if cparams.typesize <= 0 {
            return Err(err!(InvalidParam, "typesize {} is less than 1", cparams.typesize));
        }
        // SAFETY: by the caller's word.
        let cctx = unsafe { Context::for_compression(cparams) }?;
        // SAFETY: nobody knows the super-chunk yet.
        unsafe { (*self.as_ptr()).cctx = cctx.into_c() };
        // SAFETY: by the caller's word.
        let dctx = unsafe { Context::for_decompression(dparams) }?;
        // SAFETY: as above.
        unsafe { (*self.as_ptr()).dctx = dctx.into_c() };
        Ok(())
    }

    /// Length of the frame in bytes, or what stands for it without one.
    pub(crate) fn frame_len(&self) -> i64 {
        let _reading = self.gate.read();
        match self.frame() {
            Some(frame) => i64::try_from(frame.len()).unwrap_or(i64::MAX),
            None => {
                let counters = self.counters();
                counters.cbytes.saturating_add(counters.nchunks.saturating_mul(8))
            }
        }
    }

    /// Whether the frame's buffer is left to the program when the super-chunk is freed; nothing without one.
    pub(crate) fn avoid_cframe_free(&self, avoid: bool) {
        if let Some(frame) = self.frame().filter(|_| !self.is_view()) {
            frame.with_memory(|memory| memory.keep(avoid));
        }
    }

    /// Tells the back-end that the super-chunk goes.
    ///
    /// # Errors
    /// What the back-end says.
    pub(crate) fn release_backend(&self) -> Result<()> {
        self.backend.as_ref().map_or(Ok(()), Backend::destroy)
    }

    /// The cache, to put a block into; `None` while another thread uses it. The gate is held for reading.
    fn cache_to_fill(&self) -> Option<MutexGuard<'_, LastBlock>> {
        let cache = self.cache.try_lock()?;
        self.has_block.store(true, Ordering::Relaxed);
        Some(cache)
    }

    /// What is remembered of the chunks is true no more.
    fn forget(&self) {
        self.forget_block();
        self.last_nbytes.store(-1, Ordering::Relaxed);
    }

    /// The block that was decoded last is true no more. The gate is held; a thread that just reads waits for one that
    /// puts a block there.
    fn forget_block(&self) {
        if self.has_block.load(Ordering::Relaxed) {
            self.has_block.store(false, Ordering::Relaxed);
            self.cache.lock().forget();
        }
    }
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        let s = self.as_ptr();
        self.free_metalayers(Layer::Fixed);
        self.free_metalayers(Layer::Variable);
        // Chunks and frame of a view are its owner's.
        if !self.is_view() {
            self.leave_views();
            self.free_chunks();
            drop(self.take_frame());
        }
        // SAFETY: nobody uses the super-chunk any more; its contexts and blocks are as `live` says.
        unsafe {
            for context in [(*s).cctx, (*s).dctx] {
                drop(OwnedContext::from_c(context));
            }
            libc::free((*s).blockshape.cast());
            free_storage((*s).storage);
        }
        if !self.is_view() {
            scratch::release(limits::AFTER_FREE);
        }
    }
}

/// Frees the library's copy of a storage.
///
/// # Safety
/// `storage` is NULL, or a `malloc` block with `malloc` blocks in it that nobody else frees.
unsafe fn free_storage(storage: *mut blosc2_storage) {
    if storage.is_null() {
        return;
    }
    // SAFETY: by the caller's word.
    unsafe {
        libc::free((*storage).urlpath.cast());
        libc::free((*storage).cparams.cast());
        libc::free((*storage).dparams.cast());
        libc::free((*storage).io.cast());
        libc::free(storage.cast());
    }
}
