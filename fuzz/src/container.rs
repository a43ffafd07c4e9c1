//! Frames as fuzzer inputs: the bytes of a contiguous frame, or the files of a directory one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::fields::Files;
use crate::support::super_chunk::scratch::ScratchDir;

/// The first bytes of an input that holds a directory. A contiguous frame begins with 0x9e.
const DIRECTORY_MAGIC: &[u8] = b"DIR";
/// The number of the index file; every other number is that of a chunk file.
const INDEX_FILE_NUMBER: u32 = u32::MAX;
/// Upper limit for the files of an input.
const MAX_FILES: usize = 40;

/// Returns the input that holds these files: a single file named `frame`, or the files of a directory.
pub fn pack(files: &Files) -> Vec<u8> {
    if let Some(frame) = files.get("frame") {
        return frame.clone();
    }
    let mut input = DIRECTORY_MAGIC.to_vec();
    for (name, bytes) in files {
        let number = match name.strip_suffix(".chunk") {
            Some(digits) => u32::from_str_radix(digits, 16).expect("the name of a chunk file"),
            None => INDEX_FILE_NUMBER,
        };
        input.extend(number.to_le_bytes());
        input.extend((bytes.len() as u32).to_le_bytes());
        input.extend(bytes);
    }
    input
}

/// Returns the files of an input.
pub fn unpack(input: &[u8]) -> Files {
    let Some(mut rest) = input.strip_prefix(DIRECTORY_MAGIC) else {
        return [("frame".to_owned(), input.to_vec())].into();
    };
    let mut files = Files::new();
    while let Some((head, tail)) = rest.split_first_chunk::<8>().filter(|_| files.len() < MAX_FILES) {
        let number = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let (bytes, after) = tail.split_at(len.min(tail.len()));
        let name =
            if number == INDEX_FILE_NUMBER { "chunks.b2frame".into() } else { format!("{number:08X}.chunk") };
        files.insert(name, bytes.to_vec());
        rest = after;
    }
    files
}

/// Returns a path in a directory that only this process uses.
pub fn scratch_path() -> PathBuf {
    static SCRATCH: OnceLock<(ScratchDir, PathBuf)> = OnceLock::new();
    SCRATCH
        .get_or_init(|| {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            (scratch, path)
        })
        .1
        .clone()
}

/// Writes the files to `path`, which must not exist: a file for a contiguous frame, else a directory.
pub fn write(files: &Files, path: &Path) {
    if let Some(frame) = files.get("frame") {
        fs::write(path, frame).expect("a file");
        return;
    }
    fs::create_dir(path).expect("a directory");
    for (name, bytes) in files {
        fs::write(path.join(name), bytes).expect("a file");
    }
}

/// Removes the file or directory at `path`.
pub fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.expect("a path to remove");
}
