//! Compressed chunks, files and N-dimensional arrays in the formats of Blosc2.
//!
//! An array that is compressed on disk, of which a part is read:
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("temperature.b2nd");
//! use blosc2::{Array, Codec, Filter, Params};
//!
//! let params = Params::new().codec(Codec::Zstd).level(5).filters([Filter::Shuffle]).threads(2);
//! let items: Vec<f32> = (0..1000 * 1000).map(|n| (n % 1000) as f32).collect();
//! let array = Array::<f32>::builder([1000, 1000]).params(params).create_from(&path, &items)?;
//! assert!(array.ratio() > 10.0);
//!
//! let row = Array::<f32>::open(&path)?.read((3, 10..20))?;
//! assert_eq!(row, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0]);
//! # Ok::<(), blosc2::Error>(())
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Params`] | codec, level, filters, item size, threads |
//! | [`Chunk`], [`Encoder`], [`Decoder`] | a buffer of up to 2 GiB, compressed |
//! | [`SuperChunk`], [`OpenOptions`] | a sequence of chunks in memory, in a file, or in a directory, with metalayers |
//! | [`Reader`], [`Writer`] | the content of a super-chunk as `Read + Seek`, and as `Write` |
//! | [`FrameReader`], [`FrameWriter`] | a file format in any stream: `Read + Seek`, `Write + Seek` |
//! | [`Array`], [`ArrayView`], [`AnyArray`] | an N-dimensional array in a super-chunk |
//! | [`verify`], [`repair`](fn@repair) | damaged files |
//!
//! Chunks, files and arrays are those of C-Blosc2 3, in both directions. Single chunks of Blosc 1 can be read and
//! written ([`compress_for_blosc1`]).
//!
//! # Functions of the program
//! [`register_codec`] and [`register_filter`] add codecs and filters, which chunks store by id. [`Encoder::with_prefilter`] and
//! [`Decoder::with_postfilter`] replace blocks while single chunks are compressed and decompressed. A panic of these functions
//! is an error of the call that runs them.
//!
//! # Threads
//! All types are `Send` and, except for [`Prefetch`], `Sync`, so that any number of threads may read one super-chunk or
//! array. A change needs `&mut`, except for the items of an array: [`Array::write_shared`] and [`Array::write_chunk`] write
//! them from several threads. [`Params::threads`] and [`OpenOptions::threads`] set the number of threads that work on one
//! call.
//!
//! # Environment
//! The environment variables of C-Blosc2 that override parameters (`BLOSC_CLEVEL`, `BLOSC_COMPRESSOR`, `BLOSC_NTHREADS`
//! and others) also apply here, unless the program calls [`ignore_environment`].
//!
//! # Features
//! `lz4` (LZ4 and LZ4HC), `zlib`, `zstd` (which needs a C compiler), `ndlz` and `zfp` (codecs), `plugins` (more filters) and
//! `snappy` (reading chunks of Blosc 1) are on by default. A codec that is left out is an error of the kind `CodecSupport`:
//! of the functions that take [`Params`], and of those that decompress. Headers of its chunks and files can be read.
//! `ndarray` adds conversions to and from arrays of the crate `ndarray` 0.17, and `ndarray-0_16` of 0.16; `rayon` adds
//! parallel iterators; `serde` makes [`Params`] a value of `serde`, and adds metalayers with such values; `half` and
//! `num-complex` add the item types `f16` and `Complex`.
//!
//! The minimum supported Rust version is 1.89.

// The documentation states the feature that an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_debug_implementations, missing_docs, unreachable_pub)]

mod array;
mod array_builder;
mod array_transaction;
mod chunk;
mod content;
mod damage;
mod element;
mod error;
mod explanation;
mod frame;
mod grid;
mod metalayers;
#[cfg(any(feature = "ndarray", feature = "ndarray-0_16"))]
mod ndarray;
mod options;
mod params;
mod plugins;
mod prefetch;
mod ranges;
mod reader;
#[cfg(feature = "remote")]
pub mod remote;
mod super_chunk;
mod tradeoff;
mod view;
mod writer;

pub use array::{AnyArray, Array};
pub use array_builder::ArrayBuilder;
pub use chunk::{
    BlockPosition, Chunk, ChunkInfo, Decoder, Encoder, Special, compress, compress_for_blosc1, decompress,
};
pub use damage::{
    Damage, Part, Repaired, other_data_behind, repair, repair_with_progress, verify, verify_range,
    verify_with_progress,
};
pub use element::Element;
pub use error::{Error, ErrorKind, Result};
pub use explanation::{Candidate, Explanation, PipelineFeatures};
pub use frame::{FrameReader, FrameWriter};
pub use metalayers::{Metalayers, MetalayersMut};
#[cfg(any(feature = "ndarray", feature = "ndarray-0_16"))]
pub use ndarray::{NdArray, OwnedNdArray};
pub use options::{Durability, OpenOptions, with_checksums};
pub use params::{Codec, Filter, Params, Split, ignore_environment};
pub use plugins::{UserCodec, UserFilter, register_codec, register_filter};
pub use prefetch::Prefetch;
pub use ranges::{Axes, AxisRange, Ranges, Step, step};
pub use reader::Reader;
pub use super_chunk::{SuperChunk, SuperChunkInfo};
pub use tradeoff::Tradeoff;
pub use view::ArrayView;
pub use writer::Writer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
