//! Parts of arrays as text, as in NumPy: a range or a number for each dimension, for example `0:100:2,...,3`.

use crate::error::Failure;
use std::ops::Range;

/// The selected positions of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    first: u64,
    /// The distance of two positions; 1 for fewer than two.
    step: i64,
    count: u64,
}

/// A part of an array.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// One for each dimension, inside the shape.
    axes: Vec<Axis>,
    /// The extents of the dimensions that were not selected by a single number.
    pub shape: Vec<u64>,
}

impl Selection {
    /// Returns the whole array of that shape.
    pub(crate) fn all(shape: &[u64]) -> Selection {
        let axes = shape.iter().map(|&extent| Axis { first: 0, step: 1, count: extent }).collect();
        Selection { axes, shape: shape.to_vec() }
    }

    /// Reads a part of an array of that shape: negative numbers count from the end, and ranges end at it; `...` and missing
    /// dimensions at the end are whole.
    pub(crate) fn parse(text: &str, shape: &[u64]) -> Result<Selection, Failure> {
        let mut parts: Vec<&str> =
            if text.trim().is_empty() { Vec::new() } else { text.split(',').collect() };
        if let Some(at) = parts.iter().position(|part| part.trim() == "...") {
            let missing = (shape.len() + 1).saturating_sub(parts.len());
            parts.splice(at..=at, std::iter::repeat_n(":", missing));
        }
        if parts.len() > shape.len() {
            return Err(Failure::usage(format!(
                "ranges {text:?}: {} dimensions, expected at most {}, of the shape {shape:?}",
                parts.len(),
                shape.len()
            )));
        }
        let mut selection = Selection { axes: Vec::new(), shape: Vec::new() };
        for (dim, &extent) in shape.iter().enumerate() {
            let part = parts.get(dim).map_or(":", |part| part.trim());
            let (axis, is_single) = parse_part(part, extent).map_err(|expected| {
                Failure::usage(format!("range {part:?} of dimension {dim}, expected {expected}"))
            })?;
            if !is_single {
                selection.shape.push(axis.count);
            }
            selection.axes.push(axis);
        }
        Ok(selection)
    }

    /// Returns the number of items.
    pub(crate) fn nitems(&self) -> u64 {
        // With an extent of 0, the product of the others may be of any size.
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// Returns one range for each dimension; `None` if positions between two selected ones are left out, or the order is
    /// reversed.
    pub(crate) fn ranges(&self) -> Option<Vec<Range<u64>>> {
        let range = |axis: &Axis| (axis.step == 1).then(|| axis.first..axis.first + axis.count);
        self.axes.iter().map(range).collect()
    }

    /// Returns the numbers of the selected positions of each dimension.
    pub(crate) fn counts(&self) -> Vec<Range<u64>> {
        self.axes.iter().map(|axis| 0..axis.count).collect()
    }

    /// Returns the positions with those numbers, of which `numbers` is called with their count for each dimension.
    pub(crate) fn positions_of(&self, numbers: impl Fn(u64) -> Vec<u64>) -> Vec<Vec<u64>> {
        let positions = |axis: &Axis| numbers(axis.count).into_iter().map(|n| axis.position(n)).collect();
        self.axes.iter().map(positions).collect()
    }

    /// Returns the positions of a box of [`counts`](Self::counts), for each dimension.
    pub(crate) fn positions(&self, current: &[Range<u64>]) -> Vec<Vec<u64>> {
        let axes = self.axes.iter().zip(current);
        axes.map(|(axis, range)| range.clone().map(|n| axis.position(n)).collect()).collect()
    }
}

impl Axis {
    /// Returns the selected position with number `n`, which is less than the count.
    fn position(&self, n: u64) -> u64 {
        self.first.wrapping_add_signed(self.step.wrapping_mul(n as i64))
    }
}

/// Returns the positions of one dimension, and whether they are a single number. An error states what was expected.
fn parse_part(part: &str, extent: u64) -> Result<(Axis, bool), String> {
    let number = |text: &str| -> Result<i128, String> {
        let number = text.trim().parse::<i64>().map_err(|_| "START:STOP:STEP or a number".to_owned())?;
        Ok(i128::from(number))
    };
    let extent_wide = i128::from(extent);
    // A negative number counts from the end.
    let from_start = |number: i128| if number < 0 { number + extent_wide } else { number };
    let fields: Vec<&str> = part.split(':').collect();
    let (start, stop, step) = match fields[..] {
        [single] => {
            let index = u64::try_from(from_start(number(single)?)).ok().filter(|&index| index < extent);
            return match index {
                Some(first) => Ok((Axis { first, step: 1, count: 1 }, true)),
                None if extent == 0 => Err("a range: the extent is 0".to_owned()),
                None => Err(format!("a number in 0 to {}, or from the end -{extent} to -1", extent - 1)),
            };
        }
        [start, stop] => (start, stop, ""),
        [start, stop, step] => (start, stop, step),
        _ => return Err("START:STOP:STEP or a number".to_owned()),
    };
    let step = if step.trim().is_empty() { 1 } else { number(step)? };
    if step == 0 {
        return Err("a step other than 0".to_owned());
    }
    // Between these, a range of that direction begins and ends.
    let (least, most) = if step > 0 { (0, extent_wide) } else { (-1, extent_wide - 1) };
    let bound = |text: &str, default: i128| -> Result<i128, String> {
        if text.trim().is_empty() { Ok(default) } else { Ok(from_start(number(text)?).clamp(least, most)) }
    };
    let (start, stop) = if step > 0 {
        (bound(start, least)?, bound(stop, most)?)
    } else {
        (bound(start, most)?, bound(stop, least)?)
    };
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    let is_step = count > 1;
    // All three are in the extent, or between the numbers of a step.
    let axis = Axis {
        first: u64::try_from(start).unwrap_or(0),
        step: if is_step { step as i64 } else { 1 },
        count: u64::try_from(count).unwrap_or(0),
    };
    Ok((axis, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_and_numbers_are_as_in_numpy() {
        type Case<'a> = (&'a str, [&'a [u64]; 3], &'a [u64]);
        let (ten, five, six) = (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4, 5]);
        let cases: [Case<'_>; 16] = [
            ("0:2,:,3", [&[0, 1], five, &[3]], &[2, 5]),
            ("-1", [&[9], five, six], &[5, 6]),
            ("-3:-1,2:,:-2", [&[7, 8], &[2, 3, 4], &[0, 1, 2, 3]], &[2, 3, 4]),
            ("", [ten, five, six], &[10, 5, 6]),
            (":", [ten, five, six], &[10, 5, 6]),
            (" 1 : 2 , 0 ", [&[1], &[0], six], &[1, 6]),
            ("4:4,5:", [&[], &[], six], &[0, 0, 6]),
            ("-10:10,-5,0", [ten, &[0], &[0]], &[10]),
            ("9,4,5", [&[9], &[4], &[5]], &[]),
            ("...,1", [ten, five, &[1]], &[10, 5]),
            ("1,...,2", [&[1], five, &[2]], &[5]),
            ("1,2,3,...", [&[1], &[2], &[3]], &[]),
            ("::3,::-2", [&[0, 3, 6, 9], &[4, 2, 0], six], &[4, 3, 6]),
            ("8:100,-100:2", [&[8, 9], &[0, 1], six], &[2, 2, 6]),
            ("5:4,100:", [&[], &[], six], &[0, 0, 6]),
            ("7:2:-3,100::-4", [&[7, 4], &[4, 0], six], &[2, 2, 6]),
        ];
        for (text, positions, shape) in cases {
            let selection = Selection::parse(text, &[10, 5, 6]).unwrap();
            assert_eq!(selection.positions(&selection.counts()), positions, "{text}");
            assert_eq!(selection.shape, shape, "{text}");
        }
        assert_eq!(Selection::parse("", &[]).unwrap().nitems(), 1);
        assert_eq!(Selection::parse("...", &[]).unwrap().nitems(), 1);
    }

    #[test]
    fn other_texts_are_usage_errors_that_say_what_was_expected() {
        let cases = [
            ("0:4:0", "a step other than 0"),
            ("0:1:2:3", "START:STOP:STEP or a number"),
            ("10", "a number in 0 to 9, or from the end -10 to -1"),
            ("-11", "a number in 0 to 9"),
            ("a", "START:STOP:STEP or a number"),
            ("1,,2", "START:STOP:STEP or a number"),
            ("...,...", "START:STOP:STEP or a number"),
            ("99999999999999999999", "START:STOP:STEP or a number"),
            ("0,0,0,0", "4 dimensions, expected at most 3"),
            ("0,0,0,0,...", "4 dimensions, expected at most 3"),
            (":,:,0", "the extent is 0"),
        ];
        for (text, expected) in cases {
            let failure = Selection::parse(text, &[10, 5, 0]).unwrap_err();
            assert!(failure.message().unwrap().contains(expected), "{text}: {failure:?}");
            assert_eq!(failure.exit_code(), 2);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_selection_inside_the_shape_or_an_error(
            text in "[-0-9:, ]{0,12}",
            shape in prop::collection::vec(0u64..20, 0..4),
        ) {
            if let Ok(selection) = Selection::parse(&text, &shape) {
                let positions = selection.positions(&selection.counts());
                prop_assert_eq!(positions.len(), shape.len());
                for (positions, extent) in positions.iter().zip(&shape) {
                    prop_assert!(positions.iter().all(|at| at < extent));
                }
            }
        }
    }
}
