//! Compares frames byte by byte: memory frames, files and directories, without the part that no writer defines
//! (frame.md 2.6). Index chunks stay far below the 2048 entries from which their bytes may vary (frame.md 1.4).

use std::collections::BTreeMap;
use std::path::Path;

use super::setup::{Backend, Store};
use super::world::{Done, World, wrong};
use crate::support::value::difference;

/// Compares the frames of the two sides.
pub fn compare(world: &mut World) -> Done {
    match world.store {
        Store::MemorySparse => Ok(()),
        Store::MemoryFrame => {
            let mut frames = world.sides.each_ref().map(|side| side.to_buffer().1.0);
            frames.iter_mut().for_each(|frame| blank(frame, 0, world));
            report("memory frame", &frames[0], &frames[1])
        }
        Store::DiskFrame => {
            let mut files = world.sides.each_ref().map(|side| read(&side.path));
            files.iter_mut().for_each(|file| blank(file, world.offset as usize, world));
            report("file", &files[0], &files[1])?;
            let locks = world.sides.each_ref().map(|side| {
                let mut path = side.path.clone().into_os_string();
                path.push(".b2lock");
                std::fs::read(path).ok()
            });
            compare_locks(world, &locks)
        }
        Store::Directory => {
            let [mut ours, mut theirs] = world.sides.each_ref().map(|side| list(&side.path));
            let locks = [ours.remove(".b2lock"), theirs.remove(".b2lock")];
            if ours.keys().ne(theirs.keys()) {
                return Err(wrong!("files: ours {:?}, the reference {:?}", ours.keys(), theirs.keys()));
            }
            for (name, bytes) in &ours {
                report(name, bytes, &theirs[name])?;
            }
            compare_locks(world, &locks)
        }
    }
}

fn report(what: &str, ours: &[u8], theirs: &[u8]) -> Done {
    match difference(ours, theirs) {
        Some(text) => Err(wrong!("{what}, ours and the reference: {text}")),
        None => Ok(()),
    }
}

/// Compares the counters in the lock files (frame.md 6.2).
fn compare_locks(world: &World, locks: &[Option<Vec<u8>>; 2]) -> Done {
    if world.backend != Backend::Locking || world.counter_unknown || locks[0] == locks[1] {
        return Ok(());
    }
    Err(wrong!("sidecar: ours {:02x?}, the reference {:02x?}", locks[0], locks[1]))
}

/// Overwrites the undefined part of the frame at `start` with zeros.
pub fn blank(bytes: &mut [u8], start: usize, world: &World) {
    let start = start.min(bytes.len());
    let frame = &mut bytes[start..];
    if world.gap == 0 || world.model.chunks.is_empty() || frame.len() < 15 {
        return;
    }
    let header = u32::from_be_bytes(frame[11..15].try_into().expect("four bytes")) as usize;
    let end = (header + world.gap as usize).min(frame.len());
    if let Some(gap) = frame.get_mut(header..end) {
        gap.fill(0);
    }
}

pub fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn list(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.file_name().expect("a name").to_string_lossy().into_owned(), read(&path))
        })
        .collect()
}
