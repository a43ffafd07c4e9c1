//! The head of a context: the struct that tuners and some programs read and write through the context's pointer
//! (`abi.md` 4.3). They may do so between calls of the library and inside callbacks, so there is never a reference to it:
//! each access reads or writes one field.

use crate::abi::{
    BLOSC2_MAX_FILTERS, CBool, ContextHead, blosc2_postfilter_fn, blosc2_postfilter_params,
    blosc2_prefilter_fn, blosc2_prefilter_params, blosc2_schunk,
};
use std::cell::UnsafeCell;
use std::ffi::c_void;

type FilterBytes = [u8; BLOSC2_MAX_FILTERS as usize];

/// The head of a context. C code aliases it.
#[repr(transparent)]
pub struct Head(UnsafeCell<ContextHead>);

impl Head {
    /// A head with these values.
    pub fn new(head: ContextHead) -> Head {
        Head(UnsafeCell::new(head))
    }
}

macro_rules! fields {
    ($($name:ident, $set:ident: $type:ty;)*) => {
        impl Head {
            $(
                #[doc = concat!("Returns the field `", stringify!($name), "`.")]
                #[inline(always)]
                pub fn $name(&self) -> $type {
                    // SAFETY: initialised in `new`, and no one else writes it now: `Head` is not `Sync`, and C code that
                    // has the pointer runs between calls, or in a callback, which no access spans.
                    unsafe { (*self.0.get()).$name }
                }

                #[doc = concat!("Writes the field `", stringify!($name), "`.")]
                #[inline(always)]
                pub fn $set(&self, value: $type) {
                    // SAFETY: as above; there are no references to the head.
                    unsafe { (*self.0.get()).$name = value }
                }
            )*
        }
    };
}

fields! {
    src, set_src: *const u8;
    dest, set_dest: *mut u8;
    header_flags, set_header_flags: u8;
    blosc2_flags, set_blosc2_flags: u8;
    blosc2_flags2, set_blosc2_flags2: u8;
    sourcesize, set_sourcesize: i32;
    header_overhead, set_header_overhead: i32;
    nblocks, set_nblocks: i32;
    leftover, set_leftover: i32;
    blocksize, set_blocksize: i32;
    header_blocksize, set_header_blocksize: i32;
    splitmode, set_splitmode: i32;
    output_bytes, set_output_bytes: i32;
    srcsize, set_srcsize: i32;
    destsize, set_destsize: i32;
    typesize, set_typesize: i32;
    special_type, set_special_type: i32;
    compcode, set_compcode: i32;
    compcode_meta, set_compcode_meta: u8;
    clevel, set_clevel: i32;
    use_dict, set_use_dict: i32;
    filters, set_filters: FilterBytes;
    filters_meta, set_filters_meta: FilterBytes;
    prefilter, set_prefilter: blosc2_prefilter_fn;
    postfilter, set_postfilter: blosc2_postfilter_fn;
    preparams, set_preparams: *mut blosc2_prefilter_params;
    postparams, set_postparams: *mut blosc2_postfilter_params;
    block_maskout, set_block_maskout: *mut CBool;
    block_maskout_nitems, set_block_maskout_nitems: i32;
    schunk, set_schunk: *mut blosc2_schunk;
    do_compress, set_do_compress: i32;
    tuner_params, set_tuner_params: *mut c_void;
    tuner_id, set_tuner_id: i32;
    codec_params, set_codec_params: *mut c_void;
    filter_params, set_filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize];
    nthreads, set_nthreads: i16;
    new_nthreads, set_new_nthreads: i16;
    thread_backend, set_thread_backend: i16;
    threads_started, set_threads_started: i16;
    thread_pool, set_thread_pool: *mut c_void;
}
