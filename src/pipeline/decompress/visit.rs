//! Showing some blocks of a chunk to somebody who takes from them what he needs.

use super::super::jobs;
use super::super::params::DecompressParams;
use super::reader::{ChunkReader, Simple};
use super::runs::{Runs, decode_runs};
use super::{Decompressed, first_block, part};
use crate::chunk::{ChunkHeader, Special};
use crate::err;
use crate::error::Result;
use std::ops::Range;

/// The content of a block.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// Nothing but zero bytes, or bytes that nobody has set.
    Zeros,
}

/// Who takes from blocks what he needs. The `n`-th is the one at that place of the list.
pub(crate) trait Visit: Sync {
    /// The bytes of the `n`-th block that are looked at; some.
    fn wanted(&self, _n: usize, len: usize) -> Range<usize> {
        0..len
    }

    /// Hands the bytes of the `n`-th block that are looked at, more exactly, to `read`, and returns what came of that;
    /// `false` if they are not known so well.
    ///
    /// # Errors
    /// Those of `read`.
    fn runs(&self, _n: usize, _len: usize, _read: &mut dyn FnMut(&dyn Runs) -> Result<bool>) -> Result<bool> {
        Ok(false)
    }

    /// Has the `n`-th block decoded where it is wanted as it is, and returns what came of that; `None` if there is no such
    /// place. `decode` gets memory as long as the block.
    fn in_place(&self, _n: usize, _decode: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Option<Result<()>> {
        None
    }

    /// Takes what is needed of the `n`-th block, all of which is there, but only bytes that are wanted mean anything.
    ///
    /// # Errors
    /// Whatever keeps it from being taken.
    fn visit(&self, n: usize, content: Content<'_>) -> Result<()>;
}

impl<F: Fn(usize, Content<'_>) -> Result<()> + Sync> Visit for F {
    fn visit(&self, n: usize, content: Content<'_>) -> Result<()> {
        self(n, content)
    }
}

/// Whether only so much of a block of `len` bytes is wanted that it pays not to decode the rest.
pub(crate) fn pays(wanted: &Range<usize>, len: usize) -> bool {
    !wanted.is_empty() && wanted.end <= len - len / 8
}

/// Decodes the blocks `blocks` of `chunk`, whose parsed header is `header`, and shows each to `visit`, with its place in
/// the list; in no particular order, and on several threads if the parameters allow it. Masks are ignored.
///
/// # Errors
/// `InvalidParam` for a block that is not there or a chunk of variable-length blocks, those of decompression, and what
/// `visit` returns.
pub(crate) fn visit_blocks(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    blocks: &[usize],
    visit: &dyn Visit,
) -> Result<Decompressed> {
    if header.has_varlen_blocks() {
        return Err(err!(InvalidParam, "blocks of variable length"));
    }
    let params = DecompressParams { mask: None, ..*params };
    ChunkReader::open(header, chunk, &params, |reader| {
        if let Some(nblock) = blocks.iter().find(|&&nblock| nblock >= reader.nblocks()) {
            return Err(err!(InvalidParam, "block {nblock} of {}", reader.nblocks()));
        }
        let done = Decompressed {
            nbytes: blocks.iter().map(|&nblock| reader.range(nblock).len()).sum(),
            used_dictionary: reader.has_dictionary(),
        };
        match reader.as_simple() {
            Some(Simple::Special { kind: Special::Zero | Special::Uninit, .. }) => {
                (0..blocks.len()).try_for_each(|n| visit.visit(n, Content::Zeros))?;
                return Ok(done);
            }
            Some(Simple::Plain(bytes)) => {
                for (n, &nblock) in blocks.iter().enumerate() {
                    let range = reader.range(nblock);
                    let Some(bytes) = bytes.get(range) else {
                        return Err(err!(ReadBuffer, "block {nblock} lies beyond {} bytes", bytes.len()));
                    };
                    visit.visit(n, Content::Bytes(bytes))?;
                }
                return Ok(done);
            }
            _ => {}
        }
        let needs_first = reader.needs_first_block() && blocks.iter().any(|&nblock| nblock > 0);
        let reference = if needs_first { Some(first_block(reader)?) } else { None };
        let nthreads =
            jobs::nthreads_for(params.nthreads, done.nbytes, reader.largest()).min(blocks.len().max(1));
        jobs::for_each_block(nthreads, 0..blocks.len(), |n, worker| {
            let nblock = blocks[n];
            let (mut buffers, workspace) = reader.buffers(worker.scratch)?;
            let len = reader.range(nblock).len();
            let reference = reference.as_deref().filter(|_| nblock > 0);
            let tid = worker.tid;
            let done = visit.in_place(n, &mut |dest| {
                reader.decode(nblock, tid, &mut buffers, workspace, dest, reference)
            });
            if let Some(done) = done {
                return done;
            }
            let item = std::mem::take(&mut buffers.item);
            let block = &mut item[..len];
            let wanted = visit.wanted(n, len);
            let are_read = visit.runs(n, len, &mut |runs| {
                decode_runs(reader, nblock, &wanted, runs, (&mut buffers, workspace), block)
            })?;
            if !are_read
                && (!pays(&wanted, len)
                    || !part::decode_part(reader, nblock, wanted.clone(), &mut buffers, &mut block[wanted])?)
            {
                reader.decode(nblock, tid, &mut buffers, workspace, block, reference)?;
            }
            visit.visit(n, Content::Bytes(block))
        })?;
        Ok(done)
    })
}
