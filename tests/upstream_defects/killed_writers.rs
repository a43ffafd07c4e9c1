//! Processes that are killed while they change a frame on disk (frame.md 9): what can be read afterwards.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::checks::ours;
use crate::support::all_libraries;
use crate::support::calls::{Params, compress};
use crate::support::child::{test_again, test_name};
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The environment variable that holds the path in the process that is killed.
const PATH: &str = "BLOSC2_TEST_KILLED_WRITER";

const NBYTES: usize = 4 << 20;

/// Returns a stored chunk, of which every byte is `value`.
fn stored_chunk(value: u8) -> Vec<u8> {
    let params = Params { clevel: 0, filters: [0; 6], typesize: 1, ..Params::default() };
    compress(ours(), &params, &vec![value; NBYTES], NBYTES + 100).expect("a chunk")
}

/// Replaces chunk 1 by chunks of other content, until the process is killed.
fn replace_forever(path: &Path) -> ! {
    let schunk = SuperChunk::open(ours(), path).expect("a super-chunk");
    let chunks = [stored_chunk(1), stored_chunk(2)];
    loop {
        for chunk in &chunks {
            schunk.update_chunk(1, chunk).expect("replaced");
        }
    }
}

/// A chunk file of a directory is overwritten in place. A reader finds one of the contents or an error, not a mixture.
#[test]
fn frame_9_killed_replacement_of_a_chunk_file_leaves_no_mixture() {
    if let Some(path) = std::env::var_os(PATH) {
        replace_forever(&PathBuf::from(path));
    }
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let params = Params { clevel: 0, filters: [0; 6], typesize: 1, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Directory, &path, &params);
    for value in 0..3 {
        schunk.append_chunk(&stored_chunk(value)).expect("appended");
    }
    drop(schunk);
    let name = test_name!();
    let mut random = Random::new(31);
    let mut whole = 0;
    for round in 0..40 {
        let mut writer = test_again(name);
        let mut writer = writer.env(PATH, &path).stdout(Stdio::null()).spawn().expect("a writer");
        std::thread::sleep(Duration::from_micros(100_000 + random.below(30_000) as u64));
        writer.kill().expect("killed");
        writer.wait().expect("ended");
        let results = all_libraries().into_iter().map(|library| {
            let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
            let content = schunk.decompress(1);
            if let Ok(content) = &content {
                let is_whole = content.iter().all(|&byte| byte == content[0]);
                assert!(is_whole, "round {round}: {} reads a mixture", library.name);
            }
            content.is_ok()
        });
        let results: Vec<bool> = results.collect();
        if results.iter().all(|&is_ok| is_ok) {
            whole += 1;
        } else {
            // The next writer reads the chunk that it replaces.
            std::fs::write(path.join("00000001.chunk"), stored_chunk(1)).expect("a chunk file");
        }
    }
    assert!(whole > 0, "no replacement was complete");
}
