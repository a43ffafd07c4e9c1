//! Mutated chunks. Sources end at an inaccessible page right behind the length that their header claims, destinations
//! right behind their size. Each mutant is decompressed, and some of its items are read; in forked processes, so that
//! crashes and hangs are counted. The reference runs on the same mutants, and its codes are compared.
//!
//! `BLOSC1_MUTANTS` is the number of mutants (default 10000) of each test, `BLOSC1_SEED` the seed.

use crate::support::forked::{Outcome, in_forked_processes};
use crate::support::guard::GuardedBuffer;
use crate::support::{CODECS, Library, Random, from_environment, libraries};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Number of mutants of one chunk.
const MUTANTS_PER_CHUNK: usize = 64;
/// A header that claims more bytes gets the real length: the functions read as many bytes as it claims.
const MAX_SOURCE: usize = 1 << 20;
const MAX_DEST: usize = 1 << 20;
/// Items that are read, at most; they have at most 255 bytes.
const MAX_ITEMS: usize = 64;
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// The bytes before destinations, which must not change.
const CANARIES: usize = 256;
const CANARY: u8 = 0xA5;

/// The calls for one mutant.
struct Case {
    /// As long as the header claims, and at least a header.
    source: Vec<u8>,
    destsize: usize,
    start: i32,
    nitems: i32,
    nthreads: i32,
}

/// Draws chunks, and mutants of them.
struct Cases {
    seed: u64,
    writers: [Library; 2],
    /// Whether `blosc_cbuffer_validate` accepts the mutants.
    are_validated: bool,
    /// The number of the last chunk that was drawn, the chunk, and the length of its content.
    original: (usize, Vec<u8>, usize),
}

fn field(chunk: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"))
}

impl Cases {
    fn new(seed: u64, writers: [Library; 2], are_validated: bool) -> Cases {
        Cases { seed, writers, are_validated, original: (usize::MAX, Vec::new(), 0) }
    }

    fn generator(&self, number: u64) -> Random {
        let seed = (self.seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Random((seed ^ (number + 1).wrapping_mul(0xD134_2543_DE82_EF95)) | 1)
    }

    /// Draws chunk `number`.
    fn draw_original(&mut self, number: usize) {
        let mut random = self.generator((number as u64) << 32);
        random.next();
        let limit = [200, 3000, 3000, 40_000][random.below(4)];
        let len = 1 + random.below(limit);
        let content = random.content(len);
        let typesizes = [1, 2, 3, 4, 8, 16, 17, 255];
        let arguments = (random.below(10) as i32, random.below(3) as i32, typesizes[random.below(8)]);
        let blocksize = [0, 0, random.below(4000)][random.below(3)];
        let writer = &self.writers[random.below(2)];
        // More space than the content needs: the reference compresses with Snappy only then (blosc1.md 12.8).
        let chunk =
            writer.compress(arguments, &content, 2 * len + 1000, CODECS[random.below(6)], blocksize, 1);
        self.original = (number, chunk.expect("a chunk"), len);
    }

    /// Changes bytes of a chunk.
    fn mutate(chunk: &mut Vec<u8>, random: &mut Random) {
        let limits = [0, 1, -1, 15, 16, 17, 127, 128, 255, 256, i32::MAX, i32::MIN, chunk.len() as i32];
        for _ in 0..1 + random.below(3) {
            let at = random.below(chunk.len());
            match random.below(8) {
                0 | 1 => chunk[at] = random.next() as u8,
                2 => chunk[at] ^= 1 << random.below(8),
                3 => {
                    // A number of the header.
                    let at = [4, 8, 12][random.below(3)];
                    let near = field(chunk, at).wrapping_add(random.below(9) as i32 - 4);
                    let value = if random.below(2) == 0 { near } else { limits[random.below(limits.len())] };
                    chunk[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
                4 => {
                    // Probably a block start, or the length of a stream.
                    let at = 16 + 4 * random.below(6);
                    if let Some(place) = chunk.get_mut(at..at + 4) {
                        let old = i32::from_le_bytes(place.try_into().expect("4 bytes"));
                        let near = old.wrapping_add(random.below(9) as i32 - 4);
                        let value =
                            if random.below(2) == 0 { near } else { limits[random.below(limits.len())] };
                        place.copy_from_slice(&value.to_le_bytes());
                    }
                }
                5 => chunk[random.below(4)] = random.next() as u8,
                6 => {
                    let len = random.below(chunk.len() - at + 1).min(300);
                    chunk[at..at + len].fill(255);
                }
                _ => {
                    let from = random.below(chunk.len());
                    let len = random.below(chunk.len() - at.max(from) + 1).min(100);
                    chunk.copy_within(from..from + len, at);
                }
            }
        }
        if random.below(10) == 0 {
            chunk.truncate(16 + random.below(chunk.len() - 15));
        }
    }

    /// Draws mutant `index`.
    fn draw(&mut self, index: usize) -> Case {
        let number = index / MUTANTS_PER_CHUNK;
        if self.original.0 != number {
            self.draw_original(number);
        }
        let mut random = self.generator(index as u64);
        let (_, chunk, len) = &self.original;
        let mut source = chunk.clone();
        Cases::mutate(&mut source, &mut random);
        let claimed = field(&source, 12);
        if self.are_validated || claimed > MAX_SOURCE as i32 {
            let cbytes = source.len() as i32;
            source[12..16].copy_from_slice(&cbytes.to_le_bytes());
        } else {
            let old = source.clone();
            let claimed = usize::try_from(claimed).unwrap_or(0).max(16);
            source.resize(claimed, 0);
            for (at, byte) in source.iter_mut().enumerate().skip(old.len()) {
                *byte = old[at % old.len()];
            }
        }
        let claimed = usize::try_from(field(&source, 4)).unwrap_or(0).min(MAX_DEST);
        let destsizes = [*len, claimed, claimed, random.below(claimed + 1)];
        let (typesize, nitems) = (usize::from(source[3]).max(1), 1 + random.below(MAX_ITEMS));
        Case {
            source,
            destsize: destsizes[random.below(4)],
            start: random.below(len / typesize + 2) as i32,
            nitems: nitems as i32,
            nthreads: if random.below(8) == 0 { 3 } else { 1 },
        }
    }
}

/// The buffers of the calls.
struct Buffers {
    source: GuardedBuffer,
    dest: GuardedBuffer,
}

impl Buffers {
    fn new() -> Buffers {
        Buffers {
            source: GuardedBuffer::new(MAX_SOURCE),
            dest: GuardedBuffer::new(MAX_DEST.max(MAX_ITEMS * 255) + CANARIES),
        }
    }

    /// Calls `call` with a destination of `len` bytes. Checks the bytes before it, and that `call` returns at most its
    /// length.
    fn with_dest(&mut self, len: usize, call: impl FnOnce(*mut u8) -> i32) -> i32 {
        let bytes = self.dest.last_bytes(len + CANARIES);
        bytes[..CANARIES].fill(CANARY);
        let code = call(bytes[CANARIES..].as_mut_ptr());
        assert!(bytes[..CANARIES].iter().all(|&byte| byte == CANARY), "bytes before the destination");
        assert!(code <= len as i32, "{code} bytes, expected at most {len}");
        code
    }

    /// Runs a case. Returns the codes of `blosc_decompress_ctx` and of `blosc_getitem` in one number.
    fn run(&mut self, library: &Library, case: &Case) -> i64 {
        let source = self.source.last_bytes(case.source.len());
        source.copy_from_slice(&case.source);
        let src = source.as_ptr().cast();
        let whole = self.with_dest(case.destsize, |dest| {
            // SAFETY: a source as long as its header claims, and a destination of that size.
            unsafe { (library.blosc_decompress_ctx)(src, dest.cast(), case.destsize, case.nthreads) }
        });
        let items_len = case.nitems as usize * usize::from(case.source[3]);
        let part = self.with_dest(items_len, |dest| {
            // SAFETY: as above; space for the items.
            unsafe { (library.blosc_getitem)(src, case.start, case.nitems, dest.cast()) }
        });
        i64::from(whole) << 32 | i64::from(part as u32)
    }
}

fn codes(outcome: Outcome) -> Option<[i32; 2]> {
    match outcome {
        Outcome::Returned(number) => Some([(number >> 32) as i32, number as i32]),
        _ => None,
    }
}

/// Runs all mutants with both libraries, and compares.
fn run(are_validated: bool) {
    let Some((libraries, _guard)) = libraries() else { return };
    let seed = from_environment("BLOSC1_SEED", 25);
    let count = from_environment("BLOSC1_MUTANTS", 10_000) as usize;
    let [of_ours, of_reference] = libraries.each_ref().map(|library| {
        let (mut cases, mut buffers) = (Cases::new(seed, libraries, are_validated), Buffers::new());
        in_forked_processes(count, TIME_LIMIT, |index| buffers.run(library, &cases.draw(index)))
    });
    for (name, outcomes) in [("ours", &of_ours), ("reference", &of_reference)] {
        let mut ends = BTreeMap::new();
        for outcome in outcomes.iter().filter(|outcome| codes(**outcome).is_none()) {
            *ends.entry(outcome.to_string()).or_insert(0) += 1;
        }
        let content =
            outcomes.iter().filter_map(|&outcome| codes(outcome)).filter(|codes| codes[0] > 0).count();
        println!("{name}: {count} mutants, {content} decompressed, crashes and hangs: {ends:?}");
    }
    let mut listed = BTreeMap::new();
    let mut cases = Cases::new(seed, libraries, are_validated);
    for (index, (&ours, &reference)) in of_ours.iter().zip(&of_reference).enumerate() {
        let Some(ours) = codes(ours) else { panic!("seed {seed}, mutant {index}: {ours}") };
        let Some(reference) = codes(reference) else { continue };
        if ours == reference {
            continue;
        }
        let case = cases.draw(index);
        let reasons = [
            (ours[0] != reference[0]).then(|| listed_decompression(&case, ours[0], reference[0])),
            (ours[1] != reference[1]).then(|| listed_items(&case, ours[1], reference[1])),
        ];
        for reason in reasons.into_iter().flatten() {
            let Some(reason) = reason else {
                let (header, destsize) = (&case.source[..16], case.destsize);
                let items = (case.start, case.nitems);
                panic!(
                    "seed {seed}, mutant {index}: {header:02x?}, {destsize} bytes, items {items:?}: {ours:?}, \
                     reference {reference:?}"
                )
            };
            *listed.entry(reason).or_insert(0) += 1;
        }
    }
    println!("differences of codes: {listed:?}");
}

const DONT_SPLIT: u8 = 0x10;
const LZ4_FORMAT: u8 = 1;
const DISTANCE_0: &str = "LZ4 streams with a match of distance 0";
const LZ4_END: &str =
    "an LZ4 stream with a match near its end, which only this library decodes, before other damage";
const IN_TABLE: &str = "a block that begins inside the header or the table of block starts";
const UNEVEN: &str = "streams that are shorter than their block";
const UNMARKED: &str = "blocks that are not split and not marked";

/// Returns whether one of these blocks begins inside the header or the table of block starts.
fn begins_in_table(chunk: &[u8], blocks: RangeInclusive<i64>) -> bool {
    let (nbytes, blocksize) = (i64::from(field(chunk, 4)), i64::from(field(chunk, 8)));
    let table = 0..16 + 4 * ((nbytes + blocksize - 1) / blocksize);
    blocks.into_iter().any(|nblock| {
        let at = 16 + 4 * nblock as usize;
        at + 4 <= chunk.len() && table.contains(&i64::from(field(chunk, at)))
    })
}

/// Returns whether blocks are split, and have bytes that no stream holds: the reference returns other bytes for them.
fn has_uneven_streams(chunk: &[u8]) -> bool {
    let (blocksize, typesize) = (field(chunk, 8), i32::from(chunk[3]));
    chunk[2] & DONT_SPLIT == 0 && typesize <= 16 && blocksize / typesize >= 128 && blocksize % typesize != 0
}

/// Returns the reason for which `blosc_decompress_ctx` of this library returns another code; `None` if there is none.
fn listed_decompression(case: &Case, ours: i32, reference: i32) -> Option<&'static str> {
    let (nbytes, cbytes) = (field(&case.source, 4), field(&case.source, 12));
    if nbytes < 0 {
        return (ours == -1).then_some("negative size of the content");
    }
    if cbytes < 16 {
        return (ours == -1).then_some("less than a header");
    }
    let nblocks = nbytes / field(&case.source, 8).max(1) + 1;
    if begins_in_table(&case.source, 0..=i64::from(nblocks) - 1) && ours == -1 {
        return Some(IN_TABLE);
    }
    if has_uneven_streams(&case.source) && ours == -1 {
        return Some(UNEVEN);
    }
    if case.source[2] >> 5 == LZ4_FORMAT && ours == -1 && reference == nbytes {
        return Some(DISTANCE_0);
    }
    // This library also reads blocks that are not split although a reader of Blosc 1 expects it.
    let is_marked = case.source[2] & DONT_SPLIT != 0;
    (!is_marked && ours == nbytes && reference == -1).then_some(UNMARKED)
}

/// Returns the reason for which `blosc_getitem` of this library returns another code; `None` if there is none.
fn listed_items(case: &Case, ours: i32, reference: i32) -> Option<&'static str> {
    let source = &case.source;
    let blocksize = i64::from(field(source, 8));
    let typesize = i64::from(source[3]);
    let (start, nitems) = (i64::from(case.start), i64::from(case.nitems));
    if field(source, 12) < 16 {
        return (ours == -1).then_some("less than a header");
    }
    if begins_in_table(source, start * typesize / blocksize..=((start + nitems) * typesize - 1) / blocksize)
        && ours == -1
    {
        return Some(IN_TABLE);
    }
    let has_all = i64::from(ours) == nitems * typesize;
    if has_all && reference == -2 {
        return Some("damage in a part of a block that is not decoded for the items");
    }
    if has_uneven_streams(source) && ours < 0 {
        return Some(UNEVEN);
    }
    if source[2] >> 5 == LZ4_FORMAT && ours == -2 {
        return Some(DISTANCE_0);
    }
    if source[2] >> 5 == LZ4_FORMAT && ours == -1 && reference == -2 {
        return Some(LZ4_END);
    }
    let is_marked = source[2] & DONT_SPLIT != 0;
    (!is_marked && has_all && reference < 0).then_some(UNMARKED)
}

#[test]
fn mutants_that_pass_validation() {
    run(true);
}

/// The length that a header claims is right, or the source ends behind it.
#[test]
fn mutants_of_any_claimed_length() {
    run(false);
}
