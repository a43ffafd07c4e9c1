//! The library that is linked into the target, with the interface that `tests/support` has for a loaded library.

use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::os::unix::Library as Program;

use blosc2::abi::{blosc2_context, blosc2_cparams, blosc2_dparams};
use blosc2::capi;

/// An opaque context.
pub type Context = *mut blosc2_context;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions for chunks.
        pub struct Library {
            /// The name of the library in messages.
            pub name: &'static str,
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Library {
            fn linked() -> Library {
                let program = Program::this();
                Library {
                    name: "ours",
                    // SAFETY: the symbol is the function of that name in the ABI; abi.md 2 specifies its type.
                    $($name: *unsafe { program.get(stringify!($name)) }.expect(stringify!($name)),)*
                }
            }
        }
    };
}

functions! {
    blosc2_create_cctx(blosc2_cparams) -> Context;
    blosc2_create_dctx(blosc2_dparams) -> Context;
    blosc2_free_ctx(Context);
    blosc2_ctx_get_cparams(Context, *mut blosc2_cparams) -> c_int;
    blosc2_ctx_get_dparams(Context, *mut blosc2_dparams) -> c_int;
    blosc2_set_maskout(Context, *mut u8, c_int) -> c_int;
    blosc2_compress_ctx(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress_ctx(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem_ctx(Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_getitem_bytes_ctx(Context, *const c_void, i32, i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vlcompress_ctx(Context, *const *const c_void, *const i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vldecompress_ctx(Context, *const c_void, i32, *mut *mut c_void, *mut i32, i32) -> c_int;
    blosc2_vldecompress_block_ctx(Context, *const c_void, i32, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlchunk_get_nblocks(*const c_void, i32, *mut i32) -> c_int;
    blosc2_chunk_zeros(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_nans(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_uninit(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_repeatval(blosc2_cparams, i32, *mut c_void, i32, *const c_void) -> c_int;
    blosc1_cbuffer_sizes(*const c_void, *mut usize, *mut usize, *mut usize);
    blosc2_cbuffer_sizes(*const c_void, *mut i32, *mut i32, *mut i32) -> c_int;
    blosc1_cbuffer_validate(*const c_void, usize, *mut usize) -> c_int;
    blosc1_cbuffer_metainfo(*const c_void, *mut usize, *mut c_int);
    blosc2_cbuffer_versions(*const c_void, *mut c_int, *mut c_int);
    blosc2_cbuffer_complib(*const c_void) -> *const c_char;
    blosc1_decompress(*const c_void, *mut c_void, usize) -> c_int;
    blosc1_getitem(*const c_void, c_int, c_int, *mut c_void) -> c_int;
}

impl Library {
    /// Returns the linked library.
    pub fn ours() -> &'static Library {
        static OURS: OnceLock<Library> = OnceLock::new();
        OURS.get_or_init(|| {
            capi::process::blosc2_init();
            Library::linked()
        })
    }

    /// Returns false: no target loads the reference.
    pub fn is_reference(&self) -> bool {
        false
    }
}

/// Returns the name under which `dlopen` finds the program itself.
pub fn path_of_ours() -> PathBuf {
    PathBuf::new()
}

/// Returns `None`: the exported functions of the program would interpose those of the reference.
pub fn path_of_reference() -> Option<PathBuf> {
    None
}

/// The address of a function. It is never dereferenced.
struct Address(#[allow(dead_code)] *const ());
// SAFETY: nothing dereferences the address.
unsafe impl Sync for Address {}

macro_rules! exported {
    ($($module:ident: $($name:ident)*;)*) => {
        /// The functions that are looked up by name, so that the linker keeps them.
        #[allow(deprecated)]
        #[used]
        static EXPORTED: &[Address] = &[$($(Address(capi::$module::$name as *const ())),*),*];
    };
}

exported! {
    b2nd_context: b2nd_create_ctx b2nd_free_ctx;
    b2nd: b2nd_uninit b2nd_empty b2nd_zeros b2nd_nans b2nd_full
        b2nd_from_cbuffer b2nd_free b2nd_from_schunk b2nd_to_cframe b2nd_from_cframe b2nd_open
        b2nd_open_offset b2nd_save b2nd_save_append b2nd_copy b2nd_concatenate b2nd_get_slice;
    b2nd_items: b2nd_to_cbuffer b2nd_get_slice_cbuffer b2nd_set_slice_cbuffer b2nd_resize b2nd_insert
        b2nd_append b2nd_delete b2nd_refresh b2nd_print_meta;
    b2nd_meta: b2nd_serialize_meta b2nd_deserialize_meta b2nd_copy_buffer b2nd_copy_buffer2;
    b2nd_selection: b2nd_get_sparse_cbuffer b2nd_get_orthogonal_selection b2nd_set_orthogonal_selection
        b2nd_squeeze b2nd_squeeze_index b2nd_expand_dims;
    blosc1: blosc1_decompress blosc1_getitem;
    chunk_info: blosc1_cbuffer_sizes blosc2_cbuffer_sizes blosc1_cbuffer_validate blosc1_cbuffer_metainfo
        blosc2_cbuffer_versions blosc2_cbuffer_complib;
    context: blosc2_create_cctx blosc2_create_dctx blosc2_free_ctx blosc2_ctx_get_cparams
        blosc2_ctx_get_dparams blosc2_set_maskout blosc2_compress_ctx blosc2_decompress_ctx
        blosc2_getitem_ctx blosc2_getitem_bytes_ctx;
    io: blosc2_register_io_cb blosc2_get_io_cb;
    metalayers: blosc2_meta_add blosc2_meta_update blosc2_vlmeta_exists blosc2_vlmeta_add
        blosc2_vlmeta_update blosc2_vlmeta_get blosc2_vlmeta_delete blosc2_vlmeta_get_names;
    schunk: blosc2_schunk_new blosc2_schunk_copy blosc2_schunk_free blosc2_schunk_open
        blosc2_schunk_open_offset blosc2_schunk_open_udio blosc2_schunk_open_offset_udio
        blosc2_schunk_from_buffer blosc2_schunk_avoid_cframe_free blosc2_schunk_to_buffer
        blosc2_schunk_to_file blosc2_schunk_append_file blosc2_schunk_lock blosc2_schunk_unlock
        blosc2_schunk_refresh blosc2_schunk_get_cparams blosc2_schunk_get_dparams blosc2_schunk_frame_len
        blosc2_frame_get_offsets blosc2_get_slice_nchunks;
    schunk_chunks: blosc2_schunk_append_chunk blosc2_schunk_insert_chunk blosc2_schunk_update_chunk
        blosc2_schunk_delete_chunk blosc2_schunk_append_buffer blosc2_schunk_decompress_chunk
        blosc2_schunk_get_chunk blosc2_schunk_get_lazychunk blosc2_schunk_get_vlblock
        blosc2_schunk_get_slice_buffer blosc2_schunk_set_slice_buffer blosc2_schunk_get_sparse_buffer
        blosc2_schunk_reorder_offsets blosc2_schunk_fill_special;
    special_chunks: blosc2_chunk_zeros blosc2_chunk_nans blosc2_chunk_uninit blosc2_chunk_repeatval;
    varlen: blosc2_vlcompress_ctx blosc2_vldecompress_ctx blosc2_vldecompress_block_ctx
        blosc2_vlchunk_get_nblocks;
}
