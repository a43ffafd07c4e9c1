//! The numbers of chunks that were found by their headers: by the table of checksums, or by the entries of an index
//! whose place does not agree with the header.

use super::index::LOST;
use super::scan::{FoundChunk, FoundIndex};
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers::section_len;
use crate::frame::format::plan::copy_offsets;
use crate::frame::format::units::chunk_checksum;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts;
use crate::frame::recovery::check::report::damage_of;
use crate::frame::store::fetch::stored_part;
use std::ops::Range;

/// Maximum number of lengths of a lost header that are tried. More are possible only with a gap before the index.
const MAX_HEADER_LENS: usize = 256;

/// Returns the checksum and the location of each found chunk, in ascending order: its offset in the file, or the number
/// of its file.
pub(super) fn checksums_of_found(files: &FrameFiles, chunks: &[FoundChunk]) -> Result<Vec<(u32, u64)>> {
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    for chunk in chunks {
        files.read_into(chunk.at, u64::from(chunk.cbytes), &mut bytes)?;
        fallible::push(&mut found, (chunk_checksum(&bytes), chunk.at))?;
    }
    for number in files.chunk_file_numbers()? {
        if damage_of(files.read_chunk_file(u64::from(number), &mut bytes))?.is_ok() {
            fallible::push(&mut found, (chunk_checksum(stored_part(&bytes)), u64::from(number)))?;
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the entries of an index for chunks with these checksums: for each number the place of a chunk of `found`, a
/// list in ascending order, with its checksum, or [`LOST`]. Chunks without bytes have the entries of `index`. Chunks with
/// equal checksums have the order of their places; if fewer were found than there are numbers, the others share the last
/// place.
pub(super) fn entries_by_checksum(
    checksums: &[u32],
    found: &[(u32, u64)],
    index: Option<&Offsets>,
) -> Result<Offsets> {
    let count = checksums.len();
    let mut order = fallible::collect(0..u32::try_from(count).unwrap_or(u32::MAX))?;
    order.sort_unstable_by_key(|&n| (checksums[n as usize], n));
    let mut codes = fallible::filled(LOST, count)?;
    for same in order.chunk_by(|&a, &b| checksums[a as usize] == checksums[b as usize]) {
        let wanted = checksums[same[0] as usize];
        let first = found.partition_point(|&(checksum, _)| checksum < wanted);
        let mut places = found[first..].iter().take_while(|&&(checksum, _)| checksum == wanted);
        let mut place = LOST;
        for &n in same {
            place = places.next().map_or(place, |&(_, location)| location as i64);
            codes[n as usize] = place;
        }
    }
    let special =
        |n: usize| index.and_then(|index| index.get(n)).filter(|&code| parts::special_kind(code).is_ok());
    for (n, (code, &checksum)) in codes.iter_mut().zip(checksums).enumerate() {
        // The table has 0 for a chunk without bytes.
        if let Some(special) = special(n).filter(|_| checksum == 0) {
            *code = special;
        }
    }
    Ok(Offsets::List(codes))
}

/// An index that a scan has found, and the chunks before it.
pub(super) struct Findable<'a> {
    pub index: &'a FoundIndex,
    /// The chunks, in the order of their places.
    pub chunks: &'a [FoundChunk],
    /// The bytes that belong to no part.
    pub gaps: &'a [Range<u64>],
}

impl Findable<'_> {
    /// Returns the entries of the index with the places of the chunks in the file, counted from the returned length of
    /// the header. Entries whose chunk is not certain are [`LOST`]. `None` if it is not certain from where the offsets of
    /// the index count: a chunk must not get the number of another one. `header_lens` are lengths that the header gives;
    /// there are none without it.
    pub(super) fn entries(
        &self,
        header: &FrameHeader,
        header_lens: &[usize],
    ) -> Result<Option<(usize, Offsets)>> {
        let offsets = &self.index.offsets;
        let stored = || offsets.iter().filter_map(|code| u64::try_from(code).ok());
        let Some(highest) = stored().max().filter(|_| header.kind == FrameKind::Contiguous) else {
            return Ok(Some((header_lens.first().copied().unwrap_or(0), copy_offsets(offsets)?)));
        };
        let stated_data_end = u64::try_from(header.cbytes).unwrap_or(0);
        let is_moved =
            |header_len: usize| self.index.at.checked_sub(header_len as u64) != Some(stated_data_end);
        let mut best: Option<(usize, usize, Offsets)> = None;
        let mut is_certain = true;
        for &header_len in header_lens {
            let start = signed(header_len as u64);
            let entries = if is_moved(header_len) && !self.inner_gaps().is_empty() {
                // Behind missing bytes, offsets can count from a place before the file.
                let moved_start = signed(self.index.at).saturating_sub(header.cbytes.max(0));
                self.entries_around_gaps(start, moved_start)?
            } else {
                copy_offsets(offsets)?
            };
            let matches = entries.iter().filter(|&code| self.has_chunk(start, code)).count();
            let (known, most) = best.as_ref().map_or((header_len, 0), |&(known, most, _)| (known, most));
            if known != header_len && most == matches {
                is_certain = false;
            } else if matches > most {
                (best, is_certain) = (Some((header_len, matches, entries)), true);
            }
        }
        if let Some((header_len, _, entries)) = best {
            return Ok(is_certain.then_some((header_len, entries)));
        }
        let Some(header_len) = self.find_header_len(highest)? else { return Ok(None) };
        Ok(Some((header_len, copy_offsets(offsets)?)))
    }

    /// Returns whether a chunk begins at the place of that entry, if offsets count from `start`.
    fn has_chunk(&self, start: i64, code: i64) -> bool {
        let at = u64::try_from(start.saturating_add(code)).ok().filter(|_| code >= 0);
        at.is_some_and(|at| self.chunks.binary_search_by_key(&at, |chunk| chunk.at).is_ok())
    }

    /// Returns the gaps before the last chunk.
    fn inner_gaps(&self) -> &[Range<u64>] {
        let last = self.chunks.last().map_or(0, |chunk| chunk.at);
        &self.gaps[..self.gaps.partition_point(|gap| gap.end <= last)]
    }

    /// Returns the entries of an index behind data of which some bytes were inserted or are missing, so that the chunks
    /// before the change are at `start` plus their offsets, and those behind it at `moved_start` plus their offsets. All
    /// changed bytes are in gaps. A chunk between two gaps is certain if only one of the two
    /// places has one, and only one entry has its place.
    fn entries_around_gaps(&self, start: i64, moved_start: i64) -> Result<Offsets> {
        let gaps = self.inner_gaps();
        let (first, last) = match gaps {
            [first, .., last] => (first, last),
            [only] => (only, only),
            [] => return copy_offsets(&self.index.offsets),
        };
        let stored = || self.index.offsets.iter().filter(|&code| code >= 0);
        let (first, last) = (signed(first.start)..signed(first.end), signed(last.start)..signed(last.end));
        let matches_at_end = |start: i64| {
            let is_behind = |code: i64| start.saturating_add(code) >= last.end;
            stored().filter(|&code| is_behind(code) && self.has_chunk(start, code)).count()
        };
        if matches_at_end(start) > matches_at_end(moved_start) {
            // Nothing was moved: it is the length of the data section in the header that is wrong.
            return copy_offsets(&self.index.offsets);
        }
        let place = |code: i64| {
            if code < 0 {
                return code;
            }
            let (before, behind) = (start.saturating_add(code), moved_start.saturating_add(code));
            let is_before = before < last.start && self.has_chunk(start, code);
            let is_behind = behind >= first.end && self.has_chunk(moved_start, code);
            let at = match (is_before, is_behind) {
                (true, _) if before < first.start => before,
                (_, true) if behind >= last.end => behind,
                (true, false) => before,
                (false, true) => behind,
                (true, true) | (false, false) => return LOST,
            };
            // A chunk before the end of the header is none.
            if at >= start { at - start } else { LOST }
        };
        let list = match &self.index.offsets {
            Offsets::Uniform { code, len } => return Ok(Offsets::Uniform { code: place(*code), len: *len }),
            Offsets::List(list) => list,
        };
        let mut entries = fallible::collect(list.iter().map(|&code| place(code)))?;
        // A chunk between the gaps that has two possible numbers has none.
        let mut claims = fallible::collect(entries.iter().zip(list).map(|(&entry, &code)| (entry, code)))?;
        claims.sort_unstable();
        claims.dedup();
        let is_claimed_twice = |entry: i64| {
            let first = claims.partition_point(|claim| claim.0 < entry);
            claims[first..].iter().take_while(|claim| claim.0 == entry).count() > 1
        };
        for entry in entries.iter_mut().filter(|entry| **entry >= 0 && is_claimed_twice(**entry)) {
            *entry = LOST;
        }
        Ok(Offsets::List(entries))
    }

    /// Returns the length of a lost header: that with which most entries are places of chunks, if there is one only. The
    /// data section, which ends with the index at the latest, has room for the chunk at offset `highest`.
    fn find_header_len(&self, highest: u64) -> Result<Option<usize>> {
        let shortest = (FIXED_HEADER_LEN + section_len(&[])?) as u64;
        let longest = self.index.at.checked_sub(highest.saturating_add(EXTENDED_HEADER_LENGTH as u64));
        let possible = shortest..=longest.unwrap_or(0);
        let stored = || self.index.offsets.iter().filter_map(|code| u64::try_from(code).ok());
        let mut header_lens = Vec::new();
        for chunk in self.chunks.first().into_iter().chain(self.chunks.last()) {
            for header_len in stored().filter_map(|offset| chunk.at.checked_sub(offset)) {
                if possible.contains(&header_len) && !header_lens.contains(&header_len) {
                    if header_lens.len() == MAX_HEADER_LENS {
                        return Ok(None);
                    }
                    fallible::push(&mut header_lens, header_len)?;
                }
            }
        }
        let matches = |header_len: u64| {
            stored().filter(|&offset| self.has_chunk(signed(header_len), signed(offset))).count()
        };
        let mut counted =
            fallible::collect(header_lens.into_iter().map(|header_len| (matches(header_len), header_len)))?;
        counted.sort_unstable();
        match *counted {
            [.., (second, _), (best, _)] if second == best => Ok(None),
            [.., (_, best)] => Ok(usize::try_from(best).ok()),
            [] => Ok(None),
        }
    }
}

/// Returns an offset as a signed number; all offsets in a file fit.
fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

/// Returns the error of a list of chunks whose numbers are not certain, from the error of the index.
pub(super) fn uncertain_numbers(error: &Error) -> Error {
    Error::new(
        error.kind(),
        format_args!(
            "{error}; the chunks are numbered in the order of their places, so their numbers are uncertain"
        ),
    )
}

pub(super) fn not_found() -> Error {
    err!(Data, "the chunk was not found in the file, or its place is uncertain")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(places: &[u64], cbytes: u32) -> Vec<FoundChunk> {
        places.iter().map(|&at| FoundChunk { at, cbytes, record_len: 0, nbytes: 400 }).collect()
    }

    /// Returns the length of the header and the entries of an index at `index_at`.
    fn entries(
        index_at: u64,
        offsets: &[i64],
        chunks: &[FoundChunk],
        gaps: &[Range<u64>],
        stated: Option<(usize, i64)>,
    ) -> Option<(usize, Vec<i64>)> {
        let mut bytes = [0; FIXED_HEADER_LEN];
        bytes[14] = FIXED_HEADER_LEN as u8;
        bytes[22] = 1;
        let mut header = FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap();
        header.cbytes = stated.map_or(i64::MAX, |(_, cbytes)| cbytes);
        let index = FoundIndex { at: index_at, len: 50, offsets: Offsets::List(offsets.to_vec()) };
        let header_lens: Vec<usize> = stated.iter().map(|&(header_len, _)| header_len).collect();
        let found = Findable { index: &index, chunks, gaps }.entries(&header, &header_lens).unwrap();
        found.map(|(header_len, offsets)| (header_len, offsets.iter().collect()))
    }

    #[test]
    fn chunks_of_equal_length_keep_their_numbers_without_the_header() {
        let offsets = [0, 100, 200, 300];
        for lost in [None, Some(0), Some(1), Some(3)] {
            let places: Vec<u64> = (0..4).filter(|n| Some(*n) != lost).map(|n| 97 + 100 * n).collect();
            let found = entries(497, &offsets, &chunks(&places, 100), &[], None);
            assert_eq!(found, Some((97, offsets.to_vec())), "{lost:?}");
        }
        // With a gap before the index, it may be the first or the last chunk that is lost.
        assert_eq!(entries(900, &offsets, &chunks(&[197, 297, 397], 100), &[], None), None);
        assert_eq!(
            entries(900, &[0, 100, 230, 300], &chunks(&[197, 327, 397], 100), &[], None).unwrap().0,
            97
        );
    }

    #[test]
    fn chunks_around_inserted_bytes_keep_their_numbers() {
        let offsets = [0, 100, 200, 300, -1];
        for (inserted, gap, places, expected) in [
            (512, 197..709, [97, 709, 809, 909], [0, 612, 712, 812, -1]),
            // As many bytes as a chunk has.
            (100, 197..297, [97, 297, 397, 497], [0, 200, 300, 400, -1]),
        ] {
            let found = entries(497 + inserted, &offsets, &chunks(&places, 100), &[gap], Some((97, 400)));
            assert_eq!(found, Some((97, expected.to_vec())));
        }
        // The bytes were inserted into the second chunk.
        let found = entries(
            597,
            &offsets,
            &chunks(&[97, 397, 497], 100),
            std::slice::from_ref(&(197..397)),
            Some((97, 400)),
        );
        assert_eq!(found, Some((97, vec![0, LOST, 300, 400, -1])));
        // Between two gaps, the third chunk may be the second or the third one.
        let gaps = [197..297, 397..497];
        let found = entries(597, &offsets, &chunks(&[97, 297, 497], 100), &gaps, Some((97, 400)));
        assert_eq!(found, Some((97, vec![0, LOST, LOST, 400, -1])));
        // Bytes are missing.
        let found = entries(
            447,
            &offsets,
            &chunks(&[97, 247, 347], 100),
            std::slice::from_ref(&(197..247)),
            Some((97, 400)),
        );
        assert_eq!(found, Some((97, vec![0, LOST, 150, 250, -1])));
    }

    #[test]
    fn checksums_give_the_numbers() {
        let zeros = crate::frame::format::index::encode_entry(
            crate::frame::format::index::IndexEntry::Special(crate::chunk::SpecialValue::Zero),
        );
        let index = Offsets::List(vec![5, zeros, 7, 8, 9, zeros]);
        let found = [(3, 400), (5, 100), (5, 900), (9, 0)];
        let entries = entries_by_checksum(&[5, 0, 9, 5, 5, 4], &found, Some(&index)).unwrap();
        assert_eq!(entries.iter().collect::<Vec<_>>(), [100, zeros, 0, 900, 900, LOST]);
        let entries = entries_by_checksum(&[5, 0], &found, None).unwrap();
        assert_eq!(entries.iter().collect::<Vec<_>>(), [100, LOST]);
    }
}
