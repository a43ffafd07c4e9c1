//! `blosc2x_verify` and `blosc2x_repair` when memory runs out: the code is -4, and nothing is reported as damaged or
//! left out.

use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

use blosc2::abi::blosc2x_damage;

use crate::injection::with_one_failed_allocation;
use crate::support::array::ArraySpec;
use crate::support::calls::Params;
use crate::support::exported::{blosc2x_repair, blosc2x_verify};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

const MEMORY_ALLOC: i64 = -4;
/// Size of the smallest allocations that fail, in bytes. Paths are smaller, and so are the tables of codecs, which have up
/// to 64 KiB and whose allocation does not fail.
const MIN_LEN: usize = (64 << 10) + 1;

/// Counts a report.
unsafe extern "C" fn count(_: *const blosc2x_damage, count: *mut c_void) -> c_int {
    // SAFETY: the number that the call was made with.
    unsafe { *count.cast::<usize>() += 1 };
    0
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("no NUL")
}

/// Makes a super-chunk of six chunks with metalayers of both kinds, and an array.
fn make(scratch: &ScratchDir, store: Store) -> Vec<std::path::PathBuf> {
    let random = &mut Random::new(3);
    let path = scratch.new_path();
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), store, &path, &params);
    assert_eq!(schunk.meta_add("fixed", &random.bytes(70_000)), 0);
    for _ in 0..6 {
        schunk.append(&random.bytes(80_000)).expect("appended");
    }
    assert_eq!(schunk.vlmeta_add("variable", &random.bytes(80_000)), 0);
    drop(schunk);
    let array = scratch.new_path();
    let spec = ArraySpec::new(&[400, 300], &[200, 150], &[50, 30], 4).with_store(store, &array);
    drop(spec.create_from_buffer(Library::ours(), &random.bytes(spec.nbytes())));
    vec![path, array]
}

/// Calls `check` with each allocation failing in turn; the call reports the damaged parts to `count`. It returns
/// `expected`, or -4 and reports nothing that it does not report with memory.
fn for_each_allocation(expected: i64, damages: usize, check: impl Fn(*mut c_void) -> i64) {
    for succeeding in 0.. {
        let mut reports = 0usize;
        let user_data = (&raw mut reports).cast();
        let (code, has_failed) = with_one_failed_allocation(succeeding, MIN_LEN, || check(user_data));
        assert!(
            reports <= damages && (code == expected || code == MEMORY_ALLOC),
            "{succeeding}: {code}, {reports}"
        );
        if !has_failed {
            assert!(succeeding > 0 && code == expected && reports == damages);
            return;
        }
    }
}

#[test]
fn a_lack_of_memory_is_no_damage() {
    let scratch = ScratchDir::in_memory();
    for store in Store::ON_DISK {
        for path in make(&scratch, store) {
            let (source, destination) = (c_path(&path), scratch.new_path());
            // SAFETY: terminated paths, no options, and a number that outlives the call.
            for_each_allocation(0, 0, |user_data| unsafe {
                blosc2x_verify(source.as_ptr(), null(), Some(count), user_data)
            });
            let to = c_path(&destination);
            let expected = SuperChunk::open(Library::ours(), &path).expect("a frame").nchunks();
            for_each_allocation(expected, 0, |user_data| {
                assert!(!destination.exists());
                // SAFETY: as above.
                let code = unsafe { blosc2x_repair(source.as_ptr(), to.as_ptr(), Some(count), user_data) };
                assert_eq!(destination.exists(), code >= 0);
                if code >= 0 && destination.is_dir() {
                    std::fs::remove_dir_all(&destination).expect("a directory");
                } else if code >= 0 {
                    std::fs::remove_file(&destination).expect("a file");
                }
                code
            });
            let names =
                std::fs::read_dir(scratch.path()).expect("a directory").map(|entry| entry.expect("a file"));
            assert!(names.into_iter().all(|entry| !entry.path().to_string_lossy().ends_with(".tmp")));
        }
    }
}

/// The repair of a file without its index scans it, and that of a damaged file reports the same parts.
#[test]
fn a_lack_of_memory_loses_no_chunk_without_the_index() {
    let scratch = ScratchDir::in_memory();
    let path = make(&scratch, Store::File).remove(0);
    let mut bytes = std::fs::read(&path).expect("a frame");
    let len = bytes.len();
    bytes.truncate(len - 80_400);
    std::fs::write(&path, bytes).expect("a frame");
    let (source, destination) = (c_path(&path), scratch.new_path());
    let to = c_path(&destination);
    let repair = |user_data| {
        // SAFETY: terminated paths, and a number that outlives the call.
        let code = unsafe { blosc2x_repair(source.as_ptr(), to.as_ptr(), Some(count), user_data) };
        if code >= 0 {
            std::fs::remove_file(&destination).expect("a file");
        }
        code
    };
    let mut damages = 0usize;
    let saved = repair((&raw mut damages).cast());
    assert!(saved > 3 && damages > 1, "{saved}, {damages}");
    for_each_allocation(saved, damages, repair);
}
