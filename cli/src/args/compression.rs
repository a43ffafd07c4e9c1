//! Arguments of compression.

use crate::error::Failure;
use crate::size::Size;
use blosc2::{Codec, Filter, Params, Split, Tradeoff};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};

/// The level of zstd unless the user states one: as fast as the command `zstd` on text, with the same ratio (`scripts/bench-cli.sh
/// peers`). Level 5 takes four times as long for 5 % smaller files on text, and has the same ratio on numbers (`blosc2 bench
/// --codecs zstd --levels 2,5`).
const ZSTD_LEVEL: u8 = 2;
/// The level of other codecs: LZ4 at level 2 is no faster, and text is larger.
const LEVEL: u8 = 5;
/// The size in bytes of a block for zstd in files that are no arrays. The library chooses 64 KiB for text at level 2, for fast
/// reading of single items; such files are 4 to 10 % larger (`--blocksize 64K`). A chunk of 4 MiB has 8 blocks, for as many threads.
const ZSTD_BLOCKSIZE: usize = 512 << 10;

/// Parameters of compression.
#[derive(Debug, Args)]
pub(crate) struct CompressionArguments {
    /// Codec [default: zstd]
    #[arg(short, long, env = "BLOSC_COMPRESSOR", hide_env_values = true, value_parser = codecs())]
    pub codec: Option<Codec>,
    /// Level, 0 (none) to 9 (smallest) [default: 2 for zstd, 5 for others]
    #[arg(short, long, env = "BLOSC_CLEVEL", hide_env_values = true, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// Filters, separated by commas [default: shuffle for items of more than one byte]
    #[arg(
        long, env = "BLOSC_SHUFFLE", hide_env_values = true, value_delimiter = ',', value_parser = filters()
    )]
    pub filters: Option<Vec<FilterArgument>>,
    /// Choose codec, level and filters of each chunk by its content: a number from 0 (speed) to 1 (ratio), 0.5 without one. With
    /// `:comp` or `:decomp` behind it, only the speed of compression or decompression counts
    #[arg(
        long, value_name = "TRADEOFF", num_args = 0..=1, require_equals = true, default_missing_value = "0.5",
        value_parser = tradeoff, conflicts_with_all = ["codec", "level", "filters", "dict"]
    )]
    pub auto: Option<Tradeoff>,
    /// Size of a block in bytes, for example 64K [default: 512K for zstd up to level 8, otherwise chosen by codec and level]
    #[arg(long, value_name = "SIZE")]
    pub blocksize: Option<Size>,
    /// Compress the streams of a block with a dictionary for each chunk: of zstd and lz4, for many small blocks
    #[arg(long)]
    pub dict: bool,
    /// Compress each byte of items as a stream of its own, after a shuffle [default: for blosclz, lz4 and zstd up to level 5]
    #[arg(long, value_name = "WHEN")]
    pub split: Option<SplitWhen>,
    /// Allow filters and codecs that change the content: trunc_prec, int_trunc, ndmean, zfp_acc, zfp_prec, zfp_rate
    #[arg(long)]
    pub lossy: bool,
}

/// The condition for streams of single bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitWhen {
    Always,
    Never,
    /// Where it usually makes chunks smaller
    Auto,
}

impl SplitWhen {
    fn split(self) -> Split {
        match self {
            SplitWhen::Always => Split::Always,
            SplitWhen::Never => Split::Never,
            SplitWhen::Auto => Split::Auto,
        }
    }
}

/// A parser of values, of which completions and the help offer some.
#[derive(Clone)]
pub(crate) struct Offering<T> {
    parse: fn(&str) -> Result<T, String>,
    offered: &'static [&'static str],
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Offering<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        let parse = self.parse;
        (move |text: &str| parse(text)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.offered.iter().map(|name| PossibleValue::new(*name))))
    }
}

/// Returns the parser of codecs, also of those that are not offered.
pub(crate) fn codecs() -> Offering<Codec> {
    let parse = |text: &str| text.parse().map_err(|error: blosc2::Error| error.to_string());
    Offering { parse, offered: &["blosclz", "lz4", "lz4hc", "zlib", "zstd"] }
}

/// Returns the parser of filters.
pub(crate) fn filters() -> Offering<FilterArgument> {
    let offered = &["shuffle", "bitshuffle", "delta", "bytedelta", "trunc_prec:N", "int_trunc:N", "none"];
    Offering { parse: parse_filter, offered }
}

/// A filter, or `none`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterArgument(pub Option<Filter>);

pub(crate) fn parse_filter(text: &str) -> Result<FilterArgument, String> {
    // The second is the spelling of `BLOSC_SHUFFLE`.
    if text == "none" || text == "NOSHUFFLE" {
        return Ok(FilterArgument(None));
    }
    text.parse().map(|filter| FilterArgument(Some(filter))).map_err(|error: blosc2::Error| error.to_string())
}

/// Reads a tradeoff of the automatic tuner.
pub(crate) fn tradeoff(text: &str) -> Result<Tradeoff, String> {
    text.parse().map_err(|error: blosc2::Error| error.to_string())
}

impl CompressionArguments {
    /// Returns the parameters for items of `typesize` bytes; those that are not given have the defaults of the command.
    pub(crate) fn params(&self, typesize: usize, threads: usize) -> Params {
        let params = self.fixed_params(typesize, threads);
        match self.auto {
            Some(tradeoff) => params.auto(tradeoff),
            None => params,
        }
    }

    /// Returns the same parameters without `--auto`, so that sizes of compressed content can be compared.
    pub(crate) fn fixed_params(&self, typesize: usize, threads: usize) -> Params {
        let default = if typesize > 1 { vec![Filter::Shuffle] } else { Vec::new() };
        let codec = self.codec.unwrap_or(Codec::Zstd);
        let filters =
            self.filters.as_ref().map_or(default, |filters| filters.iter().filter_map(|f| f.0).collect());
        Params::new()
            .codec(codec)
            .level(self.level.unwrap_or(if codec == Codec::Zstd { ZSTD_LEVEL } else { LEVEL }))
            .filters(filters)
            .typesize(typesize)
            .threads(threads)
            .blocksize(self.blocksize.map_or(0, |size| size.0))
            .dictionary(self.dict)
            .split(self.split.map_or(Split::default(), SplitWhen::split))
    }

    /// Checks the parameters of a file. Returns the name of a filter or codec that does not keep the content.
    ///
    /// # Errors
    /// Without `--lossy`, if there is one; a dictionary with a codec that has none.
    pub(crate) fn check(&self, params: &Params) -> Result<Option<String>, Failure> {
        let codec = params.get_codec();
        if self.dict && !matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd) {
            return Err(Failure::usage(format!(
                "--dict with {codec}, expected zstd, lz4 or lz4hc, which have dictionaries"
            )));
        }
        let part = lossy_part(params);
        match &part {
            Some(part) if !self.lossy => Err(Failure::usage(format!(
                "{part} changes the content, expected --lossy, or other --filters and --codec"
            ))),
            _ => Ok(part),
        }
    }

    /// Returns `params` with those that are given.
    pub(crate) fn changed(&self, mut params: Params) -> Params {
        if let Some(codec) = self.codec {
            params = params.codec(codec).codec_meta(0).blocksize(0);
        }
        if let Some(level) = self.level {
            params = params.level(level).blocksize(0);
        }
        if let Some(filters) = &self.filters {
            params = params.filters(filters.iter().filter_map(|filter| filter.0));
        }
        if let Some(tradeoff) = self.auto {
            // In place of a dictionary, and of lossy filters, which have changed the content already.
            params = params.codec(Codec::Zstd).codec_meta(0).filters([]).dictionary(false).blocksize(0);
            params = params.auto(tradeoff);
        }
        if let Some(size) = self.blocksize {
            params = params.blocksize(size.0);
        }
        if self.dict {
            params = params.dictionary(true);
        }
        if let Some(when) = self.split {
            params = params.split(when.split());
        }
        params
    }
}

/// Returns `params` with the block size of the command for a file that is no array, unless they have one.
pub(crate) fn with_default_blocksize(params: Params) -> Params {
    // At level 9, the library chooses a larger size; dictionaries are for small blocks.
    let is_zstd = params.get_codec() == Codec::Zstd && params.get_level() < 9 && !params.get_dictionary();
    // The tuner predicts sizes for the block sizes that the library chooses.
    let is_zstd = is_zstd && params.get_auto().is_none();
    if is_zstd && params.get_blocksize() == 0 { params.blocksize(ZSTD_BLOCKSIZE) } else { params }
}

/// Returns the name of a filter or codec that does not keep the content.
fn lossy_part(params: &Params) -> Option<String> {
    let is_lossy = |filter: &&Filter| {
        matches!(filter, Filter::TruncatePrecision(_) | Filter::TruncateInteger(_) | Filter::NdMean(_))
    };
    if let Some(filter) = params.get_filters().iter().find(is_lossy) {
        return Some(format!("the filter {filter}"));
    }
    let codec = params.get_codec();
    matches!(codec, Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate)
        .then(|| format!("the codec {codec}"))
}

/// Checksums of the Blosc2 files that are written.
#[derive(Debug, Args)]
pub(crate) struct ChecksumArguments {
    /// Checksums in the new file, with which every changed byte is found [default: BLOSC2_CHECKSUMS, otherwise on]
    #[arg(long, value_name = "SWITCH")]
    pub checksums: Option<Switch>,
}

/// A choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

impl ChecksumArguments {
    /// Calls `write`, which writes a file in place of one that had checksums, or of none.
    pub(crate) fn apply<R>(&self, had_checksums: bool, write: impl FnOnce() -> R) -> R {
        match self.checksums {
            Some(switch) => blosc2::with_checksums(switch == Switch::On, write),
            None if had_checksums => blosc2::with_checksums(true, write),
            None => write(),
        }
    }
}
