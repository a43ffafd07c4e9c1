//! The functions of the I/O back-ends, called as a plug-in would call them, and their registry (abi.md 2.8, 2.10,
//! 9.5, frame.md 5): the same steps with both libraries give the same results and the same files.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Debug;
use std::fs;
use std::ptr::{null, null_mut};

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_io_cb, blosc2_stdio_file, blosc2_stdio_mmap};

use crate::support::files::TempDir;
use crate::support::library::Library;
use crate::support::user_back_ends::without_functions;

/// A library, its directory, and a record of its results.
struct CallLog<'a> {
    library: &'a Library,
    dir: TempDir,
    log: Vec<String>,
}

impl CallLog<'_> {
    fn record(&mut self, what: impl Debug, result: impl Debug) {
        self.log.push(format!("{what:?}: {result:?}"));
    }
}

fn compare_call_logs(scenario: impl Fn(&mut CallLog)) {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let [mine, theirs] = [ours, reference].map(|library| {
        let mut call_log = CallLog { library, dir: TempDir::new(), log: Vec::new() };
        scenario(&mut call_log);
        call_log.log.extend(call_log.dir.listing());
        call_log.log
    });
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert_eq!(mine, theirs, "ours (left) and the reference (right)");
    }
    assert_eq!(mine.len(), theirs.len());
}

/// Sizes, numbers and positions, many of them invalid.
const NUMBERS: [i64; 12] = [0, 1, 2, 3, 5, 10, 11, -1, -2, i64::MAX, i64::MIN, (1 << 62) + 1];

#[test]
fn plain_file_functions_agree_with_the_reference() {
    compare_call_logs(|call_log| {
        let library = call_log.library;
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        fs::create_dir(call_log.dir.join("directory")).unwrap();
        let open = |name: &CStr, mode: &CStr| {
            // SAFETY: two strings.
            unsafe { (library.blosc2_stdio_open)(name.as_ptr(), mode.as_ptr(), null_mut()) }
        };
        let path = call_log.dir.c_path("file");
        for (path, mode) in [(null(), c"rb".as_ptr()), (path.as_ptr(), null()), (null(), null())] {
            // SAFETY: NULL is allowed.
            let stream = unsafe { (library.blosc2_stdio_open)(path, mode, null_mut()) };
            call_log.record("open with NULL", stream.is_null());
        }
        for (name, mode) in
            [("missing", c"rb"), ("missing", c"rb+"), ("file", c"x?"), ("directory", c"wb"), ("a/b", c"wb")]
        {
            call_log.record((name, mode), open(&call_log.dir.c_path(name), mode).is_null());
        }
        for (name, mode) in [
            ("file", c"rb"),
            ("file", c"rb+"),
            ("file", c"ab"),
            ("file", c"wb"),
            ("created", c"wb"),
            ("appended", c"ab"),
            ("directory", c"rb"),
        ] {
            let stream = open(&call_log.dir.c_path(name), mode);
            assert!(!stream.is_null(), "{name} {mode:?}");
            // SAFETY: a stream of the library, whose first field is its file.
            let file = unsafe { (*stream.cast::<blosc2_stdio_file>()).file };
            if name != "directory" {
                // SAFETY: an open file.
                call_log.record("seek", unsafe { libc::fseek(file, 3, libc::SEEK_SET) });
                // SAFETY: an open stream.
                call_log.record((name, mode, "size"), unsafe { (library.blosc2_stdio_size)(stream) });
            }
            for (size, nitems, position) in io_arguments() {
                let what = (name, mode, size, nitems, position);
                let mut buffer = [b'.'; 128];
                let mut ptr: *mut c_void = buffer.as_mut_ptr().cast();
                let before = ptr;
                // SAFETY: an open stream; a valid product of `size` and `nitems` fits the buffer.
                let read = unsafe { (library.blosc2_stdio_read)(&mut ptr, size, nitems, position, stream) };
                call_log.record(("read", what), (read, ptr == before, String::from_utf8_lossy(&buffer)));
            }
            for (size, nitems, position) in io_arguments().filter(|&(_, _, position)| position < 1000) {
                let what = (name, mode, size, nitems, position);
                // SAFETY: as above.
                let written = unsafe {
                    (library.blosc2_stdio_write)([b'w'; 128].as_ptr().cast(), size, nitems, position, stream)
                };
                call_log.record(("write", what), written);
            }
            for len in [-1, i64::MIN, 12, 5, 8] {
                // SAFETY: an open stream.
                call_log.record(("truncate", name, mode, len), unsafe {
                    (library.blosc2_stdio_truncate)(stream, len)
                });
            }
            // SAFETY: an open file, and an open stream that is closed.
            unsafe {
                call_log.record("position", libc::ftell(file));
                call_log.record("close", (library.blosc2_stdio_close)(stream));
            }
        }
    });
}

/// Returns arguments of a read or a write. Valid products are small.
fn io_arguments() -> impl Iterator<Item = (i64, i64, i64)> {
    NUMBERS
        .into_iter()
        .flat_map(|size| {
            NUMBERS.into_iter().flat_map(move |nitems| NUMBERS.into_iter().map(move |at| (size, nitems, at)))
        })
        .filter(|&(size, nitems, _)| {
            let bytes = i128::from(size) * i128::from(nitems);
            size <= 0 || nitems <= 0 || bytes <= 128 || bytes > i128::from(i64::MAX)
        })
}

#[test]
fn plain_file_functions_without_a_stream_agree_with_the_reference() {
    compare_call_logs(|call_log| {
        let library = call_log.library;
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        let path = call_log.dir.c_path("file");
        // SAFETY: strings, then a stream that is open, streams that are NULL or have no file, and buffers that are
        // NULL or large enough.
        unsafe {
            let mut no_file = blosc2_stdio_file { file: null_mut() };
            let no_file: *mut c_void = (&raw mut no_file).cast();
            for stream in [null_mut(), no_file] {
                let mut buffer = [b'.'; 16];
                let mut ptr: *mut c_void = buffer.as_mut_ptr().cast();
                call_log.record("close", (library.blosc2_stdio_close)(stream));
                if stream.is_null() {
                    call_log.record("size", (library.blosc2_stdio_size)(stream));
                    call_log.record("truncate", (library.blosc2_stdio_truncate)(stream, 1));
                    call_log.record("write", (library.blosc2_stdio_write)(ptr, 1, 1, 0, stream));
                    call_log.record("read", (library.blosc2_stdio_read)(&mut ptr, 1, 1, 0, stream));
                    call_log.record("buffer", buffer);
                }
                call_log.record("destroy", (library.blosc2_stdio_destroy)(stream));
            }
            let stream = (library.blosc2_stdio_open)(path.as_ptr(), c"rb+".as_ptr(), null_mut());
            for (size, nitems) in [(1, 1), (0, 1), (1, 0), (0, 0), (3, 3)] {
                let mut ptr = null_mut();
                let what = (size, nitems);
                call_log.record(what, (library.blosc2_stdio_read)(null_mut(), size, nitems, 0, stream));
                call_log.record(what, (library.blosc2_stdio_read)(&mut ptr, size, nitems, 0, stream));
                call_log.record(what, ptr.is_null());
                call_log.record(what, (library.blosc2_stdio_write)(null(), size, nitems, 0, stream));
            }
            call_log.record("close", (library.blosc2_stdio_close)(stream));
        }
    });
}

/// A mapping with its own parameters, which are recorded in every step.
struct MappedFile {
    params: Box<blosc2_stdio_mmap>,
}

impl MappedFile {
    fn new(mode: &'static CStr, initial: usize) -> MappedFile {
        MappedFile {
            params: Box::new(blosc2_stdio_mmap {
                mode: mode.as_ptr(),
                initial_mapping_size: initial,
                ..BLOSC2_STDIO_MMAP_DEFAULTS
            }),
        }
    }

    fn raw(&mut self) -> *mut c_void {
        (&raw mut *self.params).cast()
    }

    /// Returns the fields; for pointers only whether they are set.
    fn fields(&self) -> impl Debug + use<> {
        let p = &self.params;
        let there =
            [p.mode.is_null(), p.addr.is_null(), p.urlpath.is_null(), p.file.is_null()].map(|null| !null);
        let numbers = [p.initial_mapping_size, p.file_size, p.mapping_size];
        // Without a mapping these fields have no meaning.
        let mapped = there[1].then_some((p.is_memory_only.get(), p.fd >= 0, p.access_flags, p.map_flags));
        (there, numbers, mapped)
    }

    fn open(&mut self, call_log: &mut CallLog, name: &str) -> bool {
        let path = call_log.dir.c_path(name);
        let raw = self.raw();
        // SAFETY: two strings and a struct.
        let stream = unsafe { (call_log.library.blosc2_stdio_mmap_open)(path.as_ptr(), c"rb".as_ptr(), raw) };
        call_log.record(("open", name, self.fields()), (stream == raw, stream.is_null()));
        !stream.is_null()
    }

    fn write(&mut self, call_log: &mut CallLog, text: &str, position: i64) {
        let (bytes, len) = (text.as_ptr().cast(), text.len() as i64);
        // SAFETY: a source with its length, and a struct.
        let written =
            unsafe { (call_log.library.blosc2_stdio_mmap_write)(bytes, 1, len, position, self.raw()) };
        call_log.record(("write", text, position), (written, self.fields()));
    }

    fn read(&mut self, call_log: &mut CallLog, size: i64, nitems: i64, position: i64) {
        let mut ptr: *mut c_void = self.raw();
        // SAFETY: an out-pointer, and a struct.
        let read = unsafe {
            (call_log.library.blosc2_stdio_mmap_read)(&mut ptr, size, nitems, position, self.raw())
        };
        let bytes = match size.checked_mul(nitems) {
            Some(len) if read > 0 && len > 0 => {
                // SAFETY: `len` bytes are mapped there.
                unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), len as usize) }.to_vec()
            }
            _ => Vec::new(),
        };
        let what = ("read", size, nitems, position);
        call_log.record(what, (read, ptr.is_null(), String::from_utf8_lossy(&bytes)));
    }

    fn truncate(&mut self, call_log: &mut CallLog, len: i64) {
        // SAFETY: a struct.
        let result = unsafe { (call_log.library.blosc2_stdio_mmap_truncate)(self.raw(), len) };
        call_log.record(("truncate", len), (result, self.fields()));
    }

    fn size(&mut self, call_log: &mut CallLog) {
        // SAFETY: a struct.
        call_log.record("size", unsafe { (call_log.library.blosc2_stdio_mmap_size)(self.raw()) });
    }

    fn destroy(&mut self, call_log: &mut CallLog) {
        // SAFETY: a struct that must not be freed.
        let result = unsafe { (call_log.library.blosc2_stdio_mmap_destroy)(self.raw()) };
        call_log.record("destroy", (result, self.fields()));
    }
}

const MODES: [&CStr; 4] = [c"r", c"r+", c"w+", c"c"];

#[test]
fn mapped_files_of_every_mode_agree_with_the_reference() {
    compare_call_logs(|call_log| {
        for mode in MODES {
            for (name, text) in [("missing", None), ("empty", Some("")), ("file", Some("0123456789"))] {
                for initial in [0, 1, 100_000] {
                    match text {
                        Some(text) => fs::write(call_log.dir.join(name), text).unwrap(),
                        None => drop(fs::remove_file(call_log.dir.join(name))),
                    }
                    let mut mapped = MappedFile::new(mode, initial);
                    call_log.record("mode", (mode, initial));
                    mapped.size(call_log);
                    if mapped.open(call_log, name) {
                        mapped.open(call_log, name);
                        mapped.open(call_log, "another");
                        for (size, nitems, position) in io_arguments() {
                            // The address returned for zero items is not compared.
                            if size != 0 && nitems != 0 || position < 0 {
                                mapped.read(call_log, size, nitems, position);
                            }
                        }
                        mapped.size(call_log);
                    }
                    mapped.destroy(call_log);
                    mapped.destroy(call_log);
                    call_log.log.extend(call_log.dir.listing());
                }
            }
        }
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        for mode in [c"", c"rb", c"w", c"r ", c"c+"] {
            let mut mapped = MappedFile::new(mode, 100);
            mapped.open(call_log, "file");
            mapped.destroy(call_log);
        }
        let mut mapped = MappedFile::new(c"r", 100);
        mapped.params.mode = null();
        mapped.open(call_log, "file");
        for mode in MODES {
            let mut mapped = MappedFile::new(mode, 100);
            mapped.open(call_log, "a/b");
            mapped.destroy(call_log);
        }
    });
}

#[test]
fn growing_and_shrinking_mapped_files_agree_with_the_reference() {
    compare_call_logs(|call_log| {
        for mode in [c"r+", c"w+"] {
            for initial in [0, 1, 5000, 1 << 20] {
                fs::write(call_log.dir.join("file"), "0123456789").unwrap();
                let mut mapped = MappedFile::new(mode, initial);
                assert!(mapped.open(call_log, "file"));
                for (text, position) in
                    [("ab", 0), ("cd", 9), ("ef", 12), ("gh", 5000), ("", 3), ("i", 20_000), ("j", -1)]
                {
                    mapped.write(call_log, text, position);
                    mapped.size(call_log);
                    let there = fs::metadata(call_log.dir.join("file")).unwrap().len();
                    call_log.record("on disk", there);
                }
                mapped.read(call_log, 1, 14, 0);
                for len in [20_001, 20_000, 7, 9, -1, i64::MIN] {
                    mapped.truncate(call_log, len);
                    call_log.record("on disk", fs::metadata(call_log.dir.join("file")).unwrap().len());
                }
                mapped.read(call_log, 3, 3, 0);
                mapped.read(call_log, 3, 4, 0);
                mapped.write(call_log, "kl", 8);
                mapped.destroy(call_log);
                call_log.log.extend(call_log.dir.listing());
                // The struct is used again, with its initial mode.
                mapped.params.mode = c"r".as_ptr();
                assert!(mapped.open(call_log, "file"));
                mapped.read(call_log, 1, 10, 0);
                mapped.destroy(call_log);
            }
        }
    });
}

#[test]
fn private_mappings_do_not_change_the_file() {
    compare_call_logs(|call_log| {
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        let mut mapped = MappedFile::new(c"c", 4096);
        assert!(mapped.open(call_log, "file"));
        mapped.write(call_log, "abc", 2);
        mapped.write(call_log, "def", 10);
        mapped.read(call_log, 1, 13, 0);
        mapped.truncate(call_log, 4);
        mapped.read(call_log, 1, 4, 0);
        mapped.read(call_log, 1, 5, 0);
        mapped.size(call_log);
        call_log.log.extend(call_log.dir.listing());
        mapped.destroy(call_log);
    });
}

#[test]
fn mapped_file_functions_without_a_stream_agree_with_the_reference() {
    compare_call_logs(|call_log| {
        let library = call_log.library;
        let null_stream = null_mut();
        let path = call_log.dir.c_path("file");
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        let mut mapped = MappedFile::new(c"r+", 100);
        // SAFETY: NULL where it is rejected, otherwise a struct and strings.
        unsafe {
            let open = library.blosc2_stdio_mmap_open;
            call_log.record("open", open(path.as_ptr(), c"rb".as_ptr(), null_mut()).is_null());
            call_log.record("open", open(null(), c"rb".as_ptr(), mapped.raw()).is_null());
            call_log.record("close", (library.blosc2_stdio_mmap_close)(null_stream));
            call_log.record("destroy", (library.blosc2_stdio_mmap_destroy)(null_stream));
            // The argument for the mode may be NULL: it is not used.
            call_log.record("open", open(path.as_ptr(), null(), mapped.raw()) == mapped.raw());
            for (size, nitems) in [(1, 1), (0, 1), (1, 0), (20, 1)] {
                let stream = mapped.raw();
                call_log
                    .record("read", (library.blosc2_stdio_mmap_read)(null_mut(), size, nitems, 0, stream));
                call_log.record("write", (library.blosc2_stdio_mmap_write)(null(), size, nitems, 0, stream));
            }
            call_log.record("close", (library.blosc2_stdio_mmap_close)(mapped.raw()));
        }
        mapped.read(call_log, 1, 10, 0);
        mapped.destroy(call_log);
    });
}

#[test]
fn mmap_destroy_frees_parameters_with_needs_free() {
    compare_call_logs(|call_log| {
        fs::write(call_log.dir.join("file"), "0123456789").unwrap();
        let path = call_log.dir.c_path("file");
        for mapped in [true, false] {
            // SAFETY: a struct from `malloc` that the library frees.
            unsafe {
                let params: *mut blosc2_stdio_mmap = libc::malloc(size_of::<blosc2_stdio_mmap>()).cast();
                params.write(blosc2_stdio_mmap { needs_free: CBool::TRUE, ..BLOSC2_STDIO_MMAP_DEFAULTS });
                if mapped {
                    let open = call_log.library.blosc2_stdio_mmap_open;
                    assert_eq!(open(path.as_ptr(), null(), params.cast()), params.cast());
                }
                call_log.record(mapped, (call_log.library.blosc2_stdio_mmap_destroy)(params.cast()));
            }
        }
    });
}

unsafe extern "C" fn open_nothing(_: *const c_char, _: *const c_char, _: *mut c_void) -> *mut c_void {
    null_mut()
}

unsafe extern "C" fn destroy_nothing(_: *mut c_void) -> c_int {
    0
}

#[test]
fn back_end_registry_agrees_with_the_reference() {
    compare_call_logs(|call_log| {
        let library = call_log.library;
        let register = |id: u8, name: Option<&CStr>| {
            let name = name.map_or(null_mut(), |name| name.to_owned().into_raw());
            let io = blosc2_io_cb {
                open: Some(open_nothing),
                destroy: Some(destroy_nothing),
                ..without_functions(id, name)
            };
            // SAFETY: a struct, which is copied, and a static name.
            unsafe { (library.blosc2_register_io_cb)(&io) }
        };
        let entry = |id: u8| {
            // SAFETY: any id may be passed; an entry is initialised and never freed.
            unsafe { (library.blosc2_get_io_cb)(id).as_ref() }.map(|io| {
                let functions = [
                    io.open.is_some(),
                    io.close.is_some(),
                    io.size.is_some(),
                    io.write.is_some(),
                    io.read.is_some(),
                    io.truncate.is_some(),
                    io.destroy.is_some(),
                ];
                // SAFETY: NULL or a string.
                let name: Option<CString> =
                    (!io.name.is_null()).then(|| unsafe { CStr::from_ptr(io.name) }.into());
                (io.id, name, io.is_allocation_necessary.get(), functions)
            })
        };
        // SAFETY: NULL is allowed.
        call_log.record("NULL", unsafe { (library.blosc2_register_io_cb)(null()) });
        for id in [0, 1, 2, 31, 32, 159, 160, 255] {
            call_log.record(id, entry(id));
        }
        for (id, name) in [
            (0, c"filesystem"),
            (1, c"mine"),
            (32, c"mine"),
            (159, c"mine"),
            (170, c"mine"),
            (170, c"mine"),
            (170, c"yours"),
            (171, c"mine"),
            (255, c""),
        ] {
            call_log.record((id, name), register(id, Some(name)));
            call_log.record(id, entry(id));
        }
        call_log.record("no name", register(172, None));
        call_log.record(172, entry(172));
        // SAFETY: an id that is registered.
        let (before, after) = unsafe { ((library.blosc2_get_io_cb)(170), (library.blosc2_get_io_cb)(170)) };
        call_log.record("the same entry", before == after);
        // SAFETY: the library was initialised.
        unsafe {
            (library.blosc2_get_io_cb)(0).read().open.expect("a function");
            let io = (library.blosc2_get_io_cb)(1).read();
            call_log.record(
                "its own functions",
                io.open.map(|f| f as usize) == Some(library.blosc2_stdio_mmap_open as usize),
            );
        }
        // The program may change an entry.
        // SAFETY: an initialised entry that is not used meanwhile.
        unsafe { (*(library.blosc2_get_io_cb)(170)).is_allocation_necessary = CBool::FALSE };
        call_log.record(170, entry(170));
        // SAFETY: as above.
        call_log.record("name", unsafe {
            CString::from(CStr::from_ptr((*(library.blosc2_get_io_cb)(170)).name))
        });
    });
}
