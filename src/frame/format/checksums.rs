//! The checksums of a frame (`frame.md` 2.14): the table before the trailer, and its root in the fingerprint.
//!
//! The root has its own checksum and that of the table; the table has the checksums of header, index, trailer and
//! chunks. All checksums are CRC-32C. Pure functions of bytes: a [`ChecksumTable`] fits its root, and a [`Checksums`]
//! that was [parsed](Checksums::parse) is that of the frame whose parts were passed.

#![forbid(unsafe_code)]

use super::change::Change;
use super::header::FrameHeader;
use super::trailer::FINGERPRINT_LEN;
use crate::environment;
use crate::err;
use crate::error::Result;
use crate::fallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The use of checksums by a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ChecksumMode {
    /// Tables are neither read nor written.
    Off = 0,
    /// Existing tables are checked and updated. A frame without one gets none.
    Verify = 1,
    /// As `Verify`, and a frame without a table gets one with its first change, unless it has many bytes: that change reads
    /// all of them.
    Default = 2,
    /// As `Verify`, and a frame without a table gets one with its first change.
    Write = 3,
}

impl ChecksumMode {
    /// Returns the mode of frames that are created or opened now: the value of the environment variable
    /// `BLOSC2_CHECKSUMS` (`off`, `verify` or `on`), otherwise `default`. Any other value is reported by `BLOSC_TRACE`.
    pub(in crate::frame) fn from_environment(default: ChecksumMode) -> ChecksumMode {
        let Some(value) = environment::var(c"BLOSC2_CHECKSUMS") else { return default };
        match value.to_bytes() {
            b"off" => ChecksumMode::Off,
            b"verify" => ChecksumMode::Verify,
            b"on" => ChecksumMode::Write,
            _ => {
                crate::trace::warning(|| {
                    format!("BLOSC2_CHECKSUMS is {value:?}, expected `off`, `verify` or `on`")
                });
                default
            }
        }
    }

    /// Converts a number that was made by `as u8`.
    pub(in crate::frame) fn from_u8(number: u8) -> ChecksumMode {
        match number {
            0 => ChecksumMode::Off,
            2 => ChecksumMode::Default,
            3 => ChecksumMode::Write,
            _ => ChecksumMode::Verify,
        }
    }
}

/// The first bytes of a table: the magic, the version and zeros.
const TABLE_START: [u8; 8] = *b"b2cs\x02\0\0\0";
/// Length of a table without chunks, in bytes.
pub(in crate::frame) const TABLE_HEAD_LEN: usize = 32;
/// Offset of the length of the frame in a table, in bytes.
const FRAME_LEN_OFFSET: usize = 8;
/// Offset of the number of chunks in a table, in bytes.
const COUNT_OFFSET: usize = 16;
/// Size of the checksum of a chunk in a table, in bytes.
const ENTRY_LEN: usize = 4;
/// The maximum number of chunks for which a table is written: the table has 64 MiB then, and every change writes it.
pub(in crate::frame) const MAX_TABLE_CHUNKS: usize = 1 << 24;

/// The start of the fingerprint of a frame with a table.
const ROOT_MAGIC: [u8; 4] = *b"b2c1";
/// Marker and type of the fingerprint of a frame with a table (128 bits), and of one without.
const ROOT_TYPE: [u8; 2] = [0xd8, 3];
/// See [`ROOT_TYPE`].
const NO_ROOT_TYPE: [u8; 2] = [0xd8, 0];
/// Returns the checksum of some bytes.
pub(in crate::frame) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// Returns the length of the table of a frame with `nchunks` chunks, in bytes.
pub(in crate::frame) fn table_len(nchunks: usize) -> u64 {
    (TABLE_HEAD_LEN + nchunks * ENTRY_LEN) as u64
}

/// Returns the length, in bytes, that the first bytes of a table give; `None` if no table begins there.
pub(in crate::frame) fn stated_table_len(head: &[u8]) -> Option<u64> {
    let head = head.first_chunk::<TABLE_HEAD_LEN>().filter(|head| head[..8] == TABLE_START)?;
    Some(table_len(le_u32(head, COUNT_OFFSET) as usize))
}

/// Returns the length of the frame, in bytes, that the first bytes of a table give; `None` if no table begins there.
pub(in crate::frame) fn stated_frame_len(head: &[u8]) -> Option<u64> {
    let head = head.first_chunk::<TABLE_HEAD_LEN>().filter(|head| head[..8] == TABLE_START)?;
    Some(le_u64(head, FRAME_LEN_OFFSET))
}

/// The root of the checksums. A value that was parsed has a correct checksum of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frame) struct Root {
    /// Length of the table, in bytes.
    pub(in crate::frame) table_len: u32,
    table_checksum: u32,
}

impl Root {
    /// Reads the root at the end of a trailer.
    ///
    /// # Errors
    /// `Data` if there is none, or its checksum is wrong.
    pub(in crate::frame) fn parse(trailer: &[u8]) -> Result<Root> {
        let root = trailer.last_chunk::<FINGERPRINT_LEN>().filter(|end| {
            end[..2] == ROOT_TYPE && end[2..6] == ROOT_MAGIC && le_u32(&end[..], 14) == checksum(&end[2..14])
        });
        let end = root.ok_or_else(|| {
            err!(Data, "the trailer of {} bytes ends without a valid root of the checksums", trailer.len())
        })?;
        Ok(Root { table_len: le_u32(end, 6), table_checksum: le_u32(end, 10) })
    }

    fn encode(self) -> [u8; FINGERPRINT_LEN] {
        let mut end = [0; FINGERPRINT_LEN];
        end[..2].copy_from_slice(&ROOT_TYPE);
        end[2..6].copy_from_slice(&ROOT_MAGIC);
        end[6..10].copy_from_slice(&self.table_len.to_le_bytes());
        end[10..14].copy_from_slice(&self.table_checksum.to_le_bytes());
        let own = checksum(&end[2..14]);
        end[14..].copy_from_slice(&own.to_le_bytes());
        end
    }
}

/// Returns whether a frame has a table of checksums, which must fit the frame then. A header that has the flag of a
/// table before a trailer without a root was not written by this library.
pub(in crate::frame) fn has_table(header: &FrameHeader, trailer: &[u8], mode: ChecksumMode) -> bool {
    header.has_checksums && mode != ChecksumMode::Off && has_root(trailer)
}

/// Returns whether a trailer has a root, whole or damaged.
fn has_root(trailer: &[u8]) -> bool {
    trailer
        .last_chunk::<FINGERPRINT_LEN>()
        .is_some_and(|end| end[..2] == ROOT_TYPE || end[2..6] == ROOT_MAGIC)
}

/// Returns whether the bytes are a fingerprint with its marker and type, or the end of one: a root, or zeros. A part of
/// a root cannot be checked, and is accepted if `may_be_root`.
pub(in crate::frame) fn is_fingerprint(bytes: &[u8], may_be_root: bool) -> bool {
    let mut zeros = [0; FINGERPRINT_LEN];
    zeros[..2].copy_from_slice(&NO_ROOT_TYPE);
    let is_root = if bytes.len() < FINGERPRINT_LEN { may_be_root } else { Root::parse(bytes).is_ok() };
    zeros.ends_with(bytes) || is_root
}

/// Removes the root at the end of a trailer, if there is one.
pub(in crate::frame) fn remove_root(trailer: &mut [u8]) {
    if let Some(end) = trailer.last_chunk_mut::<FINGERPRINT_LEN>()
        && end[..2] == ROOT_TYPE
        && end[2..6] == ROOT_MAGIC
    {
        *end = [0; FINGERPRINT_LEN];
        end[..2].copy_from_slice(&NO_ROOT_TYPE);
    }
}

/// The parts of a frame that its table describes.
pub(in crate::frame) struct ChecksummedParts<'a> {
    /// The whole header, with its metalayers.
    pub(in crate::frame) header: &'a [u8],
    /// The checksum of the index chunk.
    pub(in crate::frame) index: u32,
    /// The trailer.
    pub(in crate::frame) trailer: &'a [u8],
    /// Length of the frame, in bytes.
    pub(in crate::frame) frame_len: u64,
}

/// The table of a frame. Its bytes have the checksum that the root gives.
#[derive(Debug)]
pub(crate) struct ChecksumTable {
    /// Offset of the table in the frame, in bytes.
    pub(in crate::frame) at: u64,
    /// Length of the frame to which the table belongs, in bytes.
    pub(in crate::frame) frame_len: u64,
    /// The checksums of the chunks, in the order of their numbers.
    pub(in crate::frame) chunks: Vec<u32>,
    header: u32,
    index: u32,
    trailer: u32,
}

impl ChecksumTable {
    /// Returns the offset of the table, which lies between the index and the trailer. All numbers are in bytes.
    ///
    /// # Errors
    /// `Data` if the table is too long for its place.
    pub(in crate::frame) fn offset(
        root: Root,
        index_end: u64,
        trailer_at: u64,
        trailer_len: u64,
    ) -> Result<u64> {
        let table_len = u64::from(root.table_len);
        trailer_at.checked_sub(table_len).filter(|&at| at >= index_end).ok_or_else(|| {
            err!(
                Data,
                "the checksum table of {table_len} bytes does not fit between the index, which ends at {index_end}, \
                 and the trailer of {trailer_len} bytes"
            )
        })
    }

    /// Reads the table of a frame, which begins at byte `at` of the frame.
    ///
    /// # Errors
    /// `Data` for a table that does not fit the root; `MemoryAlloc`.
    pub(in crate::frame) fn parse(bytes: &[u8], root: Root, at: u64) -> Result<ChecksumTable> {
        expect(format_args!("the checksum table (offset {at})"), root.table_checksum, checksum(bytes))?;
        let Some(head) = bytes.first_chunk::<TABLE_HEAD_LEN>().filter(|head| head[..8] == TABLE_START) else {
            return Err(err!(
                Data,
                "the checksum table at offset {at} has an unknown version, expected {TABLE_START:?}"
            ));
        };
        let count = le_u32(head, COUNT_OFFSET);
        let (len, expected) = (bytes.len() as u64, table_len(count as usize));
        if len != expected || len != u64::from(root.table_len) {
            return Err(err!(
                Data,
                "the checksum table has {len} bytes, expected {expected} for {count} chunks"
            ));
        }
        let [header, index, trailer] = [20, 24, 28].map(|offset| le_u32(head, offset));
        let frame_len = le_u64(head, FRAME_LEN_OFFSET);
        Ok(ChecksumTable { at, frame_len, chunks: chunk_entries(bytes)?, header, index, trailer })
    }

    /// Returns the offset of the end of the table in the frame, in bytes.
    pub(in crate::frame) fn end(&self) -> u64 {
        self.at.saturating_add(table_len(self.chunks.len()))
    }

    /// Checks that the table belongs to a frame of that length, in bytes, with that number of chunks.
    ///
    /// # Errors
    /// `Data`.
    pub(in crate::frame) fn check_frame(&self, frame_len: u64, nchunks: usize) -> Result<()> {
        if self.frame_len != frame_len || self.chunks.len() != nchunks {
            let (len, count) = (self.frame_len, self.chunks.len());
            return Err(err!(
                Data,
                "the checksum table is that of a frame of {len} bytes and {count} chunks, expected {frame_len} \
                 bytes and {nchunks} chunks"
            ));
        }
        Ok(())
    }

    /// Checks the whole header.
    ///
    /// # Errors
    /// `Data` for another checksum.
    pub(in crate::frame) fn check_header(&self, header: &[u8]) -> Result<()> {
        expect(format_args!("the frame header (offset 0)"), self.header, checksum(header))
    }

    /// Checks the index chunk, which begins at byte `at` of the frame. `found` is its checksum.
    ///
    /// # Errors
    /// `Data` for another checksum.
    pub(in crate::frame) fn check_index(&self, at: u64, found: u32) -> Result<()> {
        expect(format_args!("the index chunk (offset {at})"), self.index, found)
    }

    /// Checks the trailer, which begins at byte `at` of the frame, except its fingerprint.
    ///
    /// # Errors
    /// `Data` for another checksum.
    pub(in crate::frame) fn check_trailer(&self, at: u64, trailer: &[u8]) -> Result<()> {
        expect(format_args!("the trailer (offset {at})"), self.trailer, trailer_checksum(trailer))
    }
}

/// The checksums of the chunks of a frame, and which of the chunks were checked.
#[derive(Default, Debug)]
pub(in crate::frame) struct Checksums {
    chunks: Vec<u32>,
    /// Whether the chunk needs no check any more.
    is_verified: Vec<AtomicBool>,
}

impl Checksums {
    /// Returns a copy.
    pub(in crate::frame) fn try_clone(&self) -> Result<Checksums> {
        let copy = |flag: &AtomicBool| AtomicBool::new(flag.load(Ordering::Relaxed));
        Ok(Checksums {
            chunks: fallible::copy_of(&self.chunks)?,
            is_verified: fallible::collect(self.is_verified.iter().map(copy))?,
        })
    }

    /// Returns the checksums of chunks that were read just now.
    pub(in crate::frame) fn of_read_chunks(chunks: Vec<u32>) -> Result<Checksums> {
        let is_verified = fallible::collect(chunks.iter().map(|_| AtomicBool::new(true)))?;
        Ok(Checksums { chunks, is_verified })
    }

    /// Checks the parts of a frame by its table. The index is at byte `index_at`. Returns the checksums of its chunks.
    ///
    /// # Errors
    /// `Data` for the table of another frame, and for a part with another checksum.
    pub(in crate::frame) fn parse(
        table: ChecksumTable,
        frame: &ChecksummedParts<'_>,
        index_at: u64,
        nchunks: usize,
    ) -> Result<Checksums> {
        table.check_frame(frame.frame_len, nchunks)?;
        table.check_header(frame.header)?;
        table.check_index(index_at, frame.index)?;
        let trailer_at = frame.frame_len.saturating_sub(frame.trailer.len() as u64);
        table.check_trailer(trailer_at, frame.trailer)?;
        Checksums::of_unread_chunks(table.chunks)
    }

    /// Reads the checksums of the chunks from a table that was checked or written by this handle.
    pub(in crate::frame) fn of_table(table: &[u8]) -> Result<Checksums> {
        Checksums::of_unread_chunks(chunk_entries(table)?)
    }

    fn of_unread_chunks(chunks: Vec<u32>) -> Result<Checksums> {
        let is_verified = fallible::collect(chunks.iter().map(|_| AtomicBool::new(false)))?;
        Ok(Checksums { chunks, is_verified })
    }

    /// Builds the table of a frame. Returns the table and the end of the trailer, which replaces the last bytes of it.
    fn encode(&self, frame: &ChecksummedParts<'_>) -> Result<(Vec<u8>, [u8; FINGERPRINT_LEN])> {
        let mut table = fallible::vec_with_capacity(table_len(self.chunks.len()) as usize)?;
        table.extend_from_slice(&TABLE_START);
        table.extend_from_slice(&frame.frame_len.to_le_bytes());
        table.extend_from_slice(&(self.chunks.len() as u32).to_le_bytes());
        let parts = [checksum(frame.header), frame.index, trailer_checksum(frame.trailer)];
        for value in parts.iter().chain(&self.chunks) {
            table.extend_from_slice(&value.to_le_bytes());
        }
        let root = Root { table_len: table.len() as u32, table_checksum: checksum(&table) };
        Ok((table, root.encode()))
    }

    /// Builds the table of a frame with that header, index and trailer, and stores the root in the trailer.
    ///
    /// # Errors
    /// `MemoryAlloc`; the trailer is unchanged then.
    pub(in crate::frame) fn seal(
        &self,
        header: &[u8],
        index: u32,
        trailer: &mut [u8],
        frame_len: u64,
    ) -> Result<Vec<u8>> {
        let (table, root) = self.encode(&ChecksummedParts { header, index, trailer, frame_len })?;
        if let Some(end) = trailer.last_chunk_mut::<FINGERPRINT_LEN>() {
            *end = root;
        }
        Ok(table)
    }

    /// Returns the length of the table, in bytes; `None` if there are too many chunks for a table, or none.
    pub(in crate::frame) fn writable_table_len(&self) -> Option<u64> {
        let len = self.chunks.len();
        (1..=MAX_TABLE_CHUNKS).contains(&len).then(|| table_len(len))
    }

    /// Returns the number of chunks.
    pub(in crate::frame) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the checksum of chunk `nchunk`.
    pub(in crate::frame) fn of_chunk(&self, nchunk: usize) -> Option<u32> {
        self.chunks.get(nchunk).copied()
    }

    /// Returns whether chunk `nchunk` was not checked yet.
    pub(in crate::frame) fn needs_check(&self, nchunk: usize) -> bool {
        self.is_verified.get(nchunk).is_some_and(|flag| !flag.load(Ordering::Relaxed))
    }

    /// States that all units of chunk `nchunk` were checked.
    pub(in crate::frame) fn set_checked(&self, nchunk: usize) {
        if let Some(flag) = self.is_verified.get(nchunk) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Compares the checksum that was `found` for chunk `nchunk`. `place` is the offset of the chunk in the data section,
    /// in bytes, or the number of its file.
    ///
    /// # Errors
    /// `Data` for another checksum.
    pub(in crate::frame) fn check_chunk(&self, nchunk: usize, found: u32, place: u64) -> Result<()> {
        let (Some(&expected), Some(flag)) = (self.chunks.get(nchunk), self.is_verified.get(nchunk)) else {
            return Ok(());
        };
        expect(format_args!("chunk {nchunk} at offset or in file {place}"), expected, found)?;
        flag.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Marks as checked the chunks that were checked in an older state of the frame. `is_same` returns whether a chunk
    /// is at the same place in both.
    pub(in crate::frame) fn keep_verified(&self, old: &Checksums, is_same: impl Fn(usize) -> bool) {
        for (nchunk, flag) in self.is_verified.iter().enumerate() {
            if old.chunks.get(nchunk) == self.chunks.get(nchunk)
                && !old.needs_check(nchunk)
                && is_same(nchunk)
            {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Applies a change of the frame, with the checksum of its chunk; that chunk counts as checked. Returns whether the
    /// checksums are those of the new state: not if it has too many chunks for a table.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn apply(&mut self, change: &Change<'_>, new: u32) -> Result<bool> {
        match change {
            Change::Insert { at, .. } if *at <= self.chunks.len() => {
                fallible::reserve(&mut self.chunks, 1)?;
                fallible::reserve(&mut self.is_verified, 1)?;
                self.chunks.insert(*at, new);
                self.is_verified.insert(*at, AtomicBool::new(true));
            }
            Change::Update { at, .. } if *at < self.chunks.len() => {
                self.chunks[*at] = new;
                self.is_verified[*at] = AtomicBool::new(true);
            }
            Change::Delete { at, .. } if *at < self.chunks.len() => {
                self.chunks.remove(*at);
                self.is_verified.remove(*at);
            }
            Change::Reorder { order } => {
                let old = &*self;
                let at = |n: &i64| usize::try_from(*n).ok().filter(|&n| n < old.chunks.len()).unwrap_or(0);
                let value = |n| old.chunks.get(at(n)).copied().unwrap_or_default();
                *self = Checksums {
                    chunks: fallible::collect(order.iter().map(value))?,
                    is_verified: fallible::collect(
                        order.iter().map(|n| AtomicBool::new(!old.needs_check(at(n)))),
                    )?,
                };
            }
            Change::Fill { nchunks, .. } if *nchunks <= MAX_TABLE_CHUNKS => {
                *self = Checksums::of_read_chunks(fallible::filled(0, *nchunks)?)?;
            }
            Change::ReplaceVlmetalayers | Change::ReplaceMetalayerContents | Change::AddMetalayer => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the checksum of a trailer without its fingerprint.
fn trailer_checksum(trailer: &[u8]) -> u32 {
    checksum(&trailer[..trailer.len().saturating_sub(FINGERPRINT_LEN)])
}

/// Returns the checksums of the chunks in the bytes of a table.
fn chunk_entries(table: &[u8]) -> Result<Vec<u32>> {
    let entries = table.get(TABLE_HEAD_LEN..).unwrap_or_default();
    fallible::collect(entries.chunks_exact(ENTRY_LEN).map(|entry| le_u32(entry, 0)))
}

/// Compares the checksum of a part of the frame.
///
/// # Errors
/// `Data` if they differ.
pub(in crate::frame) fn expect(part: fmt::Arguments<'_>, expected: u32, found: u32) -> Result<()> {
    if expected != found {
        return Err(err!(Data, "the checksum of {part} is {found:08x}, expected {expected:08x}"));
    }
    Ok(())
}

/// Reads eight bytes, which must be inside `bytes`.
fn le_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le_u32(bytes, at)) | u64::from(le_u32(bytes, at + 4)) << 32
}

/// Reads four bytes, which must be inside `bytes`.
fn le_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk::<4>().map_or(0, |value| u32::from_le_bytes(*value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::change::FrameChunk;
    use proptest::prelude::*;

    fn trailer(len: usize) -> Vec<u8> {
        let mut trailer: Vec<u8> = (0..len as u8).collect();
        let at = len - FINGERPRINT_LEN;
        trailer[at..].fill(0);
        trailer[at] = NO_ROOT_TYPE[0];
        trailer
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        assert_eq!(checksum(b"123456789"), 0xE306_9283);
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_detected(
            sums in prop::collection::vec(any::<u32>(), 0..20),
            header in prop::collection::vec(any::<u8>(), 87..200),
            frame_len in any::<u64>(),
            flip in any::<prop::sample::Index>(),
        ) {
            let mut trailer = trailer(60);
            let nchunks = sums.len();
            let checksums = Checksums::of_read_chunks(sums.clone()).unwrap();
            let mut table = checksums.seal(&header, 5, &mut trailer, frame_len).unwrap();
            prop_assert_eq!(table.len() as u64, table_len(nchunks));
            let read = |table: &[u8], header: &[u8], trailer: &[u8]| {
                let parts = ChecksummedParts { header, index: 5, trailer, frame_len };
                Checksums::parse(ChecksumTable::parse(table, Root::parse(trailer)?, 0)?, &parts, 87, nchunks)
            };
            prop_assert_eq!(read(&table, &header, &trailer).map(|read| read.chunks).ok(), Some(sums));
            let mut header = header;
            let len = table.len() + header.len() + trailer.len();
            let bit = flip.index(8 * len);
            let (byte, mask) = (bit / 8, 1 << (bit % 8));
            match byte {
                n if n < table.len() => table[n] ^= mask,
                n if n < table.len() + header.len() => header[n - table.len()] ^= mask,
                n => trailer[n - table.len() - header.len()] ^= mask,
            }
            prop_assert!(read(&table, &header, &trailer).is_err());
        }

        #[test]
        fn changes_give_the_checksums_of_the_new_chunks(
            changes in prop::collection::vec((0..5_u8, any::<prop::sample::Index>(), any::<[u8; 3]>()), 0..40),
        ) {
            let mut chunks: Vec<Vec<u8>> = Vec::new();
            let mut checksums = Checksums::default();
            for (kind, at, bytes) in &changes {
                let chunk = FrameChunk::Bytes(bytes);
                if *kind < 2 || chunks.is_empty() {
                    let at = at.index(chunks.len() + 1);
                    checksums.apply(&Change::Insert { at, chunk }, checksum(bytes)).unwrap();
                    chunks.insert(at, bytes.to_vec());
                    continue;
                }
                let at = at.index(chunks.len());
                match kind {
                    2 => {
                        checksums.apply(&Change::Update { at, chunk, old_len: 3 }, checksum(bytes)).unwrap();
                        chunks[at] = bytes.to_vec();
                    }
                    3 => {
                        checksums.apply(&Change::Delete { at, old_len: 3 }, 0).unwrap();
                        chunks.remove(at);
                    }
                    _ => {
                        let order: Vec<i64> = (0..chunks.len() as i64).rev().collect();
                        checksums.apply(&Change::Reorder { order: &order }, 0).unwrap();
                        chunks.reverse();
                    }
                }
            }
            let expected: Vec<u32> = chunks.iter().map(|chunk| checksum(chunk)).collect();
            prop_assert_eq!(checksums.chunks, expected);
        }

        #[test]
        fn arbitrary_bytes_are_no_table(table in prop::collection::vec(any::<u8>(), 0..80), trailer in
            prop::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(Root::parse(&trailer).is_err());
            let root = Root { table_len: table.len() as u32, table_checksum: checksum(&table) };
            prop_assert!(ChecksumTable::parse(&table, root, 0).is_err());
            prop_assert_eq!(stated_table_len(&table), None);
        }
    }

    #[test]
    fn a_removed_root_leaves_an_empty_fingerprint() {
        let mut bytes = trailer(60);
        let original = bytes.clone();
        Checksums::of_read_chunks(vec![1]).unwrap().seal(&[0; 87], 0, &mut bytes, 300).unwrap();
        assert_ne!(bytes, original);
        remove_root(&mut bytes);
        assert_eq!(bytes, original);
    }
}
