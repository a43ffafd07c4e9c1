//! The chunk header: parsing with every check of `chunk.md` 2.1, and writing.

use super::format::{
    EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_FILTERS, MIN_HEADER_LENGTH, filter_id, flag, flag2, offset,
    version,
};
use super::{SpecialValue, read_i32, write_i32};
use crate::err;
use crate::error::{Error, Result, ensure};

/// The fields of a chunk header. A header returned by [`ChunkHeader::parse`] has passed the checks of `chunk.md` 2.1:
/// sizes are positive where they must be, and `filters` are the effective ones.
///
/// The fields are in the order of the 32 bytes, so that one instruction can read several of them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    /// Version of the chunk format.
    pub version: u8,
    /// Version of the codec's format.
    pub versionlz: u8,
    pub flags: u8,
    /// Item size in bytes, 1..=255.
    pub typesize: u8,
    /// Uncompressed size, in bytes.
    pub nbytes: i32,
    /// Block size in bytes, at most `nbytes` unless that is 0; the number of blocks for variable-length blocks.
    pub blocksize: i32,
    /// Size of the whole chunk, in bytes.
    pub cbytes: i32,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// Codec id.
    pub udcompcode: u8,
    /// The codec's own byte.
    pub compcode_meta: u8,
    /// One byte per filter slot.
    pub filters_meta: [u8; MAX_FILTERS],
    /// Second Blosc2 flags byte.
    pub blosc2_flags2: u8,
    /// Blosc2 flags (`format::flag2`).
    pub blosc2_flags: u8,
}

impl ChunkHeader {
    /// Parses the first 16 bytes only, as the `cbuffer` functions do (`chunk.md` 2.1 steps 1-5 and 9, 4.7).
    /// The filters are empty slots; a negative `nbytes` is not rejected.
    ///
    /// # Errors
    /// `ReadBuffer` with fewer than 16 bytes, `InvalidHeader` for a field out of range.
    pub(crate) fn parse_basic(bytes: &[u8]) -> Result<Self> {
        let Some(fixed) = bytes.first_chunk() else { return Err(too_short_error(bytes, MIN_HEADER_LENGTH)) };
        let mut header = ChunkHeader::from_fixed_part(fixed);
        header.check_sizes()?;
        header.blocksize = clamp_blocksize(header.blocksize, header.nbytes);
        Ok(header)
    }

    /// As [`parse_basic`](Self::parse_basic), but returns only the uncompressed size, the block size and the compressed
    /// size, in bytes.
    #[inline(always)]
    pub(crate) fn sizes(bytes: &[u8]) -> Result<[i32; 3]> {
        let Some(fixed) = bytes.first_chunk() else { return Err(too_short_error(bytes, MIN_HEADER_LENGTH)) };
        let header = ChunkHeader::from_fixed_part(fixed);
        header.check_sizes()?;
        Ok([header.nbytes, clamp_blocksize(header.blocksize, header.nbytes), header.cbytes])
    }

    /// Parses a header of 16 or 32 bytes, with all checks of `chunk.md` 2.1 and 2.4.
    ///
    /// # Errors
    /// `ReadBuffer` when the bytes end inside the header, `InvalidHeader` for a field out of range,
    /// `VersionSupport` for flags of a later format.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut header = ChunkHeader::default();
        header.read(bytes)?;
        Ok(header)
    }

    /// As [`parse`](Self::parse), into an existing header: for small chunks, moving a returned header would cost more
    /// than parsing it.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse); the fields are unspecified then.
    #[inline(always)]
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<()> {
        match (bytes.first_chunk(), bytes.first_chunk()) {
            (Some(whole), _) => *self = ChunkHeader::from_bytes(whole),
            (None, Some(fixed)) => *self = ChunkHeader::from_fixed_part(fixed),
            (None, None) => return Err(too_short_error(bytes, MIN_HEADER_LENGTH)),
        }
        self.check(bytes)
    }

    /// Makes the checks of [`read`](Self::read), and clears the fields that the header in `bytes` does not have.
    ///
    /// Not inlined: the compiler then copies the fields with a few wide moves, instead of one by one.
    #[inline(never)]
    fn check(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_sizes()?;
        if !self.is_extended() {
            *self = bytes.first_chunk().map(ChunkHeader::from_fixed_part).unwrap_or_default();
            self.filters_from_flags();
        } else if self.cbytes < EXTENDED_HEADER_LENGTH as i32 {
            return Err(err!(
                InvalidHeader,
                "`cbytes` is {}, expected {EXTENDED_HEADER_LENGTH} or more",
                self.cbytes
            ));
        } else if bytes.len() < EXTENDED_HEADER_LENGTH {
            return Err(too_short_error(bytes, EXTENDED_HEADER_LENGTH));
        } else {
            self.check_extension()?;
        }
        ensure!(
            self.version <= version::VL_BLOCKS || self.blosc2_flags2 & !flag2::VL_BLOCKS == 0,
            VersionSupport,
            "`blosc2_flags2` is {:#04x} in version {}, expected 0x00 or 0x01",
            self.blosc2_flags2,
            self.version,
        );
        if self.has_varlen_blocks() && self.is_memcpyed() {
            return Err(err!(InvalidHeader, "variable-length blocks cannot be stored uncompressed"));
        }
        ensure!(self.nbytes >= 0, InvalidHeader, "`nbytes` is {}, expected 0 or more", self.nbytes);
        if !self.has_varlen_blocks() {
            self.blocksize = clamp_blocksize(self.blocksize, self.nbytes);
        } else if self.nbytes == 0 {
            return Err(err!(InvalidHeader, "`nbytes` of variable-length blocks is 0, expected 1 or more"));
        }
        Ok(())
    }

    /// Returns the fields as stored, without checks.
    #[inline(always)]
    fn from_bytes(b: &[u8; EXTENDED_HEADER_LENGTH]) -> ChunkHeader {
        let field = |pos| read_i32(b, pos).unwrap_or_default();
        let slots = |pos: usize| *b[pos..].first_chunk().unwrap_or(&[0; MAX_FILTERS]);
        ChunkHeader {
            version: b[offset::VERSION],
            versionlz: b[offset::VERSIONLZ],
            flags: b[offset::FLAGS],
            typesize: b[offset::TYPESIZE],
            nbytes: field(offset::NBYTES),
            blocksize: field(offset::BLOCKSIZE),
            cbytes: field(offset::CBYTES),
            filters: slots(offset::FILTERS),
            udcompcode: b[offset::UDCOMPCODE],
            compcode_meta: b[offset::COMPCODE_META],
            filters_meta: slots(offset::FILTERS_META),
            blosc2_flags2: b[offset::BLOSC2_FLAGS2],
            blosc2_flags: b[offset::BLOSC2_FLAGS],
        }
    }

    /// Returns the fields of the first 16 bytes as stored; the others are 0.
    fn from_fixed_part(fixed: &[u8; MIN_HEADER_LENGTH]) -> ChunkHeader {
        let mut bytes = [0; EXTENDED_HEADER_LENGTH];
        bytes[..MIN_HEADER_LENGTH].copy_from_slice(fixed);
        ChunkHeader::from_bytes(&bytes)
    }

    /// Makes those checks of the first 16 bytes that do not depend on other checks.
    #[inline(always)]
    fn check_sizes(&self) -> Result<()> {
        if self.cbytes < MIN_HEADER_LENGTH as i32 {
            let cbytes = self.cbytes;
            return Err(err!(InvalidHeader, "`cbytes` is {cbytes}, expected {MIN_HEADER_LENGTH} or more"));
        }
        if self.blocksize <= 0 || self.blocksize > MAX_BLOCKSIZE {
            let blocksize = self.blocksize;
            return Err(err!(InvalidHeader, "`blocksize` is {blocksize}, expected 1 to {MAX_BLOCKSIZE}"));
        }
        ensure!(self.typesize != 0, InvalidHeader, "`typesize` is 0, expected 1 to 255");
        Ok(())
    }

    /// Checks the second 16 bytes, and clears the sixth filter slot of version 3, which that version does not have.
    #[inline(always)]
    fn check_extension(&mut self) -> Result<()> {
        let special = self.special_id();
        ensure!(
            !self.has_varlen_blocks() || special == 0,
            InvalidHeader,
            "the special kind of variable-length blocks is {special}, expected 0",
        );
        if special == SpecialValue::Value.id() {
            let width = self.cbytes - EXTENDED_HEADER_LENGTH as i32;
            ensure!(
                width > 0 && width <= MAX_BLOCKSIZE && width <= self.nbytes && self.nbytes % width == 0,
                InvalidHeader,
                "the value has {width} bytes, expected a divisor of `nbytes` {}",
                self.nbytes,
            );
        } else if special > SpecialValue::Zero.id() && self.nbytes % i32::from(self.typesize) != 0 {
            let typesize = self.typesize;
            return Err(err!(
                InvalidHeader,
                "`nbytes` is {}, expected a multiple of `typesize` {typesize}",
                self.nbytes
            ));
        }
        if self.version == version::ALPHA {
            self.filters[MAX_FILTERS - 1] = filter_id::NONE;
            self.filters_meta[MAX_FILTERS - 1] = 0;
        }
        Ok(())
    }

    /// Sets the filter pipeline that the flags of a 16-byte header define (`chunk.md` 1.15).
    fn filters_from_flags(&mut self) {
        if self.flags & flag::SHUFFLE != 0 {
            self.filters[MAX_FILTERS - 1] = filter_id::SHUFFLE;
        } else if self.flags & flag::BITSHUFFLE != 0 {
            self.filters[MAX_FILTERS - 1] = filter_id::BITSHUFFLE;
        }
        if self.flags & flag::DELTA != 0 {
            self.filters[MAX_FILTERS - 2] = filter_id::DELTA;
        }
    }

    /// Writes the header, 32 or 16 bytes as its flags give.
    ///
    /// # Panics
    /// If `dest` is shorter than the header.
    pub(crate) fn write(&self, dest: &mut [u8]) {
        dest[offset::VERSION] = self.version;
        dest[offset::VERSIONLZ] = self.versionlz;
        dest[offset::FLAGS] = self.flags;
        dest[offset::TYPESIZE] = self.typesize;
        write_i32(dest, offset::NBYTES, self.nbytes);
        write_i32(dest, offset::BLOCKSIZE, self.blocksize);
        write_i32(dest, offset::CBYTES, self.cbytes);
        if self.is_extended() {
            dest[offset::FILTERS..][..MAX_FILTERS].copy_from_slice(&self.filters);
            dest[offset::UDCOMPCODE] = self.udcompcode;
            dest[offset::COMPCODE_META] = self.compcode_meta;
            dest[offset::FILTERS_META..][..MAX_FILTERS].copy_from_slice(&self.filters_meta);
            dest[offset::BLOSC2_FLAGS2] = self.blosc2_flags2;
            dest[offset::BLOSC2_FLAGS] = self.blosc2_flags;
        }
    }

    /// Returns whether the chunk has the format of Blosc 1.
    pub(crate) fn is_blosc1(&self) -> bool {
        !self.is_extended() && self.version <= version::BLOSC1
    }

    /// Returns whether the header has 32 bytes.
    pub(crate) fn is_extended(&self) -> bool {
        self.flags & flag::EXTENDED == flag::EXTENDED
    }

    /// Returns the length of the header in bytes.
    pub(crate) fn len(&self) -> usize {
        if self.is_extended() { EXTENDED_HEADER_LENGTH } else { MIN_HEADER_LENGTH }
    }

    /// Returns whether the data are stored uncompressed.
    pub(crate) fn is_memcpyed(&self) -> bool {
        self.flags & flag::MEMCPYED != 0
    }

    /// Returns whether full blocks are split into one stream per byte of an item.
    pub(crate) fn is_split(&self) -> bool {
        self.flags & flag::DONT_SPLIT == 0
    }

    /// Returns the codec format, 0..=7.
    pub(crate) fn codec_format(&self) -> u8 {
        self.flags >> flag::FORMAT_SHIFT
    }

    pub(crate) fn has_varlen_blocks(&self) -> bool {
        self.blosc2_flags2 & flag2::VL_BLOCKS != 0
    }

    /// Returns whether the chunk is lazy: a header, block starts and a trailer, with the blocks in a frame.
    pub(crate) fn is_lazy(&self) -> bool {
        self.blosc2_flags & flag2::LAZY != 0
    }

    /// Returns whether the payload is instrumentation records.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.blosc2_flags & flag2::INSTR != 0
    }

    /// Returns whether a dictionary section follows the block starts. The flag is ignored for chunks without block
    /// starts (`chunk.md` 2.4).
    pub(crate) fn has_dictionary(&self) -> bool {
        self.blosc2_flags & flag2::USEDICT != 0 && self.is_coded()
    }

    /// Returns whether the content is coded: neither plain nor special.
    pub(crate) fn is_coded(&self) -> bool {
        !self.is_memcpyed() && self.special_id() == 0
    }

    /// Returns the id of the special kind, 0..=7.
    pub(crate) fn special_id(&self) -> u8 {
        (self.blosc2_flags >> flag2::SPECIAL_SHIFT) & flag2::SPECIAL_MASK
    }

    /// Returns the special kind; `None` for a chunk with data.
    ///
    /// # Errors
    /// `Data` for the ids that the format does not define.
    #[inline]
    pub(crate) fn special(&self) -> Result<Option<SpecialValue>> {
        SpecialValue::from_id(self.special_id())
    }

    /// Returns the size of the whole chunk in bytes.
    pub(crate) fn cbytes(&self) -> usize {
        usize::try_from(self.cbytes).unwrap_or(0)
    }

    /// Returns the uncompressed size in bytes.
    pub(crate) fn nbytes(&self) -> usize {
        usize::try_from(self.nbytes).unwrap_or(0)
    }
}

#[cold]
fn too_short_error(bytes: &[u8], wanted: usize) -> Error {
    err!(ReadBuffer, "the header has {} bytes, expected {wanted}", bytes.len())
}

/// Returns `blocksize`, limited to `nbytes` if that is positive.
#[inline]
fn clamp_blocksize(blocksize: i32, nbytes: i32) -> i32 {
    if nbytes > 0 { blocksize.min(nbytes) } else { blocksize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use proptest::prelude::*;

    fn plain() -> Vec<u8> {
        // V2 of chunk.md 8.
        let mut b = vec![0; 42];
        b[..16].copy_from_slice(&[5, 1, 7, 1, 10, 0, 0, 0, 10, 0, 0, 0, 42, 0, 0, 0]);
        b[0x15] = 1;
        b
    }

    fn kind(bytes: &[u8]) -> Option<ErrorKind> {
        ChunkHeader::parse(bytes).err().map(|e| e.kind())
    }

    #[test]
    fn invalid_fields_are_rejected_with_their_error_kind() {
        let good = plain();
        assert_eq!(kind(&good), None);
        assert_eq!(kind(&good[..15]), Some(ErrorKind::ReadBuffer));
        assert_eq!(kind(&good[..31]), Some(ErrorKind::ReadBuffer));
        let with = |pos: usize, bytes: &[u8]| {
            let mut b = good.clone();
            b[pos..pos + bytes.len()].copy_from_slice(bytes);
            kind(&b)
        };
        assert_eq!(with(0x0c, &15i32.to_le_bytes()), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x0c, &31i32.to_le_bytes()), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x08, &0i32.to_le_bytes()), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x08, &536_866_817i32.to_le_bytes()), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x03, &[0]), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x04, &(-1i32).to_le_bytes()), Some(ErrorKind::InvalidHeader));
        // Variable-length blocks cannot be plain or special.
        assert_eq!(with(0x1e, &[1]), Some(ErrorKind::InvalidHeader));
        assert_eq!(with(0x1e, &[1, 0x10]), Some(ErrorKind::InvalidHeader));
        // Unknown flags are rejected for later versions, and ignored for earlier ones.
        assert_eq!(with(0x1e, &[0xfe]), None);
        let mut later = good.clone();
        later[0] = 7;
        assert_eq!(kind(&later), None);
        later[0x1e] = 2;
        assert_eq!(kind(&later), Some(ErrorKind::VersionSupport));
    }

    #[test]
    fn short_headers_take_their_filters_from_the_flags() {
        let mut b = [0u8; 16];
        b[..4].copy_from_slice(&[2, 1, 0x09, 4]);
        b[4] = 40;
        b[8] = 100;
        b[12] = 16;
        let h = ChunkHeader::parse(&b).unwrap();
        assert_eq!((h.filters, h.len(), h.blocksize), ([0, 0, 0, 0, 3, 1], 16, 40));
        b[2] = 0x04;
        assert_eq!(ChunkHeader::parse(&b).unwrap().filters, [0, 0, 0, 0, 0, 2]);
        // The bytes behind a 16-byte header are not fields of it.
        let followed = [b, [0xff; 16]].concat();
        assert_eq!(ChunkHeader::parse(&followed).unwrap(), ChunkHeader::parse(&b).unwrap());
    }

    #[test]
    fn alpha_chunks_have_five_slots() {
        let mut b = plain();
        b[0] = version::ALPHA;
        b[0x10..0x16].copy_from_slice(&[1, 0, 0, 0, 3, 2]);
        b[0x1d] = 9;
        let h = ChunkHeader::parse(&b).unwrap();
        assert_eq!((h.filters, h.filters_meta[5]), ([1, 0, 0, 0, 3, 0], 0));
    }

    #[test]
    fn value_chunks_need_a_width_that_divides_their_size() {
        let chunk = |nbytes: i32, width: i32| {
            let mut b = [0u8; 64];
            b[..4].copy_from_slice(&[5, 1, 5, 4]);
            write_i32(&mut b, 4, nbytes);
            write_i32(&mut b, 8, nbytes.max(1));
            write_i32(&mut b, 12, 32 + width);
            b[0x1f] = 0x30;
            kind(&b)
        };
        assert_eq!(chunk(12, 4), None);
        for (nbytes, width) in [(12, 0), (12, 5), (0, 4), (2, 4)] {
            assert_eq!(chunk(nbytes, width), Some(ErrorKind::InvalidHeader), "{nbytes} {width}");
        }
    }

    proptest! {
        #[test]
        fn parsed_headers_survive_write_and_parse(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(h) = ChunkHeader::parse(&bytes) {
                prop_assert!(h.nbytes >= 0 && h.blocksize > 0 && h.typesize > 0);
                let mut out = [0u8; 32];
                h.write(&mut out);
                prop_assert_eq!(ChunkHeader::parse(&out[..h.len()]).unwrap(), h);
            }
        }
    }
}
