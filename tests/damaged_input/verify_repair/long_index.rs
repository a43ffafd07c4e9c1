//! The memory for a short frame whose index is a long list: a few bytes can describe millions of equal entries.

use std::fs;
use std::path::{Path, PathBuf};

use crate::frames::fields::{CBYTES, CHUNKSIZE, FRAME_LEN, HEADER_LEN, NBYTES};
use crate::support::calls::Params;
use crate::support::child::{in_new_process, test_name};
use crate::support::library::Library;
use crate::support::memory::{self, PeakMemory};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{repair, verify};

/// Number of entries; the list has 32 MiB.
const ENTRIES: i64 = 4 << 20;
const LIST_LEN: usize = 8 * ENTRIES as usize;

/// Size of a block of the index in bytes. Decoding needs memory for one block.
const BLOCKSIZE: usize = 1 << 20;

/// Allowance, in bytes, for memory that does not depend on the index: stacks, the state of codecs, the heap.
const OTHER_MEMORY: usize = 12 << 20;

/// Makes a frame of one chunk whose index has an entry of that chunk [`ENTRIES`] times.
fn make(scratch: &ScratchDir) -> PathBuf {
    let path = scratch.new_path();
    let params = Params { typesize: 8, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), Store::File, &path, &params);
    schunk.append(&(0..100u64).flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).expect("a chunk");
    drop(schunk);
    let mut bytes = fs::read(&path).expect("a frame");
    let index = (HEADER_LEN.get(&bytes) + CBYTES.get(&bytes)) as usize;
    let old_len = i32::from_le_bytes(bytes[index + 12..][..4].try_into().expect("4 bytes")) as usize;
    // An extended header without filters; each block is one stream, which is a run of zeros of length 0.
    let nblocks = LIST_LEN / BLOCKSIZE;
    let tables = 32 + 4 * nblocks;
    let mut long = vec![5, 1, 0x15, 8];
    for number in [LIST_LEN, BLOCKSIZE, tables + 4 * nblocks] {
        long.extend((number as i32).to_le_bytes());
    }
    long.resize(32, 0);
    (0..nblocks).for_each(|block| long.extend(((tables + 4 * block) as i32).to_le_bytes()));
    long.resize(tables + 4 * nblocks, 0);
    bytes.splice(index..index + old_len, long);
    let (chunksize, len) = (CHUNKSIZE.get(&bytes), bytes.len() as i64);
    NBYTES.set(&mut bytes, chunksize * ENTRIES);
    FRAME_LEN.set(&mut bytes, len);
    fs::write(&path, bytes).expect("a frame");
    path
}

/// Runs `call`, and fails if it needs more memory than `lists` lists of entries.
#[track_caller]
fn assert_memory(what: &str, lists: usize, call: impl FnOnce()) {
    let peak_memory = PeakMemory::start();
    call();
    let (grown, limit) = (peak_memory.growth(), lists * LIST_LEN + OTHER_MEMORY);
    assert!(grown <= limit, "{what}: {grown} bytes of memory, expected at most {limit}");
}

fn open(path: &Path) {
    let schunk = SuperChunk::open(Library::ours(), path).expect("a frame");
    assert_eq!(schunk.nchunks(), ENTRIES);
    assert_eq!(schunk.decompress(ENTRIES - 1).expect("a chunk").len(), 800);
}

/// An open frame has the entries once. `verify` has two numbers of 4 bytes for each besides: the chunks in the order of
/// their places, and those of the previous place. `repair` verifies the new frame while it has the entries of both.
#[test]
fn a_long_index_takes_its_own_memory_a_few_times() {
    in_new_process(test_name!(), || {
        memory::limit_address_space();
        let scratch = ScratchDir::new();
        let path = make(&scratch);
        assert_memory("open", 1, || open(&path));
        assert_memory("verify", 2, || assert_eq!(verify(&path), (0, vec![])));
        assert_memory("repair", 4, || {
            let saved = scratch.new_path();
            assert_eq!(repair(&path, &saved), (ENTRIES, vec![]));
            assert_eq!(verify(&saved), (0, vec![]));
        });
    });
}
