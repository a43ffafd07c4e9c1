//! Tests of the output of `benches/side_by_side`, since a benchmark cannot contain tests.

#[path = "../../benches/side_by_side/chart.rs"]
mod chart;
#[path = "../../benches/side_by_side/summary.rs"]
mod summary;
#[path = "../../benches/side_by_side/table.rs"]
mod table;

use summary::{MeanAndWorst, SummaryLine, geometric_mean};

fn line(group: &'static str, label: &str, ratios: &[(&str, f64)], size: Option<f64>) -> SummaryLine {
    SummaryLine {
        group,
        label: label.to_string(),
        cells: ratios.len(),
        speed: MeanAndWorst::from_cells(ratios.iter().copied()).expect("a figure"),
        size: size.map(|ratio| MeanAndWorst { mean: ratio, worst: ratio, worst_cell: "s|1".to_string() }),
    }
}

#[test]
fn a_figure_is_the_geometric_mean_and_the_worst_cell() {
    let figure =
        MeanAndWorst::from_cells([("a", 4.0), ("b", 0.5), ("c", 4.0)].into_iter()).expect("a figure");
    assert!((figure.mean - 2.0).abs() < 1e-12, "{figure:?}");
    assert_eq!((figure.worst, figure.worst_cell.as_str()), (0.5, "b"));
    assert_eq!(MeanAndWorst::from_cells(std::iter::empty()), None);
    assert_eq!(geometric_mean(std::iter::empty()), 1.0);
}

#[test]
fn table_has_one_row_per_line() {
    let lines = [
        line("chunks", "compress, all", &[("lz4 5", 2.0), ("zlib 1", 0.996)], Some(1.004)),
        line("arrays", "all", &[("get", 3.0)], None),
    ];
    let table = table::markdown(&lines);
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(
        rows,
        [
            "| chunks | compress, all | 2 | 1.41 | 0.996 | zlib 1 | 1.004 | 1.004 | s\\|1 |",
            "| arrays | all | 1 | 3.00 | 3.00 | get |  | |  |",
        ]
    );
    // As many cells in each row as in the header.
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(table.lines().all(|row| bars(row) == 10), "{table}");
}

/// Returns the values of `name="…"` in the elements that begin with `start`.
fn attribute_values(svg: &str, start: &str, name: &str) -> Vec<f64> {
    svg.split(start)
        .skip(1)
        .map(|rest| {
            let (_, value) = rest.split_once(&format!(" {name}=\"")).expect("an attribute");
            value.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
        })
        .collect()
}

#[test]
fn chart_bars_extend_from_one_to_the_mean_ratio() {
    let lines = [
        line("chunks", "a < b & c", &[("x", 4.0)], None),
        line("chunks", "twice", &[("x", 2.0)], None),
        line("arrays", "half", &[("x", 0.5)], None),
        line("arrays", "beyond", &[("x", 1e6), ("y", 1e-6)], None),
    ];
    let svg = chart::svg(&lines);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("chunks: a &lt; b &amp; c"), "{svg}");
    for foreign in ["<script", "href", "url(", "@import", "NaN", "inf"] {
        assert!(!svg.contains(foreign), "{foreign} in {svg}");
    }
    let faster = attribute_values(&svg, "<rect class=\"b\"", "width");
    let slower = attribute_values(&svg, "<rect class=\"l\"", "width");
    assert_eq!((faster.len(), slower.len()), (3, 1), "{svg}");
    // On a logarithmic scale 4 is twice as far from 1 as 2, and as far as 1/4.
    assert!((faster[0] - 2.0 * faster[1]).abs() < 0.2 && (faster[1] - slower[0]).abs() < 0.2, "{svg}");
    let (one, half) = (
        attribute_values(&svg, "<rect class=\"b\"", "x")[0],
        attribute_values(&svg, "<rect class=\"l\"", "x")[0],
    );
    assert!((one - half - slower[0]).abs() < 0.2, "{svg}");
}

#[test]
fn chart_without_lines_has_an_axis() {
    assert!(chart::svg(&[]).contains("1×"));
}
