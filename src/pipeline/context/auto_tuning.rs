//! The automatic tuner of a context: whether it has one, and its choice for a chunk.

use super::super::auto_tuner::AutoTuner;
use super::super::auto_tuner::settings::Settings;
use super::super::compress::plan;
use super::super::env_overrides;
use super::super::params::CompressParams;
use super::Context;
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_ZSTD, BLOSC2X_TUNER_AUTO, blosc2_cparams, blosc2x_tuner_params};
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::error::Result;
use std::cell::RefCell;

/// Returns the automatic tuner for a new context: by the parameters, or by the environment variable `BLOSC2_AUTO` for a program
/// that uses the default codec. Parameters that the tuner cannot choose, such as lossy filters, switch it off.
///
/// # Safety
/// If `tuner_id` is that of the automatic tuner, `tuner_params` is NULL or points at a `blosc2x_tuner_params`.
///
/// # Errors
/// `InvalidParam` for invalid parameters of the tuner.
pub(super) unsafe fn tuner_for(
    cparams: &blosc2_cparams,
    overridden: &CompressParams,
) -> Result<Option<RefCell<AutoTuner>>> {
    let settings = if cparams.tuner_id == BLOSC2X_TUNER_AUTO {
        // SAFETY: the contract of this function.
        let params = unsafe { cparams.tuner_params.cast::<blosc2x_tuner_params>().as_ref() };
        Some(Settings::from_params(params)?)
    } else if cparams.tuner_id <= 0 && is_default_codec(cparams, overridden) {
        env_overrides::auto_tuner_settings()
    } else {
        None
    };
    let is_replaced = |&id: &u8| id <= filter_id::DELTA;
    let can_choose = cparams.prefilter.is_none()
        && cparams.use_dict == 0
        && !cparams.instr_codec.get()
        && overridden.filters.iter().all(is_replaced);
    Ok(settings.filter(|_| can_choose).map(|settings| RefCell::new(AutoTuner::new(settings))))
}

/// Returns whether codec and level are those of a program that has not chosen any: of the C library (BloscLZ, 5) or of
/// python-blosc2 (Zstandard, 5).
fn is_default_codec(cparams: &blosc2_cparams, overridden: &CompressParams) -> bool {
    let is_default =
        [BLOSC_BLOSCLZ, BLOSC_ZSTD].contains(&i32::from(cparams.compcode)) && cparams.clevel == 5;
    let chosen = (overridden.compcode, overridden.clevel);
    is_default && chosen == (i32::from(cparams.compcode), i32::from(cparams.clevel))
}

impl Context {
    /// Has the automatic tuner, if there is one, choose codec, level and filters for `content`. The block size becomes the one
    /// that the caller has requested, or an automatic one.
    pub(super) fn tune_automatically(&self, content: &[u8]) {
        let Some(mut tuner) = self.auto_tuner.as_ref().and_then(|tuner| tuner.try_borrow_mut().ok()) else {
            return;
        };
        let typesize = plan::stored_typesize(self.head.typesize()).max(1) as usize;
        let blocksize = usize::try_from(self.requested_blocksize).unwrap_or(0);
        if let Some(choice) = tuner.choose(content, typesize, blocksize) {
            self.head.set_compcode(i32::from(choice.compcode));
            self.head.set_clevel(i32::from(choice.clevel));
            self.head.set_filters(choice.chain.filters());
            self.head.set_filters_meta([0; MAX_FILTERS]);
            self.head.set_blocksize(self.requested_blocksize);
        }
    }
}
