//! The bytes of metalayers (b2nd.md 3).

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use crate::support::array::functions::Functions;
use crate::support::library::Library;
use crate::support::{all_libraries, hex};

const GOLDEN_METALAYER: &str =
    "97 00 02 92 d3 00 00 00 00 00 00 00 05 d3 00 00 00 00 00 00 00 07 92 d2 00 00 00 03 d2 00 00 00
    04 92 d2 00 00 00 02 d2 00 00 00 02 00 db 00 00 00 03 3c 69 34";

fn serialize(
    library: &Library,
    ndim: i8,
    (shape, chunk, block): (&[i64], &[i32], &[i32]),
    dtype: Option<&CStr>,
    format: i8,
) -> Result<Vec<u8>, i32> {
    let mut found = ptr::null_mut();
    // SAFETY: one number per dimension in each list; the caller frees the result.
    unsafe {
        let rc = (Functions::of(library).b2nd_serialize_meta)(
            ndim,
            shape.as_ptr(),
            chunk.as_ptr(),
            block.as_ptr(),
            dtype.map_or(ptr::null(), CStr::as_ptr),
            format,
            &mut found,
        );
        if rc < 0 {
            return Err(rc);
        }
        let bytes = std::slice::from_raw_parts(found, rc as usize).to_vec();
        libc::free(found.cast());
        Ok(bytes)
    }
}

#[derive(Clone, Debug, PartialEq)]
struct ParsedMetalayer {
    rc: i32,
    ndim: i8,
    shape: Vec<i64>,
    chunk: Vec<i32>,
    block: Vec<i32>,
    dtype: Option<CString>,
    format: i8,
}

/// Parses a metalayer. With `wants_dtype` false both dtype outputs are NULL.
fn deserialize(library: &Library, bytes: &[u8], len: i32, wants_dtype: bool) -> ParsedMetalayer {
    let (mut ndim, mut shape, mut chunk, mut block) = (77, [7i64; 16], [7i32; 16], [7i32; 16]);
    let mut dtype = ptr::without_provenance_mut::<c_char>(1);
    let mut format = 77;
    // The allocation ends at the stated length.
    let exact = bytes[..(len.max(0) as usize).min(bytes.len())].to_vec();
    // SAFETY: space for sixteen dimensions, and a buffer of the stated length; the caller frees the dtype.
    unsafe {
        let rc = (Functions::of(library).b2nd_deserialize_meta)(
            exact.as_ptr(),
            len,
            &mut ndim,
            shape.as_mut_ptr(),
            chunk.as_mut_ptr(),
            block.as_mut_ptr(),
            if wants_dtype { &mut dtype } else { ptr::null_mut() },
            if wants_dtype { &mut format } else { ptr::null_mut() },
        );
        let dtype = if !wants_dtype || dtype.is_null() {
            None
        } else {
            let text = CStr::from_ptr(dtype).to_owned();
            libc::free(dtype.cast());
            Some(text)
        };
        ParsedMetalayer {
            rc,
            ndim,
            shape: shape.to_vec(),
            chunk: chunk.to_vec(),
            block: block.to_vec(),
            dtype,
            format,
        }
    }
}

#[test]
fn serialized_metalayers_match_the_golden_bytes() {
    for library in all_libraries() {
        let a: (&[i64], &[i32], &[i32]) = (&[5, 7], &[3, 4], &[2, 2]);
        assert_eq!(serialize(library, 2, a, Some(c"<i4"), 0), Ok(hex(GOLDEN_METALAYER)), "{}", library.name);
        assert_eq!(
            serialize(library, 0, (&[], &[], &[]), None, 0),
            Ok(hex("97 00 00 90 90 90 00 db 00 00 00 03 7c 75 31"))
        );
        assert_eq!(serialize(library, 2, a, Some(c"<i4"), -1), Err(-1));
        let shape: Vec<i64> = (1..=16).collect();
        let ones = [1; 16];
        let wide = serialize(library, 16, (&shape, &ones, &ones), Some(c""), 0).expect("sixteen dimensions");
        assert_eq!(wide.len(), 316);
        assert_eq!(wide[..4], [0x97, 0, 0x10, 0xA0]);
        assert_eq!(wide[4..13], [0xD3, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(wide[316 - 11..], hex("d2 00 00 00 01 00 db 00 00 00 00"));
        let five = serialize(library, 15, (&shape[..15], &ones[..15], &ones[..15]), Some(c"<f8"), 127);
        let five = five.expect("fifteen dimensions");
        assert_eq!((five.len(), five[3], five[five.len() - 9]), (12 + 19 * 15 + 3, 0x9F, 127));
        let values =
            serialize(library, 1, (&[-1], &[i32::MIN], &[i32::MAX]), Some(c"x"), 3).expect("anything");
        assert_eq!(
            values,
            hex("97 00 01 91 d3 ffffffffffffffff 91 d2 80000000 91 d2 7fffffff 03 db 00000001 78")
        );
    }
}

/// Every length from zero to more than the metalayer has.
#[test]
fn truncated_metalayers_are_rejected() {
    for library in all_libraries() {
        let mut bytes = hex(GOLDEN_METALAYER);
        bytes.extend([0x5A; 20]);
        for len in 0..=bytes.len() as i32 {
            let parsed = deserialize(library, &bytes, len, true);
            let (rc, dtype) = match len {
                44 => (44, None),
                53.. => (53, Some(c"<i4".to_owned())),
                _ => (-1, None),
            };
            assert_eq!((parsed.rc, &parsed.dtype, parsed.format), (rc, &dtype, 0), "{}: {len}", library.name);
            if rc > 0 {
                assert_eq!((parsed.ndim, &parsed.shape[..2]), (2, &[5, 7][..]));
                assert_eq!((&parsed.chunk[..2], &parsed.block[..2]), (&[3, 4][..], &[2, 2][..]));
            }
        }
        assert_eq!(deserialize(library, &bytes, -1, true).rc, -1);
        assert_eq!(deserialize(library, &bytes, 53, false).rc, 44, "{}", library.name);
    }
}

/// The bytes of the metalayer that are checked, and those that are not (b2nd.md 3.3 and Q8).
#[test]
fn only_the_documented_bytes_of_a_metalayer_are_checked() {
    for library in all_libraries() {
        let golden = hex(GOLDEN_METALAYER);
        let with = |changes: &[(usize, u8)]| {
            let mut bytes = golden.clone();
            changes.iter().for_each(|&(at, value)| bytes[at] = value);
            deserialize(library, &bytes, 53, true)
        };
        let right = deserialize(library, &golden, 53, true);
        let name = library.name;
        assert_eq!((right.rc, right.ndim), (53, 2), "{name}");
        for changes in [
            &[(0, 0x12)][..],
            &[(1, 99)],
            &[(3, 0), (4, 0), (13, 0), (22, 0), (23, 0), (28, 0), (33, 0), (34, 0), (39, 0)],
        ] {
            assert_eq!(with(changes), right, "{name}: {changes:?}");
        }
        for (changes, ndim) in [(&[(2, 17)][..], 17), (&[(2, 0x80)], -128)] {
            let parsed = with(changes);
            assert_eq!((parsed.rc, parsed.ndim), (-1, ndim), "{name}: {changes:?}");
        }
        assert_eq!(with(&[(2, 1)]).rc, -1, "{name}");
        assert_eq!(with(&[(45, 0xDA)]).rc, -1, "{name}");
        assert_eq!((with(&[(49, 2)]).rc, with(&[(49, 2)]).dtype), (52, Some(c"<i".to_owned())), "{name}");
        assert_eq!((with(&[(49, 0)]).rc, with(&[(49, 0)]).dtype), (50, Some(c"".to_owned())), "{name}");
        assert_eq!(with(&[(49, 4)]).rc, -1, "{name}");
        assert_eq!(with(&[(46, 0x80)]).rc, -1, "{name}");
        assert_eq!((with(&[(44, 0xFF)]).rc, with(&[(44, 0xFF)]).format), (53, -1), "{name}");
    }
}

#[test]
fn null_arguments_of_deserialize_meta_are_rejected() {
    for library in all_libraries() {
        let bytes = hex(GOLDEN_METALAYER);
        let f = Functions::of(library);
        let (mut ndim, mut shape, mut chunk, mut block) = (0i8, [0i64; 16], [0i32; 16], [0i32; 16]);
        let null = ptr::null_mut();
        for missing in 0..5 {
            // SAFETY: valid pointers, except for the NULL.
            let rc = unsafe {
                (f.b2nd_deserialize_meta)(
                    if missing == 0 { ptr::null() } else { bytes.as_ptr() },
                    53,
                    if missing == 1 { ptr::null_mut() } else { &mut ndim },
                    if missing == 2 { ptr::null_mut() } else { shape.as_mut_ptr() },
                    if missing == 3 { ptr::null_mut() } else { chunk.as_mut_ptr() },
                    if missing == 4 { ptr::null_mut() } else { block.as_mut_ptr() },
                    null,
                    ptr::null_mut(),
                )
            };
            assert_eq!(rc, -32, "{}: {missing}", library.name);
        }
    }
}
