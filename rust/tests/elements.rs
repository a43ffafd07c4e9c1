//! The types of array items and of coordinates, and the errors of the operating system.

use blosc2::{AnyArray, Array, Element, ErrorKind, OpenOptions, SuperChunk};
use std::error::Error as _;
use std::fmt::Debug;
use std::io;

/// Writes items of a type, reads them back, and returns the data type of the array.
fn round_trip<T: Element + PartialEq + Debug>(items: &[T]) -> String {
    let n = items.len();
    let mut array = Array::<T>::builder([n as u64]).in_memory_from(items).unwrap();
    assert_eq!(array.read(..).unwrap(), items);
    assert_eq!(array.get(&[1]).unwrap(), items[1]);
    array.set(&[0], items[n - 1]).unwrap();
    assert_eq!(array.read(..1).unwrap(), items[n - 1..]);
    assert_eq!(array.select(&[vec![1, 1]]).unwrap(), [items[1], items[1]]);
    let dtype = array.dtype().to_owned();
    assert!(T::matches(&dtype));
    assert!(Array::<T>::try_from(array.into_any()).is_ok());
    dtype
}

#[test]
fn items_of_every_type_are_read_back_with_the_data_type_of_numpy() {
    let order = if cfg!(target_endian = "little") { '<' } else { '>' };
    assert_eq!(round_trip(&[true, false, true]), "|b1");
    assert_eq!(round_trip(&[u128::MAX, 0, 1]), "|V16");
    assert_eq!(round_trip(&[[1.5f32, 2.5], [3.5, 4.5]]), format!("('{order}f4', (2,))"));
    assert_eq!(round_trip(&[[[1i16; 2]; 3], [[2; 2]; 3]]), format!("('('{order}i2', (2,))', (3,))"));
    #[cfg(feature = "half")]
    assert_eq!(round_trip(&[half::f16::from_f32(0.5), half::f16::MAX]), format!("{order}f2"));
    #[cfg(feature = "num-complex")]
    assert_eq!(round_trip(&[num_complex::Complex { re: 1.0f64, im: 2.0 }; 2]), format!("{order}c16"));
}

#[test]
fn bytes_that_are_no_bool_are_an_error() {
    let mut array = AnyArray::builder([2], "|b1", 1).in_memory().unwrap();
    array.write_bytes(.., &[1, 2]).unwrap();
    let array = Array::<bool>::try_from(array).unwrap();
    assert!(array.get(&[0]).unwrap());
    assert_eq!(array.get(&[1]).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(array.read(..).unwrap_err().kind(), ErrorKind::Data);
}

#[test]
fn another_type_or_byte_order_does_not_match() {
    assert!(f32::matches("f4") && f32::matches("'=f4'"));
    let other = if cfg!(target_endian = "little") { ">f4" } else { "<f4" };
    assert!(!f32::matches(other) && !f32::matches("<i4") && !f32::matches("<f8") && !u8::matches("|b1"));
}

#[test]
fn coordinates_of_every_integer_type_select_the_same_items() {
    let items: Vec<i32> = (0..12).collect();
    let array = Array::<i32>::builder([3, 4]).in_memory_from(&items).unwrap();
    let (row, from, to) = (1usize, 1u32, 3i64);
    assert_eq!(array.read((row..row + 1, ..)).unwrap(), [4, 5, 6, 7]);
    assert_eq!(array.read((row, from..)).unwrap(), [5, 6, 7]);
    assert_eq!(array.read((2u64, ..=to)).unwrap(), [8, 9, 10, 11]);
    assert_eq!(array.read((0, 1..=2)).unwrap(), [1, 2]);
    let line = Array::<i32>::builder([12]).in_memory_from(&items).unwrap();
    assert_eq!(line.read(3..6).unwrap(), [3, 4, 5]);
    assert_eq!(line.read(10usize..).unwrap(), [10, 11]);
    assert_eq!(line.read(7).unwrap(), [7]);
    for error in [
        line.read(-1).unwrap_err(),
        line.read(-2..1).unwrap_err(),
        line.read(0..13).unwrap_err(),
        line.read(0..=u64::MAX).unwrap_err(),
        array.read(0..1).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidParam, "{error}");
    }
}

/// The kind of the error as one of `std::io`, and whether it has a source.
fn io_kind<T: Debug>(result: blosc2::Result<T>) -> (io::ErrorKind, bool) {
    let error = result.unwrap_err();
    let has_source = error.source().is_some();
    (io::Error::from(error).kind(), has_source)
}

#[test]
fn errors_of_the_system_keep_their_kind_and_are_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let not_found = (io::ErrorKind::NotFound, true);
    assert_eq!(io_kind(AnyArray::open(&missing)), not_found);
    assert_eq!(io_kind(SuperChunk::open(&missing)), not_found);
    assert_eq!(io_kind(SuperChunk::open(folder.path())), not_found);
    let new = || OpenOptions::new().write(true).create_new(true).clone();
    assert_eq!(io_kind(new().open(missing.join("in/no/folder"))), not_found);

    let path = folder.path().join("there.b2nd");
    Array::<u8>::builder([4]).create(&path).unwrap();
    assert_eq!(io_kind(new().open(&path)).0, io::ErrorKind::AlreadyExists);
    let error = AnyArray::open(&missing).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::FileOpen, -15));
    assert!(error.to_string().contains("missing"), "{error}");

    // An error without one of the system has no source.
    assert_eq!(io_kind(Array::<u16>::open(&path)), (io::ErrorKind::InvalidInput, false));
}
