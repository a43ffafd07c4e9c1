//! The bytes of a file behind the end of a frame: other data, or remains of changes of the frame itself.
//!
//! Several frames can share a file (`blosc2_schunk_append_file`), and a frame can be a member of an archive. A change
//! of such a frame would overwrite or cut off the data that follow it. A change that was interrupted also leaves bytes
//! behind the frame, and these may be overwritten. The bytes are remains of the frame's own changes
//! (`frame.md` 2.11 to 2.13) if no header of another frame is among them, and one of these holds:
//!
//! - The header says that there is a gap before the index: the writer of the atomic layout was killed before it closed
//!   the gap, and index, trailer and chunks of other states may lie behind the frame.
//! - All bytes are zeros: the file was made longer, and nothing was written.
//! - The first bytes that are not zeros are the header of a chunk with the frame's item size, or of an index: a writer
//!   of the atomic layout was killed before its first commit. The zeros before them are a gap.
//! - The frame has no chunks and is at the start of its file, and its first sector has only zeros behind it: a writer of
//!   the atomic layout was killed after it wrote the first chunk from the second sector on.
//! - They contain the end of a trailer, or are shorter than that and may be a part of it: a change made the frame
//!   shorter, wrote its header, and was killed before the file was cut off. The bytes are the end of the longer frame.
//!
//! All other bytes are other data. Two kinds of remains are not recognised, so that changes of the frame are refused
//! until it is copied: those of a writer that was killed within the first 16 bytes of a chunk, and those of a power
//! failure after which neither the first bytes nor the trailer are on disk, but bytes between them. The opposite
//! mistake, to overwrite other data, cannot be made good. Data that begin with a chunk of the frame's item size, and raw
//! zeros, count as remains.
//!
//! A journal (`<path>.b2undo`) is a file of its own and is never behind a frame.

#![forbid(unsafe_code)]

use super::durability::SECTOR_LEN;
use crate::chunk::ChunkHeader;
use crate::chunk::format::{MAX_STORED_TYPESIZE, MIN_HEADER_LENGTH, version};
use crate::error::Result;
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::checksums::is_fingerprint;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader, is_header_start};
use crate::frame::format::index;
use crate::frame::format::msgpack::{Marker, u32_at};
use crate::frame::format::trailer::{self, END_LEN as TRAILER_END_LEN, FINGERPRINT_LEN};
use std::ops::Range;

/// Number of bytes that are examined at once.
const WINDOW_LEN: u64 = 1 << 20;
/// Number of bytes that are examined at each end, so that the time does not depend on the length of what follows.
const MAX_EXAMINED: u64 = 32 << 20;
/// Number of bytes of the previous window that are examined again with the next one: more than the start of a header
/// and the end of a trailer have.
const OVERLAP: u64 = 64;

/// A function that fills its second argument with the bytes of the file at the offset in its first argument.
pub(crate) type ReadFile<'r> = dyn FnMut(u64, &mut [u8]) -> Result<()> + 'r;

/// Returns whether other data follow the frame with that header, which begins at byte `base` of a file of `file_len`
/// bytes. `read` reads the file; at most 64 MiB behind the frame are read, and nothing if the file ends with the frame.
pub(crate) fn has_other_data_behind(
    header: &FrameHeader,
    base: u64,
    file_len: u64,
    read: &mut ReadFile<'_>,
) -> Result<bool> {
    let end = base.saturating_add(header.frame_len);
    if header.kind == FrameKind::Sparse || file_len <= end {
        return Ok(false);
    }
    let mut search = TrailingSearch { header, base, end, file_len, first_byte: None, has_trailer_end: false };
    let middle = (end + MAX_EXAMINED).min(file_len)..file_len.saturating_sub(MAX_EXAMINED).max(end);
    let ranges =
        if middle.is_empty() { [end..file_len, 0..0] } else { [end..middle.start, middle.end..file_len] };
    for range in ranges {
        if search.has_frame_header(range, read)? {
            return Ok(true);
        }
    }
    Ok(!search.are_remains(read)?)
}

/// The search for the properties of the bytes behind a frame. Offsets count from the start of the file.
struct TrailingSearch<'a> {
    header: &'a FrameHeader,
    base: u64,
    end: u64,
    file_len: u64,
    /// Offset of the first byte that is not zero.
    first_byte: Option<u64>,
    has_trailer_end: bool,
}

impl TrailingSearch<'_> {
    fn has_frame_header(&mut self, range: Range<u64>, read: &mut ReadFile<'_>) -> Result<bool> {
        let len = (range.end - range.start).min(WINDOW_LEN + OVERLAP) as usize;
        let mut bytes = fallible::vec_with_capacity(len)?;
        let mut at = range.start;
        while at < range.end {
            let start = at.saturating_sub(OVERLAP).max(range.start);
            let next = (at + WINDOW_LEN).min(range.end);
            bytes.resize((next - start) as usize, 0);
            read(start, &mut bytes)?;
            if (0..bytes.len()).any(|n| is_header_start(&bytes[n..])) {
                return Ok(true);
            }
            if self.first_byte.is_none() {
                self.first_byte = bytes.iter().position(|&byte| byte != 0).map(|n| start + n as u64);
            }
            self.has_trailer_end |=
                bytes.windows(TRAILER_END_LEN).zip(start..).any(|(end, at)| self.is_trailer_end(end, at));
            at = next;
        }
        Ok(false)
    }

    /// Returns whether the bytes at `at` are the end of a trailer that begins behind the header of the frame.
    fn is_trailer_end(&self, bytes: &[u8], at: u64) -> bool {
        let (len, fingerprint) = bytes.split_at(TRAILER_END_LEN - FINGERPRINT_LEN);
        let Some(len) = u32_at(len, 1).filter(|_| Marker::from_u8(len[0]) == Marker::U32) else {
            return false;
        };
        let room = at + TRAILER_END_LEN as u64 - self.base;
        (trailer::MIN_LEN as u64..=room.saturating_sub(FIXED_HEADER_LEN as u64)).contains(&u64::from(len))
            && is_fingerprint(fingerprint, self.header.has_checksums)
    }

    /// Returns whether the bytes, among which is no header of a frame, are remains of changes.
    fn are_remains(&self, read: &mut ReadFile<'_>) -> Result<bool> {
        if self.header.gap.is_some() || self.has_trailer_end {
            return Ok(true);
        }
        let Some(first_byte) = self.first_byte else { return Ok(true) };
        let ends_in_first_sector = self.base == 0 && self.end <= SECTOR_LEN;
        if self.header.nbytes == 0 && ends_in_first_sector && first_byte >= SECTOR_LEN {
            return Ok(true);
        }
        let mut bytes = [0; TRAILER_END_LEN];
        let len = self.file_len - self.end;
        if len < TRAILER_END_LEN as u64 {
            let bytes = &mut bytes[..len as usize];
            read(self.end, bytes)?;
            let fingerprint = &bytes[bytes.len().saturating_sub(FINGERPRINT_LEN)..];
            return Ok(is_fingerprint(fingerprint, self.header.has_checksums));
        }
        let head = &mut bytes[..MIN_HEADER_LENGTH];
        if self.file_len - first_byte < head.len() as u64 {
            return Ok(false);
        }
        read(first_byte, head)?;
        Ok(self.is_chunk(head))
    }

    /// Returns whether a chunk of the frame, or an index, begins with these bytes.
    fn is_chunk(&self, head: &[u8]) -> bool {
        let Ok(chunk) = ChunkHeader::parse_basic(head) else { return false };
        if !(version::BLOSC1..=version::VL_BLOCKS).contains(&chunk.version) {
            return false;
        }
        let typesize = if self.header.typesize > MAX_STORED_TYPESIZE { 1 } else { self.header.typesize };
        let chunksize = self.header.chunksize;
        let is_data = i32::from(chunk.typesize) == typesize
            && chunk.nbytes > 0
            && (chunksize <= 0 || chunk.nbytes <= chunksize);
        is_data || index::stored_nbytes(&chunk).is_ok_and(|nbytes| nbytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::checksums::ChecksummedParts;
    use crate::frame::format::chunk_checksums::Checksums;
    use proptest::prelude::*;

    const FRAME_LEN: u64 = 500;

    fn header(gap: Option<u8>, has_checksums: bool) -> FrameHeader {
        let mut bytes = [0; FIXED_HEADER_LEN];
        bytes[11..15].copy_from_slice(&(FIXED_HEADER_LEN as u32).to_be_bytes());
        bytes[16..24].copy_from_slice(&FRAME_LEN.to_be_bytes());
        let parsed = FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap();
        FrameHeader { gap, has_checksums, nbytes: 8000, typesize: 4, chunksize: 4000, ..parsed }
    }

    /// Returns the answer for a frame that these bytes follow. The frame is at byte `base` of its file.
    fn is_other(header: &FrameHeader, base: u64, behind: &[u8]) -> bool {
        let end = base + FRAME_LEN;
        let mut read = |at: u64, dest: &mut [u8]| {
            let at = (at - end) as usize;
            dest.copy_from_slice(&behind[at..at + dest.len()]);
            Ok(())
        };
        has_other_data_behind(header, base, end + behind.len() as u64, &mut read).unwrap()
    }

    fn chunk(typesize: u8, nbytes: i32, len: usize) -> Vec<u8> {
        let sizes = [nbytes, nbytes, len as i32].map(i32::to_le_bytes).concat();
        let mut bytes = [&[version::STABLE, 1, 0x15, typesize][..], &sizes].concat();
        bytes.resize(len.max(bytes.len()), 7);
        bytes
    }

    fn frame_start() -> Vec<u8> {
        [b"\x9e\xa8b2frame\0\xd2\0\0\0\x57\xcf", &[1; 100][..]].concat()
    }

    fn trailers() -> [Vec<u8>; 2] {
        let plain = trailer::build(&[]).unwrap();
        let mut sealed = plain.clone();
        Checksums::default().seal(&[], 0, &mut sealed, 1000).unwrap();
        let parts = ChecksummedParts { header: &[], index: 0, trailer: &sealed, frame_len: 1000 };
        assert_ne!(parts.trailer, plain);
        [plain, sealed]
    }

    #[test]
    fn frames_archives_and_unknown_bytes_are_other_data() {
        let directory = [b"PK\x01\x02\x14\x03\x14\0".to_vec(), vec![3; 40]].concat();
        let local_header = [b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\x20".to_vec(), vec![3; 40]].concat();
        let mut late_frame = vec![0; WINDOW_LEN as usize - 5];
        late_frame.extend(frame_start());
        let chunk_and_frame = [chunk(4, 4000, 700), frame_start(), trailers()[0].clone()].concat();
        let others = [
            frame_start(),
            late_frame,
            chunk_and_frame,
            directory,
            local_header,
            b"x".to_vec(),
            b"some bytes of the program\n".to_vec(),
            chunk(2, 4000, 700),
            chunk(4, 4004, 700),
        ];
        for other in others {
            for base in [0, 77] {
                assert!(is_other(&header(None, false), base, &other), "{other:?}");
            }
        }
        assert!(is_other(&header(Some(3), false), 0, &frame_start()));
        let far = vec![1; 3 * MAX_EXAMINED as usize];
        assert!(is_other(&header(None, false), 0, &far));
    }

    #[test]
    fn remains_of_changes_are_no_other_data() {
        let of = |bytes: &[u8]| is_other(&header(None, false), 0, bytes);
        assert!(!of(&[]) && !of(&[0; 40]) && !of(&vec![0; 3 * MAX_EXAMINED as usize]));
        for (typesize, nbytes) in [(4, 4000), (4, 4), (8, 80)] {
            let written = chunk(typesize, nbytes, 600);
            assert!(!of(&written) && !of(&written[..40]));
            assert!(!of(&[vec![0; 5000], written].concat()));
        }
        for gap_of_staged_layout in [b"any bytes".to_vec(), chunk(2, 4000, 700), vec![1; 5000]] {
            assert!(!is_other(&header(Some(3), false), 0, &gap_of_staged_layout));
        }
        let empty = FrameHeader { nbytes: 0, ..header(None, false) };
        for chunk_without_its_start in [vec![1; 5000], vec![9; 3]] {
            let behind = [&[0; 12][..], &chunk_without_its_start].concat();
            assert!(!is_other(&empty, 0, &behind) && is_other(&empty, 77, &behind));
            assert!(is_other(&header(None, false), 0, &behind));
        }
        let large_items = FrameHeader { typesize: 300, chunksize: 0, ..header(None, false) };
        assert!(!is_other(&large_items, 0, &chunk(1, 60_000, 700)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_end_of_a_longer_frame_is_no_other_data(
            data in prop::collection::vec(any::<u8>(), 0..400),
            cut in 0..400usize,
            zeros in prop::sample::select(vec![0, 0, 100]),
        ) {
            for (trailer, has_checksums) in trailers().into_iter().zip([false, true]) {
                let mut old = [&data[..], &trailer].concat();
                old.drain(..cut.min(old.len() - 1));
                old.extend(vec![0; if old.len() < TRAILER_END_LEN { 0 } else { zeros }]);
                prop_assert!(!is_other(&header(None, has_checksums), 0, &old), "{:?}", old);
            }
        }
    }
}
