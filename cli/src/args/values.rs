//! Arguments for values on stdout.

use crate::dtype::Dtype;
use clap::{Args, ValueEnum};

/// The form of values on stdout.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ValueFormat {
    /// Values between spaces, one row of the last dimension for each line; bytes as they are if they have no type
    Text,
    /// Bytes
    Raw,
    /// Values between commas, one row of the last dimension for each line, with a column for each field of items
    Csv,
    /// As csv, between tabulators
    Tsv,
    /// Nested arrays, with an object for items with fields; NaN and infinity are texts
    Json,
}

/// The form of values on stdout.
#[derive(Debug, Args)]
pub(crate) struct ValueArguments {
    /// Form of the values [default: text for arrays, raw for others]
    #[arg(long, conflicts_with_all = ["csv", "tsv", "json"])]
    format: Option<ValueFormat>,
    /// The same as --format csv
    #[arg(long, conflicts_with_all = ["tsv", "json"])]
    csv: bool,
    /// The same as --format tsv
    #[arg(long, conflicts_with = "json")]
    tsv: bool,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Type of the items, for example f4, <i2 or "[('x', '<f4'), ('y', '<f4')]" [default: that of an array]
    #[arg(long)]
    pub dtype: Option<Dtype>,
    /// Print all values as text on a terminal, also of arrays with more than 1000
    #[arg(short, long)]
    pub all: bool,
}

impl ValueArguments {
    /// Returns the format, if one is given.
    pub(crate) fn format(&self) -> Option<ValueFormat> {
        match (self.csv, self.tsv, self.json) {
            (true, ..) => Some(ValueFormat::Csv),
            (_, true, _) => Some(ValueFormat::Tsv),
            (.., true) => Some(ValueFormat::Json),
            _ => self.format,
        }
    }
}
