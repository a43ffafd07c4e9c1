//! Charts of ratio against speed, one for each tradeoff: the fixed combinations, and what the tuner chose.

use std::collections::BTreeMap;
use std::path::Path;

use blosc2::internals::auto_tuner::{MODEL, Settings, SpeedMode};
use plotters::prelude::*;

use crate::check::{MeasuredSet, best_of, choice_of};
use crate::table::{Cost, Setting};

/// Size in pixels.
const SIZE: (u32, u32) = (760, 460);
const TUNER: RGBColor = RGBColor(0xc9, 0x2a, 0x2a);
const FIXED: RGBColor = RGBColor(0x2f, 0x81, 0xc7);

/// Mean of logarithms over chunks: the geometric mean of ratio and speed.
#[derive(Clone, Copy, Default)]
struct Mean {
    size: f64,
    time: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, cost: &Cost) {
        self.size += cost.size;
        self.time += (cost.compress_time + cost.decompress_time) / 2.0;
        self.count += 1.0;
    }

    /// Returns the speed in MB/s and the ratio.
    fn point(&self) -> (f64, f64) {
        (1000.0 * (-self.time / self.count).exp(), (-self.size / self.count).exp())
    }
}

/// Writes `tuner-TRADEOFF.svg` to a directory for the tradeoffs 0, 0.5 and 1, with both speeds (`SpeedMode::Balanced`).
pub fn run(sets: &mut [MeasuredSet], directory: &Path) {
    let mut fixed: BTreeMap<Setting, Mean> = BTreeMap::new();
    for (&setting, cost) in sets.iter().flat_map(|set| &set.costs) {
        fixed.entry(setting).or_default().add(cost);
    }
    // Delta is measured only for some chunks.
    fixed.retain(|_, mean| mean.count == sets.len() as f64);
    for tradeoff in [0.0, 0.5, 1.0] {
        let settings = Settings::new(tradeoff, SpeedMode::Balanced).expect("a tradeoff");
        let (mut chosen, mut best, mut defaults) = (Mean::default(), Mean::default(), Mean::default());
        let mut counts: BTreeMap<Setting, usize> = BTreeMap::new();
        for set in &mut *sets {
            let setting = choice_of(&MODEL)(set, &settings);
            *counts.entry(setting).or_default() += 1;
            chosen.add(&set.costs[&setting]);
            best.add(&set.costs[best_of(&set.costs, &settings).0]);
            defaults.add(set.default_cost());
        }
        let circles: Vec<((f64, f64), usize)> = fixed
            .iter()
            .map(|(setting, mean)| (mean.point(), counts.get(setting).copied().unwrap_or_default()))
            .collect();
        let marks = [("tuner", chosen), ("best of each", best), ("defaults", defaults)]
            .map(|(name, mean)| (name, mean.point()));
        let path = directory.join(format!("tuner-{tradeoff}.svg"));
        draw(&path, tradeoff, sets.len(), &circles, &marks)
            .unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }
}

/// Draws fixed combinations as circles, whose area is the share of chunks for which they were chosen, and named points.
fn draw(
    path: &Path,
    tradeoff: f64,
    nchunks: usize,
    circles: &[((f64, f64), usize)],
    marks: &[(&'static str, (f64, f64)); 3],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || circles.iter().map(|circle| circle.0).chain(marks.iter().map(|mark| mark.1));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) =
            values.fold((f64::MAX, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
        (least / 1.2..most * 1.6).log_scale().base(2.0)
    };
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("Tradeoff {tradeoff}: geometric means over {nchunks} chunks"), ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(
            range(&mut points().map(|point| point.0)),
            range(&mut points().map(|point| point.1)),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("speed of one thread, compression and decompression, MB/s")
        .y_desc("ratio")
        .x_label_formatter(&|speed| format!("{speed:.0}"))
        .y_label_formatter(&|ratio| format!("{ratio}"))
        .draw()?;
    chart.draw_series(circles.iter().map(|&(point, count)| {
        let radius = 2.0 + 24.0 * (count as f64 / nchunks as f64).sqrt();
        let style = if count > 0 { TUNER.mix(0.25).filled() } else { FIXED.mix(0.6).filled() };
        Circle::new(point, radius as i32, style)
    }))?;
    for (n, &(name, point)) in marks.iter().enumerate() {
        let color = if n == 0 { TUNER } else { BLACK };
        chart.draw_series([Cross::new(point, 6, color.stroke_width(2))])?;
        let style = TextStyle::from(("sans-serif", 13)).color(&color);
        // Below, above and beside the mark: the first two are often near each other.
        let label_y = [9, -15, -6][n];
        chart.draw_series([EmptyElement::at(point) + Text::new(name, (9, label_y), style)])?;
    }
    area.present()?;
    Ok(())
}
