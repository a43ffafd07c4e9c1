use super::*;
use crate::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_stdio_mmap};
use std::ffi::CStr;
use std::fs;
use std::ptr::null_mut;
use std::thread;

/// Returns a mapping back-end and a pointer to its parameters, which the test may read.
fn mmap_backend(mode: &'static CStr, initial: usize) -> (Backend, *mut blosc2_stdio_mmap) {
    // SAFETY: memory of that size, which the library frees.
    unsafe {
        let params: *mut blosc2_stdio_mmap = libc::malloc(size_of::<blosc2_stdio_mmap>()).cast();
        params.write(blosc2_stdio_mmap {
            mode: mode.as_ptr(),
            initial_mapping_size: initial,
            needs_free: CBool::TRUE,
            ..BLOSC2_STDIO_MMAP_DEFAULTS
        });
        (resolve(1, params.cast()).unwrap(), params)
    }
}

#[test]
fn mapped_bytes_can_be_borrowed_until_destroy() {
    let dir = TempDir::new();
    let (backend, params) = mmap_backend(c"w+", 1);
    assert!(backend.is_zero_copy() && !backend.is_native() && !backend.needs_locking());
    assert_eq!(backend.id(), 1);
    let stream = backend.open(&dir.c_path("file"), OpenMode::Read).unwrap();
    for i in 0..100u64 {
        stream.write_vectored_at(i * 1000, &[&[i as u8; 600], b"", &[i as u8; 400]]).unwrap();
        assert_eq!(stream.size().unwrap(), (i + 1) * 1000);
        assert_eq!(fs::metadata(dir.join("file")).unwrap().len(), (i + 1) * 1000);
    }
    thread::scope(|scope| {
        for first in 0..4u64 {
            let stream = &stream;
            scope.spawn(move || {
                for i in (first..100).chain(0..first) {
                    assert_eq!(*stream.borrow_at(i * 1000, 1000).unwrap().unwrap(), [i as u8; 1000]);
                    let mut bytes = [0; 1000];
                    stream.read_exact_at(i * 1000, &mut bytes).unwrap();
                    assert_eq!(bytes, [i as u8; 1000]);
                }
            });
        }
    });
    let mut bytes = [7; 20];
    assert_eq!(stream.read_at(99_990, &mut bytes).unwrap(), 10);
    assert_eq!(bytes[9..11], [99, 7]);
    assert_eq!(stream.read_at(200_000, &mut bytes).unwrap(), 0);
    assert_eq!(error_code(stream.borrow_at(99_990, 11)), -13);
    assert_eq!(error_code(stream.borrow_at(u64::MAX, 11)), -13);
    assert!(stream.borrow_at(100_000, 0).unwrap().unwrap().is_empty());
    assert_eq!(error_code(backend.open(&dir.c_path("other"), OpenMode::Create)), -15);
    // SAFETY: the parameters are valid until they are destroyed.
    assert!(unsafe { (*params).mapping_size } >= 100_000);
    let clone = backend.clone();
    clone.destroy().unwrap();
    // The struct is freed: the calls below must not access it.
    assert_eq!(error_code(backend.destroy()), 0);
    assert_eq!(error_code(stream.read_exact_at(0, &mut bytes)), -13);
    assert_eq!(error_code(stream.size()), -13);
    assert_eq!(error_code(stream.borrow_at(0, 1)), -13);
    assert_eq!(error_code(stream.write_at(0, b"x", WriteUnit::Bytes)), -14);
    assert_eq!(error_code(stream.truncate(0)), -25);
    assert_eq!(error_code(backend.open(&dir.c_path("file"), OpenMode::Read)), -15);
}

/// Memory behind the mapping does not belong to it, even if the file grows beyond its address.
#[test]
#[cfg(target_os = "linux")]
fn write_from_memory_behind_the_mapping_copies_it_unchanged() {
    const PAGE: usize = 4096;
    for mode in [c"w+", c"c"] {
        let dir = TempDir::new();
        fs::write(dir.join("file"), "").unwrap();
        let (backend, params) = mmap_backend(mode, 1);
        let stream = backend.open(&dir.c_path("file"), OpenMode::Update).unwrap();
        // SAFETY: the parameters are valid until they are destroyed.
        let addr = unsafe { (*params).addr };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let (distance, source) = (0..20)
            .map(|shift| {
                let distance = (16 * PAGE) << shift;
                let at = addr.wrapping_add(distance).cast();
                // SAFETY: new memory, mapped only where no mapping exists.
                let got = unsafe { libc::mmap(at, PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
                (distance, got)
            })
            .find(|&(_, got)| got != libc::MAP_FAILED)
            .expect("free memory behind the mapping");
        // SAFETY: a page that was just mapped.
        let source = unsafe { std::slice::from_raw_parts_mut(source.cast::<u8>(), PAGE) };
        source.fill(7);
        stream.write_at(distance as u64, source, WriteUnit::Bytes).unwrap();
        assert!(*stream.borrow_at(distance as u64, PAGE).unwrap().unwrap() == *source);
        // SAFETY: that page, which is not used any more.
        unsafe { libc::munmap(source.as_mut_ptr().cast(), PAGE) };
        backend.destroy().unwrap();
    }
}

#[test]
fn mapping_without_parameters_cannot_open_a_file() {
    let dir = TempDir::new();
    // SAFETY: NULL is allowed.
    let backend = unsafe { resolve(1, null_mut()) }.unwrap();
    assert_eq!(error_code(backend.open(&dir.c_path("file"), OpenMode::Create)), -15);
    // As for other back-ends, there is nothing to destroy.
    assert_eq!(error_code(backend.destroy()), 0);
    let (never_opened, _) = mmap_backend(c"r", 1);
    assert_eq!(error_code(never_opened.destroy()), -1);
    assert_eq!(error_code(never_opened.destroy()), 0);
}

#[test]
fn remove_deletes_the_file_without_a_mapping() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "0").unwrap();
    // SAFETY: NULL is allowed.
    let backend = unsafe { resolve(1, null_mut()) }.unwrap();
    backend.remove(&dir.c_path("file")).unwrap();
    assert!(!dir.join("file").exists());
}

/// A write waits until no thread borrows bytes of the mapping, which the write may move.
#[test]
fn writes_wait_for_borrowed_bytes() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), b"0123456789").unwrap();
    let (backend, _) = mmap_backend(c"r+", 1);
    let stream = backend.open(&dir.c_path("file"), OpenMode::Update).unwrap();
    let is_written = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let borrowed = stream.borrow_at(2, 5).unwrap().unwrap();
        scope.spawn(|| {
            stream.write_at(1 << 20, &[7; 100], WriteUnit::Bytes).unwrap();
            is_written.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        // A thread that waits to write does not block readers.
        assert_eq!(stream.size().unwrap(), 10);
        assert!(!is_written.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(*borrowed, *b"23456");
        drop(borrowed);
    });
    assert!(is_written.load(std::sync::atomic::Ordering::Relaxed));
    assert_eq!(stream.size().unwrap(), (1 << 20) + 100);
    assert_eq!(*stream.borrow_at(2, 5).unwrap().unwrap(), *b"23456");
    backend.destroy().unwrap();
}
