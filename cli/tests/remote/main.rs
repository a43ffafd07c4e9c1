//! The command with URLs: the same output as with files, few requests, no secrets, and an exit code for each fault of a server.

#![cfg(feature = "remote")]

#[path = "../commands/mod.rs"]
mod commands;
#[allow(dead_code, unreachable_pub, reason = "that of the tests of the crate, which use all of it")]
mod server;

use blosc2::{Array, Params, SuperChunk};
use commands::{Cli, numbers, stderr};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use server::{Fault, Server};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Writes the files of the tests: arrays in a file, in a directory and in a zip file, a damaged file and a damaged directory, a
/// super-chunk, a chunk, a NumPy file and raw numbers.
fn write_files(cli: &Cli) {
    let items: Vec<i32> = (0..60_000).map(|n| n / 7 * 13 % 1000).collect();
    let array =
        || Array::<i32>::builder([300, 200]).chunks([100, 100]).blocks([20, 50]).metalayer("unit", b"\xa1K");
    array().create_from(cli.path("a.b2nd"), &items).unwrap();
    array().directory(true).create_from(cli.path("directory.b2nd"), &items).unwrap();
    let mut schunk = SuperChunk::create(cli.path("s.b2frame"), &Params::new().typesize(4)).unwrap();
    let content = numbers(300_000);
    content.chunks(50_000).for_each(|chunk| assert!(schunk.append(chunk).is_ok()));
    schunk.metalayers_mut().unwrap().set_variable("note", b"text").unwrap();
    cli.write("chunk", schunk.chunk(0).unwrap().as_bytes());
    cli.write("raw", &content);
    cli.succeed(&["export", "a.b2nd", "a.npy"], b"");
    let mut damaged = cli.read("a.b2nd");
    damaged[5000] ^= 1;
    cli.write("damaged.b2nd", &damaged);
    array().directory(true).create_from(cli.path("lost.b2nd"), &items).unwrap();
    fs::remove_file(cli.path("lost.b2nd/00000001.chunk")).unwrap();
    let mut chunk = cli.read("lost.b2nd/00000002.chunk");
    *chunk.last_mut().unwrap() ^= 1;
    cli.write("lost.b2nd/00000002.chunk", &chunk);
    cli.write("other_data.b2nd", &[&cli.read("a.b2nd")[..], b"other data"].concat());
    let mut zip = ZipArchiveWriter::new(Vec::new());
    for (name, file) in [("a.b2nd", "a.b2nd"), ("g/s.b2frame", "s.b2frame")] {
        let (mut entry, config) =
            zip.new_file(name).compression_method(CompressionMethod::STORE).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(&cli.read(file)).unwrap();
        let (_, output) = writer.finish().unwrap();
        entry.finish(output).unwrap();
    }
    cli.write("store.b2z", &zip.finish().unwrap());
}

/// Puts the files, and those of the directory, on a server.
fn serve(cli: &Cli) -> Server {
    let server = Server::new();
    add(&server, &cli.path(""), "");
    server
}

fn add(server: &Server, directory: &Path, prefix: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let (path, name) =
            (entry.as_ref().unwrap().path(), entry.unwrap().file_name().into_string().unwrap());
        match path.is_dir() {
            true => add(server, &path, &format!("{prefix}{name}/")),
            false => server.add(&format!("{prefix}{name}"), fs::read(path).unwrap()),
        }
    }
}

/// Returns the prefixes of URLs of the files.
fn bases(cli: &Cli, server: &Server) -> [String; 2] {
    [server.url(""), format!("file://{}/", cli.path("").canonicalize().unwrap().display())]
}

/// Runs the command with files, which are named `@file`, and with their URLs: the output is the same, except for names.
fn compare(cli: &Cli, bases: &[String], line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let on_disk = |word: &&str| word.replace('@', "");
    let expected = run(cli, &words.iter().map(on_disk).collect::<Vec<_>>());
    for base in bases {
        let found = run(cli, &words.iter().map(|word| word.replace('@', base)).collect::<Vec<_>>());
        let names = |text: String| text.replace(base.as_str(), "");
        assert_eq!(found.0, expected.0, "{line}: {}", found.2);
        assert_eq!(names(found.1), expected.1, "{line}");
        assert_eq!(names(found.2), expected.2, "{line}");
    }
}

fn run(cli: &Cli, words: &[String]) -> (Option<i32>, String, String) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = cli.run(&words);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), stdout, stderr(&output))
}

#[test]
fn verbs_print_the_same_as_for_files() {
    let cli = Cli::new();
    write_files(&cli);
    let server = serve(&cli);
    let bases = bases(&cli, &server);
    for line in [
        "info @a.b2nd",
        "info --json --meta --chunks --stats @a.b2nd @s.b2frame @chunk @directory.b2nd @other_data.b2nd",
        "info --tree @a.b2nd @chunk @store.b2z",
        "info @store.b2z",
        "info @raw",
        "cat @a.b2nd",
        "cat --csv --dtype i4 @s.b2frame",
        "cat @s.b2frame @directory.b2nd",
        "cat @store.b2z/a",
        "slice @a.b2nd 100:250:7,...,-1",
        "slice --json @directory.b2nd 5",
        "slice @s.b2frame 100:200",
        "slice @store.b2z/g/s 10:20",
        "verify @a.b2nd @s.b2frame @damaged.b2nd @other_data.b2nd @raw @chunk",
        "verify --json @damaged.b2nd",
        "verify @directory.b2nd @lost.b2nd",
        "verify --json @lost.b2nd",
        "verify --against @a.npy @a.b2nd",
        "verify --against raw @s.b2frame",
        "diff @a.b2nd @damaged.b2nd",
        "diff @a.b2nd a.npy",
        "diff a.b2nd @a.npy",
        "diff --atol 1 @directory.b2nd @a.npy",
        "diff @s.b2frame @raw",
        "diff @raw @chunk",
        "meta get @a.b2nd",
        "meta get @s.b2frame note",
    ] {
        compare(&cli, &bases, line);
    }
}

/// Removes a file or a directory. Returns the names and the bytes of its files.
fn take(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        return vec![(String::new(), bytes)];
    }
    let names = commands::names(path);
    let files = names.into_iter().map(|name| (name.clone(), fs::read(path.join(name)).unwrap())).collect();
    fs::remove_dir_all(path).unwrap();
    files
}

#[test]
fn verbs_write_the_same_files() {
    let cli = Cli::new();
    write_files(&cli);
    let server = serve(&cli);
    for base in bases(&cli, &server) {
        for (verb, input, option, output) in [
            ("export --slice ::3,5:100", "a.b2nd", "", "part.npy"),
            ("export", "directory.b2nd", "", "numbers"),
            ("import --chunks 50,50", "a.npy", "", "new.b2nd"),
            ("import --shape 75000 --dtype i4", "raw", "", "raw.b2nd"),
            ("compress", "raw", "-o", "raw.b2frame"),
            ("decompress", "s.b2frame", "-o", "content"),
            ("decompress", "store.b2z/a", "-o", "items"),
            ("recompress -c lz4 -l 9", "s.b2frame", "-o", "lz4.b2frame"),
            ("recompress -c lz4", "directory.b2nd", "-o", "lz4.b2nd"),
            ("repair", "damaged.b2nd", "-o", "repaired.b2nd"),
            ("repair", "lost.b2nd", "-o", "repaired.b2nd"),
        ] {
            let read = |input: &str| {
                let words = [verb, "-q", input, option, output].join(" ");
                let (code, _, errors) =
                    run(&cli, &words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
                assert_eq!(code, Some(if verb == "repair" { 2 } else { 0 }), "{words}: {errors}");
                take(&cli.path(output))
            };
            assert!(read(&format!("{base}{input}")) == read(input), "{verb} {input}");
        }
        cli.succeed(&["bench", "--codecs", "lz4", "--levels", "1", &format!("{base}a.b2nd")], b"");
        cli.succeed(&["append", "s.b2frame", &format!("{base}raw")], b"");
    }
    assert_eq!(commands::names(&cli.path("tmp")), [""; 0]);
}

#[test]
fn outputs_are_uploaded_whole_or_not_at_all() {
    let cli = Cli::new();
    write_files(&cli);
    fs::create_dir(cli.path("out")).unwrap();
    let out = format!("file://{}", cli.path("out").canonicalize().unwrap().display());
    let url = |name: &str| format!("{out}/{name}");
    let files = || commands::names(&cli.path("out"));
    for (words, output) in [
        (vec!["compress", "raw", "-o"], "raw.b2frame"),
        (vec!["decompress", "s.b2frame", "-o"], "content"),
        (vec!["export", "a.b2nd"], "items"),
        (vec!["import", "a.npy"], "new.b2nd"),
        (vec!["recompress", "-c", "lz4", "a.b2nd", "-o"], "lz4.b2nd"),
        (vec!["repair", "other_data.b2nd", "-o"], "repaired.b2nd"),
    ] {
        let with = |output: &str| {
            [&["-q"], &words[..], &[output]].concat().iter().map(|&word| word.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(run(&cli, &with("local")).0, Some(0), "{words:?}");
        assert_eq!(run(&cli, &with(&url(output))).0, Some(0), "{words:?}");
        assert!(fs::read(cli.path("out").join(output)).unwrap() == cli.read("local"), "{words:?}");
        fs::remove_file(cli.path("local")).unwrap();
    }
    assert_eq!(files().len(), 6);
    // An existing file is replaced with --force only.
    let existing = url("content");
    let message = cli.fail(&["compress", "-q", "raw", "-o", &existing], 1);
    assert_eq!(message, format!("blosc2: {existing}: exists already; --force overwrites it\n"));
    assert!(fs::read(cli.path("out/content")).unwrap() == cli.read("raw"));
    cli.succeed(&["compress", "-q", "-f", "raw", "-o", &existing], b"");
    assert!(fs::read(cli.path("out/content")).unwrap() == fs::read(cli.path("out/raw.b2frame")).unwrap());
    // Output beside the input.
    cli.succeed(&["decompress", "-q", &url("raw.b2frame")], b"");
    assert!(fs::read(cli.path("out/raw")).unwrap() == cli.read("raw"));
    // A verb that fails.
    let message = cli.fail(&["decompress", "-q", "damaged.b2nd", "-o", &url("damaged")], 1);
    assert!(message.contains("damaged.b2nd"), "{message}");
    let same = url("lz4.b2nd");
    let message = cli.fail(&["recompress", "-f", &same, "-o", &same], 1);
    assert!(message.contains("is the input"), "{message}");
    assert_eq!(files().len(), 7);
    assert_eq!(commands::names(&cli.path("tmp")), [""; 0]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_verb_uploads_nothing() {
    let cli = Cli::new();
    fs::create_dir(cli.path("out")).unwrap();
    let url = format!("file://{}/new.b2frame", cli.path("out").canonicalize().unwrap().display());
    let mut child = cli.start(&["compress", "-", "-o", &url]);
    child.stdin.as_mut().unwrap().write_all(&numbers(10_000_000)).unwrap();
    while commands::names(&cli.path("tmp")).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    commands::signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), None);
    assert_eq!(commands::names(&cli.path("out")), [""; 0]);
    assert_eq!(commands::names(&cli.path("tmp")), [""; 0]);
}

#[test]
fn files_of_urls_are_not_changed() {
    let cli = Cli::new();
    write_files(&cli);
    let url = format!("file://{}/s.b2frame", cli.path("").canonicalize().unwrap().display());
    let before = cli.read("s.b2frame");
    for (words, code, part) in [
        (vec!["append", &url, "raw"], 1, "not changed in place"),
        (vec!["meta", "set", &url, "name", "1"], 1, "not changed in place"),
        (vec!["meta", "rm", &url, "note"], 1, "not changed in place"),
        (vec!["recompress", &url], 1, "expected --output"),
        (vec!["decompress", "--rm", &url], 2, "--rm"),
    ] {
        let message = cli.fail(&words, code);
        assert!(message.contains(part), "{words:?}: {message}");
    }
    assert!(cli.read("s.b2frame") == before);
}

#[test]
fn a_slice_takes_few_requests_which_are_listed() {
    let cli = Cli::new();
    write_files(&cli);
    let server = serve(&cli);
    let url = server.url("a.b2nd");
    let output = cli.run(&["slice", "--json", "--requests", &url, "7,8"]);
    let requests = server.take_requests();
    assert!(requests.len() <= 5, "{requests:?}");
    let found: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(found["requests"], requests.len());
    let list = found["list"].as_array().unwrap();
    assert_eq!(list.len(), requests.len());
    assert!(list.iter().all(|request| request["method"] == "GET" && request["url"] == url), "{found}");
    let nbytes: u64 = list.iter().map(|request| request["nbytes"].as_u64().unwrap()).sum();
    assert_eq!(found["nbytes"], nbytes);
    let output = cli.run(&["-q", "--requests", "slice", &url, "7,8"]);
    let text = stderr(&output);
    assert_eq!(text.lines().count(), requests.len() + 1, "{text}");
    assert!(text.lines().last().unwrap().starts_with(&format!("{} requests, ", requests.len())), "{text}");
    let output = cli.run(&["info", "--requests", "a.b2nd"]);
    assert_eq!(stderr(&output), "0 requests, 0 B\n");
}

#[test]
fn faults_of_a_server_are_errors_with_the_url() {
    let cli = Cli::new();
    write_files(&cli);
    let server = serve(&cli);
    let url = server.url("a.b2nd");
    let with_secret = url.replace("http://", "http://user:geheim@");
    let npy = server.url("a.npy");
    for fault in [Fault::Status(403), Fault::Status(404), Fault::Status(500), Fault::Truncate, Fault::Drop] {
        server.fail(Some(fault));
        for (words, code) in [
            (vec!["info", &with_secret], 1),
            (vec!["cat", &with_secret], 1),
            (vec!["verify", &with_secret], 1),
            (vec!["export", &with_secret, "new.npy"], 1),
            (vec!["import", &npy, "new.b2nd"], 1),
            (vec!["diff", "a.b2nd", &with_secret], 2),
        ] {
            let output = cli.run(&[&["--remote-timeout", "1"], &words[..]].concat());
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{fault:?} {words:?}: {message}");
            assert_eq!(message.lines().count(), 1, "{fault:?} {words:?}: {message}");
            assert!(message.contains(if words[0] == "import" { &npy } else { &url }), "{fault:?}: {message}");
            assert!(!message.contains("geheim"), "{message}");
        }
    }
    assert_eq!(commands::names(&cli.path("tmp")), [""; 0]);
    assert!(!cli.path("new.npy").exists() && !cli.path("new.b2nd").exists());
}

#[test]
fn no_output_has_a_secret() {
    let cli = Cli::new();
    write_files(&cli);
    let server = serve(&cli);
    let with_secret = |name: &str| server.url(name).replace("http://", "http://user:geheim@");
    let (array, frame) = (with_secret("a.b2nd"), with_secret("s.b2frame"));
    let query = format!("{}?token=geheim", server.url("a.b2nd"));
    for words in [
        vec!["info", "--json", "--requests", &array],
        vec!["info", "--tree", &array],
        vec!["verify", "-v", "--json", &array],
        vec!["verify", "--against", &array, &array],
        vec!["export", "-v", "--requests", &array, "part.npy"],
        vec!["decompress", "-v", &frame, "-o", "content"],
        vec!["recompress", "-v", &frame, "-o", "new.b2frame"],
        vec!["diff", "-v", &array, &array],
        vec!["diff", "-v", &array, &frame],
        vec!["compress", "--dry-run", &with_secret("raw")],
        vec!["info", &query],
        vec!["compress", "raw", "-o", &query],
        vec!["info", &with_secret("missing")],
        vec!["slice", &array, "0", &array],
        vec!["meta", "get", &frame, "name", &array],
    ] {
        let (_, stdout, stderr) = run(&cli, &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert!(!stdout.contains("geheim") && !stderr.contains("geheim"), "{words:?}: {stdout}{stderr}");
        assert!(!stdout.is_empty() || !stderr.is_empty() || words[0] == "diff", "{words:?}");
    }
}
