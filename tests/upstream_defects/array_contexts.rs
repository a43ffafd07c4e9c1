//! Creating and freeing arrays: b2nd.md 10 D15 to D17.

use std::fs;
use std::ptr::{null, null_mut};

use blosc2::abi::blosc2_metalayer;

use crate::checks::ours;
use crate::support::array::functions::Functions;
use crate::support::array::{Array, ArraySpec};
use crate::support::child::{in_new_process, test_name};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

fn functions() -> &'static Functions {
    Functions::of(ours())
}

#[test]
fn b2nd_10_d15_null_arguments_are_rejected() {
    in_new_process(test_name!(), || {
        let f = functions();
        let array = ArraySpec::new(&[5], &[3], &[2], 1).create_from_buffer(ours(), &[1, 2, 3, 4, 5]);
        let context = ArraySpec::new(&[5], &[3], &[2], 1).context(ours());
        let raw = array.raw();
        let (mut out, mut item) = (null_mut(), 0u8);
        let buffer = std::ptr::from_mut(&mut item).cast();
        // SAFETY: live arrays and contexts, valid out-pointers; NULL must be rejected.
        unsafe {
            assert_eq!((f.b2nd_get_slice)(null_mut(), &mut out, raw, [0].as_ptr(), [1].as_ptr()), -32);
            assert_eq!((f.b2nd_copy)(null_mut(), raw, &mut out), -32);
            assert_eq!((f.b2nd_concatenate)(null_mut(), raw, raw, 0, true, &mut out), -32);
            assert_eq!((f.b2nd_free_ctx)(null_mut()), -32);
            assert_eq!((f.b2nd_full)(context.raw(), &mut out, null()), -32);
            assert_eq!((f.b2nd_set_slice_cbuffer)(buffer, null(), 1, [0].as_ptr(), [1].as_ptr(), raw), -32);
            assert_eq!((f.b2nd_squeeze_index)(null_mut(), &mut out, [true].as_ptr()), -32);
            assert_eq!((f.b2nd_squeeze_index)(raw, null_mut(), [true].as_ptr()), -32);
            assert_eq!((f.b2nd_squeeze_index)(raw, &mut out, null()), -32);
            assert_eq!((f.b2nd_expand_dims)(null_mut(), &mut out, [true].as_ptr(), 1), -32);
            assert_eq!((f.b2nd_expand_dims)(raw, null_mut(), [true].as_ptr(), 1), -32);
            assert_eq!((f.b2nd_expand_dims)(raw, &mut out, null(), 1), -32);
            assert_eq!(
                (f.b2nd_serialize_meta)(1, [1].as_ptr(), [1].as_ptr(), [1].as_ptr(), null(), 0, null_mut()),
                -32
            );
        }
        assert!(out.is_null());
        assert_eq!(array.to_cbuffer(), Ok(vec![1, 2, 3, 4, 5]));
    });
}

/// A failed call leaves no array, no file and no allocated memory.
#[test]
fn b2nd_10_d16_failures_leave_no_array_file_or_memory() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let f = functions();
        for store in Store::ALL {
            // A chunk of too many bytes; an overflow; a metalayer name that is in use; too many chunks.
            let mut doubled = ArraySpec::new(&[5], &[3], &[2], 1);
            doubled.metalayers.push((c"b2nd".to_owned(), vec![1]));
            let specs = [
                ArraySpec::new(&[1 << 30], &[1 << 30], &[1 << 10], 4),
                ArraySpec::new(&[1 << 62, 4], &[1, 1], &[1, 1], 1),
                doubled,
                ArraySpec::new(&[1 << 40], &[1], &[1], 1),
                ArraySpec::new(&[5], &[3], &[2], 0),
            ];
            for spec in specs {
                let path = scratch.new_path();
                let context = spec.clone().with_store(store, &path).context(ours());
                let mut out = std::ptr::without_provenance_mut(8);
                // SAFETY: a live context and an out-pointer.
                let rc = unsafe { (f.b2nd_zeros)(context.raw(), &mut out) };
                assert!(rc < 0 && out.is_null(), "{store:?}: {spec:?} gives {rc} and {out:?}");
                assert!(!path.exists(), "{store:?}: a file after {spec:?}");
            }
        }
        let taken = scratch.new_path();
        fs::write(&taken, "something").expect("a file");
        let context =
            ArraySpec::new(&[5], &[3], &[2], 1).with_store(Store::Directory, &taken).context(ours());
        let mut out = std::ptr::without_provenance_mut(8);
        // SAFETY: as above.
        let rc = unsafe { (f.b2nd_zeros)(context.raw(), &mut out) };
        assert!(rc < 0 && out.is_null(), "a file in the way gives {rc} and {out:?}");
        let mut junk = vec![0u8; 200];
        let mut plain = SuperChunk::create(ours(), Store::Memory, "".as_ref(), &Default::default())
            .to_buffer()
            .expect("a frame");
        for frame in [&mut junk, &mut plain] {
            for copy in [false, true] {
                let mut out = std::ptr::without_provenance_mut(8);
                // SAFETY: a frame of its stated length, and an out-pointer.
                let rc =
                    unsafe { (f.b2nd_from_cframe)(frame.as_mut_ptr(), frame.len() as i64, copy, &mut out) };
                assert!(rc < 0 && out.is_null(), "{rc} and {out:?}");
            }
        }
        // Many failures do not exhaust the memory.
        let path = scratch.new_path();
        let array = ArraySpec::new(&[1 << 20], &[1 << 16], &[1 << 12], 1)
            .with_store(Store::File, &path)
            .zeros(ours());
        let mut frame = array.to_cframe().expect("a frame").0;
        let at = frame.windows(2).position(|pair| pair == [0x97, 0]).expect("the metalayer");
        frame[at + 2] = 99;
        let resident = || {
            let text = fs::read_to_string("/proc/self/statm").expect("the counters of the process");
            text.split_whitespace().nth(1).expect("pages").parse::<usize>().expect("a number")
        };
        let mut before = 0;
        for round in 0..4000 {
            if round == 1000 {
                before = resident();
            }
            let (rc, array) = Array::from_frame_copy(ours(), &mut frame);
            assert!(rc == -1 && array.is_none(), "{rc}");
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < 1000, "3000 failures left {grown} pages");
    });
}

#[test]
fn b2nd_10_d17_ndim_and_metalayer_counts_out_of_range_are_rejected() {
    in_new_process(test_name!(), || {
        let f = functions();
        let names: Vec<std::ffi::CString> = (0..40)
            .map(|number| std::ffi::CString::new(format!("layer {number}")).expect("no NUL"))
            .collect();
        let mut content = [1u8, 2, 3];
        let layers: Vec<blosc2_metalayer> = names
            .iter()
            .map(|name| blosc2_metalayer {
                name: name.as_ptr().cast_mut(),
                content: content.as_mut_ptr(),
                content_len: 3,
            })
            .collect();
        let (shape, part) = ([5i64; 32], [2i32; 32]);
        let create = |ndim: i8, count: i32| {
            // SAFETY: the lists have as many entries as dimensions and metalayers are passed.
            unsafe {
                let context = (f.b2nd_create_ctx)(
                    null(),
                    ndim,
                    shape.as_ptr(),
                    part.as_ptr(),
                    part.as_ptr(),
                    null(),
                    0,
                    layers.as_ptr(),
                    count,
                );
                if !context.is_null() {
                    (f.b2nd_free_ctx)(context);
                }
                !context.is_null()
            }
        };
        assert!(create(1, 15) && create(1, 0));
        for (ndim, count) in [(1, 16), (1, 40), (1, i32::MAX), (17, 0), (-1, 0), (127, 0)] {
            assert!(!create(ndim, count), "{ndim} dimensions, {count} metalayers");
        }
        for ndim in [17, 127, -1, -128] {
            let mut out = null_mut();
            // SAFETY: the lists have more dimensions than the array stores.
            let rc = unsafe {
                (f.b2nd_serialize_meta)(
                    ndim,
                    shape.as_ptr(),
                    part.as_ptr(),
                    part.as_ptr(),
                    null(),
                    0,
                    &mut out,
                )
            };
            assert!(rc == -12 && out.is_null(), "{ndim} dimensions give {rc}");
        }
        let mut index = [0i64; 3];
        for shape in [[0, 0, 0], [3, 0, 2], [3, 2, 0]] {
            // SAFETY: lists of three dimensions; a length of zero must not end the process.
            unsafe {
                (ours().blosc2_unidim_to_multidim)(3, shape.as_ptr().cast_mut(), 5, index.as_mut_ptr())
            };
        }
    });
}
