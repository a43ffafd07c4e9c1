//! Lines of a summary: the mean and the worst cell of a part of a group. Owns what a line says; [`crate::table`] and
//! [`crate::chart`] make text of it.

/// A mean and the cell that is farthest below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The geometric mean.
    pub mean: f64,
    pub worst: f64,
    /// The name of the worst cell.
    pub at: String,
}

impl Figure {
    /// Of named ratios; `None` without any.
    pub fn of<'a>(cells: impl Iterator<Item = (&'a str, f64)> + Clone) -> Option<Figure> {
        let (at, worst) = cells.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Figure { mean: geometric_mean(cells.map(|cell| cell.1)), worst, at: at.to_string() })
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub group: &'static str,
    /// What was measured: `compress, lz4`.
    pub label: String,
    pub cells: usize,
    pub speed: Figure,
    /// Of compression: how many times as small.
    pub size: Option<Figure>,
}

/// The geometric mean; of nothing, 1.
pub fn geometric_mean(ratios: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = ratios.clone().count().max(1);
    (ratios.map(f64::ln).sum::<f64>() / count as f64).exp()
}
