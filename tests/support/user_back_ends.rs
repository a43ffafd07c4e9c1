//! Two user-defined I/O back-ends over plain files (frame.md 5.2): the `read` of one fills the caller's buffer, that
//! of the other returns a pointer to its own memory. Both count the calls that open, close and destroy.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use blosc2::abi::{CBool, blosc2_io, blosc2_io_cb};

use super::library::Library;
use super::system::FileExt;

/// Id of the back-end that fills the caller's buffer.
pub const FILLING_BACK_END: u8 = 160;
/// Id of the back-end that returns pointers.
pub const POINTING_BACK_END: u8 = 161;

/// The `params` of a `blosc2_io` of these back-ends: counters, and the memory to which pointers were returned.
#[derive(Default)]
pub struct Counters {
    pub opens: AtomicI64,
    pub closes: AtomicI64,
    pub destroys: AtomicI64,
    /// The result of `size`, unless it is 0.
    pub stated_size: AtomicI64,
    returned_buffers: Mutex<Vec<Vec<u8>>>,
}

struct Stream {
    file: File,
    counters: *const Counters,
}

/// Returns a back-end that has no functions.
pub fn without_functions(id: u8, name: *mut c_char) -> blosc2_io_cb {
    blosc2_io_cb {
        id,
        name,
        is_allocation_necessary: CBool::TRUE,
        open: None,
        close: None,
        size: None,
        write: None,
        read: None,
        truncate: None,
        destroy: None,
    }
}

/// Registers both back-ends with a library; a repeated call has no effect (frame.md 5.1).
pub fn register(library: &Library) {
    let fills = blosc2_io_cb {
        id: FILLING_BACK_END,
        name: c"test_fills".as_ptr().cast_mut(),
        is_allocation_necessary: CBool::TRUE,
        open: Some(open),
        close: Some(close),
        size: Some(size),
        write: Some(write),
        read: Some(read_filling),
        truncate: Some(truncate),
        destroy: Some(destroy),
    };
    let points = blosc2_io_cb {
        id: POINTING_BACK_END,
        name: c"test_points".as_ptr().cast_mut(),
        is_allocation_necessary: CBool::FALSE,
        read: Some(read_pointing),
        ..fills
    };
    for back_end in [fills, points] {
        // SAFETY: a valid struct whose strings and functions live as long as the process.
        let rc = unsafe { (library.blosc2_register_io_cb)(&back_end) };
        assert_eq!(rc, 0, "{}: registering back-end {}", library.name, back_end.id);
    }
}

/// A `blosc2_io` of back-end `id`; `counters` must outlive every super-chunk that uses it.
pub fn io(id: u8, counters: &Counters) -> blosc2_io {
    blosc2_io { id, name: c"test".as_ptr(), params: ptr::from_ref(counters).cast_mut().cast() }
}

unsafe extern "C" fn open(path: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void {
    // SAFETY: the contract of frame.md 5.2: two C strings, and the `params` made by `io` above.
    let (path, mode, counters) =
        unsafe { (CStr::from_ptr(path), CStr::from_ptr(mode), &*params.cast::<Counters>()) };
    let mut options = OpenOptions::new();
    match mode.to_bytes() {
        b"rb" => options.read(true),
        b"rb+" => options.read(true).write(true),
        b"wb" => options.read(true).write(true).create(true).truncate(true),
        b"ab" => options.write(true).create(true),
        other => panic!("mode {other:?}"),
    };
    match options.open(path.to_str().expect("UTF-8")) {
        Ok(file) => {
            counters.opens.fetch_add(1, Relaxed);
            Box::into_raw(Box::new(Stream { file, counters })).cast()
        }
        Err(_) => ptr::null_mut(),
    }
}

unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    // SAFETY: a stream of `open`, closed once.
    let stream = unsafe { Box::from_raw(stream.cast::<Stream>()) };
    // SAFETY: the counters outlive the streams.
    unsafe { &*stream.counters }.closes.fetch_add(1, Relaxed);
    0
}

unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: an open stream of `open`.
    let stream = unsafe { &*stream.cast::<Stream>() };
    // SAFETY: the counters outlive the streams.
    let stated = unsafe { &*stream.counters }.stated_size.load(Relaxed);
    if stated != 0 {
        return stated;
    }
    stream.file.metadata().map_or(-1, |metadata| metadata.len() as i64)
}

unsafe extern "C" fn write(
    data: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    if size * nitems == 0 {
        return nitems;
    }
    // SAFETY: an open stream, and `size * nitems` bytes at `data`.
    let (stream, data) = unsafe {
        (&*stream.cast::<Stream>(), std::slice::from_raw_parts(data.cast::<u8>(), (size * nitems) as usize))
    };
    match stream.file.write_all_at(data, position as u64) {
        Ok(()) => nitems,
        Err(_) => 0,
    }
}

/// Reads at `position` until `dest` is full or the file ends; returns the number of whole items read.
fn read_items(stream: &Stream, dest: &mut [u8], size: i64, position: i64) -> i64 {
    let mut filled = 0;
    while filled < dest.len() {
        match stream.file.read_at(&mut dest[filled..], position as u64 + filled as u64) {
            Ok(0) | Err(_) => break,
            Ok(more) => filled += more,
        }
    }
    filled as i64 / size.max(1)
}

unsafe extern "C" fn read_filling(
    dest: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    if size * nitems == 0 {
        return 0;
    }
    // SAFETY: an open stream, and a buffer of `size * nitems` bytes at `*dest`.
    let (stream, dest) = unsafe {
        (
            &*stream.cast::<Stream>(),
            std::slice::from_raw_parts_mut((*dest).cast::<u8>(), (size * nitems) as usize),
        )
    };
    read_items(stream, dest, size, position)
}

unsafe extern "C" fn read_pointing(
    dest: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: an open stream whose counters outlive it.
    let (stream, counters) = unsafe {
        let stream = &*stream.cast::<Stream>();
        (stream, &*stream.counters)
    };
    let mut bytes = vec![0; (size * nitems) as usize];
    let read = read_items(stream, &mut bytes, size, position);
    let found = if read == nitems { bytes.as_mut_ptr() } else { ptr::null_mut() };
    // SAFETY: a valid out-pointer.
    unsafe { *dest = found.cast() };
    if found.is_null() {
        return 0;
    }
    // Stays valid until the counters are dropped, at the end of the sequence.
    counters.returned_buffers.lock().expect("the list").push(bytes);
    read
}

unsafe extern "C" fn truncate(stream: *mut c_void, size: i64) -> c_int {
    // SAFETY: an open stream of `open`.
    let stream = unsafe { &*stream.cast::<Stream>() };
    if stream.file.set_len(size as u64).is_ok() { 0 } else { -1 }
}

unsafe extern "C" fn destroy(params: *mut c_void) -> c_int {
    // SAFETY: the `params` made by `io` above.
    unsafe { &*params.cast::<Counters>() }.destroys.fetch_add(1, Relaxed);
    0
}
