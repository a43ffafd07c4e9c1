//! Tests both revisions against a byte-by-byte implementation of the rule. `tests/plugins` compares with the reference.

use super::super::model::golden;
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
