//! The use of the bytes of a contiguous frame whose changes are atomic (`frame.md` 2.12, scheme A2): which parts of the
//! data section hold chunks, and where the next index and trailer are written.
//!
//! The chunks are in the range from the end of the header to [`DataSpace::end`], with holes. Behind it there is a gap,
//! and behind the gap, one behind the other, two slots for index and trailer. The committed slot is never overwritten:
//! a commit writes the other one, and the header then refers to that. New chunks are written to a hole, or at the end,
//! into the gap.
//!
//! Pure functions of positions: offsets from the start of the frame, in bytes.

#![forbid(unsafe_code)]

use crate::error::Result;
use crate::fallible;
use std::ops::Range;

/// Minimum length, in bytes, of a new gap behind data that are at least as long: a frame does not become more than twice
/// as long. With 16 and 64 KiB, as many bytes are written, and the file is longer (the command at [`GAP_DIVISOR`]).
const MIN_GAP: u64 = 4 << 10;
/// Maximum length, in bytes, of a new gap, besides the room for a chunk. A limit of 1 MiB, which is reached in files of
/// 16 MiB, does not change the number of bytes that are written either.
const MAX_GAP: u64 = 16 << 20;
/// The length of a new gap is the length of the data divided by this: a frame that is being appended to is at most this
/// part longer than after it was closed, plus a second index. A new gap costs no additional write, because every commit
/// writes the index: the bytes written are the same with 2, 8 and 32 (1.71 by byte of payload for appends, seed 11,
/// `BLOSC2_SPACE_SEED=11 BLOSC2_SPACE_MIB=32 BLOSC2_SPACE_HISTORIES=24 cargo test --test durable_files space --
/// --nocapture`).
const GAP_DIVISOR: u64 = 16;
/// The length of a gap is at most the length of the data divided by this, or [`MIN_GAP`], also if the next chunk is
/// longer. Such a chunk, one of the first eight of a frame, costs another commit. Before a file is closed, it has up to
/// 1.125 times the length at level `off` after appends of chunks of up to 4 MiB, with 3 up to 1.333 times (seed 11).
const MAX_GAP_DIVISOR: u64 = 8;

/// The number of values of the padding between index and trailer. Handles without locks notice a change by the length
/// of the frame, so that two commits must not give the same length; the padding makes lengths differ.
const PADDINGS: u64 = 61;

/// The used and the free parts of the data section.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::frame) struct DataSpace {
    /// The end of the last chunk.
    end: u64,
    /// The free ranges before `end`, in ascending order; no two of them touch.
    holes: Vec<Range<u64>>,
    /// Ranges that the committed state uses, and the next state does not: free after the commit.
    superseded: Vec<Range<u64>>,
}

impl DataSpace {
    /// Returns the space of a frame whose last chunk ends at `end`. Holes are not known.
    pub(in crate::frame) fn new(end: u64) -> DataSpace {
        DataSpace { end, holes: Vec::new(), superseded: Vec::new() }
    }

    pub(in crate::frame) fn try_clone(&self) -> Result<DataSpace> {
        let copy = |ranges: &[Range<u64>]| fallible::collect(ranges.iter().cloned());
        Ok(DataSpace { end: self.end, holes: copy(&self.holes)?, superseded: copy(&self.superseded)? })
    }

    /// Returns the end of the last chunk.
    pub(in crate::frame) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the free ranges before the end.
    pub(in crate::frame) fn holes(&self) -> &[Range<u64>] {
        &self.holes
    }

    /// Returns the shortest hole of at least `len` bytes.
    pub(in crate::frame) fn find_hole(&self, len: u64) -> Option<u64> {
        self.find_hole_before(self.end, len)
    }

    /// Returns the shortest hole of at least `len` bytes that begins before `limit`.
    pub(in crate::frame) fn find_hole_before(&self, limit: u64, len: u64) -> Option<u64> {
        let before = &self.holes[..self.holes.partition_point(|hole| hole.start < limit)];
        let fits = before.iter().filter(|hole| hole.end - hole.start >= len);
        fits.min_by_key(|hole| hole.end - hole.start).map(|hole| hole.start)
    }

    /// Marks `len` bytes at `at` as used: the start of a hole, or bytes from the end on. The bytes between the end and
    /// `at` become free after the next commit.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn occupy(&mut self, at: u64, len: u64) -> Result<()> {
        if at >= self.end {
            self.supersede(self.end..at)?;
            self.end = at + len;
            return Ok(());
        }
        if let Some(hole) = self.holes.iter_mut().find(|hole| hole.start == at) {
            hole.start += len;
        }
        self.holes.retain(|hole| hole.start < hole.end);
        Ok(())
    }

    /// Returns the length of the holes together, and of the other bytes from `start`, the end of the header, to the
    /// end.
    pub(in crate::frame) fn hole_and_used_len(&self, start: u64) -> (u64, u64) {
        let free: u64 = self.holes.iter().map(|hole| hole.end - hole.start).sum();
        (free, (self.end - start).saturating_sub(free))
    }

    /// Adds free ranges, which may overlap holes. Nothing may be superseded since the last commit.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn add_holes(&mut self, ranges: &[Range<u64>]) -> Result<()> {
        fallible::reserve(&mut self.holes, ranges.len())?;
        self.holes.extend(ranges.iter().filter(|range| range.start < range.end).cloned());
        self.merge_holes();
        Ok(())
    }

    /// Returns the start of a range, up to the first byte that is free or will be free after the next commit.
    pub(in crate::frame) fn used_start(&self, range: Range<u64>) -> Range<u64> {
        let free = self.holes.iter().chain(&self.superseded);
        let behind_start = |free: &&Range<u64>| free.end > range.start && free.start < range.end;
        let end = free.filter(behind_start).map(|free| free.start.max(range.start)).min();
        range.start..end.unwrap_or(range.end)
    }

    /// Marks a range as free after the next commit.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn supersede(&mut self, range: Range<u64>) -> Result<()> {
        if range.start < range.end { fallible::push(&mut self.superseded, range) } else { Ok(()) }
    }

    /// Frees the superseded ranges: the state that uses them is not committed any more. Without memory, they are no
    /// longer known as free: they stay unused until a handle searches holes.
    pub(in crate::frame) fn commit(&mut self) {
        if fallible::reserve(&mut self.holes, self.superseded.len()).is_ok() {
            self.holes.append(&mut self.superseded);
        }
        self.superseded.clear();
        self.merge_holes();
    }

    /// Sorts and merges the holes. A hole at the end is not one.
    fn merge_holes(&mut self) {
        self.holes.sort_unstable_by_key(|hole| hole.start);
        self.holes.dedup_by(|hole, last| {
            let touches = hole.start <= last.end;
            if touches {
                last.end = last.end.max(hole.end);
            }
            touches
        });
        if let Some(last) = self.holes.pop_if(|hole| hole.end >= self.end) {
            self.end = last.start;
        }
    }
}

/// The place of the committed index and trailer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::frame) struct IndexSlot {
    /// From the start of the index to the end of the trailer, which is the end of the frame.
    pub(in crate::frame) range: Range<u64>,
    /// Whether the slot lies behind the other one.
    is_second: bool,
    /// The padding of the last commit, in bytes.
    padding: u64,
}

/// The place of an index and a trailer that are about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::frame) struct NewSlot {
    slot: IndexSlot,
}

impl NewSlot {
    /// Returns the offset of the index.
    pub(in crate::frame) fn start(&self) -> u64 {
        self.slot.range.start
    }

    /// Returns the offset of the end of the trailer.
    pub(in crate::frame) fn end(&self) -> u64 {
        self.slot.range.end
    }

    /// Returns the number of bytes between the index and the trailer.
    pub(in crate::frame) fn padding(&self) -> u64 {
        self.slot.padding
    }

    /// Returns the slot after it was committed.
    pub(in crate::frame) fn committed(self) -> IndexSlot {
        self.slot
    }
}

impl IndexSlot {
    /// Returns the slot of a frame that was opened or created. The next one is before it if there is room: handles that
    /// change a frame in turn do not make it longer and longer.
    pub(in crate::frame) fn new(range: Range<u64>) -> IndexSlot {
        IndexSlot { range, is_second: true, padding: 0 }
    }

    /// Returns the start of the slot that ends at `end` and has parts of `len` bytes, and a padding of unknown length, or an
    /// earlier position, but none before `limit`.
    pub(in crate::frame) fn start_of(end: u64, len: u64, limit: u64) -> u64 {
        end.saturating_sub(len + PADDINGS - 1).max(limit)
    }

    /// Returns whether `len` bytes at `at` overlap the slot.
    pub(in crate::frame) fn overlaps(&self, at: u64, len: u64) -> bool {
        at < self.range.end && self.range.start < at + len
    }

    /// Returns a place for `len` bytes at the end of the used bytes of `space`, or behind the slot.
    pub(in crate::frame) fn place_at_end(&self, space: &DataSpace, len: u64) -> u64 {
        let end = space.end();
        if self.overlaps(end, len) { self.range.end } else { end }
    }

    /// Chooses the place of an index and a trailer of `len` bytes together. `data` is the range of the data section, to
    /// which a chunk of about `next` bytes will be appended next.
    pub(in crate::frame) fn place(&self, data: Range<u64>, len: u64, next: u64) -> NewSlot {
        let padding = (self.padding + 1) % PADDINGS;
        // Before the committed slot, if that is the second one and the data leave room.
        let before = self.range.start.checked_sub(len + padding + padding);
        if self.is_second
            && let Some(start) = before.filter(|&start| start >= data.end)
        {
            return NewSlot {
                slot: IndexSlot { range: start..start + len + padding, is_second: false, padding },
            };
        }
        let has_gap = self.range.start >= data.end + next.min(max_gap_len(&data));
        // Behind the committed slot, or behind a new gap.
        let gap_len = (next + additional_gap_len(&data)).min(max_gap_len(&data));
        let start = if has_gap { self.range.end } else { self.range.end.max(data.end + gap_len) };
        NewSlot { slot: IndexSlot { range: start..start + len + padding, is_second: has_gap, padding } }
    }

    /// Returns a place for an index and a trailer of `len` bytes behind the committed slot and behind the data.
    pub(in crate::frame) fn place_behind(&self, len: u64, data_end: u64) -> NewSlot {
        let start = self.range.end.max(data_end);
        NewSlot { slot: IndexSlot { range: start..start + len, is_second: false, padding: 0 } }
    }

    /// Returns a place for an index and a trailer of `len` bytes behind the committed slot, and behind a gap after
    /// `data`, in which a chunk of `next` bytes has room.
    pub(in crate::frame) fn place_behind_gap(&self, data: Range<u64>, len: u64, next: u64) -> NewSlot {
        let padding = (self.padding + 1) % PADDINGS;
        let start = self.range.end.max(data.end + next + additional_gap_len(&data));
        NewSlot { slot: IndexSlot { range: start..start + len + padding, is_second: false, padding } }
    }

    /// Returns the places that an index and a trailer of `len` bytes take one after the other to get directly behind
    /// the data: the last one is there. If the committed slot overlaps it, another place comes before.
    pub(in crate::frame) fn places_to_end_of_data(
        &self,
        data_end: u64,
        len: u64,
    ) -> impl Iterator<Item = NewSlot> + use<> {
        let at = |start: u64| NewSlot {
            slot: IndexSlot { range: start..start + len, is_second: false, padding: 0 },
        };
        let before = self.overlaps(data_end, len).then(|| at(self.range.end.max(data_end + len)));
        before.into_iter().chain([at(data_end)])
    }
}

/// Returns the length of a new gap behind the data in which the next chunk is already.
fn additional_gap_len(data: &Range<u64>) -> u64 {
    let len = data.end - data.start;
    (len / GAP_DIVISOR).clamp(MIN_GAP.min(len), MAX_GAP)
}

/// Returns the maximum length of a gap that does not have a chunk yet.
fn max_gap_len(data: &Range<u64>) -> u64 {
    let len = data.end - data.start;
    (len / MAX_GAP_DIVISOR).max(MIN_GAP.min(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A change of the model: the lengths of the chunk, of index and trailer, and whether the change replaces a chunk.
    type Step = (u64, u64, Option<usize>);

    fn step() -> impl Strategy<Value = Step> {
        (1..5000u64, 70..300u64, prop::option::of(0..50usize))
    }

    proptest! {
        /// Neither a chunk nor an index is written over bytes that the committed state uses.
        #[test]
        fn committed_bytes_are_not_overwritten(steps in prop::collection::vec(step(), 1..60)) {
            const HEADER: u64 = 97;
            let mut space = DataSpace::new(HEADER);
            let mut slot = IndexSlot::new(HEADER..HEADER + 35);
            let mut chunks: Vec<Range<u64>> = Vec::new();
            let mut lengths = Vec::new();
            for (len, index_len, replaced) in steps {
                let replaced = replaced.filter(|&n| n < chunks.len());
                let mut at = space.find_hole(len).unwrap_or(space.end());
                if slot.overlaps(at, len) {
                    if replaced.is_some() {
                        at = slot.range.end;
                    } else {
                        let new = slot.place_behind_gap(HEADER..space.end(), slot.range.end - slot.range.start, len);
                        prop_assert!(!slot.overlaps(new.start(), new.end() - new.start()));
                        prop_assert!(new.start() >= at + len);
                        slot = new.committed();
                    }
                }
                let overlaps = |at: u64, len: u64| chunks.iter().any(|chunk| at < chunk.end && chunk.start < at + len);
                prop_assert!(!overlaps(at, len) && !slot.overlaps(at, len));
                space.occupy(at, len).unwrap();
                if let Some(n) = replaced {
                    space.supersede(chunks[n].clone()).unwrap();
                }
                let new = slot.place(HEADER..space.end(), index_len, len);
                prop_assert_eq!(new.end() - new.start(), index_len + new.padding());
                prop_assert!(new.start() >= space.end());
                prop_assert!(!overlaps(new.start(), new.end() - new.start()));
                prop_assert!(!slot.overlaps(new.start(), new.end() - new.start()));
                slot = new.committed();
                lengths.push(slot.range.end);
                match replaced {
                    Some(n) => chunks[n] = at..at + len,
                    None => chunks.push(at..at + len),
                }
                space.commit();
                let last = chunks.iter().map(|chunk| chunk.end).max();
                prop_assert_eq!(Some(space.end()), last);
                let used: u64 = chunks.iter().map(|chunk| chunk.end - chunk.start).sum();
                let free: u64 = space.holes().iter().map(|hole| hole.end - hole.start).sum();
                prop_assert_eq!(used + free, space.end() - HEADER);
                let places = slot.places_to_end_of_data(space.end(), index_len);
                let mut before = slot.clone();
                for place in places {
                    prop_assert!(!before.overlaps(place.start(), index_len));
                    before = place.committed();
                }
                prop_assert_eq!(before.range.start, space.end());
            }
            prop_assert!(lengths.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }

    #[test]
    fn handles_that_change_a_frame_in_turn_use_the_same_places() {
        const DATA: u64 = 100_000;
        let mut slot = IndexSlot::new(97 + DATA..97 + DATA + 1000);
        for step in 0..200 {
            slot = IndexSlot::new(slot.place(97..97 + DATA, 1000, 200).committed().range);
            assert!(slot.range.end < 97 + DATA + DATA / MAX_GAP_DIVISOR + 4000, "{slot:?} in step {step}");
        }
    }

    #[test]
    fn a_gap_is_a_part_of_the_data() {
        const DATA: u64 = 1_000_000;
        // The chunk that is expected next is longer than the gap may be.
        let mut slot = IndexSlot::new(97 + DATA..97 + DATA + 100);
        for step in 0..100 {
            slot = slot.place(97..97 + DATA, 100 + step % 7, DATA).committed();
            assert!(slot.range.end <= DATA + DATA / MAX_GAP_DIVISOR + 1000, "{slot:?} in step {step}");
        }
        let behind = slot.place_behind_gap(97..97 + DATA, 100, DATA);
        assert!(behind.start() >= 97 + 2 * DATA, "no room for the chunk: {behind:?}");
    }

    #[test]
    fn a_small_frame_becomes_at_most_twice_as_long() {
        const HEADER: u64 = 97;
        const INDEX: u64 = 100;
        for len in [40, 100, 500, 2000, 4000] {
            let mut slot = IndexSlot::new(HEADER..HEADER + 35);
            let mut end = HEADER;
            for nchunks in 1..40 {
                if slot.overlaps(end, len) {
                    let index_len = slot.range.end - slot.range.start;
                    slot = slot.place_behind_gap(HEADER..end, index_len, len).committed();
                }
                end += len;
                slot = slot.place(HEADER..end, INDEX, len).committed();
                let closed = end + INDEX;
                assert!(
                    slot.range.end <= 2 * closed + 2 * PADDINGS,
                    "{nchunks} chunks of {len} bytes: {slot:?}"
                );
            }
        }
    }

    #[test]
    fn found_holes_are_merged_with_the_known_ones() {
        let mut space = DataSpace::new(1000);
        space.supersede(100..200).unwrap();
        space.commit();
        space.add_holes(&[150..250, 300..300, 400..500, 900..1000]).unwrap();
        assert_eq!(space.holes(), [100..250, 400..500]);
        assert_eq!(space.end(), 900);
        assert_eq!(space.hole_and_used_len(100), (250, 550));
        assert_eq!(space.find_hole(100), Some(400));
        assert_eq!(space.find_hole_before(400, 100), Some(100));
        assert_eq!(space.find_hole(151), None);
    }

    #[test]
    fn updates_with_equal_lengths_give_many_frame_lengths() {
        let mut slot = IndexSlot::new(1000..1100);
        let mut lengths = std::collections::HashSet::new();
        for _ in 0..100 {
            slot = slot.place(97..1000, 100, 200).committed();
            lengths.insert(slot.range.end);
        }
        assert!(lengths.len() > 90, "{} different lengths of 100", lengths.len());
    }
}
