//! Statistics of items.

use super::number::Number;
use super::style::Style;
use super::types::{Dtype, ScalarType};
use super::{scalar::Scalar, text::ItemText};
use crate::sparse::is_zero;
use serde::Serialize;
use std::cmp::Ordering;

/// The statistics of the items that were added.
pub(crate) struct Stats {
    /// The type, if items are numbers or times.
    scalar: Option<Scalar>,
    text: ItemText,
    size: usize,
    count: u64,
    zeros: u64,
    nans: u64,
    /// The sum of the numbers; of both parts of complex ones.
    sum: [f64; 2],
    least: Option<(Number, Vec<u8>)>,
    most: Option<(Number, Vec<u8>)>,
}

/// The results. In JSON: these keys; values that do not exist are null.
#[derive(Serialize)]
pub(crate) struct StatsReport {
    /// The least item; null for other items than real numbers and times.
    pub min: Option<serde_json::Value>,
    /// The greatest item.
    pub max: Option<serde_json::Value>,
    /// The mean of real numbers without NaN.
    pub mean: Option<f64>,
    /// Number of items that are 0; of other types than numbers, of those whose bytes are 0.
    pub zeros: u64,
    /// Number of items that are NaN or NaT.
    pub nans: u64,
}

impl Stats {
    /// Returns the statistics of no items, of `size` bytes and of that type, if it is known.
    pub(crate) fn new(dtype: Option<Dtype>, size: usize) -> Stats {
        let scalar = match &dtype {
            Some(Dtype::Scalar(ScalarType(scalar))) if scalar.has_order() => Some(scalar.clone()),
            _ => None,
        };
        let text = ItemText::new(dtype, Style::Json);
        Stats { scalar, text, size, count: 0, zeros: 0, nans: 0, sum: [0.0; 2], least: None, most: None }
    }

    /// Adds whole items.
    pub(crate) fn add(&mut self, items: &[u8]) {
        let items = items.chunks_exact(self.size);
        let Some(scalar) = self.scalar.take() else {
            self.zeros += items.filter(|item| is_zero(item)).count() as u64;
            return;
        };
        for item in items {
            let value = scalar.ordered_value(item).filter(|value| !value.is_nan());
            let Some(value) = value else {
                self.nans += 1;
                continue;
            };
            let parts = value.parts();
            self.count += 1;
            self.zeros += u64::from(parts == [0.0; 2]);
            self.sum[0] += parts[0];
            self.sum[1] += parts[1];
            for (best, order) in [(&mut self.least, Ordering::Less), (&mut self.most, Ordering::Greater)] {
                match best {
                    Some((found, _)) if value.order(*found) != Some(order) => {}
                    Some((found, bytes)) => {
                        *found = value;
                        bytes.copy_from_slice(item);
                    }
                    None => *best = Some((value, item.to_vec())),
                }
            }
        }
        self.scalar = Some(scalar);
    }

    /// Returns the results.
    pub(crate) fn report(&self) -> StatsReport {
        let scalar = self.scalar.as_ref();
        let is_real = scalar.is_some_and(|scalar| !scalar.is_complex());
        let value = |best: &Option<(Number, Vec<u8>)>| {
            let (_, item) = best.as_ref().filter(|_| is_real)?;
            let mut text = String::new();
            self.text.push(item, &mut text);
            serde_json::from_str(&text).ok()
        };
        let has_mean = is_real && scalar.is_some_and(Scalar::is_number) && self.count > 0;
        StatsReport {
            min: value(&self.least),
            max: value(&self.most),
            mean: has_mean.then(|| self.sum[0] / self.count as f64),
            zeros: self.zeros,
            nans: self.nans,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(dtype: &str, items: &[u8]) -> serde_json::Value {
        let dtype: Dtype = dtype.parse().unwrap();
        let size = dtype.size();
        let mut stats = Stats::new(Some(dtype), size);
        items.chunks(2 * size).for_each(|piece| stats.add(piece));
        serde_json::to_value(stats.report()).unwrap()
    }

    #[test]
    fn numbers_and_times_have_a_least_and_a_greatest() {
        let floats: Vec<u8> =
            [1.5f32, f32::NAN, -0.0, -4.5, f32::INFINITY, 0.0].iter().flat_map(|n| n.to_be_bytes()).collect();
        let found = report(">f4", &floats[..16]);
        assert_eq!(found, json!({"min": -4.5, "max": 1.5, "mean": -1.0, "zeros": 1, "nans": 1}));
        let found = report(">f4", &floats);
        assert_eq!((&found["max"], &found["zeros"]), (&json!("inf"), &json!(2)));
        let ints: Vec<u8> = [i64::MAX, i64::MAX - 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(report("<i8", &ints)["min"], json!(i64::MAX - 1));
        let times: Vec<u8> = [1, i64::MIN, 0].iter().flat_map(|n: &i64| n.to_le_bytes()).collect();
        let expected = json!({"min": "1970-01-01", "max": "1970-01-02", "mean": null, "zeros": 1, "nans": 1});
        assert_eq!(report("<M8[D]", &times), expected);
    }

    #[test]
    fn other_items_are_counted() {
        let none = |zeros| json!({"min": null, "max": null, "mean": null, "zeros": zeros, "nans": 0});
        assert_eq!(report("S2", b"ab\0\0\0x"), none(1));
        assert_eq!(report("[('a', 'i1'), ('b', 'i1')]", &[0, 0, 0, 1]), none(1));
        assert_eq!(report("<c8", &[0; 16]), none(2));
        assert_eq!(report("<f4", &[]), none(0));
    }
}
