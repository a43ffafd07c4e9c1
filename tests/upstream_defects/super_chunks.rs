//! Super-chunks in general: copies, slices, buffers that become super-chunks, NULL (schunk.md 25, abi.md 14).

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

use blosc2::abi::{CBool, blosc2_postfilter_params, blosc2_prefilter_params, blosc2_storage};

use crate::checks::{ours, postparams, preparams};
use crate::schunk_fixtures::{
    assert_chunks, assert_handle, compress_chunk, int32_bytes, int32_params, numbered_data, schunk_state,
    schunk_with_chunks,
};
use crate::support::calls::{Params, compress, dparams};
use crate::support::child::{in_new_process, test_name};
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// Copies with other parameters: chunks keep their sizes.
#[test]
fn schunk_25_recompressing_copies_keep_the_chunk_sizes() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let others = [
            Params { codec: 5, ..int32_params() },
            Params { clevel: 9, ..int32_params() },
            Params { blocksize: 1024, ..int32_params() },
            Params { filters: [0, 0, 0, 0, 0, 2], ..int32_params() },
        ];
        let series = [&[1000, 1000, 100][..], &[1000, 10, 3000, 1], &[50], &[1000, 1000]];
        for store in Store::ALL {
            for sizes in series {
                let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &int32_params());
                let model: Vec<Vec<u8>> = sizes.iter().map(|&items| int32_bytes(0..items)).collect();
                for src in &model {
                    schunk.append(src).expect("appended");
                }
                for params in &others {
                    for target in Store::ALL {
                        let path = scratch.new_path();
                        let copy = schunk.copy_to(target, &path, Some(params));
                        let copy = copy.unwrap_or_else(|| panic!("{store:?} to {target:?}: NULL"));
                        assert_eq!(copy.compcode(), params.codec, "{store:?} to {target:?}");
                        assert_chunks(&copy, target, &path, &model);
                    }
                }
            }
        }
    });
}

#[test]
fn schunk_25_copy_does_not_change_the_storage_argument() {
    let scratch = ScratchDir::new();
    let schunk = schunk_with_chunks(Store::Memory, &scratch.new_path(), 2);
    let mut storage = blosc2_storage {
        contiguous: CBool::TRUE,
        urlpath: ptr::null_mut(),
        cparams: ptr::null_mut(),
        dparams: ptr::null_mut(),
        io: ptr::null_mut(),
    };
    // SAFETY: a live super-chunk and a valid storage.
    let copy = unsafe { (schunk.functions.blosc2_schunk_copy)(schunk.raw(), &mut storage) };
    let copy = SuperChunk::from_raw(ours(), copy).expect("a copy");
    assert!(storage.cparams.is_null() && storage.dparams.is_null() && storage.io.is_null());
    assert!(copy.contents() == schunk.contents());
}

#[test]
fn schunk_25_copies_keep_typesizes_above_255() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let params = Params { typesize: 300, ..Params::default() };
        let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &params);
        let src: Vec<u8> = (0..3000).map(|i| (i / 7) as u8).collect();
        assert_eq!(schunk.append(&src), Ok(1));
        for target in Store::ALL {
            let copy = schunk.copy_to(target, &scratch.new_path(), None).expect("a copy");
            assert_eq!(copy.typesize(), 300, "{store:?} to {target:?}");
            assert_eq!(copy.get_slice(9, 10, 300).as_deref(), Ok(&src[2700..]), "{store:?} to {target:?}");
        }
        let file = scratch.new_path();
        assert!(schunk.to_file(&file).is_ok());
        assert_eq!(SuperChunk::open(ours(), &file).expect("a super-chunk").typesize(), 300, "{store:?}");
        let mut frame = schunk.to_buffer().expect("a frame");
        assert_eq!(SuperChunk::from_frame_copy(ours(), &mut frame).expect("a super-chunk").typesize(), 300);
    }
}

/// If the last chunk is short, a write of its length to another chunk replaces only a part of that chunk.
#[test]
fn schunk_25_set_slice_as_long_as_the_last_chunk_keeps_other_items() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        for first in [0, 1000] {
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
            let mut items: Vec<i32> = (0..2500).collect();
            for range in [0..1000, 1000..2000, 2000..2500] {
                schunk.append(&int32_bytes(range)).expect("appended");
            }
            let new: Vec<i32> = (0..500).map(|i| -i).collect();
            assert_eq!(
                schunk.set_slice(first, first + 500, &int32_bytes(new.iter().copied())),
                0,
                "{store:?}"
            );
            items[first as usize..first as usize + 500].copy_from_slice(&new);
            let model: Vec<Vec<u8>> =
                items.chunks(1000).map(|part| int32_bytes(part.iter().copied())).collect();
            assert_eq!(schunk.chunksize(), 4000, "{store:?}");
            assert_chunks(&schunk, store, &path, &model);
        }
    }
}

#[test]
fn schunk_25_slices_with_a_negative_start_are_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let path = scratch.new_path();
            let schunk = schunk_with_chunks(store, &path, 2);
            for start in [-1, -1000, -1001, i64::MIN / 8] {
                assert_eq!(
                    schunk.set_slice(start, 2.min(start + 2000), &[9; 8000]),
                    -12,
                    "{store:?}: {start}"
                );
                assert!(schunk.get_slice(start, start + 1, 4).is_err(), "{store:?}: {start}");
            }
            assert_chunks(&schunk, store, &path, &[0, 1].map(numbered_data));
        }
    });
}

/// Returns an error or the correct result; never divides by zero.
#[test]
fn schunk_25_slices_of_variable_size_chunks_do_not_divide_by_zero() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
            let mut all = Vec::new();
            for items in [100, 10, 1000] {
                assert!(schunk.append(&int32_bytes(0..items)).is_ok());
                all.extend(int32_bytes(0..items));
            }
            assert_eq!(schunk.chunksize(), 0, "{store:?}");
            match schunk.get_slice(95, 115, 80) {
                Ok(found) => assert_eq!(found, all[380..460], "{store:?}"),
                Err(code) => assert_eq!(code, -12, "{store:?}"),
            }
            match schunk.slice_nchunks(95, 115) {
                Ok(numbers) => assert_eq!(numbers, [0, 1, 2], "{store:?}"),
                Err(code) => assert_eq!(code, -12, "{store:?}"),
            }
            match schunk.set_slice(95, 115, &[7; 80]) {
                0 => all[380..460].fill(7),
                code => assert_eq!(code, -12, "{store:?}"),
            }
            assert!(schunk.contents() == all, "{store:?}");
        }
    });
}

static LAST_NCHUNK: AtomicI64 = AtomicI64::new(-1);

/// Copies the block, and records the number of the chunk.
unsafe extern "C" fn recording_prefilter(params: *mut blosc2_prefilter_params) -> i32 {
    // SAFETY: the library passes a block of the source and a buffer of the same size to fill.
    unsafe {
        LAST_NCHUNK.store((*params).nchunk, Relaxed);
        ptr::copy_nonoverlapping((*params).input, (*params).output, (*params).output_size as usize);
    }
    0
}

/// If a slice covers a whole chunk, the prefilter gets the number of that chunk.
#[test]
fn schunk_25_prefilter_gets_the_nchunk_in_set_slice() {
    let mut preparams = preparams();
    let mut cparams = int32_params().cparams();
    cparams.prefilter = Some(recording_prefilter);
    cparams.preparams = &mut preparams;
    let mut storage = blosc2_storage {
        contiguous: CBool::TRUE,
        urlpath: ptr::null_mut(),
        cparams: &mut cparams,
        dparams: ptr::null_mut(),
        io: ptr::null_mut(),
    };
    // SAFETY: a storage whose pointers are valid during the call.
    let raw = unsafe { (Functions::of(ours()).blosc2_schunk_new)(&mut storage) };
    let schunk = SuperChunk::from_raw(ours(), raw).expect("a super-chunk");
    for number in 0..3 {
        assert!(schunk.append(&numbered_data(number)).is_ok());
        assert_eq!(LAST_NCHUNK.load(Relaxed), i64::from(number));
    }
    for nchunk in [1i64, 0, 2] {
        assert_eq!(schunk.set_slice(1000 * nchunk, 1000 * (nchunk + 1), &numbered_data(9)), 0);
        assert_eq!(LAST_NCHUNK.load(Relaxed), nchunk, "a whole chunk");
        assert_eq!(schunk.set_slice(1000 * nchunk + 5, 1000 * nchunk + 9, &[1; 16]), 0);
        assert_eq!(LAST_NCHUNK.load(Relaxed), nchunk, "a part");
    }
}

/// The copied chunks can be reordered and extended.
#[test]
fn schunk_25_copied_frames_can_change() {
    in_new_process(test_name!(), || {
        let schunk =
            SuperChunk::create(ours(), Store::MemoryFrame, &ScratchDir::new().new_path(), &int32_params());
        let mut model: Vec<Vec<u8>> = (0..700).map(|number| int32_bytes(number..number + 10)).collect();
        for src in &model {
            schunk.append(src).expect("appended");
        }
        let mut frame = schunk.to_buffer().expect("a frame");
        let copy = SuperChunk::from_frame_copy(ours(), &mut frame).expect("a super-chunk");
        assert_eq!(copy.data_len(), (size_of::<*mut u8>() * 700).next_multiple_of(4096));
        assert_handle(&copy, "copied", &model);
        assert_eq!(copy.append(&int32_bytes(0..10)), Ok(701));
        model.push(int32_bytes(0..10));
        assert_handle(&copy, "appended", &model);
        assert_eq!(copy.reorder(&(0..701).rev().collect::<Vec<_>>()), 0);
        model.reverse();
        assert_handle(&copy, "reordered", &model);
        assert_eq!(copy.insert_chunk(5, &compress_chunk(&int32_bytes(3..13))), Ok(702));
        model.insert(5, int32_bytes(3..13));
        assert_eq!(copy.delete_chunk(0), Ok(701));
        model.remove(0);
        assert_handle(&copy, "changed", &model);
    });
}

/// The first change of a borrowed frame copies it; the caller's buffer is neither changed nor freed.
#[test]
fn schunk_25_borrowed_frames_can_change() {
    in_new_process(test_name!(), || {
        let schunk = schunk_with_chunks(Store::MemoryFrame, &ScratchDir::new().new_path(), 3);
        let frame = schunk.to_buffer().expect("a frame");
        for change in 0..6 {
            // Not from malloc: reallocating or freeing it would crash.
            let mut buffer = frame.clone();
            // SAFETY: the buffer outlives the super-chunk.
            let borrowed =
                unsafe { SuperChunk::from_borrowed_frame(ours(), buffer.as_mut_ptr(), buffer.len()) };
            let borrowed = borrowed.expect("a super-chunk");
            let mut model: Vec<Vec<u8>> = (0..3).map(numbered_data).collect();
            match change {
                0 => {
                    assert_eq!(borrowed.append(&numbered_data(3)), Ok(4));
                    model.push(numbered_data(3));
                }
                1 => {
                    assert_eq!(borrowed.update_chunk(1, &compress_chunk(&numbered_data(8))), Ok(3));
                    model[1] = numbered_data(8);
                }
                2 => {
                    assert_eq!(borrowed.delete_chunk(1), Ok(2));
                    model.remove(1);
                }
                3 => {
                    assert_eq!(borrowed.reorder(&[2, 0, 1]), 0);
                    model.rotate_right(1);
                }
                4 => assert_eq!(borrowed.vlmeta_add("v", b"content"), 0),
                _ => assert_eq!(borrowed.set_slice(10, 20, &numbered_data(0)[40..80]), 0),
            }
            assert_handle(&borrowed, &format!("change {change}"), &model);
            drop(borrowed);
            assert!(buffer == frame, "change {change}: the caller's buffer");
        }
    });
}

static POSTFILTER_CALLS: AtomicUsize = AtomicUsize::new(0);

/// Inverts every byte.
unsafe extern "C" fn inverting_postfilter(params: *mut blosc2_postfilter_params) -> i32 {
    POSTFILTER_CALLS.fetch_add(1, Relaxed);
    // SAFETY: the library passes a decoded block and a buffer of the same size to fill.
    unsafe {
        for at in 0..(*params).size as usize {
            *(*params).output.add(at) = !*(*params).input.add(at);
        }
    }
    0
}

/// A postfilter applies to chunks, not to metalayers.
#[test]
fn schunk_25_postfilter_does_not_apply_to_metalayers() {
    let (mut cparams, mut dparams, mut postparams) = (int32_params().cparams(), dparams(1), postparams());
    dparams.postfilter = Some(inverting_postfilter);
    dparams.postparams = &mut postparams;
    let mut storage = blosc2_storage {
        contiguous: CBool::FALSE,
        urlpath: ptr::null_mut(),
        cparams: &mut cparams,
        dparams: &mut dparams,
        io: ptr::null_mut(),
    };
    // SAFETY: a storage whose pointers are valid during the call.
    let raw = unsafe { (Functions::of(ours()).blosc2_schunk_new)(&mut storage) };
    let schunk = SuperChunk::from_raw(ours(), raw).expect("a super-chunk");
    let content = b"some content ".repeat(20);
    assert_eq!(schunk.vlmeta_add("v", &content), 0);
    assert_eq!(schunk.vlmeta_get("v"), Ok(content.clone()));
    assert_eq!(POSTFILTER_CALLS.load(Relaxed), 0);
    assert_eq!(schunk.append(&numbered_data(0)), Ok(1));
    let inverted: Vec<u8> = numbered_data(0).iter().map(|byte| !byte).collect();
    assert!(schunk.decompress(0) == Ok(inverted));
    let copy = schunk.copy_to(Store::MemoryFrame, &ScratchDir::new().new_path(), None).expect("a copy");
    assert_eq!(copy.vlmeta_get("v"), Ok(content));
}

#[test]
fn schunk_25_null_arguments_are_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let functions = Functions::of(ours());
        let null = ptr::null_mut();
        // SAFETY: the test is about NULL.
        unsafe {
            assert_eq!((functions.blosc2_schunk_free)(null), 0);
            assert_eq!((functions.blosc2_schunk_lock)(null), -32);
            assert_eq!((functions.blosc2_schunk_unlock)(null), -32);
            assert_eq!((functions.blosc2_schunk_refresh)(null), -32);
            assert!((functions.blosc2_schunk_open)(ptr::null()).is_null());
            assert!((functions.blosc2_schunk_from_buffer)(null.cast(), 1000, true).is_null());
            assert!((functions.blosc2_schunk_copy)(null, ptr::null_mut()).is_null());
        }
        for store in Store::ALL {
            let schunk = schunk_with_chunks(store, &scratch.new_path(), 1);
            let before = schunk_state(&schunk);
            let mut content = [1u8; 8];
            let (mut found, mut len) = (ptr::null_mut(), 0);
            let no_name = ptr::null();
            // SAFETY: the test is about NULL names; the other arguments are valid.
            unsafe {
                let raw = schunk.raw();
                assert_eq!((functions.blosc2_vlmeta_exists)(raw, no_name), -12, "{store:?}");
                assert_eq!((functions.blosc2_vlmeta_delete)(raw, no_name), -12, "{store:?}");
                assert_eq!(
                    (functions.blosc2_vlmeta_get)(raw, no_name, &mut found, &mut len),
                    -12,
                    "{store:?}"
                );
                let content = content.as_mut_ptr();
                let none = ptr::null_mut();
                assert_eq!((functions.blosc2_vlmeta_add)(raw, no_name, content, 8, none), -12, "{store:?}");
                assert_eq!(
                    (functions.blosc2_vlmeta_update)(raw, no_name, content, 8, none),
                    -12,
                    "{store:?}"
                );
                assert_eq!((functions.blosc2_meta_add)(raw, no_name, content, 8), -12, "{store:?}");
            }
            assert!(found.is_null());
            assert_eq!(schunk_state(&schunk), before, "{store:?}");
        }
    });
}

#[test]
fn schunk_25_offsets_of_an_empty_frame_are_null() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let schunk = schunk_with_chunks(store, &scratch.new_path(), 0);
            assert_eq!(schunk.offsets(), None, "{store:?}");
            if store == Store::Memory {
                continue;
            }
            assert_eq!(schunk.append(&numbered_data(0)), Ok(1));
            assert_eq!(schunk.offsets(), Some(vec![0]), "{store:?}");
            assert_eq!(schunk.delete_chunk(0), Ok(0));
            assert_eq!(schunk.offsets(), None, "{store:?}");
        }
    });
}

#[test]
fn schunk_25_refused_creation_leaves_no_directory() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            // An undefined filter; items of zero bytes.
            let undefined = Params { filters: [0, 0, 0, 0, 0, 6], ..int32_params() };
            for params in [
                undefined,
                Params { typesize: 0, ..int32_params() },
                Params { typesize: -4, ..int32_params() },
            ] {
                let path = scratch.new_path();
                let schunk = SuperChunk::try_create(ours(), store, &path, &params, None);
                assert!(schunk.is_none(), "{store:?}: {params:?}");
                assert!(!path.exists(), "{store:?}: {params:?}");
            }
        }
    });
}

#[test]
fn schunk_25_append_of_impossible_lengths_is_rejected() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(store, &path, 0);
        let src = [1u8; 16];
        let source: *const c_void = src.as_ptr().cast();
        for nbytes in [-1, i32::MIN, i32::MAX, i32::MAX - 31] {
            // SAFETY: the lengths are rejected before the source is read.
            let rc = unsafe { (schunk.functions.blosc2_schunk_append_buffer)(schunk.raw(), source, nbytes) };
            assert!(rc == -12 || rc == -35, "{store:?}: {nbytes} bytes: {rc}");
        }
        assert_eq!((schunk.nchunks(), schunk.chunksize()), (0, -1), "{store:?}");
        assert_eq!(schunk.append(&numbered_data(0)), Ok(1), "{store:?}");
        // The chunk has the block size that a new context chooses.
        assert_eq!(schunk.get_chunk(0), Ok(compress_chunk(&numbered_data(0))), "{store:?}");
    }
}

#[test]
fn schunk_25_creation_over_an_existing_file_fails() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        std::fs::write(&path, b"something else").expect("a file");
        assert!(SuperChunk::try_create(ours(), store, &path, &int32_params(), None).is_none(), "{store:?}");
        assert_eq!(std::fs::read(&path).expect("a file"), b"something else", "{store:?}");
        let missing = scratch.new_path().join("no").join("parent");
        assert!(
            SuperChunk::try_create(ours(), store, &missing, &int32_params(), None).is_none(),
            "{store:?}"
        );
        let path = c_path(&missing);
        // SAFETY: a terminated path.
        assert!(unsafe { (Functions::of(ours()).blosc2_schunk_open)(path.as_ptr()) }.is_null());
    }
}

/// Returns the resident memory of the process, in bytes.
#[cfg(unix)]
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("sizes of the process");
    text.split(' ').nth(1).expect("a number").parse::<usize>().expect("a number") * 4096
}

/// A failed call releases its memory: each of these would leak hundreds of megabytes.
#[cfg(unix)]
#[test]
fn schunk_25_failures_release_memory() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let gone = schunk_with_chunks(Store::File, &path, 1);
        std::fs::remove_file(&path).expect("a file");
        let noise = crate::checks::data(crate::support::data::Data::Noise, 4, 1_000_000);
        let taken = scratch.new_path();
        std::fs::write(&taken, b"something else").expect("a file");
        let source = schunk_with_chunks(Store::Memory, &scratch.new_path(), 200);
        let mut frame = source.to_buffer().expect("a frame");
        // The last chunk's header.
        let cbytes = source.cbytes() as usize;
        let offset = 97 + cbytes - source.get_chunk(199).expect("a chunk").len();
        frame[offset + 8..offset + 12].fill(0xFF);
        let refused = Params { filters: [0, 0, 0, 0, 0, 6], ..int32_params() };
        let mut damaged = frame.clone();
        let failures: [(&str, usize, &mut dyn FnMut() -> bool); 6] = [
            ("append_buffer", 400, &mut || gone.append(&noise).is_err()),
            ("a file that exists", 6000, &mut || {
                SuperChunk::try_create(ours(), Store::File, &taken, &int32_params(), None).is_none()
            }),
            ("an undefined filter", 6000, &mut || {
                SuperChunk::try_create(ours(), Store::Memory, &path, &refused, None).is_none()
            }),
            ("open", 6000, &mut || SuperChunk::open(ours(), &taken).is_none()),
            ("from_buffer", 4000, &mut || SuperChunk::from_frame_copy(ours(), &mut damaged).is_none()),
            ("copy", 1000, &mut || source.copy_to(Store::File, &taken, None).is_none()),
        ];
        for (what, times, failure) in failures {
            // The first calls fill the caches of the allocator.
            (0..20).for_each(|_| assert!(failure(), "{what}"));
            let before = resident_bytes();
            (0..times).for_each(|_| assert!(failure(), "{what}"));
            let grown = resident_bytes().saturating_sub(before);
            assert!(grown < 30 << 20, "{what}: {grown} bytes more");
        }
    });
}

/// Chunks may have other item and block sizes than their super-chunk: items that span two blocks are read completely.
#[test]
fn sparse_reads_return_items_that_span_two_blocks() {
    let scratch = ScratchDir::new();
    let content = int32_bytes(0..10_000);
    let params = Params { typesize: 1, blocksize: 6002, codec: 1, ..int32_params() };
    let chunk = compress(ours(), &params, &content, content.len() + 32).expect("a chunk");
    let block_size = i32::from_le_bytes(chunk[8..12].try_into().expect("four bytes"));
    assert_ne!(block_size % 4, 0, "items must not end with blocks");
    let coords: Vec<i64> = (10_000..20_000).rev().step_by(3).chain([11_500, 11_501, 11_500]).collect();
    let item = |coord: i64| &content[(coord as usize - 10_000) * 4..][..4];
    let expected: Vec<u8> = coords.iter().flat_map(|&coord| item(coord)).copied().collect();
    for store in Store::ALL {
        // Sparse reads of items require that the super-chunk has a block size.
        let params = Params { blocksize: 4096, ..int32_params() };
        let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &params);
        assert_eq!(schunk.append(&content), Ok(1), "{store:?}");
        assert_eq!(schunk.append_chunk(&chunk), Ok(2), "{store:?}");
        let read = schunk.get_sparse(&coords, expected.len());
        assert!(read.as_ref() == Ok(&expected), "{store:?}: {:?}", read.map(|bytes| bytes.len()));
    }
}
