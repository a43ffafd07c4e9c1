//! Reading some items of a chunk (`chunk.md` 4.5): only the blocks that hold them are decoded.

use super::super::params::DecompressParams;
use super::super::scratch;
use super::part::decode_part;
use super::reader::{ChunkReader, Simple};
use super::{Decompressed, first_block, plain_content};
use crate::chunk::ChunkHeader;
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use std::ops::Range;

/// Which part of a chunk is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemRange {
    /// In items of the size that the chunk stores.
    Items {
        /// The first item.
        start: i32,
        /// How many.
        nitems: i32,
    },
    /// In bytes, both multiples of the stored item size.
    Bytes {
        /// The first byte.
        start: i32,
        /// How many.
        nbytes: i32,
    },
}

impl ItemRange {
    /// The range in bytes, checked against the chunk and the destination in the order of the reference.
    fn resolve(self, header: &ChunkHeader, destsize: usize) -> Result<Range<usize>> {
        let typesize = i64::from(header.typesize);
        let (start, nitems) = match self {
            ItemRange::Items { start, nitems } => (i64::from(start), i64::from(nitems)),
            ItemRange::Bytes { start, nbytes } => (i64::from(start) / typesize, i64::from(nbytes) / typesize),
        };
        if nitems == 0 {
            return Ok(0..0);
        }
        if nitems < 0 {
            return Err(err!(InvalidParam, "{nitems} items"));
        }
        let nbytes = nitems * typesize;
        if nbytes > i64::from(i32::MAX) || nbytes > destsize as i64 {
            return Err(err!(WriteBuffer, "{nbytes} bytes do not fit into {destsize}"));
        }
        let end = (start + nitems) * typesize;
        if start < 0 || end > i64::from(header.nbytes) {
            return Err(err!(InvalidParam, "items {start}+{nitems} of {} bytes", header.nbytes));
        }
        Ok((end - nbytes) as usize..end as usize)
    }

    fn check_alignment(self, header: &ChunkHeader) -> Result<()> {
        if let ItemRange::Bytes { start, nbytes } = self {
            let typesize = i32::from(header.typesize);
            if start < 0 || nbytes < 0 || start % typesize != 0 || nbytes % typesize != 0 {
                return Err(err!(InvalidParam, "bytes {start}+{nbytes} of items of {typesize} bytes"));
            }
        }
        Ok(())
    }
}

/// Reads a part of `chunk`, whose parsed header is `header`, into the start of `dest`.
///
/// # Errors
/// `InvalidParam` for a part that is not there or a chunk of variable-length blocks, `WriteBuffer` when `dest` is
/// too short, and those of decompression.
pub(crate) fn getitem(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    wanted: ItemRange,
    dest: &mut [u8],
) -> Result<Decompressed> {
    if header.has_varlen_blocks() {
        return Err(err!(InvalidParam, "items of variable-length blocks"));
    }
    wanted.check_alignment(header)?;
    if !header.is_lazy() && usize::try_from(header.cbytes).is_ok_and(|cbytes| cbytes > chunk.len()) {
        return Err(err!(InvalidHeader, "a chunk of {} bytes, {} are there", header.cbytes, chunk.len()));
    }
    let range = wanted.resolve(header, dest.len())?;
    let nbytes = range.len();
    if nbytes == 0 {
        return Ok(Decompressed { nbytes, used_dictionary: false });
    }
    if let Some(bytes) = plain_content(params, header, chunk)
        && let Some(bytes) = bytes.get(range.clone())
    {
        copy(bytes, &mut dest[..nbytes]);
        return Ok(Decompressed { nbytes, used_dictionary: false });
    }
    if header.special().is_err() {
        return Err(err!(SchunkSpecial, "a special value that is not defined"));
    }
    // A mask is for whole chunks (chunk.md 10.18).
    let params = DecompressParams { mask: None, ..*params };
    let dest = &mut dest[..nbytes];
    ChunkReader::open(header, chunk, &params, |reader| {
        match reader.as_simple() {
            Some(Simple::Plain(bytes)) => match bytes.get(range) {
                Some(bytes) => copy(bytes, dest),
                None => return Err(err!(ReadBuffer, "items beyond {} plain bytes", bytes.len())),
            },
            Some(Simple::Special { kind, typesize, value }) => {
                kind.fill(dest, range.start, typesize, value)?;
            }
            None => decode_range(reader, range, dest)?,
        }
        Ok(Decompressed { nbytes, used_dictionary: reader.has_dictionary() })
    })
}

/// Decodes the blocks that touch `range` and keeps what lies in it.
fn decode_range(reader: &ChunkReader<'_>, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
    let blocksize = reader.blocks().blocksize();
    let touched = range.start / blocksize..range.end.div_ceil(blocksize);
    let reference =
        if reader.needs_first_block() && touched.end > 1 { Some(first_block(reader)?) } else { None };
    scratch::with(|scratch| {
        let (mut buffers, workspace) = reader.buffers(scratch)?;
        let item = std::mem::take(&mut buffers.item);
        for nblock in touched {
            let block = reader.range(nblock);
            let part = block.start.max(range.start)..block.end.min(range.end);
            let place = &mut dest[part.start - range.start..part.end - range.start];
            let reference = reference.as_deref().filter(|_| nblock > 0);
            if part == block {
                reader.decode(nblock, 0, &mut buffers, workspace, place, reference)?;
                continue;
            }
            let inside = part.start - block.start..part.end - block.start;
            if reader.decode_part(nblock, inside.clone(), &mut buffers, place)? {
                continue;
            }
            // Of a part that is not short the way over columns costs as much as it saves.
            if 2 * inside.len() <= block.len()
                && decode_part(reader, nblock, inside.clone(), &mut buffers, place)?
            {
                continue;
            }
            let whole = &mut item[..block.len()];
            reader.decode(nblock, 0, &mut buffers, workspace, whole, reference)?;
            copy(&whole[inside], place);
        }
        Ok(())
    })
}
