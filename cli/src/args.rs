//! The arguments of the command.

use crate::error::Failure;
use crate::size::Size;
use blosc2::{Codec, Durability, Filter, Params};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Compress, inspect, check, repair and convert Blosc2 files (.b2frame, .b2nd).
#[derive(Debug, Parser)]
#[command(name = "blosc2", version = concat!(env!("CARGO_PKG_VERSION"), " (blosc2-cli)"), propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print what is done
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Returns the definition of the command. The compression arguments of `recompress` have other defaults than those of
/// other verbs.
pub(crate) fn command() -> clap::Command {
    let as_before = |argument: clap::Arg| {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        match help.split_once(" [default: ") {
            Some((help, _)) if COMPRESSION.contains(&argument.get_id().as_str()) => {
                argument.help(format!("{help} [default: as before]"))
            }
            Some((help, _)) if argument.get_id() == "checksums" => argument
                .help(format!("{help} [default: on if the old file has them, otherwise as for `compress`]")),
            _ => argument,
        }
    };
    let keeps = |verb: clap::Command| verb.mut_args(as_before);
    Arguments::command().mut_subcommand("recompress", keeps).mut_subcommand("repair", keeps)
}

/// The arguments of [`CompressionArguments`] with a default.
const COMPRESSION: [&str; 4] = ["codec", "level", "filters", "blocksize"];

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Info(InfoArguments),
    Compress(CompressArguments),
    Decompress(DecompressArguments),
    Import(ImportArguments),
    Export(ExportArguments),
    Cat(CatArguments),
    Slice(SliceArguments),
    Verify(VerifyArguments),
    Repair(RepairArguments),
    Recompress(RecompressArguments),
    Bench(BenchArguments),
    Diff(DiffArguments),
    Meta(MetaArguments),
    Generate(GenerateArguments),
}

/// Parameters of compression.
#[derive(Debug, Args)]
pub(crate) struct CompressionArguments {
    /// Codec: blosclz, lz4, lz4hc, zlib, zstd [default: zstd]
    #[arg(short, long, env = "BLOSC_COMPRESSOR", hide_env_values = true)]
    pub codec: Option<Codec>,
    /// Level, 0 (none) to 9 (smallest) [default: 5]
    #[arg(short, long, env = "BLOSC_CLEVEL", hide_env_values = true, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// Filters, separated by commas: shuffle, bitshuffle, delta, bytedelta, trunc_prec:N, int_trunc:N, none [default:
    /// shuffle for items of more than one byte]
    #[arg(
        short, long, env = "BLOSC_SHUFFLE", hide_env_values = true, value_delimiter = ',', value_parser = parse_filter
    )]
    pub filters: Option<Vec<FilterArgument>>,
    /// Size of a block in bytes, for example 64K [default: chosen by codec and level]
    #[arg(long, value_name = "SIZE")]
    pub blocksize: Option<Size>,
    /// Allow filters and codecs that change the content: trunc_prec, int_trunc, ndmean, zfp_acc, zfp_prec, zfp_rate
    #[arg(long)]
    pub lossy: bool,
}

/// A filter, or `none`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterArgument(pub Option<Filter>);

fn parse_filter(text: &str) -> Result<FilterArgument, String> {
    // The second is the spelling of `BLOSC_SHUFFLE`.
    if text == "none" || text == "NOSHUFFLE" {
        return Ok(FilterArgument(None));
    }
    text.parse().map(|filter| FilterArgument(Some(filter))).map_err(|error: blosc2::Error| error.to_string())
}

impl CompressionArguments {
    /// Returns the parameters for items of `typesize` bytes; those that are not given have the defaults of the command.
    pub(crate) fn params(&self, typesize: usize, threads: usize) -> Params {
        let default = if typesize > 1 { vec![Filter::Shuffle] } else { Vec::new() };
        let filters =
            self.filters.as_ref().map_or(default, |filters| filters.iter().filter_map(|f| f.0).collect());
        Params::new()
            .codec(self.codec.unwrap_or(Codec::Zstd))
            .level(self.level.unwrap_or(5))
            .filters(filters)
            .typesize(typesize)
            .threads(threads)
            .blocksize(self.blocksize.map_or(0, |size| size.0))
    }

    /// Returns the name of a filter or codec of `params` that does not keep the content.
    ///
    /// # Errors
    /// Without `--lossy`, if there is one.
    pub(crate) fn check_lossy(&self, params: &Params) -> Result<Option<String>, Failure> {
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
        if let Some(size) = self.blocksize {
            params = params.blocksize(size.0);
        }
        params
    }
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

/// Durability of the files that are written.
#[derive(Debug, Args)]
pub(crate) struct DurabilityArguments {
    /// Events after which the new file is whole
    #[arg(
        long,
        value_name = "LEVEL",
        env = "BLOSC2_DURABILITY",
        hide_env_values = true,
        default_value = "kill"
    )]
    pub durability: DurabilityLevel,
}

/// The durability of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityLevel {
    /// Nothing is guaranteed while it is written
    Off,
    /// The end of the command at any moment
    Kill,
    /// Also a loss of power
    Power,
}

impl DurabilityArguments {
    /// Returns the level for the library.
    pub(crate) fn level(&self) -> Durability {
        match self.durability {
            DurabilityLevel::Off => Durability::Off,
            DurabilityLevel::Kill => Durability::Kill,
            DurabilityLevel::Power => Durability::Power,
        }
    }

    /// Returns whether a new file must survive a loss of power.
    pub(crate) fn survives_power_loss(&self) -> bool {
        self.durability == DurabilityLevel::Power
    }
}

/// Number of threads.
#[derive(Debug, Args)]
pub(crate) struct ThreadArguments {
    /// Number of threads [default: number of processors]
    #[arg(
        short = 'T', long, env = "BLOSC_NTHREADS", hide_env_values = true,
        value_parser = clap::value_parser!(u16).range(1..=32767)
    )]
    pub threads: Option<u16>,
}

impl ThreadArguments {
    /// Returns the number of threads.
    pub(crate) fn count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(processors, usize::from)
    }
}

/// Print what a file is: shape, type, chunks, codec, filters, ratio, metalayers
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// Files or directories; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the contents of metalayers: values of MessagePack as JSON, text, or hexadecimal digits
    #[arg(long)]
    pub meta: bool,
    /// Print the contents of metalayers as hexadecimal digits
    #[arg(long, requires = "meta")]
    pub hex: bool,
    /// Print one line for each chunk
    #[arg(long)]
    pub chunks: bool,
    /// Print one line for each file in directories, and in the directories in them
    #[arg(long, conflicts_with_all = ["meta", "chunks"])]
    pub tree: bool,
}

/// Compress files, or stdin to stdout
#[derive(Debug, Args)]
pub(crate) struct CompressArguments {
    /// Files; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Output file, of one input; `-` is stdout [default: the name of the input with .b2frame]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub compression: CompressionArguments,
    /// Size of an item in bytes: of a number in the file [default: that of a NumPy file, otherwise the one of 1 to 16 with
    /// which samples are smallest]
    #[arg(
        short,
        long,
        env = "BLOSC_TYPESIZE",
        hide_env_values = true,
        value_parser = clap::value_parser!(u8).range(1..)
    )]
    pub typesize: Option<u8>,
    /// Size of a chunk in bytes, for example 4M
    #[arg(long, value_name = "SIZE", default_value = "4M")]
    pub chunksize: Size,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub files_arguments: FileArguments,
}

/// Treatment of existing files.
#[derive(Debug, Args)]
pub(crate) struct FileArguments {
    /// Overwrite existing files, write into devices and pipes, and write binary data to a terminal
    #[arg(short = 'F', long)]
    pub force: bool,
    /// Keep the input (the default)
    #[arg(short, long, conflicts_with = "rm")]
    pub keep: bool,
    /// Remove the input after success
    #[arg(long)]
    pub rm: bool,
    #[command(flatten)]
    pub durability: DurabilityArguments,
}

/// Decompress files, or stdin to stdout
#[derive(Debug, Args)]
pub(crate) struct DecompressArguments {
    /// Files; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Output file, of one input; `-` is stdout [default: the name of the input without .b2frame]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub files_arguments: FileArguments,
}

/// Convert a NumPy file (.npy) or raw numbers to an array (.b2nd)
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// NumPy file; or a raw file, with --shape and --dtype
    pub input: PathBuf,
    /// Array file
    pub output: PathBuf,
    /// Shape of a raw file, for example 100,200
    #[arg(long, value_delimiter = ',', requires = "dtype")]
    pub shape: Option<Vec<u64>>,
    /// Type of the items of a raw file, for example f4, <i2, u1
    #[arg(long, requires = "shape")]
    pub dtype: Option<String>,
    /// Shape of a chunk [default: up to 4 MiB]
    #[arg(long, value_delimiter = ',')]
    pub chunks: Option<Vec<u32>>,
    /// Shape of a block [default: up to 128 KiB]
    #[arg(long, value_delimiter = ',')]
    pub blocks: Option<Vec<u32>>,
    #[command(flatten)]
    pub compression: CompressionArguments,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing file, or write into a device or a pipe
    #[arg(short = 'F', long)]
    pub force: bool,
}

/// Convert an array (.b2nd), or a part of it, to a NumPy file (.npy) or raw numbers
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Array file
    pub input: PathBuf,
    /// NumPy file if the name ends with .npy, otherwise raw numbers; `-` is stdout
    pub output: PathBuf,
    /// The part, as in NumPy: a range or a number for each dimension, for example 0:100:2,...,-1
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub slice: Option<String>,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing file, write into a device or a pipe, and write binary data to a terminal
    #[arg(short = 'F', long)]
    pub force: bool,
}

/// The form of values on stdout.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ValueFormat {
    /// Numbers, one row of the last dimension for each line; bytes as they are if they have no type
    Text,
    /// Bytes
    Raw,
}

/// Print the content of files
#[derive(Debug, Args)]
pub(crate) struct CatArguments {
    /// Files or directories; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Form of the values [default: text for arrays, raw for others]
    #[arg(long)]
    pub format: Option<ValueFormat>,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Write binary data to a terminal
    #[arg(short = 'F', long)]
    pub force: bool,
}

/// Print a part of an array, or of the items of another file
#[derive(Debug, Args)]
pub(crate) struct SliceArguments {
    /// File or directory; `-` is stdin
    pub file: PathBuf,
    /// The part, as in NumPy: a range or a number for each dimension, for example 0:100:2,...,-1
    #[arg(allow_hyphen_values = true)]
    pub ranges: String,
    /// Form of the values [default: text for arrays, raw for others]
    #[arg(long)]
    pub format: Option<ValueFormat>,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Write binary data to a terminal
    #[arg(short = 'F', long)]
    pub force: bool,
}

/// Read and check everything, and list what is damaged
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Files or directories; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// Save what is whole in a damaged file to a new file; the damaged file is not changed
#[derive(Debug, Args)]
pub(crate) struct RepairArguments {
    /// Damaged file or directory
    pub file: PathBuf,
    /// New file or directory [default: the name with .repaired before the extension]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// Compress a file again with other parameters; the old file is replaced when the new one was verified
#[derive(Debug, Args)]
pub(crate) struct RecompressArguments {
    /// Files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// New file, of one input; the old file stays [default: the old file is replaced]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub compression: CompressionArguments,
    /// Size of a chunk in bytes, for example 4M; not of arrays [default: as before]
    #[arg(long, value_name = "SIZE")]
    pub chunksize: Option<Size>,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing --output
    #[arg(short = 'F', long, requires = "output")]
    pub force: bool,
}

/// Measure codecs, levels and filters on your data
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// File: a Blosc2 file, whose content is used, or any other; `-` is stdin
    pub file: PathBuf,
    /// Size of an item in bytes [default: that of a Blosc2 or NumPy file, otherwise the one of 1 to 16 with
    /// which samples are smallest]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: Option<u8>,
    /// Codecs, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "blosclz,lz4,lz4hc,zlib,zstd")]
    pub codecs: Vec<Codec>,
    /// Levels, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "1,5,9", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Vec<u8>,
    /// Filters, separated by commas, each alone
    #[arg(short, long, value_delimiter = ',', default_value = "none,shuffle,bitshuffle", value_parser = parse_filter)]
    pub filters: Vec<FilterArgument>,
    /// Size of a chunk in bytes
    #[arg(long, value_name = "SIZE", default_value = "4M")]
    pub chunksize: Size,
    /// How much of the file is used, in parts from all over it
    #[arg(long, value_name = "SIZE", default_value = "32M")]
    pub sample: Size,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// The order of the rows: by the ratio, by the time to compress and decompress (rows with a ratio below 1.1
    /// last), or by the time to compress, transfer at 200 MB/s, and decompress
    #[arg(long, default_value = "balanced")]
    pub target: Target,
    /// Print the first rows only
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    pub top: Option<u64>,
    /// Measure no more combinations after this time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: u64,
    /// Draw a chart, as on a terminal
    #[arg(long, conflicts_with = "json")]
    pub chart: bool,
    /// Write a chart to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of the rows of `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    Ratio,
    Speed,
    Balanced,
}

/// Compare the contents of two files
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// File or directory; `-` is stdin
    pub first: PathBuf,
    /// File or directory; `-` is stdin
    pub second: PathBuf,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// Print, set and remove metalayers
#[derive(Debug, Args)]
pub(crate) struct MetaArguments {
    #[command(subcommand)]
    pub action: MetaAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MetaAction {
    /// Print a metalayer, or all as one JSON object
    Get {
        /// File or directory
        file: PathBuf,
        /// Name of the metalayer [default: all]
        name: Option<String>,
        /// Form of the content
        #[arg(long, default_value = "json", requires = "name")]
        format: MetaFormat,
        /// Write binary data to a terminal
        #[arg(short = 'F', long)]
        force: bool,
    },
    /// Set a metalayer, a new one in the list of those with variable length
    Set {
        /// File or directory
        file: PathBuf,
        /// Name of the metalayer
        name: String,
        /// The content: JSON, for example 5, '"text"' or '{"a": [1, 2]}'
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Form of the content; JSON is stored as MessagePack, as by python-blosc2
        #[arg(long, default_value = "json")]
        format: MetaFormat,
        #[command(flatten)]
        durability: DurabilityArguments,
    },
    /// Remove a metalayer of variable length
    Rm {
        /// File or directory
        file: PathBuf,
        /// Name of the metalayer
        name: String,
        #[command(flatten)]
        durability: DurabilityArguments,
    },
}

/// The form of the content of a metalayer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetaFormat {
    /// Values of MessagePack as JSON; other contents as text, or as hexadecimal digits in quotes
    Json,
    /// Hexadecimal digits
    Hex,
    /// Bytes
    Raw,
}

/// What is generated.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Generated {
    /// Man pages, one for each verb
    Man,
    /// Completions for bash, zsh, fish, elvish and PowerShell
    Completions,
}

/// Write man pages or shell completions to a directory
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// What is written
    pub what: Generated,
    /// The directory, which is created if it is missing
    pub directory: PathBuf,
}
