//! The explanation of a choice: the candidates, their predictions, and the features that they were predicted from.

use super::chains::FilterChain;
use super::features::{NFEATURES, PROBES};
use super::settings::{Settings, SpeedMode};
use super::trees::Prediction;
use super::{Analysis, CodecChoice, model};
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::codec::BuiltInCodec;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// The number of candidates of an explanation.
const NCANDIDATES: usize = 10;

/// Short names of the features before the sizes of the probes, in their order.
const FEATURE_NAMES: [&str; NFEATURES - PROBES.len()] = [
    "entropy",
    "random",
    "equal_neighbours",
    "zeros",
    "typesize_log2",
    "pipeline",
    "typesize_up_to_16",
    "matches",
    "matched",
    "long_matches",
    "near_matches",
];

/// Returns the names of all features. Those of a probe are natural logarithms of the compressed size divided by the size.
fn feature_names() -> impl Iterator<Item = String> {
    let probes =
        PROBES.into_iter().map(|(compcode, clevel)| format!("{}_{clevel}_size", codec_name(compcode)));
    FEATURE_NAMES.into_iter().map(String::from).chain(probes)
}

/// Returns the name of a codec of the library.
fn codec_name(compcode: u8) -> Cow<'static, str> {
    BuiltInCodec::from_compcode(i32::from(compcode)).map_or(c"", BuiltInCodec::name).to_string_lossy()
}

/// Codec, level and filters, with the predicted ratio and speeds.
#[derive(Clone, Debug)]
pub struct ExplainedCandidate {
    /// Codec id.
    pub compcode: u8,
    /// Compression level, 1 to 9.
    pub clevel: u8,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// Size divided by compressed size.
    pub ratio: f64,
    /// Speed of compression in MB/s (10^6 bytes per second), of one thread of the machine that the model was fitted on.
    pub compression_speed: f64,
    /// The same of decompression.
    pub decompression_speed: f64,
}

impl ExplainedCandidate {
    fn new(candidate: &CodecChoice) -> ExplainedCandidate {
        let prediction = &candidate.prediction;
        let speed = |time: f32| 1000.0 * f64::from(-time).exp();
        ExplainedCandidate {
            compcode: candidate.compcode,
            clevel: candidate.clevel,
            filters: candidate.chain.filters(),
            ratio: f64::from(-prediction.size).exp(),
            compression_speed: speed(prediction.compress_time),
            decompression_speed: speed(prediction.decompress_time),
        }
    }
}

/// The features of a chunk after a pipeline of filters.
#[derive(Clone, Debug)]
pub struct ExplainedFeatures {
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// Short name and value of each feature.
    pub values: Vec<(String, f32)>,
}

/// What the automatic tuner chooses for a chunk, and why.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The settings of the tuner.
    pub settings: Settings,
    /// Length of the content in bytes.
    pub nbytes: usize,
    /// Item size in bytes.
    pub typesize: usize,
    /// The choice; `None` in a build without codecs.
    pub choice: Option<ExplainedCandidate>,
    /// The choice, and the others of the ten candidates with the best predicted scores, the best first.
    pub candidates: Vec<ExplainedCandidate>,
    /// The features for each pipeline that the tuner chooses from.
    pub features: Vec<ExplainedFeatures>,
}

/// Explains the choice of a new tuner for `content`, items of `typesize` bytes (at least 1), with an automatic block size.
pub(crate) fn explain(content: &[u8], typesize: usize, settings: Settings) -> Explanation {
    let mut analysis = Analysis::new(content, typesize, 0);
    let score = |candidate: &CodecChoice| {
        let Prediction { size, compress_time, decompress_time } = candidate.prediction;
        settings.score(size, compress_time, decompress_time)
    };
    let mut candidates: Vec<CodecChoice> = analysis.candidates(&model::MODEL).collect();
    // A stable sort, so that of equal candidates the first one, which the tuner prefers, remains the first.
    candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let features = *analysis.features();
    let choice = analysis.choose(&model::MODEL, &settings);
    if let Some(choice) = choice {
        candidates.retain(|candidate| !candidate.is_same_choice(&choice));
        candidates.insert(0, choice);
    }
    let features = FilterChain::CHOICES.into_iter().zip(features).filter_map(|(chain, features)| {
        let values = feature_names().zip(features?).collect();
        Some(ExplainedFeatures { filters: chain.filters(), values })
    });
    Explanation {
        settings,
        nbytes: content.len(),
        typesize,
        choice: choice.as_ref().map(ExplainedCandidate::new),
        candidates: candidates.iter().take(NCANDIDATES).map(ExplainedCandidate::new).collect(),
        features: features.collect(),
    }
}

impl Explanation {
    /// Returns the explanation as an object of JSON, without line breaks.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        // Writing to a `String` does not fail.
        let _ = self.write_json(&mut json);
        json
    }

    fn write_json(&self, json: &mut String) -> fmt::Result {
        let mode = match self.settings.mode() {
            SpeedMode::Balanced => "balanced",
            SpeedMode::Compression => "comp",
            SpeedMode::Decompression => "decomp",
        };
        write!(json, r#"{{"tradeoff":{},"mode":"{mode}","#, self.settings.tradeoff())?;
        write!(json, r#""nbytes":{},"typesize":{},"choice":"#, self.nbytes, self.typesize)?;
        match &self.choice {
            Some(choice) => write_candidate(json, choice)?,
            None => json.push_str("null"),
        }
        json.push_str(r#","candidates":["#);
        for (n, candidate) in self.candidates.iter().enumerate() {
            json.push_str(if n > 0 { "," } else { "" });
            write_candidate(json, candidate)?;
        }
        json.push_str(r#"],"features":["#);
        for (n, features) in self.features.iter().enumerate() {
            json.push_str(if n > 0 { ",{" } else { "{" });
            write_filters(json, &features.filters);
            for (name, value) in &features.values {
                write!(json, r#","{name}":"#)?;
                write_number(json, f64::from(*value), 4)?;
            }
            json.push('}');
        }
        json.push_str("]}");
        Ok(())
    }
}

fn write_candidate(json: &mut String, candidate: &ExplainedCandidate) -> fmt::Result {
    let codec = codec_name(candidate.compcode);
    write!(json, r#"{{"codec":"{codec}","clevel":{},"#, candidate.clevel)?;
    write_filters(json, &candidate.filters);
    let numbers = [
        ("ratio", candidate.ratio, 3),
        ("compression_mb_s", candidate.compression_speed, 1),
        ("decompression_mb_s", candidate.decompression_speed, 1),
    ];
    for (name, value, digits) in numbers {
        write!(json, r#","{name}":"#)?;
        write_number(json, value, digits)?;
    }
    json.push('}');
    Ok(())
}

fn write_filters(json: &mut String, filters: &[u8; MAX_FILTERS]) {
    json.push_str(r#""filters":["#);
    let used = filters.iter().filter(|&&id| id != filter_id::NONE);
    for (n, &id) in used.enumerate() {
        json.push_str(if n > 0 { "," } else { "" });
        json.push_str(match id {
            filter_id::SHUFFLE => r#""shuffle""#,
            filter_id::BITSHUFFLE => r#""bitshuffle""#,
            _ => r#""delta""#,
        });
    }
    json.push(']');
}

/// Writes a number with that many decimal digits; `null` for one that JSON does not have.
fn write_number(json: &mut String, value: f64, digits: usize) -> fmt::Result {
    if value.is_finite() { write!(json, "{value:.digits$}") } else { json.write_str("null") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp() -> Vec<u8> {
        (0..50_000u32).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn candidates_are_the_choice_and_sorted_ones() {
        for tradeoff in [0.0, 0.5, 1.0] {
            let settings = Settings::new(tradeoff, SpeedMode::Balanced).unwrap();
            let explanation = explain(&ramp(), 4, settings);
            let choice = explanation.choice.expect("a choice");
            assert_eq!(explanation.candidates.len(), NCANDIDATES);
            let key = |one: &ExplainedCandidate| (one.compcode, one.clevel, one.filters);
            assert_eq!(key(&explanation.candidates[0]), key(&choice));
            let score = |one: &ExplainedCandidate| {
                let time = (one.compression_speed * one.decompression_speed).sqrt().ln();
                tradeoff * one.ratio.ln() + (1.0 - tradeoff) * time
            };
            assert!(
                explanation.candidates[1..].windows(2).all(|pair| score(&pair[0]) >= score(&pair[1]) - 1e-4),
                "{:?}",
                explanation.candidates
            );
        }
    }

    #[test]
    fn each_pipeline_has_all_features() {
        let settings = Settings::new(0.5, SpeedMode::Balanced).unwrap();
        assert_eq!(explain(&ramp(), 4, settings).features.len(), 3);
        // Shuffle is of no use for bytes.
        let of_bytes = explain(&ramp(), 1, settings).features;
        assert_eq!(of_bytes.len(), 2);
        assert!(of_bytes.iter().all(|features| features.values.len() == NFEATURES));
    }

    #[test]
    fn contents_of_any_length_are_explained_with_numbers() {
        let settings = Settings::new(1.0, SpeedMode::Decompression).unwrap();
        for len in [0, 1, 7, 100, 4099] {
            for typesize in [1, 2, 255, 5000] {
                let json = explain(&vec![7; len], typesize, settings).to_json();
                assert!(!json.contains("null") && !json.contains("inf"), "{len} bytes, {typesize}: {json}");
            }
        }
    }

    #[test]
    fn numbers_that_json_lacks_are_null() {
        let mut json = String::new();
        for value in [f64::NAN, f64::INFINITY, 1.25] {
            write_number(&mut json, value, 1).unwrap();
            json.push(' ');
        }
        assert_eq!(json, "null null 1.2 ");
    }
}
