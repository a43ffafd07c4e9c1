//! The positions of items in chunks (b2nd.md 2.6).

use std::path::Path;

use super::{create_filled_array, for_each_library_and_store, layout_a};
use crate::support::array::ArraySpec;
use crate::support::library::Library;
use crate::support::super_chunk::Store;

/// Converts `1 2
/// 3 4` to bytes.
fn parse_bytes(text: &str) -> Vec<u8> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().expect("a byte"))
        .collect()
}

fn assert_chunks(
    library: &'static Library,
    store: Store,
    path: &Path,
    spec: ArraySpec,
    chunks: &[(i64, &str)],
) {
    let array = create_filled_array(library, spec, store, path);
    for &(number, text) in chunks {
        let mut right = parse_bytes(text);
        right.resize(array.schunk().chunksize() as usize, 0);
        assert_eq!(array.schunk().decompress(number), Ok(right), "{}: {store:?} {number}", library.name);
    }
}

#[test]
fn items_of_a_2d_array_are_at_the_documented_positions() {
    for_each_library_and_store(|library, store, path| {
        let chunks = [
            (0, "1 2 8 9 | 3 4 10 11 | 15 16 0 0 | 17 18 0 0"),
            (1, "5 6 12 13 | 7 0 14 0 | 19 20 0 0 | 21 0 0 0"),
            (2, "22 23 29 30 | 24 25 31 32 | 0 0 0 0 | 0 0 0 0"),
            (3, "26 27 33 34 | 28 0 35 0 | 0 0 0 0 | 0 0 0 0"),
        ];
        assert_chunks(library, store, path, layout_a(), &chunks);
    });
}

#[test]
fn items_of_a_3d_array_are_at_the_documented_positions() {
    for_each_library_and_store(|library, store, path| {
        let chunks = [
            (
                0,
                "1 2 3 6 7 8 | 4 0 0 9 0 0 | 11 12 13 0 0 0 | 14 0 0 0 0 0 | 21 22 23 26 27 28 | 24 0 0 29 0 0
                 | 31 32 33 0 0 0 | 34 0 0 0 0 0",
            ),
            (3, "20 0 0 0 0 0 | 0 0 0 0 0 0 | 0 0 0 0 0 0 | 0 0 0 0 0 0 | 40"),
            (4, "41 42 43 46 47 48 | 44 0 0 49 0 0 | 51 52 53 0 0 0 | 54"),
            (7, "60"),
        ];
        assert_chunks(library, store, path, ArraySpec::new(&[3, 4, 5], &[2, 3, 4], &[1, 2, 3], 1), &chunks);
    });
}
