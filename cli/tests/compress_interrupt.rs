//! `blosc2 compress` and `blosc2 decompress` that are interrupted or killed: the destination is whole or missing.

mod commands;

use commands::{Cli, names, numbers, random, signal};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Number of moments at which the command is ended.
const MOMENTS: u32 = 30;

/// Returns a content of which half can be compressed.
fn content() -> Vec<u8> {
    [numbers(12 << 20), random(12 << 20, 3)].concat()
}

/// Ends the command by `end` at moments from its begin to behind its end, and calls `check` if the destination exists
/// then. A command that handled the signal has removed its temporary files.
fn end_at_moments(cli: &Cli, arguments: &[&str], destination: &str, end: fn(&mut Child), check: fn(&Cli)) {
    let start = Instant::now();
    cli.succeed(arguments, b"");
    let whole = start.elapsed();
    check(cli);
    std::fs::remove_file(cli.path(destination)).unwrap();
    let mut missing = 0;
    for moment in 0..MOMENTS {
        let mut child = cli.start(arguments);
        std::thread::sleep(whole * moment / (MOMENTS - 10));
        end(&mut child);
        // The number of SIGINT.
        if child.wait().unwrap().signal() == Some(2) {
            assert!(!cli.names().iter().any(|name| name.starts_with('.')), "{:?}", cli.names());
        }
        if cli.path(destination).exists() {
            check(cli);
            std::fs::remove_file(cli.path(destination)).unwrap();
        } else {
            missing += 1;
        }
    }
    assert!(missing > 0, "the command was never ended before its end");
}

/// Sends SIGINT to a command that may have ended.
fn interrupt(child: &mut Child) {
    if child.try_wait().unwrap().is_none() {
        signal(child, "-INT");
    }
}

fn check_frame(cli: &Cli) {
    assert!(blosc2::verify(cli.path("a.b2frame"), 2).unwrap().is_empty());
    assert_eq!(blosc2::SuperChunk::open(cli.path("a.b2frame")).unwrap().nbytes(), 24 << 20);
}

fn check_content(cli: &Cli) {
    assert!(cli.read("b") == content());
}

#[test]
fn a_killed_compression_leaves_a_whole_frame_or_none() {
    let cli = Cli::new();
    cli.write("a", &content());
    let kill = |child: &mut Child| child.kill().unwrap();
    end_at_moments(&cli, &["compress", "a", "--chunksize", "256K"], "a.b2frame", kill, check_frame);
}

#[test]
fn a_killed_decompression_leaves_the_whole_content_or_nothing() {
    let cli = Cli::new();
    cli.write("a", &content());
    cli.succeed(&["compress", "a", "--chunksize", "256K"], b"");
    let kill = |child: &mut Child| child.kill().unwrap();
    end_at_moments(&cli, &["decompress", "a.b2frame", "-o", "b"], "b", kill, check_content);
}

#[test]
fn a_compression_interrupted_at_any_moment_leaves_a_whole_frame_or_nothing() {
    let cli = Cli::new();
    cli.write("a", &content());
    end_at_moments(&cli, &["compress", "a", "--chunksize", "256K"], "a.b2frame", interrupt, check_frame);
}

#[test]
fn a_killed_recompression_leaves_a_whole_frame() {
    let cli = Cli::new();
    cli.write("a", &content());
    cli.succeed(&["compress", "a", "--chunksize", "256K", "-l", "1"], b"");
    let before = cli.read("a.b2frame");
    let arguments = ["recompress", "a.b2frame", "-c", "lz4", "-l", "3"];
    let start = Instant::now();
    cli.succeed(&arguments, b"");
    let whole = start.elapsed();
    let after = cli.read("a.b2frame");
    assert!(before != after);
    let mut unchanged = 0;
    for moment in 0..MOMENTS {
        cli.write("a.b2frame", &before);
        let mut child = cli.start(&arguments);
        std::thread::sleep(whole * moment / (MOMENTS - 10));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = cli.read("a.b2frame");
        assert!(now == before || now == after);
        unchanged += u32::from(now == before);
    }
    assert!(unchanged > 0, "the command was never ended before its end");
}

/// Waits until something with a name that starts with `.` is in `directory`.
fn wait_for_temporary_file(directory: &Path) {
    let start = Instant::now();
    while !names(directory).iter().any(|name| name.starts_with('.')) {
        assert!(start.elapsed() < Duration::from_secs(60), "no temporary file appeared");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_interrupted_command_removes_its_temporary_files() {
    for (arguments, directory) in [
        (&["compress", "-", "-o", "a"][..], ""),
        (&["compress", "-"], "tmp"),
        (&["decompress", "-", "-o", "a"], "tmp"),
        (&["decompress", "-"], "tmp"),
    ] {
        for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
            let cli = Cli::new();
            // The command waits for stdin.
            let mut child = cli.start(arguments);
            // Waiting for the command closes its stdin otherwise.
            let mut stdin = child.stdin.take().unwrap();
            if arguments[0] == "compress" {
                // The sample from which the item size is found.
                stdin.write_all(&[0; 64 << 10]).unwrap();
            }
            wait_for_temporary_file(&cli.path(directory));
            // The file or directory is created under its name a moment later.
            std::thread::sleep(Duration::from_millis(100));
            signal(&child, name);
            // A shell reports 128 and the number of the signal.
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{arguments:?}");
            assert_eq!(cli.names(), ["tmp"], "{arguments:?}");
            assert_eq!(names(&cli.path("tmp")), [""; 0], "{arguments:?}");
        }
    }
}
