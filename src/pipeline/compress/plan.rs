//! The plan of a compression: checks the arguments, divides the data into blocks, fills the header (`chunk.md` 3.1 to
//! 3.5).

use super::super::block_size::DefaultTuner;
use super::super::params::{ChunkFormat, CompressParams};
use crate::chunk::format::{
    BLOSC1_MIN_BUFFERSIZE, EXTENDED_HEADER_LENGTH, LONGER_CONTENT, MAX_BLOCKSIZE, MAX_BUFFERSIZE,
    MAX_STORED_TYPESIZE, MAX_TYPESIZE, MIN_BUFFERSIZE, MIN_DESTSIZE, MIN_HEADER_LENGTH, codec_format,
    filter_id, flag, flag2, version,
};
use crate::chunk::{BlockGeometry, ChunkHeader};
use crate::codec::BuiltInCodec;
use crate::error::{Error, ErrorKind, Result, ensure, err};
use crate::registry;

/// The version byte for codecs that are not registered.
const UNREGISTERED_VERSIONLZ: u8 = 0xff;

/// Checks the arguments of a compression in the order of the reference (`chunk.md` 3.1). `missing_dictionary` is the
/// error of a codec without dictionaries if `use_dict` is set. There is none for special chunks, which are not
/// compressed by a codec, and for variable-length blocks, which are then compressed without a dictionary (`chunk.md`
/// 3.11).
///
/// # Errors
/// `MaxBufsizeExceeded` for a source that is too long or a destination that is too short, `CodecParam` for a bad
/// level, `missing_dictionary`, `InvalidParam` for a bad item or block size.
pub(crate) fn check_params(
    params: &CompressParams,
    srcsize: usize,
    destsize: usize,
    missing_dictionary: Option<ErrorKind>,
) -> Result<()> {
    if srcsize > MAX_BUFFERSIZE {
        return Err(err!(
            MaxBufsizeExceeded,
            "`srcsize` is {srcsize}, expected at most {MAX_BUFFERSIZE}; {LONGER_CONTENT}"
        ));
    }
    if destsize < MIN_DESTSIZE {
        return Err(err!(
            MaxBufsizeExceeded,
            "`destsize` is {destsize}, expected {MIN_DESTSIZE} or more, and less than 2^31"
        ));
    }
    ensure!((0..=9).contains(&params.clevel), CodecParam, "`clevel` is {}, expected 0 to 9", params.clevel);
    let has_dictionaries =
        BuiltInCodec::from_compcode(params.compcode).is_some_and(BuiltInCodec::has_dictionaries);
    if let Some(kind) = missing_dictionary.filter(|_| params.use_dict && !has_dictionaries) {
        let codec = params.compcode;
        return Err(Error::new(
            kind,
            format_args!("`use_dict` is set, but codec {codec} has no dictionaries"),
        ));
    }
    if !(1..=MAX_TYPESIZE).contains(&params.typesize) {
        return Err(err!(InvalidParam, "`typesize` is {}, expected 1 to {MAX_TYPESIZE}", params.typesize));
    }
    ensure!(
        params.blocksize <= MAX_BLOCKSIZE,
        InvalidParam,
        "`blocksize` is {}, expected at most {MAX_BLOCKSIZE}",
        params.blocksize,
    );
    Ok(())
}

/// Returns the item size that a chunk stores, in bytes: 1 for items that are too wide (`chunk.md` 1.8).
pub(crate) fn stored_typesize(typesize: i32) -> i32 {
    if typesize > MAX_STORED_TYPESIZE { 1 } else { typesize }
}

/// Returns the codec format that the flags store (`chunk.md` 1.4).
fn codec_format_of(params: &CompressParams) -> u8 {
    params.built_in_codec().map_or(codec_format::UDCODEC, BuiltInCodec::format)
}

fn codec_version_of(params: &CompressParams) -> u8 {
    if params.built_in_codec().is_some() {
        return 1;
    }
    registry::codec(params.compcode).map_or(UNREGISTERED_VERSIONLZ, |codec| codec.properties.version)
}

/// The layout of a chunk, decided before its blocks are encoded.
#[derive(Clone, Copy)]
pub(crate) struct CompressionPlan {
    /// The header, `cbytes` still 0.
    pub header: ChunkHeader,
    /// The blocks. For variable-length blocks only their total size is meaningful.
    pub blocks: BlockGeometry,
    /// The item size that the filters work with, in bytes (1..=255).
    pub typesize: usize,
    /// Whether full blocks are split into streams.
    pub is_split: bool,
    /// Length of header and block starts, in bytes.
    pub block_starts_end: usize,
    /// Whether equal bytes may be stored as runs.
    pub can_use_runs: bool,
}

impl CompressionPlan {
    /// Returns the plan for `nbytes` bytes, with `params` checked and their block size effective. The block starts must
    /// fit into `destsize` bytes; otherwise the data are stored plain.
    pub(crate) fn new(params: &CompressParams, nbytes: usize, destsize: usize) -> Self {
        let typesize = stored_typesize(params.typesize);
        let blocksize = params.blocksize.max(1);
        let blocks = BlockGeometry::new(nbytes, blocksize as usize);
        let (header_len, min_len) = match params.format {
            ChunkFormat::Blosc2 => (EXTENDED_HEADER_LENGTH, MIN_BUFFERSIZE),
            ChunkFormat::ShortHeader => (MIN_HEADER_LENGTH, MIN_BUFFERSIZE),
            ChunkFormat::Blosc1 { .. } => (MIN_HEADER_LENGTH, BLOSC1_MIN_BUFFERSIZE),
        };
        let tables = header_len + 4 * blocks.count();
        let plain = params.clevel == 0 || nbytes < min_len || tables > destsize;
        // A block of less than one item cannot be split (chunk.md 10.29).
        let split = DefaultTuner::from_params(params).is_split(typesize, blocksize) && blocksize >= typesize;

        let coding = || codec_flags(params, split);
        let flags = match (params.format, plain) {
            (ChunkFormat::Blosc2, true) => flag::EXTENDED | flag::MEMCPYED,
            (ChunkFormat::Blosc2, false) => flag::EXTENDED | coding(),
            (ChunkFormat::ShortHeader, true) => flag::MEMCPYED,
            (ChunkFormat::ShortHeader, false) => blosc1_filter_flags(params) | coding(),
            // A plain chunk keeps the flags of the coding.
            (ChunkFormat::Blosc1 { filter_flags }, true) => filter_flags | coding() | flag::MEMCPYED,
            (ChunkFormat::Blosc1 { filter_flags }, false) => filter_flags | coding(),
        };
        let version = match params.format {
            ChunkFormat::Blosc1 { .. } => version::BLOSC1,
            ChunkFormat::Blosc2 | ChunkFormat::ShortHeader => version::STABLE,
        };
        let header = ChunkHeader { flags, blocksize, version, ..common_header(params, nbytes, typesize) };
        CompressionPlan {
            header,
            blocks,
            typesize: typesize as usize,
            is_split: split,
            block_starts_end: tables,
            can_use_runs: params.format == ChunkFormat::Blosc2,
        }
    }

    /// Returns the plan for `count` variable-length blocks with a total size of `nbytes` bytes (`chunk.md` 3.11).
    pub(crate) fn varlen(params: &CompressParams, count: usize, nbytes: usize) -> Self {
        let typesize = stored_typesize(params.typesize);
        let header = ChunkHeader {
            version: version::VL_BLOCKS,
            flags: flag::EXTENDED | codec_flags(params, false),
            blocksize: i32::try_from(count).unwrap_or(i32::MAX),
            blosc2_flags2: flag2::VL_BLOCKS,
            ..common_header(params, nbytes, typesize)
        };
        CompressionPlan {
            header,
            blocks: BlockGeometry::new(nbytes, usize::MAX),
            typesize: typesize as usize,
            is_split: false,
            block_starts_end: EXTENDED_HEADER_LENGTH + 4 * count,
            can_use_runs: false,
        }
    }

    /// Returns the number of planes of equal length in a stream: bytes, or bits, that shuffling has made adjacent.
    pub(crate) fn planes_per_stream(&self) -> usize {
        let has_filter = |filter| self.header.filters.contains(&filter);
        match self.is_split {
            true => 1,
            false if has_filter(filter_id::BITSHUFFLE) => 8 * self.typesize,
            false if has_filter(filter_id::SHUFFLE) => self.typesize,
            false => 1,
        }
    }

    /// Returns whether the data are stored plain without trying to compress them.
    pub(crate) fn is_memcpyed(&self) -> bool {
        self.header.is_memcpyed()
    }

    /// Returns the plan of the same chunk stored plain, for data whose compressed form does not fit. Clears the flags
    /// that describe compressed blocks.
    pub(crate) fn memcpyed_fallback(&self) -> Self {
        let mut plan = *self;
        plan.header.flags |= flag::MEMCPYED;
        plan.header.blosc2_flags &= !(flag2::USEDICT | flag2::INSTR);
        plan
    }
}

fn common_header(params: &CompressParams, nbytes: usize, typesize: i32) -> ChunkHeader {
    ChunkHeader {
        version: version::STABLE,
        versionlz: codec_version_of(params),
        typesize: typesize as u8,
        nbytes: i32::try_from(nbytes).unwrap_or(i32::MAX),
        filters: params.filters,
        udcompcode: params.compcode as u8,
        compcode_meta: params.compcode_meta,
        filters_meta: params.filters_meta,
        blosc2_flags: if cfg!(target_endian = "big") { flag2::BIGENDIAN } else { 0 },
        ..ChunkHeader::default()
    }
}

/// Returns the flags of a chunk whose blocks are compressed by a codec (`chunk.md` 1.3).
fn codec_flags(params: &CompressParams, split: bool) -> u8 {
    let mut flags = codec_format_of(params) << flag::FORMAT_SHIFT;
    if params.filters.contains(&filter_id::DELTA) {
        flags |= flag::DELTA;
    }
    if !split {
        flags |= flag::DONT_SPLIT;
    }
    flags
}

/// Returns the filter bits of a 16-byte header.
fn blosc1_filter_flags(params: &CompressParams) -> u8 {
    let mut flags = 0;
    if params.filters.contains(&filter_id::SHUFFLE) {
        flags |= flag::SHUFFLE;
    }
    if params.filters.contains(&filter_id::BITSHUFFLE) {
        flags |= flag::BITSHUFFLE;
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::BLOSC_ZLIB;

    #[test]
    fn codec_ids_map_to_the_format_and_version_in_the_header() {
        for (compcode, format) in [(0, 0), (1, 1), (2, 1), (BLOSC_ZLIB, 3), (5, 4), (3, 6), (32, 6), (-1, 6)]
        {
            let params = CompressParams { compcode, ..CompressParams::default() };
            assert_eq!(codec_format_of(&params), format, "{compcode}");
        }
        let versions = [0, 33, 99]
            .map(|compcode| codec_version_of(&CompressParams { compcode, ..CompressParams::default() }));
        assert_eq!(versions, [1, 1, 0xff]);
    }
}
