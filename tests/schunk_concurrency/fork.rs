//! Forks: child and parent continue with the open super-chunks independently.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use crate::children::{join, part, start};
use crate::content::{BLOCK, CHUNK, Coding, ITEM, NOTE, Place, Shared, chunk, duration, filled, items, note};
use crate::support::calls::compress;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::Scratch;
use crate::support::super_chunk::{Store, SuperChunk};

const NCHUNKS: usize = 5;
const CODING: Coding = Coding { codec: 5, delta: false, nthreads: 4 };

/// Forks; the child runs `work` and exits with its result. An alarm ends a child that hangs.
fn forked(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the test is about the calls that a child may make after a fork.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        // SAFETY: plain system calls.
        unsafe {
            libc::alarm(300);
            let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            libc::_exit(if good { 0 } else { 1 });
        }
    }
    pid
}

#[track_caller]
fn assert_ends_well(pid: libc::pid_t) {
    let mut status = -1;
    // SAFETY: a child of this process; `status` is only written.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child (14: it hung)");
}

fn read(schunk: &SuperChunk) {
    for n in 0..NCHUNKS {
        assert!(schunk.decompress_into(n as i64, CHUNK * ITEM) == Ok(chunk(n)));
    }
    let (start, stop) = (CHUNK / 2, 3 * CHUNK + 7);
    let got = schunk.get_slice(start as i64, stop as i64, (stop - start) * ITEM);
    assert!(got == Ok(items(start, stop - start)));
    assert_eq!(schunk.get_slice(77, 78, ITEM), Ok(items(77, 1)));
    assert_eq!(
        schunk.get_sparse(&[1, 20_000, 5], 3 * ITEM),
        Ok([1, 20_000, 5].map(crate::content::item).concat())
    );
    assert_eq!(schunk.vlmeta_get(NOTE), Ok(note(0)));
    assert_eq!(schunk.blocksize(), BLOCK);
}

fn change(schunk: &SuperChunk) {
    let nchunks = schunk.nchunks() as usize;
    assert_eq!(schunk.append(&chunk(nchunks)), Ok(nchunks as i64 + 1));
    assert_eq!(schunk.set_slice(5, CHUNK as i64 + 5, &items(5, CHUNK)), 0);
    assert_eq!(schunk.vlmeta_update(NOTE, &note(0)), 1);
    assert!(schunk.decompress_into(nchunks as i64, CHUNK * ITEM) == Ok(chunk(nchunks)));
    read(schunk);
}

/// Creates a super-chunk; compression uses four threads, too.
fn make(path: &Path, place: Place) -> Shared {
    let schunk = filled(Library::ours(), place, path, CODING, NCHUNKS, true);
    let params = crate::support::calls::Params { nthreads: 4, ..CODING.params() };
    // SAFETY: a live super-chunk of this thread; its old context is freed once.
    unsafe {
        let cctx = (schunk.library.blosc2_create_cctx)(params.cparams());
        assert!(!cctx.is_null());
        (schunk.library.blosc2_free_ctx)((*schunk.raw()).cctx);
        (*schunk.raw()).cctx = cctx;
    }
    schunk
}

#[test]
fn the_child_goes_on_with_its_own() {
    if part().is_none() {
        return join(vec![("the child", start(test_name!(), "fork", &[]))]);
    }
    let scratch = Scratch::new();
    for round in 0..3 {
        let mut opened: Vec<_> = Place::ALL.map(|place| make(&scratch.fresh(), place)).into();
        // The workers are started, and handles and caches are filled.
        opened.iter().for_each(|schunk| read(schunk));
        let (own, path) = (scratch.fresh(), scratch.fresh());
        drop(make(&path, Place::Kept(Store::File)));
        let child = forked(|| {
            opened.iter().for_each(|schunk| read(schunk));
            // Super-chunks in memory are copies of the child; files are created or opened by the child.
            opened[..2].iter().for_each(|schunk| change(schunk));
            for place in [Place::Kept(Store::File), Place::Kept(Store::Directory)] {
                let mine = make(&own.with_extension(format!("{place:?}")), place);
                change(&mine);
                assert_ends_well(forked(|| {
                    read(&mine);
                    opened.iter().for_each(|schunk| read(schunk));
                }));
                change(&mine);
            }
            let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            change(&mine);
            // SAFETY: no arguments.
            unsafe { (Library::ours().blosc2_free_resources)() };
            opened.iter().for_each(|schunk| read(schunk));
            if round == 0 {
                // Inherited handles can be closed.
                opened.clear();
            }
        });
        if round > 0 {
            opened.iter().for_each(|schunk| read(schunk));
            assert_ends_well(child);
        } else {
            assert_ends_well(child);
        }
        opened.iter().for_each(|schunk| change(schunk));
        let theirs = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
        assert_eq!(theirs.nchunks(), NCHUNKS as i64 + 1);
        read(&theirs);
    }
}

/// Both processes append to the same file, each with a separate handle.
#[test]
fn both_append() {
    if part().is_none() {
        return join(vec![("the child", start(test_name!(), "fork", &[]))]);
    }
    let scratch = Scratch::new();
    for store in Store::ON_DISK {
        let path = scratch.fresh();
        drop(filled(Library::ours(), Place::Kept(store), &path, CODING, NCHUNKS, true));
        let before = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
        read(&before);
        let appends = || {
            let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            for _ in 0..30 {
                assert!(mine.append(&chunk(7)).is_ok());
            }
        };
        let child = forked(appends);
        appends();
        assert_ends_well(child);
        // A handle from before the fork reads all chunks.
        assert_eq!((before.refresh(), before.nchunks()), (1, NCHUNKS as i64 + 60));
        for n in NCHUNKS..NCHUNKS + 60 {
            assert!(before.decompress_into(n as i64, CHUNK * ITEM) == Ok(chunk(7)));
        }
        read(&before);
    }
}

/// One process replaces the first chunk by chunks of another size, the other one opens the file again and again.
#[test]
fn one_changes_one_opens() {
    if part().is_none() {
        return join(vec![("the child", start(test_name!(), "fork", &[]))]);
    }
    let scratch = Scratch::new();
    let mut random = Random::new(3);
    let noise = random.bytes(CHUNK * ITEM);
    for store in Store::ON_DISK {
        let path = scratch.fresh();
        drop(filled(Library::ours(), Place::Kept(store), &path, CODING, NCHUNKS, true));
        let chunks = [&noise, &chunk(0)].map(|plain| {
            compress(Library::ours(), &CODING.params(), plain, CHUNK * ITEM + 100).expect("a chunk")
        });
        let opener = forked(|| {
            let (begin, mut n) = (Instant::now(), 0);
            while begin.elapsed() < duration() {
                let schunk = SuperChunk::open_locking(Library::ours(), &path);
                let schunk = schunk.unwrap_or_else(|| panic!("{store:?}: no super-chunk after {n}"));
                assert_eq!(schunk.nchunks(), NCHUNKS as i64);
                n += 1;
            }
        });
        let is_over = || {
            // SAFETY: reads the state of a child of this process without reaping it; the struct consists of numbers.
            unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                assert_eq!(libc::waitid(libc::P_PID, opener as libc::id_t, &mut info, options), 0);
                info.si_pid() != 0
            }
        };
        let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
        for chunk in chunks.iter().cycle() {
            assert_eq!(mine.update_chunk(0, chunk), Ok(NCHUNKS as i64));
            if is_over() {
                break;
            }
        }
        assert_ends_well(opener);
    }
}

/// A fork while other threads are in calls: the child opens its own handles.
#[test]
fn while_other_threads_read() {
    if part().is_none() {
        return join(vec![("the child", start(test_name!(), "fork", &[]))]);
    }
    let scratch = Scratch::new();
    for place in Place::ALL {
        let path = scratch.fresh();
        let schunk = make(&path, place);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (schunk, over) = (&schunk, &over);
            for _ in 0..3 {
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        read(schunk);
                    }
                });
            }
            for _ in 0..5 {
                let own = scratch.fresh();
                let child = forked(|| {
                    if path.exists() {
                        read(&SuperChunk::open(Library::ours(), &path).expect("a super-chunk"));
                    }
                    change(&make(&own, place));
                });
                assert_ends_well(child);
            }
            over.store(true, Relaxed);
        });
    }
}
