//! The struct of a super-chunk, its construction and its drop.

use super::access_lock::{AccessLock, Interrupted, Lockable, ReadGuard, WriteGuard};
use super::c_struct::metalayer_kind::MetalayerKind;
use super::cache::BlockCache;
use super::storage::Storage;
use crate::abi::{blosc2_schunk, blosc2_storage};
use crate::error::{Result, err};
use crate::fallible;
use crate::fork_count::PerProcess;
use crate::frame::store::{DiskFrame, Frame};
use crate::io::{Backend, paths};
use crate::pipeline::context::OwnedContext;
use crate::pipeline::scratch;
use crate::trace;
use parking_lot::{Mutex, ReentrantMutex};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicPtr, Ordering};

/// A super-chunk. It begins with the public struct of the C API.
#[repr(C)]
pub(crate) struct SuperChunk {
    pub(super) public: UnsafeCell<blosc2_schunk>,
    /// Views share the lock of their owner.
    pub(super) lock: Arc<AccessLock>,
    /// The I/O back-end for frames on disk, which is released when the super-chunk is freed.
    pub(super) backend: Option<Backend>,
    /// The last decoded block; views share it, as they share the chunks.
    pub(super) cache: Arc<PerProcess<Mutex<BlockCache>>>,
    /// Whether `cache` may hold a block; a change locks `cache` only then. Set with the access lock held.
    pub(super) has_cached_block: Arc<AtomicBool>,
    /// Address of the owner of the chunks, shared by the owner and its views; NULL before the first view is made, and
    /// after the owner was freed.
    pub(super) owner: Arc<AtomicPtr<SuperChunk>>,
    /// Held by the thread that changes a frame with transactions, for one change or for a transaction.
    pub(super) change_lock: AccessLock,
    /// Locked while the decompression context is used; see [`contexts`](super::c_struct::contexts).
    pub(super) dctx_lock: PerProcess<Mutex<()>>,
    /// Locked while the compression context is used.
    pub(super) cctx_lock: PerProcess<CompressionLock>,
    /// Uncompressed size of the last chunk; -1 when it is not known.
    pub(super) last_nbytes: AtomicI32,
    /// Size, in bytes, of a chunk of the array that the super-chunk holds; 0 without an array, -1 when it is not known.
    pub(super) array_chunk_nbytes: AtomicI64,
    /// Whether the super-chunk has created its files and is not passed to C code yet: dropping it removes the files, so
    /// that a failed creation leaves nothing.
    pub(super) removes_files: AtomicBool,
}

/// The lock of the compression context in one process.
#[derive(Default)]
pub(super) struct CompressionLock {
    pub(super) lock: ReentrantMutex<()>,
    /// Whether a fork has interrupted a thread of the parent that was using the context.
    pub(super) is_interrupted: bool,
}

impl CompressionLock {
    /// Returns the lock in a child, made from that of its parent at the fork.
    pub(super) fn in_child(parent: &CompressionLock) -> CompressionLock {
        // A thread that has forked inside a tuner continues to use the context.
        let has_holder = parent.lock.is_locked() && !parent.lock.is_owned_by_current_thread();
        CompressionLock {
            lock: ReentrantMutex::default(),
            is_interrupted: parent.is_interrupted || has_holder,
        }
    }
}

// SAFETY: the public struct is only accessed by the rule of `c_struct`; the rest is `Sync`.
unsafe impl Sync for SuperChunk {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for SuperChunk {}

// SAFETY: `with_storage` sets the lock and no code replaces it. A view has the lock of its owner.
unsafe impl Lockable for SuperChunk {
    #[inline]
    fn access_lock(&self) -> &AccessLock {
        &self.lock
    }

    fn use_after_interrupted_reads(&self) -> Interrupted {
        match self.frame() {
            Some(frame) if !frame.is_unlocked_after_fork() => Interrupted::Reads,
            _ => Interrupted::Nothing,
        }
    }
}

/// The fields that a view shares with the owner of its chunks.
pub(super) struct SharedWithViews {
    pub(super) lock: Arc<AccessLock>,
    pub(super) cache: Arc<PerProcess<Mutex<BlockCache>>>,
    pub(super) has_cached_block: Arc<AtomicBool>,
    pub(super) owner: Arc<AtomicPtr<SuperChunk>>,
}

/// Owns a super-chunk to which C code has no pointer yet. A `Box` would claim, each time it is moved, that no other
/// pointer to the super-chunk is used again; its contexts and its parameters have such pointers.
pub(crate) struct OwnedSuperChunk(NonNull<SuperChunk>);

impl OwnedSuperChunk {
    /// Returns the pointer for C code, which frees the super-chunk. The files that it has created are kept.
    pub(crate) fn into_raw(self) -> Result<*mut blosc2_schunk> {
        self.finish_creation()?;
        Ok(self.into_raw_of_array())
    }

    /// Returns the pointer for the struct of an array that is being made. The files that the super-chunk has created
    /// are removed if it is dropped before [`SuperChunk::finish_creation`] is called.
    pub(crate) fn into_raw_of_array(self) -> *mut blosc2_schunk {
        ManuallyDrop::new(self).0.as_ptr().cast()
    }

    /// Takes over a super-chunk from C code.
    ///
    /// # Safety
    /// `schunk` came from [`into_raw`](Self::into_raw), is not owned by another value, and no other code uses it from
    /// now on.
    pub(crate) unsafe fn from_raw(schunk: NonNull<blosc2_schunk>) -> OwnedSuperChunk {
        OwnedSuperChunk(schunk.cast())
    }
}

// SAFETY: it owns a `SuperChunk`, which is `Send`.
unsafe impl Send for OwnedSuperChunk {}
// SAFETY: a shared reference only gives shared references to the `SuperChunk`, which is `Sync`.
unsafe impl Sync for OwnedSuperChunk {}

impl Deref for OwnedSuperChunk {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        // SAFETY: `with_storage` made it, and it lives until this value is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for OwnedSuperChunk {
    fn drop(&mut self) {
        let created = self.removes_files.load(Ordering::Relaxed).then(|| self.urlpath_copy()).flatten();
        // The frame removes files with a temporary name itself.
        let has_path = !self.disk_frame().is_some_and(DiskFrame::is_unpublished);
        if created.is_none() {
            self.close_frame();
        }
        // SAFETY: memory of the global allocator with the layout of a `SuperChunk`, which this value owns.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        if let Some(path) = created.filter(|_| has_path)
            && let Err(error) = path.and_then(|path| paths::remove_urlpath(&path))
        {
            trace::warning(|| format!("the files of a super-chunk that could not be created: {error}"));
        }
    }
}

impl SuperChunk {
    /// Returns a super-chunk with its storage, and zeros in all other public fields. `shared` holds the fields that a
    /// view shares with its owner; `None` for a super-chunk that is not a view.
    pub(super) fn with_storage(
        backend: Option<Backend>,
        storage: &Storage<'_>,
        shared: Option<SharedWithViews>,
    ) -> Result<OwnedSuperChunk> {
        let is_view = shared.is_some();
        let shared = shared.unwrap_or_else(|| {
            let has_user_callbacks = backend.as_ref().is_some_and(|backend| backend.id() > 1);
            SharedWithViews {
                lock: Arc::new(AccessLock::new(has_user_callbacks)),
                cache: Arc::new(PerProcess::new(Mutex::default())),
                has_cached_block: Arc::default(),
                owner: Arc::default(),
            }
        });
        let layout = Layout::new::<SuperChunk>();
        // SAFETY: the layout is not empty.
        let place = unsafe { alloc_zeroed(layout) }.cast::<SuperChunk>();
        if place.is_null() {
            return Err(err!(MemoryAlloc, "cannot allocate the {} bytes of a super-chunk", layout.size()));
        }
        // SAFETY: fresh memory of that layout. Zeros are a valid public struct; the other fields are written.
        let schunk = unsafe {
            (*(*place).public.get()).view = is_view;
            (&raw mut (*place).lock).write(shared.lock);
            (&raw mut (*place).backend).write(backend);
            (&raw mut (*place).cache).write(shared.cache);
            (&raw mut (*place).has_cached_block).write(shared.has_cached_block);
            (&raw mut (*place).owner).write(shared.owner);
            // `true`: threads record that they hold the lock, because functions of the program that a transaction calls
            // may change the super-chunk, too.
            (&raw mut (*place).change_lock).write(AccessLock::new(true));
            (&raw mut (*place).dctx_lock).write(PerProcess::new(Mutex::default()));
            (&raw mut (*place).cctx_lock).write(PerProcess::new(CompressionLock::default()));
            (&raw mut (*place).last_nbytes).write(AtomicI32::new(-1));
            (&raw mut (*place).array_chunk_nbytes).write(AtomicI64::new(-1));
            (&raw mut (*place).removes_files).write(AtomicBool::new(false));
            OwnedSuperChunk(NonNull::new_unchecked(place))
        };
        // SAFETY: no other code has access to the super-chunk yet.
        unsafe { schunk.set_storage(storage) }?;
        Ok(schunk)
    }

    /// Returns the last decoded block.
    #[inline]
    pub(super) fn cache(&self) -> &Mutex<BlockCache> {
        self.cache.get(|_| Mutex::default())
    }

    /// Commits the creation of the super-chunk, and keeps the files that it has created. Does nothing for one that was
    /// opened.
    pub(crate) fn finish_creation(&self) -> Result<()> {
        if self.removes_files.load(Ordering::Relaxed) {
            self.disk_frame().map_or(Ok(()), DiskFrame::finish_creation)?;
            self.removes_files.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns a copy of the path of the storage.
    fn urlpath_copy(&self) -> Option<Result<CString>> {
        // SAFETY: the storage of this super-chunk, which no other code changes; the path is NULL or terminated.
        unsafe {
            let storage = (*self.as_ptr()).storage.as_ref()?;
            (!storage.urlpath.is_null())
                .then(|| fallible::c_string(&[CStr::from_ptr(storage.urlpath).to_bytes()]))
        }
    }

    /// Locks for reading. Waits for changes by other threads, not for one by this thread (a read inside an I/O
    /// function).
    #[inline]
    pub(super) fn read_lock(&self) -> ReadGuard<'_, SuperChunk> {
        ReadGuard::lock(self)
    }

    /// Returns the super-chunk that a C pointer points at; `None` for NULL.
    ///
    /// # Safety
    /// `schunk` came from this library and was not freed.
    pub(crate) unsafe fn from_ptr<'a>(schunk: *mut blosc2_schunk) -> Option<&'a SuperChunk> {
        // SAFETY: NULL, or, as the caller guarantees, the start of a `SuperChunk`.
        unsafe { schunk.cast::<SuperChunk>().as_ref() }
    }

    /// Returns the length of the frame in bytes; without a frame, the compressed size of the chunks plus 8 bytes for
    /// each chunk.
    pub(crate) fn frame_len(&self) -> i64 {
        let _reading = self.read_lock();
        match self.frame() {
            Some(frame) => i64::try_from(frame.closed_len()).unwrap_or(i64::MAX),
            None => {
                let counters = self.counters();
                counters.cbytes.saturating_add(counters.nchunks.saturating_mul(8))
            }
        }
    }

    /// Sets whether the buffer of a frame in memory is left to the program when the super-chunk is freed. Without such
    /// a frame, nothing happens.
    ///
    /// # Safety
    /// With `avoid == false`, the program neither uses nor frees a buffer that it gave to this super-chunk.
    pub(crate) unsafe fn avoid_cframe_free(&self, avoid: bool) {
        if let Some(frame) = self.frame().filter(|_| !self.is_view()).and_then(Frame::memory) {
            // SAFETY: the contract of this function, which is that of `set_program_owned`.
            frame.with_bytes(|bytes| unsafe { bytes.set_program_owned(avoid) });
        }
    }

    /// Calls the `destroy` function of the back-end, before the super-chunk is freed.
    pub(crate) fn release_backend(&self) -> Result<()> {
        self.backend.as_ref().map_or(Ok(()), Backend::destroy)
    }

    /// Discards the cached block. Waits for a thread that is writing to the cache.
    pub(super) fn discard_cached_block(&self) {
        if self.has_cached_block.load(Ordering::Relaxed) {
            self.has_cached_block.store(false, Ordering::Relaxed);
            self.cache().lock().clear();
        }
    }
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        // SAFETY: `&mut self` proves it for metalayers and counters. A view frees no chunks; those of an owner are in
        // use by no view: the rule of `view`.
        let mut access = unsafe { WriteGuard::without_lock(&*self) };
        access.free_metalayers(MetalayerKind::Fixed);
        access.free_metalayers(MetalayerKind::Variable);
        access.free_chunks();
        drop(access);
        // SAFETY: `&mut self`: no other code uses the super-chunk, nor a frame that it has borrowed.
        drop(unsafe { self.take_frame() });
        if !self.is_view() {
            // Views find this owner by the pointer.
            self.owner.store(ptr::null_mut(), Ordering::Relaxed);
        }
        let s = self.as_ptr();
        // SAFETY: `&mut self`: no other code uses the super-chunk; its contexts and blocks are as `c_struct` says.
        unsafe {
            for context in [(*s).cctx, (*s).dctx] {
                drop(OwnedContext::from_c(context));
            }
            libc::free((*s).blockshape.cast());
            free_storage((*s).storage);
        }
        if !self.is_view() {
            scratch::release_after_free();
        }
    }
}

/// Frees the library's copy of a storage.
///
/// # Safety
/// `storage` is NULL, or a `malloc` block whose pointers are `malloc` blocks, and no other code frees any of them.
unsafe fn free_storage(storage: *mut blosc2_storage) {
    if storage.is_null() {
        return;
    }
    // SAFETY: by the contract of this function the block and those that it points at are `malloc` blocks, which are
    // freed once, here.
    unsafe {
        libc::free((*storage).urlpath.cast());
        libc::free((*storage).cparams.cast());
        libc::free((*storage).dparams.cast());
        libc::free((*storage).io.cast());
        libc::free(storage.cast());
    }
}
