//! `blosc2x_verify` and `blosc2x_repair`: whole frames have no damage; damage that a full read finds is reported; repair
//! saves every whole chunk into a frame that both libraries read, and never changes its source.
//!
//! ```text
//! BLOSC2_REPAIR_MUTANTS=50000 cargo test --release --test damaged_input verify_repair::mutants
//! ```
//!
//! runs that many mutants; `BLOSC2_REPAIR_MUTANT_SEED` and `BLOSC2_REPAIR_MUTANT_ONLY` are as for `frames`.

mod arguments;
mod array_chunks;
mod checksums;
mod flips;
mod full_read;
mod interrupted;
mod long_index;
mod lost_parts;
mod mutants;
mod numbers;
mod other_data;
mod whole;

use std::fs;
use std::path::{Path, PathBuf};

use crate::frames::Form;
use crate::frames::fields::Files;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};

const PART_HEADER: i32 = 1;
const PART_METALAYER: i32 = 2;
const PART_VLMETALAYER: i32 = 3;
const PART_INDEX: i32 = 4;
const PART_TRAILER: i32 = 5;
const PART_CHUNK: i32 = 6;
const PART_FILE: i32 = 7;
const PART_OTHER_DATA: i32 = 8;

const FORMS: [Form; 2] = [Form::File, Form::Directory];

/// Writes the files of a frame to a new path.
fn write_frame(scratch: &ScratchDir, files: &Files) -> PathBuf {
    let path = scratch.new_path();
    match files.get("frame") {
        Some(frame) => fs::write(&path, frame).expect("a file"),
        None => {
            fs::create_dir(&path).expect("a directory");
            for (name, bytes) in files {
                fs::write(path.join(name), bytes).expect("a file");
            }
        }
    }
    path
}

/// Returns the files of the frame at `path`.
fn files_at(path: &Path) -> Files {
    match path.is_dir() {
        true => read_files(path),
        false => [("frame".to_string(), fs::read(path).expect("a frame"))].into(),
    }
}

fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.expect("a path to remove");
}
