//! The functions as a dependent of the crate `blosc-src` calls them.

use blosc_src::*;

#[test]
fn a_chunk_is_compressed_and_restored() {
    let content: Vec<u8> = (0..40_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let mut chunk = vec![0u8; content.len() + BLOSC_MAX_OVERHEAD as usize];
    for name in [BLOSC_BLOSCLZ_COMPNAME.as_ptr(), BLOSC_LZ4_COMPNAME.as_ptr(), BLOSC_ZSTD_COMPNAME.as_ptr()] {
        // SAFETY: the buffers have the stated lengths, the name ends with a NUL byte.
        let cbytes = unsafe {
            blosc_compress_ctx(
                5,
                BLOSC_SHUFFLE as i32,
                4,
                content.len(),
                content.as_ptr().cast(),
                chunk.as_mut_ptr().cast(),
                chunk.len(),
                name.cast(),
                0,
                1,
            )
        };
        assert!(cbytes > 0 && (cbytes as usize) < content.len() / 10);
        let mut restored = vec![0u8; content.len()];
        // SAFETY: the chunk is whole, `restored` has the length of its content.
        let nbytes = unsafe {
            blosc_decompress_ctx(chunk.as_ptr().cast(), restored.as_mut_ptr().cast(), restored.len(), 1)
        };
        assert_eq!(nbytes as usize, content.len());
        assert_eq!(restored, content);
    }
}

#[test]
fn constants_have_the_values_of_the_header() {
    assert_eq!(BLOSC_MAX_OVERHEAD, 16);
    assert_eq!(BLOSC_MAX_THREADS, 256);
    assert_eq!(BLOSC_LZ4HC_COMPNAME, b"lz4hc\0");
    assert_eq!(BLOSC_VERSION_STRING, b"1.21.6\0");
    assert_eq!(BLOSC_MEMCPYED, 2);
    assert_eq!(BLOSC_MAX_BUFFERSIZE, 0x7fff_ffef);
}
