//! `--auto`, `info --why`, and the row of `bench` that `--auto` takes.

mod commands;

use blosc2::{AnyArray, Array, Filter, Params, SuperChunk, Tradeoff};
use commands::{Cli, numbers, random};

/// Returns text with repetitions.
fn lines() -> Vec<u8> {
    (0..20_000).map(|n| format!("station {n}: {} K\n", n % 300)).collect::<String>().into_bytes()
}

/// Returns the content of a frame.
fn content(cli: &Cli, name: &str) -> Vec<u8> {
    let schunk = SuperChunk::open(cli.path(name)).unwrap();
    schunk.contents().map(Result::unwrap).collect::<Vec<_>>().concat()
}

#[test]
fn compress_takes_the_choice_of_the_library() {
    let cli = Cli::new();
    for (name, data, typesize) in [("a", numbers(400_000), 4), ("b", lines(), 1)] {
        cli.write(name, &data);
        for tradeoff in ["0", "0.5", "1", "0.5:comp", "0.75:decomp", "1:balanced"] {
            let (option, size) = (format!("--auto={tradeoff}"), format!("-t{typesize}"));
            cli.succeed(&["compress", "-f", &size, &option, name], b"");
            let frame = format!("{name}.b2frame");
            let chunk = SuperChunk::open(cli.path(&frame)).unwrap().chunk_info(0).unwrap();
            let tradeoff: Tradeoff = tradeoff.parse().unwrap();
            let choice = tradeoff.explain(&data, typesize).unwrap().choice.unwrap();
            if !chunk.is_stored {
                assert_eq!(chunk.filters, choice.filters, "{name} {option}");
            }
            assert_eq!(content(&cli, &frame), data);
        }
        // Without a number it is 0.5.
        cli.succeed(&["compress", "-f", &format!("-t{typesize}"), "--auto", name], b"");
        let automatic = cli.read(&format!("{name}.b2frame"));
        cli.succeed(&["compress", "-f", &format!("-t{typesize}"), "--auto=0.5", name], b"");
        assert_eq!(cli.read(&format!("{name}.b2frame")), automatic);
    }
}

#[test]
fn file_does_not_depend_on_threads() {
    let cli = Cli::new();
    cli.write("a", &[numbers(3_000_000), random(1_000_000, 3), lines()].concat());
    let frames = ["1", "4", "4"].map(|threads| {
        let arguments = ["compress", "-f", "-t4", "--chunksize=256K", "--auto=0.9", "-T", threads, "a"];
        cli.succeed(&arguments, b"");
        // The header has the number of threads.
        let schunk = SuperChunk::open(cli.path("a.b2frame")).unwrap();
        schunk.chunks().map(|chunk| chunk.unwrap().as_bytes().to_vec()).collect::<Vec<_>>()
    });
    assert!(frames[0] == frames[1] && frames[1] == frames[2]);
}

#[test]
fn arrays_are_imported_and_recompressed() {
    let cli = Cli::new();
    cli.write("a.raw", &numbers(40_000));
    let shape = ["--shape", "100,100", "--dtype", "<i4", "--chunks", "50,50", "--blocks", "10,50"];
    cli.succeed(&[&["import", "a.raw", "a.b2nd", "--auto=1"], &shape[..]].concat(), b"");
    cli.succeed(&[&["import", "a.raw", "b.b2nd", "-c", "lz4"], &shape[..]].concat(), b"");
    cli.succeed(&["diff", "a.b2nd", "b.b2nd"], b"");
    cli.succeed(&["recompress", "--auto=1", "b.b2nd"], b"");
    let [a, b] = ["a.b2nd", "b.b2nd"].map(|name| AnyArray::open(cli.path(name)).unwrap());
    assert_eq!((a.blockshape(), b.blockshape()), (&[10, 50][..], &[10, 50][..]));
    assert_eq!(content(&cli, "a.b2nd"), content(&cli, "b.b2nd"));
}

#[test]
fn recompress_replaces_lossy_filters_and_dictionaries() {
    let cli = Cli::new();
    let items: Vec<f32> = (0..50_000).map(|n| (n as f32).sqrt()).collect();
    let params = Params::new().filters([Filter::TruncatePrecision(10), Filter::Shuffle]);
    let array =
        Array::<f32>::builder([50_000]).params(params).create_from(cli.path("a.b2nd"), &items).unwrap();
    let before = array.read(..).unwrap();
    drop(array);
    cli.succeed(&["recompress", "--auto=0.9", "a.b2nd"], b"");
    let array = Array::<f32>::open(cli.path("a.b2nd")).unwrap();
    assert_eq!(array.read(..).unwrap(), before);

    cli.write("b", &lines());
    cli.succeed(&["compress", "-t1", "--dict", "--blocksize=4K", "b"], b"");
    cli.succeed(&["recompress", "--auto=1", "b.b2frame"], b"");
    let schunk = SuperChunk::open(cli.path("b.b2frame")).unwrap();
    assert!(!schunk.chunk_info(0).unwrap().has_dictionary);
    assert_eq!(content(&cli, "b.b2frame"), lines());
}

#[test]
fn explicit_parameters_and_bad_tradeoffs_are_usage_errors() {
    let cli = Cli::new();
    cli.write("a", &numbers(1000));
    for other in ["--codec=lz4", "--level=1", "--filters=shuffle", "--dict"] {
        let output = cli.run(&["compress", "--auto", other, "a"]);
        let message = commands::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{other}: {message}");
        assert!(message.contains("--auto") && message.contains("cannot be used with"), "{message}");
    }
    for value in ["1.5", "-1", "nan", "x", "0.5:fast", ""] {
        for verb in [&["compress", "a"][..], &["info", "a"]] {
            let option = if verb[0] == "info" { "--why=" } else { "--auto=" };
            let output = cli.run(&[verb, &[&format!("{option}{value}")]].concat());
            assert_eq!(output.status.code(), Some(2), "{option}{value}: {}", commands::stderr(&output));
        }
    }
    assert_eq!(cli.names(), ["a", "tmp"]);
}

#[test]
fn info_explains_the_choice() {
    let cli = Cli::new();
    cli.write("a", &numbers(400_000));
    cli.succeed(&["compress", "-t4", "a"], b"");
    let text = String::from_utf8(cli.succeed(&["info", "--why=1", "a.b2frame"], b"")).unwrap();
    let json = cli.succeed(&["info", "--why=1", "--json", "a.b2frame"], b"");
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let why = &json[0]["why"];
    let choice = Tradeoff::new(1.0).unwrap().explain(&numbers(400_000), 4).unwrap().choice.unwrap();
    assert_eq!(why["tradeoff"], "1");
    assert_eq!(
        (&why["choice"]["codec"], &why["choice"]["level"]),
        (&choice.codec.to_string().into(), &choice.level.into())
    );
    assert_eq!(why["candidates"].as_array().unwrap().len(), 10);
    assert_eq!(why["features"].as_array().unwrap().len(), 3);
    let marked = text.lines().find(|line| line.ends_with("choice")).unwrap();
    let words: Vec<&str> = marked.split_whitespace().collect();
    assert_eq!(words[..2], [choice.codec.to_string(), choice.level.to_string()]);
    assert!(text.contains("entropy"), "{text}");
    // Without the option, there is no explanation.
    let json = cli.succeed(&["info", "--json", "a.b2frame"], b"");
    assert!(!String::from_utf8(json).unwrap().contains("why"));
}

#[test]
fn chunk_that_cannot_be_read_is_an_error() {
    let cli = Cli::new();
    SuperChunk::create(cli.path("empty.b2frame"), &Params::new()).unwrap();
    let output = cli.run(&["info", "--why", "empty.b2frame"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(commands::stderr(&output).contains("chunk 0: "), "{}", commands::stderr(&output));
}

#[test]
fn bench_marks_the_choice() {
    let cli = Cli::new();
    cli.write("a", &numbers(400_000));
    cli.succeed(&["compress", "-t4", "a"], b"");
    let choice = Tradeoff::default().explain(&numbers(400_000), 4).unwrap().choice.unwrap();
    let filter = choice.filters.first().map_or("none".to_owned(), ToString::to_string);
    let (codec, level) = (choice.codec.to_string(), choice.level.to_string());
    let arguments =
        ["bench", "a.b2frame", "--json", "--codecs", &codec, "--levels", &level, "--filters", &filter];
    let json: serde_json::Value = serde_json::from_slice(&cli.succeed(&arguments, b"")).unwrap();
    let automatic = &json["recommended"].as_array().unwrap().last().unwrap();
    assert_eq!((&automatic["name"], &automatic["row"]), (&"auto".into(), &0.into()));
    assert_eq!(automatic["options"], "--auto --typesize 4");
    // A table without the choice has no mark.
    let other = if codec == "zlib" { "lz4" } else { "zlib" };
    let arguments = ["bench", "a.b2frame", "--json", "--codecs", other, "--levels", "1"];
    let json: serde_json::Value = serde_json::from_slice(&cli.succeed(&arguments, b"")).unwrap();
    assert!(json["recommended"].as_array().unwrap().iter().all(|one| one["name"] != "auto"));
}
