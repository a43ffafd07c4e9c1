//! Making a dictionary of the filtered blocks (`chunk.md` 3.9, `codecs.md` 7.2), in memory of our own.

use super::super::jobs::Worker;
use super::super::scratch;
use super::block::BlockEncoder;
use super::source::Source;
use crate::abi::BLOSC_ZSTD;
use crate::chunk::format::{MAX_DICT_SIZE, MIN_USEFUL_DICT};
use crate::codec::train_zstd;
use crate::err;
use crate::error::Result;

/// A dictionary is at most this part of the data.
const PART_OF_DATA: usize = 20;
/// A sample is this part of what it stands for.
const PART_OF_SAMPLE: usize = 16;
/// The least number of samples.
const MIN_SAMPLES: usize = 8;

/// How the samples are taken.
struct Sampling {
    /// The largest dictionary, in bytes.
    capacity: usize,
    /// Sizes of the samples, which follow each other from the start of the filtered data, in bytes.
    sizes: Vec<usize>,
}

/// The sampling of a chunk, `None` if a dictionary would not pay.
fn sampling(encoder: &BlockEncoder<'_>) -> Option<Sampling> {
    let plan = encoder.plan;
    let nbytes = encoder.source.len();
    let capacity = MAX_DICT_SIZE.min(nbytes / PART_OF_DATA);
    if capacity < MIN_USEFUL_DICT {
        return None;
    }
    let sizes = match encoder.source {
        Source::Blocks(sources) => {
            if sources.len() < MIN_SAMPLES || nbytes / sources.len() / PART_OF_SAMPLE == 0 {
                return None;
            }
            sources.iter().map(|s| s.len()).collect()
        }
        Source::Buffer(_) | Source::Absent(_) | Source::Gathered(_) => {
            let streams = if plan.split { plan.typesize } else { 1 };
            let count = (encoder.nblocks() * streams).max(MIN_SAMPLES);
            let size = nbytes / count / PART_OF_SAMPLE;
            if size == 0 {
                return None;
            }
            vec![size; count]
        }
    };
    Some(Sampling { capacity, sizes })
}

/// A dictionary for the chunk, or `None` if it gets along without.
///
/// # Errors
/// Those of filtering a block; `MemoryAlloc`.
pub(super) fn train(encoder: &BlockEncoder<'_>, compcode: i32) -> Result<Option<Vec<u8>>> {
    let Some(Sampling { capacity, sizes }) = sampling(encoder) else { return Ok(None) };
    let sampled: usize = sizes.iter().sum();
    if compcode == BLOSC_ZSTD {
        let samples = filtered_prefix(encoder, sampled)?;
        return Ok(train_zstd(&samples, &sizes, capacity));
    }
    // LZ4 takes the beginning of the data as it is.
    let size = sampled.min(capacity);
    let mut dictionary = filtered_prefix(encoder, size)?;
    // The reference stores the size over these bytes before it reads them; keep its dictionaries.
    let stored = 4 * encoder.nblocks();
    for (at, byte) in (size as i32).to_le_bytes().into_iter().enumerate() {
        if let Some(place) = dictionary.get_mut(stored + at) {
            *place = byte;
        }
    }
    Ok(Some(dictionary))
}

/// The first `len` bytes of the filtered blocks, one after the other.
fn filtered_prefix(encoder: &BlockEncoder<'_>, len: usize) -> Result<Vec<u8>> {
    let mut prefix = Vec::new();
    prefix.try_reserve_exact(len).map_err(|_| err!(MemoryAlloc, "{len} bytes of samples"))?;
    scratch::with(|scratch| {
        let mut worker = Worker { tid: 0, scratch };
        for nblock in 0..encoder.nblocks() {
            if prefix.len() == len {
                break;
            }
            encoder.filtered(nblock, &mut worker, |block, _, _, _| {
                prefix.extend_from_slice(&block[..block.len().min(len - prefix.len())]);
                Ok(())
            })?;
        }
        Ok(prefix)
    })
}
