//! Codec ids, names, library codes and stream formats (`abi.md` 5.4).

/// Codec id of BLOSCLZ.
pub const BLOSC_BLOSCLZ: i32 = 0;
/// Codec id of LZ4.
pub const BLOSC_LZ4: i32 = 1;
/// Codec id of LZ4HC.
pub const BLOSC_LZ4HC: i32 = 2;
/// Codec id of ZLIB.
pub const BLOSC_ZLIB: i32 = 4;
/// Codec id of ZSTD.
pub const BLOSC_ZSTD: i32 = 5;
/// One more than the highest id of a built-in codec of the format; id 3 is unassigned.
pub const BLOSC_LAST_CODEC: i32 = 6;
/// Historical value, kept because it is compiled into programs: codec ids reach 40.
pub const BLOSC_LAST_REGISTERED_CODEC: i32 = 36;
/// Name of the codec BLOSCLZ.
pub const BLOSC_BLOSCLZ_COMPNAME: &str = "blosclz";
/// Name of the codec LZ4.
pub const BLOSC_LZ4_COMPNAME: &str = "lz4";
/// Name of the codec LZ4HC.
pub const BLOSC_LZ4HC_COMPNAME: &str = "lz4hc";
/// Name of the codec ZLIB.
pub const BLOSC_ZLIB_COMPNAME: &str = "zlib";
/// Name of the codec ZSTD.
pub const BLOSC_ZSTD_COMPNAME: &str = "zstd";
/// Library code of BLOSCLZ in the flags of a chunk.
pub const BLOSC_BLOSCLZ_LIB: i32 = 0;
/// Library code of LZ4 in the flags of a chunk.
pub const BLOSC_LZ4_LIB: i32 = 1;
/// Library code of ZLIB in the flags of a chunk.
pub const BLOSC_ZLIB_LIB: i32 = 3;
/// Library code of ZSTD in the flags of a chunk.
pub const BLOSC_ZSTD_LIB: i32 = 4;
/// Library code of every registered codec: the codec id is in the extended header.
pub const BLOSC_UDCODEC_LIB: i32 = 6;
/// Library code reserved for super-chunks.
pub const BLOSC_SCHUNK_LIB: i32 = 7;
/// Name of the library of BLOSCLZ.
pub const BLOSC_BLOSCLZ_LIBNAME: &str = "BloscLZ";
/// Name of the library of LZ4.
pub const BLOSC_LZ4_LIBNAME: &str = "LZ4";
/// Name of the library of ZLIB.
pub const BLOSC_ZLIB_LIBNAME: &str = "Zlib";
/// Name of the library of ZSTD.
pub const BLOSC_ZSTD_LIBNAME: &str = "Zstd";
/// Stream format of BLOSCLZ; equals its library code.
pub const BLOSC_BLOSCLZ_FORMAT: i32 = 0;
/// Stream format of LZ4; equals its library code.
pub const BLOSC_LZ4_FORMAT: i32 = 1;
/// Stream format of LZ4HC; equals the library code of LZ4.
pub const BLOSC_LZ4HC_FORMAT: i32 = 1;
/// Stream format of ZLIB; equals its library code.
pub const BLOSC_ZLIB_FORMAT: i32 = 3;
/// Stream format of ZSTD; equals its library code.
pub const BLOSC_ZSTD_FORMAT: i32 = 4;
/// Stream format of registered codecs.
pub const BLOSC_UDCODEC_FORMAT: i32 = 6;
/// Version of the stream format of BLOSCLZ, the second byte of a chunk.
pub const BLOSC_BLOSCLZ_VERSION_FORMAT: i32 = 1;
/// Version of the stream format of LZ4, the second byte of a chunk.
pub const BLOSC_LZ4_VERSION_FORMAT: i32 = 1;
/// Version of the stream format of LZ4HC, the second byte of a chunk.
pub const BLOSC_LZ4HC_VERSION_FORMAT: i32 = 1;
/// Version of the stream format of ZLIB, the second byte of a chunk.
pub const BLOSC_ZLIB_VERSION_FORMAT: i32 = 1;
/// Version of the stream format of ZSTD, the second byte of a chunk.
pub const BLOSC_ZSTD_VERSION_FORMAT: i32 = 1;
/// Version of the stream format of registered codecs.
pub const BLOSC_UDCODEC_VERSION_FORMAT: i32 = 1;
/// NDLZ: an LZ codec for the cells of two-dimensional arrays; built in.
pub const BLOSC_CODEC_NDLZ: i32 = 32;
/// ZFP with a limit for the absolute error; built in.
pub const BLOSC_CODEC_ZFP_FIXED_ACCURACY: i32 = 33;
/// ZFP with a fixed number of bit planes; built in.
pub const BLOSC_CODEC_ZFP_FIXED_PRECISION: i32 = 34;
/// ZFP with a fixed number of bits per value; built in.
pub const BLOSC_CODEC_ZFP_FIXED_RATE: i32 = 35;
/// High-throughput JPEG 2000 by OpenHTJ2K; in a plugin library.
pub const BLOSC_CODEC_OPENHTJ2K: i32 = 36;
/// JPEG 2000 by Grok; in a plugin library.
pub const BLOSC_CODEC_GROK: i32 = 37;
/// OpenZL; in a plugin library.
pub const BLOSC_CODEC_OPENZL: i32 = 38;
/// JPEG 2000; in a plugin library.
pub const BLOSC_CODEC_J2K: i32 = 39;
/// High-throughput JPEG 2000; in a plugin library.
pub const BLOSC_CODEC_HTJ2K: i32 = 40;
