//! New files that cannot have a temporary name first: the name is too long for one, or a link to a missing file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::levels::{DURABILITY, Level};
use crate::processes::{self, child_part, report};
use crate::support::calls::Params;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 300;

#[track_caller]
fn create_and_read(store: Store, path: &Path) {
    let what = format!("{store:?} {}", path.display());
    let schunk = SuperChunk::try_create(Library::ours(), store, path, &Params::default(), None);
    let schunk = schunk.unwrap_or_else(|| panic!("{what}: not created"));
    schunk.append(&[7; 1000]).expect("appended");
    drop(schunk);
    for library in [Some(Library::ours()), Library::reference()].into_iter().flatten() {
        let read = SuperChunk::open(library, path).map(|schunk| schunk.decompress(0));
        assert_eq!(read, Some(Ok(vec![7; 1000])), "{what}: {}", library.name);
    }
    let again = SuperChunk::try_create(Library::ours(), store, path, &Params::default(), None);
    assert!(again.is_none(), "{what}: created twice");
}

fn create_all() {
    let scratch = ScratchDir::new();
    let directory = scratch.new_path();
    fs::create_dir(&directory).expect("a directory");
    // 255 bytes are the limit of a name.
    create_and_read(Store::File, &directory.join("x".repeat(250)));
    create_and_read(Store::Directory, &directory.join("y".repeat(250)));
    symlink(directory.join("target"), directory.join("link")).expect("a link");
    create_and_read(Store::File, &directory.join("link"));
    assert!(directory.join("target").is_file());
    let names = fs::read_dir(&directory).expect("a directory");
    let left: Vec<_> =
        names.filter_map(|entry| entry.expect("an entry").file_name().into_string().ok()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".tmp")), "{left:?}");
    report("ok");
}

#[test]
fn files_that_cannot_have_a_temporary_name_are_created() {
    if child_part().is_some() {
        return create_all();
    }
    for level in Level::ALL {
        let variables = [(DURABILITY, level.name())];
        println!(
            "{variables:?}: {}",
            processes::start(test_name!(), "creator", &variables, SECONDS_LIMIT).join()
        );
    }
}
