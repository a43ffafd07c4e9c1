//! Chunks with dictionaries when memory runs out.

use blosc2::abi::{BLOSC_LZ4, BLOSC_LZ4HC, BLOSC2_CHUNK_BLOSC2_FLAGS, BLOSC2_USEDICT, blosc2_cparams};
use blosc2::capi::defaults::{blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults};

use crate::injection::without_memory;
use crate::support::exported::{
    blosc2_compress_ctx, blosc2_create_cctx, blosc2_create_dctx, blosc2_free_ctx, blosc2_getitem_ctx,
};

const LEN: usize = 400_000;

/// Returns records that share their words, from which a dictionary can be trained.
fn records() -> Vec<u8> {
    let record = |at: usize| format!("station {:04} temperature {:05};", at % 97, at * 7919 % 40_000);
    (0..).flat_map(|at| record(at).into_bytes()).take(LEN).collect()
}

/// Compresses `src` with a dictionary.
fn compress(compcode: i32, src: &[u8]) -> Vec<u8> {
    let cparams = blosc2_cparams {
        compcode: compcode as u8,
        use_dict: 1,
        blocksize: 8192,
        typesize: 1,
        ..blosc2_get_blosc2_cparams_defaults()
    };
    let mut chunk = vec![0; src.len()];
    let (src, len) = (src.as_ptr().cast(), src.len() as i32);
    let (dest, room) = (chunk.as_mut_ptr().cast(), chunk.len() as i32);
    // SAFETY: a struct without pointers; buffers with their true lengths; the context is freed once.
    let cbytes = unsafe {
        let context = blosc2_create_cctx(cparams);
        let cbytes = blosc2_compress_ctx(context, src, len, dest, room);
        blosc2_free_ctx(context);
        cbytes
    };
    chunk.truncate(usize::try_from(cbytes).expect("a chunk"));
    assert!(
        chunk[BLOSC2_CHUNK_BLOSC2_FLAGS as usize] & BLOSC2_USEDICT as u8 != 0,
        "a chunk with a dictionary"
    );
    chunk
}

/// Decodes items 20,000 to 20,100 with a new context; `run` runs the call. Returns what `run` returns. (Decompressing a
/// whole chunk takes memory for debug assertions, which abort without it.)
fn getitem<R>(chunk: &[u8], dest: &mut [u8; 100], run: impl FnOnce(&dyn Fn() -> i32) -> R) -> R {
    let (chunk, len, dest) = (chunk.as_ptr().cast(), chunk.len() as i32, dest.as_mut_ptr().cast());
    // SAFETY: as above.
    let context = unsafe { blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults()) };
    // SAFETY: as above.
    let result = run(&|| unsafe { blosc2_getitem_ctx(context, chunk, len, 20_000, 100, dest, 100) });
    // SAFETY: as above.
    unsafe { blosc2_free_ctx(context) };
    result
}

#[test]
fn reading_items_with_a_dictionary_returns_an_error_without_memory() {
    let src = records();
    for compcode in [BLOSC_LZ4, BLOSC_LZ4HC] {
        let chunk = compress(compcode, &src);
        let mut dest = [0; 100];
        // The first call allocates what the thread keeps.
        assert_eq!(getitem(&chunk, &mut dest, |call| call()), 100);
        let mut errors = 0;
        for succeeding in 0..100 {
            dest.fill(0);
            let (code, failed) = getitem(&chunk, &mut dest, |call| without_memory(succeeding, call));
            if failed == 0 {
                break;
            }
            errors += usize::from(code < 0);
            assert!(code < 0 || dest[..] == src[20_000..20_100], "{code} after {succeeding} allocations");
        }
        assert!(errors > 0, "the dictionary takes memory");
        assert_eq!(getitem(&chunk, &mut dest, |call| call()), 100);
        assert!(dest[..] == src[20_000..20_100]);
    }
}
