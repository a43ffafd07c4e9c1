//! BloscLZ streams with millions of length bytes of 255: their sum overflows 32 bits, and the reference writes far
//! outside of the destination (blosc1.md 12.4).

use crate::support::forked::in_forked_processes;
use crate::support::guard::GuardedBuffer;
use crate::support::{Library, libraries};
use std::time::Duration;

/// The number of length bytes of 255 after which the length of a match exceeds 2^31.
const OVERFLOWING: usize = 8_421_505;
const CONTENT_LEN: usize = 1 << 20;
/// Offset of the stream in bytes: header, one block start, the length of the stream.
const STREAM_AT: usize = 16 + 4 + 4;

/// Returns a chunk of one block: `a`, a match of distance 1, and `b`. The length of the match is the sum of 9, the
/// length bytes of 255, and `last`.
fn chunk_with(length_bytes: usize, last: u8) -> Vec<u8> {
    let mut stream = vec![0x00, b'a', 0xE0];
    stream.resize(stream.len() + length_bytes, 255);
    stream.extend_from_slice(&[last, 0, 0x00, b'b']);
    let cbytes = STREAM_AT + stream.len();
    // Version 2, format version 1, BloscLZ with blocks that are not split, items of one byte.
    let mut chunk = vec![2, 1, 0x10, 1];
    for field in [CONTENT_LEN, CONTENT_LEN, cbytes, 20, stream.len()] {
        chunk.extend_from_slice(&(field as u32).to_le_bytes());
    }
    chunk.extend_from_slice(&stream);
    chunk
}

/// Returns the codes of `blosc_decompress_ctx` and of `blosc_getitem` for a chunk beside inaccessible pages.
fn read(library: &Library, source: &mut GuardedBuffer, dest: &mut GuardedBuffer, chunk: &[u8]) -> (i32, i32) {
    let src = source.last_bytes(chunk.len());
    src.copy_from_slice(chunk);
    let src = src.as_ptr().cast();
    let dest = dest.last_bytes(CONTENT_LEN).as_mut_ptr().cast();
    let mut nbytes = 0;
    // SAFETY: a chunk as long as its header says, and space for the content.
    unsafe {
        let validated = (library.blosc_cbuffer_validate)(src, chunk.len(), &mut nbytes);
        assert_eq!((validated, nbytes), (0, CONTENT_LEN));
        let whole = (library.blosc_decompress_ctx)(src, dest, CONTENT_LEN, 1);
        (whole, (library.blosc_getitem)(src, 1000, 1000, dest))
    }
}

#[test]
fn lengths_that_overflow_are_errors() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let mut source = GuardedBuffer::new(3 * OVERFLOWING);
    let mut dest = GuardedBuffer::new(CONTENT_LEN);
    // The length of the content is right for this sum.
    let rest = CONTENT_LEN - 2 - 9;
    let chunk = chunk_with(rest / 255, (rest % 255) as u8);
    for library in [&ours, &reference] {
        let codes = read(library, &mut source, &mut dest, &chunk);
        assert_eq!(codes, (CONTENT_LEN as i32, 1000), "{}", library.name);
    }
    // 2^32 more: the sum modulo 2^32 is the same.
    let whole_sum = usize::try_from((1_u64 << 32) + rest as u64).unwrap_or(usize::MAX);
    let modulo = whole_sum / 255;
    let sums = [0, 1, 2, 3, 4, 5, 100, 4113].map(|more| (OVERFLOWING + more, 7));
    let wrapped = [(modulo, (whole_sum % 255) as u8), (modulo + 1, 0), (modulo - 1, 254)];
    for (length_bytes, last) in sums.into_iter().chain(wrapped) {
        let chunk = chunk_with(length_bytes, last);
        let (whole, part) = read(&ours, &mut source, &mut dest, &chunk);
        assert_eq!(whole, -1, "{length_bytes} length bytes");
        assert_eq!(part, -2, "{length_bytes} length bytes");
        let of_reference = in_forked_processes(1, Duration::from_secs(20), |_| {
            i64::from(read(&reference, &mut source, &mut dest, &chunk).0)
        });
        println!("{length_bytes} length bytes: {whole} and {part}, reference {}", of_reference[0]);
    }
}
