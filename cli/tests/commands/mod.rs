//! Running the command in a directory of its own, and contents for it.

#![allow(dead_code, reason = "each test file uses some of it")]

#[path = "../program/mod.rs"]
pub(crate) mod program;

use program::blosc2_command;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// The command as it is started in a directory.
pub(crate) struct Cli {
    directory: TempDir,
}

impl Cli {
    pub(crate) fn new() -> Cli {
        Cli { directory: tempfile::tempdir().unwrap() }
    }

    /// Returns a path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.directory.path())
    }

    /// Returns the command, with its temporary files in the subdirectory `tmp`.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = blosc2_command();
        let tmp = self.path("tmp");
        std::fs::create_dir_all(&tmp).unwrap();
        command.args(arguments).current_dir(self.directory.path()).env("TMPDIR", tmp);
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, b"")
    }

    /// Runs the command with `stdin`.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let mut child = self.start(arguments);
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        let writer = std::thread::spawn(move || {
            // A command that does not read all of it closes the pipe.
            let _ = pipe.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Runs the command, which must succeed. Returns stdout.
    pub(crate) fn succeed(&self, arguments: &[&str], stdin: &[u8]) -> Vec<u8> {
        let output = self.run_with(arguments, stdin);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        output.stdout
    }

    /// Runs the command, which must fail with `code`, one line on stderr and nothing on stdout. Returns the line.
    pub(crate) fn fail(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        message
    }

    /// Starts the command with pipes.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }
}

/// Returns the names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns stderr as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Sends a signal by the command `kill`.
pub(crate) fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Returns `len` bytes that cannot be compressed, of the generator xorshift64.
pub(crate) fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Returns `len` bytes of 32-bit numbers that count.
pub(crate) fn numbers(len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.div_ceil(4) as u32).flat_map(u32::to_le_bytes).collect();
    bytes.truncate(len);
    bytes
}
