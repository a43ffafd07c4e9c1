//! What the automatic tuner would choose for a chunk, and why.

use super::subject::Subject;
use crate::error::Failure;
use crate::results::Results;
use blosc2::{Candidate, Explanation, Filter, Tradeoff};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The explanation for the first chunk. In JSON: these keys; a candidate has `codec`, `level`, `filters`, and the predicted `ratio`,
/// `compress_mb_s` and `decompress_mb_s` in MB (1000000 bytes) per second.
#[derive(Serialize)]
pub(super) struct Why {
    /// The tradeoff, for example `0.5` or `0.5:decomp`.
    tradeoff: String,
    #[serde(serialize_with = "candidate_to_json")]
    choice: Option<Candidate>,
    #[serde(serialize_with = "candidates_to_json")]
    candidates: Vec<Candidate>,
    /// The features of the chunk after each pipeline of filters.
    features: Vec<PipelineFeatures>,
}

#[derive(Serialize)]
struct PipelineFeatures {
    filters: Vec<String>,
    values: BTreeMap<String, f32>,
}

#[derive(Serialize)]
struct JsonCandidate {
    codec: String,
    level: u8,
    filters: Vec<String>,
    ratio: f64,
    compress_mb_s: f64,
    decompress_mb_s: f64,
}

impl From<&Candidate> for JsonCandidate {
    fn from(candidate: &Candidate) -> JsonCandidate {
        JsonCandidate {
            codec: candidate.codec.to_string(),
            level: candidate.level,
            filters: names(&candidate.filters),
            ratio: candidate.ratio,
            compress_mb_s: candidate.compression_speed,
            decompress_mb_s: candidate.decompression_speed,
        }
    }
}

fn candidate_to_json<S: Serializer>(choice: &Option<Candidate>, serializer: S) -> Result<S::Ok, S::Error> {
    choice.as_ref().map(JsonCandidate::from).serialize(serializer)
}

fn candidates_to_json<S: Serializer>(candidates: &[Candidate], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(candidates.iter().map(JsonCandidate::from))
}

fn names(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(ToString::to_string).collect()
}

impl Why {
    /// Decompresses the first chunk, and explains the choice for it.
    ///
    /// # Errors
    /// The text of an error of reading the chunk.
    pub(super) fn new(subject: &Subject, tradeoff: Tradeoff) -> Result<Why, String> {
        let explain = || tradeoff.explain(&subject.decompress_first_chunk()?, subject.typesize());
        let Explanation { choice, candidates, features, .. } =
            explain().map_err(|error| error.to_string())?;
        let features = features.into_iter().map(|features| PipelineFeatures {
            filters: names(&features.filters),
            values: features.values.into_iter().collect(),
        });
        Ok(Why { tradeoff: tradeoff.to_string(), choice, candidates, features: features.collect() })
    }

    /// Prints the candidates, of which the choice is marked, and the features.
    pub(super) fn print(&self, results: &mut Results) -> Result<(), Failure> {
        results.line(format_args!(
            "  chunk 0 with --auto={}; predicted ratio, and speeds of one thread in MB per second",
            self.tradeoff
        ))?;
        results.line(format_args!(
            "  {:8} {:>5}  {:10} {:>10} {:>10} {:>10}",
            "codec", "level", "filters", "ratio", "compress", "decompress"
        ))?;
        let is_listed = self.choice.as_ref().is_none_or(|choice| self.candidates.contains(choice));
        let unlisted = self.choice.iter().filter(|_| !is_listed);
        for candidate in unlisted.chain(&self.candidates) {
            let mark = if self.choice.as_ref() == Some(candidate) { "choice" } else { "" };
            let line = format!(
                "  {:8} {:>5}  {:10} {:>10.2} {:>10.0} {:>10.0}  {mark}",
                candidate.codec.to_string(),
                candidate.level,
                filters_or_none(&names(&candidate.filters)),
                candidate.ratio,
                candidate.compression_speed,
                candidate.decompression_speed,
            );
            results.line(line.trim_end())?;
        }
        let columns: Vec<String> =
            self.features.iter().map(|features| filters_or_none(&features.filters)).collect();
        let columns = columns.iter().map(|name| format!(" {name:>10}")).collect::<String>();
        results.line(format_args!("  {:20}{columns}", "feature"))?;
        for name in self.features.first().map_or(Vec::new(), |first| first.values.keys().collect()) {
            let values = self.features.iter().filter_map(|features| features.values.get(name));
            let values = values.map(|value| format!(" {value:>10.4}")).collect::<String>();
            results.line(format_args!("  {name:20}{values}"))?;
        }
        Ok(())
    }
}

fn filters_or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}
