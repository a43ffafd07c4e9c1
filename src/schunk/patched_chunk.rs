//! Chunks that array layers change block by block: each block is assembled when it is compressed. No uncompressed chunk
//! is built, unchanged blocks are not decoded, and the compressing threads do all the work.

use super::SuperChunk;
use super::change::InputChunk;
use super::frame_sync::{ChangeSession, ChunkAccess};
use super::snapshot::{ChunkSnapshot, retry_until_stored};
use crate::buffers;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::{ChunkHeader, Container, ParsedChunk};
use crate::error::{Result, ensure, err};
use crate::frame::format::chunk_info::ChunkInfo;
use crate::malloc::MallocBytes;
use crate::pipeline::compress::{BlockProvider, ContentSource};
use crate::pipeline::context::{Context, ReadSettings};
use crate::pipeline::decompress::OldChunk;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The extent of the changes in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchExtent {
    /// No byte changes.
    Nothing,
    /// Some bytes change.
    Part,
    /// Every byte changes.
    All,
}

/// Changes in the blocks of a chunk.
pub(crate) trait BlockPatch: Sync {
    /// Returns the extent of the changes in block `nblock`.
    fn extent(&self, nblock: usize) -> PatchExtent;

    /// Writes the changes into the block.
    fn write(&self, nblock: usize, block: &mut [u8]) -> Result<()>;
}

struct PatchedBlocks<'a> {
    sizes: ChunkSizes,
    patch: &'a dyn BlockPatch,
    /// The old chunk, for the bytes that do not change; without it these are zero.
    previous: Option<&'a OldChunk<'a>>,
    /// Set when the encoder uses another block size.
    has_other_blocksize: AtomicBool,
}

impl<'a> PatchedBlocks<'a> {
    fn new(sizes: ChunkSizes, patch: &'a dyn BlockPatch, previous: Option<&'a OldChunk<'a>>) -> Self {
        PatchedBlocks { sizes, patch, previous, has_other_blocksize: AtomicBool::new(false) }
    }
}

impl BlockProvider for PatchedBlocks<'_> {
    fn nbytes(&self) -> usize {
        self.sizes.chunk
    }

    fn write_block_into(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        if range.start != nblock * self.sizes.block || range.len() != self.sizes.block {
            self.has_other_blocksize.store(true, Ordering::Relaxed);
            return Err(err!(
                Failure,
                "block {nblock} is bytes {range:?}, expected blocks of {} bytes",
                self.sizes.block
            ));
        }
        let coverage = self.patch.extent(nblock);
        if coverage != PatchExtent::All {
            dest.fill(0);
            if let Some(previous) = self.previous {
                previous.decode(nblock, dest)?;
            }
        }
        match coverage {
            PatchExtent::Nothing => Ok(()),
            PatchExtent::Part | PatchExtent::All => self.patch.write(nblock, dest),
        }
    }

    fn reusable_encoded_block(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]> {
        let previous = self.previous.filter(|_| self.patch.extent(nblock) == PatchExtent::Nothing)?;
        let is_regular = usize::try_from(header.blocksize).is_ok_and(|size| size == self.sizes.block);
        if is_regular { previous.reusable_encoded_block(nblock, header) } else { None }
    }
}

/// A new chunk that is not stored yet.
pub(crate) struct PreparedChunk {
    nchunk: i64,
    chunk: MallocBytes,
    /// The chunk whose content the new one keeps in part; `None` for one that keeps nothing.
    old: Option<ChunkSnapshot>,
}

impl PreparedChunk {
    /// Returns the memory that the value occupies, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.chunk.len() + self.old.as_ref().map_or(0, ChunkSnapshot::len)
    }
}

/// The sizes of a chunk and of its blocks, in bytes.
#[derive(Clone, Copy)]
struct ChunkSizes {
    chunk: usize,
    block: usize,
}

impl SuperChunk {
    /// Replaces chunk `at` by one of `chunksize` bytes in whole blocks of `blocksize` bytes: the old content with
    /// `patch`, and zeros where the old chunk is too short; without `keeps`, zeros instead of the old content. With
    /// `keeps` this is one critical section: a change of the chunk by other threads or handles comes before or after it.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, `Failure` for a chunk of more bytes, those of decompression,
    /// compression, [`update_chunk`](Self::update_chunk) and `patch`.
    pub(crate) fn patch_chunk(
        &self,
        at: i64,
        (chunksize, blocksize): (usize, usize),
        patch: &dyn BlockPatch,
        keeps: bool,
    ) -> Result<()> {
        self.check_nchunk(at)?;
        let sizes = ChunkSizes { chunk: chunksize, block: blocksize };
        if !keeps {
            return self.replace_chunk_by_patch(at, sizes, patch);
        }
        let settings = self.read_settings(false);
        if settings.postfilter.is_none() && !self.cctx()?.runs_callbacks() {
            let target = self.owner_of_view()?.unwrap_or(self);
            let mut session = target.lock_for_change(false)?;
            if self.update_with_patch(&mut session, at, sizes, patch, &settings)? {
                return Ok(());
            }
        }
        // No lock is held while decoding and compressing run functions of the program.
        retry_until_stored(at, || {
            let snapshot = self.take_snapshot(at, &settings)?;
            check_chunk_nbytes(snapshot.nbytes(), sizes.chunk)?;
            self.with_read_access(|access| access.check_short_chunk(at, snapshot.nbytes(), sizes.chunk))?;
            let mut content = extend_to(self.decode_snapshot(&snapshot, &settings)?, sizes.chunk)?;
            write_patch(&mut content, sizes, patch)?;
            self.with_compressed(at, Some(&content), content.len(), |chunk| {
                self.replace_if_unchanged(&snapshot, InputChunk::Copy(chunk))
            })
        })
    }

    /// Makes the chunk that [`patch_chunk`](Self::patch_chunk) stores, with a compression context of the calling thread. No
    /// lock is held meanwhile.
    ///
    /// # Errors
    /// As [`patch_chunk`](Self::patch_chunk).
    pub(crate) fn prepare_patched_chunk(
        &self,
        context: &Context,
        at: i64,
        (chunksize, blocksize): (usize, usize),
        patch: &dyn BlockPatch,
        keeps: bool,
    ) -> Result<PreparedChunk> {
        self.check_nchunk(at)?;
        let sizes = ChunkSizes { chunk: chunksize, block: blocksize };
        let container = self.container_for_compression()?;
        let capacity = sizes.chunk + EXTENDED_HEADER_LENGTH;
        let mut buffer = buffers::take_buffer(capacity)?;
        let dest = &mut buffer[..capacity];
        let settings = self.read_settings(false);
        let old = keeps.then(|| self.take_snapshot(at, &settings)).transpose()?;
        let mut cbytes = None;
        if context.can_compress_patched_blocks(sizes.block) {
            cbytes = match &old {
                Some(old) => {
                    let mut header = ChunkHeader::default();
                    let chunk = old.parse(&mut header)?;
                    let compress = (Some(context), container);
                    self.compress_with_old_chunk(at, &chunk, sizes, patch, &settings, compress, dest)?
                }
                None => {
                    let blocks = PatchedBlocks::new(sizes, patch, None);
                    compress_blocks(context, at, &blocks, container, dest)?
                }
            };
        }
        let cbytes = match cbytes {
            Some(cbytes) => cbytes,
            None => {
                let mut content = match &old {
                    Some(old) => {
                        check_chunk_nbytes(old.nbytes(), sizes.chunk)?;
                        self.with_read_access(|access| {
                            access.check_short_chunk(at, old.nbytes(), sizes.chunk)
                        })?;
                        extend_to(self.decode_snapshot(old, &settings)?, sizes.chunk)?
                    }
                    None => MallocBytes::zeroed(sizes.chunk)?,
                };
                write_patch(&mut content, sizes, patch)?;
                context.compress_chunk(ContentSource::Buffer(&content), dest.into(), at, |_| container)?
            }
        };
        ensure!(cbytes != 0, Failure, "{} bytes could not be compressed", sizes.chunk);
        Ok(PreparedChunk { nchunk: at, chunk: MallocBytes::copy_of(&buffer[..cbytes])?, old })
    }

    /// Stores a chunk of [`prepare_patched_chunk`](Self::prepare_patched_chunk). Returns whether it is stored: not if the
    /// chunk from which it was made has changed.
    ///
    /// # Errors
    /// Those of [`update_chunk`](Self::update_chunk).
    pub(crate) fn store_prepared_chunk(&self, prepared: PreparedChunk) -> Result<bool> {
        let PreparedChunk { nchunk, chunk, old } = prepared;
        let mut chunk = Some(chunk);
        let chunk = InputChunk::Take(&mut chunk);
        match old {
            Some(old) => self.replace_if_unchanged(&old, chunk),
            None => self.update_chunk(nchunk, chunk).map(|_| true),
        }
    }

    /// Replaces chunk `at` by `patch` alone; other bytes become zero.
    fn replace_chunk_by_patch(&self, at: i64, sizes: ChunkSizes, patch: &dyn BlockPatch) -> Result<()> {
        if self.cctx()?.can_compress_patched_blocks(sizes.block) {
            let container = self.container_for_compression()?;
            let blocks = PatchedBlocks::new(sizes, patch, None);
            let capacity = sizes.chunk + EXTENDED_HEADER_LENGTH;
            let mut buffer = buffers::take_buffer(capacity)?;
            let dest = &mut buffer[..capacity];
            if let Some(cbytes) = compress_blocks(&*self.cctx()?, at, &blocks, container, dest)? {
                return self.update_chunk(at, InputChunk::Copy(&buffer[..cbytes])).map(|_| ());
            }
        }
        let mut content = MallocBytes::zeroed(sizes.chunk)?;
        write_patch(&mut content, sizes, patch)?;
        self.compress_and_update_chunk(at, &content)
    }

    /// Replaces chunk `at` by its old content with `patch`, within a session of the super-chunk to which the chunk
    /// belongs. Returns `false`, and does nothing, if decoding the old chunk runs functions of the program, during which
    /// no lock may be held.
    fn update_with_patch(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        sizes: ChunkSizes,
        patch: &dyn BlockPatch,
        settings: &ReadSettings,
    ) -> Result<bool> {
        if self.cctx()?.can_compress_patched_blocks(sizes.block)
            && let Some(stored) = self.update_blocks_with_patch(session, at, sizes, patch, settings)?
        {
            return Ok(stored);
        }
        let access = session.access()?;
        let mut old = None;
        let content = access.with_chunk(at, false, settings, |chunk, _| {
            old = Some(ChunkInfo::parse(chunk.bytes())?);
            check_chunk_nbytes(chunk.header().nbytes(), sizes.chunk)?;
            self.decode_to_malloc(at, chunk, settings)
        })?;
        let Some(content) = content else { return Ok(false) };
        session.access()?.check_short_chunk(at, content.len(), sizes.chunk)?;
        let mut content = extend_to(content, sizes.chunk)?;
        write_patch(&mut content, sizes, patch)?;
        self.with_compressed(at, Some(&content), content.len(), |chunk| {
            session.update_known(at, InputChunk::Copy(chunk), old).map(|_| true)
        })
    }

    /// As [`update_with_patch`](Self::update_with_patch), block by block; only the blocks that change are decoded.
    /// Returns `None`, and does nothing, if the chunk, its blocks or those of the context have another size.
    fn update_blocks_with_patch(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        sizes: ChunkSizes,
        patch: &dyn BlockPatch,
        settings: &ReadSettings,
    ) -> Result<Option<bool>> {
        let container = self.container_for_compression()?;
        let capacity = sizes.chunk + EXTENDED_HEADER_LENGTH;
        let mut buffer = buffers::take_buffer(capacity)?;
        let mut old = None;
        let compress_patched = |chunk: &ParsedChunk<'_>, _: Option<ChunkAccess<'_>>| {
            old = Some(ChunkInfo::parse(chunk.bytes())?);
            let dest = &mut buffer[..capacity];
            self.compress_with_old_chunk(at, chunk, sizes, patch, settings, (None, container), dest)
        };
        match session.access()?.with_chunk(at, false, settings, compress_patched)? {
            None => Ok(Some(false)),
            Some(None) => Ok(None),
            Some(Some(cbytes)) => {
                session.update_known(at, InputChunk::Copy(&buffer[..cbytes]), old)?;
                Ok(Some(true))
            }
        }
    }

    /// Compresses the content of `chunk`, which is chunk `at`, with `patch` into `dest`, by `context` or that of the
    /// super-chunk. Returns the length of the new chunk, or `None` if the chunk, its blocks or those of the context have
    /// another size.
    #[allow(clippy::too_many_arguments, reason = "the chunk, its change, and the place of the new one")]
    fn compress_with_old_chunk(
        &self,
        at: i64,
        chunk: &ParsedChunk<'_>,
        sizes: ChunkSizes,
        patch: &dyn BlockPatch,
        settings: &ReadSettings,
        (context, container): (Option<&Context>, Option<Container>),
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        let header = chunk.header();
        let is_regular = header.nbytes() == sizes.chunk
            && usize::try_from(header.blocksize).is_ok_and(|size| size == sizes.block);
        if header.has_varlen_blocks() || !is_regular {
            return Ok(None);
        }
        let params = self.decompress_params(settings, at);
        let (cbytes, done) = OldChunk::open(&params, chunk, |previous| {
            let blocks = PatchedBlocks::new(sizes, patch, Some(previous));
            match context {
                Some(context) => compress_blocks(context, at, &blocks, container, dest),
                None => compress_blocks(&*self.cctx()?, at, &blocks, container, dest),
            }
        })?;
        self.note_read(header, &done);
        Ok(cbytes)
    }
}

/// Compresses the blocks of chunk `at` into `dest`. Returns the length of the chunk, or `None` if the context uses another
/// block size.
fn compress_blocks(
    context: &Context,
    at: i64,
    blocks: &PatchedBlocks<'_>,
    container: Option<Container>,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    match context.compress_chunk(ContentSource::Provided(blocks), dest.into(), at, |_| container) {
        Ok(0) => Err(err!(Failure, "{} bytes could not be compressed", blocks.sizes.chunk)),
        Err(_) if blocks.has_other_blocksize.load(Ordering::Relaxed) => Ok(None),
        cbytes => cbytes.map(Some),
    }
}

/// Writes the changes into the content of a whole chunk.
fn write_patch(content: &mut [u8], sizes: ChunkSizes, patch: &dyn BlockPatch) -> Result<()> {
    for (nblock, block) in content.chunks_exact_mut(sizes.block.max(1)).enumerate() {
        if patch.extent(nblock) != PatchExtent::Nothing {
            patch.write(nblock, block)?;
        }
    }
    Ok(())
}

/// Checks that a chunk has no content that a chunk of `chunksize` bytes would lose.
fn check_chunk_nbytes(nbytes: usize, chunksize: usize) -> Result<()> {
    ensure!(nbytes <= chunksize, Failure, "the chunk has {nbytes} bytes, expected at most {chunksize}");
    Ok(())
}

/// Returns the content of a chunk with zeros at its end, so that it is `len` bytes long.
fn extend_to(content: MallocBytes, len: usize) -> Result<MallocBytes> {
    if content.len() == len {
        return Ok(content);
    }
    let mut extended = MallocBytes::zeroed(len)?;
    extended[..content.len()].copy_from_slice(&content);
    Ok(extended)
}
