//! Tests the coder of bit planes against the loops of `codecs.md` 10.6 and 10.7, bit by bit.

use super::{VALUES_PER_CELL, planes};
use crate::codec::zfp::bits::{ZfpBitReader, ZfpBitWriter};
use crate::random::Random;

/// Encodes as in 10.6, for values whose highest bit is bit 63.
fn naive_encode(values: &[u64; VALUES_PER_CELL], planes: u32, budget: usize) -> Vec<bool> {
    let (mut out, mut n) = (Vec::new(), 0);
    for k in (64 - planes..64).rev() {
        let bit = |at: usize| values[at] >> k & 1 == 1;
        for at in 0..n {
            if out.len() < budget {
                out.push(bit(at));
            }
        }
        while out.len() < budget && n < VALUES_PER_CELL {
            let any = (n..VALUES_PER_CELL).any(bit);
            out.push(any);
            if !any {
                break;
            }
            while out.len() < budget && n < VALUES_PER_CELL - 1 {
                out.push(bit(n));
                if bit(n) {
                    break;
                }
                n += 1;
            }
            n += 1;
        }
    }
    out
}

/// Decodes as in 10.7, step 2. Returns the values and the number of bits used.
fn naive_decode(bits: &[bool], planes: u32, budget: usize) -> ([u64; VALUES_PER_CELL], usize) {
    let (mut values, mut n, mut at) = ([0; VALUES_PER_CELL], 0, 0);
    let read = |at: &mut usize| {
        *at += 1;
        bits.get(*at - 1).copied().unwrap_or(false)
    };
    for k in (64 - planes..64).rev() {
        for value in values.iter_mut().take(n) {
            if at < budget {
                *value |= u64::from(read(&mut at)) << k;
            }
        }
        while at < budget && n < VALUES_PER_CELL {
            if !read(&mut at) {
                break;
            }
            while at < budget && n < VALUES_PER_CELL - 1 {
                if read(&mut at) {
                    break;
                }
                n += 1;
            }
            values[n] |= 1 << k;
            n += 1;
        }
    }
    (values, at)
}

fn bits_of(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |at| byte >> at & 1 == 1)).collect()
}

#[test]
fn plane_coder_agrees_with_the_naive_coder() {
    let mut numbers = Random(1);
    let mut random = || numbers.next();
    for round in 0..if cfg!(miri) { 8 } else { 20_000 } {
        // Values of every magnitude, and some that are 0.
        let values: [u64; VALUES_PER_CELL] = std::array::from_fn(|_| {
            let shift = random() % 70;
            if shift < 64 { random() >> shift } else { 0 }
        });
        let planes = (random() % 65) as u32;
        let budget = if round % 2 == 0 { 16_000 } else { (random() % 120) as usize };
        let lead = (random() % 40) as u32;

        let expected = naive_encode(&values, planes, budget);
        let mut room = [0; 64];
        let mut writer = ZfpBitWriter::new(&mut room);
        writer.write_bits(0, lead);
        let used = planes::encode(&values, planes, budget as u32, &mut writer);
        let len = writer.finish().expect("room for 7 * 64 bits");
        assert_eq!(used as usize, expected.len(), "{values:x?}, {planes} planes in {budget} bits");
        let bits = bits_of(&room[..len]);
        assert_eq!(bits[lead as usize..][..expected.len()], expected, "{values:x?}, {planes} planes");
        assert!(bits[lead as usize + expected.len()..].iter().all(|&bit| !bit));

        // The stream that was written, and random bytes.
        for stream in [room.to_vec(), (0..8).flat_map(|_| random().to_le_bytes()).collect()] {
            let mut reader = ZfpBitReader::new(&stream);
            reader.skip(lead);
            let (got, used) = planes::decode(planes, budget as u32, &mut reader);
            let (want, all) = naive_decode(&bits_of(&stream)[lead as usize..], planes, budget);
            assert_eq!((got, used as usize), (want, all), "{planes} planes of {budget} bits");
        }
    }
}

#[test]
fn writer_detects_overflow_and_reader_detects_the_end() {
    for room in 0..50 {
        let mut dest = vec![0; room];
        let mut writer = ZfpBitWriter::new(&mut dest);
        for _ in 0..10 {
            writer.write_bits(0x1f, 5);
            writer.pad(21);
        }
        assert_eq!(writer.finish(), (room >= 40).then_some(40), "{room} bytes for 260 bits");
    }
    let mut reader = ZfpBitReader::new(&[0xff; 9]);
    reader.skip(128);
    assert!(!reader.is_past_end());
    assert_eq!(reader.read_bits(1), 0);
    assert!(reader.is_past_end());
}
