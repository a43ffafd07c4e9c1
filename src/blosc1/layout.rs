//! The block size and the split decision of a writer (`blosc1.md` 6.2, 6.3).

use super::Codec;

/// The largest block, in bytes.
pub const MAX_BLOCKSIZE: i32 = 715_827_542;
/// The smallest block size that a program can set, in bytes.
const MIN_FORCED_BLOCKSIZE: i32 = 128;
/// Sources shorter than this, in bytes, get one block.
const L1_CACHE_SIZE: i32 = 32 << 10;
/// The limits of the size of blocks that are split, in bytes.
const SPLIT_BLOCKSIZE_LIMITS: (i64, i64) = (64 << 10, 1 << 20);
/// The largest size, in bytes, of the streams of blocks that are split.
const MAX_SPLIT_STREAM_LEN: i32 = 256 << 10;
/// Items wider than this, in bytes, are not split.
pub const MAX_SPLIT_TYPESIZE: i32 = 16;
/// Blocks with fewer items are not split.
pub const MIN_SPLIT_ITEMS: i32 = 128;

/// Block sizes by level in KiB, for fast codecs.
const FAST_CODEC_BLOCK_KIB: [i32; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
/// Block sizes by level in KiB, for codecs with a high ratio.
const HIGH_RATIO_CODEC_BLOCK_KIB: [i32; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];

/// The values of `blosc_set_splitmode`.
pub const ALWAYS_SPLIT: i32 = 1;
/// See [`ALWAYS_SPLIT`].
pub const NEVER_SPLIT: i32 = 2;
/// See [`ALWAYS_SPLIT`].
pub const AUTO_SPLIT: i32 = 3;
/// See [`ALWAYS_SPLIT`].
pub const FORWARD_COMPAT_SPLIT: i32 = 4;

/// The codes of codecs (`BLOSC_BLOSCLZ` and so on).
const BLOSCLZ: i32 = 0;
/// See [`BLOSCLZ`].
const LZ4HC: i32 = 2;
/// See [`BLOSCLZ`].
const SNAPPY: i32 = 3;
/// See [`BLOSCLZ`].
const ZLIB: i32 = 4;
/// See [`BLOSCLZ`].
const ZSTD: i32 = 5;

/// The parameters on which the layout of a chunk depends.
#[derive(Clone, Copy)]
pub struct LayoutParams {
    /// The codec.
    pub codec: Codec,
    /// Compression level, 0 to 9.
    pub clevel: u8,
    /// Item size in bytes, as stored.
    pub typesize: u8,
    /// The split mode; an unknown one counts as [`ALWAYS_SPLIT`].
    pub splitmode: i32,
    /// The block size that the program has set, in bytes; 0 for an automatic one.
    pub forced_blocksize: i32,
}

impl LayoutParams {
    /// Returns the block size for `nbytes` bytes, and whether full blocks are split.
    pub fn layout(&self, nbytes: i32) -> (i32, bool) {
        let typesize = i32::from(self.typesize);
        let blocksize = self.blocksize(nbytes, typesize);
        (blocksize, self.is_split(blocksize, typesize))
    }

    fn blocksize(&self, nbytes: i32, typesize: i32) -> i32 {
        if nbytes < typesize {
            return 1;
        }
        let mut blocksize = match self.forced_blocksize {
            0 if nbytes < L1_CACHE_SIZE => nbytes,
            0 => {
                let level = usize::from(self.clevel.min(9));
                let has_high_ratio = matches!(self.codec.code(), LZ4HC | ZLIB | ZSTD);
                1024 * if has_high_ratio { HIGH_RATIO_CODEC_BLOCK_KIB } else { FAST_CODEC_BLOCK_KIB }[level]
            }
            forced => forced.clamp(MIN_FORCED_BLOCKSIZE, MAX_BLOCKSIZE),
        };
        if self.clevel > 0 && self.is_split(blocksize, typesize) {
            let enlarged = i64::from(blocksize.min(MAX_SPLIT_STREAM_LEN)) * i64::from(typesize);
            let (least, most) = SPLIT_BLOCKSIZE_LIMITS;
            blocksize = enlarged.clamp(least, most) as i32;
        }
        blocksize = blocksize.min(nbytes);
        if blocksize > typesize { blocksize / typesize * typesize } else { blocksize }
    }

    /// Returns whether blocks of that size are split. Unlike the reference, no mode splits blocks that readers do not
    /// expect to be split: chunks with those cannot be decoded (12.7).
    fn is_split(&self, blocksize: i32, typesize: i32) -> bool {
        let code = self.codec.code();
        let is_wanted = match self.splitmode {
            NEVER_SPLIT => false,
            AUTO_SPLIT => matches!(code, BLOSCLZ | SNAPPY),
            FORWARD_COMPAT_SPLIT => code != ZSTD,
            _ => true,
        };
        is_wanted && typesize <= MAX_SPLIT_TYPESIZE && blocksize / typesize >= MIN_SPLIT_ITEMS
    }
}
