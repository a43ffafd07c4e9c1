//! Frames of which chunks lie beyond 2 and 4 GiB, in files with a hole: offsets of 32 bits are too short for them.

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use super::{for_each_library_and_store, params_with_typesize};
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::system::FileExt;

/// Inserts a hole of `gap` bytes between the chunks of a frame and its index. The header then states that the hole
/// belongs to the data section (`C` and `L` of frame.md 1.1).
fn insert_hole(path: &Path, gap: u64) {
    let mut bytes = fs::read(path).expect("a frame");
    let header_len = u32::from_be_bytes(bytes[0x0b..0x0f].try_into().expect("4 bytes")) as usize;
    let mut data_len = 0;
    for (at, is_data_len) in [(0x27, true), (0x10, false)] {
        let field = &mut bytes[at..at + 8];
        let value = u64::from_be_bytes((&*field).try_into().expect("8 bytes"));
        if is_data_len {
            data_len = value as usize;
        }
        field.copy_from_slice(&(value + gap).to_be_bytes());
    }
    let (head, tail) = bytes.split_at(header_len + data_len);
    let file: File = OpenOptions::new().write(true).truncate(true).open(path).expect("the file");
    file.write_all_at(head, 0).expect("the head");
    file.write_all_at(tail, head.len() as u64 + gap).expect("the tail");
}

#[test]
fn chunks_beyond_2_and_4_gib_are_appended_and_read() {
    for_each_library_and_store(&[Store::File], |library, _, path| {
        let content = |number: u8| (0..=255u8).map(|n| n.wrapping_mul(number) ^ n >> 3).collect::<Vec<u8>>();
        for gap in [(1u64 << 31) - 100, (1 << 32) - 100] {
            let name = library.name;
            let schunk = SuperChunk::create(library, Store::File, path, &params_with_typesize(1));
            assert_eq!(schunk.append(&content(3)), Ok(1), "{name}");
            assert_eq!(schunk.free(), 0);
            insert_hole(path, gap);

            let schunk = SuperChunk::open(library, path).expect("a frame");
            assert_eq!(schunk.append(&content(5)), Ok(2), "{name}: {gap}");
            assert_eq!(schunk.append(&content(7)), Ok(3), "{name}: {gap}");
            assert!(schunk.vlmeta_add("note", &content(9)) >= 0);
            assert_eq!(schunk.contents(), [3, 5, 7].map(content).concat(), "{name}: {gap}");
            assert_eq!(schunk.free(), 0);
            assert!(fs::metadata(path).expect("a file").len() > gap);

            let schunk = SuperChunk::open(library, path).expect("a frame");
            assert_eq!(schunk.contents(), [3, 5, 7].map(content).concat(), "{name}: {gap}");
            assert_eq!(schunk.get_slice(250, 260, 10), Ok([&content(3)[250..], &content(5)[..4]].concat()));
            assert_eq!(schunk.free(), 0);
            fs::remove_file(path).expect("removed");
        }
    });
}
