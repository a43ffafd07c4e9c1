//! Stores of python-blosc2: `.b2z`, `.b2d`, `.b2e`.

mod commands;

use blosc2::{Array, Params, SuperChunk};
use commands::{Cli, stderr};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::json;
use std::fs;
use std::io::Write;

fn array(items: std::ops::Range<i32>) -> Vec<u8> {
    let shape = [items.len() as u64];
    Array::<i32>::builder(shape)
        .in_memory_from(&items.collect::<Vec<_>>())
        .unwrap()
        .into_any()
        .to_frame()
        .unwrap()
}

/// Returns the content of a metalayer.
fn msgpack(value: &serde_json::Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &rmpv::ext::to_value(value).unwrap()).unwrap();
    bytes
}

/// Returns a store in a frame with those members.
fn embedded(kind: &str, version: u32, members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut schunk = SuperChunk::new_frame(&Params::new().typesize(1)).unwrap();
    let mut layers = schunk.metalayers_mut().unwrap();
    layers.set_fixed(kind, &msgpack(&json!({"version": version}))).unwrap();
    let mut map = serde_json::Map::new();
    let mut content = Vec::new();
    for (key, frame) in members {
        map.insert((*key).to_owned(), json!({"offset": content.len(), "length": frame.len()}));
        content.extend(frame);
    }
    let index = json!({"embed_map": map, "current_offset": content.len()});
    layers.set_variable("estore_metadata", &msgpack(&index)).unwrap();
    // Members lie in several chunks.
    content.chunks(200).for_each(|chunk| assert!(schunk.append(chunk).is_ok()));
    schunk.to_frame().unwrap()
}

/// Writes a directory and a zip file with the same members.
fn write_stores(cli: &Cli) {
    let mut schunk = SuperChunk::new_frame(&Params::new().typesize(1)).unwrap();
    schunk.append(b"some bytes").unwrap();
    let members = [("/small", array(0..5)), ("/g/s", schunk.to_frame().unwrap())];
    let files = [
        ("a.b2nd", array(10..20)),
        ("g/h/b.b2nd", array(0..100_000)),
        ("embed.b2e", embedded("b2tree", 1, &members)),
    ];
    let mut zip = ZipArchiveWriter::new(Vec::new());
    for (name, content) in &files {
        let path = cli.path(&format!("t.b2d/{name}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        let (mut entry, config) =
            zip.new_file(name).compression_method(CompressionMethod::STORE).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    cli.write("t.b2z", &zip.finish().unwrap());
    cli.write("e.b2e", &files[2].1);
}

#[test]
fn members_are_listed_and_read() {
    let cli = Cli::new();
    write_stores(&cli);
    let text = |arguments: &[&str]| String::from_utf8(cli.succeed(arguments, b"")).unwrap();
    for store in ["t.b2d", "t.b2z"] {
        let list = text(&["info", "--tree", store]);
        let names: Vec<&str> = list.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(names, ["a", "g/h/b", "g/s", "small"].map(|name| format!("{store}/{name}")));
        assert_eq!(text(&["cat", &format!("{store}/a")]), "10 11 12 13 14 15 16 17 18 19\n");
        assert_eq!(text(&["cat", &format!("{store}/g/s")]), "some bytes");
        assert_eq!(text(&["slice", &format!("{store}/g/h/b"), "-1"]), "99999\n");
        assert_eq!(text(&["cat", &format!("{store}/small")]), "0 1 2 3 4\n");
        for member in ["a", "g/h/b", "small"] {
            let member = format!("{store}/{member}");
            cli.succeed(&["export", &member, "m.npy", "--force"], b"");
            assert_eq!(text(&["diff", &member, "m.npy"]), "");
            assert!(text(&["verify", &member]).starts_with(&format!("{member}: ok, ")));
            assert!(
                text(&["info", &member]).starts_with(&format!("{member}\n  type         array in a file\n"))
            );
        }
        assert_eq!(text(&["verify", store]).lines().count(), 4);
        assert_eq!(text(&["info", store]).matches("compressed").count(), 4);
        cli.succeed(&["decompress", &format!("{store}/small"), "-o", "raw", "--force"], b"");
        let items = [0_i32, 1, 2, 3, 4].map(i32::to_ne_bytes);
        assert_eq!(cli.read("raw"), items.concat());
        assert_eq!(
            text(&["meta", "get", &format!("{store}/a")]).trim(),
            text(&["meta", "get", "t.b2d/a.b2nd"]).trim()
        );
    }
    assert_eq!(text(&["info", "--tree", "e.b2e"]).lines().count(), 2);
    assert_eq!(text(&["cat", "e.b2e/g/s"]), "some bytes");
}

#[test]
fn damage_of_a_member_is_found() {
    let cli = Cli::new();
    write_stores(&cli);
    let mut zip = cli.read("t.b2z");
    let frame = array(0..100_000);
    let at = zip.windows(frame.len()).position(|part| part == frame).unwrap();
    zip[at + frame.len() / 4..at + frame.len() / 2].fill(0xff);
    cli.write("t.b2z", &zip);
    let output = cli.run(&["verify", "t.b2z"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("t.b2z/g/h/b: chunk"), "{printed}");
    assert!(printed.contains("t.b2z/a: ok"), "{printed}");
}

#[test]
fn other_paths_and_stores_say_what_is_not_supported() {
    let cli = Cli::new();
    write_stores(&cli);
    cli.write("version.b2e", &embedded("b2embed", 2, &[]));
    cli.write("other.b2e", &embedded("other", 1, &[]));
    cli.write("no.b2z", b"no zip file");
    fs::create_dir(cli.path("x.b2d")).unwrap();
    cli.write("x.b2d/table.parquet", b"");
    let mut zip = ZipArchiveWriter::new(Vec::new());
    let (mut entry, config) =
        zip.new_file("a.b2nd").compression_method(CompressionMethod::DEFLATE).start().unwrap();
    let (_, descriptor) = config.wrap(&mut entry).finish().unwrap();
    entry.finish(descriptor).unwrap();
    cli.write("deflated.b2z", &zip.finish().unwrap());
    for (path, expected) in [
        ("t.b2z/missing", "no member /missing, expected one of the 4"),
        ("t.b2d/g", "is a directory"),
        ("t.b2z/g", "a group of 2 members"),
        ("t.b2z", "is a store, expected a member"),
        ("version.b2e/a", "a store of version 2, expected version 1"),
        ("other.b2e/a", "a store of no known kind"),
        ("no.b2z/a", "no zip file"),
        ("x.b2d/a", "entry \"table.parquet\" is not supported"),
        ("deflated.b2z/a", "is compressed by the zip file"),
    ] {
        let output = cli.run(&["cat", path]);
        assert_eq!(output.status.code(), Some(1), "{path}");
        let message = stderr(&output);
        assert!(message.contains(expected) || path == "t.b2d/g", "{path}: {message}");
    }
    let before = cli.read("t.b2z");
    for arguments in [&["append", "t.b2z/a", "e.b2e"][..], &["meta", "set", "t.b2z/a", "x", "1"]] {
        let output = cli.run(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("which is only read"), "{}", stderr(&output));
    }
    assert_eq!(cli.read("t.b2z"), before);
}

/// Members of a zip file are read at their place: a copy of each would need the space of the largest one.
#[test]
fn members_of_zip_files_are_read_in_place() {
    let cli = Cli::new();
    write_stores(&cli);
    for arguments in [
        &["verify", "t.b2z/g/h/b"][..],
        &["verify", "t.b2z/g/h/b", "--against", "t.b2d/g/h/b"],
        &["info", "--stats", "t.b2z/g/h/b"],
        &["slice", "t.b2z/g/h/b", "7"],
        &["diff", "t.b2z/g/h/b", "t.b2d/g/h/b"],
        &["export", "t.b2z/g/h/b", "-"],
        &["decompress", "t.b2z/a", "-o", "-"],
    ] {
        let output = cli.command(arguments).env("TMPDIR", cli.path("missing")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_frame_that_is_longer_than_its_entry_is_damaged() {
    let cli = Cli::new();
    let mut zip = ZipArchiveWriter::new(Vec::new());
    for (name, content) in [("a.b2nd", &array(0..100_000)[..1000]), ("b.b2nd", &array(0..9))] {
        let (mut entry, config) =
            zip.new_file(name).compression_method(CompressionMethod::STORE).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    cli.write("t.b2z", &zip.finish().unwrap());
    let output = cli.run(&["verify", "t.b2z"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("t.b2z/a: file at byte "), "{printed}");
    assert!(printed.contains("the file has 1000 bytes of the frame, expected"), "{printed}");
    assert!(printed.contains("t.b2z/b: ok"), "{printed}");
}
