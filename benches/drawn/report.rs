//! Means, worst cells and shares of cells beyond the limits, for each codec; and the list of cells beyond a limit.

use crate::cell::{CODECS, Cell};
use crate::measure::{CellRatios, Speeds};

/// Chunks of up to this many bytes do not count as far longer than the reference's.
const SHORT_CHUNK_LEN: usize = 1 << 10;

/// A ratio of each cell, and its limits.
struct LimitedRatio {
    name: &'static str,
    ratio: fn(&CellRatios) -> Option<f64>,
    /// The ratio below which a cell is counted, and the one below which it is listed.
    count_below: f64,
    list_below: f64,
}

const LIMITED_RATIOS: [LimitedRatio; 6] = [
    LimitedRatio {
        name: "size",
        ratio: |ratios| Some(ratios.size),
        count_below: 1.0 / 1.01,
        list_below: 1.0 / 1.01,
    },
    LimitedRatio {
        name: "compress new data",
        ratio: |ratios| speed(ratios, |s| s.compress_new),
        count_below: 0.95,
        list_below: 0.7,
    },
    LimitedRatio {
        name: "decompress new data",
        ratio: |ratios| speed(ratios, |s| s.decompress_new),
        count_below: 0.95,
        list_below: 0.8,
    },
    LimitedRatio {
        name: "compress",
        ratio: |ratios| speed(ratios, |s| s.compress),
        count_below: 0.95,
        list_below: 0.7,
    },
    LimitedRatio {
        name: "decompress",
        ratio: |ratios| speed(ratios, |s| s.decompress),
        count_below: 0.95,
        list_below: 0.8,
    },
    LimitedRatio {
        name: "read back",
        ratio: |ratios| speed(ratios, |s| s.read_back),
        count_below: 0.95,
        list_below: 0.8,
    },
];

fn speed(ratios: &CellRatios, of: fn(&Speeds) -> f64) -> Option<f64> {
    ratios.speeds.as_ref().map(of)
}

/// The ratios of all cells that were measured.
#[derive(Default)]
pub struct Report {
    cells: Vec<(&'static str, String, CellRatios)>,
}

impl Report {
    pub fn add(&mut self, cell: &Cell, ratios: CellRatios) {
        self.cells.push((cell.codec, cell.to_string(), ratios));
    }

    /// Returns a table of means, worst cells and shares, a row for each codec and ratio.
    pub fn tables(&self, with_speeds: bool) -> String {
        let mut text = String::from(
            "| ratio | codec | cells | mean | worst | share of the cells | cells above 1 KiB over 3 % longer |\n|---|---|--:|--:|--:|--:|--:|\n",
        );
        for limited in LIMITED_RATIOS.iter().take(if with_speeds { LIMITED_RATIOS.len() } else { 1 }) {
            for codec in CODECS.iter().map(|codec| codec.1).chain(["all"]) {
                let rows: Vec<(f64, &CellRatios)> = self
                    .cells
                    .iter()
                    .filter(|cell| codec == "all" || cell.0 == codec)
                    .filter_map(|cell| Some(((limited.ratio)(&cell.2)?, &cell.2)))
                    .collect();
                if rows.is_empty() {
                    continue;
                }
                let n = rows.len() as f64;
                let mean = (rows.iter().map(|row| row.0.ln()).sum::<f64>() / n).exp();
                let worst = rows.iter().map(|row| row.0).fold(f64::INFINITY, f64::min);
                let counted = rows.iter().filter(|row| row.0 < limited.count_below).count();
                let long = rows.iter().filter(|row| limited.name == "size" && is_far_longer(row.1)).count();
                text += &format!(
                    "| {} | {codec} | {} | {mean:.3} | {worst:.3} | {:.2} % below {:.2} | {long} |\n",
                    limited.name,
                    rows.len(),
                    100.0 * counted as f64 / n,
                    limited.count_below,
                );
            }
        }
        text
    }

    /// Returns a line for each of the `most` worst cells beyond each limit, worst first.
    pub fn outliers(&self, most: usize, with_speeds: bool) -> String {
        let mut text = String::new();
        for limited in LIMITED_RATIOS.iter().take(if with_speeds { LIMITED_RATIOS.len() } else { 1 }) {
            let mut bad: Vec<(f64, String)> = self
                .cells
                .iter()
                .filter_map(|(_, cell, ratios)| {
                    let ratio = (limited.ratio)(ratios)?;
                    (ratio < limited.list_below).then(|| (ratio, format!("{cell}: {ratios}")))
                })
                .collect();
            bad.sort_by(|a, b| a.0.total_cmp(&b.0));
            text += &format!("{} below {:.2}: {} cells\n", limited.name, limited.list_below, bad.len());
            bad.iter().take(most).for_each(|(_, line)| text += &format!("  {line}\n"));
        }
        text
    }
}

/// Returns whether a chunk of more than [`SHORT_CHUNK_LEN`] bytes is more than 3 % longer than the reference's.
fn is_far_longer(ratios: &CellRatios) -> bool {
    ratios.size < 1.0 / 1.03 && ratios.cbytes > SHORT_CHUNK_LEN
}
