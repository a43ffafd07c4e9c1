//! BloscLZ streams: the decoder against a minimal implementation of the format, and round trips.

#![no_main]

use std::cell::RefCell;

use blosc2::internals::streams::NativeCodec;
use libblosc2_fuzz::split_seed;
use libblosc2_fuzz::streams::{CAPACITY, StreamDecoder};
use libfuzzer_sys::fuzz_target;

/// Returns the content of a stream, `None` if the stream is invalid or its content longer than `room` bytes.
fn decode_simple(stream: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut rest = stream;
    let mut out: Vec<u8> = Vec::new();
    let mut take = |least: usize| -> Option<usize> {
        // The format requires that at least `least` bytes are left before this byte is read.
        let (&first, after) = rest.split_first().filter(|_| rest.len() >= least)?;
        rest = after;
        Some(usize::from(first))
    };
    let mut control = take(1)? & 31;
    loop {
        if control < 32 {
            for _ in 0..=control {
                out.push(take(1)? as u8);
            }
            if out.len() > room {
                return None;
            }
        } else {
            let mut length = (control >> 5) + 2;
            if length == 9 {
                loop {
                    let extension = take(2)?;
                    length += extension;
                    if extension != 255 {
                        break;
                    }
                }
            }
            let low = take(if control >> 5 == 7 { 1 } else { 2 })?;
            let mut distance = (control & 31) << 8 | low;
            if distance == 0x1FFF {
                let high = take(2)?;
                distance += high << 8 | take(1)?;
            }
            distance += 1;
            if out.len() + length > room || distance > out.len() {
                return None;
            }
            // A match at the end of a stream adds no content: the decoder returns before it copies.
            let Some(next) = take(1) else { return Some(out) };
            for _ in 0..length {
                out.push(out[out.len() - distance]);
            }
            control = next;
            continue;
        }
        match take(1) {
            Some(next) => control = next,
            None => return Some(out),
        }
    }
}

thread_local! {
    static BENCH: RefCell<StreamDecoder> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    BENCH.with_borrow_mut(|bench| {
        if random.one_in(4) {
            return bench.round_trip(NativeCodec::BloscLz, &[], data, &mut random);
        }
        // `room` also limits a match at the end, which the decoder checks but does not copy.
        let whole = decode_simple(data, CAPACITY).map_or(0, |content| content.len());
        for len in [whole, random.below(CAPACITY)] {
            let expected = decode_simple(data, len).filter(|content| content.len() == len && len > 0);
            let found = bench.decode(NativeCodec::BloscLz, &[], data, len, &mut random);
            let found = found.filter(|content| !content.is_empty());
            assert!(found == expected, "{len} bytes: the result differs from the decoder of this test");
        }
    });
});
