//! Running the command, and files for tests.
#![allow(dead_code, reason = "each test file uses a part")]

#[path = "../program/mod.rs"]
pub(crate) mod program;

use blosc2::{Codec, Filter, OpenOptions, Params, SuperChunk};
use program::blosc2_command;
use std::path::Path;
use std::process::{Output, Stdio};

/// The output of the command.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the command in `directory`.
pub(crate) fn blosc2(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = blosc2_command();
    let output: Output =
        command.args(arguments).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Returns the result of the command, which must succeed, as JSON.
pub(crate) fn json(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let ran = blosc2(directory, arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Parameters for items of 4 bytes.
pub(crate) fn params() -> Params {
    Params::new().codec(Codec::Zstd).level(3).filters([Filter::Shuffle]).typesize(4)
}

/// Returns the content of chunk `number` of the super-chunk of [`write_super_chunk`].
pub(crate) fn content(number: u32) -> Vec<u8> {
    (0..2000u32).flat_map(|n| (n * n * 7 + number * 1000).to_le_bytes()).collect()
}

/// Number of chunks of the super-chunk of [`write_super_chunk`].
pub(crate) const NCHUNKS: u32 = 8;

/// Writes a super-chunk with metalayers to the file or directory `path`. Chunk 3 is one of zeros.
pub(crate) fn write_super_chunk(path: &Path, directory: bool) -> SuperChunk {
    let options = OpenOptions::new().write(true).create_new(true).directory(directory).params(params());
    let mut schunk = options.open(path).unwrap();
    schunk.metalayers_mut().unwrap().set_fixed("version", &[1, 0, 255]).unwrap();
    for number in 0..NCHUNKS {
        let content = if number == 3 { vec![0; 8000] } else { content(number) };
        schunk.append(&content).unwrap();
    }
    schunk.metalayers_mut().unwrap().set_variable("note", b"a text\nof two lines").unwrap();
    schunk
}
