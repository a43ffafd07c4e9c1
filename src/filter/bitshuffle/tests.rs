//! Tests the bit shuffle of every available level against the formula, the CRCs and the dumps of the spec.

use super::super::model::{self, golden, hex, run_with_guard_bytes};
use super::*;
use proptest::prelude::*;

/// Checks both directions of every level, and that nothing around the destination changes.
fn check(typesize: usize, src: &[u8], src_offset: usize, dest_offset: usize) {
    let shuffled = model::bitshuffle(typesize, src);
    for level in cpu::available_levels() {
        let context = || format!("{level:?}, typesize {typesize}, {} bytes", src.len());
        let out = run_with_guard_bytes(src, src_offset, dest_offset, |src, dest| {
            bitshuffle_at(level, typesize, src, dest)
        });
        assert!(out == shuffled, "bitshuffle, {}", context());
        let back = run_with_guard_bytes(&shuffled, src_offset, dest_offset, |src, dest| {
            bitunshuffle_at(level, typesize, src, dest)
        });
        assert!(back == src, "bitunshuffle, {}", context());
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

#[test]
fn output_matches_the_dumps_of_the_spec() {
    let identity: Vec<u8> = (0..37).collect();
    let cases = [
        (2, &identity[..], "0000aaaaccccf0f000ff000000000000ffffaaaaccccf0f000ff0000000000002021222324"),
        (3, &identity[..24], "aa66b438c000000055cc9618e0000000aa99d21ce0000000"),
        (4, &identity[..31], "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e"),
        (1, &[1, 0, 0, 0, 0, 0, 0, 0], "0100000000000000"),
        (1, &[0, 1, 0, 0, 0, 0, 0, 0], "0200000000000000"),
        (1, &[0x80, 0, 0, 0, 0, 0, 0, 0], "0000000000000001"),
    ];
    for (typesize, src, expected) in cases {
        let mut out = vec![0; src.len()];
        bitshuffle(typesize, src, &mut out);
        assert_eq!(out, hex(expected));
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

/// Typesize, then CRC-32 of bitshuffled and bitunshuffled G of 4096, 4099 and 32773 bytes (`filters.md` 17).
const GOLDEN: &[(usize, [u32; 6])] = &[
    (1, [0xd6ba_0899, 0xe633_b9d8, 0x1332_f043, 0x0bd0_b3f9, 0x2cfe_e8ee, 0x5f60_22af]),
    (2, [0xb771_83d7, 0x11b2_7f67, 0xbdf7_0a50, 0xc2cd_c95d, 0x8402_ce2d, 0xeb30_b785]),
    (3, [0x47f2_5a3c, 0xc2a5_f20c, 0x3c0b_992d, 0x8bb1_8e8e, 0xdd18_8ff7, 0xa95c_810b]),
    (4, [0x695a_f6b1, 0xba35_5a10, 0x0f59_c9ef, 0x085c_7147, 0x82ce_a6e8, 0x9c41_198e]),
    (5, [0x033b_3c43, 0xb9a5_7357, 0xb2b9_0031, 0xc9c0_e6ae, 0x62d8_2169, 0x2e2b_0bd4]),
    (6, [0x036a_af31, 0xbbbd_52ef, 0xa3cc_04b4, 0x9d7e_c4b1, 0x3157_d1b4, 0x237d_ba85]),
    (7, [0x2f17_2ac4, 0xbbaf_f2a4, 0x7883_d42c, 0xbc0f_6b31, 0x3e26_30a4, 0xe439_ea15]),
    (8, [0x347f_4401, 0xce17_c2a7, 0x57f0_2fdf, 0xa4b5_d850, 0xfc44_39b7, 0x6088_53bc]),
    (9, [0x4962_f3ad, 0x06cc_b6fb, 0x4f10_df00, 0x9b41_b8e2, 0x0f83_b1c8, 0x4dcb_6679]),
    (12, [0xfee5_9775, 0xed4f_e732, 0xbec7_031f, 0xd22e_ab49, 0xff00_fbf5, 0x5bf0_5bcc]),
    (15, [0x31db_157a, 0x5f10_bdeb, 0x7d4f_a38f, 0xebf6_5cff, 0xe633_1ce5, 0x143b_9b22]),
    (16, [0x4c56_3b0c, 0xe158_3445, 0xb53d_41a1, 0xaa56_c68b, 0x779d_4f22, 0xb9eb_d923]),
    (17, [0x29fd_8742, 0x52c9_3a1a, 0xc64d_7ada, 0xd43d_21e9, 0x841c_ce33, 0x9da1_c6cb]),
    (24, [0xe8ee_a050, 0x9226_33b4, 0x8794_febe, 0xe6ac_15e3, 0x8c23_658e, 0xf6e4_1ca6]),
    (31, [0x3631_8a13, 0x4498_2904, 0x8c4f_ce94, 0xbf06_8f75, 0xe828_1f7a, 0x25eb_fc2f]),
    (32, [0xe158_3445, 0x4c56_3b0c, 0xaa56_c68b, 0xb53d_41a1, 0x06f8_8662, 0x3ae2_e2df]),
    (33, [0x50e5_42a7, 0xb619_27f0, 0xcc85_d3b5, 0x09f7_cab3, 0x9462_df83, 0xa791_4693]),
    (48, [0x4cd8_d76c, 0x5492_7ba7, 0x0521_9846, 0x0c60_ba94, 0x984a_014a, 0x710d_e9d0]),
    (64, [0xce17_c2a7, 0x347f_4401, 0xa4b5_d850, 0x57f0_2fdf, 0x1ccf_4dff, 0x1ccf_4dff]),
    (100, [0x6d32_f128, 0xbbfc_7e7e, 0xf1b3_3539, 0x5945_0cde, 0x852b_5fd2, 0xa8f3_034f]),
    (128, [0xba35_5a10, 0x695a_f6b1, 0x085c_7147, 0x0f59_c9ef, 0x3ae2_e2df, 0x06f8_8662]),
    (255, [0x8e7c_7611, 0x7adf_5312, 0x3faf_89de, 0x9ac5_15c6, 0x1766_844c, 0xf4af_1ef7]),
    (256, [0x11b2_7f67, 0xb771_83d7, 0xc2cd_c95d, 0xbdf7_0a50, 0xb9eb_d923, 0x779d_4f22]),
];

#[test]
fn output_matches_the_golden_crcs() {
    let (step, lens) = if cfg!(miri) { (9, 1) } else { (1, 3) };
    for &(typesize, crcs) in GOLDEN.iter().step_by(step) {
        for (len, crcs) in [4096, 4099, 32773].into_iter().take(lens).zip(crcs.as_chunks::<2>().0) {
            let src = golden(len);
            let mut out = vec![0; len];
            for level in cpu::available_levels() {
                bitshuffle_at(level, typesize, &src, &mut out);
                assert_eq!(model::crc32(&out), crcs[0], "{level:?}, bitshuffle {typesize}, {len} bytes");
                bitunshuffle_at(level, typesize, &src, &mut out);
                assert_eq!(model::crc32(&out), crcs[1], "{level:?}, bitunshuffle {typesize}, {len} bytes");
            }
        }
    }
}
