//! Statistics of the items of an array, and the ratios of the chunks.

use super::subject::Subject;
use crate::array_reader::ArrayReader;
use crate::dtype::{Dtype, Stats, StatsReport};
use crate::terminal::Terminal;
use blosc2::AnyArray;
use serde::Serialize;
use std::io::BufRead;

/// Number of lines of the chart, at most.
const LINES: u64 = 16;
/// Width of the longest bar in characters.
const WIDTH: f64 = 40.0;

/// With `--stats`: the statistics of an array, and the ratios of parts of the file.
#[derive(Serialize)]
pub(super) struct FileStats {
    /// Null for other files than arrays.
    pub items: Option<StatsReport>,
    /// Why the items could not be read.
    pub error: Option<String>,
    /// The chunks in up to 16 groups.
    pub ratios: Vec<GroupRatio>,
}

/// The ratio of some chunks, one after the other.
#[derive(Serialize)]
pub(super) struct GroupRatio {
    /// The numbers of the first and the last chunk.
    pub chunks: [u64; 2],
    /// Length of the content divided by that of the chunks; null if a header cannot be read.
    pub ratio: Option<f64>,
}

impl FileStats {
    pub(super) fn read(subject: &Subject, terminal: &Terminal) -> FileStats {
        let items = subject.array().map(|array| read_items(array, terminal));
        let error = items.as_ref().and_then(|read| read.as_ref().err()).map(ToString::to_string);
        let count = subject.nchunks();
        let group = count.div_ceil(LINES).max(1);
        let groups = (0..count.div_ceil(group)).map(|n| [n * group, ((n + 1) * group).min(count) - 1]);
        let ratios = groups.map(|chunks| GroupRatio { chunks, ratio: ratio(subject, chunks) }).collect();
        FileStats { items: items.and_then(Result::ok), error, ratios }
    }

    /// Returns the names and values of the lines.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if let Some(items) = &self.items {
            let text = |value: &serde_json::Value| match value {
                serde_json::Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let min = items.min.as_ref().map(|min| ("min", text(min)));
            let max = items.max.as_ref().map(|max| ("max", text(max)));
            lines.extend(min.into_iter().chain(max));
            lines.extend(items.mean.map(|mean| ("mean", mean.to_string())));
            lines.push(("zeros", items.zeros.to_string()));
            lines.push(("NaNs", items.nans.to_string()));
        }
        lines
    }

    /// Returns a line with a bar for each group of chunks.
    pub(super) fn chart(&self) -> Vec<String> {
        let most = self.ratios.iter().filter_map(|group| group.ratio).fold(0.0, f64::max);
        let names = self.ratios.iter().map(|GroupRatio { chunks: [first, last], .. }| match first == last {
            true => format!("chunk {first}"),
            false => format!("chunks {first}-{last}"),
        });
        let names: Vec<String> = names.collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        let bars = self.ratios.iter().map(|group| match group.ratio {
            Some(ratio) => format!("{ratio:>9.2} {}", "#".repeat((ratio / most * WIDTH).round() as usize)),
            None => format!("{:>9}", "-"),
        });
        names.iter().zip(bars).map(|(name, bar)| format!("{name:width$} {bar}")).collect()
    }
}

/// Reads all items of an array.
fn read_items(array: &AnyArray, terminal: &Terminal) -> std::io::Result<StatsReport> {
    let size = array.typesize();
    let mut stats = Stats::new(Dtype::of_array(array), size);
    let progress = terminal.progress("stats", Some(array.nitems().saturating_mul(size as u64)));
    let mut reader = ArrayReader::of_array(array);
    loop {
        let items = reader.fill_buf()?;
        let len = items.len();
        if len == 0 {
            return Ok(stats.report());
        }
        stats.add(items);
        reader.consume(len);
        progress.add(len as u64);
    }
}

fn ratio(subject: &Subject, [first, last]: [u64; 2]) -> Option<f64> {
    let (mut nbytes, mut cbytes) = (0, 0);
    for nchunk in first..=last {
        let info = subject.chunk_info(nchunk).ok()?;
        nbytes += info.nbytes as u64;
        cbytes += info.cbytes as u64;
    }
    Some(nbytes as f64 / cbytes.max(1) as f64)
}
