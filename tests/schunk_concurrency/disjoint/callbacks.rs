//! How the chunk of these tests is compressed and read: by the library alone, or with user-defined functions, which
//! may call a function of the test.

use std::cell::RefCell;
use std::ffi::c_int;
use std::ptr;
use std::sync::Once;

use blosc2::abi::{
    blosc2_cparams, blosc2_dparams, blosc2_filter, blosc2_postfilter_params, blosc2_prefilter_params,
};

use super::ITEM_SIZE;
use crate::support::calls::{Params, dparams};
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

/// How the chunk is compressed and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineKind {
    /// Unchanged blocks are copied without recompression.
    Plain,
    /// Other blocks depend on the first one: the chunk is decoded and compressed as a whole.
    Delta,
    /// Compression calls a user-defined function.
    Prefilter,
    /// Decompression calls a user-defined function.
    Postfilter,
    /// Decoding the initial chunk calls a user-defined function; chunks that replace it are compressed by the library
    /// alone.
    UserFilter,
}

/// The id of the filter of [`PipelineKind::UserFilter`].
const COPY_FILTER: u8 = 201;

impl PipelineKind {
    pub const ALL: [PipelineKind; 4] =
        [PipelineKind::Plain, PipelineKind::Delta, PipelineKind::Prefilter, PipelineKind::Postfilter];

    /// Returns the parameters with which the chunk is created.
    pub fn params(self) -> Params {
        let filters = match self {
            PipelineKind::Delta => [0, 0, 0, 0, 3, 1],
            PipelineKind::UserFilter => [0, 0, 0, 0, COPY_FILTER, 1],
            _ => [0, 0, 0, 0, 0, 1],
        };
        if self == PipelineKind::UserFilter {
            register_filter();
        }
        Params { codec: 1, typesize: ITEM_SIZE as i32, filters, ..Params::default() }
    }

    /// Replaces the contexts of a super-chunk, which no other thread uses yet, by contexts with the functions, as C
    /// programs do.
    pub fn install_contexts(self, schunk: &SuperChunk, blocksize: i32) {
        match self {
            PipelineKind::Plain | PipelineKind::Delta => {}
            PipelineKind::Prefilter => replace_cctx(schunk, Some(copying_prefilter), blocksize),
            PipelineKind::UserFilter => replace_cctx(schunk, None, blocksize),
            PipelineKind::Postfilter => replace_dctx(schunk, copying_postfilter),
        }
    }
}

type Prefilter = unsafe extern "C" fn(*mut blosc2_prefilter_params) -> i32;
type Postfilter = unsafe extern "C" fn(*mut blosc2_postfilter_params) -> i32;

/// Replaces the compression context by one whose only user-defined function is the prefilter.
fn replace_cctx(schunk: &SuperChunk, prefilter: Option<Prefilter>, blocksize: i32) {
    // SAFETY: plain numbers and pointers that may be NULL.
    let mut preparams: blosc2_prefilter_params = unsafe { std::mem::zeroed() };
    let mut cparams = Params { blocksize, ..PipelineKind::Plain.params() }.cparams();
    cparams.prefilter = prefilter;
    cparams.preparams = &mut preparams;
    cparams.schunk = schunk.raw().cast();
    // SAFETY: a live super-chunk that no other thread uses; its old context is freed once, and the parameters are
    // copied.
    unsafe {
        let cctx = (schunk.library.blosc2_create_cctx)(cparams);
        assert!(!cctx.is_null());
        (schunk.library.blosc2_free_ctx)((*schunk.raw()).cctx);
        (*schunk.raw()).cctx = cctx;
    }
}

/// Replaces the decompression context by one with a postfilter.
fn replace_dctx(schunk: &SuperChunk, postfilter: Postfilter) {
    // SAFETY: plain numbers and pointers that may be NULL.
    let mut postparams: blosc2_postfilter_params = unsafe { std::mem::zeroed() };
    let mut dparams = dparams(1);
    dparams.postfilter = Some(postfilter);
    dparams.postparams = &mut postparams;
    dparams.schunk = schunk.raw().cast();
    // SAFETY: as in `replace_cctx`.
    unsafe {
        let dctx = (schunk.library.blosc2_create_dctx)(dparams);
        assert!(!dctx.is_null());
        (schunk.library.blosc2_free_ctx)((*schunk.raw()).dctx);
        (*schunk.raw()).dctx = dctx;
    }
}

/// A function of the test. Returns whether it must be called again.
type Hook = Box<dyn FnMut() -> bool>;

thread_local! {
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// Sets `hook`, which the user-defined functions call on this thread, except while `hook` runs.
pub fn set_hook(hook: Option<Hook>) {
    HOOK.set(hook);
}

fn call_hook() {
    if let Some(mut hook) = HOOK.take()
        && hook()
    {
        HOOK.set(Some(hook));
    }
}

unsafe extern "C" fn copying_prefilter(params: *mut blosc2_prefilter_params) -> i32 {
    call_hook();
    // SAFETY: the library passes a block of the source and a buffer of the same size to fill.
    unsafe {
        ptr::copy_nonoverlapping((*params).input, (*params).output, (*params).output_size as usize);
    }
    0
}

unsafe extern "C" fn copying_postfilter(params: *mut blosc2_postfilter_params) -> i32 {
    call_hook();
    // SAFETY: the library passes a block and a buffer of the same size to fill.
    unsafe { ptr::copy_nonoverlapping((*params).input, (*params).output, (*params).size as usize) };
    0
}

unsafe extern "C" fn forward(
    src: *const u8,
    dest: *mut u8,
    size: i32,
    _meta: u8,
    _cparams: *mut blosc2_cparams,
    _id: u8,
) -> c_int {
    // SAFETY: the library passes a block and a buffer of the same size to fill.
    unsafe { ptr::copy_nonoverlapping(src, dest, size as usize) };
    0
}

unsafe extern "C" fn backward(
    src: *const u8,
    dest: *mut u8,
    size: i32,
    _meta: u8,
    _dparams: *mut blosc2_dparams,
    _id: u8,
) -> c_int {
    call_hook();
    // SAFETY: as in `forward`.
    unsafe { ptr::copy_nonoverlapping(src, dest, size as usize) };
    0
}

fn register_filter() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut filter = blosc2_filter {
            id: COPY_FILTER,
            name: c"copy".as_ptr().cast_mut(),
            version: 1,
            forward: Some(forward),
            backward: Some(backward),
        };
        // SAFETY: a valid struct with a static name and functions that follow the contract.
        assert_eq!(unsafe { (Library::ours().blosc2_register_filter)(&mut filter) }, 0);
    });
}
