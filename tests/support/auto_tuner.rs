//! Parameters of the automatic tuner.

use std::ptr;

use blosc2::abi::{BLOSC2X_TUNER_AUTO, blosc2_cparams, blosc2x_tuner_params};

use super::calls::Params;

/// Returns parameters of the tuner.
pub const fn tuner_params(tradeoff: f64, mode: i32) -> blosc2x_tuner_params {
    blosc2x_tuner_params { size: size_of::<blosc2x_tuner_params>() as u32, mode, tradeoff }
}

/// Returns parameters for C with the automatic tuner. A super-chunk must not outlive `tuner`.
pub fn auto_tuned(params: &Params, tuner: &blosc2x_tuner_params) -> blosc2_cparams {
    blosc2_cparams {
        tuner_id: BLOSC2X_TUNER_AUTO,
        tuner_params: ptr::from_ref(tuner).cast_mut().cast(),
        ..params.cparams()
    }
}
