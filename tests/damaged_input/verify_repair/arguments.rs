//! Arguments, results and callbacks of the two functions.

use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;

use blosc2::abi::{blosc2x_damage, blosc2x_verify_options};

use super::{PART_CHUNK, files_at};
use crate::support::calls::Params;
use crate::support::child::{in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk, c_path};
use crate::support::verify::{functions, repair, repair_stopping, verify, verify_at, verify_stopping};

const SIZE: u32 = size_of::<blosc2x_verify_options>() as u32;

/// Makes a frame of five chunks, of which three are damaged.
fn damaged(store: Store, scratch: &ScratchDir) -> PathBuf {
    let path = scratch.new_path();
    let schunk =
        SuperChunk::create(Library::ours(), store, &path, &Params { typesize: 4, ..Params::default() });
    let random = &mut Random::new(1);
    for _ in 0..5 {
        schunk.append(&random.bytes(400)).expect("appended");
    }
    drop(schunk);
    if store == Store::Directory {
        for n in [1, 2, 4] {
            fs::write(path.join(format!("0000000{n}.chunk")), [0xFF; 100]).expect("a file");
        }
    } else {
        let mut bytes = fs::read(&path).expect("a frame");
        for n in [1, 2, 4] {
            bytes[97 + 432 * n..][..16].fill(0xFF);
        }
        fs::write(&path, bytes).expect("a frame");
    }
    path
}

#[test]
fn null_and_invalid_options_are_refused() {
    let scratch = ScratchDir::new();
    let path = c_path(&damaged(Store::File, &scratch));
    let saved = c_path(&scratch.new_path());
    let functions = functions();
    let null = ptr::null_mut::<c_void>();
    let with_options = |size, nthreads, offset| {
        let options = blosc2x_verify_options { size, nthreads, offset };
        // SAFETY: a terminated path and options of the stated size.
        unsafe { (functions.blosc2x_verify)(path.as_ptr(), &options, None, null) }
    };
    assert_eq!(with_options(SIZE, 0, 0), 3);
    assert_eq!(with_options(SIZE, 2, 0), 3);
    for (size, nthreads, offset) in [(0, 0, 0), (SIZE - 1, 0, 0), (SIZE, -1, 0), (SIZE, 0, -1)] {
        assert_eq!(with_options(size, nthreads, offset), -12, "{size} {nthreads} {offset}");
    }
    // SAFETY: NULL or terminated paths; a report function is optional.
    unsafe {
        assert_eq!((functions.blosc2x_verify)(path.as_ptr(), ptr::null(), None, null), 3);
        assert_eq!((functions.blosc2x_verify)(ptr::null(), ptr::null(), None, null), -12);
        assert_eq!((functions.blosc2x_repair)(ptr::null(), saved.as_ptr(), None, null), -12);
        assert_eq!((functions.blosc2x_repair)(path.as_ptr(), ptr::null(), None, null), -12);
        assert_eq!((functions.blosc2x_repair)(path.as_ptr(), saved.as_ptr(), None, null), 2);
    }
}

/// Later versions of the struct are longer; this version reads its own fields.
#[test]
fn longer_options_are_accepted() {
    #[repr(C)]
    struct Longer {
        known: blosc2x_verify_options,
        more: [u64; 3],
    }
    let scratch = ScratchDir::new();
    let path = c_path(&damaged(Store::File, &scratch));
    let known = blosc2x_verify_options { size: size_of::<Longer>() as u32, nthreads: 1, offset: 0 };
    let options = Longer { known, more: [u64::MAX; 3] };
    assert!(options.more[0] > 0);
    // SAFETY: a terminated path and options of the stated size.
    let count = unsafe {
        (functions().blosc2x_verify)(path.as_ptr(), ptr::from_ref(&options).cast(), None, ptr::null_mut())
    };
    assert_eq!(count, 3);
}

#[test]
fn a_missing_path_and_a_file_without_a_frame_are_errors() {
    let scratch = ScratchDir::new();
    let (missing, saved) = (scratch.new_path(), scratch.new_path());
    assert_eq!(verify(&missing), (-15, vec![]));
    assert_eq!(repair(&missing, &saved), (-15, vec![]));
    let directory = scratch.new_path();
    fs::create_dir(&directory).expect("a directory");
    assert_eq!(verify(&directory), (-15, vec![]));
    assert_eq!(repair(&directory, &saved), (-15, vec![]));
    for text in [&b""[..], b"text", &[b'x'; 1000], &[0; 5000]] {
        let path = scratch.new_path();
        fs::write(&path, text).expect("a file");
        let (code, reports) = verify(&path);
        assert!(code < 0 && reports.is_empty(), "{code} {reports:?}");
        assert!(repair(&path, &saved).0 < 0);
    }
    assert!(!saved.exists());
    // Beyond the end of the file.
    assert_eq!(verify_at(&damaged(Store::File, &scratch), 1 << 40, 0).0, -13);
}

#[test]
fn an_existing_destination_is_not_overwritten() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = damaged(store, &scratch);
        let (file, directory) = (scratch.new_path(), scratch.new_path());
        fs::write(&file, b"some text").expect("a file");
        fs::create_dir(&directory).expect("a directory");
        for destination in [&file, &directory, &path] {
            assert_eq!(repair(&path, destination), (-15, vec![]), "{}", destination.display());
        }
        #[cfg(unix)]
        {
            let link = scratch.new_path();
            std::os::unix::fs::symlink("/nowhere", &link).expect("a link");
            assert_eq!(repair(&path, &link), (-15, vec![]));
        }
        assert_eq!(fs::read(&file).expect("a file"), b"some text");
        assert_eq!(repair(&path, Path::new("/nowhere/at/all")).0, -15);
    }
}

/// Another value than 0 ends the call: a negative one is its result.
#[test]
fn the_report_function_can_end_the_call() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = damaged(store, &scratch);
        let before = files_at(&path);
        for (result, code) in [(-77, -77), (-1, -1), (1, -1), (i32::MIN, i64::from(i32::MIN))] {
            let (found, reports) = verify_stopping(&path, result);
            assert_eq!((found, reports.len(), reports[0].nchunk), (code, 1, 1));
            let saved = scratch.new_path();
            let (found, reports) = repair_stopping(&path, &saved, result);
            assert_eq!((found, reports.len(), reports[0].nchunk), (code, 1, 1));
            assert!(!saved.exists());
        }
        assert_eq!(files_at(&path), before);
        let leftovers = fs::read_dir(scratch.path()).expect("a directory").filter(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"))
        });
        assert_eq!(leftovers.count(), 0, "temporary files");
    }
}

/// The struct and the text are valid during the call; `user_data` is passed on.
#[test]
fn the_report_has_all_fields() {
    unsafe extern "C" fn count_chunk(damage: *const blosc2x_damage, user_data: *mut c_void) -> i32 {
        // SAFETY: the library passes a valid struct, and the pointer of the caller.
        unsafe {
            assert_eq!(((*damage).part, (*damage).length >= -1), (PART_CHUNK, true));
            *user_data.cast::<i64>() += 10 + (*damage).nchunk;
        }
        0
    }
    let scratch = ScratchDir::new();
    let path = damaged(Store::File, &scratch);
    let mut sum = 0i64;
    // SAFETY: a terminated path, and a number that the function adds to.
    let count = unsafe {
        (functions().blosc2x_verify)(
            c_path(&path).as_ptr(),
            ptr::null(),
            Some(count_chunk),
            ptr::from_mut(&mut sum).cast(),
        )
    };
    assert_eq!((count, sum), (3, 37));
    let (_, reports) = verify(&path);
    assert_eq!(reports[1].offset, 97 + 432 * 2);
    assert!(reports.iter().all(|damage| damage.cause == -11 && damage.message.contains("expected")));
}

#[test]
fn paths_may_have_a_scheme_or_a_slash_at_the_end() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = damaged(store, &scratch);
        let with_scheme = PathBuf::from(format!("file:///{}", path.display()));
        assert_eq!(verify(&with_scheme).0, 3);
        let saved = scratch.new_path();
        let slash = if store == Store::Directory { "/" } else { "" };
        let destination = PathBuf::from(format!("file:///{}{slash}", saved.display()));
        assert_eq!(repair(&with_scheme, &destination).0, 2);
        assert_eq!((saved.is_dir(), verify(&saved).0), (store == Store::Directory, 0));
    }
}

/// The source may be read-only.
#[cfg(unix)]
#[test]
fn a_source_without_write_permission_is_repaired() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = ScratchDir::new();
    let path = damaged(Store::Directory, &scratch);
    let before = read_files(&path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).expect("permissions");
    let saved = scratch.new_path();
    assert_eq!(repair(&path, &saved).0, 2);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    assert_eq!(read_files(&path), before);
}

/// With locking between processes, a check waits for writers of other handles.
#[test]
fn the_lock_between_processes_is_taken() {
    in_new_process_with(test_name!(), &[("BLOSC_LOCKING", "1")], || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = SuperChunk::create(Library::ours(), Store::File, &path, &Params::default());
        schunk.append(&[1; 800]).expect("appended");
        assert_eq!(schunk.lock(), 0);
        let checked = std::thread::spawn({
            let path = path.clone();
            move || verify(&path)
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(!checked.is_finished(), "the check did not wait");
        assert_eq!(schunk.unlock(), 0);
        assert_eq!(checked.join().expect("no panic"), (0, vec![]));
    });
}
