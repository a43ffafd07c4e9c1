//! Compresses a buffer into a chunk (`chunk.md` 3).
//!
//! Data flow: arguments checked -> [`plan`] (blocks, header) -> dictionary, if requested -> blocks encoded
//! ([`block`]) and written in order ([`assembly`]) -> header; or, if the result does not fit, a plain copy of the data.

mod assembly;
mod block;
mod codec;
mod dictionary;
pub(crate) mod plan;
mod source;
mod special;

pub(crate) use source::{Gather, Source};
pub(crate) use special::special_chunk;

use super::callbacks::SharedCparams;
use super::filters::Chain;
use super::jobs::{self, Worker};
use super::params::CompressParams;
use super::scratch;
use super::shared_out::SharedOut;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag2};
use crate::chunk::{ChunkHeader, Special, dictionary as section, write_i32};
use crate::codec::{BuiltIn, Encoder, EncoderDictionary};
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use assembly::Assembly;
use block::BlockEncoder;
use codec::ChunkEncoder;
use plan::Plan;
use std::mem::size_of;
use std::sync::OnceLock;

/// Compresses `source` into `dest`; `params` are checked ([`plan::check`]) and their block size is effective.
/// Returns the header of the chunk; its `cbytes` is 0 when the chunk does not fit.
///
/// # Errors
/// `CodecSupport`, `Data` or `WriteBuffer` for a codec that is missing or fails, `FilterPipeline` for a filter,
/// `MemoryAlloc`. The content of `dest` is unspecified after an error.
pub(crate) fn compress(params: &CompressParams, source: Source<'_>, dest: &mut [u8]) -> Result<ChunkHeader> {
    let mut plan = match source {
        Source::Blocks(sources) => Plan::varlen(params, sources.len(), source.len()),
        Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => {
            Plan::new(params, source.len(), dest.len())
        }
    };
    let mut coded = None;
    if !plan.is_plain() {
        if params.instr_codec {
            plan.header.blosc2_flags |= flag2::INSTR;
        }
        coded = compress_blocks(params, &mut plan, source, dest)?;
        if coded.is_none() && !matches!(source, Source::Blocks(_)) {
            plan = plan.plain();
        }
    }
    let cbytes = match coded {
        Some(cbytes) => cbytes,
        None if plan.is_plain() && plan.header.len() + source.len() <= dest.len() => {
            copy_blocks(params, &plan, source, dest)?;
            plan.header.len() + source.len()
        }
        None => 0,
    };
    plan.header.cbytes = cbytes as i32;
    if plan.header.is_instrumented() {
        describe_records(&mut plan, source);
    }
    plan.header.write(dest);
    Ok(plan.header)
}

/// Encodes all blocks. Returns the length of the chunk in bytes, or `None` if it does not fit.
fn compress_blocks(
    params: &CompressParams,
    plan: &mut Plan,
    source: Source<'_>,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let planned = *plan;
    let blocksize = match source {
        Source::Blocks(_) => source.largest_block(&plan.blocks) as i32,
        Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => plan.header.blocksize,
    };
    let encoder = ChunkEncoder::new(params, plan, blocksize, None, source.address());
    let mut blocks = block_encoder(params, &planned, source, blocksize, &encoder);
    if plan.tables > dest.len() {
        return Ok(None);
    }
    let mut first = plan.tables;
    let trained = match BuiltIn::from_compcode(params.compcode) {
        Some(codec) if params.use_dict && codec.has_dictionaries() => {
            dictionary::train(&blocks, params.compcode)?.map(|d| (codec, d))
        }
        _ => None,
    };
    let Some((codec, bytes)) = trained else {
        return assemble(params, &blocks, first, dest).map(|cbytes| collapse(plan, cbytes));
    };
    // The prefilter runs again from here on, and its output may differ.
    blocks.prefiltered_reference = OnceLock::new();
    // The dictionary section goes between the block starts and the first block.
    let Some(room) = dest.get_mut(first..first + section::PREFIX + bytes.len()) else { return Ok(None) };
    write_i32(room, 0, bytes.len() as i32);
    room[section::PREFIX..].copy_from_slice(&bytes);
    first += room.len();
    plan.header.blosc2_flags |= flag2::USEDICT;
    let dictionary = EncoderDictionary::new(codec, &bytes)?;
    let encoder = codec.encoder(params.clevel, Some(&dictionary));
    blocks.encoder = &encoder;
    assemble(params, &blocks, first, dest)
}

fn block_encoder<'a>(
    params: &'a CompressParams,
    plan: &'a Plan,
    source: Source<'a>,
    blocksize: i32,
    encoder: &'a dyn Encoder,
) -> BlockEncoder<'a> {
    BlockEncoder {
        plan,
        source,
        chain: Chain::new(&params.filters, &params.filters_meta, plan.typesize, params.container.as_ref()),
        encoder,
        prefilter: params.prefilter,
        cparams: SharedCparams::new(params.for_callbacks(plan.typesize as i32, blocksize)),
        nchunk: params.nchunk,
        instrumented: plan.header.is_instrumented(),
        prefiltered_reference: OnceLock::new(),
    }
}

/// Encodes the blocks into `dest`, from offset `first` on. Returns the length of the chunk, or `None` if it does not fit.
fn assemble(
    params: &CompressParams,
    blocks: &BlockEncoder<'_>,
    first: usize,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let header_len = blocks.plan.header.len();
    let largest = blocks.source.largest_block(&blocks.plan.blocks);
    let nthreads = jobs::nthreads_for(params.nthreads, blocks.source.len(), largest);
    if nthreads == 1 {
        return assemble_in_place(blocks, first, dest);
    }
    let assembly = Assembly::new(dest, header_len, first);
    let put = |nblock, worker: &mut Worker<'_>| {
        if assembly.is_full() {
            return Ok(());
        }
        blocks.encode_apart(nblock, worker, |bytes| assembly.put(nblock, bytes))
    };
    let lead = usize::from(blocks.first_block_first());
    jobs::for_each_block(1, 0..lead, put)?;
    jobs::for_each_block(nthreads, lead..blocks.nblocks(), put)?;
    Ok(assembly.finish())
}

/// Does the same as [`assemble`], on this thread alone: each block is encoded at its final place.
fn assemble_in_place(blocks: &BlockEncoder<'_>, first: usize, dest: &mut [u8]) -> Result<Option<usize>> {
    let header_len = blocks.plan.header.len();
    let mut pos = first;
    scratch::with(|scratch| {
        let mut worker = Worker { tid: 0, scratch };
        for nblock in 0..blocks.nblocks() {
            match blocks.encode(nblock, &mut worker, &mut dest[pos..])? {
                Some(len) => {
                    write_i32(dest, header_len + 4 * nblock, pos as i32);
                    pos += len;
                }
                None => return Ok(None),
            }
        }
        Ok(Some(pos))
    })
}

/// Turns a chunk that consists of zero runs only into a special chunk, which has no body (`chunk.md` 3.6).
fn collapse(plan: &mut Plan, cbytes: Option<usize>) -> Option<usize> {
    let zero_runs = 4 * plan.blocks.total_streams(plan.split, plan.typesize);
    if plan.runs && cbytes == Some(plan.tables + zero_runs) {
        plan.header.blosc2_flags |= Special::Zero.bits() << flag2::SPECIAL_SHIFT;
        return Some(EXTENDED_HEADER_LENGTH);
    }
    cbytes
}

/// Stores the data uncompressed, or the output of the prefilter.
fn copy_blocks(params: &CompressParams, plan: &Plan, source: Source<'_>, dest: &mut [u8]) -> Result<()> {
    let body = &mut dest[plan.header.len()..][..source.len()];
    if let (None, Source::Buffer(bytes)) = (&params.prefilter, source) {
        let nthreads = jobs::nthreads_for(params.nthreads, bytes.len(), plan.blocks.blocksize());
        if nthreads == 1 {
            copy(bytes, body);
            return Ok(());
        }
    }
    let encoder = ChunkEncoder::Missing(params.compcode);
    let blocks = block_encoder(params, plan, source, plan.header.blocksize, &encoder);
    let nthreads = jobs::nthreads_for(params.nthreads, source.len(), plan.blocks.blocksize());
    let out = SharedOut::new(body.into());
    jobs::for_each_block(nthreads, 0..blocks.nblocks(), |nblock, worker| {
        // SAFETY: blocks are disjoint, and each is copied once.
        let dest = unsafe { out.range(plan.blocks.range(nblock)) };
        blocks.copy(nblock, worker, dest)
    })
}

/// Makes the header describe the records instead of the data (`chunk.md` 1.18).
fn describe_records(plan: &mut Plan, source: Source<'_>) {
    let record = size_of::<crate::abi::blosc2_instr>();
    let nstreams = match source {
        Source::Blocks(sources) => sources.len(),
        Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => {
            plan.blocks.total_streams(plan.split, plan.typesize)
        }
    };
    plan.header.nbytes = (nstreams * record) as i32;
    if !matches!(source, Source::Blocks(_)) {
        plan.header.blocksize = (record * if plan.split { plan.typesize } else { 1 }) as i32;
    }
}

/// Checks the buffers of variable-length blocks (`chunk.md` 3.11). Returns the size of the largest in bytes.
///
/// # Errors
/// `InvalidParam` when there are no buffers or one is empty.
pub(crate) fn check_varlen(sources: &[&[u8]]) -> Result<usize> {
    if sources.is_empty() || sources.iter().any(|s| s.is_empty()) {
        return Err(err!(
            InvalidParam,
            "{} variable-length blocks, expected 1 or more, none of them empty",
            sources.len()
        ));
    }
    Ok(sources.iter().map(|s| s.len()).max().unwrap_or(0))
}
