//! Compresses a buffer into a chunk (`chunk.md` 3).
//!
//! Data flow: arguments checked -> [`plan`] (blocks, header) -> dictionary, if requested -> blocks encoded ([`block`])
//! and written in order ([`chunk_writer`]) -> header; or, if the result does not fit or is not shorter than the data, a
//! plain copy of the data.

mod block;
mod chunk_encoder;
mod chunk_writer;
mod dictionary_training;
pub(crate) mod plan;
mod source;
mod special;

pub(crate) use source::{BlockProvider, ContentSource};
pub(crate) use special::encode_special_chunk;

use super::callbacks::SharedCparams;
use super::filters::{FilterSteps, is_lossless, is_of_program};
use super::jobs::{self, Worker};
use super::params::CompressParams;
use super::scratch;
use super::shared_output::SharedOutput;
use super::workload::{WorkKind, Workload};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag2};
use crate::chunk::{ChunkHeader, SpecialValue, dictionary as section, write_i32};
use crate::codec::{BuiltInCodec, Encoder, EncoderDictionary};
use crate::error::{Result, ensure};
use crate::filter::copy::copy;
use block::BlockEncoder;
use chunk_encoder::ChunkEncoder;
use chunk_writer::ChunkWriter;
use plan::CompressionPlan;
use std::mem::size_of;
use std::sync::OnceLock;

/// Compresses `source` into `dest`; `params` are checked ([`plan::check_params`]) and their block size is effective.
/// Returns the header of the chunk; its `cbytes` is 0 when the chunk does not fit.
///
/// # Errors
/// `CodecSupport`, `Data` or `WriteBuffer` for a codec that is missing or fails, `FilterPipeline` for a filter,
/// `MemoryAlloc`. The content of `dest` is unspecified after an error.
pub(crate) fn compress(
    params: &CompressParams,
    source: ContentSource<'_>,
    dest: &mut [u8],
) -> Result<ChunkHeader> {
    let mut plan = match source {
        ContentSource::VarlenBlocks(sources) => CompressionPlan::varlen(params, sources.len(), source.len()),
        ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
            CompressionPlan::new(params, source.len(), dest.len())
        }
    };
    let stored_len = plan.header.len() + source.len();
    let mut coded = None;
    if !plan.is_memcpyed() {
        if params.instr_codec {
            plan.header.blosc2_flags |= flag2::INSTR;
        }
        coded = compress_blocks(params, &mut plan, source, dest)?;
        if coded >= Some(stored_len) && can_store_instead(params, source) {
            coded = None;
        }
        if coded.is_none() && !matches!(source, ContentSource::VarlenBlocks(_)) {
            plan = plan.memcpyed_fallback();
        }
    }
    let cbytes = match coded {
        Some(cbytes) => cbytes,
        None if plan.is_memcpyed() && stored_len <= dest.len() => {
            copy_blocks(params, &plan, source, dest)?;
            stored_len
        }
        None => 0,
    };
    plan.header.cbytes = cbytes as i32;
    if plan.header.is_instrumented() {
        set_instr_header(&mut plan, source);
    }
    plan.header.write(dest);
    Ok(plan.header)
}

/// Returns whether a chunk whose coded form is not shorter is stored. The stored bytes are those of the source, so that
/// chunks that may decode to other bytes stay coded, as do instrumentation records.
fn can_store_instead(params: &CompressParams, source: ContentSource<'_>) -> bool {
    !matches!(source, ContentSource::VarlenBlocks(_))
        && !params.instr_codec
        && !params.keeps_longer
        && params.prefilter.is_none()
        && params.built_in_codec().is_some()
        && params.filters.iter().all(|&id| is_lossless(id))
}

/// Encodes all blocks. Returns the length of the chunk in bytes, or `None` if it does not fit.
fn compress_blocks(
    params: &CompressParams,
    plan: &mut CompressionPlan,
    source: ContentSource<'_>,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let planned = *plan;
    let blocksize = match source {
        ContentSource::VarlenBlocks(_) => source.largest_block(&plan.blocks) as i32,
        ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
            plan.header.blocksize
        }
    };
    let encoder = ChunkEncoder::new(params, plan, blocksize, None, source.callback_address());
    let mut blocks = new_block_encoder(params, &planned, source, blocksize, &encoder);
    if plan.block_starts_end > dest.len() {
        return Ok(None);
    }
    let mut first = plan.block_starts_end;
    let trained = match BuiltInCodec::from_compcode(params.compcode) {
        Some(codec) if params.use_dict && codec.has_dictionaries() => {
            dictionary_training::train_chunk_dictionary(&blocks, params.compcode)?.map(|d| (codec, d))
        }
        _ => None,
    };
    let Some((codec, bytes)) = trained else {
        return encode_all_blocks(params, &blocks, first, dest)
            .map(|cbytes| collapse_zero_chunk(plan, cbytes));
    };
    // The prefilter runs again from here on, and its output may differ.
    blocks.prefiltered_reference = OnceLock::new();
    // The dictionary section goes between the block starts and the first block.
    let Some(room) = dest.get_mut(first..first + section::SIZE_FIELD_LEN + bytes.len()) else {
        return Ok(None);
    };
    write_i32(room, 0, bytes.len() as i32);
    room[section::SIZE_FIELD_LEN..].copy_from_slice(&bytes);
    first += room.len();
    plan.header.blosc2_flags |= flag2::USEDICT;
    let dictionary = EncoderDictionary::new(codec, &bytes)?;
    let encoder = codec.encoder(params.clevel, Some(&dictionary));
    blocks.encoder = &encoder;
    encode_all_blocks(params, &blocks, first, dest)
}

fn new_block_encoder<'a>(
    params: &'a CompressParams,
    plan: &'a CompressionPlan,
    source: ContentSource<'a>,
    blocksize: i32,
    encoder: &'a dyn Encoder,
) -> BlockEncoder<'a> {
    BlockEncoder {
        plan,
        source,
        filters: FilterSteps::new(
            &params.filters,
            &params.filters_meta,
            plan.typesize,
            params.container.as_ref(),
        ),
        encoder,
        prefilter: params.prefilter,
        cparams: SharedCparams::new(params.c_cparams(plan.typesize as i32, blocksize)),
        nchunk: params.nchunk,
        is_instrumented: plan.header.is_instrumented(),
        prefiltered_reference: OnceLock::new(),
    }
}

/// Encodes the blocks into `dest`, from offset `first` on. Returns the length of the chunk, or `None` if it does not
/// fit.
fn encode_all_blocks(
    params: &CompressParams,
    blocks: &BlockEncoder<'_>,
    first: usize,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let header_len = blocks.plan.header.len();
    let largest = blocks.source.largest_block(&blocks.plan.blocks);
    let kind = WorkKind::Encode(params.compcode, params.clevel);
    let load = new_workload(kind, params, blocks.source.len(), largest);
    let lead = usize::from(blocks.needs_first_block_first());
    // On this thread alone, each block is encoded at its final place.
    let (mut nblock, mut pos) = (0, first);
    let fits = scratch::with_scratch(|scratch| {
        let mut worker = Worker { tid: 0, scratch };
        let mut phase = load.begin_serial_phase(blocks.nblocks(), lead);
        while phase.includes_next(nblock) {
            let Some(len) = blocks.encode(nblock, &mut worker, &mut dest[pos..])? else { return Ok(false) };
            write_i32(dest, header_len + 4 * nblock, pos as i32);
            nblock += 1;
            pos += len;
        }
        Ok(true)
    })?;
    if !fits || nblock == blocks.nblocks() {
        return Ok(fits.then_some(pos));
    }
    let writer = ChunkWriter::new(dest, header_len, nblock, pos);
    jobs::for_each_block_in_parallel(&load, nblock..blocks.nblocks(), |nblock, worker| {
        if writer.is_full() {
            return Ok(());
        }
        blocks.encode_to_scratch(nblock, worker, |bytes| writer.write_block(nblock, bytes))
    })?;
    Ok(writer.finish())
}

/// Returns the work of compressing `nbytes` bytes in blocks of up to `blocksize` bytes.
fn new_workload(kind: WorkKind, params: &CompressParams, nbytes: usize, blocksize: usize) -> Workload {
    Workload::new(kind, params.nthreads, nbytes, blocksize, params.prefilter.is_some())
}

/// Turns a chunk that consists of zero runs only into a special chunk, which has no body (`chunk.md` 3.6). Readers of that do not
/// undo filters: those of the library restore zeros from zeros.
fn collapse_zero_chunk(plan: &mut CompressionPlan, cbytes: Option<usize>) -> Option<usize> {
    let zero_runs = 4 * plan.blocks.total_streams(plan.is_split, plan.typesize);
    let restores_zeros = !plan.header.filters.iter().any(|&id| is_of_program(id));
    if plan.can_use_runs && restores_zeros && cbytes == Some(plan.block_starts_end + zero_runs) {
        plan.header.blosc2_flags |= SpecialValue::Zero.id() << flag2::SPECIAL_SHIFT;
        return Some(EXTENDED_HEADER_LENGTH);
    }
    cbytes
}

/// Stores the data uncompressed, or the output of the prefilter.
fn copy_blocks(
    params: &CompressParams,
    plan: &CompressionPlan,
    source: ContentSource<'_>,
    dest: &mut [u8],
) -> Result<()> {
    let body = &mut dest[plan.header.len()..][..source.len()];
    let load = new_workload(WorkKind::Copy, params, source.len(), plan.blocks.blocksize());
    if let (None, ContentSource::Buffer(bytes), 1) = (&params.prefilter, source, load.nthreads()) {
        copy(bytes, body);
        return Ok(());
    }
    let encoder = ChunkEncoder::Unknown(params.compcode);
    let blocks = new_block_encoder(params, plan, source, plan.header.blocksize, &encoder);
    let out = SharedOutput::new(body.into());
    jobs::for_each_block(&load, 0..blocks.nblocks(), |nblock, worker| {
        // SAFETY: blocks are disjoint, and each is copied once.
        let dest = unsafe { out.write_range(plan.blocks.range(nblock)) };
        blocks.copy_block(nblock, worker, dest)
    })
}

/// Makes the header describe the records instead of the data (`chunk.md` 1.18).
fn set_instr_header(plan: &mut CompressionPlan, source: ContentSource<'_>) {
    let record = size_of::<crate::abi::blosc2_instr>();
    let nstreams = match source {
        ContentSource::VarlenBlocks(sources) => sources.len(),
        ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
            plan.blocks.total_streams(plan.is_split, plan.typesize)
        }
    };
    plan.header.nbytes = (nstreams * record) as i32;
    if !matches!(source, ContentSource::VarlenBlocks(_)) {
        plan.header.blocksize = (record * if plan.is_split { plan.typesize } else { 1 }) as i32;
    }
}

/// Checks the buffers of variable-length blocks (`chunk.md` 3.11). Returns the size of the largest in bytes.
pub(crate) fn check_varlen(sources: &[&[u8]]) -> Result<usize> {
    ensure!(
        !sources.is_empty() && sources.iter().all(|s| !s.is_empty()),
        InvalidParam,
        "{} variable-length blocks, expected 1 or more, none of them empty",
        sources.len(),
    );
    Ok(sources.iter().map(|s| s.len()).max().unwrap_or(0))
}
