//! Tests the byte shuffle of every available level against the formula, the CRCs and the dumps of the spec.

use super::super::model::{self, d1, golden, hex, run_with_guard_bytes};
use super::*;
use proptest::prelude::*;

/// Checks both directions of every level, and that nothing around the destination changes.
fn check(typesize: usize, src: &[u8], src_offset: usize, dest_offset: usize) {
    let shuffled = model::shuffle(typesize, src);
    for level in cpu::available_levels() {
        let context = || format!("{level:?}, typesize {typesize}, {} bytes", src.len());
        let out = run_with_guard_bytes(src, src_offset, dest_offset, |src, dest| {
            shuffle_at(level, typesize, src, dest)
        });
        assert!(out == shuffled, "shuffle, {}", context());
        let back = run_with_guard_bytes(&shuffled, src_offset, dest_offset, |src, dest| {
            unshuffle_at(level, typesize, src, dest)
        });
        assert!(back == src, "unshuffle, {}", context());
    }
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
    for typesize in [2, 4, 8] {
        for elements in (64..200).chain([1000, 8192]).step_by(if cfg!(miri) { 67 } else { 1 }) {
            let src = golden(elements * typesize);
            let shuffled = model::shuffle(typesize, &src);
            // In reverse order, and shifted by one byte.
            let apart: Vec<Vec<u8>> = shuffled
                .chunks_exact(elements)
                .rev()
                .map(|plane| [&[0xee], plane, &[0xee]].concat())
                .collect();
            let planes: Vec<&[u8]> = apart.iter().rev().map(|plane| &plane[1..=elements]).collect();
            for level in
                cpu::available_levels().filter(|&level| can_unshuffle_planes_at(level, typesize, src.len()))
            {
                let mut out = vec![0x5a; src.len() + 2];
                unshuffle_planes_at(level, &planes, &mut out[1..=src.len()]);
                assert!(out[1..=src.len()] == src, "{level:?}, {typesize}, {elements}");
                assert_eq!((out[0], out[src.len() + 1]), (0x5a, 0x5a));
            }
        }
    }
    assert!([1, 3, 16].iter().all(|&typesize| !can_unshuffle_planes(typesize, 4800)));
    assert!(!can_unshuffle_planes(4, 252) && !can_unshuffle_planes(4, 401));
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
fn output_matches_the_dumps_of_the_spec() {
    let identity: Vec<u8> = (0..18).collect();
    let cases = [
        (3, &identity[..11], "000306010407020508090a"),
        (4, &identity, "0004080c0105090d02060a0e03070b0f1011"),
        (16, &identity[..8], "0001020304050607"),
    ];
    for (typesize, src, expected) in cases {
        let mut out = vec![0; src.len()];
        shuffle(typesize, src, &mut out);
        assert_eq!(out, hex(expected));
    }
    let streams = [
        (4, 32, "001c45618aa6cfeb07234c6891add6f20e2a536f98b4ddf91531 5a769fbbe400"),
        (2, 32, "000e1c2a4553616f8a98a6b4cfddebf907152331 4c5a687691 9fadbbd6e4f200"),
        (8, 36, "00458acf074c91d60e5398dd155a9fe41c61a6eb2368adf22a6fb4f93176bb00141b2229"),
    ];
    for (typesize, len, expected) in streams {
        let mut out = vec![0; len];
        shuffle(typesize, &d1(len), &mut out);
        assert_eq!(out, hex(expected));
    }
}

#[test]
fn different_lengths_panic() {
    let differing = std::panic::catch_unwind(|| shuffle(4, &[0; 8], &mut [0; 7]));
    assert!(differing.is_err());
    let differing = std::panic::catch_unwind(|| unshuffle(4, &[0; 8], &mut [0; 9]));
    assert!(differing.is_err());
}

/// Typesize, then CRC-32 of shuffled and unshuffled G of 4096, 4099 and 32773 bytes (`filters.md` 17).
const GOLDEN: &[(usize, [u32; 6])] = &[
    (1, [0x7ebc_569c, 0x7ebc_569c, 0xd8a2_e7ef, 0xd8a2_e7ef, 0x6dcf_f926, 0x6dcf_f926]),
    (2, [0x9732_6e8f, 0x8149_def6, 0x9fe2_634e, 0xc005_8d79, 0x0304_738d, 0xda57_dd16]),
    (3, [0xf8b3_7e84, 0xa30c_cf35, 0x7dc3_289e, 0xaa42_5e6f, 0x933d_410f, 0x16e7_a1e0]),
    (4, [0x92da_cf6a, 0xc392_c386, 0x6db9_1d5f, 0x19f3_b264, 0x1604_83c8, 0x3ef0_779e]),
    (5, [0x0d5c_4ce0, 0x7cd3_1666, 0x956e_6e0b, 0x4d85_2227, 0x82c6_c24d, 0xe442_e376]),
    (6, [0x5027_4a8a, 0x4b8c_353a, 0xfb65_9b96, 0x0d6f_09d2, 0xfdd9_df57, 0xc5be_0b24]),
    (7, [0x309a_e54f, 0x657c_d03f, 0x4a88_144e, 0xf521_f9b0, 0x3c75_70b0, 0x1dfc_30ce]),
    (8, [0x4225_5916, 0x282f_362f, 0x3a4b_4eaa, 0x1341_0ea9, 0x4011_cc55, 0xa1e2_c69b]),
    (9, [0x101c_cfe9, 0x6423_5296, 0xfccd_df81, 0xd1e9_29f2, 0x9622_67ae, 0x036a_8124]),
    (12, [0x8f74_0686, 0x87f3_9d90, 0xe617_d66e, 0x1fd5_4cf6, 0xc60d_7caf, 0xc546_127c]),
    (15, [0x1ce9_9cb2, 0xde3e_2471, 0xc065_16d8, 0x6727_5dc4, 0x3971_297f, 0x920d_ccb9]),
    (16, [0x48a0_a21f, 0xf7ac_f050, 0x5f00_3af6, 0xa5fd_8349, 0x9d31_0786, 0xc215_5b3f]),
    (17, [0x673a_f4dd, 0x67fe_3bc2, 0x3ff4_ec1e, 0xbf44_ae8b, 0x545b_40cf, 0x3b38_e801]),
    (24, [0x5c0d_1142, 0xdef8_dacc, 0x5ceb_a52f, 0x5299_9b31, 0x4dca_9c0f, 0xc226_3a5e]),
    (31, [0x44d4_39b2, 0x8d41_b1b0, 0x4b7d_123d, 0x3bc6_b312, 0x1094_a292, 0xaef2_745b]),
    (32, [0xcbbb_f285, 0xf08b_fc26, 0x9f5a_93eb, 0xfc3e_6dcb, 0xf705_b546, 0xde8b_42ce]),
    (33, [0x2eac_6772, 0x8d21_c527, 0xa034_0dc3, 0xc57b_c0cd, 0x656c_dc6c, 0x23bb_ad7a]),
    (48, [0x69db_2bfd, 0x47f3_5839, 0xd8f0_b5af, 0x7ff1_09d2, 0x9206_0055, 0xbe8e_1413]),
    (64, [0x8c2d_63aa, 0x8c2d_63aa, 0xdd7d_1f5b, 0xdd7d_1f5b, 0xe90d_3731, 0xd6aa_fac4]),
    (100, [0xb726_b978, 0x076d_e3fc, 0xbf75_0a23, 0xf813_9409, 0x9e02_c4ec, 0x1698_6dd8]),
    (128, [0xf08b_fc26, 0xcbbb_f285, 0xfc3e_6dcb, 0x9f5a_93eb, 0xcc20_7e03, 0x85bf_2cdd]),
    (255, [0x548f_a2f5, 0x973c_4bc8, 0x50a4_52c5, 0xa1c3_8e56, 0xe06c_9edb, 0xb0ce_8445]),
    (256, [0xf7ac_f050, 0x48a0_a21f, 0xa5fd_8349, 0x5f00_3af6, 0x85bf_2cdd, 0xcc20_7e03]),
];

#[test]
fn output_matches_the_golden_crcs() {
    let (step, lens) = if cfg!(miri) { (9, 1) } else { (1, 3) };
    for &(typesize, crcs) in GOLDEN.iter().step_by(step) {
        for (len, crcs) in [4096, 4099, 32773].into_iter().take(lens).zip(crcs.as_chunks::<2>().0) {
            let src = golden(len);
            let mut out = vec![0; len];
            for level in cpu::available_levels() {
                shuffle_at(level, typesize, &src, &mut out);
                assert_eq!(model::crc32(&out), crcs[0], "{level:?}, shuffle {typesize}, {len} bytes");
                unshuffle_at(level, typesize, &src, &mut out);
                assert_eq!(model::crc32(&out), crcs[1], "{level:?}, unshuffle {typesize}, {len} bytes");
            }
        }
    }
}
