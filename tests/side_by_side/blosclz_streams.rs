//! Streams of BloscLZ are those of the reference, byte for byte, also in small destinations; and both libraries decode
//! damaged streams to the same bytes, or neither does. The chunks have one unfiltered block and one stream.

use crate::support::calls::{Header, Params, compress, decompress};
use crate::support::data::Data;
use crate::support::random::Random;

/// The offset in bytes of the stream: behind the header, the start of the block, and the length of the stream.
const STREAM_OFFSET: usize = 32 + 4 + 4;

/// Returns `len` bytes of one of the kinds of streams that Blosc produces: also runs, and short patterns with mistakes.
fn random_source(random: &mut Random, kind: usize, len: usize) -> Vec<u8> {
    if let Some(data) = Data::ALL.get(kind) {
        return data.generate(random, 1, len);
    }
    let mut out = Vec::new();
    let width = 1 + random.below(40);
    let pattern = random.bytes(width);
    while out.len() < len {
        if kind == Data::ALL.len() {
            let longest = 1 << random.below(10);
            out.resize(out.len() + 1 + random.below(longest), random.byte());
        } else {
            out.push(if random.one_in(60) { random.byte() } else { pattern[out.len() % width] });
        }
    }
    out.truncate(len);
    out
}

#[test]
fn blosclz_streams_and_damaged_ones_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(7);
    let (mut streams, mut refused) = (0, 0);
    for round in 0..900 {
        let len = 33 + random.below(1 << (4 + round % 14));
        let src = random_source(random, round % (Data::ALL.len() + 2), len);
        let clevel = 1 + random.below(9) as u8;
        let blocksize = len as i32;
        let params =
            Params { clevel, typesize: 1, blocksize, splitmode: 2, filters: [0; 6], ..Params::default() };
        let room = if round % 3 == 0 { 1 + random.below(len) } else { len };
        let compress = |library, room| compress(library, &params, &src, STREAM_OFFSET + room);
        let what = format!("round {round}: {len} bytes into {room}, {params:?}");
        let (mine, mut theirs) = (compress(ours, room), compress(reference, room));
        if mine.is_ok() && theirs == Err(0) {
            // The reference gives up in small destinations.
            theirs = compress(reference, 2 * len + 100);
        }
        let (Ok(mine), Ok(theirs)) = (&mine, &theirs) else {
            assert!(mine == theirs, "{what}");
            continue;
        };
        if Header::parse(mine).is_memcpyed() {
            // Chunks that do not shrink are stored.
            assert!(mine.len() <= theirs.len(), "{what}");
            continue;
        }
        assert!(mine == theirs, "{what}");
        if mine.len() <= STREAM_OFFSET {
            continue;
        }
        streams += 1;
        for damages in 0..3 {
            let mut chunk = mine.clone();
            for _ in 0..damages {
                let at = STREAM_OFFSET + random.below(chunk.len() - STREAM_OFFSET);
                chunk[at] ^= 1 << random.below(8);
            }
            let [mine, theirs] = [ours, reference].map(|library| decompress(library, 1, &chunk, len).ok());
            refused += usize::from(mine.is_none());
            assert!(mine == theirs, "{what}, {damages} damages");
        }
    }
    assert!(streams > 300 && refused > 50, "{streams} streams, {refused} refused");
}
