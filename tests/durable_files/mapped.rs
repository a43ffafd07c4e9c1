//! A mapped file that another handle closes: the gap behind its chunks is cut off, and the mapping must not be read behind
//! the end of the file.

use std::ffi::CStr;
use std::path::Path;
use std::ptr;

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, blosc2_io, blosc2_stdio_mmap};

use crate::checksums::CHECKSUMS;
use crate::levels::{DURABILITY, Level};
use crate::processes::{self, child_part, report};
use crate::support::calls::{Params, compress};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 300;

/// Returns the parameters of a mapping for reading.
pub fn mapping() -> blosc2_stdio_mmap {
    const MODE: &CStr = c"r";
    blosc2_stdio_mmap { mode: MODE.as_ptr(), initial_mapping_size: 1 << 30, ..BLOSC2_STDIO_MMAP_DEFAULTS }
}

fn open_mapped(path: &Path, params: &mut blosc2_stdio_mmap) -> SuperChunk {
    let params = ptr::from_mut(params).cast();
    let io = blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params };
    SuperChunk::open_udio(Library::ours(), path, &io).expect("a mapped super-chunk")
}

#[track_caller]
fn check(schunk: &SuperChunk, chunks: &[Vec<u8>], what: &str) {
    for (nchunk, expected) in chunks.iter().enumerate() {
        let found = schunk.decompress(nchunk as i64);
        assert!(found.as_ref() == Ok(expected), "{what}: chunk {nchunk}: {:?}", found.err());
    }
}

/// Maps a file while another handle changes it, and reads it before and after that handle is closed.
fn read_around_close() {
    let scratch = ScratchDir::new();
    for (chunk_len, changes) in [(4, 1), (4096, 3), (40_000, 8)] {
        let what = format!("{chunk_len} bytes, {changes} changes");
        let path = scratch.new_path();
        let params = Params { clevel: 0, typesize: 4, ..Params::default() };
        let writer = SuperChunk::create(Library::ours(), Store::File, &path, &params);
        let mut random = Random::new(1);
        let mut chunks: Vec<_> = (0..3).map(|_| random.bytes(chunk_len)).collect();
        for chunk in &chunks {
            writer.append(chunk).expect("appended");
        }
        for change in 0..changes {
            let (nchunk, bytes) = (change % chunks.len(), random.bytes(chunk_len));
            let chunk = compress(Library::ours(), &params, &bytes, chunk_len + 32).expect("a chunk");
            assert_eq!(writer.update_chunk(nchunk as i64, &chunk), Ok(3), "{what}");
            chunks[nchunk] = bytes;
        }
        let mut maps = [mapping(), mapping()];
        let [before, unread] = maps.each_mut().map(|params| open_mapped(&path, params));
        check(&before, &chunks, &format!("{what}, before"));
        drop(writer);
        check(&before, &chunks, &format!("{what}, read before"));
        check(&unread, &chunks, &format!("{what}, not read before"));
        drop((before, unread));
    }
    report("ok");
}

#[test]
fn a_mapping_is_not_read_behind_the_end_of_a_file_that_was_cut() {
    if child_part().is_some() {
        return read_around_close();
    }
    for level in Level::ALL {
        for checksums in ["off", "on"] {
            let variables = [(DURABILITY, level.name()), (CHECKSUMS, checksums)];
            let reader = processes::start(test_name!(), "reader", &variables, SECONDS_LIMIT);
            println!("{variables:?}: {}", reader.join());
        }
    }
}
