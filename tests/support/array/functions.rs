//! The array functions of a loaded library (abi.md 2.7) as typed pointers. They are resolved on first use, so that
//! other tests do not require these symbols.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use blosc2::abi::{b2nd_array_t, b2nd_context_t, blosc2_metalayer, blosc2_schunk, blosc2_storage};

use crate::support::library::{Library, path_of_ours, path_of_reference};

/// A pointer to an array, as C declares it.
pub type ArrayPtr = *mut b2nd_array_t;
/// A pointer to creation parameters, as C declares it.
pub type ArrayContextPtr = *mut b2nd_context_t;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        /// One typed pointer per function.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> $ret,)*
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
                            loaded.get::<unsafe extern "C" fn($($arg),*) -> $ret>(stringify!($name))
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
    b2nd_create_ctx(*const blosc2_storage, i8, *const i64, *const i32, *const i32, *const c_char, i8, *const blosc2_metalayer, i32) -> ArrayContextPtr;
    b2nd_free_ctx(ArrayContextPtr) -> c_int;
    b2nd_uninit(ArrayContextPtr, *mut ArrayPtr) -> c_int;
    b2nd_empty(ArrayContextPtr, *mut ArrayPtr) -> c_int;
    b2nd_zeros(ArrayContextPtr, *mut ArrayPtr) -> c_int;
    b2nd_nans(ArrayContextPtr, *mut ArrayPtr) -> c_int;
    b2nd_full(ArrayContextPtr, *mut ArrayPtr, *const c_void) -> c_int;
    b2nd_from_cbuffer(ArrayContextPtr, *mut ArrayPtr, *const c_void, i64) -> c_int;
    b2nd_to_cbuffer(ArrayPtr, *mut c_void, i64) -> c_int;
    b2nd_free(ArrayPtr) -> c_int;
    b2nd_from_schunk(*mut blosc2_schunk, *mut ArrayPtr) -> c_int;
    b2nd_to_cframe(ArrayPtr, *mut *mut u8, *mut i64, *mut bool) -> c_int;
    b2nd_from_cframe(*mut u8, i64, bool, *mut ArrayPtr) -> c_int;
    b2nd_open(*const c_char, *mut ArrayPtr) -> c_int;
    b2nd_open_offset(*const c_char, *mut ArrayPtr, i64) -> c_int;
    b2nd_save(ArrayPtr, *mut c_char) -> c_int;
    b2nd_save_append(ArrayPtr, *const c_char) -> i64;
    b2nd_copy(ArrayContextPtr, ArrayPtr, *mut ArrayPtr) -> c_int;
    b2nd_concatenate(ArrayContextPtr, ArrayPtr, ArrayPtr, i8, bool, *mut ArrayPtr) -> c_int;
    b2nd_get_slice(ArrayContextPtr, *mut ArrayPtr, ArrayPtr, *const i64, *const i64) -> c_int;
    b2nd_get_slice_cbuffer(ArrayPtr, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;
    b2nd_set_slice_cbuffer(*const c_void, *const i64, i64, *const i64, *const i64, ArrayPtr) -> c_int;
    b2nd_get_sparse_cbuffer(ArrayPtr, i64, *const i64, *mut c_void, i64) -> c_int;
    b2nd_get_orthogonal_selection(ArrayPtr, *mut *mut i64, *mut i64, *mut c_void, *mut i64, i64) -> c_int;
    b2nd_set_orthogonal_selection(ArrayPtr, *mut *mut i64, *mut i64, *const c_void, *mut i64, i64) -> c_int;
    b2nd_squeeze(ArrayPtr, *mut ArrayPtr) -> c_int;
    b2nd_squeeze_index(ArrayPtr, *mut ArrayPtr, *const bool) -> c_int;
    b2nd_expand_dims(ArrayPtr, *mut ArrayPtr, *const bool, u8) -> c_int;
    b2nd_resize(ArrayPtr, *const i64, *const i64) -> c_int;
    b2nd_insert(ArrayPtr, *const c_void, i64, i8, i64) -> c_int;
    b2nd_append(ArrayPtr, *const c_void, i64, i8) -> c_int;
    b2nd_delete(ArrayPtr, i8, i64, i64) -> c_int;
    b2nd_refresh(ArrayPtr) -> c_int;
    b2nd_print_meta(ArrayPtr) -> c_int;
    b2nd_serialize_meta(i8, *const i64, *const i32, *const i32, *const c_char, i8, *mut *mut u8) -> c_int;
    b2nd_deserialize_meta(*const u8, i32, *mut i8, *mut i64, *mut i32, *mut i32, *mut *mut c_char, *mut i8) -> c_int;
    b2nd_copy_buffer(i8, u8, *const c_void, *const i64, *const i64, *const i64, *mut c_void, *const i64, *const i64) -> c_int;
    b2nd_copy_buffer2(i8, i32, *const c_void, *const i64, *const i64, *const i64, *mut c_void, *const i64, *const i64) -> c_int;
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
