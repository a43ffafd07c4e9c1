//! Zlib streams: the decoder against that of `zlib-rs`, and round trips.

#![no_main]

use std::cell::RefCell;

use blosc2::internals::streams::NativeCodec;
use flate2::{Decompress, FlushDecompress, Status};
use libblosc2_fuzz::split_seed;
use libblosc2_fuzz::streams::{CAPACITY, StreamDecoder};
use libfuzzer_sys::fuzz_target;

/// Returns the content of the zlib stream at the start of `stream`, decoded by `zlib-rs`; `None` if the stream is
/// invalid or its content longer than [`CAPACITY`].
fn decode_with_zlib_rs(stream: &[u8]) -> Option<Vec<u8>> {
    let mut inflater = Decompress::new(true);
    let mut out = vec![0; CAPACITY];
    match inflater.decompress(stream, &mut out, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) => {
            out.truncate(inflater.total_out() as usize);
            Some(out)
        }
        _ => None,
    }
}

/// Returns `deflated` as a zlib stream, with a header and the right checksum: the fuzzer cannot find a checksum by
/// mutation.
fn wrap_as_zlib(deflated: &[u8]) -> Vec<u8> {
    let mut inflater = Decompress::new(false);
    let mut out = vec![0; CAPACITY];
    let mut stream = vec![0x78, 0x01];
    if let Ok(Status::StreamEnd) = inflater.decompress(deflated, &mut out, FlushDecompress::Finish) {
        let (mut a, mut b) = (1u32, 0u32);
        for &byte in &out[..inflater.total_out() as usize] {
            a = (a + u32::from(byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        stream.extend(&deflated[..inflater.total_in() as usize]);
        stream.extend((b << 16 | a).to_be_bytes());
    } else {
        stream.extend(deflated);
    }
    stream
}

thread_local! {
    static BENCH: RefCell<StreamDecoder> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    BENCH.with_borrow_mut(|bench| {
        let stream = match random.below(4) {
            0 => return bench.round_trip(NativeCodec::Zlib, &[], data, &mut random),
            // The seeds are zlib streams: removes the header.
            1..=2 => wrap_as_zlib(data.get(2..).unwrap_or_default()),
            _ => data.to_vec(),
        };
        let expected = decode_with_zlib_rs(&stream);
        let len = expected.as_ref().map_or_else(|| random.below(CAPACITY), Vec::len);
        let found = bench.decode(NativeCodec::Zlib, &[], &stream, len, &mut random);
        if len > 0 {
            assert!(found == expected, "{len} bytes: the independent decoder disagrees");
        }
        let len = random.below(len + 20);
        let found = bench.decode(NativeCodec::Zlib, &[], &stream, len, &mut random);
        assert!(
            len == 0 || found.is_none() || found == expected,
            "{len} bytes: the independent decoder disagrees"
        );
    });
});
