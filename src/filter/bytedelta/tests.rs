//! Tests both revisions against a byte-by-byte implementation of the rule, and the dumps of the document.

use super::super::model::{golden, hex};
use super::super::shuffle::shuffle;
use super::*;
use Revision::{Plain, Restarting};

/// Encodes by the rule of `filters.md` 8; the bytes behind the streams are copied.
fn model(revision: Revision, nstreams: usize, src: &[u8]) -> Vec<u8> {
    let mut out = src.to_vec();
    let stream = src.len() / nstreams;
    for at in 0..stream * nstreams {
        let place = at % stream;
        let restarts = place == 0 || (revision == Restarting && place == stream - stream % 16);
        out[at] = if restarts { src[at] } else { src[at].wrapping_sub(src[at - 1]) };
    }
    out
}

fn check(revision: Revision, nstreams: usize, src: &[u8]) {
    let expected = model(revision, nstreams, src);
    let mut out = vec![0x5a; src.len()];
    encode(revision, nstreams, src, &mut out);
    assert_eq!(out, expected, "{revision:?} {nstreams} {}", src.len());
    out.copy_from_slice(src);
    encode_in_place(revision, nstreams, &mut out);
    assert_eq!(out, expected, "{revision:?} {nstreams} {} in place", src.len());
    for level in cpu::available_levels() {
        out.copy_from_slice(&expected);
        decode_in_place_at(level, revision, nstreams, &mut out);
        assert_eq!(out, src, "{level:?} {revision:?} {nstreams} {}", src.len());
    }
}

#[test]
fn encode_and_decode_match_the_reference() {
    for revision in [Plain, Restarting] {
        let step = if cfg!(miri) { 6 } else { 1 };
        for nstreams in (1..20).chain([31, 64, 255, 300]).step_by(step) {
            for len in (0..400).step_by(step * step) {
                check(revision, nstreams, &golden(len));
            }
            check(revision, nstreams, &golden(if cfg!(miri) { 503 } else { 5003 }));
        }
    }
}

/// Returns data set d2 of the document.
fn d2(range: std::ops::Range<usize>) -> Vec<u8> {
    range.map(|i| (i * i / 3 + 5 * i + 1) as u8).collect()
}

#[test]
fn output_matches_the_dumps_of_the_spec() {
    let encoded = |revision, nstreams, src: &[u8]| {
        let mut out = vec![0; src.len()];
        encode(revision, nstreams, src, &mut out);
        out
    };
    assert_eq!(
        encoded(Plain, 4, &d2(44..82)),
        hex("62 23 23 24 25 25 26 27 27 b2 29 29 2a 2b 2b 2c 2d 2d 38 2f 2f 30 31 31 32 33 33 f4 35 35 36 37 37 38 39 39
             e6 21")
    );
    let plain = hex(
        "01 05 06 07 07 08 09 09 0a 0b 0b 0c 0d 0d 0e 0f 0f 10 11 d8 12 13 13 14 15 15 16 17 17 18 19 19 1a
                     1b 1b 1c 1d 1d a0 1f",
    );
    let restarting =
        hex("01 05 06 07 07 08 09 09 0a 0b 0b 0c 0d 0d 0e 0f a6 10 11 d8 12 13 13 14 15 15 16 17 17 18 19 19
                          1a 1b 1b 48 1d 1d a0 1f");
    assert_eq!(encoded(Plain, 4, &d2(0..76))[..40], plain);
    assert_eq!(encoded(Restarting, 4, &d2(0..76))[..40], restarting);
    let mut shuffled = vec![0; 44];
    shuffle(4, &d2(0..44), &mut shuffled);
    assert_eq!(
        encoded(Plain, 4, &shuffled),
        hex("01 19 24 2f 39 44 4f 59 64 6f 79 06 1c 27 31 3c 47 51 5c 67 71 7c 0c 1f 29 34 3f 49 54 5f 69 74 7f 13 21 2c
             37 41 4c 57 61 6c 77 81")
    );
    assert_eq!(encoded(Plain, 255, &d2(0..64)), d2(0..64));
}
