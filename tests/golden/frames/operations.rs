//! Traces of operations on chunks: return codes, counters and lengths (schunk.md 22, T1-T5).

use std::path::Path;

use super::{
    compress_chunk, for_each_library_and_store, i32_bytes, params_with_typesize, special_int32_chunk,
};
use crate::support::calls::{Params, Special, vlcompress};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::read_files;
use crate::support::super_chunk::{Store, SuperChunk};

/// Selects the column of a trace.
fn select_for_store<T>(store: Store, memory: T, contiguous: T, directory: T) -> T {
    match store {
        Store::Memory => memory,
        Store::MemoryFrame | Store::File => contiguous,
        Store::Directory => directory,
    }
}

fn counters(schunk: &SuperChunk) -> (i64, i64, i64, i64) {
    (schunk.nchunks(), schunk.nbytes(), schunk.cbytes(), schunk.frame_len())
}

/// Checks that the handle, and a newly opened one, have these chunks; `None` matches any bytes.
#[track_caller]
fn assert_chunks(schunk: &SuperChunk, store: Store, path: &Path, expected: &[Option<Vec<u8>>]) {
    let check = |schunk: &SuperChunk, what: &str| {
        assert_eq!(schunk.nchunks(), expected.len() as i64, "{what}");
        for (nchunk, bytes) in expected.iter().enumerate() {
            let found = schunk.decompress(nchunk as i64);
            match bytes {
                Some(bytes) => assert!(found.as_ref() == Ok(bytes), "{what}: chunk {nchunk}"),
                None => assert!(found.is_ok(), "{what}: chunk {nchunk}: {found:?}"),
            }
        }
    };
    check(schunk, "the handle");
    if store.is_on_disk() {
        let again = SuperChunk::open(schunk.library, path).expect("a frame that opens");
        assert_eq!(counters(&again), counters(schunk), "reopened");
        if schunk.nchunks() > 0 {
            assert_eq!(again.chunksize(), schunk.chunksize(), "reopened");
        }
        check(&again, "reopened");
    }
}

enum Op {
    Append(char),
    Insert(i64, char),
    Update(i64, char),
    Delete(i64),
    Reorder,
}

/// nchunks, nbytes, then cbytes and length in memory, in a contiguous frame and in a directory.
type TraceRow = (Op, i64, i64, (i64, i64), (i64, i64), (i64, i64));

fn t1_rows() -> Vec<TraceRow> {
    use Op::{Append, Delete, Insert, Reorder, Update};
    vec![
        (Append('A'), 1, 4000, (355, 363), (355, 527), (355, 172)),
        (Append('B'), 2, 8000, (603, 619), (603, 783), (603, 180)),
        (Insert(0, 'C'), 3, 12000, (1006, 1030), (1006, 1194), (1006, 188)),
        (Insert(3, 'D'), 4, 13000, (1161, 1193), (1161, 1357), (1161, 196)),
        (Update(1, 'E'), 4, 13000, (1257, 1289), (1257, 1453), (1257, 196)),
        (Update(3, 'F'), 4, 16000, (1446, 1478), (1446, 1642), (1446, 196)),
        (Append('Z'), 5, 20000, (1478, 1518), (1446, 1650), (1446, 204)),
        (Append('N'), 6, 24000, (1510, 1558), (1446, 1658), (1446, 212)),
        (Append('U'), 7, 28000, (1542, 1598), (1446, 1666), (1446, 220)),
        (Append('R'), 8, 32000, (1578, 1642), (1482, 1710), (1482, 228)),
        (Update(0, 'Z'), 8, 32000, (1207, 1271), (1079, 1307), (1079, 228)),
        (Update(4, 'G'), 8, 32000, (1710, 1774), (1582, 1810), (1582, 228)),
        (Update(5, 'R'), 8, 32000, (1746, 1810), (1618, 1846), (1618, 228)),
        (Update(5, 'H'), 8, 32000, (2003, 2067), (1875, 2103), (1875, 228)),
        (Reorder, 8, 32000, (2003, 2067), (1875, 2103), (1875, 228)),
        (Delete(0), 7, 28000, (1967, 2023), (1875, 2103), (1839, 228)),
        (Delete(6), 6, 24000, (1967, 2015), (1875, 2095), (1839, 220)),
        (Delete(0), 5, 20000, (-1, -1), (-1, -1), (-1, -1)),
        (Delete(0), 4, 16000, (-1, -1), (-1, -1), (-1, -1)),
        (Delete(0), 3, 12000, (-1, -1), (-1, -1), (-1, -1)),
        (Delete(0), 2, 8000, (-1, -1), (-1, -1), (-1, -1)),
        (Delete(0), 1, 4000, (579, 587), (1875, 2047), (451, 172)),
        (Delete(0), 0, 0, (128, 128), (1875, 132), (0, 132)),
        (Append('I'), 1, 4000, (671, 679), (2418, 2590), (543, 172)),
        (Append('J'), 2, 4400, (853, 869), (2600, 2780), (725, 180)),
    ]
}

/// Returns the chunk with that letter, and its contents if they are determined.
fn t1_chunk(library: &Library, name: char) -> (Vec<u8>, Option<Vec<u8>>) {
    let series = |items: i32, factor: i32| {
        let src = i32_bytes((0..items).map(|i| i * factor));
        (compress_chunk(library, &params_with_typesize(4), &src), Some(src))
    };
    match name {
        'D' => series(250, 4),
        'J' => series(100, 9),
        'A'..='I' => series(1000, i32::from(name as u8 - b'A') + 1),
        'Z' => (special_int32_chunk(library, Special::Zeros), Some(vec![0; 4000])),
        'N' => {
            let nans = std::iter::repeat_n(f32::NAN.to_ne_bytes(), 1000).flatten().collect();
            (special_int32_chunk(library, Special::Nans), Some(nans))
        }
        'U' => (special_int32_chunk(library, Special::Uninit), None),
        _ => (special_int32_chunk(library, Special::Value(&[7, 0, 0, 0])), Some(i32_bytes([7; 1000]))),
    }
}

#[test]
fn t1_chunk_sizes() {
    for library in crate::support::all_libraries() {
        let sizes = [355, 248, 403, 155, 451, 344, 503, 293, 543, 182];
        for (name, size) in ('A'..='J').zip(sizes) {
            assert_eq!(t1_chunk(library, name).0.len(), size, "{}: {name}", library.name);
        }
        assert_eq!(t1_chunk(library, 'R').0.len(), 36, "{}", library.name);
    }
}

const ZERO: i64 = 0x81 << 56;
const NAN: i64 = 0x82 << 56;
const UNINIT: i64 = 0x84 << 56;

/// Offsets after a row of the trace, in a contiguous frame and in a directory.
fn t1_offsets(row: usize) -> (Option<Vec<i64>>, Option<Vec<i64>>) {
    match row {
        3 => (Some(vec![0x25B, 0, 0x163, 0x3EE]), Some(vec![2, 0, 1, 3])),
        4 => (Some(vec![0x2BB, 0, 0x1C3, 0x44E]), None),
        10 => (Some(vec![ZERO, 0, 0x1C3, 0x2BB, ZERO, NAN, UNINIT, 0x413]), None),
        13 => (
            Some(vec![ZERO, 0, 0x1C3, 0x2BB, 0x437, 0x62E, UNINIT, 0x413]),
            Some(vec![ZERO, 0, 1, 3, 5, 6, UNINIT, 4]),
        ),
        24 => (Some(vec![0x753, 0x972]), None),
        _ => (None, None),
    }
}

#[test]
fn t1_counters_and_offsets_follow_the_trace() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        assert_eq!(counters(&schunk), (0, 0, 0, if store == Store::Memory { 0 } else { 132 }));
        assert_eq!(schunk.chunksize(), -1);
        let mut model: Vec<Option<Vec<u8>>> = Vec::new();
        for (number, (op, nchunks, nbytes, memory, contiguous, directory)) in
            t1_rows().into_iter().enumerate()
        {
            let what = format!("{}: {store:?}, row {number}", library.name);
            let (rc, expected) = match op {
                Op::Append(name) => {
                    let (chunk, contents) = t1_chunk(library, name);
                    model.push(contents);
                    (schunk.append_chunk(&chunk), nchunks)
                }
                Op::Insert(at, name) => {
                    let (chunk, contents) = t1_chunk(library, name);
                    model.insert(at as usize, contents);
                    (schunk.insert_chunk(at, &chunk), nchunks)
                }
                Op::Update(at, name) => {
                    let (chunk, contents) = t1_chunk(library, name);
                    model[at as usize] = contents;
                    (schunk.update_chunk(at, &chunk), nchunks)
                }
                Op::Delete(at) => {
                    model.remove(at as usize);
                    (schunk.delete_chunk(at), nchunks)
                }
                Op::Reorder => {
                    model.reverse();
                    (Ok(i64::from(schunk.reorder(&[7, 6, 5, 4, 3, 2, 1, 0]))), 0)
                }
            };
            assert_eq!(rc, Ok(expected), "{what}");
            let (cbytes, len) = select_for_store(store, memory, contiguous, directory);
            assert_eq!((schunk.nchunks(), schunk.nbytes()), (nchunks, nbytes), "{what}");
            if cbytes >= 0 {
                assert_eq!((schunk.cbytes(), schunk.frame_len()), (cbytes, len), "{what}");
            }
            assert_eq!(schunk.chunksize(), 4000, "{what}");
            let (contiguous, directory) = t1_offsets(number);
            if let Some(offsets) = select_for_store(store, None, contiguous, directory) {
                assert_eq!(schunk.offsets(), Some(offsets), "{what}");
            }
            assert_chunks(&schunk, store, path, &model);
            // Rejected calls, which change nothing.
            if [3, 4, 22].contains(&number) {
                let chunk = t1_chunk(library, 'A').0;
                let before = counters(&schunk);
                assert_eq!(schunk.insert_chunk(nchunks + 1, &chunk), Err(-12), "{what}");
                assert_eq!(schunk.insert_chunk(-1, &chunk), Err(-12), "{what}");
                assert_eq!(schunk.update_chunk(nchunks, &chunk), Err(-12), "{what}");
                assert_eq!(schunk.delete_chunk(nchunks), Err(-12), "{what}");
                assert_eq!(counters(&schunk), before, "{what}");
            }
            if number == 14 {
                for bad in [[7, 6, 5, 4, 3, 2, 1, 1], [8, 6, 5, 4, 3, 2, 1, 0], [-1, 6, 5, 4, 3, 2, 1, 0]] {
                    assert_eq!(schunk.reorder(&bad), -3, "{what}");
                }
            }
            if number == 16 && store == Store::Directory {
                let mut files = read_files(path);
                files.remove("chunks.b2frame");
                let sizes: Vec<(String, usize)> =
                    files.into_iter().map(|(name, bytes)| (name, bytes.len())).collect();
                let expected = [(0, 451), (1, 248), (3, 344), (5, 503), (6, 293)]
                    .map(|(id, size)| (format!("{id:08X}.chunk"), size));
                assert_eq!(sizes, expected, "{what}");
            }
        }
    });
}

#[test]
fn t2_counters_of_stored_chunks_follow_the_trace() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let params = Params { clevel: 0, ..params_with_typesize(1) };
        let schunk = SuperChunk::create(library, store, path, &params);
        let check = |nbytes, chunksize, memory: (i64, i64), contiguous, directory| {
            let (cbytes, len) = select_for_store(store, memory, contiguous, directory);
            let found = (schunk.nbytes(), schunk.chunksize(), schunk.cbytes(), schunk.frame_len());
            assert_eq!(found, (nbytes, chunksize, cbytes, len), "{}: {store:?}", library.name);
        };
        let filled = |byte: u8, len: usize| vec![byte; len];
        assert_eq!(schunk.append(&filled(1, 100)), Ok(1));
        check(100, 100, (132, 140), (132, 304), (132, 172));
        assert_eq!(schunk.append(&filled(2, 100)), Ok(2));
        check(200, 100, (264, 280), (264, 444), (264, 180));
        assert_eq!(schunk.append(&filled(3, 40)), Ok(3));
        check(240, 100, (336, 360), (336, 524), (336, 188));
        assert_eq!(schunk.append(&filled(4, 60)), Ok(4));
        check(300, 0, (428, 460), (428, 624), (428, 196));
        assert_eq!(schunk.append(&filled(5, 200)), Ok(5));
        check(500, 0, (660, 700), (660, 864), (660, 204));
        assert_eq!(schunk.delete_chunk(1), Ok(4));
        check(400, 0, (528, 560), (660, 864), (528, 204));
        assert_eq!(schunk.vlmeta_add("a", b"abc"), 0);
        check(400, 0, (528, 560), (660, 911), (528, 251));
        assert_eq!(schunk.vlmeta_update("a", b"abcdefghij"), 0);
        check(400, 0, (528, 560), (660, 918), (528, 258));
        assert_eq!(schunk.vlmeta_delete("a"), 0);
        check(400, 0, (528, 560), (660, 864), (528, 204));
        let left = [filled(1, 100), filled(3, 40), filled(4, 60), filled(5, 200)];
        assert_chunks(&schunk, store, path, &left.map(Some));
    });
}

#[test]
fn t2_counters_of_a_thousand_chunks_follow_the_trace() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let params = Params { clevel: 0, ..params_with_typesize(1) };
        let schunk = SuperChunk::create(library, store, path, &params);
        for number in 0..1000 {
            assert_eq!(schunk.append(&[number as u8 | 1; 100]), Ok(number + 1));
        }
        let what = format!("{}: {store:?}", library.name);
        let expected = select_for_store(store, (132_000, 140_000), (132_000, 132_934), (132_000, 499));
        assert_eq!((schunk.cbytes(), schunk.frame_len()), expected, "{what}");
        for left in (990..1000).rev() {
            assert_eq!(schunk.delete_chunk(0), Ok(left));
        }
        let expected = select_for_store(store, (130_680, 138_600), (132_000, 132_935), (130_680, 499));
        assert_eq!((schunk.cbytes(), schunk.frame_len()), expected, "{what}");
        let model: Vec<_> = (10..1000).map(|number| Some(vec![number as u8 | 1; 100])).collect();
        assert_chunks(&schunk, store, path, &model);
    });
}

#[test]
fn t3_blocksize_is_inherited_by_later_chunks() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        let series = |items: i32, factor: i32| i32_bytes((0..items).map(|i| i * factor));
        let steps = [
            (series(1000, 1), 4000, 355, 4000, 527, 172),
            (series(1000, 2), 4000, 603, 4000, 783, 180),
            (series(1000, 3), 4000, 1006, 4000, 1194, 188),
            (series(100, 3), 4000, 1176, 400, 1372, 196),
            (series(100, 3), 0, 1346, 400, 1550, 204),
            (series(1000, 3), 0, 2757, 400, 2969, 212),
            (Vec::new(), 0, 2789, 400, 3009, 220),
            (vec![0; 4000], 0, 6821, 1, 7049, 228),
        ];
        let mut model = Vec::new();
        for (number, (src, chunksize, cbytes, blocksize, contiguous, directory)) in
            steps.into_iter().enumerate()
        {
            let what = format!("{}: {store:?}, step {number}", library.name);
            assert_eq!(schunk.append(&src), Ok(number as i64 + 1), "{what}");
            model.push(Some(src));
            assert_chunks(&schunk, store, path, &model);
            assert_eq!(schunk.chunksize(), chunksize, "{what}");
            if number == 7 && schunk.cbytes() != cbytes && !library.is_reference() {
                // The degenerate block size of 1 need not be inherited.
                continue;
            }
            let chunk = schunk.get_chunk(number as i64).expect("a chunk");
            assert_eq!(chunk[8..12], i32::to_le_bytes(blocksize), "{what}");
            let len = select_for_store(store, cbytes + 8 * (number as i64 + 1), contiguous, directory);
            assert_eq!((schunk.cbytes(), schunk.frame_len()), (cbytes, len), "{what}");
        }
    });
}

#[test]
fn t4_fill_special() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        assert_eq!(schunk.fill_special(2500, 1, 4000), 3, "{what}");
        let state = |schunk: &SuperChunk| (schunk.nbytes(), schunk.cbytes(), schunk.frame_len());
        assert_eq!(
            state(&schunk),
            select_for_store(store, (10_000, 96, 120), (10_000, 0, 172), (10_000, 0, 172))
        );
        assert_eq!(schunk.chunksize(), 4000, "{what}");
        assert_eq!(schunk.blocksize(), select_for_store(store, 0, 4000, 4000), "{what}");
        assert_eq!(schunk.current_nchunk(), select_for_store(store, 2, 0, 0), "{what}");
        assert_eq!(schunk.fill_special(2500, 1, 4000), -28, "{what}");
        let (a, contents) = t1_chunk(library, 'A');
        assert_eq!(schunk.update_chunk(1, &a), Ok(3), "{what}");
        assert_eq!(
            state(&schunk),
            select_for_store(store, (10_000, 451, 475), (10_000, 355, 543), (10_000, 355, 188)),
            "{what}"
        );
        let model = [Some(vec![0; 4000]), contents.clone(), Some(vec![0; 2000])];
        assert_chunks(&schunk, store, path, &model);
        assert_eq!(schunk.append_chunk(&a), Ok(4), "{what}");
        assert_eq!((schunk.chunksize(), schunk.nbytes()), (0, 14_000), "{what}");
        if library.is_reference() && store != Store::Memory {
            assert_eq!((schunk.get_chunk(0), schunk.get_chunk(2)), (Err(-11), Err(-11)), "{what}");
        } else {
            let model = [&model[..], &[contents]].concat();
            assert_chunks(&schunk, store, path, &model);
        }
    });
}

#[test]
fn t4_large_fill() {
    for_each_library_and_store(&Store::FRAMES, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(8));
        assert_eq!(schunk.fill_special(1 << 40, 1, 1 << 30), 8192, "{}: {store:?}", library.name);
        assert_eq!(counters(&schunk), (8192, 8_796_093_022_208, 0, 172), "{}: {store:?}", library.name);
        assert_eq!(schunk.blocksize(), 524_288);
    });
}

/// The three chunks of T5, with their blocks.
pub fn t5_chunks(library: &Library) -> [(Vec<u8>, Vec<Vec<u8>>); 3] {
    let a = b"hello world hello world hello world".to_vec();
    let b = b"a".to_vec();
    let c = b"the quick brown fox jumps over the lazy dog, the quick brown fox".to_vec();
    [vec![a.clone(), b.clone(), c.clone()], vec![b.clone(), c.clone()], vec![c.clone(), a, b, c]].map(
        |blocks| (vlcompress(library, &params_with_typesize(1), &blocks, 1000).expect("a chunk"), blocks),
    )
}

#[test]
fn t5_variable_length_blocks() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(1));
        let chunks = t5_chunks(library);
        let header = crate::support::hex(
            "06 01 15 01 64 00 00 00 03 00 00 00 9c 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 01 00
             2c 00 00 00 53 00 00 00 58 00 00 00 23 00 00 00",
        );
        assert_eq!(chunks[0].0[..48], crate::support::written_here(header, &[0]), "{what}");
        let steps = [(100, 156, 328, 0), (100, 269, 449, 1), (0, 497, 685, 2)];
        for ((chunk, _), (chunksize, cbytes, len, before)) in chunks.iter().zip(steps) {
            assert_eq!(schunk.append_chunk(chunk), Ok(before + 1), "{what}");
            assert_eq!((schunk.chunksize(), schunk.cbytes()), (chunksize, cbytes), "{what}");
            assert_eq!(schunk.flags2(), 1, "{what}");
            if store.is_contiguous() {
                assert_eq!(schunk.frame_len(), len, "{what}");
            }
        }
        let state = (counters(&schunk), schunk.chunksize(), schunk.flags2());
        let regular = compress_chunk(library, &params_with_typesize(1), &[5; 100]);
        let zeros = compress_chunk(library, &params_with_typesize(1), &[0; 100]);
        assert_eq!(schunk.append_chunk(&regular), Err(-20), "{what}");
        assert_eq!(schunk.insert_chunk(1, &zeros), Err(-19), "{what}");
        assert_eq!(schunk.update_chunk(1, &zeros), Err(-21), "{what}");
        assert_eq!((counters(&schunk), schunk.chunksize(), schunk.flags2()), state, "{what}");
        for (nchunk, (_, blocks)) in chunks.iter().enumerate() {
            assert_eq!(schunk.decompress(nchunk as i64), Ok(blocks.concat()), "{what}");
            for (nblock, block) in blocks.iter().enumerate() {
                let found = schunk.get_vlblock(nchunk as i64, nblock as i32);
                assert_eq!(found.as_ref(), Ok(block), "{what}");
            }
        }
        assert_eq!(schunk.get_vlblock(2, 1).map(|block| block.len()), Ok(35));
        assert_eq!(schunk.to_buffer().map(|frame| frame.len()), Ok(685), "{what}");
        assert_eq!(schunk.update_chunk(0, &chunks[1].0), Ok(3), "{what}");
        assert_eq!((schunk.nbytes(), schunk.cbytes()), (294, 454), "{what}");
        if store.is_contiguous() {
            assert_eq!(schunk.frame_len(), 642, "{what}");
        }
        for left in [2, 1, 0] {
            assert_eq!(schunk.delete_chunk(0), Ok(left), "{what}");
        }
        assert_eq!((schunk.flags2(), schunk.chunksize()), (0, 0), "{what}");
    });
}
