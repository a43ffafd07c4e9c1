//! The properties of the super-chunk of a chunk that codecs and filters may use: its item size, and the shape of the
//! blocks if it is an array (`codecs.md` 8 and 9, `filters.md` 8 to 11).
//!
//! The code that holds the super-chunk reads them and passes them down; neither this module nor the codecs and filters
//! access the super-chunk.

/// The maximum number of dimensions of an array.
pub(crate) const MAX_DIM: usize = 16;

/// Name of the metalayer that holds the shape of the blocks. Codecs and filters ignore the older name.
pub(crate) const B2ND_METALAYER: &std::ffi::CStr = c"b2nd";

/// Offset of the shapes in the metalayer, in bytes: behind a marker, the version, and the number of dimensions.
const SHAPES_OFFSET: usize = 3;

/// The properties of the super-chunk of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Item size in bytes as stored in the frame: not limited to 255 as in chunks, and possibly invalid in a crafted
    /// file.
    pub typesize: i32,
    /// Shape of the blocks; `None` without a valid metalayer.
    pub blockshape: Option<BlockShape>,
}

/// The shape of the blocks of an array as stored in the metalayer: any numbers, also invalid ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    ndim: usize,
    extents: [i32; MAX_DIM],
}

impl BlockShape {
    /// Creates a shape; returns `None` for more than 16 dimensions.
    #[cfg(any(test, feature = "ndlz"))]
    pub(crate) fn new(extents: &[i32]) -> Option<BlockShape> {
        let mut shape = BlockShape { ndim: extents.len(), extents: [1; MAX_DIM] };
        shape.extents.get_mut(..extents.len())?.copy_from_slice(extents);
        Some(shape)
    }

    /// Reads the shape of the blocks from the metalayer of an array. Markers, and the bytes behind the shapes, are
    /// ignored. Returns `None` if the metalayer ends too early or has more than 16 dimensions.
    #[inline]
    pub(crate) fn parse(metalayer: &[u8]) -> Option<BlockShape> {
        let ndim = usize::from(*metalayer.get(SHAPES_OFFSET - 1)?);
        if ndim > MAX_DIM {
            return None;
        }
        // There is a marker before each shape and each number. Extents of the array have 64 bits, those of a chunk 32.
        let shape = 1 + 9 * ndim;
        let chunkshape = 1 + 5 * ndim;
        let blockshape = metalayer.get(SHAPES_OFFSET + shape + chunkshape..)?.get(1..1 + 5 * ndim)?;
        let mut extents = [1; MAX_DIM];
        for (extent, field) in extents.iter_mut().zip(blockshape.chunks_exact(5)) {
            *extent = i32::from_be_bytes([field[1], field[2], field[3], field[4]]);
        }
        Some(BlockShape { ndim, extents })
    }

    /// Returns the number of items along each dimension; the last dimension varies fastest.
    pub(crate) fn extents(&self) -> &[i32] {
        &self.extents[..self.ndim]
    }

    /// Returns the size in bytes of a block whose items have `typesize` bytes, and its extents; `None` unless there is
    /// at least one item along each dimension and the size is at most `limit`.
    pub(crate) fn checked_extents(&self, typesize: usize, limit: usize) -> Option<(usize, [usize; MAX_DIM])> {
        let mut nbytes = typesize;
        let mut extents = [1; MAX_DIM];
        for (extent, &given) in extents.iter_mut().zip(self.extents()) {
            *extent = usize::try_from(given).ok().filter(|&given| given > 0)?;
            nbytes = nbytes.checked_mul(*extent).filter(|&nbytes| nbytes <= limit)?;
        }
        Some((nbytes, extents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A metalayer of version 0 with zeros for markers.
    fn metalayer(blockshape: &[i32]) -> Vec<u8> {
        let mut bytes = vec![0x97, 0, blockshape.len() as u8, 0];
        for _ in blockshape {
            bytes.extend([0; 9]);
        }
        for shape in [&vec![7; blockshape.len()], blockshape] {
            bytes.push(0);
            for extent in shape {
                bytes.push(0);
                bytes.extend(extent.to_be_bytes());
            }
        }
        bytes
    }

    #[test]
    fn block_shape_is_parsed_from_the_metalayer() {
        for shape in [&[][..], &[1], &[3, -1, i32::MAX], &[2; MAX_DIM]] {
            let bytes = metalayer(shape);
            assert_eq!(BlockShape::parse(&bytes).unwrap().extents(), shape);
            assert_eq!(BlockShape::parse(&bytes), BlockShape::new(shape));
            for len in 0..bytes.len() {
                assert_eq!(BlockShape::parse(&bytes[..len]), None, "{len} of {}", bytes.len());
            }
        }
        assert_eq!(BlockShape::parse(&metalayer(&[1; 17])), None);
        assert_eq!(BlockShape::new(&[1; 17]), None);
        let mut negative = metalayer(&[1]);
        negative[2] = 0xff;
        assert_eq!(BlockShape::parse(&negative), None);
    }

    #[test]
    fn only_positive_extents_within_the_limit_have_a_size() {
        let checked = |extents: &[i32], typesize, limit| {
            BlockShape::new(extents).unwrap().checked_extents(typesize, limit).map(|(nbytes, _)| nbytes)
        };
        assert_eq!(checked(&[3, 5], 4, 60), Some(60));
        assert_eq!(checked(&[3, 5], 4, 59), None);
        assert_eq!(checked(&[], 4, 60), Some(4));
        assert_eq!(checked(&[3, 0], 4, 60), None);
        assert_eq!(checked(&[3, -5], 4, 60), None);
        assert_eq!(checked(&[i32::MAX; 16], 255, usize::MAX), None);
        assert_eq!(checked(&[65536, 65536], 1, 0), None);
    }
}
