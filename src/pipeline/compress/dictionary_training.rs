//! Trains a dictionary on the filtered blocks (`chunk.md` 3.9, `codecs.md` 7.2), in memory separate from the
//! destination.

use super::super::jobs::Worker;
use super::super::scratch;
use super::block::BlockEncoder;
use super::source::ContentSource;
use crate::abi::BLOSC_ZSTD;
use crate::chunk::format::{MAX_DICT_SIZE, MIN_USEFUL_DICT};
#[cfg(feature = "zstd")]
use crate::codec::train_zstd;
use crate::error::Result;
use crate::fallible;

/// A dictionary is at most 1/20 of the data.
const MIN_DATA_TO_DICT_RATIO: usize = 20;
/// A sample is 1/16 of the block or stream that it represents.
const STREAM_TO_SAMPLE_RATIO: usize = 16;
/// The minimum number of samples.
const MIN_SAMPLES: usize = 8;

struct SampleLayout {
    /// Maximum size of the dictionary, in bytes.
    max_dict_size: usize,
    /// Sizes of the samples in bytes. The samples lie one after the other from the start of the filtered data.
    sample_sizes: Vec<usize>,
}

/// Returns the layout of the samples of a chunk, `None` if a dictionary is not worthwhile.
fn plan_samples(encoder: &BlockEncoder<'_>) -> Result<Option<SampleLayout>> {
    let plan = encoder.plan;
    let nbytes = encoder.source.len();
    let capacity = MAX_DICT_SIZE.min(nbytes / MIN_DATA_TO_DICT_RATIO);
    if capacity < MIN_USEFUL_DICT {
        return Ok(None);
    }
    let sizes = match encoder.source {
        ContentSource::VarlenBlocks(sources) => {
            if sources.len() < MIN_SAMPLES || nbytes / sources.len() / STREAM_TO_SAMPLE_RATIO == 0 {
                return Ok(None);
            }
            fallible::collect(sources.iter().map(|s| s.len()))?
        }
        ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => {
            let streams = if plan.is_split { plan.typesize } else { 1 };
            let count = (encoder.nblocks() * streams).max(MIN_SAMPLES);
            let size = nbytes / count / STREAM_TO_SAMPLE_RATIO;
            if size == 0 {
                return Ok(None);
            }
            fallible::filled(size, count)?
        }
    };
    Ok(Some(SampleLayout { max_dict_size: capacity, sample_sizes: sizes }))
}

/// Returns a dictionary for the chunk, or `None` if it is compressed without one.
pub(super) fn train_chunk_dictionary(encoder: &BlockEncoder<'_>, compcode: i32) -> Result<Option<Vec<u8>>> {
    let Some(SampleLayout { max_dict_size: capacity, sample_sizes: sizes }) = plan_samples(encoder)? else {
        return Ok(None);
    };
    let sampled: usize = sizes.iter().sum();
    // Without the codec, the encoder returns an error, whatever the dictionary is.
    #[cfg(feature = "zstd")]
    if compcode == BLOSC_ZSTD {
        let samples = filtered_prefix(encoder, sampled)?;
        return Ok(train_zstd(&samples, &sizes, capacity));
    }
    // The dictionary of LZ4 is the beginning of the filtered data.
    let size = sampled.min(capacity);
    let mut dictionary = filtered_prefix(encoder, size)?;
    // The reference overwrites these bytes with the size before it reads them; this keeps the dictionaries identical.
    let stored = 4 * encoder.nblocks();
    for (at, byte) in (size as i32).to_le_bytes().into_iter().enumerate() {
        if let Some(place) = dictionary.get_mut(stored + at) {
            *place = byte;
        }
    }
    Ok(Some(dictionary))
}

/// Returns the first `len` bytes of the concatenated filtered blocks.
fn filtered_prefix(encoder: &BlockEncoder<'_>, len: usize) -> Result<Vec<u8>> {
    let mut prefix = fallible::vec_with_capacity(len)?;
    scratch::with_scratch(|scratch| {
        let mut worker = Worker { tid: 0, scratch };
        for nblock in 0..encoder.nblocks() {
            if prefix.len() == len {
                break;
            }
            encoder.with_filtered_block(nblock, &mut worker, |block, _, _, _| {
                prefix.extend_from_slice(&block[..block.len().min(len - prefix.len())]);
                Ok(())
            })?;
        }
        Ok(prefix)
    })
}
