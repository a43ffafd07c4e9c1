//! Parameters of compression and decompression.

use super::auto_tuner::AutoTuning;
use crate::abi::{
    BLOSC_STUNE, BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2X_TUNER_AUTO, blosc2_cparams,
    blosc2_dparams,
};
use crate::chunk::format::MAX_FILTERS;
use crate::codec::BuiltInCodec;
use crate::error::Result;
use std::ptr;

/// Parameters of compression, with the numbers of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressSettings {
    /// Codec id.
    pub compcode: u8,
    /// The codec's own byte.
    pub compcode_meta: u8,
    /// Level, 0 to 9.
    pub clevel: u8,
    /// Whether chunks have a dictionary.
    pub use_dict: bool,
    /// Item size in bytes.
    pub typesize: i32,
    /// Number of threads.
    pub nthreads: i16,
    /// Block size in bytes; 0 for a choice by codec, level and item size.
    pub blocksize: i32,
    /// Split mode.
    pub splitmode: i32,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// One byte for each filter slot.
    pub filters_meta: [u8; MAX_FILTERS],
    /// The automatic tuner, in place of codec, level and filters.
    pub auto: Option<AutoTuning>,
}

impl Default for CompressSettings {
    fn default() -> Self {
        CompressSettings::from_c(&BLOSC2_CPARAMS_DEFAULTS)
    }
}

impl CompressSettings {
    /// Returns the parameters for C. `tuner_params` points into `self`: creating a context reads it, and no other function does.
    pub(super) fn to_c(&self) -> blosc2_cparams {
        blosc2_cparams {
            compcode: self.compcode,
            compcode_meta: self.compcode_meta,
            clevel: self.clevel,
            use_dict: i32::from(self.use_dict),
            typesize: self.typesize,
            nthreads: self.nthreads,
            blocksize: self.blocksize,
            splitmode: self.splitmode,
            filters: self.filters,
            filters_meta: self.filters_meta,
            tuner_id: self.auto.map_or(BLOSC_STUNE, |_| BLOSC2X_TUNER_AUTO),
            tuner_params: self.auto.as_ref().map_or(ptr::null_mut(), AutoTuning::tuner_params),
            ..BLOSC2_CPARAMS_DEFAULTS
        }
    }

    pub(super) fn from_c(cparams: &blosc2_cparams) -> Self {
        CompressSettings {
            compcode: cparams.compcode,
            compcode_meta: cparams.compcode_meta,
            clevel: cparams.clevel,
            use_dict: cparams.use_dict != 0,
            typesize: cparams.typesize,
            nthreads: cparams.nthreads,
            blocksize: cparams.blocksize,
            splitmode: cparams.splitmode,
            filters: cparams.filters,
            filters_meta: cparams.filters_meta,
            auto: None,
        }
    }
}

pub(super) fn decompress_params(nthreads: i16) -> blosc2_dparams {
    blosc2_dparams { nthreads, ..BLOSC2_DPARAMS_DEFAULTS }
}

/// Checks that this build has a codec, if it is one that a feature can leave out.
///
/// # Errors
/// `CodecSupport`.
pub fn check_codec(compcode: u8) -> Result<()> {
    BuiltInCodec::from_compcode(i32::from(compcode)).map_or(Ok(()), BuiltInCodec::check_is_built)
}

/// Makes this process ignore the environment variables that override parameters.
pub fn ignore_environment() {
    crate::pipeline::env_overrides::ignore();
}
