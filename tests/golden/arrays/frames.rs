//! Arrays converted to frames, and frames opened as arrays (b2nd.md 3.1, 6.10, 11).

use std::fs;

use super::{consecutive_bytes, create_filled_array, for_each_library_and_store, layout_a};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::{all_libraries, hex, written_here};

const GOLDEN_FRAME: &str = "
    9e a8 62 32 66 72 61 6d 65 00 d2 00 00 00 a5 cf 00 00 00 00 00 00 01 c8 a4 12 00 50 03 d3 00 00
    00 00 00 00 00 40 d3 00 00 00 00 00 00 00 c0 d2 00 00 00 01 d2 00 00 00 04 d2 00 00 00 10 d1 00
    01 d1 00 01 c2 d8 06 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 93 cd 00 11 de 00 01 a4 62
    32 6e 64 d2 00 00 00 6b dc 00 01 c6 00 00 00 35 97 00 02 92 d3 00 00 00 00 00 00 00 05 d3 00 00
    00 00 00 00 00 07 92 d2 00 00 00 03 d2 00 00 00 04 92 d2 00 00 00 02 d2 00 00 00 02 00 db 00 00
    00 03 7c 75 31 05 01 07 01 10 00 00 00 04 00 00 00 30 00 00 00 00 00 00 00 00 01 00 00 00 00 00
    00 00 00 00 00 01 02 08 09 03 04 0a 0b 0f 10 00 00 11 12 00 00 05 01 07 01 10 00 00 00 04 00 00
    00 30 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 05 06 0c 0d 07 00 0e 00 13 14 00
    00 15 00 00 00 05 01 07 01 10 00 00 00 04 00 00 00 30 00 00 00 00 00 00 00 00 01 00 00 00 00 00
    00 00 00 00 00 16 17 1d 1e 18 19 1f 20 00 00 00 00 00 00 00 00 05 01 07 01 10 00 00 00 04 00 00
    00 30 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 1a 1b 21 22 1c 00 23 00 00 00 00
    00 00 00 00 00 05 01 17 08 20 00 00 00 20 00 00 00 40 00 00 00 00 00 00 00 00 01 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 30 00 00 00 00 00 00 00 60 00 00 00 00 00 00 00 90 00 00
    00 00 00 00 00 94 01 93 cd 00 06 de 00 00 dc 00 00 ce 00 00 00 23 d8 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00";

#[test]
fn frames_match_the_golden_bytes() {
    // Four chunks and the index.
    let right = written_here(hex(GOLDEN_FRAME), &[0xA5, 0xD5, 0x105, 0x135, 0x165]);
    for library in all_libraries() {
        let spec = layout_a().with_dtype("|u1").with_store(Store::MemoryFrame, "".as_ref());
        let array = spec.create_from_buffer(library, &consecutive_bytes(35));
        assert_eq!(array.to_cframe(), Ok((right.clone(), false)), "{}", library.name);
        let sparse = layout_a().with_dtype("|u1").create_from_buffer(library, &consecutive_bytes(35));
        let mut other = right.clone();
        other[0x40] = 0;
        assert_eq!(sparse.to_cframe(), Ok((other, true)), "{}", library.name);
        let zeros = spec.zeros(library).to_cframe().expect("a frame").0;
        let mut start = right[..0xA5].to_vec();
        start[0x16..0x18].copy_from_slice(&[0, 0xF0]);
        start[0x2E] = 0;
        assert_eq!(zeros[..0xA5], start, "{}", library.name);
        let index = format!(
            "05 01 05 08 20 00 00 00 20 00 00 00 28 00 00 00 {} 30 00 00 00 00 00 00 00 81",
            "00".repeat(15)
        );
        assert_eq!(zeros[0xA5..0xA5 + 40], hex(&index), "{}", library.name);
        let trailer = format!("94 01 93 cd 00 06 de 00 00 dc 00 00 ce 00 00 00 23 d8 {}", "00".repeat(17));
        assert_eq!(zeros[0xA5 + 40..], hex(&trailer), "{}", library.name);
    }
}

/// Every library reads the golden frame.
#[test]
fn golden_frame_is_read_by_every_library() {
    for library in all_libraries() {
        let mut frame = hex(GOLDEN_FRAME);
        let (rc, array) = Array::from_frame_copy(library, &mut frame);
        let array = array.expect("an array");
        assert_eq!((rc, array.to_cbuffer()), (0, Ok(consecutive_bytes(35))), "{}", library.name);
        assert_eq!(
            (array.dtype().as_deref(), array.fields().last_tick),
            (Some(c"|u1"), array.schunk().change_tick())
        );
        // SAFETY: only read, and the frame outlives the array.
        let (rc, array) = unsafe { Array::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) };
        assert_eq!(
            (rc, array.expect("an array").to_cbuffer()),
            (0, Ok(consecutive_bytes(35))),
            "{}",
            library.name
        );
        for len in [0, 1, 100, frame.len() - 1] {
            let (rc, array) = Array::from_frame_copy(library, &mut frame[..len].to_vec());
            assert!(rc == -1 && array.is_none(), "{}: {len} bytes: {rc}", library.name);
        }
    }
}

/// An array with the older metalayer, without a dtype (b2nd.md 3.1, Q12).
#[test]
fn array_with_a_caterva_metalayer_is_read_and_written() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a().with_dtype("|u1"), Store::Memory, path);
        let params = Params { typesize: 1, blocksize: 4, ..Params::default() };
        let schunk = SuperChunk::create(library, store, path, &params);
        let mut layer = array.schunk().meta_get("b2nd").expect("a metalayer")[..44].to_vec();
        layer[0] = 0x95;
        assert_eq!(schunk.meta_add("caterva", &layer), 0);
        for number in 0..4 {
            schunk.append(&array.schunk().decompress(number).expect("a chunk")).expect("appended");
        }
        let old = Array::from_super_chunk(schunk).expect("an array");
        assert_eq!((old.dtype(), old.fields().dtype_format), (None, 0), "{}", library.name);
        assert_eq!(old.to_cbuffer(), Ok(consecutive_bytes(35)));
        assert_eq!(old.get(&[1, 2], &[2, 4]).as_deref(), Ok(&[10, 11][..]));
        assert_eq!(old.set(&[4, 6], &[5, 7], &[99]), 0);
        assert_eq!(old.get(&[4, 6], &[5, 7]).as_deref(), Ok(&[99][..]));
        // Our library may rewrite the older metalayer instead (b2nd.md D22, which has a separate test).
        if store == Store::Memory && library.is_reference() {
            assert_eq!(old.resize(&[6, 7], None), 0);
            let names: Vec<Vec<u8>> = old.schunk().metalayers().into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, [b"caterva".to_vec(), b"b2nd".to_vec()]);
            assert!(old.schunk().meta_get("b2nd").is_some_and(|layer| layer.ends_with(b"|u1")));
        }
    });
}

/// The metalayers that make a super-chunk an array (b2nd.md 6.10).
#[test]
fn from_schunk_checks_the_metalayer() {
    for library in all_libraries() {
        let try_with = |layer: Option<&[u8]>| {
            let params = Params { typesize: 1, blocksize: 4, ..Params::default() };
            let schunk = SuperChunk::create(library, Store::Memory, "".as_ref(), &params);
            if let Some(layer) = layer {
                schunk.meta_add("b2nd", layer);
            }
            match Array::from_super_chunk(schunk) {
                Ok(array) => array.ndim() as i32,
                Err(code) => code,
            }
        };
        let layer = |shape: i64, chunk: i32, block: i32| {
            let mut bytes = hex("97 00 01 91 d3");
            bytes.extend(shape.to_be_bytes());
            bytes.extend([0x91, 0xD2]);
            bytes.extend(chunk.to_be_bytes());
            bytes.extend([0x91, 0xD2]);
            bytes.extend(block.to_be_bytes());
            bytes.extend(hex("00 db 00 00 00 00"));
            bytes
        };
        let name = library.name;
        assert_eq!(try_with(None), -34, "{name}");
        assert_eq!(try_with(Some(&[])), -32, "{name}");
        assert_eq!(try_with(Some(&[0x97, 0, 1])), -1, "{name}");
        for (shape, chunk, block, right) in [
            (5, 3, 2, 1),
            (5, 3, 4, 1),
            (5, 9, 2, 1),
            (0, 0, 0, 1),
            (0, 0, 2, 1),
            (i64::from(i32::MAX), i32::MAX, i32::MAX - 1, 1),
            (-1, 3, 2, -12),
            (5, -3, 2, -12),
            (5, 3, -2, -12),
            (5, 0, 0, -12),
            (5, 0, 2, -12),
            (0, 3, 0, -12),
            (i64::MAX, 3, 2, -12),
        ] {
            assert_eq!(try_with(Some(&layer(shape, chunk, block))), right, "{name}: {shape} {chunk} {block}");
        }
    }
}

/// Saving, appending to a file, and opening existing and missing files (b2nd.md 6.10, Q5).
#[test]
fn saved_and_appended_arrays_can_be_opened() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in Store::ALL {
            let array = create_filled_array(library, layout_a(), store, &scratch.new_path());
            let path = scratch.new_path();
            assert_eq!((array.save(&path), array.save(&path)), (0, -1), "{}: {store:?}", library.name);
            assert_eq!(path.is_file(), store.is_contiguous(), "{}: {store:?}", library.name);
            assert_eq!(
                Array::open(library, &path).1.expect("an array").to_cbuffer(),
                Ok(consecutive_bytes(35))
            );
            let file = scratch.new_path();
            fs::write(&file, [7; 123]).expect("a file");
            assert_eq!(array.save_append(&file), 123, "{}: {store:?}", library.name);
            let opened = Array::open_offset(library, &file, 123).1.expect("an array");
            assert_eq!(opened.to_cbuffer(), Ok(consecutive_bytes(35)));
            for offset in [0, 122, 124, 100_000] {
                assert_eq!(Array::open_offset(library, &file, offset).0, -32, "{}: {offset}", library.name);
            }
            let fresh = scratch.new_path();
            assert_eq!(array.save_append(&fresh), 0);
            assert_eq!(
                Array::open(library, &fresh).1.expect("an array").to_cbuffer(),
                Ok(consecutive_bytes(35))
            );
            assert_eq!(Array::open(library, &scratch.new_path()).0, -32);
        }
        let taken = scratch.new_path();
        fs::write(&taken, "something").expect("a file");
        let spec = ArraySpec::new(&[5], &[3], &[2], 1).with_store(Store::Directory, &taken);
        assert!(spec.context(library).zeros().0 < 0, "{}: a file in the way", library.name);
    }
}
