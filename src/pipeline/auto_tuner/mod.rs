//! The automatic tuner: chooses codec, level and filters of a chunk from features of a sample.
//!
//! Data flow: chunk -> [`sample`] -> filtered by each of the [`chains`] -> [`features`] -> [`model`], evaluated by [`trees`]:
//! predicted size and times of each codec and level -> [`settings`]: scores -> choice.

#![forbid(unsafe_code)]

pub(crate) mod chains;
pub(crate) mod features;
pub(crate) mod model;
mod sample;
pub(crate) mod settings;
mod signature;
pub(crate) mod trees;

use crate::codec::BuiltInCodec;
use chains::FilterChain;
use features::{MatchFinder, NFEATURES};
use sample::Sample;
use settings::Settings;
use signature::{Signature, SignatureRange};
use trees::{CodecModel, Prediction};

/// Codecs and levels whose size of the sample is a feature.
const PROBES: [(u8, u8); 3] = [(1, 1), (0, 5), (5, 1)];

/// The features of a chunk for each pipeline of [`FilterChain::ALL`]; `None` for pipelines that are of no use.
pub type ChainFeatures = [Option<[f32; NFEATURES]>; 3];

/// Returns the features of `content`, items of `typesize` bytes (at least 1).
pub fn features_by_chain(content: &[u8], typesize: usize) -> ChainFeatures {
    let mut sample = Sample::new(content, typesize);
    let (mut finder, mut filtered) = (MatchFinder::new(), Vec::new());
    std::array::from_fn(|number| {
        let chain = FilterChain::CHOICES[number];
        chain.is_useful(typesize, content.len()).then(|| {
            sample.filter_into(chain, &mut filtered);
            let probes = PROBES.map(|(compcode, clevel)| sample.log_size(chain, compcode, clevel));
            finder.features(&filtered, typesize, number, probes)
        })
    })
}

/// Codec, level and filters, with the predicted size and times.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The pipeline.
    pub chain: FilterChain,
    /// Codec id.
    pub compcode: u8,
    /// Compression level, 1 to 9.
    pub clevel: u8,
    /// The predicted size and times.
    pub prediction: Prediction,
}

impl Candidate {
    fn is_same_choice(&self, other: &Candidate) -> bool {
        (self.chain, self.compcode, self.clevel) == (other.chain, other.compcode, other.clevel)
    }
}

/// Calls `visit` with each candidate of `models`, which have the ids of their codecs.
fn for_each_candidate(
    models: &[(u8, CodecModel)],
    features: &ChainFeatures,
    mut visit: impl FnMut(Candidate),
) {
    for (chain, features) in FilterChain::CHOICES.into_iter().zip(features) {
        let Some(features) = features else { continue };
        let built =
            models.iter().filter(|(compcode, _)| BuiltInCodec::from_compcode(i32::from(*compcode)).is_some());
        for (compcode, model) in built {
            for (prediction, clevel) in model.predict(features).into_iter().zip(1..) {
                visit(Candidate { chain, compcode: *compcode, clevel, prediction });
            }
        }
    }
}

/// Returns the candidate with the best predicted score; `None` for a build without codecs.
pub fn choose(
    models: &[(u8, CodecModel)],
    features: &ChainFeatures,
    settings: &Settings,
) -> Option<Candidate> {
    let mut best: Option<(f32, Candidate)> = None;
    for_each_candidate(models, features, |candidate| {
        let Prediction { size, compress_time, decompress_time } = candidate.prediction;
        let score = settings.score(size, compress_time, decompress_time);
        if best.is_none_or(|(least, _)| score > least) {
            best = Some((score, candidate));
        }
    });
    best.map(|(_, candidate)| candidate)
}

/// The tuner of a context, which keeps a choice as long as the content stays alike.
pub(crate) struct AutoTuner {
    settings: Settings,
    kept: Option<(SignatureRange, Candidate)>,
}

impl AutoTuner {
    pub(crate) fn new(settings: Settings) -> AutoTuner {
        AutoTuner { settings, kept: None }
    }

    /// Returns the choice for `content`, items of `typesize` bytes (at least 1), which depends on this content and those of
    /// earlier calls only.
    pub(crate) fn choose(&mut self, content: &[u8], typesize: usize) -> Option<Candidate> {
        let signature = Signature::new(content, typesize);
        if let Some((range, candidate)) = &self.kept
            && range.contains(&signature)
        {
            return Some(*candidate);
        }
        let choice = choose(&model::MODELS, &features_by_chain(content, typesize), &self.settings)?;
        match &mut self.kept {
            Some((range, candidate)) if candidate.is_same_choice(&choice) => range.extend(&signature),
            kept => *kept = Some((SignatureRange::new(signature), choice)),
        }
        Some(choice)
    }
}
