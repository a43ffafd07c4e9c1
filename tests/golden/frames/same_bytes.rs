//! Random sequences of calls produce the same bytes in both libraries: frames in memory, on disk, and the files of
//! directories (frame.md 10.2). The reference compresses each chunk once, so that only the frames are compared.

use std::path::Path;

use super::{compress_chunk, frame_bytes, i32_bytes, params_with_typesize};
use crate::support::calls::{Special, special_chunk, vlcompress};
use crate::support::child::{in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// Returns chunks of (mostly) 400 bytes, of every kind that can be mixed in one super-chunk.
fn make_chunks(library: &Library, sizes: bool) -> Vec<Vec<u8>> {
    let params = params_with_typesize(4);
    let mut chunks = vec![
        compress_chunk(library, &params, &i32_bytes(0..100)),
        compress_chunk(library, &params, &i32_bytes((0..100).map(|i| i * i))),
        compress_chunk(library, &params, &i32_bytes((0..100).map(|i| i / 7))),
        compress_chunk(library, &params, &Random::new(3).bytes(400)),
        special_chunk(library, &params, Special::Value(&[1, 2, 3, 4]), 400, 36).expect("a chunk"),
    ];
    if sizes {
        // No special chunk among these: the reference cannot read it (frame.md 9).
        chunks.push(compress_chunk(library, &params, &i32_bytes(0..30)));
        chunks.push(compress_chunk(library, &params, &i32_bytes(0..300)));
    } else {
        for kind in [Special::Zeros, Special::Nans, Special::Uninit] {
            chunks.push(special_chunk(library, &params, kind, 400, 36).expect("a chunk"));
        }
    }
    chunks
}

fn make_vlblock_chunks(library: &Library) -> Vec<Vec<u8>> {
    [[3, 50], [20, 33], [1, 200]]
        .map(|sizes| {
            let blocks = sizes.map(|size| i32_bytes(0..size));
            vlcompress(library, &params_with_typesize(4), &blocks, 4000).expect("a chunk")
        })
        .into()
}

/// Makes one random call, the same in both libraries; returns its name and its result.
fn make_random_call(
    random: &mut Random,
    schunk: &SuperChunk,
    chunks: &[Vec<u8>],
) -> (&'static str, Result<i64, i32>) {
    let nchunks = schunk.nchunks();
    let at = random.below(nchunks as usize + 2) as i64 - i64::from(random.one_in(20));
    let chunk = random.pick(chunks);
    let name = format!("v{}", random.below(8));
    let content = random.clone().bytes(random.below(60));
    let as_result = |rc: i32| if rc < 0 { Err(rc) } else { Ok(i64::from(rc)) };
    match random.below(16) {
        0..=4 => ("append", schunk.append_chunk(chunk)),
        5..=6 => ("insert", schunk.insert_chunk(at, chunk)),
        7..=9 => ("update", schunk.update_chunk(at, chunk)),
        10..=11 => ("delete", schunk.delete_chunk(at)),
        12 if nchunks > 0 => {
            let mut order: Vec<i64> = (0..nchunks).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, random.below(i + 1));
            }
            ("reorder", as_result(schunk.reorder(&order)))
        }
        13 => ("vlmeta_add", as_result(schunk.vlmeta_add(&name, &content))),
        14 => ("vlmeta_update", as_result(schunk.vlmeta_update(&name, &content))),
        _ => ("vlmeta_delete", as_result(schunk.vlmeta_delete(&name))),
    }
}

fn assert_same_files(ours: &Path, theirs: &Path, what: &str) {
    let (ours, theirs) = (read_files(ours), read_files(theirs));
    assert!(ours.keys().eq(theirs.keys()), "{what}: {:?} and {:?}", ours.keys(), theirs.keys());
    for (name, bytes) in ours {
        assert!(bytes == theirs[&name], "{what}: {name}");
    }
}

fn compare_random_sequence(store: Store, seed: u64, chunks: &[Vec<u8>], variable: bool) {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let scratch = ScratchDir::new();
    let (ours_at, theirs_at) = (scratch.new_path(), scratch.new_path());
    let params = params_with_typesize(4);
    let a = SuperChunk::create(ours, store, &ours_at, &params);
    let b = SuperChunk::create(reference, store, &theirs_at, &params);
    for schunk in [&a, &b] {
        for (name, content) in [("first", &b"some content"[..]), ("second", b""), ("third", &[0xFF; 40])] {
            schunk.meta_add(name, content);
        }
    }
    if variable {
        // From the start: a fixed size cannot be combined with a reordered short chunk (schunk.md 10.5).
        for chunk in [&chunks[0], chunks.last().expect("a chunk")] {
            assert_eq!(a.append_chunk(chunk), b.append_chunk(chunk), "seed {seed}");
        }
    }
    let mut random = Random::new(seed);
    for step in 0..120 {
        // A frame in memory that was emptied has a gap of undefined bytes (frame.md 2.6).
        if store == Store::MemoryFrame && a.nchunks() == 1 {
            let chunk = &chunks[0];
            assert_eq!(a.append_chunk(chunk), b.append_chunk(chunk), "seed {seed} step {step}");
        }
        let (name, result) = make_random_call(&mut random.clone(), &a, chunks);
        let (_, expected) = make_random_call(&mut random, &b, chunks);
        let what = format!("{store:?}, seed {seed}, step {step}: {name}");
        assert_eq!(result, expected, "{what}");
        let state = |s: &SuperChunk| (s.nchunks(), s.nbytes(), s.cbytes(), s.chunksize(), s.frame_len());
        assert_eq!(state(&a), state(&b), "{what}");
        if store == Store::Directory {
            assert_same_files(&ours_at, &theirs_at, &what);
        } else {
            super::assert_hex(&what, &frame_bytes(&a, store, &ours_at), &frame_bytes(&b, store, &theirs_at));
        }
    }
    // Each library reads the output of the other one.
    if store.is_on_disk() {
        for (library, path) in [(ours, &theirs_at), (reference, &ours_at)] {
            let again = SuperChunk::open(library, path);
            let again =
                again.unwrap_or_else(|| panic!("{store:?}, seed {seed}: {} cannot open", library.name));
            for nchunk in 0..a.nchunks() {
                assert_eq!(again.get_chunk(nchunk), a.get_chunk(nchunk), "{store:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn chunks_of_equal_size_give_equal_frames() {
    let Some((_, reference)) = crate::support::both_libraries() else { return };
    let chunks = make_chunks(reference, false);
    for store in Store::FRAMES {
        (0..8).for_each(|seed| compare_random_sequence(store, seed, &chunks, false));
    }
}

#[test]
fn chunks_of_different_sizes_give_equal_frames() {
    let Some((_, reference)) = crate::support::both_libraries() else { return };
    let chunks = make_chunks(reference, true);
    for store in Store::FRAMES {
        (100..108).for_each(|seed| compare_random_sequence(store, seed, &chunks, true));
    }
}

#[test]
fn chunks_of_variable_length_blocks_give_equal_frames() {
    let Some((_, reference)) = crate::support::both_libraries() else { return };
    let chunks = make_vlblock_chunks(reference);
    for store in Store::FRAMES {
        (200..204).for_each(|seed| compare_random_sequence(store, seed, &chunks, true));
    }
}

/// Returns a chunk of 400 bytes, of which a random number is noise, so that the lengths of chunks differ.
fn noisy_chunk(library: &Library, random: &mut Random) -> Vec<u8> {
    let mut src = random.bytes(400);
    let noise = 1 + random.below(400);
    src[noise..].fill(0);
    compress_chunk(library, &params_with_typesize(4), &src)
}

/// Appends chunks to a frame in memory of each library, and compares the frames after every tenth chunk.
fn append_equal_chunks(count: usize, seed: u64) -> Option<[SuperChunk; 2]> {
    let (ours, reference) = crate::support::both_libraries()?;
    let params = params_with_typesize(4);
    let sides = [ours, reference]
        .map(|library| SuperChunk::create(library, Store::MemoryFrame, Path::new(""), &params));
    let mut random = Random::new(seed);
    for n in 1..=count {
        let chunk = noisy_chunk(reference, &mut random);
        sides.iter().for_each(|side| assert_eq!(side.append_chunk(&chunk), Ok(n as i64)));
        if n % 10 == 0 || n == count {
            let [a, b] = sides.each_ref().map(|side| side.to_buffer().expect("a frame"));
            super::assert_hex(&format!("{n} chunks"), &a, &b);
        }
    }
    Some(sides)
}

/// Environment variables override the parameters of the index.
#[test]
fn environment_variables_change_the_index_equally() {
    let variables = [
        ("BLOSC_CLEVEL", "1"),
        ("BLOSC_CLEVEL", "9"),
        ("BLOSC_CLEVEL", "0"),
        ("BLOSC_SHUFFLE", "NOSHUFFLE"),
        ("BLOSC_SHUFFLE", "BITSHUFFLE"),
        ("BLOSC_DELTA", "1"),
        ("BLOSC_TYPESIZE", "4"),
        ("BLOSC_BLOCKSIZE", "64"),
        ("BLOSC_SPLITMODE", "ALWAYS"),
        ("BLOSC_COMPRESSOR", "lz4"),
        ("BLOSC_COMPRESSOR", "zstd"),
    ];
    for (name, value) in variables {
        in_new_process_with(test_name!(), &[(name, value), ("BLOSC_NTHREADS", "1")], || {
            append_equal_chunks(300, 19);
        });
    }
}

/// The bytes of the index may differ above 2048 entries; then each library reads that of the other one.
#[test]
fn long_indexes_are_equal_or_readable() {
    let Some([a, b]) = append_equal_chunks(2048, 13) else { return };
    let mut random = Random::new(14);
    for _ in 0..2100 {
        let chunk = noisy_chunk(b.library, &mut random);
        for side in [&a, &b] {
            side.append_chunk(&chunk).expect("appended");
        }
    }
    for (writer, reader) in [(&a, b.library), (&b, a.library)] {
        let mut frame = writer.to_buffer().expect("a frame");
        let copy = SuperChunk::from_frame_copy(reader, &mut frame).expect("a super-chunk");
        assert_eq!((copy.nchunks(), copy.contents()), (4148, writer.contents()));
    }
    assert_eq!(a.offsets(), b.offsets());
}
