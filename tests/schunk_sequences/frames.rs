//! Compares frames byte by byte: memory frames, files and directories, without the part that no writer defines
//! (frame.md 2.6). Index chunks stay far below the 2048 entries from which their bytes may vary (frame.md 1.4).

use std::collections::BTreeMap;
use std::path::Path;

use super::sequence_state::{SequenceState, StepResult, wrong};
use super::setup::{Backend, StorageKind};
use crate::support::byte_messages::describe_difference;

/// Compares the frames of the two sides.
pub fn compare(state: &mut SequenceState) -> StepResult {
    match state.store {
        StorageKind::MemorySparse => Ok(()),
        StorageKind::MemoryFrame => {
            let mut frames = state.sides.each_ref().map(|side| side.to_buffer().1.0);
            frames.iter_mut().for_each(|frame| zero_undefined_bytes(frame, 0, state));
            compare_bytes("memory frame", &frames[0], &frames[1])
        }
        StorageKind::DiskFrame => {
            let mut files = state.sides.each_ref().map(|side| read_file(&side.path));
            files.iter_mut().for_each(|file| zero_undefined_bytes(file, state.offset as usize, state));
            compare_bytes("file", &files[0], &files[1])?;
            let locks = state.sides.each_ref().map(|side| {
                let mut path = side.path.clone().into_os_string();
                path.push(".b2lock");
                std::fs::read(path).ok()
            });
            compare_locks(state, &locks)
        }
        StorageKind::Directory => {
            let [mut ours, mut theirs] = state.sides.each_ref().map(|side| read_directory(&side.path));
            let locks = [ours.remove(".b2lock"), theirs.remove(".b2lock")];
            if ours.keys().ne(theirs.keys()) {
                return Err(wrong!("files: ours {:?}, the reference {:?}", ours.keys(), theirs.keys()));
            }
            for (name, bytes) in &ours {
                compare_bytes(name, bytes, &theirs[name])?;
            }
            compare_locks(state, &locks)
        }
    }
}

fn compare_bytes(what: &str, ours: &[u8], theirs: &[u8]) -> StepResult {
    match describe_difference(ours, theirs) {
        Some(text) => Err(wrong!("{what}, ours and the reference: {text}")),
        None => Ok(()),
    }
}

/// Compares the counters in the lock files (frame.md 6.2).
fn compare_locks(state: &SequenceState, locks: &[Option<Vec<u8>>; 2]) -> StepResult {
    if state.backend != Backend::Locking || state.counter_unknown || locks[0] == locks[1] {
        return Ok(());
    }
    Err(wrong!("sidecar: ours {:02x?}, the reference {:02x?}", locks[0], locks[1]))
}

/// Overwrites the undefined part of the frame at `start` with zeros.
pub fn zero_undefined_bytes(bytes: &mut [u8], start: usize, state: &SequenceState) {
    let start = start.min(bytes.len());
    let frame = &mut bytes[start..];
    if state.gap == 0 || state.model.chunks.is_empty() || frame.len() < 15 {
        return;
    }
    let header = u32::from_be_bytes(frame[11..15].try_into().expect("four bytes")) as usize;
    let end = (header + state.gap as usize).min(frame.len());
    if let Some(gap) = frame.get_mut(header..end) {
        gap.fill(0);
    }
}

pub fn read_file(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_directory(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.file_name().expect("a name").to_string_lossy().into_owned(), read_file(&path))
        })
        .collect()
}
