//! The checksums of the chunks of a frame, in pages of 1,024 chunks, and which of the chunks were checked.
//!
//! A change replaces the pages that it concerns; the others are shared with copies. With atomic changes, the commit after
//! that writes a page which has not changed again to a place of its own in the file, and the table only refers to it: the
//! cost of an append does not grow with the number of chunks.

#![forbid(unsafe_code)]

use super::change::Change;
use super::checksums::{
    ChecksumTable, ChecksummedParts, MAX_TABLE_CHUNKS, PAGE_CHUNKS, StoredPage, checksum, expect, table_len,
};
use super::trailer::FINGERPRINT_LEN;
use crate::error::{Result, err};
use crate::fallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the table of a state has a page.
#[derive(Clone, Copy, Debug)]
enum PagePlace {
    /// In the next table: no commit of this handle has written it yet.
    Changed,
    /// In the table, and at a place of its own after the next commit.
    Table,
    Stored(StoredPage),
}

/// The number of bits of a word of [`Page::verified`].
const WORD_BITS: usize = u64::BITS as usize;

#[derive(Default, Debug)]
struct Page {
    checksums: Vec<u32>,
    /// A bit for each chunk that needs no check any more.
    verified: [AtomicU64; PAGE_CHUNKS / WORD_BITS],
}

impl Page {
    /// Returns a page in which those chunks are checked for which `is_verified` returns true.
    fn new(checksums: Vec<u32>, is_verified: impl Fn(usize) -> bool) -> Page {
        let page = Page { checksums, ..Page::default() };
        (0..page.checksums.len()).filter(|&n| is_verified(n)).for_each(|n| page.set_verified(n));
        page
    }

    fn try_clone(&self) -> Result<Page> {
        Ok(Page::new(fallible::copy_of(&self.checksums)?, |n| self.is_verified(n)))
    }

    fn is_verified(&self, n: usize) -> bool {
        self.verified[n / WORD_BITS].load(Ordering::Relaxed) & 1 << (n % WORD_BITS) != 0
    }

    fn set_verified(&self, n: usize) {
        self.verified[n / WORD_BITS].fetch_or(1 << (n % WORD_BITS), Ordering::Relaxed);
    }
}

/// The checksums of the chunks of a frame, and which of the chunks were checked.
#[derive(Default, Debug)]
pub(in crate::frame) struct Checksums {
    /// All pages but the last one are full.
    pages: Vec<(Arc<Page>, PagePlace)>,
    len: usize,
    /// The places of stored pages to which the next table does not refer any more.
    freed: Vec<u64>,
}

impl Checksums {
    pub(in crate::frame) fn try_clone(&self) -> Result<Checksums> {
        Ok(Checksums {
            pages: fallible::collect(self.pages.iter().cloned())?,
            len: self.len,
            freed: fallible::copy_of(&self.freed)?,
        })
    }

    /// Returns the checksums of chunks that were read just now.
    pub(in crate::frame) fn of_read_chunks(chunks: impl Iterator<Item = Result<u32>>) -> Result<Checksums> {
        let mut all = Checksums::default();
        let mut chunks = chunks;
        loop {
            let page: Vec<u32> = fallible::try_collect(chunks.by_ref().take(PAGE_CHUNKS))?;
            if page.is_empty() {
                return Ok(all);
            }
            all.push_page(page, PagePlace::Changed, true)?;
        }
    }

    fn push_page(&mut self, page: Vec<u32>, place: PagePlace, is_verified: bool) -> Result<()> {
        self.len += page.len();
        fallible::push(&mut self.pages, (Arc::new(Page::new(page, |_| is_verified)), place))
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
        let mut all = Checksums::default();
        let (pages, places) = table.into_pages();
        for (page, place) in pages.into_iter().zip(places.into_iter().chain(std::iter::repeat(None))) {
            all.push_page(page, place.map_or(PagePlace::Changed, PagePlace::Stored), false)?;
        }
        Ok(all)
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
        let stored: Vec<_> = fallible::collect(self.pages.iter().map(|(_, place)| match place {
            PagePlace::Stored(page) => Some(*page),
            _ => None,
        }))?;
        let in_table = self.pages.iter().filter(|(_, place)| !matches!(place, PagePlace::Stored(_)));
        let chunks = in_table.flat_map(|(page, _)| page.checksums.iter().copied());
        let (table, root) = ChecksumTable::encode(
            &ChecksummedParts { header, index, trailer, frame_len },
            self.len,
            &stored,
            chunks,
        )?;
        if let Some(end) = trailer.last_chunk_mut::<FINGERPRINT_LEN>() {
            *end = root;
        }
        Ok(table)
    }

    /// Returns the length of the table, in bytes; `None` if there are too many chunks for a table, or none.
    pub(in crate::frame) fn writable_table_len(&self) -> Option<u64> {
        let len = (1..=MAX_TABLE_CHUNKS).contains(&self.len);
        len.then(|| table_len(self.len, self.stored_places().count()))
    }

    pub(in crate::frame) fn len(&self) -> usize {
        self.len
    }

    /// Returns the places of the stored pages, as offsets in the frame, in bytes.
    pub(in crate::frame) fn stored_places(&self) -> impl Iterator<Item = u64> + '_ {
        self.pages.iter().filter_map(|(_, place)| match place {
            PagePlace::Stored(page) => Some(page.at),
            _ => None,
        })
    }

    /// Prepares the table of the next commit: with `can_store`, stores the full pages that the last commit has written to
    /// the table, by calls of `store`, which returns the offset in the frame. Returns the places of pages that are free after
    /// the commit.
    pub(in crate::frame) fn store_pages(
        &mut self,
        can_store: bool,
        mut store: impl FnMut(&[u8]) -> Result<u64>,
    ) -> Result<Vec<u64>> {
        for (page, place) in &mut self.pages {
            match place {
                PagePlace::Table if can_store && page.checksums.len() == PAGE_CHUNKS => {
                    let bytes = page.checksums.iter().flat_map(|checksum| checksum.to_le_bytes());
                    let bytes: Vec<u8> = fallible::collect(bytes)?;
                    *place = PagePlace::Stored(StoredPage { at: store(&bytes)?, checksum: checksum(&bytes) });
                }
                PagePlace::Changed => *place = PagePlace::Table,
                _ => {}
            }
        }
        Ok(std::mem::take(&mut self.freed))
    }

    /// Moves all pages to the table. Returns whether there were others.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn take_stored_pages(&mut self) -> Result<bool> {
        let places: Vec<u64> = fallible::collect(self.stored_places())?;
        fallible::extend(&mut self.freed, &places)?;
        self.pages.iter_mut().for_each(|(_, place)| *place = PagePlace::Changed);
        Ok(!places.is_empty())
    }

    /// Forgets the places of stored pages: of a frame that is changed in place.
    pub(in crate::frame) fn forget_places(&mut self) {
        self.pages.iter_mut().for_each(|(_, place)| *place = PagePlace::Changed);
    }

    fn page(&self, nchunk: usize) -> Option<&Page> {
        self.pages.get(nchunk / PAGE_CHUNKS).map(|(page, _)| &**page)
    }

    pub(in crate::frame) fn of_chunk(&self, nchunk: usize) -> Option<u32> {
        self.page(nchunk)?.checksums.get(nchunk % PAGE_CHUNKS).copied()
    }

    /// Returns whether chunk `nchunk` was not checked yet.
    pub(in crate::frame) fn needs_check(&self, nchunk: usize) -> bool {
        nchunk < self.len && self.page(nchunk).is_some_and(|page| !page.is_verified(nchunk % PAGE_CHUNKS))
    }

    /// States that all units of chunk `nchunk` were checked.
    pub(in crate::frame) fn set_checked(&self, nchunk: usize) {
        if let Some(page) = self.page(nchunk) {
            page.set_verified(nchunk % PAGE_CHUNKS);
        }
    }

    /// Compares the checksum that was `found` for chunk `nchunk`. `place` is the offset of the chunk in the data section,
    /// in bytes, or the number of its file.
    pub(in crate::frame) fn check_chunk(&self, nchunk: usize, found: u32, place: u64) -> Result<()> {
        let Some(expected) = self.of_chunk(nchunk) else { return Ok(()) };
        expect(format_args!("chunk {nchunk} at offset or in file {place}"), expected, found)?;
        self.set_checked(nchunk);
        Ok(())
    }

    /// Marks as checked the chunks that were checked in an older state of the frame. `is_same` returns whether a chunk
    /// is at the same place in both.
    pub(in crate::frame) fn keep_verified(&self, old: &Checksums, is_same: impl Fn(usize) -> bool) {
        for nchunk in 0..self.len {
            if old.of_chunk(nchunk) == self.of_chunk(nchunk) && !old.needs_check(nchunk) && is_same(nchunk) {
                self.set_checked(nchunk);
            }
        }
    }

    /// Applies a change of the frame, with the checksum of its chunk; that chunk counts as checked. Returns whether the
    /// checksums are those of the new state: not if it has too many chunks for a table.
    ///
    /// # Errors
    /// `MemoryAlloc`; the checksums must not be used then.
    pub(in crate::frame) fn apply(&mut self, change: &Change<'_>, new: u32) -> Result<bool> {
        match change {
            Change::Insert { at, .. } if *at <= self.len => {
                self.change_from(*at, |chunks, at| {
                    fallible::reserve(chunks, 1)?;
                    chunks.insert(at, (new, true));
                    Ok(())
                })?;
            }
            Change::Update { at, .. } if *at < self.len => {
                let page = self.changed_page(*at / PAGE_CHUNKS)?;
                page.checksums[*at % PAGE_CHUNKS] = new;
                page.set_verified(*at % PAGE_CHUNKS);
            }
            Change::Delete { at, .. } if *at < self.len => {
                self.change_from(*at, |chunks, at| {
                    chunks.remove(at);
                    Ok(())
                })?;
            }
            Change::Reorder { order } => {
                self.change_from(0, |chunks, _| {
                    let old = |n: &i64| usize::try_from(*n).ok().and_then(|n| chunks.get(n)).copied();
                    *chunks = fallible::collect(order.iter().map(|n| old(n).unwrap_or_default()))?;
                    Ok(())
                })?;
            }
            Change::Fill { nchunks, .. } if *nchunks <= MAX_TABLE_CHUNKS => {
                self.change_from(0, |chunks, _| {
                    *chunks = fallible::filled((0, true), *nchunks)?;
                    Ok(())
                })?;
            }
            Change::ReplaceVlmetalayers | Change::ReplaceMetalayerContents | Change::AddMetalayer => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns page `n` for a change, which no copy shares.
    fn changed_page(&mut self, n: usize) -> Result<&mut Page> {
        let (page, place) = &mut self.pages[n];
        if let PagePlace::Stored(stored) = place {
            fallible::push(&mut self.freed, stored.at)?;
        }
        *place = PagePlace::Changed;
        if Arc::get_mut(page).is_none() {
            *page = Arc::new(page.try_clone()?);
        }
        Arc::get_mut(page).ok_or_else(|| err!(Failure, "a page of checksums is in use"))
    }

    /// Applies `change` to the checksums and flags of the chunks from the page of chunk `at` on. Its second argument is the
    /// position of that chunk among them.
    fn change_from(
        &mut self,
        at: usize,
        change: impl FnOnce(&mut Vec<(u32, bool)>, usize) -> Result<()>,
    ) -> Result<()> {
        let first = at / PAGE_CHUNKS;
        let mut chunks = fallible::vec_with_capacity(self.len.saturating_sub(first * PAGE_CHUNKS) + 1)?;
        for (page, _) in self.pages.get(first..).unwrap_or_default() {
            chunks.extend(page.checksums.iter().enumerate().map(|(n, &sum)| (sum, page.is_verified(n))));
        }
        change(&mut chunks, at % PAGE_CHUNKS)?;
        for (_, place) in self.pages.drain(first.min(self.pages.len())..) {
            if let PagePlace::Stored(stored) = place {
                fallible::push(&mut self.freed, stored.at)?;
            }
        }
        fallible::reserve(&mut self.pages, chunks.len().div_ceil(PAGE_CHUNKS))?;
        for part in chunks.chunks(PAGE_CHUNKS) {
            let checksums: Vec<u32> = fallible::collect(part.iter().map(|chunk| chunk.0))?;
            self.pages.push((Arc::new(Page::new(checksums, |n| part[n].1)), PagePlace::Changed));
        }
        self.len = first * PAGE_CHUNKS + chunks.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::change::FrameChunk;
    use crate::frame::format::checksums::{PAGE_LEN, Root};
    use crate::frame::format::trailer;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Reads the table of `checksums` as a reader does. `file` has the stored pages by their offsets.
    fn read_back(checksums: &Checksums, file: &BTreeMap<u64, Vec<u8>>) -> Vec<u32> {
        let mut trailer = trailer::build(&[]).unwrap();
        let bytes = checksums.seal(&[7; 97], 5, &mut trailer, 1_000_000).unwrap();
        assert_eq!(Some(bytes.len() as u64), checksums.writable_table_len());
        let mut table = ChecksumTable::parse(&bytes, Root::parse(&trailer).unwrap(), 0).unwrap();
        let read = |at, dest: &mut [u8]| {
            dest.copy_from_slice(&file[&at]);
            Ok(())
        };
        table.read_pages(read).unwrap();
        table.chunks().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 60 }))]
        /// The table of each commit, with the pages that are stored then, has the checksums of all chunks; a page that
        /// it needs is not freed before.
        #[test]
        fn stored_pages_and_table_have_all_checksums(
            count in prop::sample::select(vec![1, 1000, 1024, 1025, 2048, 3000]),
            changes in prop::collection::vec((0..8_u8, any::<prop::sample::Index>(), any::<u32>()), 1..30),
        ) {
            let mut expected: Vec<u32> = (0..count).collect();
            let mut checksums = Checksums::of_read_chunks(expected.iter().copied().map(Ok)).unwrap();
            let (mut file, mut next) = (BTreeMap::new(), 600);
            for (kind, at, new) in changes {
                let chunk = FrameChunk::Bytes(&[]);
                let mut copy = checksums.try_clone().unwrap();
                let change = match kind {
                    0 if !expected.is_empty() => {
                        let at = at.index(expected.len());
                        expected.remove(at);
                        Change::Delete { at, old_len: 0 }
                    }
                    1 | 2 if !expected.is_empty() => {
                        let at = at.index(expected.len());
                        expected[at] = new;
                        Change::Update { at, chunk, old_len: 0 }
                    }
                    3 => {
                        let at = at.index(expected.len() + 1);
                        expected.insert(at, new);
                        Change::Insert { at, chunk }
                    }
                    4 => Change::ReplaceVlmetalayers,
                    _ => {
                        expected.push(new);
                        Change::Insert { at: expected.len() - 1, chunk }
                    }
                };
                prop_assert!(copy.apply(&change, new).unwrap());
                if kind == 7 {
                    copy.take_stored_pages().unwrap();
                }
                let freed = copy.store_pages(true, |page| {
                    assert_eq!(page.len(), PAGE_LEN);
                    next += PAGE_LEN as u64;
                    file.insert(next, page.to_vec());
                    Ok(next)
                });
                if expected.is_empty() {
                    break;
                }
                prop_assert_eq!(&read_back(&copy, &file), &expected);
                for at in freed.unwrap() {
                    prop_assert!(file.remove(&at).is_some());
                }
                let places: Vec<u64> = copy.stored_places().collect();
                prop_assert_eq!(places.len(), file.len());
                let found: Vec<u32> = (0..expected.len()).filter_map(|n| copy.of_chunk(n)).collect();
                prop_assert_eq!(&found, &expected);
                checksums = copy;
            }
        }
    }

    #[test]
    fn an_append_changes_one_page() {
        let mut checksums = Checksums::of_read_chunks((0..5000).map(Ok)).unwrap();
        let mut stored = 0;
        for n in 0..3 {
            let change = Change::Insert { at: 5000 + n, chunk: FrameChunk::Bytes(&[]) };
            checksums.apply(&change, 9).unwrap();
            let count = |_: &[u8]| {
                stored += 1;
                Ok(stored)
            };
            assert_eq!(checksums.store_pages(true, count).unwrap(), []);
        }
        assert_eq!(stored, 4);
        assert!(checksums.writable_table_len().unwrap() < PAGE_LEN as u64);
    }
}
