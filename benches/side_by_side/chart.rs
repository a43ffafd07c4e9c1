//! The summary as a bar chart in SVG. The file is self-contained (no fonts, scripts or other files) and has a
//! background, so that it looks the same on light and dark pages.

use super::summary::SummaryLine;

const WIDTH: f64 = 860.0;
/// Left and right end of the bars, in pixels.
const LEFT: f64 = 340.0;
const RIGHT: f64 = WIDTH - 60.0;
const TOP: f64 = 64.0;
const ROW: f64 = 20.0;
const BAR: f64 = 12.0;
/// Space between two groups, in pixels.
const GAP: f64 = 10.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#24292f}.t{font-weight:bold;font-size:14px}.s{fill:#57606a;font-size:11px}\
.e{text-anchor:end}.m{text-anchor:middle}.b{fill:#2f81c7}.l{fill:#c96a1b}.w{stroke:#24292f;stroke-width:1.5}\
.g{stroke:#d8dee4}.o{stroke:#c0392b;stroke-width:1.5}";

/// Returns the chart: one bar per line. The bar ends at the mean, its whisker at the worst cell.
pub fn svg(lines: &[SummaryLine]) -> String {
    let scale = Scale::from_lines(lines);
    let breaks = lines.windows(2).filter(|pair| pair[0].group != pair[1].group).count();
    let bottom = TOP + ROW * lines.len() as f64 + GAP * breaks as f64;
    let height = bottom + 16.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\">\n<title>Speed relative to C-Blosc2</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"#ffffff\"/>\n\
         <text class=\"t\" x=\"16\" y=\"24\">Speed relative to C-Blosc2</text>\n\
         <text class=\"s\" x=\"16\" y=\"42\">bar: geometric mean · tick: worst cell · logarithmic</text>\n"
    );
    for value in scale.grid_values() {
        let (x, class) = (scale.x(value), if value == 1.0 { "o" } else { "g" });
        out.push_str(&format!(
            "<path class=\"{class}\" d=\"M{x:.1} {:.1}V{bottom:.1}\"/>\n\
             <text class=\"s m\" x=\"{x:.1}\" y=\"{:.1}\">{value}×</text>\n",
            TOP - 6.0,
            TOP - 10.0,
        ));
    }
    let mut y = TOP;
    for (n, line) in lines.iter().enumerate() {
        if n > 0 && lines[n - 1].group != line.group {
            y += GAP;
        }
        out.push_str(&bar(line, &scale, y));
        y += ROW;
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the elements of one line: the bar from ratio 1 to the mean, the whisker and the texts.
fn bar(line: &SummaryLine, scale: &Scale, top: f64) -> String {
    let (one, mean, worst) = (scale.x(1.0), scale.x(line.speed.mean), scale.x(line.speed.worst));
    let middle = top + ROW / 2.0;
    let class = if line.speed.mean < 1.0 { "l" } else { "b" };
    format!(
        "<text class=\"e\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\"/>\
         <path class=\"w\" d=\"M{worst:.1} {middle:.1}H{mean:.1}M{worst:.1} {:.1}v8\"/>\
         <text class=\"s\" x=\"{:.1}\" y=\"{:.1}\">{:.2}</text>\n",
        LEFT - 8.0,
        middle + 4.0,
        escape_xml(&format!("{}: {}", line.group, line.label)),
        one.min(mean),
        middle - BAR / 2.0,
        (mean - one).abs(),
        middle - 4.0,
        mean.max(one) + 5.0,
        middle + 4.0,
        line.speed.mean,
    )
}

/// Maps a ratio to an x coordinate on a logarithmic scale: 2 and 1/2 have the same distance from 1. Both ends are
/// base-2 logarithms.
struct Scale {
    min_log2: f64,
    max_log2: f64,
}

impl Scale {
    /// Returns the scale that contains every line, at least 0.5 to 2.
    fn from_lines(lines: &[SummaryLine]) -> Scale {
        let (mut least, mut most) = (0.5f64, 2.0f64);
        for line in lines {
            // Ratios below 1/16 or above 1024 are drawn at the edge.
            least = least.min(line.speed.worst).max(1.0 / 16.0);
            most = most.max(line.speed.mean).max(line.speed.worst).min(1024.0);
        }
        Scale { min_log2: least.log2(), max_log2: most.log2() }
    }

    fn x(&self, ratio: f64) -> f64 {
        let part = (ratio.log2() - self.min_log2) / (self.max_log2 - self.min_log2);
        LEFT + part.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// Returns the powers of two on the scale.
    fn grid_values(&self) -> impl Iterator<Item = f64> {
        (self.min_log2.ceil() as i32..=self.max_log2.floor() as i32).map(|power| f64::from(power).exp2())
    }
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
