//! `blosc2 verify`.

mod samples;

use blosc2::SuperChunk;
use samples::{blosc2, json, write_super_chunk};
use std::fs;
use std::path::Path;

/// The results of whole files.
const OK: &str = "ok, all checksums are right\n";
const OK_WITHOUT: &str = "ok, but without checksums, so that changed bytes may not be found\n";

/// The contents of the chunks, and the metalayers.
type Parts = (Vec<Vec<u8>>, Vec<(String, Vec<u8>)>);

/// Returns everything that the library reads of a file; `None` if a read fails.
fn read_all(path: &Path) -> Option<Parts> {
    let schunk = SuperChunk::open(path).ok()?;
    let chunks = schunk.contents().collect::<Result<_, _>>().ok()?;
    let metalayers = schunk.metalayers();
    let all = metalayers.fixed_map().ok()?.into_iter().chain(metalayers.variable_map().ok()?);
    Some((chunks, all.collect()))
}

#[test]
fn whole_files_are_ok() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    write_super_chunk(&dir.path().join("d.b2frame"), true);
    let chunk = blosc2::compress(&samples::content(1), &samples::params()).unwrap();
    fs::write(dir.path().join("chunk"), chunk.as_bytes()).unwrap();
    let ran = blosc2(dir.path(), &["verify", "s.b2frame", "d.b2frame", "chunk"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, format!("s.b2frame: {OK}d.b2frame: {OK}chunk: {OK_WITHOUT}"));
    let ran = blosc2(dir.path(), &["verify", "--quiet", "s.b2frame"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let all = json(dir.path(), &["verify", "--json", "chunk"]);
    let expected = serde_json::json!([
        {"path": "chunk", "status": "ok", "error": null, "has_checksums": false, "damages": [], "other_data": null}
    ]);
    assert_eq!(all, expected);
}

#[test]
fn other_files_and_directories_are_errors_and_all_files_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    fs::write(dir.path().join("text"), "not a Blosc2 file, but a text of some length").unwrap();
    fs::write(dir.path().join("nothing"), "").unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let mut chunk = blosc2::compress(&samples::content(1), &samples::params()).unwrap().into_bytes();
    let middle = chunk.len() / 2;
    chunk[36] ^= 0xff;
    chunk[middle] ^= 0xff;
    fs::write(dir.path().join("chunk"), chunk).unwrap();
    let ran = blosc2(dir.path(), &["verify", "text", "nothing", "empty", "missing", "chunk", "s.b2frame"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stdout, format!("s.b2frame: {OK}"));
    let names: Vec<&str> = ran.stderr.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(names, ["text", "nothing", "empty", "missing", "chunk"]);
}

#[test]
fn damage_that_a_read_notices_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2frame");
    write_super_chunk(&path, false);
    let whole = fs::read(&path).unwrap();
    let before = read_all(&path).unwrap();
    let mut damaged: Vec<Vec<u8>> = Vec::new();
    // A step that is prime to the sizes of all fields, so that each part has changed bits.
    for at in (0..whole.len()).step_by(61).chain(0..120).chain(whole.len() - 120..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        damaged.push(bytes);
    }
    let flips = damaged.len();
    damaged.extend((1..20).map(|n| whole[..whole.len() * n / 20].to_vec()));
    damaged.push(whole[..whole.len() - 1].to_vec());
    let cuts = flips..damaged.len();
    // Other data behind the end of the frame.
    damaged.push([&whole[..], &[0x5a; 300]].concat());
    damaged.push([&whole[..], &whole[..300]].concat());
    let mut failed = 0;
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(&path, bytes).unwrap();
        let after = read_all(&path);
        let ran = blosc2(dir.path(), &["verify", "s.b2frame"]);
        assert!(ran.code == 0 || ran.code == 1, "damage {number}: {}", ran.stderr);
        if after.is_none() || cuts.contains(&number) {
            assert_eq!(ran.code, 1, "damage {number}: {}", ran.stdout);
            failed += 1;
        }
        if number >= cuts.end {
            assert!(after.as_ref() == Some(&before), "damage {number}");
        }
        assert_eq!(ran.code == 0, ran.stdout.starts_with("s.b2frame: ok, "));
    }
    assert!(failed > cuts.len() + 50, "{failed} of {}", damaged.len());
}

#[test]
fn a_damaged_chunk_is_named_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.b2frame");
    let schunk = write_super_chunk(&path, false);
    let chunk = schunk.chunk(5).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(chunk.as_bytes().len()).position(|window| window == chunk.as_bytes()).unwrap();
    // The length of the content, in the header of the chunk.
    bytes[at + 4] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ran = blosc2(dir.path(), &["verify", "s.b2frame"]);
    let start = format!("s.b2frame: chunk 5 at byte {at} ({} bytes): ", chunk.as_bytes().len());
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with(&start), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
    let ran = blosc2(dir.path(), &["verify", "--json", "s.b2frame"]);
    let all: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let damage = &all[0]["damages"][0];
    assert_eq!((ran.code, &all[0]["status"]), (1, &"damaged".into()));
    assert_eq!((&damage["part"], &damage["chunk"]), (&"chunk".into(), &5.into()));
    assert_eq!((&damage["offset"], &damage["length"]), (&at.into(), &chunk.as_bytes().len().into()));
}
