//! What the tests share.

use blosc2::{Codec, Filter, Params};
use proptest::prelude::*;

/// Contents with some repetition.
pub fn contents(max_len: usize) -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 0..=max_len);
    let runs = (prop::collection::vec(any::<u8>(), 1..20), 0..=max_len)
        .prop_map(|(pattern, len)| pattern.iter().copied().cycle().take(len).collect());
    let zeros = (0..=max_len).prop_map(|len| vec![0; len]);
    prop_oneof![random, runs, zeros]
}

/// Parameters of all lossless codecs and filters.
pub fn params() -> impl Strategy<Value = Params> {
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    let filters = [
        vec![],
        vec![Filter::Shuffle],
        vec![Filter::Bitshuffle],
        vec![Filter::Delta],
        vec![Filter::Delta, Filter::Shuffle],
        vec![Filter::Shuffle, Filter::ByteDelta],
    ];
    let sizes = [1usize, 2, 3, 4, 8, 16];
    (
        prop::sample::select(codecs.to_vec()),
        0u8..=9,
        prop::sample::select(filters.to_vec()),
        prop::sample::select(sizes.to_vec()),
        1usize..=2,
    )
        .prop_map(|(codec, level, filters, typesize, threads)| {
            Params::new().codec(codec).level(level).filters(filters).typesize(typesize).threads(threads)
        })
}
