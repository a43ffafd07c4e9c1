//! Parameters that environment variables override (`abi.md` 10.1 and 10.2, `chunk.md` 3.2).

use super::auto_tuner::settings::Settings;
use super::library;
use super::params::{ChunkFormat, CompressParams};
use crate::abi::{
    BLOSC_ALWAYS_SPLIT, BLOSC_AUTO_SPLIT, BLOSC_BITSHUFFLE, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_NEVER_SPLIT,
    BLOSC_NOSHUFFLE, BLOSC_SHUFFLE,
};
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::codec::BuiltInCodec;
use crate::environment::{may_have, var, var_as_i32, var_as_i64};
use crate::error::{Result, ensure, err};
use crate::trace;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the variables of this module are ignored: by a program that reads them itself, so that its explicit arguments
/// win.
static ARE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Makes this process ignore the variables that override parameters.
pub(crate) fn ignore() {
    ARE_IGNORED.store(true, Relaxed);
}

/// The slot of the shuffle filter in pipelines that are set by a single number.
const SHUFFLE_SLOT: usize = MAX_FILTERS - 1;
/// The slot of the delta filter in pipelines that are set by a single number.
const DELTA_SLOT: usize = MAX_FILTERS - 2;

fn warn_not_recognized(name: &CStr, value: &CStr) {
    trace::warning(|| {
        format!(
            "{} environment variable '{}' not recognized\n",
            name.to_string_lossy(),
            value.to_string_lossy()
        )
    });
}

fn read_shuffle() -> Option<i32> {
    let name = c"BLOSC_SHUFFLE";
    let value = var(name)?;
    match value.to_bytes() {
        b"NOSHUFFLE" => Some(BLOSC_NOSHUFFLE),
        b"SHUFFLE" => Some(BLOSC_SHUFFLE),
        b"BITSHUFFLE" => Some(BLOSC_BITSHUFFLE),
        _ => {
            warn_not_recognized(name, &value);
            None
        }
    }
}

fn read_delta() -> Option<bool> {
    let name = c"BLOSC_DELTA";
    let value = var(name)?;
    match value.to_bytes() {
        b"1" => Some(true),
        b"0" => Some(false),
        _ => {
            warn_not_recognized(name, &value);
            None
        }
    }
}

fn read_splitmode() -> Option<i32> {
    let name = c"BLOSC_SPLITMODE";
    let value = var(name)?;
    match value.to_bytes() {
        b"ALWAYS" => Some(BLOSC_ALWAYS_SPLIT),
        b"NEVER" => Some(BLOSC_NEVER_SPLIT),
        b"AUTO" => Some(BLOSC_AUTO_SPLIT),
        b"FORWARD_COMPAT" => Some(BLOSC_FORWARD_COMPAT_SPLIT),
        _ => {
            warn_not_recognized(name, &value);
            None
        }
    }
}

/// Reads the number of threads. Returns `None` for a number outside 1..=32767, with a warning.
fn read_nthreads() -> Option<i16> {
    let value = var_as_i64(c"BLOSC_NTHREADS")?;
    let nthreads = i16::try_from(value).ok().filter(|&nthreads| nthreads > 0);
    if nthreads.is_none() {
        trace::warning(|| {
            format!("BLOSC_NTHREADS environment variable is {value}, expected 1 to {}\n", i16::MAX)
        });
    }
    nthreads
}

/// Reads a variable whose value must be a number of at least `least`. Returns `None` for a smaller one, with a warning.
fn var_at_least(name: &CStr, least: i32) -> Option<i32> {
    let value = var_as_i32(name)?;
    if value < least {
        trace::warning(|| {
            format!("{} environment variable is {value}, expected {least} or more\n", name.to_string_lossy())
        });
        return None;
    }
    Some(value)
}

/// Applies the environment to the parameters of a new compression context. Returns what it sets for the automatic tuner.
pub(crate) fn apply_to_new_context(params: &mut CompressParams) -> Result<Option<Settings>> {
    // One pass finds that no variable of either kind is set.
    if !may_have(b"BLOSC") || ARE_IGNORED.load(Relaxed) {
        return Ok(None);
    }
    if may_have(b"BLOSC_") {
        override_params(params)?;
    }
    Ok(auto_tuner_settings())
}

fn override_params(params: &mut CompressParams) -> Result<()> {
    params.typesize = var_at_least(c"BLOSC_TYPESIZE", 1).unwrap_or(params.typesize);
    params.clevel = var_at_least(c"BLOSC_CLEVEL", 0).unwrap_or(params.clevel);
    match read_shuffle() {
        Some(BLOSC_SHUFFLE) if params.typesize <= 1 => {}
        Some(id) => params.filters[SHUFFLE_SLOT] = id as u8,
        None => {}
    }
    if read_delta() == Some(true) {
        params.filters[DELTA_SLOT] = filter_id::DELTA;
    }
    if let Some(name) = var(c"BLOSC_COMPRESSOR") {
        params.compcode = library::compcode_by_name(&name).unwrap_or(-1);
        ensure!(
            params.compcode < 0 || BuiltInCodec::from_compcode(params.compcode).is_some(),
            InvalidParam,
            "BLOSC_COMPRESSOR is the registered codec {name:?}, expected one that is built in",
        );
    }
    params.blocksize = var_at_least(c"BLOSC_BLOCKSIZE", 1).unwrap_or(params.blocksize);
    if let Some(nthreads) = read_nthreads() {
        params.nthreads = usize::from(nthreads.unsigned_abs());
    }
    params.splitmode = read_splitmode().unwrap_or(params.splitmode);
    Ok(())
}

/// Returns what the variable `BLOSC2_AUTO` sets for the automatic tuner. An invalid value is ignored, with a warning the first
/// time.
fn auto_tuner_settings() -> Option<Settings> {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    let value = var(c"BLOSC2_AUTO")?;
    match Settings::parse(&value.to_string_lossy()) {
        Ok(settings) => Some(settings),
        Err(error) => {
            if !HAS_WARNED.swap(true, Relaxed) {
                trace::warning(|| format!("BLOSC2_AUTO environment variable is ignored: {error}\n"));
            }
            None
        }
    }
}

/// Returns the number of threads of a new decompression context.
pub(crate) fn nthreads_for_new_context(nthreads: i16) -> i16 {
    if ARE_IGNORED.load(Relaxed) { nthreads } else { read_nthreads().unwrap_or(nthreads) }
}

/// Returns the number of threads of a decompression without a context. A value of the environment is stored as the
/// setting.
pub(crate) fn nthreads_without_context() -> Result<i16> {
    if let Some(value) = var_as_i64(c"BLOSC_NTHREADS") {
        match i16::try_from(value) {
            Ok(nthreads) if nthreads > 0 => {
                library::set_nthreads(nthreads)?;
            }
            _ => return Err(err!(InvalidParam, "BLOSC_NTHREADS is {value}, expected 1 to {}", i16::MAX)),
        }
    }
    Ok(library::nthreads())
}

/// Returns the parameters of a compression without a context: the caller's, the library's settings, and the overrides
/// of the environment. Some of the overrides are stored as settings.
///
/// # Errors
/// `NullPointer` where the reference fails to create its temporary context.
pub(crate) fn params_without_context(clevel: i32, doshuffle: i32, typesize: i32) -> Result<CompressParams> {
    library::init();
    let clevel = var_at_least(c"BLOSC_CLEVEL", 0).unwrap_or(clevel);
    let doshuffle = read_shuffle().unwrap_or(doshuffle);
    if let Some(on) = read_delta() {
        library::set_uses_delta(on);
    }
    let typesize = var_at_least(c"BLOSC_TYPESIZE", 1).unwrap_or(typesize);
    if let Some(name) = var(c"BLOSC_COMPRESSOR")
        && library::set_compressor(&name).is_err()
    {
        warn_not_recognized(c"BLOSC_COMPRESSOR", &name);
    }
    if let Some(blocksize) = var_at_least(c"BLOSC_BLOCKSIZE", 1) {
        library::set_blocksize(blocksize);
    }
    if let Some(nthreads) = read_nthreads()
        && library::set_nthreads(nthreads).is_err()
    {
        trace::warning(|| format!("BLOSC_NTHREADS environment variable is {nthreads}, and is ignored\n"));
    }
    if let Some(mode) = read_splitmode() {
        library::set_splitmode(mode);
    }
    let unlocked = crate::environment::is_set(c"BLOSC_NOLOCK");
    let has_short_header = !unlocked && crate::environment::is_set(c"BLOSC_BLOSC1_COMPAT");
    let mut params = CompressParams {
        compcode: library::compressor(),
        clevel,
        typesize,
        nthreads: usize::from(library::nthreads().unsigned_abs()),
        blocksize: library::blocksize(),
        splitmode: library::splitmode(),
        format: if has_short_header { ChunkFormat::ShortHeader } else { ChunkFormat::Blosc2 },
        ..CompressParams::default()
    };
    if !unlocked {
        params.filters = [filter_id::NONE; MAX_FILTERS];
    }
    match doshuffle {
        BLOSC_SHUFFLE if typesize > 1 => params.filters[SHUFFLE_SLOT] = filter_id::SHUFFLE,
        BLOSC_BITSHUFFLE => params.filters[SHUFFLE_SLOT] = filter_id::BITSHUFFLE,
        BLOSC_NOSHUFFLE => params.filters[SHUFFLE_SLOT] = filter_id::NONE,
        _ => {}
    }
    if library::uses_delta() {
        params.filters[DELTA_SLOT] = filter_id::DELTA;
    }
    ensure!(
        !unlocked || apply_to_new_context(&mut params).is_ok(),
        NullPointer,
        "BLOSC_COMPRESSOR is a registered codec, expected one that is built in",
    );
    Ok(params)
}
