//! The automatic tuner: its settings as parameters, and the explanation of its choice.

pub use crate::pipeline::auto_tuner::explain::{ExplainedCandidate, ExplainedFeatures, Explanation};
pub use crate::pipeline::auto_tuner::settings::SpeedMode;

use crate::abi::blosc2x_tuner_params;
use crate::error::{Result, ensure};
use crate::pipeline::auto_tuner::explain;
use crate::pipeline::auto_tuner::settings::Settings;
use std::ffi::c_void;
use std::ptr;

/// Valid settings of the automatic tuner.
#[derive(Clone, Copy, Debug)]
pub struct AutoTuning {
    settings: Settings,
    /// The same for a context.
    params: blosc2x_tuner_params,
}

impl From<Settings> for AutoTuning {
    fn from(settings: Settings) -> AutoTuning {
        AutoTuning { settings, params: settings.to_params() }
    }
}

impl PartialEq for AutoTuning {
    fn eq(&self, other: &AutoTuning) -> bool {
        self.settings == other.settings
    }
}

impl Eq for AutoTuning {}

impl AutoTuning {
    /// Returns settings for a tradeoff from 0 (speed) to 1 (ratio).
    pub fn new(tradeoff: f64, mode: SpeedMode) -> Result<AutoTuning> {
        Settings::new(tradeoff, mode).map(AutoTuning::from)
    }

    /// Reads `TRADEOFF` or `TRADEOFF:MODE`, where the mode is `balanced`, `comp` or `decomp`.
    pub fn parse(text: &str) -> Result<AutoTuning> {
        Settings::parse(text).map(AutoTuning::from)
    }

    /// Returns the same tradeoff for another speed.
    #[must_use]
    pub fn with_mode(&self, mode: SpeedMode) -> AutoTuning {
        self.settings.with_mode(mode).into()
    }

    /// Returns the tradeoff.
    pub fn tradeoff(&self) -> f64 {
        self.settings.tradeoff()
    }

    /// Returns the speed that counts.
    pub fn mode(&self) -> SpeedMode {
        self.settings.mode()
    }

    /// Returns the parameters for a context, which are valid as long as this value is neither moved nor dropped.
    pub(super) fn tuner_params(&self) -> *mut c_void {
        ptr::from_ref(&self.params).cast_mut().cast()
    }

    /// Explains the choice for `content`, items of `typesize` bytes; more than 255 counts as 1, as in a chunk.
    pub fn explain(&self, content: &[u8], typesize: usize) -> Result<Explanation> {
        ensure!(typesize > 0, InvalidParam, "the item size is 0, expected 1 or more");
        let typesize = if typesize > usize::from(u8::MAX) { 1 } else { typesize };
        Ok(explain::explain(content, typesize, self.settings))
    }
}
