//! Files that are written: devices, pipes and links with `--force`, checksums, durability, parameters of the environment, and
//! lossy parameters.

mod commands;

use blosc2::{AnyArray, Array, Codec, Filter, Params, SuperChunk};
use commands::{Cli, numbers, random, stderr};
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;

/// Writes an array of 1000 numbers as `a.b2nd` and, with a header of NumPy, as `a.npy`.
fn write_array(cli: &Cli) {
    let items: Vec<f64> = (0..1000).map(f64::from).collect();
    Array::<f64>::builder([10, 100]).create_from(cli.path("a.b2nd"), &items).unwrap();
    cli.succeed(&["export", "a.b2nd", "a.npy"], b"");
}

/// Runs a command that writes into the FIFO `fifo`. Returns what its reader gets.
fn through_fifo(cli: &Cli, arguments: &[&str]) -> Vec<u8> {
    let fifo = cli.path("fifo");
    if !fifo.exists() {
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    }
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read(fifo).unwrap()
    });
    cli.succeed(arguments, b"");
    assert!(fifo.metadata().unwrap().file_type().is_fifo(), "{arguments:?} has replaced the FIFO");
    reader.join().unwrap()
}

#[test]
fn force_writes_into_what_is_no_regular_file() {
    let cli = Cli::new();
    let content = numbers(300_000);
    cli.write("n", &content);
    write_array(&cli);
    cli.write("n.b2frame", &through_fifo(&cli, &["compress", "-f", "n", "-o", "fifo"]));
    assert_eq!(through_fifo(&cli, &["decompress", "--force", "n.b2frame", "-o", "fifo"]), content);
    let array = through_fifo(&cli, &["import", "-f", "a.npy", "fifo"]);
    assert_eq!(AnyArray::from_frame(&array).unwrap().shape(), [10, 100]);
    let items = through_fifo(&cli, &["export", "-f", "a.b2nd", "fifo"]);
    assert!(cli.read("a.npy").ends_with(&items) && items.len() == 8000);
    // Without --force, nothing is written; with --rm, the content might be lost.
    assert!(cli.fail(&["compress", "n", "-o", "fifo"], 1).contains("exists already"));
    let mut reader =
        Command::new("cat").arg(cli.path("fifo")).stdout(std::process::Stdio::null()).spawn().unwrap();
    assert!(cli.fail(&["compress", "-f", "--rm", "n", "-o", "fifo"], 2).contains("which is no file"));
    assert!(reader.wait().unwrap().success());
    assert!(cli.path("n").exists());
    // A device, where the user may make one.
    let made =
        Command::new("mknod").args(["null", "c", "1", "3"]).current_dir(cli.path("")).output().unwrap();
    if made.status.success() {
        for arguments in [
            &["compress", "-f", "n", "-o", "null"][..],
            &["decompress", "-f", "n.b2frame", "-o", "null"],
            &["export", "-f", "a.b2nd", "null"],
            &["import", "-f", "a.npy", "null"],
        ] {
            cli.succeed(arguments, b"");
            assert!(cli.path("null").metadata().unwrap().file_type().is_char_device(), "{arguments:?}");
        }
    }
}

#[test]
fn force_follows_symbolic_links() {
    let cli = Cli::new();
    cli.write("n", &numbers(300_000));
    fs::create_dir(cli.path("d")).unwrap();
    cli.write("d/target", b"old");
    symlink("d/target", cli.path("link")).unwrap();
    symlink("d/missing", cli.path("dangling")).unwrap();
    symlink("loop", cli.path("loop")).unwrap();
    for (link, target) in [("link", "d/target"), ("dangling", "d/missing")] {
        cli.succeed(&["compress", "-f", "n", "-o", link], b"");
        assert!(cli.path(link).symlink_metadata().unwrap().is_symlink());
        assert_eq!(SuperChunk::open(cli.path(target)).unwrap().nbytes(), 300_000);
    }
    cli.fail(&["compress", "-f", "n", "-o", "loop"], 1);
    symlink("n", cli.path("same")).unwrap();
    assert!(cli.fail(&["decompress", "-f", "n", "-o", "same"], 1).contains("is the input"));
    assert!(cli.fail(&["compress", "-f", "n", "-o", "d"], 1).contains("is a directory"));
}

/// Returns whether the file has checksums, as `info` and `verify` also say.
fn has_checksums(cli: &Cli, name: &str) -> bool {
    let found = SuperChunk::open(cli.path(name)).unwrap().info().has_checksums;
    let info = String::from_utf8(cli.succeed(&["info", name], b"")).unwrap();
    assert!(info.contains(if found { "checksums    yes" } else { "checksums    no" }), "{info}");
    for verb in ["info", "verify"] {
        let json: serde_json::Value =
            serde_json::from_slice(&cli.succeed(&[verb, "--json", name], b"")).unwrap();
        assert_eq!(json[0]["has_checksums"], found, "{verb}");
    }
    let verified = String::from_utf8(cli.succeed(&["verify", name], b"")).unwrap();
    assert_eq!(verified.contains("without checksums"), !found, "{verified}");
    found
}

#[test]
fn checksums_are_kept_or_chosen() {
    let cli = Cli::new();
    write_array(&cli);
    cli.write("n", &random(300_000, 4));
    for switch in ["on", "off"] {
        let option = format!("--checksums={switch}");
        cli.succeed(&["compress", "-f", &option, "n"], b"");
        cli.succeed(&["import", "-f", &option, "a.npy", "a.b2nd"], b"");
        for name in ["n.b2frame", "a.b2nd"] {
            assert_eq!(has_checksums(&cli, name), switch == "on", "{name}");
        }
        let stream = cli.succeed(&["compress", &option, "-"], &numbers(1000));
        cli.write("stream", &stream);
        assert_eq!(has_checksums(&cli, "stream"), switch == "on");
    }
    for (environment, expected) in [("off", false), ("on", true)] {
        for name in ["n.b2frame", "a.b2nd"] {
            let with = |arguments: &[&str], variable: &str| {
                let output = cli.command(arguments).env("BLOSC2_CHECKSUMS", variable).output().unwrap();
                assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            };
            // From a file without checksums, new ones are as for other new files.
            cli.succeed(&["recompress", "--checksums=off", name], b"");
            with(&["recompress", name], environment);
            assert_eq!(has_checksums(&cli, name), expected, "{name}");
            // Those of the old file are kept, unless the user chooses.
            cli.succeed(&["recompress", "--checksums=on", name], b"");
            with(&["recompress", name], "verify");
            assert!(has_checksums(&cli, name));
            with(&["repair", name, "-o", "repaired"], "verify");
            assert!(has_checksums(&cli, "repaired"));
            fs::remove_file(cli.path("repaired")).unwrap();
            cli.succeed(&["repair", "--checksums=off", name, "-o", "repaired"], b"");
            assert!(!has_checksums(&cli, "repaired"));
            fs::remove_file(cli.path("repaired")).unwrap();
        }
    }
}

#[test]
fn all_levels_of_durability_write_whole_files() {
    let cli = Cli::new();
    write_array(&cli);
    let content = numbers(300_000);
    cli.write("n", &content);
    for level in ["off", "kill", "power"] {
        let option = format!("--durability={level}");
        cli.succeed(&["compress", "-f", &option, "n"], b"");
        cli.succeed(&["recompress", &option, "n.b2frame", "-c", "lz4"], b"");
        cli.succeed(&["decompress", "-f", &option, "n.b2frame", "-o", "m"], b"");
        assert_eq!(cli.read("m"), content);
        cli.succeed(&["import", "-f", &option, "a.npy", "b.b2nd"], b"");
        cli.succeed(&["recompress", &option, "b.b2nd"], b"");
        cli.succeed(&["export", "-f", &option, "b.b2nd", "b.npy"], b"");
        assert_eq!(cli.read("b.npy"), cli.read("a.npy"));
        cli.succeed(&["repair", &option, "n.b2frame"], b"");
        fs::remove_file(cli.path("n.repaired.b2frame")).unwrap();
    }
    let output = cli.command(["compress", "-f", "n"]).env("BLOSC2_DURABILITY", "some").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn arguments_win_over_the_environment() {
    let cli = Cli::new();
    cli.write("n", &numbers(300_000));
    write_array(&cli);
    let variables = [
        ("BLOSC_COMPRESSOR", "lz4"),
        ("BLOSC_CLEVEL", "9"),
        ("BLOSC_SHUFFLE", "BITSHUFFLE"),
        ("BLOSC_TYPESIZE", "2"),
        ("BLOSC_NTHREADS", "3"),
    ];
    let run = |arguments: &[&str]| {
        let output = cli.command(arguments).envs(variables).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let expect = |name: &str, codec: Codec, level: u8, filter: Filter| {
        let schunk = SuperChunk::open(cli.path(name)).unwrap();
        let (params, chunk) = (schunk.info().params, schunk.chunk_info(0).unwrap());
        assert_eq!(
            (params.get_codec(), params.get_level(), params.get_filters()),
            (codec, level, &[filter][..])
        );
        assert_eq!((chunk.codec, &chunk.filters[..]), (codec, &[filter][..]));
        assert_eq!(chunk.typesize, schunk.typesize());
        let json: serde_json::Value =
            serde_json::from_slice(&cli.succeed(&["info", "--json", name], b"")).unwrap();
        assert_eq!((&json[0]["codec"], &json[0]["level"]), (&codec.to_string().into(), &level.into()));
        assert_eq!(json[0]["filters"], serde_json::json!([filter.to_string()]));
        schunk.typesize()
    };
    let chosen = ["-c", "zstd", "-l", "1", "--filters", "shuffle", "-T", "1"];
    run(&[&["compress", "n", "-t", "4"], &chosen[..]].concat());
    assert_eq!(expect("n.b2frame", Codec::Zstd, 1, Filter::Shuffle), 4);
    run(&["compress", "-f", "n"]);
    assert_eq!(expect("n.b2frame", Codec::Lz4, 9, Filter::Bitshuffle), 2);
    run(&[&["import", "-f", "a.npy", "a.b2nd"], &chosen[..]].concat());
    assert_eq!(expect("a.b2nd", Codec::Zstd, 1, Filter::Shuffle), 8);
    run(&[&["recompress", "n.b2frame"], &chosen[..]].concat());
    assert_eq!(expect("n.b2frame", Codec::Zstd, 1, Filter::Shuffle), 2);
}

#[test]
fn info_reports_the_codecs_and_filters_in_the_chunks() {
    let cli = Cli::new();
    let content = numbers(8000);
    let params = Params::new().codec(Codec::Lz4).typesize(4);
    let mut schunk = SuperChunk::create(cli.path("a"), &params).unwrap();
    for codec in [Codec::Zstd, Codec::Zstd] {
        let params = params.clone().codec(codec).filters([Filter::Bitshuffle]);
        schunk.append_chunk(&blosc2::compress(&content, &params).unwrap()).unwrap();
    }
    let json = || -> serde_json::Value {
        serde_json::from_slice(&cli.succeed(&["info", "--json", "a"], b"")).unwrap()
    };
    assert_eq!((&json()[0]["codec"], &json()[0]["filters"][0]), (&"zstd".into(), &"bitshuffle".into()));
    schunk.append_chunk(&blosc2::compress(&content, &params).unwrap()).unwrap();
    assert_eq!(json()[0]["chunks"]["codecs"], serde_json::json!(["zstd", "lz4"]));
    let text = String::from_utf8(cli.succeed(&["info", "a"], b"")).unwrap();
    assert!(text.contains("codec        zstd and lz4, level 5"), "{text}");
}

#[test]
fn parameters_that_change_the_content_need_lossy() {
    let cli = Cli::new();
    write_array(&cli);
    cli.write("n", &random(80_000, 9));
    for (filter, name) in [("int_trunc:3", "int_trunc:3"), ("shuffle,trunc_prec:10", "trunc_prec:10")] {
        for arguments in [
            &["compress", "--rm", "-t", "4", "n", "--filters", filter][..],
            &["import", "-f", "a.npy", "a.b2nd", "--filters", filter],
            &["recompress", "a.b2nd", "--filters", filter],
        ] {
            let before = cli.names();
            let message = cli.fail(arguments, 2);
            assert!(message.contains(name) && message.contains("--lossy"), "{message}");
            assert_eq!(cli.names(), before);
        }
    }
    for codec in ["zfp_acc", "zfp_prec", "zfp_rate"] {
        assert!(cli.fail(&["import", "-f", "a.npy", "b.b2nd", "-c", codec], 2).contains("--lossy"));
    }
    let lossy = ["-t", "4", "--filters", "int_trunc:8", "--lossy"];
    // The original is never removed.
    let message = cli.fail(&[&["compress", "n", "--rm"], &lossy[..]].concat(), 2);
    assert!(message.contains("--rm with the filter int_trunc:8"), "{message}");
    cli.succeed(&[&["compress", "n"], &lossy[..]].concat(), b"");
    assert!(cli.path("n").exists());
    let before = cli.read("a.b2nd");
    assert!(
        cli.fail(&["recompress", "a.b2nd", "--filters", "trunc_prec:10", "--lossy"], 2).contains("--output")
    );
    cli.succeed(&["recompress", "a.b2nd", "--filters", "trunc_prec:4", "--lossy", "-o", "c.b2nd"], b"");
    assert_eq!(cli.read("a.b2nd"), before);
    let (old, new) = (cli.succeed(&["cat", "a.b2nd"], b""), cli.succeed(&["cat", "c.b2nd"], b""));
    assert!(old != new);
}

#[test]
fn recompression_to_another_file_keeps_the_old_one() {
    let cli = Cli::new();
    cli.write("n", &numbers(300_000));
    cli.succeed(&["compress", "n"], b"");
    let before = cli.read("n.b2frame");
    cli.succeed(&["recompress", "n.b2frame", "-c", "lz4", "-o", "m.b2frame"], b"");
    assert_eq!(cli.read("n.b2frame"), before);
    assert_eq!(SuperChunk::open(cli.path("m.b2frame")).unwrap().info().params.get_codec(), Codec::Lz4);
    assert!(
        cli.fail(&["recompress", "n.b2frame", "-o", "m.b2frame"], 1).contains("m.b2frame: exists already")
    );
    cli.succeed(&["recompress", "n.b2frame", "-f", "-o", "m.b2frame"], b"");
    assert_eq!(SuperChunk::open(cli.path("m.b2frame")).unwrap().info().params.get_codec(), Codec::Zstd);
    assert!(cli.fail(&["recompress", "n.b2frame", "m.b2frame", "-o", "x"], 2).contains("2 inputs"));
}

#[test]
fn a_lazy_expression_has_no_values() {
    let cli = Cli::new();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/lazy_expression.b2nd"), cli.path("e.b2nd"))
        .unwrap();
    write_array(&cli);
    for arguments in [
        &["cat", "e.b2nd"][..],
        &["slice", "e.b2nd", "0"],
        &["export", "e.b2nd", "e.npy"],
        &["decompress", "e.b2nd", "-o", "e"],
        &["recompress", "e.b2nd"],
        &["bench", "e.b2nd"],
    ] {
        let message = cli.fail(arguments, 1);
        assert!(message.contains("e.b2nd: is a lazy expression of python-blosc2"), "{message}");
    }
    assert!(cli.fail(&["diff", "a.b2nd", "e.b2nd"], 2).contains("lazy expression"));
    let info = String::from_utf8(cli.succeed(&["info", "e.b2nd"], b"")).unwrap();
    assert!(info.contains("type         lazy expression in a file"), "{info}");
    assert!(!cli.path("e.npy").exists());
}

#[test]
fn messages_name_files_once_and_never_temporary_ones() {
    let cli = Cli::new();
    cli.write("n", &random(3_000_000, 5));
    cli.write(
        "text",
        b"a text of some length, which is no frame and has no magic string\n".repeat(9).as_slice(),
    );
    cli.succeed(&["compress", "n"], b"");
    for arguments in [
        &["info"][..],
        &["verify"],
        &["cat"],
        &["recompress"],
        &["repair"],
        &["bench"],
        &["decompress", "-o", "x"],
    ] {
        let message = cli.fail(&[arguments, &["missing"]].concat(), 1);
        assert!(
            message.starts_with("blosc2: missing: ") && message.matches("missing").count() == 1,
            "{message}"
        );
        if arguments[0] != "bench" {
            let message = cli.fail(&[arguments, &["text"]].concat(), 1);
            assert_eq!(
                message, "blosc2: text: no frame and no chunk, expected a Blosc2 file\n",
                "{arguments:?}"
            );
        }
    }
    // A full disk.
    for (arguments, expected) in [
        ("compress n -o m", "m: "),
        ("compress n -o -", "a temporary file in "),
        ("compress - -o -", "a temporary file in "),
        ("recompress n.b2frame -c lz4", "n.b2frame: "),
        ("decompress n.b2frame -o m", "m: "),
        ("decompress - -o m", "a temporary file in "),
        ("repair n.b2frame", "n.b2frame: "),
    ] {
        // Bash has the limit of the size of files in KiB.
        let script = format!("trap '' XFSZ; ulimit -f 1000; exec \"$@\" {arguments} < n.b2frame > /dev/null");
        let mut words = vec!["-c".into(), script.into(), "bash".into()];
        words.extend(commands::program::blosc2_words());
        let mut command = Command::new("bash");
        command.args(words).current_dir(cli.path("")).env("TMPDIR", cli.path("tmp"));
        let output = command.output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {message}");
        assert!(message.starts_with(&format!("blosc2: {expected}")), "{arguments}: {message}");
        let has_temporary_name = message.contains(".tmp:") || message.contains(".tmp/");
        assert!(!has_temporary_name && message.lines().count() == 1, "{arguments}: {message}");
    }
}

#[test]
fn a_lack_of_threads_or_memory_is_a_message() {
    let cli = Cli::new();
    cli.write("n", &random(30_000_000, 5));
    cli.succeed(&["compress", "-q", "n"], b"");
    let mut failures = 0;
    for limit in ["18000", "30000", "60000", "150000"] {
        for arguments in ["compress -F n -o m", "decompress -F n.b2frame -o m", "verify n.b2frame"] {
            let script = format!("ulimit -v {limit}; exec \"$@\" -q {arguments} -T 2000");
            let output = Command::new("bash")
                .args(["-c", &script, "bash"])
                .args(commands::program::blosc2_words())
                .current_dir(cli.path(""))
                .output()
                .unwrap();
            let message = stderr(&output);
            // Where not even a few bytes are left, the standard library aborts the process.
            assert!(!message.contains("panicked"), "{limit} {arguments}: {message}");
            assert!(matches!(output.status.code(), None | Some(0 | 1)), "{limit} {arguments}: {message}");
            failures += u32::from(output.status.code() == Some(1));
        }
    }
    assert!(failures > 0, "no limit was too low");
}

#[test]
fn reading_verbs_read_streams() {
    let cli = Cli::new();
    write_array(&cli);
    let (array, npy) = (cli.read("a.b2nd"), cli.read("a.npy"));
    let text = |arguments: &[&str]| String::from_utf8(cli.succeed(arguments, &array)).unwrap();
    assert_eq!(text(&["cat", "-"]), String::from_utf8(cli.succeed(&["cat", "a.b2nd"], b"")).unwrap());
    assert_eq!(text(&["slice", "-", "-1,::50"]), "900 950\n");
    assert_eq!(text(&["verify", "-"]), "stdin: ok, all checksums are right\n");
    let info = text(&["info", "-"]);
    assert!(info.starts_with("stdin\n") && info.contains("shape        10,100"), "{info}");
    assert_eq!(text(&["diff", "-", "a.b2nd"]), "");
    let report: serde_json::Value =
        serde_json::from_str(&text(&["bench", "-", "-c", "lz4", "-l", "1", "--json"])).unwrap();
    assert_eq!(report["rows"][0]["typesize"], 8);
    for arguments in [&["cat", "-"][..], &["verify", "-"], &["info", "-"], &["slice", "-", "0"]] {
        let output = cli.run_with(arguments, &npy);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stderr(&output), "blosc2: stdin: no frame and no chunk, expected a Blosc2 file\n");
    }
    assert_eq!(cli.run(&["diff", "-", "-"]).status.code(), Some(2));
    // A frame in a FIFO is compared as a frame.
    assert!(Command::new("mkfifo").arg(cli.path("fifo")).status().unwrap().success());
    let writer = std::thread::spawn({
        let fifo = cli.path("fifo");
        move || fs::write(fifo, array).unwrap()
    });
    cli.succeed(&["recompress", "a.b2nd", "-c", "lz4"], b"");
    cli.succeed(&["diff", "fifo", "a.b2nd"], b"");
    writer.join().unwrap();
    assert!(fs::read_dir(cli.path("tmp")).unwrap().next().is_none(), "temporary files");
}

/// Returns the item size with which a file is compressed, and the note about it.
fn compressed(cli: &Cli, arguments: &[&str], stdin: &[u8]) -> (usize, String) {
    let output = cli.run_with(&[&["compress", "-f", "-o", "out"], arguments].concat(), stdin);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (SuperChunk::open(cli.path("out")).unwrap().typesize(), stderr(&output))
}

#[test]
fn the_item_size_is_that_of_a_numpy_file_or_of_samples() {
    let cli = Cli::new();
    write_array(&cli);
    let (typesize, note) = compressed(&cli, &["a.npy"], b"");
    assert!(typesize == 8 && note.contains("items of 8 bytes by the NumPy header"), "{note}");
    let singles: Vec<u8> = (0..2_000_000u32).flat_map(|n| (n as f32).sqrt().to_le_bytes()).collect();
    cli.write("singles", &singles);
    let (typesize, note) = compressed(&cli, &["singles"], b"");
    assert!(typesize == 4 && note.contains("items of 4 bytes by samples"), "{note}");
    let probed = cli.path("out").metadata().unwrap().len();
    let (typesize, note) = compressed(&cli, &["-t", "1", "singles"], b"");
    assert!(typesize == 1 && note.contains("items of 1 byte)"), "{note}");
    assert!(probed * 10 < cli.path("out").metadata().unwrap().len() * 9);
    // A stream, of which only the begin is known.
    assert_eq!(compressed(&cli, &["-"], &singles).0, 4);
    assert_eq!(compressed(&cli, &["-"], &cli.read("a.npy")).0, 8);
    assert_eq!(cli.succeed(&["decompress", "out", "-o", "-"], b""), cli.read("a.npy"));
    assert_eq!(compressed(&cli, &["-"], b"").0, 1);
    let words = random(100_000, 8)
        .into_iter()
        .map(|byte| &b"a word of some letters in a text"[..usize::from(byte) % 32]);
    let text = words.collect::<Vec<_>>().join(&b' ');
    assert_eq!(compressed(&cli, &["-"], &text).0, 1);
    let report: serde_json::Value =
        serde_json::from_slice(&cli.succeed(&["bench", "a.npy", "-c", "lz4", "-l", "1", "--json"], b""))
            .unwrap();
    assert_eq!(report["rows"][0]["typesize"], 8);
}

#[test]
fn metalayers_are_printed_set_and_removed() {
    let cli = Cli::new();
    write_array(&cli);
    let text = |arguments: &[&str]| String::from_utf8(cli.succeed(arguments, b"")).unwrap();
    let set = |arguments: &[&str]| cli.succeed(&[&["meta", "set", "a.b2nd"], arguments].concat(), b"");
    set(&["map", r#"{"unit": "m", "levels": [1, -2, 0.5]}"#]);
    set(&["map", r#"{"unit": "km", "levels": [1, -2, 0.5]}"#]);
    set(&["number", "-7"]);
    set(&["bytes", "00ff10", "--format=hex"]);
    set(&["raw", "a text", "--format", "raw"]);
    let value = |name: &str| -> serde_json::Value {
        serde_json::from_str(&text(&["meta", "get", "a.b2nd", name])).unwrap()
    };
    assert_eq!(value("map"), serde_json::json!({"unit": "km", "levels": [1, -2, 0.5]}));
    assert_eq!(value("number"), -7);
    assert_eq!((value("bytes"), value("raw")), ("00ff10".into(), "a text".into()));
    assert_eq!(text(&["meta", "get", "a.b2nd", "bytes", "--format=hex"]), "00ff10\n");
    assert_eq!(text(&["meta", "get", "a.b2nd", "raw", "--format=raw"]), "a text");
    // The shape of the array, as MessagePack.
    assert_eq!(value("b2nd")[2], serde_json::json!([10, 100]));
    let all: serde_json::Value = serde_json::from_str(&text(&["meta", "get", "a.b2nd"])).unwrap();
    assert_eq!(all.as_object().unwrap().len(), 5);
    let array = AnyArray::open(cli.path("a.b2nd")).unwrap();
    let layers = array.metalayers().unwrap();
    assert_eq!(layers.variable("number").unwrap().unwrap(), [0xf9]);
    assert_eq!(layers.variable("raw").unwrap().unwrap(), b"a text");
    let info = text(&["info", "--meta", "a.b2nd"]);
    assert!(info.contains(r#"{"levels":[1,-2,0.5],"unit":"km"}"#), "{info}");
    assert!(text(&["info", "--meta", "--hex", "a.b2nd"]).contains("      f9\n"));
    cli.succeed(&["meta", "rm", "a.b2nd", "map"], b"");
    let message = cli.fail(&["meta", "get", "a.b2nd", "map"], 1);
    assert!(message.contains("no metalayer \"map\"") && message.contains("\"number\""), "{message}");
    cli.fail(&["meta", "rm", "a.b2nd", "map"], 1);
    for arguments in [
        &["set", "a.b2nd", "b2nd", "1"][..],
        &["rm", "a.b2nd", "b2nd"],
        &["set", "a.b2nd", "x", "no quotes"],
        &["set", "a.b2nd", "x", "0f0", "--format=hex"],
    ] {
        cli.fail(&[&["meta"], arguments].concat(), 2);
    }
    // A metalayer in the header keeps its length, and stays.
    let mut schunk = SuperChunk::create(cli.path("s"), &Params::new()).unwrap();
    schunk.metalayers_mut().unwrap().set_fixed("f", &[1]).unwrap();
    schunk.append(&[1; 800]).unwrap();
    drop(schunk);
    cli.succeed(&["meta", "set", "s", "f", "65"], b"");
    assert_eq!(text(&["meta", "get", "s", "f"]), "65\n");
    cli.fail(&["meta", "set", "s", "f", "\"long\""], 1);
    assert!(cli.fail(&["meta", "rm", "s", "f"], 1).contains("in the header"));
    assert_eq!(text(&["verify", "-q", "s", "a.b2nd"]), "");
}
