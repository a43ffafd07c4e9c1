//! Btune 1.2.1, which was built for the contexts of C-Blosc2 2.19 (`abi.md` 4.3).
//!
//! The hooks of such a plugin get a copy of the context in that layout. Their choice is copied back.

use super::ContextHeadCell;
use crate::abi::{BLOSC_BTUNE, BLOSC2_MAX_FILTERS, BLOSC2_MAX_UDFILTERS, blosc2_context, blosc2_filter};
use once_cell::race::OnceBool;
use std::ffi::c_void;
use std::mem::{self, MaybeUninit};
use std::ptr;

/// Whether the plugin of Btune uses the old layout. Empty until the plugin has initialised a context: a process loads one
/// plugin for this id, which stays loaded.
static BTUNE_USES_OLD_LAYOUT: OnceBool = OnceBool::new();

/// Returns whether the hooks of the tuner `id`, which has initialised a context, use the old layout.
pub(super) fn is_used_by(id: i32) -> bool {
    id == BLOSC_BTUNE && BTUNE_USES_OLD_LAYOUT.get() == Some(true)
}

/// Returns whether the hooks of the tuner `id` use the old layout, or may do so.
pub(super) fn may_be_used_by(id: i32) -> bool {
    id == BLOSC_BTUNE && BTUNE_USES_OLD_LAYOUT.get() != Some(false)
}

/// The beginning of a context of C-Blosc2 2.19. Fields that Btune does not access are 0, and those between two others are
/// combined.
#[repr(C)]
pub(super) struct OldContext {
    src: *mut u8,
    dest: *mut u8,
    flags: [u8; 2],
    sourcesize: i32,
    header_overhead_to_leftover: [i32; 3],
    blocksize: i32,
    splitmode: i32,
    output_bytes: i32,
    srcsize: i32,
    destsize: i32,
    typesize: i32,
    bstarts: *mut i32,
    special_type: i32,
    compcode: i32,
    compcode_meta: u8,
    clevel: i32,
    use_dict: i32,
    dict_buffer: *mut c_void,
    dict_size: i32,
    dict_cdict_and_ddict: [*mut c_void; 2],
    filter_flags: u8,
    filters: [u8; BLOSC2_MAX_FILTERS as usize],
    filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    urfilters: [blosc2_filter; BLOSC2_MAX_UDFILTERS as usize],
    prefilter_to_block_maskout: [*mut c_void; 5],
    block_maskout_nitems: i32,
    /// NULL: Btune writes its state into a super-chunk at the offsets of C-Blosc2 2.19, and does not read it there.
    schunk: *mut c_void,
    serial_context: *mut c_void,
    do_compress: i32,
    tuner_params: *mut c_void,
    tuner_id: i32,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize],
    nthreads: i16,
    new_nthreads: i16,
    /// The state of the threads, and space up to the size of a present context.
    rest: [u64; 51],
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(mem::offset_of!(OldContext, blocksize) == 36);
    assert!(mem::offset_of!(OldContext, compcode) == 76);
    assert!(mem::offset_of!(OldContext, filters) == 129);
    assert!(mem::offset_of!(OldContext, schunk) == 832);
    assert!(mem::offset_of!(OldContext, tuner_params) == 856);
    assert!(mem::offset_of!(OldContext, new_nthreads) == 930);
    assert!(size_of::<OldContext>() == size_of::<crate::abi::ContextHead>());
};

impl OldContext {
    /// Returns a copy of the fields that Btune reads.
    pub(super) fn from_head(head: &ContextHeadCell) -> OldContext {
        // Sources that are not one buffer have no address: without these, Btune neither reads nor decompresses.
        let has_source = !head.src().is_null();
        OldContext {
            src: head.src().cast_mut(),
            dest: if has_source { head.dest() } else { ptr::null_mut() },
            sourcesize: head.sourcesize(),
            blocksize: head.blocksize(),
            splitmode: head.splitmode(),
            srcsize: if has_source { head.srcsize() } else { 0 },
            destsize: head.destsize(),
            typesize: head.typesize(),
            compcode: head.compcode(),
            compcode_meta: head.compcode_meta(),
            clevel: head.clevel(),
            filters: head.filters(),
            filters_meta: head.filters_meta(),
            do_compress: head.do_compress(),
            tuner_params: head.tuner_params(),
            tuner_id: head.tuner_id(),
            nthreads: head.nthreads(),
            new_nthreads: head.new_nthreads(),
            // SAFETY: all fields are integers, pointers and arrays of them, for which zero is valid.
            ..unsafe { mem::zeroed() }
        }
    }

    /// Returns the pointer that hooks get.
    pub(super) fn as_ptr(&mut self) -> *mut blosc2_context {
        ptr::from_mut(self).cast()
    }

    /// Calls `init`, which gets no state. Returns its code, or `None` if the plugin does not use this layout: its state is
    /// then lost, once per process.
    pub(super) fn init(head: &ContextHeadCell, init: impl FnOnce(*mut blosc2_context) -> i32) -> Option<i32> {
        let mut context = OldContext::from_head(head);
        let code = init(context.as_ptr());
        if code < 0 {
            return Some(code);
        }
        let is_old = !context.tuner_params.is_null();
        let is_old = BTUNE_USES_OLD_LAYOUT.get_or_init(|| is_old);
        // SAFETY: the state that the tuner has made for this context.
        is_old.then(|| unsafe { head.set_tuner_params(context.tuner_params) });
        is_old.then_some(code)
    }

    /// Calls a hook that chooses parameters, and stores them in `head`.
    pub(super) fn choose(head: &ContextHeadCell, choose: impl FnOnce(*mut blosc2_context) -> i32) -> i32 {
        let mut context = OldContext::from_head(head);
        let code = choose(context.as_ptr());
        head.set_compcode(context.compcode);
        head.set_compcode_meta(context.compcode_meta);
        head.set_clevel(context.clevel);
        head.set_splitmode(context.splitmode);
        head.set_blocksize(context.blocksize);
        head.set_filters(context.filters);
        head.set_filters_meta(context.filters_meta);
        head.set_new_nthreads(context.new_nthreads);
        code
    }

    /// Calls `update`. If Btune includes the speed of decompression, it decompresses the chunk to `src`: it gets another
    /// buffer, because the source must not be written.
    pub(super) fn update(head: &ContextHeadCell, update: impl FnOnce(*mut blosc2_context) -> i32) -> i32 {
        let mut context = OldContext::from_head(head);
        let mut decompressed: Vec<MaybeUninit<u8>> = Vec::new();
        match decompressed.try_reserve_exact(usize::try_from(context.sourcesize).unwrap_or(0)) {
            Ok(()) => context.src = decompressed.as_mut_ptr().cast(),
            // Btune does not decompress without this address.
            Err(_) => context.dest = ptr::null_mut(),
        }
        update(context.as_ptr())
    }
}
