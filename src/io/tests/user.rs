use super::*;
use crate::abi::{CBool, blosc2_io_cb};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;
use std::sync::Mutex;

/// The parameters of a back-end of the tests: its bytes in memory, and its behaviour.
#[derive(Default)]
struct MemoryStore {
    bytes: Mutex<Vec<u8>>,
    log: Mutex<Vec<String>>,
    /// Added to the results of reads and writes.
    result_offset: i64,
    missing: bool,
    open_fails: bool,
    fails: bool,
}

impl MemoryStore {
    fn log(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

/// # Safety
/// `stream` is a [`MemoryStore`].
unsafe fn store_of_handle<'a>(stream: *mut c_void) -> &'a MemoryStore {
    // SAFETY: by the contract `stream` is a `MemoryStore`.
    unsafe { &*stream.cast::<MemoryStore>() }
}

unsafe extern "C" fn open(path: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void {
    // SAFETY: `params` is a `MemoryStore`, as the tests resolve it; the strings are valid by the contract of the
    // callback.
    let (store, path, mode) =
        unsafe { (store_of_handle(params), CStr::from_ptr(path), CStr::from_ptr(mode)) };
    store.log(format!("open {} {}", path.to_str().unwrap(), mode.to_str().unwrap()));
    if store.missing {
        errno::set_not_found();
    }
    if store.missing || store.open_fails { null_mut() } else { params }
}

unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    store.log("close".into());
    -c_int::from(store.fails)
}

unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    if store.fails { -1 } else { store.bytes.lock().unwrap().len() as i64 }
}

unsafe extern "C" fn write(ptr: *const c_void, size: i64, nitems: i64, at: i64, stream: *mut c_void) -> i64 {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    store.log(format!("write {size}x{nitems} at {at}{}", if ptr.is_null() { " NULL" } else { "" }));
    let (len, at) = ((size * nitems) as usize, at as usize);
    if len == 0 {
        return 0;
    }
    let mut bytes = store.bytes.lock().unwrap();
    let end = bytes.len().max(at + len);
    bytes.resize(end, 0);
    // SAFETY: a source of that length.
    bytes[at..at + len].copy_from_slice(unsafe { std::slice::from_raw_parts(ptr.cast(), len) });
    nitems + store.result_offset
}

unsafe extern "C" fn read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    at: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    assert_eq!(size, 1);
    let bytes = store.bytes.lock().unwrap();
    let there = bytes.get(at as usize..).unwrap_or_default();
    let got = there.len().min(nitems as usize);
    // SAFETY: a destination of that length.
    unsafe { (*ptr).cast::<u8>().copy_from_nonoverlapping(there.as_ptr(), got) };
    got as i64 + store.result_offset
}

/// The callback `read` of the zero-copy back-end: sets `ptr` to memory of the store, or leaves it unset.
unsafe extern "C" fn read_zero_copy(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    at: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    assert_eq!(size, 1);
    let bytes = store.bytes.lock().unwrap();
    let there = bytes.get(at as usize..).unwrap_or_default();
    if !store.fails {
        // SAFETY: a place for a pointer.
        unsafe { *ptr = there.as_ptr().cast_mut().cast() };
    }
    there.len().min(nitems as usize) as i64 + store.result_offset
}

unsafe extern "C" fn truncate(stream: *mut c_void, len: i64) -> c_int {
    // SAFETY: `stream` is the handle that `open` returned.
    let store = unsafe { store_of_handle(stream) };
    store.log(format!("truncate {len}"));
    store.bytes.lock().unwrap().resize(len as usize, 0);
    -c_int::from(store.fails)
}

unsafe extern "C" fn destroy(params: *mut c_void) -> c_int {
    // SAFETY: `params` is a `MemoryStore`, as the tests resolve it.
    let store = unsafe { store_of_handle(params) };
    store.log("destroy".into());
    if store.fails { -5 } else { 3 }
}

const CALLBACKS: blosc2_io_cb = blosc2_io_cb {
    id: 0,
    name: c"test".as_ptr().cast_mut(),
    is_allocation_necessary: CBool::TRUE,
    open: Some(open),
    close: Some(close),
    size: Some(size),
    write: Some(write),
    read: Some(read),
    truncate: Some(truncate),
    destroy: Some(destroy),
};

/// Returns the back-end of these callbacks on `store`; the callbacks are registered at the first use.
fn backend(callbacks: blosc2_io_cb, store: &MemoryStore) -> Backend {
    // SAFETY: the callbacks obey their contracts; in every test the store outlives the back-end and its streams.
    unsafe {
        backend_registry::register(&callbacks, Some(c"test")).unwrap();
        resolve(callbacks.id, std::ptr::from_ref(store).cast_mut().cast()).unwrap()
    }
}

fn copying_backend(store: &MemoryStore) -> Backend {
    backend(blosc2_io_cb { id: 160, ..CALLBACKS }, store)
}

fn zero_copy_backend(store: &MemoryStore) -> Backend {
    let callbacks =
        blosc2_io_cb { id: 161, is_allocation_necessary: CBool(0), read: Some(read_zero_copy), ..CALLBACKS };
    backend(callbacks, store)
}

#[test]
fn callbacks_receive_the_documented_arguments() {
    let store = MemoryStore::default();
    let backend = copying_backend(&store);
    assert!(!backend.is_native() && !backend.is_zero_copy() && !backend.needs_locking());
    assert_eq!(backend.id(), 160);
    for mode in [OpenMode::Read, OpenMode::Update, OpenMode::Create, OpenMode::Append] {
        drop(backend.open(c"a/b", mode).unwrap());
    }
    let opens = ["rb", "rb+", "wb", "ab"].iter().flat_map(|m| [format!("open a/b {m}"), "close".into()]);
    assert_eq!(store.take_log(), opens.collect::<Vec<_>>());
    let stream = backend.open(c"a", OpenMode::Update).unwrap();
    stream.write_at(0, b"header", WriteUnit::Item).unwrap();
    stream.write_at(6, b"payload", WriteUnit::Bytes).unwrap();
    stream.write_at(6, b"", WriteUnit::Item).unwrap();
    stream.write_at(6, b"", WriteUnit::Bytes).unwrap();
    stream.write_vectored_at(13, &[b"in", b"dex"]).unwrap();
    stream.truncate(17).unwrap();
    assert_eq!(stream.size().unwrap(), 17);
    assert_eq!(error_code(stream.write_at(1 << 63, b"x", WriteUnit::Bytes)), -12);
    let mut bytes = [0; 20];
    assert_eq!(stream.read_at(0, &mut bytes).unwrap(), 17);
    assert_eq!(bytes[..17], *b"headerpayloadinde");
    assert_eq!(error_code(stream.read_exact_at(0, &mut bytes)), -13);
    assert!(stream.borrow_at(0, 1).unwrap().is_none());
    drop(stream);
    backend.destroy().unwrap();
    backend.clone().destroy().unwrap();
    let calls = [
        "open a rb+",
        "write 6x1 at 0",
        "write 1x7 at 6",
        "write 0x1 at 6 NULL",
        "write 1x0 at 6",
        "write 1x2 at 13",
        "write 1x3 at 15",
        "truncate 17",
        "close",
        "destroy",
    ];
    assert_eq!(store.take_log(), calls);
    assert_eq!(error_code(backend.open(c"a", OpenMode::Read)), -15);
    assert_eq!(store.take_log(), [""; 0]);
}

#[test]
fn zero_copy_reads_can_be_copied_or_borrowed() {
    let mut store = MemoryStore { bytes: Mutex::new(b"0123456789".into()), ..MemoryStore::default() };
    {
        let backend = zero_copy_backend(&store);
        assert!(backend.is_zero_copy());
        let stream = backend.open(c"a", OpenMode::Read).unwrap();
        assert_eq!(*stream.borrow_at(3, 4).unwrap().unwrap(), *b"3456");
        assert!(stream.borrow_at(10, 0).unwrap().unwrap().is_empty());
        assert_eq!(error_code(stream.borrow_at(8, 3)), -13);
        let mut bytes = [0; 4];
        assert_eq!(stream.read_at(8, &mut bytes).unwrap(), 2);
        assert_eq!(&bytes, b"89\0\0");
        stream.read_exact_at(1, &mut bytes).unwrap();
        assert_eq!(&bytes, b"1234");
    }
    store.fails = true;
    let stream = zero_copy_backend(&store).open(c"a", OpenMode::Read).unwrap();
    assert_eq!(error_code(stream.borrow_at(3, 4)), -13, "no pointer");
    assert_eq!(error_code(stream.read_exact_at(3, &mut [0; 4])), -13);
}

#[test]
fn invalid_callback_results_are_errors() {
    for surplus in [1, -1, -100, i64::from(i32::MAX)] {
        let store =
            MemoryStore { bytes: Mutex::new(vec![1; 10]), result_offset: surplus, ..MemoryStore::default() };
        let stream = copying_backend(&store).open(c"a", OpenMode::Update).unwrap();
        assert_eq!(error_code(stream.read_exact_at(0, &mut [0; 10])), -13);
        for unit in [WriteUnit::Item, WriteUnit::Bytes] {
            assert_eq!(error_code(stream.write_at(0, b"ab", unit)), -14);
        }
        if surplus > 0 {
            let zero_copy = zero_copy_backend(&store).open(c"a", OpenMode::Update).unwrap();
            assert_eq!(error_code(zero_copy.borrow_at(0, 10)), -13);
        }
    }
    let store = MemoryStore { fails: true, ..MemoryStore::default() };
    let backend = copying_backend(&store);
    let stream = backend.open(c"a", OpenMode::Update).unwrap();
    assert_eq!(error_code(stream.size()), -13);
    assert_eq!(error_code(stream.truncate(1)), -25);
    assert_eq!(error_code(backend.destroy()), -30);
    assert_eq!(error_code(backend.destroy()), 0, "once only");
}

#[test]
fn removing_truncates_the_file_to_zero() {
    let store = MemoryStore { bytes: Mutex::new(vec![1; 10]), ..MemoryStore::default() };
    copying_backend(&store).remove(c"a/1.chunk").unwrap();
    assert_eq!(store.take_log(), ["open a/1.chunk wb", "truncate 0", "close"]);
    let missing = MemoryStore { missing: true, ..MemoryStore::default() };
    assert_eq!(error_code(copying_backend(&missing).remove(c"a")), 0);
    let open_fails = MemoryStore { open_fails: true, ..MemoryStore::default() };
    assert_eq!(error_code(copying_backend(&open_fails).remove(c"a")), -15);
    let fails = MemoryStore { fails: true, ..MemoryStore::default() };
    assert_eq!(error_code(copying_backend(&fails).remove(c"a")), -25);
    assert_eq!(fails.take_log(), ["open a wb", "truncate 0", "close"]);
    let no_truncate = blosc2_io_cb { id: 162, truncate: None, ..CALLBACKS };
    assert_eq!(error_code(backend(no_truncate, &store).remove(c"a")), 0);
    assert_eq!(error_code(backend(no_truncate, &fails).remove(c"a")), -31);
    assert_eq!(fails.take_log(), ["open a wb", "close"]);
}

#[test]
fn missing_callbacks_are_errors() {
    let store = MemoryStore::default();
    let none = blosc2_io_cb {
        close: None,
        size: None,
        write: None,
        read: None,
        truncate: None,
        destroy: None,
        ..CALLBACKS
    };
    let opens = backend(blosc2_io_cb { id: 163, ..none }, &store);
    let stream = opens.open(c"a", OpenMode::Update).unwrap();
    assert_eq!(error_code(stream.size()), -13);
    assert_eq!(error_code(stream.read_exact_at(0, &mut [0; 1])), -13);
    assert_eq!(error_code(stream.write_at(0, b"a", WriteUnit::Bytes)), -14);
    assert_eq!(error_code(stream.truncate(0)), -25);
    drop(stream);
    assert_eq!(error_code(opens.destroy()), 0);
    let nothing = backend(blosc2_io_cb { id: 164, open: None, ..none }, &store);
    assert_eq!(error_code(nothing.open(c"a", OpenMode::Read)), -15);
    assert_eq!(error_code(nothing.remove(c"a")), -15);
}

#[test]
fn cached_reader_opens_user_backend_files_for_every_read() {
    let store = MemoryStore { bytes: Mutex::new(b"0123".into()), ..MemoryStore::default() };
    let reader = CachedReader::new(copying_backend(&store));
    for _ in 0..2 {
        reader.open(c"a").unwrap().read_exact_at(0, &mut [0; 4]).unwrap();
    }
    assert!(!reader.revalidate(None));
    assert_eq!(store.take_log(), ["open a rb", "close", "open a rb", "close"]);
}
