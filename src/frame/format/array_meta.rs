//! The metalayer of an array, `b2nd` or the older `caterva` (`b2nd.md` 3): its fields, and the chunks that it requires
//! of the super-chunk that holds the array.

#![forbid(unsafe_code)]

use super::metalayers::Metalayer;
use super::msgpack::{Marker, i32_at, i64_at};
use crate::abi::B2ND_MAX_DIM;
pub(crate) use crate::chunk::container::B2ND_METALAYER;
use crate::error::{Result, err};
use std::ffi::CStr;

/// Upper limit for the number of dimensions.
const MAX_DIM: usize = B2ND_MAX_DIM as usize;

/// Name of the metalayer of older files, which is read if there is no other.
pub(crate) const CATERVA_METALAYER: &CStr = c"caterva";

/// Size, in bytes, of the entries of a data type besides its text: its format, marker and length.
pub(crate) const LEN_OF_DTYPE: usize = 6;

/// The fields read from a metalayer. After an error they hold the fields before the invalid byte, which the ABI
/// function returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetaFields<'a> {
    /// Number of dimensions, unchecked; `None` where it was not read.
    pub ndim: Option<i8>,
    /// Number of shapes whose reading has begun, 0 to 3: of the array, of chunks, of blocks.
    pub nshapes_begun: usize,
    /// Shape in items; 1 where nothing was read.
    pub shape: [i64; MAX_DIM],
    /// Shape of a chunk; 1 where nothing was read.
    pub chunkshape: [i32; MAX_DIM],
    /// Shape of a block; 1 where nothing was read.
    pub blockshape: [i32; MAX_DIM],
    /// Data type of the items as text.
    pub dtype: Option<&'a [u8]>,
    /// Format of `dtype`, unchecked.
    pub dtype_format: i8,
}

impl Default for MetaFields<'_> {
    fn default() -> Self {
        MetaFields {
            ndim: None,
            nshapes_begun: 0,
            shape: [1; MAX_DIM],
            chunkshape: [1; MAX_DIM],
            blockshape: [1; MAX_DIM],
            dtype: None,
            dtype_format: 0,
        }
    }
}

impl<'a> MetaFields<'a> {
    /// Reads a metalayer; the data type only if `with_dtype`. Returns the number of bytes read. Of the markers only
    /// that of the data type is checked (`b2nd.md` 3.3).
    pub(crate) fn read(&mut self, bytes: &'a [u8], with_dtype: bool) -> Result<usize> {
        let short = || err!(Failure, "the metalayer of the array is truncated after {} bytes", bytes.len());
        // The marker of the array, and the version.
        let ndim = bytes.get(2).copied().ok_or_else(short)? as i8;
        self.ndim = Some(ndim);
        let dims = usize::try_from(ndim).ok().filter(|&dims| dims <= MAX_DIM);
        let dims = dims
            .ok_or_else(|| err!(Failure, "the metalayer has {ndim} dimensions, expected 0 to {MAX_DIM}"))?;
        // There is a marker before each shape, and one before each number.
        let mut at = 3 + 1;
        self.nshapes_begun = 1;
        bytes.get(at - 1).ok_or_else(short)?;
        for extent in &mut self.shape[..dims] {
            *extent = i64_at(bytes, at + 1).ok_or_else(short)?;
            at += 9;
        }
        for shape in [&mut self.chunkshape, &mut self.blockshape] {
            self.nshapes_begun += 1;
            bytes.get(at).ok_or_else(short)?;
            at += 1;
            for extent in &mut shape[..dims] {
                *extent = i32_at(bytes, at + 1).ok_or_else(short)?;
                at += 5;
            }
        }
        let rest = bytes.get(at..).unwrap_or_default();
        if !with_dtype || rest.is_empty() {
            return Ok(at);
        }
        if rest.len() < LEN_OF_DTYPE {
            return Err(short());
        }
        self.dtype_format = rest[0] as i8;
        if Marker::from_u8(rest[1]) != Marker::Str32 {
            return Err(err!(Failure, "the data type has marker {:#04x}, expected 0xdb", rest[1]));
        }
        let len = i32_at(rest, 2).and_then(|len| usize::try_from(len).ok());
        let dtype = len.and_then(|len| rest[LEN_OF_DTYPE..].get(..len));
        let dtype = dtype.ok_or_else(|| {
            err!(
                Failure,
                "the data type has length {len:?}, but ends with the metalayer after {} bytes",
                rest.len()
            )
        })?;
        self.dtype = Some(dtype);
        Ok(at + LEN_OF_DTYPE + dtype.len())
    }
}

/// The chunks that an array requires of its super-chunk.
#[derive(Clone, Debug)]
pub(crate) struct ArrayChunks {
    ndim: usize,
    shape: [i64; MAX_DIM],
    chunkshape: [i64; MAX_DIM],
    blockshape: [i64; MAX_DIM],
    /// Size of an item in bytes.
    typesize: i64,
    /// Number of chunks that the shape needs.
    nchunks: i64,
    /// Size of a chunk, including padding, in bytes.
    chunk_nbytes: i64,
}

impl ArrayChunks {
    /// Returns the chunks that the array metalayer among `metalayers` requires, for items of `typesize` bytes; `None`
    /// without such a metalayer, and for one that describes no array, or one whose chunks have no items.
    pub(crate) fn find(metalayers: &[Metalayer<'_>], typesize: i32) -> Option<ArrayChunks> {
        let find = |name: &CStr| metalayers.iter().find(|metalayer| metalayer.name == name.to_bytes());
        let found = find(B2ND_METALAYER).or_else(|| find(CATERVA_METALAYER))?;
        ArrayChunks::parse(found.content, typesize)
    }

    /// As [`find`](Self::find), from the content of the metalayer.
    pub(crate) fn parse(content: &[u8], typesize: i32) -> Option<ArrayChunks> {
        let mut fields = MetaFields::default();
        fields.read(content, false).ok()?;
        let ndim = usize::try_from(fields.ndim?).ok()?;
        let typesize = i64::from(typesize);
        let (mut nchunks, mut chunk_nbytes) = (1i64, typesize);
        for dim in 0..ndim {
            let (extent, chunk) = (fields.shape[dim], i64::from(fields.chunkshape[dim]));
            let block = i64::from(fields.blockshape[dim]);
            if extent < 0 || chunk <= 0 || block <= 0 {
                return None;
            }
            nchunks = nchunks.checked_mul(div_ceil(extent, chunk))?;
            chunk_nbytes = chunk_nbytes.checked_mul(div_ceil(chunk, block).checked_mul(block)?)?;
        }
        (chunk_nbytes > 0).then_some(ArrayChunks {
            ndim,
            shape: fields.shape,
            chunkshape: fields.chunkshape.map(i64::from),
            blockshape: fields.blockshape.map(i64::from),
            typesize,
            nchunks,
            chunk_nbytes,
        })
    }

    /// Returns the number of chunks that the shape needs.
    pub(crate) fn nchunks(&self) -> i64 {
        self.nchunks
    }

    /// Returns the size of a chunk, including padding, in bytes.
    pub(crate) fn chunk_nbytes(&self) -> i64 {
        self.chunk_nbytes
    }

    /// Returns how many bytes of chunk `nchunk`, which the shape has, are needed for its items: up to the end of the
    /// last item inside the shape.
    pub(crate) fn needed_nbytes(&self, nchunk: i64) -> i64 {
        let (mut number, mut block_number, mut item) = (nchunk, 0, 0);
        // Products of the extents behind a dimension: blocks of a chunk, and items of a block.
        let (mut blocks, mut items) = (1, 1);
        for dim in (0..self.ndim).rev() {
            let (chunk, block) = (self.chunkshape[dim], self.blockshape[dim]);
            let along = div_ceil(self.shape[dim], chunk).max(1);
            let last = (self.shape[dim] - number % along * chunk).min(chunk) - 1;
            number /= along;
            block_number += last / block * blocks;
            item += last % block * items;
            blocks *= div_ceil(chunk, block);
            items *= block;
        }
        (block_number * items + item + 1) * self.typesize
    }

    /// Checks the size of a chunk in bytes.
    pub(crate) fn check_nbytes(&self, nbytes: i32) -> Result<()> {
        if i64::from(nbytes) > self.chunk_nbytes {
            let limit = self.chunk_nbytes;
            return Err(err!(
                Data,
                "the chunk has {nbytes} bytes, expected at most {limit} by the chunk shape of the array"
            ));
        }
        Ok(())
    }

    /// Checks the header fields of a chunk: its size in bytes, and the size of its items as the chunk stores it.
    pub(crate) fn check_chunk(&self, nbytes: i32, typesize: u8) -> Result<()> {
        self.check_nbytes(nbytes)?;
        let expected = stored_typesize(self.typesize);
        if typesize != expected {
            return Err(err!(Data, "the chunk has items of {typesize} bytes, the array of {expected}"));
        }
        Ok(())
    }
}

/// Returns the size of items that a chunk stores for items of `typesize` bytes: 1 for large ones (`b2nd.md` 7).
pub(crate) fn stored_typesize(typesize: impl TryInto<u8>) -> u8 {
    typesize.try_into().unwrap_or(1)
}

/// Divides rounding up; `dividend` is not negative, `divisor` is positive.
fn div_ceil(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor + i64::from(dividend % divisor != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of a metalayer without data type.
    fn content(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) -> Vec<u8> {
        let ndim = shape.len() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
        for extent in shape {
            bytes.push(0xd3);
            bytes.extend(extent.to_be_bytes());
        }
        for extents in [chunkshape, blockshape] {
            bytes.push(0x90 + ndim);
            for extent in extents {
                bytes.push(0xd2);
                bytes.extend(extent.to_be_bytes());
            }
        }
        bytes
    }

    /// The needed bytes of a chunk by a loop over the items of its blocks, in the order of `b2nd.md` 2.4.
    fn needed_by_loop(shape: [i64; 2], chunk: [i64; 2], block: [i64; 2], nchunk: i64) -> i64 {
        let along = div_ceil(shape[1], chunk[1]);
        let begin = [nchunk / along * chunk[0], nchunk % along * chunk[1]];
        let (mut at, mut needed) = (0, 0);
        for y in (0..chunk[0]).step_by(block[0] as usize) {
            for x in (0..chunk[1]).step_by(block[1] as usize) {
                for (v, u) in (y..y + block[0]).flat_map(|v| (x..x + block[1]).map(move |u| (v, u))) {
                    at += 1;
                    let is_in_chunk = v < chunk[0] && u < chunk[1];
                    if is_in_chunk && begin[0] + v < shape[0] && begin[1] + u < shape[1] {
                        needed = at;
                    }
                }
            }
        }
        needed
    }

    #[test]
    fn needed_bytes_end_with_the_last_item_inside_the_shape() {
        for (shape, chunk, block) in [
            ([5, 7], [3, 4], [2, 2]),
            ([6, 6], [4, 6], [2, 3]),
            ([1, 9], [3, 4], [3, 3]),
            ([8, 1], [5, 5], [1, 2]),
        ] {
            let narrow = |extents: [i64; 2]| extents.map(|extent| extent as i32);
            let chunks = ArrayChunks::parse(&content(&shape, &narrow(chunk), &narrow(block)), 4).unwrap();
            assert_eq!(chunks.nchunks(), div_ceil(shape[0], chunk[0]) * div_ceil(shape[1], chunk[1]));
            for nchunk in 0..chunks.nchunks() {
                assert_eq!(chunks.needed_nbytes(nchunk), 4 * needed_by_loop(shape, chunk, block, nchunk));
                assert!(chunks.needed_nbytes(nchunk) <= chunks.chunk_nbytes());
            }
        }
    }

    #[test]
    fn only_metalayers_of_arrays_with_items_in_chunks_require_chunks() {
        assert!(ArrayChunks::parse(&content(&[0], &[0], &[0]), 4).is_none());
        assert!(ArrayChunks::parse(&content(&[4], &[2], &[2]), 0).is_none());
        assert!(ArrayChunks::parse(&content(&[i64::MAX; 2], &[1; 2], &[1; 2]), 1).is_none());
        assert!(ArrayChunks::parse(&[], 1).is_none());
        assert_eq!(ArrayChunks::parse(&content(&[0], &[2], &[2]), 4).unwrap().nchunks(), 0);
        let scalar = ArrayChunks::parse(&content(&[], &[], &[]), 4).unwrap();
        assert_eq!((scalar.nchunks(), scalar.chunk_nbytes(), scalar.needed_nbytes(0)), (1, 4, 4));
    }

    #[test]
    fn chunks_of_more_bytes_or_other_items_do_not_fit() {
        let chunks = ArrayChunks::parse(&content(&[9], &[4], &[3]), 4).unwrap();
        assert_eq!(chunks.chunk_nbytes(), 24);
        assert!(chunks.check_chunk(24, 4).is_ok() && chunks.check_chunk(0, 4).is_ok());
        assert!(chunks.check_chunk(25, 4).is_err() && chunks.check_chunk(24, 8).is_err());
        let large = ArrayChunks::parse(&content(&[9], &[4], &[3]), 300).unwrap();
        assert!(large.check_chunk(1800, 1).is_ok() && large.check_chunk(1800, 44).is_err());
    }
}
