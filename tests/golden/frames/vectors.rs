//! Whole frames, byte for byte (frame.md 1.8, schunk.md 23).

use std::path::Path;

use super::{
    assert_hex, compress_chunk, for_each_library_and_store, frame_bytes, i32_bytes, params_with_typesize,
    special_int32_chunk,
};
use crate::support::calls::Special;
use crate::support::calls::{Params, vlcompress};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::read_files;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::{hex, written_here};

const EMPTY: &str = include_str!("empty.hex");

const TWO_CHUNKS: &str = include_str!("two_chunks.hex");

/// clevel 0, one metalayer, one chunk, one variable-length metalayer (schunk.md 23).
const LEVEL_0: &str = include_str!("stored.hex");

/// Returns the expected index file of a directory, from the cframe of the same calls: no payload, and its own length.
fn sparse_index_file(frame: &[u8], payload: std::ops::Range<usize>) -> Vec<u8> {
    let mut index = [&frame[..payload.start], &frame[payload.end..]].concat();
    let len = index.len() as u64;
    index[0x10..0x18].copy_from_slice(&len.to_be_bytes());
    index[0x1A] = 1;
    index
}

/// Checks that the frame opens from both kinds of buffer, in every library, with these contents.
fn assert_frame_opens(frame: &[u8], contents: &[u8]) {
    for library in crate::support::all_libraries() {
        let mut frame = frame.to_vec();
        let copy = SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk");
        assert_eq!(copy.contents(), contents, "{}", library.name);
        // SAFETY: the buffer outlives the super-chunk, which is only read.
        let borrowed = unsafe { SuperChunk::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) };
        assert_eq!(borrowed.expect("a super-chunk").contents(), contents, "{}", library.name);
    }
}

#[test]
fn a_empty_frame() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        let mut expected = hex(EMPTY);
        match store {
            // A copy, which is created with nthreads 0 (schunk.md 23).
            Store::Memory => expected[0x40] = 0,
            Store::Directory => expected[0x1A] = 1,
            Store::MemoryFrame | Store::File => {}
        }
        assert_hex("(a)", &frame_bytes(&schunk, store, path), &expected);
        if store != Store::Directory {
            assert_frame_opens(&expected, &[]);
        }
    });
}

fn create_two_chunk_schunk(library: &'static Library, store: Store, path: &Path) -> SuperChunk {
    let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
    assert_eq!(schunk.meta_add("abc", &[1, 2, 3]), 0);
    assert_eq!(schunk.append(&i32_bytes(0..8)), Ok(1));
    assert_eq!(schunk.append(&[0; 32]), Ok(2));
    assert_eq!(schunk.vlmeta_add("v", b"hello"), 0);
    schunk
}

#[test]
fn b_two_chunks() {
    // The chunks are the payload, the index, and the content of the variable-length metalayer.
    let frame = written_here(hex(TWO_CHUNKS), &[0x72, 0xB2, 0xFA]);
    let payload = 0x72..0xB2;
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let schunk = create_two_chunk_schunk(library, store, path);
        let expected = if store == Store::Directory {
            sparse_index_file(&frame, payload.clone())
        } else {
            frame.clone()
        };
        assert_eq!(expected.len(), if store == Store::Directory { 246 } else { 310 });
        assert_hex("(b)", &frame_bytes(&schunk, store, path), &expected);
        if store == Store::Directory {
            let files = read_files(path);
            let names: Vec<&str> = files.keys().map(String::as_str).collect();
            assert_eq!(names, ["00000000.chunk", "chunks.b2frame"]);
            assert_hex("payload", &files["00000000.chunk"], &frame[payload.clone()]);
        }
    });
    assert_frame_opens(&frame, &[i32_bytes(0..8), vec![0; 32]].concat());
}

#[test]
fn c_frame_of_special_chunks() {
    let get = |frame: &[u8], at: usize, len: usize| {
        let mut bytes = [0; 8];
        bytes[8 - len..].copy_from_slice(&frame[at..at + len]);
        i64::from_be_bytes(bytes)
    };
    for (kind, code) in [(1, 0x81u8), (2, 0x82), (4, 0x84)] {
        for_each_library_and_store(&Store::FRAMES, |library, store, path| {
            let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
            assert_eq!(schunk.fill_special(25, kind, 40), 3);
            let frame = frame_bytes(&schunk, store, path);
            assert_eq!(frame.len(), 172, "{store:?}");
            assert_eq!(get(&frame, 0x10, 8), 172);
            assert_eq!((get(&frame, 30, 8), get(&frame, 39, 8)), (100, 0));
            assert_eq!((get(&frame, 53, 4), get(&frame, 58, 4)), (40, 40));
            let mut index = hex("05 01 05 08 18 00 00 00 18 00 00 00 28 00 00 00");
            index.extend([0; 15]);
            index.extend(hex("30 00 00 00 00 00 00 00"));
            index.push(code);
            assert_hex("(c)", &frame[97..137], &index);
            let mut chunk = hex("05 01 05 04 28 00 00 00 28 00 00 00 20 00 00 00");
            chunk.extend([0; 15]);
            chunk.push((kind as u8) << 4);
            assert_hex("chunk 0", &schunk.get_chunk(0).expect("a chunk"), &chunk);
            chunk[4] = 0x14;
            chunk[8] = 0x14;
            assert_hex("chunk 2", &schunk.get_chunk(2).expect("a chunk"), &chunk);
            if store == Store::Directory {
                assert_eq!(read_files(path).len(), 1, "no chunk files");
            }
        });
    }
}

#[test]
fn d_variable_size_chunks() {
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(1));
        assert_eq!(schunk.append(b"0123456789"), Ok(1));
        assert_eq!(schunk.append(b"abcdefghijklmnop"), Ok(2));
        let frame = frame_bytes(&schunk, store, path);
        assert_eq!(frame[0x19], 0x53);
        assert_eq!(frame[30..38], 0x1Ai64.to_be_bytes());
        assert_eq!(frame[39..47], 0x5Ai64.to_be_bytes());
        assert_eq!(frame[58..62], [0; 4]);
        let sparse = store == Store::Directory;
        assert_eq!(frame.len(), if sparse { 270 - 0x5A } else { 270 });
        assert_eq!(schunk.offsets(), Some(if sparse { vec![0, 1] } else { vec![0, 0x2A] }));
        assert_eq!(schunk.contents(), b"0123456789abcdefghijklmnop");
    });
}

#[test]
fn e_variable_length_blocks() {
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(1));
        let blocks = [b"twenty-three characters".to_vec(), b"abc".to_vec()];
        let chunk = vlcompress(library, &params_with_typesize(1), &blocks, 200).expect("a chunk");
        assert_eq!(chunk.len(), 74);
        assert_eq!(schunk.append_chunk(&chunk), Ok(1));
        let frame = frame_bytes(&schunk, store, path);
        assert_eq!(frame[0x19], 0x93);
        assert_eq!(frame[30..38], 0x1Ai64.to_be_bytes());
        assert_eq!(frame[39..47], 0x4Ai64.to_be_bytes());
        assert_eq!(frame[58..62], 0x1Ai32.to_be_bytes());
        assert_eq!(frame.len(), if store == Store::Directory { 246 - 74 } else { 246 });
        assert_eq!(schunk.get_vlblock(0, 1), Ok(b"abc".to_vec()));
    });
}

#[test]
fn f_index_after_a_delete() {
    let expected = {
        let mut index = hex("05 01 15 08 30 00 00 00 30 00 00 00 58 00 00 00 00 00 00 00 00 01");
        index.extend([0; 10]);
        index.extend(hex("24 00 00 00 30 00 00 00 20 00 60 40 00 80 0a 00 15 0b 00 1f"));
        index.extend([0; 34]);
        index.extend([0x81, 0]);
        written_here(index, &[0])
    };
    for_each_library_and_store(&[Store::MemoryFrame, Store::File], |library, store, path| {
        let params = params_with_typesize(1);
        let schunk = SuperChunk::create(library, store, path, &params);
        let noise = crate::support::random::Random::new(6).bytes(2560);
        // Five payloads of 0xa20 bytes except the second, of 0x120.
        let short = (0..2560)
            .map(|len| {
                let mut src = noise.clone();
                src[len..].fill(7);
                compress_chunk(library, &Params { codec: 1, ..params.clone() }, &src)
            })
            .find(|chunk| chunk.len() == 0x120)
            .expect("a chunk of that size");
        let long = compress_chunk(library, &Params { clevel: 0, ..params.clone() }, &noise);
        assert_eq!(long.len(), 0xA20);
        for chunk in [&long, &short, &long, &long, &long] {
            schunk.append_chunk(chunk).expect("appended");
        }
        schunk.append(&[0; 2560]).expect("appended");
        schunk.append_chunk(&short).expect("appended");
        assert_eq!(schunk.reorder(&[1, 0, 3, 2, 5, 4, 6]), 0);
        assert_eq!(schunk.delete_chunk(6), Ok(6));
        assert_eq!(schunk.offsets(), Some(vec![0xA20, 0, 0x1560, 0xB40, 0x81 << 56, 0x1F80]));
        let frame = frame_bytes(&schunk, store, path);
        let at = 97 + schunk.cbytes() as usize;
        assert_hex("(f)", &frame[at..at + 88], &expected);
    });
}

#[test]
fn level_0_frame_matches_the_vector() {
    let frame = written_here(hex(LEVEL_0), &[0x70, 0xA0, 0xE1]);
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let params = Params { clevel: 0, ..params_with_typesize(1) };
        let schunk = SuperChunk::create(library, store, path, &params);
        assert_eq!(schunk.meta_add("m1", &[1, 2]), 0);
        assert_eq!(schunk.append(&(0..16).collect::<Vec<u8>>()), Ok(1));
        assert_eq!(schunk.vlmeta_add("v1", b"xyz"), 0);
        let expected =
            if store == Store::Directory { sparse_index_file(&frame, 0x70..0xA0) } else { frame.clone() };
        assert_hex("283 bytes", &frame_bytes(&schunk, store, path), &expected);
    });
    assert_frame_opens(&frame, &(0..16).collect::<Vec<u8>>());
    // A chunk can be appended to both frames.
    for library in crate::support::all_libraries() {
        for (text, before) in [(EMPTY, 0), (LEVEL_0, 1)] {
            let mut frame = hex(text);
            let schunk = SuperChunk::from_frame_copy(library, &mut frame).expect("a super-chunk");
            assert_eq!(schunk.append(&[7; 16]), Ok(before + 1), "{}", library.name);
            assert_eq!(schunk.decompress(before), Ok(vec![7; 16]), "{}", library.name);
        }
    }
}

/// Chunks that a frame generates from its offsets, and a metalayer's content (schunk.md 23).
#[test]
fn special_chunks_are_generated_from_offsets() {
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        assert_eq!(schunk.fill_special(2500, 1, 4000), 3);
        let mut expected = hex("05 01 05 04 a0 0f 00 00 a0 0f 00 00 20 00 00 00");
        expected.extend([0; 15]);
        expected.push(0x10);
        assert_hex("chunk 0", &schunk.get_chunk(0).expect("a chunk"), &expected);
        expected[4..12].copy_from_slice(&hex("d0 07 00 00 d0 07 00 00"));
        assert_hex("chunk 2", &schunk.get_chunk(2).expect("a chunk"), &expected);
        assert_eq!(schunk.vlmeta_add("v", b"abcdef"), 0);
        let content = hex("05 01 07 08 06 00 00 00 01 00 00 00 26 00 00 00 00 00 00 00 00 01 00 00
                           00 00 00 00 00 00 00 00 61 62 63 64 65 66");
        let content = written_here(content, &[0]);
        assert_hex("content", &schunk.raw_vlmetalayers()[0].1, &content);
    });
}

/// The same calls store the same chunks in a directory as in a frame, each in a separate file.
#[test]
fn directory_has_one_file_per_stored_chunk() {
    for_each_library_and_store(&[Store::Directory], |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        let chunks = [
            compress_chunk(library, &params_with_typesize(4), &i32_bytes(0..1000)),
            special_int32_chunk(library, Special::Zeros),
            special_int32_chunk(library, Special::Value(&[7, 0, 0, 0])),
        ];
        for chunk in &chunks {
            schunk.append_chunk(chunk).expect("appended");
        }
        let files = read_files(path);
        let found: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        assert_eq!(found.len(), 3, "{:?}", files.keys());
        assert_eq!(found[0], ("00000000.chunk", chunks[0].as_slice()));
        assert_eq!(found[1], ("00000001.chunk", chunks[2].as_slice()));
        assert_eq!(schunk.offsets(), Some(vec![0, 0x81 << 56, 1]));
    });
}
