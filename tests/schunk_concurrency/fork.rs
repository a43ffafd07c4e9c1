//! Forks: child and parent continue with the open super-chunks independently.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use crate::children::{child_part, join_children, start_child};
use crate::content::{
    BLOCKSIZE, CHUNK_NITEMS, CodecSettings, ITEM_SIZE, NOTE, SharedSchunk, StorageVariant, chunk,
    create_filled, duration, items, map, note_content, open,
};
use crate::support::calls::compress;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

const NCHUNKS: usize = 5;
const CODEC_SETTINGS: CodecSettings = CodecSettings { codec: 5, delta: false, nthreads: 4 };

/// Forks; the child runs `work` and exits with its result. An alarm ends a child that hangs.
pub fn run_in_fork(work: impl FnOnce()) -> libc::pid_t {
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

/// Waits until the child ends. Returns its status: 14 if it hung.
fn wait_for(pid: libc::pid_t) -> libc::c_int {
    let mut status = -1;
    // SAFETY: a child of this process; `status` is only written.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

#[track_caller]
pub fn assert_exits_with_0(pid: libc::pid_t) {
    assert_eq!(wait_for(pid), 0, "the child (14: it hung)");
}

fn check_contents(schunk: &SuperChunk) {
    for n in 0..NCHUNKS {
        assert!(schunk.decompress_into(n as i64, CHUNK_NITEMS * ITEM_SIZE) == Ok(chunk(n)));
    }
    let (start, stop) = (CHUNK_NITEMS / 2, 3 * CHUNK_NITEMS + 7);
    let got = schunk.get_slice(start as i64, stop as i64, (stop - start) * ITEM_SIZE);
    assert!(got == Ok(items(start, stop - start)));
    assert_eq!(schunk.get_slice(77, 78, ITEM_SIZE), Ok(items(77, 1)));
    assert_eq!(
        schunk.get_sparse(&[1, 20_000, 5], 3 * ITEM_SIZE),
        Ok([1, 20_000, 5].map(crate::content::item).concat())
    );
    assert_eq!(schunk.vlmeta_get(NOTE), Ok(note_content(0)));
    assert_eq!(schunk.blocksize(), BLOCKSIZE);
}

fn change_and_check(schunk: &SuperChunk) {
    let nchunks = schunk.nchunks() as usize;
    assert_eq!(schunk.append(&chunk(nchunks)), Ok(nchunks as i64 + 1));
    assert_eq!(schunk.set_slice(5, CHUNK_NITEMS as i64 + 5, &items(5, CHUNK_NITEMS)), 0);
    assert_eq!(schunk.vlmeta_update(NOTE, &note_content(0)), 1);
    assert!(schunk.decompress_into(nchunks as i64, CHUNK_NITEMS * ITEM_SIZE) == Ok(chunk(nchunks)));
    check_contents(schunk);
}

/// Creates a super-chunk; compression uses four threads, too.
fn create_threaded(path: &Path, variant: StorageVariant) -> SharedSchunk {
    let schunk = create_filled(Library::ours(), variant, path, CODEC_SETTINGS, NCHUNKS, true);
    let params = crate::support::calls::Params { nthreads: 4, ..CODEC_SETTINGS.params() };
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
fn parent_and_child_use_inherited_schunks_independently() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "fork", &[]))]);
    }
    let scratch = ScratchDir::new();
    for round in 0..3 {
        let mut opened: Vec<_> =
            StorageVariant::ALL.map(|variant| create_threaded(&scratch.new_path(), variant)).into();
        // The workers are started, and handles and caches are filled.
        opened.iter().for_each(|schunk| check_contents(schunk));
        let (own, path) = (scratch.new_path(), scratch.new_path());
        drop(create_threaded(&path, StorageVariant::Unmapped(Store::File)));
        let child = run_in_fork(|| {
            opened.iter().for_each(|schunk| check_contents(schunk));
            // Super-chunks in memory are copies of the child; files are created or opened by the child.
            opened[..2].iter().for_each(|schunk| change_and_check(schunk));
            for variant in [StorageVariant::Unmapped(Store::File), StorageVariant::Unmapped(Store::Directory)]
            {
                let mine = create_threaded(&own.with_extension(format!("{variant:?}")), variant);
                change_and_check(&mine);
                assert_exits_with_0(run_in_fork(|| {
                    check_contents(&mine);
                    opened.iter().for_each(|schunk| check_contents(schunk));
                }));
                change_and_check(&mine);
            }
            let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            change_and_check(&mine);
            // SAFETY: no arguments.
            unsafe { (Library::ours().blosc2_free_resources)() };
            opened.iter().for_each(|schunk| check_contents(schunk));
            if round == 0 {
                // Inherited handles can be closed.
                opened.clear();
            }
        });
        if round > 0 {
            opened.iter().for_each(|schunk| check_contents(schunk));
            assert_exits_with_0(child);
        } else {
            assert_exits_with_0(child);
        }
        opened.iter().for_each(|schunk| change_and_check(schunk));
        let theirs = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
        assert_eq!(theirs.nchunks(), NCHUNKS as i64 + 1);
        check_contents(&theirs);
    }
}

/// Both processes append to the same file, each with a separate handle.
#[test]
fn appends_of_parent_and_child_are_all_kept() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "fork", &[]))]);
    }
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        drop(create_filled(
            Library::ours(),
            StorageVariant::Unmapped(store),
            &path,
            CODEC_SETTINGS,
            NCHUNKS,
            true,
        ));
        let before = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
        check_contents(&before);
        let appends = || {
            let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
            for _ in 0..30 {
                assert!(mine.append(&chunk(7)).is_ok());
            }
        };
        let child = run_in_fork(appends);
        appends();
        assert_exits_with_0(child);
        // A handle from before the fork reads all chunks.
        assert_eq!((before.refresh(), before.nchunks()), (1, NCHUNKS as i64 + 60));
        for n in NCHUNKS..NCHUNKS + 60 {
            assert!(before.decompress_into(n as i64, CHUNK_NITEMS * ITEM_SIZE) == Ok(chunk(7)));
        }
        check_contents(&before);
    }
}

/// One process replaces the first chunk by chunks of another size, the other one opens the file again and again.
#[test]
fn opening_a_frame_that_another_process_updates_succeeds() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "fork", &[]))]);
    }
    let scratch = ScratchDir::new();
    let mut random = Random::new(3);
    let noise = random.bytes(CHUNK_NITEMS * ITEM_SIZE);
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        drop(create_filled(
            Library::ours(),
            StorageVariant::Unmapped(store),
            &path,
            CODEC_SETTINGS,
            NCHUNKS,
            true,
        ));
        let chunks = [&noise, &chunk(0)].map(|plain| {
            compress(Library::ours(), &CODEC_SETTINGS.params(), plain, CHUNK_NITEMS * ITEM_SIZE + 100)
                .expect("a chunk")
        });
        let opener = run_in_fork(|| {
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
        assert_exits_with_0(opener);
    }
}

/// A fork while other threads are in calls: the child opens its own handles.
#[test]
fn child_of_a_fork_during_reads_can_use_its_own_handles() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "fork", &[]))]);
    }
    let scratch = ScratchDir::new();
    for variant in StorageVariant::ALL {
        let path = scratch.new_path();
        let schunk = create_threaded(&path, variant);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (schunk, over) = (&schunk, &over);
            for _ in 0..3 {
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        check_contents(schunk);
                    }
                });
            }
            for _ in 0..5 {
                let own = scratch.new_path();
                let child = run_in_fork(|| {
                    if path.exists() {
                        check_contents(&SuperChunk::open(Library::ours(), &path).expect("a super-chunk"));
                    }
                    change_and_check(&create_threaded(&own, variant));
                });
                assert_exits_with_0(child);
            }
            over.store(true, Relaxed);
        });
    }
}

/// At each fork, threads of the parent look up and replace a handle's open file and kept checksums, open files, and map and
/// unmap them. A child reads through the inherited handle and through its own.
#[test]
fn children_read_while_threads_of_the_parent_read_and_map_files() {
    /// More than the chunks whose checksums a frame keeps.
    const NCHUNKS: usize = 100;
    /// Long enough for checksums of their parts.
    const NITEMS: usize = 20_000;
    const FORKS: usize = 1000;
    if child_part().is_none() {
        let defaults = [("BLOSC2_DURABILITY", "kill"), ("BLOSC2_CHECKSUMS", "on")];
        return join_children(vec![("the child", start_child(test_name!(), "fork", &defaults))]);
    }
    let scratch = ScratchDir::new();
    // Stored chunks.
    let noise = Random::new(5).bytes(NCHUNKS * NITEMS * ITEM_SIZE);
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        let variant = StorageVariant::Unmapped(store);
        let schunk = create_filled(Library::ours(), variant, &path, CODEC_SETTINGS, 0, true);
        for chunk in noise.chunks(NITEMS * ITEM_SIZE) {
            assert!(schunk.append(chunk).is_ok());
        }
        drop(schunk);
        // A handle that has not written the chunks checks them.
        let schunk = open(Library::ours(), &path);
        let read_items = |schunk: &SuperChunk, nchunks| {
            for n in 0..nchunks {
                let start = n * NITEMS + 7;
                let found = schunk.get_slice(start as i64, start as i64 + 1, ITEM_SIZE);
                assert_eq!(found.as_deref(), Ok(&noise[start * ITEM_SIZE..][..ITEM_SIZE]), "chunk {n}");
            }
        };
        let read_anew = || match store {
            Store::File => read_items(&map(Library::ours(), &path, c"c"), 1),
            _ => read_items(&open(Library::ours(), &path), 1),
        };
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (schunk, over) = (&schunk, &over);
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    read_items(schunk, NCHUNKS);
                }
            });
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    read_anew();
                }
            });
            let read_in_fork = || {
                run_in_fork(|| {
                    read_items(schunk, 2);
                    read_anew();
                })
            };
            let failed = (0..FORKS).map(|_| wait_for(read_in_fork())).find(|status| *status != 0);
            over.store(true, Relaxed);
            assert_eq!(failed, None, "the status of a child (14: it hung)");
        });
    }
}
