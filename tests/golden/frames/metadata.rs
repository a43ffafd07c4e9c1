//! Traces of metalayers, copies and serialised frames (schunk.md 22, T6 and T7).

use std::fs;

use super::{for_each_library_and_store, frame_bytes, i32_bytes, params_with_typesize};
use crate::support::calls::Params;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

#[test]
fn t6_metalayers() {
    for_each_library_and_store(&[Store::MemoryFrame, Store::File], |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        let long = "abcdefghijklmnopqrstuvwxyz01234";
        assert_eq!(long.len(), 31);
        let steps: [(&str, &[u8], i64); 4] =
            [("m1", b"abcdef", 151), ("e", b"", 163), ("", b"x", 175), (long, b"y", 218)];
        for (number, (name, content, len)) in steps.iter().enumerate() {
            assert_eq!(schunk.meta_add(name, content), number as i32, "{what}");
            assert_eq!(schunk.frame_len(), *len, "{what}");
            assert_eq!(schunk.change_tick(), number as i64 + 1, "{what}");
        }
        let mut frame = frame_bytes(&schunk, store, path);
        let again = SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk");
        for (name, content, _) in steps {
            assert_eq!(schunk.meta_get(name).as_deref(), Some(content), "{what}");
            assert_eq!(again.meta_get(name).as_deref(), Some(content), "{what}");
        }
        // Shorter: the rest is kept. Longer: nothing is written, and the call returns success.
        assert_eq!(schunk.meta_update("m1", b"xyz"), 0, "{what}");
        assert_eq!(schunk.meta_get("m1").as_deref(), Some(&b"xyzdef"[..]), "{what}");
        assert_eq!(schunk.change_tick(), 5, "{what}");
        assert_eq!(schunk.meta_update("m1", b"longer than before"), 0, "{what}");
        assert_eq!(schunk.meta_get("m1").as_deref(), Some(&b"xyzdef"[..]), "{what}");
        assert_eq!(schunk.change_tick(), 5, "{what}");
        assert_eq!(schunk.meta_add("m1", b"again"), -12, "{what}");
        assert_eq!(schunk.meta_update("none", b"x"), -16, "{what}");
        assert_eq!(schunk.meta_update(&"n".repeat(32), b"x"), -12, "{what}");
    });
}

/// Name, content, parameters, then the length of the frame and the compressed size.
type VlmetaStep<'a> = (&'a str, &'a [u8], Option<&'a Params>, i64, usize);

#[test]
fn t6_variable_length_metalayers() {
    for_each_library_and_store(&[Store::MemoryFrame, Store::File], |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        assert_eq!(schunk.append(&i32_bytes(0..1000)), Ok(1), "{what}");
        assert_eq!(schunk.frame_len(), 527, "{what}");
        let text: Vec<u8> = b"blosc2".iter().copied().cycle().take(5000).collect();
        let zstd = Params { codec: 5, ..params_with_typesize(1) };
        let steps: [VlmetaStep; 5] = [
            ("v1", b"abcdef", None, 578, 38),
            ("v2", &text, None, 787, 196),
            ("v3", &text, Some(&zstd), 864, 64),
            ("ve", b"", None, 909, 32),
            ("", b"x", None, 953, 33),
        ];
        for (number, (name, content, params, len, stored)) in steps.iter().enumerate() {
            assert_eq!(schunk.vlmeta_add_with(name, content, *params), number as i32, "{what}");
            assert_eq!(schunk.raw_vlmetalayers()[number].1.len(), *stored, "{what}: {name}");
            assert_eq!(schunk.frame_len(), *len, "{what}: {name}");
        }
        let mut frame = frame_bytes(&schunk, store, path);
        let again = SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk");
        for (number, (name, content, ..)) in steps.iter().enumerate() {
            for schunk in [&schunk, &again] {
                assert_eq!(schunk.vlmeta_get(name).as_deref(), Ok(*content), "{what}: {name}");
                assert_eq!(schunk.vlmeta_exists(name), number as i32, "{what}: {name}");
                assert_eq!(schunk.vlmeta_names()[number].to_bytes(), name.as_bytes(), "{what}");
            }
        }
        assert_eq!(schunk.vlmeta_delete("v2"), 4, "{what}");
        assert_eq!(schunk.vlmeta_exists("v3"), 1, "{what}");
        assert_eq!(schunk.vlmeta_exists("v2"), -16, "{what}");
        assert_eq!(schunk.vlmeta_delete("v2"), -16, "{what}");
        assert_eq!(schunk.vlmeta_get("v2"), Err(-16), "{what}");
        assert_eq!(schunk.vlmeta_add("v1", b"again"), -12, "{what}");
        assert_eq!(schunk.change_tick(), 6, "{what}");
    });
}

#[test]
fn t7_copies() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let scratch = ScratchDir::new();
        let params = Params { clevel: 3, nthreads: 2, ..params_with_typesize(4) };
        let schunk = SuperChunk::create(library, store, path, &params);
        assert_eq!(schunk.meta_add("m1", b"abcdef"), 0, "{what}");
        assert_eq!(schunk.vlmeta_add("v1", b"abcdef"), 0, "{what}");
        for items in [1000, 1000, 100] {
            schunk.append(&i32_bytes(0..items)).expect("appended");
        }
        assert_eq!((schunk.nbytes(), schunk.cbytes()), (8400, 2316), "{what}");
        if store.is_contiguous() {
            assert_eq!(schunk.frame_len(), 2574, "{what}");
        }
        let assert_same = |copy: &SuperChunk| {
            assert_eq!(copy.nchunks(), 3, "{what}");
            for nchunk in 0..3 {
                assert_eq!(copy.get_chunk(nchunk), schunk.get_chunk(nchunk), "{what}");
            }
            assert_eq!(copy.meta_get("m1").as_deref(), Some(&b"abcdef"[..]), "{what}");
            assert_eq!(copy.vlmeta_get("v1").as_deref(), Ok(&b"abcdef"[..]), "{what}");
        };
        for target in Store::ALL {
            let copy = schunk.copy_to(target, &scratch.new_path(), None).expect("a copy");
            assert_same(&copy);
            assert_eq!((copy.blocksize(), copy.nbytes()), (400, 8400), "{what}, to {target:?}");
            // SAFETY: the storage and its parameters live as long as the super-chunk.
            let nthreads = unsafe { (*(*(*copy.raw()).storage).cparams).nthreads };
            assert_eq!(nthreads, 0, "{what}, to {target:?}");
        }
        let mut frame = schunk.to_buffer().expect("a frame");
        assert_eq!(frame.len(), 2574, "{what}");
        assert_same(&SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk"));
        let file = scratch.new_path();
        assert_eq!(schunk.to_file(&file), Ok(2574), "{what}");
        let overwrites = store == Store::MemoryFrame;
        assert_eq!(schunk.to_file(&file), if overwrites { Ok(2574) } else { Err(-23) }, "{what}");
        assert_same(&SuperChunk::open(library, &file).expect("a super-chunk"));
        for offset in [2574, 5148] {
            assert_eq!(schunk.append_file(&file), Ok(offset), "{what}");
        }
        assert_eq!(fs::metadata(&file).expect("the file").len(), 7722, "{what}");
        for offset in [0, 2574, 5148] {
            assert_same(&SuperChunk::open_offset(library, &file, offset).expect("a super-chunk"));
        }
        assert_eq!(schunk.append_file(&scratch.new_path()), Ok(0), "{what}");
    });
}
