//! Which contexts have the automatic tuner, and with which settings.

use super::auto_tuner::AutoTuner;
use super::auto_tuner::settings::Settings;
use super::params::CompressParams;
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_ZSTD, BLOSC2X_TUNER_AUTO, blosc2_cparams, blosc2x_tuner_params};
use crate::chunk::format::filter_id;
use crate::codec::BuiltInCodec;
use crate::error::{Result, ensure};
use std::cell::RefCell;
use std::mem::offset_of;

/// Returns the automatic tuner for a new context: by the parameters, or with the settings `of_environment` for a program that
/// uses the default codec. Parameters that the tuner cannot choose, such as lossy filters, switch it off.
///
/// # Safety
/// If `tuner_id` is that of the automatic tuner, `tuner_params` obeys the contract of [`settings_at`].
///
/// # Errors
/// `InvalidParam` for invalid parameters of the tuner.
pub(crate) unsafe fn tuner_for(
    cparams: &blosc2_cparams,
    overridden: &CompressParams,
    of_environment: Option<Settings>,
) -> Result<Option<RefCell<AutoTuner>>> {
    let settings = if cparams.tuner_id == BLOSC2X_TUNER_AUTO {
        // SAFETY: the contract of this function.
        Some(unsafe { settings_at(cparams.tuner_params.cast()) }?)
    } else {
        of_environment.filter(|_| cparams.tuner_id <= 0 && is_default_codec(cparams, overridden))
    };
    let is_replaced = |&id: &u8| id <= filter_id::DELTA;
    let can_choose = cparams.prefilter.is_none()
        && cparams.use_dict == 0
        && !cparams.instr_codec.get()
        && BuiltInCodec::from_compcode(overridden.compcode).is_some()
        && overridden.filters.iter().all(is_replaced);
    Ok(settings.filter(|_| can_choose).map(|settings| RefCell::new(AutoTuner::new(settings))))
}

/// Returns the settings of a program.
///
/// # Safety
/// `params` is NULL or points at a struct that is as long as its field `size` says.
///
/// # Errors
/// `InvalidParam` for NULL, another size of the struct, an unknown mode, or a tradeoff that is out of range.
pub(crate) unsafe fn settings_at(params: *const blosc2x_tuner_params) -> Result<Settings> {
    let expected = size_of::<blosc2x_tuner_params>();
    ensure!(!params.is_null(), InvalidParam, "the parameters of the automatic tuner are NULL");
    const { assert!(offset_of!(blosc2x_tuner_params, size) == 0) };
    // SAFETY: not NULL, and by the contract of this function at least the first field is there.
    let size = unsafe { params.cast::<u32>().read() };
    ensure!(
        usize::try_from(size) == Ok(expected),
        InvalidParam,
        "the parameters of the automatic tuner have `size` {size}, expected {expected}"
    );
    // SAFETY: the struct has this size.
    Settings::from_params(unsafe { &*params })
}

/// Returns whether codec and level are those of a program that has not chosen any: of the C library (BloscLZ, 5) or of
/// python-blosc2 (Zstandard, 5).
fn is_default_codec(cparams: &blosc2_cparams, overridden: &CompressParams) -> bool {
    let is_default =
        [BLOSC_BLOSCLZ, BLOSC_ZSTD].contains(&i32::from(cparams.compcode)) && cparams.clevel == 5;
    let chosen = (overridden.compcode, overridden.clevel);
    is_default && chosen == (i32::from(cparams.compcode), i32::from(cparams.clevel))
}
