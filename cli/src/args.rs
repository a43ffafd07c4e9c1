//! The arguments of the command.

use crate::size::Size;
use blosc2::{Codec, Filter, Params};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Compress, inspect, check, repair and convert Blosc2 files (.b2frame, .b2nd).
#[derive(Debug, Parser)]
#[command(name = "blosc2", version, propagate_version = true, max_term_width = 100)]
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
    Generate(GenerateArguments),
}

/// Parameters of compression.
#[derive(Debug, Args)]
pub(crate) struct CompressionArguments {
    /// Codec: blosclz, lz4, lz4hc, zlib, zstd [default: zstd]
    #[arg(short, long)]
    pub codec: Option<Codec>,
    /// Level, 0 (none) to 9 (smallest) [default: 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// Filters, separated by commas: shuffle, bitshuffle, delta, bytedelta, trunc_prec:N, int_trunc:N, none [default:
    /// shuffle for items of more than one byte]
    #[arg(short, long, value_delimiter = ',', value_parser = parse_filter)]
    pub filters: Option<Vec<FilterArgument>>,
    /// Size of a block in bytes, for example 64K [default: chosen by codec and level]
    #[arg(long, value_name = "SIZE")]
    pub blocksize: Option<Size>,
}

/// A filter, or `none`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterArgument(pub Option<Filter>);

fn parse_filter(text: &str) -> Result<FilterArgument, String> {
    if text == "none" {
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

/// Number of threads.
#[derive(Debug, Args)]
pub(crate) struct ThreadArguments {
    /// Number of threads [default: number of processors]
    #[arg(short = 'T', long, value_parser = clap::value_parser!(u16).range(1..=32767))]
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
    /// Files or directories
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the contents of metalayers
    #[arg(long)]
    pub meta: bool,
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
    /// Size of an item in bytes: of a number in the file
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: u8,
    /// Size of a chunk in bytes, for example 4M
    #[arg(long, value_name = "SIZE", default_value = "4M")]
    pub chunksize: Size,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub files_arguments: FileArguments,
}

/// What happens to existing files.
#[derive(Debug, Args)]
pub(crate) struct FileArguments {
    /// Overwrite existing files, and write binary data to a terminal
    #[arg(short = 'F', long)]
    pub force: bool,
    /// Keep the input (the default)
    #[arg(short, long, conflicts_with = "rm")]
    pub keep: bool,
    /// Remove the input after success
    #[arg(long)]
    pub rm: bool,
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
    pub threads: ThreadArguments,
    /// Overwrite an existing file
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
    /// The part: a range or a number for each dimension, for example 0:100,:,3
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub slice: Option<String>,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing file, and write binary data to a terminal
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
    /// Files or directories
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
    /// File or directory
    pub file: PathBuf,
    /// A range or a number for each dimension, for example 0:100,:,3
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
    /// Files or directories
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
    pub threads: ThreadArguments,
}

/// Compress a file again with other parameters; the old file is replaced when the new one was verified
#[derive(Debug, Args)]
pub(crate) struct RecompressArguments {
    /// Files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compression: CompressionArguments,
    /// Size of a chunk in bytes, for example 4M; not of arrays [default: as before]
    #[arg(long, value_name = "SIZE")]
    pub chunksize: Option<Size>,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// Measure codecs, levels and filters on your data
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// File: a Blosc2 file, whose content is used, or any other
    pub file: PathBuf,
    /// Size of an item in bytes [default: that of a Blosc2 file, otherwise 1, 2, 4 and 8]
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
    /// Write a chart to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Compare the contents of two files
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// File or directory
    pub first: PathBuf,
    /// File or directory
    pub second: PathBuf,
    #[command(flatten)]
    pub threads: ThreadArguments,
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
