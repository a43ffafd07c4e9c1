//! Reads and writes of boxes, of flat positions and of outer products (b2nd.md 6.3 to 6.8).

use super::{consecutive_bytes, create_filled_array, for_each_library_and_store, layout_a};
use crate::support::array::ArraySpec;
use crate::support::calls::DEST_FILL_BYTE;

#[test]
fn get_slice_reads_boxes_and_rejects_small_buffers() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        let right = [10, 11, 12, 13, 17, 18, 19, 20, 24, 25, 26, 27];
        assert_eq!(array.get(&[1, 2], &[4, 6]).as_deref(), Ok(&right[..]));
        let read =
            |shape: [i64; 2], room, size| array.get_slice_cbuffer(&[1, 2], &[4, 6], &shape, room, size);
        let spread = [10, 11, 12, 13, 0, 17, 18, 19, 20, 0, 24, 25, 26, 27, 0, 0, 0, 0, 0, 0].to_vec();
        assert_eq!(read([4, 5], 20, 20), (0, spread));
        let mut tail = right.to_vec();
        tail.extend([0, 0]);
        assert_eq!(read([3, 4], 14, 14), (0, tail));
        assert_eq!(read([3, 4], 12, 11), (-12, [[0; 11].as_slice(), &[DEST_FILL_BYTE]].concat()));
        assert_eq!(read([2, 4], 12, 12), (-12, vec![0; 12]));
        assert_eq!(read([3, 4], 12, -1), (-12, vec![DEST_FILL_BYTE; 12]));
        // Past the shape, inside the extended shape.
        let past = [26, 27, 28, 0, 33, 34, 35, 0, 0, 0, 0, 0].to_vec();
        assert_eq!(array.get_slice_cbuffer(&[3, 4], &[6, 8], &[3, 4], 12, 12), (0, past));
    });
}

#[test]
fn set_slice_writes_boxes_and_rejects_small_buffers() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        let source: Vec<u8> = (100..132).collect();
        assert_eq!(array.set_slice_cbuffer(&source, &[4, 8], 32, &[1, 2], &[3, 5]), 0);
        let items = array.to_cbuffer().expect("items");
        assert_eq!(items[7..14], [8, 9, 100, 101, 102, 13, 14]);
        assert_eq!(items[14..21], [15, 16, 108, 109, 110, 20, 21]);
        assert_eq!(array.set_slice_cbuffer(&source, &[2, 3], 5, &[1, 2], &[3, 5]), -12);
        assert_eq!(array.set_slice_cbuffer(&source, &[2, 2], 32, &[1, 2], &[3, 5]), -12);
        assert_eq!(array.set_slice_cbuffer(&source, &[2, 3], -1, &[1, 2], &[3, 5]), -12);
        assert_eq!(array.to_cbuffer(), Ok(items));
    });
}

/// A write of a whole chunk that extends past the shape stores all bytes (b2nd.md Q16); they become visible when the
/// array grows.
#[test]
fn set_slice_past_the_shape_stores_the_whole_chunk() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[6], &[4], &[4], 1), store, path);
        assert_eq!(array.set(&[4], &[8], &[91, 92, 93, 94]), 0);
        assert_eq!(array.to_cbuffer(), Ok(vec![1, 2, 3, 4, 91, 92]));
        assert_eq!(array.resize(&[8], None), 0);
        assert_eq!(array.to_cbuffer(), Ok(vec![1, 2, 3, 4, 91, 92, 93, 94]));
    });
}

#[test]
fn get_sparse_reads_items_by_flat_position() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        assert_eq!(array.get_sparse(&[34, 0, 6, 7, 34, 20], 6, 6), (0, vec![35, 1, 7, 8, 35, 21]));
        assert_eq!(array.get_sparse(&[34, 0], 2, 1), (-12, vec![DEST_FILL_BYTE; 2]));
        for wrong in [35, -1, i64::MAX, i64::MIN] {
            assert_eq!(array.get_sparse(&[0, wrong], 2, 2), (-12, vec![DEST_FILL_BYTE; 2]), "{wrong}");
        }
        assert_eq!(array.get_sparse(&[], 2, 0), (0, vec![DEST_FILL_BYTE; 2]));
    });
}

#[test]
fn orthogonal_selections_are_read_and_written() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        let selection = [vec![4, 0], vec![6, 1, 1]];
        assert_eq!(array.get_orthogonal(&selection, &[2, 3], 6, 6), (0, vec![35, 30, 30, 7, 2, 2]));
        assert_eq!(array.get_orthogonal(&selection, &[2, 3], 7, 7), (-12, vec![DEST_FILL_BYTE; 7]));
        // The stated size of the buffer is not checked (b2nd.md Q4).
        assert_eq!(array.get_orthogonal(&selection, &[2, 3], 6, 0), (0, vec![35, 30, 30, 7, 2, 2]));
        let b = DEST_FILL_BYTE;
        let spread = vec![35, 30, 30, b, b, 7, 2, 2, b, b];
        assert_eq!(array.get_orthogonal(&selection, &[2, 5], 10, 6), (0, spread));
        assert_eq!(array.get_orthogonal(&[vec![6], vec![0]], &[1, 1], 1, 1).0, -33);
        let items: Vec<u8> = (201..210).collect();
        assert_eq!(array.set_orthogonal(&[vec![4, 0, 4], vec![6, 1, 1]], &items, &[3, 3], 9), 0);
        let found = array.to_cbuffer().expect("items");
        assert_eq!([found[1], found[6], found[29], found[34]], [206, 204, 209, 207]);
        assert_eq!((&found[7..28], found[0], found[28]), (&consecutive_bytes(35)[7..28], 1, 29));
    });
}

#[test]
fn slice_nchunks_lists_the_chunks_of_a_box() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        let chunks = |start: [i64; 2], stop: [i64; 2]| array.slice_nchunks(&start, &stop);
        assert_eq!(chunks([1, 2], [4, 6]), Ok(vec![0, 1, 2, 3]));
        assert_eq!(chunks([3, 0], [5, 3]), Ok(vec![2]));
        // An empty box inside chunks (b2nd.md 6.8).
        assert_eq!(chunks([1, 3], [4, 3]), Ok(vec![0, 2]));
        assert_eq!(chunks([1, 4], [4, 4]), Ok(vec![]));
        assert_eq!(chunks([1, 7], [4, 7]), Ok(vec![]));
    });
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, ArraySpec::new(&[], &[], &[], 1), store, path);
        assert_eq!(array.slice_nchunks(&[], &[]), Ok(vec![0]));
    });
}

/// A buffer that is too short leaves zeros, or nothing (b2nd.md 6.3).
#[test]
fn to_cbuffer_rejects_a_short_buffer_and_zeros_the_rest() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        assert_eq!(array.to_cbuffer_sized(35, 34), (-12, vec![DEST_FILL_BYTE; 35]));
        let mut longer = consecutive_bytes(35);
        longer.extend([0; 5]);
        assert_eq!(array.to_cbuffer_sized(40, 40), (0, longer));
    });
}
