//! The summary as a Markdown table.

use super::summary::{MeanAndWorst, SummaryLine};

const TABLE_HEADER: &str = "\
| group | what | cells | speed, mean | worst | at | size, mean | worst | at |
|---|---|--:|--:|--:|---|--:|--:|---|
";

/// Returns the table: a row for each line of the summary.
pub fn markdown(lines: &[SummaryLine]) -> String {
    let mut text = TABLE_HEADER.to_string();
    for line in lines {
        let size = line.size.as_ref().map_or(" | | ".to_string(), format_figure);
        let SummaryLine { group, label, cells, speed, .. } = line;
        text.push_str(&format!(
            "| {group} | {} | {cells} | {} | {size} |\n",
            escape_markdown(label),
            format_figure(speed)
        ));
    }
    text
}

fn format_figure(figure: &MeanAndWorst) -> String {
    // Ratios near 1 get three digits: sizes often differ in the third.
    let digits = |ratio: f64| if (0.95..1.05).contains(&ratio) { 3 } else { 2 };
    let (mean, worst) = (figure.mean, figure.worst);
    format!(
        "{mean:.0$} | {worst:.1$} | {at}",
        digits(mean),
        digits(worst),
        at = escape_markdown(&figure.worst_cell)
    )
}

fn escape_markdown(text: &str) -> String {
    text.replace('|', "\\|")
}
