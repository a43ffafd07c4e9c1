//! The scales of the charts: the ratio, and the speed of decompression on a logarithmic scale, over the range of the rows.

use super::measure::Row;

/// The names of the axes.
pub(super) const SPEED_AXIS: &str = "decompression speed (MB of content per second, logarithmic)";
pub(super) const RATIO_AXIS: &str = "ratio (content / compressed)";

/// The scales. A place is between 0 and 1.
pub(super) struct Scales {
    /// The ends of the axis of speeds, as logarithms.
    log_speeds: (f64, f64),
    ratios: (f64, f64),
    ratio_step: f64,
}

impl Scales {
    /// Returns the scales for rows, of which there is at least one.
    pub(super) fn new(rows: &[Row]) -> Scales {
        let ends = |value: fn(&Row) -> f64| {
            let values = rows.iter().map(value);
            values.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
                (least.min(value), most.max(value))
            })
        };
        let (slowest, fastest) = ends(Row::read_speed);
        let (least, most) = ends(Row::ratio);
        let ratio_step = nice_step((most - least).max(most / 10.0));
        let down = ((least - ratio_step / 4.0) / ratio_step).floor() * ratio_step;
        let up = ((most + ratio_step / 4.0) / ratio_step).ceil() * ratio_step;
        Scales {
            log_speeds: ((slowest / 1.2).log10(), (fastest * 1.2).log10()),
            ratios: (down.max(0.0), up),
            ratio_step,
        }
    }

    /// Returns the horizontal and the vertical place of a row.
    pub(super) fn place(&self, row: &Row) -> (f64, f64) {
        (place_in(self.log_speeds, row.read_speed().log10()), place_in(self.ratios, row.ratio()))
    }

    /// Returns the places and the labels of the numbers on the axis of speeds.
    pub(super) fn speed_ticks(&self) -> Vec<(f64, String)> {
        let tick = |speed: f64| (place_in(self.log_speeds, speed.log10()), format_number(speed));
        speed_ticks(self.log_speeds).into_iter().map(tick).collect()
    }

    /// Returns the places and the labels of the numbers on the axis of ratios.
    pub(super) fn ratio_ticks(&self) -> Vec<(f64, String)> {
        let (least, most) = self.ratios;
        let count = ((most - least) / self.ratio_step).round() as u32;
        let ratios = (0..=count).map(|n| least + f64::from(n) * self.ratio_step);
        ratios.map(|ratio| (place_in(self.ratios, ratio), format_number(ratio))).collect()
    }
}

fn place_in((least, most): (f64, f64), value: f64) -> f64 {
    (value - least) / (most - least)
}

/// Returns the distance of at most 8 numbers over a range: 1, 2 or 5 times a power of 10.
fn nice_step(range: f64) -> f64 {
    let power = power_of_10((range / 8.0).log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power);
    steps.into_iter().find(|step| range / step <= 8.0).unwrap_or(range)
}

/// Returns 1, 2 and 5 times the powers of 10 between the ends of a logarithmic axis; of a long one, the powers only.
fn speed_ticks((least, most): (f64, f64)) -> Vec<f64> {
    let factors: &[f64] = if most - least > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = least.floor() as i32..=most.ceil() as i32;
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * power_of_10(power)));
    ticks.filter(|tick| (least..=most).contains(&tick.log10())).collect()
}

/// Returns the number that is nearest to a power of 10; the result of `powi` depends on the C library.
fn power_of_10(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(1.0)
}

/// Returns a number of an axis without needless digits.
fn format_number(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
}
