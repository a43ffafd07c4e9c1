//! Frames through the memory-mapping back-end (frame.md 5.5 and 9).

use std::ffi::CStr;
use std::fs;
use std::path::Path;
use std::ptr;

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, blosc2_io, blosc2_stdio_mmap};

use crate::checks::{data, ours};
use crate::schunk_fixtures::{
    assert_chunks, compress_chunk, int32_bytes, int32_params, numbered_data, schunk_with_chunks,
};
use crate::support::calls::{Params, vlcompress};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// Returns the parameters for one super-chunk.
fn mmap_params(mode: &'static CStr, initial_mapping_size: usize) -> Box<blosc2_stdio_mmap> {
    Box::new(blosc2_stdio_mmap { mode: mode.as_ptr(), initial_mapping_size, ..BLOSC2_STDIO_MMAP_DEFAULTS })
}

fn io(params: &mut blosc2_stdio_mmap) -> blosc2_io {
    blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params: ptr::from_mut(params).cast() }
}

/// Opens a frame; the parameters must outlive the super-chunk.
fn open(path: &Path, params: &mut blosc2_stdio_mmap) -> Option<SuperChunk> {
    let functions = crate::support::super_chunk::functions::Functions::of(ours());
    let (path, io) = (c_path(path), io(params));
    // SAFETY: a terminated path and a valid back-end.
    let raw = unsafe { (functions.blosc2_schunk_open_udio)(path.as_ptr(), &io) };
    SuperChunk::from_raw(ours(), raw)
}

#[test]
fn frame_9_read_only_mapping_rejects_changes() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::File, &path, 3));
        let before = fs::read(&path).expect("a frame");
        let mut params = mmap_params(c"r", 1 << 30);
        let schunk = open(&path, &mut params).expect("a super-chunk");
        assert!(schunk.append(&numbered_data(3)).is_err());
        assert!(schunk.update_chunk(1, &compress_chunk(&numbered_data(1))).is_err());
        assert!(schunk.insert_chunk(1, &compress_chunk(&numbered_data(7))).is_err());
        assert!(schunk.delete_chunk(0).is_err());
        assert!(schunk.reorder(&[2, 1, 0]) < 0);
        assert!(schunk.vlmeta_add("v", b"content") < 0);
        assert_eq!(params.file_size, before.len());
        assert_eq!((schunk.nchunks(), schunk.nbytes(), schunk.nvlmetalayers()), (3, 12_000, 0));
        assert!(schunk.contents() == [0, 1, 2].map(numbered_data).concat());
        drop(schunk);
        assert!(fs::read(&path).expect("a frame") == before);
    });
}

/// Changes stay in memory, and may become much larger than the file.
#[test]
fn frame_9_private_mapping_leaves_the_file_unchanged() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::File, &path, 2));
        let before = fs::read(&path).expect("a frame");
        let mut params = mmap_params(c"c", 1 << 22);
        let schunk = open(&path, &mut params).expect("a super-chunk");
        let noise: Vec<Vec<u8>> =
            (0..10).map(|number| data(Data::Noise, 4, 4000 + number)[..4000].to_vec()).collect();
        for (number, src) in noise.iter().enumerate() {
            assert_eq!(schunk.append(src), Ok(number as i64 + 3));
        }
        for (number, src) in noise.iter().enumerate() {
            assert!(schunk.decompress(number as i64 + 2).as_ref() == Ok(src), "chunk {number}");
        }
        drop(schunk);
        assert!(fs::read(&path).expect("a frame") == before, "the file changed");
    });
}

#[test]
fn frame_9_lazy_reads_of_a_mapping_return_the_items() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for codec in [1, 5] {
            let path = scratch.new_path();
            let params = Params { codec, use_dict: true, typesize: 1, blocksize: 1024, ..Params::default() };
            let schunk = SuperChunk::create(ours(), Store::File, &path, &params);
            let text = data(Data::Text, 1, 40_000);
            assert_eq!(schunk.append(&text), Ok(1));
            assert_eq!(schunk.append(&text), Ok(2));
            drop(schunk);
            for mode in [c"r", c"c", c"r+"] {
                let mut params = mmap_params(mode, 1 << 22);
                let schunk = open(&path, &mut params).expect("a super-chunk");
                for start in [0, 39_990, 500, 70_001] {
                    let twice = text.repeat(2);
                    let found = schunk.get_slice(start, start + 100, 100);
                    assert!(found.as_deref() == Ok(&twice[start as usize..start as usize + 100]), "{start}");
                }
                assert!(schunk.contents() == text.repeat(2));
            }
        }
        let path = scratch.new_path();
        let schunk = SuperChunk::create(ours(), Store::File, &path, &int32_params());
        let blocks = [int32_bytes(0..10), int32_bytes(0..300), int32_bytes(7..8)];
        let vl = vlcompress(ours(), &int32_params(), &blocks, 10_000).expect("a chunk");
        assert_eq!(schunk.append_chunk(&vl), Ok(1));
        drop(schunk);
        let mut params = mmap_params(c"r", 1 << 22);
        let schunk = open(&path, &mut params).expect("a super-chunk");
        let lazy = schunk.get_lazychunk(0).expect("a lazy chunk");
        for (nblock, block) in blocks.iter().enumerate() {
            assert_eq!(schunk.get_vlblock(0, nblock as i32).as_ref(), Ok(block));
            let (mut dest, mut size) = (ptr::null_mut::<u8>(), 0);
            // SAFETY: a live context, a source of its stated length and valid out-pointers; the caller frees the
            // block.
            unsafe {
                let rc = (ours().blosc2_vldecompress_block_ctx)(
                    schunk.dctx(),
                    lazy.as_ptr().cast(),
                    lazy.len() as i32,
                    nblock as i32,
                    &mut dest,
                    &mut size,
                );
                assert_eq!(rc, block.len() as i32);
                assert_eq!(std::slice::from_raw_parts(dest, size as usize), block.as_slice());
                libc::free(dest.cast());
            }
        }
    });
}

/// The mapping moves while the frame grows; no pointer to the old mapping is used.
#[test]
fn frame_9_growing_frame_survives_moves_of_its_mapping() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::File, &path, 5));
        let mut params = mmap_params(c"r+", 1);
        let schunk = open(&path, &mut params).expect("a super-chunk");
        let mut model: Vec<Vec<u8>> = (0..5).map(numbered_data).collect();
        for round in 0..12 {
            assert_eq!(schunk.decompress(0).as_ref(), Ok(&model[0]));
            let large = data(Data::Noise, 1, 20_000 * (round + 1));
            assert_eq!(schunk.vlmeta_add(&format!("v{round}"), &large), round as i32);
            assert_chunks(&schunk, Store::File, &path, &model);
            let next = numbered_data(round as i32 + 10);
            assert_eq!(schunk.append(&next), Ok(round as i64 + 6));
            model.push(next);
            assert_chunks(&schunk, Store::File, &path, &model);
        }
        drop(schunk);
        let again = SuperChunk::open(ours(), &path).expect("a super-chunk");
        assert!(again.vlmeta_get("v11") == Ok(data(Data::Noise, 1, 240_000)));
    });
}

/// After an invalid header the file is unmapped and closed.
#[test]
fn frame_9_mapped_file_with_invalid_header_is_closed() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(schunk_with_chunks(Store::File, &path, 2));
        let good = fs::read(&path).expect("a frame");
        for (at, value) in [(0x19, 0x14), (0x1A, 0x01), (0x33, 0), (0x4C, 6), (0x5B, 0x80), (0x10, 0x7F)] {
            let mut bad = good.clone();
            bad[at] = value;
            fs::write(&path, &bad).expect("a file");
            let mut params = mmap_params(c"r", 1 << 22);
            assert!(open(&path, &mut params).is_none(), "byte {at:#x}");
            assert!(params.addr.is_null() && params.file.is_null(), "byte {at:#x}: still mapped");
        }
    });
}

/// A mapped file that cannot be extended to the length of the frame is removed, and a second try works.
#[cfg(unix)]
#[test]
fn schunk_25_failed_creation_of_a_mapped_file_leaves_nothing() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let create = |path: &Path| {
            let mut params = mmap_params(c"w+", 1 << 20);
            SuperChunk::try_create(ours(), Store::File, path, &int32_params(), Some(&io(&mut params)))
                .is_some()
        };
        for limit in (0..110).step_by(11) {
            let path = scratch.new_path();
            assert!(
                !crate::support::files::with_file_size_limit(limit, || create(&path)),
                "{limit}: created"
            );
            assert!(!path.exists(), "{limit}: the path exists");
            assert!(create(&path), "{limit}: again");
        }
    });
}
