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
    run_in_terminal_of(PtySize::default(), directory, program, arguments, environment)
}

fn run_in_terminal_of(
    size: PtySize,
    directory: &Path,
    program: &[OsString],
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> (u32, String) {
    let pair = native_pty_system().openpty(size).unwrap();
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

/// While the reader of the pipe stops, the bar shows a part of the bytes.
#[test]
fn the_bar_of_a_file_counts_bytes() {
    let cli = Cli::new();
    let directory = cli.path("");
    cli.write("numbers", &commands::numbers(64 << 20));
    let program = |words: &str| {
        let script = format!("\"$@\" {words} | {{ head -c 9000000; sleep 3; cat; }} >/dev/null");
        let mut words: Vec<OsString> = ["sh", "-c", &script, "sh"].map(OsString::from).to_vec();
        words.extend(blosc2_words());
        run_words_in_terminal(&directory, &words, &[], &[])
    };
    cli.succeed(&["compress", "-q", "numbers"], b"");
    let (code, printed) = program("decompress numbers.b2frame -o -");
    assert_eq!(code, 0, "{printed}");
    // A part of all bytes, not of one file.
    let counts = printed.match_indices("/64.00 MiB").map(|(at, _)| {
        let start = printed[..at].rfind(' ').unwrap_or(0);
        let start = printed[..start].rfind(' ').unwrap_or(0);
        printed[start..at].trim().to_owned()
    });
    let counts: Vec<String> = counts.collect();
    assert!(counts.iter().any(|count| count.ends_with("MiB") && !count.starts_with("64")), "{printed:?}");
}

#[test]
fn values_on_a_terminal_are_the_edges_in_columns() {
    let cli = Cli::new();
    let directory = cli.path("");
    let items: Vec<i32> = (0..2000).map(|n| if n == 0 { -1000 } else { n }).collect();
    blosc2::Array::<i32>::builder([20, 100]).create_from(cli.path("a.b2nd"), &items).unwrap();
    let (code, printed) = run_in_terminal(&directory, &["cat", "a.b2nd"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    assert_eq!(lines.len(), 7, "{printed:?}");
    assert_eq!(lines[0], "-1000     1     2 ...    97    98    99");
    assert_eq!(lines[3], "...");
    assert_eq!(lines[6], " 1900  1901  1902 ...  1997  1998  1999");
    let (_, printed) = run_in_terminal(&directory, &["cat", "--all", "a.b2nd"]);
    assert_eq!(printed.lines().count(), 20);
    // In a pipe, all values are printed.
    assert_eq!(String::from_utf8(cli.succeed(&["cat", "a.b2nd"], b"")).unwrap().lines().count(), 20);
}

#[test]
fn values_and_charts_fit_the_width_of_the_terminal() {
    let cli = Cli::new();
    let items: Vec<f64> = (0..900).map(|n| f64::from(n) / 7.0).collect();
    blosc2::Array::<f64>::builder([3, 300]).chunks([1, 10]).create_from(cli.path("a.b2nd"), &items).unwrap();
    let printed = |cols, arguments: &[&str]| {
        let size = PtySize { cols, ..PtySize::default() };
        let (code, printed) = run_in_terminal_of(size, &cli.path(""), &blosc2_words(), arguments, &[]);
        assert_eq!(code, 0, "{printed}");
        printed
    };
    let all = |printed: &str| printed.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = all(&String::from_utf8(cli.succeed(&["cat", "a.b2nd"], b"")).unwrap());
    let mut counts = Vec::new();
    for cols in [40, 80, 200] {
        let text = printed(cols, &["cat", "a.b2nd"]);
        assert!(text.lines().all(|line| line.chars().count() <= cols.into()), "{cols}: {text}");
        assert_eq!(all(&text), expected);
        counts.push(text.lines().count());
        assert_eq!(all(&printed(cols, &["slice", "a.b2nd", "1"])), expected[300..600]);
    }
    assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
    // The bars of `info --stats`.
    let text = printed(80, &["info", "--stats", "a.b2nd"]);
    let bars: Vec<&str> = text.lines().filter(|line| line.contains('#')).collect();
    assert!(bars.len() > 10 && bars.iter().all(|line| line.trim_end().len() <= 80), "{text}");
}

/// The process is stopped for longer than the time after which a bar appears.
#[test]
fn bars_of_checks_and_comparisons_count_bytes() {
    let cli = Cli::new();
    cli.write("a", &commands::random(48 << 20, 1));
    cli.succeed(&["compress", "-q", "-t1", "-c", "lz4", "--chunksize", "256K", "a"], b"");
    cli.succeed(&["import", "--shape=3072,16384", "--dtype=u1", "-c", "lz4", "a", "a.b2nd"], b"");
    for words in ["verify a.b2frame", "repair a.b2frame -o new", "diff a.b2frame a", "info --stats a.b2nd"] {
        let label = words.split([' ', '-']).find(|word| *word != "info" && !word.is_empty()).unwrap();
        let has_bar = |printed: &str| {
            // A number of bytes, and the one of all: `verify ███ 12.00 MiB/48.00 MiB`.
            let after = printed.split(label).skip(1).flat_map(|bar| bar.split_whitespace());
            let words: Vec<&str> = after.collect();
            words.windows(2).any(|pair| pair[0].contains("B/") && pair[1] == "MiB")
        };
        // The process begins its work, and ends it, at times that depend on the machine: a shorter delay is tried after one at
        // whose end there was no process, else a longer one.
        let (mut found, mut low, mut high) = (String::new(), 0.0, 1.0);
        let is_shown = (0..16).any(|attempt| {
            if attempt % 8 == 0 {
                (low, high) = (0.0, 1.0);
            }
            let delay = (low + high) / 2.0;
            let _ = std::fs::remove_file(cli.path("new"));
            let script = format!(
                "\"$@\" {words} & sleep {delay}; if kill -STOP $!; then sleep 1.3; kill -CONT $!; else echo ended; fi; wait $!"
            );
            let mut words: Vec<OsString> = ["sh", "-c", &script, "sh"].map(OsString::from).to_vec();
            words.extend(blosc2_words());
            let (code, printed) = run_words_in_terminal(&cli.path(""), &words, &[], &[]);
            assert_eq!(code, 0, "{printed}");
            if printed.contains("ended\r\n") { high = delay } else { low = delay }
            found = printed;
            has_bar(&found)
        });
        assert!(is_shown, "{words}: {found:?}");
    }
}

/// A thread for which there is no memory is no panic.
#[cfg(target_os = "linux")]
#[test]
fn threads_fit_into_the_address_space() {
    let cli = Cli::new();
    cli.write("numbers", &commands::numbers(20 << 20));
    for kibibytes in [60_000, 80_000, 120_000, 200_000, 400_000, 1_000_000] {
        let script =
            format!("ulimit -v {kibibytes}; exec \"$@\" compress -q -f -T 2000 --blocksize 1K -t 4 numbers");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, "sh"])
            .args(blosc2_words())
            .current_dir(cli.path(""))
            .output()
            .unwrap();
        let printed = commands::stderr(&output);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{kibibytes}: {:?} {printed}", output.status);
        assert!(!printed.contains("panicked") && printed.lines().count() <= 1, "{kibibytes}: {printed}");
    }
}
