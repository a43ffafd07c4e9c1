//! The measured rows with the best ones, as a table and as JSON.

use super::measure::Row;
use super::sample::Sample;
use crate::args::{BenchArguments, Target};
use crate::error::Failure;
use crate::results::Results;
use crate::size::{count, with_unit};
use blosc2::Tradeoff;
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
    /// The number of combinations for which there was no time.
    unmeasured: usize,
    #[serde(skip)]
    seconds: u64,
    /// The best ones for the target first. In JSON: `codec`, `level`, `filter`, `typesize`, `nbytes`, `cbytes`, `ratio`, and the speeds `compress_mb_s` and
    /// `decompress_mb_s` in MB (1000000 bytes) of content per second.
    #[serde(serialize_with = "rows_to_json")]
    pub rows: Vec<Row>,
    pub recommended: Vec<Recommended>,
}

/// A row that is the best one in some way.
#[derive(Serialize)]
pub(super) struct Recommended {
    /// `smallest`, `fastest to read`, `fastest to write`, `balanced` or `auto`: what `--auto` takes for the first chunk.
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
    pub(super) fn new(
        arguments: &BenchArguments,
        sample: &Sample,
        threads: usize,
        mut rows: Vec<Row>,
        unmeasured: usize,
    ) -> Report {
        let any_is_small = rows.iter().any(is_small);
        let cost = |row: &Row| match arguments.target {
            Target::Ratio => row.cbytes as f64,
            Target::Speed if any_is_small && !is_small(row) => f64::INFINITY,
            Target::Speed => row.write_seconds + row.read_seconds,
            Target::Balanced => total_seconds(row),
        };
        rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let mut recommended = recommend(&rows, sample.chunksize);
        recommended.extend(automatic(&rows, sample));
        Report {
            file: arguments.file.display().to_string(),
            content_bytes: sample.content_bytes,
            sample_bytes: sample.nbytes(),
            sample_chunks: sample.chunks.len(),
            chunksize: sample.chunksize,
            threads,
            transfer_rate: TRANSFER_RATE,
            unmeasured,
            seconds: arguments.seconds,
            rows,
            recommended,
        }
    }

    /// Returns the names of the recommendations for row `number`.
    pub(super) fn marks(&self, number: usize) -> String {
        let names = self.recommended.iter().filter(|best| best.row == number).map(|best| best.name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Prints the first rows of the table, and the recommended options.
    pub(super) fn print(&self, results: &mut Results, top: Option<u64>) -> Result<(), Failure> {
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
        let top = top.and_then(|top| usize::try_from(top).ok()).unwrap_or(usize::MAX);
        for (number, row) in self.rows.iter().enumerate().take(top) {
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
        ))?;
        results.line("auto: the choice of --auto for the first chunk, if it is in the table")?;
        if self.unmeasured > 0 {
            results.line(format_args!(
                "{} not measured in {}: see --seconds",
                count(self.unmeasured as u64, "combination"),
                count(self.seconds, "second")
            ))?;
        }
        Ok(())
    }

    /// Prints the command for the best row.
    pub(super) fn print_command(&self, results: &mut Results) -> Result<(), Failure> {
        results.line("")?;
        results.line(format_args!("blosc2 compress {}", options(&self.rows[0], self.chunksize)))
    }
}

/// Returns whether a row saves a tenth of the bytes.
fn is_small(row: &Row) -> bool {
    row.ratio() >= LEAST_RATIO
}

/// Returns the time to compress, transfer and decompress, in seconds.
fn total_seconds(row: &Row) -> f64 {
    row.write_seconds + row.cbytes as f64 / 1e6 / TRANSFER_RATE + row.read_seconds
}

/// Returns the best rows. There is at least one row.
fn recommend(rows: &[Row], chunksize: usize) -> Vec<Recommended> {
    let any_is_small = rows.iter().any(is_small);
    let best = |name, only_small: bool, cost: &dyn Fn(&Row) -> f64| {
        let candidates =
            rows.iter().enumerate().filter(|(_, row)| !(only_small && any_is_small) || is_small(row));
        let (row, best) = candidates.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)))?;
        Some(Recommended { name, row, options: options(best, chunksize) })
    };
    let all = [
        best("smallest", false, &|row| row.cbytes as f64),
        best("fastest to read", true, &|row| row.read_seconds),
        best("fastest to write", true, &|row| row.write_seconds),
        best("balanced", false, &total_seconds),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the row of the parameters that `--auto` takes for the first chunk, if they were measured.
fn automatic(rows: &[Row], sample: &Sample) -> Option<Recommended> {
    let explanation = Tradeoff::default().explain(sample.chunks.first()?, sample.typesize).ok()?;
    let choice = explanation.choice?;
    let is_choice = |row: &Row| {
        let cell = row.cell;
        (cell.codec, cell.level) == (choice.codec, choice.level)
            && cell.filter.iter().eq(&choice.filters)
            && cell.typesize == sample.typesize
    };
    let row = rows.iter().position(is_choice)?;
    let options = format!("--auto --typesize {}{}", sample.typesize, chunksize_option(sample.chunksize));
    Some(Recommended { name: "auto", row, options })
}

/// Returns the option for the size of a chunk, after a space; empty for the default.
fn chunksize_option(chunksize: usize) -> String {
    if chunksize == DEFAULT_CHUNKSIZE { String::new() } else { format!(" --chunksize {chunksize}") }
}

/// Returns the options of `blosc2 compress` for a row.
fn options(row: &Row, chunksize: usize) -> String {
    let cell = row.cell;
    let filter = cell.filter_name();
    format!(
        "--codec {} --level {} --filters {filter} --typesize {}{}",
        cell.codec,
        cell.level,
        cell.typesize,
        chunksize_option(chunksize)
    )
}
