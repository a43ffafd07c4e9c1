//! Tests the bit shuffle of every available level against the formula. `tests/golden` has the vectors of the spec.

use super::super::model::{self, golden};
use super::*;
use proptest::prelude::*;

/// Checks both directions of every level, and that nothing around the destination changes.
fn check(typesize: usize, src: &[u8], src_offset: usize, dest_offset: usize) {
    let shuffled = model::bitshuffle(typesize, src);
    model::check_kernels(
        [bitshuffle_at, bitunshuffle_at],
        typesize,
        src,
        &shuffled,
        (src_offset, dest_offset),
    );
}

#[test]
fn every_typesize_matches_the_reference_at_lengths_around_tiles() {
    for t in (1..=256).step_by(if cfg!(miri) { 23 } else { 1 }) {
        for len in [0, 1, t - 1, t, t + 1, 7 * t, 8 * t, 8 * t + t - 1, 64 * t - 1, 64 * t + 1] {
            check(t, &golden(len), t % 64, len % 64);
        }
    }
}

#[test]
fn every_number_of_groups_matches_the_reference() {
    for t in (1..=20).chain([24, 31, 32, 33, 48]).step_by(if cfg!(miri) { 6 } else { 1 }) {
        for groups in (0..=140).step_by(if cfg!(miri) { 47 } else { 1 }) {
            check(t, &golden(groups * 8 * t + groups % 7), 0, 0);
        }
    }
}

#[test]
fn long_blocks_match_the_reference() {
    for t in [1, 2, 3, 4, 8, 12, 16, 32] {
        check(t, &golden(if cfg!(miri) { 1024 } else { 65536 } + 9 * t), 0, 1);
    }
}

#[test]
fn unaligned_buffers_match_the_reference() {
    for t in [1, 2, 3, 4, 8, 12, 16, 24] {
        let src = golden(if cfg!(miri) { 60 } else { 600 } * t + 3);
        for offset in (0..64).step_by(if cfg!(miri) { 60 } else { 3 }) {
            check(t, &src, offset, 63 - offset);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 128 }))]
    #[test]
    fn random_blocks_match_the_reference(
        src in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 600 } else { 9000 }),
        typesize in prop_oneof![1usize..=16, 1usize..=256],
        offsets: [u8; 2],
    ) {
        check(typesize, &src, usize::from(offsets[0] % 64), usize::from(offsets[1] % 64));
    }
}

#[test]
fn typesizes_above_255_match_the_reference() {
    for typesize in [257, 300, 1000] {
        check(typesize, &golden(typesize * 70 + 5), 0, 0);
    }
}

/// `filters.md` 5.1: 28 and 27 elements of 4 bytes are stored unshuffled; 16 elements and 2 bytes are unshuffled but
/// for the 2 bytes.
#[test]
fn version_2_blocks_are_unshuffled_only_if_elements_are_a_multiple_of_8() {
    for len in [112, 108, 30] {
        let src = golden(len);
        let mut out = vec![0; len];
        bitunshuffle_v2(4, &src, &mut out);
        assert_eq!(out, src);
    }
    let src = golden(66);
    let mut out = vec![0; 66];
    bitunshuffle_v2(4, &model::bitshuffle(4, &src), &mut out);
    assert_eq!(out, src);
}

#[test]
fn different_lengths_panic() {
    let differing = std::panic::catch_unwind(|| bitshuffle(4, &[0; 64], &mut [0; 63]));
    assert!(differing.is_err());
    let differing = std::panic::catch_unwind(|| bitunshuffle(4, &[0; 64], &mut [0; 65]));
    assert!(differing.is_err());
    let differing = std::panic::catch_unwind(|| bitunshuffle_v2(4, &[0; 64], &mut [0; 65]));
    assert!(differing.is_err());
}
