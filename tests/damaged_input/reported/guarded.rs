//! Reads chunks next to inaccessible pages: behind source and destination, then before them.

use crate::support::calls::{BytesResult, DEST_FILL_BYTE, OwnedContext, dparams};
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;

/// Calls `call` with the chunk and a destination of `destsize` bytes. The outcome must not depend on the side of the
/// pages, and bytes behind the result must be unchanged.
#[track_caller]
fn read_guarded(chunk: &[u8], destsize: usize, mut call: impl FnMut(&[u8], &mut [u8]) -> i32) -> BytesResult {
    let mut source = GuardedBuffer::new(chunk.len());
    let mut dest = GuardedBuffer::new(destsize);
    let mut both = [true, false].map(|at_end| {
        let source = source.edge_bytes(chunk.len(), at_end);
        source.copy_from_slice(chunk);
        let dest = dest.edge_bytes(destsize, at_end);
        dest.fill(DEST_FILL_BYTE);
        let rc = call(source, dest);
        assert!(source == chunk, "the chunk was written to");
        assert!(rc <= destsize as i32, "{rc} bytes in {destsize}");
        let len = usize::try_from(rc).map_err(|_| rc)?;
        assert!(dest[len..].iter().all(|&byte| byte == DEST_FILL_BYTE), "bytes behind the result");
        Ok(dest[..len].to_vec())
    });
    assert_eq!(both[0], both[1], "the outcome depends on the place of the buffers");
    std::mem::replace(&mut both[0], Err(0))
}

/// Decompresses the whole chunk with a fresh context.
#[track_caller]
pub fn decompress(library: &Library, nthreads: i16, chunk: &[u8], destsize: usize) -> BytesResult {
    let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
    read_guarded(chunk, destsize, |chunk, dest| context.decompress(chunk, dest))
}

/// Reads `nitems` items of `size` bytes from item `start` on with a fresh context.
#[track_caller]
pub fn getitem(library: &Library, chunk: &[u8], start: i32, nitems: i32, size: usize) -> BytesResult {
    let mut context = OwnedContext::for_decompression(library, dparams(1));
    read_guarded(chunk, nitems as usize * size, |chunk, dest| context.getitem(chunk, start, nitems, dest))
}

/// Decompresses the whole chunk with the function of Blosc 1, which reads the length of the chunk from its header:
/// the header must state the true length.
#[track_caller]
pub fn blosc1_decompress(library: &Library, chunk: &[u8], destsize: usize) -> BytesResult {
    read_guarded(chunk, destsize, |chunk, dest| {
        assert_eq!(chunk[12..16], (chunk.len() as i32).to_le_bytes());
        // SAFETY: the header states the length of the chunk, `dest.len()` is that of the destination.
        unsafe { (library.blosc1_decompress)(chunk.as_ptr().cast(), dest.as_mut_ptr().cast(), dest.len()) }
    })
}
