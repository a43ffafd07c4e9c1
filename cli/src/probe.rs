//! The item size of content without a type: that in the header of a NumPy file, or the one with which samples are smallest.
//! `scripts/check-item-sizes.py` compares it with the true size and with 1 on content drawn at random.

use crate::array_reader::resize;
use crate::error::{Failure, WithPath};
use crate::npy::Header;
use blosc2::{Encoder, Params};
use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Number of samples of a file: from its begin, its middle and its end.
const COUNT: u64 = 3;
/// Size of a sample in bytes. It has some items of each size, and all samples take about 0.1 s with zstd at level 5.
const SAMPLE_NBYTES: u64 = 64 << 10;
/// Offsets of samples are multiples of this: the least common multiple of all sizes that are tried.
const ALIGNMENT: u64 = 720_720;
/// The largest item size that is tried, in bytes: that of a complex number of double precision.
const MAX_PROBED: usize = 16;
/// A smaller item size wins over the best one if it needs at most this share of its bytes.
const TOLERANCE: f64 = 1.02;

/// An item size, and its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemSize {
    /// In bytes, at least 1.
    pub typesize: usize,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Argument,
    NumpyHeader,
    Samples,
}

impl fmt::Display for ItemSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::Argument => "",
            Origin::NumpyHeader => " by the NumPy header",
            Origin::Samples => " by samples",
        };
        write!(f, "{}{origin}", crate::size::count(self.typesize as u64, "byte"))
    }
}

impl ItemSize {
    /// Returns the size that the user has stated.
    pub(crate) fn given(typesize: usize) -> ItemSize {
        ItemSize { typesize, origin: Origin::Argument }
    }

    /// Returns the size for a content of which `samples` are known; the first one is its begin. `params` returns the
    /// parameters of compression for an item size. No item is larger than `limit` bytes.
    pub(crate) fn of_samples(
        samples: &[Vec<u8>],
        limit: usize,
        params: impl Fn(usize) -> Params,
    ) -> blosc2::Result<ItemSize> {
        let header = samples.first().and_then(|begin| Header::read(&mut begin.as_slice()).ok());
        if let Some((header, _)) = header {
            let typesize = Some(header.dtype.size()).filter(|&size| size <= limit.min(usize::from(u8::MAX)));
            return Ok(ItemSize { typesize: typesize.unwrap_or(1), origin: Origin::NumpyHeader });
        }
        let mut sizes = Vec::with_capacity(MAX_PROBED);
        for typesize in 1..=MAX_PROBED.min(limit) {
            let mut encoder = Encoder::new(&params(typesize))?;
            let mut cbytes = 0;
            for sample in samples.iter().filter(|sample| !sample.is_empty()) {
                cbytes += encoder.compress(sample)?.as_bytes().len();
            }
            sizes.push(cbytes);
        }
        let best = sizes.iter().copied().min().unwrap_or(0) as f64;
        let first = sizes.iter().position(|&cbytes| cbytes as f64 <= best * TOLERANCE);
        Ok(ItemSize { typesize: first.map_or(1, |at| at + 1), origin: Origin::Samples })
    }
}

/// Reads the first sample of a stream.
pub(crate) fn first_sample(stream: &mut impl Read, name: &Path) -> Result<Vec<u8>, Failure> {
    let mut sample = Vec::new();
    stream.take(SAMPLE_NBYTES).read_to_end(&mut sample).with_path(name)?;
    Ok(sample)
}

/// Reads the samples of a content of `nbytes` bytes.
pub(crate) fn samples(
    content: &mut (impl Read + Seek),
    nbytes: u64,
    name: &Path,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut samples = Vec::new();
    let last = nbytes.saturating_sub(SAMPLE_NBYTES);
    let mut end = 0;
    for number in 0..COUNT {
        let offset = last / (COUNT - 1) * number / ALIGNMENT * ALIGNMENT;
        if number > 0 && offset < end {
            continue;
        }
        let mut sample = Vec::new();
        // At most the size of a sample.
        resize(&mut sample, SAMPLE_NBYTES.min(nbytes - offset) as usize).with_path(name)?;
        content.seek(SeekFrom::Start(offset)).with_path(name)?;
        content.read_exact(&mut sample).with_path(name)?;
        end = offset + SAMPLE_NBYTES;
        samples.push(sample);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc2::{Codec, Filter};

    fn found(content: &[u8], limit: usize) -> usize {
        let params = |typesize| {
            let filters = if typesize > 1 { vec![Filter::Shuffle] } else { Vec::new() };
            Params::new().codec(Codec::Zstd).filters(filters).typesize(typesize)
        };
        let mut content = std::io::Cursor::new(content);
        let nbytes = content.get_ref().len() as u64;
        let samples = samples(&mut content, nbytes, Path::new("content")).unwrap();
        ItemSize::of_samples(&samples, limit, params).unwrap().typesize
    }

    #[test]
    fn the_size_of_numbers_is_found_on_samples() {
        let wave = |n: u32| f64::from(n).sqrt().sin() * 1e3;
        let singles: Vec<u8> = (0..500_000).flat_map(|n| (wave(n) as f32).to_le_bytes()).collect();
        let doubles: Vec<u8> = (0..500_000).flat_map(|n| wave(n).to_le_bytes()).collect();
        let records: Vec<u8> = (0..500_000u32)
            .flat_map(|n| [&n.to_le_bytes()[..], &(wave(n) as f32).to_le_bytes(), &[7]].concat())
            .collect();
        assert_eq!(found(&singles, 16), 4);
        assert_eq!(found(&doubles, 16), 8);
        assert_eq!(found(&records, 16), 9);
        assert_eq!(found(&doubles, 5), 4);
    }

    #[test]
    fn text_and_noise_have_items_of_one_byte() {
        let mut state = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as u8
        })
        .take(300_000)
        .collect();
        let words =
            noise.iter().map(|&byte| "a word of some letters in a text".split_at(usize::from(byte) % 32).0);
        let text = words.collect::<Vec<_>>().join(" ");
        for content in [text.as_bytes(), &noise, &[0; 300_000], &[1, 2, 3], &[]] {
            assert_eq!(found(content, 16), 1);
        }
    }
}
