//! The lines of the summary: mean and worst cell of a part of a group. [`crate::table`] and [`crate::chart`] format
//! them.

/// A mean and the worst cell, the one with the lowest ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanAndWorst {
    /// The geometric mean.
    pub mean: f64,
    pub worst: f64,
    /// The name of the worst cell.
    pub worst_cell: String,
}

impl MeanAndWorst {
    /// Returns the mean and the worst cell of named ratios; `None` if there are none.
    pub fn from_cells<'a>(cells: impl Iterator<Item = (&'a str, f64)> + Clone) -> Option<MeanAndWorst> {
        let (at, worst) = cells.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(MeanAndWorst {
            mean: geometric_mean(cells.map(|cell| cell.1)),
            worst,
            worst_cell: at.to_string(),
        })
    }
}

/// One line of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryLine {
    pub group: &'static str,
    /// The column and the part of the group, for example `compress, lz4`.
    pub label: String,
    pub cells: usize,
    pub speed: MeanAndWorst,
    /// The size ratio of compression: above 1, our chunks are smaller. `None` in other lines.
    pub size: Option<MeanAndWorst>,
}

/// Returns the geometric mean, 1 if there are no ratios.
pub fn geometric_mean(ratios: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = ratios.clone().count().max(1);
    (ratios.map(f64::ln).sum::<f64>() / count as f64).exp()
}
