//! Forks: child and parent continue with the open super-chunks independently.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use crate::children::{child_part, join_children, start_child};
use crate::content::{
    BLOCKSIZE, CHUNK_NITEMS, CodecSettings, ITEM_SIZE, NOTE, SharedSchunk, StorageVariant, chunk,
    create_filled, duration, items, note_content, open_mapped, open_shared,
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

#[track_caller]
pub fn assert_exits_with_0(pid: libc::pid_t) {
    let mut status = -1;
    // SAFETY: a child of this process; `status` is only written.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child (14: it hung)");
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

/// A fork while other threads read through the same handles, which were opened a moment before: the child reads the same
/// data, or gets an error for a handle that a thread of its parent held at the fork. It waits for no thread of the parent.
#[test]
fn child_of_a_fork_during_reads_can_use_inherited_handles() {
    if child_part().is_none() {
        return join_children(vec![("the child", start_child(test_name!(), "fork", &[]))]);
    }
    const NROUNDS: usize = 30;
    let (library, scratch) = (Library::ours(), ScratchDir::new());
    let [file, directory] = [Store::File, Store::Directory].map(|store| {
        let path = scratch.new_path();
        let variant = StorageVariant::Unmapped(store);
        drop(create_filled(library, variant, &path, CODEC_SETTINGS, NCHUNKS, true));
        path
    });
    let starts = || (0..NCHUNKS * CHUNK_NITEMS - 10).step_by(1009);
    let read = |schunk: &SuperChunk, at: usize| {
        let got = schunk.get_slice(at as i64, at as i64 + 10, 10 * ITEM_SIZE);
        got.inspect(|got| assert!(*got == items(at, 10), "items at {at}"))
    };
    for _ in 0..NROUNDS {
        let handles = [
            open_shared(library, &file),
            open_shared(library, &directory),
            open_mapped(library, &file, c"r"),
            // A private mapping.
            open_mapped(library, &file, c"c"),
        ];
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for schunk in &handles {
                let (over, read) = (&over, &read);
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        starts().for_each(|at| assert!(read(schunk, at).is_ok()));
                    }
                });
            }
            let child = run_in_fork(|| {
                for schunk in &handles {
                    let failed = starts().find_map(|at| read(schunk, at).err());
                    assert!(failed.is_none_or(|code| code == -1), "{failed:?}");
                }
                check_contents(&open_shared(library, &file));
                check_contents(&open_shared(library, &directory));
            });
            assert_exits_with_0(child);
            over.store(true, Relaxed);
        });
        assert_exits_with_0(run_in_fork(|| handles.iter().for_each(|schunk| check_contents(schunk))));
    }
}
