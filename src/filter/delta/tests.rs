//! Tests the delta filter against a word-by-word implementation of the rule. `tests/golden` has the vectors of the spec.

use super::super::model::golden;
use super::*;
use proptest::prelude::*;

/// Encodes the first block by the rule of `filters.md` 6.
fn first_model(typesize: usize, src: &[u8]) -> Vec<u8> {
    let width = word_width(typesize);
    let mut out = src.to_vec();
    for i in width..src.len() / width * width {
        out[i] = src[i] ^ src[i - width];
    }
    out
}

/// Encodes another block by the rule of `filters.md` 6.
fn other_model(typesize: usize, src: &[u8], reference: &[u8]) -> Vec<u8> {
    let width = word_width(typesize);
    let mut out = src.to_vec();
    for i in 0..src.len().min(reference.len()) / width * width {
        out[i] = src[i] ^ reference[i];
    }
    out
}

fn check(typesize: usize, src: &[u8], reference: &[u8]) {
    let coded = first_model(typesize, src);
    let mut out = vec![0x5a; src.len()];
    encode_first(typesize, src, &mut out);
    assert_eq!(out, coded, "typesize {typesize}");
    for level in cpu::available_levels() {
        let mut buf = coded.clone();
        decode_first_at(level, typesize, &mut buf);
        assert_eq!(buf, src, "{level:?}, typesize {typesize}");
    }
    let coded = other_model(typesize, src, reference);
    let mut out = vec![0x5a; src.len()];
    encode_other(typesize, src, reference, &mut out);
    assert_eq!(out, coded, "typesize {typesize}");
    decode_other(typesize, &mut out, reference);
    assert_eq!(out, src, "typesize {typesize}");
}

#[test]
fn word_width_of_every_typesize_matches_the_rule() {
    for typesize in 1..=256 {
        let expected = match typesize {
            1 | 2 | 4 | 8 => typesize,
            16 | 24 | 32 | 248 | 256 => 8,
            3 | 5 | 6 | 7 | 9 | 12 | 20 | 255 => 1,
            _ if typesize % 8 == 0 => 8,
            _ => 1,
        };
        assert_eq!(word_width(typesize), expected);
    }
}

#[test]
fn short_blocks_match_the_reference() {
    for typesize in [1, 2, 3, 4, 8, 16, 24] {
        for len in (0..200).step_by(if cfg!(miri) { 41 } else { 1 }) {
            let src = golden(len);
            for reference in [0, 1, 7, 8, 63, 64, len, len + 9] {
                check(typesize, &src, &golden(reference + 11)[11..]);
            }
        }
    }
}

proptest! {
    #[test]
    fn random_blocks_match_the_reference(
        src in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 300 } else { 3000 }),
        reference in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 300 } else { 3000 }),
        typesize in prop_oneof![prop::sample::select(vec![1usize, 2, 4, 8]), 1usize..=256],
    ) {
        check(typesize, &src, &reference);
    }
}

#[test]
fn different_lengths_panic() {
    let differing = std::panic::catch_unwind(|| encode_first(4, &[0; 8], &mut [0; 7]));
    assert!(differing.is_err());
    let differing = std::panic::catch_unwind(|| encode_other(4, &[0; 8], &[0; 8], &mut [0; 9]));
    assert!(differing.is_err());
}
