//! What a codec or a filter may know of the super-chunk around a chunk: its item size, and the shape of the blocks
//! if it is an array (`codecs.md` 8 and 9, `filters.md` 8 to 11).
//!
//! Whoever holds the super-chunk reads it from there and hands it down; nothing here or below looks it up.

/// The most dimensions that an array has.
pub(crate) const MAX_DIM: usize = 16;

/// Name of the metalayer that the shape of the blocks comes from. The older name is not looked at by codecs and filters.
pub(crate) const METALAYER: &std::ffi::CStr = c"b2nd";

/// Where the shapes begin in the metalayer, in bytes: a marker, the version, the number of dimensions.
const LEN_OF_HEAD: usize = 3;

/// What a chunk's super-chunk tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Item size in bytes, as it is: not capped as in chunks, and maybe no size at all in a crafted file.
    pub typesize: i32,
    /// Shape of the blocks; `None` without a metalayer that tells it.
    pub blockshape: Option<BlockShape>,
}

/// The shape of the blocks of an array, as the metalayer has it: any numbers, also ones that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockShape {
    ndim: usize,
    extents: [i32; MAX_DIM],
}

impl BlockShape {
    /// A shape; `None` for more than 16 dimensions.
    #[cfg(any(test, feature = "ndlz"))]
    pub(crate) fn new(extents: &[i32]) -> Option<BlockShape> {
        let mut shape = BlockShape { ndim: extents.len(), extents: [1; MAX_DIM] };
        shape.extents.get_mut(..extents.len())?.copy_from_slice(extents);
        Some(shape)
    }

    /// Reads the metalayer of an array, of which only the blocks matter: markers are not looked at, and neither is what
    /// comes after the shapes. `None` if it ends too early or has no number of dimensions that arrays have.
    #[inline]
    pub(crate) fn parse(metalayer: &[u8]) -> Option<BlockShape> {
        let ndim = usize::from(*metalayer.get(LEN_OF_HEAD - 1)?);
        if ndim > MAX_DIM {
            return None;
        }
        // A marker before each shape and each number: 64 bits for an extent of the array, 32 for those of a chunk.
        let shape = 1 + 9 * ndim;
        let chunkshape = 1 + 5 * ndim;
        let blockshape = metalayer.get(LEN_OF_HEAD + shape + chunkshape..)?.get(1..1 + 5 * ndim)?;
        let mut extents = [1; MAX_DIM];
        for (extent, field) in extents.iter_mut().zip(blockshape.chunks_exact(5)) {
            *extent = i32::from_be_bytes([field[1], field[2], field[3], field[4]]);
        }
        Some(BlockShape { ndim, extents })
    }

    /// Items along each dimension; the last one varies fastest.
    pub(crate) fn extents(&self) -> &[i32] {
        &self.extents[..self.ndim]
    }

    /// The extents and the size in bytes of a block whose items have `typesize` bytes, if all of that makes sense: at
    /// least one item along each dimension, and no more bytes than `limit`.
    pub(crate) fn checked(&self, typesize: usize, limit: usize) -> Option<(usize, [usize; MAX_DIM])> {
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
    fn the_blocks_of_a_metalayer() {
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
    fn only_shapes_that_make_sense_have_a_size() {
        let checked = |extents: &[i32], typesize, limit| {
            BlockShape::new(extents).unwrap().checked(typesize, limit).map(|(nbytes, _)| nbytes)
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
