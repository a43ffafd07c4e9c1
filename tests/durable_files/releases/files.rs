//! The files of a frame: copies, and frames with replaced parts that are made by hand.

use std::fs;
use std::path::Path;

/// Copies a file, or a directory with its files.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).expect("a directory");
        for entry in fs::read_dir(from).expect("a directory") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    } else {
        fs::copy(from, to).expect("copied");
    }
}

/// Removes a file, or a directory with its files.
pub fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removed");
}

fn be_u64(bytes: &[u8], at: usize) -> usize {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
}

fn be_u32(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

/// The replaced part that [`add_replaced_part`] leaves in a frame.
#[derive(Clone, Copy, Debug)]
pub enum Replaced {
    /// Index and trailer, as after an append: a gap behind the chunks.
    IndexAndTrailer,
    /// The trailer, as after a change of a variable-length metalayer: slack behind the index.
    Trailer,
}

/// Appends a second copy of the last parts of a contiguous frame, and makes it the live one: the state after a commit
/// as in frame.md 2.12 A. The positions in the header are those of frame.md 1.1, the position of the trailer's length
/// is that of 1.5.
pub fn add_replaced_part(path: &Path, part: Replaced) {
    let mut frame = fs::read(path).expect("a file");
    let (header_len, len, data_len) = (be_u32(&frame, 11), be_u64(&frame, 16), be_u64(&frame, 39));
    assert_eq!(frame.len(), len, "a closed frame");
    let (start, new_data_len) = match part {
        Replaced::IndexAndTrailer => (header_len + data_len, len - header_len),
        Replaced::Trailer => (len - be_u32(&frame, len - 22), data_len),
    };
    frame.extend_from_within(start..);
    let new_len = frame.len() as u64;
    frame[16..24].copy_from_slice(&new_len.to_be_bytes());
    frame[39..47].copy_from_slice(&(new_data_len as u64).to_be_bytes());
    fs::write(path, frame).expect("a file");
}
