//! Chunks that are put together block by block while they are compressed: by array layers, which know what changes in
//! which block. No chunk is built first, untouched blocks are not even decoded, and all of it is done by the threads that
//! compress.

use super::change::Incoming;
use super::{SuperChunk, room};
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::{ChunkHeader, Container};
use crate::err;
use crate::error::Result;
use crate::malloc::Malloced;
use crate::pipeline::compress::{Gather, Source};
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::Previous;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a block changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It stays as it is.
    Nothing,
    /// Some bytes.
    Part,
    /// Every byte.
    All,
}

/// What changes in the blocks of a chunk.
pub trait Changes: Sync {
    /// How much changes in block `nblock`.
    fn coverage(&self, nblock: usize) -> Coverage;

    /// Writes what changes into the block.
    ///
    /// # Errors
    /// Whatever keeps it from being written.
    fn write(&self, nblock: usize, block: &mut [u8]) -> Result<()>;
}

/// The blocks of a chunk as they will be.
struct Blocks<'a> {
    chunksize: usize,
    blocksize: usize,
    changes: &'a dyn Changes,
    /// What stays; zeros without it.
    previous: Option<&'a Previous<'a>>,
    /// Somebody wanted blocks of another size.
    is_other: AtomicBool,
}

impl Gather for Blocks<'_> {
    fn nbytes(&self) -> usize {
        self.chunksize
    }

    fn gather(&self, nblock: usize, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
        if range.start != nblock * self.blocksize || range.len() != self.blocksize {
            self.is_other.store(true, Ordering::Relaxed);
            return Err(err!(Failure, "bytes {range:?} for block {nblock} of {} bytes", self.blocksize));
        }
        let coverage = self.changes.coverage(nblock);
        if coverage != Coverage::All {
            dest.fill(0);
            if let Some(previous) = self.previous {
                previous.decode(nblock, dest)?;
            }
        }
        match coverage {
            Coverage::Nothing => Ok(()),
            Coverage::Part | Coverage::All => self.changes.write(nblock, dest),
        }
    }

    fn encoded(&self, nblock: usize, header: &ChunkHeader) -> Option<&[u8]> {
        let previous = self.previous.filter(|_| self.changes.coverage(nblock) == Coverage::Nothing)?;
        let is_regular = usize::try_from(header.blocksize).is_ok_and(|size| size == self.blocksize);
        if is_regular { previous.encoded(nblock, header) } else { None }
    }
}

impl SuperChunk {
    /// Makes chunk `at` anew, of `chunksize` bytes in whole blocks of `blocksize` bytes: what `changes` says, and what is
    /// there otherwise, or zeros unless it `keeps` that.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that is not there, `Failure` for one of another size, those of decompression,
    /// compression and [`update_chunk`](Self::update_chunk), and what `changes` returns.
    pub fn put_changes(
        &self,
        at: i64,
        (chunksize, blocksize): (usize, usize),
        changes: &dyn Changes,
        keeps: bool,
    ) -> Result<()> {
        self.check_index(at)?;
        let settings = if keeps { self.read_settings(true) } else { ReadSettings::default() };
        let is_plain = settings.postfilter.is_none() && self.cctx()?.takes_gathered(blocksize);
        if !is_plain {
            return self.put_rebuilt(at, (chunksize, blocksize), changes, keeps.then_some(&settings));
        }
        // The gate comes before the context.
        let container = self.asked_container(self.cctx()?);
        let done = room::with(chunksize + EXTENDED_HEADER_LENGTH, |room| {
            let blocks =
                || Blocks { chunksize, blocksize, changes, previous: None, is_other: AtomicBool::new(false) };
            let compressed = if keeps {
                self.with_chunk(at, false, &settings, &mut |chunk, header, source| {
                    check_size(header.nbytes(), chunksize)?;
                    let is_regular = usize::try_from(header.blocksize).is_ok_and(|size| size == blocksize);
                    if header.has_varlen_blocks() || !is_regular {
                        return Ok(None);
                    }
                    let params = self.decompress_params(&settings, at, source);
                    let (cbytes, done) = Previous::open(&params, header, chunk, |previous| {
                        let blocks = Blocks { previous: Some(previous), ..blocks() };
                        self.compress_blocks(at, &blocks, container, room)
                    })?;
                    self.note_read(header, &done);
                    Ok(cbytes)
                })
            } else {
                self.compress_blocks(at, &blocks(), container, room)
            };
            let Some(cbytes) = compressed? else { return Ok(None) };
            self.update_chunk(at, Incoming::Copy(&room[..cbytes])).map(Some)
        })?;
        match done {
            Some(_) => Ok(()),
            // Blocks are of another size here or there.
            None => self.put_rebuilt(at, (chunksize, blocksize), changes, keeps.then_some(&settings)),
        }
    }

    /// Compresses the blocks of chunk `at` into `room`; the length of the chunk, or `None` where the context
    /// wants blocks of another size.
    fn compress_blocks(
        &self,
        at: i64,
        blocks: &Blocks<'_>,
        container: Option<Container>,
        room: &mut [u8],
    ) -> Result<Option<usize>> {
        let cctx = self.cctx()?;
        let _use = self.cctx_use.lock();
        match cctx.compress_chunk(Source::Gathered(blocks), room, at, |_| container) {
            Ok(0) => Err(err!(Failure, "{} bytes could not be compressed", blocks.chunksize)),
            Err(_) if blocks.is_other.load(Ordering::Relaxed) => Ok(None),
            cbytes => cbytes.map(Some),
        }
    }

    /// As [`put_changes`](Self::put_changes), by way of the whole content.
    fn put_rebuilt(
        &self,
        at: i64,
        (chunksize, blocksize): (usize, usize),
        changes: &dyn Changes,
        kept: Option<&ReadSettings>,
    ) -> Result<()> {
        let mut content = Malloced::zeroed(chunksize)?;
        if let Some(settings) = kept {
            let nbytes = self.with_chunk(at, false, settings, &mut |chunk, header, source| {
                check_size(header.nbytes(), chunksize)?;
                self.decode(chunk, header, &self.decompress_params(settings, at, source), &mut content)
            })?;
            check_size(nbytes, chunksize)?;
        }
        for (nblock, block) in content.chunks_exact_mut(blocksize.max(1)).enumerate() {
            if changes.coverage(nblock) != Coverage::Nothing {
                changes.write(nblock, block)?;
            }
        }
        self.put_content(at, &content)
    }
}

fn check_size(nbytes: usize, chunksize: usize) -> Result<()> {
    if nbytes != chunksize {
        return Err(err!(Failure, "a chunk of {nbytes} bytes where {chunksize} are expected"));
    }
    Ok(())
}
