//! Tests the metalayer of `b2nd.md` 3 and arbitrary bytes. `tests/golden/arrays` has every prefix and every marker.

use super::*;
use crate::error::ErrorKind::{Failure, InvalidParam, NullPointer};
use crate::error::error_kind;
use proptest::prelude::*;

const GOLDEN: [u8; 53] = [
    0x97, 0, 2, 0x92, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5, 0xd3, 0, 0, 0, 0, 0, 0, 0, 7, 0x92, 0xd2, 0, 0, 0, 3,
    0xd2, 0, 0, 0, 4, 0x92, 0xd2, 0, 0, 0, 2, 0xd2, 0, 0, 0, 2, 0, 0xdb, 0, 0, 0, 3, 0x3c, 0x69, 0x34,
];

/// Returns the `b2nd` metalayer with the content of `meta`.
fn serialized(meta: &ArrayMeta) -> Vec<u8> {
    let dims = meta.ndim;
    let (shape, chunkshape, blockshape) =
        (&meta.shape[..dims], &meta.chunkshape[..dims], &meta.blockshape[..dims]);
    serialize(shape, chunkshape, blockshape, meta.dtype.as_deref(), meta.dtype_format).unwrap()
}

#[test]
fn write_shape_changes_only_the_shape() {
    for (len, members) in [(GOLDEN.len(), 0x97), (44, 0x95)] {
        let mut bytes = [&GOLDEN[..len], &[9; 5][..if len == 44 { 0 } else { 5 }]].concat();
        bytes[0] = members;
        let before = bytes.clone();
        write_shape(&mut bytes, &[-1, i64::MAX]).unwrap();
        let meta = ArrayMeta::parse(&bytes).unwrap();
        assert_eq!(meta.shape[..3], [-1, i64::MAX, 1]);
        assert_eq!((&bytes[..4], &bytes[22..]), (&before[..4], &before[22..]));
        write_shape(&mut bytes, &[5, 7]).unwrap();
        assert_eq!(bytes, before);
        for shape in [&[5][..], &[5, 7, 1], &[]] {
            assert_eq!(error_kind(write_shape(&mut bytes, shape)), Some(Failure), "{shape:?}");
        }
        for short in 0..44 {
            assert_eq!(error_kind(write_shape(&mut bytes[..short], &[5, 7])), Some(Failure), "{short} bytes");
        }
        assert_eq!(bytes, before);
    }
}

#[test]
fn the_older_metalayer_has_no_data_type() {
    let mut old = GOLDEN[..44].to_vec();
    old[0] = 0x95;
    let meta = ArrayMeta::parse_nonempty(&old).unwrap();
    assert_eq!((meta.dtype.as_deref(), meta.dtype_format, meta.shape[..2].to_vec()), (None, 0, vec![5, 7]));
    // Without a data type the default one is written.
    let now = serialized(&meta);
    assert_eq!((&now[..44], &now[44..]), (&GOLDEN[..44], &b"\0\xdb\0\0\0\x03|u1"[..]));
}

/// The ABI function returns the fields before the invalid byte.
#[test]
fn fields_before_an_error_are_kept() {
    let mut fields = MetaFields::default();
    assert!(fields.read(&GOLDEN[..30], true).is_err());
    assert_eq!((fields.ndim, fields.nshapes_begun, fields.shape[..2].to_vec()), (Some(2), 2, vec![5, 7]));
    assert_eq!((fields.chunkshape[..2].to_vec(), fields.dtype), (vec![3, 1], None));
    let mut fields = MetaFields::default();
    assert_eq!(fields.read(&GOLDEN, false).unwrap(), 44);
    assert_eq!((fields.dtype, fields.dtype_format), (None, 0));
}

#[test]
fn serialize_rejects_invalid_format_and_dimensions() {
    assert_eq!(error_kind(serialize(&[1], &[1], &[1], None, -1)), Some(Failure));
    assert_eq!(error_kind(ArrayMeta::parse_nonempty(&[])), Some(NullPointer));
    assert_eq!(error_kind(serialize(&[1; 17], &[1; 17], &[1; 17], None, 0)), Some(InvalidParam));
    assert_eq!(error_kind(serialize(&[1], &[1], &[], None, 0)), Some(InvalidParam));
}

proptest! {
    #[test]
    fn parse_returns_what_serialize_wrote(
        extents in prop::collection::vec((any::<i64>(), any::<i32>(), any::<i32>()), 0..=16),
        dtype in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        dtype_format in 0i8..=127,
    ) {
        let mut meta = ArrayMeta {
            ndim: extents.len(),
            shape: [1; MAX_DIM],
            chunkshape: [1; MAX_DIM],
            blockshape: [1; MAX_DIM],
            dtype,
            dtype_format,
        };
        for (dim, of) in extents.iter().enumerate() {
            (meta.shape[dim], meta.chunkshape[dim], meta.blockshape[dim]) = *of;
        }
        let bytes = serialized(&meta);
        prop_assert_eq!(bytes.len(), 12 + 19 * meta.ndim + meta.dtype.as_ref().map_or(3, Vec::len));
        meta.dtype.get_or_insert_with(|| b"|u1".to_vec());
        prop_assert_eq!(&ArrayMeta::parse(&bytes).unwrap(), &meta);
        // Another shape, and back.
        let mut other = bytes.clone();
        let shape: Vec<i64> = meta.shape[..meta.ndim].iter().map(|extent| !extent).collect();
        write_shape(&mut other, &shape).unwrap();
        prop_assert!(ArrayMeta::parse(&other).unwrap().shape[..meta.ndim] == shape[..]);
        write_shape(&mut other, &meta.shape[..meta.ndim]).unwrap();
        prop_assert_eq!(other, bytes);
    }

    #[test]
    fn parsing_any_bytes_does_not_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        ndim in 0u8..=17,
        len in 0usize..400,
    ) {
        let _ = ArrayMeta::parse(&bytes);
        let mut bytes = bytes;
        if bytes.len() > 2 {
            bytes[2] = ndim;
        }
        bytes.truncate(len);
        let mut fields = MetaFields::default();
        if let Ok(consumed) = fields.read(&bytes, true) {
            prop_assert!(consumed <= bytes.len());
            let _ = ArrayMeta::parse(&bytes).unwrap().geometry(4);
        }
    }
}
