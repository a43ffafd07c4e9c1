//! Frames that are created and changed while the environment sets neither the durability level nor the use of checksums:
//! files and directories are protected, frames in memory have the bytes of C-Blosc2 (docs/durability.md).

use std::env::{remove_var, set_var};
use std::fs;
use std::path::Path;

use crate::checksums::CHECKSUMS;
use crate::levels::DURABILITY;
use crate::processes::{self, child_part, report};
use crate::support::calls::Params;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The position in the header of the flags of this library: bit 0 for checksums, bit 1 for a gap (frame.md 2.13, 2.14).
const FLAGS_AT: usize = 0x56;
/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 300;

/// Returns whether the frame has checksums and a gap.
fn flags(path: &Path) -> (bool, bool) {
    let main = if path.is_dir() { path.join("chunks.b2frame") } else { path.to_path_buf() };
    let flags = fs::read(main).expect("a file")[FLAGS_AT];
    (flags & 1 != 0, flags & 2 != 0)
}

fn fill(library: &'static Library, store: Store, path: &Path, len: usize, count: u64) -> SuperChunk {
    let schunk = SuperChunk::create(library, store, path, &Params { typesize: 4, ..Params::default() });
    for n in 0..count {
        schunk.append(&Random::new(n).bytes(len)).expect("appended");
    }
    schunk
}

/// Frames that this library creates.
fn new_frames(scratch: &ScratchDir) {
    let [file, directory, other] = [(); 3].map(|()| scratch.new_path());
    let schunk = fill(Library::ours(), Store::File, &file, 40_000, 20);
    assert_eq!(flags(&file), (true, true), "an open file");
    drop(schunk);
    assert_eq!(flags(&file), (true, false), "a closed file");
    let schunk = fill(Library::ours(), Store::Directory, &directory, 40_000, 20);
    assert_eq!(flags(&directory), (true, true), "an open directory");
    let memory = fill(Library::ours(), Store::MemoryFrame, &other, 40_000, 20);
    assert_eq!(memory.to_buffer().expect("a frame")[FLAGS_AT], 0, "a frame in memory");
    // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
    unsafe { set_var(DURABILITY, "off") };
    drop(fill(Library::ours(), Store::File, &other, 40_000, 20));
    let unprotected = SuperChunk::open(Library::ours(), &other).expect("a super-chunk");
    let frame = unprotected.to_buffer().expect("a frame");
    // SAFETY: as above.
    unsafe { remove_var(DURABILITY) };
    let opened = SuperChunk::open(Library::ours(), &file).expect("a super-chunk");
    assert!(opened.to_buffer().as_ref() == Ok(&frame), "other bytes of a copy in memory");
    for copy in [&schunk, &opened] {
        let path = scratch.new_path();
        copy.to_file(&path).expect("a file");
        assert_eq!(flags(&path), (true, false), "an exported file");
        let exported = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
        assert!(exported.contents() == opened.contents(), "other contents of an exported file");
    }
    let exported = scratch.new_path();
    memory.to_file(&exported).expect("a file");
    let at = memory.append_file(&exported).expect("an appended frame");
    assert_eq!(flags(&exported), (true, false), "an exported frame in memory");
    for at in [0, at] {
        let mut libraries = vec![Library::ours()];
        libraries.extend(Library::reference());
        for library in libraries {
            let found = SuperChunk::open_offset(library, &exported, at).expect("an exported frame");
            assert!(found.contents() == memory.contents(), "{}: byte {at}", library.name);
        }
    }
    drop(schunk);
    assert_eq!(flags(&directory), (true, false), "a closed directory");
    let mut damaged = fs::read(&exported).expect("a file");
    damaged[at as usize + 5000] ^= 1;
    fs::write(&exported, damaged).expect("written");
    let found = SuperChunk::open_offset(Library::ours(), &exported, at).expect("an exported frame");
    assert_eq!(found.decompress(0), Err(-3), "a damaged chunk of an appended frame");
}

/// Frames without checksums: one with few bytes gets them with its first change.
fn frames_without_checksums(scratch: &ScratchDir) {
    for (len, count, is_protected) in [(40_000, 20, true), (9 << 20, 8, false)] {
        let path = scratch.new_path();
        // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
        unsafe { set_var(DURABILITY, "off") };
        drop(fill(Library::reference().unwrap_or(Library::ours()), Store::File, &path, len, count));
        // SAFETY: as above.
        unsafe { remove_var(DURABILITY) };
        assert_eq!(flags(&path), (false, false));
        let schunk = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
        schunk.append(&Random::new(9).bytes(len)).expect("appended");
        drop(schunk);
        assert_eq!(flags(&path), (is_protected, false), "{count} chunks of {len} bytes");
    }
}

#[test]
fn new_files_are_protected_without_settings() {
    if child_part().is_none() {
        println!("{}", processes::start(test_name!(), "checks", &[], SECONDS_LIMIT).join());
        return;
    }
    // SAFETY: this process runs only this test, and the library has not started.
    unsafe {
        remove_var(DURABILITY);
        remove_var(CHECKSUMS);
    }
    let scratch = ScratchDir::new();
    new_frames(&scratch);
    frames_without_checksums(&scratch);
    report("ok");
}
