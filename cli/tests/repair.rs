//! `blosc2 repair`.

mod samples;

use blosc2::SuperChunk;
use samples::{NCHUNKS, blosc2, write_super_chunk};
use std::fs;
use std::path::Path;

/// Changes the length of the content in the header of chunk `nchunk` of the file at `path`.
fn damage_chunk(path: &Path, nchunk: u64) {
    let chunk = SuperChunk::open(path).unwrap().chunk(nchunk).unwrap();
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(chunk.as_bytes().len()).position(|window| window == chunk.as_bytes()).unwrap();
    bytes[at + 4] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn whole_chunks_keep_their_numbers_and_lost_ones_are_zeros() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2frame");
    let before: Vec<Vec<u8>> = write_super_chunk(&path, false).contents().map(Result::unwrap).collect();
    damage_chunk(&path, 2);
    damage_chunk(&path, 6);
    let damaged = fs::read(&path).unwrap();
    let ran = blosc2(dir.path(), &["repair", "s.b2frame"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("s.repaired.b2frame: 6 chunks saved, 2 lost\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("s.b2frame: chunk 2 at byte "), "{}", ran.stdout);
    assert_eq!(ran.stderr.lines().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), damaged);
    let repaired = SuperChunk::open(dir.path().join("s.repaired.b2frame")).unwrap();
    let after: Vec<Vec<u8>> = repaired.contents().map(Result::unwrap).collect();
    assert_eq!(after.len(), NCHUNKS as usize);
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        let is_lost = number == 2 || number == 6;
        let expected = if is_lost { &vec![0; before.len()] } else { before };
        assert_eq!(after, expected, "chunk {number}");
    }
    assert_eq!(repaired.metalayers().variable("note").unwrap().unwrap(), b"a text\nof two lines");
    assert_eq!(blosc2(dir.path(), &["verify", "s.repaired.b2frame"]).code, 0);
}

#[test]
fn a_directory_and_a_whole_file_are_saved() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("d.b2frame"), true);
    // The chunk of zeros has no file, so that this is the file of chunk 5.
    fs::remove_file(dir.path().join("d.b2frame/00000004.chunk")).unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    let ran = blosc2(dir.path(), &["repair", "--json", "d.b2frame", "-o", "new"]);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &result["saved"], &result["lost"]), (2, &7.into(), &1.into()));
    assert_eq!((&result["destination"], &result["damages"][0]["chunk"]), (&"new".into(), &5.into()));
    assert_eq!(blosc2(dir.path(), &["verify", "new"]).stdout, "new: ok, all checksums are right\n");
    let ran = blosc2(dir.path(), &["repair", "s.b2frame"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, "s.repaired.b2frame: 8 chunks saved, 0 lost\n");
}

#[test]
fn truncated_files_give_back_the_chunks_before_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2frame");
    let before: Vec<Vec<u8>> = write_super_chunk(&path, false).contents().map(Result::unwrap).collect();
    let whole = fs::read(&path).unwrap();
    for part in 3..10 {
        fs::write(&path, &whole[..whole.len() * part / 10]).unwrap();
        let _ = fs::remove_file(dir.path().join("new"));
        let ran = blosc2(dir.path(), &["repair", "s.b2frame", "-o", "new"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let repaired = SuperChunk::open(dir.path().join("new")).unwrap();
        assert_eq!(repaired.nchunks(), u64::from(NCHUNKS));
        let last = ran.stdout.lines().last().unwrap();
        let numbers: Vec<u64> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers.iter().sum::<u64>(), u64::from(NCHUNKS), "{last}");
        let is_named = |line: &&str| line.starts_with("s.b2frame: chunk ") && !line.contains("chunk at");
        assert_eq!(ran.stdout.lines().filter(is_named).count() as u64, numbers[1], "{}", ran.stdout);
        for content in repaired.contents().map(Result::unwrap) {
            assert!(content.iter().all(|&byte| byte == 0) || before.contains(&content));
        }
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_after_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    fs::write(dir.path().join("old"), "old").unwrap();
    fs::write(dir.path().join("text"), "not a Blosc2 file, but a text of some length").unwrap();
    let ran = blosc2(dir.path(), &["repair", "s.b2frame", "-o", "old"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "blosc2: old: exists already\n"));
    assert_eq!(fs::read(dir.path().join("old")).unwrap(), b"old");
    for name in ["text", "missing"] {
        let ran = blosc2(dir.path(), &["repair", name]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (1, 1), "{}", ran.stderr);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn other_data_behind_a_frame_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2frame");
    write_super_chunk(&path, false);
    let frame = fs::read(&path).unwrap();
    // Fewer bytes may be the end of a longer trailer with a root of checksums.
    let other = b"the bytes of another file";
    let note = format!("{} bytes of other data follow the frame at byte {}", other.len(), frame.len());
    for (verb, args) in [("verify", &[][..]), ("info", &[]), ("repair", &["-o", "new"])] {
        for (content, has_note) in [(frame.clone(), false), ([&frame[..], other].concat(), true)] {
            fs::write(&path, content).unwrap();
            let _ = fs::remove_file(dir.path().join("new"));
            let ran = blosc2(dir.path(), &[&[verb, "s.b2frame"], args].concat());
            assert_eq!(ran.code, 0, "{verb}: {}", ran.stderr);
            assert_eq!(ran.stdout.contains(&note), has_note, "{verb}: {}", ran.stdout);
        }
    }
    let ran = blosc2(dir.path(), &["verify", "--json", "s.b2frame"]);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result[0]["other_data"]["offset"], frame.len());
}
