//! Chunks of LZ4 and LZ4HC with a dictionary: each library reads the other's, and ours are at most 1 % longer.

use crate::support::calls::{Params, compress, decompress};
use crate::support::data::Data;
use crate::support::known_defects as defects;
use crate::support::random::Random;
use crate::{BITSHUFFLE, SHUFFLE, assert_decodes};

/// Runs of up to three of five bytes, and numbers of which small ones are frequent: with a small dictionary, matches
/// in these data are short.
fn short_matches(random: &mut Random, len: usize) -> [Vec<u8>; 2] {
    let mut runs = Vec::new();
    while runs.len() < len {
        let byte = random.below(5) as u8;
        runs.extend(std::iter::repeat_n(byte, 1 + random.below(3)));
    }
    runs.truncate(len);
    let small = (0..len).map(|_| (0..20).take_while(|_| !random.one_in(3)).count() as u8).collect();
    [runs, small]
}

#[test]
fn chunks_with_a_dictionary_are_not_longer_than_the_reference_s() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(11);
    let mut sets: Vec<Vec<u8>> = Data::ALL.iter().map(|data| data.generate(random, 8, 150_000)).collect();
    sets.extend(short_matches(random, 150_000));
    for (nth, src) in sets.iter().enumerate() {
        for (codec, clevel) in [(1, 1), (1, 5), (1, 9), (2, 1), (2, 3), (2, 5), (2, 9)] {
            for blocksize in [512, 1024, 4096, 32_768] {
                let (filter, typesize) = [(0, 1), (SHUFFLE, 8), (BITSHUFFLE, 4)][random.below(3)];
                let params = Params {
                    codec,
                    clevel,
                    use_dict: true,
                    typesize,
                    blocksize,
                    filters: [0, 0, 0, 0, 0, filter],
                    ..Params::default()
                };
                let what = format!("set {nth}, {params:?}");
                let destsize = defects::sufficient_destsize(&params, src.len() as i32);
                let [mine, theirs] = [ours, reference].map(|library| {
                    compress(library, &params, src, destsize).unwrap_or_else(|code| panic!("{code}: {what}"))
                });
                let (size, limit) = (mine.len(), theirs.len());
                assert!(size * 100 <= limit * 101, "{size} bytes, {limit} of the reference: {what}");
                assert_decodes(&what, decompress(reference, 1, &mine, src.len()), src);
                assert_decodes(&what, decompress(ours, 1, &theirs, src.len()), src);
            }
        }
    }
}
