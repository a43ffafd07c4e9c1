//! Reading chunks: compressed, lazy or decoded (`schunk.md` 11).

use super::SuperChunk;
use super::access_lock::LockProof;
use super::cache::{BlockCache, ChunkState};
use super::frame_sync::ChunkAccess;
use crate::abi::blosc2_schunk;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::lazy::{BlockSource, ChunkLocation};
use crate::chunk::{ChunkHeader, Container, ParsedChunk, SpecialValue};
use crate::err;
use crate::error::{ErrorKind, Result};
use crate::fallible;
use crate::frame::store::DiskFrame;
use crate::frame::store::fetch::{ChunkBytes, FetchMode, FetchedChunk};
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::container;
use crate::pipeline::context::{ReadSettings, decoding_needs_container, decoding_runs_callbacks};
use crate::pipeline::decompress::{self, DecompressOutcome, VarlenReader};
use crate::pipeline::params::DecompressParams;
use parking_lot::MutexGuard;
use std::sync::atomic::Ordering;

pub(crate) enum ReturnedChunk {
    /// The super-chunk's own bytes and their number, valid until the super-chunk changes.
    Borrowed(*const u8, usize),
    /// A `malloc` block that C code has to free.
    Owned(MallocBytes),
}

/// A function that uses a chunk. With access, the chunk is the current one of the super-chunk; without access, it is a
/// copy, which may be out of date.
type ChunkFn<'t, R> = dyn FnMut(&ParsedChunk<'_>, Option<ChunkAccess<'_>>) -> Result<R> + 't;

/// The result of using a chunk with a lock held.
pub(super) enum ChunkUse<R> {
    /// The chunk was used.
    Done(R),
    /// Decoding runs functions of the program: a copy of the chunk is used without a lock.
    Copied(MallocBytes),
}

impl<R> ChunkUse<R> {
    /// Passes a copy to `then`, without a lock.
    pub(super) fn finish(self, then: &mut ChunkFn<'_, R>) -> Result<R> {
        match self {
            ChunkUse::Done(done) => Ok(done),
            ChunkUse::Copied(copy) => then(&ParsedChunk::parse(&mut ChunkHeader::default(), &copy)?, None),
        }
    }
}

impl SuperChunk {
    /// Checks the number of a chunk against the counters, and stores it as the current chunk, which filters may query.
    pub(super) fn check_nchunk(&self, nchunk: i64) -> Result<()> {
        let nchunks = self.nchunks();
        if !(0..nchunks).contains(&nchunk) {
            return Err(err!(InvalidParam, "no chunk {nchunk} in a super-chunk of {nchunks} chunks"));
        }
        self.set_current_nchunk(nchunk);
        Ok(())
    }

    /// Returns the settings of the decompression context for a read. Only a read of a whole chunk for the caller takes
    /// the mask: the content of a chunk that is decoded for a change or a copy is stored.
    #[inline(always)]
    pub(super) fn read_settings(&self, takes_mask: bool) -> ReadSettings {
        self.dctx().map(|dctx| dctx.read_settings(takes_mask)).unwrap_or_default()
    }

    /// Stores the result of a read in the decompression context.
    pub(super) fn note_read(&self, header: &ChunkHeader, done: &DecompressOutcome) {
        if let Some(dctx) = self.dctx() {
            dctx.publish_chunk_read(header, done);
        }
    }

    /// Stores, in the decompression context, the item size of a chunk whose block was in the cache.
    pub(super) fn note_typesize(&self, typesize: u8) {
        if let Some(dctx) = self.dctx() {
            dctx.publish_typesize(typesize);
        }
    }

    pub(super) fn decompress_params<'a>(
        &self,
        settings: &'a ReadSettings,
        nchunk: i64,
    ) -> DecompressParams<'a> {
        DecompressParams {
            nthreads: settings.nthreads.max(1),
            postfilter: settings.postfilter.as_ref(),
            mask: settings.mask.as_deref(),
            nchunk,
            schunk: self.handle(),
            container: settings.container.get(),
        }
    }

    /// Returns the description of the super-chunk that codecs and filters of the compression context query; `None` if
    /// they query none. The context must not be in use, since the access lock comes before that of the context in the
    /// lock order.
    ///
    /// # Errors
    /// `NullPointer` without a compression context.
    pub(super) fn container_for_compression(&self) -> Result<Option<Container>> {
        let asked = self.cctx()?.schunk_for_container();
        // SAFETY: the super-chunk of a context of this super-chunk.
        Ok(asked.and_then(|schunk| unsafe { self.container_for_schunk(schunk) }))
    }

    /// As [`container`](LockProof::container), for a context whose super-chunk is `schunk`.
    ///
    /// # Safety
    /// `schunk` is NULL, or a super-chunk of the library that lives during the call. If it is not this super-chunk, no
    /// other thread changes its metalayers during the call: the rule for a super-chunk that a program stores in a
    /// context.
    pub(super) unsafe fn container_for_schunk(&self, schunk: *const blosc2_schunk) -> Option<Container> {
        if std::ptr::eq(schunk, self.as_ptr()) {
            return self.read_lock().lock_proof().container();
        }
        // SAFETY: by the contract of this function NULL, or a super-chunk that lives and whose metalayers no other
        // thread changes during the call.
        unsafe { container::of_schunk(schunk) }
    }

    /// Lends chunk `nchunk`, which must exist, to `then` for decoding: whole, or in its lazy form. If decoding runs
    /// functions of the program, the chunk is a copy, and no lock is held.
    pub(super) fn with_chunk<R>(
        &self,
        nchunk: i64,
        lazily: bool,
        settings: &ReadSettings,
        then: &mut ChunkFn<'_, R>,
    ) -> Result<R> {
        self.retry_changed_reads(|| {
            self.with_read_access(|access| access.use_or_copy_chunk(nchunk, lazily, settings, then))?
                .finish(then)
        })
    }

    /// Calls `read` again, a limited number of times, while it fails because another handle without the lock has
    /// changed the frame in the meantime.
    pub(super) fn retry_changed_reads<R>(&self, read: impl FnMut() -> Result<R>) -> Result<R> {
        DiskFrame::retry_changed_reads(self.disk_frame(), read)
    }

    /// Decodes a whole chunk into the start of `dest`. Returns its uncompressed size in bytes.
    pub(super) fn decode(
        &self,
        chunk: &ParsedChunk<'_>,
        params: &DecompressParams<'_>,
        dest: OutBuffer<'_>,
    ) -> Result<usize> {
        let done = decompress::decompress(params, chunk, dest)?;
        self.note_read(chunk.header(), &done);
        Ok(done.nbytes)
    }

    /// Decompresses chunk `nchunk` into `dest`. Returns its uncompressed size in bytes.
    pub(crate) fn decompress_chunk(&self, nchunk: i64, mut dest: OutBuffer<'_>) -> Result<usize> {
        self.check_nchunk(nchunk)?;
        let _fetched = self.fetch_chunk(nchunk)?;
        let settings = self.read_settings(true);
        self.with_chunk(nchunk, false, &settings, &mut |chunk, _| {
            let header = chunk.header();
            if header.nbytes() > dest.len() {
                let (needed, there) = (header.nbytes, dest.len());
                return match self.frame() {
                    None => Err(err!(InvalidParam, "`dest` has {there} bytes, expected {needed} or more")),
                    Some(_) => Err(err!(WriteBuffer, "`dest` has {there} bytes, expected {needed} or more")),
                };
            }
            self.decode(chunk, &self.decompress_params(&settings, nchunk), dest.reborrow())
        })
    }

    /// Decompresses a chunk that has as many bytes as `dest`. Bytes that decompression does not write, those of
    /// uninitialised chunks and masked-out blocks, become zero. Returns `false`, and does nothing, if the chunk has
    /// another size.
    pub(crate) fn decompress_whole_chunk(
        &self,
        nchunk: i64,
        mut dest: OutBuffer<'_>,
        takes_mask: bool,
    ) -> Result<bool> {
        self.check_nchunk(nchunk)?;
        let settings = self.read_settings(takes_mask);
        self.with_chunk(nchunk, false, &settings, &mut |chunk, _| {
            let header = chunk.header();
            if header.nbytes() != dest.len() {
                return Ok(false);
            }
            let writes_all = settings.mask.is_none()
                && settings.postfilter.is_none()
                && !matches!(header.special(), Ok(Some(SpecialValue::Uninit)) | Err(_));
            if !writes_all {
                dest.fill(0);
            }
            self.decode(chunk, &self.decompress_params(&settings, nchunk), dest.reborrow())?;
            Ok(true)
        })
    }

    /// Returns the address and the size of chunk `nchunk`, valid until the super-chunk changes, if there is no frame.
    /// Returns `None`, and does nothing, with a frame, and for a chunk that does not exist.
    #[inline(always)]
    pub(crate) fn chunk_without_frame(&self, nchunk: i64) -> Option<(*const u8, usize)> {
        if self.frame().is_some() {
            return None;
        }
        let reading = self.read_lock();
        let bytes = reading.lock_proof().chunk_in_memory(nchunk).ok()?;
        self.set_current_nchunk(nchunk);
        Some((bytes.as_ptr(), bytes.len()))
    }

    /// Returns chunk `nchunk` for C code: whole, or with `lazily` in its lazy form if it is on disk.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, those of reading the frame.
    pub(crate) fn get_chunk(&self, nchunk: i64, lazily: bool) -> Result<ReturnedChunk> {
        self.check_nchunk(nchunk)?;
        let _fetched = if lazily { None } else { self.fetch_chunk(nchunk)? };
        self.retry_read_access(|access| {
            access.fetch(nchunk, lazily, FetchMode::Keep, |chunk| match chunk {
                FetchedChunk::Whole(bytes @ (ChunkBytes::Borrowed(_) | ChunkBytes::Lent(_))) => {
                    Ok(ReturnedChunk::Borrowed(bytes.as_ptr(), bytes.len()))
                }
                chunk => chunk.take_owned().map(ReturnedChunk::Owned),
            })
        })
    }

    /// Returns the header of a chunk: up to 32 bytes. Blocks on disk are not read.
    pub(crate) fn chunk_head(&self, nchunk: i64) -> Result<Vec<u8>> {
        self.check_nchunk(nchunk)?;
        self.retry_read_access(|access| {
            access.fetch(nchunk, true, FetchMode::Keep, |chunk| {
                let bytes: &[u8] = match chunk {
                    FetchedChunk::Whole(chunk) => chunk,
                    FetchedChunk::Lazy(chunk, _) => chunk.head(),
                };
                fallible::copy_of(&bytes[..bytes.len().min(EXTENDED_HEADER_LENGTH)])
            })
        })
    }

    /// Returns a copy of a whole chunk, after the checks of a read.
    pub(crate) fn copy_of_chunk(&self, nchunk: i64) -> Result<MallocBytes> {
        self.check_nchunk(nchunk)?;
        let _fetched = self.fetch_chunk(nchunk)?;
        self.retry_read_access(|access| access.copy_of_chunk(nchunk))
    }

    /// Decompresses one block of a chunk of variable-length blocks.
    pub(crate) fn get_vlblock(&self, nchunk: i64, nblock: i32) -> Result<MallocBytes> {
        self.check_nchunk(nchunk)?;
        let settings = self.read_settings(false);
        self.with_chunk(nchunk, false, &settings, &mut |chunk, _| {
            let params = self.decompress_params(&settings, nchunk);
            VarlenReader::open(&params, chunk, |reader| {
                let missing = || err!(InvalidParam, "no block {nblock} among {} blocks", reader.nblocks());
                let nblock = usize::try_from(nblock).ok().filter(|&nblock| nblock < reader.nblocks());
                let nblock = nblock.ok_or_else(missing)?;
                let mut block = MallocBytes::zeroed(reader.block_nbytes(nblock))?;
                reader.decode_block(nblock, block[..].as_mut().into())?;
                let done = DecompressOutcome { nbytes: block.len(), used_dictionary: false };
                self.note_read(reader.header(), &done);
                Ok(block)
            })
        })
    }

    /// Returns the entries of a frame's index, as native 64-bit integers; `None` without a frame or chunks.
    pub(crate) fn frame_offsets(&self) -> Result<Option<MallocBytes>> {
        let _reading = self.read_lock();
        let Some(frame) = self.frame().filter(|frame| frame.nchunks() > 0) else { return Ok(None) };
        let offsets = frame.offsets()?;
        MallocBytes::of_numbers(offsets.len(), offsets.iter()).map(Some)
    }
}

impl<'a> ChunkAccess<'a> {
    /// Locks the cache for a block of chunk `nchunk`, which was fetched with this access. `None` during a change, and
    /// if another thread has locked it. The access outlives the lock of the cache, so that a change of the chunk
    /// discards the block.
    pub(super) fn try_lock_cache(self, nchunk: i64) -> Option<(MutexGuard<'a, BlockCache>, ChunkState)> {
        let state = self.chunk_state(nchunk)?;
        let schunk = self.lock_proof().object();
        let cache = schunk.cache().try_lock()?;
        schunk.has_cached_block.store(true, Ordering::Relaxed);
        Some((cache, state))
    }

    /// Stores the description of the super-chunk in `settings`, if decoding a chunk with this header needs it.
    pub(super) fn note_container(self, header: &ChunkHeader, settings: &ReadSettings) {
        if decoding_needs_container(header)
            && let Some(container) = self.lock_proof().container()
        {
            settings.container.get_or_init(|| container);
        }
    }

    /// Lends chunk `nchunk` as it is stored, or its lazy form.
    #[inline(always)]
    pub(super) fn fetch<R>(
        self,
        nchunk: i64,
        lazily: bool,
        mode: FetchMode,
        then: impl FnOnce(&mut FetchedChunk<'_>) -> Result<R>,
    ) -> Result<R> {
        let schunk = self.lock_proof().object();
        let stored;
        // Borrowed in their places: moving both costs a read of a special chunk 60 instructions.
        let mut fetched = match (self.header(), schunk.frame()) {
            (Some(header), Some(frame)) => {
                header.check_for_reading()?;
                stored = frame.stored_chunk(usize::try_from(nchunk).unwrap_or(usize::MAX), header);
                match &stored {
                    Ok(stored) if lazily && !(mode == FetchMode::Borrow && stored.is_lent()) => {
                        stored.fetch_lazily()
                    }
                    Ok(stored) => stored.fetch(mode).map(FetchedChunk::Whole),
                    Err(_) => return stored.map(|_| unreachable!("an error")),
                }
            }
            _ => {
                // Another thread may have deleted chunks in the meantime.
                if !(0..schunk.nchunks()).contains(&nchunk) {
                    return Err(err!(InvalidParam, "chunk {nchunk} was deleted during the call"));
                }
                let chunk = self.lock_proof().chunk_in_memory(nchunk);
                Ok(FetchedChunk::Whole(ChunkBytes::Borrowed(chunk?)))
            }
        };
        let Ok(chunk) = &mut fetched else { return fetched.map(|_| unreachable!("an error")) };
        let is_from_file = chunk.is_from_file();
        let done = then(chunk);
        if is_from_file { self.confirm_read(done) } else { done }
    }

    /// Passes chunk `nchunk` to `then` for decoding: whole, or in its lazy form. Returns `None`, without calling
    /// `then`, if decoding runs functions of the program: the caller then releases the access and decodes a
    /// [copy](Self::copy_of_chunk).
    pub(super) fn with_chunk<R>(
        self,
        nchunk: i64,
        lazily: bool,
        settings: &ReadSettings,
        mut then: impl FnMut(&ParsedChunk<'_>, Option<ChunkAccess<'_>>) -> Result<R>,
    ) -> Result<Option<R>> {
        let mut is_lazy = lazily;
        loop {
            let done = self.fetch(nchunk, is_lazy, FetchMode::Borrow, |chunk| {
                let mut header = ChunkHeader::default();
                let chunk = chunk.parse(&mut header)?;
                self.note_container(chunk.header(), settings);
                if settings.postfilter.is_some() || decoding_runs_callbacks(chunk.header()) {
                    return Ok(None);
                }
                then(&chunk, Some(self)).map(Some)
            });
            match done {
                // Not every chunk has a lazy form: those of Blosc 1 and empty ones have none.
                Err(error) if is_lazy && error.kind() == ErrorKind::InvalidHeader => is_lazy = false,
                done => return done,
            }
        }
    }

    /// As [`with_chunk`](Self::with_chunk), but copies a chunk whose decoding runs functions of the program.
    pub(super) fn use_or_copy_chunk<R>(
        self,
        nchunk: i64,
        lazily: bool,
        settings: &ReadSettings,
        then: &mut ChunkFn<'_, R>,
    ) -> Result<ChunkUse<R>> {
        match self.with_chunk(nchunk, lazily, settings, then)? {
            Some(done) => Ok(ChunkUse::Done(done)),
            None => self.copy_of_chunk(nchunk).map(ChunkUse::Copied),
        }
    }

    pub(super) fn copy_of_chunk(self, nchunk: i64) -> Result<MallocBytes> {
        self.fetch(nchunk, false, FetchMode::Keep, |chunk| chunk.take_owned())
    }
}

impl LockProof<'_, SuperChunk> {
    /// Returns the description of the super-chunk for codecs and filters. For a view it is that of the owner, since the
    /// view's metalayers may describe other dimensions.
    fn container(self) -> Option<Container> {
        let owner = self.object().owner()?;
        // SAFETY: the public struct of a `SuperChunk`, whose metalayers do not change while the lock is held: a view
        // and its owner have one lock.
        unsafe { container::of_schunk(owner.as_ptr()) }
    }
}

/// The frame of a super-chunk as the source of the lazy chunks that a program passes to a context.
pub(crate) struct SchunkBlockSource<'a>(pub &'a SuperChunk);

impl BlockSource for SchunkBlockSource<'_> {
    fn read(&self, location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()> {
        let _reading = self.0.read_lock();
        match self.0.disk_frame() {
            Some(frame) => BlockSource::read(frame, location, position, dest),
            None => Err(err!(InvalidParam, "the super-chunk of a lazy chunk is in memory, expected a file")),
        }
    }
}
