//! Growing and shrinking arrays (b2nd.md 2.5, 6.13, 6.14).

use super::{consecutive_bytes, create_filled_array, for_each_library_and_store};
use crate::support::all_libraries;
use crate::support::array::ArraySpec;

#[track_caller]
fn assert_items(array: &crate::support::array::Array, right: &[u8]) {
    assert_eq!(array.to_cbuffer().as_deref(), Ok(right), "{}", array.library.name);
}

#[test]
fn resize_of_a_1d_array_gives_the_documented_items() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[10], &[4], &[2], 1), store, path);
        let resize = |shape: i64, start: i64| array.resize(&[shape], Some(&[start]));
        assert_eq!(resize(14, 4), 0);
        assert_items(&array, &[1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10]);
        assert_eq!(resize(10, 4), 0);
        assert_items(&array, &consecutive_bytes(10));
        assert_eq!(resize(6, 0), 0);
        assert_items(&array, &[5, 6, 7, 8, 9, 10]);
        assert_eq!(resize(10, 2), -12);
        assert_eq!(resize(9, 4), -12);
        assert_eq!(resize(9, 6), 0);
        assert_items(&array, &[5, 6, 7, 8, 9, 10, 0, 0, 0]);
        assert_eq!(resize(13, 10), -12);
        let tick = array.schunk().change_tick();
        assert_eq!(resize(9, 3), 0);
        assert_eq!(array.schunk().change_tick(), tick);
        assert_eq!(array.resize(&[-1], None), -12);
        assert_items(&array, &[5, 6, 7, 8, 9, 10, 0, 0, 0]);
        assert_eq!(array.resize(&[0], None), 0);
        assert_eq!(array.schunk().nchunks(), 0);
        assert_eq!(array.resize(&[5], None), 0);
        assert_items(&array, &[0; 5]);
    });
}

/// Items that a shrink left in chunks reappear when the array grows (b2nd.md 2.5, Q3).
#[test]
fn items_left_by_a_shrink_reappear_when_the_array_grows() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[10], &[4], &[4], 1), store, path);
        assert_eq!((array.resize(&[7], None), array.resize(&[12], None)), (0, 0));
        assert_items(&array, &[1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0]);
    });
    for_each_library_and_store(|library, store, path| {
        let (rc, array) =
            ArraySpec::new(&[5], &[3], &[3], 1).with_store(store, path).context(library).full(&[9]);
        let array = array.expect("an array");
        assert_eq!((rc, array.resize(&[9], None)), (0, 0));
        assert_items(&array, &[9, 9, 9, 9, 9, 9, 0, 0, 0]);
    });
}

#[test]
fn resize_and_insert_in_a_2d_array_give_the_documented_items() {
    for_each_library_and_store(|library, store, path| {
        let spec = || ArraySpec::new(&[4, 6], &[2, 3], &[2, 3], 1);
        let array = create_filled_array(library, spec(), store, path);
        assert_eq!(array.resize(&[4, 9], Some(&[0, 3])), 0);
        let rows = array.to_cbuffer().expect("items");
        assert_eq!(rows[..18], [1, 2, 3, 0, 0, 0, 4, 5, 6, 7, 8, 9, 0, 0, 0, 10, 11, 12]);
        assert_eq!(array.resize(&[2, 11], None), 0);
        assert_items(&array, &[1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0, 0, 0, 10, 11, 12, 0, 0]);
        drop(array);
        let fresh = path.with_extension("fresh");
        let array = create_filled_array(library, spec(), store, &fresh);
        assert_eq!(array.resize(&[2, 9], Some(&[0, 0])), 0);
        assert_items(&array, &[0, 0, 0, 13, 14, 15, 16, 17, 18, 0, 0, 0, 19, 20, 21, 22, 23, 24]);
        drop(array);
        let other = path.with_extension("other");
        let array = create_filled_array(library, spec(), store, &other);
        let more: Vec<u8> = (101..113).collect();
        assert_eq!(array.insert(&more, 1, 3), 0);
        let rows = array.to_cbuffer().expect("items");
        assert_eq!(rows[..18], [1, 2, 3, 101, 102, 103, 4, 5, 6, 7, 8, 9, 104, 105, 106, 10, 11, 12]);
        assert_eq!(array.insert(&more[..4], 1, 3), -12);
        assert_eq!(array.insert(&more, 1, 2), -12);
        assert_eq!(array.insert(&more[..4], 1, 9), 0);
        assert_eq!(array.insert(&more[..5], 0, 4), -12);
        assert_eq!(array.insert(&more, 2, 0), -12);
        assert_eq!(array.shape(), [4, 10]);
    });
}

#[test]
fn delete_leaves_the_documented_items() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[4, 9], &[2, 3], &[2, 3], 1), store, path);
        assert_eq!(array.delete(1, 3, 3), 0);
        assert_eq!(array.delete(1, 1, 1), -12);
        assert_eq!(array.delete(1, 4, 2), 0);
        assert_eq!(array.shape(), [4, 4]);
        assert_items(&array, &[1, 2, 3, 7, 10, 11, 12, 16, 19, 20, 21, 25, 28, 29, 30, 34]);
        assert_eq!(array.delete(1, 0, 3), 0);
        assert_items(&array, &[7, 16, 25, 34]);
        assert_eq!(array.delete(2, 0, 0), -12);
    });
}

/// An aligned chunk is copied unchanged, including its padding (b2nd.md 6.13).
#[test]
fn concatenation_copies_aligned_chunks_with_their_padding() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[4], &[4], &[4], 1), store, path);
        let (rc, nines) = ArraySpec::new(&[2], &[4], &[4], 1).context(library).full(&[9]);
        let nines = nines.expect("an array");
        assert_eq!((rc, array.extend(&nines, 0)), (0, 0));
        assert_items(&array, &[1, 2, 3, 4, 9, 9]);
        assert_eq!(array.resize(&[8], None), 0);
        assert_items(&array, &[1, 2, 3, 4, 9, 9, 9, 9]);
        assert_eq!(array.extend(&nines, 1), -12);
        assert_eq!(array.extend(&nines, -1), -12);
        let wide = ArraySpec::new(&[2], &[4], &[4], 2).zeros(library);
        assert_eq!(array.extend(&wide, 0), -12);
        let square = ArraySpec::new(&[2, 2], &[2, 2], &[2, 2], 1).zeros(library);
        assert_eq!(array.extend(&square, 0), -12);
    });
    for library in all_libraries() {
        let point = || ArraySpec::new(&[], &[], &[], 1).zeros(library);
        assert_eq!(point().extend(&point(), 0), -12);
        assert_eq!(point().resize(&[], None), 0);
        assert_eq!(point().insert(&[1], 0, 0), -12);
        assert_eq!(point().delete(0, 0, 1), -12);
    }
}
