//! Passes NULL for each pointer that is checked according to the document; the arrays are unchanged.

use std::ptr::{null, null_mut};

use blosc2::abi::blosc2_schunk;

use crate::sequence_state::{SequenceState, StepResult};
use crate::support::array::functions::{ArrayPtr, Functions};

/// The super-chunk of an array.
fn schunk_of(array: ArrayPtr) -> *mut blosc2_schunk {
    // SAFETY: a live array.
    unsafe { (*array).sc }
}

/// A call with a NULL argument.
type Call = fn(&Functions, ArrayPtr) -> i64;

macro_rules! calls {
    ($f:ident, $a:ident; $($what:literal, $code:literal: $name:ident($($arg:expr),*);)*) => {
        /// Expected return codes (b2nd.md 6).
        const CALLS: &[(&str, Call, i64)] = &[
            $(($what, |$f, $a| {
                let _ = $a;
                // SAFETY: a live array where one is passed; NULL pointers are checked (b2nd.md 6), and other pointers
                // refer to enough memory.
                i64::from(unsafe { ($f.$name)($($arg),*) })
            }, $code),)*
        ];
    };
}

calls! {
    f, a;
    "zeros", -32: b2nd_zeros(null_mut(), &mut null_mut());
    "empty", -32: b2nd_empty(null_mut(), &mut null_mut());
    "uninit", -32: b2nd_uninit(null_mut(), &mut null_mut());
    "nans", -32: b2nd_nans(null_mut(), &mut null_mut());
    "full", -32: b2nd_full(null_mut(), &mut null_mut(), [0u8; 400].as_ptr().cast());
    "from_cbuffer", -32: b2nd_from_cbuffer(null_mut(), &mut null_mut(), [0u8].as_ptr().cast(), 1);
    "to_cbuffer array", -32: b2nd_to_cbuffer(null_mut(), [0u8].as_mut_ptr().cast(), 1);
    "to_cbuffer buffer", -32: b2nd_to_cbuffer(a, null_mut(), 1);
    "free", -32: b2nd_free(null_mut());
    "from_schunk", -32: b2nd_from_schunk(null_mut(), &mut null_mut());
    "from_schunk array", -32: b2nd_from_schunk(schunk_of(a), null_mut());
    "to_cframe array", -32: b2nd_to_cframe(null_mut(), &mut null_mut(), &mut 0, &mut false);
    "to_cframe cframe", -32: b2nd_to_cframe(a, null_mut(), &mut 0, &mut false);
    "to_cframe len", -32: b2nd_to_cframe(a, &mut null_mut(), null_mut(), &mut false);
    "to_cframe needs_free", -32: b2nd_to_cframe(a, &mut null_mut(), &mut 0, null_mut());
    "from_cframe", -32: b2nd_from_cframe(null_mut(), 100, true, &mut null_mut());
    "from_cframe array", -32: b2nd_from_cframe([0u8; 100].as_mut_ptr(), 100, true, null_mut());
    "open", -32: b2nd_open(null(), &mut null_mut());
    "open array", -32: b2nd_open(c"/nonexistent/file".as_ptr(), null_mut());
    "open missing", -32: b2nd_open(c"/nonexistent/file".as_ptr(), &mut null_mut());
    "open_offset", -32: b2nd_open_offset(null(), &mut null_mut(), 0);
    "save array", -32: b2nd_save(null_mut(), c"/nonexistent/file".as_ptr().cast_mut());
    "save path", -32: b2nd_save(a, null_mut());
    "save_append array", -32: b2nd_save_append(null_mut(), c"/nonexistent/file".as_ptr());
    "save_append path", -12: b2nd_save_append(a, null());
    "copy src", -32: b2nd_copy(null_mut(), null_mut(), &mut null_mut());
    "concatenate src1", -32: b2nd_concatenate(null_mut(), null_mut(), a, 0, false, &mut null_mut());
    "concatenate src2", -32: b2nd_concatenate(null_mut(), a, null_mut(), 0, false, &mut null_mut());
    "concatenate array", -32: b2nd_concatenate(null_mut(), a, a, 0, false, null_mut());
    "get_slice src", -32: b2nd_get_slice(null_mut(), &mut null_mut(), null_mut(), [0; 16].as_ptr(), [0; 16].as_ptr());
    "get array", -32: b2nd_get_slice_cbuffer(null_mut(), [0].as_ptr(), [0].as_ptr(), [0u8].as_mut_ptr().cast(), [0].as_ptr(), 1);
    "get start", -32: b2nd_get_slice_cbuffer(a, null(), [0; 16].as_ptr(), [0u8].as_mut_ptr().cast(), [0; 16].as_ptr(), 1);
    "get stop", -32: b2nd_get_slice_cbuffer(a, [0; 16].as_ptr(), null(), [0u8].as_mut_ptr().cast(), [0; 16].as_ptr(), 1);
    "get buffer", -32: b2nd_get_slice_cbuffer(a, [0; 16].as_ptr(), [0; 16].as_ptr(), null_mut(), [0; 16].as_ptr(), 1);
    "get buffershape", -32: b2nd_get_slice_cbuffer(a, [0; 16].as_ptr(), [0; 16].as_ptr(), [0u8].as_mut_ptr().cast(), null(), 1);
    "set buffer", -32: b2nd_set_slice_cbuffer(null(), [0; 16].as_ptr(), 1, [0; 16].as_ptr(), [0; 16].as_ptr(), a);
    "set start", -32: b2nd_set_slice_cbuffer([0u8].as_ptr().cast(), [0; 16].as_ptr(), 1, null(), [0; 16].as_ptr(), a);
    "set stop", -32: b2nd_set_slice_cbuffer([0u8].as_ptr().cast(), [0; 16].as_ptr(), 1, [0; 16].as_ptr(), null(), a);
    "set array", -32: b2nd_set_slice_cbuffer([0u8].as_ptr().cast(), [0; 16].as_ptr(), 1, [0; 16].as_ptr(), [0; 16].as_ptr(), null_mut());
    "sparse array", -32: b2nd_get_sparse_cbuffer(null_mut(), 1, [0].as_ptr(), [0u8; 400].as_mut_ptr().cast(), 400);
    "sparse coords", -32: b2nd_get_sparse_cbuffer(a, 1, null(), [0u8; 400].as_mut_ptr().cast(), 400);
    "sparse buffer", -32: b2nd_get_sparse_cbuffer(a, 1, [0].as_ptr(), null_mut(), 400);
    "sparse ncoords", -12: b2nd_get_sparse_cbuffer(a, -1, null(), null_mut(), 400);
    "orthogonal get", -32: b2nd_get_orthogonal_selection(a, null_mut(), null_mut(), [0u8].as_mut_ptr().cast(), null_mut(), 0);
    "orthogonal set", -32: b2nd_set_orthogonal_selection(null_mut(), null_mut(), null_mut(), [0u8].as_ptr().cast(), null_mut(), 0);
    "squeeze", -32: b2nd_squeeze(null_mut(), &mut null_mut());
    "resize array", -32: b2nd_resize(null_mut(), [0; 16].as_ptr(), null());
    "resize shape", -32: b2nd_resize(a, null(), null());
    "insert array", -32: b2nd_insert(null_mut(), [0u8].as_ptr().cast(), 1, 0, 0);
    "insert buffer", -32: b2nd_insert(a, null(), 1, 0, 0);
    "append array", -32: b2nd_append(null_mut(), [0u8].as_ptr().cast(), 1, 0);
    "append buffer", -32: b2nd_append(a, null(), 1, 0);
    "delete", -32: b2nd_delete(null_mut(), 0, 0, 0);
    "refresh", -32: b2nd_refresh(null_mut());
    "print_meta", -32: b2nd_print_meta(null_mut());
}

pub fn null_pointers(state: &mut SequenceState) -> StepResult {
    state.log("NULL".to_owned());
    for (what, call, right) in CALLS {
        state.expect(what, right, |side| call(side.array().functions, side.array().raw()))?;
    }
    Ok(())
}
