//! From a chunk to its bytes (`chunk.md` 2 and 4).
//!
//! Data flow: header parsed -> chunk opened ([`reader`]: tables and dictionary checked) -> blocks decoded, each
//! into its place -> postfilter. Chunks of one block take a [short way](decompress_single). [`getitem`] opens the
//! same reader and decodes only the blocks it needs.

mod codec;
mod getitem;
mod lazy;
mod part;
mod previous;
mod reader;
mod runs;
mod single;
mod streams;
mod varlen;
mod visit;

#[cfg(test)]
mod lazy_tests;
#[cfg(test)]
mod part_tests;

pub(crate) use getitem::{ItemRange, getitem};
pub(crate) use lazy::BlockSource;
pub(crate) use part::{read_item, stops_early};
pub(crate) use previous::Previous;
pub(crate) use reader::ChunkReader;
pub(crate) use runs::{Runs, read_runs};
pub(crate) use single::decompress_single;
pub(crate) use varlen::VarlenReader;
pub(crate) use visit::{Content, Visit, pays, visit_blocks};

use super::jobs;
use super::params::DecompressParams;
use super::scratch;
use super::shared_out::SharedOut;
use crate::chunk::ChunkHeader;
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use crate::malloc::Malloced;
use reader::Simple;

/// What a decompression did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decompressed {
    /// Bytes of content, blocks that were masked out included.
    pub nbytes: usize,
    /// Whether a dictionary was used.
    pub used_dictionary: bool,
}

/// Decompresses the whole of `chunk`, whose parsed header is `header`, into `dest`, which may be longer. Blocks that
/// are masked out are left alone.
///
/// # Errors
/// Those of `chunk.md` 2: the content of `dest` is undefined then.
pub(crate) fn decompress(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    dest: &mut [u8],
) -> Result<Decompressed> {
    if params.postfilter.is_none()
        && params.mask.is_none()
        && let Some(done) = decompress_single(header, chunk, dest)
    {
        return Ok(done);
    }
    decompress_otherwise(params, header, chunk, dest)
}

/// As [`decompress`], where [`decompress_single`] has been tried or is not the way.
///
/// # Errors
/// As [`decompress`].
pub(crate) fn decompress_otherwise(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    dest: &mut [u8],
) -> Result<Decompressed> {
    let nbytes = header.nbytes();
    let Some(dest) = dest.get_mut(..nbytes) else {
        return Err(err!(WriteBuffer, "{nbytes} bytes do not fit into {}", dest.len()));
    };
    if jobs::nthreads_for(params.nthreads, nbytes, header.blocksize as usize) == 1
        && let Some(bytes) = plain_content(params, header, chunk)
    {
        copy(bytes, dest);
        return Ok(Decompressed { nbytes, used_dictionary: false });
    }
    ChunkReader::open(header, chunk, params, |reader| {
        let nthreads = jobs::nthreads_for(params.nthreads, nbytes, reader.largest());
        match (reader.as_simple(), params.mask, nthreads) {
            (Some(simple), None, 1) => copy_simple(&simple, dest)?,
            _ => decode_blocks(reader, params, nthreads, dest)?,
        }
        Ok(Decompressed { nbytes, used_dictionary: reader.has_dictionary() })
    })
}

/// The content of a chunk that stores it as it is, where a copy is all there is to do. `None` for a bad chunk, too: who
/// opens it finds out what is wrong.
fn plain_content<'a>(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &'a [u8],
) -> Option<&'a [u8]> {
    let plain = header.is_memcpyed()
        && header.special_bits() == 0
        && !header.is_lazy()
        && !header.has_varlen_blocks()
        && params.postfilter.is_none()
        && params.mask.is_none();
    let end = header.len() + header.nbytes();
    if !plain || usize::try_from(header.cbytes) != Ok(end) {
        return None;
    }
    chunk.get(header.len()..end)
}

fn copy_simple(simple: &Simple<'_>, dest: &mut [u8]) -> Result<()> {
    match simple {
        Simple::Plain(bytes) => match bytes.get(..dest.len()) {
            Some(bytes) => copy(bytes, dest),
            None => return Err(err!(ReadBuffer, "{} plain bytes, {} are there", dest.len(), bytes.len())),
        },
        Simple::Special { kind, typesize, value } => kind.fill(dest, 0, *typesize, value)?,
    }
    Ok(())
}

fn decode_blocks(
    reader: &ChunkReader<'_>,
    params: &DecompressParams<'_>,
    nthreads: usize,
    dest: &mut [u8],
) -> Result<()> {
    let is_masked = |nblock: usize| params.mask.is_some_and(|mask| mask[nblock] != 0);
    // The first block, if others are coded against it, comes first and in memory of its own unless the caller
    // gets it as it is.
    let private = reader.needs_first_block() && (is_masked(0) || params.postfilter.is_some());
    let reference = if private { Some(first_block(reader)?) } else { None };
    let out = SharedOut::new(dest);
    let decode = |nblock: usize, tid: usize, scratch: &mut scratch::Scratch, reference: Option<&[u8]>| {
        if is_masked(nblock) {
            return Ok(());
        }
        // SAFETY: blocks are disjoint, and each is decoded once.
        let dest = unsafe { out.range(reader.range(nblock)) };
        if reader.copy_uncoded(nblock, dest) {
            return Ok(());
        }
        let (mut buffers, workspace) = reader.buffers(scratch)?;
        reader.decode(nblock, tid, &mut buffers, workspace, dest, reference.filter(|_| nblock > 0))
    };
    if !reader.needs_first_block() || private {
        return jobs::for_each_block(nthreads, 0..reader.nblocks(), |nblock, worker| {
            decode(nblock, worker.tid, worker.scratch, reference.as_deref())
        });
    }
    jobs::for_each_block(1, 0..1, |nblock, worker| decode(nblock, worker.tid, worker.scratch, None))?;
    // SAFETY: the first block is decoded, and the others are elsewhere.
    let first = unsafe { out.finished(reader.range(0)) };
    jobs::for_each_block(nthreads, 1..reader.nblocks(), |nblock, worker| {
        decode(nblock, worker.tid, worker.scratch, Some(first))
    })
}

/// The first block as delta needs it: all filters undone, no postfilter. Its size is a claim of the header, so the memory is
/// zeroed by the system: only what the decoder writes takes up memory.
fn first_block(reader: &ChunkReader<'_>) -> Result<Malloced> {
    let mut block = Malloced::zeroed(reader.range(0).len())?;
    scratch::with(|scratch| {
        let (mut buffers, workspace) = reader.buffers(scratch)?;
        reader.decode_unfiltered(0, &mut buffers, workspace, &mut block, None)
    })?;
    Ok(block)
}
