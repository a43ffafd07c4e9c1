//! The memory that a thread keeps after it has worked on large chunks: at most the limit in `docs/memory.md`, and
//! little once the super-chunks are freed.

use std::ffi::CString;
use std::ptr::null_mut;

use blosc2::abi::{CBool, blosc2_cparams, blosc2_schunk, blosc2_storage};
use blosc2::capi::defaults::{
    blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults,
    blosc2_get_blosc2_storage_defaults,
};
use blosc2::capi::process::{blosc2_free_resources, blosc2_init};
use blosc2::internals::limits::{MAX_PROCESS_IDLE_AFTER_FREE, MAX_THREAD_IDLE, MAX_THREAD_IDLE_AFTER_FREE};

use crate::support::exported::{
    blosc2_schunk_append_buffer, blosc2_schunk_decompress_chunk, blosc2_schunk_free,
    blosc2_schunk_get_sparse_buffer, blosc2_schunk_new,
};

/// Returns the bytes in large blocks of the process from `malloc`, the allocator of chunks, buffers and Rust code.
fn live_bytes() -> isize {
    // SAFETY: no arguments.
    let info = unsafe { libc::mallinfo2() };
    info.hblkhd as isize
}

/// Size of a chunk in bytes: a thread may keep a few buffers for chunks of this size.
const NBYTES: usize = MAX_THREAD_IDLE / 4;

/// Runs `work` in a separate thread, and returns the bytes that are allocated and not freed when `work` has returned.
fn retained_bytes_after(work: impl FnOnce() + Send) -> isize {
    let run = || {
        let before = live_bytes();
        work();
        live_bytes() - before
    };
    std::thread::scope(|scope| scope.spawn(run).join().expect("a thread"))
}

/// Creates a super-chunk in memory, or in a file.
fn create_schunk(cparams: &mut blosc2_cparams, path: Option<&CString>) -> *mut blosc2_schunk {
    let mut dparams = blosc2_get_blosc2_dparams_defaults();
    let mut storage = blosc2_storage {
        cparams,
        dparams: &mut dparams,
        contiguous: CBool::from(path.is_some()),
        urlpath: path.map_or(null_mut(), |path| path.as_ptr().cast_mut()),
        ..blosc2_get_blosc2_storage_defaults()
    };
    // SAFETY: a storage whose pointers are valid during the call, which copies them.
    let schunk = unsafe { blosc2_schunk_new(&mut storage) };
    assert!(!schunk.is_null());
    schunk
}

/// Appends a chunk, reads it, and reads items of it by coordinates.
fn use_chunk(schunk: *mut blosc2_schunk, content: &[u8]) {
    let nbytes = content.len() as i32;
    let mut dest = vec![0u8; content.len()];
    // Items of several blocks, or the first and last items of one.
    let coords = [1, 2, content.len() as i64 - 1];
    // SAFETY: a live super-chunk; buffers with their true lengths; coordinates of existing items.
    unsafe {
        assert_eq!(blosc2_schunk_append_buffer(schunk, content.as_ptr().cast(), nbytes), 1);
        assert_eq!(blosc2_schunk_decompress_chunk(schunk, 0, dest.as_mut_ptr().cast(), nbytes), nbytes);
        assert!(dest == content);
        let mut items = [0u8; 3];
        let count = coords.len() as i64;
        let code = blosc2_schunk_get_sparse_buffer(schunk, count, coords.as_ptr(), items.as_mut_ptr().cast());
        assert_eq!(code, 0);
        assert_eq!(items, [content[1], content[2], content[content.len() - 1]]);
    }
}

#[test]
fn retained_memory_is_within_the_documented_limits() {
    let path = std::env::temp_dir().join(format!("blosc2-test-kept-{}.b2frame", std::process::id()));
    let path = CString::new(path.to_str().expect("a path in UTF-8")).expect("no NUL");
    let mut state = 1u64;
    let noise: Vec<u8> = (0..NBYTES)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let mut text: Vec<u8> = (0..NBYTES).map(|at| (at / 1000 % 251) as u8).collect();
    text[NBYTES / 2..].copy_from_slice(&noise[NBYTES / 2..]);
    let (mut at_work, mut after_free) = (0, 0);
    // Every block above 128 KiB is a separate mapping, so that it is counted whichever thread allocated it.
    // SAFETY: a parameter of glibc.
    assert_eq!(unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10) }, 1);
    blosc2_init();
    let after_release = retained_bytes_after(|| {
        let before = live_bytes();
        let defaults = blosc2_get_blosc2_cparams_defaults();
        let cparams = blosc2_cparams { typesize: 1, compcode: 1, filters: [0; 6], ..defaults };
        // Small blocks, so that buffers for chunks are most of the kept memory; then one block as large as the chunk.
        let mut small = blosc2_cparams { blocksize: 64 << 10, ..cparams };
        let mut large = blosc2_cparams { blocksize: NBYTES as i32, ..cparams };
        let schunks = [create_schunk(&mut small, Some(&path)), create_schunk(&mut large, None)];
        use_chunk(schunks[0], &noise);
        use_chunk(schunks[1], &text);
        at_work = live_bytes() - before;
        for schunk in schunks {
            // SAFETY: a live super-chunk, which is not used afterwards.
            assert_eq!(unsafe { blosc2_schunk_free(schunk) }, 0);
        }
        after_free = live_bytes() - before;
        assert_eq!(blosc2_free_resources(), 0);
    });
    std::fs::remove_file(path.to_str().expect("a path in UTF-8")).expect("a file");
    // Small allocations, and the state of the codec.
    let slack = 4 << 20;
    // Half of the chunk in memory is noise; its only block may be kept decoded.
    assert!(at_work >= (NBYTES / 2 + NBYTES) as isize, "{at_work} bytes: no buffer is kept");
    let chunks = NBYTES / 2 + NBYTES;
    assert!(at_work <= (chunks + MAX_THREAD_IDLE + slack) as isize, "{at_work} bytes at work");
    assert!(
        after_free <= (MAX_PROCESS_IDLE_AFTER_FREE + MAX_THREAD_IDLE_AFTER_FREE + slack) as isize,
        "{after_free} bytes after the free"
    );
    assert!(after_release <= 1 << 20, "{after_release} bytes after the release");
}
