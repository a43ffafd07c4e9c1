//! Atomic changes of a file that the test makes without the library, and the same changes with a missing step. They
//! check that the tests find what is missing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::setups::{ITEMS, Setup, noise};
use super::{Change, Group, Operation, ours};
use crate::support::super_chunk::SuperChunk;

/// The length in bytes of the fixed part of a header (frame.md 1).
const HEADER_LEN: usize = 87;
/// The offset of the frame length, a big-endian `u64`, in the header.
const LEN_OFFSET: usize = 16;
/// The offset in the header of the byte that says whether the trailer has metalayers.
const VLMETALAYERS_OFFSET: usize = 0x44;

/// The controls with all steps.
pub const CORRECT: [&str; 2] = ["new file, renamed", "new trailer behind the end"];
/// The controls that survive a killed process, but not a power cut.
pub const UNSYNCHRONISED: [&str; 4] = [
    "new file, renamed, file not synchronised",
    "new file, renamed, directory not synchronised",
    "new trailer behind the end, trailer not synchronised",
    "new trailer behind the end, header not synchronised",
];
/// The control that does not survive a killed process.
pub const WRONG_ORDER: [&str; 1] = ["new trailer behind the end, header first"];

/// Returns the bytes of the frame after a change of a copy in memory.
fn changed_frame(path: &Path, change: impl FnOnce(&SuperChunk)) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("a frame");
    let schunk = SuperChunk::from_frame_copy(ours(), &mut bytes).expect("a super-chunk");
    change(&schunk);
    schunk.to_buffer().expect("a frame")
}

fn prepare_frame(path: &Path) -> Vec<u8> {
    changed_frame(path, |schunk| {
        schunk.append(&noise(20, ITEMS)).expect("appended");
    })
}

/// Writes a new file and renames it over the old one; `steps` says which of the file and the directory are
/// synchronised.
fn replace_file(path: &Path, bytes: &[u8], steps: [bool; 2]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let file = File::create(&temporary)?;
    file.write_all_at(bytes, 0)?;
    if steps[0] {
        file.sync_all()?;
    }
    fs::rename(&temporary, path)?;
    if steps[1] {
        File::open(path.parent().expect("a directory"))?.sync_all()?;
    }
    Ok(())
}

/// Returns the new header and the new trailer (frame.md 2.12 A, step 5).
fn prepare_trailer(path: &Path) -> Vec<u8> {
    let old = fs::read(path).expect("a frame");
    let new = changed_frame(path, |schunk| assert!(schunk.vlmeta_add("another", &noise(24, 400)) >= 0));
    let len_at = new.len() - 22;
    let trailer_len = u32::from_be_bytes(new[len_at..len_at + 4].try_into().expect("four bytes")) as usize;
    let mut bytes = old[..HEADER_LEN].to_vec();
    let frame_len = (old.len() + trailer_len) as u64;
    bytes[LEN_OFFSET..LEN_OFFSET + 8].copy_from_slice(&frame_len.to_be_bytes());
    bytes[VLMETALAYERS_OFFSET] = new[VLMETALAYERS_OFFSET];
    bytes.extend_from_slice(&new[new.len() - trailer_len..]);
    bytes
}

/// Writes the trailer behind the end and then the header; `steps` says which of them are synchronised.
fn append_trailer(path: &Path, bytes: &[u8], steps: [bool; 2], is_header_first: bool) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let (header, trailer) = bytes.split_at(HEADER_LEN);
    let mut parts = [(trailer, file.metadata()?.len()), (header, 0)];
    if is_header_first {
        parts.reverse();
    }
    for ((part, at), is_synchronised) in parts.into_iter().zip(steps) {
        file.write_all_at(part, at)?;
        if is_synchronised {
            file.sync_data()?;
        }
    }
    Ok(())
}

pub fn operations() -> Vec<Operation> {
    let control = |name, prepare, commit| Operation {
        name,
        group: Group::Control,
        setup: Setup::Schunk,
        change: Change::Control(prepare, commit),
    };
    vec![
        control(CORRECT[0], prepare_frame, |path, bytes| replace_file(path, bytes, [true, true]).is_ok()),
        control(CORRECT[1], prepare_trailer, |path, bytes| {
            append_trailer(path, bytes, [true, true], false).is_ok()
        }),
        control(UNSYNCHRONISED[0], prepare_frame, |path, bytes| {
            replace_file(path, bytes, [false, true]).is_ok()
        }),
        control(UNSYNCHRONISED[1], prepare_frame, |path, bytes| {
            replace_file(path, bytes, [true, false]).is_ok()
        }),
        control(UNSYNCHRONISED[2], prepare_trailer, |path, bytes| {
            append_trailer(path, bytes, [false, true], false).is_ok()
        }),
        control(UNSYNCHRONISED[3], prepare_trailer, |path, bytes| {
            append_trailer(path, bytes, [true, false], false).is_ok()
        }),
        control(WRONG_ORDER[0], prepare_trailer, |path, bytes| {
            append_trailer(path, bytes, [true, true], true).is_ok()
        }),
    ]
}
