//! Reads and writes the metalayers that mark a super-chunk as an array: `b2nd`, and `caterva` of older files (`b2nd.md`
//! 3). [`geometry`](super::geometry) checks the numbers in them.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::geometry::Geometry;
use crate::abi::{B2ND_DEFAULT_DTYPE, B2ND_METALAYER_VERSION};
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::format::array_meta::{B2ND_METALAYER, CATERVA_METALAYER, LEN_OF_DTYPE, MetaFields};
use crate::frame::format::metalayers::Metalayer;
use crate::frame::format::msgpack::{Marker, MsgpackWriter};

/// Number of members of the msgpack array that is the metalayer; the older metalayer has 5, without the data type.
const MEMBERS: u8 = 7;
/// Offset of the first extent of the shape: behind two markers, the version and the number of dimensions. Below, the
/// size of an extent with its marker. Both in bytes.
const START_OF_SHAPE: usize = 4;
const LEN_OF_EXTENT: usize = 9;
/// Size of the entries of one dimension in bytes: one 64-bit and two 32-bit integers, with their markers.
const LEN_PER_DIM: usize = LEN_OF_EXTENT + 5 + 5;
/// Size, in bytes, of the entries of the shapes that are there once: the version, the number of dimensions, four markers.
const LEN_OF_SHAPES: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayMeta {
    /// Number of dimensions, 0 to 16.
    pub ndim: usize,
    /// Shape in items; 1 behind the last dimension. A file may hold any number.
    pub shape: [i64; MAX_DIM],
    /// Shape of a chunk in items; 1 behind the last dimension.
    pub chunkshape: [i32; MAX_DIM],
    /// Shape of a block in items; 1 behind the last dimension.
    pub blockshape: [i32; MAX_DIM],
    /// Data type of the items as text; `None` in older files.
    pub dtype: Option<Vec<u8>>,
    /// Format of `dtype`; 0 = NumPy's.
    pub dtype_format: i8,
}

impl ArrayMeta {
    /// Reads a metalayer of either name; bytes behind it are ignored.
    ///
    /// # Errors
    /// `Failure` when the metalayer is truncated, or has an unsupported number of dimensions or a data type that is not
    /// a string; `MemoryAlloc`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<ArrayMeta> {
        let mut fields = MetaFields::default();
        fields.read(bytes, true)?;
        Ok(ArrayMeta {
            ndim: fields.ndim.and_then(|ndim| usize::try_from(ndim).ok()).unwrap_or(0),
            shape: fields.shape,
            chunkshape: fields.chunkshape,
            blockshape: fields.blockshape,
            dtype: fields.dtype.map(fallible::copy_of).transpose()?,
            dtype_format: fields.dtype_format,
        })
    }

    /// Reads the metalayer of a super-chunk.
    pub(crate) fn parse_nonempty(content: &[u8]) -> Result<ArrayMeta> {
        ensure!(!content.is_empty(), NullPointer, "the metalayer of the array has 0 bytes");
        ArrayMeta::parse(content)
    }

    /// Returns the geometry that the metalayer describes, for items of `typesize` bytes.
    pub(crate) fn geometry(&self, typesize: i32) -> Result<Geometry> {
        let dims = self.ndim.min(MAX_DIM);
        Geometry::from_stored(
            &self.shape[..dims],
            &self.chunkshape[..dims],
            &self.blockshape[..dims],
            typesize,
        )
    }
}

/// Checks the metalayer of an array, of items of `typesize` bytes; any content of other metalayers is valid.
pub(crate) fn check_array_metalayer(metalayer: &Metalayer<'_>, typesize: i32) -> Result<()> {
    if ![B2ND_METALAYER, CATERVA_METALAYER].iter().any(|name| name.to_bytes() == metalayer.name) {
        return Ok(());
    }
    ArrayMeta::parse_nonempty(metalayer.content)?.geometry(typesize).map(|_| ())
}

/// Overwrites the shape in a metalayer of either name; all other bytes stay unchanged.
pub(crate) fn write_shape(metalayer: &mut [u8], shape: &[i64]) -> Result<()> {
    let mut fields = MetaFields::default();
    fields.read(metalayer, true)?;
    ensure!(
        fields.ndim.is_some_and(|ndim| usize::try_from(ndim) == Ok(shape.len())),
        Failure,
        "the new shape has {} dimensions, the metalayer has {:?}",
        shape.len(),
        fields.ndim,
    );
    let places = metalayer[START_OF_SHAPE..].chunks_exact_mut(LEN_OF_EXTENT);
    for (place, extent) in places.zip(shape) {
        place[0] = Marker::I64.to_u8();
        place[1..].copy_from_slice(&extent.to_be_bytes());
    }
    Ok(())
}

/// Returns the bytes of a `b2nd` metalayer; a data type of `None` is written as `|u1`. The extents are not checked.
///
/// # Errors
/// `InvalidParam` for more than 16 dimensions or shapes of different lengths; `Failure` for a negative format, and a
/// data type or a metalayer of 2 GB; `MemoryAlloc`.
pub(crate) fn serialize(
    shape: &[i64],
    chunkshape: &[i32],
    blockshape: &[i32],
    dtype: Option<&[u8]>,
    dtype_format: i8,
) -> Result<Vec<u8>> {
    let ndim = shape.len();
    if ndim > MAX_DIM || chunkshape.len() != ndim || blockshape.len() != ndim {
        let lens = (ndim, chunkshape.len(), blockshape.len());
        return Err(err!(
            InvalidParam,
            "shape, chunk shape and block shape have {lens:?} dimensions, expected equal numbers of at most {MAX_DIM}"
        ));
    }
    let dtype = dtype.unwrap_or(B2ND_DEFAULT_DTYPE.as_bytes());
    let len = dtype.len().saturating_add(LEN_OF_SHAPES + LEN_OF_DTYPE + LEN_PER_DIM * ndim);
    let format = u8::try_from(dtype_format).ok();
    let (Some(format), Ok(_)) = (format, i32::try_from(len)) else {
        return Err(err!(
            Failure,
            "`dtype_format` is {dtype_format}, expected 0 to 127; the metalayer has {len} bytes, expected at most {}",
            i32::MAX
        ));
    };
    let mut writer = MsgpackWriter::new(len)?;
    write_shapes(&mut writer, shape, chunkshape, blockshape);
    writer.byte(format).str32(dtype);
    Ok(writer.finish())
}

fn write_shapes(writer: &mut MsgpackWriter, shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) {
    let ndim = shape.len() as u8;
    // For 16 dimensions this byte is not a msgpack array marker; every reader ignores it (`b2nd.md` 3).
    let array = Marker::FixArray(0).to_u8() + ndim;
    writer.fixarray(MEMBERS).byte(B2ND_METALAYER_VERSION as u8).byte(ndim);
    writer.byte(array);
    for extent in shape {
        writer.int64(*extent);
    }
    for extents in [chunkshape, blockshape] {
        writer.byte(array);
        for extent in extents {
            writer.int32(*extent);
        }
    }
}

#[cfg(test)]
mod tests;
