//! The fast encoder: one candidate per position, found by a hash of the bytes there.
//!
//! Owns the search and its tables. It makes the same decisions as the reference's encoder, whose stream sizes are the
//! upper bound for ours; the computation that leads to these decisions differs.
//!
//! In shuffled numbers most matches follow each other directly. The start of a match depends on the length of the
//! previous match, and through it on a hash, a table load and a comparison. The latency of this dependency chain
//! determines the speed; [`FastSearch::write_adjacent_matches`] shortens it.

use super::output::SequenceWriter;
use super::{
    LAST_LITERALS, MAX_DISTANCE, MAX_NARROW_INPUT, MIN_MATCH, NO_MATCH_TAIL, TablePosition,
    common_prefix_len, read32, read64,
};
use crate::error::Result;
use crate::fallible::{boxed_array, get_or_make};
use crate::tuning::tunable;

/// log2 of the number of positions that are tried before the step grows by one byte.
const STEP_LOG: u32 = 6;
/// The distance to the end of the input, in bytes, up to which the two words behind the first `MIN_MATCH` bytes of a
/// match can be read without a bounds check.
const UNCHECKED_READ_TAIL: usize = 20;
const NARROW_LOG: u32 = 13;
tunable! {
    /// Whether matches that directly follow each other have a loop of their own.
    const HAS_ADJACENT_LOOP: bool = true;
    /// Blocks of up to this length, in bytes, use a quarter of the table, which is cleared faster.
    const MAX_SHORT_BLOCK: usize = 2048;
}
const SHORT_LOG: u32 = 11;
const WIDE_LOG: u32 = 12;

/// The encoder's hash tables, reused from call to call. No content is carried from one call to the next.
#[derive(Default)]
pub(in crate::codec::lz4) struct FastTables {
    narrow: Option<Box<[u16; 1 << NARROW_LOG]>>,
    wide: Option<Box<[u32; 1 << WIDE_LOG]>>,
    /// For inputs of up to 64 KiB with a dictionary: half the size of `wide`, because it is copied for each input.
    narrow_with_dictionary: Option<Box<[u16; 1 << WIDE_LOG]>>,
    /// The length of the dictionary that these tables are prepared for, in bytes. All positions in them are less.
    prepared_for: Option<usize>,
}

trait PositionTable {
    /// Whether the input begins with a dictionary. If it does, a slot that holds 0 counts as empty unless the bytes
    /// at position 0 hash to it: dictionaries often begin with zeros, which are frequent elsewhere.
    const HAS_DICTIONARY: bool;

    /// Returns whether the bytes of `a` and `b` that the hash covers are equal.
    fn has_equal_hashed_bytes(a: u64, b: u64) -> bool;

    fn slot(word: u64) -> usize;

    fn get(&self, slot: usize) -> usize;

    fn set(&mut self, slot: usize, at: usize);

    /// Returns whether a match at `at` can refer to `candidate`.
    fn is_in_reach(candidate: usize, at: usize) -> bool;

    /// Puts `at` into the slot of `word`, and returns the position that the slot held before.
    #[inline(always)]
    fn replace(&mut self, word: u64, at: usize) -> usize {
        let slot = Self::slot(word);
        let candidate = self.get(slot);
        self.set(slot, at);
        candidate
    }
}

/// A table of hashes of four bytes, for blocks of up to 64 KiB. Uses the first `1 << LOG` slots.
struct NarrowTable<'a, const LOG: u32>(&'a mut [u16; 1 << NARROW_LOG]);

impl<const LOG: u32> PositionTable for NarrowTable<'_, LOG> {
    const HAS_DICTIONARY: bool = false;

    #[inline(always)]
    fn has_equal_hashed_bytes(a: u64, b: u64) -> bool {
        a as u32 == b as u32
    }

    #[inline(always)]
    fn slot(word: u64) -> usize {
        ((word as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - LOG)) as usize
    }

    #[inline(always)]
    fn get(&self, slot: usize) -> usize {
        usize::from(self.0[slot])
    }

    #[inline(always)]
    fn set(&mut self, slot: usize, at: usize) {
        self.0[slot] = at as u16;
    }

    #[inline(always)]
    fn is_in_reach(_: usize, _: usize) -> bool {
        true
    }
}

/// A table of hashes of five bytes, for longer blocks and for all blocks with a dictionary.
struct WideTable<'a, S, const HAS_DICTIONARY: bool>(&'a mut [S; 1 << WIDE_LOG]);

impl<S: TablePosition, const HAS_DICTIONARY: bool> PositionTable for WideTable<'_, S, HAS_DICTIONARY> {
    const HAS_DICTIONARY: bool = HAS_DICTIONARY;

    #[inline(always)]
    fn has_equal_hashed_bytes(a: u64, b: u64) -> bool {
        (a ^ b) << 24 == 0
    }

    #[inline(always)]
    fn slot(word: u64) -> usize {
        ((word << 24).wrapping_mul(889_523_592_379) >> (u64::BITS - WIDE_LOG)) as usize
    }

    #[inline(always)]
    fn get(&self, slot: usize) -> usize {
        self.0[slot].position()
    }

    #[inline(always)]
    fn set(&mut self, slot: usize, at: usize) {
        self.0[slot] = S::new(at);
    }

    #[inline(always)]
    fn is_in_reach(candidate: usize, at: usize) -> bool {
        at - candidate <= MAX_DISTANCE
    }
}

/// Compresses `src`, of less than 4 GiB, into `dest`. Returns the number of bytes written, or `None` if they do not
/// fit. The higher `acceleration` (1 or more), the fewer positions are tried.
pub(in crate::codec::lz4) fn compress(
    tables: &mut FastTables,
    src: &[u8],
    dest: &mut [u8],
    acceleration: usize,
) -> Result<Option<usize>> {
    if src.len() <= MAX_NARROW_INPUT {
        let table = get_or_make(&mut tables.narrow, boxed_array)?;
        if src.len() <= MAX_SHORT_BLOCK.get() {
            table[..1 << SHORT_LOG].fill(0);
            let table = &mut NarrowTable::<SHORT_LOG>(table);
            // SAFETY: an empty table without a dictionary.
            return Ok(unsafe { encode(table, src, 0, dest, acceleration) });
        }
        table.fill(0);
        // SAFETY: an empty table without a dictionary.
        Ok(unsafe { encode(&mut NarrowTable::<NARROW_LOG>(table), src, 0, dest, acceleration) })
    } else {
        let table = get_or_make(&mut tables.wide, boxed_array)?;
        table.fill(0);
        // SAFETY: an empty table without a dictionary.
        Ok(unsafe { encode(&mut WideTable::<_, false>(table), src, 0, dest, acceleration) })
    }
}

/// Compresses `input[start..]` like [`compress`], with matches that may reach into the dictionary `input[..start]`.
/// `prepared` holds the positions of that dictionary, or is empty and is filled here.
///
/// # Panics
/// If `start` is beyond the end of `input`, or `prepared` is of a dictionary of another length.
pub(in crate::codec::lz4) fn compress_with_dictionary(
    tables: &mut FastTables,
    prepared: &mut FastTables,
    input: &[u8],
    start: usize,
    dest: &mut [u8],
    acceleration: usize,
) -> Result<Option<usize>> {
    assert_eq!(
        *prepared.prepared_for.get_or_insert(start),
        start,
        "`prepared` must be of a dictionary of `start` bytes"
    );
    if input.len() <= MAX_NARROW_INPUT {
        // SAFETY: the tables are prepared for a dictionary of `start` bytes, or empty.
        unsafe {
            compress_with_table_copy(
                &mut tables.narrow_with_dictionary,
                &mut prepared.narrow_with_dictionary,
                input,
                start,
                dest,
                acceleration,
            )
        }
    } else {
        // SAFETY: the tables are prepared for a dictionary of `start` bytes, or empty.
        unsafe {
            compress_with_table_copy(&mut tables.wide, &mut prepared.wide, input, start, dest, acceleration)
        }
    }
}

/// Compresses like [`compress_with_dictionary`], with a copy of the table in `prepared`, which is built first if it is
/// missing.
///
/// # Safety
/// All positions in `prepared` are less than `start`.
unsafe fn compress_with_table_copy<S: TablePosition>(
    table: &mut Option<Box<[S; 1 << WIDE_LOG]>>,
    prepared: &mut Option<Box<[S; 1 << WIDE_LOG]>>,
    input: &[u8],
    start: usize,
    dest: &mut [u8],
    acceleration: usize,
) -> Result<Option<usize>> {
    let prepared = get_or_make(prepared, || {
        let mut table = boxed_array()?;
        insert_dictionary(&mut WideTable::<_, true>(&mut table), &input[..start]);
        Ok(table)
    })?;
    let table = get_or_make(table, boxed_array)?;
    table.copy_from_slice(&prepared[..]);
    // SAFETY: the caller's promise, or the positions are those of the dictionary, `input[..start]`.
    Ok(unsafe { encode(&mut WideTable::<_, true>(table), input, start, dest, acceleration) })
}

/// Puts every third position of a dictionary into an empty table, as the reference does.
fn insert_dictionary<T: PositionTable>(table: &mut T, dictionary: &[u8]) {
    for (at, word) in dictionary.windows(8).enumerate().step_by(3) {
        table.set(T::slot(u64::from_le_bytes(word.try_into().expect("a slice of 8 bytes"))), at);
    }
}

/// Compresses `src[start..]`.
///
/// # Safety
/// `table` has the positions of a dictionary of `start` bytes, all of them less than `start`, or is empty, that is all
/// 0.
unsafe fn encode<T: PositionTable>(
    table: &mut T,
    src: &[u8],
    start: usize,
    dest: &mut [u8],
    acceleration: usize,
) -> Option<usize> {
    // A constant for the compiler, if there is no dictionary.
    let start = if T::HAS_DICTIONARY { start } else { 0 };
    let mut out = SequenceWriter::new(dest);
    if src[start..].len() <= NO_MATCH_TAIL {
        return out.finish(src, start);
    }
    let mut search = FastSearch {
        table,
        src,
        last: src.len() - NO_MATCH_TAIL,
        last_unchecked: src.len().saturating_sub(UNCHECKED_READ_TAIL),
        anchor: start,
        acceleration,
    };
    // An empty slot holds 0, so position 0 needs no entry.
    if T::HAS_DICTIONARY {
        // SAFETY: 12 bytes at least follow `start`.
        let word = unsafe { read64(src, start) };
        search.table.set(T::slot(word), start);
    }
    let mut at = start + 1;
    // SAFETY: 12 bytes at least follow `start`.
    let mut word = unsafe { read64(src, at) };
    // SAFETY: (all) the positions in the table are before `start` by the caller, or `start`, and `at` is the next one.
    // From then on each function leaves only positions before the one where the next function goes on: see there.
    while let Some((found, candidate)) = unsafe { search.find_next_match(at, word) } {
        // SAFETY: `find_next_match` returns a candidate before the position, which is not behind `last`.
        unsafe { search.write_match(&mut out, found, candidate) }?;
        // SAFETY: the anchor is behind a match, and all positions in the table are before it.
        (at, word) = unsafe { search.write_adjacent_matches(&mut out) }?;
    }
    out.finish(src, search.anchor)
}

/// The state of the search through one input.
struct FastSearch<'a, T> {
    table: &'a mut T,
    src: &'a [u8],
    /// The last position where a match may begin: 12 bytes before the end of `src`.
    last: usize,
    /// The last position that is [`UNCHECKED_READ_TAIL`] bytes before the end.
    last_unchecked: usize,
    /// The start of the literals that have not been written.
    anchor: usize,
    acceleration: usize,
}

impl<T: PositionTable> FastSearch<'_, T> {
    /// Returns the next position from `at` on with a match, and the position of its candidate. `word` begins with the
    /// bytes at `at` that are hashed. The longer no match is found, the more positions are skipped. No position put
    /// into the table is behind the returned one.
    ///
    /// # Safety
    /// All positions in the table are before `at`. Of the result, the candidate is before the position, which is not
    /// behind `last`.
    #[inline(always)]
    unsafe fn find_next_match(&mut self, mut at: usize, mut word: u64) -> Option<(usize, usize)> {
        let mut tries = self.acceleration << STEP_LOG;
        let mut next = at + 1;
        // Like the reference, ends as soon as the position after this one is beyond the last.
        while next <= self.last + 1 {
            let candidate = self.table.replace(word, at);
            // SAFETY: `candidate` < `at` by the caller, since positions only grow and each is put in once; `at` <
            // `next` <= `last` + 1.
            if unsafe { self.is_match(candidate, at, word) } {
                return Some((at, candidate));
            }
            at = next;
            // SAFETY: `at` <= `last` + 1, 11 bytes before the end.
            word = unsafe { read64(self.src, at) };
            next += tries >> STEP_LOG;
            tries += 1;
        }
        None
    }

    /// Returns whether a match at `at`, where `word` is read, may begin at `candidate`.
    ///
    /// # Safety
    /// `candidate < at` and `at <= self.last`.
    #[inline(always)]
    unsafe fn is_match(&self, candidate: usize, at: usize, word: u64) -> bool {
        debug_assert!(candidate < at && at <= self.last);
        // SAFETY: the caller's promise: `candidate` < `at` <= `last`, 12 bytes before the end.
        let is_match = unsafe { read32(self.src, candidate) } == word as u32 && T::is_in_reach(candidate, at);
        if T::HAS_DICTIONARY {
            // SAFETY: `src` has 12 bytes or more, since `at` <= `last`.
            is_match && (candidate > 0 || T::has_equal_hashed_bytes(unsafe { read64(self.src, 0) }, word))
        } else {
            is_match
        }
    }

    /// Writes the literals before the match at `at`, and the match, extended backwards where the bytes before it are
    /// equal. Afterwards the anchor is 4 bytes or more behind `at`.
    ///
    /// # Safety
    /// `candidate < at` and `at <= self.last`.
    #[inline(always)]
    unsafe fn write_match(
        &mut self,
        out: &mut SequenceWriter<'_>,
        mut at: usize,
        mut candidate: usize,
    ) -> Option<()> {
        let (src, distance) = (self.src, at - candidate);
        let last = src.len() - LAST_LITERALS;
        let more = if at <= self.last_unchecked {
            // SAFETY: by the caller `candidate` < `at`, and `at` <= `last_unchecked`, 20 bytes before the end.
            let differing = unsafe { read64(src, at + MIN_MATCH) ^ read64(src, candidate + MIN_MATCH) };
            if differing != 0 {
                differing.trailing_zeros() as usize / 8
            } else {
                8 + common_prefix_len(src, at + MIN_MATCH + 8, distance, last)
            }
        } else {
            common_prefix_len(src, at + MIN_MATCH, distance, last)
        };
        let end = at + MIN_MATCH + more;
        // The length of the backward extension is random where positions were skipped: no branch depends on it.
        let mut before = 0;
        if candidate >= 8 {
            // SAFETY: 8 <= `candidate` < `at` <= `last`.
            let differing = unsafe { read64(src, at - 8) ^ read64(src, candidate - 8) };
            before = (at - self.anchor).min(differing.leading_zeros() as usize / 8);
        }
        at -= before;
        candidate -= before;
        if before == 8 || candidate < 8 {
            while at > self.anchor && candidate > 0 && src[at - 1] == src[candidate - 1] {
                at -= 1;
                candidate -= 1;
            }
        }
        out.write_sequence(src, self.anchor, at, distance, end - at)?;
        self.anchor = end;
        Some(())
    }

    /// Writes the matches that directly follow the match that ends at the anchor. Returns the position where the
    /// search continues, and a word that begins with the bytes there that are hashed.
    ///
    /// The latency per match is that of a dependency chain: word, hash, table load, candidate, length. To shorten it,
    /// the next word is shifted out of two words that are already loaded. The table is read before the position two
    /// bytes back is stored into it, because the hash of that position takes additional time, and a processor that
    /// has once predicted that the load depends on this store would delay every later load until the store is done.
    /// Whether the load would have returned that position follows from comparing the two words.
    ///
    /// # Safety
    /// All positions in the table are before the anchor, which is 2 or more. Those that this function leaves there are
    /// before the position that it returns, or that is behind `last`.
    #[inline(always)]
    unsafe fn write_adjacent_matches(&mut self, out: &mut SequenceWriter<'_>) -> Option<(usize, u64)> {
        let src = self.src;
        let end = src.len() - LAST_LITERALS;
        let mut at = self.anchor;
        if at > self.last_unchecked || !HAS_ADJACENT_LOOP.get() {
            // SAFETY: by the contract all positions in the table are before the anchor, which is 2 or more.
            return unsafe { self.write_adjacent_matches_checked(out) };
        }
        // SAFETY: `at` <= `last_unchecked`, 20 bytes before the end.
        let mut word = unsafe { read64(src, at) };
        loop {
            // SAFETY: 2 <= `at` <= `last_unchecked`.
            let before = unsafe { read64(src, at - 2) };
            let slot = T::slot(word);
            let candidate = self.table.get(slot);
            self.table.set(T::slot(before), at - 2);
            self.table.set(slot, at);
            let candidate = if T::has_equal_hashed_bytes(before, word) { at - 2 } else { candidate };
            // SAFETY: `candidate` < `at`: by the caller, and since positions only grow; `at` <= `last`.
            if !unsafe { self.is_match(candidate, at, word) } {
                return Some((at + 1, word >> 8));
            }
            let distance = at - candidate;
            // SAFETY: `candidate` < `at` <= `last_unchecked`, 20 bytes before the end.
            let (next, old, after) = unsafe {
                (
                    read64(src, at + MIN_MATCH),
                    read64(src, candidate + MIN_MATCH),
                    read64(src, at + MIN_MATCH + 8),
                )
            };
            let differing = next ^ old;
            if differing != 0 {
                let bits = differing.trailing_zeros();
                let length = MIN_MATCH + bits as usize / 8;
                let bits = bits & 56;
                word = next >> bits | after << 1 << (bits ^ 63);
                out.write_bare_match(distance, length)?;
                at += length;
            } else {
                let length = MIN_MATCH + 8 + common_prefix_len(src, at + MIN_MATCH + 8, distance, end);
                out.write_bare_match(distance, length)?;
                at += length;
                if at <= self.last_unchecked {
                    // SAFETY: `at` <= `last_unchecked`.
                    word = unsafe { read64(src, at) };
                }
            }
            self.anchor = at;
            if at > self.last_unchecked {
                // SAFETY: the anchor is 4 bytes or more behind all positions that were put in.
                return unsafe { self.write_adjacent_matches_checked(out) };
            }
        }
    }

    /// Does the same as [`write_adjacent_matches`](Self::write_adjacent_matches) near the end of the input, with bounds
    /// checks.
    ///
    /// # Safety
    /// As for [`write_adjacent_matches`](Self::write_adjacent_matches).
    #[inline(always)]
    unsafe fn write_adjacent_matches_checked(
        &mut self,
        out: &mut SequenceWriter<'_>,
    ) -> Option<(usize, u64)> {
        while self.anchor <= self.last {
            let at = self.anchor;
            // SAFETY: 2 <= `at` <= `last`, 12 bytes before the end.
            let (before, word) = unsafe { (read64(self.src, at - 2), read64(self.src, at)) };
            self.table.set(T::slot(before), at - 2);
            let candidate = self.table.replace(word, at);
            // SAFETY: `candidate` < `at`: by the caller, and since positions only grow; `at` <= `last`.
            if !unsafe { self.is_match(candidate, at, word) } {
                return Some((at + 1, word >> 8));
            }
            // SAFETY: `candidate` < `at` <= `last`.
            unsafe { self.write_match(out, at, candidate) }?;
        }
        // `find_next_match` does not search behind the last position.
        Some((self.anchor, 0))
    }
}
