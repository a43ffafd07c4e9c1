//! The index: its entries, the list of entries against a naive implementation, encoding and decoding.

use crate::chunk::{ChunkHeader, SpecialValue, write_i32};
use crate::error::ErrorKind;
use crate::frame::format::index::{
    IndexEncoder, IndexEntry, Offsets, decode, decode_entry, encode_entry, encode_special, stored_nbytes,
};
use crate::random::Random;
use proptest::prelude::*;

#[test]
fn entries_decode_to_payloads_or_special_chunks() {
    let place = |top: u64| decode_entry((top << 56 | 0x12_3456) as i64).ok();
    let special = |kind| Some(IndexEntry::Special(kind));
    assert_eq!(decode_entry(0).unwrap(), IndexEntry::Payload(0));
    assert_eq!(decode_entry(i64::MAX).unwrap(), IndexEntry::Payload(i64::MAX as u64));
    for top in [0x81, 0x83, 0x85, 0x87, 0xff, 0xf9] {
        assert_eq!(place(top), special(SpecialValue::Zero), "{top:#x}");
    }
    for (top, kind) in [(0x82, SpecialValue::Nan), (0x84, SpecialValue::Uninit), (0x86, SpecialValue::Uninit)]
    {
        assert_eq!(place(top), special(kind), "{top:#x}");
    }
    for top in [0x80u64, 0x88, 0xf0] {
        assert_eq!(decode_entry((top << 56) as i64).unwrap_err().kind(), ErrorKind::Data, "{top:#x}");
    }
    for kind in [SpecialValue::Zero, SpecialValue::Nan, SpecialValue::Uninit] {
        let code = encode_entry(IndexEntry::Special(kind));
        assert_eq!(code as u64, 1 << 63 | u64::from(kind.id()) << 56);
        assert_eq!(decode_entry(code).unwrap(), IndexEntry::Special(kind));
    }
    for place in [IndexEntry::Special(SpecialValue::Value), IndexEntry::Payload(u64::MAX)] {
        assert!(decode_entry(encode_entry(place)).is_err());
    }
}

#[derive(Clone, Debug)]
enum OffsetsStep {
    Push(i64),
    Insert(usize, i64),
    Set(usize, i64),
    Remove(usize),
    Reverse,
    Shift(u64, i64),
}

fn step() -> impl Strategy<Value = OffsetsStep> {
    let code = || prop_oneof![Just(i64::MIN | 1 << 56), Just(5i64), 0i64..50];
    prop_oneof![
        code().prop_map(OffsetsStep::Push),
        (0usize..40, code()).prop_map(|(n, c)| OffsetsStep::Insert(n, c)),
        (0usize..40, code()).prop_map(|(n, c)| OffsetsStep::Set(n, c)),
        (0usize..40).prop_map(OffsetsStep::Remove),
        Just(OffsetsStep::Reverse),
        (0u64..40, -20i64..20).prop_map(|(n, by)| OffsetsStep::Shift(n, by)),
    ]
}

proptest! {
    #[test]
    fn offsets_behave_as_a_plain_list(
        code in prop_oneof![Just(i64::MIN | 1 << 56), 0i64..10],
        len in 0usize..20,
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let mut offsets = Offsets::Uniform { code, len };
        let mut list = vec![code; len];
        for step in steps {
            match step {
                OffsetsStep::Push(code) => {
                    offsets.push(code).unwrap();
                    list.push(code);
                }
                OffsetsStep::Insert(n, code) => {
                    let fits = n <= list.len();
                    prop_assert_eq!(offsets.insert(n, code).is_ok(), fits);
                    if fits {
                        list.insert(n, code);
                    }
                }
                OffsetsStep::Set(n, code) => {
                    let there = n < list.len();
                    prop_assert_eq!(offsets.set(n, code).is_ok(), there);
                    if there {
                        list[n] = code;
                    }
                }
                OffsetsStep::Remove(n) => {
                    let there = n < list.len();
                    prop_assert_eq!(offsets.remove(n).ok(), there.then(|| list.remove(n)));
                }
                OffsetsStep::Reverse => {
                    let order: Vec<i64> = (0..list.len() as i64).rev().collect();
                    offsets = offsets.permuted(&order).unwrap();
                    list.reverse();
                }
                OffsetsStep::Shift(behind, by) => {
                    let is_behind = |c: i64| c >= 0 && c as u64 > behind;
                    let moved: Vec<i64> = list.iter().map(|&c| if is_behind(c) { c + by } else { c }).collect();
                    let allowed = list.iter().all(|&c| !is_behind(c) || c + by >= 0);
                    let first = list.iter().position(|&c| is_behind(c) && by != 0);
                    prop_assert_eq!(offsets.shift_offsets_after(behind, by).ok(), allowed.then_some(first));
                    if allowed {
                        list = moved;
                    }
                }
            }
            prop_assert_eq!(offsets.len(), list.len());
            prop_assert!(offsets.iter().eq(list.iter().copied()));
            for n in 0..list.len() + 2 {
                prop_assert_eq!(offsets.get(n), list.get(n).copied());
                prop_assert!(offsets.iter_from(n).eq(list.iter().skip(n).copied()));
            }
            prop_assert_eq!(offsets.max_number(), list.iter().copied().filter(|&c| c >= 0).max().unwrap_or(-1));
            let free = (0..).find(|n| !list.contains(n)).unwrap();
            prop_assert_eq!(offsets.lowest_free_number(&[]).unwrap(), free as u64);
        }
    }

    #[test]
    fn decoding_any_bytes_does_not_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        nchunks in 0usize..30,
        fix in 0u8..3,
    ) {
        let mut bytes = bytes;
        if fix > 0 && bytes.len() >= 40 {
            let cbytes = bytes.len() as i32;
            bytes[..4].copy_from_slice(&[5, 1, 0x15, 8]);
            write_i32(&mut bytes, 4, 8 * nchunks as i32);
            write_i32(&mut bytes, 12, cbytes);
            bytes[8..12].copy_from_slice(&[0x80, 0, 0, 0]);
            bytes[0x1e] = 0;
            if fix == 1 {
                bytes[0x1f] = 0;
            }
            bytes[16..22].copy_from_slice(&[0, 0, 0, 0, 0, 1]);
        }
        if let Ok(offsets) = decode(&bytes, nchunks) {
            prop_assert_eq!(offsets.len(), nchunks);
        }
    }
}

#[test]
fn orders_that_are_no_permutation_are_refused() {
    for offsets in [Offsets::Uniform { code: 7, len: 3 }, Offsets::List(vec![1, 2, 3])] {
        for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, -1, 2], &[0, 1, i64::MAX], &[0, 1, 2, 3]] {
            assert!(offsets.permuted(order).is_none(), "{order:?}");
        }
    }
    let permuted = Offsets::List(vec![10, 11, 12]).permuted(&[2, 0, 1]).unwrap();
    assert!(permuted.iter().eq([12, 10, 11]));
}

/// Offsets of payloads of random sizes, with special chunks between them.
fn random_offsets(random: &mut Random, len: usize) -> Vec<i64> {
    let mut at = 0;
    let mut list = Vec::with_capacity(len);
    for _ in 0..len {
        if random.below(9) == 0 {
            list.push(encode_entry(IndexEntry::Special(SpecialValue::Zero)));
        } else {
            list.push(at);
            at += 40 + random.below(1 << 20) as i64;
        }
    }
    list
}

fn check_index_chunk(chunk: &[u8], offsets: &Offsets, capacity: usize) {
    assert!(chunk.len() <= 8 * capacity + 32);
    let header = ChunkHeader::parse(chunk).unwrap();
    assert_eq!(header.cbytes as usize, chunk.len());
    assert_eq!(stored_nbytes(&header).unwrap(), 8 * offsets.len() as i64);
    assert!(decode(chunk, offsets.len()).unwrap() == *offsets);
}

#[test]
fn encoded_indexes_decode_to_their_entries() {
    let mut random = Random(3);
    let lengths = (0..70).chain([2047, 2048, 2049, 2050, 2051, 2052, 4095, 4096, 4097, 4099, 4100, 5000]);
    for len in lengths.step_by(if cfg!(miri) { 24 } else { 1 }) {
        let list = random_offsets(&mut random, len);
        let regular: Vec<i64> = (0..len as i64).map(|n| n * 4096).collect();
        let noise: Vec<i64> = (0..len).map(|_| random.next() as i64).collect();
        for list in [list, regular, noise, vec![0; len], vec![0x0707_0707_0707_0707; len]] {
            let offsets = Offsets::List(list);
            for capacity in [len, len + 1] {
                check_index_chunk(
                    &IndexEncoder::new().encode(&offsets, 0, capacity).unwrap(),
                    &offsets,
                    capacity,
                );
            }
        }
        let uniform = Offsets::Uniform { code: encode_entry(IndexEntry::Special(SpecialValue::Nan)), len };
        check_index_chunk(&IndexEncoder::new().encode(&uniform, 0, len).unwrap(), &uniform, len.max(1));
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes many minutes for 6200 entries")]
fn reusing_encoded_blocks_gives_the_same_chunk() {
    let mut random = Random(5);
    for noisy in [false, true] {
        let mut encoder = IndexEncoder::new();
        let mut offsets = Offsets::List(random_offsets(&mut random, 6200));
        encoder.encode(&offsets, 0, 6200).unwrap();
        for round in 0..300 {
            let len = offsets.len();
            let mut capacity = len;
            let code = if noisy { random.next() as i64 } else { 4096 * random.below(1 << 20) as i64 };
            let at = match round % 5 {
                0 => random.below(len),
                1 => len.saturating_sub(random.below(6)).min(len - 1),
                _ => len - 1 - random.below(len.min(300)),
            };
            let changed_from = match round % 7 {
                0 => {
                    capacity = len;
                    offsets.remove(at).unwrap();
                    at
                }
                1 => {
                    offsets.insert(at, code).unwrap();
                    at
                }
                2 => {
                    offsets.set(at, code).unwrap();
                    at
                }
                // Sizes at and beyond the boundaries of blocks.
                3 if round % 3 == 0 => {
                    let edge = [4096, 4097, 2049, 2050, 2048, 6144, 6145][random.below(7)];
                    let Offsets::List(list) = &mut offsets else { unreachable!("it began as a list") };
                    list.truncate(edge);
                    while list.len() < edge {
                        list.push(code);
                    }
                    edge.min(len)
                }
                _ => {
                    offsets.push(code).unwrap();
                    len
                }
            };
            // A `changed_from` below the first changed entry is allowed.
            let changed_from = if round % 11 == 0 { changed_from / 2 } else { changed_from };
            let capacity = capacity.max(offsets.len());
            let kept = encoder.encode(&offsets, changed_from, capacity).unwrap();
            let fresh = IndexEncoder::new().encode(&offsets, 0, capacity).unwrap();
            assert!(kept == fresh, "round {round}: {} entries", offsets.len());
            check_index_chunk(&kept, &offsets, capacity);
            if round % 50 == 49 {
                encoder.clear();
            }
        }
    }
}

#[test]
fn index_of_the_maximum_number_of_special_chunks_has_40_bytes() {
    let most = 268_435_451;
    let chunk = encode_special(SpecialValue::Uninit, most).unwrap();
    assert_eq!(chunk.len(), 40);
    let offsets = decode(&chunk, most).unwrap();
    let code = encode_entry(IndexEntry::Special(SpecialValue::Uninit));
    assert!(matches!(offsets, Offsets::Uniform { code: c, len } if c == code && len == most));
    assert_eq!(IndexEncoder::new().encode(&offsets, 0, most).unwrap(), chunk);
    assert_eq!(encode_special(SpecialValue::Zero, most + 1).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(encode_special(SpecialValue::Value, 1).unwrap_err().kind(), ErrorKind::FrameSpecial);
    assert!(encode_special(SpecialValue::Zero, 0).is_err());
    assert!(IndexEncoder::new().encode(&Offsets::Uniform { code: 0, len: most + 1 }, 0, 0).is_err());
}

#[test]
fn invalid_index_chunks_are_rejected() {
    let offsets = Offsets::List((0..100).map(|n| n * 1000).collect());
    let good = IndexEncoder::new().encode(&offsets, 0, 100).unwrap();
    let code = |chunk: &[u8], nchunks| decode(chunk, nchunks).err().map(|error| error.kind());
    let with = |pos: usize, byte: u8| {
        let mut chunk = good.clone();
        chunk[pos] = byte;
        chunk
    };
    assert_eq!(code(&good, 100), None);
    assert_eq!(code(&[&good[..], &[9; 50]].concat(), 100), None, "what follows is not ours");
    for nchunks in [0, 99, 101, usize::MAX, usize::MAX / 8 + 1] {
        assert_eq!(code(&good, nchunks), Some(ErrorKind::Data));
    }
    for typesize in [1, 4, 7, 9, 255] {
        let chunk = with(3, typesize);
        assert_eq!(code(&chunk, 100), Some(ErrorKind::Data));
        let header = ChunkHeader::parse(&chunk).unwrap();
        assert_eq!(stored_nbytes(&header).unwrap_err().kind(), ErrorKind::InvalidHeader);
    }
    let odd = ChunkHeader { nbytes: 801, ..ChunkHeader::parse(&good).unwrap() };
    assert_eq!(stored_nbytes(&odd).unwrap_err().kind(), ErrorKind::InvalidHeader);
    for flags in [0x08, 0x80, 0x40, 0x50] {
        assert_eq!(code(&with(0x1f, flags), 100), Some(ErrorKind::Data), "flags {flags:#x}");
    }
    for len in 0..good.len() {
        assert!(decode(&good[..len], 100).is_err(), "{len} bytes");
    }
    // A repeated value of the wrong size.
    let mut value = encode_special(SpecialValue::Zero, 4).unwrap();
    assert_eq!(code(&value[..39], 4), Some(ErrorKind::Data));
    write_i32(&mut value, 12, 36);
    assert_eq!(code(&value, 4), Some(ErrorKind::Data));
    // A chunk of 36 bytes whose header gives 2 GB of runs.
    let mut bomb = good[..36].to_vec();
    write_i32(&mut bomb, 4, 8 * 268_435_451);
    write_i32(&mut bomb, 8, 536_866_816);
    write_i32(&mut bomb, 12, 36);
    assert_eq!(code(&bomb, 268_435_451), Some(ErrorKind::Data));
}

#[test]
fn an_index_of_zeros_is_uniform() {
    let zeros = IndexEncoder::new().encode(&Offsets::List(vec![0; 1000]), 0, 1000).unwrap();
    assert_eq!(zeros.len(), 32);
    assert!(matches!(decode(&zeros, 1000).unwrap(), Offsets::Uniform { code: 0, len: 1000 }));
}
