//! The super-chunk functions of a loaded library, as typed pointers. The chunk-level functions of the same library
//! are in `support::library`.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use blosc2::abi::{CBool, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_schunk, blosc2_storage};

use crate::support::library::{Library, path_of_ours, path_of_reference};

/// A super-chunk of a library.
pub type Schunk = *mut blosc2_schunk;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// A loaded library: its chunk functions, and one typed pointer per super-chunk function.
        pub struct Api {
            pub library: &'static Library,
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        fn resolve(library: &'static Library, path: &Path, loaded: &OsLibrary) -> Api {
            Api {
                library,
                $($name: {
                    // SAFETY: the symbol, if present, is the function of that name of the ABI, with the type stated
                    // in abi.md 2.
                    let symbol = unsafe {
                        loaded.get::<unsafe extern "C" fn($($arg),*) $(-> $ret)?>(stringify!($name))
                    };
                    *symbol.unwrap_or_else(|_| {
                        panic!("{} has no function {}", path.display(), stringify!($name))
                    })
                },)*
            }
        }
    };
}

functions! {
    blosc2_schunk_new(*mut blosc2_storage) -> Schunk;
    blosc2_schunk_copy(Schunk, *mut blosc2_storage) -> Schunk;
    blosc2_schunk_free(Schunk) -> c_int;
    blosc2_schunk_open(*const c_char) -> Schunk;
    blosc2_schunk_open_offset(*const c_char, i64) -> Schunk;
    blosc2_schunk_open_udio(*const c_char, *const blosc2_io) -> Schunk;
    blosc2_schunk_open_offset_udio(*const c_char, i64, *const blosc2_io) -> Schunk;
    blosc2_schunk_from_buffer(*mut u8, i64, CBool) -> Schunk;
    blosc2_schunk_avoid_cframe_free(Schunk, CBool);
    blosc2_schunk_to_buffer(Schunk, *mut *mut u8, *mut CBool) -> i64;
    blosc2_schunk_to_file(Schunk, *const c_char) -> i64;
    blosc2_schunk_append_file(Schunk, *const c_char) -> i64;
    blosc2_schunk_lock(Schunk) -> c_int;
    blosc2_schunk_unlock(Schunk) -> c_int;
    blosc2_schunk_refresh(Schunk) -> c_int;
    blosc2_schunk_append_chunk(Schunk, *mut u8, CBool) -> i64;
    blosc2_schunk_insert_chunk(Schunk, i64, *mut u8, CBool) -> i64;
    blosc2_schunk_update_chunk(Schunk, i64, *mut u8, CBool) -> i64;
    blosc2_schunk_delete_chunk(Schunk, i64) -> i64;
    blosc2_schunk_append_buffer(Schunk, *const c_void, i32) -> i64;
    blosc2_schunk_decompress_chunk(Schunk, i64, *mut c_void, i32) -> c_int;
    blosc2_schunk_get_chunk(Schunk, i64, *mut *mut u8, *mut CBool) -> c_int;
    blosc2_schunk_get_lazychunk(Schunk, i64, *mut *mut u8, *mut CBool) -> c_int;
    blosc2_schunk_get_vlblock(Schunk, i64, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_schunk_get_slice_buffer(Schunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_set_slice_buffer(Schunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_get_sparse_buffer(Schunk, i64, *const i64, *mut c_void) -> c_int;
    blosc2_schunk_get_cparams(Schunk, *mut *mut blosc2_cparams) -> c_int;
    blosc2_schunk_get_dparams(Schunk, *mut *mut blosc2_dparams) -> c_int;
    blosc2_schunk_reorder_offsets(Schunk, *mut i64) -> c_int;
    blosc2_schunk_frame_len(Schunk) -> i64;
    blosc2_schunk_fill_special(Schunk, i64, c_int, i32) -> i64;
    blosc2_frame_get_offsets(Schunk) -> *mut i64;
    blosc2_get_slice_nchunks(Schunk, *mut i64, *mut i64, *mut *mut i64) -> i64;
    blosc2_meta_add(Schunk, *const c_char, *mut u8, i32) -> c_int;
    blosc2_meta_update(Schunk, *const c_char, *mut u8, i32) -> c_int;
    blosc2_vlmeta_exists(Schunk, *const c_char) -> c_int;
    blosc2_vlmeta_add(Schunk, *const c_char, *mut u8, i32, *mut blosc2_cparams) -> c_int;
    blosc2_vlmeta_update(Schunk, *const c_char, *mut u8, i32, *mut blosc2_cparams) -> c_int;
    blosc2_vlmeta_get(Schunk, *const c_char, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlmeta_delete(Schunk, *const c_char) -> c_int;
    blosc2_vlmeta_get_names(Schunk, *mut *mut c_char) -> c_int;
}

fn load(library: &'static Library, path: &Path) -> Api {
    // SAFETY: `library` is this object, loaded and initialised already: no initialiser runs.
    let loaded = unsafe { OsLibrary::new(path) }
        .unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()));
    let api = resolve(library, path, &loaded);
    // Never unloaded: the function pointers must stay valid for the rest of the process.
    std::mem::forget(loaded);
    api
}

impl Api {
    /// Returns our library and the reference, in this order; the caller has checked that the reference is available.
    pub fn both() -> [&'static Api; 2] {
        static BOTH: OnceLock<[Api; 2]> = OnceLock::new();
        let [ours, reference] = BOTH.get_or_init(|| {
            let reference = path_of_reference().expect("a reference library");
            [
                load(Library::ours(), &path_of_ours()),
                load(Library::reference().expect("a reference library"), &reference),
            ]
        });
        [ours, reference]
    }

    /// Returns whether the same library is on both sides, as in tests of the driver.
    pub fn is_same_library() -> bool {
        static TWINS: OnceLock<bool> = OnceLock::new();
        *TWINS.get_or_init(|| {
            let bytes = |path: &Path| std::fs::read(path).expect("a library");
            path_of_reference().is_some_and(|path| bytes(&path) == bytes(&path_of_ours()))
        })
    }
}
