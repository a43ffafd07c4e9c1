//! LZ4 blocks: the decoder, with and without a dictionary, against that of `lz4_flex`, and round trips of both
//! encoders.

#![no_main]

use std::cell::RefCell;

use blosc2::internals::streams::NativeCodec;
use libblosc2_fuzz::split_seed;
use libblosc2_fuzz::streams::{CAPACITY, StreamDecoder};
use libfuzzer_sys::fuzz_target;
use lz4_flex::block::{decompress_into, decompress_into_with_dict};

thread_local! {
    static BENCH: RefCell<StreamDecoder> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let (dictionary, data) =
        if random.one_in(4) { data.split_at(random.below(data.len() + 1)) } else { data.split_at(0) };
    BENCH.with_borrow_mut(|bench| {
        if random.one_in(4) {
            let codec = *random.pick(&[NativeCodec::Lz4, NativeCodec::Lz4Hc]);
            return bench.round_trip(codec, dictionary, data, &mut random);
        }
        let mut out = vec![0; CAPACITY];
        let independent = match dictionary {
            [] => decompress_into(data, &mut out),
            _ => decompress_into_with_dict(data, &mut out, dictionary),
        };
        let len = independent.as_ref().copied().unwrap_or_else(|_| random.below(CAPACITY));
        let found = bench.decode(NativeCodec::Lz4, dictionary, data, len, &mut random);
        if let Ok(len) = independent {
            let found = found.unwrap_or_else(|| panic!("{len} bytes only by the independent decoder"));
            assert!(found == out[..len], "{len} bytes differ from the independent decoder's");
        }
        let len = random.below(len + 20);
        let _ = bench.decode(NativeCodec::Lz4, dictionary, data, len, &mut random);
    });
});
