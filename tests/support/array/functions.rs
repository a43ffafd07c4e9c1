//! The array functions of a loaded library (abi.md 2.7) as typed pointers. They are resolved on first use, so that
//! other tests do not require these symbols.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

use blosc2::abi::{b2nd_array_t, b2nd_context_t, blosc2_metalayer, blosc2_schunk, blosc2_storage};

use crate::support::library::{Library, path_of_ours, path_of_reference};

/// A pointer to an array, as C declares it.
pub type Raw = *mut b2nd_array_t;
/// A pointer to creation parameters, as C declares it.
pub type RawContext = *mut b2nd_context_t;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        /// One typed pointer per function.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Functions {
            fn resolve(path: &Path) -> Functions {
                // SAFETY: the library is loaded already; this only increments its reference count.
                let loaded = unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
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
    b2nd_create_ctx(*const blosc2_storage, i8, *const i64, *const i32, *const i32, *const c_char, i8, *const blosc2_metalayer, i32) -> RawContext;
    b2nd_free_ctx(RawContext) -> c_int;
    b2nd_uninit(RawContext, *mut Raw) -> c_int;
    b2nd_empty(RawContext, *mut Raw) -> c_int;
    b2nd_zeros(RawContext, *mut Raw) -> c_int;
    b2nd_nans(RawContext, *mut Raw) -> c_int;
    b2nd_full(RawContext, *mut Raw, *const c_void) -> c_int;
    b2nd_from_cbuffer(RawContext, *mut Raw, *const c_void, i64) -> c_int;
    b2nd_to_cbuffer(Raw, *mut c_void, i64) -> c_int;
    b2nd_free(Raw) -> c_int;
    b2nd_from_schunk(*mut blosc2_schunk, *mut Raw) -> c_int;
    b2nd_to_cframe(Raw, *mut *mut u8, *mut i64, *mut bool) -> c_int;
    b2nd_from_cframe(*mut u8, i64, bool, *mut Raw) -> c_int;
    b2nd_open(*const c_char, *mut Raw) -> c_int;
    b2nd_open_offset(*const c_char, *mut Raw, i64) -> c_int;
    b2nd_save(Raw, *mut c_char) -> c_int;
    b2nd_save_append(Raw, *const c_char) -> i64;
    b2nd_copy(RawContext, Raw, *mut Raw) -> c_int;
    b2nd_concatenate(RawContext, Raw, Raw, i8, bool, *mut Raw) -> c_int;
    b2nd_get_slice(RawContext, *mut Raw, Raw, *const i64, *const i64) -> c_int;
    b2nd_get_slice_cbuffer(Raw, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;
    b2nd_set_slice_cbuffer(*const c_void, *const i64, i64, *const i64, *const i64, Raw) -> c_int;
    b2nd_get_sparse_cbuffer(Raw, i64, *const i64, *mut c_void, i64) -> c_int;
    b2nd_get_orthogonal_selection(Raw, *mut *mut i64, *mut i64, *mut c_void, *mut i64, i64) -> c_int;
    b2nd_set_orthogonal_selection(Raw, *mut *mut i64, *mut i64, *const c_void, *mut i64, i64) -> c_int;
    b2nd_squeeze(Raw, *mut Raw) -> c_int;
    b2nd_squeeze_index(Raw, *mut Raw, *const bool) -> c_int;
    b2nd_expand_dims(Raw, *mut Raw, *const bool, u8) -> c_int;
    b2nd_resize(Raw, *const i64, *const i64) -> c_int;
    b2nd_insert(Raw, *const c_void, i64, i8, i64) -> c_int;
    b2nd_append(Raw, *const c_void, i64, i8) -> c_int;
    b2nd_delete(Raw, i8, i64, i64) -> c_int;
    b2nd_refresh(Raw) -> c_int;
    b2nd_print_meta(Raw) -> c_int;
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
