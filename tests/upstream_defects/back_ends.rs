//! The functions of the I/O back-ends in cases where the reference crashes or corrupts data (frame.md 9, abi.md 14).

use std::ffi::{CStr, c_void};
use std::fs;
use std::ptr::{null, null_mut};

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, blosc2_stdio_file, blosc2_stdio_mmap};

use crate::checks::ours;
use crate::support::child::{in_new_process, test_name};
use crate::support::files::TempDir;
use crate::support::library::Library;
use crate::support::user_back_ends::without_functions;

/// A mapped file of one of the libraries.
struct MappedFile {
    library: &'static Library,
    params: Box<blosc2_stdio_mmap>,
}

impl MappedFile {
    fn open(dir: &TempDir, mode: &'static CStr, initial: usize) -> MappedFile {
        let params = Box::new(blosc2_stdio_mmap {
            mode: mode.as_ptr(),
            initial_mapping_size: initial,
            ..BLOSC2_STDIO_MMAP_DEFAULTS
        });
        let mut mapped = MappedFile { library: ours(), params };
        let (path, stream) = (dir.c_path("file"), mapped.stream());
        // SAFETY: a string and a struct.
        assert_eq!(unsafe { (mapped.library.blosc2_stdio_mmap_open)(path.as_ptr(), null(), stream) }, stream);
        mapped
    }

    fn stream(&mut self) -> *mut c_void {
        (&raw mut *self.params).cast()
    }

    fn write(&mut self, bytes: &[u8], position: i64) -> i64 {
        let (ptr, len) = (bytes.as_ptr().cast(), bytes.len() as i64);
        // SAFETY: a source with its length, and a struct with a mapping.
        unsafe { (self.library.blosc2_stdio_mmap_write)(ptr, 1, len, position, self.stream()) }
    }

    fn truncate(&mut self, len: i64) -> i32 {
        // SAFETY: a struct with a mapping.
        unsafe { (self.library.blosc2_stdio_mmap_truncate)(self.stream(), len) }
    }

    fn bytes(&mut self) -> Vec<u8> {
        // SAFETY: a struct with a mapping.
        let len = unsafe { (self.library.blosc2_stdio_mmap_size)(self.stream()) };
        let mut ptr = null_mut();
        // SAFETY: as above, and an out-pointer.
        assert_eq!(unsafe { (self.library.blosc2_stdio_mmap_read)(&mut ptr, 1, len, 0, self.stream()) }, len);
        // SAFETY: `len` bytes are mapped there.
        unsafe { std::slice::from_raw_parts(ptr.cast(), len as usize) }.to_vec()
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: a struct with a mapping; the struct itself is not freed.
        unsafe { (self.library.blosc2_stdio_mmap_destroy)(self.stream()) };
    }
}

/// The reference increases `file_size`, or writes to read-only pages.
#[test]
fn read_only_mapping_rejects_writes() {
    in_new_process(test_name!(), || {
        let dir = TempDir::new();
        fs::write(dir.join("file"), "0123456789").unwrap();
        let mut mapped = MappedFile::open(&dir, c"r", 1 << 20);
        for position in [0, 5, 10, 4096, 1 << 20] {
            assert_eq!(mapped.write(b"ab", position), 0);
            assert_eq!(mapped.params.file_size, 10);
        }
        for len in [0, 9, 11, 1 << 21] {
            assert_eq!(mapped.truncate(len), -1);
            assert_eq!(mapped.params.file_size, 10);
        }
        assert_eq!(mapped.bytes(), b"0123456789");
        drop(mapped);
        assert_eq!(fs::read(dir.join("file")).unwrap(), b"0123456789");
    });
}

/// The reference faults behind the last page of the file.
#[test]
fn a_private_mapping_grows_beyond_the_file() {
    in_new_process(test_name!(), || {
        for initial in [1, 1 << 20] {
            let dir = TempDir::new();
            fs::write(dir.join("file"), "0123456789").unwrap();
            let mut mapped = MappedFile::open(&dir, c"c", initial);
            assert_eq!(mapped.write(&[7; 100_000], 5), 100_000);
            assert_eq!(mapped.write(&[8; 100_000], 100_005), 100_000);
            assert_eq!(mapped.write(b"9", 300_000), 1);
            let mut expected = b"01234".to_vec();
            expected.extend([7; 100_000]);
            expected.extend([8; 100_000]);
            expected.resize(300_000, 0);
            expected.push(b'9');
            assert!(mapped.bytes() == expected);
            drop(mapped);
            assert_eq!(fs::read(dir.join("file")).unwrap(), b"0123456789");
        }
    });
}

/// The reference does not extend the mapping, and reads past its end.
#[test]
fn extending_a_mapped_file_extends_the_mapping() {
    in_new_process(test_name!(), || {
        for mode in [c"r+", c"c"] {
            let dir = TempDir::new();
            fs::write(dir.join("file"), "0123456789").unwrap();
            let mut mapped = MappedFile::open(&dir, mode, 1);
            assert_eq!(mapped.truncate(1 << 20), 0);
            assert!(mapped.params.mapping_size >= 1 << 20);
            let bytes = mapped.bytes();
            assert_eq!(bytes[..10], *b"0123456789");
            assert!(bytes.len() == 1 << 20 && bytes[10..].iter().all(|&byte| byte == 0));
        }
    });
}

/// In the reference the source becomes invalid when the mapping moves.
#[test]
fn a_mapped_file_is_appended_to_itself() {
    in_new_process(test_name!(), || {
        for mode in [c"r+", c"c"] {
            let dir = TempDir::new();
            let mut expected: Vec<u8> = (0..5000).map(|i| i as u8).collect();
            fs::write(dir.join("file"), &expected).unwrap();
            let mut mapped = MappedFile::open(&dir, mode, 1);
            for _ in 0..10 {
                let (ptr, len) = (mapped.params.addr, mapped.params.file_size as i64);
                // SAFETY: a source within the mapping, which the function supports.
                let written =
                    unsafe { (ours().blosc2_stdio_mmap_write)(ptr.cast(), 1, len, len, mapped.stream()) };
                assert_eq!(written, len);
                expected.extend_from_within(..);
                assert!(mapped.bytes() == expected);
            }
        }
    });
}

/// The reference dereferences NULL.
#[test]
fn null_streams_return_errors() {
    in_new_process(test_name!(), || {
        let library = ours();
        let mut byte = 7u8;
        let mut no_file = blosc2_stdio_file { file: null_mut() };
        let no_file: *mut c_void = (&raw mut no_file).cast();
        // SAFETY: streams that are NULL or have no file; otherwise a buffer of one byte.
        unsafe {
            let byte: *mut c_void = (&raw mut byte).cast();
            for stream in [null_mut(), no_file] {
                let mut ptr = byte;
                assert_eq!((library.blosc2_stdio_read)(&mut ptr, 1, 1, 0, stream), 0);
                assert_eq!(ptr, byte);
                assert_eq!((library.blosc2_stdio_write)(byte, 1, 1, 0, stream), 0);
                assert_eq!((library.blosc2_stdio_size)(stream), -1);
                assert_eq!((library.blosc2_stdio_truncate)(stream, 0), -1);
                assert_eq!((library.blosc2_stdio_close)(stream), -1);
            }
            let mut ptr = byte;
            assert_eq!((library.blosc2_stdio_mmap_read)(&mut ptr, 1, 1, 0, null_mut()), 0);
            assert!(ptr.is_null());
            assert_eq!((library.blosc2_stdio_mmap_write)(byte, 1, 1, 0, null_mut()), 0);
            assert_eq!((library.blosc2_stdio_mmap_size)(null_mut()), -1);
            assert_eq!((library.blosc2_stdio_mmap_truncate)(null_mut(), 0), -1);
        }
    });
}

/// The reference has no registered back-end before its first use.
#[test]
fn built_in_back_ends_are_registered_before_init() {
    in_new_process(test_name!(), || {
        let library = Library::ours_uninitialised();
        // SAFETY: any id may be passed; returned entries are initialised.
        unsafe {
            for (id, name, allocates) in [(0, c"filesystem", true), (1, c"filesystem_mmap", false)] {
                let io = (library.blosc2_get_io_cb)(id).as_ref().expect("an entry");
                assert_eq!((io.id, CStr::from_ptr(io.name)), (id, name));
                assert_eq!(io.is_allocation_necessary.get(), allocates);
            }
        }
    });
}

/// The reference keeps the caller's pointer to the name.
#[test]
fn the_name_of_a_back_end_is_copied() {
    in_new_process(test_name!(), || {
        let mut name = *b"mine\0";
        let io = without_functions(200, name.as_mut_ptr().cast());
        // SAFETY: a struct with a name; its functions are not called.
        unsafe {
            assert_eq!((ours().blosc2_register_io_cb)(&io), 0);
            name.copy_from_slice(b"gone\0");
            assert_eq!(CStr::from_ptr((*(ours().blosc2_get_io_cb)(200)).name), c"mine");
            assert_eq!((ours().blosc2_register_io_cb)(&io), -30);
        }
    });
}
