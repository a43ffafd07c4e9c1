//! Entries whose functions are in a plugin library (`codecs.md` 13.1): their functions are looked up at the first
//! use, and stay in the table. An entry whose plugin cannot be loaded is left unchanged, so that the next
//! use tries again.

use super::entries::{CODECS, FILTERS, RegisteredCodec, RegisteredFilter, TUNERS, Tuner};
use super::plugin::{self, SymbolAddress};
use crate::abi::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_filter_backward_cb, blosc2_filter_forward_cb,
    blosc2_tuner,
};
use crate::error::{Result, err};
use std::ffi::CStr;
use std::mem;

/// The first codec with a reserved id that comes as a plugin library; the optional codecs, ids 32 to 35, are built in.
const FIRST_PLUGIN_CODEC: u8 = 36;

/// The first filter that may be in a plugin library; the optional filters, ids 32 to 36, are built in.
const FIRST_PLUGIN_FILTER: u8 = 160;

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

/// Returns the codec with that id and both functions, which come from its plugin library if one was missing.
///
/// # Errors
/// `CodecSupport` when it is not registered, or its plugin cannot be loaded.
pub(crate) fn load_codec(compcode: i32) -> Result<RegisteredCodec> {
    let is_it = |c: &RegisteredCodec| i32::from(c.compcode) == compcode;
    let codec = CODECS.find(is_it).ok_or_else(|| err!(CodecSupport, "codec {compcode} is not registered"))?;
    if codec.encoder.is_some() && codec.decoder.is_some() {
        // Another thread has loaded the functions since the caller read the entry.
        return Ok(codec);
    }
    let why_not = |why: String| err!(CodecSupport, "codec {compcode} ({:?}): {why}", codec.name);
    if codec.compcode < FIRST_PLUGIN_CODEC {
        return Err(why_not("not part of this build of the library".into()));
    }
    let [encoder, decoder] = load_symbols(codec.name).map_err(why_not)?;
    // SAFETY: the functions that the descriptor of a codec names, in its order.
    let (encoder, decoder) = unsafe {
        (
            to_function_pointer::<blosc2_codec_encoder_cb>(encoder),
            to_function_pointer::<blosc2_codec_decoder_cb>(decoder),
        )
    };
    let loaded = RegisteredCodec { encoder, decoder, ..codec };
    // The table may have changed since: only the entry of the same codec is updated.
    CODECS.update(|c| is_it(c) && c.name == codec.name, |entry| *entry = loaded);
    Ok(loaded)
}

/// Returns the filter with that id and both functions, which come from its plugin library if one was missing.
///
/// # Errors
/// `FilterPipeline` when it is not registered, or its plugin cannot be loaded.
pub(crate) fn load_filter(id: u8) -> Result<RegisteredFilter> {
    let is_it = |f: &RegisteredFilter| f.id == id;
    let filter = FILTERS.find(is_it).ok_or_else(|| err!(FilterPipeline, "filter {id} is not registered"))?;
    if filter.forward.is_some() && filter.backward.is_some() {
        return Ok(filter);
    }
    let why_not = |why: String| err!(FilterPipeline, "filter {id} ({:?}): {why}", filter.name);
    if filter.id < FIRST_PLUGIN_FILTER {
        return Err(why_not("not part of this build of the library".into()));
    }
    let [forward, backward] = load_symbols(filter.name).map_err(why_not)?;
    // SAFETY: the functions that the descriptor of a filter names, in its order.
    let (forward, backward) = unsafe {
        (
            to_function_pointer::<blosc2_filter_forward_cb>(forward),
            to_function_pointer::<blosc2_filter_backward_cb>(backward),
        )
    };
    let loaded = RegisteredFilter { forward, backward, ..filter };
    FILTERS.update(|f| is_it(f) && f.name == filter.name, |entry| *entry = loaded);
    Ok(loaded)
}

/// Returns the tuner with that id and all functions, which come from its plugin library if one was missing.
///
/// # Errors
/// `InvalidParam` when it is not registered, `Failure` when its plugin cannot be loaded.
pub(crate) fn load_tuner(id: i32) -> Result<Tuner> {
    let is_it = |t: &Tuner| t.id == id;
    let tuner = TUNERS.find(is_it).ok_or_else(|| err!(InvalidParam, "tuner {id} is not registered"))?;
    if tuner.is_complete() {
        return Ok(tuner);
    }
    let symbols =
        load_symbols(tuner.name).map_err(|why| err!(Failure, "tuner {id} ({:?}): {why}", tuner.name))?;
    let [init, next_blocksize, next_cparams, update, free] = symbols;
    // SAFETY: the functions that the descriptor of a tuner names, in its order.
    let functions = unsafe {
        blosc2_tuner {
            init: to_function_pointer(init),
            next_blocksize: to_function_pointer(next_blocksize),
            next_cparams: to_function_pointer(next_cparams),
            update: to_function_pointer(update),
            free: to_function_pointer(free),
            ..tuner.functions
        }
    };
    let loaded = Tuner { functions, ..tuner };
    TUNERS.update(|t| is_it(t) && t.name == tuner.name, |entry| *entry = loaded);
    Ok(loaded)
}
