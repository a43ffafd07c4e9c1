//! Both directions against the reference: what we write it reads, what it writes we read, the headers
//! agree, and so do the return codes and the partial reads. The grid of codecs, levels, filters,
//! typesizes, sizes, split modes, block sizes, threads, dictionaries and destinations is sampled at random:
//!
//! ```text
//! BLOSC2_GRID_POINTS=20000 cargo test --release --test side_by_side grid -- --nocapture
//! ```
//!
//! `BLOSC2_GRID_SEED` starts another sample; `BLOSC2_GRID_ONLY=<index>` replays one point of it.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::calls::{
    Header, Outcome, OwnedContext, Params, Special, compress, compress_copy, decompress, dparams, getitem,
    getitem_bytes, special_chunk, vlcompress, with_destination,
};
use support::data::Data;
use support::known_defects::{self as defects, KnownDefect, Verdict};
use support::library::Library;
use support::random::{Random, from_environment};

const CODECS: [u8; 5] = [0, 1, 2, 4, 5];
const TYPESIZES: [i32; 15] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 32, 64, 255, 256, 300];
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;

/// One point of the grid.
#[derive(Debug)]
struct Point {
    index: u64,
    params: Params,
    data: Data,
    data_seed: u64,
    nbytes: usize,
    destsize: usize,
}

fn pick_filters(random: &mut Random, typesize: i32) -> ([u8; 6], [u8; 6]) {
    let mut filters = [0; 6];
    let mut metas = [0; 6];
    let kept_bits = |random: &mut Random| match (typesize, random.below(8)) {
        (_, 0) => random.byte(),
        (4, choice) if choice % 2 == 0 => 1 + random.below(23) as u8,
        (4, _) => (1 + random.below(22) as u8).wrapping_neg(),
        (_, choice) if choice % 2 == 0 => 1 + random.below(52) as u8,
        _ => (1 + random.below(51) as u8).wrapping_neg(),
    };
    match random.below(9) {
        0 => {}
        1 | 2 => filters[5] = SHUFFLE,
        3 => filters[5] = BITSHUFFLE,
        4 => filters[5] = DELTA,
        5 => filters[4..].copy_from_slice(&[DELTA, if random.one_in(2) { SHUFFLE } else { BITSHUFFLE }]),
        6 if typesize == 4 || typesize == 8 || random.one_in(4) => {
            filters[4..].copy_from_slice(&[TRUNC_PREC, random.below(3) as u8]);
            metas[4] = kept_bits(random);
        }
        _ => {
            for _ in 0..1 + random.below(6) {
                let slot = random.below(6);
                let lossy = (typesize == 4 || typesize == 8) && random.one_in(8);
                filters[slot] =
                    if lossy { TRUNC_PREC } else { *random.pick(&[SHUFFLE, SHUFFLE, BITSHUFFLE, DELTA]) };
                metas[slot] = match filters[slot] {
                    TRUNC_PREC => kept_bits(random),
                    _ if random.one_in(3) => *random.pick(&[1, 2, 3, 4, 5, 8, 16, 100, 255]),
                    _ => 0,
                };
            }
        }
    }
    (filters, metas)
}

fn pick_nbytes(random: &mut Random) -> usize {
    match random.below(40) {
        0 => 1_000_003,
        1..=3 => 65_535,
        4..=9 => random.below(200_000),
        10..=18 => 1 + random.below(20_000),
        _ => *random.pick(&[0, 1, 31, 32, 33, 4096, 65_535]),
    }
}

fn pick_blocksize(random: &mut Random, typesize: i32, nbytes: usize) -> i32 {
    if random.one_in(2) {
        return 0;
    }
    let nbytes = nbytes as i32;
    let sizes = [
        1,
        3,
        16,
        20,
        32,
        100,
        128,
        1000,
        1001,
        4096,
        8191,
        65_536,
        typesize,
        typesize * 32,
        typesize * 37,
        nbytes / 2,
        nbytes,
        nbytes + 1,
        1 + random.below(5000) as i32,
    ];
    // Not more blocks than a test run can afford.
    (*random.pick(&sizes)).max(nbytes / 2000).max(1)
}

impl Point {
    fn new(seed: u64, index: u64) -> Point {
        let random = &mut Random::of_item(seed, index);
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = pick_nbytes(random);
        let (filters, metas) = pick_filters(random, typesize);
        let params = Params {
            codec: *random.pick(&CODECS),
            codec_meta: if random.one_in(8) { random.byte() } else { 0 },
            clevel: random.below(10) as u8,
            use_dict: random.one_in(5),
            typesize,
            nthreads: *random.pick(&[1, 1, 4]),
            blocksize: pick_blocksize(random, typesize, nbytes),
            splitmode: 1 + random.below(4) as i32,
            filters,
            metas,
        };
        let destsize = match random.below(4) {
            0 => nbytes + 32,
            1 => 32 + random.below(nbytes + 1),
            _ => defects::roomy(&params, nbytes as i32),
        };
        let data = *random.pick(&Data::ALL);
        Point { index, params, data, data_seed: random.next(), nbytes, destsize }
    }

    fn source(&self) -> Vec<u8> {
        self.data.generate(&mut Random::new(self.data_seed), self.params.typesize as usize, self.nbytes)
    }

    fn lossless(&self) -> bool {
        !defects::has_filter(&self.params, TRUNC_PREC)
    }
}

/// What the whole run adds up to.
#[derive(Default)]
struct Totals {
    /// Per codec: bytes in, bytes out of ours, bytes out of the reference.
    sizes: [(u64, u64, u64); 6],
    /// How often each known defect kept a comparison from being made.
    skipped: std::collections::BTreeMap<KnownDefect, usize>,
    compared: usize,
}

impl Totals {
    fn note(&mut self, verdict: Verdict) -> bool {
        if let Verdict::Wrong(defect) | Verdict::Unsafe(defect) = verdict {
            *self.skipped.entry(defect).or_default() += 1;
        }
        verdict.is_right()
    }

    fn print(&self) {
        println!("{} comparisons; not made because of known defects: {:?}", self.compared, self.skipped);
        for (codec, (nbytes, ours, theirs)) in self.sizes.iter().enumerate().filter(|(_, sizes)| sizes.2 > 0)
        {
            println!(
                "codec {codec}: {nbytes} bytes, sizes ours/reference {:.4}",
                *ours as f64 / *theirs as f64
            );
        }
    }
}

/// A panic message that holds only the interesting part of two byte strings.
#[track_caller]
fn assert_bytes(what: &str, got: &[u8], expected: &[u8]) {
    if got == expected {
        return;
    }
    let at = got.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(got.len().min(expected.len()));
    let window = |bytes: &[u8]| format!("{:02x?}", &bytes[at.min(bytes.len())..bytes.len().min(at + 16)]);
    panic!(
        "{what}: {} bytes, expected {}; first difference at {at}: {} instead of {}",
        got.len(),
        expected.len(),
        window(got),
        window(expected)
    );
}

fn assert_decodes(what: &str, result: Outcome, expected: &[u8]) {
    match result {
        Ok(bytes) => assert_bytes(what, &bytes, expected),
        Err(code) => panic!("{what}: error {code}"),
    }
}

/// The fields that both libraries must write alike (all but cbytes; the block size where the reference
/// has it right; the memcpyed bit where it depends on how well the codec did).
fn assert_headers_agree(point: &Point, mine: &Header, theirs: &Header, blocksize_is_right: bool) {
    let mut expected = Header { cbytes: mine.cbytes, ..theirs.clone() };
    if !blocksize_is_right {
        expected.blocksize = mine.blocksize;
    }
    let params = &point.params;
    let forced_plain = defects::plain_from_the_start(params, point.nbytes as i32);
    if !forced_plain && mine.memcpyed() != theirs.memcpyed() {
        expected.flags = theirs.flags & !2 | mine.flags & 2;
        expected.blosc2_flags = mine.blosc2_flags;
    } else if params.use_dict {
        let by_chance = params.codec == 5 && params.nthreads > 1;
        if by_chance || theirs.memcpyed() {
            expected.blosc2_flags = theirs.blosc2_flags & !1 | mine.blosc2_flags & 1;
        }
    }
    assert_eq!(*mine, expected, "header of ours (left) and of the reference (right)");
}

/// Partial reads of `chunk` by `library` against the decoded bytes.
fn check_getitem(
    library: &Library,
    point: &Point,
    chunk: &[u8],
    decoded: &[u8],
    random: &mut Random,
    totals: &mut Totals,
) {
    let header = Header::of(chunk);
    let unit = i32::from(header.typesize);
    let nitems = decoded.len() as i32 / unit;
    let block_items = (header.blocksize.min(decoded.len() as i32).max(1) / unit).max(1);
    let mut reads =
        vec![(0, nitems), (0, 0), (nitems, 0), (0, nitems.min(1)), (nitems - nitems.min(1), nitems.min(1))];
    for _ in 0..4 {
        // Around a block border, and anywhere.
        let border = block_items * random.below((nitems / block_items) as usize + 1) as i32;
        let start = (border + random.below(5) as i32 - 2).clamp(0, nitems);
        let len = *random.pick(&[1, 2, 3, block_items, block_items + 1, 2 * block_items, nitems]);
        reads.push((start, len.min(nitems - start)));
        let start = random.below(nitems as usize + 1) as i32;
        reads.push((start, random.below((nitems - start) as usize + 1) as i32));
    }
    let nthreads = *random.pick(&[1, 4]);
    for (start, count) in reads {
        let (from, len) = (start * unit, count * unit);
        let verdict = if library.is_reference() {
            defects::of_getitem(&point.params, &header, from, len)
        } else {
            Verdict::Right
        };
        if !totals.note(verdict) {
            continue;
        }
        let expected = &decoded[from as usize..(from + len) as usize];
        let what = format!("{}: getitem({start}, {count}), nthreads {nthreads}", library.name);
        assert_decodes(&what, getitem(library, nthreads, chunk, start, count, len as usize), expected);
        let what = format!("{}: getitem_bytes({from}, {len})", library.name);
        assert_decodes(&what, getitem_bytes(library, chunk, from, len, len as usize), expected);
        totals.compared += 2;
    }
    // Refused before anything is decoded (chunk.md 4.5).
    for (start, count, destsize, code) in [
        (0, -1, 100, -12),
        (-1, 1, 300, -12),
        (nitems, 1, 300, -12),
        (0, nitems + 1, decoded.len() + 300, -12),
        (i32::MAX, i32::MAX, 300, if i64::from(unit) * i64::from(i32::MAX) > 300 { -6 } else { -12 }),
        (0, 2, unit as usize, -6),
    ] {
        let got = getitem(library, 1, chunk, start, count, destsize);
        assert_eq!(got.err(), Some(code), "{}: getitem({start}, {count}) into {destsize}", library.name);
    }
}

/// Whether the reference is right about everything that [`run_point`] asks of our library.
fn may_stand_in(point: &Point, src: &[u8]) -> bool {
    let params = &point.params;
    defects::of_compression(params, src.len() as i32, point.destsize).is_right()
        && defects::header_blocksize_is_right(params, src.len() as i32)
        && !params.use_dict
        && !defects::has_filter(params, DELTA)
        && defects::active_filters(params) < 3
}

fn run_point(ours: &Library, reference: &Library, point: &Point, src: &[u8], totals: &mut Totals) {
    let params = &point.params;
    if ours.is_reference() && !may_stand_in(point, src) {
        return;
    }
    let random = &mut Random::of_item(point.index, 77);
    let mine = compress(ours, params, src, point.destsize);
    if point.destsize >= src.len() + 32 {
        assert_ne!(mine, Err(0), "ours: does not fit although destsize >= nbytes + 32");
    }

    // Reading our own chunk is the yardstick for lossy filters.
    let decoded_mine = mine.as_ref().ok().map(|chunk| {
        assert_eq!(chunk.len() as i32, Header::of(chunk).cbytes, "ours: cbytes in the header");
        let decoded = decompress(ours, 1, chunk, src.len())
            .unwrap_or_else(|code| panic!("ours reads ours: error {code}"));
        if point.lossless() || Header::of(chunk).memcpyed() {
            assert_bytes("ours reads ours", &decoded, src);
        }
        assert_decodes("ours reads ours with 4 threads", decompress(ours, 4, chunk, src.len()), &decoded);
        assert_decodes(
            "ours reads ours into a larger buffer",
            decompress(ours, 1, chunk, src.len() + 100),
            &decoded,
        );
        if !src.is_empty() {
            let got = decompress(ours, 1, chunk, src.len() - 1).err();
            assert_eq!(got, Some(-6), "ours reads ours into a smaller buffer");
        }
        check_getitem(ours, point, chunk, &decoded, random, totals);
        decoded
    });

    // Theirs reads ours.
    if let (Ok(chunk), Some(decoded)) = (&mine, &decoded_mine) {
        let header = Header::of(chunk);
        for nthreads in [1, 4] {
            if totals.note(defects::of_decompression(params, &header, nthreads)) {
                let what = format!("the reference reads ours, nthreads {nthreads}");
                assert_decodes(&what, decompress(reference, nthreads, chunk, src.len()), decoded);
                totals.compared += 1;
            }
        }
        check_getitem(reference, point, chunk, decoded, random, totals);
    }

    let verdict = defects::of_compression(params, src.len() as i32, point.destsize);
    let right = totals.note(verdict);
    if !verdict.may_call() {
        return;
    }
    let theirs = compress_copy(reference, params, src, point.destsize, defects::active_filters(params) >= 3);
    let refusal = |outcome: &Outcome| outcome.as_ref().err().filter(|&&code| code < 0).copied();
    assert_eq!(
        refusal(&mine),
        refusal(&theirs),
        "error code of compression, ours (left) and reference (right)"
    );
    totals.compared += 1;
    let Ok(theirs) = theirs else { return };
    let header = Header::of(&theirs);

    if let (Ok(mine), true) = (&mine, right) {
        assert_headers_agree(
            point,
            &Header::of(mine),
            &header,
            defects::header_blocksize_is_right(params, src.len() as i32),
        );
        let sizes = &mut totals.sizes[usize::from(params.codec)];
        sizes.0 += src.len() as u64;
        sizes.1 += mine.len() as u64;
        sizes.2 += theirs.len() as u64;
    }

    // Ours reads theirs. A chunk that a known defect spoiled must still do no harm.
    let of_chunk = defects::of_chunk(params, &theirs);
    if !(totals.note(of_chunk) && right) {
        let _ = decompress(ours, 1, &theirs, src.len());
        let _ = decompress(ours, 4, &theirs, src.len());
        return;
    }
    let decoded = decompress(ours, 1, &theirs, src.len())
        .unwrap_or_else(|code| panic!("ours reads theirs: error {code}"));
    if point.lossless() || header.memcpyed() {
        assert_bytes("ours reads theirs", &decoded, src);
    } else if let (Some(decoded_mine), false) = (&decoded_mine, defects::has_filter(params, DELTA)) {
        let plain = mine.as_ref().is_ok_and(|chunk| Header::of(chunk).memcpyed());
        assert!(plain || *decoded_mine == decoded, "lossy data differ between our chunk and theirs");
    }
    assert_decodes("ours reads theirs with 4 threads", decompress(ours, 4, &theirs, src.len()), &decoded);
    check_getitem(ours, point, &theirs, &decoded, random, totals);
    for nthreads in [1, 4] {
        if totals.note(defects::of_decompression(params, &header, nthreads)) {
            let what = format!("the reference reads its own, nthreads {nthreads}");
            assert_decodes(&what, decompress(reference, nthreads, &theirs, src.len()), &decoded);
        }
    }
    totals.compared += 1;
}

/// Runs `test` on every index, goes on after failures, and fails at the end with a list of them.
fn over_points(indices: impl Iterator<Item = u64>, seed: u64, mut test: impl FnMut(u64)) {
    const MAX_FAILURES: usize = 25;
    let mut failures = Vec::new();
    for index in indices {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(index))) {
            let message = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
                .unwrap_or_default();
            failures.push(format!("seed {seed} point {index}: {message}"));
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn selected_points(default: u64) -> std::ops::Range<u64> {
    match std::env::var("BLOSC2_GRID_ONLY") {
        Ok(text) => {
            let index: u64 = text.parse().expect("BLOSC2_GRID_ONLY is a number");
            index..index + 1
        }
        Err(_) => 0..from_environment("BLOSC2_GRID_POINTS", default),
    }
}

#[test]
fn grid() {
    let Some((ours, reference)) = support::both() else { return };
    let seed = from_environment("BLOSC2_GRID_SEED", 20_240_901);
    let mut totals = Totals::default();
    over_points(selected_points(400), seed, |index| {
        let point = Point::new(seed, index);
        let src = point.source();
        let run = catch_unwind(AssertUnwindSafe(|| run_point(ours, reference, &point, &src, &mut totals)));
        if let Err(panic) = run {
            eprintln!("seed {seed}: {point:?}");
            std::panic::resume_unwind(panic);
        }
    });
    totals.print();
}

/// A list of buffers for a variable-length chunk.
fn pick_vl_blocks(random: &mut Random, data: Data, width: usize) -> Vec<Vec<u8>> {
    let nblocks = *random.pick(&[1, 2, 3, 7, 8, 16, 64]);
    let largest = *random.pick(&[4, 100, 1000, 5000]);
    let whole_items = random.one_in(2);
    (0..nblocks)
        .map(|_| {
            let len = 1 + random.below(largest);
            let len = if whole_items { len.div_ceil(width) * width } else { len };
            data.generate(random, width, len)
        })
        .collect()
}

#[test]
fn variable_length_chunks() {
    let Some((ours, reference)) = support::both() else { return };
    let seed = from_environment("BLOSC2_GRID_SEED", 20_240_901);
    let points = selected_points(400);
    over_points(points.start..points.start + (points.end - points.start) / 2, seed, |index| {
        let random = &mut Random::of_item(seed, index ^ 0x5656);
        let typesize = *random.pick(&TYPESIZES);
        let (filters, metas) = pick_filters(random, typesize);
        let params = Params {
            codec: *random.pick(&CODECS),
            clevel: random.below(10) as u8,
            use_dict: random.one_in(4),
            typesize,
            nthreads: *random.pick(&[1, 1, 4]),
            splitmode: 1 + random.below(4) as i32,
            filters,
            metas,
            ..Params::default()
        };
        let data = *random.pick(&Data::ALL);
        let blocks = pick_vl_blocks(random, data, typesize as usize);
        let sizes: Vec<usize> = blocks.iter().map(Vec::len).collect();
        let sum: usize = sizes.iter().sum();
        let needed = 32 + 8 * blocks.len() + sum;
        let context = || format!("{params:?}, {data:?}, sizes {sizes:?}");
        let lossless = !defects::has_filter(&params, TRUNC_PREC);
        let useless_dictionary = params.use_dict && !matches!(params.codec, 1 | 2 | 5);

        let check_reads = |library: &Library, chunk: &[u8], expected: &[Vec<u8>], whole: bool| {
            let header = Header::of(chunk);
            assert_eq!((header.nbytes, header.blocksize), (sum as i32, blocks.len() as i32));
            for nthreads in [1, 4] {
                if library.is_reference()
                    && !defects::of_vldecompression(&params, &sizes, nthreads).is_right()
                {
                    continue;
                }
                let what = || format!("{} reads a chunk, nthreads {nthreads}: {}", library.name, context());
                let mut reader = OwnedContext::decompressing(library, dparams(nthreads));
                let got = reader.vldecompress(chunk, blocks.len() + 1);
                assert!(got.as_deref() == Ok(expected), "vldecompress {:?}: {}", got.err(), what());
                let nblock = expected.len() / 2;
                let got = reader.vldecompress_block(chunk, nblock as i32);
                assert_eq!(got.as_ref(), Ok(&expected[nblock]), "block {nblock}: {}", what());
                if whole {
                    let got = decompress(library, nthreads, chunk, sum);
                    assert!(
                        got.as_deref() == Ok(&expected.concat()[..]),
                        "whole {:?}: {}",
                        got.err(),
                        what()
                    );
                }
                assert_eq!(reader.vldecompress(chunk, blocks.len()).map(|got| got.len()), Ok(blocks.len()));
                if blocks.len() > 1 {
                    assert_eq!(reader.vldecompress(chunk, blocks.len() - 1), Err(-12), "{}", what());
                }
                assert_eq!(reader.vldecompress_block(chunk, -1), Err(-12), "{}", what());
                assert_eq!(reader.vldecompress_block(chunk, blocks.len() as i32), Err(-12), "{}", what());
            }
            assert_eq!(getitem(library, 1, chunk, 0, 1, 300), Err(-12), "getitem: {}", context());
        };

        if ours.is_reference() && !defects::of_vlcompression(&params, &sizes).is_right() {
            return;
        }
        let mine = vlcompress(ours, &params, &blocks, needed + (40 << 10));
        if useless_dictionary {
            assert_eq!(mine, Err(-8), "dictionary without use: {}", context());
            return;
        }
        let decoded = mine.as_ref().ok().map(|chunk| {
            let decoded = OwnedContext::decompressing(ours, dparams(1))
                .vldecompress(chunk, blocks.len())
                .unwrap_or_else(|code| panic!("ours reads ours: {code}: {}", context()));
            assert!(!lossless || decoded == blocks, "ours reads ours: {}", context());
            check_reads(ours, chunk, &decoded, !ours.is_reference() || !defects::has_filter(&params, DELTA));
            check_reads(reference, chunk, &decoded, !defects::has_filter(&params, DELTA));
            if ours.is_reference() {
                return decoded;
            }
            let many = Params { nthreads: 5 - params.nthreads, ..params.clone() };
            let again = vlcompress(ours, &many, &blocks, needed + (40 << 10));
            assert!(again.as_ref() == Ok(chunk), "depends on the number of threads: {}", context());
            // Less and less room: refused or right, never beyond the destination.
            for destsize in [32, 40, needed / 2, needed.saturating_sub(1).max(32), needed] {
                match vlcompress(ours, &params, &blocks, destsize) {
                    Ok(small) => check_reads(ours, &small, &decoded, true),
                    Err(code) => assert_eq!(code, 0, "destsize {destsize}: {}", context()),
                }
            }
            decoded
        });

        let verdict = defects::of_vlcompression(&params, &sizes);
        if !verdict.may_call() {
            return;
        }
        let theirs = vlcompress(reference, &params, &blocks, needed + (40 << 10));
        match (&mine, theirs) {
            (Ok(mine), Ok(theirs)) => {
                if !verdict.is_right() {
                    let _ = OwnedContext::decompressing(ours, dparams(4)).vldecompress(&theirs, blocks.len());
                    return;
                }
                let expected = Header { cbytes: Header::of(mine).cbytes, ..Header::of(&theirs) };
                let by_chance = params.use_dict && params.codec == 5;
                let mut header = Header::of(mine);
                if by_chance {
                    header.blosc2_flags = expected.blosc2_flags;
                }
                assert_eq!(header, expected, "headers, ours left: {}", context());
                let decoded = decoded.expect("our chunk was decoded");
                let whole = !defects::has_filter(&params, DELTA);
                check_reads(ours, &theirs, &decoded, whole || !ours.is_reference());
                check_reads(reference, &theirs, &decoded, whole);
            }
            (mine, theirs) => assert_eq!(mine.as_ref().err(), theirs.as_ref().err(), "{}", context()),
        }
    });
}

#[test]
fn special_chunks_are_byte_equal() {
    let Some((ours, reference)) = support::both() else { return };
    let random = &mut Random::new(5);
    for round in 0..400 {
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = match random.below(4) {
            0 => 0,
            1 => typesize * random.below(100) as i32,
            2 => random.below(5_000_000) as i32 / typesize * typesize,
            _ => random.below(100_000) as i32,
        };
        let params = Params {
            codec: *random.pick(&CODECS),
            clevel: random.below(11) as u8,
            typesize,
            blocksize: pick_blocksize(random, typesize, nbytes as usize),
            splitmode: 1 + random.below(4) as i32,
            filters: [0, 0, 0, 0, 0, random.below(3) as u8],
            ..Params::default()
        };
        let value = random.bytes(typesize as usize);
        let destsize = *random.pick(&[31, 32, 32 + typesize as usize - 1, 32 + typesize as usize, 1000]);
        for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&value)] {
            let what =
                format!("round {round}: {special:?} of {nbytes} bytes, destsize {destsize}, {params:?}");
            let mine = special_chunk(ours, &params, special, nbytes, destsize);
            let mut theirs = special_chunk(reference, &params, special, nbytes, destsize);
            if let (Ok(mine), Ok(theirs)) = (&mine, &mut theirs)
                && !defects::header_blocksize_is_right(&params, nbytes)
            {
                theirs[8..12].copy_from_slice(&mine[8..12]);
            }
            assert_eq!(mine, theirs, "{what}");
            let Ok(chunk) = mine else { continue };
            let (a, b) = (
                decompress(ours, 4, &chunk, nbytes as usize),
                decompress(reference, 1, &chunk, nbytes as usize),
            );
            assert_eq!(a, b, "decoding: {what}");
        }
    }
}

/// The functions without a context: the same settings, both directions, the same errors.
#[test]
fn functions_without_a_context() {
    let Some((ours, reference)) = support::both() else { return };
    let random = &mut Random::new(6);
    for round in 0..200 {
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = *random.pick(&[0, 1, 31, 32, 33, 4096, 65_535, 20_000]);
        let (clevel, doshuffle) = (random.below(12) as i32 - 1, random.below(4) as i32);
        let data = random.pick(&Data::ALL).generate(random, typesize as usize, nbytes);
        let destsize = *random.pick(&[16, 31, 32, nbytes + 32, nbytes + 4096, nbytes + (64 << 10)]);
        let what = format!(
            "round {round}: clevel {clevel}, shuffle {doshuffle}, typesize {typesize}, {nbytes} bytes into {destsize}"
        );
        let [mine, theirs] = [ours, reference].map(|library| {
            // SAFETY: a source and a destination with their true lengths.
            let (rc, mut dest) = with_destination(destsize, |dest| unsafe {
                (library.blosc2_compress)(
                    clevel,
                    doshuffle,
                    typesize,
                    data.as_ptr().cast(),
                    data.len() as i32,
                    dest.as_mut_ptr().cast(),
                    dest.len() as i32,
                )
            });
            if rc > 0 {
                dest.truncate(rc as usize);
                Ok(dest)
            } else {
                Err(rc)
            }
        });
        match (&mine, &theirs) {
            (Ok(mine), Ok(theirs)) => {
                let (a, b) = (Header::of(mine), Header::of(theirs));
                assert_eq!(a.flags & !2, b.flags & !2, "{what}");
                assert_eq!(
                    (a.filters, a.typesize, a.blocksize),
                    (b.filters, b.typesize, b.blocksize),
                    "{what}"
                );
            }
            (Err(mine), Err(theirs)) => assert_eq!(mine, theirs, "{what}"),
            // Only where it is a question of how well the codec does.
            _ => assert!(
                destsize < nbytes + 32,
                "{:?} {:?} {what}",
                mine.as_ref().err(),
                theirs.as_ref().err()
            ),
        }
        for (chunk, writer) in [(&mine, "ours"), (&theirs, "the reference")] {
            let Ok(chunk) = chunk else { continue };
            for library in [ours, reference] {
                for destsize in [nbytes, nbytes + 10] {
                    // SAFETY: as above.
                    let (rc, dest) = with_destination(destsize, |dest| unsafe {
                        (library.blosc2_decompress)(
                            chunk.as_ptr().cast(),
                            chunk.len() as i32,
                            dest.as_mut_ptr().cast(),
                            dest.len() as i32,
                        )
                    });
                    assert_eq!(rc, nbytes as i32, "{} reads {writer}: {what}", library.name);
                    assert_bytes(&what, &dest[..nbytes], &data);
                }
                let items = nbytes as i32 / i32::from(chunk[3]);
                let len = items as usize * usize::from(chunk[3]);
                // SAFETY: as above.
                let (rc, dest) = with_destination(len, |dest| unsafe {
                    (library.blosc2_getitem)(
                        chunk.as_ptr().cast(),
                        chunk.len() as i32,
                        0,
                        items,
                        dest.as_mut_ptr().cast(),
                        dest.len() as i32,
                    )
                });
                assert_eq!(rc, len as i32, "{} getitem of {writer}: {what}", library.name);
                assert_bytes(&what, &dest, &data[..len]);
            }
        }
    }
}

/// The raw shuffle functions, every typesize, lengths around the interesting multiples.
#[test]
fn raw_shuffles_are_byte_equal() {
    let Some((ours, reference)) = support::both() else { return };
    let random = &mut Random::new(7);
    let source = random.bytes(70_000);
    for typesize in 1..=256usize {
        let lengths =
            [0, 1, typesize - 1, typesize, 7 * typesize, 8 * typesize, 9 * typesize - 1, 64 * typesize + 1];
        for len in lengths.into_iter().chain([random.below(20_000), random.below(70_000)]) {
            let offset = random.below(64.min(source.len() - len + 1));
            let src = &source[offset..offset + len];
            for which in 0..4 {
                let [a, b] = [ours, reference].map(|library| {
                    let function = match which {
                        0 => library.blosc2_shuffle,
                        1 => library.blosc2_unshuffle,
                        2 => library.blosc2_bitshuffle,
                        _ => library.blosc2_bitunshuffle,
                    };
                    // SAFETY: source and destination of `len` bytes that do not overlap.
                    with_destination(len, |dest| unsafe {
                        function(typesize as i32, len as i32, src.as_ptr().cast(), dest.as_mut_ptr().cast())
                    })
                });
                assert_eq!(a.0, len as i32);
                assert_eq!(a.0, b.0);
                assert_bytes(&format!("function {which}, typesize {typesize}, {len} bytes"), &a.1, &b.1);
            }
        }
    }
}

/// Refusals of the compressor (chunk.md 3.1, 3.12), with the code and that the reference gives it too.
#[test]
fn compression_refusals() {
    let src = vec![7u8; 5000];
    let noise = Random::new(8).bytes(5000);
    let base = Params::default;
    type Case<'a> = (&'a str, Params, &'a [u8], usize, Result<(), i32>);
    let cases: Vec<Case> = vec![
        ("clevel 10", Params { clevel: 10, ..base() }, &src, 6000, Err(-8)),
        ("clevel 255", Params { clevel: 255, ..base() }, &src, 6000, Err(-8)),
        ("destsize 31", base(), &src, 31, Err(-35)),
        ("destsize 0", base(), &src, 0, Err(-35)),
        ("typesize beyond the limit", Params { typesize: 536_866_817, ..base() }, &src, 6000, Err(-12)),
        ("largest typesize", Params { typesize: 536_866_816, ..base() }, &src, 50_000, Ok(())),
        ("dictionary with blosclz", Params { use_dict: true, ..base() }, &src, 16_000, Err(-8)),
        (
            "dictionary with blosclz, level 0",
            Params { use_dict: true, clevel: 0, ..base() },
            &src,
            16_000,
            Err(-8),
        ),
        ("dictionary with zlib", Params { use_dict: true, codec: 4, ..base() }, &src, 16_000, Err(-8)),
        ("unknown codec 3, noise", Params { codec: 3, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 31, noise", Params { codec: 31, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 200, noise", Params { codec: 200, ..base() }, &noise, 16_000, Err(-7)),
        ("unknown codec 200, constant", Params { codec: 200, ..base() }, &src, 16_000, Ok(())),
        ("unknown codec 99, level 0", Params { codec: 99, clevel: 0, ..base() }, &noise, 16_000, Ok(())),
        ("unknown codec 99, 31 bytes", Params { codec: 99, ..base() }, &noise[..31], 16_000, Ok(())),
        (
            "unregistered filter 200",
            Params { filters: [200, 0, 0, 0, 0, 0], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of typesize 2",
            Params { typesize: 2, filters: [4, 0, 0, 0, 0, 0], metas: [3; 6], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 0 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 24 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], metas: [24; 6], ..base() },
            &noise,
            16_000,
            Err(-18),
        ),
        (
            "trunc_prec of 23 bits",
            Params { typesize: 4, filters: [4, 0, 0, 0, 0, 0], metas: [23; 6], ..base() },
            &noise,
            16_000,
            Ok(()),
        ),
    ];
    for library in support::all() {
        for (name, params, src, destsize, expected) in &cases {
            if library.is_reference() && *name == "largest typesize" {
                // Its scratch size overflows, and it crashes.
                continue;
            }
            let got = compress(library, params, src, *destsize);
            assert_eq!(got.as_ref().map(|_| ()).map_err(|code| *code), *expected, "{}: {name}", library.name);
        }
        // Context creation: unknown filters and tuners.
        for id in 0..=255u8 {
            let cparams = Params { filters: [0, 0, id, 0, 0, 0], ..base() }.cparams();
            let accepted = OwnedContext::compressing(library, cparams).is_some();
            let expected = !matches!(id, 5..=31 | 37..=159);
            assert_eq!(accepted, expected, "{}: context with filter {id}", library.name);
        }
        let mut cparams = base().cparams();
        cparams.tuner_id = 200;
        assert!(OwnedContext::compressing(library, cparams).is_none(), "{}: tuner 200", library.name);

        // The wrong kind of context.
        let mut reader = OwnedContext::decompressing(library, dparams(1));
        assert_eq!(with_destination(6000, |dest| reader.compress(&src, dest)).0, -12);
        let chunk = compress(library, &base(), &src, 6000).expect("a chunk");
        let mut writer = OwnedContext::compressing(library, base().cparams()).expect("a context");
        assert_eq!(with_destination(6000, |dest| writer.decompress(&chunk, dest)).0, -12);
        // Threads below one mean serial.
        for nthreads in [0, -1, -5] {
            let params = Params { nthreads, typesize: 4, blocksize: 512, ..base() };
            let chunk = compress(library, &params, &noise, 16_000).expect("a chunk");
            assert_eq!(decompress(library, nthreads, &chunk, 5000).as_deref(), Ok(&noise[..]));
        }
    }
}

/// One context for many sizes: the block size sticks, and every chunk decodes (chunk.md 11.8, 11.9, 11.11).
#[test]
fn a_context_is_reused() {
    let random = &mut Random::new(9);
    let ours = Library::ours();
    if ours.is_reference() {
        // Its block sizes are wrong here (chunk.md 10.1).
        return;
    }
    for round in 0..60 {
        let typesize = *random.pick(&[1, 4, 8, 300]);
        let params = Params {
            codec: *random.pick(&CODECS),
            typesize,
            nthreads: *random.pick(&[1, 4]),
            blocksize: *random.pick(&[0, 0, 1000]),
            ..Params::default()
        };
        let mut writer = OwnedContext::compressing(ours, params.cparams()).expect("a context");
        let mut reader = OwnedContext::decompressing(ours, dparams(*random.pick(&[1, 4])));
        for _ in 0..8 {
            let len = *random.pick(&[0, 3, 1003, 2000, 2000, 100_000, 40]);
            let src = random.pick(&Data::ALL).generate(random, typesize as usize, len);
            let (rc, dest) = with_destination(len + 32 + random.below(2) * (len + 4096), |dest| {
                writer.compress(&src, dest)
            });
            assert!(rc > 0, "round {round}: {rc} for {len} bytes, {params:?}");
            let chunk = &dest[..rc as usize];
            let (rc, decoded) = with_destination(len, |dest| reader.decompress(chunk, dest));
            assert_eq!(rc, len as i32, "round {round}: {params:?}");
            assert_bytes("a reused context", &decoded, &src);
            if let Some((_, reference)) = support::both() {
                assert_decodes("the reference reads it", decompress(reference, 1, chunk, len), &src);
            }
            if len > typesize as usize {
                let start = random.below(len / usize::from(chunk[3])) as i32;
                let unit = usize::from(chunk[3]);
                let (rc, item) = with_destination(unit, |dest| reader.getitem(chunk, start, 1, dest));
                assert_eq!(rc, unit as i32);
                assert_bytes("an item", &item, &src[start as usize * unit..][..unit]);
            }
        }
    }
}

/// Chunks cut short at every length: the same code from both, and no byte read past the end.
#[test]
fn truncated_chunks() {
    let Some((ours, reference)) = support::both() else { return };
    let random = &mut Random::new(10);
    let src = Data::Text.generate(random, 4, 1000);
    for codec in CODECS {
        for (clevel, blocksize) in [(0, 0), (5, 0), (5, 128)] {
            let params = Params { codec, clevel, blocksize, typesize: 4, ..Params::default() };
            let chunk = compress(reference, &params, &src, 5000).expect("a chunk");
            let mut guarded = support::guard::GuardedBuffer::new(chunk.len());
            for len in 0..chunk.len() {
                let cut = guarded.ending(len);
                cut.copy_from_slice(&chunk[..len]);
                let what = format!("{len} bytes of {}: {params:?}", chunk.len());
                let mine = decompress(ours, 1, cut, src.len());
                assert_eq!(mine, decompress(reference, 1, cut, src.len()), "{what}");
                assert!(mine.is_err(), "{what}");
                let mine = getitem(ours, 1, cut, 3, 40, 160);
                assert_eq!(mine, getitem(reference, 1, cut, 3, 40, 160), "getitem: {what}");
            }
        }
    }
}

/// The header rules of chunk.md 2.1 and 2.2 one by one: our code is the one written there, and the
/// reference's is too wherever it has the rule.
#[test]
fn header_rules() {
    let libraries = support::all();
    let src: Vec<u8> = (0..40u32).flat_map(u32::to_le_bytes).collect();
    let params = Params { codec: 1, typesize: 4, blocksize: 128, ..Params::default() };
    let zeros = special_chunk(libraries[0], &params, Special::Zeros, 160, 32).expect("zeros");
    let value = special_chunk(libraries[0], &params, Special::Value(&[1, 2, 3, 4]), 160, 36).expect("value");
    let plain = compress(libraries[0], &Params { clevel: 0, ..params.clone() }, &src, 500).expect("plain");
    let regular = compress(libraries[0], &params, &src, 500).expect("regular");
    let word = |value: i32| value.to_le_bytes().to_vec();
    enum Only {
        /// Rules the reference lacks (chunk.md 2.4).
        Ours,
        Both,
    }
    use Only::{Both, Ours};
    /// Name, chunk, changed bytes, code of decompress, code of getitem(0, 1), whose rule.
    type Case<'a> = (&'a str, &'a [u8], Vec<(usize, Vec<u8>)>, i32, i32, Only);
    #[rustfmt::skip]
    let cases: Vec<Case> = vec![
        ("unchanged", &regular, vec![], 160, 4, Both),
        ("cbytes 15", &regular, vec![(12, word(15))], -11, -11, Both),
        ("cbytes 31", &regular, vec![(12, word(31))], -11, -11, Both),
        ("cbytes negative", &regular, vec![(12, word(-1))], -11, -11, Both),
        ("cbytes beyond the source", &regular, vec![(12, word(10_000))], -11, -11, Both),
        ("blocksize 0", &regular, vec![(8, word(0))], -11, -11, Both),
        ("blocksize negative", &regular, vec![(8, word(-128))], -11, -11, Both),
        ("blocksize beyond the limit", &regular, vec![(8, word(536_866_817))], -11, -11, Both),
        ("typesize 0", &regular, vec![(3, vec![0])], -11, -11, Both),
        ("nbytes beyond the destination", &regular, vec![(4, word(161))], -6, 4, Both),
        ("nbytes negative", &regular, vec![(4, word(-160))], -11, -11, Ours),
        ("variable-length and special", &zeros, vec![(0x1E, vec![1])], -11, -11, Both),
        ("variable-length and memcpyed", &plain, vec![(0x1E, vec![1])], -11, -11, Both),
        ("version 7 with unknown flags", &regular, vec![(0, vec![7]), (0x1E, vec![2])], -10, -10, Both),
        ("version 7 without", &regular, vec![(0, vec![7])], 160, 4, Both),
        ("version 255", &regular, vec![(0, vec![255])], 160, 4, Both),
        ("version 0", &regular, vec![(0, vec![0])], 160, 4, Both),
        ("version 5 with unknown flags", &regular, vec![(0x1E, vec![0xFE])], 160, 4, Both),
        ("versionlz 99", &regular, vec![(1, vec![99])], 160, 4, Both),
        ("special 5", &zeros, vec![(0x1F, vec![0x50])], -3, -29, Both),
        ("special 7", &zeros, vec![(0x1F, vec![0x70])], -3, -29, Both),
        ("NaN of typesize 2", &zeros, vec![(0x1F, vec![0x20]), (3, vec![2])], -3, -3, Both),
        ("NaN not a multiple", &zeros, vec![(0x1F, vec![0x20]), (4, word(158))], -11, -11, Both),
        ("value without a value", &value, vec![(12, word(32))], -11, -11, Both),
        ("value not a multiple", &value, vec![(4, word(158))], -11, -11, Both),
        ("value wider than the data", &value, vec![(4, word(2))], -11, -11, Both),
        ("memcpyed, cbytes too small", &plain, vec![(12, word(191))], -3, 4, Both),
        ("memcpyed, nbytes too small", &plain, vec![(4, word(156))], -3, 4, Both),
        ("memcpyed zeros", &zeros, vec![(2, vec![7])], -3, 4, Both),
        ("dictionary of 0 bytes", &regular, vec![(0x1F, vec![1]), (40, word(0))], -9, -9, Ours),
        ("dictionary of -1 bytes", &regular, vec![(0x1F, vec![1]), (40, word(-1))], -9, -9, Ours),
        ("dictionary of 32769 bytes", &regular, vec![(0x1F, vec![1]), (40, word(32_769))], -9, -9, Ours),
        ("dictionary beyond the source", &regular, vec![(0x1F, vec![1]), (40, word(32_768))], -5, -5, Ours),
        ("dictionary flag on memcpyed", &plain, vec![(0x1F, vec![1])], 160, 4, Ours),
        ("dictionary flag on zeros", &zeros, vec![(0x1F, vec![0x11])], 160, 4, Ours),
        ("first block at 0", &regular, vec![(32, word(0))], -3, -3, Both),
        ("first block negative", &regular, vec![(32, word(-5))], -3, -3, Both),
        ("first block at the end", &regular, vec![(32, word(124))], -3, -3, Both),
        ("first block near the end", &regular, vec![(32, word(122))], -5, -5, Both),
        ("csize smallest", &regular, vec![(40, word(i32::MIN))], -17, -17, Both),
        ("csize -256", &regular, vec![(40, word(-256)), (44, vec![1])], -17, -17, Both),
        ("csize -1, token 0", &regular, vec![(40, word(-1)), (44, vec![0])], -17, -17, Both),
        ("csize largest", &regular, vec![(40, word(i32::MAX))], -5, -5, Both),
        ("format 2", &regular, vec![(2, vec![0x45]), (40, word(31))], -7, -7, Both),
        ("format 5", &regular, vec![(2, vec![0xA5]), (40, word(31))], -7, -7, Both),
        ("format 7", &regular, vec![(2, vec![0xE5]), (40, word(31))], -7, -7, Both),
        ("unregistered codec", &regular, vec![(2, vec![0xC5]), (0x16, vec![222]), (40, word(31))], -7, -7, Both),
        ("reserved format, raw streams", &regular, vec![(2, vec![0x45])], 160, 4, Both),
        ("filter 5", &regular, vec![(0x15, vec![5])], -1, -1, Both),
        ("filter 31", &regular, vec![(0x15, vec![31])], -1, -1, Both),
        ("filter 37", &regular, vec![(0x15, vec![37])], -18, -18, Both),
        ("filter 200", &regular, vec![(0x15, vec![200])], -18, -18, Both),
        ("empty, cbytes 32", &regular, vec![(4, word(0)), (12, word(32))], 0, -12, Both),
        ("lazy without a super-chunk", &regular, vec![(0x1F, vec![8])], -12, -12, Both),
    ];
    for (name, base, changes, decoded, item, only) in &cases {
        let mut chunk = base.to_vec();
        for (at, bytes) in changes {
            chunk[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        for library in &libraries {
            if library.is_reference() && matches!(only, Ours) {
                continue;
            }
            for nthreads in [1, 4] {
                let got = decompress(library, nthreads, &chunk, 160);
                let code = got.as_ref().map_or_else(|code| *code, |bytes| bytes.len() as i32);
                assert_eq!(code, *decoded, "{}: {name}, nthreads {nthreads}", library.name);
            }
            let got = getitem(library, 1, &chunk, 0, 1, 4);
            let code = got.as_ref().map_or_else(|code| *code, |bytes| bytes.len() as i32);
            assert_eq!(code, *item, "{}: {name}, getitem", library.name);
        }
    }
}
