//! `blosc2 info`.

mod samples;

use blosc2::{AnyArray, Array, Chunk, Params, SuperChunk};
use samples::{NCHUNKS, blosc2, json, write_super_chunk};
use std::fs;

/// Returns the value of the line `key` of a description.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.lines().find(|line| line.trim_start().starts_with(key)).unwrap();
    line.trim_start()[key.len()..].trim()
}

#[test]
fn a_super_chunk_is_described_as_the_library_does() {
    let dir = tempfile::tempdir().unwrap();
    for (name, is_directory) in [("s.b2frame", false), ("d.b2frame", true)] {
        let schunk = write_super_chunk(&dir.path().join(name), is_directory);
        let info = schunk.info();
        let all = json(dir.path(), &["info", "--json", "--meta", "--chunks", name]);
        let file = &all[0];
        assert_eq!(file["type"], "super-chunk");
        assert_eq!(file["storage"], if is_directory { "directory" } else { "file" });
        assert_eq!(file["nbytes"], info.nbytes);
        assert_eq!(file["cbytes"], info.cbytes);
        assert_eq!(file["items"], schunk.nitems());
        assert_eq!((&file["codec"], &file["level"]), (&"zstd".into(), &3.into()));
        assert_eq!(file["filters"], serde_json::json!(["shuffle"]));
        assert_eq!((&file["shape"], &file["dtype"]), (&().into(), &().into()));
        assert_eq!((&file["chunks"]["count"], &file["chunks"]["zeros"]), (&NCHUNKS.into(), &1.into()));
        let fixed = serde_json::json!({"name": "version", "list": "fixed", "nbytes": 3, "error": null, "hex": "0100ff"});
        assert_eq!(file["metalayers"][0], fixed);
        assert_eq!(file["metalayers"][1]["text"], "a text\nof two lines");
        for nchunk in 0..schunk.nchunks() {
            let info = schunk.chunk_info(nchunk).unwrap();
            let line = &file["chunk_list"][nchunk as usize];
            assert_eq!((&line["nbytes"], &line["cbytes"]), (&info.nbytes.into(), &info.cbytes.into()));
            assert_eq!(line["kind"], if info.special.is_some() { "zeros" } else { "compressed" });
        }
        if !is_directory {
            assert_eq!(file["file_bytes"], fs::metadata(dir.path().join(name)).unwrap().len());
        }
    }
}

#[test]
fn an_array_is_described_in_text() {
    let dir = tempfile::tempdir().unwrap();
    let items: Vec<f32> = (0..60_000).map(|n| n as f32).collect();
    let array = Array::<f32>::builder([200, 300])
        .chunks([100, 300])
        .blocks([10, 100])
        .params(Params::new().level(7))
        .create_from(dir.path().join("a.b2nd"), &items)
        .unwrap();
    let ran = blosc2(dir.path(), &["info", "a.b2nd"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for (key, expected) in [
        ("type", "array in a file"),
        ("shape", "200,300"),
        ("dtype", if cfg!(target_endian = "big") { ">f4" } else { "<f4" }),
        ("chunks", "100,300"),
        ("blocks", "10,100"),
        ("items", "60000 of 4 bytes"),
        ("size", "234.4 KiB (240000 bytes)"),
        ("codec", "blosclz, level 7"),
        ("filters", "shuffle"),
        ("chunk count", "2"),
        ("special", "0"),
        ("dictionary", "no"),
    ] {
        assert_eq!(value(&ran.stdout, key), expected, "{key}");
    }
    let nbytes = array.metalayers().unwrap().fixed("b2nd").unwrap().unwrap().len();
    assert_eq!(value(&ran.stdout, "metalayers"), format!("b2nd ({nbytes} bytes)"));
}

#[test]
fn special_chunks_and_dictionaries_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut zeros = blosc2::compress(&[0; 8000], &Params::new()).unwrap().into_bytes();
    // The kind of a special chunk, in its header: zeros are 1, NaNs are 2.
    assert_eq!(zeros[31] >> 4 & 7, 1);
    zeros[31] = zeros[31] & !0x70 | 0x20;
    let mut nans = SuperChunk::create(dir.path().join("nan.b2frame"), &Params::new()).unwrap();
    nans.append_chunk(&Chunk::from_bytes(&zeros).unwrap()).unwrap();
    Array::<f64>::builder([64, 64]).chunks([32, 64]).fill(1.5).create(dir.path().join("one.b2nd")).unwrap();
    Array::<f64>::builder([64, 64]).chunks([32, 64]).uninit().create(dir.path().join("un.b2nd")).unwrap();
    let dictionary = samples::params().dictionary(true).blocksize(4096);
    let text: Vec<u8> =
        (0..50_000).flat_map(|n: u32| format!("{:>5} words ", n * 37 % 1000).into_bytes()).collect();
    let mut schunk = SuperChunk::create(dir.path().join("dict.b2frame"), &dictionary.typesize(1)).unwrap();
    schunk.append(&text).unwrap();
    assert!(schunk.chunk_info(0).unwrap().has_dictionary);
    let all = json(dir.path(), &["info", "--json", "nan.b2frame", "one.b2nd", "un.b2nd", "dict.b2frame"]);
    assert_eq!(all[0]["chunks"]["nans"], 1);
    assert_eq!(all[1]["chunks"]["value"], 2);
    assert_eq!(all[2]["chunks"]["uninit"], 2);
    assert_eq!(all[3]["chunks"]["with_dictionary"], 1);
}

#[test]
fn a_chunk_is_described_and_other_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let chunk = blosc2::compress(&samples::content(1), &samples::params()).unwrap();
    fs::write(dir.path().join("chunk"), chunk.as_bytes()).unwrap();
    fs::write(dir.path().join("text"), "not a Blosc2 file, but a text").unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let file = &json(dir.path(), &["info", "--json", "chunk"])[0];
    assert_eq!((&file["type"], &file["nbytes"]), (&"chunk".into(), &8000.into()));
    assert_eq!(file["cbytes"], chunk.as_bytes().len());
    for (name, message) in [("text", "no frame and no chunk"), ("empty", "a directory"), ("none", "none: ")] {
        let ran = blosc2(dir.path(), &["info", name, "chunk"]);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
        // The other file is described nevertheless.
        assert_eq!(value(&ran.stdout, "type"), "chunk");
    }
}

#[test]
fn a_tree_has_one_sorted_line_for_each_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir_all(path("top/b")).unwrap();
    write_super_chunk(&path("top/b/z.b2frame"), false);
    write_super_chunk(&path("top/a"), true);
    AnyArray::builder([3, 4], "<i2", 2).create(path("top/c.b2nd")).unwrap();
    fs::write(path("top/text"), "text").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(path("top"), path("top/loop")).unwrap();
    let ran = blosc2(dir.path(), &["info", "--tree", "top"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let names: Vec<&str> = ran.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(names, ["top/a", "top/b/z.b2frame", "top/c.b2nd"]);
    assert!(ran.stdout.lines().nth(2).unwrap().contains("3,4"));
    let rows = json(dir.path(), &["info", "--tree", "--json", "top"]);
    assert_eq!(rows.as_array().unwrap().len(), 3);
    assert_eq!((&rows[2]["dtype"], &rows[2]["shape"]), (&"<i2".into(), &serde_json::json!([3, 4])));
    assert_eq!(blosc2(dir.path(), &["info", "--tree", "--meta", "top"]).code, 2);
}
