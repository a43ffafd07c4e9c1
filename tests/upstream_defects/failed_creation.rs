//! Files that cannot be created completely, as on a full disk: the call returns an error, nothing is left at the path,
//! a file that was there keeps its contents, and a second call works (schunk.md 25, b2nd.md 10).
//!
//! As in `failed_writes`, the size limit of the process for files makes the writes fail.

use std::fs;
use std::path::Path;

use crate::checks::ours;
use crate::schunk_fixtures::{int32_bytes, int32_params};
use crate::support::array::ArraySpec;
use crate::support::child::{in_new_process, test_name};
use crate::support::files::with_file_size_limit;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

const STORES: [Store; 2] = [Store::File, Store::Directory];

fn noise(count: usize) -> Vec<u8> {
    let mut random = Random::new(5);
    int32_bytes((0..count).map(|_| random.next() as i32))
}

/// A super-chunk with three chunks and metalayers of both kinds.
fn filled(store: Store, path: &Path) -> SuperChunk {
    let schunk = SuperChunk::create(ours(), store, path, &int32_params());
    assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
    for _ in 0..3 {
        schunk.append(&noise(80)).expect("appended");
    }
    assert_eq!(schunk.vlmeta_add("variable", &[7; 30]), 0);
    schunk
}

/// Makes `create`, which returns whether it succeeded, fail at every `step`th byte of the files that it writes. After
/// each failure, `scratch` has no other entry than before, and `create` succeeds without the limit.
fn fail_at_each_size(what: &str, step: u64, mut create: impl FnMut(&Path) -> bool) {
    let scratch = ScratchDir::new();
    let entries = || fs::read_dir(scratch.path()).expect("a directory").count();
    let (mut failures, mut limit) = (0, 0);
    loop {
        let path = scratch.new_path();
        let before = entries();
        if with_file_size_limit(limit, || create(&path)) {
            break;
        }
        failures += 1;
        assert!(!path.exists(), "{what}, {limit} bytes may be written: the path exists");
        assert_eq!(entries(), before, "{what}, {limit} bytes may be written: other entries exist");
        assert!(create(&path), "{what}, {limit} bytes may be written: again");
        limit += step;
    }
    assert!(failures > 2, "{what}: {failures} failures");
}

#[test]
fn schunk_25_failed_creation_leaves_nothing() {
    in_new_process(test_name!(), || {
        for store in STORES {
            fail_at_each_size("create", 11, |path| {
                SuperChunk::try_create(ours(), store, path, &int32_params(), None).is_some()
            });
        }
    });
}

#[test]
fn schunk_25_failed_copy_leaves_nothing() {
    in_new_process(test_name!(), || {
        let schunk = filled(Store::Memory, Path::new(""));
        for store in STORES {
            fail_at_each_size("copy", 37, |path| schunk.copy_to(store, path, None).is_some());
        }
        fail_at_each_size("to_file", 37, |path| schunk.to_file(path).is_ok());
        let frame = filled(Store::MemoryFrame, Path::new(""));
        fail_at_each_size("to_file of a frame", 37, |path| frame.to_file(path).is_ok());
        fail_at_each_size("append_file", 37, |path| frame.append_file(path).is_ok());
    });
}

#[test]
fn b2nd_10_failed_creation_of_an_array_leaves_nothing() {
    in_new_process(test_name!(), || {
        let items = noise(60);
        let spec = ArraySpec::new(&[6, 10], &[3, 5], &[2, 5], 4);
        let array = spec.create_from_buffer(ours(), &items);
        for store in STORES {
            let at = |path: &Path| spec.clone().with_store(store, path);
            let other =
                |path: &Path| ArraySpec { chunkshape: vec![2, 10], blockshape: vec![2, 10], ..at(path) };
            let wide = |path: &Path| ArraySpec { shape: vec![12, 10], ..at(path) };
            fail_at_each_size("zeros", 37, |path| at(path).context(ours()).zeros().0 == 0);
            fail_at_each_size("from_cbuffer", 37, |path| {
                at(path).context(ours()).create_from_buffer(&items).0 == 0
            });
            fail_at_each_size("copy", 37, |path| at(path).context(ours()).copy(&array).0 == 0);
            fail_at_each_size("copy to other chunks", 37, |path| {
                other(path).context(ours()).copy(&array).0 == 0
            });
            fail_at_each_size("get_slice", 37, |path| {
                at(path).context(ours()).get_slice(&array, &[1, 2], &[6, 9]).0 == 0
            });
            fail_at_each_size("concatenate", 37, |path| {
                wide(path).context(ours()).concatenate(&array, &array, 0).0 == 0
            });
        }
        fail_at_each_size("save", 37, |path| array.save(path) == 0);
    });
}

/// `to_file` of a frame in memory replaces a file: after a failure the old file is there. The permissions, a link to
/// the file and a second name of it stay.
#[test]
fn schunk_25_failed_to_file_keeps_the_old_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    in_new_process(test_name!(), || {
        let frame = filled(Store::MemoryFrame, Path::new(""));
        let scratch = ScratchDir::new();
        let (path, link, name) = (scratch.new_path(), scratch.new_path(), scratch.new_path());
        let old = vec![3; 5000];
        fs::write(&path, &old).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink(&path, &link).expect("a link");
        let entries = || fs::read_dir(scratch.path()).expect("a directory").count();
        let count = entries();
        for limit in (0..900).step_by(50) {
            assert!(with_file_size_limit(limit, || frame.to_file(&link)).is_err(), "{limit}");
            assert!(fs::read(&path).expect("a file") == old, "{limit}: the old file has changed");
            assert_eq!(entries(), count, "{limit}");
        }
        let len = frame.to_file(&link).expect("written");
        assert!(link.is_symlink());
        let metadata = fs::metadata(&path).expect("a file");
        assert_eq!((metadata.len() as i64, metadata.mode() & 0o7777), (len, 0o640));
        let new = fs::read(&path).expect("a file");
        assert!(SuperChunk::open(ours(), &path).is_some());
        fs::write(&path, &old).expect("a file");
        fs::hard_link(&path, &name).expect("a second name");
        assert_eq!(frame.to_file(&path), Ok(len));
        assert!(fs::read(&name).expect("a file") == new, "the second name has another file");
    });
}

#[test]
fn schunk_25_failed_append_file_keeps_the_old_file() {
    in_new_process(test_name!(), || {
        let frame = filled(Store::MemoryFrame, Path::new(""));
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let first = frame.to_file(&path).expect("written");
        let old = fs::read(&path).expect("a file");
        for limit in (0..900).step_by(50) {
            let failed = with_file_size_limit(first as u64 + limit, || frame.append_file(&path));
            assert!(failed.is_err(), "{limit}");
            assert!(fs::read(&path).expect("a file") == old, "{limit}: the old file has changed");
        }
        assert_eq!(frame.append_file(&path), Ok(first));
        assert!(SuperChunk::open_offset(ours(), &path, first).is_some());
    });
}
