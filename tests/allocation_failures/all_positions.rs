//! Every allocation of a call fails once: the call returns an error or succeeds, and the data are right afterwards.
//!
//! Each position is tried in a forked process, since an allocation that is not fallible aborts it. Allocations of
//! [`MIN_LEN`] bytes or more, and those of the length of paths, never abort: those of the scenarios have that size if it
//! comes from input or parameters, and all allocations from 64 KiB on are included. Smaller ones, of fixed size, may
//! abort, but must not lead to wrong data.

use std::cell::RefCell;
use std::ffi::CStr;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use blosc2::abi::{
    BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD, b2nd_array_t, blosc2_cparams,
    blosc2_dparams, blosc2_schunk, blosc2_storage,
};
use blosc2::capi::defaults::{
    blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults,
    blosc2_get_blosc2_storage_defaults,
};

use crate::injection::{end_failures, fail_in_process};
use crate::support::child::{in_new_process_with, test_name};
use crate::support::exported::{
    b2nd_create_ctx, b2nd_free, b2nd_free_ctx, b2nd_from_cbuffer, b2nd_get_slice_cbuffer, b2nd_open,
    b2nd_resize, b2nd_set_slice_cbuffer, b2nd_to_cbuffer, blosc2_compress_ctx, blosc2_create_cctx,
    blosc2_create_dctx, blosc2_decompress_ctx, blosc2_free_ctx, blosc2_getitem_ctx, blosc2_meta_add,
    blosc2_schunk_append_buffer, blosc2_schunk_copy, blosc2_schunk_decompress_chunk,
    blosc2_schunk_delete_chunk, blosc2_schunk_free, blosc2_schunk_get_slice_buffer, blosc2_schunk_new,
    blosc2_schunk_open, blosc2_schunk_to_buffer, blosc2_vlmeta_add, blosc2_vlmeta_get, blosc2_vlmeta_update,
};
use crate::support::files::{TempDir, c_path};

const MEMORY_ALLOC: i32 = -4;

/// The least length, in bytes, of an allocation that must not abort the process. All structs of fixed size that are
/// allocated without a check are smaller.
const MIN_LEN: usize = 2048;

/// The least length of a path in bytes; no struct of fixed size has a length between this and [`MAX_PATH_LEN`].
const MIN_PATH_LEN: usize = 300;
/// The standard library allocates memory for a path from this length on, and aborts without it.
const MAX_PATH_LEN: usize = 383;

/// Results of a forked process.
const PASSED: i32 = 0;
const NOT_REACHED: i32 = 1;
const FAILED: i32 = 2;

/// Runs `scenario` in a forked process, in which it makes allocations fail. Returns the status of `waitpid`.
fn run_forked(scenario: impl FnOnce() -> bool) -> i32 {
    // SAFETY: this process runs one test, in one thread; the forked one ends with `_exit`.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0, "no process");
        if pid == 0 {
            // A process that hangs is ended by a signal.
            libc::alarm(60);
            let result = catch_unwind(AssertUnwindSafe(scenario));
            end_failures();
            libc::_exit(match result {
                Ok(true) => PASSED,
                Ok(false) => NOT_REACHED,
                Err(_) => FAILED,
            });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
        status
    }
}

/// Discards what this process writes to standard error. Its backtraces would take a tenth of the time.
fn silence_stderr() {
    // SAFETY: a path, descriptors of this process, and a variable that no other thread reads: there is none.
    unsafe {
        libc::dup2(libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY), 2);
        libc::setenv(c"RUST_BACKTRACE".as_ptr(), c"0".as_ptr(), 1);
    }
}

/// Runs `scenario` once for each of its allocations, until one is not reached. `scenario` calls the argument it gets to
/// begin the failures, and returns the result of `end_failures`.
fn check_all_positions(what: &str, scenario: impl Fn(&dyn Fn()) -> bool) {
    for lens in [MIN_LEN..=usize::MAX, MIN_PATH_LEN..=MAX_PATH_LEN, 0..=usize::MAX] {
        for is_persistent in [false, true] {
            let failures = format!("allocations of {lens:?} bytes, persistent: {is_persistent}");
            let mut position = 0;
            loop {
                position += 1;
                assert!(position < 20_000, "{what}: no end");
                let begin = || fail_in_process(position, &lens, is_persistent);
                let may_abort = *lens.start() == 0;
                let status = run_forked(|| {
                    if may_abort {
                        silence_stderr();
                    }
                    scenario(&begin)
                });
                if libc::WIFSIGNALED(status) {
                    let signal = libc::WTERMSIG(status);
                    assert!(
                        signal == libc::SIGABRT && may_abort,
                        "{what}, {failures}: signal {signal} at allocation {position}"
                    );
                    continue;
                }
                match libc::WEXITSTATUS(status) {
                    NOT_REACHED => break,
                    status => assert_eq!(status, PASSED, "{what}, {failures}: allocation {position}"),
                }
            }
            let _ = writeln!(std::io::stderr(), "{what}, {failures}: {position} positions");
            assert!(position > 1 || *lens.end() == MAX_PATH_LEN, "{what}: no allocation");
        }
    }
}

/// Returns a path of at least [`MIN_PATH_LEN`] bytes in `dir`.
fn long_path(dir: &TempDir, name: &str) -> PathBuf {
    dir.join(&format!("{}{name}", "./".repeat((MIN_PATH_LEN - dir.path().as_os_str().len()) / 2)))
}

/// Returns doubles with few digits, as bytes.
fn doubles(len: usize) -> Vec<u8> {
    let value =
        |n: usize| f64::from((n as u32).wrapping_mul(2_654_435_761) >> 12) % 1000.0 / 10.0 + n as f64 / 100.0;
    (0..len / 8).flat_map(|n| value(n).to_le_bytes()).collect()
}

/// Returns bytes without structure.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn cparams(compcode: i32, nthreads: i16) -> blosc2_cparams {
    blosc2_cparams { compcode: compcode as u8, nthreads, typesize: 8, ..blosc2_get_blosc2_cparams_defaults() }
}

fn dparams(nthreads: i16) -> blosc2_dparams {
    blosc2_dparams { nthreads, ..blosc2_get_blosc2_dparams_defaults() }
}

/// Compresses, decompresses and reads items with new contexts. Each call returns its result or the code of an error of
/// memory.
fn compress_and_decompress(
    params: blosc2_cparams,
    data: &[u8],
    valid_chunk: &[u8],
    begin: &dyn Fn(),
) -> bool {
    let mut chunk = vec![0u8; data.len() + 1000];
    let (mut content, mut items) = (vec![0u8; data.len()], [0u8; 80]);
    let len = data.len() as i32;
    begin();
    // SAFETY: buffers with their true lengths; parameters without pointers; each context is freed once.
    let (cbytes, nbytes, item_bytes) = unsafe {
        let cctx = blosc2_create_cctx(params);
        let cbytes = match cctx.is_null() {
            true => MEMORY_ALLOC,
            false => {
                blosc2_compress_ctx(cctx, data.as_ptr().cast(), len, chunk.as_mut_ptr().cast(), len + 1000)
            }
        };
        blosc2_free_ctx(cctx);
        let dctx = blosc2_create_dctx(dparams(params.nthreads));
        let (mut nbytes, mut item_bytes) = (MEMORY_ALLOC, MEMORY_ALLOC);
        if !dctx.is_null() {
            let (src, src_len) = (valid_chunk.as_ptr().cast(), valid_chunk.len() as i32);
            nbytes = blosc2_decompress_ctx(dctx, src, src_len, content.as_mut_ptr().cast(), len);
            item_bytes = blosc2_getitem_ctx(dctx, src, src_len, 777, 10, items.as_mut_ptr().cast(), 80);
        }
        blosc2_free_ctx(dctx);
        (cbytes, nbytes, item_bytes)
    };
    let has_failed = end_failures();
    assert!(cbytes > 0 || cbytes == MEMORY_ALLOC, "compress: {cbytes}");
    assert!(nbytes == len || nbytes == MEMORY_ALLOC, "decompress: {nbytes}");
    assert!(item_bytes == 80 || item_bytes == MEMORY_ALLOC, "getitem: {item_bytes}");
    assert!(has_failed || (cbytes > 0 && nbytes == len && item_bytes == 80));
    if nbytes == len {
        assert!(content == data);
    }
    if item_bytes == 80 {
        assert!(items[..] == data[777 * 8..787 * 8]);
    }
    // The state of the codecs is consistent: later calls work, also with a chunk that was made in between.
    let again = compress(params, data);
    assert!(decompress(&again, data.len()) == data);
    if cbytes > 0 {
        assert!(decompress(&chunk[..cbytes as usize], data.len()) == data);
    }
    has_failed
}

fn compress(params: blosc2_cparams, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0u8; data.len() + 1000];
    // SAFETY: as above.
    let cbytes = unsafe {
        let cctx = blosc2_create_cctx(params);
        let room = chunk.len() as i32;
        let src = data.as_ptr().cast();
        let cbytes = blosc2_compress_ctx(cctx, src, data.len() as i32, chunk.as_mut_ptr().cast(), room);
        blosc2_free_ctx(cctx);
        cbytes
    };
    chunk.truncate(usize::try_from(cbytes).expect("a chunk"));
    chunk
}

fn decompress(chunk: &[u8], len: usize) -> Vec<u8> {
    let mut content = vec![0u8; len];
    // SAFETY: as above.
    let nbytes = unsafe {
        let dctx = blosc2_create_dctx(dparams(1));
        let (src, src_len) = (chunk.as_ptr().cast(), chunk.len() as i32);
        let nbytes = blosc2_decompress_ctx(dctx, src, src_len, content.as_mut_ptr().cast(), len as i32);
        blosc2_free_ctx(dctx);
        nbytes
    };
    assert_eq!(nbytes, len as i32);
    content
}

/// The codec at a low and a high level, with one and with several threads; all tables are new in each process.
fn check_chunks(test: &str, compcode: i32) {
    in_new_process_with(test, &[("BLOSC2_PLUGINS", "off")], || {
        let all_data = doubles(320_000);
        let has_dictionary = [BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZSTD].contains(&compcode);
        for (clevel, use_dict, nthreads) in
            [(1, 0, 4), (9, 0, 1), (5, i32::from(has_dictionary), 1), (5, i32::from(has_dictionary), 4)]
        {
            let params =
                blosc2_cparams { clevel, blocksize: 40_000, use_dict, ..cparams(compcode, nthreads) };
            // Eight blocks, of which a dictionary is made, or one for each thread.
            let data = if use_dict == 0 { &all_data[..160_000] } else { &all_data[..] };
            // A parent without state of codecs: a process of its own compresses.
            let chunk = in_file(|| compress(params, data));
            check_all_positions(
                &format!("codec {compcode}, level {clevel}, dictionary {use_dict}, {nthreads} threads"),
                |begin| compress_and_decompress(params, data, &chunk, begin),
            );
        }
    });
}

#[test]
fn chunks_of_blosclz_without_memory() {
    check_chunks(test_name!(), BLOSC_BLOSCLZ);
}

#[test]
fn chunks_of_lz4_without_memory() {
    check_chunks(test_name!(), BLOSC_LZ4);
}

#[test]
fn chunks_of_lz4hc_without_memory() {
    check_chunks(test_name!(), BLOSC_LZ4HC);
}

#[test]
fn chunks_of_zlib_without_memory() {
    check_chunks(test_name!(), BLOSC_ZLIB);
}

#[test]
fn chunks_of_zstd_without_memory() {
    check_chunks(test_name!(), BLOSC_ZSTD);
}

/// Returns the bytes that `make` returns in a forked process.
fn in_file(make: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let dir = TempDir::new();
    let path = dir.join("bytes");
    let status = run_forked(|| std::fs::write(&path, make()).is_ok());
    assert_eq!(status, 0);
    std::fs::read(&path).expect("the bytes")
}

/// The length of the content of a chunk in bytes.
const CHUNK_NBYTES: usize = 800;

/// A frame with metalayers that are longer than [`MIN_LEN`].
struct FrameFixture {
    data: Vec<u8>,
    note: Vec<u8>,
    nchunks: usize,
    /// The destination of slices: no test allocates while allocations fail.
    slice: RefCell<Vec<u8>>,
}

impl FrameFixture {
    fn new(nchunks: usize) -> FrameFixture {
        FrameFixture {
            data: doubles(CHUNK_NBYTES * (nchunks + 1)),
            note: noise(10_000),
            nchunks,
            slice: RefCell::new(vec![0; CHUNK_NBYTES * (nchunks + 1)]),
        }
    }

    fn chunk(&self, nchunk: usize) -> &[u8] {
        &self.data[CHUNK_NBYTES * nchunk..][..CHUNK_NBYTES]
    }

    fn create(&self, path: &CStr, contiguous: bool) {
        let mut params = cparams(BLOSC_LZ4, 1);
        let mut storage = blosc2_storage {
            contiguous: contiguous.into(),
            urlpath: path.as_ptr().cast_mut(),
            cparams: &raw mut params,
            ..blosc2_get_blosc2_storage_defaults()
        };
        let mut note = self.note.clone();
        // SAFETY: live parameters, and buffers with their true lengths.
        unsafe {
            let schunk = blosc2_schunk_new(&mut storage);
            assert!(!schunk.is_null());
            assert!(blosc2_meta_add(schunk, c"fixed".as_ptr(), note.as_mut_ptr(), note.len() as i32) >= 0);
            for n in 0..self.nchunks {
                assert_eq!(append(schunk, self.chunk(n)), n as i64 + 1);
            }
            let len = note.len() as i32;
            assert!(blosc2_vlmeta_add(schunk, c"note".as_ptr(), note.as_mut_ptr(), len, null_mut()) >= 0);
            assert_eq!(blosc2_schunk_free(schunk), 0);
        }
    }

    /// Reads everything. Returns the first error code, or 0; the content that is read is right.
    fn read(&self, schunk: *mut blosc2_schunk, is_complete: bool) -> i32 {
        let mut code = 0;
        let mut content = [0u8; CHUNK_NBYTES];
        // SAFETY: a live super-chunk, and buffers with their true lengths.
        unsafe {
            for n in 0..(*schunk).nchunks {
                let len = CHUNK_NBYTES as i32;
                let nbytes = blosc2_schunk_decompress_chunk(schunk, n, content.as_mut_ptr().cast(), len);
                if nbytes < 0 {
                    code = nbytes;
                } else {
                    assert!(content[..] == *self.chunk(n as usize), "chunk {n}");
                }
            }
            let (start, stop) = (50i64, (*schunk).nchunks * CHUNK_NBYTES as i64 / 8 - 50);
            let slice = &mut self.slice.borrow_mut()[..(stop - start) as usize * 8];
            let got = blosc2_schunk_get_slice_buffer(schunk, start, stop, slice.as_mut_ptr().cast());
            if got < 0 {
                code = got;
            } else {
                assert!(slice[..] == self.data[start as usize * 8..stop as usize * 8]);
            }
            let (mut note, mut len) = (null_mut(), 0);
            let got = blosc2_vlmeta_get(schunk, c"note".as_ptr(), &mut note, &mut len);
            if got < 0 {
                code = got;
            } else {
                assert!(std::slice::from_raw_parts(note, len as usize) == self.note);
                libc::free(note.cast());
            }
        }
        assert!(!is_complete || code == 0, "{code}");
        code
    }
}

/// Appends a chunk.
///
/// # Safety
/// A live super-chunk.
unsafe fn append(schunk: *mut blosc2_schunk, content: &[u8]) -> i64 {
    // SAFETY: guaranteed by the caller; a buffer with its true length.
    unsafe { blosc2_schunk_append_buffer(schunk, content.as_ptr().cast(), content.len() as i32) }
}

/// Copies a file or a directory of files.
fn copy_files(from: &Path, to: &Path) {
    if from.is_dir() {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir(to).expect("a new directory");
        for entry in std::fs::read_dir(from).expect("a directory") {
            let entry = entry.expect("an entry");
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    } else {
        std::fs::copy(from, to).expect("a copy");
    }
}

/// Opens, reads and changes a frame; what it holds afterwards is the state before or after each change, as the codes of
/// the calls say.
fn change_frame(frame: &FrameFixture, path: &CStr, begin: &dyn Fn()) -> bool {
    let mut note = frame.note.clone();
    begin();
    // SAFETY: live super-chunks and buffers with their true lengths.
    let (appended, codes) = unsafe {
        let schunk = blosc2_schunk_open(path.as_ptr());
        if schunk.is_null() {
            (-1, [MEMORY_ALLOC; 3])
        } else {
            let read = frame.read(schunk, false);
            let appended = append(schunk, frame.chunk(frame.nchunks));
            let len = note.len() as i32;
            let updated = blosc2_vlmeta_update(schunk, c"note".as_ptr(), note.as_mut_ptr(), len, null_mut());
            (appended, [read, updated, blosc2_schunk_free(schunk)])
        }
    };
    let has_failed = end_failures();
    assert!(has_failed || (appended > 0 && codes.iter().all(|&code| code >= 0)), "{appended} {codes:?}");
    assert!(codes.iter().all(|&code| code >= 0 || code == MEMORY_ALLOC), "{codes:?}");
    // SAFETY: as above.
    unsafe {
        let schunk = blosc2_schunk_open(path.as_ptr());
        assert!(!schunk.is_null(), "the frame does not open");
        assert_eq!((*schunk).nchunks as usize, frame.nchunks + usize::from(appended > 0));
        frame.read(schunk, true);
        blosc2_schunk_free(schunk);
    }
    has_failed
}

fn check_frames(name: &str, variables: &[(&str, &str)], nchunks: usize) {
    in_new_process_with(name, variables, || {
        let frame = FrameFixture::new(nchunks);
        let dir = TempDir::new();
        for contiguous in [true, false] {
            let path = long_path(&dir, &format!("original-{contiguous}"));
            assert_eq!(
                run_forked(|| {
                    frame.create(&c_path(&path), contiguous);
                    true
                }),
                0
            );
            let changed = long_path(&dir, &format!("changed-{contiguous}"));
            check_all_positions(
                &format!("{nchunks} chunks, contiguous {contiguous}, {variables:?}"),
                |begin| {
                    copy_files(&path, &changed);
                    change_frame(&frame, &c_path(&changed), begin)
                },
            );
        }
    });
}

#[test]
fn frames_without_memory() {
    check_frames(test_name!(), &[("BLOSC2_PLUGINS", "off")], 6);
}

#[test]
fn frames_with_atomic_changes_and_checksums_without_memory() {
    let variables = [("BLOSC2_DURABILITY", "kill"), ("BLOSC2_CHECKSUMS", "on"), ("BLOSC2_PLUGINS", "off")];
    check_frames(test_name!(), &variables, 6);
}

/// The lists of free ranges of a frame with atomic changes.
#[test]
fn frames_with_many_free_ranges_without_memory() {
    let variables = [("BLOSC2_DURABILITY", "kill"), ("BLOSC2_PLUGINS", "off")];
    in_new_process_with(test_name!(), &variables, || {
        let frame = FrameFixture::new(300);
        let dir = TempDir::new();
        let (path, changed) = (dir.join("original"), dir.join("changed"));
        let create = || {
            frame.create(&c_path(&path), true);
            true
        };
        assert_eq!(run_forked(create), 0);
        check_all_positions("free ranges", |begin| {
            copy_files(&path, &changed);
            // SAFETY: live super-chunks, and buffers with their true lengths.
            unsafe {
                let schunk = blosc2_schunk_open(c_path(&changed).as_ptr());
                // Every other chunk leaves a free range.
                (1..=140).for_each(|n| assert_eq!(blosc2_schunk_delete_chunk(schunk, n), 300 - n));
                begin();
                let deleted = blosc2_schunk_delete_chunk(schunk, 141);
                let appended = append(schunk, frame.chunk(300));
                assert!([deleted, appended].iter().all(|&code| code > 0 || code == MEMORY_ALLOC.into()));
                let has_failed = end_failures();
                blosc2_schunk_free(schunk);
                let schunk = blosc2_schunk_open(c_path(&changed).as_ptr());
                let mut expected: Vec<usize> = (0..300).filter(|n| n % 2 == 0 || *n > 280).collect();
                if deleted > 0 {
                    expected.remove(141);
                }
                expected.extend((appended > 0).then_some(300));
                assert_eq!((*schunk).nchunks as usize, expected.len());
                let mut content = [0u8; CHUNK_NBYTES];
                for (n, original) in (0..).zip(expected) {
                    let (dest, len) = (content.as_mut_ptr().cast(), CHUNK_NBYTES as i32);
                    assert_eq!(blosc2_schunk_decompress_chunk(schunk, n, dest, len), len);
                    assert!(content[..] == *frame.chunk(original), "chunk {n}");
                }
                blosc2_schunk_free(schunk);
                has_failed
            }
        });
    });
}

/// The bytes of a frame in memory, and copies of a super-chunk.
#[test]
fn copies_without_memory() {
    in_new_process_with(test_name!(), &[("BLOSC2_PLUGINS", "off")], || {
        let frame = FrameFixture::new(6);
        let dir = TempDir::new();
        let path = dir.c_path("frame");
        assert_eq!(
            run_forked(|| {
                frame.create(&path, true);
                true
            }),
            0
        );
        check_all_positions("copies", |begin| {
            let mut storage =
                blosc2_storage { contiguous: true.into(), ..blosc2_get_blosc2_storage_defaults() };
            // SAFETY: live super-chunks; the bytes of the frame are freed if they belong to the caller.
            unsafe {
                let schunk = blosc2_schunk_open(path.as_ptr());
                begin();
                let copy = blosc2_schunk_copy(schunk, &mut storage);
                let (mut bytes, mut needs_free) = (null_mut(), false);
                let len = blosc2_schunk_to_buffer(schunk, &mut bytes, &mut needs_free);
                let has_failed = end_failures();
                assert!(has_failed || (!copy.is_null() && len > 0));
                if !copy.is_null() {
                    assert_eq!((*copy).nchunks as usize, frame.nchunks);
                    frame.read(copy, true);
                    blosc2_schunk_free(copy);
                }
                if len > 0 && needs_free {
                    libc::free(bytes.cast());
                }
                frame.read(schunk, true);
                blosc2_schunk_free(schunk);
                has_failed
            }
        });
    });
}

const SHAPE: [i64; 2] = [100, 100];

/// Creates an array in a file from `items`.
fn create_array(path: &CStr, items: &[u8]) {
    let mut params = cparams(BLOSC_LZ4, 1);
    let storage = blosc2_storage {
        contiguous: true.into(),
        urlpath: path.as_ptr().cast_mut(),
        cparams: &raw mut params,
        ..blosc2_get_blosc2_storage_defaults()
    };
    let mut array: *mut b2nd_array_t = null_mut();
    let (chunks, blocks) = ([30i32, 30], [10i32, 10]);
    // SAFETY: lists with one number per dimension; live parameters; a buffer with its true length.
    unsafe {
        let (shape, chunks, blocks) = (SHAPE.as_ptr(), chunks.as_ptr(), blocks.as_ptr());
        let ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, c"<f8".as_ptr(), 0, null(), 0);
        assert_eq!(b2nd_from_cbuffer(ctx, &mut array, items.as_ptr().cast(), items.len() as i64), 0);
        assert_eq!(b2nd_free(array), 0);
        assert_eq!(b2nd_free_ctx(ctx), 0);
    }
}

/// Opens an array, reads and writes a slice, and makes the array larger: after an error of a call, the array is as
/// before that call.
fn change_array(items: &[u8], path: &CStr, begin: &dyn Fn()) -> bool {
    let (start, stop, extents) = ([3i64, 5], [90i64, 77], [87i64, 72]);
    let larger = [130i64, 120];
    let mut slice = vec![0u8; 87 * 72 * 8];
    let len = slice.len() as i64;
    let mut array: *mut b2nd_array_t = null_mut();
    begin();
    // SAFETY: lists with one number per dimension, and buffers with their true lengths.
    let codes = unsafe {
        match b2nd_open(path.as_ptr(), &mut array) {
            0 => {
                let (start, stop, extents) = (start.as_ptr(), stop.as_ptr(), extents.as_ptr());
                let dest = slice.as_mut_ptr().cast();
                let read = b2nd_get_slice_cbuffer(array, start, stop, dest, extents, len);
                let written = b2nd_set_slice_cbuffer(items.as_ptr().cast(), extents, len, start, stop, array);
                let resized = b2nd_resize(array, larger.as_ptr(), null());
                [read, written, resized, b2nd_free(array)]
            }
            code => [code; 4],
        }
    };
    let has_failed = end_failures();
    assert!(has_failed || codes == [0; 4], "{codes:?}");
    assert!(codes.iter().all(|code| [0, MEMORY_ALLOC].contains(code)), "{codes:?}");
    let item = |at: usize| &items[8 * at..8 * at + 8];
    let at = |row: usize, column: usize| row * SHAPE[1] as usize + column;
    if codes[0] == 0 {
        let found = |n: usize| slice[8 * n..8 * n + 8] == *item(at(3 + n / 72, 5 + n % 72));
        assert!((0..87 * 72).all(found));
    }
    // SAFETY: as above.
    unsafe {
        let mut array: *mut b2nd_array_t = null_mut();
        assert_eq!(b2nd_open(path.as_ptr(), &mut array), 0, "the array does not open: {codes:?}");
        let shape = (*array).shape;
        assert_eq!(shape[..2], if codes[2] == 0 { larger } else { SHAPE });
        let mut all = vec![0u8; (shape[0] * shape[1] * 8) as usize];
        assert_eq!(b2nd_to_cbuffer(array, all.as_mut_ptr().cast(), all.len() as i64), 0);
        for row in 0..100 {
            for column in 0..100 {
                let is_new = codes[1] == 0 && (3..90).contains(&row) && (5..77).contains(&column);
                let expected = if is_new { item((row - 3) * 72 + column - 5) } else { item(at(row, column)) };
                let place = 8 * (row * shape[1] as usize + column);
                assert!(all[place..place + 8] == *expected, "item {row}, {column}; {codes:?}");
            }
        }
        b2nd_free(array);
    }
    has_failed
}

fn check_arrays(name: &str, variables: &[(&str, &str)]) {
    in_new_process_with(name, variables, || {
        let items = doubles(80_000);
        let dir = TempDir::new();
        let (path, changed) = (long_path(&dir, "original"), long_path(&dir, "changed"));
        assert_eq!(
            run_forked(|| {
                create_array(&c_path(&path), &items);
                true
            }),
            0
        );
        check_all_positions(&format!("array, {variables:?}"), |begin| {
            copy_files(&path, &changed);
            change_array(&items, &c_path(&changed), begin)
        });
    });
}

#[test]
fn arrays_without_memory() {
    check_arrays(test_name!(), &[("BLOSC2_PLUGINS", "off")]);
}

#[test]
fn arrays_with_atomic_changes_and_checksums_without_memory() {
    let variables = [("BLOSC2_DURABILITY", "kill"), ("BLOSC2_CHECKSUMS", "on"), ("BLOSC2_PLUGINS", "off")];
    check_arrays(test_name!(), &variables);
}
