//! Views: super-chunks that show the chunks of another one, their owner, under metalayers of their own (`b2nd.md` 6.9).
//!
//! A view has its own contexts, counters and metalayers; those of variable length are copied when the view is made. It
//! shares lock, cached block, chunks and frame with the owner. A chunk that is replaced through a view is replaced in
//! the owner; all other changes are rejected. After the owner is freed, its views have no chunks.

use super::access_lock::WriteGuard;
use super::c_struct::metalayer_kind::MetalayerKind;
use super::storage::Storage;
use super::super_chunk::SharedWithViews;
use super::{OwnedSuperChunk, SuperChunk};
use crate::abi::{blosc2_cparams, blosc2_dparams};
use crate::err;
use crate::error::Result;
use crate::malloc::MallocBytes;
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Compressed bytes that the counters of a view have for each chunk.
const CBYTES_PER_CHUNK: i64 = 32;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewSizes {
    pub nchunks: i64,
    /// Uncompressed bytes of a chunk.
    pub chunksize: i32,
    /// Uncompressed bytes of a block.
    pub blocksize: i32,
}

impl SuperChunk {
    /// Returns the owner of the chunks: this super-chunk, unless it is a view. `None` when the owner of a view was
    /// freed.
    pub(super) fn owner(&self) -> Option<&SuperChunk> {
        if !self.is_view() {
            return Some(self);
        }
        // SAFETY: NULL, or the owner of the view, which sets NULL when it is dropped. The caller of `view` guarantees
        // that the owner is neither dropped nor borrowed mutably while the view is in use.
        unsafe { self.owner.load(Ordering::Relaxed).as_ref() }
    }

    /// Returns the owner of a view; `None` for other super-chunks.
    pub(super) fn owner_of_view(&self) -> Result<Option<&SuperChunk>> {
        if !self.is_view() {
            return Ok(None);
        }
        self.owner().map(Some).ok_or_else(|| err!(Failure, "the owner of the view was freed"))
    }

    /// Returns whether there is no fixed metalayer except `name`.
    pub(crate) fn has_only_metalayer(&self, name: &CStr) -> bool {
        let reading = self.read_lock();
        reading
            .lock_proof()
            .metalayers(MetalayerKind::Fixed)
            .all(|metalayer| metalayer.name == name.to_bytes())
    }

    /// Returns a view of the chunks, with one fixed metalayer.
    ///
    /// # Safety
    /// The owner of the chunks is neither freed nor borrowed mutably while the view is in use by a call. The view may
    /// be freed before or after it.
    ///
    /// # Errors
    /// `Failure` when the owner of this view was freed, those of making contexts, `MemoryAlloc`.
    pub(crate) unsafe fn create_view(
        &self,
        sizes: &ViewSizes,
        name: &CStr,
        content: &[u8],
    ) -> Result<OwnedSuperChunk> {
        let owner = self.owner().ok_or_else(|| err!(Failure, "the owner of the view was freed"))?;
        owner.owner.store(ptr::from_ref(owner).cast_mut(), Ordering::Relaxed);
        let shared = SharedWithViews {
            lock: Arc::clone(&owner.lock),
            cache: Arc::clone(&owner.cache),
            has_cached_block: Arc::clone(&owner.has_cached_block),
            owner: Arc::clone(&owner.owner),
        };
        let (cparams, dparams) = self.view_params(sizes.blocksize);
        let storage = Storage { cparams: &cparams, dparams: &dparams, ..Storage::default() };
        let view = SuperChunk::with_storage(None, &storage, Some(shared))?;
        self.init_view(owner, &view, sizes, name, content)?;
        // Without the lock, since the init function of a tuner may run.
        let storage = *view.storage();
        // SAFETY: the library's copies of the parameters of this super-chunk, whose pointers are valid for as long as
        // that lives.
        unsafe { view.make_contexts(&*storage.cparams, &*storage.dparams) }?;
        Ok(view)
    }

    /// Sets the fields and metalayers of a new view from the current ones.
    fn init_view(
        &self,
        owner: &SuperChunk,
        view: &SuperChunk,
        sizes: &ViewSizes,
        name: &CStr,
        content: &[u8],
    ) -> Result<()> {
        let reading = self.read_lock();
        let (v, s, o) = (view.as_ptr(), self.as_ptr(), owner.as_ptr());
        // SAFETY: no other code has access to the view yet; the lock is held for the others.
        unsafe {
            view.set_coding(&blosc2_cparams { blocksize: sizes.blocksize, ..self.cparams() });
            (*v).chunksize = sizes.chunksize;
            (*v).flags2 = (*s).flags2;
            (*v).tuner_params = (*s).tuner_params;
            (*v).tuner_id = (*s).tuner_id;
            (*v).nchunks = sizes.nchunks;
            (*v).nbytes = sizes.nchunks.saturating_mul(sizes.chunksize.into());
            (*v).cbytes = sizes.nchunks.saturating_mul(CBYTES_PER_CHUNK);
            (*v).data = (*o).data;
            (*v).data_len = (*o).data_len;
            (*v).frame = (*o).frame;
        }
        // SAFETY: of the data that the lock protects, only fields and metalayers of the view are changed, to which no
        // other code has access.
        let mut access = unsafe { WriteGuard::without_lock(view) };
        access.push_metalayer(MetalayerKind::Fixed, name.to_bytes(), MallocBytes::copy_of(content)?)?;
        access.increment_change_tick();
        for metalayer in reading.lock_proof().metalayers(MetalayerKind::Variable) {
            let content = MallocBytes::copy_of(metalayer.content)?;
            access.push_metalayer(MetalayerKind::Variable, metalayer.name, content)?;
        }
        Ok(())
    }

    /// Returns the parameters with which this super-chunk was made, with another block size.
    fn view_params(&self, blocksize: i32) -> (blosc2_cparams, blosc2_dparams) {
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
