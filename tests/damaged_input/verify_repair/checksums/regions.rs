//! A frame with checksums, and the places of its parts (frame.md 1 and 2.14).

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use super::super::full_read::FullRead;
use super::super::{files_at, remove, write_frame};
use crate::frames::fields::Files;
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{Damage, verify_at};

/// The offset in the header of the flags of this library, and the flag of the checksums.
pub const FLAGS_AT: usize = 0x56;
/// See [`FLAGS_AT`].
pub const FLAG: u8 = 1;
/// The offsets in the header of the length of the frame.
const FRAME_LEN: Range<usize> = 16..24;
/// Uncompressed size of a chunk in bytes.
pub const NBYTES: usize = 4000;
/// Number of chunks.
pub const NCHUNKS: usize = 6;
/// The chunk of zeros, which has no bytes.
pub const ZEROS: usize = 3;
/// Length of the end of a trailer: its length and the fingerprint, with their markers.
const TRAILER_END: usize = 23;
/// Length in bytes of what precedes a frame inside a file.
const PREFIX: usize = 77;

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Home {
    File,
    Directory,
    /// Inside a file, behind other bytes and before another frame.
    Offset,
}

impl Home {
    pub const ALL: [Home; 3] = [Home::File, Home::Directory, Home::Offset];
}

/// The regions in which bits are flipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    Payload,
    ChunkHeader,
    Index,
    Table,
    FrameHeader,
    Meta,
    Vlmeta,
    TrailerEnd,
}

impl Region {
    pub const ALL: [Region; 8] = [
        Region::Payload,
        Region::ChunkHeader,
        Region::Index,
        Region::Table,
        Region::FrameHeader,
        Region::Meta,
        Region::Vlmeta,
        Region::TrailerEnd,
    ];
}

/// A part of a file: its name, the range of the bytes, and the number of the chunk.
#[derive(Clone, Debug)]
pub struct Spot {
    pub name: String,
    pub range: Range<usize>,
    pub nchunk: i64,
}

/// A frame with checksums.
pub struct Sample {
    pub home: Home,
    pub files: Files,
    /// Offset of the frame in its file.
    pub base: usize,
    pub read: FullRead,
}

fn be(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |value, &byte| value << 8 | usize::from(byte))
}

fn le32(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize
}

/// Adds the content of a sample: compressible chunks, chunks of noise that are stored uncompressed, zeros, and
/// metalayers of both kinds.
pub fn fill(schunk: &SuperChunk) {
    let random = &mut Random::new(31);
    assert_eq!(schunk.meta_add("fixed", &random.bytes(40)), 0);
    for nchunk in 0..NCHUNKS {
        let noise = if nchunk == ZEROS { 0 } else { [NBYTES, 300][nchunk % 2] };
        let mut chunk = random.bytes(noise);
        chunk.resize(NBYTES, if nchunk == ZEROS { 0 } else { 7 });
        schunk.append(&chunk).expect("appended");
    }
    assert_eq!(schunk.vlmeta_add("note", &random.bytes(200)), 0);
    assert_eq!(schunk.vlmeta_add("other", &b"some text".repeat(9)), 1);
}

impl Sample {
    /// Makes a sample with chunks of this codec. The process has `BLOSC2_CHECKSUMS=on`.
    pub fn make(home: Home, codec: u8, scratch: &ScratchDir) -> Sample {
        let path = scratch.new_path();
        let store = if home == Home::Directory { Store::Directory } else { Store::File };
        let params = Params { codec, typesize: 4, ..Params::default() };
        fill(&SuperChunk::create(Library::ours(), store, &path, &params));
        let read = FullRead::of(Library::ours(), &path).expect("a frame");
        assert!(read.is_whole());
        let mut files = files_at(&path);
        remove(&path);
        let mut base = 0;
        if home == Home::Offset {
            base = PREFIX;
            let frame = &files["frame"];
            let file = [&[0xAB; PREFIX], &frame[..], &frame[..]].concat();
            files.insert("frame".to_string(), file);
        }
        Sample { home, files, base, read }
    }

    fn main_file(&self) -> &'static str {
        if self.home == Home::Directory { "chunks.b2frame" } else { "frame" }
    }

    /// Returns the bytes of the frame with header, index and trailer.
    pub fn frame(&self) -> &[u8] {
        let frame = &self.files[self.main_file()][self.base..];
        &frame[..be(&frame[FRAME_LEN])]
    }

    /// Returns the parts of the files that belong to a region.
    pub fn spots(&self, region: Region) -> Vec<Spot> {
        let frame = self.frame();
        let header_len = be(&frame[11..15]);
        let cbytes = if self.home == Home::Directory { 0 } else { be(&frame[39..47]) };
        let trailer = frame.len() - be(&frame[frame.len() - 22..frame.len() - 18])..frame.len();
        let index_at = header_len + cbytes;
        let table_len = le32(&frame[frame.len() - 12..frame.len() - 8]);
        let one = |range: Range<usize>| {
            let range = self.base + range.start..self.base + range.end;
            vec![Spot { name: self.main_file().to_string(), range, nchunk: -1 }]
        };
        let part_of_chunks = |part: fn(Range<usize>) -> Range<usize>| {
            self.chunks(header_len).into_iter().map(|spot| Spot { range: part(spot.range), ..spot }).collect()
        };
        match region {
            Region::Payload => part_of_chunks(|at| at.start + 32..at.end),
            Region::ChunkHeader => part_of_chunks(|at| at.start..at.start + 32),
            Region::Index => one(index_at..index_at + le32(&frame[index_at + 12..index_at + 16])),
            Region::Table => one(trailer.start - table_len..trailer.start),
            Region::FrameHeader => one(0..87),
            Region::Meta => one(87..header_len),
            Region::Vlmeta => one(trailer.start..trailer.end - TRAILER_END),
            Region::TrailerEnd => one(trailer.end - TRAILER_END..trailer.end),
        }
    }

    /// Returns the places of the stored chunks.
    pub fn chunks(&self, header_len: usize) -> Vec<Spot> {
        let stored = (0..NCHUNKS as i64).filter(|&nchunk| nchunk != ZEROS as i64);
        if self.home == Home::Directory {
            let names = self.files.keys().filter(|name| name.ends_with(".chunk"));
            let spot = |(nchunk, name): (i64, &String)| Spot {
                name: name.clone(),
                range: 0..self.files[name].len(),
                nchunk,
            };
            return stored.zip(names).map(spot).collect();
        }
        let (frame, mut at) = (self.frame(), header_len);
        let spot = |nchunk| {
            let len = le32(&frame[at + 12..at + 16]);
            let range = self.base + at..self.base + at + len;
            at += len;
            Spot { name: self.main_file().to_string(), range, nchunk }
        };
        stored.map(spot).collect()
    }

    /// Writes the files to a new path.
    pub fn write(&self, files: &Files, scratch: &ScratchDir) -> PathBuf {
        write_frame(scratch, files)
    }

    /// Calls `blosc2x_verify` for the frame at `path`.
    pub fn verify(&self, path: &std::path::Path) -> (i64, Vec<Damage>) {
        verify_at(path, self.base as i64, 0)
    }
}

/// Returns whether the header of the frame at `path` has the flag of the checksums.
pub fn has_flag(path: &std::path::Path) -> bool {
    let main = if path.is_dir() { path.join("chunks.b2frame") } else { path.to_owned() };
    fs::read(main).expect("a file")[FLAGS_AT] & FLAG != 0
}
