//! Golden arrays: metalayers, layouts, frames, results and return codes stated in b2nd.md, from our library and from
//! the reference (which verifies them), in every store.

mod copy_and_index;
mod creation;
mod frames;
mod geometry;
mod layouts;
mod metalayer;
mod print_meta;
mod resizing;
mod slices;
mod two_handles;
mod views;

use std::path::Path;

use crate::support::array::{Array, ArraySpec};
use crate::support::library::Library;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// Runs a test in every store of every library, with a separate path for each.
fn for_each_library_and_store(test: impl Fn(&'static Library, Store, &Path)) {
    let scratch = ScratchDir::new();
    for library in crate::support::all_libraries() {
        for store in Store::ALL {
            test(library, store, &scratch.new_path());
        }
    }
}

/// Returns the values from 1 on, as bytes.
fn consecutive_bytes(len: usize) -> Vec<u8> {
    (1..=len).map(|value| value as u8).collect()
}

/// Layout A of b2nd.md 2.6.
fn layout_a() -> ArraySpec {
    ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1)
}

fn create_filled_array(library: &'static Library, spec: ArraySpec, store: Store, path: &Path) -> Array {
    let items = consecutive_bytes(spec.nbytes());
    spec.with_store(store, path).create_from_buffer(library, &items)
}
