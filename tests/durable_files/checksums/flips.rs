//! Flipped bits in frames with checksums: a read returns the right bytes or an error, never other bytes.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::processes::report;
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// The uncompressed size of a chunk, and the number of items in it.
const NBYTES: usize = 4_000;
const NITEMS: i64 = NBYTES as i64 / 4;
const NCHUNKS: usize = 40;
/// The chunk of zeros, which has no payload.
const ZEROS: usize = 3;
const META: &str = "fixed";
const NOTE: &str = "note";
/// The codecs: BloscLZ, LZ4, LZ4HC, zlib, Zstandard.
const CODECS: [u8; 5] = [0, 1, 2, 4, 5];
/// Length of the end of a trailer: its length and the fingerprint, with their markers.
const TRAILER_END: usize = 23;

/// `BLOSC2_ERROR_DATA`.
const DATA_ERROR: i32 = -3;

/// The files of a frame.
type Files = BTreeMap<String, Vec<u8>>;

/// The regions in which bits are flipped.
#[derive(Clone, Copy, Debug)]
enum Region {
    Payload,
    ChunkHeader,
    Index,
    Table,
    FrameHeader,
    Meta,
    Vlmeta,
    Trailer,
}

impl Region {
    const ALL: [Region; 8] = [
        Region::Payload,
        Region::ChunkHeader,
        Region::Index,
        Region::Table,
        Region::FrameHeader,
        Region::Meta,
        Region::Vlmeta,
        Region::Trailer,
    ];
}

/// The right contents.
struct Contents {
    chunks: Vec<Vec<u8>>,
    meta: Vec<u8>,
    note: Vec<u8>,
}

/// The places of a kind of bytes: file and range.
type Places = Vec<(String, Range<usize>)>;

fn be(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |value, &byte| value << 8 | usize::from(byte))
}

fn le32(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize
}

/// Returns the bytes of a region (frame.md 1).
fn places(files: &Files, region: Region) -> Places {
    let index_file = files.keys().find(|name| !name.ends_with(".chunk")).expect("an index file").clone();
    let frame = &files[&index_file];
    let header_len = be(&frame[11..15]);
    let frame_len = be(&frame[16..24]);
    let cbytes = be(&frame[39..47]);
    let trailer = frame_len - be(&frame[frame_len - 22..frame_len - 18])..frame_len;
    let is_sparse = frame[26] == 1;
    let index_at = if is_sparse { header_len } else { header_len + cbytes };
    let index = index_at..index_at + le32(&frame[index_at + 12..index_at + 16]);
    let blocks_at = index_at + le32(&frame[index_at + 32..index_at + 36]);
    let table_len = le32(&frame[frame_len - 12..frame_len - 8]);
    let chunks: Places = if is_sparse {
        let files = files.iter().filter(|(name, _)| **name != index_file);
        files.map(|(name, bytes)| (name.clone(), 0..bytes.len())).collect()
    } else {
        let mut chunks = Vec::new();
        let mut at = header_len;
        // The frame has no holes.
        while chunks.len() < NCHUNKS - 1 {
            let len = le32(&frame[at + 12..at + 16]);
            chunks.push((index_file.clone(), at..at + len));
            at += len;
        }
        chunks
    };
    let one = |range| vec![(index_file.clone(), range)];
    match region {
        Region::Payload => chunks.into_iter().map(|(name, at)| (name, at.start + 32..at.end)).collect(),
        Region::ChunkHeader => chunks.into_iter().map(|(name, at)| (name, at.start..at.start + 32)).collect(),
        // In a directory that was not closed, bytes that no reader needs are before the blocks of the index.
        Region::Index => {
            vec![(index_file.clone(), index_at..index_at + 36), (index_file.clone(), blocks_at..index.end)]
        }
        Region::Table => one(trailer.start - table_len..trailer.start),
        Region::FrameHeader => one(0..87),
        Region::Meta => one(87..header_len),
        Region::Vlmeta => one(trailer.start + 6..trailer.end - TRAILER_END),
        Region::Trailer => one(trailer.end - TRAILER_END..trailer.end),
    }
}

/// Creates a frame. Returns its contents and its files, as they are before the frame is closed.
fn create(store: Store, path: &Path, codec: u8) -> (Contents, Files) {
    let params = Params { codec, typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), store, path, &params);
    let mut random = Random::new(9);
    let mut contents = Contents { chunks: Vec::new(), meta: random.bytes(40), note: random.bytes(300) };
    assert_eq!(schunk.meta_add(META, &contents.meta), 0);
    for nchunk in 0..NCHUNKS {
        let noise = if nchunk == ZEROS { 0 } else { 30 * (nchunk + 1) };
        let mut chunk = random.bytes(noise);
        chunk.resize(NBYTES, if nchunk == ZEROS { 0 } else { 7 });
        schunk.append(&chunk).expect("appended");
        contents.chunks.push(chunk);
    }
    assert_eq!(schunk.vlmeta_add(NOTE, &contents.note), 0);
    let files = match store {
        Store::Directory => read_files(path),
        _ => [(String::new(), fs::read(path).expect("a file"))].into(),
    };
    (contents, files)
}

fn write(path: &Path, files: &Files, store: Store) {
    match store {
        Store::Directory => {
            fs::create_dir(path).expect("a directory");
            for (name, bytes) in files {
                fs::write(path.join(name), bytes).expect("a file");
            }
        }
        _ => fs::write(path, &files[""]).expect("a file"),
    }
}

/// Reads everything; returns the number of errors. Other bytes than the right ones are a failure; so is another error of a chunk than
/// [`DATA_ERROR`] with `only_data_errors`.
fn read(path: &Path, contents: &Contents, random: &mut Random, only_data_errors: bool, what: &str) -> usize {
    let Some(schunk) = SuperChunk::open(Library::ours(), path) else { return 1 };
    let mut errors = 0;
    let mut check = |found: Result<Vec<u8>, i32>, expected: &[u8], part: &str| match found {
        Ok(found) => assert!(found == expected, "{what}: other bytes of {part}"),
        Err(code) => {
            let is_exact = only_data_errors && part.starts_with("chunk");
            assert!(!is_exact || code == DATA_ERROR, "{what}: error {code} of {part}");
            errors += 1;
        }
    };
    assert_eq!(schunk.nchunks(), NCHUNKS as i64, "{what}: chunks");
    for (nchunk, expected) in contents.chunks.iter().enumerate() {
        // A handle reads a chunk first by blocks, or first completely.
        let start = nchunk as i64 * NITEMS + random.below(NITEMS as usize - 20) as i64;
        let range = start as usize * 4 - nchunk * NBYTES..start as usize * 4 - nchunk * NBYTES + 80;
        let slice = || schunk.get_slice(start, start + 20, 80);
        if random.one_in(2) {
            check(slice(), &expected[range.clone()], &format!("a slice of chunk {nchunk}"));
        }
        check(schunk.decompress(nchunk as i64), expected, &format!("chunk {nchunk}"));
        check(slice(), &expected[range], &format!("a slice of chunk {nchunk}"));
    }
    check(schunk.meta_get(META).ok_or(-1), &contents.meta, "a metalayer");
    check(schunk.vlmeta_get(NOTE), &contents.note, "a variable-length metalayer");
    errors
}

/// Flips bits in frames of every codec.
pub fn run(store: Store) {
    let scratch = ScratchDir::new();
    let count = from_environment("BLOSC2_FLIPS", 100);
    let (mut flips, mut detected) = (0, 0);
    for codec in CODECS {
        let closed = scratch.new_path();
        let (contents, files) = create(store, &closed, codec);
        assert_eq!(read(&closed, &contents, &mut Random::new(1), false, "undamaged"), 0);
        let path = scratch.new_path();
        write(&path, &files, store);
        for region in Region::ALL {
            let places = places(&files, region);
            for n in 0..count {
                let mut random = Random::of_item(codec.into(), n);
                let (name, range) = random.pick(&places).clone();
                let (at, bit) = (range.start + random.below(range.len()), random.below(8));
                let file = if name.is_empty() { path.clone() } else { path.join(&name) };
                let file = fs::OpenOptions::new().write(true).open(file).expect("a file");
                let old = files[&name][at];
                file.write_all_at(&[old ^ 1 << bit], at as u64).expect("written");
                let what = format!("codec {codec}, {region:?}, bit {bit} of byte {at} of {name:?}");
                let errors = read(&path, &contents, &mut random, matches!(region, Region::Payload), &what);
                // Without the flag of the checksums the frame is read as one that has none.
                let is_flag = matches!(region, Region::FrameHeader) && at == super::FLAGS_AT && bit == 0;
                assert!(errors > 0 || is_flag, "{what}: not detected");
                flips += 1;
                detected += usize::from(errors > 0);
                file.write_all_at(&[old], at as u64).expect("written");
            }
        }
    }
    report(&format!("{flips} flipped bits, {detected} detected, none read as data"));
}
