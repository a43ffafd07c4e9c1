//! `blosc2 compress` and `blosc2 decompress` on a terminal: binary data, the progress bar, and colours.

mod commands;

use commands::Cli;
use commands::program::{blosc2_command, blosc2_words};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Runs the command with a pseudo-terminal in `directory`. Returns the exit code, and what was printed.
fn run_in_terminal(directory: &Path, arguments: &[&str]) -> (u32, String) {
    run_words_in_terminal(directory, &blosc2_words(), arguments, &[])
}

/// Runs a program and its first arguments with environment variables in a pseudo-terminal.
fn run_words_in_terminal(
    directory: &Path,
    program: &[OsString],
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (u32, String) {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(&program[0]);
    command.args(&program[1..]);
    command.args(arguments);
    command.cwd(directory);
    command.env("TERM", "xterm-256color");
    command.env_remove("NO_COLOR");
    for (name, value) in environment {
        command.env(name, value);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut printed = Vec::new();
    // Linux reports the end of the other side as an error.
    let _ = reader.read_to_end(&mut printed);
    (child.wait().unwrap().exit_code(), String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn binary_data_goes_to_a_terminal_only_by_force() {
    let cli = Cli::new();
    cli.write("a", b"content of a file");
    cli.succeed(&["compress", "a"], b"");
    let directory = cli.path("");
    let cases: [(&[&str], &str); 4] = [
        (&["compress", "a", "-o", "-"], "b2frame"),
        (&["compress", "-"], "b2frame"),
        (&["decompress", "a.b2frame", "-o", "-"], "content of a file"),
        (&["decompress", "-"], "content of a file"),
    ];
    for (arguments, content) in cases {
        let (code, printed) = run_in_terminal(&directory, arguments);
        assert_eq!(code, 2, "{arguments:?}: {printed}");
        assert!(printed.contains("stdout is a terminal; --force"), "{printed:?}");
        assert!(!printed.contains(content), "{printed:?}");
        if arguments.len() > 2 {
            let (code, printed) = run_in_terminal(&directory, &[arguments, &["--force"]].concat());
            assert_eq!(code, 0, "{arguments:?}: {printed}");
            assert!(printed.contains(content), "{printed:?}");
        }
    }
    assert_eq!(cli.names(), ["a", "a.b2frame", "tmp"]);
}

/// A shell command that compresses an input which takes two seconds to arrive.
const SLOW_INPUT: &str =
    "{ head -c 5000000 /dev/zero; sleep 2; echo end; } | \"$@\" compress - -o slow.b2frame";

#[test]
fn a_bar_with_the_rate_appears_on_a_terminal_after_a_second() {
    let cli = Cli::new();
    let directory = cli.path("");
    let run = |option: &str| {
        let mut words: Vec<OsString> = ["sh", "-c", SLOW_INPUT, "sh"].map(OsString::from).to_vec();
        words.extend(blosc2_words());
        words.push(option.into());
        let _ = std::fs::remove_file(cli.path("slow.b2frame"));
        run_words_in_terminal(&directory, &words, &[], &[])
    };
    let (code, printed) = run("--verbose");
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("MiB/s") || printed.contains("B/s"), "{printed:?}");
    assert!(printed.contains("stdin: 4.8 MiB -> "), "{printed:?}");
    let (code, printed) = run("--quiet");
    assert_eq!((code, printed.as_str()), (0, ""));
    // A short operation shows no bar.
    cli.write("short", b"content");
    let (code, printed) = run_in_terminal(&directory, &["compress", "short"]);
    assert_eq!(code, 0);
    assert!(!printed.contains("B/s"), "{printed:?}");
}

#[test]
fn a_pipe_gets_no_bar_and_no_colours() {
    let cli = Cli::new();
    let mut child = blosc2_command()
        .args(["compress", "-", "-o", "slow.b2frame"])
        .current_dir(cli.path(""))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[0; 1000]).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.starts_with("stdin: 1000 B -> ") && printed.lines().count() == 1, "{printed:?}");
    assert!(!printed.contains('\u{1b}'), "{printed:?}");
}

#[test]
fn errors_have_colours_on_a_terminal_unless_no_color_is_set() {
    let cli = Cli::new();
    let directory = cli.path("");
    let run = |environment: &[(&str, &str)]| {
        run_words_in_terminal(&directory, &blosc2_words(), &["info", "missing"], environment)
    };
    let (code, printed) = run(&[]);
    assert_eq!(code, 1);
    assert!(printed.contains('\u{1b}') && printed.contains("missing"), "{printed:?}");
    let (code, printed) = run(&[("NO_COLOR", "1")]);
    assert_eq!(code, 1);
    assert!(!printed.contains('\u{1b}') && printed.contains("missing"), "{printed:?}");
    assert_eq!(printed.trim_end().lines().count(), 1, "{printed:?}");
}

#[test]
fn the_benchmark_draws_its_chart() {
    let cli = Cli::new();
    cli.write("a", &b"some content of a file ".repeat(1000));
    let arguments = ["bench", "a", "-c", "lz4,zstd", "-l", "1", "-t", "1"];
    let (code, printed) = run_in_terminal(&cli.path(""), &arguments);
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.contains("decompression speed") && printed.contains("* first row, 4 lz4, s zstd"),
        "{printed}"
    );
    let plot = printed.split_once("ratio (content / compressed)").expect("a chart").1;
    assert!(plot.lines().all(|line| line.chars().count() <= 80), "{printed}");
}
