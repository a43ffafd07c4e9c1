//! Writes of several chunks, one of which fails: the chunks before it are restored (frame.md 2.13). C-Blosc2 leaves them
//! changed.

use std::cell::Cell;
use std::ffi::c_int;
use std::fs::OpenOptions;
use std::path::Path;
use std::ptr;

use blosc2::abi::blosc2_prefilter_params;

use crate::checks::{ours, preparams};
use crate::schunk_fixtures::{
    assert_chunks, compress_chunk, int32_params, numbered_data, schunk_state, schunk_with_chunks,
};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::child::{in_new_process, test_name};
use crate::support::has_atomic_changes;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::system::FileExt;

/// Number of items of a chunk of [`numbered_data`].
const CHUNK_ITEMS: i64 = 1000;

/// Destroys the header of the last chunk, so that the chunk cannot be decompressed.
fn destroy_last_chunk(schunk: &SuperChunk, store: Store, path: &Path) {
    let last = *schunk.offsets().expect("the offsets").last().expect("a chunk");
    let (file, at) = match store {
        Store::Directory => (path.join(format!("{last:08X}.chunk")), 0),
        _ => (path.to_owned(), header_len(path) + last as u64),
    };
    let file = OpenOptions::new().write(true).open(file).expect("the file");
    file.write_all_at(&[0xFF; 16], at).expect("written");
}

/// Returns the length of the header of a frame, in bytes (frame.md 2.2).
fn header_len(path: &Path) -> u64 {
    let bytes = std::fs::read(path).expect("a frame");
    u64::from(u32::from_be_bytes(bytes[11..15].try_into().expect("4 bytes")))
}

/// A slice that ends inside a damaged chunk fails there. The chunks before it have their old contents.
fn check_slice_into_damaged_chunk(store: Store, params: &Params, chunks: &[Vec<u8>]) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let schunk = SuperChunk::create(ours(), store, &path, params);
    for chunk in chunks {
        schunk.append(chunk).expect("appended");
    }
    drop(schunk);
    let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
    destroy_last_chunk(&schunk, store, &path);
    let before = schunk_state(&schunk);
    let items: i64 = chunks.iter().map(|chunk| chunk.len() as i64 / 4).sum();
    // The new chunks have other lengths than the old ones.
    let new: Vec<u8> = (0..4 * (items - 1)).map(|i| (i >> 14) as u8).collect();
    assert!(schunk.set_slice(0, items - 1, &new) < 0, "{store:?}: a slice into a damaged chunk");
    let whole = chunks.len() - 1;
    let libraries = [Some(ours()), Library::reference()];
    let again = libraries
        .into_iter()
        .flatten()
        .map(|library| SuperChunk::open(library, &path).unwrap_or_else(|| panic!("{} opens", library.name)));
    for schunk in std::iter::once(schunk).chain(again) {
        if !has_atomic_changes() {
            assert_eq!(schunk_state(&schunk), before, "{store:?}, {}", schunk.library.name);
        }
        for (nchunk, chunk) in chunks[..whole].iter().enumerate() {
            let found = schunk.decompress(nchunk as i64);
            assert!(found.as_ref() == Ok(chunk), "{store:?}, {}: chunk {nchunk}", schunk.library.name);
        }
    }
}

#[test]
fn frame_2_13_a_slice_that_fails_in_its_last_chunk_changes_nothing() {
    let chunks: Vec<_> = (0..7).map(numbered_data).collect();
    for store in Store::ON_DISK {
        check_slice_into_damaged_chunk(store, &int32_params(), &chunks);
    }
}

/// As above, with more overwritten bytes than are kept in memory.
#[test]
fn frame_2_13_a_slice_over_chunks_of_70_mib_that_fails_changes_nothing() {
    let mut random = Random::new(24);
    let chunk: Vec<u8> = (0..10 << 20).map(|_| random.next() as u8).collect();
    let chunks: Vec<_> = (0..8).map(|number| chunk.iter().map(|byte| byte ^ number).collect()).collect();
    let stored = Params { clevel: 0, ..int32_params() };
    for store in Store::ON_DISK {
        check_slice_into_damaged_chunk(store, &stored, &chunks);
    }
}

thread_local! {
    /// Number of calls of [`failing_prefilter`] on this thread.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// The super-chunk to which another thread appends a chunk during the second call; NULL for none.
    static APPENDS_TO: Cell<*mut SuperChunk> = const { Cell::new(ptr::null_mut()) };
}

/// Copies two blocks, and fails at the third one.
unsafe extern "C" fn failing_prefilter(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes valid parameters, with buffers of `output_size` bytes.
    unsafe {
        let params = &*params;
        ptr::copy_nonoverlapping(params.input, params.output, params.output_size as usize);
    }
    CALLS.set(CALLS.get() + 1);
    let schunk = APPENDS_TO.get();
    if CALLS.get() == 2 && !schunk.is_null() {
        let chunk = compress_chunk(&numbered_data(9));
        let address = schunk as usize;
        let appended = std::thread::spawn(move || {
            // SAFETY: the test waits for this call, and the super-chunk lives longer; its functions may be called by
            // several threads.
            unsafe { &*(address as *const SuperChunk) }.append_chunk(&chunk)
        });
        assert!(appended.join().expect("a thread").is_ok(), "appended by another thread");
    }
    if CALLS.get() == 3 { -1 } else { 0 }
}

/// Writes a slice over four chunks of one block each; the prefilter fails at the third one.
fn write_with_failing_prefilter(schunk: &SuperChunk) {
    let mut preparams = preparams();
    let mut cparams = Params { blocksize: 4 * CHUNK_ITEMS as i32, ..int32_params() }.cparams();
    cparams.prefilter = Some(failing_prefilter);
    cparams.preparams = &mut preparams;
    cparams.schunk = schunk.raw().cast();
    // SAFETY: a live super-chunk that no other thread uses; its old context is freed once, and the parameters are copied.
    unsafe {
        let cctx = (schunk.library.blosc2_create_cctx)(cparams);
        assert!(!cctx.is_null());
        (schunk.library.blosc2_free_ctx)((*schunk.raw()).cctx);
        (*schunk.raw()).cctx = cctx;
    }
    CALLS.set(0);
    let new: Vec<u8> = (5..9).flat_map(numbered_data).collect();
    assert!(schunk.set_slice(0, 4 * CHUNK_ITEMS, &new) < 0, "a failing prefilter");
    assert_eq!(CALLS.get(), 3);
}

#[test]
fn frame_2_13_a_slice_whose_prefilter_fails_changes_nothing() {
    let chunks: Vec<_> = (0..5).map(numbered_data).collect();
    for store in Store::ON_DISK {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(store, &path, chunks.len() as i32);
        write_with_failing_prefilter(&schunk);
        assert_chunks(&schunk, store, &path, &chunks);
        schunk.append(&numbered_data(7)).expect("appended afterwards");
        assert_eq!(schunk.decompress(5), Ok(numbered_data(7)));
    }
}

/// The chunk that another thread has appended meanwhile is kept, so the slice is not undone.
#[test]
fn frame_2_13_a_failed_slice_keeps_the_changes_of_other_threads() {
    if has_atomic_changes() {
        // The other thread would wait for the end of the slice.
        return;
    }
    for store in Store::ON_DISK {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let mut schunk = schunk_with_chunks(store, &path, 5);
        APPENDS_TO.set(&mut schunk);
        write_with_failing_prefilter(&schunk);
        APPENDS_TO.set(ptr::null_mut());
        assert_eq!(schunk.nchunks(), 6, "{store:?}");
        assert_eq!(schunk.decompress(5), Ok(numbered_data(9)), "{store:?}");
        let found: Vec<_> = (0..2).map(|nchunk| schunk.decompress(nchunk)).collect();
        assert_eq!(found, [Ok(numbered_data(5)), Ok(numbered_data(6))], "{store:?}");
        assert_eq!(schunk.decompress(2), Ok(numbered_data(2)), "{store:?}");
    }
}

/// A failed change of the shape, which changes a metalayer before the chunks, restores them.
#[cfg(unix)]
#[test]
fn frame_2_13_a_failed_append_to_an_array_changes_nothing() {
    if has_atomic_changes() {
        return;
    }
    in_new_process(test_name!(), || {
        let mut random = Random::new(7);
        let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| random.next() as u8).collect() };
        let (items, more) = (noise(4 * 300), noise(4 * 500));
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let spec = ArraySpec::new(&[300], &[100], &[50], 4).with_store(Store::File, &path);
        drop(spec.create_from_buffer(ours(), &items));
        let original = std::fs::read(&path).expect("a frame");
        let mut failures = 0;
        for limit in (0..original.len() + 2000).step_by(29) {
            std::fs::write(&path, &original).expect("a file");
            let (rc, array) = Array::open(ours(), &path);
            assert_eq!(rc, 0);
            let array = array.expect("an array");
            let rc = crate::support::files::with_file_size_limit(limit as u64, || array.append(&more, 0));
            if rc < 0 {
                failures += 1;
                let found = std::fs::read(&path).expect("a file");
                assert!(found == original, "limit {limit}");
                assert_eq!(array.to_cbuffer(), Ok(items.clone()), "limit {limit}");
            }
        }
        assert!(failures > 50, "{failures} failures");
    });
}
