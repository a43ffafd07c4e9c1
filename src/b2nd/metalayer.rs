//! The bytes of the metalayers that make a super-chunk an array: `b2nd`, and `caterva` of older files (`b2nd.md` 3).
//! Whether the numbers in them make sense is for [`geometry`](super::geometry).

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::geometry::Geometry;
use crate::abi::{B2ND_DEFAULT_DTYPE, B2ND_METALAYER_VERSION};
use crate::err;
use crate::error::Result;
use crate::frame::msgpack::{Marker, Writer, i32_at, i64_at};
use std::ffi::CStr;

/// Name of the metalayer.
pub(crate) const NAME: &CStr = c"b2nd";
/// Name of the metalayer of older files.
pub(crate) const OLD_NAME: &CStr = c"caterva";

/// Members of the array that the metalayer is; the older one has 5, without the data type.
const MEMBERS: u8 = 7;
/// Where the first extent of the shape stands: behind two markers, version and number of dimensions. And what each takes.
const START_OF_SHAPE: usize = 4;
const LEN_OF_EXTENT: usize = 9;
/// What the metalayer takes for each dimension: a number of 64 and two of 32 bits, with their markers.
const LEN_PER_DIM: usize = LEN_OF_EXTENT + 5 + 5;
/// What it takes besides the dimensions: version, number of them, four markers; format, marker and length of the type.
const LEN_OF_SHAPES: usize = 6;
const LEN_OF_DTYPE: usize = 6;

/// What a metalayer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayMeta {
    /// Number of dimensions, 0 to 16.
    pub ndim: usize,
    /// Shape in items; 1 behind the last dimension. Any number may stand in a file.
    pub shape: [i64; MAX_DIM],
    /// Shape of a chunk in items; 1 behind the last dimension.
    pub chunkshape: [i32; MAX_DIM],
    /// Shape of a block in items; 1 behind the last dimension.
    pub blockshape: [i32; MAX_DIM],
    /// Data type of the items as text; `None` in older files.
    pub dtype: Option<Vec<u8>>,
    /// Format of that text; 0 = NumPy's.
    pub dtype_format: i8,
}

impl ArrayMeta {
    /// Reads a metalayer of either name; bytes behind it are ignored.
    ///
    /// # Errors
    /// `Failure` when it ends too early, has a number of dimensions that arrays do not have, or a data type that is no
    /// string; `MemoryAlloc`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<ArrayMeta> {
        let mut fields = Fields::default();
        fields.read(bytes, true)?;
        let dtype = match fields.dtype {
            None => None,
            Some(text) => {
                let mut dtype = Vec::new();
                dtype.try_reserve_exact(text.len()).map_err(|_| err!(MemoryAlloc, "{} bytes", text.len()))?;
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
    /// As [`parse`](Self::parse); `NullPointer` for one without content.
    pub(crate) fn of_stored(content: &[u8]) -> Result<ArrayMeta> {
        if content.is_empty() {
            return Err(err!(NullPointer, "the metalayer of an array is empty"));
        }
        ArrayMeta::parse(content)
    }

    /// The geometry that the metalayer describes, for items of that many bytes.
    ///
    /// # Errors
    /// As [`Geometry::stored`].
    pub(crate) fn geometry(&self, typesize: i32) -> Result<Geometry> {
        let dims = self.ndim.min(MAX_DIM);
        Geometry::stored(&self.shape[..dims], &self.chunkshape[..dims], &self.blockshape[..dims], typesize)
    }
}

/// Writes another shape into a metalayer of either name; what else is there stays.
///
/// # Errors
/// As [`ArrayMeta::parse`]; `Failure` for another number of dimensions.
pub(crate) fn put_shape(metalayer: &mut [u8], shape: &[i64]) -> Result<()> {
    let mut fields = Fields::default();
    fields.read(metalayer, true)?;
    if fields.ndim.is_none_or(|ndim| usize::try_from(ndim) != Ok(shape.len())) {
        return Err(err!(Failure, "a shape of {} dimensions for {:?}", shape.len(), fields.ndim));
    }
    let places = metalayer[START_OF_SHAPE..].chunks_exact_mut(LEN_OF_EXTENT);
    for (place, extent) in places.zip(shape) {
        place[0] = Marker::I64.to_u8();
        place[1..].copy_from_slice(&extent.to_be_bytes());
    }
    Ok(())
}

/// The bytes of a `b2nd` metalayer; a data type of `None` is written as `|u1`. The extents are not looked at.
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
        return Err(err!(InvalidParam, "{ndim} dimensions; {MAX_DIM} are the most"));
    }
    let dtype = dtype.unwrap_or(B2ND_DEFAULT_DTYPE.as_bytes());
    let len = dtype.len().saturating_add(LEN_OF_SHAPES + LEN_OF_DTYPE + LEN_PER_DIM * ndim);
    let format = u8::try_from(dtype_format).ok();
    let (Some(format), Ok(_)) = (format, i32::try_from(len)) else {
        return Err(err!(Failure, "data type format {dtype_format}, {} bytes of data type", dtype.len()));
    };
    let mut writer = Writer::new(len)?;
    write_shapes(&mut writer, shape, chunkshape, blockshape);
    writer.byte(format).str32(dtype);
    Ok(writer.finish())
}

fn write_shapes(writer: &mut Writer, shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) {
    let ndim = shape.len() as u8;
    // With 16 dimensions this is no array any more for msgpack; every reader ignores it (`b2nd.md` 3).
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

/// What was read of a metalayer, also when the rest could not be: the function of the ABI shows it then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    /// The number of dimensions as it stands there.
    pub ndim: Option<i8>,
    /// Shapes that were begun, 0 to 3: of the array, of chunks, of blocks.
    pub shapes: usize,
    /// Shape in items; 1 where nothing was read.
    pub shape: [i64; MAX_DIM],
    /// Shape of a chunk; 1 where nothing was read.
    pub chunkshape: [i32; MAX_DIM],
    /// Shape of a block; 1 where nothing was read.
    pub blockshape: [i32; MAX_DIM],
    /// Data type of the items as text.
    pub dtype: Option<&'a [u8]>,
    /// Format of that text; any number may stand there.
    pub dtype_format: i8,
}

impl Default for Fields<'_> {
    fn default() -> Self {
        Fields {
            ndim: None,
            shapes: 0,
            shape: [1; MAX_DIM],
            chunkshape: [1; MAX_DIM],
            blockshape: [1; MAX_DIM],
            dtype: None,
            dtype_format: 0,
        }
    }
}

impl<'a> Fields<'a> {
    /// Reads a metalayer, the data type only if `with_dtype`; how many bytes that took. Of the markers only the one of
    /// the data type is looked at (`b2nd.md` 3.3).
    ///
    /// # Errors
    /// `Failure` when it ends too early, has a number of dimensions that arrays do not have, or a data type that is no
    /// string.
    pub(crate) fn read(&mut self, bytes: &'a [u8], with_dtype: bool) -> Result<usize> {
        let short = || err!(Failure, "an array's metalayer ends after {} bytes", bytes.len());
        // The marker of the array, and the version.
        let ndim = bytes.get(2).copied().ok_or_else(short)? as i8;
        self.ndim = Some(ndim);
        let dims = usize::try_from(ndim).ok().filter(|&dims| dims <= MAX_DIM);
        let dims = dims.ok_or_else(|| err!(Failure, "{ndim} dimensions"))?;
        // A marker before each shape, and one before each number.
        let mut at = 3 + 1;
        self.shapes = 1;
        bytes.get(at - 1).ok_or_else(short)?;
        for extent in &mut self.shape[..dims] {
            *extent = i64_at(bytes, at + 1).ok_or_else(short)?;
            at += 9;
        }
        for shape in [&mut self.chunkshape, &mut self.blockshape] {
            self.shapes += 1;
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
            return Err(err!(Failure, "marker {:#04x} instead of a data type", rest[1]));
        }
        let len = i32_at(rest, 2).and_then(|len| usize::try_from(len).ok());
        let dtype = len.and_then(|len| rest[LEN_OF_DTYPE..].get(..len));
        let dtype = dtype.ok_or_else(|| err!(Failure, "a data type of {len:?} of {} bytes", rest.len()))?;
        self.dtype = Some(dtype);
        Ok(at + LEN_OF_DTYPE + dtype.len())
    }
}

#[cfg(test)]
mod tests;
