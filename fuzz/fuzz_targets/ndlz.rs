//! NDLZ streams with both cell sizes: repeated decoding gives the same result, and the encoder's streams decode to the
//! source.

#![no_main]

use std::cell::RefCell;

use blosc2::internals::streams::{StreamCoder, decode_ndlz};
use libblosc2_fuzz::split_seed;
use libblosc2_fuzz::support::guard::GuardedBuffer;
use libfuzzer_sys::fuzz_target;

/// The largest block of this target, in bytes.
const CAPACITY: usize = 64 << 10;

/// Decodes `stream` into `len` bytes filled with `before`. An inaccessible page is behind both buffers if `at_end`,
/// else in front of them. Returns `None` if the decoder fails.
fn decode(cell: u8, stream: &[u8], len: usize, at_end: bool, before: u8) -> Option<Vec<u8>> {
    let (mut src, mut dest) = (GuardedBuffer::new(stream.len()), GuardedBuffer::new(len));
    let src = src.edge_bytes(stream.len(), at_end);
    src.copy_from_slice(stream);
    let dest = dest.edge_bytes(len, at_end);
    dest.fill(before);
    let written = decode_ndlz(cell, src, dest);
    assert!(written <= len, "{written} bytes in {len}");
    assert!(dest[written..].iter().all(|&byte| byte == before) || written == 0, "bytes behind the content");
    (written > 0).then(|| dest[..written].to_vec())
}

fn decode_twice(cell: u8, stream: &[u8], len: usize) -> Option<Vec<u8>> {
    let found = decode(cell, stream, len, true, 0xCC);
    assert!(
        decode(cell, stream, len, false, 0x33) == found,
        "the result depends on the address or the old bytes of a buffer"
    );
    found
}

thread_local! {
    static STREAMS: RefCell<StreamCoder> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let cell = *random.pick(&[4, 8]);
    if !random.one_in(3) || data.is_empty() {
        let claimed = match data {
            [2, a, b, c, d, e, f, g, h, ..] => {
                let extents =
                    [[a, b, c, d], [e, f, g, h]].map(|word| u32::from_le_bytes(word.map(|byte| *byte)));
                u64::from(extents[0]) * u64::from(extents[1])
            }
            _ => 0,
        };
        if claimed <= CAPACITY as u64 {
            let found = decode_twice(cell, data, claimed as usize);
            assert!(found.is_none_or(|content| content.len() as u64 == claimed));
        }
        let _ = decode_twice(cell, data, random.below(CAPACITY));
        return;
    }
    let extents = [1 + random.below(70), 1 + random.below(70)];
    let nbytes = extents[0] * extents[1];
    let mut src = data.repeat(nbytes.div_ceil(data.len()));
    src.truncate(nbytes);
    let room = if random.one_in(3) { random.below(nbytes + 1) } else { nbytes + 100 };
    let mut dest = GuardedBuffer::new(room);
    let dest = dest.last_bytes(room);
    let extents = extents.map(|extent| extent as i32);
    let len = STREAMS.with_borrow_mut(|streams| streams.encode_ndlz(cell, extents, &src, dest));
    let fresh = StreamCoder::default().encode_ndlz(cell, extents, &src, &mut vec![0; room]);
    assert!(len <= room && len == fresh, "{len} and {fresh} bytes in {room}");
    if len > 0 {
        assert!(
            decode_twice(cell, &dest[..len], nbytes).as_ref() == Some(&src),
            "{extents:?} in cells of {cell}"
        );
    }
});
