//! The head of a context: the struct that tuners and some programs read and write through the context's pointer
//! (`abi.md` 4.3). They may do so between calls of the library and inside callbacks, so no Rust reference to it may
//! exist: each access reads or writes one field.

use crate::abi::{
    BLOSC2_MAX_FILTERS, CBool, ContextHead, blosc2_postfilter_fn, blosc2_postfilter_params,
    blosc2_prefilter_fn, blosc2_prefilter_params, blosc2_schunk,
};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI16, Ordering};

type FilterSlots = [u8; BLOSC2_MAX_FILTERS as usize];

/// The head of a context. C code aliases it.
#[repr(transparent)]
pub(crate) struct ContextHeadCell(UnsafeCell<ContextHead>);

impl ContextHeadCell {
    /// Returns a head with these values.
    ///
    /// # Safety
    /// Pointers and functions in `head` are NULL or valid as the ABI defines for their fields, for as long as the head
    /// lives.
    ///
    /// While a method of the head, or of the context around it, runs, no other code writes the head, and only a
    /// callback of the program changes the super-chunk in it, except the field `current_nchunk`, atomically. C code
    /// that has the pointer writes between calls and in callbacks only, one thread at a time; a super-chunk whose
    /// threads share a context lets one thread at a time use the head.
    #[inline(always)]
    pub(crate) unsafe fn new(head: ContextHead) -> ContextHeadCell {
        ContextHeadCell(UnsafeCell::new(head))
    }
}

impl ContextHeadCell {
    /// The field `nthreads`, which the library accesses only atomically: threads other than the one that uses the
    /// context read it, when they describe the super-chunk.
    fn nthreads_field(&self) -> &AtomicI16 {
        // SAFETY: initialised in `new`; an aligned field that lives as long as the head.
        unsafe { AtomicI16::from_ptr(&raw mut (*self.0.get()).nthreads) }
    }

    #[inline(always)]
    pub(crate) fn nthreads(&self) -> i16 {
        self.nthreads_field().load(Ordering::Relaxed)
    }

    /// Writes the field `nthreads`.
    #[inline(always)]
    pub(crate) fn set_nthreads(&self, value: i16) {
        self.nthreads_field().store(value, Ordering::Relaxed);
    }
}

macro_rules! getters {
    ($($name:ident: $type:ty;)*) => {
        impl ContextHeadCell {
            $(
                #[doc = concat!("Returns the field `", stringify!($name), "`.")]
                #[inline(always)]
                pub(crate) fn $name(&self) -> $type {
                    // SAFETY: initialised in `new`, whose caller guarantees that no other code writes it now. A
                    // callback writes it, but no access spans a callback.
                    unsafe { (*self.0.get()).$name }
                }
            )*
        }
    };
}

macro_rules! setters {
    ($($set:ident, $name:ident: $type:ty;)*) => {
        impl ContextHeadCell {
            $(
                #[doc = concat!("Writes the field `", stringify!($name), "`.")]
                #[inline(always)]
                pub(crate) fn $set(&self, value: $type) {
                    // SAFETY: the caller of `new` guarantees that no other code uses the head now; there are no
                    // references to it.
                    unsafe { (*self.0.get()).$name = value }
                }
            )*
        }
    };
}

getters! {
    src: *const u8;
    dest: *mut u8;
    sourcesize: i32;
    srcsize: i32;
    destsize: i32;
    blocksize: i32;
    splitmode: i32;
    typesize: i32;
    compcode: i32;
    compcode_meta: u8;
    clevel: i32;
    use_dict: i32;
    filters: FilterSlots;
    filters_meta: FilterSlots;
    prefilter: blosc2_prefilter_fn;
    postfilter: blosc2_postfilter_fn;
    preparams: *mut blosc2_prefilter_params;
    postparams: *mut blosc2_postfilter_params;
    block_maskout: *mut CBool;
    schunk: *mut blosc2_schunk;
    do_compress: i32;
    tuner_params: *mut c_void;
    tuner_id: i32;
    codec_params: *mut c_void;
    filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize];
    new_nthreads: i16;
}

setters! {
    set_new_nthreads, new_nthreads: i16;
    set_src, src: *const u8;
    set_dest, dest: *mut u8;
    set_header_flags, header_flags: u8;
    set_blosc2_flags, blosc2_flags: u8;
    set_blosc2_flags2, blosc2_flags2: u8;
    set_sourcesize, sourcesize: i32;
    set_header_overhead, header_overhead: i32;
    set_nblocks, nblocks: i32;
    set_leftover, leftover: i32;
    set_blocksize, blocksize: i32;
    set_splitmode, splitmode: i32;
    set_header_blocksize, header_blocksize: i32;
    set_output_bytes, output_bytes: i32;
    set_srcsize, srcsize: i32;
    set_destsize, destsize: i32;
    set_typesize, typesize: i32;
    set_special_type, special_type: i32;
    set_compcode, compcode: i32;
    set_compcode_meta, compcode_meta: u8;
    set_clevel, clevel: i32;
    set_use_dict, use_dict: i32;
    set_filters, filters: FilterSlots;
    set_filters_meta, filters_meta: FilterSlots;
    set_block_maskout, block_maskout: *mut CBool;
    set_block_maskout_nitems, block_maskout_nitems: i32;
    set_do_compress, do_compress: i32;
    set_thread_backend, thread_backend: i16;
    set_threads_started, threads_started: i16;
    set_thread_pool, thread_pool: *mut c_void;
}

macro_rules! unsafe_setters {
    ($($set:ident, $name:ident: $type:ty;)*) => {
        impl ContextHeadCell {
            $(
                #[doc = concat!("Writes the field `", stringify!($name), "`, which jobs follow.")]
                ///
                /// # Safety
                /// The value is NULL or valid as the ABI defines for the field, for as long as the head has it. A
                /// super-chunk does not change while a method of the context runs: see [`ContextHeadCell::new`].
                pub(crate) unsafe fn $set(&self, value: $type) {
                    // SAFETY: the caller of `new` guarantees that no other code uses the head now; there are no
                    // references to it.
                    unsafe { (*self.0.get()).$name = value }
                }
            )*
        }
    };
}

unsafe_setters! {
    set_prefilter, prefilter: blosc2_prefilter_fn;
    set_preparams, preparams: *mut blosc2_prefilter_params;
    set_schunk, schunk: *mut blosc2_schunk;
    set_tuner_id, tuner_id: i32;
    set_tuner_params, tuner_params: *mut c_void;
    set_codec_params, codec_params: *mut c_void;
    set_filter_params, filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize];
}
