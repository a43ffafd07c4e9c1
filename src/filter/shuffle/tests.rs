//! Tests the byte shuffle of every available level against the formula. `tests/golden` has the vectors of the spec.

use super::super::model::{self, golden};
use super::*;
use proptest::prelude::*;

/// Checks both directions of every level, and that nothing around the destination changes.
fn check(typesize: usize, src: &[u8], src_offset: usize, dest_offset: usize) {
    let shuffled = model::shuffle(typesize, src);
    model::check_kernels([shuffle_at, unshuffle_at], typesize, src, &shuffled, (src_offset, dest_offset));
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
fn every_number_of_elements_matches_the_reference() {
    for t in (1..=20).chain([24, 31, 32, 33, 48, 63, 64, 65, 80]).step_by(if cfg!(miri) { 5 } else { 1 }) {
        for elements in (0..=140).step_by(if cfg!(miri) { 47 } else { 1 }) {
            check(t, &golden(elements * t), 0, 0);
        }
    }
}

#[test]
fn long_blocks_match_the_reference() {
    let (step, len, long) = if cfg!(miri) { (9, 1000, 4096) } else { (1, 20_000, 262_144) };
    for t in (1..=40).step_by(step) {
        check(t, &golden(len + 7 * t), 0, 1);
    }
    for t in [2, 3, 4, 8, 12, 16, 32] {
        check(t, &golden(long), 0, 0);
    }
}

/// Streams that share cache sets, and streams that narrowly do not.
#[test]
fn streams_a_power_of_two_apart_match_the_reference() {
    for t in [4, 8, 16, 32].into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
        let elements = (1980..2120).chain(4020..4170).chain([8191, 8192, 12_288, 12_300]);
        for elements in elements.step_by(if cfg!(miri) { 290 } else { 1 }) {
            check(t, &golden(elements * t + 3), elements % 5, elements % 3);
        }
    }
}

#[test]
fn separate_planes_are_unshuffled() {
    for t in [2, 4, 8] {
        for elements in (64..200).chain([1000, 8192]).step_by(if cfg!(miri) { 67 } else { 1 }) {
            let mut shuffled = model::shuffle(t, &golden(elements * t));
            // Planes number 1, 3, 4 and 6 of those that exist are runs.
            let is_run = |j| 0b101_1010 >> j & 1 == 1;
            for (j, plane) in shuffled.chunks_mut(elements).enumerate().filter(|(j, _)| is_run(*j)) {
                plane.fill(0x11 * j as u8);
            }
            let expected = model::shuffle(elements, &shuffled);
            // In reverse order, and shifted by one byte.
            let apart: Vec<Vec<u8>> =
                shuffled.chunks(elements).rev().map(|plane| [&[0xee], plane].concat()).collect();
            let planes: Vec<SeparatePlane<'_>> =
                apart
                    .iter()
                    .rev()
                    .enumerate()
                    .map(|(j, bytes)| {
                        if is_run(j) {
                            SeparatePlane::Run(bytes[1])
                        } else {
                            SeparatePlane::Bytes(&bytes[1..])
                        }
                    })
                    .collect();
            for level in cpu::available_levels().filter(|&level| level != SimdLevel::Generic) {
                let mut out = vec![0x5a; shuffled.len() + 2];
                unshuffle_planes_at(level, &planes, &mut out[1..=shuffled.len()]);
                assert!(
                    out == [&[0x5a], &expected[..], &[0x5a]].concat(),
                    "{}, {t}, {elements}",
                    level.name()
                );
            }
        }
    }
}

#[test]
fn unaligned_buffers_match_the_reference() {
    for t in [2, 3, 4, 7, 8, 12, 16, 24] {
        let src = golden(200 * t + 3);
        for offset in (0..64).step_by(if cfg!(miri) { 31 } else { 1 }) {
            check(t, &src, offset, 0);
            check(t, &src, 0, offset);
        }
    }
}

proptest! {
    #[test]
    fn random_blocks_match_the_reference(
        src in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 600 } else { 6000 }),
        typesize in prop_oneof![1usize..=16, 1usize..=256],
        offsets: [u8; 2],
    ) {
        check(typesize, &src, usize::from(offsets[0] % 64), usize::from(offsets[1] % 64));
    }
}

#[test]
fn different_lengths_panic() {
    let differing = std::panic::catch_unwind(|| shuffle(4, &[0; 8], &mut [0; 7]));
    assert!(differing.is_err());
    let differing = std::panic::catch_unwind(|| unshuffle(4, &[0; 8], &mut [0; 9]));
    assert!(differing.is_err());
}
