//! The trace of two handles on one file (schunk.md 22, T9).

use std::fs;
use std::path::{Path, PathBuf};

use super::{compress_chunk, for_each_library_and_store, i32_bytes, params_with_typesize};
use crate::support::library::Library;
use crate::support::super_chunk::{Store, SuperChunk, locking_io};

/// Returns the number of exclusive locks so far, from the lock file next to the frame (frame.md 6.2).
fn exclusive_lock_count(path: &Path) -> u64 {
    let mut sidecar = path.as_os_str().to_owned();
    sidecar.push(".b2lock");
    let bytes = fs::read(PathBuf::from(sidecar)).expect("the lock's file");
    u64::from_ne_bytes(bytes[8..16].try_into().expect("eight bytes"))
}

/// Returns another chunk with the same compressed size as the one of 0..1000, and its contents.
fn chunk_of_equal_cbytes(library: &Library) -> (Vec<u8>, Vec<u8>) {
    (1..1000)
        .map(|k| {
            let src = i32_bytes((0..1000).map(|i| i + 256 * k));
            (compress_chunk(library, &params_with_typesize(4), &src), src)
        })
        .find(|(chunk, _)| chunk.len() == 355)
        .expect("a chunk of 355 bytes")
}

#[test]
fn t9_two_handles() {
    for locking in [false, true] {
        for_each_library_and_store(&[Store::File], |library, store, path| {
            let what = format!("{}, locking: {locking}", library.name);
            let io = locking_io();
            let w = SuperChunk::try_create(
                library,
                store,
                path,
                &params_with_typesize(4),
                locking.then_some(&io),
            );
            let w = w.expect("a super-chunk");
            let a = compress_chunk(library, &params_with_typesize(4), &i32_bytes(0..1000));
            assert_eq!(w.meta_add("m", b"old"), 0, "{what}");
            assert_eq!(w.append_chunk(&a), Ok(1), "{what}");
            assert_eq!((w.lock(), w.lock(), w.unlock(), w.unlock(), w.unlock()), (0, 0, 0, 0, 0), "{what}");
            if locking {
                assert_eq!(exclusive_lock_count(path), 3, "{what}");
            }
            let r = if locking {
                SuperChunk::open_locking(library, path)
            } else {
                SuperChunk::open(library, path)
            };
            let r = r.expect("a second handle");
            assert_eq!(r.change_tick(), 0, "{what}");
            assert_eq!(w.append_chunk(&a), Ok(2), "{what}");
            assert_eq!(r.get_chunk(1), Err(-12), "{what}");
            assert_eq!(r.get_chunk(0), Ok(a.clone()), "{what}");
            assert_eq!((r.nchunks(), r.change_tick(), r.refresh()), (2, 1, 0), "{what}");
            assert_eq!(w.append_chunk(&a), Ok(3), "{what}");
            assert_eq!((r.refresh(), r.change_tick(), r.nchunks()), (1, 2, 3), "{what}");
            assert_eq!(w.vlmeta_add("v", b"hello"), 0, "{what}");
            assert_eq!((r.vlmeta_exists("v"), r.change_tick(), r.nvlmetalayers()), (0, 3, 1), "{what}");
            // The reference does not lock here, so that other handles cannot detect the change (schunk.md 25).
            let noticed = locking && !library.is_reference();
            assert_eq!(w.meta_update("m", b"new"), 0, "{what}");
            assert_eq!(r.refresh(), i32::from(noticed), "{what}");
            let content: &[u8] = if noticed { b"new" } else { b"old" };
            assert_eq!(r.meta_get("m").as_deref(), Some(content), "{what}");
            let tick = r.change_tick();
            let (other, contents) = chunk_of_equal_cbytes(library);
            assert_eq!(w.update_chunk(0, &other), Ok(3), "{what}");
            assert_eq!(r.refresh(), i32::from(locking), "{what}");
            assert_eq!(r.change_tick(), tick + i64::from(locking), "{what}");
            assert!(r.decompress(0) == Ok(contents), "{what}");
            assert_eq!(r.append_chunk(&a), Ok(4), "{what}");
            assert_eq!((w.refresh(), w.nchunks()), (1, 4), "{what}");
            assert_eq!(w.delete_chunk(0), Ok(3), "{what}");
            assert_eq!(r.update_chunk(3, &a), Err(-1), "{what}");
            assert_eq!(r.nchunks(), 3, "{what}");
            assert_eq!(r.delete_chunk(3), Err(-12), "{what}");
            assert_eq!(r.insert_chunk(0, &other), Ok(4), "{what}");
            assert_eq!(w.append_chunk(&a), Ok(5), "{what}");
            if locking {
                assert_eq!(exclusive_lock_count(path), 13 + u64::from(noticed), "{what}");
            }
        });
    }
}
