//! Registration of codecs, filters and tuners of the program (`abi.md` 9.5).

use super::ffi::result_code;
use super::name;
use super::pointers::{CStruct, Pointer};
use crate::abi::{blosc2_codec, blosc2_filter, blosc2_tuner};
use crate::error::{Result, err};
use crate::pipeline::library;
use crate::registry;
use std::ffi::c_int;

/// Returns the struct of the caller; NULL is an error.
fn required<'call, P: Pointer>(given: &CStruct<'call, P>) -> Result<&'call P::Target> {
    given.get().ok_or_else(|| err!(InvalidParam, "the struct to register is NULL"))
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
pub unsafe extern "C" fn blosc2_register_codec(codec: CStruct<*mut blosc2_codec>) -> c_int {
    result_code(|| {
        library::init();
        let codec = required(&codec)?;
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
pub unsafe extern "C" fn blosc2_register_filter(filter: CStruct<*mut blosc2_filter>) -> c_int {
    result_code(|| {
        library::init();
        let filter = required(&filter)?;
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
pub unsafe extern "C" fn blosc2_register_tuner(tuner: CStruct<*mut blosc2_tuner>) -> c_int {
    result_code(|| {
        library::init();
        let tuner = required(&tuner)?;
        registry::register_tuner(tuner, name::copy_if_readable(tuner.name).as_deref()).map(|()| 0)
    })
}
