//! The contexts of a super-chunk. Only one thread at a time may use a context ([`Context`]), but any number of threads
//! may read or compress with a super-chunk. So the contexts are only accessible through guards. The parameters of a
//! super-chunk as structs for C (`schunk.md` 9) are here, too.

use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, blosc2_context, blosc2_cparams, blosc2_dparams,
};
use crate::error::{Result, ensure, err};
use crate::pipeline::context::Context;
use crate::pipeline::library;
use crate::schunk::SuperChunk;
use crate::schunk::super_chunk::CompressionLock;
use parking_lot::{Mutex, MutexGuard, ReentrantMutexGuard};
use std::ops::Deref;

/// Exclusive use of a context of a super-chunk, by the guard `G` of a lock; released on drop.
///
/// Lock order: a thread may wait for a context while it holds the access lock, but never for the access lock while it
/// uses a context. So a context in use runs no functions of the program except tuners. These may use the super-chunk on
/// their own thread, and must not wait for another thread that compresses with it.
pub(crate) struct ContextGuard<'a, G> {
    context: &'a Context,
    _lock: G,
}

/// Exclusive use of the compression context. The thread that holds the guard may lock it again, from inside a tuner.
pub(crate) type CompressionGuard<'a> = ContextGuard<'a, ReentrantMutexGuard<'a, ()>>;

/// Exclusive use of the decompression context.
pub(crate) type DecompressionGuard<'a> = ContextGuard<'a, MutexGuard<'a, ()>>;

impl<G> Deref for ContextGuard<'_, G> {
    type Target = Context;

    #[inline]
    fn deref(&self) -> &Context {
        self.context
    }
}

impl SuperChunk {
    /// Waits until no other thread uses the compression context.
    ///
    /// # Errors
    /// `NullPointer` when the program has taken it out of the struct; `Failure` in a child of `fork()`, if another
    /// thread was using it at the fork.
    #[inline]
    pub(crate) fn cctx(&self) -> Result<CompressionGuard<'_>> {
        let lock = self.cctx_lock.get(CompressionLock::in_child);
        ensure!(!lock.is_interrupted, Failure, "another thread was compressing when the process was forked");
        let lock = lock.lock.lock();
        // SAFETY: the rule of `c_struct`.
        let context = unsafe { (*self.as_ptr()).cctx.cast::<Context>().as_ref() };
        let context =
            context.ok_or_else(|| err!(NullPointer, "the super-chunk has no compression context"))?;
        Ok(ContextGuard { context, _lock: lock })
    }

    /// Waits until no other thread uses the decompression context, if there is one.
    #[inline]
    pub(crate) fn dctx(&self) -> Option<DecompressionGuard<'_>> {
        // The lock is held for copying settings, which a fork may interrupt.
        let lock = self.dctx_lock.get(|_| Mutex::default()).lock();
        // SAFETY: the rule of `c_struct`.
        let context = unsafe { (*self.as_ptr()).dctx.cast::<Context>().as_ref() }?;
        Some(ContextGuard { context, _lock: lock })
    }

    /// Returns the number of threads that the compression context has been given; `None` without one. No lock is
    /// needed.
    pub(super) fn nthreads_to_compress(&self) -> Option<i16> {
        // SAFETY: the rule of `c_struct`.
        unsafe { nthreads((*self.as_ptr()).cctx) }
    }

    /// Returns the number of threads that the decompression context has been given; `None` without one. No lock is
    /// needed.
    pub(super) fn nthreads_to_decompress(&self) -> Option<i16> {
        // SAFETY: the rule of `c_struct`.
        unsafe { nthreads((*self.as_ptr()).dctx) }
    }

    /// Returns the compression parameters that are numbers; pointers have their defaults (`schunk.md` 9).
    pub(crate) fn cparams(&self) -> blosc2_cparams {
        let nthreads = self.nthreads_to_compress().unwrap_or_else(library::nthreads);
        let s = self.as_ptr();
        let mut cparams =
            blosc2_cparams { tuner_id: 0, nthreads, schunk: s.cast(), ..BLOSC2_CPARAMS_DEFAULTS };
        // SAFETY: the rule of `c_struct`.
        unsafe {
            cparams.compcode = (*s).compcode;
            cparams.compcode_meta = (*s).compcode_meta;
            cparams.clevel = (*s).clevel;
            cparams.use_dict = i32::from((*s).use_dict);
            cparams.typesize = (*s).typesize;
            cparams.blocksize = self.blocksize();
            cparams.splitmode = i32::from((*s).splitmode);
            cparams.filters = (*s).filters;
            cparams.filters_meta = (*s).filters_meta;
        }
        cparams
    }

    /// Returns the decompression parameters that are numbers; pointers have their defaults (`schunk.md` 9).
    pub(crate) fn dparams(&self) -> blosc2_dparams {
        let nthreads = self.nthreads_to_decompress().unwrap_or_else(library::nthreads);
        blosc2_dparams { nthreads, schunk: self.as_ptr().cast(), typesize: 0, ..BLOSC2_DPARAMS_DEFAULTS }
    }
}

/// Returns the number of threads of a context, which may be in use.
///
/// # Safety
/// `context` is NULL or a context.
unsafe fn nthreads(context: *const blosc2_context) -> Option<i16> {
    // SAFETY: by the contract of this function NULL or a context. Of the context only this field is accessed, which
    // is atomic.
    unsafe { context.cast::<Context>().as_ref() }.map(|context| context.head().nthreads())
}
