//! A user-defined I/O back-end: every opened stream is closed, and the parameters are released once, also after
//! errors (frame.md 5.2 and 10.16, abi.md 14).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

use blosc2::abi::{CBool, blosc2_io, blosc2_io_cb};

use crate::checks::ours;
use crate::schunk_fixtures::{assert_handle, int32_bytes, int32_params, numbered_data};
use crate::support::child::{in_new_process, test_name};
use crate::support::library::Library;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};
use crate::support::system::{FileExt, set_errno};

static OPENED: AtomicI32 = AtomicI32::new(0);
static CLOSED: AtomicI32 = AtomicI32::new(0);
static DESTROYED: AtomicI32 = AtomicI32::new(0);
/// Number of the following writes that fail.
static FAILING_WRITES: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn open(path: *const c_char, mode: *const c_char, _: *mut c_void) -> *mut c_void {
    // SAFETY: the library passes terminated strings.
    let (path, mode) = unsafe { (CStr::from_ptr(path), CStr::from_ptr(mode)) };
    let path = Path::new(path.to_str().expect("UTF-8"));
    let file = match mode.to_bytes() {
        b"rb" => File::open(path),
        b"rb+" => OpenOptions::new().read(true).write(true).open(path),
        b"wb" => OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path),
        b"ab" => OpenOptions::new().create(true).append(true).open(path),
        other => panic!("mode {other:?}"),
    };
    match file {
        Ok(file) => {
            OPENED.fetch_add(1, SeqCst);
            Box::into_raw(Box::new(file)).cast()
        }
        Err(error) => {
            set_errno(error.raw_os_error().unwrap_or(libc::EIO));
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    CLOSED.fetch_add(1, SeqCst);
    // SAFETY: a stream from `open`, closed once.
    drop(unsafe { Box::from_raw(stream.cast::<File>()) });
    0
}

/// Returns the file of a stream.
unsafe fn file<'a>(stream: *mut c_void) -> &'a File {
    // SAFETY: a stream from `open` that is not closed yet.
    unsafe { &*stream.cast::<File>() }
}

unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: an open stream.
    unsafe { file(stream) }.metadata().map_or(-1, |metadata| metadata.len() as i64)
}

unsafe extern "C" fn write(
    at: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    if FAILING_WRITES.load(SeqCst) > 0 {
        FAILING_WRITES.fetch_sub(1, SeqCst);
        return 0;
    }
    if size * nitems == 0 {
        return nitems;
    }
    // SAFETY: `size * nitems` readable bytes, and an open stream.
    let (bytes, file) =
        unsafe { (std::slice::from_raw_parts(at.cast::<u8>(), (size * nitems) as usize), file(stream)) };
    if file.write_all_at(bytes, position as u64).is_ok() { nitems } else { 0 }
}

unsafe extern "C" fn read(
    at: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: a buffer of `size * nitems` bytes, and an open stream.
    let (bytes, file) = unsafe {
        (std::slice::from_raw_parts_mut((*at).cast::<u8>(), (size * nitems) as usize), file(stream))
    };
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], position as u64 + done as u64) {
            Ok(count @ 1..) => done += count,
            _ => break,
        }
    }
    done as i64 / size.max(1)
}

unsafe extern "C" fn truncate(stream: *mut c_void, size: i64) -> c_int {
    // SAFETY: an open stream.
    if unsafe { file(stream) }.set_len(size as u64).is_ok() { 0 } else { -1 }
}

unsafe extern "C" fn destroy(_: *mut c_void) -> c_int {
    DESTROYED.fetch_add(1, SeqCst);
    0
}

/// Registers the back-end under the id `id`.
fn register(library: &Library, id: u8, with_destroy: bool) -> blosc2_io {
    let backend = blosc2_io_cb {
        id,
        name: c"counting".as_ptr().cast_mut(),
        is_allocation_necessary: CBool::TRUE,
        open: Some(open),
        close: Some(close),
        size: Some(size),
        write: Some(write),
        read: Some(read),
        truncate: Some(truncate),
        destroy: if with_destroy { Some(destroy) } else { None },
    };
    // SAFETY: a valid struct, which is copied; its name is static.
    assert_eq!(unsafe { (Functions::of(library).blosc2_register_io_cb)(&backend) }, 0);
    blosc2_io { id, name: c"counting".as_ptr(), params: ptr::null_mut() }
}

fn open_with_backend(path: &Path, io: &blosc2_io) -> Option<SuperChunk> {
    let path = c_path(path);
    // SAFETY: a terminated path and a valid back-end.
    let raw = unsafe { (Functions::of(ours()).blosc2_schunk_open_udio)(path.as_ptr(), io) };
    SuperChunk::from_raw(ours(), raw)
}

#[track_caller]
fn assert_balanced(what: &str) {
    assert_eq!(OPENED.load(SeqCst), CLOSED.load(SeqCst), "{what}: streams opened and closed");
}

#[test]
fn frame_10_16_streams_are_closed_and_parameters_released() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let io = register(ours(), 200, true);
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let before = DESTROYED.load(SeqCst);
            let schunk = SuperChunk::try_create(ours(), store, &path, &int32_params(), Some(&io))
                .expect("a super-chunk");
            assert_eq!(schunk.meta_add("m", b"content"), 0, "{store:?}");
            for number in 0..5 {
                assert!(schunk.append(&numbered_data(number)).is_ok(), "{store:?}");
            }
            assert_eq!(schunk.append(&[0; 4000]), Ok(6), "{store:?}");
            assert_eq!(schunk.delete_chunk(1), Ok(5), "{store:?}");
            assert_eq!(schunk.vlmeta_add("v", b"content"), 0, "{store:?}");
            let model =
                [numbered_data(0), numbered_data(2), numbered_data(3), numbered_data(4), vec![0; 4000]];
            assert_handle(&schunk, "the handle", &model);
            assert_eq!(
                schunk.get_slice(1500, 1502, 8),
                Ok(numbered_data(2)[2000..2008].to_vec()),
                "{store:?}"
            );
            assert_balanced("the handle");
            assert_eq!(schunk.free(), 0, "{store:?}");
            assert_eq!(DESTROYED.load(SeqCst), before + 1, "{store:?}");
            let again = open_with_backend(&path, &io).expect("a super-chunk");
            assert_handle(&again, "reopened", &model);
            drop(again);
            assert_eq!(DESTROYED.load(SeqCst), before + 2, "{store:?}");
            // A frame that cannot be opened: its parameters are released, too.
            let main = if store == Store::File { path.clone() } else { path.join("chunks.b2frame") };
            let good = std::fs::read(&main).expect("a frame");
            for len in [0, 50, 100, good.len() - 1] {
                std::fs::write(&main, &good[..len]).expect("a frame");
                assert!(open_with_backend(&path, &io).is_none(), "{store:?}: {len} bytes");
                assert_balanced("a rejected frame");
            }
            assert_eq!(DESTROYED.load(SeqCst), before + 6, "{store:?}");
        }
    });
}

/// After failed writes the counters are unchanged, no stream is leaked, and the frame can still be used.
#[test]
fn frame_9_failing_backend_writes_change_nothing() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let io = register(ours(), 200, true);
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let schunk = SuperChunk::try_create(ours(), store, &path, &int32_params(), Some(&io))
                .expect("a super-chunk");
            for number in 0..3 {
                assert!(schunk.append(&numbered_data(number)).is_ok(), "{store:?}");
            }
            let before = crate::schunk_fixtures::schunk_state(&schunk);
            // The first write of each call fails, before the frame is changed.
            let calls: [&dyn Fn() -> bool; 4] = [
                &|| schunk.append(&numbered_data(5)).is_err(),
                &|| {
                    schunk
                        .insert_chunk(1, &crate::schunk_fixtures::compress_chunk(&numbered_data(5)))
                        .is_err()
                },
                &|| {
                    schunk
                        .update_chunk(1, &crate::schunk_fixtures::compress_chunk(&numbered_data(5)))
                        .is_err()
                },
                &|| schunk.append(&int32_bytes(0..7)).is_err(),
            ];
            for (number, call) in calls.iter().enumerate() {
                FAILING_WRITES.store(1, SeqCst);
                let failed = call();
                FAILING_WRITES.store(0, SeqCst);
                assert!(failed, "{store:?}: call {number}");
                assert_eq!(crate::schunk_fixtures::schunk_state(&schunk), before, "{store:?}: call {number}");
                assert_balanced("a failed write");
            }
            assert_eq!(schunk.append(&numbered_data(3)), Ok(4), "{store:?}");
            assert_eq!(schunk.decompress(3), Ok(numbered_data(3)), "{store:?}");
        }
    });
}

#[test]
fn abi_14_backend_without_destroy_works() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let io = register(ours(), 201, false);
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let schunk = SuperChunk::try_create(ours(), store, &path, &int32_params(), Some(&io))
                .expect("a super-chunk");
            assert_eq!(schunk.append(&numbered_data(0)), Ok(1), "{store:?}");
            assert_eq!(schunk.free(), 0, "{store:?}");
            assert!(open_with_backend(&scratch.new_path(), &io).is_none(), "{store:?}");
        }
    });
}

/// A super-chunk that is freed after `blosc2_destroy()` releases its parameters.
#[test]
fn abi_14_schunk_freed_after_destroy_releases_its_parameters() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let io = register(ours(), 200, true);
        let path = scratch.new_path();
        let schunk = SuperChunk::try_create(ours(), Store::File, &path, &int32_params(), Some(&io))
            .expect("a super-chunk");
        assert_eq!(schunk.append(&numbered_data(0)), Ok(1));
        // SAFETY: no call is in progress.
        unsafe { (ours().blosc2_destroy)() };
        assert_eq!(schunk.free(), 0);
        assert_eq!(DESTROYED.load(SeqCst), 1);
    });
}

/// Frames work without `blosc2_init()`, also after `blosc2_destroy()`.
#[test]
fn abi_9_frames_work_without_init() {
    in_new_process(test_name!(), || {
        let library: &'static Library =
            if ours().is_reference() { ours() } else { Box::leak(Box::new(Library::ours_uninitialised())) };
        let scratch = ScratchDir::new();
        for _ in 0..2 {
            // SAFETY: no call is in progress.
            unsafe { (library.blosc2_destroy)() };
            for store in Store::ALL {
                let path = scratch.new_path();
                let schunk = SuperChunk::create(library, store, &path, &int32_params());
                assert_eq!(schunk.append(&numbered_data(0)), Ok(1), "{store:?}");
                if store.is_on_disk() {
                    assert!(SuperChunk::open(library, &path).is_some(), "{store:?}");
                }
            }
        }
    });
}
