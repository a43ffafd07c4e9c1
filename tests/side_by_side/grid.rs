//! Random points of the grid: one compression by each library, and every function that reads the two chunks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::calls::{
    BytesResult, Header, Params, compress, compress_copy, decompress, getitem, getitem_bytes,
};
use crate::support::data::Data;
use crate::support::known_defects::{self as defects, KnownDefect, Verdict};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::{
    CODECS, DELTA, TRUNC_PREC, TYPESIZES, assert_bytes, assert_decodes, for_each_point, pick_blocksize,
    pick_filters, pick_nbytes, selected_points,
};

/// One point of the grid.
#[derive(Debug)]
struct GridPoint {
    index: u64,
    params: Params,
    data: Data,
    data_seed: u64,
    nbytes: usize,
    destsize: usize,
}

impl GridPoint {
    fn new(seed: u64, index: u64) -> GridPoint {
        let random = &mut Random::of_item(seed, index);
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = pick_nbytes(random);
        let (filters, filters_meta) = pick_filters(random, typesize);
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
            filters_meta,
        };
        let destsize = match random.below(4) {
            0 => nbytes + 32,
            1 => 32 + random.below(nbytes + 1),
            _ => defects::sufficient_destsize(&params, nbytes as i32),
        };
        let data = *random.pick(&Data::ALL);
        GridPoint { index, params, data, data_seed: random.next(), nbytes, destsize }
    }

    fn source(&self) -> Vec<u8> {
        self.data.generate(&mut Random::new(self.data_seed), self.params.typesize as usize, self.nbytes)
    }

    fn is_lossless(&self) -> bool {
        !defects::has_filter(&self.params, TRUNC_PREC)
    }
}

/// Totals of the run.
#[derive(Default)]
struct Totals {
    /// Per codec: bytes in, bytes out of ours, bytes out of the reference.
    sizes: [(u64, u64, u64); 6],
    /// Number of comparisons skipped because of each known defect.
    skipped: std::collections::BTreeMap<KnownDefect, usize>,
    compared: usize,
}

impl Totals {
    fn record_verdict(&mut self, verdict: Verdict) -> bool {
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

/// Compares the fields that must be equal in both libraries (all but cbytes; the block size if the reference writes
/// it correctly; the memcpyed bit unless it depends on the efficiency of the codec).
fn assert_headers_agree(point: &GridPoint, mine: &Header, theirs: &Header, blocksize_is_right: bool) {
    let mut expected = Header { cbytes: mine.cbytes, ..theirs.clone() };
    if !blocksize_is_right {
        expected.blocksize = mine.blocksize;
    }
    let params = &point.params;
    let forced_plain = defects::is_memcpyed_before_encoding(params, point.nbytes as i32);
    if !forced_plain && mine.is_memcpyed() != theirs.is_memcpyed() {
        expected.flags = theirs.flags & !2 | mine.flags & 2;
        expected.blosc2_flags = mine.blosc2_flags;
    } else if params.use_dict {
        let by_chance = params.codec == 5 && params.nthreads > 1;
        if by_chance || theirs.is_memcpyed() {
            expected.blosc2_flags = theirs.blosc2_flags & !1 | mine.blosc2_flags & 1;
        }
    }
    assert_eq!(*mine, expected, "header of ours (left) and of the reference (right)");
}

/// Compares partial reads of `chunk` by `library` with the decoded bytes.
fn check_getitem(
    library: &Library,
    point: &GridPoint,
    chunk: &[u8],
    decoded: &[u8],
    random: &mut Random,
    totals: &mut Totals,
) {
    let header = Header::parse(chunk);
    let unit = i32::from(header.typesize);
    let nitems = decoded.len() as i32 / unit;
    let block_items = (header.blocksize.min(decoded.len() as i32).max(1) / unit).max(1);
    let mut reads =
        vec![(0, nitems), (0, 0), (nitems, 0), (0, nitems.min(1)), (nitems - nitems.min(1), nitems.min(1))];
    for _ in 0..4 {
        // Around a block boundary, and anywhere.
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
            defects::getitem_verdict(&point.params, &header, from, len)
        } else {
            Verdict::Right
        };
        if !totals.record_verdict(verdict) {
            continue;
        }
        let expected = &decoded[from as usize..(from + len) as usize];
        let what = format!("{}: getitem({start}, {count}), nthreads {nthreads}", library.name);
        assert_decodes(&what, getitem(library, nthreads, chunk, start, count, len as usize), expected);
        let what = format!("{}: getitem_bytes({from}, {len})", library.name);
        assert_decodes(&what, getitem_bytes(library, chunk, from, len, len as usize), expected);
        totals.compared += 2;
    }
    // Rejected before anything is decoded (chunk.md 4.5).
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

/// Returns whether the reference gives correct results for all calls that [`run_point`] makes with our library.
fn can_replace_ours(point: &GridPoint, src: &[u8]) -> bool {
    let params = &point.params;
    defects::compression_verdict(params, src.len() as i32, point.destsize).is_right()
        && defects::is_header_blocksize_right(params, src.len() as i32)
        && !params.use_dict
        && !defects::has_filter(params, DELTA)
        && defects::active_filters(params) < 3
}

fn run_point(ours: &Library, reference: &Library, point: &GridPoint, src: &[u8], totals: &mut Totals) {
    let params = &point.params;
    if ours.is_reference() && !can_replace_ours(point, src) {
        return;
    }
    let random = &mut Random::of_item(point.index, 77);
    let mine = compress(ours, params, src, point.destsize);
    if point.destsize >= src.len() + 32 {
        assert_ne!(mine, Err(0), "ours: does not fit although destsize >= nbytes + 32");
    }

    if !ours.is_reference() {
        let others = Params { nthreads: 5 - params.nthreads, ..params.clone() };
        let again = compress(ours, &others, src, point.destsize);
        assert!(again == mine, "the chunk depends on the number of threads");
    }

    // The data decoded from our own chunk are the expected result for lossy filters.
    let decoded_mine = mine.as_ref().ok().map(|chunk| {
        assert_eq!(chunk.len() as i32, Header::parse(chunk).cbytes, "ours: cbytes in the header");
        let decoded = decompress(ours, 1, chunk, src.len())
            .unwrap_or_else(|code| panic!("ours reads ours: error {code}"));
        if point.is_lossless() || Header::parse(chunk).is_memcpyed() {
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

    // The reference reads our chunk.
    if let (Ok(chunk), Some(decoded)) = (&mine, &decoded_mine) {
        let header = Header::parse(chunk);
        for nthreads in [1, 4] {
            if totals.record_verdict(defects::decompression_verdict(params, &header, nthreads)) {
                let what = format!("the reference reads ours, nthreads {nthreads}");
                assert_decodes(&what, decompress(reference, nthreads, chunk, src.len()), decoded);
                totals.compared += 1;
            }
        }
        check_getitem(reference, point, chunk, decoded, random, totals);
    }

    let verdict = defects::compression_verdict(params, src.len() as i32, point.destsize);
    let right = totals.record_verdict(verdict);
    if !verdict.can_call() {
        return;
    }
    let theirs = compress_copy(reference, params, src, point.destsize, defects::active_filters(params) >= 3);
    let refusal = |outcome: &BytesResult| outcome.as_ref().err().filter(|&&code| code < 0).copied();
    assert_eq!(
        refusal(&mine),
        refusal(&theirs),
        "error code of compression, ours (left) and reference (right)"
    );
    totals.compared += 1;
    let Ok(theirs) = theirs else { return };
    let header = Header::parse(&theirs);

    if let (Ok(mine), true) = (&mine, right) {
        assert_headers_agree(
            point,
            &Header::parse(mine),
            &header,
            defects::is_header_blocksize_right(params, src.len() as i32),
        );
        let sizes = &mut totals.sizes[usize::from(params.codec)];
        sizes.0 += src.len() as u64;
        sizes.1 += mine.len() as u64;
        sizes.2 += theirs.len() as u64;
    }

    // Our library reads the reference's chunk. A chunk that is invalid because of a known defect must not cause a
    // crash.
    let of_chunk = defects::chunk_verdict(params, &theirs);
    if !(totals.record_verdict(of_chunk) && right) {
        let _ = decompress(ours, 1, &theirs, src.len());
        let _ = decompress(ours, 4, &theirs, src.len());
        return;
    }
    let decoded = decompress(ours, 1, &theirs, src.len())
        .unwrap_or_else(|code| panic!("ours reads theirs: error {code}"));
    if point.is_lossless() || header.is_memcpyed() {
        assert_bytes("ours reads theirs", &decoded, src);
    } else if let (Some(decoded_mine), false) = (&decoded_mine, defects::has_filter(params, DELTA)) {
        let plain = mine.as_ref().is_ok_and(|chunk| Header::parse(chunk).is_memcpyed());
        assert!(plain || *decoded_mine == decoded, "lossy data differ between our chunk and theirs");
    }
    assert_decodes("ours reads theirs with 4 threads", decompress(ours, 4, &theirs, src.len()), &decoded);
    check_getitem(ours, point, &theirs, &decoded, random, totals);
    for nthreads in [1, 4] {
        if totals.record_verdict(defects::decompression_verdict(params, &header, nthreads)) {
            let what = format!("the reference reads its own, nthreads {nthreads}");
            assert_decodes(&what, decompress(reference, nthreads, &theirs, src.len()), &decoded);
        }
    }
    totals.compared += 1;
}

#[test]
fn random_chunks_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let seed = from_environment("BLOSC2_GRID_SEED", 20_240_901);
    let mut totals = Totals::default();
    for_each_point(selected_points(400), seed, |index| {
        let point = GridPoint::new(seed, index);
        let src = point.source();
        let run = catch_unwind(AssertUnwindSafe(|| run_point(ours, reference, &point, &src, &mut totals)));
        if let Err(panic) = run {
            eprintln!("seed {seed}: {point:?}");
            std::panic::resume_unwind(panic);
        }
    });
    totals.print();
}
