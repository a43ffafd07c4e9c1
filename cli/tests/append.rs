//! `blosc2 append`, and the checks and statistics of what was written: `verify --against`, `info --stats`.

mod commands;

use blosc2::{Array, OpenOptions, Params, SuperChunk};
use commands::{Cli, names, numbers};

fn write_frame(cli: &Cli, name: &str, contents: &[&[u8]]) {
    let mut schunk = SuperChunk::create(cli.path(name), &Params::new().typesize(4)).unwrap();
    for content in contents {
        schunk.append(content).unwrap();
    }
}

#[test]
fn content_follows_that_of_a_super_chunk() {
    let cli = Cli::new();
    let content = numbers(40_000);
    write_frame(&cli, "a.b2frame", &[&content[..8000], &content[8000..10_000]]);
    cli.write("more", &content[10_000..30_000]);
    cli.succeed(&["append", "a.b2frame", "more"], b"");
    cli.succeed(&["append", "a.b2frame", "-", "-T2"], &content[30_000..]);
    cli.write("nothing", b"");
    cli.succeed(&["append", "a.b2frame", "nothing"], b"");
    assert_eq!(cli.succeed(&["decompress", "a.b2frame", "-o", "-"], b""), content);
    let schunk = SuperChunk::open(cli.path("a.b2frame")).unwrap();
    assert_eq!((schunk.nchunks(), schunk.info().chunksize), (5, Some(8000)));
    let before = cli.read("a.b2frame");
    // The whole chunks of an input that ends within an item are not appended.
    cli.write("part", &numbers(20_001));
    assert!(cli.fail(&["append", "a.b2frame", "part"], 1).contains("20001 bytes, expected whole items"));
    assert!(cli.fail(&["append", "a.b2frame", "missing"], 1).contains("missing: "));
    assert!(cli.fail(&["append", "--axis=0", "a.b2frame", "more"], 2).contains("no array"));
    assert!(cli.fail(&["append", "missing", "more"], 1).contains("missing: "));
    assert_eq!(cli.succeed(&["decompress", "a.b2frame", "-o", "-"], b""), content);
    assert!(blosc2::verify(cli.path("a.b2frame"), 1).unwrap().is_empty());
    assert!(before.len() <= cli.read("a.b2frame").len());
    let options = OpenOptions::new().write(true).create_new(true);
    options.open(cli.path("empty.b2frame")).unwrap();
    cli.succeed(&["append", "empty.b2frame", "more"], b"");
    assert_eq!(cli.succeed(&["decompress", "empty.b2frame", "-o", "-"], b""), &content[10_000..30_000]);
}

#[test]
fn rows_follow_those_of_an_array() {
    let cli = Cli::new();
    let items: Vec<i32> = (0..50).collect();
    Array::<i32>::builder([5, 10]).chunks([2, 4]).create_from(cli.path("a.b2nd"), &items).unwrap();
    let bytes = |items: std::ops::Range<i32>| items.flat_map(i32::to_ne_bytes).collect::<Vec<u8>>();
    cli.succeed(&["append", "a.b2nd", "-"], &bytes(50..80));
    let array = Array::<i32>::open(cli.path("a.b2nd")).unwrap();
    assert_eq!((array.shape(), array.read(..).unwrap()), (&[8, 10][..], (0..80).collect()));
    // The rows of another dimension, in a NumPy file.
    cli.write("c", &bytes(100..108));
    cli.succeed(&["import", "c", "c.b2nd", "--shape=8,1", "--dtype=i4"], b"");
    cli.succeed(&["export", "c.b2nd", "c.npy"], b"");
    cli.succeed(&["append", "--axis=1", "a.b2nd", "c.npy"], b"");
    let array = Array::<i32>::open(cli.path("a.b2nd")).unwrap();
    assert_eq!(
        (array.shape(), array.get(&[7, 10]).unwrap(), array.get(&[7, 9]).unwrap()),
        (&[8, 11][..], 107, 79)
    );
    for (input, axis, expected) in [
        ("c", "0", "32 bytes, expected whole rows of 44"),
        ("c.npy", "0", "shape [8, 1], expected that of [8, 11] except in dimension 0"),
        ("c.npy", "2", "--axis 2, expected less than 2"),
    ] {
        let code = if axis == "2" { 2 } else { 1 };
        assert!(cli.fail(&["append", "a.b2nd", input, "--axis", axis], code).contains(expected));
    }
    cli.succeed(&["import", "c", "f.b2nd", "--shape=8,1", "--dtype=<f4"], b"");
    cli.succeed(&["export", "f.b2nd", "f.npy"], b"");
    assert!(cli.fail(&["append", "--axis=1", "a.b2nd", "f.npy"], 1).contains("items of type <f4"));
    assert_eq!(Array::<i32>::open(cli.path("a.b2nd")).unwrap().shape(), [8, 11]);
}

#[test]
fn a_file_is_verified_against_its_original() {
    let cli = Cli::new();
    cli.write("a", &numbers(10_000));
    cli.succeed(&["compress", "a"], b"");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let printed = text(cli.succeed(&["verify", "a.b2frame", "--against", "a"], b""));
    assert_eq!(printed, "a.b2frame: ok, all checksums are right\na.b2frame: has the content of a\n");
    let mut other = numbers(10_000);
    other[77] = 9;
    cli.write("b", &other);
    let output = cli.run(&["verify", "a.b2frame", "--against", "b"]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "a.b2frame: differs from b: different bytes: 1 of 10000\n  offset 77: 0x00 and 0x09\n";
    assert_eq!(text(output.stdout), expected);
    let output = cli.run(&["verify", "--json", "a.b2frame", "--against", "b"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json[0]["status"], &json[0]["against"]["path"]), (&"different".into(), &"b".into()));
    cli.fail(&["verify", "a.b2frame", "a.b2frame", "--against", "b"], 2);
    cli.fail(&["verify", "a.b2frame", "--against", "missing"], 1);
    std::fs::create_dir(cli.path("t")).unwrap();
    std::fs::rename(cli.path("a.b2frame"), cli.path("t/a.b2frame")).unwrap();
    assert_eq!(text(cli.succeed(&["verify", "-r", "t"], b"")), "t/a.b2frame: ok, all checksums are right\n");
    assert_eq!(names(&cli.path("t")), ["a.b2frame"]);
}

#[test]
fn statistics_of_items_and_chunks_are_printed() {
    let cli = Cli::new();
    let mut items: Vec<f32> = vec![0.0; 4000];
    items[0] = -2.0;
    items[3999] = 6.0;
    Array::<f32>::builder([40, 100]).chunks([1, 100]).create_from(cli.path("a.b2nd"), &items).unwrap();
    let printed = String::from_utf8(cli.succeed(&["info", "--stats", "a.b2nd"], b"")).unwrap();
    for line in
        ["min          -2", "max          6", "mean         0.001", "zeros        3998", "NaNs         0"]
    {
        assert!(printed.lines().any(|found| found.trim() == line), "{printed}");
    }
    let bars: Vec<&str> = printed.lines().filter(|line| line.trim().starts_with("chunks ")).collect();
    assert!(bars.iter().any(|bar| bar.trim_end().ends_with(&"#".repeat(40))), "{printed}");
    let json: serde_json::Value =
        serde_json::from_slice(&cli.succeed(&["info", "--stats", "--json", "a.b2nd"], b"")).unwrap();
    let stats = &json[0]["stats"];
    assert_eq!((&stats["items"]["min"], &stats["items"]["zeros"]), (&(-2).into(), &3998.into()));
    assert_eq!(
        (&stats["ratios"][0]["chunks"], stats["ratios"].as_array().unwrap().len()),
        (&serde_json::json!([0, 2]), 14)
    );
    write_frame(&cli, "a.b2frame", &[&numbers(8000)]);
    let json: serde_json::Value =
        serde_json::from_slice(&cli.succeed(&["info", "--stats", "--json", "a.b2frame"], b"")).unwrap();
    assert_eq!(json[0]["stats"]["items"], serde_json::Value::Null);
}
