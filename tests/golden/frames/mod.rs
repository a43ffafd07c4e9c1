//! Golden frames and traces: bytes, counters and return codes stated in the documents (frame.md 1.8, schunk.md 22 and
//! 23), from our library and from the reference (which verifies the vectors), in every store they are stated for.

mod large_files;
mod lazy;
mod metadata;
mod operations;
mod refused;
mod same_bytes;
mod slices;
mod two_handles;
mod vectors;

use std::fs;
use std::path::Path;

use crate::support::calls::{Params, Special, compress, special_chunk};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// Runs a test in these stores of every library, with a separate path for each.
fn for_each_library_and_store(stores: &[Store], test: impl Fn(&'static Library, Store, &Path)) {
    let scratch = ScratchDir::new();
    for library in crate::support::all_libraries() {
        for &store in stores {
            test(library, store, &scratch.new_path());
        }
    }
}

fn params_with_typesize(typesize: i32) -> Params {
    Params { typesize, ..Params::default() }
}

/// Converts int32 values to bytes.
fn i32_bytes(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// Compresses a chunk with a fresh context.
fn compress_chunk(library: &Library, params: &Params, src: &[u8]) -> Vec<u8> {
    compress(library, params, src, 2 * src.len() + 1000).expect("a chunk")
}

/// Returns a special chunk of 4000 bytes of int32.
fn special_int32_chunk(library: &Library, kind: Special) -> Vec<u8> {
    special_chunk(library, &params_with_typesize(4), kind, 4000, 36).expect("a special chunk")
}

/// Returns the bytes of the frame; for a directory, those of the index file.
fn frame_bytes(schunk: &SuperChunk, store: Store, path: &Path) -> Vec<u8> {
    match store {
        Store::File => fs::read(path).expect("the frame"),
        Store::Directory => read_files(path)["chunks.b2frame"].clone(),
        Store::Memory | Store::MemoryFrame => schunk.to_buffer().expect("the frame"),
    }
}

#[track_caller]
fn assert_hex(what: &str, got: &[u8], expected: &[u8]) {
    if got == expected {
        return;
    }
    let dump = |bytes: &[u8]| {
        let lines: Vec<String> = bytes.chunks(16).take(24).map(|line| format!("{line:02x?}")).collect();
        lines.join("\n")
    };
    let at = got.iter().zip(expected).position(|(a, b)| a != b);
    panic!(
        "{what}: {} bytes, first difference at {at:?}\n{}\nexpected {} bytes\n{}",
        got.len(),
        dump(got),
        expected.len(),
        dump(expected)
    );
}
