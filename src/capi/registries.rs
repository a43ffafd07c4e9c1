//! Registration of codecs, filters and tuners of the program (`abi.md` 9.5).

use super::ffi::result_code;
use super::name;
use crate::abi::{blosc2_codec, blosc2_filter, blosc2_tuner};
use crate::err;
use crate::error::Result;
use crate::pipeline::library;
use crate::registry;
use std::ffi::c_int;

/// Returns the struct at `ptr`; NULL is an error.
///
/// # Safety
/// `ptr` is NULL or points at an initialised struct.
unsafe fn struct_ref<'a, T>(ptr: *mut T) -> Result<&'a T> {
    // SAFETY: by the contract of this function.
    unsafe { ptr.as_ref() }.ok_or_else(|| err!(InvalidParam, "the struct to register is NULL"))
}

/// Registers `codec`, a codec of the caller. The struct and the name in it are copied; the functions must stay
/// loaded as long as the codec is registered. The name may be NULL or uninitialised: if no string can be read at
/// that address, the codec has no name.
///
/// Returns 0, also when the id is already registered under the same name (the functions that were registered first
/// stay in use). Errors: -8 for an id below 160 and for an id that is registered under another name, -7 when there
/// are 255 codecs, -12 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the functions obey the contracts of their typedefs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_codec(codec: *mut blosc2_codec) -> c_int {
    result_code(|| {
        library::init();
        // SAFETY: by the rules of the module.
        let codec = unsafe { struct_ref(codec) }?;
        registry::register_codec(codec, name::copy_if_readable(codec.compname).as_deref()).map(|()| 0)
    })
}

/// Registers `filter`, a filter of the caller. The struct and the name in it are copied; the functions must stay
/// loaded as long as the filter is registered. The name may be NULL or uninitialised: if no string can be read at
/// that address, the filter has no name.
///
/// Returns 0, also when the id is already registered under the same name (the functions that were registered first
/// stay in use). Errors: -1 for an id below 160 and for an id that is registered under another name, -7 when there
/// are 255 filters, -12 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the functions obey the contracts of their typedefs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_filter(filter: *mut blosc2_filter) -> c_int {
    result_code(|| {
        library::init();
        // SAFETY: by the rules of the module.
        let filter = unsafe { struct_ref(filter) }?;
        registry::register_filter(filter, name::copy_if_readable(filter.name).as_deref()).map(|()| 0)
    })
}

/// Registers `tuner`, a tuner of the caller. The struct and the name in it are copied; the functions must stay
/// loaded as long as the tuner is registered. The name may be NULL or uninitialised: if no string can be read at
/// that address, the tuner has no name.
///
/// Returns 0, also when the id is already registered under the same name (the functions that were registered first
/// stay in use). Errors: -1 for an id below 160 and for an id that is registered under another name, -7 when there
/// are 255 tuners, -12 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the functions obey the contracts of their fields.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_tuner(tuner: *mut blosc2_tuner) -> c_int {
    result_code(|| {
        library::init();
        // SAFETY: by the rules of the module.
        let tuner = unsafe { struct_ref(tuner) }?;
        registry::register_tuner(tuner, name::copy_if_readable(tuner.name).as_deref()).map(|()| 0)
    })
}
