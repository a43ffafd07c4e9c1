//! Opens more frames at once than the process may have descriptors, and checks for leaked ones afterwards (`frame.md`
//! 5.4).

use std::fs;
use std::path::Path;

use crate::children::{child_part, join_children, start_child};
use crate::content::{CHUNK_NITEMS, CodecSettings, ITEM_SIZE, chunk, items, print_in_long_runs};
use crate::support::calls::decompress;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Maximum number of descriptors of the process.
const MAX_DESCRIPTORS: libc::rlim_t = 256;
const CACHED_READERS_ENV: &str = "BLOSC_MAX_CACHED_READERS";

fn limit_descriptors() {
    let limit = libc::rlimit { rlim_cur: MAX_DESCRIPTORS, rlim_max: MAX_DESCRIPTORS };
    // SAFETY: a struct that is only read.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

/// Returns the number of open descriptors, without the one used for counting.
fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("the descriptors").count() - 1
}

/// Creates a super-chunk of two chunks.
fn create_schunk(store: Store, path: &Path) {
    let schunk = SuperChunk::create(
        Library::ours(),
        store,
        path,
        &CodecSettings { codec: 1, delta: false, nthreads: 1 }.params(),
    );
    assert_eq!(schunk.append(&chunk(0)), Ok(1));
    assert_eq!(schunk.append(&chunk(1)), Ok(2));
    assert_eq!(schunk.vlmeta_add("v", b"content"), 0);
}

fn copy_frame(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).expect("a copy");
        return;
    }
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let file = entry.expect("an entry");
        fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

fn check_contents(schunk: &SuperChunk) {
    assert_eq!(schunk.decompress_into(1, CHUNK_NITEMS * ITEM_SIZE), Ok(chunk(1)));
    assert_eq!(schunk.get_slice(700, 720, 20 * ITEM_SIZE), Ok(items(700, 20)));
    let compressed = schunk.get_chunk(0).expect("a chunk");
    assert_eq!(decompress(Library::ours(), 1, &compressed, CHUNK_NITEMS * ITEM_SIZE), Ok(chunk(0)));
    assert_eq!(
        schunk.get_sparse(&[7, 4_501, 9], 3 * ITEM_SIZE),
        Ok([7, 4_501, 9].map(crate::content::item).concat())
    );
    assert_eq!(schunk.vlmeta_get("v").as_deref(), Ok(&b"content"[..]));
}

/// Opens `frames` frames of each kind at once, and reads and changes them; `kept` handles keep their descriptors.
fn open_many(frames: usize, kept: usize) {
    limit_descriptors();
    let scratch = ScratchDir::new();
    let before = open_descriptors();
    for store in Store::ON_DISK {
        let original = scratch.new_path();
        create_schunk(store, &original);
        let opened: Vec<_> = (0..frames)
            .map(|n| {
                let path = scratch.new_path();
                copy_frame(&original, &path);
                SuperChunk::open(Library::ours(), &path).unwrap_or_else(|| panic!("frame {n} in {store:?}"))
            })
            .collect();
        opened.iter().for_each(check_contents);
        // Again, in another order, with appends in between.
        let mut random = Random::new(frames as u64);
        for _ in 0..frames {
            let schunk = &opened[random.below(frames)];
            check_contents(schunk);
            if schunk.nchunks() == 2 && random.one_in(10) {
                assert_eq!(schunk.append(&items(0, 10)), Ok(3));
                assert_eq!(schunk.decompress_into(2, CHUNK_NITEMS * ITEM_SIZE), Ok(items(0, 10)));
                assert_eq!(schunk.delete_chunk(2), Ok(2));
                assert_eq!(schunk.decompress_into(1, CHUNK_NITEMS * ITEM_SIZE), Ok(chunk(1)));
            }
        }
        let files = open_descriptors() - before;
        assert!(files <= kept, "{store:?}: {files} kept");
        assert!(store == Store::Directory || files == kept.min(frames), "{files} kept");
        drop(opened);
        assert_eq!(open_descriptors(), before, "{store:?}");
        print_in_long_runs(&format!(
            "{store:?}: {frames} frames open at once with {MAX_DESCRIPTORS} descriptors, {files} of them kept"
        ));
    }
}

#[test]
fn more_frames_than_descriptors_can_be_open() {
    if child_part().is_some() {
        // A 16th of the descriptors is for handles whose files stay open.
        return open_many(
            from_environment("BLOSC2_CONCURRENCY_FRAMES", 400) as usize,
            MAX_DESCRIPTORS as usize / 16,
        );
    }
    let child = start_child(test_name!(), "open", &[]);
    join_children(vec![("the process with few descriptors", child)]);
}

#[test]
fn max_cached_readers_limits_the_open_descriptors() {
    if let Some(kept) = child_part() {
        return open_many(220, kept.parse().expect("a number"));
    }
    for (asked, kept) in
        [("0", "0"), ("1", "1"), ("200", "200"), ("5x", "5"), ("abc", "0"), ("-1", "16"), ("", "16")]
    {
        let child = start_child(test_name!(), kept, &[(CACHED_READERS_ENV, asked)]);
        join_children(vec![(asked, child)]);
    }
}

/// Handles that fail to open, and handles with a lock, leak no descriptor either.
#[test]
fn failed_opens_and_locks_leak_no_descriptor() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "open", &[]))]);
    }
    let scratch = ScratchDir::new();
    let before = open_descriptors();
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        create_schunk(store, &path);
        assert_eq!(open_descriptors(), before);
        for _ in 0..20 {
            let schunk = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            assert_eq!((schunk.lock(), schunk.lock(), schunk.unlock()), (0, 0, 0));
            check_contents(&schunk);
            assert_eq!(schunk.append(&items(0, 10)), Ok(3));
            assert_eq!(schunk.delete_chunk(2), Ok(2));
            drop(schunk);
            assert_eq!(open_descriptors(), before, "{store:?}");
        }
        let index = if store == Store::File { path.clone() } else { path.join("chunks.b2frame") };
        let bytes = fs::read(&index).expect("a frame");
        for len in [0, 50, 90, bytes.len() - 40, bytes.len() - 1] {
            fs::write(&index, &bytes[..len]).expect("a file");
            assert!(SuperChunk::open(Library::ours(), &path).is_none());
            assert!(SuperChunk::open_locking(Library::ours(), &path).is_none());
            assert_eq!(open_descriptors(), before, "{store:?}, {len} bytes");
        }
    }
}
