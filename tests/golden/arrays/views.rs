//! Views (b2nd.md 6.9, Q7, Q11).

use super::{consecutive_bytes, create_filled_array, for_each_library_and_store};
use crate::support::array::{Array, ArraySpec};
use crate::support::super_chunk::Store;

#[test]
fn views_have_the_items_of_their_base() {
    for_each_library_and_store(|library, store, path| {
        let spec = ArraySpec::new(&[1, 5, 1, 7], &[1, 3, 1, 4], &[1, 2, 1, 2], 1);
        let array = create_filled_array(library, spec, store, path);
        let (rc, view) = array.squeeze();
        let view = view.expect("a view");
        assert_eq!(
            (rc, view.shape(), view.chunkshape(), view.blockshape()),
            (0, &[5, 7][..], &[3, 4][..], &[2, 2][..])
        );
        assert_eq!(view.to_cbuffer(), Ok(consecutive_bytes(35)));
        // SAFETY: a live array with a live super-chunk.
        assert!(unsafe { (*view.fields().sc).view });
        assert_eq!((view.schunk().nchunks(), view.schunk().cbytes()), (4, 128));
        let (mut frame, fresh) = view.to_cframe().expect("a frame");
        assert!(fresh);
        let again = Array::from_frame_copy(library, &mut frame).1.expect("an array");
        assert_eq!((again.shape(), again.to_cbuffer()), (&[5, 7][..], Ok(consecutive_bytes(35))));
        let saved = path.with_extension("saved");
        assert_eq!(view.save(&saved), 0);
        assert!(saved.is_dir(), "{}: {store:?}", library.name);
        assert_eq!(Array::open(library, &saved).1.expect("an array").to_cbuffer(), Ok(consecutive_bytes(35)));
        let (rc, wide) = view.expand_dims(&[false, true, false, true]);
        let wide = wide.expect("a view of a view");
        assert_eq!((rc, wide.shape(), wide.to_cbuffer()), (0, &[5, 1, 7, 1][..], Ok(consecutive_bytes(35))));
        assert_eq!((wide.free(), view.free()), (0, 0));
        assert_eq!(array.squeeze_index(&[true, true, false, false]).0, -33);
        assert_eq!(array.expand_dims(&[false; 5]).0, -12);
        assert_eq!(array.to_cbuffer(), Ok(consecutive_bytes(35)));
    });
}

/// An array with other fixed metalayers has no views; a write through a view of a sparse array changes the array.
#[test]
fn arrays_with_metalayers_have_no_views_and_views_write_to_their_base() {
    for_each_library_and_store(|library, store, path| {
        let mut spec = ArraySpec::new(&[1, 5], &[1, 3], &[1, 2], 1);
        spec.metalayers.push((c"other".to_owned(), vec![1, 2, 3]));
        let array = create_filled_array(library, spec, store, path);
        assert_eq!((array.squeeze().0, array.expand_dims(&[false, false, true]).0), (-12, -12));
    });
    for library in crate::support::all_libraries() {
        let array = create_filled_array(
            library,
            ArraySpec::new(&[1, 5], &[1, 3], &[1, 2], 1),
            Store::Memory,
            "".as_ref(),
        );
        let view = array.squeeze().1.expect("a view");
        assert_eq!(view.set(&[1], &[3], &[91, 92]), 0);
        assert_eq!(array.to_cbuffer(), Ok(vec![1, 91, 92, 4, 5]), "{}", library.name);
        drop(view);
        assert_eq!(array.to_cbuffer(), Ok(vec![1, 91, 92, 4, 5]));
    }
}
