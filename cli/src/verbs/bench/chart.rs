//! The chart: ratio by speed of decompression, as SVG.

use super::measure::Row;
use super::report::Report;
use blosc2::Codec;

/// Size of the chart in pixels.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 560.0;
/// The edges of the plot in pixels.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 490.0;
/// Height of a line of text in pixels, for labels that must not overlap.
const LINE_HEIGHT: f64 = 15.0;
/// Width of a label in pixels, at most: of `fastest to write` and others.
const LABEL_WIDTH: f64 = 110.0;
/// Colours with a contrast of at least 3 on white and on the dark background, also for colour-blind readers.
const COLOURS: [(Codec, &str); 5] = [
    (Codec::BloscLz, "#0a7fc2"),
    (Codec::Lz4, "#d9600b"),
    (Codec::Lz4Hc, "#0f9a70"),
    (Codec::Zlib, "#c2639b"),
    (Codec::Zstd, "#8a7ae0"),
];
const STYLE: &str = "text{font:12px sans-serif;fill:#222}.title{font-size:15px}.back{fill:#fff}\
    .grid{stroke:#ddd}.axis,.ring{stroke:#222;fill:none}.label{paint-order:stroke;stroke:#fff;stroke-width:3px}\
    @media(prefers-color-scheme:dark){text{fill:#eee}.back{fill:#1c1c1e}.grid{stroke:#444}.axis,.ring{stroke:#eee}.label{stroke:#1c1c1e}}";

/// Returns the chart.
pub(super) fn svg(report: &Report) -> String {
    let axes = Axes::new(&report.rows);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"30\">Ratio and speed: {}</text>\n",
        escape(&report.file)
    );
    axes.draw(&mut out);
    for row in &report.rows {
        let (x, y) = axes.point(row);
        let title = format!(
            "{}: ratio {:.2}, decompress {:.0} MB/s, compress {:.0} MB/s",
            row.cell,
            row.ratio(),
            row.read_speed(),
            row.write_speed()
        );
        add(&mut out, &format!("<g><title>{}</title>{}</g>", escape(&title), marker(row.cell.codec, x, y)));
    }
    draw_labels(report, &axes, &mut out);
    draw_legend(report, &mut out);
    out.push_str("</svg>\n");
    out
}

fn add(out: &mut String, element: &str) {
    out.push_str(element);
    out.push('\n');
}

/// The scales of the chart.
struct Axes {
    /// The ends of the axis of speeds, as logarithms.
    log_speeds: (f64, f64),
    speeds: Vec<f64>,
    ratios: Vec<f64>,
}

impl Axes {
    fn new(rows: &[Row]) -> Axes {
        let least = rows.iter().map(Row::read_speed).fold(f64::INFINITY, f64::min);
        let most = rows.iter().map(Row::read_speed).fold(0.0, f64::max);
        let ratio = rows.iter().map(Row::ratio).fold(0.0, f64::max);
        let log_speeds = ((least / 1.2).log10(), (most * 1.2).log10());
        let step = nice_step(ratio * 1.05);
        let count = (ratio * 1.05 / step).ceil() as u32;
        let ratios = (0..=count).map(|n| f64::from(n) * step).collect();
        Axes { log_speeds, speeds: speed_ticks(log_speeds), ratios }
    }

    fn x(&self, speed: f64) -> f64 {
        let (least, most) = self.log_speeds;
        LEFT + (speed.log10() - least) / (most - least) * (RIGHT - LEFT)
    }

    fn y(&self, ratio: f64) -> f64 {
        let most = self.ratios.last().copied().unwrap_or(1.0);
        BOTTOM - ratio / most * (BOTTOM - TOP)
    }

    fn point(&self, row: &Row) -> (f64, f64) {
        (self.x(row.read_speed()), self.y(row.ratio()))
    }

    /// Draws the grid, the numbers and the names of the axes.
    fn draw(&self, out: &mut String) {
        for &speed in &self.speeds {
            let (x, label) = (self.x(speed), format_number(speed));
            add(out, &format!("<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>"));
            let y = BOTTOM + 20.0;
            add(out, &format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"));
        }
        for &ratio in &self.ratios {
            let (y, label) = (self.y(ratio), format_number(ratio));
            add(out, &format!("<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>"));
            let (x, y) = (LEFT - 8.0, y + 4.0);
            add(out, &format!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"));
        }
        add(out, &format!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>"));
        let (x, y) = ((LEFT + RIGHT) / 2.0, BOTTOM + 48.0);
        let name = "decompression speed (MB of content per second, logarithmic)";
        add(out, &format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{name}</text>"));
        let y = (TOP + BOTTOM) / 2.0;
        let name = "ratio (content / compressed)";
        add(
            out,
            &format!(
                "<text transform=\"translate(24 {y}) rotate(-90)\" text-anchor=\"middle\">{name}</text>"
            ),
        );
    }
}

/// Returns the distance of at most 8 numbers between 0 and `most`: 1, 2 or 5 times a power of 10.
fn nice_step(most: f64) -> f64 {
    let power = 10f64.powf((most / 8.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| most / step <= 8.0)
        .unwrap_or(most)
}

/// Returns 1, 2 and 5 times the powers of 10 between the ends of a logarithmic axis; of a long one, the powers only.
fn speed_ticks((least, most): (f64, f64)) -> Vec<f64> {
    let factors: &[f64] = if most - least > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = least.floor() as i32..=most.ceil() as i32;
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    ticks.filter(|tick| (least..=most).contains(&tick.log10())).collect()
}

/// Returns a number of an axis without needless digits.
fn format_number(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns the marker of a codec: colour and form differ.
fn marker(codec: Codec, x: f64, y: f64) -> String {
    let place = COLOURS.iter().position(|(known, _)| *known == codec);
    let colour = place.map_or("#888", |place| COLOURS[place].1);
    match place {
        Some(0) => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>"),
        Some(1) => {
            let (x, y) = (x - 4.0, y - 4.0);
            format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"8\" height=\"8\" fill=\"{colour}\"/>")
        }
        Some(2) => path(x, y, "m0 -5.5l5.5 9.5h-11z", colour),
        Some(3) => path(x, y, "m0 5.5l5.5 -9.5h-11z", colour),
        _ => path(x, y, "m0 -6l6 6l-6 6l-6 -6z", colour),
    }
}

fn path(x: f64, y: f64, form: &str, colour: &str) -> String {
    format!("<path d=\"M{x:.1} {y:.1}{form}\" fill=\"{colour}\"/>")
}

/// Draws rings around the recommended rows, and their names beside them; names that would overlap are moved down.
fn draw_labels(report: &Report, axes: &Axes, out: &mut String) {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (number, row) in report.rows.iter().enumerate() {
        let marks = report.marks(number);
        if marks.is_empty() {
            continue;
        }
        let (x, y) = axes.point(row);
        add(out, &format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>"));
        let is_right = x > (LEFT + RIGHT) / 2.0;
        let (label_x, anchor) = if is_right { (x - 13.0, "end") } else { (x + 13.0, "start") };
        let mut label_y = y + 4.0;
        let overlaps = |label_y: f64, taken: &[(f64, f64)]| {
            taken
                .iter()
                .any(|(x, y)| (x - label_x).abs() < 2.0 * LABEL_WIDTH && (y - label_y).abs() < LINE_HEIGHT)
        };
        while overlaps(label_y, &taken) {
            label_y += LINE_HEIGHT;
        }
        taken.push((label_x, label_y));
        add(
            out,
            &format!(
                "<text class=\"label\" x=\"{label_x:.1}\" y=\"{label_y:.1}\" text-anchor=\"{anchor}\">{marks}</text>"
            ),
        );
    }
}

/// Draws the codecs that were measured with their markers.
fn draw_legend(report: &Report, out: &mut String) {
    let mut y = TOP + 10.0;
    for (codec, _) in COLOURS {
        if report.rows.iter().any(|row| row.cell.codec == codec) {
            add(out, &marker(codec, RIGHT + 30.0, y));
            let (x, text_y) = (RIGHT + 44.0, y + 4.0);
            add(out, &format!("<text x=\"{x}\" y=\"{text_y}\">{codec}</text>"));
            y += 22.0;
        }
    }
    let x = RIGHT + 22.0;
    for line in ["One point for each level,", "filter and item size.", "Rings: recommended."] {
        y += LINE_HEIGHT + 2.0;
        add(out, &format!("<text x=\"{x}\" y=\"{y}\">{line}</text>"));
    }
}

/// Returns a text as it is written in XML, without characters that XML does not allow.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        assert_eq!(speed_ticks((1.9, 3.1)), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!((nice_step(7.0), nice_step(30.0), nice_step(0.5)), (1.0, 5.0, 0.1));
        assert_eq!((format_number(1000.0), format_number(0.5)), ("1000".to_owned(), "0.5".to_owned()));
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;?");
    }
}
