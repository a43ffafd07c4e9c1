//! Beside C-Blosc 1.21.6 (`scripts/fetch-blosc1.sh`): each library reads the chunks of the other, and both return the same
//! codes, except for the differences that are listed here.
//!
//! `BLOSC1_DRAWS` is the number of drawn chunks (default 2000), `BLOSC1_SEED` the seed.

use crate::support::{CODECS, FORWARD_COMPAT_SPLIT, Random, from_environment, libraries};
use blosc::capi;
use std::ptr;

/// The split modes (`blosc_set_splitmode`).
const ALWAYS_SPLIT: i32 = 1;
const SPLIT_MODES: [i32; 4] = [ALWAYS_SPLIT, 2, 3, FORWARD_COMPAT_SPLIT];

/// The greatest ratio of the length of all chunks of a codec to that of the reference.
const MAX_SIZE_RATIO: f64 = 1.01;

/// Returns whether the reference writes chunks that it cannot read itself: it splits blocks of which readers expect that
/// they are not split (blosc1.md 12.7).
fn is_undecodable(splitmode: i32, chunk: &[u8]) -> bool {
    let field = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"));
    let (typesize, blocksize) = (i32::from(chunk[3]), field(8));
    splitmode == ALWAYS_SPLIT && (typesize > 16 || blocksize / typesize < 128)
}

#[test]
fn each_library_reads_the_chunks_of_the_other() {
    let Some((libraries, _guard)) = libraries() else { return };
    let [ours, reference] = &libraries;
    let seed = from_environment("BLOSC1_SEED", 25);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
    let draws = from_environment("BLOSC1_DRAWS", 2000);
    // For each codec: the lengths of all chunks of ours, and of the reference.
    let mut sizes = [[0_u64; 2]; CODECS.len()];
    for draw in 0..draws {
        let limit = [300, 5_000, 70_000, 1 << 20][random.below(if draw % 8 == 0 { 4 } else { 3 })];
        let lens = [127, 128, 129, 143, 144, random.below(limit), random.below(limit), random.below(limit)];
        let len = lens[random.below(lens.len())];
        let widths = [1, 2, 4, 7, 8, 12, 16, 17, 255, 256, 1 + random.below(300), 1 + random.below(300)];
        let typesize = widths[random.below(widths.len())];
        let content = random.content(len);
        let (clevel, doshuffle) = (random.below(10) as i32, random.below(3) as i32);
        let ncodec = random.below(CODECS.len());
        let codec = CODECS[ncodec];
        let blocksize = if random.below(3) == 0 { random.below(100_000) } else { 0 };
        let nthreads = [1, 3][random.below(2)];
        let splitmode = SPLIT_MODES[random.below(4)];
        let what = format!(
            "seed {seed}, draw {draw}: {len} bytes, typesize {typesize}, {codec:?} {clevel}, shuffle {doshuffle}, \
             blocksize {blocksize}, {nthreads} threads, split {splitmode}"
        );
        let [of_ours, of_reference] = libraries.each_ref().map(|library| {
            // SAFETY: a setting.
            unsafe { (library.blosc_set_splitmode)(splitmode) };
            let arguments = (clevel, doshuffle, typesize);
            let chunk = library.compress(arguments, &content, len + 16, codec, blocksize, nthreads);
            chunk.unwrap_or_else(|code| panic!("{what}: {} returns {code}", library.name))
        });
        // All modes but ALWAYS give the same header; a chunk may be stored plain by one library only.
        let flags = of_ours[2] ^ of_reference[2];
        assert!(splitmode == ALWAYS_SPLIT || flags & !0x02 == 0, "{what}: flags {flags:#x} differ");
        assert!(splitmode == ALWAYS_SPLIT || of_ours[3..12] == of_reference[3..12], "{what}: headers differ");
        assert!(
            reference.decompress(&of_ours, len, nthreads) == Ok(content.clone()),
            "{what}: they read ours"
        );
        if !is_undecodable(splitmode, &of_reference) {
            assert!(
                ours.decompress(&of_reference, len, nthreads) == Ok(content.clone()),
                "{what}: we read theirs"
            );
        }
        let item = usize::from(of_ours[3]);
        if len >= item {
            let start = random.below(len / item);
            let nitems = random.below(len / item - start + 1);
            let expected = &content[start * item..(start + nitems) * item];
            for library in &libraries {
                let found = library.getitem(&of_ours, start as i32, nitems as i32, expected.len());
                assert!(found.as_deref() == Ok(expected), "{what}: getitem of {}", library.name);
            }
        }
        if splitmode != ALWAYS_SPLIT {
            // Several threads of the reference write blocks in the order in which they are ready.
            let is_equal = of_ours.len() == of_reference.len() && (nthreads > 1 || of_ours == of_reference);
            assert!(codec != c"blosclz" || is_equal, "{what}: the chunks differ");
            sizes[ncodec][0] += of_ours.len() as u64;
            sizes[ncodec][1] += of_reference.len() as u64;
        }
    }
    for (codec, [of_ours, of_reference]) in CODECS.iter().zip(sizes) {
        let ratio = of_ours as f64 / of_reference as f64;
        println!("{draws} chunks, {codec:?}: size of ours by size of the reference {ratio:.4}");
        assert!(ratio <= MAX_SIZE_RATIO, "{codec:?}: {of_ours} bytes, the reference {of_reference}");
    }
}

/// Compressions that fail or give no chunk, in the order of the checks (blosc1.md 2.1).
#[test]
fn codes_of_compressions_are_equal() {
    let Some((libraries, _guard)) = libraries() else { return };
    let content: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
    let codecs = [c"lz4", c"nonesuch", c"LZ4", c""];
    let mut tried = 0;
    for clevel in [-1, 0, 5, 9, 10] {
        for doshuffle in [-1, 0, 1, 2, 3] {
            for typesize in [1, 4, 255, 256, 1000] {
                for codec in codecs {
                    for (len, destsize) in [
                        (0, 15),
                        (0, 16),
                        (100, 15),
                        (100, 115),
                        (100, 116),
                        (16_000, 16_016),
                        (16_000, 16_015),
                        (16_000, 20),
                    ] {
                        for nthreads in [1, 0, -1, 256, 257] {
                            let [of_ours, of_reference] = libraries.each_ref().map(|library| {
                                let arguments = (clevel, doshuffle, typesize);
                                let blocksize = 1000;
                                let chunk = library.compress(
                                    arguments,
                                    &content[..len],
                                    destsize,
                                    codec,
                                    blocksize,
                                    nthreads,
                                );
                                // Whether there is a chunk; its length may differ.
                                chunk.map(|chunk| !chunk.is_empty())
                            });
                            // The reference writes beyond a destination of 16 to 19 bytes (blosc1.md 12.1).
                            tried += 1;
                            assert_eq!(
                                of_ours, of_reference,
                                "clevel {clevel}, shuffle {doshuffle}, typesize {typesize}, {codec:?}, {len} bytes, \
                                 destsize {destsize}, {nthreads} threads"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(tried > 10_000);
}

/// Lengths of streams that are changed: streams of no bytes, runs as in Blosc2, and streams that do not fit.
#[test]
fn codes_of_damaged_stream_lengths_are_equal() {
    let Some((libraries, _guard)) = libraries() else { return };
    let content: Vec<u8> = (0..3000_u32).flat_map(u32::to_le_bytes).collect();
    for (doshuffle, typesize) in [(0, 4), (1, 4), (2, 1), (1, 20)] {
        for codec in CODECS {
            let arguments = (5, doshuffle, typesize);
            let chunk = libraries[1].compress(arguments, &content, 12_500, codec, 4096, 1).expect("a chunk");
            if chunk[2] & 0x02 != 0 {
                // Stored plain.
                continue;
            }
            let first = u32::from_le_bytes(chunk[16..20].try_into().expect("4 bytes")) as usize;
            for value in [0, -1, -7, i32::MIN, i32::MAX, chunk.len() as i32] {
                let mut mutant = chunk.clone();
                mutant[first..first + 4].copy_from_slice(&value.to_le_bytes());
                let [of_ours, of_reference] = libraries.each_ref().map(|library| {
                    let code = library.decompress(&mutant, content.len(), 1).map(|found| found.len());
                    (code, library.getitem(&mutant, 0, 9, 9 * typesize).map(|found| found.len()))
                });
                assert_eq!(
                    of_ours, of_reference,
                    "{codec:?}, shuffle {doshuffle}, typesize {typesize}: {value}"
                );
            }
        }
    }
}

/// NULL where a name or a place is expected: no crash.
#[test]
fn null_pointers_are_errors() {
    // SAFETY: NULL is allowed.
    unsafe {
        assert_eq!(capi::blosc_compress(5, 1, 4, 10, ptr::null(), ptr::null_mut(), 100), -10);
        assert_eq!(capi::blosc_decompress(ptr::null(), ptr::null_mut(), 10), -1);
        assert_eq!(capi::blosc_getitem(ptr::null(), 0, 1, ptr::null_mut()), -1);
        assert_eq!(capi::blosc_set_compressor(ptr::null()), -1);
        assert_eq!(capi::blosc_compname_to_compcode(ptr::null()), -1);
        assert_eq!(capi::blosc_compcode_to_compname(1, ptr::null_mut()), 1);
        assert_eq!(capi::blosc_get_complib_info(ptr::null(), ptr::null_mut(), ptr::null_mut()), -1);
        assert_eq!(capi::blosc_cbuffer_validate(ptr::null(), 100, ptr::null_mut()), -1);
        assert!(capi::blosc_cbuffer_complib(ptr::null()).is_null());
        capi::blosc_cbuffer_sizes(ptr::null(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        capi::blosc_cbuffer_metainfo(ptr::null(), ptr::null_mut(), ptr::null_mut());
        capi::blosc_cbuffer_versions(ptr::null(), ptr::null_mut(), ptr::null_mut());
    }
}
