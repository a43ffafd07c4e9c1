//! Entries whose functions are in a plugin library (`codecs.md` 13.1): their functions are looked up at the first
//! use, and stay in the table. An entry whose plugin cannot be loaded is left unchanged, so that the next
//! use tries again.

use super::entries::{CODECS, CodecEntry, FILTERS, FilterEntry, TUNERS, TunerEntry};
use super::plugin::{self, SymbolAddress};
use super::table::{Registered, RegistryTable};
use crate::abi::blosc2_tuner;
use crate::error::{Error, ErrorKind, Result};
use std::ffi::CStr;
use std::mem;

/// The first codec with a reserved id that comes as a plugin library; the optional codecs, ids 32 to 35, are built in.
const FIRST_PLUGIN_CODEC: i32 = 36;

/// The first filter that may be in a plugin library; the optional filters, ids 32 to 36, are built in.
const FIRST_PLUGIN_FILTER: i32 = 160;

/// Converts an address of a plugin's library to the function pointer of an entry.
///
/// # Safety
/// `F` is an optional C function, and the function at that address has its signature, by the contract of plugins.
unsafe fn to_function_pointer<F: Copy>(address: SymbolAddress) -> F {
    const { assert!(mem::size_of::<F>() == mem::size_of::<SymbolAddress>()) };
    // SAFETY: an optional function has the size of an address and its niche; the caller guarantees the signature.
    unsafe { mem::transmute_copy(&address) }
}

/// Returns the addresses of an entry's functions in the plugin of that name.
fn load_symbols<const COUNT: usize>(
    name: Option<&CStr>,
) -> std::result::Result<[SymbolAddress; COUNT], String> {
    let name = name.ok_or("no functions, and no name of a plugin")?;
    let name = name.to_str().map_err(|_| format!("the plugin name is {name:?}, expected UTF-8"))?;
    plugin::load(name)
}

/// Returns the entry with that id and all functions, which come from its plugin library if one was missing. Entries below
/// `first_plugin` are built in. The kinds of errors are those for an id that is not registered, and for a plugin that cannot
/// be loaded.
fn load<T: Copy, const COUNT: usize>(
    table: &RegistryTable<T>,
    id: i32,
    first_plugin: i32,
    (what, [unknown, unavailable]): (&str, [ErrorKind; 2]),
    is_complete: impl Fn(&T) -> bool,
    complete: impl FnOnce(T, [SymbolAddress; COUNT]) -> T,
) -> Result<Registered<T>> {
    let Some(entry) = table.find(|entry| entry.id == id) else {
        return Err(Error::new(unknown, format_args!("{what} {id} is not registered")));
    };
    if is_complete(&entry.properties) {
        // Another thread has loaded the functions since the caller read the entry.
        return Ok(entry);
    }
    let symbols = match id < first_plugin {
        true => Err("not part of this build of the library".into()),
        false => load_symbols(entry.name),
    };
    let why_not = |why| Error::new(unavailable, format_args!("{what} {id} ({:?}): {why}", entry.name));
    let properties = complete(entry.properties, symbols.map_err(why_not)?);
    let loaded = Registered { properties, ..entry };
    // The table may have changed since.
    table.replace(loaded);
    Ok(loaded)
}

/// Returns the codec with that id and both functions.
///
/// # Errors
/// `CodecSupport` when it is not registered, or its plugin cannot be loaded.
pub(crate) fn load_codec(compcode: i32) -> Result<Registered<CodecEntry>> {
    let is_complete = |codec: &CodecEntry| codec.encoder.is_some() && codec.decoder.is_some();
    let kinds = ("codec", [ErrorKind::CodecSupport; 2]);
    load(&CODECS, compcode, FIRST_PLUGIN_CODEC, kinds, is_complete, |codec, [encoder, decoder]| {
        // SAFETY: the functions that the descriptor of a codec names, in its order.
        unsafe {
            let (encoder, decoder) = (to_function_pointer(encoder), to_function_pointer(decoder));
            CodecEntry { encoder, decoder, ..codec }
        }
    })
}

/// Returns the filter with that id and both functions.
///
/// # Errors
/// `FilterPipeline` when it is not registered, or its plugin cannot be loaded.
pub(crate) fn load_filter(id: u8) -> Result<Registered<FilterEntry>> {
    let is_complete = |filter: &FilterEntry| filter.forward.is_some() && filter.backward.is_some();
    let kinds = ("filter", [ErrorKind::FilterPipeline; 2]);
    load(&FILTERS, id.into(), FIRST_PLUGIN_FILTER, kinds, is_complete, |_, [forward, backward]| {
        // SAFETY: the functions that the descriptor of a filter names, in its order.
        unsafe {
            FilterEntry { forward: to_function_pointer(forward), backward: to_function_pointer(backward) }
        }
    })
}

/// Returns the tuner with that id and all functions.
///
/// # Errors
/// `InvalidParam` when it is not registered, `Failure` when its plugin cannot be loaded.
pub(crate) fn load_tuner(id: i32) -> Result<Registered<TunerEntry>> {
    let kinds = ("tuner", [ErrorKind::InvalidParam, ErrorKind::Failure]);
    load(&TUNERS, id, 0, kinds, TunerEntry::is_complete, |tuner, symbols| {
        let [init, next_blocksize, next_cparams, update, free] = symbols;
        // SAFETY: the functions that the descriptor of a tuner names, in its order.
        TunerEntry(unsafe {
            blosc2_tuner {
                init: to_function_pointer(init),
                next_blocksize: to_function_pointer(next_blocksize),
                next_cparams: to_function_pointer(next_cparams),
                update: to_function_pointer(update),
                free: to_function_pointer(free),
                ..tuner.0
            }
        })
    })
}
