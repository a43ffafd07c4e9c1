//! Views: b2nd.md 10 D6 and D7.

use crate::checks::ours;
use crate::support::array::{Array, ArraySpec};
use crate::support::child::{in_new_process, test_name};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

fn increasing_bytes(len: usize) -> Vec<u8> {
    (1..=len).map(|value| value as u8).collect()
}

/// A view that could not be read is not created.
#[test]
fn b2nd_10_d6_views_that_cannot_share_chunks_are_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            for (chunk, block) in [([2, 3], [1, 2]), ([2, 3], [2, 2]), ([1, 3], [2, 2])] {
                let spec = ArraySpec::new(&[1, 5], &chunk, &block, 1).with_store(store, &scratch.new_path());
                let array = spec.create_from_buffer(ours(), &increasing_bytes(5));
                assert_eq!(array.squeeze().0, -12, "{store:?}: {chunk:?} {block:?}");
                assert_eq!(array.squeeze_index(&[true, false]).0, -12, "{store:?}: {chunk:?} {block:?}");
                assert_eq!(array.to_cbuffer(), Ok(increasing_bytes(5)));
            }
            // An empty selection has no chunks to share.
            for chunk in [[2, 3], [0, 3], [1, 0]] {
                let block = chunk.map(|length: i32| length.min(2));
                let spec = ArraySpec::new(&[1, 0], &chunk, &block, 1).with_store(store, &scratch.new_path());
                let Some(array) = spec.try_context(ours(), None).and_then(|context| context.zeros().1) else {
                    continue;
                };
                let (rc, view) = array.squeeze();
                let view = view.expect("a view");
                assert_eq!((rc, view.shape(), view.to_cbuffer()), (0, &[0][..], Ok(vec![])), "{chunk:?}");
            }
            let spec = ArraySpec::new(&[5, 4], &[3, 2], &[2, 2], 1).with_store(store, &scratch.new_path());
            let array = spec.create_from_buffer(ours(), &increasing_bytes(20));
            for axis in [&[false][..], &[true, false], &[], &[true]] {
                assert_eq!(array.expand_dims(axis).0, -12, "{store:?}: {axis:?}");
            }
            let mut many = vec![true; 15];
            many.extend([false, false]);
            assert_eq!(array.expand_dims(&many).0, -12, "17 dimensions");
            many.extend([true; 200]);
            assert_eq!(array.expand_dims(&many).0, -12, "217 dimensions");
            let (rc, view) = array.expand_dims(&many[1..17]);
            assert_eq!(
                (rc, view.expect("a view").to_cbuffer()),
                (0, Ok(increasing_bytes(20))),
                "16 dimensions"
            );
        }
    });
}

/// Freeing a view does not free the metalayers of the base; writing to or resizing a view does not free the chunks of
/// the base.
#[test]
fn b2nd_10_d7_base_array_is_intact_after_its_views_are_freed() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let path = scratch.new_path();
            let array = ArraySpec::new(&[1, 10], &[1, 3], &[1, 2], 1)
                .with_store(store, &path)
                .create_from_buffer(ours(), &increasing_bytes(10));
            assert!(array.schunk().vlmeta_add("first", b"some content") >= 0);
            assert!(array.schunk().vlmeta_add("second", &[7; 300]) >= 0);
            for _ in 0..3 {
                let view = array.squeeze().1.expect("a view");
                let wide = view.expand_dims(&[true, false, true]).1.expect("a view of the view");
                assert_eq!(view.schunk().vlmeta_get("first").as_deref(), Ok(&b"some content"[..]));
                assert_eq!((wide.free(), view.free()), (0, 0));
                assert_eq!(array.schunk().vlmeta_get("first").as_deref(), Ok(&b"some content"[..]));
                assert_eq!(array.schunk().vlmeta_get("second"), Ok(vec![7; 300]));
            }
            let view = array.squeeze().1.expect("a view");
            // The write changes every chunk of the base, or is rejected.
            let mut right = increasing_bytes(10);
            for round in 0..3u8 {
                let more: Vec<u8> = (0..8).map(|at| 100 + 10 * round + at).collect();
                let rc = view.set(&[1], &[9], &more);
                assert!(rc <= 0, "{store:?}: {rc}");
                if rc == 0 {
                    right[1..9].copy_from_slice(&more);
                }
                assert_eq!(array.to_cbuffer().as_ref(), Ok(&right), "{store:?}");
                assert_eq!(view.to_cbuffer().as_ref(), Ok(&right), "{store:?}");
            }
            let nchunks = array.schunk().nchunks();
            for shape in [20, 4] {
                let rc = view.resize(&[shape], None);
                assert!(rc <= 0, "{store:?}: {rc}");
                assert_eq!((array.shape(), array.schunk().nchunks()), (&[1, 10][..], nchunks), "{store:?}");
                assert_eq!(array.to_cbuffer().as_ref(), Ok(&right), "{store:?}");
            }
            assert_eq!(view.free(), 0);
            assert_eq!(array.to_cbuffer().as_ref(), Ok(&right), "{store:?}");
            let (mut frame, _) = array.to_cframe().expect("a frame");
            assert_eq!(array.free(), 0);
            for library in crate::support::all_libraries() {
                let again = Array::from_frame_copy(library, &mut frame).1.expect("an array");
                assert_eq!(again.to_cbuffer().as_ref(), Ok(&right), "{}: {store:?}", library.name);
            }
        }
    });
}
