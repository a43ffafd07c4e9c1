//! The measured rows with the best ones, as a table and as JSON.

use super::measure::Row;
use super::sample::Sample;
use crate::args::BenchArguments;
use crate::error::Failure;
use crate::results::Results;
use crate::size::{count, with_unit};
use serde::{Serialize, Serializer};

/// The rate at which the compressed bytes are transferred, for the balanced row, in MB/s.
const TRANSFER_RATE: f64 = 200.0;
/// The least ratio of the rows that are fastest, if there are any: without compression, nothing is gained.
const LEAST_RATIO: f64 = 1.1;
/// The default of `blosc2 compress --chunksize`, in bytes.
const DEFAULT_CHUNKSIZE: usize = 4 << 20;

/// The result of a measurement. In JSON: these keys.
#[derive(Serialize)]
pub(super) struct Report {
    pub file: String,
    /// Length of the content of the file in bytes.
    content_bytes: u64,
    /// Length of the part that was measured in bytes.
    sample_bytes: u64,
    sample_chunks: usize,
    /// Length of a chunk in bytes.
    chunksize: usize,
    threads: usize,
    /// The transfer rate for `balanced` in MB/s.
    transfer_rate: f64,
    /// In JSON: `codec`, `level`, `filter`, `typesize`, `nbytes`, `cbytes`, `ratio`, and the speeds `compress_mb_s` and
    /// `decompress_mb_s` in MB (1000000 bytes) of content per second.
    #[serde(serialize_with = "rows_to_json")]
    pub rows: Vec<Row>,
    pub recommended: Vec<Recommended>,
}

/// A row that is the best one in some way.
#[derive(Serialize)]
pub(super) struct Recommended {
    /// `smallest`, `fastest to read`, `fastest to write` or `balanced`.
    pub name: &'static str,
    /// The number of the row, from 0.
    pub row: usize,
    /// The options of `blosc2 compress`.
    options: String,
}

#[derive(Serialize)]
struct JsonRow {
    codec: String,
    level: u8,
    filter: String,
    typesize: usize,
    nbytes: u64,
    cbytes: u64,
    ratio: f64,
    compress_mb_s: f64,
    decompress_mb_s: f64,
}

fn rows_to_json<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(|row| JsonRow {
        codec: row.cell.codec.to_string(),
        level: row.cell.level,
        filter: row.cell.filter_name(),
        typesize: row.cell.typesize,
        nbytes: row.nbytes,
        cbytes: row.cbytes,
        ratio: row.ratio(),
        compress_mb_s: row.write_speed(),
        decompress_mb_s: row.read_speed(),
    }))
}

impl Report {
    pub(super) fn new(arguments: &BenchArguments, sample: &Sample, threads: usize, rows: Vec<Row>) -> Report {
        let recommended = recommend(&rows, sample.chunksize);
        Report {
            file: arguments.file.display().to_string(),
            content_bytes: sample.content_bytes,
            sample_bytes: sample.nbytes(),
            sample_chunks: sample.chunks.len(),
            chunksize: sample.chunksize,
            threads,
            transfer_rate: TRANSFER_RATE,
            rows,
            recommended,
        }
    }

    /// Returns the names of the recommendations for row `number`.
    pub(super) fn marks(&self, number: usize) -> String {
        let names = self.recommended.iter().filter(|best| best.row == number).map(|best| best.name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Prints the table, and the recommended options.
    pub(super) fn print(&self, results: &mut Results) -> Result<(), Failure> {
        results.line(format_args!(
            "{}: {} of {} in {}, {}; speeds in MB of content per second",
            self.file,
            with_unit(self.sample_bytes),
            with_unit(self.content_bytes),
            count(self.sample_chunks as u64, "chunk"),
            count(self.threads as u64, "thread")
        ))?;
        results.line("")?;
        results.line(format_args!(
            "{:8} {:>5}  {:10} {:>4} {:>10} {:>10} {:>10}",
            "codec", "level", "filter", "item", "ratio", "compress", "decompress"
        ))?;
        for (number, row) in self.rows.iter().enumerate() {
            let line = format!(
                "{:8} {:>5}  {:10} {:>4} {:>10.2} {:>10.0} {:>10.0}  {}",
                row.cell.codec.to_string(),
                row.cell.level,
                row.cell.filter_name(),
                row.cell.typesize,
                row.ratio(),
                row.write_speed(),
                row.read_speed(),
                self.marks(number)
            );
            results.line(line.trim_end())?;
        }
        results.line("")?;
        for best in &self.recommended {
            results.line(format_args!("{:16}  blosc2 compress {}", best.name, best.options))?;
        }
        results.line("")?;
        results.line(format_args!(
            "fastest: of the rows with a ratio of at least {LEAST_RATIO}, if there are any"
        ))?;
        results.line(format_args!(
            "balanced: the shortest time to compress, transfer at {TRANSFER_RATE} MB/s, and decompress"
        ))
    }
}

/// Returns the best rows. There is at least one row.
fn recommend(rows: &[Row], chunksize: usize) -> Vec<Recommended> {
    let is_small = |row: &Row| row.ratio() >= LEAST_RATIO;
    let any_is_small = rows.iter().any(is_small);
    let best = |name, only_small: bool, cost: &dyn Fn(&Row) -> f64| {
        let candidates =
            rows.iter().enumerate().filter(|(_, row)| !(only_small && any_is_small) || is_small(row));
        let (row, best) = candidates.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)))?;
        Some(Recommended { name, row, options: options(best, chunksize) })
    };
    let total = |row: &Row| row.write_seconds + row.cbytes as f64 / 1e6 / TRANSFER_RATE + row.read_seconds;
    let all = [
        best("smallest", false, &|row| row.cbytes as f64),
        best("fastest to read", true, &|row| row.read_seconds),
        best("fastest to write", true, &|row| row.write_seconds),
        best("balanced", false, &total),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the options of `blosc2 compress` for a row.
fn options(row: &Row, chunksize: usize) -> String {
    let cell = row.cell;
    let filter = cell.filter_name();
    let mut options = format!(
        "--codec {} --level {} --filters {filter} --typesize {}",
        cell.codec, cell.level, cell.typesize
    );
    if chunksize != DEFAULT_CHUNKSIZE {
        options.push_str(&format!(" --chunksize {chunksize}"));
    }
    options
}
