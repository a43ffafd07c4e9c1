//! The super-chunk, frame and metalayer functions of a loaded library (abi.md 2.5-2.8) as typed pointers. They are
//! resolved on first use, apart from the chunk functions, so that tests of chunks do not require these symbols.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use blosc2::abi::{blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_io_cb, blosc2_schunk, blosc2_storage};

use crate::support::library::{Library, path_of_ours, path_of_reference};

/// A pointer to a super-chunk, as C declares it.
pub type SchunkPtr = *mut blosc2_schunk;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// One typed pointer per function.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Functions {
            fn resolve(path: &Path) -> Functions {
                // SAFETY: the library is loaded already; this only increments its reference count.
                let loaded = unsafe { OsLibrary::new(path) }
                    .unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()));
                let functions = Functions {
                    $($name: {
                        // SAFETY: the symbol, if present, is the function of that name of the ABI, with the type
                        // stated in abi.md 2.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($arg),*) $(-> $ret)?>(stringify!($name))
                        };
                        *symbol.unwrap_or_else(|_| {
                            panic!("{} has no function {}", path.display(), stringify!($name))
                        })
                    },)*
                };
                std::mem::forget(loaded);
                functions
            }
        }
    };
}

functions! {
    blosc2_schunk_new(*mut blosc2_storage) -> SchunkPtr;
    blosc2_schunk_copy(SchunkPtr, *mut blosc2_storage) -> SchunkPtr;
    blosc2_schunk_free(SchunkPtr) -> c_int;
    blosc2_schunk_open(*const c_char) -> SchunkPtr;
    blosc2_schunk_open_offset(*const c_char, i64) -> SchunkPtr;
    blosc2_schunk_open_udio(*const c_char, *const blosc2_io) -> SchunkPtr;
    blosc2_schunk_open_offset_udio(*const c_char, i64, *const blosc2_io) -> SchunkPtr;
    blosc2_schunk_from_buffer(*mut u8, i64, bool) -> SchunkPtr;
    blosc2_schunk_avoid_cframe_free(SchunkPtr, bool);
    blosc2_schunk_to_buffer(SchunkPtr, *mut *mut u8, *mut bool) -> i64;
    blosc2_schunk_to_file(SchunkPtr, *const c_char) -> i64;
    blosc2_schunk_append_file(SchunkPtr, *const c_char) -> i64;
    blosc2_schunk_lock(SchunkPtr) -> c_int;
    blosc2_schunk_unlock(SchunkPtr) -> c_int;
    blosc2_schunk_refresh(SchunkPtr) -> c_int;
    blosc2_schunk_append_chunk(SchunkPtr, *mut u8, bool) -> i64;
    blosc2_schunk_insert_chunk(SchunkPtr, i64, *mut u8, bool) -> i64;
    blosc2_schunk_update_chunk(SchunkPtr, i64, *mut u8, bool) -> i64;
    blosc2_schunk_delete_chunk(SchunkPtr, i64) -> i64;
    blosc2_schunk_append_buffer(SchunkPtr, *const c_void, i32) -> i64;
    blosc2_schunk_decompress_chunk(SchunkPtr, i64, *mut c_void, i32) -> c_int;
    blosc2_schunk_get_chunk(SchunkPtr, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_lazychunk(SchunkPtr, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_vlblock(SchunkPtr, i64, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_schunk_get_slice_buffer(SchunkPtr, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_set_slice_buffer(SchunkPtr, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_get_sparse_buffer(SchunkPtr, i64, *const i64, *mut c_void) -> c_int;
    blosc2_schunk_get_cparams(SchunkPtr, *mut *mut blosc2_cparams) -> c_int;
    blosc2_schunk_get_dparams(SchunkPtr, *mut *mut blosc2_dparams) -> c_int;
    blosc2_schunk_reorder_offsets(SchunkPtr, *mut i64) -> c_int;
    blosc2_schunk_frame_len(SchunkPtr) -> i64;
    blosc2_schunk_fill_special(SchunkPtr, i64, c_int, i32) -> i64;
    blosc2_frame_get_offsets(SchunkPtr) -> *mut i64;
    blosc2_get_slice_nchunks(SchunkPtr, *mut i64, *mut i64, *mut *mut i64) -> i64;
    blosc2_meta_add(SchunkPtr, *const c_char, *mut u8, i32) -> c_int;
    blosc2_meta_update(SchunkPtr, *const c_char, *mut u8, i32) -> c_int;
    blosc2_vlmeta_exists(SchunkPtr, *const c_char) -> c_int;
    blosc2_vlmeta_add(SchunkPtr, *const c_char, *mut u8, i32, *mut blosc2_cparams) -> c_int;
    blosc2_vlmeta_update(SchunkPtr, *const c_char, *mut u8, i32, *mut blosc2_cparams) -> c_int;
    blosc2_vlmeta_get(SchunkPtr, *const c_char, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlmeta_delete(SchunkPtr, *const c_char) -> c_int;
    blosc2_vlmeta_get_names(SchunkPtr, *mut *mut c_char) -> c_int;
    blosc2_register_io_cb(*const blosc2_io_cb) -> c_int;
    blosc2_get_io_cb(u8) -> *mut blosc2_io_cb;
}

impl Functions {
    /// Returns the functions of `library`, which must be initialised.
    pub fn of(library: &Library) -> &'static Functions {
        static OURS: OnceLock<Functions> = OnceLock::new();
        static REFERENCE: OnceLock<Functions> = OnceLock::new();
        if library.is_reference() {
            REFERENCE.get_or_init(|| Functions::resolve(&path_of_reference().expect("a reference library")))
        } else {
            OURS.get_or_init(|| Functions::resolve(&path_of_ours()))
        }
    }
}
