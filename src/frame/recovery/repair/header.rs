//! The header of a damaged frame: as it is, with its invalid fields replaced, or made of defaults.

use super::sections::{FileWindow, header_len_from_section};
use crate::abi::BLOSC_FORWARD_COMPAT_SPLIT;
use crate::chunk::ChunkHeader;
use crate::chunk::format::{MAX_BLOCKSIZE, MAX_FILTERS, filter_id};
use crate::codec::BuiltInCodec;
use crate::error::{Error, Result, err};
use crate::frame::FrameKind;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts;
use crate::registry;

/// The bytes of a header that have the same value in every frame (`frame.md` 1.1): their offset and their value.
const FIXED_BYTES: [(usize, u8); 22] = [
    (0x00, 0x9e),
    (0x01, 0xa8),
    (0x02, b'b'),
    (0x03, b'2'),
    (0x04, b'f'),
    (0x05, b'r'),
    (0x06, b'a'),
    (0x07, b'm'),
    (0x08, b'e'),
    (0x09, 0),
    (0x0a, 0xd2),
    (0x0f, 0xcf),
    (0x18, 0xa4),
    (0x1d, 0xd3),
    (0x26, 0xd3),
    (0x2f, 0xd2),
    (0x34, 0xd2),
    (0x39, 0xd2),
    (0x3e, 0xd1),
    (0x41, 0xd1),
    (0x45, 0xd8),
    (0x46, 0x06),
];
/// The number of [`FIXED_BYTES`] that 87 bytes must have to count as a header; random bytes have one of 256.
const MIN_FIXED_BYTES: usize = 14;

/// Offsets of the fields that are replaced when they are invalid, in bytes.
const HEADER_LEN_OFFSET: usize = 11;
const FRAME_LEN_OFFSET: usize = 16;
const FLAGS_OFFSET: usize = 25;
const KIND_OFFSET: usize = 26;
/// The general flags of a frame with chunks of one size.
const DEFAULT_FLAGS: u8 = 0x12;

/// The header that a frame is read with.
pub(super) struct RecoveredHeader {
    /// The header. Its fields are within the limits of [`FrameHeader::parse`], but may contradict the chunks.
    pub header: FrameHeader,
    /// Why the stored header is damaged.
    pub damage: Option<Error>,
    /// Whether the fields are defaults, because the header is lost.
    pub is_lost: bool,
}

/// Reads the header, as far as it is there.
///
/// # Errors
/// Those of reading the file, except for a file that is too short.
pub(super) fn recover_header(files: &FrameFiles) -> Result<RecoveredHeader> {
    let mut bytes = [0; FIXED_HEADER_LEN];
    if let Err(error) = files.read_exact(0, &mut bytes) {
        return Ok(RecoveredHeader { header: default_header(files), damage: Some(error), is_lost: true });
    }
    let matching = FIXED_BYTES.iter().filter(|&&(at, value)| bytes[at] == value).count();
    if matching < MIN_FIXED_BYTES {
        let count = FIXED_BYTES.len();
        let error =
            err!(InvalidHeader, "{matching} of the {count} fixed bytes of a frame header have their values");
        return Ok(RecoveredHeader { header: default_header(files), damage: Some(error), is_lost: true });
    }
    match FrameHeader::parse(&bytes, files.kind()) {
        Ok(header) => {
            let damage = parts::check_header(&bytes, &header).err();
            Ok(RecoveredHeader { header, damage, is_lost: false })
        }
        Err(error) => {
            let window = &mut FileWindow::new(files);
            let header_len = header_len_from_section(window)?.unwrap_or(FIXED_HEADER_LEN);
            let patched = FrameHeader::parse(&patch(bytes, files, header_len), files.kind());
            let (header, is_lost) = match patched {
                Ok(header) => (header, false),
                Err(_) => (default_header(files), true),
            };
            Ok(RecoveredHeader { header, damage: Some(error), is_lost })
        }
    }
}

/// Replaces the fields for which [`FrameHeader::parse`] rejects a header.
fn patch(mut bytes: [u8; FIXED_HEADER_LEN], files: &FrameFiles, header_len: usize) -> [u8; FIXED_HEADER_LEN] {
    let frame_len = i64::try_from(files.len()).unwrap_or(i64::MAX).max(header_len as i64);
    if bytes[FLAGS_OFFSET] & 0x0f > 3 {
        bytes[FLAGS_OFFSET] = DEFAULT_FLAGS;
    }
    bytes[KIND_OFFSET] = match files.kind() {
        FrameKind::Contiguous => 0,
        FrameKind::Sparse => 1,
    };
    bytes[HEADER_LEN_OFFSET..][..4].copy_from_slice(&(header_len as i32).to_be_bytes());
    bytes[FRAME_LEN_OFFSET..][..8].copy_from_slice(&frame_len.to_be_bytes());
    bytes
}

/// Returns the header of a frame of which nothing is known.
fn default_header(files: &FrameFiles) -> FrameHeader {
    FrameHeader {
        frame_len: files.len(),
        kind: files.kind(),
        clevel: 5,
        splitmode: BLOSC_FORWARD_COMPAT_SPLIT as u8,
        cbytes: i64::try_from(files.len()).unwrap_or(i64::MAX),
        chunksize: -1,
        nthreads_c: 1,
        nthreads_d: 1,
        ..FrameHeader::default()
    }
}

/// Sets the fields of the header of the new frame that the source does not give, and replaces those that no frame can
/// have. `chunk` is the header of the first chunk that was saved.
pub(super) fn complete_header(header: &mut FrameHeader, is_lost: bool, chunk: Option<&ChunkHeader>) {
    if let Some(chunk) = chunk {
        header.flags2 = chunk.blosc2_flags2 & 1;
        if header.typesize <= 0 {
            header.typesize = i32::from(chunk.typesize);
        }
        if is_lost {
            let codec = BuiltInCodec::from_format(chunk.codec_format());
            header.compcode = codec.map_or(chunk.udcompcode, BuiltInCodec::compcode);
            header.compcode_meta = chunk.compcode_meta;
            header.use_dict = chunk.has_dictionary();
        }
        if is_lost || !has_valid_filters(header) {
            (header.filters, header.filters_meta) = (chunk.filters, chunk.filters_meta);
        }
    }
    header.typesize = header.typesize.max(1);
    if !(0..=MAX_BLOCKSIZE).contains(&header.blocksize) {
        header.blocksize = 0;
    }
    if !has_valid_filters(header) {
        header.filters = [0, 0, 0, 0, 0, filter_id::SHUFFLE];
        header.filters_meta = [0; MAX_FILTERS];
    }
}

fn has_valid_filters(header: &FrameHeader) -> bool {
    header.filters.iter().all(|&id| registry::is_valid_filter_id(id))
}
