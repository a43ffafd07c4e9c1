//! The encoder of the lowest high-compression levels: two candidates per position, one of which is likely to match
//! longer.
//!
//! Owns the search and its tables. Its decisions are those of the reference's encoder: the hashes, the positions in the
//! tables, and the choice between two matches. For inputs longer than [`MAX_SHORT_INPUT`], the streams are the
//! reference's, byte for byte.

use super::output::SequenceWriter;
use super::{
    LAST_LITERALS, MAX_DISTANCE, MAX_NARROW_INPUT, MIN_MATCH, NO_MATCH_TAIL, TablePosition,
    common_prefix_len, common_suffix_len, read64,
};
use crate::error::Result;
use crate::fallible::{boxed_array, get_or_make};

const HASH_LOG: u32 = 14;
/// log2 of the number of consecutive literals after which one more position is skipped between two tries.
const STEP_LOG: u32 = 9;

/// Inputs of up to this length, in bytes, use a quarter of the tables, which is cleared faster. With 4096 instead, nearly
/// one stream in a hundred of 1 KiB to 4 KiB is more than 1 % longer than the reference's.
const MAX_SHORT_INPUT: usize = 1024;
const SHORT_HASH_LOG: u32 = 12;

/// Positions, indexed by a hash of the bytes there.
type MidPositions<S> = [S; 1 << HASH_LOG];

/// The encoder's hash tables, reused from call to call. No content is carried from one call to the next.
#[derive(Default)]
pub(in crate::codec::lz4) struct MidTables {
    narrow: Option<TablePair<u16>>,
    wide: Option<TablePair<u32>>,
}

struct TablePair<S> {
    /// Indexed by a hash of seven bytes.
    long: Box<MidPositions<S>>,
    /// Indexed by a hash of four bytes.
    short: Box<MidPositions<S>>,
}

impl<S: TablePosition> TablePair<S> {
    fn new() -> Result<Self> {
        Ok(TablePair { long: boxed_array()?, short: boxed_array()? })
    }

    fn for_dictionary(dictionary: &[u8]) -> Result<Self> {
        let mut tables = TablePair::new()?;
        for (at, word) in dictionary.windows(8).enumerate() {
            let word = u64::from_le_bytes(word.try_into().expect("a slice of 8 bytes"));
            tables.long[long_slot::<HASH_LOG>(word)] = S::new(at);
            tables.short[short_slot::<HASH_LOG>(word)] = S::new(at);
        }
        Ok(tables)
    }

    /// Empties the first `1 << log` slots of both tables.
    fn clear(&mut self, log: u32) -> &mut Self {
        self.long[..1 << log].fill(S::default());
        self.short[..1 << log].fill(S::default());
        self
    }

    fn copy_from(&mut self, others: &Self) -> &mut Self {
        self.long.copy_from_slice(&others.long[..]);
        self.short.copy_from_slice(&others.short[..]);
        self
    }
}

/// Compresses `src`, of less than 4 GiB, into `dest`. Returns the number of bytes written, or `None` if they do not
/// fit.
pub(in crate::codec::lz4) fn compress(
    tables: &mut MidTables,
    src: &[u8],
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let out = SequenceWriter::new(dest);
    Ok(if src.len() <= NO_MATCH_TAIL {
        out.finish(src, 0)
    } else if src.len() <= MAX_NARROW_INPUT {
        let narrow = get_or_make(&mut tables.narrow, TablePair::new)?;
        if src.len() <= MAX_SHORT_INPUT {
            encode::<u16, SHORT_HASH_LOG>(narrow.clear(SHORT_HASH_LOG), src, 0, out)
        } else {
            encode::<u16, HASH_LOG>(narrow.clear(HASH_LOG), src, 0, out)
        }
    } else {
        let wide = get_or_make(&mut tables.wide, TablePair::new)?;
        encode::<u32, HASH_LOG>(wide.clear(HASH_LOG), src, 0, out)
    })
}

/// Compresses `input[start..]` like [`compress`], with matches that may reach into the dictionary `input[..start]`.
/// `prepared` holds the positions of that dictionary, or is empty and is filled here.
pub(in crate::codec::lz4) fn compress_with_dictionary(
    tables: &mut MidTables,
    prepared: &mut MidTables,
    input: &[u8],
    start: usize,
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let (dictionary, out) = (&input[..start], SequenceWriter::new(dest));
    Ok(if input.len() - start <= NO_MATCH_TAIL {
        out.finish(input, start)
    } else if input.len() <= MAX_NARROW_INPUT {
        let prepared = get_or_make(&mut prepared.narrow, || TablePair::for_dictionary(dictionary))?;
        let narrow = get_or_make(&mut tables.narrow, TablePair::new)?;
        encode::<u16, HASH_LOG>(narrow.copy_from(prepared), input, start, out)
    } else {
        let prepared = get_or_make(&mut prepared.wide, || TablePair::for_dictionary(dictionary))?;
        let wide = get_or_make(&mut tables.wide, TablePair::new)?;
        encode::<u32, HASH_LOG>(wide.copy_from(prepared), input, start, out)
    })
}

/// Compresses `src[start..]` with the first `1 << USED_LOG` slots of the tables. All positions in them are before
/// `start`.
fn encode<S: TablePosition, const USED_LOG: u32>(
    tables: &mut TablePair<S>,
    src: &[u8],
    start: usize,
    mut out: SequenceWriter<'_>,
) -> Option<usize> {
    let (Some(last), Some(end)) =
        (src.len().checked_sub(NO_MATCH_TAIL), src.len().checked_sub(LAST_LITERALS))
    else {
        return out.finish(src, start);
    };
    let mut search =
        MidSearch::<S, USED_LOG> { long: &mut tables.long, short: &mut tables.short, src, last, end };
    // An empty slot holds 0, so position 0 needs no entry.
    let (mut anchor, mut at) = (start, start.max(1));
    while at <= search.last {
        // SAFETY: `at` <= `last`.
        let Some((found, distance, length)) = (unsafe { search.find_match(at) }) else {
            at += 1 + ((at - anchor) >> STEP_LOG);
            continue;
        };
        // SAFETY: `find_match` returns a match at `at` or the next position, both behind `anchor` and inside `src`, and
        // 1 <= `distance` <= that position.
        let start = found - unsafe { common_suffix_len(src, found, anchor, distance) };
        let end = found + length;
        out.write_sequence(src, anchor, start, distance, end - start)?;
        // SAFETY: a match has 4 bytes or more, so `end` is 4 or more.
        unsafe { search.insert_match(at, start, end) };
        anchor = end;
        at = end;
    }
    out.finish(src, anchor)
}

/// The state of the search through one input. All positions in the tables are before the current one.
struct MidSearch<'a, S, const USED_LOG: u32> {
    long: &'a mut MidPositions<S>,
    short: &'a mut MidPositions<S>,
    src: &'a [u8],
    /// The last position where a match may begin: 12 bytes before the end of `src`.
    last: usize,
    /// The last position where a match may end.
    end: usize,
}

impl<S: TablePosition, const USED_LOG: u32> MidSearch<'_, S, USED_LOG> {
    /// Returns a match at `at` or at the next position: its position, its distance and its length, in bytes.
    ///
    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn find_match(&mut self, at: usize) -> Option<(usize, usize, usize)> {
        // SAFETY: by the contract `at` <= `last`.
        let word = unsafe { self.word(at) };
        let long = std::mem::replace(&mut self.long[long_slot::<USED_LOG>(word)], S::new(at)).position();
        // SAFETY: by the contract `at` <= `last`.
        if let Some(length) = unsafe { self.match_length_long(at, word, long) } {
            return Some((at, at - long, length));
        }
        let short = std::mem::replace(&mut self.short[short_slot::<USED_LOG>(word)], S::new(at)).position();
        // SAFETY: by the contract `at` <= `last`.
        let length = unsafe { self.match_length(at, word, short) }?;
        // Matches of this table are often short: try the other table for the next position.
        if at < self.last {
            // SAFETY: `at` < `last`.
            let word = unsafe { self.word(at + 1) };
            let slot = long_slot::<USED_LOG>(word);
            let long = self.long[slot].position();
            // SAFETY: `at` < `last`.
            let longer = unsafe { self.match_length_long(at + 1, word, long) };
            if let Some(longer) = longer.filter(|&other| other > length) {
                self.long[slot] = S::new(at + 1);
                return Some((at + 1, at + 1 - long, longer));
            }
        }
        Some((at, at - short, length))
    }

    /// Compares like [`match_length`](Self::match_length), for a candidate from the table of seven bytes. A slot that
    /// holds 0 counts as empty unless the seven bytes at position 0 hash to it.
    ///
    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn match_length_long(&self, at: usize, word: u64, candidate: usize) -> Option<usize> {
        // SAFETY: 0 <= `at` <= `last`.
        if candidate == 0 && (word ^ unsafe { self.word(0) }) << 8 != 0 {
            return None;
        }
        // SAFETY: by the contract `at` <= `last`.
        unsafe { self.match_length(at, word, candidate) }
    }

    /// Returns the number of bytes at `at`, which begin with `word`, that are equal to those at `candidate`; `None`
    /// if they are too few for a match.
    ///
    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn match_length(&self, at: usize, word: u64, candidate: usize) -> Option<usize> {
        debug_assert!(candidate < at && at <= self.last);
        // A candidate behind `at` would wrap to a distance that is too long; the tables hold none.
        let (src, distance) = (self.src, at.wrapping_sub(candidate));
        // SAFETY: `distance` <= MAX_DISTANCE, so `candidate` <= `at` <= `last`, 12 bytes before the end.
        if distance > MAX_DISTANCE || unsafe { read64(src, candidate) } as u32 != word as u32 {
            return None;
        }
        Some(MIN_MATCH + common_prefix_len(src, at + MIN_MATCH, distance, self.end))
    }

    /// Puts a few positions of a match into the tables; `found_from` is the position where the search found it.
    ///
    /// # Safety
    /// `end >= 3`.
    #[inline(always)]
    unsafe fn insert_match(&mut self, found_from: usize, start: usize, end: usize) {
        if start + 2 <= self.last {
            // As in the reference, the hashes are those of the bytes behind `start`, and the positions those behind
            // `found_from`. Where the two differ, the entries are useless but harmless: the bytes of each candidate
            // are compared.
            // SAFETY: `start` + 2 <= `last`.
            let (first, second) = unsafe { (self.word(start + 1), self.word(start + 2)) };
            self.long[long_slot::<USED_LOG>(first)] = S::new(found_from + 1);
            self.long[long_slot::<USED_LOG>(second)] = S::new(found_from + 2);
            self.short[short_slot::<USED_LOG>(first)] = S::new(found_from + 1);
        }
        if end <= self.last {
            // SAFETY: 3 <= `end` <= `last`.
            unsafe {
                if end > 5 {
                    self.insert_long(end - 5);
                }
                self.insert_long(end - 3);
                self.insert_long(end - 2);
                self.insert_short(end - 2);
                self.insert_short(end - 1);
            }
        }
    }

    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn insert_long(&mut self, at: usize) {
        // SAFETY: by the contract `at` <= `last`.
        self.long[long_slot::<USED_LOG>(unsafe { self.word(at) })] = S::new(at);
    }

    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn insert_short(&mut self, at: usize) {
        // SAFETY: by the contract `at` <= `last`.
        self.short[short_slot::<USED_LOG>(unsafe { self.word(at) })] = S::new(at);
    }

    /// Returns the 8 bytes at `at`.
    ///
    /// # Safety
    /// `at <= self.last`.
    #[inline(always)]
    unsafe fn word(&self, at: usize) -> u64 {
        debug_assert!(at <= self.last);
        // SAFETY: `last` is 12 bytes before the end.
        unsafe { read64(self.src, at) }
    }
}

/// Returns the slot of the seven low bytes of `word` in a table of `1 << USED_LOG` slots.
#[inline(always)]
fn long_slot<const USED_LOG: u32>(word: u64) -> usize {
    ((word << 8).wrapping_mul(58_295_818_150_454_627) >> (u64::BITS - USED_LOG)) as usize
}

/// Returns the slot of the four low bytes of `word` in a table of `1 << USED_LOG` slots.
#[inline(always)]
fn short_slot<const USED_LOG: u32>(word: u64) -> usize {
    ((word as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - USED_LOG)) as usize
}
