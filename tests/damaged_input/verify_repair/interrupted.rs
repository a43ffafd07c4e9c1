//! Frames that were cut off, and appends that were interrupted: every chunk whose bytes are whole is saved.

use std::fs;
use std::path::Path;

use super::full_read::FullRead;
use super::{files_at, remove, write_frame};
use crate::frames::fields::{CBYTES, Field, Files, HEADER_LEN};
use crate::support::all_libraries;
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{repair, verify};

/// A frame whose chunks all have bytes.
struct Sample {
    what: String,
    bytes: Vec<u8>,
    read: FullRead,
    /// The ranges of the chunks in the file.
    chunks: Vec<std::ops::Range<usize>>,
    /// End of the index in the file.
    index_end: usize,
}

fn field(bytes: &[u8], field: Field) -> usize {
    field.get(bytes) as usize
}

fn little_endian(at: usize) -> Field {
    Field { at, width: 4, big_endian: false }
}

impl Sample {
    fn read(what: String, path: &Path) -> Sample {
        let bytes = fs::read(path).expect("a frame");
        let read = FullRead::of(Library::ours(), path).expect("a frame");
        let schunk = SuperChunk::open(Library::ours(), path).expect("a frame");
        let header_len = field(&bytes, HEADER_LEN);
        let chunks = schunk.offsets().unwrap_or_default().into_iter().map(|offset| {
            let at = header_len + usize::try_from(offset).expect("a chunk with bytes");
            at..at + field(&bytes, little_endian(at + 12))
        });
        let chunks = chunks.collect();
        let index_at = header_len + field(&bytes, CBYTES);
        let index_end = index_at + field(&bytes, little_endian(index_at + 12));
        Sample { what, read, chunks, index_end, bytes }
    }

    fn header_len(&self) -> usize {
        field(&self.bytes, HEADER_LEN)
    }

    fn index_at(&self) -> usize {
        self.header_len() + field(&self.bytes, CBYTES)
    }
}

/// Returns `count` items of `typesize` bytes that do not compress.
fn noise(random: &mut Random, typesize: usize, count: usize) -> Vec<u8> {
    random.bytes(typesize * count)
}

/// Makes frames with chunks of one size and of different sizes, also with chunks that are as long as the index.
fn samples(scratch: &ScratchDir) -> Vec<Sample> {
    let mut samples = Vec::new();
    for library in all_libraries() {
        for (typesize, items, last) in
            [(4, 30, 30), (4, 30, 11), (8, 5, 5), (8, 5, 2), (1, 40, 90), (8, 1, 1)]
        {
            let random = &mut Random::new(typesize + 1000 * items);
            let params = Params { typesize: typesize as i32, ..Params::default() };
            let path = scratch.new_path();
            let schunk = SuperChunk::create(library, Store::File, &path, &params);
            assert_eq!(schunk.meta_add("first", b"twelve bytes"), 0);
            for n in 0..5 {
                let count = if n == 4 { last } else { items };
                schunk.append(&noise(random, typesize as usize, count as usize)).expect("appended");
            }
            assert_eq!(schunk.vlmeta_add("name", &b"some content".repeat(4)), 0);
            drop(schunk);
            let what =
                format!("{} typesize {typesize}, {items} items, {last} in the last chunk", library.name);
            samples.push(Sample::read(what, &path));
        }
    }
    samples
}

/// Checks the contents of all chunks.
fn assert_same(what: &str, read: &FullRead, expected: &[&Vec<u8>]) {
    let found = read.contents();
    let sizes: Vec<usize> = found.iter().map(|chunk| chunk.len()).collect();
    let same: Vec<bool> = found.iter().zip(expected).map(|(found, expected)| found == expected).collect();
    assert!(
        found == expected,
        "{what}: {sizes:?} bytes, expected {} chunks; equal: {same:?}",
        expected.len()
    );
}

/// Repairs the frame, checks the new frame, and returns what is read from it, without the zeros in the places of lost
/// chunks.
fn repaired(what: &str, path: &Path, scratch: &ScratchDir) -> Option<FullRead> {
    let (before, saved) = (files_at(path), scratch.new_path());
    let (count, reports) = repair(path, &saved);
    assert_eq!(files_at(path), before, "{what}: the source was changed");
    if count < 0 {
        assert!(!saved.exists(), "{what}: code {count}, but there is a frame");
        return None;
    }
    let (damages, after) = verify(&saved);
    assert_eq!((damages, &after[..]), (0, &[][..]), "{what}");
    let mut read = FullRead::of(Library::ours(), &saved).unwrap_or_else(|| panic!("{what}: does not open"));
    for library in all_libraries() {
        let found = FullRead::of(library, &saved);
        assert!(found.as_ref() == Some(&read), "{what}: {} reads {found:?}", library.name);
    }
    remove(&saved);
    let is_reported = |n: usize| reports.iter().any(|damage| damage.nchunk == n as i64);
    let is_zeros = |chunk: &Vec<u8>| chunk.iter().all(|&byte| byte == 0);
    let mut numbers = 0..;
    read.chunks.retain(|chunk| {
        let is_reported = is_reported(numbers.next().expect("a number"));
        !(is_reported && chunk.as_ref().is_ok_and(is_zeros))
    });
    assert_eq!(count, read.chunks.len() as i64, "{what}: {reports:?}");
    Some(read)
}

#[test]
fn every_whole_chunk_of_a_truncated_frame_is_saved() {
    let scratch = ScratchDir::new();
    for sample in samples(&scratch) {
        for len in 0..=sample.bytes.len() {
            let what = format!("{}: {len} of {} bytes", sample.what, sample.bytes.len());
            let path = write_frame(&scratch, &[("frame".to_string(), sample.bytes[..len].to_vec())].into());
            let (count, reports) = verify(&path);
            assert!(
                (count > 0) != reports.is_empty() && (count == 0) == (len == sample.bytes.len()),
                "{what}: {count} {reports:?}"
            );
            assert!(count >= 0 || len < 10, "{what}: {count}");
            let Some(read) = repaired(&what, &path, &scratch) else {
                assert!(len < 87, "{what}: not repaired");
                remove(&path);
                continue;
            };
            let whole = if len >= sample.index_end {
                sample.chunks.len()
            } else {
                sample.chunks.iter().filter(|chunk| chunk.end <= len).count()
            };
            assert_same(&what, &read, &sample.read.contents()[..whole]);
            if len >= sample.header_len() {
                assert_eq!(read.metalayers, sample.read.metalayers, "{what}");
            }
            if whole == sample.chunks.len() {
                assert_eq!(
                    (read.nbytes, read.chunksize),
                    (sample.read.nbytes, sample.read.chunksize),
                    "{what}"
                );
            }
            if len == sample.bytes.len() {
                assert!(read == sample.read, "{what}");
            }
            remove(&path);
        }
    }
}

#[test]
fn an_array_that_was_cut_off_stays_an_array() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        let path = scratch.new_path();
        let spec = ArraySpec::new(&[40, 60], &[10, 30], &[5, 10], 4).with_store(Store::File, &path);
        let items = Random::new(3).bytes(4 * 40 * 60);
        drop(spec.create_from_buffer(library, &items));
        let bytes = fs::read(&path).expect("a frame");
        let whole = FullRead::of(library, &path).expect("a frame");
        let header_len = field(&bytes, HEADER_LEN);
        for len in (header_len..bytes.len()).step_by(97) {
            let path = write_frame(&scratch, &[("frame".to_string(), bytes[..len].to_vec())].into());
            let saved = scratch.new_path();
            let (count, _) = repair(&path, &saved);
            assert_eq!(verify(&saved), (0, vec![]));
            let (code, array) = Array::open(library, &saved);
            let array = array.unwrap_or_else(|| panic!("{len} bytes: code {code}"));
            assert_eq!(array.shape(), [40, 60]);
            drop(array);
            let read = FullRead::of(library, &saved).expect("a frame");
            assert_eq!(read.chunks.len(), whole.chunks.len(), "{len} bytes");
            for (n, (chunk, original)) in read.contents().iter().zip(whole.contents()).enumerate() {
                let is_saved = (n as i64) < count;
                assert!(if is_saved { *chunk == original } else { chunk.iter().all(|&byte| byte == 0) });
            }
        }
    }
}

/// Returns the file after the first `written` bytes of an append were written in place, from the old index on.
fn torn_in_place(before: &Sample, after: &[u8], written: usize) -> Files {
    let at = before.index_at();
    let mut bytes = before.bytes.clone();
    bytes.resize(bytes.len().max(at + written), 0);
    bytes[at..at + written].copy_from_slice(&after[at..at + written]);
    [("frame".to_string(), bytes)].into()
}

#[test]
pub fn an_interrupted_append_loses_no_old_chunk() {
    let scratch = ScratchDir::new();
    for sample in samples(&scratch) {
        let path = write_frame(&scratch, &[("frame".to_string(), sample.bytes.clone())].into());
        let schunk = SuperChunk::open(Library::ours(), &path).expect("a frame");
        let typesize = schunk.typesize() as usize;
        let items = match schunk.chunksize() {
            0 => 17,
            chunksize => chunksize as usize / typesize,
        };
        let is_regular =
            sample.read.chunksize > 0 && sample.read.nbytes % i64::from(sample.read.chunksize) == 0;
        if sample.read.chunksize > 0 && !is_regular {
            // The append would make a frame with chunks of different sizes: the header tells it, and it is written last.
            continue;
        }
        schunk.append(&noise(&mut Random::new(77), typesize, items)).expect("appended");
        drop(schunk);
        let after = Sample::read(sample.what.clone(), &path);
        let at = sample.index_at();
        for written in 1..after.bytes.len() - at {
            let what = format!("{}: {written} bytes of an append", sample.what);
            let path = write_frame(&scratch, &torn_in_place(&sample, &after.bytes, written));
            let read = repaired(&what, &path, &scratch).expect("a repaired frame");
            // The bytes behind an incomplete chunk are those of the old index and trailer, unless the file has grown.
            let is_whole = at + written >= after.chunks[5].end;
            let is_proven = at + written > sample.bytes.len() || at + written >= after.index_end;
            let has_new = read.chunks.len() == 6;
            assert!(
                if has_new { is_whole } else { !(is_whole && is_proven) },
                "{what}: {}",
                read.chunks.len()
            );
            assert_same(&what, &read, &after.read.contents()[..5 + usize::from(has_new)]);
            assert_eq!(read.metalayers, sample.read.metalayers, "{what}");
            remove(&path);
        }
    }
}

#[test]
fn bytes_behind_the_end_of_a_frame_are_no_damage() {
    let scratch = ScratchDir::new();
    for sample in samples(&scratch) {
        let tail = &sample.bytes[sample.header_len()..];
        for len in (0..tail.len()).step_by(13) {
            let bytes = [&sample.bytes, &tail[..len]].concat();
            let path = write_frame(&scratch, &[("frame".to_string(), bytes)].into());
            assert_eq!(verify(&path), (0, vec![]), "{}: {len} bytes", sample.what);
            assert!(
                repaired(&sample.what, &path, &scratch).as_ref() == Some(&sample.read),
                "{}",
                sample.what
            );
            remove(&path);
        }
    }
}

/// Returns an index chunk of these entries, stored uncompressed.
fn index_chunk(entries: &[i64]) -> Vec<u8> {
    let nbytes = 8 * entries.len() as i32;
    let mut chunk = vec![5, 1, 7, 8];
    for number in [nbytes, nbytes, 32 + nbytes] {
        chunk.extend(number.to_le_bytes());
    }
    chunk.extend([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chunk.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    chunk
}

/// Writers may append a chunk, an index and a trailer behind the old ones, which stay in the data section (frame.md
/// 2.12). An old index is no chunk, even if it has the size of one.
#[test]
fn an_old_index_in_the_data_section_is_no_chunk() {
    let scratch = ScratchDir::new();
    let params = Params { typesize: 8, ..Params::default() };
    let (path, random) = (scratch.new_path(), &mut Random::new(5));
    drop(SuperChunk::create(Library::ours(), Store::File, &path, &params));
    let empty = fs::read(&path).expect("a frame");
    let (header_len, trailer) = (97, empty[97..].to_vec());
    let contents: Vec<Vec<u8>> = (0..3).map(|_| noise(random, 8, 2)).collect();
    let mut bytes = empty[..header_len].to_vec();
    let mut offsets = Vec::new();
    let mut index_at = 0;
    for content in &contents {
        offsets.push((bytes.len() - header_len) as i64);
        bytes.extend(compress(Library::ours(), &params, content, 100).expect("a chunk"));
        index_at = bytes.len();
        bytes.extend(index_chunk(&offsets));
        bytes.extend(&trailer);
    }
    let frame_len = bytes.len() as i64;
    for (at, value) in [(16, frame_len), (30, 48), (39, (index_at - header_len) as i64)] {
        Field { at, width: 8, big_endian: true }.set(&mut bytes, value);
    }
    Field { at: 58, width: 4, big_endian: true }.set(&mut bytes, 16);
    for len in index_at..=bytes.len() {
        let path = write_frame(&scratch, &[("frame".to_string(), bytes[..len].to_vec())].into());
        let (count, reports) = verify(&path);
        assert_eq!(count == 0, len == bytes.len(), "{len} bytes: {reports:?}");
        let read = repaired(&format!("{len} bytes"), &path, &scratch).expect("a repaired frame");
        assert_same(&format!("{len} bytes"), &read, &contents.iter().collect::<Vec<_>>());
        remove(&path);
    }
}
