//! The explanation of a choice of the automatic tuner.

use crate::error::Result;
use crate::params::{Codec, Filter, filters};
use crate::tradeoff::Tradeoff;
use blosc2_core::rust_api::auto_tuner::{ExplainedCandidate, ExplainedFeatures};

impl Tradeoff {
    /// Explains the choice for `content`, items of `typesize` bytes (more than 255 counts as 1), as the first chunk of a
    /// super-chunk.
    ///
    /// ```
    /// use blosc2::{Params, Tradeoff};
    ///
    /// let items: Vec<u8> = (0..100_000u32).flat_map(|n| (n % 1000 * 7).to_ne_bytes()).collect();
    /// let why = Tradeoff::new(1.0)?.explain(&items, 4)?;
    /// let choice = why.choice.expect("a build with codecs");
    /// assert!(choice.ratio > 1.0 && why.candidates.len() == 10);
    ///
    /// let params = Params::new().typesize(4).auto(Tradeoff::new(1.0)?);
    /// let chunk = blosc2::compress(&items, &params)?;
    /// assert_eq!(chunk.info().filters, choice.filters);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` if `typesize` is 0.
    pub fn explain(self, content: &[u8], typesize: usize) -> Result<Explanation> {
        let explanation = self.tuning().explain(content, typesize)?;
        let of_pipeline = |features: &ExplainedFeatures| PipelineFeatures {
            filters: filters(&features.filters, &[0; 6]),
            values: features.values.clone(),
        };
        Ok(Explanation {
            choice: explanation.choice.as_ref().map(Candidate::new),
            candidates: explanation.candidates.iter().map(Candidate::new).collect(),
            features: explanation.features.iter().map(of_pipeline).collect(),
        })
    }
}

/// What the automatic tuner chooses for a chunk, and why; see [`Tradeoff::explain`].
///
/// ```
/// let why = blosc2::Tradeoff::default().explain(&[1, 2, 3, 4].repeat(1000), 4)?;
/// assert!(why.choice.is_some());
/// assert_eq!((why.candidates.len(), why.features.len()), (10, 3));
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The choice; `None` in a build without codecs.
    pub choice: Option<Candidate>,
    /// The choice, then nine others with the best predicted scores, the best first.
    pub candidates: Vec<Candidate>,
    /// The features of the chunk after each pipeline of filters that the tuner chooses from.
    pub features: Vec<PipelineFeatures>,
}

/// Codec, level and filters, with the predicted ratio and speeds.
///
/// ```
/// use blosc2::{Params, Tradeoff};
///
/// let content = [1, 2, 3, 4].repeat(1000);
/// let why = Tradeoff::new(1.0)?.explain(&content, 4)?;
/// let second = &why.candidates[1];
/// let params = Params::new().codec(second.codec).level(second.level).filters(second.filters.clone());
/// assert!(blosc2::compress(&content, &params.typesize(4))?.as_bytes().len() < content.len());
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The codec.
    pub codec: Codec,
    /// The level, 1 to 9.
    pub level: u8,
    /// The filters.
    pub filters: Vec<Filter>,
    /// Size divided by compressed size.
    pub ratio: f64,
    /// Speed of compression in millions of bytes per second, of one thread of the machine that the model was fitted on.
    pub compression_speed: f64,
    /// The same of decompression.
    pub decompression_speed: f64,
}

impl Candidate {
    fn new(candidate: &ExplainedCandidate) -> Candidate {
        Candidate {
            codec: Codec::from_id(candidate.compcode),
            level: candidate.clevel,
            filters: filters(&candidate.filters, &[0; 6]),
            ratio: candidate.ratio,
            compression_speed: candidate.compression_speed,
            decompression_speed: candidate.decompression_speed,
        }
    }
}

/// The features of a chunk after a pipeline of filters.
///
/// ```
/// let why = blosc2::Tradeoff::default().explain(&[7; 4000], 1)?;
/// let (name, value) = &why.features[0].values[0];
/// assert_eq!((name.as_str(), *value), ("entropy", 0.0));
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PipelineFeatures {
    /// The filters.
    pub filters: Vec<Filter>,
    /// Name and value of each feature.
    pub values: Vec<(String, f32)>,
}
