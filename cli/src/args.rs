//! The arguments of the command.

mod compression;
mod examples;
mod files;
mod old_spellings;
mod values;

pub(crate) use compression::{
    ChecksumArguments, CompressionArguments, FilterArgument, codecs, filters, tradeoff,
    with_default_blocksize,
};
pub(crate) use files::{DurabilityArguments, FileArguments, SparseArguments, ThreadArguments};
pub(crate) use old_spellings::with_new_spellings;
pub(crate) use values::{ValueArguments, ValueFormat};

use crate::dtype::{Dtype, Tolerance};
use crate::remote;
use crate::size::Size;
use blosc2::{Codec, Tradeoff};
use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Compress, inspect, check, repair and convert Blosc2 files (.b2frame, .b2nd). Files can be URLs: s3://, gs://, az://, http://,
/// https:// and file://.
#[derive(Debug, Parser)]
#[command(name = "blosc2", version = concat!(env!("CARGO_PKG_VERSION"), " (blosc2-cli)"), propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print what is done
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Print the requests for URLs, with offset, bytes and time, to stderr; as JSON if --json is given
    #[arg(long, global = true, help_heading = "URLs")]
    pub requests: bool,
    /// Option of the store, for example aws_endpoint=http://localhost:9000; may be repeated
    #[arg(long = "remote-option", value_name = "NAME=VALUE", global = true, help_heading = "URLs", value_parser = parse_option)]
    pub remote_options: Vec<(String, String)>,
    /// Time limit in seconds of a request for a URL, with its repetitions after errors [default: 60]
    #[arg(long, value_name = "SECONDS", global = true, help_heading = "URLs", value_parser = clap::value_parser!(u64).range(1..))]
    pub remote_timeout: Option<u64>,
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
    let command = Arguments::command().mut_subcommand("recompress", keeps).mut_subcommand("repair", keeps);
    command.mut_subcommands(|verb| {
        let verb = with_names(verb);
        match examples::of(verb.get_name()) {
            Some(text) => verb.after_help(text),
            None => verb,
        }
    })
}

/// Returns a verb whose arguments for files are names, which have no secret.
fn with_names(verb: clap::Command) -> clap::Command {
    let is_file =
        |argument: &clap::Arg| argument.get_value_parser().type_id() == ValueParser::path_buf().type_id();
    let verb = verb.mut_args(|argument| match is_file(&argument) {
        true => argument.value_parser(PathBufValueParser::new().map(remote::name)),
        false => argument,
    });
    verb.mut_subcommands(with_names)
}

/// Parses an option of the client of URLs.
fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected a name, `=` and a value")?;
    Ok((name.to_owned(), value.to_owned()))
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
    Append(AppendArguments),
    Bench(BenchArguments),
    Diff(DiffArguments),
    Meta(MetaArguments),
    Generate(GenerateArguments),
}

impl Verb {
    /// Returns whether the results are JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Verb::Info(InfoArguments { json, .. })
            | Verb::Verify(VerifyArguments { json, .. })
            | Verb::Repair(RepairArguments { json, .. })
            | Verb::Bench(BenchArguments { json, .. }) => *json,
            Verb::Cat(CatArguments { values, .. }) | Verb::Slice(SliceArguments { values, .. }) => {
                matches!(values.format(), Some(ValueFormat::Json))
            }
            _ => false,
        }
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
    /// Read all items of arrays, and print the least, the greatest, the mean, the number of zeros, and the ratios of chunks
    #[arg(long)]
    pub stats: bool,
    /// Decompress the first chunk, and print what `compress --auto` would choose for it, with the candidates and the features; 0.5
    /// without a number
    #[arg(
        long, value_name = "TRADEOFF", num_args = 0..=1, require_equals = true, default_missing_value = "0.5",
        value_parser = tradeoff
    )]
    pub why: Option<Tradeoff>,
    /// Print one line for each file in directories, and in the directories in them
    #[arg(long, conflicts_with_all = ["meta", "chunks", "stats", "why"])]
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
    /// Decompress, as the verb `decompress`
    #[arg(short, long)]
    pub decompress: bool,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub files_arguments: FileArguments,
    #[command(flatten)]
    pub sparse: SparseArguments,
}

impl CompressArguments {
    /// Returns the arguments of the verb `decompress`.
    pub(crate) fn to_decompress(&self) -> DecompressArguments {
        DecompressArguments {
            files: self.files.clone(),
            output: self.output.clone(),
            threads: self.threads,
            files_arguments: self.files_arguments,
            sparse: self.sparse,
        }
    }
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
    #[command(flatten)]
    pub sparse: SparseArguments,
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
    /// Type of the items of a raw file, for example f4, <i2 or "[('x', '<f4'), ('y', '<f4')]"
    #[arg(long, requires = "shape")]
    pub dtype: Option<Dtype>,
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
    #[arg(short, long, short_alias = 'F')]
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
    pub sparse: SparseArguments,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing file, write into a device or a pipe, and write binary data to a terminal
    #[arg(short, long, short_alias = 'F')]
    pub force: bool,
}

/// Print the content of files
#[derive(Debug, Args)]
pub(crate) struct CatArguments {
    /// Files or directories; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub values: ValueArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Write binary data to a terminal
    #[arg(short, long, short_alias = 'F')]
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
    #[command(flatten)]
    pub values: ValueArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Write binary data to a terminal
    #[arg(short, long, short_alias = 'F')]
    pub force: bool,
}

/// Read and check everything, and list what is damaged
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Files or directories; `-` is stdin
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The Blosc2 files in directories, and in the directories in them
    #[arg(short, long)]
    pub recursive: bool,
    /// Compare the content with that of another file, for example the original
    #[arg(long, value_name = "FILE", conflicts_with = "recursive")]
    pub against: Option<PathBuf>,
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
    /// Files, or directories of chunks
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Also the Blosc2 files in directories, and in the directories in them
    #[arg(short, long, conflicts_with = "output")]
    pub recursive: bool,
    /// Print the files that would be written, and write none
    #[arg(long)]
    pub dry_run: bool,
    /// New file, of one input; the old file stays [default: the old file is replaced]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub compression: CompressionArguments,
    /// Size of a chunk in bytes, for example 4M; not of arrays [default: as before]
    #[arg(long, value_name = "SIZE")]
    pub chunksize: Option<Size>,
    /// Shape of a chunk of an array, for example 100,200 [default: as before]
    #[arg(long, value_delimiter = ',', conflicts_with = "chunksize")]
    pub chunks: Option<Vec<u32>>,
    /// Shape of a block of an array [default: as before; with --chunks, chosen by codec and level]
    #[arg(long, value_delimiter = ',', conflicts_with = "blocksize")]
    pub blocks: Option<Vec<u32>>,
    #[command(flatten)]
    pub checksums: ChecksumArguments,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Overwrite an existing --output
    #[arg(short, long, short_alias = 'F', requires = "output")]
    pub force: bool,
}

/// Append the content of a file or stdin to a Blosc2 file, or rows to an array
#[derive(Debug, Args)]
pub(crate) struct AppendArguments {
    /// File or directory that grows
    pub file: PathBuf,
    /// Content that is appended; for an array a NumPy file of its type, or raw items; `-` is stdin
    pub input: PathBuf,
    /// Dimension of the array that grows, from 0
    #[arg(long, value_name = "N")]
    pub axis: Option<usize>,
    #[command(flatten)]
    pub durability: DurabilityArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
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
    #[arg(short, long, value_delimiter = ',', default_value = "blosclz,lz4,lz4hc,zlib,zstd", value_parser = codecs())]
    pub codecs: Vec<Codec>,
    /// Levels, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "1,5,9", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Vec<u8>,
    /// Filters, separated by commas, each alone
    #[arg(long, value_delimiter = ',', default_value = "none,shuffle,bitshuffle", value_parser = filters())]
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
    /// Print up to N places that differ
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Compare the numbers of arrays by value, and allow a difference of up to R times the second number
    #[arg(long, value_name = "R", value_parser = parse_tolerance)]
    pub rtol: Option<f64>,
    /// Compare the numbers of arrays by value, and allow a difference of up to A: |first - second| <= A + R * |second|
    #[arg(long, value_name = "A", value_parser = parse_tolerance)]
    pub atol: Option<f64>,
    /// Compare the numbers of arrays by value, where a NaN is equal to any other NaN
    #[arg(long)]
    pub equal_nan: bool,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

impl DiffArguments {
    /// Returns the tolerance for numbers; `None` if their bytes are compared.
    pub(crate) fn tolerance(&self) -> Option<Tolerance> {
        let is_given = self.rtol.is_some() || self.atol.is_some() || self.equal_nan;
        is_given.then(|| Tolerance {
            absolute: self.atol.unwrap_or(0.0),
            relative: self.rtol.unwrap_or(0.0),
            equal_nan: self.equal_nan,
        })
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number >= 0.0);
    number.ok_or_else(|| "expected a number of at least 0, for example 1e-5".to_owned())
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
        #[arg(short, long, short_alias = 'F')]
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
