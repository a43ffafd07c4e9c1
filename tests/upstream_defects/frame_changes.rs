//! Data that the reference loses when a frame is changed (frame.md 9, schunk.md 25): metalayers after data, special
//! and empty chunks among chunks of other sizes, failing writes, too many metalayers, the environment.

use std::fs;

use crate::checks::ours;
use crate::schunk_fixtures::{
    assert_chunks, assert_handle, compress_chunk, int32_bytes, int32_params, numbered_data, schunk_state,
    schunk_with_chunks,
};
use crate::support::calls::{Params, Special, compress, special_chunk};
use crate::support::child::{in_new_process, in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

#[test]
fn frame_9_meta_add_after_data_is_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::FRAMES {
            let path = scratch.new_path();
            let schunk = schunk_with_chunks(store, &path, 2);
            let before = schunk_state(&schunk);
            assert_eq!(schunk.meta_add("late", b"content"), -12, "{store:?}");
            assert_eq!(schunk_state(&schunk), before, "{store:?}");
            assert_eq!(schunk.meta_get("late"), None, "{store:?}");
            assert_eq!(schunk.append(&numbered_data(2)), Ok(3), "{store:?}");
            assert_chunks(&schunk, store, &path, &[0, 1, 2].map(numbered_data));
            assert_eq!(schunk.delete_chunk(1), Ok(2), "{store:?}");
            assert_chunks(&schunk, store, &path, &[0, 2].map(numbered_data));
        }
    });
}

#[test]
fn frame_9_meta_add_after_special_chunks_is_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::FRAMES {
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
            assert_eq!(schunk.fill_special(3000, 1, 4000), 3, "{store:?}");
            assert_eq!(schunk.meta_add("late", b"content"), -12, "{store:?}");
            assert_eq!(schunk.meta_get("late"), None, "{store:?}");
            assert_chunks(&schunk, store, &path, &vec![vec![0; 4000]; 3]);
        }
    });
}

/// A frame with special chunks is converted to one of variable chunk sizes.
#[test]
fn frame_9_special_chunks_become_chunks_of_variable_size() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let nans: Vec<u8> = std::iter::repeat_n(f32::NAN.to_ne_bytes(), 1000).flatten().collect();
        for store in Store::ALL {
            for (kind, bytes) in [(1, vec![0; 4000]), (2, nans.clone())] {
                let path = scratch.new_path();
                let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
                assert_eq!(schunk.fill_special(2500, kind, 4000), 3, "{store:?}");
                assert_eq!(schunk.append(&numbered_data(0)), Ok(4), "{store:?}");
                let mut model = vec![bytes.clone(), bytes.clone(), bytes[..2000].to_vec(), numbered_data(0)];
                assert_chunks(&schunk, store, &path, &model);
                // Any special chunk, of any size, at any position.
                for (at, nbytes) in [(0, 400), (2, 4000), (6, 8)] {
                    let special = if kind == 1 { Special::Zeros } else { Special::Nans };
                    let special =
                        special_chunk(ours(), &int32_params(), special, nbytes, 32).expect("a chunk");
                    assert!(schunk.insert_chunk(at, &special).is_ok(), "{store:?}");
                    let one = if kind == 1 { [0; 4] } else { f32::NAN.to_ne_bytes() };
                    model.insert(at as usize, one.repeat(nbytes as usize / 4));
                    assert_chunks(&schunk, store, &path, &model);
                }
                assert_eq!(schunk.update_chunk(1, &compress_chunk(&int32_bytes(0..7))), Ok(7), "{store:?}");
                model[1] = int32_bytes(0..7);
                assert_eq!(schunk.delete_chunk(0), Ok(6), "{store:?}");
                model.remove(0);
                assert_chunks(&schunk, store, &path, &model);
            }
        }
    });
}

/// Zeros that are not whole items: the call fails and changes nothing, or the chunk can be read afterwards. The
/// reference stores them as special chunks, whose sizes are whole numbers of items, and cannot read them.
#[test]
fn frame_1_4_zeros_that_are_no_whole_items_are_readable_or_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let params = Params { typesize: 16, ..int32_params() };
        let data = |seed: u8| (0..1608).map(|at| (at as u8).wrapping_mul(seed)).collect::<Vec<u8>>();
        let zeros = vec![0; 1608];
        let chunk_of = |src: &[u8]| compress(ours(), &params, src, src.len() + 32).expect("a chunk");
        for store in Store::ALL {
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &params);
            assert_eq!(schunk.append(&zeros), Ok(1), "{store:?}");
            assert_eq!(schunk.append(&data(3)), Ok(2), "{store:?}");
            assert_eq!(schunk.append(&zeros), Ok(3), "{store:?}");
            let mut model = vec![zeros.clone(), data(3), zeros.clone()];
            assert_chunks(&schunk, store, &path, &model);
            if store != Store::Memory {
                // Chunks of other values than zero cannot be converted.
                let nans = special_chunk(ours(), &int32_params(), Special::Nans, 1608, 32).expect("a chunk");
                assert!(schunk.append_chunk(&nans).is_err(), "{store:?}");
                assert!(schunk.update_chunk(1, &nans).is_err(), "{store:?}");
                assert_chunks(&schunk, store, &path, &model);
            }
            assert_eq!(schunk.update_chunk(1, &chunk_of(&zeros)), Ok(3), "{store:?}");
            assert_eq!(schunk.insert_chunk(1, &chunk_of(&data(5))), Ok(4), "{store:?}");
            assert_eq!(schunk.append(&zeros[..1000]), Ok(5), "{store:?}");
            model = vec![zeros.clone(), data(5), zeros.clone(), zeros.clone(), zeros[..1000].to_vec()];
            assert_chunks(&schunk, store, &path, &model);
            // Chunks of other sizes, and then a short chunk that is not the last one any more.
            assert_eq!(schunk.append(&zeros[..40]), Ok(6), "{store:?}");
            model.push(zeros[..40].to_vec());
            assert_chunks(&schunk, store, &path, &model);
            assert_eq!(schunk.delete_chunk(0), Ok(5), "{store:?}");
            assert_chunks(&schunk, store, &path, &model[1..]);
        }
        // A super-chunk that is valid in memory must be valid as a frame.
        let (plain, path) = (scratch.new_path(), scratch.new_path());
        let schunk = SuperChunk::create(ours(), Store::Memory, &plain, &params);
        assert_eq!((schunk.append(&data(7)), schunk.append(&zeros)), (Ok(1), Ok(2)));
        fs::write(&path, schunk.to_buffer().expect("a frame")).unwrap();
        for library in [Some(ours()), Library::reference()].into_iter().flatten() {
            let file = SuperChunk::open(library, &path).expect("a super-chunk");
            assert_handle(&file, library.name, &[data(7), zeros.clone()]);
        }
        // Files that the reference wrote in this way can still be read.
        if let Some(reference) = Library::reference() {
            for store in Store::FRAMES {
                let path = scratch.new_path();
                let schunk = SuperChunk::create(reference, store, &path, &params);
                assert_eq!((schunk.append(&data(9)), schunk.append(&zeros)), (Ok(1), Ok(2)), "{store:?}");
                assert!(schunk.decompress(1).is_err(), "{store:?}");
                let mut frame =
                    if store.is_on_disk() { Vec::new() } else { schunk.to_buffer().expect("a frame") };
                let again = match store.is_on_disk() {
                    true => SuperChunk::open(ours(), &path),
                    false => SuperChunk::from_frame_copy(ours(), &mut frame),
                };
                let again = again.expect("a super-chunk");
                assert_handle(&again, &format!("{store:?}, of the reference"), &[data(9), zeros.clone()]);
            }
        }
    });
}

#[test]
fn frame_9_empty_chunks_are_readable_or_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            for before in 0..3 {
                let path = scratch.new_path();
                let schunk = schunk_with_chunks(store, &path, before);
                let check = |schunk: &SuperChunk, model: &[Vec<u8>]| match store {
                    // This super-chunk is not a frame yet.
                    Store::Memory => assert_handle(schunk, "memory", model),
                    _ => assert_chunks(schunk, store, &path, model),
                };
                let mut model: Vec<Vec<u8>> = (0..before).map(numbered_data).collect();
                for round in 0..3 {
                    let state_before = schunk_state(&schunk);
                    match schunk.append(&[]) {
                        Ok(count) => {
                            model.push(Vec::new());
                            assert_eq!(count, model.len() as i64, "{store:?}");
                        }
                        Err(_) => assert_eq!(schunk_state(&schunk), state_before, "{store:?}"),
                    }
                    check(&schunk, &model);
                    let next = int32_bytes(0..250 * (round + 1));
                    model.push(next.clone());
                    assert_eq!(schunk.append(&next), Ok(model.len() as i64), "{store:?}, {before} before");
                    check(&schunk, &model);
                }
            }
        }
    });
}

/// A frame of which only empty chunks would be left would have no chunks for its readers.
#[test]
fn frame_9_changes_that_leave_only_empty_chunks_are_rejected() {
    let scratch = ScratchDir::new();
    for store in Store::FRAMES {
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(store, &path, 1);
        let empty = compress_chunk(&[]);
        (0..2).for_each(|_| assert!(schunk.append_chunk(&empty).is_ok()));
        let before = schunk_state(&schunk);
        assert_eq!(schunk.delete_chunk(0), Err(-21), "{store:?}");
        assert_eq!(schunk.update_chunk(0, &empty), Err(-21), "{store:?}");
        assert_eq!(schunk_state(&schunk), before, "{store:?}");
        assert_eq!(schunk.delete_chunk(1), Ok(2), "{store:?}");
        assert_eq!(schunk.append(&numbered_data(3)), Ok(3), "{store:?}");
        // The reference does not open a frame whose first chunk is empty.
        let expected = [numbered_data(0), Vec::new(), numbered_data(3)];
        assert_handle(&schunk, &format!("{store:?}"), &expected);
        if store.is_on_disk() {
            let again = SuperChunk::open(ours(), &path).expect("a super-chunk");
            assert_handle(&again, &format!("{store:?}, opened again"), &expected);
        }
    }
}

/// After its file was removed, the calls fail and the handle is unchanged.
#[test]
fn frame_9_failed_writes_change_nothing() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(Store::File, &path, 3);
        fs::remove_file(&path).expect("a file");
        let before = schunk_state(&schunk);
        let short = compress_chunk(&int32_bytes(0..10));
        for src in [compress_chunk(&numbered_data(5)), short, compress_chunk(&int32_bytes(0..3000))] {
            assert!(schunk.append_chunk(&src).is_err());
            assert_eq!(schunk_state(&schunk), before, "append");
            assert!(schunk.insert_chunk(1, &src).is_err());
            assert_eq!(schunk_state(&schunk), before, "insert");
            assert!(schunk.update_chunk(1, &src).is_err());
            assert_eq!(schunk_state(&schunk), before, "update");
        }
        assert!(schunk.append(&numbered_data(1)).is_err());
        assert!(schunk.delete_chunk(0).is_err());
        assert_eq!(schunk_state(&schunk), before, "delete");
        assert!(schunk.vlmeta_add("v", b"content") < 0);
        assert_eq!(schunk_state(&schunk), before, "vlmeta_add");
    });
}

/// The first append fails, so the super-chunk is still one that never had a chunk.
#[test]
fn frame_9_failed_first_append_changes_nothing() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(Store::File, &path, 0);
        let hidden = scratch.new_path();
        fs::rename(&path, &hidden).expect("another name");
        let before = schunk_state(&schunk);
        assert!(schunk.append_chunk(&compress_chunk(&numbered_data(0))).is_err());
        assert_eq!(schunk_state(&schunk), before);
        fs::rename(&hidden, &path).expect("the old name");
        assert_eq!(schunk.append(&int32_bytes(0..10)), Ok(1));
        assert_eq!(schunk.chunksize(), 40);
        assert_chunks(&schunk, Store::File, &path, &[int32_bytes(0..10)]);
    });
}

/// Without a copy the library takes ownership of a chunk; if the call fails, the caller keeps it.
#[test]
fn frame_9_failed_writes_leave_the_chunk_to_the_caller() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(Store::File, &path, 3);
        fs::remove_file(&path).expect("a file");
        let src = compress_chunk(&numbered_data(5));
        for call in 0..3 {
            // SAFETY: a block of that size, of which the library may take ownership; it does not, as the call fails.
            unsafe {
                let block = libc::malloc(src.len()).cast::<u8>();
                std::ptr::copy_nonoverlapping(src.as_ptr(), block, src.len());
                let functions = schunk.functions;
                let rc = match call {
                    0 => (functions.blosc2_schunk_append_chunk)(schunk.raw(), block, false),
                    1 => (functions.blosc2_schunk_insert_chunk)(schunk.raw(), 1, block, false),
                    _ => (functions.blosc2_schunk_update_chunk)(schunk.raw(), 1, block, false),
                };
                assert!(rc < 0, "call {call}");
                assert_eq!(std::slice::from_raw_parts(block, src.len()), src, "call {call}");
                libc::free(block.cast());
            }
        }
    });
}

#[test]
fn frame_9_seventeenth_vlmetalayer_is_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::FRAMES {
            let path = scratch.new_path();
            let schunk = schunk_with_chunks(store, &path, 1);
            for number in 0..16 {
                assert_eq!(schunk.vlmeta_add(&format!("v{number}"), &[number; 20]), i32::from(number));
            }
            let before = schunk_state(&schunk);
            assert!(schunk.vlmeta_add("one too many", b"content") < 0, "{store:?}");
            assert_eq!(schunk_state(&schunk), before, "{store:?}");
            assert_eq!(schunk.append(&numbered_data(1)), Ok(2), "{store:?}");
            assert_chunks(&schunk, store, &path, &[0, 1].map(numbered_data));
            assert_eq!(schunk.vlmeta_get("v15"), Ok(vec![15; 20]), "{store:?}");
        }
    });
}

/// A frame with 17 variable-length metalayers opens; later changes do not corrupt it.
#[test]
fn frame_9_frame_with_seventeen_vlmetalayers_is_not_corrupted() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::File, &path, 1));
        let mut frame = fs::read(&path).expect("a frame");
        let trailer = frame.len() - 35;
        frame.truncate(trailer);
        frame.extend(trailer_of(17));
        let len = frame.len() as u64;
        frame[16..24].copy_from_slice(&len.to_be_bytes());
        frame[0x44] = 0xC3;
        fs::write(&path, &frame).expect("a frame");
        let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
        assert_eq!(schunk.nvlmetalayers(), 17);
        let mut model = vec![numbered_data(0)];
        let before = schunk_state(&schunk);
        match schunk.append(&numbered_data(1)) {
            Ok(_) => model.push(numbered_data(1)),
            Err(_) => assert_eq!(schunk_state(&schunk), before),
        }
        assert_chunks(&schunk, Store::File, &path, &model);
        let again = SuperChunk::open(ours(), &path).expect("a super-chunk");
        assert_eq!(again.vlmeta_get("n16"), Ok(b"hello".to_vec()));
    });
}

/// Returns a trailer with `count` variable-length metalayers `n0`, `n1`, ... with the content "hello" (frame.md 1.5).
fn trailer_of(count: u16) -> Vec<u8> {
    let content = crate::support::hex(
        "05 01 07 08 05 00 00 00 01 00 00 00 25 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00
         68 65 6c 6c 6f",
    );
    let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
    let map: usize = names.iter().map(|name| 6 + name.len()).sum();
    let mut trailer = vec![0x94, 0x01, 0x93, 0xCD];
    trailer.extend((6 + map as u16).to_be_bytes());
    trailer.push(0xDE);
    trailer.extend(count.to_be_bytes());
    let mut offset = trailer.len() + map + 3;
    for name in &names {
        trailer.push(0xA0 + name.len() as u8);
        trailer.extend(name.as_bytes());
        trailer.push(0xD2);
        trailer.extend((offset as i32).to_be_bytes());
        offset += 5 + content.len();
    }
    trailer.push(0xDC);
    trailer.extend(count.to_be_bytes());
    for _ in 0..count {
        trailer.push(0xC6);
        trailer.extend((content.len() as i32).to_be_bytes());
        trailer.extend(&content);
    }
    trailer.push(0xCE);
    let total = trailer.len() + 4 + 18;
    trailer.extend((total as u32).to_be_bytes());
    trailer.extend([0xD8, 0]);
    trailer.extend([0; 16]);
    trailer
}

#[test]
fn schunk_25_long_names_and_too_many_metalayers_are_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ALL {
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
            for len in [32, 33, 100] {
                let name = "n".repeat(len);
                let before = schunk_state(&schunk);
                assert_eq!(schunk.meta_add(&name, b"content"), -12, "{store:?}");
                assert_eq!(schunk.vlmeta_add(&name, b"content"), -12, "{store:?}");
                assert_eq!(schunk_state(&schunk), before, "{store:?}");
            }
            for number in 0..16 {
                assert_eq!(schunk.meta_add(&format!("m{number}"), &[number]), i32::from(number), "{store:?}");
            }
            let before = schunk_state(&schunk);
            assert_eq!(schunk.meta_add("one too many", b"content"), -12, "{store:?}");
            assert_eq!(schunk_state(&schunk), before, "{store:?}");
            assert_eq!(schunk.append(&numbered_data(0)), Ok(1), "{store:?}");
            assert_chunks(&schunk, store, &path, &[numbered_data(0)]);
            assert_eq!(schunk.meta_get("m15"), Some(vec![15]), "{store:?}");
        }
    });
}

/// At most 8192 variable-length metalayers in memory.
#[test]
fn abi_14_more_than_8192_vlmetalayers_are_rejected() {
    in_new_process(test_name!(), || {
        let schunk =
            SuperChunk::create(ours(), Store::Memory, &ScratchDir::new().new_path(), &int32_params());
        for number in 0..8192 {
            assert_eq!(schunk.vlmeta_add(&number.to_string(), b"x"), number);
        }
        assert_eq!(schunk.vlmeta_add("one too many", b"x"), -12);
        assert_eq!(schunk.nvlmetalayers(), 8192);
        assert_eq!(schunk.vlmeta_get("8191"), Ok(b"x".to_vec()));
    });
}

/// The numbers of chunk files increase, while the compressed size decreases.
#[test]
fn frame_9_chunk_file_numbers_can_exceed_cbytes() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = SuperChunk::create(ours(), Store::Directory, &path, &int32_params());
        for number in 0..42 {
            assert!(schunk.append(&int32_bytes(number..number + 10)).is_ok());
            if number > 0 {
                assert_eq!(schunk.delete_chunk(0), Ok(1));
            }
        }
        assert_eq!(read_files(&path).len(), 2);
        assert!(schunk.cbytes() <= 73, "{} bytes", schunk.cbytes());
        let again = SuperChunk::open(ours(), &path).expect("a super-chunk");
        assert_eq!(again.contents(), int32_bytes(41..51));
        assert_eq!(again.append(&int32_bytes(0..10)), Ok(2));
        assert_eq!(again.contents(), int32_bytes((41..51).chain(0..10)));
    });
}

/// A directory of this kind as the reference writes it.
#[test]
fn frame_9_reference_directory_with_high_chunk_numbers_is_read() {
    // The reference writes no checksums, so that the entry can be replaced.
    in_new_process_with(test_name!(), &[("BLOSC2_CHECKSUMS", "off")], || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::Directory, &path, 1));
        let payload = read_files(&path)["00000000.chunk"].clone();
        let index_file = path.join("chunks.b2frame");
        let mut index = fs::read(&index_file).expect("the index");
        // The only entry, in an uncompressed chunk behind the header.
        assert_eq!((index[97], index[99] & 0x02), (5, 2));
        for id in [payload.len() as u32, 0xFFFF_FFFF] {
            index[129..137].copy_from_slice(&u64::from(id).to_le_bytes());
            fs::write(&index_file, &index).expect("the index");
            fs::write(path.join(format!("{id:08X}.chunk")), &payload).expect("a chunk");
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            assert_eq!(schunk.contents(), numbered_data(0));
        }
    });
}

/// The index has entries of 8 bytes, whatever typesize the environment sets for the data.
#[test]
fn frame_9_index_ignores_the_typesize_in_the_environment() {
    for value in ["1", "4", "16"] {
        let name = test_name!();
        in_new_process_with(name, &[("BLOSC_TYPESIZE", value)], || {
            let scratch = ScratchDir::new();
            for store in Store::FRAMES {
                let path = scratch.new_path();
                let schunk = schunk_with_chunks(store, &path, 12);
                let mut model: Vec<Vec<u8>> = (0..12).map(numbered_data).collect();
                assert_eq!(schunk.insert_chunk(3, &compress_chunk(&numbered_data(20))), Ok(13), "{store:?}");
                model.insert(3, numbered_data(20));
                assert_chunks(&schunk, store, &path, &model);
                assert_eq!(schunk.update_chunk(5, &compress_chunk(&numbered_data(21))), Ok(13), "{store:?}");
                model[5] = numbered_data(21);
                assert_eq!(schunk.delete_chunk(0), Ok(12), "{store:?}");
                model.remove(0);
                assert_chunks(&schunk, store, &path, &model);
                assert_eq!(schunk.reorder(&[11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]), 0, "{store:?}");
                model.reverse();
                assert_chunks(&schunk, store, &path, &model);
            }
        });
    }
}

/// The header contains the block size that was used (schunk.md 25), also if a chunk does not consist of whole items.
#[test]
fn schunk_25_header_contains_the_effective_blocksize() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        for blocksize in [0, 512, 510] {
            let path = scratch.new_path();
            let params = Params { blocksize, ..int32_params() };
            let schunk = SuperChunk::create(ours(), store, &path, &params);
            let uneven: Vec<u8> = (0..2001).map(|i| (i / 100) as u8).collect();
            let model = [numbered_data(0), uneven, numbered_data(1)];
            for src in &model {
                assert!(schunk.append(src).is_ok(), "{store:?}");
            }
            assert_chunks(&schunk, store, &path, &model);
        }
    }
}
