//! A leading `file:///` of a path is left out by every function that takes a path (frame.md 3.3): the same string names
//! the same files everywhere.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use crate::checks::{data, ours};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};
use crate::support::verify;

/// Returns the URL of an absolute path: three slashes before the path.
fn url_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("file:///{}", path.to_str().expect("UTF-8")))
}

fn rename(old: &Path, new: &Path) -> i32 {
    let (old, new) = (c_path(old), c_path(new));
    // SAFETY: terminated paths, which are only read.
    unsafe { (ours().blosc2_rename_urlpath)(old.as_ptr().cast_mut(), new.as_ptr().cast_mut()) }
}

fn remove(path: &Path) -> i32 {
    // SAFETY: a terminated path.
    unsafe { (ours().blosc2_remove_urlpath)(c_path(path).as_ptr()) }
}

fn remove_dir(path: &Path) -> i32 {
    // SAFETY: a terminated path.
    unsafe { (ours().blosc2_remove_dir)(c_path(path).as_ptr()) }
}

#[test]
fn frame_3_3_file_urls_name_the_same_files_in_every_function() {
    let scratch = ScratchDir::new();
    let src = data(Data::Ramp, 4, 4000);
    for store in Store::ON_DISK {
        let (plain, moved) = (scratch.new_path(), scratch.new_path());
        let (url, moved_url) = (url_of(&plain), url_of(&moved));
        let schunk = SuperChunk::create(ours(), store, &url, &Params { typesize: 4, ..Params::default() });
        assert_eq!(schunk.append(&src), Ok(1));
        drop(schunk);
        assert!(plain.exists(), "{store:?}");
        for path in [&plain, &url] {
            let opened = SuperChunk::open(ours(), path).expect("a super-chunk");
            assert_eq!(opened.decompress(0).as_ref(), Ok(&src), "{store:?}");
            assert_eq!(verify::verify_at(path, 0, 1), (0, Vec::new()), "{store:?}");
        }
        assert_eq!(rename(&url, &moved_url), 0, "{store:?}");
        assert!(!plain.exists() && moved.exists(), "{store:?}");
        assert_eq!(rename(&moved, &url), 0, "{store:?}");
        assert!(plain.exists() && !moved.exists(), "{store:?}");
        assert_eq!(rename(&moved_url, &url), -1, "{store:?}");

        let opened = SuperChunk::open(ours(), &url).expect("a super-chunk");
        let (file, appended) = (scratch.new_path(), scratch.new_path());
        assert!(opened.to_file(&url_of(&file)).is_ok() && file.exists(), "{store:?}");
        assert_eq!(opened.append_file(&url_of(&appended)), Ok(0), "{store:?}");
        let offset = opened.append_file(&url_of(&appended)).expect("an offset");
        for path in [&appended, &url_of(&appended)] {
            let second = SuperChunk::open_offset(ours(), path, offset).expect("a super-chunk");
            assert_eq!(second.decompress(0).as_ref(), Ok(&src), "{store:?}");
        }
        drop(opened);
        if store == Store::Directory {
            let copy = scratch.new_path();
            std::fs::create_dir(&copy).expect("a directory");
            std::fs::write(copy.join("a"), b"a").expect("a file");
            assert_eq!(remove_dir(&url_of(&copy)), 0);
            assert!(!copy.exists());
            assert_eq!(remove_dir(Path::new("file:///")), -12, "an empty path");
        }
        for path in [&url, &url_of(&file), &url_of(&appended)] {
            assert_eq!(remove(path), 0, "{store:?}");
        }
        assert!(!plain.exists() && !file.exists() && !appended.exists(), "{store:?}");
    }
}

#[test]
fn frame_3_3_file_urls_name_the_same_arrays() {
    let scratch = ScratchDir::new();
    let spec = ArraySpec::new(&[50], &[20], &[10], 4);
    let items = data(Data::Ramp, 4, spec.nbytes());
    let array = spec.create_from_buffer(ours(), &items);
    let (saved, appended) = (scratch.new_path(), scratch.new_path());
    assert_eq!(array.save(&url_of(&saved)), 0);
    assert_eq!(array.save_append(&url_of(&appended)), 0);
    for path in [&saved, &appended] {
        for path in [path, &url_of(path)] {
            let (code, opened) = Array::open(ours(), path);
            assert_eq!(code, 0);
            assert_eq!(opened.expect("an array").to_cbuffer().as_ref(), Ok(&items));
        }
        assert_eq!(remove(&url_of(path)), 0);
        assert!(!path.exists());
    }
}

/// Only the exact prefix is left out, as by the functions that open frames: other schemes are names of files.
#[test]
fn frame_3_3_other_prefixes_are_parts_of_names() {
    let scratch = ScratchDir::new();
    let file = scratch.new_path();
    std::fs::write(&file, b"content").expect("a file");
    let text = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes()).expect("a path");
    for prefix in ["file://", "FILE:///", "file:", "file:///file:///"] {
        let other = PathBuf::from(format!("{prefix}{}", file.to_str().expect("UTF-8")));
        assert_eq!(remove(&other), 0, "nothing exists at {:?}", text(&other));
        assert!(file.exists(), "{prefix}");
    }
}
