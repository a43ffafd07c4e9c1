//! Views: super-chunks that show the chunks of another one, their owner, under metalayers of their own (`b2nd.md` 6.9).
//!
//! A view has its own contexts, counters and metalayers, those of variable length as they were when it was made. Gate,
//! last block, chunks and frame are the owner's. A chunk that is replaced through a view is replaced in the owner; all
//! other changes are refused. When the owner goes, its views have no chunks any more.

use super::SuperChunk;
use super::create::Storage;
use super::live::Layer;
use crate::abi::{blosc2_cparams, blosc2_dparams};
use crate::err;
use crate::error::Result;
use crate::malloc::Malloced;
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes that a view counts for each chunk.
const COUNTED: i64 = 32;

/// How the chunks look in a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// Number of chunks.
    pub nchunks: i64,
    /// Uncompressed bytes of a chunk.
    pub chunksize: i32,
    /// Uncompressed bytes of a block.
    pub blocksize: i32,
}

impl SuperChunk {
    /// Whose the chunks are; nobody's when the owner of a view is gone.
    pub(super) fn owner(&self) -> Option<&SuperChunk> {
        // SAFETY: this super-chunk, or the owner of the view, which says when it goes; by the rules of `capi` it does
        // not go while the view is in use.
        unsafe { self.owner.load(Ordering::Relaxed).as_ref() }
    }

    /// The owner of a view; nothing for other super-chunks.
    ///
    /// # Errors
    /// `Failure` when the owner is gone.
    pub(super) fn owner_of_view(&self) -> Result<Option<&SuperChunk>> {
        match self.owner() {
            Some(owner) if ptr::eq(owner, self) => Ok(None),
            Some(owner) => Ok(Some(owner)),
            None => Err(err!(Failure, "the array of a view is gone")),
        }
    }

    /// Tells the views that their owner goes.
    pub(super) fn leave_views(&self) {
        self.owner.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Whether there is no fixed metalayer but the one with that name.
    pub(crate) fn has_only_metalayer(&self, name: &CStr) -> bool {
        let _reading = self.gate.read();
        self.metalayers(Layer::Fixed).iter().all(|metalayer| metalayer.name == name.to_bytes())
    }

    /// Makes a view of the chunks, with one fixed metalayer.
    ///
    /// # Errors
    /// `Failure` when the owner of this view is gone, those of making contexts, `MemoryAlloc`.
    pub(crate) fn view(&self, shown: &Shown, name: &CStr, content: &[u8]) -> Result<Box<SuperChunk>> {
        let owner = self.owner().ok_or_else(|| err!(Failure, "the array of a view is gone"))?;
        let view = SuperChunk::blank_with(
            None,
            Arc::clone(&self.gate),
            Arc::clone(&self.cache),
            Arc::clone(&self.has_block),
            Arc::clone(&self.owner),
        );
        let v = view.as_ptr();
        // From here on dropping the view leaves what is the owner's.
        // SAFETY: nobody else knows the view yet.
        unsafe { (*v).view = true };
        let (cparams, dparams) = self.parameters_of_views(shown.blocksize);
        view.set_storage(&Storage { cparams: &cparams, dparams: &dparams, ..Storage::default() })?;
        let _reading = self.gate.read();
        let (s, o) = (self.as_ptr(), owner.as_ptr());
        // SAFETY: nobody else knows the view yet, and its storage is whole; the gate is held for the others.
        unsafe {
            (*v).compcode = (*s).compcode;
            (*v).compcode_meta = (*s).compcode_meta;
            (*v).clevel = (*s).clevel;
            (*v).splitmode = (*s).splitmode;
            (*v).typesize = (*s).typesize;
            (*v).blocksize = shown.blocksize;
            (*v).chunksize = shown.chunksize;
            (*v).flags2 = (*s).flags2;
            (*v).use_dict = (*s).use_dict;
            (*v).filters = (*s).filters;
            (*v).filters_meta = (*s).filters_meta;
            (*v).tuner_params = (*s).tuner_params;
            (*v).tuner_id = (*s).tuner_id;
            (*v).nchunks = shown.nchunks;
            (*v).nbytes = shown.nchunks.saturating_mul(shown.chunksize.into());
            (*v).cbytes = shown.nchunks.saturating_mul(COUNTED);
            (*v).data = (*o).data;
            (*v).data_len = (*o).data_len;
            (*v).frame = (*o).frame;
            view.make_contexts(&*(*(*v).storage).cparams, &*(*(*v).storage).dparams)?;
        }
        view.push_metalayer(Layer::Fixed, name.to_bytes(), Malloced::copy_of(content)?)?;
        view.tick();
        for metalayer in self.metalayers(Layer::Variable) {
            view.push_metalayer(Layer::Variable, metalayer.name, Malloced::copy_of(metalayer.content)?)?;
        }
        Ok(view)
    }

    /// The parameters with which this super-chunk was made, for blocks of another size.
    fn parameters_of_views(&self, blocksize: i32) -> (blosc2_cparams, blosc2_dparams) {
        let (defaults, storage) = (Storage::default(), self.storage());
        // SAFETY: NULL or the library's own copies.
        let (cparams, dparams) = unsafe {
            (
                *storage.cparams.as_ref().unwrap_or(defaults.cparams),
                *storage.dparams.as_ref().unwrap_or(defaults.dparams),
            )
        };
        (blosc2_cparams { blocksize, typesize: self.typesize(), ..cparams }, dparams)
    }
}
