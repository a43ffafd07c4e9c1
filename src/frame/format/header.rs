//! The header of a frame (`frame.md` 1.1 to 1.3, 4.4): parsing its fixed part, and writing all of it.
//!
//! Readers ignore several of the written fields, see [`FrameHeader::parse`].

#![forbid(unsafe_code)]

use super::index;
use super::metalayers::{self, MAX_METALAYERS, Metalayer};
use super::msgpack::{Marker, MsgpackWriter, bytes_at, i16_at, i32_at, i64_at};
use crate::chunk::format::MAX_FILTERS;
use crate::codec::BuiltInCodec;
use crate::error::{Result, ensure, err};

/// Length of the fixed part, in bytes. The metalayers follow it.
pub(crate) const FIXED_HEADER_LEN: usize = metalayers::HEADER_SECTION_OFFSET;
/// Offset of the frame length in bytes; the field is a big-endian `u64`.
pub(crate) const FRAME_LEN_POSITION: u64 = 16;
/// The maximum number of chunks of a frame that is read: the index has at most `i32::MAX` bytes.
pub(crate) const MAX_CHUNKS: i64 = i32::MAX as i64 / 8;

/// The magic string of a frame, behind two bytes of msgpack.
const MAGIC: &[u8; 8] = b"b2frame\0";
/// The newest version that readers accept.
const MAX_VERSION: u8 = 3;
/// The version of frames with chunks of one size and blocks of equal size.
const VERSION_FIXED_SIZE: u8 = 2;
/// The version of frames with chunks of several sizes, or blocks of variable length.
const VERSION_VARIABLE_SIZE: u8 = 3;
/// Number of items of the msgpack array that forms the header.
const HEADER_ARRAY_LEN: u8 = 14;
/// The codec nibble for ids that do not fit into it: the id is in the field `COMPCODE`.
const CODEC_IN_COMPCODE: u8 = 6;

/// Offsets of the fields, in bytes.
mod position {
    pub(in crate::frame) const MAGIC: usize = 2;
    pub(in crate::frame) const HEADER_LEN: usize = 11;
    pub(in crate::frame) const FRAME_LEN: usize = super::FRAME_LEN_POSITION as usize;
    pub(in crate::frame) const FLAGS: usize = 25;
    pub(in crate::frame) const KIND: usize = 26;
    pub(in crate::frame) const CODEC: usize = 27;
    pub(in crate::frame) const SPLIT: usize = 28;
    pub(in crate::frame) const NBYTES: usize = 30;
    pub(in crate::frame) const CBYTES: usize = 39;
    pub(in crate::frame) const TYPESIZE: usize = 48;
    pub(in crate::frame) const BLOCKSIZE: usize = 53;
    pub(in crate::frame) const CHUNKSIZE: usize = 58;
    pub(in crate::frame) const NTHREADS_C: usize = 63;
    pub(in crate::frame) const NTHREADS_D: usize = 66;
    pub(in crate::frame) const HAS_VLMETALAYERS: usize = 68;
    pub(in crate::frame) const NFILTERS: usize = 70;
    pub(in crate::frame) const FILTERS: usize = 71;
    pub(in crate::frame) const COMPCODE: usize = 77;
    pub(in crate::frame) const COMPCODE_META: usize = 78;
    pub(in crate::frame) const FILTERS_META: usize = 79;
    pub(in crate::frame) const OTHER_FLAGS: usize = 85;
    pub(in crate::frame) const LIBRARY_FLAGS: usize = 86;
}

/// Bits of the last byte of the extension, which C-Blosc2 writes as 0 and no reader reads.
mod library_flag {
    /// A table of checksums lies before the trailer (`frame.md` 2.14).
    pub(in crate::frame) const CHECKSUMS: u8 = 0x01;
    /// The index does not follow the last chunk directly: the frame was not closed after atomic changes.
    pub(in crate::frame) const GAP: u8 = 0x02;
    /// Position of the lowest bit of the number of the commit.
    pub(in crate::frame) const COMMIT_SHIFT: u32 = 2;
}

/// Bits of the general flags.
mod flag {
    pub(in crate::frame) const VERSION: u8 = 0x0f;
    pub(in crate::frame) const OFFSETS_64_BIT: u8 = 0x10;
    pub(in crate::frame) const VARIABLE_CHUNKS: u8 = 0x40;
    pub(in crate::frame) const VL_BLOCKS: u8 = 0x80;
}

/// The storage of the chunks of a frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum FrameKind {
    /// The chunks are inside the frame, in a file or in memory.
    #[default]
    Contiguous,
    /// A directory with one file per chunk; the frame holds the rest.
    Sparse,
}

impl FrameKind {
    fn byte(self) -> u8 {
        match self {
            FrameKind::Contiguous => 0,
            FrameKind::Sparse => 1,
        }
    }
}

/// The fixed part of a header. A header returned by [`parse`](Self::parse) has `FIXED_HEADER_LEN <= header_len <=
/// frame_len`; the other fields are not checked. All sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// Length of the whole header including metalayers, which is the offset of the first chunk.
    pub header_len: usize,
    /// Length of the frame, at most `i64::MAX`; of a sparse frame, the length of its index file.
    pub frame_len: u64,
    /// Version of the frame format. [`build`](Self::build) derives it from the other fields.
    pub version: u8,
    pub kind: FrameKind,
    pub compcode: u8,
    /// The codec's own byte.
    pub compcode_meta: u8,
    /// Compression level, 0..=15.
    pub clevel: u8,
    /// Split mode, 1..=4.
    pub splitmode: u8,
    /// Whether chunks are compressed with dictionaries.
    pub use_dict: bool,
    /// If there is a gap between the last chunk and the index, which `cbytes` includes: the number, modulo 64, of the
    /// commit that wrote the header (`frame.md` 2.13).
    pub gap: Option<u8>,
    /// Whether the frame has a table of checksums (`frame.md` 2.14).
    pub has_checksums: bool,
    /// Uncompressed size of all chunks.
    pub nbytes: i64,
    /// Size of the data section, holes included.
    pub cbytes: i64,
    /// Item size.
    pub typesize: i32,
    /// The requested block size; 0 for an automatic one.
    pub blocksize: i32,
    /// Uncompressed size of a chunk; 0 when the chunks differ in size, -1 while the frame has had no chunk.
    pub chunksize: i32,
    /// The number of compression threads of the writer; ignored by readers.
    pub nthreads_c: i16,
    /// The number of decompression threads of the writer; ignored by readers.
    pub nthreads_d: i16,
    /// Whether the trailer has metalayers; ignored by readers.
    pub has_vlmetalayers: bool,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// One byte per filter slot.
    pub filters_meta: [u8; MAX_FILTERS],
    /// The second flags byte of the chunks. Only bit 0 (blocks of variable length) is stored, in the general flags, and
    /// only that bit is set after parsing; readers use the byte of the first chunk instead.
    pub flags2: u8,
}

/// Returns the flags of this library, for a frame with a gap that this commit has left, and with a table of checksums.
fn library_flag_byte(gap: Option<u8>, has_checksums: bool) -> u8 {
    let gap = gap.map_or(0, |commit| library_flag::GAP | commit << library_flag::COMMIT_SHIFT);
    gap | if has_checksums { library_flag::CHECKSUMS } else { 0 }
}

/// Returns whether the bytes have the magic of a frame. It is required for frames in memory and ignored in files.
pub(crate) fn has_magic(bytes: &[u8]) -> bool {
    bytes_at(bytes, position::MAGIC).as_ref() == Some(MAGIC)
}

/// Number of bytes that [`is_header_start`] needs.
pub(in crate::frame) const HEADER_START_LEN: usize = position::MAGIC + MAGIC.len();

/// Returns whether the bytes are the start of a frame as every writer writes it.
pub(in crate::frame) fn is_header_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x9e, 0xa8]) && has_magic(bytes)
}

impl FrameHeader {
    /// Parses the fixed part at the start of `bytes`, with those checks of `frame.md` 4.4 that apply to every access
    /// and that need no other bytes, in the order of that section. Ignored: the magic, msgpack markers, the width of
    /// offsets, reserved bits.
    pub(crate) fn parse(bytes: &[u8], expected: FrameKind) -> Result<FrameHeader> {
        let Some(b) = bytes.first_chunk::<FIXED_HEADER_LEN>() else {
            return Err(err!(
                FileRead,
                "the frame header has {} bytes, expected {FIXED_HEADER_LEN}",
                bytes.len()
            ));
        };
        // All fields lie within the 87 bytes, so the defaults are never used.
        let int32 = |pos| i32_at(b, pos).unwrap_or_default();
        let int64 = |pos| i64_at(b, pos).unwrap_or_default();
        let flags = b[position::FLAGS];
        let version = flags & flag::VERSION;
        ensure!(
            version <= MAX_VERSION,
            VersionSupport,
            "the version of the frame is {version}, expected at most {MAX_VERSION}",
        );
        if b[position::KIND] != expected.byte() {
            let kind = b[position::KIND];
            return Err(err!(FrameType, "the frame type is {kind}, expected {}", expected.byte()));
        }
        let (header_len, frame_len) = (int32(position::HEADER_LEN), int64(position::FRAME_LEN));
        ensure!(
            header_len >= FIXED_HEADER_LEN as i32 && i64::from(header_len) <= frame_len,
            InvalidHeader,
            "the frame header has {header_len} bytes, expected {FIXED_HEADER_LEN} to {frame_len}",
        );
        let nfilters = usize::from(b[position::NFILTERS]).min(MAX_FILTERS);
        let slots = |pos: usize| {
            let mut slots = [0; MAX_FILTERS];
            slots[..nfilters].copy_from_slice(&b[pos..pos + nfilters]);
            slots
        };
        let codec = b[position::CODEC];
        let compcode = match codec & 0x0f {
            CODEC_IN_COMPCODE => b[position::COMPCODE],
            nibble => nibble,
        };
        Ok(FrameHeader {
            header_len: header_len as usize,
            frame_len: frame_len as u64,
            version,
            kind: expected,
            compcode,
            compcode_meta: b[position::COMPCODE_META],
            clevel: codec >> 4,
            splitmode: (b[position::SPLIT] & 3) + 1,
            use_dict: b[position::OTHER_FLAGS] & 1 != 0,
            gap: Some(b[position::LIBRARY_FLAGS])
                .filter(|flags| flags & library_flag::GAP != 0)
                .map(|flags| flags >> library_flag::COMMIT_SHIFT),
            has_checksums: b[position::LIBRARY_FLAGS] & library_flag::CHECKSUMS != 0,
            nbytes: int64(position::NBYTES),
            cbytes: int64(position::CBYTES),
            typesize: int32(position::TYPESIZE),
            blocksize: int32(position::BLOCKSIZE),
            chunksize: int32(position::CHUNKSIZE),
            nthreads_c: i16_at(b, position::NTHREADS_C).unwrap_or_default(),
            nthreads_d: i16_at(b, position::NTHREADS_D).unwrap_or_default(),
            has_vlmetalayers: Marker::from_u8(b[position::HAS_VLMETALAYERS]) == Marker::True,
            filters: slots(position::FILTERS),
            filters_meta: slots(position::FILTERS_META),
            flags2: u8::from(flags & flag::VL_BLOCKS != 0),
        })
    }

    /// Makes the additional check of opening a frame and of reading its chunks.
    pub(crate) fn check_for_reading(&self) -> Result<()> {
        ensure!(self.typesize > 0, InvalidHeader, "`typesize` is {}, expected 1 or more", self.typesize);
        Ok(())
    }

    /// Makes the additional checks of opening a frame. `bytes` are those that the header was parsed from.
    pub(crate) fn check_for_opening(&self, bytes: &[u8]) -> Result<()> {
        self.check_for_reading()?;
        match bytes.get(position::NFILTERS) {
            Some(&nfilters) if usize::from(nfilters) > MAX_FILTERS => {
                Err(err!(InvalidHeader, "{nfilters} filters, expected at most {MAX_FILTERS}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of chunks (`frame.md` 1.4, 4.4). `index_nbytes` returns the uncompressed size of the index
    /// ([`index::stored_nbytes`]); it is called only when the chunks differ in size.
    ///
    /// # Errors
    /// `InvalidHeader` when the sizes are inconsistent or give more than [`MAX_CHUNKS`], or the error of
    /// `index_nbytes`.
    pub(crate) fn nchunks(&self, index_nbytes: impl FnOnce() -> Result<i64>) -> Result<i64> {
        if self.nbytes <= 0 {
            return Ok(0);
        }
        let nchunks = match self.chunksize {
            ..0 => return Err(err!(InvalidHeader, "`chunksize` is {}, expected 0 or more", self.chunksize)),
            0 => {
                let nbytes = index_nbytes()?;
                ensure!(
                    nbytes >= 0 && nbytes % index::ENTRY_LEN as i64 == 0,
                    InvalidHeader,
                    "the index has {nbytes} bytes, expected a multiple of {}",
                    index::ENTRY_LEN,
                );
                nbytes / index::ENTRY_LEN as i64
            }
            chunksize => {
                ensure!(self.cbytes >= 0, InvalidHeader, "`cbytes` is {}, expected 0 or more", self.cbytes);
                (self.nbytes - 1) / i64::from(chunksize) + 1
            }
        };
        ensure!(nchunks <= MAX_CHUNKS, InvalidHeader, "{nchunks} chunks, expected at most {MAX_CHUNKS}");
        Ok(nchunks)
    }

    /// Builds the whole header, with these metalayers. The header length and the version are derived from the other
    /// fields; `frame_len` is written unchanged.
    ///
    /// # Errors
    /// `InvalidParam` for more than 16 metalayers, a name of more than 31 bytes or contents of more than 2 GB in all,
    /// `MemoryAlloc`.
    pub(crate) fn build(&self, metalayers: &[Metalayer<'_>]) -> Result<Vec<u8>> {
        let count = metalayers.len();
        if count > MAX_METALAYERS {
            return Err(err!(InvalidParam, "{count} metalayers, expected at most {MAX_METALAYERS}"));
        }
        let len = FIXED_HEADER_LEN + metalayers::section_len(metalayers)?;
        let Ok(header_len) = i32::try_from(len) else {
            return Err(err!(
                InvalidParam,
                "the frame header has {len} bytes, expected at most {}",
                i32::MAX
            ));
        };
        let mut out = MsgpackWriter::new(len)?;
        out.fixarray(HEADER_ARRAY_LEN).fixstr(MAGIC);
        out.int32(header_len).uint64(self.frame_len).fixstr(&self.flag_bytes());
        out.int64(self.nbytes).int64(self.cbytes);
        out.int32(self.typesize).int32(self.blocksize).int32(self.chunksize);
        out.int16(self.nthreads_c).int16(self.nthreads_d).boolean(self.has_vlmetalayers);
        out.fixext16(MAX_FILTERS as i8, &self.extension_content());
        metalayers::write_section(&mut out, metalayers, 0);
        Ok(out.finish())
    }

    /// Replaces the lengths of the data section and of the frame, in bytes, in a header that [`build`](Self::build)
    /// made, the number of the commit if there is a gap, and whether there is a table of checksums.
    pub(in crate::frame) fn set_lengths(
        image: &mut [u8],
        cbytes: u64,
        frame_len: u64,
        gap: Option<u8>,
        has_checksums: bool,
    ) {
        if let Some(flags) = image.get_mut(position::LIBRARY_FLAGS) {
            *flags = library_flag_byte(gap, has_checksums);
        }
        for (at, value) in [(position::CBYTES, cbytes), (position::FRAME_LEN, frame_len)] {
            if let Some(field) = image.get_mut(at..at + size_of::<u64>()) {
                field.copy_from_slice(&value.to_be_bytes());
            }
        }
    }

    /// Returns the content of the extension: filters, codec, their metadata, the second flags, the flags of this
    /// library.
    fn extension_content(&self) -> [u8; 16] {
        let [a, b, c, d, e, f] = self.filters;
        let [u, v, w, x, y, z] = self.filters_meta;
        let (codec, meta) = (self.compcode, self.compcode_meta);
        let library_flags = library_flag_byte(self.gap, self.has_checksums);
        [a, b, c, d, e, f, codec, meta, u, v, w, x, y, z, u8::from(self.use_dict), library_flags]
    }

    /// Returns the bytes for the general flags, the frame type, codec and level, and the split mode.
    fn flag_bytes(&self) -> [u8; 4] {
        let varlen = self.flags2 & 1 != 0;
        let mut flags = flag::OFFSETS_64_BIT;
        flags |= if self.chunksize == 0 || varlen { VERSION_VARIABLE_SIZE } else { VERSION_FIXED_SIZE };
        if self.chunksize == 0 {
            flags |= flag::VARIABLE_CHUNKS;
        }
        if varlen {
            flags |= flag::VL_BLOCKS;
        }
        let built_in = BuiltInCodec::from_compcode(i32::from(self.compcode)).is_some();
        let codec = if built_in { self.compcode } else { CODEC_IN_COMPCODE };
        // An invalid split mode 0 is stored as 255, as by the reference.
        [flags, self.kind.byte(), codec | self.clevel << 4, self.splitmode.wrapping_sub(1)]
    }
}
