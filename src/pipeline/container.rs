//! The properties of a context's super-chunk that codecs and filters need. They are read here, at the start of a job
//! that needs them, and passed on as a [`Container`].

use crate::abi::{blosc2_metalayer, blosc2_schunk};
use crate::chunk::container::B2ND_METALAYER;
use crate::chunk::{BlockShape, Container};
use crate::codec::PluginCodec;
use std::ffi::{CStr, c_char};

/// Returns whether that codec or one of those filters needs properties of the super-chunk.
pub(crate) fn is_needed(compcode: i32, filters: &[u8]) -> bool {
    PluginCodec::from_compcode(compcode).is_some()
        || (cfg!(feature = "plugin-filters") && filters.iter().any(|&id| (32..=35).contains(&id)))
}

/// Reads the properties of a super-chunk. Returns `None` for NULL.
///
/// # Safety
/// `schunk` is NULL or a super-chunk of this library, whose metalayers no other code changes during the call.
#[inline]
pub(crate) unsafe fn of_schunk(schunk: *const blosc2_schunk) -> Option<Container> {
    if schunk.is_null() {
        return None;
    }
    // SAFETY: by the contract of this function a super-chunk, whose metalayers no other code changes during the call.
    // No reference to the whole struct is made: other threads write other fields.
    let (typesize, count) = unsafe { ((*schunk).typesize, (*schunk).nmetalayers) };
    let mut blockshape = None;
    for n in 0..usize::from(count) {
        // SAFETY: the first `count` metalayers are valid (`abi.md` 3.6).
        let metalayer: &blosc2_metalayer = unsafe {
            match (&raw const (*schunk).metalayers).cast::<*const blosc2_metalayer>().add(n).read().as_ref() {
                Some(metalayer) => metalayer,
                None => continue,
            }
        };
        // SAFETY: the names of metalayers end with NUL.
        if unsafe { is_same_name(metalayer.name, B2ND_METALAYER) } && !metalayer.content.is_null() {
            let len = usize::try_from(metalayer.content_len).unwrap_or(0);
            // SAFETY: a metalayer's content has the length `content_len`.
            blockshape = BlockShape::parse(unsafe { std::slice::from_raw_parts(metalayer.content, len) });
            break;
        }
    }
    Some(Container { typesize, blockshape })
}

/// Returns whether `name` is equal to `wanted`.
///
/// # Safety
/// `name` is a string that ends with NUL.
unsafe fn is_same_name(name: *const c_char, wanted: &CStr) -> bool {
    let mut wanted = wanted.to_bytes_with_nul().iter().enumerate();
    // SAFETY: all bytes before this one are equal to those of `wanted`, which has no earlier NUL: `name` has not
    // ended there.
    wanted.all(|(at, &byte)| unsafe { name.cast::<u8>().add(at).read() } == byte)
}
