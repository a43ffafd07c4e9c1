//! Frames whose bytes differ from those that our library writes: the first change adds the checksums of the bytes that
//! are there.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{has_flag, index_file, with_checksums};
use crate::processes::report;
use crate::releases::library::Release;
use crate::releases::schunk_model::{Change, Model};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// Offset of a byte in the section of the metalayers that readers ignore: the length of the list of names.
const IGNORED_BYTE: u64 = 90;

/// Makes each change of a frame that `make` has created without checksums, at the level and with the checksums of this
/// process.
fn change_each(store: Store, what: &str, make: &dyn Fn(&Path) -> Model) {
    let scratch = ScratchDir::new();
    for change in Change::ALL {
        let path = scratch.new_path();
        // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
        let mut model = unsafe { with_checksums("off", || make(&path)) };
        // SAFETY: as above.
        let schunk = unsafe { with_checksums("on", || Release::ours().open_schunk(&path)) };
        let schunk = schunk.unwrap_or_else(|| panic!("{store:?}, {what}: does not open"));
        model.change(&schunk, change, 70);
        let what = format!("{store:?}, {what}, {change:?}");
        assert!(has_flag(&path), "{what}: no checksums");
        model.check_ours(&path, &what);
        drop(schunk);
        model.check_ours(&path, &format!("{what}, closed"));
    }
}

/// A header with a byte that this library would not write, and chunk files with bytes behind the chunk.
pub fn other_bytes(store: Store) {
    change_each(store, "another byte in the header", &|path| {
        let model = Model::create(store, path);
        let file = OpenOptions::new().read(true).write(true).open(index_file(path)).expect("the file");
        let mut byte = [0];
        file.read_exact_at(&mut byte, IGNORED_BYTE).expect("a header");
        file.write_all_at(&[byte[0] ^ 0x64], IGNORED_BYTE).expect("written");
        model
    });
    if store == Store::Directory {
        change_each(store, "bytes behind chunks", &|path| {
            let model = Model::create(store, path);
            for entry in std::fs::read_dir(path).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|extension| extension == "chunk") {
                    let mut file = OpenOptions::new().append(true).open(path).expect("a chunk file");
                    file.write_all(&[7; 140]).expect("written");
                }
            }
            model
        });
    }
    report("ok");
}

/// A frame that a process at level `kill` has not closed.
pub fn gap(store: Store) {
    change_each(store, "a gap", &|path| {
        // SAFETY: the child runs no other thread, and ends without the exit handlers of this process.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "no new process");
        if child == 0 {
            // SAFETY: as in `change_each`.
            unsafe { std::env::set_var(crate::levels::DURABILITY, "kill") };
            Model::create_without_closing(store, path);
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        Model::initial()
    });
    report("ok");
}
