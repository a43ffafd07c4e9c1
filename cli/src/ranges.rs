//! Parts of arrays as text: a range or a number for each dimension, for example `0:100,:,3`.

use crate::error::Failure;
use std::ops::Range;

/// A part of an array.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// One range for each dimension, inside the shape.
    pub ranges: Vec<Range<u64>>,
    /// The extents of the dimensions that were not selected by a single number.
    pub shape: Vec<u64>,
}

impl Selection {
    /// Returns the whole array of that shape.
    pub(crate) fn all(shape: &[u64]) -> Selection {
        Selection { ranges: shape.iter().map(|&extent| 0..extent).collect(), shape: shape.to_vec() }
    }

    /// Reads a part of an array of that shape. Negative numbers count from the end, as in Python; unlike there, numbers
    /// beyond the end are errors. Missing dimensions at the end are whole.
    pub(crate) fn parse(text: &str, shape: &[u64]) -> Result<Selection, Failure> {
        let parts: Vec<&str> = if text.trim().is_empty() { Vec::new() } else { text.split(',').collect() };
        if parts.len() > shape.len() {
            return Err(Failure::usage(format!(
                "ranges {text:?}: {} dimensions, expected at most {}, of the shape {shape:?}",
                parts.len(),
                shape.len()
            )));
        }
        let mut selection = Selection { ranges: Vec::new(), shape: Vec::new() };
        for (dim, &extent) in shape.iter().enumerate() {
            let part = parts.get(dim).map_or(":", |part| part.trim());
            let (range, is_single) = parse_part(part, extent).map_err(|expected| {
                Failure::usage(format!("range {part:?} of dimension {dim}, expected {expected}"))
            })?;
            if !is_single {
                selection.shape.push(range.end - range.start);
            }
            selection.ranges.push(range);
        }
        Ok(selection)
    }

    /// Returns the number of items.
    pub(crate) fn nitems(&self) -> u64 {
        // With an extent of 0, the product of the others may be of any size.
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }
}

/// Returns the range of one dimension, and whether it is a single number. An error states what was expected.
fn parse_part(part: &str, extent: u64) -> Result<(Range<u64>, bool), String> {
    let form = || "START:STOP or a number".to_owned();
    let number = |text: &str| text.trim().parse::<i64>().map(i128::from).map_err(|_| form());
    // A negative number counts from the end.
    let from_start = |number: i128| if number < 0 { number + i128::from(extent) } else { number };
    let bound = |text: &str, default: u64| -> Result<u64, String> {
        if text.trim().is_empty() {
            return Ok(default);
        }
        u64::try_from(from_start(number(text)?))
            .ok()
            .filter(|&bound| bound <= extent)
            .ok_or_else(|| format!("START and STOP in 0 to {extent}, or from the end -{extent} to -1"))
    };
    let Some((start, stop)) = part.split_once(':') else {
        let index = u64::try_from(from_start(number(part)?)).ok().filter(|&index| index < extent);
        return match index {
            Some(index) => Ok((index..index + 1, true)),
            None if extent == 0 => Err("a range: the extent is 0".to_owned()),
            None => Err(format!("a number in 0 to {}, or from the end -{extent} to -1", extent - 1)),
        };
    };
    if stop.contains(':') {
        return Err("START:STOP without a step".to_owned());
    }
    let range = bound(start, 0)?..bound(stop, extent)?;
    if range.start > range.end {
        return Err(format!("START not above STOP, which are {} and {}", range.start, range.end));
    }
    Ok((range, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_and_numbers_are_as_in_python() {
        type Case<'a> = (&'a str, &'a [Range<u64>], &'a [u64]);
        let cases: [Case<'_>; 9] = [
            ("0:2,:,3", &[0..2, 0..5, 3..4], &[2, 5]),
            ("-1", &[9..10, 0..5, 0..6], &[5, 6]),
            ("-3:-1,2:,:-2", &[7..9, 2..5, 0..4], &[2, 3, 4]),
            ("", &[0..10, 0..5, 0..6], &[10, 5, 6]),
            (":", &[0..10, 0..5, 0..6], &[10, 5, 6]),
            (" 1 : 2 , 0 ", &[1..2, 0..1, 0..6], &[1, 6]),
            ("4:4,5:", &[4..4, 5..5, 0..6], &[0, 0, 6]),
            ("-10:10,-5,0", &[0..10, 0..1, 0..1], &[10]),
            ("9,4,5", &[9..10, 4..5, 5..6], &[]),
        ];
        for (text, ranges, shape) in cases {
            let selection = Selection::parse(text, &[10, 5, 6]).unwrap();
            assert_eq!((selection.ranges.as_slice(), selection.shape.as_slice()), (ranges, shape), "{text}");
        }
        assert_eq!(Selection::parse("", &[]).unwrap().nitems(), 1);
    }

    #[test]
    fn other_texts_are_usage_errors_that_say_what_was_expected() {
        let cases = [
            ("0:4:2", "without a step"),
            ("10", "a number in 0 to 9, or from the end -10 to -1"),
            ("-11", "a number in 0 to 9"),
            ("0:11", "START and STOP in 0 to 10"),
            ("-11:", "START and STOP in 0 to 10"),
            ("5:4", "START not above STOP, which are 5 and 4"),
            ("a", "START:STOP or a number"),
            ("1,,2", "START:STOP or a number"),
            ("...", "START:STOP or a number"),
            ("99999999999999999999", "START:STOP or a number"),
            ("0,0,0,0", "4 dimensions, expected at most 3"),
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
                prop_assert_eq!(selection.ranges.len(), shape.len());
                for (range, extent) in selection.ranges.iter().zip(&shape) {
                    prop_assert!(range.start <= range.end && range.end <= *extent);
                }
            }
        }
    }
}
