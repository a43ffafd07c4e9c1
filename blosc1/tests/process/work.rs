//! Compressions and decompressions with the settings of the process, which are checked.

use crate::support::{Library, Random};

/// A content of several blocks.
pub fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    (0..len as u32 / 4).flat_map(|number| (number * 3 + (random.next() % 4) as u32).to_le_bytes()).collect()
}

/// Compresses with `blosc_compress`, level 5, byte shuffle, items of 4 bytes. Returns the chunk, or the code.
pub fn compress(library: &Library, content: &[u8]) -> Result<Vec<u8>, i32> {
    let mut chunk = vec![0_u8; content.len() + 16];
    // SAFETY: buffers of these lengths.
    let rc = unsafe {
        let (src, dest) = (content.as_ptr().cast(), chunk.as_mut_ptr().cast());
        (library.blosc_compress)(5, 1, 4, content.len(), src, dest, content.len() + 16)
    };
    chunk.truncate(usize::try_from(rc).map_err(|_| rc)?);
    Ok(chunk)
}

/// Decompresses with `blosc_decompress` into `len` bytes. Returns the content, or the code.
pub fn decompress(library: &Library, chunk: &[u8], len: usize) -> Result<Vec<u8>, i32> {
    let mut content = vec![0_u8; len];
    // SAFETY: a chunk, and a buffer of that length.
    let rc = unsafe { (library.blosc_decompress)(chunk.as_ptr().cast(), content.as_mut_ptr().cast(), len) };
    content.truncate(usize::try_from(rc).map_err(|_| rc)?);
    Ok(content)
}

/// Returns whether a compression with the settings of the process gives a chunk that decompresses to the same content.
pub fn round_trip_works(library: &Library, content: &[u8]) -> bool {
    let chunk = compress(library, content);
    chunk.is_ok_and(|chunk| decompress(library, &chunk, content.len()).as_deref() == Ok(content))
}
