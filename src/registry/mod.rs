//! Codecs, filters and tuners by id (`codecs.md` 12): those with reserved ids (32 to 159) and those that callers
//! register. The codecs and filters that the format itself defines are in `codec` and `filter`.
//!
//! The tables hold C function pointers, but never call them; `pipeline` does. The functions of an entry that was
//! registered without functions are in a plugin library, which is loaded at their first use, while no lock is held.

mod entries;
mod plugin;
mod plugin_functions;
mod table;

use crate::abi::{blosc2_codec, blosc2_filter, blosc2_tuner};
use crate::error::{ErrorKind, Result};
use entries::{CODECS, FILTERS, LIBRARY_FILTERS, TUNERS};
use std::ffi::CStr;
use std::ptr;
use table::FIRST_USER_ID;

pub(crate) use entries::{CodecEntry, FilterEntry, TunerEntry};
pub(crate) use plugin_functions::{load_codec, load_filter, load_tuner};
pub(crate) use table::Registered;

/// Removes the entries that callers have registered: `blosc2_init` calls this when the library is not initialised.
pub(crate) fn reset() {
    CODECS.reset();
    FILTERS.reset();
    TUNERS.reset();
}

pub(crate) fn codec(compcode: i32) -> Option<Registered<CodecEntry>> {
    CODECS.find(|c| c.id == compcode)
}

/// Returns the first codec with that name, in the order of registration.
pub(crate) fn codec_by_name(name: &CStr) -> Option<Registered<CodecEntry>> {
    CODECS.find(|c| c.name == Some(name))
}

/// Returns the first codec whose library code is `complib`, in the order of registration.
pub(crate) fn codec_by_complib(complib: i32) -> Option<Registered<CodecEntry>> {
    CODECS.find(|c| i32::from(c.properties.complib) == complib)
}

pub(crate) fn filter(id: u8) -> Option<Registered<FilterEntry>> {
    FILTERS.find(|f| f.id == i32::from(id))
}

pub(crate) fn tuner(id: i32) -> Option<Registered<TunerEntry>> {
    TUNERS.find(|t| t.id == id)
}

/// Returns whether a context may be created with that filter id (`codecs.md` 12.3): user ids are checked only when
/// used.
pub(crate) fn is_valid_filter_id(id: u8) -> bool {
    id <= crate::chunk::format::filter_id::TRUNC_PREC
        || i32::from(id) >= FIRST_USER_ID
        || LIBRARY_FILTERS.iter().any(|filter| filter.id == i32::from(id))
}

/// Registers a codec under `name`, which is copied; `None` for a codec without a name.
///
/// # Errors
/// `CodecParam` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is
/// full.
pub(crate) fn register_codec(codec: &blosc2_codec, name: Option<&CStr>) -> Result<()> {
    let &blosc2_codec { complib, version, encoder, decoder, .. } = codec;
    let properties = CodecEntry { complib, version, encoder, decoder };
    CODECS.register(i32::from(codec.compcode), name, ErrorKind::CodecParam, |_| properties)
}

/// Registers a filter under `name`, which is copied, or without a name.
///
/// # Errors
/// `Failure` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is full.
pub(crate) fn register_filter(filter: &blosc2_filter, name: Option<&CStr>) -> Result<()> {
    let properties = FilterEntry { forward: filter.forward, backward: filter.backward };
    FILTERS.register(i32::from(filter.id), name, ErrorKind::Failure, |_| properties)
}

/// Registers a tuner under `name`, which is copied, or without a name.
///
/// # Errors
/// `Failure` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is full.
pub(crate) fn register_tuner(tuner: &blosc2_tuner, name: Option<&CStr>) -> Result<()> {
    let properties = |name: Option<&'static CStr>| {
        let name = name.map_or(ptr::null_mut(), |name| name.as_ptr().cast_mut());
        TunerEntry(blosc2_tuner { name, ..*tuner })
    };
    TUNERS.register(tuner.id, name, ErrorKind::Failure, properties)
}
