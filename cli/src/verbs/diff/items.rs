//! The comparison of two arrays.

use super::places::{Difference, Places};
use super::sides::Items;
use crate::boxes::{BOX_NBYTES, Boxes};
use crate::dtype::{Dtype, ItemText, Style, Tolerance, push_hex};
use crate::error::Failure;
use crate::terminal::Progress;
use std::ops::Range;

/// The bytes of two items.
type TwoItems = (Vec<u8>, Vec<u8>);

/// The condition under which two items are equal.
enum Equality {
    /// Items of one type with the same bytes.
    Bytes,
    /// Items of two types that are close to each other.
    Close(Dtype, Dtype, Tolerance),
}

/// Returns how two arrays differ; `None` if they are equal. Without a tolerance, items are equal if their bytes are.
pub(super) fn difference(
    mut a: Items<'_>,
    mut b: Items<'_>,
    tolerance: Option<Tolerance>,
    limit: usize,
    progress: &Progress,
) -> Result<Option<Difference>, Failure> {
    let shape = a.shape();
    if shape != b.shape() {
        return Ok(Some((format!("shapes {shape:?} and {:?}", b.shape()), Vec::new())));
    }
    let Some(equality) = Equality::of_types(&a, &b, tolerance) else {
        return Ok(Some((format!("types {} and {}", a.type_text(), b.type_text()), Vec::new())));
    };
    let places = compare(&mut a, &mut b, &equality, limit, progress)?;
    if places.count == 0 {
        return Ok(None);
    }
    let texts = [a.dtype(), b.dtype()].map(|dtype| ItemText::new(dtype, Style::Fields));
    let lines = places
        .lines(|number, values| format!("item {:?}: {}", position(number, &shape), both(&texts, values)));
    let nitems: u64 = shape.iter().product();
    Ok(Some((format!("different items: {} of {nitems}", places.count), lines)))
}

impl Equality {
    /// Returns the condition for the types of two arrays; `None` if these differ.
    fn of_types(a: &Items<'_>, b: &Items<'_>, tolerance: Option<Tolerance>) -> Option<Equality> {
        match (tolerance, a.dtype(), b.dtype()) {
            (Some(tolerance), Some(a), Some(b)) if a.is_comparable(&b) => {
                Some(Equality::Close(a, b, tolerance))
            }
            _ => (a.type_text() == b.type_text()).then_some(Equality::Bytes),
        }
    }

    fn holds(&self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Equality::Bytes => a == b,
            Equality::Close(a_type, b_type, tolerance) => a_type.is_close(a, b_type, b, *tolerance),
        }
    }

    /// Returns whether items with the same bytes are equal.
    fn is_reflexive(&self) -> bool {
        match self {
            Equality::Bytes => true,
            Equality::Close(a, b, tolerance) => a == b && tolerance.equal_nan,
        }
    }
}

/// Returns the items that differ between two arrays of the same shape.
fn compare(
    a: &mut Items<'_>,
    b: &mut Items<'_>,
    equality: &Equality,
    limit: usize,
    progress: &Progress,
) -> Result<Places<TwoItems>, Failure> {
    let shape = a.shape();
    let whole: Vec<Range<u64>> = shape.iter().map(|&extent| 0..extent).collect();
    let chunkshape = a.chunkshape().or(b.chunkshape()).unwrap_or_else(|| vec![1; shape.len()]);
    let (mut a_items, mut b_items) = (Vec::new(), Vec::new());
    let mut places = Places::new(limit);
    for current in Boxes::of_chunks(&whole, &chunkshape, a.typesize().max(b.typesize()), BOX_NBYTES) {
        a.read_box(&current, &mut a_items)?;
        b.read_box(&current, &mut b_items)?;
        progress.add(a_items.len() as u64);
        // The comparison of slices is much faster than that of items.
        if equality.is_reflexive() && a_items == b_items {
            continue;
        }
        let pairs = a_items.chunks_exact(a.typesize()).zip(b_items.chunks_exact(b.typesize()));
        // Numbers of items rise within a box, and the boxes are not in C order.
        let mut has_room = true;
        for (at, (a_item, b_item)) in pairs.enumerate() {
            if equality.holds(a_item, b_item) {
                continue;
            }
            places.count += 1;
            if has_room {
                let number = number_in_box(at as u64, &current, &shape);
                has_room = places.has_room(number);
                if has_room {
                    places.insert(number, (a_item.to_vec(), b_item.to_vec()));
                }
            }
        }
        if places.is_enough() {
            break;
        }
    }
    Ok(places)
}

/// Returns both values as text; as bytes if their texts are equal.
fn both(texts: &[ItemText; 2], (a, b): &TwoItems) -> String {
    let (mut first, mut second) = (String::new(), String::new());
    texts[0].push(a, &mut first);
    texts[1].push(b, &mut second);
    if first == second && a != b {
        (first, second) = ("bytes ".to_owned(), "bytes ".to_owned());
        push_hex(a, &mut first);
        push_hex(b, &mut second);
    }
    format!("{first} and {second}")
}

/// Returns the number, in C order, of the item at a position.
fn number(position: &[u64], shape: &[u64]) -> u64 {
    position.iter().zip(shape).fold(0, |number, (at, extent)| number * extent + at)
}

/// Returns the position of item `number` in C order.
fn position(mut number: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (at, &extent) in position.iter_mut().zip(shape).rev() {
        *at = number % extent;
        number /= extent;
    }
    position
}

/// Returns the number in the array of item `at` of a box.
fn number_in_box(at: u64, current: &[Range<u64>], shape: &[u64]) -> u64 {
    let extents: Vec<u64> = current.iter().map(|range| range.end - range.start).collect();
    let within = position(at, &extents);
    let absolute: Vec<u64> = within.iter().zip(current).map(|(at, range)| range.start + at).collect();
    number(&absolute, shape)
}
