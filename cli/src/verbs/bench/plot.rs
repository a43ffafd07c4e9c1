//! The chart as text.

use super::report::Report;
use super::scales::{RATIO_AXIS, SPEED_AXIS, Scales};
use blosc2::Codec;

/// Number of lines of the plot.
const HEIGHT: usize = 16;
/// Width of the numbers of the axis of ratios, in characters.
const MARGIN: usize = 8;
/// The widths of the plot in characters.
const WIDTHS: std::ops::RangeInclusive<usize> = 32..=92;
/// The width of a terminal that does not tell it.
const DEFAULT_TERMINAL: usize = 80;
/// The marker of a codec without a letter.
const OTHER: char = 'o';
const LETTERS: [(Codec, char); 5] =
    [(Codec::BloscLz, 'b'), (Codec::Lz4, '4'), (Codec::Lz4Hc, 'h'), (Codec::Zlib, 'z'), (Codec::Zstd, 's')];

/// Returns the lines of the chart, as wide as the terminal.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let terminal = terminal_size::terminal_size().map_or(DEFAULT_TERMINAL, |(width, _)| usize::from(width.0));
    draw(report, terminal.saturating_sub(MARGIN + 4).clamp(*WIDTHS.start(), *WIDTHS.end()))
}

fn draw(report: &Report, width: usize) -> Vec<String> {
    let scales = Scales::new(&report.rows);
    let mut plot = vec![vec![' '; width]; HEIGHT];
    // The best rows last, so that they are on top.
    for row in report.rows.iter().rev() {
        let (x, y) = scales.place(row);
        let letter =
            LETTERS.iter().find(|(codec, _)| *codec == row.cell.codec).map_or(OTHER, |(_, letter)| *letter);
        plot[HEIGHT - 1 - nearest(y, HEIGHT)][nearest(x, width)] = letter;
    }
    let (x, y) = scales.place(&report.rows[0]);
    plot[HEIGHT - 1 - nearest(y, HEIGHT)][nearest(x, width)] = '*';

    let mut labels = vec![String::new(); HEIGHT];
    for (place, label) in scales.ratio_ticks() {
        labels[HEIGHT - 1 - nearest(place, HEIGHT)] = label;
    }
    let mut lines = vec![String::new(), format!("{:MARGIN$}  {RATIO_AXIS}", "")];
    for (label, cells) in labels.iter().zip(plot) {
        let cells: String = cells.into_iter().collect();
        lines.push(format!("{label:>MARGIN$} |{cells}").trim_end().to_owned());
    }
    lines.push(format!("{:MARGIN$} +{}", "", "-".repeat(width)));
    lines.push(numbers(&scales, width));
    lines.push(format!("{:MARGIN$}  {SPEED_AXIS}", ""));
    let used = LETTERS.iter().filter(|(codec, _)| report.rows.iter().any(|row| row.cell.codec == *codec));
    let legend: Vec<String> = used.map(|(codec, letter)| format!("{letter} {codec}")).collect();
    lines.push(format!("{:MARGIN$}  * first row, {}", "", legend.join(", ")));
    lines
}

/// Returns the line with the numbers of the axis of speeds, without those that have no place.
fn numbers(scales: &Scales, width: usize) -> String {
    let mut line = " ".repeat(MARGIN + 2);
    for (place, label) in scales.speed_ticks() {
        let start = (MARGIN + 2 + nearest(place, width)).saturating_sub(label.len() / 2);
        if start > line.len() || line.trim().is_empty() {
            line.truncate(start);
            line.push_str(&" ".repeat(start.saturating_sub(line.len())));
            line.push_str(&label);
        }
    }
    line
}

/// Returns the number of the cell of a place, of `count` cells.
fn nearest(place: f64, count: usize) -> usize {
    // A place is between 0 and 1.
    (place * (count - 1) as f64).round() as usize
}
