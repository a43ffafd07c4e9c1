//! The vectors of `codecs.md` 3.2 and 3.4, the twins of [`model`] on random input, and the reference where there is one.

mod data;
mod model;
mod reference;
mod streams;
mod vectors;

use super::*;

/// Bytes behind the capacity that nobody may touch.
const GUARD: usize = 64;

/// Compresses with `maxout` bytes of room; panics if anything behind them is written.
fn compress_guarded(tables: &mut Tables, clevel: i32, src: &[u8], maxout: usize) -> Vec<u8> {
    let mut dest = vec![0xA5; maxout + GUARD];
    let size = compress(tables, clevel, src, &mut dest[..maxout]);
    assert!(size <= maxout);
    assert!(dest[maxout..].iter().all(|&b| b == 0xA5));
    dest.truncate(size);
    dest
}

/// Decompresses with room for `capacity` bytes; panics if anything behind them is written. `None` is failure.
fn decompress_guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0xA5; capacity + GUARD];
    let size = decompress(src, &mut dest[..capacity]);
    assert!(size <= capacity);
    assert!(dest[capacity..].iter().all(|&b| b == 0xA5));
    dest.truncate(size);
    (size > 0).then_some(dest)
}
