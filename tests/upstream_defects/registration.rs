//! Registering codecs, filters and tuners (abi.md 9.5, 14, codecs.md 12, 18.2, 18.16).

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use blosc2::abi::{
    blosc2_codec, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_filter, blosc2_tuner,
};

use crate::checks::{assert_ours_decodes, compressed, data, pipeline};
use crate::support::calls::{Params, compress};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::user_back_ends::without_functions;

/// Returns the library before any call; for child processes.
fn uninitialised_library() -> &'static Library {
    Box::leak(Box::new(Library::ours_uninitialised()))
}

unsafe extern "C" fn encode_nothing(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    0
}

unsafe extern "C" fn encode_failing(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    -1
}

unsafe extern "C" fn decode_nothing(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    0
}

unsafe extern "C" fn copy(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: u8,
) -> c_int {
    // SAFETY: the library passes two buffers of `len` bytes.
    unsafe { dest.copy_from_nonoverlapping(src, len as usize) };
    0
}

unsafe extern "C" fn copy_back(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: u8,
) -> c_int {
    // SAFETY: as in `copy`.
    unsafe { dest.copy_from_nonoverlapping(src, len as usize) };
    0
}

unsafe extern "C" fn tuner_init(_: *mut c_void, _: *mut blosc2_context, _: *mut blosc2_context) -> c_int {
    0
}

unsafe extern "C" fn tuner_init_failing(
    _: *mut c_void,
    _: *mut blosc2_context,
    _: *mut blosc2_context,
) -> c_int {
    -1
}

unsafe extern "C" fn tuner_next(_: *mut blosc2_context) -> c_int {
    0
}

unsafe extern "C" fn tuner_update(_: *mut blosc2_context, _: c_double) -> c_int {
    0
}

type Encoder =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut blosc2_cparams, *const c_void) -> c_int;

fn register_codec(library: &Library, id: u8, name: &CStr, complib: u8, encoder: Encoder) -> c_int {
    // The name is freed when this function returns.
    let name = CString::from(name);
    let mut codec = blosc2_codec {
        compcode: id,
        compname: name.as_ptr().cast_mut(),
        complib,
        version: 1,
        encoder: Some(encoder),
        decoder: Some(decode_nothing),
    };
    // SAFETY: a valid struct, copied with its name.
    let rc = unsafe { (library.blosc2_register_codec)(&mut codec) };
    overwrite(name);
    rc
}

fn register_filter(library: &Library, id: u8, name: &CStr) -> c_int {
    let name = CString::from(name);
    let mut filter = blosc2_filter {
        id,
        name: name.as_ptr().cast_mut(),
        version: 1,
        forward: Some(copy),
        backward: Some(copy_back),
    };
    // SAFETY: a valid struct, copied with its name.
    let rc = unsafe { (library.blosc2_register_filter)(&mut filter) };
    overwrite(name);
    rc
}

fn register_tuner(library: &Library, id: c_int, name: &CStr, works: bool) -> c_int {
    let name = CString::from(name);
    let mut tuner = blosc2_tuner {
        init: Some(if works { tuner_init } else { tuner_init_failing }),
        next_blocksize: Some(tuner_next),
        next_cparams: Some(tuner_next),
        update: Some(tuner_update),
        free: Some(tuner_next),
        id,
        name: name.as_ptr().cast_mut(),
    };
    // SAFETY: a valid struct, copied with its name.
    let rc = unsafe { (library.blosc2_register_tuner)(&mut tuner) };
    overwrite(name);
    rc
}

/// Overwrites a name before its memory is freed.
fn overwrite(name: CString) {
    let mut bytes = name.into_bytes();
    bytes.fill(b'!');
    std::hint::black_box(&bytes);
}

fn name_of(library: &Library, id: c_int) -> Option<(String, *const c_char)> {
    let mut name = std::ptr::null();
    // SAFETY: a valid out-pointer; the name stays valid.
    unsafe {
        let rc = (library.blosc2_compcode_to_compname)(id, &mut name);
        assert_eq!(rc, if name.is_null() { -1 } else { id });
        (!name.is_null()).then(|| (CStr::from_ptr(name).to_string_lossy().into_owned(), name))
    }
}

fn code_of(library: &Library, name: &CStr) -> c_int {
    // SAFETY: a terminated name.
    unsafe { (library.blosc2_compname_to_compcode)(name.as_ptr()) }
}

fn has_tuner(library: &Library, id: c_int) -> bool {
    let mut cparams = Params::default().cparams();
    cparams.tuner_id = id;
    crate::support::calls::OwnedContext::for_compression(library, cparams).is_some()
}

#[test]
fn abi_9_5_reserved_ids_and_duplicate_names_are_rejected() {
    in_new_process(test_name!(), || {
        let library = Library::ours();
        for id in [0, 1, 31, 32, 159] {
            assert_eq!(register_codec(library, id, c"x", id, encode_nothing), -8, "codec {id}");
            assert_eq!(register_filter(library, id, c"x"), -1, "filter {id}");
            assert_eq!(register_tuner(library, id.into(), c"x", true), -1, "tuner {id}");
        }
        assert_eq!(register_tuner(library, -1, c"x", true), -1);
        for id in [160, 255] {
            assert_eq!(register_codec(library, id, c"one", id, encode_nothing), 0);
            assert_eq!(register_filter(library, id, c"one"), 0);
            assert_eq!(register_tuner(library, id.into(), c"one", true), 0);
            // Registering the same name again succeeds and keeps the old functions.
            assert_eq!(register_codec(library, id, c"one", id, encode_failing), 0);
            assert_eq!(register_filter(library, id, c"one"), 0);
            assert_eq!(register_tuner(library, id.into(), c"one", false), 0);
            assert!(has_tuner(library, id.into()));
            // The same id with another name.
            assert_eq!(register_codec(library, id, c"two", id, encode_nothing), -8);
            assert_eq!(register_filter(library, id, c"two"), -1);
            assert_eq!(register_tuner(library, id.into(), c"two", true), -1);
        }
        let noise = data(Data::Noise, 1, 1000);
        let params = Params { codec: 160, filters: pipeline(&[255]), typesize: 1, ..Params::default() };
        assert_ours_decodes(&compressed(&params, &noise), &noise);
        assert_eq!(register_tuner(library, 100_000, c"far", true), 0);
        assert!(has_tuner(library, 100_000) && !has_tuner(library, 100_001));
        // The first codec with a name takes precedence, and the codecs of the format precede all others.
        assert_eq!(code_of(library, c"one"), 160);
        assert_eq!(register_codec(library, 161, c"zstd", 161, encode_nothing), 0);
        assert_eq!(code_of(library, c"zstd"), 5);
        assert_eq!(name_of(library, 161).expect("a name").0, "zstd");
        // The functions without a context do not accept registered codecs.
        // SAFETY: a terminated name.
        assert_eq!(unsafe { (library.blosc1_set_compressor)(c"one".as_ptr()) }, -7);
    });
}

/// The caller may free its names: the library keeps copies.
#[test]
fn codecs_18_16_names_are_copied() {
    in_new_process(test_name!(), || {
        let library = Library::ours();
        assert_eq!(register_codec(library, 200, c"a name on the heap", 6, encode_nothing), 0);
        assert_eq!(register_filter(library, 200, c"another name on the heap"), 0);
        assert_eq!(register_tuner(library, 200, c"a third name on the heap", true), 0);
        let garbage: Vec<CString> = (0..1000).map(|_| CString::from(c"another name, on the heap")).collect();
        let (name, pointer) = name_of(library, 200).expect("a name");
        assert_eq!(name, "a name on the heap");
        assert_eq!(code_of(library, c"a name on the heap"), 200);
        assert_eq!(register_codec(library, 200, c"a name on the heap", 6, encode_nothing), 0);
        assert_eq!(register_filter(library, 200, c"another name on the heap"), 0);
        assert_eq!(register_tuner(library, 200, c"a third name on the heap", true), 0);
        assert_eq!(register_filter(library, 200, c"!nother name on the heap"), -1);
        // For a chunk of format 6 the library returns the name of the first codec with that library code.
        let chunk = compressed(&Params { codec: 200, ..Params::default() }, &data(Data::Noise, 1, 1000));
        // SAFETY: a chunk; the result is NULL or a static string.
        let complib = unsafe { CStr::from_ptr((library.blosc2_cbuffer_complib)(chunk.as_ptr().cast())) };
        assert_eq!(complib, c"a name on the heap");
        let (mut lib, mut version) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a terminated name and valid out-pointers; the caller frees both strings.
        unsafe {
            let rc = (library.blosc2_get_complib_info)(pointer, &mut lib, &mut version);
            assert_eq!(
                (rc, CStr::from_ptr(lib), CStr::from_ptr(version)),
                (6, c"a name on the heap", c"unknown")
            );
            libc::free(lib.cast());
            libc::free(version.cast());
        }
        // The returned pointer stays valid after the codec is unregistered.
        // SAFETY: no arguments.
        unsafe {
            (library.blosc2_destroy)();
            (library.blosc2_init)();
        }
        assert!(name_of(library, 200).is_none());
        // SAFETY: names are never freed.
        assert_eq!(unsafe { CStr::from_ptr(pointer) }, c"a name on the heap");
        assert_eq!(register_codec(library, 200, c"another codec", 200, encode_nothing), 0);
        drop(garbage);
    });
}

/// A user codec with the library code of a built-in codec returns the name and version of that one (codecs.md 17.14).
#[test]
fn codecs_1_3_user_codec_reports_the_library_of_its_complib_code() {
    in_new_process(test_name!(), || {
        let library = Library::ours();
        assert_eq!(register_codec(library, 210, c"mine", 4, encode_nothing), 0);
        let (mut lib, mut version) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a terminated name and valid out-pointers; the caller frees both strings.
        unsafe {
            let rc = (library.blosc2_get_complib_info)(c"mine".as_ptr(), &mut lib, &mut version);
            assert_eq!((rc, CStr::from_ptr(lib)), (4, c"Zstd"));
            assert!(CStr::from_ptr(version).to_bytes()[0].is_ascii_digit());
            libc::free(lib.cast());
            libc::free(version.cast());
        }
    });
}

#[test]
fn codecs_12_2_full_tuner_table_rejects_registrations() {
    in_new_process(test_name!(), || {
        let library = Library::ours();
        for id in 1000..1254 {
            assert_eq!(register_tuner(library, id, c"one of many", true), 0, "tuner {id}");
        }
        assert_eq!(register_tuner(library, 2000, c"one too many", true), -7);
        // Registering an existing tuner again fails, too.
        assert_eq!(register_tuner(library, 1000, c"one of many", true), -7);
        assert!(has_tuner(library, 1253) && !has_tuner(library, 1254));
        for id in 160..=255 {
            assert_eq!(register_codec(library, id, c"one of many", id, encode_nothing), 0);
            assert_eq!(register_filter(library, id, c"one of many"), 0);
        }
        // SAFETY: no arguments.
        unsafe {
            (library.blosc2_destroy)();
            (library.blosc2_init)();
        }
        assert!(!has_tuner(library, 1000));
        assert_eq!(register_tuner(library, 2000, c"one too many", true), 0);
    });
}

/// A registration before `blosc2_init()` is kept: registering initialises the library.
#[test]
fn abi_14_registration_before_init_is_kept() {
    in_new_process(test_name!(), || {
        let library = uninitialised_library();
        assert_eq!(register_codec(library, 160, c"early", 160, encode_nothing), 0);
        assert_eq!(register_filter(library, 160, c"early"), 0);
        assert_eq!(register_tuner(library, 160, c"early", true), 0);
        // SAFETY: no arguments.
        unsafe { (library.blosc2_init)() };
        let there = || {
            assert_eq!((code_of(library, c"early"), code_of(library, c"zfp_acc")), (160, 33));
            assert!(has_tuner(library, 160));
            let noise = data(Data::Noise, 1, 1000);
            let params = Params { codec: 160, filters: pipeline(&[160]), typesize: 1, ..Params::default() };
            assert!(compress(library, &params, &noise, 5000).is_ok());
        };
        there();
        // SAFETY: as above; a second init has no effect.
        unsafe { (library.blosc2_init)() };
        there();
        // Destroying keeps the registrations; the next init removes them.
        // SAFETY: as above.
        unsafe { (library.blosc2_destroy)() };
        assert_eq!(code_of(library, c"early"), 160);
        // SAFETY: as above.
        unsafe { (library.blosc2_init)() };
        assert_eq!((code_of(library, c"early"), code_of(library, c"zfp_acc")), (-1, 33));
        assert!(!has_tuner(library, 160));
    });
}

/// The names of the library's own codecs are available without init (design: self-initialising).
#[test]
fn abi_14_built_in_codec_names_are_known_before_init() {
    in_new_process(test_name!(), || {
        let library = uninitialised_library();
        assert_eq!(code_of(library, c"zfp_rate"), 35);
        assert_eq!(name_of(library, 32).expect("a name").0, "ndlz");
        assert_eq!(code_of(library, c"zstd"), 5);
    });
}

/// Registers, and uses the registered entries, from several threads at once.
#[test]
fn abi_9_4_registration_from_many_threads() {
    in_new_process(test_name!(), || {
        let library = uninitialised_library();
        let noise = data(Data::Noise, 1, 1000);
        std::thread::scope(|scope| {
            for thread in 0..8u8 {
                let noise = &noise;
                scope.spawn(move || {
                    for id in (160 + thread..=255).step_by(8) {
                        let name = CString::new(format!("codec {id}")).expect("no NUL");
                        assert_eq!(register_codec(library, id, &name, id, encode_nothing), 0);
                        assert_eq!(register_filter(library, id, &name), 0);
                        assert_eq!(register_tuner(library, i32::from(id), &name, true), 0);
                        let params =
                            Params { codec: id, filters: pipeline(&[id]), typesize: 1, ..Params::default() };
                        assert!(compress(library, &params, noise, 5000).is_ok());
                        assert_eq!(code_of(library, &name), i32::from(id));
                    }
                });
            }
        });
        for id in 160..=255 {
            assert_eq!(name_of(library, id).expect("a name").0, format!("codec {id}"));
        }
    });
}

/// A child of a fork never waits for a lock that a thread of its parent held at the fork.
#[cfg(unix)]
#[test]
fn a_fork_may_happen_while_other_threads_register() {
    use crate::support::fork::{fork_and_run, wait_for_exit};
    in_new_process(test_name!(), || {
        let library = Library::ours();
        let register_all = |id| {
            let back_end = without_functions(id, ptr::null_mut());
            // SAFETY: a valid struct, copied.
            let rc = unsafe { (library.blosc2_register_io_cb)(&back_end) };
            rc == 0
                && register_codec(library, id, c"name", id, encode_nothing) == 0
                && register_filter(library, id, c"name") == 0
                && register_tuner(library, id.into(), c"name", true) == 0
                && code_of(library, c"name") == id.into()
        };
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    assert!(register_all(200));
                }
            });
            let child = || {
                // SAFETY: no precondition.
                unsafe { (library.blosc2_destroy)() };
                // SAFETY: no precondition.
                unsafe { (library.blosc2_init)() };
                register_all(201)
            };
            let statuses: Vec<_> = (0..1000).map(|_| wait_for_exit(fork_and_run(child))).collect();
            over.store(true, Relaxed);
            assert_eq!(statuses, [0; 1000]);
        });
    });
}
