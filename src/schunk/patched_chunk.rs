//! Chunks that array layers change block by block: each block is assembled when it is compressed. No uncompressed chunk
//! is built, unchanged blocks are not decoded, and the compressing threads do all the work.

use super::SuperChunk;
use super::change::Incoming;
use super::snapshot::until_stored;
use super::sync::{Access, ChangeSession};
use crate::buffers;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::{ChunkHeader, Container, StoredChunk};
use crate::err;
use crate::error::Result;
use crate::malloc::Malloced;
use crate::pipeline::compress::{Gather, Source};
use crate::pipeline::context::ReadSettings;
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
    fn coverage(&self, nblock: usize) -> PatchExtent;

    /// Writes the changes into the block.
    ///
    /// # Errors
    /// Any error of the source of the changes.
    fn write(&self, nblock: usize, block: &mut [u8]) -> Result<()>;
}

/// The blocks of the new chunk.
struct Blocks<'a> {
    sizes: Sizes,
    changes: &'a dyn BlockPatch,
    /// The old chunk, for the bytes that do not change; without it these are zero.
    previous: Option<&'a OldChunk<'a>>,
    /// Set when the encoder uses another block size.
    is_other: AtomicBool,
}

impl<'a> Blocks<'a> {
    fn new(sizes: Sizes, changes: &'a dyn BlockPatch, previous: Option<&'a OldChunk<'a>>) -> Self {
        Blocks { sizes, changes, previous, is_other: AtomicBool::new(false) }
    }
}

impl Gather for Blocks<'_> {
    fn nbytes(&self) -> usize {
        self.sizes.chunk
    }

    fn gather(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        if range.start != nblock * self.sizes.block || range.len() != self.sizes.block {
            self.is_other.store(true, Ordering::Relaxed);
            return Err(err!(
                Failure,
                "block {nblock} is bytes {range:?}, expected blocks of {} bytes",
                self.sizes.block
            ));
        }
        let coverage = self.changes.coverage(nblock);
        if coverage != PatchExtent::All {
            dest.fill(0);
            if let Some(previous) = self.previous {
                previous.decode(nblock, dest)?;
            }
        }
        match coverage {
            PatchExtent::Nothing => Ok(()),
            PatchExtent::Part | PatchExtent::All => self.changes.write(nblock, dest),
        }
    }

    fn encoded(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]> {
        let previous = self.previous.filter(|_| self.changes.coverage(nblock) == PatchExtent::Nothing)?;
        let is_regular = usize::try_from(header.blocksize).is_ok_and(|size| size == self.sizes.block);
        if is_regular { previous.encoded(nblock, header) } else { None }
    }
}

/// The sizes of a chunk and of its blocks, in bytes.
#[derive(Clone, Copy)]
struct Sizes {
    chunk: usize,
    block: usize,
}

/// The result of an attempt to store a changed chunk within a session.
enum Stored {
    /// The chunk is stored.
    Yes,
    /// Nothing was done: decoding the old chunk runs functions of the program, during which no lock may be held.
    CallsBack,
}

impl SuperChunk {
    /// Rewrites chunk `at`, of `chunksize` bytes in whole blocks of `blocksize` bytes, with `changes`. Other bytes keep
    /// the old content if `keeps`, otherwise they become zero. With `keeps` this is one critical section: a change of
    /// the chunk by other threads or handles comes before or after it.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, `Failure` for a chunk of another size, those of decompression,
    /// compression, [`update_chunk`](Self::update_chunk) and `changes`.
    pub(crate) fn put_changes(
        &self,
        at: i64,
        (chunksize, blocksize): (usize, usize),
        changes: &dyn BlockPatch,
        keeps: bool,
    ) -> Result<()> {
        self.check_index(at)?;
        let sizes = Sizes { chunk: chunksize, block: blocksize };
        if !keeps {
            return self.put_new(at, sizes, changes);
        }
        let settings = self.read_settings(true);
        if settings.postfilter.is_none() && !self.cctx()?.calls_back() {
            let target = self.owner_of_view()?.unwrap_or(self);
            let mut session = target.changing(false)?;
            match self.put_patched(&mut session, at, sizes, changes, &settings)? {
                Stored::Yes => return Ok(()),
                Stored::CallsBack => {}
            }
        }
        self.put_patched_snapshot(at, sizes, changes, &settings)
    }

    /// Replaces chunk `at` by `changes` alone; other bytes become zero.
    fn put_new(&self, at: i64, sizes: Sizes, changes: &dyn BlockPatch) -> Result<()> {
        if self.cctx()?.takes_patched_blocks(sizes.block) {
            let container = self.asked_container()?;
            let blocks = Blocks::new(sizes, changes, None);
            let room = sizes.chunk + EXTENDED_HEADER_LENGTH;
            let mut buffer = buffers::take(room)?;
            if let Some(cbytes) = self.compress_blocks(at, &blocks, container, &mut buffer[..room])? {
                return self.update_chunk(at, Incoming::Copy(&buffer[..cbytes])).map(|_| ());
            }
        }
        let mut content = Malloced::zeroed(sizes.chunk)?;
        write_changes(&mut content, sizes, changes)?;
        self.put_content(at, &content)
    }

    /// Replaces chunk `at` by its old content with `changes`, within a session of the super-chunk to which the chunk
    /// belongs.
    fn put_patched(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        sizes: Sizes,
        changes: &dyn BlockPatch,
        settings: &ReadSettings,
    ) -> Result<Stored> {
        if self.cctx()?.takes_patched_blocks(sizes.block)
            && let Some(stored) = self.put_patched_blocks(session, at, sizes, changes, settings)?
        {
            return Ok(stored);
        }
        let access = session.access()?;
        let content = access.with_chunk(at, false, settings, &mut |chunk, _| {
            check_size(chunk.header().nbytes(), sizes.chunk)?;
            self.content(at, chunk, settings)
        })?;
        let Some(mut content) = content else { return Ok(Stored::CallsBack) };
        write_changes(&mut content, sizes, changes)?;
        self.with_compressed(at, Some(&content), content.len(), |chunk| {
            session.update(at, Incoming::Copy(chunk)).map(|_| Stored::Yes)
        })
    }

    /// As [`put_patched`](Self::put_patched), block by block; only the blocks that change are decoded. Returns `None`,
    /// and does nothing, if the blocks of the chunk or the context have another size.
    fn put_patched_blocks(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        sizes: Sizes,
        changes: &dyn BlockPatch,
        settings: &ReadSettings,
    ) -> Result<Option<Stored>> {
        let container = self.asked_container()?;
        let room = sizes.chunk + EXTENDED_HEADER_LENGTH;
        let mut buffer = buffers::take(room)?;
        let mut patch = |chunk: &StoredChunk<'_>, _: Option<Access<'_>>| {
            let header = chunk.header();
            check_size(header.nbytes(), sizes.chunk)?;
            let is_regular = usize::try_from(header.blocksize).is_ok_and(|size| size == sizes.block);
            if header.has_varlen_blocks() || !is_regular {
                return Ok(None);
            }
            let params = self.decompress_params(settings, at);
            let (cbytes, done) = OldChunk::open(&params, chunk, |previous| {
                let blocks = Blocks::new(sizes, changes, Some(previous));
                self.compress_blocks(at, &blocks, container, &mut buffer[..room])
            })?;
            self.note_read(header, &done);
            Ok(cbytes)
        };
        match session.access()?.with_chunk(at, false, settings, &mut patch)? {
            None => Ok(Some(Stored::CallsBack)),
            Some(None) => Ok(None),
            Some(Some(cbytes)) => {
                session.update(at, Incoming::Copy(&buffer[..cbytes]))?;
                Ok(Some(Stored::Yes))
            }
        }
    }

    /// As [`put_patched`](Self::put_patched), without a lock while decoding and compressing run functions of the program.
    fn put_patched_snapshot(
        &self,
        at: i64,
        sizes: Sizes,
        changes: &dyn BlockPatch,
        settings: &ReadSettings,
    ) -> Result<()> {
        until_stored(at, || {
            let snapshot = self.snapshot(at, settings)?;
            check_size(snapshot.nbytes(), sizes.chunk)?;
            let mut content = self.content_of_snapshot(&snapshot, settings)?;
            write_changes(&mut content, sizes, changes)?;
            self.with_compressed(at, Some(&content), content.len(), |chunk| {
                self.replace_snapshot(&snapshot, Incoming::Copy(chunk))
            })
        })
    }

    /// Compresses the blocks of chunk `at` into `room`. Returns the length of the chunk, or `None` if the context uses
    /// another block size.
    fn compress_blocks(
        &self,
        at: i64,
        blocks: &Blocks<'_>,
        container: Option<Container>,
        room: &mut [u8],
    ) -> Result<Option<usize>> {
        match self.cctx()?.compress_chunk(Source::Gathered(blocks), room.into(), at, |_| container) {
            Ok(0) => Err(err!(Failure, "{} bytes could not be compressed", blocks.sizes.chunk)),
            Err(_) if blocks.is_other.load(Ordering::Relaxed) => Ok(None),
            cbytes => cbytes.map(Some),
        }
    }
}

/// Writes the changes into the content of a whole chunk.
fn write_changes(content: &mut [u8], sizes: Sizes, changes: &dyn BlockPatch) -> Result<()> {
    for (nblock, block) in content.chunks_exact_mut(sizes.block.max(1)).enumerate() {
        if changes.coverage(nblock) != PatchExtent::Nothing {
            changes.write(nblock, block)?;
        }
    }
    Ok(())
}

fn check_size(nbytes: usize, chunksize: usize) -> Result<()> {
    if nbytes != chunksize {
        return Err(err!(Failure, "the chunk has {nbytes} bytes, expected {chunksize}"));
    }
    Ok(())
}
