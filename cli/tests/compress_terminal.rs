//! `blosc2 compress` and `blosc2 decompress` with a terminal as stdout.

mod commands;

use commands::Cli;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::Read;
use std::path::Path;

/// Runs the command with a pseudo-terminal in `directory`. Returns the exit code, and what was printed.
fn run_in_terminal(directory: &Path, arguments: &[&str]) -> (u32, String) {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_blosc2"));
    command.args(arguments);
    command.cwd(directory);
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
