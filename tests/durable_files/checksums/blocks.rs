//! Reads of a few items of long chunks (frame.md 2.14): only the units that are read are compared with their checksums,
//! and a damaged unit affects no other one. Files, directories, mapped files, frames inside a file, and lazy chunks that
//! the program decodes.

use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};

use blosc2::abi::blosc2_io;

use super::index_file;
use crate::mapped;
use crate::processes::report;
use crate::support::calls::{Params, compress, with_destination};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{repair, verify};

/// The uncompressed size of a chunk and of a block, in bytes, and the number of chunks.
const NBYTES: usize = 1 << 20;
const BLOCKSIZE: usize = 32 << 10;
const NCHUNKS: usize = 3;
/// Size of an item in bytes.
const TYPESIZE: usize = 4;
/// Length of a unit in bytes.
const UNIT: usize = 4 << 10;
/// `BLOSC2_ERROR_DATA`.
const DATA_ERROR: i32 = -3;
/// Length of the bytes before a frame inside a file.
const PREFIX: usize = 77;

/// How a frame is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reading {
    Slices,
    Offset,
    Mapped,
    LazyChunks,
}

/// Calls `then` with the frame, opened for that kind of reading; `None` if it does not open.
fn with_open<R>(path: &Path, reading: Reading, then: impl FnOnce(Option<&SuperChunk>) -> R) -> R {
    match reading {
        Reading::Slices | Reading::LazyChunks => then(SuperChunk::open(Library::ours(), path).as_ref()),
        Reading::Offset => then(SuperChunk::open_offset(Library::ours(), path, PREFIX as i64).as_ref()),
        Reading::Mapped => {
            let mut params = mapped::mapping();
            const NAME: &CStr = c"filesystem_mmap";
            let io = blosc2_io { id: 1, name: NAME.as_ptr(), params: (&raw mut params).cast() };
            then(SuperChunk::open_udio(Library::ours(), path, &io).as_ref())
        }
    }
}

/// Reads `len` bytes at byte `start` of chunk `nchunk`.
fn read(
    schunk: &SuperChunk,
    reading: Reading,
    nchunk: usize,
    start: usize,
    len: usize,
) -> Result<Vec<u8>, i32> {
    if reading != Reading::LazyChunks {
        let first = (nchunk * NBYTES + start) / TYPESIZE;
        return schunk.get_slice(first as i64, (first + len / TYPESIZE) as i64, len);
    }
    let lazy = schunk.get_lazychunk(nchunk as i64)?;
    let (rc, dest) = with_destination(len, |dest| {
        // SAFETY: the context of the super-chunk of the lazy chunk, and buffers of their stated lengths.
        unsafe {
            (Library::ours().blosc2_getitem_ctx)(
                schunk.dctx(),
                lazy.as_ptr().cast(),
                lazy.len() as i32,
                (start / TYPESIZE) as i32,
                (len / TYPESIZE) as i32,
                dest.as_mut_ptr().cast(),
                len as i32,
            )
        }
    });
    if rc == len as i32 { Ok(dest) } else { Err(rc) }
}

/// Number of bytes that this process has read from files.
fn bytes_read() -> u64 {
    let io = fs::read_to_string("/proc/self/io").expect("the counters of this process");
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a counter");
    line.parse().expect("a number")
}

/// Creates a frame. Returns the contents of its chunks: noise, which is stored, or noise of half the length.
fn create(store: Store, path: &Path, codec: u8, is_stored: bool) -> Vec<Vec<u8>> {
    let params =
        Params { codec, typesize: TYPESIZE as i32, blocksize: BLOCKSIZE as i32, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), store, path, &params);
    let mut random = Random::new(u64::from(codec) + 3);
    let chunk = |_| {
        let mut chunk = random.bytes(NBYTES);
        if !is_stored {
            chunk.chunks_exact_mut(64).for_each(|part| part[20..].fill(9));
        }
        schunk.append(&chunk).expect("appended");
        chunk
    };
    (0..NCHUNKS).map(chunk).collect()
}

/// The file that holds chunk 1, and the range of the chunk in it.
fn place_of_chunk(path: &Path, store: Store, base: usize) -> (PathBuf, std::ops::Range<usize>) {
    let le32 = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize;
    if store == Store::Directory {
        let file = path.join("00000001.chunk");
        let bytes = fs::read(&file).expect("a chunk file");
        let len = le32(&bytes[12..16]);
        assert_eq!(bytes.len(), len + len / UNIT * 4, "a record behind the chunk");
        return (file, 0..len);
    }
    let bytes = fs::read(path).expect("a file");
    let offset = SuperChunk::open_offset(Library::ours(), path, base as i64).expect("a frame").offsets();
    let header_len = u32::from_be_bytes(bytes[base + 11..base + 15].try_into().expect("four bytes")) as usize;
    let at = base + header_len + offset.expect("offsets")[1] as usize;
    (path.to_path_buf(), at..at + le32(&bytes[at + 12..at + 16]))
}

/// Reads some items of every block; returns the number of errors. `damage` is the place of the damaged byte in chunk 1, if
/// that is stored uncompressed.
fn read_blocks(
    path: &Path,
    reading: Reading,
    contents: &[Vec<u8>],
    damage: Option<usize>,
    random: &mut Random,
    what: &str,
) -> usize {
    with_open(path, reading, |schunk| {
        let schunk = schunk.unwrap_or_else(|| panic!("{what}: does not open"));
        let mut errors = 0;
        for (nchunk, content) in contents.iter().enumerate() {
            for block in 0..NBYTES / BLOCKSIZE {
                let start = block * BLOCKSIZE + random.below(BLOCKSIZE / TYPESIZE - 20) * TYPESIZE;
                match read(schunk, reading, nchunk, start, 80) {
                    Ok(found) => {
                        assert!(found == content[start..start + 80], "{what}: other bytes in {block}")
                    }
                    Err(code) => {
                        // `blosc2_schunk_get_slice_buffer` has one error code only.
                        let expected = if reading == Reading::LazyChunks { DATA_ERROR } else { -1 };
                        assert_eq!((nchunk, code), (1, expected), "{what}: block {block} of {nchunk}");
                        let is_near = |at: usize| at.abs_diff(32 + start) <= BLOCKSIZE + 2 * UNIT;
                        let is_head = damage.is_some_and(|at| at < 2 * UNIT);
                        assert!(is_head || damage.is_none_or(is_near), "{what}: block {block}");
                        errors += 1;
                    }
                }
            }
        }
        for (nchunk, content) in contents.iter().enumerate() {
            match schunk.decompress(nchunk as i64) {
                Ok(found) => assert!(found == *content, "{what}: other bytes"),
                Err(code) => {
                    assert_eq!((nchunk, code), (1, DATA_ERROR), "{what}: whole chunk {nchunk}");
                    errors += 1;
                }
            }
        }
        errors
    })
}

/// Checks that a read of a few items reads a small part of the chunk.
fn check_amount(path: &Path, reading: Reading, contents: &[Vec<u8>], what: &str) {
    with_open(path, reading, |schunk| {
        let schunk = schunk.expect("a frame");
        let before = bytes_read();
        let found = read(schunk, reading, 2, 5 * BLOCKSIZE, 80);
        let read = bytes_read() - before;
        assert!(found.as_deref() == Ok(&contents[2][5 * BLOCKSIZE..5 * BLOCKSIZE + 80]), "{what}");
        let limit = 2 * BLOCKSIZE as u64 + 40_000;
        assert!(read < limit, "{what}: read {read} bytes for 80, expected less than {limit}");
    });
}

/// Repairs a frame with a damaged byte in chunk 1: all blocks are saved that have no byte in the damaged unit.
fn check_repair(path: &Path, contents: &[Vec<u8>], at: usize, scratch: &ScratchDir, what: &str) {
    let saved = scratch.new_path();
    let (count, reports) = repair(path, &saved);
    assert_eq!((count, reports.len(), reports[0].nchunk), (NCHUNKS as i64 - 1, 1, 1), "{what}: {reports:?}");
    assert_eq!(verify(&saved), (0, vec![]), "{what}: the repaired frame");
    let schunk = SuperChunk::open(Library::ours(), &saved).expect("a repaired frame");
    for (nchunk, content) in contents.iter().enumerate() {
        let found = schunk.decompress(nchunk as i64).expect("a chunk");
        let blocks = found.chunks(BLOCKSIZE).zip(content.chunks(BLOCKSIZE));
        let lost: Vec<_> = blocks.enumerate().filter(|(_, (found, content))| found != content).collect();
        assert!(
            lost.iter().all(|(_, (found, _))| found.iter().all(|&byte| byte == 0)),
            "{what}: other bytes"
        );
        // The first unit has the header.
        let expected = match (nchunk, at < UNIT) {
            (1, true) => NBYTES / BLOCKSIZE..=NBYTES / BLOCKSIZE,
            (1, false) => 1..=2,
            _ => 0..=0,
        };
        assert!(expected.contains(&lost.len()), "{what}: {} blocks of chunk {nchunk} are lost", lost.len());
        if nchunk == 1 && at >= UNIT {
            let numbers: Vec<usize> = lost.iter().map(|(n, _)| *n).collect();
            let text = format!("blocks {numbers:?} of {}", NBYTES / BLOCKSIZE);
            assert!(reports[0].message.contains(&text), "{what}: {text}, {reports:?}");
        }
    }
    if saved.is_dir() { fs::remove_dir_all(&saved) } else { fs::remove_file(&saved) }.expect("removed");
}

/// Returns a chunk of noise.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    Random::new(seed).bytes(len)
}

/// Updates and deletes chunks, so that chunks are moved when the frame is closed: each one has its record behind it. Then
/// the index is damaged: the chunks are found, and the records between them are no unknown bytes.
fn changed_frames(store: Store, scratch: &ScratchDir) {
    let path = scratch.new_path();
    let params = Params { typesize: TYPESIZE as i32, blocksize: BLOCKSIZE as i32, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), store, &path, &params);
    let mut contents: Vec<Vec<u8>> = (0..12).map(|n| noise(n, 2 * BLOCKSIZE + n as usize * 5000)).collect();
    for content in &mut contents {
        content.resize(NBYTES, 3);
        schunk.append(content).expect("appended");
    }
    for (step, at) in [3, 0, 7, 3, 10, 1].into_iter().enumerate() {
        let mut content = noise(100 + step as u64, 3 * BLOCKSIZE + step * 9000);
        content.resize(NBYTES, 3);
        let chunk = compress(Library::ours(), &params, &content, NBYTES + 32).expect("a chunk");
        assert_eq!(schunk.update_chunk(at as i64, &chunk), Ok(12));
        contents[at] = content;
    }
    assert_eq!(schunk.delete_chunk(5), Ok(11));
    contents.remove(5);
    drop(schunk);
    let what = format!("{store:?}, changed");
    for (nchunk, content) in contents.iter().enumerate() {
        with_open(&path, Reading::Slices, |schunk| {
            let before = bytes_read();
            let start = nchunk * NBYTES / TYPESIZE;
            let found = schunk.expect("a frame").get_slice(start as i64, start as i64 + 1, TYPESIZE);
            assert!(found.as_deref() == Ok(&content[..TYPESIZE]), "{what}: chunk {nchunk}");
            let read = bytes_read() - before;
            // The chunk has 64 KiB or more.
            assert!(
                read < 2 * BLOCKSIZE as u64,
                "{what}: read {read} bytes of chunk {nchunk}: it has no record"
            );
        });
    }
    let saved = scratch.new_path();
    let whole = (contents.len() as i64, vec![]);
    assert_eq!((verify(&path).0, repair(&path, &saved)), (0, whole), "{what}");
    let main = index_file(&path);
    let mut frame = fs::read(&main).expect("a file");
    let header_len = u32::from_be_bytes(frame[11..15].try_into().expect("four bytes")) as usize;
    let cbytes = u64::from_be_bytes(frame[39..47].try_into().expect("eight bytes")) as usize;
    let index_at = header_len + if store == Store::File { cbytes } else { 0 };
    frame[index_at..index_at + 32].fill(0xFF);
    fs::write(&main, frame).expect("written");
    let saved = scratch.new_path();
    let (count, reports) = repair(&path, &saved);
    // The bytes of the index are the only unknown ones.
    let is_of_index = reports.iter().all(|damage| damage.offset == index_at as i64);
    assert!(
        count == contents.len() as i64 && is_of_index && !reports.is_empty(),
        "{what}: {count} {reports:?}"
    );
    let repaired = SuperChunk::open(Library::ours(), &saved).expect("a repaired frame");
    assert!(repaired.contents() == contents.concat(), "{what}: other contents");
}

/// C-Blosc2 reads and changes a frame with records; then this library, and C-Blosc2 again.
fn changes_in_turn(store: Store, scratch: &ScratchDir) {
    let Some(reference) = Library::reference() else { return };
    let params = Params { typesize: TYPESIZE as i32, blocksize: BLOCKSIZE as i32, ..Params::default() };
    let new_content = noise(77, NBYTES);
    let new_chunk = compress(Library::ours(), &params, &new_content, NBYTES + 32).expect("a chunk");
    for change in ["append", "update", "insert", "delete"] {
        let path = scratch.new_path();
        let mut contents = create(store, &path, 1, false);
        let make = |schunk: &SuperChunk, contents: &mut Vec<Vec<u8>>| {
            let done = match change {
                "append" => schunk.append_chunk(&new_chunk),
                "update" => schunk.update_chunk(1, &new_chunk),
                "insert" => schunk.insert_chunk(1, &new_chunk),
                _ => schunk.delete_chunk(0),
            };
            match change {
                "append" => contents.push(new_content.clone()),
                "update" => contents[1] = new_content.clone(),
                "insert" => contents.insert(1, new_content.clone()),
                _ => drop(contents.remove(0)),
            }
            assert_eq!(done, Ok(contents.len() as i64), "{change}");
        };
        for library in [reference, Library::ours(), reference, Library::ours()] {
            let what = format!("{store:?}, {change} by {}", library.name);
            if contents.len() > 1 {
                make(&SuperChunk::open(library, &path).expect("a frame"), &mut contents);
            }
            for reader in [reference, Library::ours()] {
                let schunk = SuperChunk::open(reader, &path).expect("a frame");
                assert!(schunk.contents() == contents.concat(), "{what}, read by {}", reader.name);
            }
            assert_eq!(verify(&path), (0, vec![]), "{what}");
        }
        assert_eq!(read_blocks(&path, Reading::Slices, &contents, None, &mut Random::new(1), change), 0);
    }
}

/// Flips bits of long chunks.
pub fn run(store: Store) {
    let scratch = ScratchDir::new();
    let count = from_environment("BLOSC2_FLIPS", 100) / 10;
    let (mut flips, mut detected) = (0, 0);
    for (codec, is_stored) in [(0, true), (1, false), (5, false)] {
        let original = scratch.new_path();
        let contents = create(store, &original, codec, is_stored);
        let in_file = scratch.new_path();
        if store == Store::File {
            let prefix = [&[0xAB; PREFIX], &fs::read(&original).expect("a file")[..]].concat();
            fs::write(&in_file, prefix).expect("written");
        }
        for reading in [Reading::Slices, Reading::LazyChunks, Reading::Mapped, Reading::Offset] {
            // The parameters of a mapping are those of one file.
            if store == Store::Directory && matches!(reading, Reading::Offset | Reading::Mapped) {
                continue;
            }
            let (path, base) = if reading == Reading::Offset { (&in_file, PREFIX) } else { (&original, 0) };
            let what = format!("{store:?}, codec {codec}, {reading:?}");
            assert_eq!(read_blocks(path, reading, &contents, None, &mut Random::new(1), &what), 0);
            check_amount(path, reading, &contents, &what);
            let (file, range) = place_of_chunk(path, store, base);
            let bytes = fs::read(&file).expect("a file");
            for n in 0..count {
                let mut random = Random::of_item(codec.into(), n);
                let at = random.below(range.len());
                let mut damaged = bytes.clone();
                damaged[range.start + at] ^= 1 << random.below(8);
                fs::write(&file, damaged).expect("written");
                let what = format!("{what}, byte {at} of the chunk");
                let place = is_stored.then_some(at);
                let errors = read_blocks(path, reading, &contents, place, &mut random, &what);
                assert!(errors >= 2, "{what}: {errors} errors, expected those of a block and of the chunk");
                (flips, detected) = (flips + 1, detected + errors);
                if reading == Reading::Slices {
                    check_repair(path, &contents, at, &scratch, &what);
                }
            }
            // A damaged record: the chunk is compared as a whole.
            let mut damaged = bytes.clone();
            damaged[range.end + 5] ^= 1;
            fs::write(&file, damaged).expect("written");
            let what = format!("{what}, a damaged record");
            assert_eq!(read_blocks(path, reading, &contents, None, &mut Random::new(2), &what), 0);
            fs::write(&file, bytes).expect("written");
        }
    }
    changed_frames(store, &scratch);
    changes_in_turn(store, &scratch);
    report(&format!("{flips} flipped bits, {detected} errors"));
}
