//! Reads and writes the metalayers that mark a super-chunk as an array: `b2nd`, and `caterva` of older files (`b2nd.md`
//! 3). [`geometry`](super::geometry) checks the numbers in them.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::geometry::Geometry;
use crate::abi::{B2ND_DEFAULT_DTYPE, B2ND_METALAYER_VERSION};
use crate::err;
use crate::error::Result;
use crate::frame::metalayers::Metalayer;
use crate::frame::msgpack::{Marker, MsgpackWriter, i32_at, i64_at};
use std::ffi::CStr;

/// Name of the metalayer.
pub(crate) const B2ND_METALAYER: &CStr = c"b2nd";
/// Name of the metalayer of older files.
pub(crate) const CATERVA_METALAYER: &CStr = c"caterva";

/// Number of members of the msgpack array that is the metalayer; the older metalayer has 5, without the data type.
const MEMBERS: u8 = 7;
/// Offset of the first extent of the shape: behind two markers, the version and the number of dimensions. Below, the
/// size of an extent with its marker. Both in bytes.
const START_OF_SHAPE: usize = 4;
const LEN_OF_EXTENT: usize = 9;
/// Size of the entries of one dimension in bytes: one 64-bit and two 32-bit integers, with their markers.
const LEN_PER_DIM: usize = LEN_OF_EXTENT + 5 + 5;
/// Size of the other entries in bytes. Shapes: the version, the number of dimensions, four markers. Data type: its
/// format, marker and length.
const LEN_OF_SHAPES: usize = 6;
const LEN_OF_DTYPE: usize = 6;

/// The content of a metalayer.
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
        let dtype = match fields.dtype {
            None => None,
            Some(text) => {
                let mut dtype = Vec::new();
                dtype
                    .try_reserve_exact(text.len())
                    .map_err(|_| err!(MemoryAlloc, "a data type of {} bytes", text.len()))?;
                dtype.extend_from_slice(text);
                Some(dtype)
            }
        };
        Ok(ArrayMeta {
            ndim: fields.ndim.and_then(|ndim| usize::try_from(ndim).ok()).unwrap_or(0),
            shape: fields.shape,
            chunkshape: fields.chunkshape,
            blockshape: fields.blockshape,
            dtype,
            dtype_format: fields.dtype_format,
        })
    }

    /// Reads the metalayer of a super-chunk.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); `NullPointer` for an empty metalayer.
    pub(crate) fn parse_nonempty(content: &[u8]) -> Result<ArrayMeta> {
        if content.is_empty() {
            return Err(err!(NullPointer, "the metalayer of the array has 0 bytes"));
        }
        ArrayMeta::parse(content)
    }

    /// Returns the geometry that the metalayer describes, for items of `typesize` bytes.
    ///
    /// # Errors
    /// As [`Geometry::from_stored`].
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
///
/// # Errors
/// Those of [`ArrayMeta::parse_nonempty`] and [`ArrayMeta::geometry`].
pub(crate) fn check_array_metalayer(metalayer: &Metalayer<'_>, typesize: i32) -> Result<()> {
    if ![B2ND_METALAYER, CATERVA_METALAYER].iter().any(|name| name.to_bytes() == metalayer.name) {
        return Ok(());
    }
    ArrayMeta::parse_nonempty(metalayer.content)?.geometry(typesize).map(|_| ())
}

/// Overwrites the shape in a metalayer of either name; all other bytes stay unchanged.
///
/// # Errors
/// As [`ArrayMeta::parse`]; `Failure` for another number of dimensions.
pub(crate) fn write_shape(metalayer: &mut [u8], shape: &[i64]) -> Result<()> {
    let mut fields = MetaFields::default();
    fields.read(metalayer, true)?;
    if fields.ndim.is_none_or(|ndim| usize::try_from(ndim) != Ok(shape.len())) {
        return Err(err!(
            Failure,
            "the new shape has {} dimensions, the metalayer has {:?}",
            shape.len(),
            fields.ndim
        ));
    }
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
    ///
    /// # Errors
    /// `Failure` when the metalayer is truncated, or has an unsupported number of dimensions or a data type that is not
    /// a string.
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

#[cfg(test)]
mod tests;
