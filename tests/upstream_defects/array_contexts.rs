//! Creating and freeing arrays: b2nd.md 10 D15 to D17, D26.

use std::fs;
use std::ptr::{null, null_mut};

use blosc2::abi::blosc2_metalayer;

use crate::checks::ours;
use crate::support::array::functions::{ArrayPtr, Functions};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
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
        if cfg!(windows) {
            return;
        }
        // Many failures do not exhaust the memory, whose size is in a file of Unix.
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

/// A pointer that no function returns: the value of a result before a call.
fn unset<T>() -> *mut T {
    std::ptr::without_provenance_mut(0x1230)
}

#[test]
fn b2nd_10_d26_results_are_null_after_an_error() {
    let f = functions();
    let array = ArraySpec::new(&[5], &[3], &[2], 1).create_from_buffer(ours(), &[1, 2, 3, 4, 5]);
    let context = ArraySpec::new(&[5], &[3], &[2], 1).context(ours());
    let schunk = SuperChunk::create(ours(), Store::Memory, "".as_ref(), &Params::default());
    let (raw, ctx, mut junk) = (array.raw(), context.raw(), [0u8; 200]);
    let (at, item) = ([0i64], std::ptr::from_mut(&mut junk).cast());
    type Creator<'a> = &'a dyn Fn(*mut ArrayPtr) -> i32;
    // SAFETY: live arrays, super-chunks and contexts, valid out-pointers; NULL must be rejected.
    let calls: [(&str, Creator); 15] = unsafe {
        [
            ("uninit", &|out| (f.b2nd_uninit)(null_mut(), out)),
            ("empty", &|out| (f.b2nd_empty)(null_mut(), out)),
            ("zeros", &|out| (f.b2nd_zeros)(null_mut(), out)),
            ("nans", &|out| (f.b2nd_nans)(null_mut(), out)),
            ("full", &|out| (f.b2nd_full)(ctx, out, null())),
            ("from_cbuffer", &|out| (f.b2nd_from_cbuffer)(null_mut(), out, item, 5)),
            ("from_schunk", &|out| (f.b2nd_from_schunk)(schunk.raw(), out)),
            ("from_cframe", &|out| (f.b2nd_from_cframe)(item.cast(), 200, true, out)),
            ("open", &|out| (f.b2nd_open)(c"/nonexistent/x".as_ptr(), out)),
            ("copy", &|out| (f.b2nd_copy)(ctx, null_mut(), out)),
            ("get_slice", &|out| (f.b2nd_get_slice)(ctx, out, null_mut(), at.as_ptr(), at.as_ptr())),
            ("concatenate", &|out| (f.b2nd_concatenate)(ctx, raw, null_mut(), 0, true, out)),
            ("concatenate in place", &|out| (f.b2nd_concatenate)(ctx, raw, raw, 7, false, out)),
            ("squeeze", &|out| (f.b2nd_squeeze)(null_mut(), out)),
            ("expand_dims", &|out| (f.b2nd_expand_dims)(raw, out, [true; 2].as_ptr(), 2)),
        ]
    };
    for (name, call) in calls {
        let mut out = unset();
        assert!(call(&mut out) < 0, "{name}");
        assert!(out.is_null(), "{name}: {out:?}");
    }
    // SAFETY: as above.
    unsafe {
        // The caller's only pointer to the array is kept.
        let mut own = raw;
        assert!((f.b2nd_concatenate)(ctx, raw, raw, 7, false, &mut own) < 0);
        assert_eq!(own, raw);
        let (mut frame, mut len, mut needs_free) = (unset(), 77, true);
        assert_eq!((f.b2nd_to_cframe)(null_mut(), &mut frame, &mut len, &mut needs_free), -32);
        assert!(frame.is_null() && len == 0 && !needs_free);
        let mut meta = unset();
        let one = [1i32];
        let code = (f.b2nd_serialize_meta)(17, at.as_ptr(), one.as_ptr(), one.as_ptr(), null(), 0, &mut meta);
        assert!(code < 0 && meta.is_null());
        let (mut ndim, mut dtype, mut format) = (9, unset(), 9);
        let mut shapes = ([0i64; 16], [0i32; 16], [0i32; 16]);
        let code = (f.b2nd_deserialize_meta)(
            junk.as_ptr(),
            1,
            &mut ndim,
            shapes.0.as_mut_ptr(),
            shapes.1.as_mut_ptr(),
            shapes.2.as_mut_ptr(),
            &mut dtype,
            &mut format,
        );
        assert!(code < 0 && (ndim, format) == (0, 0) && dtype.is_null());
    }
}
