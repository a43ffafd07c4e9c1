//! Encodes one block (`chunk.md` 3.7): prefilter, filters, then each stream as a run, compressed, or raw.
//!
//! A codec always gets an output buffer as long as the whole stream, so that the bytes of a block depend only on its
//! data: not on the destination's size, not on the number of threads.

use super::super::callbacks::{BlockContext, Prefilter, SharedCparams};
use super::super::filters::{BlockInput, FilterSteps};
use super::super::jobs::Worker;
use super::super::scratch::{BlockScratch, ScratchBuffer};
use super::plan::CompressionPlan;
use super::source::ContentSource;
use crate::abi::blosc2_instr;
use crate::chunk::format::MAX_STORED_TYPESIZE;
use crate::chunk::{BlockGeometry, stream, write_i32};
use crate::codec::{Encoder, Workspace};
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::filter::copy::copy;
use std::mem::size_of;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Length in bytes of the size field before each stream.
const STREAM_SIZE_LEN: usize = 4;

/// A block of zeros, whose streams are runs: at most one stream for each byte of an item.
static ZERO_RUNS: [u8; STREAM_SIZE_LEN * MAX_STORED_TYPESIZE as usize] =
    [0; STREAM_SIZE_LEN * MAX_STORED_TYPESIZE as usize];

/// The state that the encoding of all blocks of a chunk shares.
pub(super) struct BlockEncoder<'a> {
    /// How the chunk is laid out.
    pub plan: &'a CompressionPlan,
    pub source: ContentSource<'a>,
    pub filters: FilterSteps<'a>,
    pub encoder: &'a dyn Encoder,
    /// Fills the blocks instead of the source.
    pub prefilter: Option<Prefilter>,
    /// The parameters that are passed to the program's filters.
    pub cparams: SharedCparams,
    /// Index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// Whether to write instrumentation records instead of the data.
    pub is_instrumented: bool,
    /// With a prefilter and delta: the prefilter's output for the first block.
    pub prefiltered_reference: OnceLock<Vec<u8>>,
}

impl BlockEncoder<'_> {
    fn is_varlen(&self) -> bool {
        matches!(self.source, ContentSource::VarlenBlocks(_))
    }

    fn blocks(&self) -> &BlockGeometry {
        &self.plan.blocks
    }

    pub(super) fn nblocks(&self) -> usize {
        self.source.nblocks(self.blocks())
    }

    /// Returns the length in bytes that each of a worker's buffers needs.
    pub(super) fn buffer_len(&self) -> usize {
        let largest = self.source.largest_block(self.blocks());
        let record = if self.is_instrumented { size_of::<blosc2_instr>() } else { 0 };
        let encoded = largest + (STREAM_SIZE_LEN + record) * self.plan.typesize;
        let prefiltered = self.prefilter.map_or(0, |p| p.output_size(largest, self.plan.typesize));
        encoded.max(prefiltered)
    }

    /// Returns whether the first block must be encoded before the others, because they need the prefilter's output for
    /// it.
    pub(super) fn needs_first_block_first(&self) -> bool {
        self.prefilter.is_some() && self.filters.has_delta() && !self.is_varlen()
    }

    /// Returns the length in bytes of the buffer that a prefilter gets as its scratch: as large as in the reference,
    /// and long enough for the prefilter's output.
    fn prefilter_scratch_len(&self) -> usize {
        self.buffer_len().max(self.ttmp_nbytes())
    }

    /// Returns the length in bytes of the scratch of prefilters, as passed to them.
    fn ttmp_nbytes(&self) -> usize {
        4 * (self.source.largest_block(self.blocks()) + 4 * self.plan.typesize)
    }

    /// Runs the prefilter for block `nblock`, with the result in `output`. `ttmp` is the worker's scratch.
    ///
    /// # Safety
    /// `prefilter_scratch_len` bytes can be written at `ttmp`, and nothing else uses them during the call, except that
    /// `output` may be the same bytes.
    unsafe fn run_prefilter(
        &self,
        prefilter: &Prefilter,
        nblock: usize,
        tid: usize,
        output: &mut [u8],
        ttmp: *mut u8,
    ) -> Result<()> {
        let range = self.source.block_range(self.blocks(), nblock);
        let input = match self.source.block(self.blocks(), nblock) {
            Some(block) => block.as_ptr(),
            // NULL plus the offset, as in the reference; the pointer must not be followed.
            None => std::ptr::without_provenance(range.start),
        };
        let block_context = BlockContext {
            nchunk: self.nchunk,
            nblock: if self.is_varlen() { 0 } else { nblock },
            offset: range.start,
            tid,
            ttmp,
            ttmp_nbytes: self.ttmp_nbytes(),
        };
        // SAFETY: the block in the source, or an address without provenance if there is none. The caller guarantees
        // `prefilter_scratch_len` bytes of scratch, which is at least the size that is passed.
        unsafe { prefilter.run(input, range.len(), output, self.plan.typesize, block_context) }
    }

    /// Filters block `nblock` and calls `then` with the result, an unused buffer, a buffer for an encoded block, and
    /// the state of the codecs.
    ///
    /// # Errors
    /// `FilterPipeline` when a filter fails, `MemoryAlloc`, or what `then` returns.
    pub(super) fn with_filtered_block<R>(
        &self,
        nblock: usize,
        worker: &mut Worker<'_>,
        then: impl FnOnce(&[u8], &mut ScratchBuffer, &mut ScratchBuffer, &mut Workspace) -> Result<R>,
    ) -> Result<R> {
        let BlockScratch { front, back, stream, block: encoded, workspace } =
            &mut worker.scratch.block_scratch;
        let buffer_len = self.buffer_len();
        let len = self.source.block_range(self.blocks(), nblock).len();
        let (input, front) = match (&self.prefilter, self.source.block(self.blocks(), nblock)) {
            (None, Some(block)) if self.filters.is_empty() => (BlockInput::InSource(block), &mut [][..]),
            (None, Some(block)) => (BlockInput::InSource(block), front.get(buffer_len)?),
            (None, None) => {
                let ContentSource::Provided(provider) = self.source else {
                    return Err(err!(NullPointer, "`src` is NULL, and there is no prefilter"));
                };
                let range = self.source.block_range(self.blocks(), nblock);
                let front = front.get(buffer_len)?;
                provider.write_block_into(nblock, range, &mut front[..len])?;
                (BlockInput::InFrontBuffer(len), front)
            }
            (Some(prefilter), _) => {
                let front = front.get(self.prefilter_scratch_len())?;
                let ttmp = front.as_mut_ptr();
                // SAFETY: a buffer of that length, which is also the output.
                unsafe { self.run_prefilter(prefilter, nblock, worker.tid, front, ttmp) }?;
                if nblock == 0 && self.needs_first_block_first() && self.prefiltered_reference.get().is_none()
                {
                    // Another thread may have set it in between, to the same bytes.
                    let _ = self.prefiltered_reference.set(fallible::copy_of(&front[..len])?);
                }
                (BlockInput::InFrontBuffer(len), front)
            }
        };
        let back = if self.filters.is_empty() { &mut [][..] } else { back.get(buffer_len)? };
        let reference = self.delta_reference(nblock);
        let block = self.filters.forward(
            input,
            reference,
            self.cparams.get(),
            front,
            back,
            self.plan.header.version,
        )?;
        then(block, stream, encoded, workspace)
    }

    /// Returns the bytes that delta codes a block against: the first block as the decoder will have it (`chunk.md`
    /// 3.8).
    fn delta_reference(&self, nblock: usize) -> Option<&[u8]> {
        if nblock == 0 || !self.filters.has_delta() {
            return None;
        }
        match self.source {
            ContentSource::VarlenBlocks(_) | ContentSource::Provided(_) => None,
            ContentSource::Buffer(_) | ContentSource::SizeOnly(_) => match self.prefiltered_reference.get() {
                Some(reference) => Some(reference),
                None => self.source.block(self.blocks(), 0),
            },
        }
    }

    /// Encodes block `nblock` at the start of `out`. Returns its length, or `None` if it does not fit.
    ///
    /// # Errors
    /// Those of [`with_filtered_block`](Self::with_filtered_block); `CodecSupport`, `Data` or `WriteBuffer` when the
    /// codec fails.
    pub(super) fn encode(
        &self,
        nblock: usize,
        worker: &mut Worker<'_>,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        if let Some(encoded) = self.known_encoded_block(nblock) {
            return Ok(out.get_mut(..encoded.len()).map(|out| {
                copy(encoded, out);
                encoded.len()
            }));
        }
        let started = self.is_instrumented.then(Instant::now);
        self.with_filtered_block(nblock, worker, |block, spare, _, workspace| {
            let filter_time = started.map(|s| s.elapsed()).unwrap_or_default();
            self.encode_streams(nblock, block, spare, workspace, filter_time, out)
        })
    }

    /// Does the same as [`encode`](Self::encode), but encodes into the worker's buffer, which is long enough for every
    /// block, and calls `then` with the encoded bytes.
    pub(super) fn encode_to_scratch<R>(
        &self,
        nblock: usize,
        worker: &mut Worker<'_>,
        then: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<R> {
        if let Some(encoded) = self.known_encoded_block(nblock) {
            return then(encoded);
        }
        let started = self.is_instrumented.then(Instant::now);
        self.with_filtered_block(nblock, worker, |block, spare, encoded, workspace| {
            let out = encoded.get(self.buffer_len())?;
            let filter_time = started.map(|s| s.elapsed()).unwrap_or_default();
            match self.encode_streams(nblock, block, spare, workspace, filter_time, out)? {
                Some(len) => then(&out[..len]),
                None => Err(err!(
                    WriteBuffer,
                    "block {nblock} does not fit into its buffer of {} bytes",
                    out.len()
                )),
            }
        })
    }

    /// Returns the encoded block if it is known: that of another chunk, if that chunk is encoded in the same way, or a
    /// run of zeros for each stream.
    fn known_encoded_block(&self, nblock: usize) -> Option<&[u8]> {
        match self.source {
            ContentSource::Provided(provider) => provider.reusable_encoded_block(nblock, &self.plan.header),
            ContentSource::Buffer(bytes) => {
                let is_zero_run = stream::single_value(&bytes[self.blocks().range(nblock)]) == Some(0)
                    && self.plan.can_use_runs
                    && !self.is_instrumented
                    && self.prefilter.is_none()
                    && self.filters.keeps_zeros();
                is_zero_run.then(|| &ZERO_RUNS[..STREAM_SIZE_LEN * self.nstreams(nblock)])
            }
            ContentSource::SizeOnly(_) | ContentSource::VarlenBlocks(_) => None,
        }
    }

    /// Returns the number of streams of block `nblock`, which does not have a variable length.
    fn nstreams(&self, nblock: usize) -> usize {
        self.blocks().nstreams(nblock, self.plan.is_split, self.plan.typesize)
    }

    fn encode_streams(
        &self,
        nblock: usize,
        block: &[u8],
        spare: &mut ScratchBuffer,
        workspace: &mut Workspace,
        filter_time: Duration,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let nstreams = if self.is_varlen() { 1 } else { self.nstreams(nblock) };
        let neblock = block.len() / nstreams;
        let disposable = self.prefilter.is_some_and(|p| p.is_output_disposable());
        let mut pos = 0;
        for bytes in block.chunks_exact(neblock.max(1)).take(nstreams) {
            let room = &mut out[pos..];
            let value = match disposable && self.plan.can_use_runs {
                true => Some(0),
                false => stream::single_value(bytes),
            };
            let written = match value.filter(|_| self.plan.can_use_runs) {
                Some(value) if !self.is_instrumented => stream::write_run(room, value),
                Some(value) => {
                    let stored = if value == 0 { STREAM_SIZE_LEN } else { stream::MAX_RUN_LENGTH };
                    let record = blosc2_instr {
                        cratio: neblock as f32 / stored as f32,
                        cspeed: 0.0,
                        filter_speed: neblock as f32 / filter_time.as_secs_f32(),
                        flags: [1, 0, 0, 0],
                    };
                    write_instr_record(&record, neblock, false, room)
                }
                None if self.is_instrumented => {
                    self.write_stream_record(bytes, spare, workspace, filter_time, room)?
                }
                None => self.encode_stream(bytes, value.is_some(), spare, workspace, room)?,
            };
            match written {
                Some(len) => pos += len,
                None => return Ok(None),
            }
        }
        Ok(Some(pos))
    }

    /// Writes one stream, compressed or raw, with its length before it. `is_run` says whether all bytes are equal.
    fn encode_stream(
        &self,
        bytes: &[u8],
        is_run: bool,
        spare: &mut ScratchBuffer,
        workspace: &mut Workspace,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let neblock = bytes.len();
        let Some((prefix, room)) = out.split_at_mut_checked(STREAM_SIZE_LEN) else { return Ok(None) };
        let coded = if let Some(dest) = room.get_mut(..neblock) {
            self.run_codec(bytes, is_run, workspace, dest)?
        } else {
            let spare = spare.get(neblock)?;
            let coded = self.run_codec(bytes, is_run, workspace, spare)?;
            match room.get_mut(..coded.unwrap_or(neblock)) {
                Some(dest) if coded.is_some() => copy(&spare[..dest.len()], dest),
                _ => return Ok(None),
            }
            coded
        };
        let csize = match coded {
            Some(csize) => csize,
            None => {
                copy(bytes, &mut room[..neblock]);
                neblock
            }
        };
        write_i32(prefix, 0, if self.is_varlen() { neblock } else { csize } as i32);
        Ok(Some(STREAM_SIZE_LEN + csize))
    }

    /// Runs the codec on one stream, whose bytes are all equal if `is_run`. Returns `None` if the result is not smaller
    /// than the stream.
    fn run_codec(
        &self,
        bytes: &[u8],
        is_run: bool,
        workspace: &mut Workspace,
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        let coded = if is_run {
            self.encoder.encode_run(workspace, bytes, dest)?
        } else {
            self.encoder.encode(workspace, bytes, dest)?
        };
        ensure!(
            coded <= bytes.len(),
            WriteBuffer,
            "the codec returned a length of {coded}, expected at most {}",
            bytes.len(),
        );
        Ok(Some(coded).filter(|&c| c != 0 && c != bytes.len()))
    }

    /// Writes the record of a stream that was compressed by the codec (`chunk.md` 1.18).
    fn write_stream_record(
        &self,
        bytes: &[u8],
        spare: &mut ScratchBuffer,
        workspace: &mut Workspace,
        filter_time: Duration,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let started = Instant::now();
        let coded = self.run_codec(bytes, false, workspace, spare.get(bytes.len())?)?.unwrap_or(bytes.len());
        let neblock = bytes.len() as f32;
        let record = blosc2_instr {
            cratio: neblock / (coded + STREAM_SIZE_LEN) as f32,
            cspeed: neblock / started.elapsed().as_secs_f32(),
            filter_speed: neblock / filter_time.as_secs_f32(),
            flags: [0; 4],
        };
        Ok(write_instr_record(&record, bytes.len(), self.is_varlen(), out))
    }

    /// Writes block `nblock` of the source, or the prefilter's output for it, into `dest`, which has the block's
    /// length.
    ///
    /// # Errors
    /// `FilterPipeline` when the prefilter fails, `MemoryAlloc`.
    pub(super) fn copy_block(&self, nblock: usize, worker: &mut Worker<'_>, dest: &mut [u8]) -> Result<()> {
        let Some(prefilter) = &self.prefilter else {
            if let ContentSource::Provided(provider) = self.source {
                return provider.write_block_into(
                    nblock,
                    self.source.block_range(self.blocks(), nblock),
                    dest,
                );
            }
            let Some(block) = self.source.block(self.blocks(), nblock) else {
                return Err(err!(NullPointer, "`src` is NULL, and there is no prefilter"));
            };
            copy(block, dest);
            return Ok(());
        };
        let front = worker.scratch.block_scratch.front.get(self.prefilter_scratch_len())?;
        let ttmp = front.as_mut_ptr();
        if prefilter.output_size(dest.len(), self.plan.typesize) <= dest.len() {
            // SAFETY: a buffer of that length.
            return unsafe { self.run_prefilter(prefilter, nblock, worker.tid, dest, ttmp) };
        }
        // SAFETY: `front` has `prefilter_scratch_len` bytes; it is the output, and `ttmp` is its start.
        unsafe { self.run_prefilter(prefilter, nblock, worker.tid, front, ttmp) }?;
        copy(&front[..dest.len()], dest);
        Ok(())
    }
}

/// Appends an instrumentation record as a stream.
fn write_instr_record(record: &blosc2_instr, neblock: usize, varlen: bool, out: &mut [u8]) -> Option<usize> {
    let len = STREAM_SIZE_LEN + size_of::<blosc2_instr>();
    let out = out.get_mut(..len)?;
    let prefix = if varlen { neblock } else { size_of::<blosc2_instr>() };
    write_i32(out, 0, prefix as i32);
    for (at, field) in [record.cratio, record.cspeed, record.filter_speed].iter().enumerate() {
        out[STREAM_SIZE_LEN + 4 * at..][..4].copy_from_slice(&field.to_ne_bytes());
    }
    out[len - 4..].copy_from_slice(&record.flags);
    Some(len)
}
