//! Random inputs and damaged streams, compared with the naive implementations.

use super::data::{KINDS, generate_sample};
use super::*;
use crate::random::Random;
use proptest::prelude::*;

/// Encodes with both encoders as each release, compares, and decodes. Returns the stream of 2.5.3.
fn check_encoder(tables: &mut HashTables, clevel: i32, src: &[u8], maxout: usize) -> Vec<u8> {
    let [split, unsplit] = [true, false].map(|is_split| Release::V2_5_1 { is_split });
    let [.., stream] = [split, unsplit, Release::V2_5_3].map(|release| {
        let stream = compress_guarded(tables, release, clevel, src, maxout);
        let expected = model::encode(release, clevel, src, maxout).unwrap_or_default();
        assert!(stream == expected, "{release:?}: {} bytes, clevel {clevel}, maxout {maxout}", src.len());
        if !stream.is_empty() {
            assert!(decompress_guarded(&stream, src.len()).as_deref() == Some(src));
        }
        stream
    });
    stream
}

/// Decodes with both decoders and compares.
fn check_decoder(stream: &[u8], capacity: usize) {
    let output = decompress_guarded(stream, capacity);
    assert!(output == model::decode(stream, capacity), "{stream:02x?} into {capacity}");
}

#[test]
fn short_inputs_encode_as_the_model_into_every_capacity() {
    let mut random = Random(1);
    let mut tables = HashTables::new().unwrap();
    for len in (1..=200).step_by(200 / rounds(200)) {
        for kind in 0..KINDS {
            let src = generate_sample(&mut random, kind, len);
            let clevel = 1 + random.below(9) as i32;
            let step = 1 + random.below(if cfg!(miri) { 100 } else { 7 });
            for maxout in (1..=len + 1).step_by(step).chain([len, len + 1]) {
                check_encoder(&mut tables, clevel, &src, maxout);
            }
        }
    }
}

#[test]
fn text_encodes_as_the_model_into_every_capacity_at_every_level() {
    let src = generate_sample(&mut Random(5), 2, 700);
    let mut tables = HashTables::new().unwrap();
    for clevel in 1..=9 {
        for maxout in (1..=701).step_by(if cfg!(miri) { 350 } else { 1 }) {
            check_encoder(&mut tables, clevel, &src, maxout);
        }
    }
}

#[test]
fn long_inputs_encode_as_the_model_at_random_levels() {
    let mut random = Random(2);
    let mut tables = HashTables::new().unwrap();
    for round in 0..rounds(40) {
        for kind in 0..KINDS {
            let len = 200 + random.below(1 << (8 + round % 11));
            let src = generate_sample(&mut random, kind, len);
            let clevel = 1 + random.below(9) as i32;
            check_encoder(&mut tables, clevel, &src, len);
            check_encoder(&mut tables, clevel, &src, len / (1 + random.below(4)));
        }
    }
}

#[test]
fn probe_near_its_minimum_ratio_decides_as_the_model() {
    let mut random = Random(8);
    let mut tables = HashTables::new().unwrap();
    let noise = generate_sample(&mut random, 0, if cfg!(miri) { 400 } else { 2000 });
    let levels = [(1, 8, 2.0), (2, 4, 1.5), (3, 4, 1.2), (6, 2, 1.2), (7, 1, 1.15), (9, 1, 1.0)];
    for (clevel, part, ratio) in levels.into_iter().rev().step_by(if cfg!(miri) { 2 } else { 1 }) {
        // The probed bytes are a run, then noise that costs 33 bytes for each 32: around the border, and twice as
        // long.
        let border = (noise.len() as f64 * (33.0 / 32.0 * ratio - 1.0)) as usize;
        let (mut kept, mut refused) = (0, 0);
        let (step, least) = if cfg!(miri) { (40, 0) } else { (1, 10) };
        for run in (border.saturating_sub(20)..border + 60).step_by(step).chain([2 * border + 200]) {
            let probed = [&vec![7; run][..], &noise].concat();
            let src = [vec![0; probed.len() * (part - 1)], probed].concat();
            let stream = check_encoder(&mut tables, clevel, &src, 2 * src.len());
            *if stream.is_empty() { &mut refused } else { &mut kept } += 1;
        }
        assert!(kept > least && refused > least, "clevel {clevel}: {kept} kept, {refused} refused");
    }
}

#[test]
fn matches_at_the_distance_limits_are_used_as_by_the_model() {
    let mut random = Random(3);
    let mut tables = HashTables::new().unwrap();
    let (distances, marker_lens, least_level): (&[usize], &[usize], i32) = if cfg!(miri) {
        (&[8191, 8192], &[8], 9)
    } else {
        (&[8190, 8191, 8192, 8193, 73723, 73724, 73725, 73726], &[7, 8, 9, 10, 64], 1)
    };
    for &distance in distances {
        for &marker_len in marker_lens {
            // Low entropy, so that the probe passes.
            let mut src = b"0123456789abcdefghijklmnopqrstuv".repeat((distance + 4096) / 32);
            let marker: Vec<u8> = (0..marker_len).map(|_| 128 | random.next() as u8).collect();
            for (neighbour, at) in [(1, 1000), (2, 1000 + distance)] {
                src[at - 1..=at + marker_len].fill(neighbour);
                src[at..at + marker_len].copy_from_slice(&marker);
            }
            for clevel in least_level..=9 {
                let len = src.len();
                let stream = check_encoder(&mut tables, clevel, &src, len);
                assert!(!stream.is_empty());
                // The marker is stored once if a match can refer to it (its last byte is never part of a match), else
                // twice.
                let copies = stream.windows(6).filter(|w| *w == &marker[..6]).count();
                let taken = distance < 73725 && marker_len >= if distance > 8191 { 9 } else { 7 };
                assert_eq!(copies, if taken { 1 } else { 2 }, "distance {distance}, {marker_len} bytes");
            }
        }
    }
}

#[test]
fn damaged_streams_decode_as_the_model() {
    let mut random = Random(6);
    let mut tables = HashTables::new().unwrap();
    for round in 0..rounds(60) {
        for kind in 1..KINDS {
            let len = 300 + random.below(1 << (round % 13));
            let src = generate_sample(&mut random, kind, len);
            let stream = compress_guarded(&mut tables, Release::V2_5_3, 9, &src, src.len());
            if stream.is_empty() {
                continue;
            }
            check_decoder(&stream, src.len());
            check_decoder(&stream, src.len() - 1);
            check_decoder(&stream, src.len() + random.below(100));
            check_decoder(&stream, random.below(src.len()));
            for _ in 0..12 {
                check_decoder(&stream[..random.below(stream.len())], src.len());
                let mut mutated = stream.clone();
                for _ in 0..1 + random.below(3) {
                    let at = random.below(mutated.len());
                    mutated[at] ^= 1 << random.below(8);
                }
                check_decoder(&mutated, src.len());
                check_decoder(&mutated, 2 * src.len());
            }
        }
    }
}

#[test]
fn every_short_distance_and_length_decodes_as_the_model() {
    let prefix: Vec<u8> = (0..100).collect();
    let step = if cfg!(miri) { 77 } else { 1 };
    for distance in (1..=100).step_by(step) {
        let long: &[usize] = if cfg!(miri) { &[520] } else { &[255, 256, 263, 264, 265, 520, 1000] };
        for length in (3..80).step_by(step).chain(long.iter().copied()) {
            let mut stream = Vec::new();
            for run in prefix.chunks(32) {
                stream.push(run.len() as u8 - 1);
                stream.extend_from_slice(run);
            }
            let code = if length < 9 { length - 2 } else { 7 };
            stream.push((code << 5) as u8);
            if length >= 9 {
                stream.extend(vec![255; (length - 9) / 255]);
                stream.push(((length - 9) % 255) as u8);
            }
            stream.push(distance as u8 - 1);
            for literals in [1, 32, 64, 128].into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
                let mut stream = stream.clone();
                for _ in 0..literals / 32 {
                    stream.push(31);
                    stream.extend_from_slice(&prefix[..32]);
                }
                stream.extend([0, 7]);
                let size = 100 + length + literals / 32 * 32 + 1;
                let capacities = [size, size + 1, size - 1, size + 40, size + 200];
                for capacity in capacities.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
                    check_decoder(&stream, capacity);
                }
            }
        }
    }
}

#[test]
fn long_match_near_the_output_end_decodes_as_the_model() {
    let (step, lengths) = if cfg!(miri) { (5, 400) } else { (1, 1) };
    for distance in [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 20].into_iter().step_by(step) {
        for length in (200..700).chain(2000..2200).chain(5000..5100).step_by(lengths) {
            // 20 literals before the match, and one behind it.
            let mut stream = vec![20 - 1];
            stream.extend(1..=20);
            stream.push(0xE0);
            stream.extend(vec![255; (length - 9) / 255]);
            stream.extend([((length - 9) % 255) as u8, distance - 1, 0, 7]);
            let size = 20 + length + 1;
            for capacity in [size - 1, size, size + 1, size + 63, size + 64] {
                check_decoder(&stream, capacity);
            }
        }
    }
}

#[test]
fn lengths_of_many_extension_bytes_do_not_overflow() {
    let mut stream = vec![0x20, 1, 0xE0];
    stream.resize(3 + if cfg!(miri) { 500 } else { (1 << 24) + 4096 }, 255);
    // The end of the length, and the distance.
    stream.extend([0, 0]);
    // A literal, or two runs of 32 literals: enough bytes for the fast loop, which then decodes the match.
    for tail in [&[0, 9][..], &[0x1F; 66]] {
        assert_eq!(decompress_guarded(&[&stream, tail].concat(), 1000), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 300 }))]

    #[test]
    fn any_bytes_decode_as_the_model(stream: Vec<u8>, capacity in 0usize..3000) {
        check_decoder(&stream, capacity);
    }

    #[test]
    fn encoding_then_decoding_gives_the_input(
        pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..24), 1usize..60), 1..60),
        clevel in 1i32..=9,
        slack in -40isize..40,
    ) {
        let src: Vec<u8> = pieces.iter().flat_map(|(bytes, times)| bytes.repeat(*times)).collect();
        let maxout = src.len().saturating_add_signed(slack);
        check_encoder(&mut HashTables::new().unwrap(), clevel, &src, maxout);
    }
}
