//! The checksums of a frame (`frame.md` 2.14): the table before the trailer, and its root in the fingerprint.
//!
//! The root has its own checksum and that of the table; the table has the checksums of header, index, trailer and
//! chunks, or the places and checksums of pages of 1,024 of the latter. All checksums are CRC-32C. Pure functions of bytes:
//! a [`ChecksumTable`] fits its root.

#![forbid(unsafe_code)]

use super::header::FrameHeader;
use super::trailer::FINGERPRINT_LEN;
pub(in crate::frame) use crate::crc32c::checksum;
use crate::environment;
use crate::error::{Result, ensure, err};
use crate::fallible;
use std::cell::Cell;
use std::fmt;

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
    /// Returns the mode of frames that this thread creates or opens now: that of [`with_checksums`], otherwise the value
    /// of the environment variable `BLOSC2_CHECKSUMS` (`off`, `verify` or `on`), otherwise `default`. Any other value is
    /// reported by `BLOSC_TRACE`.
    pub(in crate::frame) fn from_environment(default: ChecksumMode) -> ChecksumMode {
        if let Some(mode) = THREAD_MODE.get() {
            return mode;
        }
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

thread_local! {
    /// The mode of the frames that this thread creates or opens, if it is not that of the environment.
    static THREAD_MODE: Cell<Option<ChecksumMode>> = const { Cell::new(None) };
}

/// Calls `f`. New frames that this thread creates meanwhile have checksums, or none.
pub fn with_checksums<R>(has_checksums: bool, f: impl FnOnce() -> R) -> R {
    /// Restores the mode, also after a panic.
    struct Restore(Option<ChecksumMode>);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREAD_MODE.set(self.0);
        }
    }
    let mode = if has_checksums { ChecksumMode::Write } else { ChecksumMode::Verify };
    let _restore = Restore(THREAD_MODE.replace(Some(mode)));
    f()
}

/// The first bytes of a table: the magic and the version. The number of stored pages follows, in three bytes.
const TABLE_START: [u8; 5] = *b"b2cs\x02";
/// Offset of the number of stored pages in a table, in bytes.
const STORED_PAGES_OFFSET: usize = 5;
/// Length of a table without chunks, in bytes.
pub(in crate::frame) const TABLE_HEAD_LEN: usize = 32;
/// Offset of the length of the frame in a table, in bytes.
const FRAME_LEN_OFFSET: usize = 8;
/// Offset of the number of chunks in a table, in bytes.
const COUNT_OFFSET: usize = 16;
/// Size of the checksum of a chunk in a table, in bytes.
const ENTRY_LEN: usize = 4;
/// Number of chunks of a page; the last one can have fewer.
pub(in crate::frame) const PAGE_CHUNKS: usize = 1024;
/// Length of a page at a place of its own, in bytes.
pub(in crate::frame) const PAGE_LEN: usize = PAGE_CHUNKS * ENTRY_LEN;
/// Size of the place of a page in a table, in bytes: offset and checksum.
const PAGE_ENTRY_LEN: usize = 12;
/// The offset of a page that is in the table itself.
const IN_TABLE: u64 = u64::MAX;
/// The maximum number of chunks for which a table is written: the table has 64 MiB then, and every change writes it.
pub(in crate::frame) const MAX_TABLE_CHUNKS: usize = 1 << 24;

/// The start of the fingerprint of a frame with a table.
const ROOT_MAGIC: [u8; 4] = *b"b2c1";
/// Marker and type of the fingerprint of a frame with a table (128 bits), and of one without.
const ROOT_TYPE: [u8; 2] = [0xd8, 3];
/// See [`ROOT_TYPE`].
const NO_ROOT_TYPE: [u8; 2] = [0xd8, 0];
/// Returns the length of the table of a frame with `nchunks` chunks, of which `stored` full pages are at places of their
/// own, in bytes.
pub(in crate::frame) fn table_len(nchunks: usize, stored: usize) -> u64 {
    // 64 bits: a damaged file can state any number of chunks.
    let (nchunks, page_chunks) = (nchunks as u64, PAGE_CHUNKS as u64);
    let entries = if stored > 0 { nchunks.div_ceil(page_chunks) * PAGE_ENTRY_LEN as u64 } else { 0 };
    TABLE_HEAD_LEN as u64 + entries + nchunks.saturating_sub(stored as u64 * page_chunks) * ENTRY_LEN as u64
}

/// The place of a page of the checksums of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frame) struct StoredPage {
    /// Offset in the frame, in bytes.
    pub(in crate::frame) at: u64,
    pub(in crate::frame) checksum: u32,
}

/// Returns the number of stored pages that the first bytes of a table give.
fn stored_pages(head: &[u8; TABLE_HEAD_LEN]) -> usize {
    (le_u32(head, STORED_PAGES_OFFSET - 1) >> 8) as usize
}

/// Returns the length, in bytes, that the first bytes of a table give; `None` if no table begins there.
pub(in crate::frame) fn stated_table_len(head: &[u8]) -> Option<u64> {
    let head = table_head(head)?;
    Some(table_len(le_u32(head, COUNT_OFFSET) as usize, stored_pages(head)))
}

/// Returns the length of the frame, in bytes, that the first bytes of a table give; `None` if no table begins there.
pub(in crate::frame) fn stated_frame_len(head: &[u8]) -> Option<u64> {
    Some(le_u64(table_head(head)?, FRAME_LEN_OFFSET))
}

fn table_head(table: &[u8]) -> Option<&[u8; TABLE_HEAD_LEN]> {
    table.first_chunk().filter(|head| head.starts_with(&TABLE_START))
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
    // A root, whole or damaged.
    let is_root = |end: &[u8; FINGERPRINT_LEN]| end[..2] == ROOT_TYPE || end[2..6] == ROOT_MAGIC;
    header.has_checksums && mode != ChecksumMode::Off && trailer.last_chunk().is_some_and(is_root)
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
    pub(in crate::frame) nchunks: usize,
    /// The checksums of the chunks, in pages of [`PAGE_CHUNKS`]. Stored pages are empty until
    /// [`read_pages`](Self::read_pages) is called.
    pages: Vec<Vec<u32>>,
    /// The places of the pages that are not in the table; empty without one.
    stored: Vec<Option<StoredPage>>,
    header: u32,
    index: u32,
    trailer: u32,
}

impl ChecksumTable {
    /// Returns the offset of the table, which lies between the index and the trailer. All numbers are in bytes.
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
        let Some(head) = table_head(bytes) else {
            return Err(err!(
                Data,
                "the checksum table at offset {at} has an unknown version, expected {TABLE_START:?}"
            ));
        };
        let (count, stored) = (le_u32(head, COUNT_OFFSET) as usize, stored_pages(head));
        let (len, expected) = (bytes.len() as u64, table_len(count, stored));
        let can_be_stored = stored == 0 || (stored <= count / PAGE_CHUNKS && count <= MAX_TABLE_CHUNKS);
        ensure!(
            len == expected && len == u64::from(root.table_len) && can_be_stored,
            Data,
            "the checksum table has {len} bytes, expected {expected} for {count} chunks and {stored} stored pages",
        );
        let [header, index, trailer] = [20, 24, 28].map(|offset| le_u32(head, offset));
        let frame_len = le_u64(head, FRAME_LEN_OFFSET);
        let (stored, in_table) = parse_pages(&bytes[TABLE_HEAD_LEN..], count, stored)?;
        let pages = decode_pages(count, &stored, in_table)?;
        Ok(ChecksumTable { at, frame_len, nchunks: count, pages, stored, header, index, trailer })
    }

    /// Reads the pages that are not in the table, by calls of `read`, which fills its second argument with the bytes of the
    /// frame at its first.
    ///
    /// # Errors
    /// `Data` for a page with another checksum; those of `read`.
    pub(in crate::frame) fn read_pages(
        &mut self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = [0; PAGE_LEN];
        for (n, (page, place)) in self.pages.iter_mut().zip(&self.stored).enumerate() {
            let Some(StoredPage { at, checksum: expected }) = *place else { continue };
            read(at, &mut bytes)?;
            expect(format_args!("page {n} of the checksum table (offset {at})"), expected, checksum(&bytes))?;
            *page = decode_entries(&bytes)?;
        }
        Ok(())
    }

    /// Returns the pages, and the places of those that are not in the table: fewer than pages without one.
    pub(in crate::frame) fn into_pages(self) -> (Vec<Vec<u32>>, Vec<Option<StoredPage>>) {
        (self.pages, self.stored)
    }

    /// Returns the checksums of the chunks, in the order of their numbers.
    pub(in crate::frame) fn chunks(&self) -> Result<Vec<u32>> {
        fallible::collect(self.pages.iter().flatten().copied())
    }

    /// Builds the table of a frame with `nchunks` chunks. `stored` gives the places of pages, and `chunks` the checksums of
    /// the chunks of the other pages. Returns the table and the end of the trailer.
    pub(in crate::frame) fn encode(
        frame: &ChecksummedParts<'_>,
        nchunks: usize,
        stored: &[Option<StoredPage>],
        chunks: impl Iterator<Item = u32>,
    ) -> Result<(Vec<u8>, [u8; FINGERPRINT_LEN])> {
        let stored_count = stored.iter().flatten().count();
        let mut table = fallible::vec_with_capacity(table_len(nchunks, stored_count) as usize)?;
        table.extend_from_slice(&TABLE_START);
        table.extend_from_slice(&(stored_count as u32).to_le_bytes()[..3]);
        table.extend_from_slice(&frame.frame_len.to_le_bytes());
        table.extend_from_slice(&(nchunks as u32).to_le_bytes());
        table.resize(TABLE_HEAD_LEN, 0);
        for page in stored.iter().filter(|_| stored_count > 0) {
            let page = page.unwrap_or(StoredPage { at: IN_TABLE, checksum: 0 });
            table.extend_from_slice(&page.at.to_le_bytes());
            table.extend_from_slice(&page.checksum.to_le_bytes());
        }
        chunks.for_each(|value| table.extend_from_slice(&value.to_le_bytes()));
        let root = ChecksumTable::seal_again(&mut table, frame);
        Ok((table, root))
    }

    /// Changes a table to that of a frame with the same chunks and other parts. Returns the end of the trailer.
    pub(in crate::frame) fn seal_again(
        table: &mut [u8],
        frame: &ChecksummedParts<'_>,
    ) -> [u8; FINGERPRINT_LEN] {
        let parts = [checksum(frame.header), frame.index, trailer_checksum(frame.trailer)];
        table[FRAME_LEN_OFFSET..COUNT_OFFSET].copy_from_slice(&frame.frame_len.to_le_bytes());
        for (at, part) in (COUNT_OFFSET + ENTRY_LEN..).step_by(ENTRY_LEN).zip(parts) {
            table[at..at + ENTRY_LEN].copy_from_slice(&part.to_le_bytes());
        }
        Root { table_len: table.len() as u32, table_checksum: checksum(table) }.encode()
    }

    /// Returns the offset of the end of the table in the frame, in bytes.
    pub(in crate::frame) fn end(&self) -> u64 {
        let stored = self.stored.iter().flatten().count();
        self.at.saturating_add(table_len(self.nchunks, stored))
    }

    /// Checks that the table belongs to a frame of that length, in bytes, with that number of chunks.
    pub(in crate::frame) fn check_frame(&self, frame_len: u64, nchunks: usize) -> Result<()> {
        if self.frame_len != frame_len || self.nchunks != nchunks {
            let (len, count) = (self.frame_len, self.nchunks);
            return Err(err!(
                Data,
                "the checksum table is that of a frame of {len} bytes and {count} chunks, expected {frame_len} \
                 bytes and {nchunks} chunks"
            ));
        }
        Ok(())
    }

    pub(in crate::frame) fn check_header(&self, header: &[u8]) -> Result<()> {
        expect(format_args!("the frame header (offset 0)"), self.header, checksum(header))
    }

    /// Checks the index chunk, which begins at byte `at` of the frame. `found` is its checksum.
    pub(in crate::frame) fn check_index(&self, at: u64, found: u32) -> Result<()> {
        expect(format_args!("the index chunk (offset {at})"), self.index, found)
    }

    /// Checks the trailer, which begins at byte `at` of the frame, except its fingerprint.
    pub(in crate::frame) fn check_trailer(&self, at: u64, trailer: &[u8]) -> Result<()> {
        expect(format_args!("the trailer (offset {at})"), self.trailer, trailer_checksum(trailer))
    }
}

/// Returns the checksum of a trailer without its fingerprint.
fn trailer_checksum(trailer: &[u8]) -> u32 {
    checksum(&trailer[..trailer.len().saturating_sub(FINGERPRINT_LEN)])
}

/// Splits a table behind its head into the places of its pages, and the checksums in the table.
fn parse_pages(bytes: &[u8], count: usize, stored: usize) -> Result<(Vec<Option<StoredPage>>, &[u8])> {
    if stored == 0 {
        return Ok((Vec::new(), bytes));
    }
    let (entries, in_table) = bytes.split_at(count.div_ceil(PAGE_CHUNKS) * PAGE_ENTRY_LEN);
    let page = |entry: &[u8]| StoredPage { at: le_u64(entry, 0), checksum: le_u32(entry, 8) };
    let pages = entries.chunks_exact(PAGE_ENTRY_LEN).map(page);
    let pages: Vec<_> = fallible::collect(pages.map(|page| (page.at != IN_TABLE).then_some(page)))?;
    let full = &pages[..count / PAGE_CHUNKS];
    ensure!(
        full.iter().flatten().count() == stored && pages.iter().flatten().count() == stored,
        Data,
        "the checksum table has other pages than the {stored} stored ones of its head",
    );
    Ok((pages, in_table))
}

/// Decodes the pages of `count` chunks. Those that are `stored` elsewhere are empty.
fn decode_pages(count: usize, stored: &[Option<StoredPage>], mut in_table: &[u8]) -> Result<Vec<Vec<u32>>> {
    let mut pages = fallible::vec_with_capacity(count.div_ceil(PAGE_CHUNKS))?;
    for first in (0..count).step_by(PAGE_CHUNKS) {
        let len = PAGE_CHUNKS.min(count - first);
        let is_stored = stored.get(pages.len()).is_some_and(Option::is_some);
        let (bytes, rest) = in_table.split_at(if is_stored { 0 } else { len * ENTRY_LEN });
        pages.push(if is_stored { Vec::new() } else { decode_entries(bytes)? });
        in_table = rest;
    }
    Ok(pages)
}

fn decode_entries(bytes: &[u8]) -> Result<Vec<u32>> {
    let entries = bytes.as_chunks::<ENTRY_LEN>().0;
    let mut page = fallible::vec_with_capacity(entries.len())?;
    page.extend(entries.iter().map(|entry| u32::from_le_bytes(*entry)));
    Ok(page)
}

/// Compares the checksum of a part of the frame.
pub(in crate::frame) fn expect(part: fmt::Arguments<'_>, expected: u32, found: u32) -> Result<()> {
    ensure!(expected == found, Data, "the checksum of {part} is {found:08x}, expected {expected:08x}");
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
    use crate::frame::format::change::{Change, FrameChunk};
    use crate::frame::format::chunk_checksums::Checksums;
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
            let checksums = Checksums::of_read_chunks(sums.iter().copied().map(Ok)).unwrap();
            let mut table = checksums.seal(&header, 5, &mut trailer, frame_len).unwrap();
            prop_assert_eq!(table.len() as u64, table_len(nchunks, 0));
            let read = |table: &[u8], header: &[u8], trailer: &[u8]| {
                let parts = ChecksummedParts { header, index: 5, trailer, frame_len };
                Checksums::parse(ChecksumTable::parse(table, Root::parse(trailer)?, 0)?, &parts, 87, nchunks)
            };
            let read_sums = read(&table, &header, &trailer).unwrap();
            prop_assert_eq!((0..nchunks).filter_map(|n| read_sums.of_chunk(n)).collect::<Vec<_>>(), sums);
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
            let found: Vec<u32> = (0..chunks.len()).filter_map(|n| checksums.of_chunk(n)).collect();
            prop_assert_eq!(found, expected);
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
        Checksums::of_read_chunks([Ok(1)].into_iter()).unwrap().seal(&[0; 87], 0, &mut bytes, 300).unwrap();
        assert_ne!(bytes, original);
        remove_root(&mut bytes);
        assert_eq!(bytes, original);
    }
}
