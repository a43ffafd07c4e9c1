//! The super-chunk of a context, as far as codecs and filters may know it: read here, at the start of a job that needs
//! it, and handed down from here.

use crate::abi::{blosc2_metalayer, blosc2_schunk};
use crate::chunk::container::METALAYER;
use crate::chunk::{BlockShape, Container};
use crate::codec::Plugin;
use std::ffi::{CStr, c_char};

/// Whether that codec or one of those filters asks for the super-chunk.
pub(crate) fn is_needed(compcode: i32, filters: &[u8]) -> bool {
    Plugin::from_compcode(compcode).is_some()
        || (cfg!(feature = "plugin-filters") && filters.iter().any(|&id| (32..=35).contains(&id)))
}

/// What the super-chunk tells of itself; `None` without one.
///
/// # Safety
/// `schunk` is NULL or a super-chunk of ours, whose metalayers nobody changes meanwhile.
#[inline]
pub(crate) unsafe fn of_schunk(schunk: *const blosc2_schunk) -> Option<Container> {
    if schunk.is_null() {
        return None;
    }
    // SAFETY: by the caller's word. No reference to the whole struct is made: other threads write other fields.
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
        // SAFETY: names end with NUL.
        if unsafe { is_name(metalayer.name, METALAYER) } && !metalayer.content.is_null() {
            let len = usize::try_from(metalayer.content_len).unwrap_or(0);
            // SAFETY: contents have their lengths.
            blockshape = BlockShape::parse(unsafe { std::slice::from_raw_parts(metalayer.content, len) });
            break;
        }
    }
    Some(Container { typesize, blockshape })
}

/// Whether two names are the same.
///
/// # Safety
/// `name` is a string that ends with NUL.
unsafe fn is_name(name: *const c_char, wanted: &CStr) -> bool {
    let mut wanted = wanted.to_bytes_with_nul().iter().enumerate();
    // SAFETY: all bytes before this one are those of a longer string, so that `name` has not ended there.
    wanted.all(|(at, &byte)| unsafe { name.cast::<u8>().add(at).read() } == byte)
}
