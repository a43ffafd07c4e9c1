//! Data behind a frame in its file: they are reported, but are no damage.

use std::fs;
use std::path::Path;

use super::{PART_CHUNK, PART_OTHER_DATA};
use crate::support::all_libraries;
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{Damage, repair, repair_with_notes, verify, verify_with_notes};

/// Returns the offset and the length of the data that are reported behind the frame at `offset`.
fn other_data(path: &Path, offset: i64) -> Option<(i64, i64)> {
    let (count, reports) = verify_with_notes(path, offset);
    assert_eq!(count, 0, "{reports:?}");
    one_note(&reports)
}

fn one_note(reports: &[Damage]) -> Option<(i64, i64)> {
    let [note] = reports else {
        assert!(reports.is_empty(), "{reports:?}");
        return None;
    };
    assert_eq!((note.part, note.cause, note.nchunk), (PART_OTHER_DATA, 0, -1));
    Some((note.offset, note.length))
}

fn super_chunk(library: &'static Library, path: &Path, nchunks: usize) -> SuperChunk {
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(library, Store::File, path, &params);
    for n in 0..nchunks {
        schunk.append(&Random::new(n as u64).bytes(4000)).expect("appended");
    }
    schunk
}

#[test]
fn data_behind_a_frame_are_reported_and_not_counted() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        let (alone, together) = (scratch.new_path(), scratch.new_path());
        let schunk = super_chunk(library, &alone, 3);
        let len =
            schunk.append_file(&together).map(|_| fs::metadata(&together).expect("a file").len() as i64);
        let len = len.expect("appended");
        assert_eq!(other_data(&together, 0), None);
        let second = schunk.append_file(&together).expect("appended");
        assert_eq!(second, len);
        assert_eq!(other_data(&together, 0), Some((len, len)));
        assert_eq!(other_data(&together, second), None);
        let (saved, reports) = repair_with_notes(&together, &scratch.new_path());
        assert_eq!((saved, one_note(&reports)), (3, Some((len, len))));
        // The members of an archive.
        let frame = fs::read(&alone).expect("a frame");
        let archive = scratch.new_path();
        fs::write(&archive, [b"PK\x03\x04 name", &frame[..], b"PK\x01\x02\x14\x03 directory"].concat())
            .expect("a file");
        assert_eq!(other_data(&archive, 9), Some((9 + frame.len() as i64, 16)));
        // Damage is reported besides.
        let mut bytes = [&frame[..], b"some other data"].concat();
        bytes[97 + 33..97 + 40].fill(9);
        bytes[97 + 4] ^= 1;
        fs::write(&archive, bytes).expect("a file");
        let (count, reports) = verify_with_notes(&archive, 0);
        let parts: Vec<i32> = reports.iter().map(|damage| damage.part).collect();
        assert_eq!((count, parts), (1, vec![PART_OTHER_DATA, PART_CHUNK]));
    }
}

/// A process that dies before it cuts off the file leaves the end of the longer frame.
#[test]
fn the_end_of_a_longer_frame_is_not_reported() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        let path = scratch.new_path();
        let schunk = super_chunk(library, &path, 5);
        assert!(schunk.vlmeta_add("note", &b"some content".repeat(20)) >= 0);
        drop(schunk);
        let longer = fs::read(&path).expect("a frame");
        let schunk = SuperChunk::open(library, &path).expect("a frame");
        let shorten: [&dyn Fn(); 3] = [
            &|| assert!(schunk.vlmeta_update("note", b"x") >= 0),
            &|| assert!(schunk.vlmeta_delete("note") >= 0),
            &|| assert!(schunk.delete_chunk(2).is_ok()),
        ];
        for change in shorten {
            change();
            let shorter = fs::read(&path).expect("a frame");
            assert!(shorter.len() < longer.len());
            let cut_late = scratch.new_path();
            fs::write(&cut_late, [&shorter[..], &longer[shorter.len()..]].concat()).expect("a file");
            assert_eq!(other_data(&cut_late, 0), None);
            assert_eq!(verify(&cut_late), (0, vec![]));
            assert!(repair(&cut_late, &scratch.new_path()).1.is_empty());
        }
    }
}
