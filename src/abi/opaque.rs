//! The types that C sees only behind pointers (`abi.md` 4.2).

use std::marker::{PhantomData, PhantomPinned};

/// A compression or decompression context; opaque to C (`abi.md` 4.2).
#[repr(C)]
pub struct blosc2_context {
    opaque: [u8; 0],
    not_send_nor_unpin: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A frame; opaque to C (`abi.md` 4.2).
#[repr(C)]
pub struct blosc2_frame {
    opaque: [u8; 0],
    not_send_nor_unpin: PhantomData<(*mut u8, PhantomPinned)>,
}
