//! Tests: the vectors of `codecs.md` 3.2, and comparison with the naive implementations in [`model`] on
//! random input. `tests/side_by_side/blosclz_streams.rs` compares with the C library.

mod data;
mod model;
mod streams;
mod vectors;

use super::*;

/// The number of guard bytes behind the capacity, which must not be written.
const GUARD: usize = 64;

/// Returns the number of rounds of a test that has `all` of them: fewer under Miri, which is a thousand times slower.
fn rounds(all: usize) -> usize {
    if cfg!(miri) { all.div_ceil(60) } else { all }
}

/// Compresses with `maxout` bytes of room; panics if a byte behind them is written.
fn compress_guarded(
    tables: &mut HashTables,
    release: Release,
    clevel: i32,
    src: &[u8],
    maxout: usize,
) -> Vec<u8> {
    let mut dest = vec![0xA5; maxout + GUARD];
    let size = compress(tables, release, clevel, src, &mut dest[..maxout]);
    assert!(size <= maxout);
    assert!(dest[maxout..].iter().all(|&b| b == 0xA5));
    dest.truncate(size);
    dest
}

/// Decompresses with room for `capacity` bytes; panics if a byte behind them is written. Returns `None` on failure.
/// Panics if the result differs with readable and writable bytes behind the buffers, or with the portable loop.
fn decompress_guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0xA5; capacity + GUARD];
    let size = decompress(src, &mut dest[..capacity]);
    for (read_ahead, write_ahead) in [(0, 0), (7, 70), (40, 20), (100, 100)] {
        // In a chunk, another stream lies behind a stream.
        let ahead = [src, &src[..src.len().min(read_ahead)]].concat();
        // Both are the same function under Miri, which has no processor features.
        for decompress in
            [decompress_with_slack, decode::decompress_portable].into_iter().skip(usize::from(cfg!(miri)))
        {
            let mut roomy = vec![0x5A; capacity + write_ahead];
            assert_eq!(decompress(&ahead, src.len(), &mut roomy, capacity), size);
            assert!(roomy[..size] == dest[..size]);
        }
    }
    for wanted in [1, size / 2, size].into_iter().filter(|&wanted| wanted > 0 && wanted <= size) {
        let mut start = vec![0x5A; capacity];
        assert!(decompress_prefix(src, &mut start, wanted) >= wanted);
        assert!(start[..wanted] == dest[..wanted]);
    }
    assert!(size <= capacity);
    assert!(dest[capacity..].iter().all(|&b| b == 0xA5));
    dest.truncate(size);
    (size > 0).then_some(dest)
}
