//! Array functions when memory runs out.

use std::ffi::CString;
use std::ptr::null_mut;

use blosc2::abi::{
    b2nd_array_t, b2nd_context_t, blosc2_cparams, blosc2_dparams, blosc2_schunk, blosc2_storage,
};
use blosc2::capi::defaults::{
    blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults,
    blosc2_get_blosc2_storage_defaults,
};

use crate::injection::{count_kept_mallocs, with_one_failed_malloc};
use crate::support::exported::{
    b2nd_create_ctx, b2nd_free, b2nd_free_ctx, b2nd_from_schunk, b2nd_zeros, blosc2_schunk_copy,
    blosc2_schunk_free,
};

const MEMORY_ALLOC: i32 = -4;

/// The parameters that a storage points to.
struct Params {
    cparams: blosc2_cparams,
    dparams: blosc2_dparams,
}

impl Params {
    fn new() -> Params {
        let cparams = blosc2_cparams { typesize: 4, ..blosc2_get_blosc2_cparams_defaults() };
        Params { cparams, dparams: blosc2_get_blosc2_dparams_defaults() }
    }

    fn storage(&mut self) -> blosc2_storage {
        blosc2_storage {
            cparams: &raw mut self.cparams,
            dparams: &raw mut self.dparams,
            ..blosc2_get_blosc2_storage_defaults()
        }
    }
}

/// Returns the context of an array of 10 x 20 items whose data type has a long name; NULL after an error.
fn try_create_context(params: &mut Params) -> *mut b2nd_context_t {
    let dtype = CString::new(vec![b'T'; 777]).expect("no NUL");
    let storage = params.storage();
    // SAFETY: lists with one number per dimension; no metalayers; everything is copied.
    unsafe {
        b2nd_create_ctx(
            &storage,
            2,
            [10i64, 20].as_ptr(),
            [5i32, 5].as_ptr(),
            [5i32, 5].as_ptr(),
            dtype.as_ptr(),
            0,
            std::ptr::null(),
            0,
        )
    }
}

fn create_context(params: &mut Params) -> *mut b2nd_context_t {
    let ctx = try_create_context(params);
    assert!(!ctx.is_null());
    ctx
}

/// Returns a super-chunk with an array metalayer that no array owns yet.
fn create_schunk_with_b2nd_metalayer() -> *mut blosc2_schunk {
    let mut params = Params::new();
    let ctx = create_context(&mut params);
    let mut array = null_mut();
    let mut storage = params.storage();
    // SAFETY: a live context, a live array, and a storage whose parameters are live.
    unsafe {
        assert_eq!(b2nd_zeros(ctx, &mut array), 0);
        let copy = blosc2_schunk_copy((*array).sc, &mut storage);
        assert!(!copy.is_null());
        assert_eq!(b2nd_free(array), 0);
        assert_eq!(b2nd_free_ctx(ctx), 0);
        copy
    }
}

/// If no array can be created from a super-chunk, the caller keeps it: it is unchanged, an array can be created from
/// it once memory is available again, and it is freed once.
#[test]
fn failed_b2nd_from_schunk_leaves_the_super_chunk_unchanged() {
    let mut failures = 0;
    for succeeding in 0.. {
        let schunk = create_schunk_with_b2nd_metalayer();
        let mut array: *mut b2nd_array_t = null_mut();
        // SAFETY: a live super-chunk and an out-pointer.
        let make = |array: &mut *mut b2nd_array_t| unsafe { b2nd_from_schunk(schunk, array) };
        let (code, has_failed) = with_one_failed_malloc(succeeding, || make(&mut array));
        if !has_failed {
            assert_eq!(code, 0);
            // SAFETY: a live array that owns its super-chunk.
            unsafe { assert_eq!(b2nd_free(array), 0) };
            break;
        }
        failures += 1;
        assert_eq!((code, array), (MEMORY_ALLOC, null_mut()));
        // SAFETY: still the caller's super-chunk.
        unsafe { assert_eq!(((*schunk).nchunks, (*schunk).nbytes), (8, 800)) };
        if succeeding % 2 == 0 {
            assert_eq!(make(&mut array), 0);
            // SAFETY: a live array that owns its super-chunk.
            unsafe { assert_eq!(b2nd_free(array), 0) };
        } else {
            // SAFETY: the caller's super-chunk, which is not used afterwards.
            unsafe { assert_eq!(blosc2_schunk_free(schunk), 0) };
        }
    }
    assert!(failures >= 1, "expected a failure in the copy of the data type at least");
}

/// A context that cannot be completed is freed with all its parts.
#[test]
fn failed_b2nd_create_ctx_frees_its_parts() {
    let mut params = Params::new();
    let mut failures = 0;
    for succeeding in 0.. {
        let ((ctx, has_failed), kept) =
            count_kept_mallocs(|| with_one_failed_malloc(succeeding, || try_create_context(&mut params)));
        if !has_failed {
            // SAFETY: a live context, freed once.
            let (code, freed) = count_kept_mallocs(|| unsafe { b2nd_free_ctx(ctx) });
            assert_eq!((code, freed), (0, -kept));
            break;
        }
        failures += 1;
        assert_eq!((ctx, kept), (null_mut(), 0), "after {succeeding} allocations");
    }
    assert!(
        failures >= 4,
        "expected failures in the context, its data type, storage and parameters: {failures}"
    );
}
