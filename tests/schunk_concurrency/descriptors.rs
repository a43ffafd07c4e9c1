//! Opens more frames at once than the process may have descriptors, and checks for leaked ones afterwards (`frame.md`
//! 5.4).

use std::fs;
use std::path::Path;

use crate::children::{join, part, start};
use crate::content::{CHUNK, Coding, ITEM, chunk, items, say};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::Scratch;
use crate::support::super_chunk::{Store, SuperChunk};

/// Maximum number of descriptors of the process.
const LIMIT: u64 = 256;
const READERS: &str = "BLOSC_MAX_CACHED_READERS";

fn limit_descriptors() {
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
    // SAFETY: a struct that is only read.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

/// Returns the number of open descriptors, without the one used for counting.
fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("the descriptors").count() - 1
}

/// Creates a super-chunk of two chunks.
fn make(store: Store, path: &Path) {
    let schunk = SuperChunk::create(
        Library::ours(),
        store,
        path,
        &Coding { codec: 1, delta: false, nthreads: 1 }.params(),
    );
    assert_eq!(schunk.append(&chunk(0)), Ok(1));
    assert_eq!(schunk.append(&chunk(1)), Ok(2));
    assert_eq!(schunk.vlmeta_add("v", b"content"), 0);
}

fn copy(from: &Path, to: &Path) {
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

fn check(schunk: &SuperChunk) {
    assert_eq!(schunk.decompress_into(1, CHUNK * ITEM), Ok(chunk(1)));
    assert_eq!(schunk.get_slice(700, 720, 20 * ITEM), Ok(items(700, 20)));
    assert_eq!(schunk.get_chunk(0).expect("a chunk").len(), schunk.get_chunk(0).expect("a chunk").len());
    assert_eq!(
        schunk.get_sparse(&[7, 4_501, 9], 3 * ITEM),
        Ok([7, 4_501, 9].map(crate::content::item).concat())
    );
    assert_eq!(schunk.vlmeta_get("v").as_deref(), Ok(&b"content"[..]));
}

/// Opens `frames` frames of each kind at once, and reads and changes them; `kept` handles keep their descriptors.
fn open_many(frames: usize, kept: usize) {
    limit_descriptors();
    let scratch = Scratch::new();
    let before = open_descriptors();
    for store in Store::ON_DISK {
        let original = scratch.fresh();
        make(store, &original);
        let opened: Vec<_> = (0..frames)
            .map(|n| {
                let path = scratch.fresh();
                copy(&original, &path);
                SuperChunk::open(Library::ours(), &path).unwrap_or_else(|| panic!("frame {n} in {store:?}"))
            })
            .collect();
        opened.iter().for_each(check);
        // Again, in another order, with appends in between.
        let mut random = Random::new(frames as u64);
        for _ in 0..frames {
            let schunk = &opened[random.below(frames)];
            check(schunk);
            if schunk.nchunks() == 2 && random.one_in(10) {
                assert_eq!(schunk.append(&items(0, 10)), Ok(3));
                assert_eq!(schunk.decompress_into(2, CHUNK * ITEM), Ok(items(0, 10)));
                assert_eq!(schunk.delete_chunk(2), Ok(2));
                assert_eq!(schunk.decompress_into(1, CHUNK * ITEM), Ok(chunk(1)));
            }
        }
        let files = open_descriptors() - before;
        assert!(files <= kept, "{store:?}: {files} kept");
        assert!(store == Store::Directory || files == kept.min(frames), "{files} kept");
        drop(opened);
        assert_eq!(open_descriptors(), before, "{store:?}");
        say(&format!(
            "{store:?}: {frames} frames open at once with {LIMIT} descriptors, {files} of them kept"
        ));
    }
}

#[test]
fn more_frames_than_descriptors() {
    if part().is_some() {
        // A 16th of the descriptors is for handles whose files stay open.
        return open_many(from_environment("BLOSC2_CONCURRENCY_FRAMES", 400) as usize, LIMIT as usize / 16);
    }
    let child = start(test_name!(), "open", &[]);
    join(vec![("the process with few descriptors", child)]);
}

#[test]
fn the_number_of_kept_handles() {
    if let Some(kept) = part() {
        return open_many(220, kept.parse().expect("a number"));
    }
    for (asked, kept) in
        [("0", "0"), ("1", "1"), ("200", "200"), ("5x", "5"), ("abc", "0"), ("-1", "16"), ("", "16")]
    {
        let child = start(test_name!(), kept, &[(READERS, asked)]);
        join(vec![(asked, child)]);
    }
}

/// Handles that fail to open, and handles with a lock, leak no descriptor either.
#[test]
fn nothing_is_left_open() {
    if part().is_none() {
        return join(vec![("the child", start(test_name!(), "open", &[]))]);
    }
    let scratch = Scratch::new();
    let before = open_descriptors();
    for store in Store::ON_DISK {
        let path = scratch.fresh();
        make(store, &path);
        assert_eq!(open_descriptors(), before);
        for _ in 0..20 {
            let schunk = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            assert_eq!((schunk.lock(), schunk.lock(), schunk.unlock()), (0, 0, 0));
            check(&schunk);
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
