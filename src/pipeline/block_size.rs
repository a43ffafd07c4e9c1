//! The default tuner: the block size (`chunk.md` 3.3) and the split decision (3.4).

use super::params::CompressParams;
use crate::abi::{BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT};
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::codec::BuiltInCodec;

const KIB: i32 = 1024;

/// Sources shorter than this, in bytes, get one block at every level.
const L1_CACHE_SIZE: i32 = 32 * KIB;

/// The largest automatic size of a block that is split, in bytes.
const MAX_AUTO_SPLIT_BLOCKSIZE: i32 = 4096 * KIB;

/// Items wider than this, in bytes, are not split automatically.
const MAX_AUTO_SPLIT_TYPESIZE: i32 = 16;

/// Blocks whose streams would be shorter than this, in bytes, are not split automatically.
const MIN_AUTO_SPLIT_STREAM_LEN: i32 = 32;

/// Block sizes by level in KiB, for codecs without [large blocks](BuiltInCodec::has_large_blocks).
const FAST_CODEC_BLOCK_KIB: [i32; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
/// Block sizes by level in KiB, for codecs with large blocks.
const HIGH_RATIO_CODEC_BLOCK_KIB: [i32; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
/// Stream sizes by level in KiB, for blocks that are split.
const SPLIT_STREAM_KIB: [i32; 10] = [0, 32, 32, 32, 64, 64, 64, 128, 256, 512];

/// The parameters on which the block size and the split decision depend.
#[derive(Clone, Copy)]
pub(crate) struct DefaultTuner {
    /// `None` for a registered codec.
    codec: Option<BuiltInCodec>,
    clevel: i32,
    splitmode: i32,
    has_shuffle: bool,
}

impl DefaultTuner {
    /// Returns the default tuner for the parameters of a compression.
    pub(crate) fn from_params(params: &CompressParams) -> Self {
        DefaultTuner::new(params.compcode, params.clevel, params.splitmode, &params.filters)
    }

    /// Returns the default tuner for a codec, a level (clamped to 0..=9), a split mode and a filter pipeline.
    pub(crate) fn new(compcode: i32, clevel: i32, splitmode: i32, filters: &[u8; MAX_FILTERS]) -> Self {
        let shuffles = filters.contains(&filter_id::SHUFFLE);
        let codec = BuiltInCodec::from_compcode(compcode);
        DefaultTuner { codec, clevel: clevel.clamp(0, 9), splitmode, has_shuffle: shuffles }
    }

    /// Returns whether blocks of `blocksize` bytes are split into one stream per byte of an item.
    pub(crate) fn is_split(&self, typesize: i32, blocksize: i32) -> bool {
        match self.splitmode {
            BLOSC_ALWAYS_SPLIT => return true,
            BLOSC_NEVER_SPLIT => return false,
            _ => {}
        }
        self.codec.is_some_and(|codec| codec.splits_at(self.clevel))
            && self.has_shuffle
            && typesize <= MAX_AUTO_SPLIT_TYPESIZE
            && blocksize / typesize.max(1) >= MIN_AUTO_SPLIT_STREAM_LEN
    }

    /// Returns the block size in bytes for `nbytes` bytes in items of `typesize` bytes (as requested, not capped).
    /// `requested` is the block size that the caller requested, or 0 for an automatic one.
    pub(crate) fn blocksize(&self, nbytes: i32, typesize: i32, requested: i32) -> i32 {
        if nbytes < typesize {
            return 1;
        }
        let mut blocksize = if requested > 0 { requested } else { self.auto_blocksize(nbytes, typesize) };
        blocksize = blocksize.min(nbytes);
        if blocksize > typesize && typesize > 0 {
            blocksize = blocksize / typesize * typesize;
        }
        blocksize.max(1)
    }

    fn auto_blocksize(&self, nbytes: i32, typesize: i32) -> i32 {
        let level = self.clevel as usize;
        if self.clevel > 0 && self.is_split(typesize, nbytes) {
            // The product wraps in the format's definition; only ALWAYS_SPLIT with huge items overflows.
            let blocksize = (SPLIT_STREAM_KIB[level] * KIB).wrapping_mul(typesize);
            return blocksize.clamp(L1_CACHE_SIZE, MAX_AUTO_SPLIT_BLOCKSIZE);
        }
        if nbytes < L1_CACHE_SIZE {
            return nbytes;
        }
        KIB * if self.codec.is_some_and(BuiltInCodec::has_large_blocks) {
            HIGH_RATIO_CODEC_BLOCK_KIB[level]
        } else {
            FAST_CODEC_BLOCK_KIB[level]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHUFFLED: [u8; 6] = [0, 0, 0, 0, 0, 1];

    #[test]
    fn automatic_block_sizes_are_between_1_and_nbytes() {
        for mode in 0..6 {
            for typesize in [1, 3, 300, 4096, 70_000, 536_866_816] {
                for nbytes in [0, 1, 31, 70_000, i32::MAX - 32] {
                    for clevel in 0..10 {
                        let size =
                            DefaultTuner::new(0, clevel, mode, &SHUFFLED).blocksize(nbytes, typesize, 0);
                        assert!(size >= 1 && size <= nbytes.max(1));
                    }
                }
            }
        }
    }
}
