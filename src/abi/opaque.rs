//! The types that C code accesses only through pointers (`abi.md` 4.2).

use std::marker::{PhantomData, PhantomPinned};

/// A compression or decompression context, created by `blosc2_create_cctx` or `blosc2_create_dctx` and freed by
/// `blosc2_free_ctx`; opaque (`abi.md` 4.2).
#[repr(C)]
pub struct blosc2_context {
    opaque: [u8; 0],
    not_send_nor_unpin: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A frame, which belongs to a super-chunk; opaque (`abi.md` 4.2).
#[repr(C)]
pub struct blosc2_frame {
    opaque: [u8; 0],
    not_send_nor_unpin: PhantomData<(*mut u8, PhantomPinned)>,
}
