//! The chart as SVG.

use super::measure::Row;
use super::report::Report;
use super::scales::{RATIO_AXIS, SPEED_AXIS, Scales};
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
/// Width of a character in pixels, at most on average.
const CHARACTER_WIDTH: f64 = 6.5;
/// Distance of the edges of a marker from its middle, at most, in pixels.
const MARKER_RADIUS: f64 = 6.0;
const RING_RADIUS: f64 = 9.0;
/// Colours with a contrast of at least 3 on white and on the dark background, also for colour-blind readers.
const COLOURS: [(Codec, &str); 5] = [
    (Codec::BloscLz, "#0a7fc2"),
    (Codec::Lz4, "#d9600b"),
    (Codec::Lz4Hc, "#0f9a70"),
    (Codec::Zlib, "#c2639b"),
    (Codec::Zstd, "#8a7ae0"),
];
const STYLE: &str = "text{font:12px sans-serif;fill:#222}.title{font-size:15px}.back{fill:#fff}\
    .grid{stroke:#ddd}.axis,.ring,.leader{stroke:#222;fill:none}.label{paint-order:stroke;stroke:#fff;stroke-width:3px}\
    @media(prefers-color-scheme:dark){text{fill:#eee}.back{fill:#1c1c1e}.grid{stroke:#444}.axis,.ring,.leader{stroke:#eee}.label{stroke:#1c1c1e}}";

/// Returns the chart.
pub(super) fn svg(report: &Report) -> String {
    let scales = Scales::new(&report.rows);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"30\">Ratio and speed: {}</text>\n",
        escape(&report.file)
    );
    draw_axes(&scales, &mut out);
    for row in &report.rows {
        let (x, y) = point(&scales, row);
        let title = format!(
            "{}: ratio {:.2}, decompress {:.0} MB/s, compress {:.0} MB/s",
            row.cell,
            row.ratio(),
            row.read_speed(),
            row.write_speed()
        );
        add(&mut out, &format!("<g><title>{}</title>{}</g>", escape(&title), marker(row.cell.codec, x, y)));
    }
    draw_labels(report, &scales, &mut out);
    draw_legend(report, &mut out);
    out.push_str("</svg>\n");
    out
}

fn add(out: &mut String, element: &str) {
    out.push_str(element);
    out.push('\n');
}

fn x_of(place: f64) -> f64 {
    LEFT + place * (RIGHT - LEFT)
}

fn y_of(place: f64) -> f64 {
    BOTTOM - place * (BOTTOM - TOP)
}

fn point(scales: &Scales, row: &Row) -> (f64, f64) {
    let (x, y) = scales.place(row);
    (x_of(x), y_of(y))
}

/// Draws the grid, the numbers and the names of the axes.
fn draw_axes(scales: &Scales, out: &mut String) {
    for (place, label) in scales.speed_ticks() {
        let (x, y) = (x_of(place), BOTTOM + 20.0);
        add(out, &format!("<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>"));
        add(out, &format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"));
    }
    for (place, label) in scales.ratio_ticks() {
        let y = y_of(place);
        add(out, &format!("<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>"));
        let (x, y) = (LEFT - 8.0, y + 4.0);
        add(out, &format!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>"));
    }
    add(out, &format!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>"));
    let (x, y) = ((LEFT + RIGHT) / 2.0, BOTTOM + 48.0);
    add(out, &format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{SPEED_AXIS}</text>"));
    let y = (TOP + BOTTOM) / 2.0;
    let turned = format!("transform=\"translate(24 {y}) rotate(-90)\"");
    add(out, &format!("<text {turned} text-anchor=\"middle\">{RATIO_AXIS}</text>"));
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

/// A rectangle in pixels, with its left, upper, right and lower edge.
#[derive(Clone, Copy)]
struct Area([f64; 4]);

impl Area {
    fn overlaps(self, other: Area) -> bool {
        let (Area([left, top, right, bottom]), Area(other)) = (self, other);
        left < other[2] && other[0] < right && top < other[3] && other[1] < bottom
    }

    fn is_inside(self, outer: Area) -> bool {
        let (Area([left, top, right, bottom]), Area(outer)) = (self, outer);
        left >= outer[0] && top >= outer[1] && right <= outer[2] && bottom <= outer[3]
    }
}

/// Draws rings around the recommended rows, and their names near them, where no point and no other name is.
fn draw_labels(report: &Report, scales: &Scales, out: &mut String) {
    let around = |(x, y): (f64, f64), r: f64| Area([x - r, y - r, x + r, y + r]);
    let mut taken: Vec<Area> =
        report.rows.iter().map(|row| around(point(scales, row), MARKER_RADIUS)).collect();
    for (number, row) in report.rows.iter().enumerate() {
        let marks = report.marks(number);
        if marks.is_empty() {
            continue;
        }
        let (x, y) = point(scales, row);
        add(out, &format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RING_RADIUS}\"/>"));
        let area = free_area((x, y), marks.len() as f64 * CHARACTER_WIDTH, &taken);
        taken.push(area);
        let Area([left, top, right, bottom]) = area;
        // The end of the name that is nearest to the point.
        let (end_x, end_y) = (x.clamp(left, right), y.clamp(top, bottom));
        if (end_x - x).hypot(end_y - y) > 2.0 * RING_RADIUS {
            add(out, &format!("<path class=\"leader\" d=\"M{x:.1} {y:.1}L{end_x:.1} {end_y:.1}\"/>"));
        }
        let text_y = bottom - 4.0;
        add(out, &format!("<text class=\"label\" x=\"{left:.1}\" y=\"{text_y:.1}\">{marks}</text>"));
    }
}

/// Returns the place of a text of `width` pixels near a point, outside the areas that are taken if there is such a place.
fn free_area((x, y): (f64, f64), width: f64, taken: &[Area]) -> Area {
    let plot = Area([LEFT, TOP - LINE_HEIGHT, WIDTH, BOTTOM]);
    let at = |dx: f64, dy: f64| {
        let left = if dx > 0.0 { x + dx } else { x + dx - width };
        Area([left, y + dy - LINE_HEIGHT / 2.0, left + width, y + dy + LINE_HEIGHT / 2.0])
    };
    let near = RING_RADIUS + 3.0;
    let distances = (0..).map(|n| f64::from(n) * LINE_HEIGHT / 2.0).take_while(|&dy| dy < BOTTOM - TOP);
    let mut places = distances.flat_map(|dy| [at(near, dy), at(-near, dy), at(near, -dy), at(-near, -dy)]);
    let is_free = |area: &Area| area.is_inside(plot) && !taken.iter().any(|other| area.overlaps(*other));
    places.find(is_free).unwrap_or_else(|| at(near, 0.0))
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
    fn a_name_has_a_place_that_is_free() {
        let point = Area([94.0, 94.0, 106.0, 106.0]);
        let beside = free_area((100.0, 100.0), 50.0, &[point]);
        assert!(!beside.overlaps(point));
        let more = [point, beside, Area([60.0, 90.0, 90.0, 110.0])];
        let other = free_area((100.0, 100.0), 50.0, &more);
        assert!(more.iter().all(|area| !other.overlaps(*area)));
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;?");
    }
}
