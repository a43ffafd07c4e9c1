//! Changing the shape of arrays, copying and concatenating them: b2nd.md 10 D2, D4, D11 to D14, D22, D24.

use crate::checks::ours;
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::child::{in_new_process, test_name};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

fn increasing_bytes(len: usize) -> Vec<u8> {
    (1..=len).map(|value| value as u8).collect()
}

/// All libraries; each opens the files that ours wrote.
fn readers() -> Vec<&'static Library> {
    crate::support::all_libraries()
}

#[test]
fn b2nd_10_d2_wide_items_are_saved() {
    let scratch = ScratchDir::new();
    for typesize in [256, 300] {
        let items: Vec<u8> = (0..10 * typesize).map(|at| (at / 7) as u8).collect();
        for store in Store::ALL {
            let spec = ArraySpec::new(&[10], &[4], &[2], typesize).with_store(store, &scratch.new_path());
            let array = spec.create_from_buffer(ours(), &items);
            let (saved, appended) = (scratch.new_path(), scratch.new_path());
            assert_eq!((array.save(&saved), array.save_append(&appended)), (0, 0), "{store:?}");
            let (mut frame, _) = array.to_cframe().expect("a frame");
            let equal =
                ArraySpec::new(&[10], &[4], &[2], typesize).context(ours()).copy(&array).1.expect("a copy");
            assert_eq!((equal.typesize(), equal.to_cbuffer()), (typesize as usize, Ok(items.clone())));
            for library in readers() {
                let mut opened = vec![Array::from_frame_copy(library, &mut frame).1];
                opened.extend([&saved, &appended].map(|path| Array::open(library, path).1));
                for array in opened {
                    let array = array.expect("an array");
                    let found = (array.typesize(), array.to_cbuffer());
                    assert_eq!(found, (typesize as usize, Ok(items.clone())), "{}: {store:?}", library.name);
                }
            }
        }
    }
}

/// Appending as many bytes as a chunk has appends those items.
#[test]
fn b2nd_10_d4_append_of_chunksize_bytes_appends_those_items() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let array = |shape: &[i64], chunk: &[i32], block: &[i32]| {
                let spec = ArraySpec::new(shape, chunk, block, 1).with_store(store, &scratch.new_path());
                let items = increasing_bytes(spec.nbytes());
                spec.create_from_buffer(ours(), &items)
            };
            let unaligned = array(&[5], &[3], &[3]);
            assert_eq!(unaligned.append(&[101, 102, 103], 0), 0);
            assert_eq!(unaligned.to_cbuffer(), Ok(vec![1, 2, 3, 4, 5, 101, 102, 103]), "{store:?}");
            let uneven = array(&[6], &[3], &[2]);
            assert_eq!(uneven.append(&[101, 102, 103, 104], 0), 0);
            assert_eq!(uneven.to_cbuffer(), Ok(vec![1, 2, 3, 4, 5, 6, 101, 102, 103, 104]), "{store:?}");
            let wide = array(&[4, 8], &[2, 4], &[2, 4]);
            assert_eq!(wide.append(&[9; 8], 0), 0);
            assert_eq!((wide.shape(), wide.schunk().nchunks()), (&[5, 8][..], 6));
            assert_eq!(wide.to_cbuffer(), Ok([increasing_bytes(32), vec![9; 8]].concat()), "{store:?}");
            let narrow = array(&[4, 3], &[2, 4], &[2, 4]);
            assert_eq!(narrow.append(&[9; 8], 0), -12);
            assert_eq!(narrow.append(&[9; 6], 0), 0);
            assert_eq!(narrow.to_cbuffer(), Ok([increasing_bytes(12), vec![9; 6]].concat()), "{store:?}");
            let point = array(&[], &[], &[]);
            assert_eq!((point.append(&[9], 0), point.schunk().nchunks()), (-12, 1));
            let negative = array(&[3], &[3], &[3]);
            assert_eq!((negative.append(&[9; 3], -1), negative.append(&[9], -1)), (-12, -12));
            assert_eq!(negative.insert(&[9], -1, 0), -12);
            assert_eq!(negative.to_cbuffer(), Ok(increasing_bytes(3)), "{store:?}");
        }
    });
}

/// Returns every field that a change of the shape writes.
fn shape_state(array: &Array) -> (Vec<i64>, Vec<i64>, [i64; 6]) {
    let fields = array.fields();
    let schunk = array.schunk();
    (
        fields.shape.to_vec(),
        fields.extshape.to_vec(),
        [
            fields.nitems,
            fields.extnitems,
            i64::from(fields.chunknitems),
            schunk.nchunks(),
            schunk.nbytes(),
            fields.item_array_strides[0],
        ],
    )
}

#[test]
fn b2nd_10_d11_failed_resizes_change_nothing() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let spec = ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).with_store(store, &scratch.new_path());
            let array = spec.create_from_buffer(ours(), &increasing_bytes(35));
            let before = (shape_state(&array), array.schunk().meta_get("b2nd"));
            let far = i64::MAX;
            for shape in [
                [far, 7],
                [far - 1, far - 1],
                [5, far],
                [2, far],
                [-1, 7],
                [5, -7],
                [1 << 62, 1 << 62],
                [1 << 50, 1],
            ] {
                assert!(array.resize(&shape, None) < 0, "{store:?}: {shape:?}");
                assert_eq!(
                    (shape_state(&array), array.schunk().meta_get("b2nd")),
                    before,
                    "{store:?}: {shape:?}"
                );
            }
            assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        }
    });
}

#[test]
fn b2nd_10_d12_invalid_axes_starts_and_lengths_are_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let spec = ArraySpec::new(&[9], &[3], &[3], 1).with_store(store, &scratch.new_path());
            let array = spec.create_from_buffer(ours(), &increasing_bytes(9));
            for (axis, start, len) in [
                (0, 6, 6),
                (0, 9, 3),
                (0, 0, -3),
                (0, 9, -3),
                (0, -3, 3),
                (0, 3, 9),
                (-1, 0, 3),
                (1, 0, 3),
                (0, 0, i64::MIN),
                (0, i64::MAX, 3),
            ] {
                assert_eq!(array.delete(axis, start, len), -12, "{store:?}: {axis} {start} {len}");
            }
            for (axis, start) in [(0, -3), (0, 12), (-1, 0), (-128, 0), (0, i64::MIN), (1, 0)] {
                assert_eq!(array.insert(&[1, 2, 3], axis, start), -12, "{store:?}: {axis} {start}");
            }
            for (shape, start) in [(12, -3), (6, -3), (3, 6), (12, 12)] {
                assert_eq!(array.resize(&[shape], Some(&[start])), -12, "{store:?}: {shape} {start}");
            }
            let source = [0u8; 3];
            // SAFETY: a live array; the buffer is not read.
            unsafe {
                let f = array.functions;
                assert_eq!((f.b2nd_insert)(array.raw(), source.as_ptr().cast(), -3, 0, 9), -12);
                assert_eq!((f.b2nd_append)(array.raw(), source.as_ptr().cast(), -3, 0), -12);
            }
            assert_eq!((array.shape(), array.schunk().nchunks()), (&[9][..], 3), "{store:?}");
            assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(9)), "{store:?}");
        }
    });
}

#[test]
fn b2nd_10_d13_changes_of_empty_dimensions_do_not_divide_by_zero() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let flat = ArraySpec::new(&[4, 0], &[2, 2], &[2, 2], 1)
                .with_store(store, &scratch.new_path())
                .zeros(ours());
            assert_eq!(flat.insert(&[1, 2], 0, 4), -12, "{store:?}");
            assert_eq!(flat.append(&[1, 2], 0), -12, "{store:?}");
            assert_eq!(flat.append(&[1, 2, 3, 4], 1), 0, "{store:?}");
            assert_eq!(flat.to_cbuffer(), Ok(increasing_bytes(4)), "{store:?}");
            let spec = ArraySpec::new(&[4, 0], &[2, 0], &[2, 0], 1).with_store(store, &scratch.new_path());
            let placeholder = spec.zeros(ours());
            for shape in [[4, 1], [6, 0], [3, 0], [4, 100], [2, 2]] {
                let rc = placeholder.resize(&shape, None);
                // A shape that is still empty needs no chunks.
                assert!(rc == -12 || rc == 0 && shape[1] == 0, "{store:?}: {shape:?} gives {rc}");
            }
            assert!(placeholder.resize(&[4, 2], Some(&[0, 0])) < 0);
            assert_eq!(placeholder.append(&[1, 2, 3, 4], 1), -12, "{store:?}");
            assert!(placeholder.append(&[], 1) <= 0);
            assert_eq!(placeholder.schunk().nchunks(), 0, "{store:?}");
            let spec = ArraySpec::new(&[4], &[0], &[0], 1).with_store(store, &scratch.new_path());
            if let Some(context) = spec.try_context(ours(), None) {
                let (rc, array) = context.zeros();
                assert!(rc == -12 && array.is_none(), "{store:?}: {rc}");
            }
        }
    });
}

#[test]
fn b2nd_10_d14_concatenation_with_another_chunkshape() {
    in_new_process(test_name!(), || {
        let items =
            |len: usize, from: u8| (0..len).map(|at| from.wrapping_add(at as u8)).collect::<Vec<u8>>();
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            for (chunk, block) in
                [([4, 4], [2, 2]), ([8, 4], [2, 2]), ([3, 5], [2, 2]), ([6, 6], [3, 3]), ([5, 5], [2, 2])]
            {
                let spec = |shape: [i64; 2]| ArraySpec::new(&shape, &[4, 4], &[2, 2], 1);
                let (first, second) = (items(64, 1), items(48, 101));
                let (a, b) = (
                    spec([8, 8]).create_from_buffer(ours(), &first),
                    spec([6, 8]).create_from_buffer(ours(), &second),
                );
                let context = ArraySpec::new(&[8, 8], &chunk, &block, 1)
                    .with_store(store, &scratch.new_path())
                    .context(ours());
                let (rc, joined) = context.concatenate(&a, &b, 0);
                let joined = joined.expect("an array");
                assert_eq!((rc, joined.shape()), (0, &[14, 8][..]), "{store:?}: {chunk:?}");
                assert_eq!(
                    joined.to_cbuffer(),
                    Ok([first, second].concat()),
                    "{store:?}: {chunk:?} {block:?}"
                );
                assert_eq!(joined.schunk().chunksize(), joined.fields().extchunknitems as i32);
            }
            // Appends an array to itself.
            for shape in [8, 7] {
                let spec =
                    ArraySpec::new(&[shape, 3], &[4, 2], &[2, 2], 1).with_store(store, &scratch.new_path());
                let once = items(shape as usize * 3, 1);
                let array = spec.create_from_buffer(ours(), &once);
                assert_eq!(array.extend(&array, 0), 0, "{store:?}: {shape}");
                assert_eq!(array.to_cbuffer(), Ok([once.clone(), once].concat()), "{store:?}: {shape}");
            }
        }
    });
}

/// Resizing an array of the old caterva format writes the shape back to the metalayer it was read from, or changes
/// nothing.
#[test]
fn b2nd_10_d22_resize_of_a_caterva_array_is_stored_or_rejected() {
    let scratch = ScratchDir::new();
    let source =
        ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(35));
    let mut layer = source.schunk().meta_get("b2nd").expect("a metalayer")[..44].to_vec();
    layer[0] = 0x95;
    for store in Store::ALL {
        let path = scratch.new_path();
        let params = Params { typesize: 1, blocksize: 4, ..Params::default() };
        let schunk = SuperChunk::create(ours(), store, &path, &params);
        assert_eq!(schunk.meta_add("caterva", &layer), 0);
        for number in 0..4 {
            schunk.append(&source.schunk().decompress(number).expect("a chunk")).expect("appended");
        }
        let array = Array::from_super_chunk(schunk).expect("an array");
        let before = shape_state(&array);
        let rc = array.resize(&[8, 7], None);
        let right = if rc == 0 {
            assert_eq!(array.shape(), [8, 7], "{store:?}");
            [increasing_bytes(35), vec![0; 21]].concat()
        } else {
            assert_eq!(shape_state(&array), before, "{store:?}");
            increasing_bytes(35)
        };
        assert_eq!(array.to_cbuffer().as_ref(), Ok(&right), "{store:?}");
        let shape = array.shape().to_vec();
        let mut frame = array.to_cframe().expect("a frame").0;
        drop(array);
        for library in readers() {
            let again = Array::from_frame_copy(library, &mut frame).1.expect("an array");
            assert_eq!((again.shape(), again.to_cbuffer().as_ref()), (&shape[..], Ok(&right)), "{store:?}");
            if store.is_on_disk() {
                let again = Array::open(library, &path).1.expect("an array");
                assert_eq!(
                    (again.shape(), again.to_cbuffer().as_ref()),
                    (&shape[..], Ok(&right)),
                    "{store:?}"
                );
            }
        }
    }
}

/// The stored shape is that of the array, whatever the length of the dtype in the context.
#[test]
fn b2nd_10_d24_copy_with_a_longer_dtype_stores_the_right_shape() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let spec = || ArraySpec::new(&[6], &[2], &[2], 4);
        let source = spec().with_dtype("").create_from_buffer(ours(), &increasing_bytes(24));
        for dtype in [None, Some("<i4"), Some("")] {
            let path = scratch.new_path();
            let mut spec = spec().with_store(store, &path);
            spec.dtype = dtype.map(|text| std::ffi::CString::new(text).expect("no NUL"));
            let copy = spec.context(ours()).copy(&source).1.expect("a copy");
            assert_eq!(copy.append(&[9; 16], 0), 0, "{store:?} {dtype:?}");
            assert_eq!(copy.slice_nchunks(&[0], &[10]), Ok(vec![0, 1, 2, 3, 4]), "{store:?} {dtype:?}");
            let right = [increasing_bytes(24), vec![9; 16]].concat();
            let (mut frame, _) = copy.to_cframe().expect("a frame");
            let saved = scratch.new_path();
            assert_eq!(copy.save(&saved), 0);
            drop(copy);
            for library in readers() {
                let mut arrays =
                    vec![Array::from_frame_copy(library, &mut frame), Array::open(library, &saved)];
                if store.is_on_disk() {
                    arrays.push(Array::open(library, &path));
                }
                for (_, array) in arrays {
                    let array = array.expect("an array");
                    assert_eq!(
                        array.to_cbuffer().as_ref(),
                        Ok(&right),
                        "{}: {store:?} {dtype:?}",
                        library.name
                    );
                }
            }
        }
    }
}

/// Opening an array whose shape claims a huge number of chunks does not iterate over them.
#[test]
fn b2nd_array_with_missing_chunks_rejects_shape_changes() {
    in_new_process(test_name!(), || {
        let items = increasing_bytes(6);
        let mut frame = ArraySpec::new(&[6], &[2], &[2], 1)
            .create_from_buffer(ours(), &items)
            .to_cframe()
            .expect("a frame")
            .0;
        let stored = [&[0xd3][..], &6i64.to_be_bytes()].concat();
        let at = frame.windows(9).position(|bytes| bytes == stored).expect("the stored shape");
        frame[at + 1..at + 9].copy_from_slice(&(1i64 << 31).to_be_bytes());
        // Opening may succeed or fail.
        let Some(array) = Array::from_frame_copy(ours(), &mut frame).1 else { return };
        assert!(array.delete(0, 2, 2) < 0);
        assert!(array.resize(&[4], None) < 0);
        assert!(array.append(&[7, 8], 0) < 0);
        assert_eq!(array.get(&[0], &[6]), Ok(items));
    });
}
