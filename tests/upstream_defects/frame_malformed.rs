//! Frames and directories on which the reference crashes or returns wrong data (frame.md 9, schunk.md 25).

use std::fs;

use crate::checks::ours;
use crate::schunk_fixtures::{
    compress_chunk, int32_bytes, int32_params, numbered_data, schunk_state, schunk_with_chunks,
};
use crate::support::calls::{Header, Params, compress};
use crate::support::child::{in_new_process, test_name};
use crate::support::random::Random;
use crate::support::short_header::with_short_header;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// Returns the bytes of a frame of three chunks.
fn frame_of_3_chunks() -> Vec<u8> {
    let schunk = schunk_with_chunks(Store::MemoryFrame, &ScratchDir::new().new_path(), 3);
    schunk.to_buffer().expect("a frame")
}

/// Checks that the frame is rejected as a copy; as a borrowed buffer or a file it may be opened, and reading it must
/// be safe.
#[track_caller]
fn assert_refused_as_copy(what: &str, mut frame: Vec<u8>) {
    let scratch = ScratchDir::new();
    for _ in 0..20 {
        assert!(SuperChunk::from_frame_copy(ours(), &mut frame).is_none(), "{what}");
    }
    let path = scratch.new_path();
    fs::write(&path, &frame).expect("a file");
    // SAFETY: the buffer outlives the super-chunk, which is only read.
    let borrowed = unsafe { SuperChunk::from_borrowed_frame(ours(), frame.as_mut_ptr(), frame.len()) };
    for schunk in [borrowed, SuperChunk::open(ours(), &path)].into_iter().flatten() {
        for nchunk in 0..schunk.nchunks().min(10) {
            let _ = schunk.get_chunk(nchunk);
            let _ = schunk.get_lazychunk(nchunk);
            let _ = schunk.decompress_into(nchunk, 4000);
        }
    }
}

#[test]
fn frame_9_copies_of_damaged_frames_are_rejected() {
    in_new_process(test_name!(), || {
        // A special offset in a frame of variable chunk sizes.
        let schunk =
            SuperChunk::create(ours(), Store::MemoryFrame, &ScratchDir::new().new_path(), &int32_params());
        assert_eq!(schunk.fill_special(3000, 1, 4000), 3);
        let mut special = schunk.to_buffer().expect("a frame");
        special[58..62].fill(0);
        assert_refused_as_copy("special offset", special);
        // 3 x 4000 bytes less 2: not whole items, and not the sum of the chunk sizes.
        let mut uneven = frame_of_3_chunks();
        uneven[30..38].copy_from_slice(&11_998i64.to_be_bytes());
        assert_refused_as_copy("uneven", uneven);
        let header = 97;
        for (what, at, value) in [
            ("block size 0", header + 8, 0),
            ("negative block size", header + 8, -1),
            ("block size beyond the limit", header + 8, 536_866_817),
            ("no bytes", header + 12, 0),
            ("fewer bytes than a header", header + 12, 31),
            ("bytes beyond the data", header + 12, 1_000_000),
            ("negative length", header + 12, -5),
            ("negative size", header + 4, -4),
        ] {
            for number in 0..2 {
                let mut frame = frame_of_3_chunks();
                // The second chunk follows the first, of 355 bytes.
                let at = at + 355 * number;
                frame[at..at + 4].copy_from_slice(&i32::to_le_bytes(value));
                assert_refused_as_copy(what, frame);
            }
        }
    });
}

/// In a chunk of Blosc 1 the bytes at the position of the second flags are data.
#[test]
fn frame_9_data_after_a_short_header_is_not_read_as_flags() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let params = Params { clevel: 0, filters: [0; 6], ..int32_params() };
        for byte in [0x11u8, 0x41, 0xFF] {
            // Stored uncompressed, so that bytes 0x1e and 0x1f of the chunk are data.
            let src = vec![byte; 400];
            let long = compress(ours(), &params, &src, 1000).expect("a chunk");
            let short = with_short_header(&long).expect("a short header");
            assert_eq!((short.len(), short[0x1E], short[0x1F]), (416, byte, byte));
            for store in Store::ALL {
                let path = scratch.new_path();
                let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
                assert_eq!(schunk.append_chunk(&short), Ok(1), "{store:?}");
                assert_eq!(schunk.append(&int32_bytes(0..100)), Ok(2), "{store:?}");
                let check = |schunk: &SuperChunk| {
                    assert_eq!((schunk.flags2(), schunk.nchunks()), (0, 2), "{store:?}");
                    assert_eq!(schunk.get_chunk(0).as_ref(), Ok(&short), "{store:?}");
                    assert_eq!(schunk.decompress(0).as_ref(), Ok(&src), "{store:?}");
                    assert_eq!(
                        schunk.get_slice(50, 150, 400).map(|items| items[..200].to_vec()),
                        Ok(src[200..].to_vec())
                    );
                };
                check(&schunk);
                if store.is_on_disk() {
                    let again = SuperChunk::open(ours(), &path).expect("a super-chunk");
                    check(&again);
                    assert_eq!(again.append(&int32_bytes(0..100)), Ok(3), "{store:?}");
                }
                let mut frame = schunk.to_buffer().expect("a frame");
                assert!(frame[0x19] & 0x80 == 0, "{store:?}: flags {:02x}", frame[0x19]);
                if !store.is_on_disk() {
                    check(&SuperChunk::from_frame_copy(ours(), &mut frame).expect("a super-chunk"));
                }
            }
        }
    });
}

/// A lazy chunk contains no uninitialised heap memory.
#[test]
fn frame_9_lazy_memcpyed_chunks_contain_no_uninitialised_bytes() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        let params = Params { blocksize: 512, ..int32_params() };
        let schunk = SuperChunk::create(ours(), store, &path, &params);
        let noise = Random::new(1).bytes(4000);
        assert_eq!(schunk.append(&noise), Ok(1));
        for _ in 0..20 {
            // The allocator returns the blocks freed here for the next allocations.
            for len in [100, 116, 140, 200] {
                // SAFETY: a block of that size, written and freed.
                unsafe {
                    let block = libc::malloc(len);
                    libc::memset(block, 0xEE, len);
                    libc::free(block);
                }
            }
            let lazy = schunk.get_lazychunk(0).expect("a lazy chunk");
            assert!(Header::parse(&lazy).is_memcpyed(), "{store:?}");
            assert_eq!(lazy[32..64], [0; 32], "{store:?}");
        }
    }
}

#[test]
fn frame_9_truncated_chunk_files_return_errors() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = schunk_with_chunks(Store::Directory, &path, 2);
        let name = path.join("00000001.chunk");
        let payload = read_files(&path)["00000001.chunk"].clone();
        for len in [0, 15, 16, 31, 32, 40, payload.len() / 2, payload.len() - 1] {
            fs::write(&name, &payload[..len]).expect("a chunk file");
            let handles = [SuperChunk::open(ours(), &path).expect("a super-chunk")];
            for schunk in handles.iter().chain([&schunk]) {
                assert_eq!(schunk.get_chunk(1), Err(-13), "{len} bytes");
                assert!(schunk.decompress_into(1, 4000).is_err(), "{len} bytes");
                assert!(schunk.get_slice(1000, 2000, 4000).is_err(), "{len} bytes");
                assert!(schunk.get_slice(1998, 2000, 8).is_err(), "{len} bytes");
                assert_eq!(schunk.decompress(0), Ok(numbered_data(0)), "{len} bytes");
            }
        }
        fs::remove_file(&name).expect("a chunk file");
        assert_eq!(schunk.get_chunk(1), Err(-15));
        let before = schunk_state(&schunk);
        assert!(schunk.update_chunk(1, &compress_chunk(&numbered_data(3))).is_err());
        assert_eq!(schunk_state(&schunk), before);
    });
}

/// Arbitrary offsets in a frame with a valid header.
#[test]
fn frame_9_arbitrary_offsets_are_rejected_or_read_safely() {
    in_new_process(test_name!(), || {
        let frame = frame_of_3_chunks();
        let cbytes = i64::from_be_bytes(frame[39..47].try_into().expect("eight bytes")) as usize;
        let at = 97 + cbytes;
        // Three offsets, in an uncompressed index.
        assert_eq!(frame[at + 4..at + 8], 24i32.to_le_bytes());
        assert_eq!(frame[at + 12..at + 16], 56i32.to_le_bytes());
        for (code, expected) in [
            (0x81u64 << 56, Ok(vec![0u8; 4000])),
            (0xFF << 56, Ok(vec![0; 4000])),
            (0x81 << 56 | 0x1234, Ok(vec![0; 4000])),
            (0x80 << 56, Err(-3)),
            (0x88 << 56, Err(-3)),
        ] {
            let mut frame = frame.clone();
            frame[at + 40..at + 48].copy_from_slice(&code.to_le_bytes());
            // SAFETY: the buffer outlives the super-chunk, which is only read.
            let schunk = unsafe { SuperChunk::from_borrowed_frame(ours(), frame.as_mut_ptr(), frame.len()) };
            let schunk = schunk.expect("a super-chunk");
            assert_eq!(schunk.decompress_into(1, 4000), expected, "{code:x}");
            assert_eq!(schunk.decompress(2), Ok(numbered_data(2)), "{code:x}");
            drop(schunk);
            let copy = SuperChunk::from_frame_copy(ours(), &mut frame);
            assert_eq!(copy.is_some(), expected.is_ok(), "{code:x}");
        }
        for offset in [cbytes as i64 - 31, cbytes as i64, i64::MAX, 1 << 40] {
            let mut frame = frame.clone();
            frame[at + 40..at + 48].copy_from_slice(&offset.to_le_bytes());
            assert!(SuperChunk::from_frame_copy(ours(), &mut frame).is_none(), "{offset}");
            // SAFETY: as above.
            let schunk = unsafe { SuperChunk::from_borrowed_frame(ours(), frame.as_mut_ptr(), frame.len()) };
            assert!(schunk.is_none(), "{offset}");
        }
    });
}

/// The file of the first chunk of a directory is cut off, as by a process that was killed while it wrote the file. The
/// other chunks can be read, and others can be added.
#[test]
fn frame_9_directory_with_a_torn_first_chunk_file_opens() {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    drop(schunk_with_chunks(Store::Directory, &path, 3));
    let file = path.join("00000000.chunk");
    let whole = fs::read(&file).expect("the file of chunk 0");
    let content = |schunk: &SuperChunk, nchunk| schunk.decompress(nchunk);
    let expected: Vec<_> = {
        let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
        (0..3).map(|nchunk| content(&schunk, nchunk)).collect()
    };
    for len in (0..whole.len()).step_by(7) {
        fs::write(&file, &whole[..len]).expect("a torn file");
        let schunk = SuperChunk::open(ours(), &path).unwrap_or_else(|| panic!("{len} bytes: does not open"));
        assert_eq!(schunk.nchunks(), 3);
        assert!(content(&schunk, 0).is_err(), "{len} bytes");
        for nchunk in 1..3 {
            assert_eq!(content(&schunk, nchunk), expected[nchunk as usize], "{len} bytes, chunk {nchunk}");
        }
        assert_eq!(schunk.append(&int32_bytes(0..1000)), Ok(4), "{len} bytes");
        assert_eq!(schunk.delete_chunk(3), Ok(3), "{len} bytes");
    }
    fs::remove_file(&file).expect("removed");
    let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk without the file of chunk 0");
    assert!(content(&schunk, 0).is_err());
    assert_eq!(content(&schunk, 2), expected[2]);
}
