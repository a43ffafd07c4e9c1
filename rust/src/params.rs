//! Parameters of compression.

use crate::error::{Error, Result};
use crate::tradeoff::Tradeoff;
use blosc2_core::rust_api::params::{CompressSettings, check_codec};
use std::fmt;
use std::str::FromStr;

/// Number of filters that a chunk can have.
const MAX_FILTERS: usize = 6;

/// A codec.
///
/// ```
/// use blosc2::{Codec, Params};
///
/// let codec: Codec = "lz4hc".parse()?;
/// assert_eq!((codec, codec.to_string()), (Codec::Lz4Hc, "lz4hc".to_owned()));
/// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(1000), &Params::new().codec(Codec::Zstd))?;
/// assert_eq!(chunk.info().codec, Codec::Zstd);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// BloscLZ: fast, for content with many repetitions.
    BloscLz,
    /// LZ4: the fastest to decompress.
    Lz4,
    /// LZ4 with a slower search: smaller, as fast to decompress.
    Lz4Hc,
    /// Deflate.
    Zlib,
    /// Zstandard: the smallest.
    Zstd,
    /// NDLZ, for arrays of two dimensions with items of one byte. [`Params::codec_meta`] is the cell size, 4 or 8.
    Ndlz,
    /// ZFP with a limit for the error (lossy, floating-point arrays). [`Params::codec_meta`] is the exponent of 10.
    ZfpAccuracy,
    /// ZFP with a number of bit planes (lossy, floating-point arrays), in [`Params::codec_meta`].
    ZfpPrecision,
    /// ZFP with a ratio (lossy, floating-point arrays): [`Params::codec_meta`] percent of the size.
    ZfpRate,
    /// Another codec, by its id.
    Other(u8),
}

/// The codecs with names, and their ids.
const CODECS: [(Codec, u8, &str); 9] = [
    (Codec::BloscLz, 0, "blosclz"),
    (Codec::Lz4, 1, "lz4"),
    (Codec::Lz4Hc, 2, "lz4hc"),
    (Codec::Zlib, 4, "zlib"),
    (Codec::Zstd, 5, "zstd"),
    (Codec::Ndlz, 32, "ndlz"),
    (Codec::ZfpAccuracy, 33, "zfp_acc"),
    (Codec::ZfpPrecision, 34, "zfp_prec"),
    (Codec::ZfpRate, 35, "zfp_rate"),
];

impl Codec {
    /// Returns the id of the codec in chunks.
    ///
    /// ```
    /// use blosc2::Codec;
    ///
    /// assert_eq!((Codec::Zstd.id(), Codec::Other(200).id()), (5, 200));
    /// ```
    pub fn id(self) -> u8 {
        match self {
            Codec::Other(id) => id,
            codec => CODECS.iter().find(|(known, ..)| *known == codec).map_or(0, |(_, id, _)| *id),
        }
    }

    /// Returns the codec of an id.
    ///
    /// ```
    /// use blosc2::Codec;
    ///
    /// assert_eq!((Codec::from_id(5), Codec::from_id(200)), (Codec::Zstd, Codec::Other(200)));
    /// ```
    pub fn from_id(id: u8) -> Codec {
        CODECS.iter().find(|(_, known, _)| *known == id).map_or(Codec::Other(id), |(codec, ..)| *codec)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CODECS.iter().find(|(codec, ..)| codec == self) {
            Some((_, _, name)) => f.write_str(name),
            None => write!(f, "codec {}", self.id()),
        }
    }
}

impl FromStr for Codec {
    type Err = Error;

    /// Returns the codec of a name, for example `lz4hc`, or of an id: `200` or, as it is printed, `codec 200`.
    fn from_str(name: &str) -> Result<Codec> {
        if let Ok(id) = name.strip_prefix("codec ").unwrap_or(name).parse() {
            return Ok(Codec::from_id(id));
        }
        let lower = name.to_ascii_lowercase();
        CODECS.iter().find(|(_, _, known)| *known == lower).map(|(codec, ..)| *codec).ok_or_else(|| {
            Error::param(format!("codec {name:?}, expected blosclz, lz4, lz4hc, zlib or zstd"))
        })
    }
}

/// A filter, which rearranges the bytes of a block before the codec compresses it.
///
/// ```
/// use blosc2::{Filter, Params};
///
/// let filter: Filter = "trunc_prec:10".parse()?;
/// assert_eq!((filter, filter.to_string()), (Filter::TruncatePrecision(10), "trunc_prec:10".to_owned()));
///
/// let items: Vec<u8> = (0..1000).flat_map(|n| (n as f32).sqrt().to_ne_bytes()).collect();
/// let params = Params::new().typesize(4).filters([filter, Filter::Bitshuffle]);
/// let chunk = blosc2::compress(&items, &params)?;
/// assert_eq!(chunk.info().filters, [filter, Filter::Bitshuffle]);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// All first bytes of the items, then all second bytes, and so on.
    Shuffle,
    /// All first bits of the items, then all second bits, and so on.
    Bitshuffle,
    /// The bitwise difference from the first block.
    Delta,
    /// Truncates the mantissa of floating-point items (lossy): to that number of bits, or by that number if negative.
    TruncatePrecision(i8),
    /// After [`Filter::Shuffle`]: the differences of consecutive bytes of each plane.
    ByteDelta,
    /// Items of arrays in the order of cells of that extent.
    NdCell(u8),
    /// The mean of cells of that extent, in place of their items (lossy).
    NdMean(u8),
    /// Truncates integer items (lossy): to that number of bits, or by that number if negative.
    TruncateInteger(i8),
    /// Another filter, by its id and its byte of parameters.
    Other {
        /// The id.
        id: u8,
        /// The byte of parameters.
        meta: u8,
    },
}

impl Filter {
    /// Returns the id and the byte of parameters, for items of `typesize` bytes.
    fn id_and_meta(self, typesize: usize) -> (u8, u8) {
        match self {
            Filter::Shuffle => (1, 0),
            Filter::Bitshuffle => (2, 0),
            Filter::Delta => (3, 0),
            Filter::TruncatePrecision(bits) => (4, bits.cast_unsigned()),
            Filter::NdCell(extent) => (32, extent),
            Filter::NdMean(extent) => (33, extent),
            Filter::ByteDelta => (35, u8::try_from(typesize).unwrap_or(0)),
            Filter::TruncateInteger(bits) => (36, bits.cast_unsigned()),
            Filter::Other { id, meta } => (id, meta),
        }
    }

    /// Returns the filter of an id and a byte of parameters; `None` for an empty slot.
    pub(crate) fn from_slot(id: u8, meta: u8) -> Option<Filter> {
        Some(match id {
            0 => return None,
            1 => Filter::Shuffle,
            2 => Filter::Bitshuffle,
            3 => Filter::Delta,
            4 => Filter::TruncatePrecision(meta.cast_signed()),
            32 => Filter::NdCell(meta),
            33 => Filter::NdMean(meta),
            35 => Filter::ByteDelta,
            36 => Filter::TruncateInteger(meta.cast_signed()),
            id => Filter::Other { id, meta },
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter::Shuffle => f.write_str("shuffle"),
            Filter::Bitshuffle => f.write_str("bitshuffle"),
            Filter::Delta => f.write_str("delta"),
            Filter::TruncatePrecision(bits) => write!(f, "trunc_prec:{bits}"),
            Filter::ByteDelta => f.write_str("bytedelta"),
            Filter::NdCell(extent) => write!(f, "ndcell:{extent}"),
            Filter::NdMean(extent) => write!(f, "ndmean:{extent}"),
            Filter::TruncateInteger(bits) => write!(f, "int_trunc:{bits}"),
            Filter::Other { id, meta } => write!(f, "filter {id}:{meta}"),
        }
    }
}

impl FromStr for Filter {
    type Err = Error;

    /// Returns the filter of a name, with a parameter after a colon where it has one, for example `trunc_prec:10`; or, as it
    /// is printed, of an id and the byte of parameters: `filter 200:0`.
    fn from_str(text: &str) -> Result<Filter> {
        let (name, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let invalid =
            || Error::param(format!("filter {text:?}, expected for example shuffle or trunc_prec:10"));
        let signed = || parameter.and_then(|text| text.parse().ok()).ok_or_else(invalid);
        let unsigned = || parameter.and_then(|text| text.parse().ok()).ok_or_else(invalid);
        if let Some(id) = name.strip_prefix("filter ") {
            let id = id.parse().map_err(|_| invalid())?;
            return Filter::from_slot(id, unsigned()?).ok_or_else(invalid);
        }
        let filter = match name.to_ascii_lowercase().as_str() {
            "trunc_prec" => return Ok(Filter::TruncatePrecision(signed()?)),
            "int_trunc" => return Ok(Filter::TruncateInteger(signed()?)),
            "ndcell" => return Ok(Filter::NdCell(unsigned()?)),
            "ndmean" => return Ok(Filter::NdMean(unsigned()?)),
            "shuffle" => Filter::Shuffle,
            "bitshuffle" => Filter::Bitshuffle,
            "delta" => Filter::Delta,
            "bytedelta" => Filter::ByteDelta,
            _ => return Err(invalid()),
        };
        if parameter.is_some() { Err(invalid()) } else { Ok(filter) }
    }
}

/// Implements the traits of `serde` for a type that is printed and parsed: the value is that text.
#[cfg(feature = "serde")]
macro_rules! text_value {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(feature = "serde")]
text_value!(Codec);
#[cfg(feature = "serde")]
text_value!(Filter);
#[cfg(feature = "serde")]
text_value!(Tradeoff);

/// Whether a block is compressed as one stream for each byte of an item, after a shuffle.
///
/// ```
/// use blosc2::{Codec, Params, Split};
///
/// let items: Vec<u8> = (0..10_000u32).flat_map(u32::to_ne_bytes).collect();
/// let params = Params::new().codec(Codec::Lz4).typesize(4);
/// let split = blosc2::compress(&items, &params.clone().split(Split::Always))?;
/// let whole = blosc2::compress(&items, &params.split(Split::Never))?;
/// assert!(split.as_bytes().len() != whole.as_bytes().len() && split.decompress()? == whole.decompress()?);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Split {
    /// Always.
    Always,
    /// Never.
    Never,
    /// Where it usually makes chunks smaller.
    Auto,
    /// As all releases of C-Blosc2: for BloscLZ, LZ4 and Zstandard up to level 5.
    #[default]
    Compatible,
}

/// Parameters of compression: codec, level, filters, and the size of items.
///
/// ```
/// use blosc2::{Codec, Filter, Params};
///
/// let params = Params::new().codec(Codec::Zstd).level(7).filters([Filter::Shuffle]).typesize(4).threads(2);
/// let chunk = blosc2::compress(&[0; 40_000], &params)?;
/// assert!(chunk.as_bytes().len() < 100);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// The defaults are those of C-Blosc2: BloscLZ at level 5 after a shuffle, items of 8 bytes, one thread. An
/// [`Array`](crate::Array) sets the item size itself.
///
/// With the feature `serde`, the value is a map such as `{"codec": "zstd", "level": 7, "filters": ["shuffle"]}`; fields that
/// are missing have their defaults.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Params {
    codec: Codec,
    codec_meta: u8,
    level: u8,
    filters: Vec<Filter>,
    typesize: usize,
    threads: usize,
    blocksize: usize,
    split: Split,
    dictionary: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    auto: Option<Tradeoff>,
}

impl Default for Params {
    fn default() -> Self {
        Params::new()
    }
}

impl Params {
    /// Returns the defaults.
    ///
    /// ```
    /// use blosc2::{Codec, Filter, Params};
    ///
    /// let params = Params::new();
    /// assert_eq!((params.get_codec(), params.get_level()), (Codec::BloscLz, 5));
    /// assert_eq!((params.get_filters(), params.get_typesize()), (&[Filter::Shuffle][..], 8));
    /// ```
    pub fn new() -> Params {
        Params {
            codec: Codec::BloscLz,
            codec_meta: 0,
            level: 5,
            filters: vec![Filter::Shuffle],
            typesize: 8,
            threads: 1,
            blocksize: 0,
            split: Split::default(),
            dictionary: false,
            auto: None,
        }
    }

    /// Sets the codec.
    ///
    /// ```
    /// use blosc2::{Codec, Params};
    ///
    /// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(1000), &Params::new().codec(Codec::Zlib))?;
    /// assert_eq!(chunk.info().codec, Codec::Zlib);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn codec(mut self, codec: Codec) -> Params {
        self.codec = codec;
        self
    }

    /// Sets the codec's own byte of parameters.
    ///
    /// ```
    /// use blosc2::{Array, Codec, Params};
    ///
    /// // A quarter of the size.
    /// let params = Params::new().codec(Codec::ZfpRate).codec_meta(25).filters([]);
    /// let items: Vec<f32> = (0..64 * 64).map(|n| (n as f32).sin()).collect();
    /// let array = Array::<f32>::builder([64, 64]).params(params).in_memory_from(&items)?;
    /// assert!((3.5..4.5).contains(&array.ratio()));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn codec_meta(mut self, meta: u8) -> Params {
        self.codec_meta = meta;
        self
    }

    /// Sets the level: 0 (no compression) to 9 (smallest).
    ///
    /// ```
    /// use blosc2::Params;
    ///
    /// let content = [1, 2, 3, 4].repeat(1000);
    /// let stored = blosc2::compress(&content, &Params::new().level(0))?;
    /// assert!(stored.info().is_stored && stored.as_bytes().len() == 4032);
    /// assert!(blosc2::compress(&content, &Params::new().level(9))?.as_bytes().len() < 200);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn level(mut self, level: u8) -> Params {
        self.level = level;
        self
    }

    /// Sets the filters, up to 6, in the order in which they are applied.
    ///
    /// ```
    /// use blosc2::{Filter, Params};
    ///
    /// let params = Params::new().filters([Filter::Delta, Filter::Shuffle]);
    /// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(1000), &params)?;
    /// assert_eq!(chunk.info().filters, [Filter::Delta, Filter::Shuffle]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn filters(mut self, filters: impl IntoIterator<Item = Filter>) -> Params {
        self.filters = filters.into_iter().collect();
        self
    }

    /// Sets the size of an item in bytes, at least 1; filters arrange the bytes of items.
    ///
    /// ```
    /// let chunk = blosc2::compress(b"a0b1c2d3", &blosc2::Params::new().typesize(2))?;
    /// assert_eq!(chunk.read_items(1..2)?, b"b1");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn typesize(mut self, typesize: usize) -> Params {
        self.typesize = typesize;
        self
    }

    /// Sets the number of threads that compress, and for super-chunks and arrays, decompress.
    ///
    /// ```
    /// let params = blosc2::Params::new().threads(4);
    /// let mut encoder = blosc2::Encoder::new(&params)?;
    /// assert_eq!(encoder.compress(&[7; 1 << 20])?.decompress()?, [7; 1 << 20]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Params {
        self.threads = threads;
        self
    }

    /// Sets the block size in bytes; 0 for a choice by codec, level and item size. Reading an item decompresses one
    /// block.
    ///
    /// ```
    /// let params = blosc2::Params::new().typesize(4).blocksize(4096);
    /// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(10_000), &params)?;
    /// assert_eq!(chunk.info().blocksize, 4096);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn blocksize(mut self, blocksize: usize) -> Params {
        self.blocksize = blocksize;
        self
    }

    /// Sets whether blocks are compressed as one stream for each byte of an item.
    ///
    /// ```
    /// use blosc2::{Params, Split};
    ///
    /// let params = Params::new().split(Split::Never);
    /// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(1000), &params)?;
    /// assert_eq!(chunk.decompress()?, [1, 2, 3, 4].repeat(1000));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn split(mut self, split: Split) -> Params {
        self.split = split;
        self
    }

    /// Sets whether each chunk has a dictionary, trained from its content; for LZ4, LZ4HC and Zstandard.
    ///
    /// ```
    /// use blosc2::{Codec, Params};
    ///
    /// let lines: String = (0..20_000).map(|n| format!("station {n}: {} K\n", n % 300)).collect();
    /// let params = Params::new().codec(Codec::Zstd).typesize(1).blocksize(4096).dictionary(true);
    /// let chunk = blosc2::compress(lines.as_bytes(), &params)?;
    /// assert!(chunk.info().has_dictionary);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn dictionary(mut self, dictionary: bool) -> Params {
        self.dictionary = dictionary;
        self
    }

    /// Has the library choose codec, level and filters of each chunk by its content, in place of those that are set. The
    /// choice depends on the content of the chunk and of earlier chunks only, and every release of C-Blosc2 reads the result.
    /// Item size, block size and split mode are kept.
    ///
    /// The codec, level and filters that are set are used if they are such that the library cannot choose: with a
    /// dictionary, a prefilter, a codec that is not one of the five of the format, or a filter other than
    /// [`Filter::Shuffle`], [`Filter::Bitshuffle`] and [`Filter::Delta`].
    ///
    /// ```
    /// use blosc2::{Params, SuperChunk, Tradeoff};
    ///
    /// let ramp: Vec<u8> = (0..50_000u32).flat_map(|n| (n * 7).to_ne_bytes()).collect();
    /// let params = Params::new().typesize(4).auto(Tradeoff::new(1.0)?);
    /// let mut schunk = SuperChunk::new(&params)?;
    /// schunk.append(&ramp)?;
    /// assert_eq!(schunk.decompress_chunk(0)?, ramp);
    ///
    /// let default = blosc2::compress(&ramp, &Params::new().typesize(4))?;
    /// assert!(schunk.cbytes() < default.as_bytes().len() as u64);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn auto(mut self, tradeoff: Tradeoff) -> Params {
        self.auto = Some(tradeoff);
        self
    }

    /// Returns the codec.
    ///
    /// ```
    /// use blosc2::{Codec, Params};
    ///
    /// assert_eq!(Params::new().codec(Codec::Zstd).get_codec(), Codec::Zstd);
    /// ```
    pub fn get_codec(&self) -> Codec {
        self.codec
    }

    /// Returns the codec's own byte of parameters.
    ///
    /// ```
    /// use blosc2::{Codec, Params};
    ///
    /// assert_eq!(Params::new().codec(Codec::ZfpRate).codec_meta(25).get_codec_meta(), 25);
    /// ```
    pub fn get_codec_meta(&self) -> u8 {
        self.codec_meta
    }

    /// Returns the level.
    ///
    /// ```
    /// assert_eq!(blosc2::Params::new().level(9).get_level(), 9);
    /// ```
    pub fn get_level(&self) -> u8 {
        self.level
    }

    /// Returns the filters.
    ///
    /// ```
    /// use blosc2::{Filter, Params};
    ///
    /// assert_eq!(Params::new().filters([Filter::Bitshuffle]).get_filters(), [Filter::Bitshuffle]);
    /// ```
    pub fn get_filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Returns the size of an item in bytes.
    ///
    /// ```
    /// assert_eq!(blosc2::Params::new().typesize(4).get_typesize(), 4);
    /// ```
    pub fn get_typesize(&self) -> usize {
        self.typesize
    }

    /// Returns the number of threads.
    ///
    /// ```
    /// assert_eq!(blosc2::Params::new().threads(2).get_threads(), 2);
    /// ```
    pub fn get_threads(&self) -> usize {
        self.threads
    }

    /// Returns the block size in bytes; 0 for a choice by the library.
    ///
    /// ```
    /// use blosc2::Params;
    ///
    /// assert_eq!((Params::new().get_blocksize(), Params::new().blocksize(4096).get_blocksize()), (0, 4096));
    /// ```
    pub fn get_blocksize(&self) -> usize {
        self.blocksize
    }

    /// Returns the split mode.
    ///
    /// ```
    /// use blosc2::{Params, Split};
    ///
    /// assert_eq!(Params::new().get_split(), Split::Compatible);
    /// assert_eq!(Params::new().split(Split::Auto).get_split(), Split::Auto);
    /// ```
    pub fn get_split(&self) -> Split {
        self.split
    }

    /// Returns whether each chunk has a dictionary.
    ///
    /// ```
    /// assert!(blosc2::Params::new().dictionary(true).get_dictionary());
    /// ```
    pub fn get_dictionary(&self) -> bool {
        self.dictionary
    }

    /// Returns the tradeoff by which the library chooses codec, level and filters; `None` if those that are set are used.
    ///
    /// ```
    /// use blosc2::{Params, Tradeoff};
    ///
    /// assert_eq!(Params::new().get_auto(), None);
    /// assert_eq!(Params::new().auto(Tradeoff::default()).get_auto(), Some(Tradeoff::default()));
    /// ```
    pub fn get_auto(&self) -> Option<Tradeoff> {
        self.auto
    }

    /// Returns the number of threads for the library.
    pub(crate) fn nthreads(&self) -> Result<i16> {
        nthreads(self.threads)
    }

    /// Returns the parameters for the library.
    ///
    /// # Errors
    /// `InvalidParam` for a parameter out of range; `CodecSupport` for a codec that this build does not have.
    pub(crate) fn settings(&self) -> Result<CompressSettings> {
        let count = self.filters.len();
        if count > MAX_FILTERS {
            return Err(Error::param(format!("{count} filters, expected at most {MAX_FILTERS}")));
        }
        if self.level > 9 {
            return Err(Error::param(format!("level {}, expected 0 to 9", self.level)));
        }
        check_codec(self.codec.id())?;
        let size = |name: &str, value: usize, least: i32| {
            i32::try_from(value)
                .ok()
                .filter(|&size| size >= least)
                .ok_or_else(|| Error::param(format!("{name} {value}, expected {least} to {}", i32::MAX)))
        };
        let mut settings = CompressSettings {
            compcode: self.codec.id(),
            compcode_meta: self.codec_meta,
            clevel: self.level,
            use_dict: self.dictionary,
            typesize: size("item size", self.typesize, 1)?,
            nthreads: self.nthreads()?,
            blocksize: size("block size", self.blocksize, 0)?,
            splitmode: match self.split {
                Split::Always => 1,
                Split::Never => 2,
                Split::Auto => 3,
                Split::Compatible => 4,
            },
            filters: [0; MAX_FILTERS],
            filters_meta: [0; MAX_FILTERS],
            auto: self.auto.map(Tradeoff::tuning),
        };
        for (slot, filter) in (MAX_FILTERS - count..).zip(&self.filters) {
            (settings.filters[slot], settings.filters_meta[slot]) = filter.id_and_meta(self.typesize);
        }
        Ok(settings)
    }

    /// Returns the parameters of a super-chunk.
    pub(crate) fn from_settings(settings: &CompressSettings) -> Params {
        let size = |value: i32| usize::try_from(value).unwrap_or(0);
        Params {
            codec: Codec::from_id(settings.compcode),
            codec_meta: settings.compcode_meta,
            level: settings.clevel,
            filters: filters(&settings.filters, &settings.filters_meta),
            typesize: size(settings.typesize),
            threads: usize::try_from(settings.nthreads).unwrap_or(1).max(1),
            blocksize: size(settings.blocksize),
            split: match settings.splitmode {
                1 => Split::Always,
                2 => Split::Never,
                3 => Split::Auto,
                _ => Split::Compatible,
            },
            dictionary: settings.use_dict,
            auto: None,
        }
    }
}

/// Returns the filters in the slots of a chunk.
pub(crate) fn filters(ids: &[u8; MAX_FILTERS], metas: &[u8; MAX_FILTERS]) -> Vec<Filter> {
    ids.iter().zip(metas).filter_map(|(&id, &meta)| Filter::from_slot(id, meta)).collect()
}

/// Returns a number of threads for the library.
pub(crate) fn nthreads(threads: usize) -> Result<i16> {
    i16::try_from(threads)
        .ok()
        .filter(|&threads| threads >= 1)
        .ok_or_else(|| Error::param(format!("{threads} threads, expected 1 to {}", i16::MAX)))
}

/// Makes this process ignore the environment variables of C-Blosc2 that override parameters of compression, and the number
/// of threads: for a program whose users set these by arguments, which must win.
///
/// Contexts that exist already keep their parameters, so that a program calls this first.
///
/// ```
/// # // SAFETY: this process has one thread.
/// # unsafe { std::env::set_var("BLOSC_CLEVEL", "0") };
/// blosc2::ignore_environment();
/// // Also compressed if the environment has `BLOSC_CLEVEL=0`.
/// let chunk = blosc2::compress(&[1, 2, 3, 4].repeat(1000), &blosc2::Params::new())?;
/// assert!(!chunk.info().is_stored);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub fn ignore_environment() {
    blosc2_core::rust_api::params::ignore_environment();
}
