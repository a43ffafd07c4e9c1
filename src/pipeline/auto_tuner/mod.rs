//! The automatic tuner: chooses codec, level and filters of a chunk from features of a sample.
//!
//! Data flow: chunk -> [`sample`] -> filtered by each of the [`chains`] -> [`features`] -> [`model`], evaluated by [`trees`]:
//! predicted size and times of each codec and level -> [`settings`]: scores -> choice.

#![forbid(unsafe_code)]

pub(crate) mod chains;
pub(crate) mod explain;
pub(crate) mod features;
pub(crate) mod model;
mod sample;
pub(crate) mod settings;
mod signature;
pub(crate) mod trees;

use crate::codec::BuiltInCodec;
use chains::FilterChain;
use features::{NFEATURES, PROBES};
use sample::ChunkSample;
use settings::Settings;
use signature::{Signature, SignatureRange};
use trees::{LevelModel, Model, Prediction};

/// Codec and level whose automatic block size is the largest: one block holds a chunk of [`LARGEST_BLOCK`] bytes. Only for them
/// is delta a candidate: in other blocks it refers to the first block, for which a sample says little.
const DELTA_SETTING: (u8, u8) = (5, 9);
const LARGEST_BLOCK: usize = 1 << 20;

/// A sample of a chunk, and its features for each pipeline of [`FilterChain::CHOICES`]; `None` for pipelines that are of no use.
pub struct Analysis {
    sample: ChunkSample,
    features: [Option<[f32; NFEATURES]>; 3],
    /// Whether delta encodes whole items, and one block of the largest automatic size holds the content.
    can_use_delta: bool,
}

impl Analysis {
    /// Analyses `content`, items of `typesize` bytes (at least 1). `blocksize` is the block size in bytes that the caller has
    /// requested, or 0.
    pub fn new(content: &[u8], typesize: usize, blocksize: usize) -> Analysis {
        let mut sample = ChunkSample::new(content, typesize);
        let mut filtered = Vec::new();
        let features = std::array::from_fn(|number| {
            let chain = FilterChain::CHOICES[number];
            chain.is_useful(typesize, content.len()).then(|| {
                sample.filter_into(chain, &mut filtered);
                let log_sizes = PROBES.map(|(compcode, clevel)| sample.log_size(chain, compcode, clevel));
                features::features(&filtered, typesize, number, log_sizes)
            })
        });
        let block = if blocksize == 0 { LARGEST_BLOCK } else { blocksize };
        let can_use_delta = content.len() <= block && FilterChain::Delta.is_useful(typesize, content.len());
        Analysis { sample, features, can_use_delta }
    }

    /// Returns the features for each pipeline.
    pub fn features(&self) -> &[Option<[f32; NFEATURES]>; 3] {
        &self.features
    }

    /// Returns the candidates of `model`.
    pub fn candidates<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = CodecChoice> + 'a {
        let is_built = |level: &&LevelModel| {
            let codec = BuiltInCodec::from_compcode(i32::from(level.compcode));
            codec.is_some_and(|codec| codec.check_is_built().is_ok())
        };
        let by_chain = FilterChain::CHOICES.into_iter().zip(&self.features);
        by_chain.filter_map(|(chain, features)| Some((chain, features.as_ref()?))).flat_map(
            move |(chain, features)| {
                let ranks = trees::ranks(features, model.limits);
                model.levels.iter().filter(is_built).map(move |level| {
                    let LevelModel { compcode, clevel, .. } = *level;
                    CodecChoice { chain, compcode, clevel, prediction: level.predict(&ranks) }
                })
            },
        )
    }

    /// Returns the candidate of `model` with the best predicted score; `None` for a build without codecs.
    pub fn choose(&mut self, model: &Model, settings: &Settings) -> Option<CodecChoice> {
        let best = best_of(self.candidates(model), settings)?;
        let code = (best.compcode, best.clevel);
        if PROBES.contains(&code) {
            return Some(best);
        }
        // The sizes of the sample tell the pipelines of a slow codec apart better than predictions. Its times hardly depend on
        // delta, and a sample of blocks without a predecessor has the same deltas as a chunk of one block.
        let is_same = |other: &CodecChoice| (other.compcode, other.clevel) == code;
        let mut same: Vec<CodecChoice> = self.candidates(model).filter(is_same).collect();
        if code == DELTA_SETTING && self.can_use_delta {
            same.extend_from_within(..);
            let count = same.len() / 2;
            same[count..].iter_mut().for_each(|candidate| candidate.chain = candidate.chain.with_delta());
        }
        let tried = same.into_iter().map(|candidate| {
            let size = self.sample.log_size(candidate.chain, candidate.compcode, candidate.clevel);
            CodecChoice { prediction: Prediction { size, ..candidate.prediction }, ..candidate }
        });
        best_of(tried, settings)
    }
}

/// Returns the candidate with the best score; the first one of equals.
fn best_of(candidates: impl Iterator<Item = CodecChoice>, settings: &Settings) -> Option<CodecChoice> {
    let score = |candidate: &CodecChoice| {
        let Prediction { size, compress_time, decompress_time } = candidate.prediction;
        settings.score(size, compress_time, decompress_time)
    };
    candidates.reduce(|best, other| if score(&other) > score(&best) { other } else { best })
}

/// Codec, level and filters, with the predicted size and times.
#[derive(Clone, Copy, Debug)]
pub struct CodecChoice {
    /// The pipeline.
    pub chain: FilterChain,
    /// Codec id.
    pub compcode: u8,
    /// Compression level, 1 to 9.
    pub clevel: u8,
    /// The predicted size and times.
    pub prediction: Prediction,
}

impl CodecChoice {
    fn is_same_choice(&self, other: &CodecChoice) -> bool {
        (self.chain, self.compcode, self.clevel) == (other.chain, other.compcode, other.clevel)
    }
}

/// Duration of an analysis in nanoseconds, and the largest share of the time of compression for analyses after the first
/// (`scripts/tune --check`).
const ANALYSIS_TIME: f32 = 2e6;
const MAX_SHARE: f32 = 0.05;
/// The largest number of pipelines with which [`Analysis::choose`] compresses the sample.
const MAX_TRIALS: usize = 6;

/// The tuner of a context, which keeps a choice as long as the content stays alike, and until another analysis is worth its
/// time.
pub struct AutoTuner {
    settings: Settings,
    kept: Option<Kept>,
}

/// A choice that was made.
struct Kept {
    range: SignatureRange,
    candidate: CodecChoice,
    /// Bytes that were compressed since the last analysis.
    nbytes: usize,
}

impl Kept {
    /// Returns the number of bytes whose compression takes so long that another analysis takes no more than its share: by the
    /// predicted time, so that the choice depends on no clock.
    fn interval(&self) -> usize {
        let CodecChoice { compcode, clevel, prediction, .. } = self.candidate;
        // A codec that is not a probe compresses the sample once for each pipeline.
        let tried =
            if PROBES.contains(&(compcode, clevel)) { 0 } else { MAX_TRIALS * sample::MAX_SAMPLE_LEN };
        ((ANALYSIS_TIME / prediction.compress_time.exp() + tried as f32) / MAX_SHARE) as usize
    }
}

impl AutoTuner {
    /// Returns a tuner that has made no choice yet.
    pub fn new(settings: Settings) -> AutoTuner {
        AutoTuner { settings, kept: None }
    }

    /// Returns the choice for `content`, items of `typesize` bytes (at least 1), which depends on this content and those of
    /// earlier calls only. `blocksize` is the block size in bytes that the caller has requested, or 0.
    pub fn choose(&mut self, content: &[u8], typesize: usize, blocksize: usize) -> Option<CodecChoice> {
        let signature = Signature::new(content, typesize);
        if let Some(kept) = &mut self.kept
            && kept.candidate.chain.is_useful(typesize, content.len())
        {
            kept.nbytes = kept.nbytes.saturating_add(content.len());
            if kept.range.contains(&signature) || kept.nbytes < kept.interval() {
                return Some(kept.candidate);
            }
        }
        let choice = Analysis::new(content, typesize, blocksize).choose(&model::MODEL, &self.settings)?;
        match &mut self.kept {
            Some(kept) if kept.candidate.is_same_choice(&choice) => {
                kept.range.extend(&signature);
                kept.nbytes = 0;
            }
            kept => {
                *kept = Some(Kept { range: SignatureRange::new(signature), candidate: choice, nbytes: 0 })
            }
        }
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::settings::SpeedMode;
    use super::*;

    const LEN: usize = 1 << 18;

    fn new_tuner() -> AutoTuner {
        AutoTuner::new(Settings::new(0.5, SpeedMode::Balanced).unwrap())
    }

    #[test]
    fn other_content_is_analysed_after_the_interval() {
        let zeros = vec![0; LEN];
        let counters: Vec<u8> =
            (0..LEN as u32 / 4).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 12).to_le_bytes()).collect();
        let mut tuner = new_tuner();
        let first = tuner.choose(&zeros, 4, 0).unwrap();
        let other = new_tuner().choose(&counters, 4, 0).unwrap();
        assert!(!first.is_same_choice(&other), "{first:?}");
        let interval = tuner.kept.as_ref().unwrap().interval();
        assert!(interval > 2 * LEN, "{interval} bytes");
        let ncalls = interval.div_ceil(LEN);
        for ncall in 1..ncalls {
            assert!(tuner.choose(&counters, 4, 0).unwrap().is_same_choice(&first), "call {ncall}");
        }
        assert!(tuner.choose(&counters, 4, 0).unwrap().is_same_choice(&other));
    }
}
