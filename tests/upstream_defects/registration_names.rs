//! Names that cannot be read. Programs leave the field uninitialised: the C library reads a name only where it
//! compares names, that is, if the id is registered already, and when a codec or a plugin is looked up by name.

use std::ffi::{CStr, c_char, c_double, c_int, c_void};
use std::ptr::{null, null_mut, without_provenance};

use blosc2::abi::{
    blosc2_codec, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_filter, blosc2_tuner,
};

use crate::checks::pipeline;
use crate::support::calls::{OwnedContext, Params, compress, decompress};
use crate::support::child::{in_new_process, test_name};
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::user_back_ends::without_functions;

const KINDS: [EntryKind; 4] = [EntryKind::Codec, EntryKind::Filter, EntryKind::Tuner, EntryKind::BackEnd];

/// The kind of the registered entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Codec,
    Filter,
    Tuner,
    BackEnd,
}

impl EntryKind {
    /// Returns the error code for an id below 160, or for one that is registered under another name.
    fn rejection_code(self) -> c_int {
        match self {
            EntryKind::Codec => -8,
            EntryKind::Filter | EntryKind::Tuner => -1,
            EntryKind::BackEnd => -30,
        }
    }

    /// Registers an entry with working functions.
    fn register(self, library: &Library, id: u8, name: *const c_char) -> c_int {
        let name = name.cast_mut();
        // SAFETY: initialised structs, which are copied; the test is about names that may not be readable.
        unsafe {
            match self {
                EntryKind::Codec => (library.blosc2_register_codec)(&mut blosc2_codec {
                    compcode: id,
                    compname: name,
                    complib: id,
                    version: 1,
                    encoder: Some(encode_nothing),
                    decoder: Some(decode_nothing),
                }),
                EntryKind::Filter => (library.blosc2_register_filter)(&mut blosc2_filter {
                    id,
                    name,
                    version: 1,
                    forward: Some(copy),
                    backward: Some(copy_back),
                }),
                EntryKind::Tuner => (library.blosc2_register_tuner)(&mut blosc2_tuner {
                    init: Some(tuner_init),
                    next_blocksize: Some(tuner_next),
                    next_cparams: Some(tuner_next),
                    update: Some(tuner_update),
                    free: Some(tuner_next),
                    id: id.into(),
                    name,
                }),
                EntryKind::BackEnd => (library.blosc2_register_io_cb)(&without_functions(id, name)),
            }
        }
    }
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

unsafe extern "C" fn tuner_next(_: *mut blosc2_context) -> c_int {
    0
}

unsafe extern "C" fn tuner_update(_: *mut blosc2_context, _: c_double) -> c_int {
    0
}

/// Returns addresses without a string: NULL, leftovers of a register or of the stack, unreadable memory, and a text
/// that runs into unreadable memory.
fn unreadable_names(guarded: &mut GuardedBuffer) -> [*const c_char; 5] {
    let text = guarded.last_bytes(4);
    text.copy_from_slice(b"text");
    let text = text.as_ptr().cast::<c_char>();
    [null(), without_provenance(0x10), without_provenance(usize::MAX), text.wrapping_add(4), text]
}

#[test]
fn the_first_registration_of_an_id_needs_no_name() {
    in_new_process(test_name!(), || {
        let mut guarded = GuardedBuffer::new(1);
        for library in crate::support::all_libraries() {
            for kind in KINDS {
                for (at, name) in unreadable_names(&mut guarded).into_iter().enumerate() {
                    for id in [0, 1, 32, 159] {
                        let code = kind.register(library, id, name);
                        assert_eq!(
                            code,
                            kind.rejection_code(),
                            "{}: {kind:?} {id} at {name:?}",
                            library.name
                        );
                    }
                    let id = 200 + at as u8;
                    assert_eq!(kind.register(library, id, name), 0, "{}: {kind:?} at {name:?}", library.name);
                }
            }
            let source: Vec<u8> = (0..2000u32).map(|at| (at * at / 7) as u8).collect();
            for id in 200..205 {
                let params = Params { codec: id, filters: pipeline(&[id]), typesize: 1, ..Params::default() };
                let chunk = compress(library, &params, &source, 5000).expect("a chunk");
                assert_eq!(decompress(library, 1, &chunk, source.len()).as_ref(), Ok(&source));
                let cparams = blosc2_cparams { tuner_id: id.into(), ..Params::default().cparams() };
                assert!(OwnedContext::for_compression(library, cparams).is_some());
                // SAFETY: any id may be passed; entries are never freed.
                assert_eq!(unsafe { (*(library.blosc2_get_io_cb)(id)).id }, id);
            }
            let mut name = c"before".as_ptr();
            // SAFETY: an out-pointer for the name; the name of a codec of the format, which is found before
            // registered ones.
            unsafe {
                assert_eq!((library.blosc2_compcode_to_compname)(200, &mut name), 200);
                assert_eq!((library.blosc2_compname_to_compcode)(c"zstd".as_ptr()), 5);
            }
            assert!(name.is_null(), "{}", library.name);
        }
    });
}

/// The C library ends the process in each of these cases.
#[test]
fn unreadable_names_are_compared_like_a_missing_name() {
    in_new_process(test_name!(), || {
        let library = Library::ours();
        let mut guarded = GuardedBuffer::new(1);
        let names = unreadable_names(&mut guarded);
        for kind in KINDS {
            assert_eq!(kind.register(library, 180, c"named".as_ptr()), 0);
            assert_eq!(kind.register(library, 181, null()), 0);
            for name in names {
                assert_eq!(kind.register(library, 180, name), kind.rejection_code(), "{kind:?} at {name:?}");
                assert_eq!(kind.register(library, 181, name), 0, "{kind:?} at {name:?}");
            }
            assert_eq!(kind.register(library, 181, c"named".as_ptr()), kind.rejection_code(), "{kind:?}");
            assert_eq!(kind.register(library, 180, c"named".as_ptr()), 0, "{kind:?}");
        }
        // A codec without a name is not found by any name.
        // SAFETY: terminated names, and an out-pointer.
        unsafe {
            assert_eq!((library.blosc2_compname_to_compcode)(c"named".as_ptr()), 180);
            assert_eq!((library.blosc2_compname_to_compcode)(c"nobody's".as_ptr()), -1);
            assert_eq!((library.blosc2_compname_to_compcode)(c"".as_ptr()), -1);
            let mut name = null();
            assert_eq!((library.blosc2_compcode_to_compname)(180, &mut name), 180);
            assert_eq!(CStr::from_ptr(name), c"named");
        }
    });
}

/// Without functions and without a name there is no plugin to load.
#[test]
fn a_codec_without_name_and_functions_is_refused_when_used() {
    in_new_process(test_name!(), || {
        for library in crate::support::all_libraries() {
            let mut codec = blosc2_codec {
                compcode: 210,
                compname: null_mut(),
                complib: 210,
                version: 1,
                encoder: None,
                decoder: None,
            };
            // SAFETY: an initialised struct, which is copied.
            assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec) }, 0);
            let params = Params { codec: 210, ..Params::default() };
            assert_eq!(compress(library, &params, &[1, 2, 3, 4, 5, 6, 7, 9].repeat(99), 5000), Err(-7));
        }
    });
}
