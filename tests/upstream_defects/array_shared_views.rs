//! Views and selections of arrays (b2nd.md 10, D6 to D8).

use crate::checks::ours;
use crate::support::array::{Array, ArraySpec};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const INVALID_PARAM: i32 = -12;
const INVALID_INDEX: i32 = -33;

/// Items of one byte, numbered from 1.
fn increasing_bytes(nitems: usize) -> Vec<u8> {
    (1..=nitems as u8).collect()
}

/// Shape (5, 1, 7) in chunks of (3, 1, 4) and blocks of (2, 1, 2).
fn base_array(store: Store, scratch: &ScratchDir) -> Array {
    let spec = ArraySpec::new(&[5, 1, 7], &[3, 1, 4], &[2, 1, 2], 1);
    spec.with_store(store, &scratch.new_path()).create_from_buffer(ours(), &increasing_bytes(35))
}

fn expect_view((rc, array): (i32, Option<Array>)) -> Array {
    assert_eq!(rc, 0);
    array.expect("a view")
}

#[track_caller]
fn assert_rejected((rc, array): (i32, Option<Array>), right: i32) {
    assert_eq!(rc, right);
    assert!(array.is_none());
}

#[test]
fn d6_invalid_views_are_rejected() {
    let wide = ArraySpec::new(&[5, 1], &[3, 2], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(5));
    assert_rejected(wide.squeeze(), INVALID_PARAM);
    let wide_block =
        ArraySpec::new(&[5, 1], &[3, 1], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(5));
    assert_rejected(wide_block.squeeze(), INVALID_PARAM);
    let empty = ArraySpec::new(&[0, 1], &[3, 2], &[2, 2], 1).zeros(ours());
    assert_eq!(expect_view(empty.squeeze()).shape(), [0]);

    let array =
        ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(35));
    assert_rejected(array.squeeze_index(&[true, false]), INVALID_INDEX);
    assert_rejected(array.expand_dims(&[true, false]), INVALID_PARAM);
    assert_rejected(array.expand_dims(&[false, false, false]), INVALID_PARAM);
    let mut axis = [true; 17];
    (axis[3], axis[9]) = (false, false);
    assert_rejected(array.expand_dims(&axis), INVALID_PARAM);
    assert_eq!(expect_view(array.expand_dims(&axis[..16])).to_cbuffer(), Ok(increasing_bytes(35)));
}

#[test]
fn d7_freeing_views_keeps_shared_chunks_and_metalayers() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let array = base_array(store, &scratch);
        assert!(array.schunk().vlmeta_add("note", b"a content") >= 0);
        let view = expect_view(array.squeeze());
        let again = expect_view(view.expand_dims(&[false, true, true, false]));
        assert_eq!(view.schunk().vlmeta_get("note"), Ok(b"a content".to_vec()));
        // Changes of the metalayers of the array do not affect the view.
        assert!(array.schunk().vlmeta_delete("note") >= 0);
        assert_eq!(again.schunk().vlmeta_get("note"), Ok(b"a content".to_vec()));
        assert_eq!(view.free(), 0);
        assert_eq!(again.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        assert_eq!(again.free(), 0);
        assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
    }
}

#[test]
fn d7_items_are_set_through_views() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let array = base_array(store, &scratch);
        let view = expect_view(array.squeeze());
        let mut model = increasing_bytes(35);
        for round in 0..3u8 {
            // Reads a single item, so that its block is cached.
            assert_eq!(view.get(&[1, 1], &[2, 2]), Ok(vec![model[8]]), "{store:?}");
            model[8] = 100 + round;
            assert_eq!(array.set(&[1, 0, 1], &[2, 1, 2], &[model[8]]), 0);
            assert_eq!(view.get(&[1, 1], &[2, 2]), Ok(vec![model[8]]), "{store:?}");
            model[8] = 200 + round;
            assert_eq!(view.set(&[1, 1], &[2, 2], &[model[8]]), 0);
            assert_eq!(array.get(&[1, 0, 1], &[2, 1, 2]), Ok(vec![model[8]]), "{store:?}");
            model[30 + usize::from(round)] = round;
            let at = 2 + i64::from(round);
            assert_eq!(view.set_orthogonal(&[vec![4], vec![at]], &[round], &[1, 1], 1), 0);
            assert_eq!(array.to_cbuffer(), Ok(model.clone()), "{store:?}");
        }
        let (mut frame, _) = array.to_cframe().expect("a frame");
        let copy = expect_view(Array::from_frame_copy(ours(), &mut frame));
        assert_eq!(copy.to_cbuffer(), Ok(model), "{store:?}");
    }
}

#[test]
fn d7_views_reject_changes_of_shape_chunks_and_metalayers() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let array = base_array(store, &scratch);
        let view = expect_view(array.squeeze());
        assert_eq!(view.resize(&[8, 7], None), INVALID_PARAM);
        assert_eq!(view.resize(&[2, 7], None), INVALID_PARAM);
        assert_eq!(view.append(&[0; 7], 0), INVALID_PARAM);
        assert_eq!(view.delete(0, 3, 2), INVALID_PARAM);
        let chunks = view.schunk();
        assert!(chunks.append(&[0; 16]).is_err());
        assert!(chunks.delete_chunk(0).is_err());
        assert!(chunks.reorder(&[3, 2, 1, 0]) < 0);
        assert!(chunks.meta_add("other", b"x") < 0);
        assert!(chunks.meta_update("b2nd", &[0x97]) < 0);
        assert!(chunks.vlmeta_add("other", b"x") < 0);
        assert_eq!(view.shape(), [5, 7]);
        assert_eq!(view.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        assert_eq!(array.schunk().metalayers().len(), 1);
    }
}

/// After the array has grown, shrunk or been freed, a read through the view returns chunks that exist, or an error.
#[test]
fn d7_views_of_a_resized_or_freed_array_read_existing_chunks_or_fail() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let array = base_array(store, &scratch);
        let view = expect_view(array.squeeze());
        assert_eq!(array.resize(&[3000, 1, 7], None), 0);
        assert_eq!(view.to_cbuffer(), Ok(increasing_bytes(35)), "{store:?}");
        assert_eq!(array.resize(&[3, 1, 7], None), 0);
        assert!(view.to_cbuffer().is_err(), "{store:?}");
        assert_eq!(view.get(&[0, 0], &[1, 7]), Ok(increasing_bytes(7)), "{store:?}");
        assert_eq!(array.free(), 0);
        assert!(view.to_cbuffer().is_err(), "{store:?}");
        assert_ne!(view.set(&[0, 0], &[1, 1], &[1]), 0, "{store:?}");
        assert_eq!(view.free(), 0);
    }
}

/// The numbers of the chunks along a dimension with one chunk do not depend on the shape along the others.
#[test]
fn d7_views_of_one_row_of_chunks_are_read_after_columns_were_added() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let spec =
            ArraySpec::new(&[3, 1, 4], &[3, 1, 2], &[3, 1, 2], 1).with_store(store, &scratch.new_path());
        let array = spec.create_from_buffer(ours(), &increasing_bytes(12));
        let view = expect_view(array.squeeze());
        assert_eq!(array.resize(&[3, 1, 9], None), 0);
        assert_eq!(view.to_cbuffer(), Ok(increasing_bytes(12)), "{store:?}");
        assert_eq!(view.set(&[2, 3], &[3, 4], &[99]), 0);
        assert_eq!(array.get(&[2, 0, 3], &[3, 1, 4]), Ok(vec![99]), "{store:?}");
    }
}

/// An array is extended with a view of itself, whose lock it has.
#[test]
fn d7_arrays_are_extended_with_their_views() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        // The addresses of views before and behind that of the array.
        let gaps: Vec<Array> = (0..4).map(|_| base_array(Store::Memory, &scratch)).collect();
        let array = base_array(store, &scratch);
        drop(gaps);
        let views: Vec<Array> = (0..8).map(|_| expect_view(array.squeeze_index(&[false; 3]))).collect();
        let mut expected = increasing_bytes(35);
        for view in &views {
            assert_eq!(array.extend(view, 0), 0, "{store:?}");
            expected.extend(increasing_bytes(35));
            assert_eq!(array.to_cbuffer().as_ref(), Ok(&expected), "{store:?}");
        }
    }
}

#[test]
fn d8_selections_out_of_range_are_rejected() {
    let array =
        ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(35));
    for (rows, columns) in [(5, 0), (-1, 0), (0, 7), (0, -1), (i64::MAX, 0), (0, i64::MIN)] {
        let selection = [vec![0, rows], vec![0, columns]];
        assert_eq!(array.get_orthogonal(&selection, &[2, 2], 4, 4).0, INVALID_INDEX);
        assert_eq!(array.set_orthogonal(&selection, &[9; 4], &[2, 2], 4), INVALID_INDEX);
    }
    assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(35)));
}

#[test]
fn d8_an_array_without_dimensions_is_one_item() {
    let array = ArraySpec::new(&[], &[], &[], 4).create_from_buffer(ours(), &[1, 2, 3, 4]);
    assert_eq!(array.get_orthogonal(&[], &[], 4, 4), (0, vec![1, 2, 3, 4]));
    assert_eq!(array.get_orthogonal(&[], &[], 4, 3).0, INVALID_PARAM);
    assert_eq!(array.get_orthogonal(&[], &[], 5, 5).0, INVALID_PARAM);
    assert_eq!(array.set_orthogonal(&[], &[5, 6, 7, 8], &[], 4), 0);
    assert_eq!(array.to_cbuffer(), Ok(vec![5, 6, 7, 8]));
}

/// Coordinates whose difference does not fit into 32 bits.
#[test]
fn d8_coordinates_more_than_32_bits_apart_are_read() {
    let chunk = 1 << 30;
    let array = ArraySpec::new(&[1 << 33], &[chunk], &[1 << 15], 1).zeros(ours());
    let far = vec![0, 1 << 32, 5, (1 << 33) - 1, 1 << 31];
    assert_eq!(array.get_orthogonal(&[far], &[5], 5, 5), (0, vec![0; 5]));
}

/// Items whose positions in the buffer overlap are copied one by one.
#[test]
fn d8_selection_into_overlapping_rows_writes_only_those_rows() {
    let array =
        ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).create_from_buffer(ours(), &increasing_bytes(35));
    let selection = [vec![0, 4], vec![0, 1, 2]];
    let (rc, found) = array.get_orthogonal(&selection, &[2, 0], 6, 6);
    // Both rows begin at the same position; the bytes behind them are not written.
    let first = [1, 2, 3];
    let second = [29, 30, 31];
    assert!(rc == 0 && found[..3].iter().zip(first).zip(second).all(|((x, a), b)| *x == a || *x == b));
    assert_eq!(found[3..], array.get_orthogonal(&[vec![], vec![]], &[0, 0], 3, 0).1[..]);
    assert_eq!(array.get_orthogonal(&selection, &[2, -1], 6, 6).0, INVALID_PARAM);
}
