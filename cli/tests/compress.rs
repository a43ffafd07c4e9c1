//! `blosc2 compress` and `blosc2 decompress`: round trips, names, and what happens to files.

mod commands;

use commands::{Cli, numbers, random, stderr};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
/// Size of chunks in bytes: a multiple of 1 and 4, but not of 7 and 100.
const CHUNK: usize = 65536;
const SIZES: [usize; 8] = [0, 1, 6, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK + CHUNK / 2 + 3];

#[test]
fn files_of_all_sizes_return_with_all_codecs_and_item_sizes() {
    for codec in CODECS {
        for typesize in ["1", "4", "7", "100"] {
            let cli = Cli::new();
            let contents: Vec<(String, Vec<u8>)> = SIZES
                .into_iter()
                .flat_map(|len| [(format!("n{len}"), numbers(len)), (format!("r{len}"), random(len, 1))])
                .collect();
            for (name, content) in &contents {
                cli.write(name, content);
            }
            let names: Vec<&str> = contents.iter().map(|(name, _)| name.as_str()).collect();
            let options = ["compress", "-c", codec, "-t", typesize, "--chunksize", "64K", "--rm", "-q"];
            cli.succeed(&[&options[..], &names].concat(), b"");
            let frames: Vec<String> = names.iter().map(|name| format!("{name}.b2frame")).collect();
            let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
            for (frame, name) in frames.iter().zip(&names) {
                assert!(!cli.path(name).exists());
                let schunk = blosc2::SuperChunk::open(cli.path(frame)).unwrap();
                assert_eq!(schunk.info().params.get_codec().to_string(), codec);
                assert_eq!(schunk.typesize().to_string(), typesize);
                let size = CHUNK - CHUNK % schunk.typesize();
                assert_eq!(schunk.nchunks(), schunk.nbytes().div_ceil(size as u64));
                assert!(blosc2::verify(cli.path(frame), 1).unwrap().is_empty());
            }
            cli.succeed(&[&["decompress", "--rm", "-q"], &frames[..]].concat(), b"");
            for (name, content) in &contents {
                assert_eq!(&cli.read(name), content, "{codec} {typesize} {name}");
            }
            assert_eq!(cli.names().len(), names.len() + 1);
        }
    }
}

#[test]
fn streams_of_all_sizes_return() {
    let cli = Cli::new();
    for len in SIZES {
        for content in [numbers(len), random(len, 2)] {
            let options = ["compress", "-", "-t", "4", "--chunksize", "64K", "-T", "3"];
            let frame = cli.succeed(&options, &content);
            assert_eq!(blosc2::SuperChunk::from_frame(&frame).unwrap().nbytes(), len as u64);
            assert_eq!(cli.succeed(&["decompress", "-"], &frame), content);
            assert_eq!(cli.succeed(&["decompress", "-", "-o", "out", "-f"], &frame), b"");
            assert_eq!(cli.read("out"), content);
            assert!(fs::read_dir(cli.path("tmp")).unwrap().next().is_none(), "temporary files");
        }
    }
}

#[test]
fn files_go_to_stdout_and_streams_to_files() {
    let cli = Cli::new();
    let content = numbers(300_000);
    cli.write("a", &content);
    let frame = cli.succeed(&["compress", "a", "-o", "-"], b"");
    assert_eq!(cli.names(), ["a", "tmp"]);
    cli.write("b.b2frame", &frame);
    assert_eq!(cli.succeed(&["decompress", "b.b2frame", "-o", "-"], b""), content);
    cli.succeed(&["compress", "-", "-o", "c"], &content);
    assert_eq!(cli.read("c"), frame);
    assert_eq!(cli.names(), ["a", "b.b2frame", "c", "tmp"]);
}

#[test]
fn modes_and_times_are_kept() {
    let cli = Cli::new();
    let source = cli.write("a", &numbers(1000));
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 500);
    for mode in [0o600, 0o444, 0o754] {
        fs::set_permissions(&source, PermissionsExt::from_mode(0o600)).unwrap();
        fs::File::options().write(true).open(&source).unwrap().set_modified(time).unwrap();
        fs::set_permissions(&source, PermissionsExt::from_mode(mode)).unwrap();
        cli.succeed(&["compress", "-f", "a"], b"");
        cli.succeed(&["decompress", "-f", "a.b2frame", "-o", "b"], b"");
        for name in ["a.b2frame", "b"] {
            let metadata = cli.path(name).metadata().unwrap();
            assert_eq!(metadata.permissions().mode() & 0o7777, mode, "{name}");
            assert_eq!(metadata.modified().unwrap(), time, "{name}");
        }
    }
}

#[test]
fn inputs_stay_unless_rm() {
    let cli = Cli::new();
    cli.write("a", b"content");
    cli.succeed(&["compress", "a"], b"");
    assert_eq!(cli.names(), ["a", "a.b2frame", "tmp"]);
    cli.succeed(&["decompress", "a.b2frame", "-o", "b", "--keep"], b"");
    assert_eq!(cli.names(), ["a", "a.b2frame", "b", "tmp"]);
    cli.succeed(&["decompress", "a.b2frame", "-o", "c", "--rm"], b"");
    assert_eq!(cli.names(), ["a", "b", "c", "tmp"]);
    assert_eq!(cli.run(&["compress", "a", "--rm", "--keep"]).status.code(), Some(2));
    // An input stays if its output could not be written.
    cli.write("a.b2frame", b"old");
    cli.fail(&["compress", "a", "--rm"], 1);
    assert_eq!(cli.read("a"), b"content");
}

#[test]
fn existing_outputs_stay_without_force() {
    let cli = Cli::new();
    cli.write("a", b"content");
    cli.write("a.b2frame", b"old");
    let message = cli.fail(&["compress", "a"], 1);
    assert!(message.contains("a.b2frame: exists already"), "{message}");
    assert_eq!(cli.read("a.b2frame"), b"old");
    cli.succeed(&["compress", "a", "--force"], b"");
    cli.write("a", b"old");
    assert!(cli.fail(&["decompress", "a.b2frame"], 1).contains("a: exists already"));
    assert_eq!(cli.read("a"), b"old");
    cli.succeed(&["decompress", "a.b2frame", "--force"], b"");
    assert_eq!(cli.read("a"), b"content");
    // A symbolic link to nothing exists, too.
    symlink("missing", cli.path("link")).unwrap();
    cli.fail(&["compress", "a", "-o", "link"], 1);
    assert_eq!(cli.names(), ["a", "a.b2frame", "link", "tmp"]);
}

#[test]
fn an_output_that_is_the_input_is_refused() {
    let cli = Cli::new();
    cli.write("a", b"content");
    for verb in ["compress", "decompress"] {
        let message = cli.fail(&[verb, "a", "-o", "./a", "--force", "--rm"], 1);
        assert!(message.contains("is the input"), "{message}");
    }
    assert_eq!(cli.read("a"), b"content");
}

#[test]
fn inputs_that_fail_are_named_and_the_others_follow() {
    let cli = Cli::new();
    cli.write("a", b"content");
    cli.write("b.b2frame", b"");
    cli.write("c.b2nd", b"");
    fs::create_dir(cli.path("d")).unwrap();
    let output = cli.run(&["compress", "missing", "b.b2frame", "c.b2nd", "d", "a"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("blosc2: missing: "), "{message}");
    assert_eq!(lines[1], "blosc2: b.b2frame: is compressed already, skipped");
    assert_eq!(lines[2], "blosc2: c.b2nd: is compressed already, skipped");
    assert_eq!(lines[3], "blosc2: d: is a directory, expected a file; -r compresses the files in it");
    assert!(lines[4].starts_with("a: 7 B -> "), "{message}");
    assert_eq!(lines.len(), 5);
    let output = cli.run(&["decompress", "-f", "missing.b2frame", "b.b2frame", "a", "a.b2frame"]);
    let message = stderr(&output);
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 4), "{message}");
    assert!(message.lines().nth(2).unwrap().contains("a: expected a name with .b2frame"), "{message}");
    assert_eq!(cli.read("a"), b"content");
    assert_eq!(cli.names(), ["a", "a.b2frame", "b.b2frame", "c.b2nd", "d", "tmp"]);
}

#[test]
fn arguments_that_are_not_valid_end_with_2() {
    let cli = Cli::new();
    cli.write("a", b"content");
    cli.write("b", b"content");
    for arguments in [
        &["compress", "a", "b", "-o", "c"][..],
        &["compress", "a", "-"],
        &["decompress", "a", "b", "-o", "c"],
        &["decompress", "-", "a"],
        &["compress", "a", "--chunksize", "2G"],
        &["compress", "a", "--chunksize", "3", "-t", "4"],
        &["compress", "a", "--filters", "shuffle,shuffle,shuffle,shuffle,shuffle,shuffle,shuffle"],
    ] {
        cli.fail(arguments, 2);
    }
    assert_eq!(cli.names(), ["a", "b", "tmp"]);
}

#[test]
fn a_note_states_sizes_and_ratio_unless_quiet() {
    let cli = Cli::new();
    cli.write("a", &vec![0; 10 << 20]);
    let note = stderr(&cli.run(&["compress", "a"]));
    assert!(
        note.starts_with("a: 10.0 MiB -> ") && note.contains("x, items of 1 byte by samples), "),
        "{note}"
    );
    assert!(note.ends_with(" s\n"), "{note}");
    let quiet = cli.run(&["compress", "-q", "-f", "a"]);
    assert_eq!((quiet.status.code(), stderr(&quiet).as_str()), (Some(0), ""));
}

#[test]
fn pipes_are_inputs_with_a_named_output() {
    let cli = Cli::new();
    let fifo = cli.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let content = numbers(200_000);
    let writer = std::thread::spawn({
        let content = content.clone();
        move || fs::write(fifo, content).unwrap()
    });
    cli.succeed(&["compress", "fifo", "-o", "a.b2frame", "--rm"], b"");
    writer.join().unwrap();
    cli.succeed(&["decompress", "a.b2frame"], b"");
    assert_eq!(cli.read("a"), content);
    // Only regular files are removed.
    assert_eq!(cli.names(), ["a", "a.b2frame", "fifo", "tmp"]);
}

#[test]
fn the_default_level_and_blocks_of_files_are_those_of_the_help() {
    let cli = Cli::new();
    cli.write("f", &numbers(3 << 20));
    let params = |options: &[&str]| {
        cli.succeed(&[&["compress", "-q", "-f", "-t", "4", "f"], options].concat(), b"");
        let frame = blosc2::SuperChunk::open(cli.path("f.b2frame")).unwrap();
        (frame.info().params.get_level(), frame.chunk_info(0).unwrap().blocksize)
    };
    let help = String::from_utf8(cli.succeed(&["compress", "--help"], b"")).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("[default: 2 for zstd, 5 for others]"), "{help}");
    assert!(help.contains("[default: 512K for zstd up to level 8, otherwise chosen by codec and level]"));
    assert_eq!(params(&[]), (2, 512 << 10));
    assert_eq!(params(&["-l", "8"]), (8, 512 << 10));
    assert_eq!(params(&["--blocksize", "64K"]), (2, 64 << 10));
    assert_eq!(params(&["-l", "9"]), (9, 1 << 20));
    assert_eq!(params(&["-c", "lz4"]), (5, 256 << 10));
    assert_eq!(params(&["-c", "zlib"]).0, 5);
    cli.succeed(&["recompress", "-q", "-c", "zstd", "-l", "3", "f.b2frame"], b"");
    let frame = blosc2::SuperChunk::open(cli.path("f.b2frame")).unwrap();
    assert_eq!((frame.info().params.get_level(), frame.chunk_info(0).unwrap().blocksize), (3, 512 << 10));
}
