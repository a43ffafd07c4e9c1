//! The encoder. It makes the reference's decisions, byte for byte (`codecs.md` 3.3), so that stream sizes agree, and
//! so do the inputs that are given up. There are two references: BloscLZ 2.5.3 of C-Blosc2 and 2.5.1 of C-Blosc 1
//! ([`Release`]).
//!
//! Both passes use the same matches ([`MatchFinder`]): the probe, which decides whether the input is worth compressing,
//! and the encoder. Literals are not copied one by one: a literal run is written when the match that ends it is
//! known.

use super::format::{EXTENDED_LENGTH_CODE, MAX_LITERALS};
use super::tokens::{EncoderMatch, TokenWriter};
use crate::codec::common_prefix::difference_mask32;
use crate::error::Result;
use crate::fallible::boxed_array;
use crate::tuning::tunable;
use std::hint::black_box;

/// log2 of the largest hash table.
const MAX_TABLE_LOG2: u32 = 14;
/// The number of bytes at the end of the input in which no match begins.
const NO_MATCH_TAIL: usize = 12;
/// Matches at this distance, in bytes, or beyond are not used.
const MAX_DISTANCE: usize = 73725;
/// The number of equal bytes from which on the length of a match is counted in a loop.
const LONG_MATCH_LEN: usize = 8;
/// Far matches below this coded length are not used, as in the reference (`codecs.md` 3.3).
const MIN_FAR_CODED_LEN: usize = 6;
tunable! {
    /// The number of positions behind a match that are searched without a function call. 4 and 8 measured the same
    /// (`side_by_side --group blosc1-drawn --codecs blosclz --seed 900002`).
    const NEAR_POSITIONS: usize = 8;
    /// The number of words that are compared one by one.
    const PREDICTED_WORDS: usize = 5;
}
/// Inputs below this length, in bytes, are not compressed.
const MIN_INPUT: usize = 16;
/// Nothing is compressed into an output below this length, in bytes.
const MIN_OUTPUT: usize = 66;

/// A release of BloscLZ, whose decisions the encoder makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The release of C-Blosc 1.21.6. It uses matches of 5 bytes, and probes at most 4 KiB, from 3/4 of the input on.
    V2_5_1 {
        /// Whether the chunk has one stream for each byte of an item. Inputs that the probe estimates to shrink to a
        /// quarter are then encoded as by [`Release::V2_5_3`].
        is_split: bool,
    },
    /// The release of C-Blosc2 3.3.5. Its shortest match is 7 equal bytes, of which 6 are coded.
    V2_5_3,
}

/// The difference between the number of equal bytes of a match and its coded length, a constant parameter of the
/// encoder: if matches are coded completely.
const COMPLETE_MATCHES: usize = 2;
/// The same if the last equal byte of a match is not coded.
const SHORTENED_MATCHES: usize = 3;
/// The ratio from which on [`Release::V2_5_1`] shortens matches.
const SHORTENED_MATCHES_RATIO: f64 = 4.0;

/// The encoder's hash tables, reused from call to call. No content is carried from one call to the next.
pub(crate) struct HashTables {
    /// For inputs of up to 64 KiB, and thus for every probe: this table fits into the L1 cache.
    u16_table: HashTable<u16>,
    u32_table: HashTable<u32>,
}

trait SlotPosition: Copy + Default + Into<u32> {
    /// The largest position.
    const MAX: u32;

    /// Returns `position`, which is at most `MAX`, as a slot.
    fn new(position: u32) -> Self;
}

impl SlotPosition for u16 {
    const MAX: u32 = u16::MAX as u32;

    #[inline(always)]
    fn new(position: u32) -> Self {
        position as u16
    }
}

impl SlotPosition for u32 {
    const MAX: u32 = u32::MAX;

    #[inline(always)]
    fn new(position: u32) -> Self {
        position
    }
}

type TableSlots<S> = [S; 1 << MAX_TABLE_LOG2];

struct HashTable<S>(Box<TableSlots<S>>);

impl HashTables {
    pub(crate) fn new() -> Result<HashTables> {
        Ok(HashTables { u16_table: HashTable(boxed_array()?), u32_table: HashTable(boxed_array()?) })
    }
}

impl<S: SlotPosition> HashTable<S> {
    /// Returns a match finder for `input` with an empty table. Every position in the input fits into a slot.
    #[inline(always)]
    fn new_match_finder<'a, const LOG: u32, const EQUAL_BIAS: usize>(
        &'a mut self,
        input: &'a [u8],
    ) -> MatchFinder<'a, S, LOG, EQUAL_BIAS> {
        assert!(input.len() as u64 <= u64::from(S::MAX) + 1);
        self.0[..1 << LOG].fill(S::default());
        MatchFinder { slots: &mut self.0, input, inserted_end: 1 }
    }
}

/// Compresses `src` into `dest` and returns the number of bytes written. Returns 0 if the stream does not fit into
/// `dest`, if a probe of the input's tail estimates too low a ratio, or if `clevel` is 0 or less. Levels above 9 are
/// the same as 9.
pub(crate) fn compress(
    tables: &mut HashTables,
    release: Release,
    clevel: i32,
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    if src.len() < MIN_INPUT || src.len() > i32::MAX as usize || dest.len() < MIN_OUTPUT || clevel <= 0 {
        return 0;
    }
    let stream = match release {
        Release::V2_5_1 { is_split } => compress_2_5_1(tables, is_split, clevel, src, dest),
        Release::V2_5_3 => compress_2_5_3(tables, clevel, src, dest),
    };
    stream.unwrap_or(0)
}

fn compress_2_5_1(
    tables: &mut HashTables,
    is_split: bool,
    clevel: i32,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    let probed = &src[src.len() - src.len() / 4..];
    let min = min_ratio(clevel);
    let limits = RatioLimits { min, high: if is_split { SHORTENED_MATCHES_RATIO } else { min } };
    match probe::<12, COMPLETE_MATCHES>(tables, probed, limits) {
        ProbedRatio::TooLow => None,
        ProbedRatio::High if is_split => encode_at_level::<SHORTENED_MATCHES>(tables, clevel, src, dest),
        ProbedRatio::High | ProbedRatio::Sufficient => {
            encode_at_level::<COMPLETE_MATCHES>(tables, clevel, src, dest)
        }
    }
}

fn compress_2_5_3(tables: &mut HashTables, clevel: i32, src: &[u8], dest: &mut [u8]) -> Option<usize> {
    let tail = |divisor: usize| &src[src.len() - src.len() / divisor..];
    let limits = RatioLimits { min: min_ratio(clevel), high: min_ratio(clevel) };
    let ratio = match clevel {
        ..=1 => probe::<12, SHORTENED_MATCHES>(tables, tail(8), limits),
        2 => probe::<13, SHORTENED_MATCHES>(tables, tail(4), limits),
        3 => probe::<14, SHORTENED_MATCHES>(tables, tail(4), limits),
        4..=6 => probe::<14, SHORTENED_MATCHES>(tables, tail(2), limits),
        7.. => probe::<14, SHORTENED_MATCHES>(tables, src, limits),
    };
    match ratio {
        ProbedRatio::TooLow => None,
        _ => encode_at_level::<SHORTENED_MATCHES>(tables, clevel, src, dest),
    }
}

/// Returns the minimum ratio of the probe at `clevel`.
fn min_ratio(clevel: i32) -> f64 {
    match clevel {
        ..=1 => 2.0,
        2 => 1.5,
        3..=6 => 1.2,
        7 => 1.15,
        8 => 1.1,
        9.. => 1.0,
    }
}

/// The ratios between which a probe distinguishes: `min` is at most `high`.
#[derive(Clone, Copy)]
struct RatioLimits {
    min: f64,
    high: f64,
}

/// The ratio by which an input would shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbedRatio {
    /// Below the minimum.
    TooLow,
    /// At least the minimum, but not high.
    Sufficient,
    High,
}

impl RatioLimits {
    fn classify(self, ratio: f64) -> ProbedRatio {
        match ratio {
            _ if ratio >= self.high => ProbedRatio::High,
            _ if ratio >= self.min => ProbedRatio::Sufficient,
            _ => ProbedRatio::TooLow,
        }
    }
}

/// Returns the ratio by which the first `2^LOG` bytes of `probed` would shrink with a hash table of `2^LOG` slots.
fn probe<const LOG: u32, const EQUAL_BIAS: usize>(
    tables: &mut HashTables,
    probed: &[u8],
    limits: RatioLimits,
) -> ProbedRatio {
    let probed = &probed[..probed.len().min(1 << LOG)];
    probe_ratio(tables.u16_table.new_match_finder::<LOG, EQUAL_BIAS>(probed), limits)
}

fn encode_at_level<const EQUAL_BIAS: usize>(
    tables: &mut HashTables,
    clevel: i32,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    match clevel {
        ..=1 => encode_with_table::<12, EQUAL_BIAS>(tables, src, dest, false),
        2 => encode_with_table::<13, EQUAL_BIAS>(tables, src, dest, false),
        3..=8 => encode_with_table::<14, EQUAL_BIAS>(tables, src, dest, false),
        9.. => encode_with_table::<14, EQUAL_BIAS>(tables, src, dest, true),
    }
}

/// Encodes `src` with a hash table of `2^LOG` slots, and a flag for storing a second position of each match in it.
fn encode_with_table<const LOG: u32, const EQUAL_BIAS: usize>(
    tables: &mut HashTables,
    src: &[u8],
    dest: &mut [u8],
    second_insert: bool,
) -> Option<usize> {
    if src.len() <= u16::MAX as usize + 1 {
        encode::<_, LOG, EQUAL_BIAS>(&mut tables.u16_table, src, dest, second_insert)
    } else {
        encode::<_, LOG, EQUAL_BIAS>(&mut tables.u32_table, src, dest, second_insert)
    }
}

/// Two positions where the bytes of a shortest match are equal.
struct Candidate {
    at: usize,
    /// The position before `at`.
    old: usize,
}

/// Finds matches through a hash table of the last position of every 4-byte key. An empty slot holds position 0.
struct MatchFinder<'a, S, const LOG: u32, const EQUAL_BIAS: usize> {
    slots: &'a mut TableSlots<S>,
    input: &'a [u8],
    /// All positions in the table are below this one, whenever a method of the match finder is called.
    inserted_end: usize,
}

impl<S: SlotPosition, const LOG: u32, const EQUAL_BIAS: usize> MatchFinder<'_, S, LOG, EQUAL_BIAS> {
    /// The coded length of the shortest match.
    const MIN_CODED_LEN: usize = EQUAL_BIAS + 1;
    /// The number of equal bytes of the shortest match.
    const MIN_EQUAL: usize = Self::MIN_CODED_LEN + EQUAL_BIAS;

    /// Returns the first position where no match may begin.
    fn match_start_limit(&self) -> usize {
        self.input.len().saturating_sub(NO_MATCH_TAIL)
    }

    /// Puts `at` into the slot of `key` and returns the position that was there.
    ///
    /// # Safety
    /// `inserted_end` is set to more than `at` before another method is called.
    #[inline(always)]
    unsafe fn replace_slot(&mut self, key: u32, at: usize) -> usize {
        let slot = &mut self.slots[(key.wrapping_mul(2_654_435_761) >> (32 - LOG)) as usize];
        let old: u32 = (*slot).into();
        *slot = S::new(at as u32);
        old as usize
    }

    /// Returns the first match that begins in `from..to`, beyond all inserted positions and before
    /// `match_start_limit()`. With `SKIP_SHORT_FAR`, short far matches are skipped.
    #[inline(always)]
    fn next_match<const SKIP_SHORT_FAR: bool>(&mut self, from: usize, to: usize) -> Option<EncoderMatch> {
        assert!(self.inserted_end <= from && to <= self.match_start_limit());
        let input = self.input;
        let mut from = from;
        loop {
            // SAFETY: all inserted positions are below `from`, and `to` is at most `match_start_limit()`, both by the
            // check above; later, `from` is the position after the last candidate. `inserted_end` is set below.
            let Some(candidate) = (unsafe { self.next_candidate(from, to) }) else {
                self.inserted_end = from.max(to);
                return None;
            };
            from = candidate.at + 1;
            let distance = candidate.at - candidate.old;
            if distance >= MAX_DISTANCE {
                continue;
            }
            // Read again: if the loop above kept this difference, it would take more registers.
            // SAFETY: both positions are more than 8 bytes before the end.
            let differing = unsafe { read64(input, candidate.at) ^ read64(input, candidate.old) };
            let coded_len = if differing == 0 {
                // SAFETY: `distance` <= `at`.
                unsafe { coded_length::<EQUAL_BIAS>(input, candidate.at, distance) }
            } else {
                Self::speculate_short(differing.trailing_zeros() as usize / 8 - EQUAL_BIAS)
            };
            let found = EncoderMatch { start: candidate.at, distance, coded_len };
            if !(SKIP_SHORT_FAR && coded_len < MIN_FAR_CODED_LEN && found.is_far()) {
                self.inserted_end = from;
                return Some(found);
            }
        }
    }

    /// Inserts the positions from `from` on, up to the first one before `to` where the bytes of a shortest match equal
    /// those at the position that was in its slot.
    ///
    /// # Safety
    /// All inserted positions are below `from`, and `to` is at most `match_start_limit()`. `inserted_end` is set to more
    /// than the position of the candidate, or at least `to`, before another method is called.
    #[inline(always)]
    unsafe fn next_candidate(&mut self, from: usize, to: usize) -> Option<Candidate> {
        let near = to.min(from + NEAR_POSITIONS.get());
        // SAFETY: the caller's promises.
        let near_candidate = unsafe { self.search(from, near) };
        if near_candidate.is_some() || near == to {
            return near_candidate;
        }
        // SAFETY: the same, for the positions from `near` on.
        unsafe { self.search_far(near, to) }
    }

    /// [`search`](Self::search) as a function of its own: with the registers of its callers, the loop takes twice as
    /// many instructions.
    ///
    /// # Safety
    /// The contract of [`next_candidate`](Self::next_candidate).
    #[inline(never)]
    unsafe fn search_far(&mut self, from: usize, to: usize) -> Option<Candidate> {
        // SAFETY: the caller's promises.
        unsafe { self.search(from, to) }
    }

    /// The loop of [`next_candidate`](Self::next_candidate), inlined into each caller.
    ///
    /// # Safety
    /// The contract of [`next_candidate`](Self::next_candidate).
    #[inline(always)]
    unsafe fn search(&mut self, from: usize, to: usize) -> Option<Candidate> {
        let input = self.input;
        let mut at = from;
        while at < to {
            // SAFETY: `at` < `to` <= `match_start_limit()`, 12 bytes before the end.
            let here = unsafe { read64(input, at) };
            // SAFETY: the caller sets `inserted_end`.
            let old = unsafe { self.replace_slot(here as u32, at) };
            debug_assert!(old < at);
            // SAFETY: `old` < `from` by the caller's promise, or this loop, which goes upwards, inserted it: `old` <
            // `at`.
            let differing = here ^ unsafe { read64(input, old) };
            if differing << (8 * (LONG_MATCH_LEN - Self::MIN_EQUAL)) == 0 {
                return Some(Candidate { at, old });
            }
            at += 1;
        }
        None
    }

    /// Returns `coded_len`, of a match of less than 8 bytes, as a constant after a branch: where the processor predicts
    /// the branch, the next search does not depend on the bytes of this match.
    #[inline(always)]
    fn speculate_short(coded_len: usize) -> usize {
        // Without `black_box`, the compiler removes the branches.
        if coded_len == Self::MIN_CODED_LEN || Self::MIN_EQUAL + 1 == LONG_MATCH_LEN {
            black_box(Self::MIN_CODED_LEN)
        } else if coded_len == Self::MIN_CODED_LEN + 1 {
            black_box(Self::MIN_CODED_LEN + 1)
        } else {
            coded_len
        }
    }

    /// Puts a position near the end of a match that was used into the table.
    ///
    /// # Safety
    /// `found` was returned by [`next_match`](Self::next_match) of this match finder.
    #[inline(always)]
    unsafe fn insert_match_end(&mut self, found: &EncoderMatch, second_insert: bool) {
        let at = found.start + found.coded_len;
        // SAFETY: `at` is at least 3 bytes before the last byte of the input for matches of 8 bytes and more
        // (`coded_length`). Shorter matches begin at least 12 bytes before the end
        // (`match_start_limit`).
        let key = unsafe { read32(self.input, at) };
        // SAFETY: `inserted_end` becomes `at` + 2 below.
        unsafe { self.replace_slot(key, at) };
        if second_insert {
            // A key of three bytes: only a later key whose highest byte is zero finds it. The reference does the
            // same, and the streams must be identical.
            // SAFETY: `inserted_end` becomes `at` + 2 below.
            unsafe { self.replace_slot(key >> 8, at + 1) };
        }
        self.inserted_end = self.inserted_end.max(at + 2);
    }
}

/// Returns the coded length of a match of 8 bytes or more at `at`: `at` and this length are at least
/// `EQUAL_BIAS + 1` bytes before the last byte of `input`.
///
/// # Safety
/// `distance <= at`.
#[inline(always)]
unsafe fn coded_length<const EQUAL_BIAS: usize>(input: &[u8], at: usize, distance: usize) -> usize {
    // Short matches are compared word by word: in items of one size, the processor predicts the word that differs.
    let words = PREDICTED_WORDS.get();
    if at + 8 * words < input.len() {
        for equal in (8..8 * words).step_by(8) {
            let here = at + equal;
            // SAFETY: `equal` + 8 <= 8 * `words`, and `at` + 8 * `words` is inside `input`; `distance` <= `at` by the
            // caller.
            let differing = unsafe { read64(input, here) ^ read64(input, here - distance) };
            if differing != 0 {
                return equal + differing.trailing_zeros() as usize / 8 - EQUAL_BIAS;
            }
        }
    }
    let last = input.len() - 1;
    let equal = common_prefix(&input[at + 8..last], &input[at + 8 - distance..last - distance]);
    // The reference includes the differing byte, or stops at the last byte, which is never compared.
    (at + 8 + equal + 1).min(last) - 1 - EQUAL_BIAS - at
}

/// Returns the length of the common prefix of `a` and `b`, which have the same length.
#[inline(always)]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let mut n = 0;
    while n + 32 <= len {
        // SAFETY: `n` + 32 <= the length of both.
        let differing = unsafe { difference_mask32(a, b, n) };
        if differing != 0 {
            return n + differing.trailing_zeros() as usize;
        }
        n += 32;
    }
    if n + 16 <= len {
        let differing = read128(a, n) ^ read128(b, n);
        if differing != 0 {
            return n + differing.trailing_zeros() as usize / 8;
        }
        n += 16;
    }
    n + a[n..].iter().zip(&b[n..]).take_while(|(x, y)| x == y).count()
}

/// Returns the ratio by which the match finder's input would shrink. The size is only computed, nothing is written, and
/// the loop ends as soon as the result is certain.
#[inline(never)]
fn probe_ratio<S: SlotPosition, const LOG: u32, const EQUAL_BIAS: usize>(
    mut finder: MatchFinder<S, LOG, EQUAL_BIAS>,
    limits: RatioLimits,
) -> ProbedRatio {
    let (len, stop) = (finder.input.len(), finder.match_start_limit());
    if stop == 0 {
        return ProbedRatio::TooLow;
    }
    // With a size of `hopeless`, the ratio is missed even if the loop ended at `len`; with a size of `safe`, it is
    // reached even if the loop ends at `stop`. One more or one less byte compensates for rounding.
    let hopeless = |ratio: f64| (len as f64 / ratio) as usize + 2;
    let safe = |ratio: f64| ((stop as f64 / ratio) as usize).saturating_sub(1);
    let (hopeless, hopeless_high) = (hopeless(limits.min), hopeless(limits.high));
    let (safe, safe_high) = (safe(limits.min), safe(limits.high));
    let mut literals = 4; // in the open run
    let mut size = 5;
    let mut run_start = 0;
    let mut from = 1; // position 0 is its own candidate
    loop {
        let to = stop.min(run_start + (hopeless - size));
        let found = finder.next_match::<false>(from, to);
        let run_end = found.as_ref().map_or(to, |m| m.start);
        literals += run_end - run_start;
        size += run_end - run_start + literals / MAX_LITERALS;
        if size >= hopeless {
            return ProbedRatio::TooLow;
        }
        let Some(found) = found else {
            return limits.classify(run_end as f64 / size as f64);
        };
        size -= usize::from(literals % MAX_LITERALS == 0);
        literals = 0;
        if found.coded_len >= EXTENDED_LENGTH_CODE {
            size += (found.coded_len - EXTENDED_LENGTH_CODE) / 255 + 1;
        }
        size += if found.is_far() { 4 } else { 2 };
        // SAFETY: the match is from `next_match`.
        unsafe { finder.insert_match_end(&found, false) };
        size += 1;
        run_start = found.end();
        from = run_start;
        if from >= stop {
            return limits.classify(from as f64 / size as f64);
        }
        if size >= hopeless {
            return ProbedRatio::TooLow;
        }
        // The rest costs at most 33 bytes for each 32, and a match across `stop` at most 6 bytes more than it covers.
        let left = stop - from;
        let most = size + left + left / MAX_LITERALS + 8;
        if most <= safe_high {
            return ProbedRatio::High;
        }
        if size >= hopeless_high && most <= safe {
            return ProbedRatio::Sufficient;
        }
    }
}

/// Encodes `input` and returns the length of the stream; `None` if it does not fit.
#[inline(never)]
fn encode<S: SlotPosition, const LOG: u32, const EQUAL_BIAS: usize>(
    table: &mut HashTable<S>,
    input: &[u8],
    dest: &mut [u8],
    second_insert: bool,
) -> Option<usize> {
    // The match finder is a local variable, not an argument, so that the compiler keeps it in registers.
    let mut finder = table.new_match_finder::<LOG, EQUAL_BIAS>(input);
    let stop = finder.match_start_limit();
    let mut writer = TokenWriter::new(input, dest);
    let mut from = 4;
    let mut to = 0;
    loop {
        if let Some(found) = finder.next_match::<true>(from, to) {
            writer.write(found)?;
            // SAFETY: the match is from `next_match`.
            unsafe { finder.insert_match_end(&found, second_insert) };
            from = found.end();
            continue;
        }
        // A literal run longer than the rest of `dest` does not fit: the search ends there. The limit is renewed only
        // when it is reached.
        from = from.max(to);
        if from >= stop {
            break;
        }
        to = stop.min(writer.literal_limit());
        if to <= from {
            return None;
        }
    }
    writer.finish()
}

/// Returns the 4 bytes at `input[at]`.
///
/// # Safety
/// `at + 4 <= input.len()`.
#[inline(always)]
unsafe fn read32(input: &[u8], at: usize) -> u32 {
    debug_assert!(at + 4 <= input.len());
    // SAFETY: the caller's promise.
    u32::from_le_bytes(unsafe { input.as_ptr().add(at).cast::<[u8; 4]>().read() })
}

/// Returns the 8 bytes at `input[at]`.
///
/// # Safety
/// `at + 8 <= input.len()`.
#[inline(always)]
unsafe fn read64(input: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= input.len());
    // SAFETY: the caller's promise. A checked read would cost a fifth of the encoder's speed.
    u64::from_le_bytes(unsafe { input.as_ptr().add(at).cast::<[u8; 8]>().read() })
}

#[inline(always)]
fn read128(input: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(input[at..at + 16].try_into().expect("a slice of 16 bytes"))
}
