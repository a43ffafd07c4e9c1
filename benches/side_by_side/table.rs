//! The summary as a Markdown table.

use super::summary::{Figure, Line};

const HEAD: &str = "\
| group | what | cells | speed, mean | worst | at | size, mean | worst | at |
|---|---|--:|--:|--:|---|--:|--:|---|
";

/// Returns the table: a row for each line of the summary.
pub fn markdown(lines: &[Line]) -> String {
    let mut text = HEAD.to_string();
    for line in lines {
        let size = line.size.as_ref().map_or(" | | ".to_string(), figure);
        let Line { group, label, cells, speed, .. } = line;
        text.push_str(&format!("| {group} | {} | {cells} | {} | {size} |\n", escaped(label), figure(speed)));
    }
    text
}

fn figure(figure: &Figure) -> String {
    // Ratios near 1 get three digits: sizes often differ in the third.
    let digits = |ratio: f64| if (0.95..1.05).contains(&ratio) { 3 } else { 2 };
    let (mean, worst) = (figure.mean, figure.worst);
    format!("{mean:.0$} | {worst:.1$} | {at}", digits(mean), digits(worst), at = escaped(&figure.at))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
