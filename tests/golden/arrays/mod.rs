//! Golden arrays: metalayers, layouts, frames, results and return codes stated in b2nd.md, from our library and from
//! the reference (which verifies them), in every store.

mod creation;
mod frames;
mod geometry;
mod helpers;
mod layouts;
mod metalayer;
mod printed;
mod shapes;
mod slices;
mod two_handles;
mod views;

use std::path::Path;

use crate::support::array::{Array, Spec};
use crate::support::library::Library;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::Scratch;

/// Runs a test in every store of every library, with a separate path for each.
fn everywhere(test: impl Fn(&'static Library, Store, &Path)) {
    let scratch = Scratch::new();
    for library in crate::support::all() {
        for store in Store::ALL {
            test(library, store, &scratch.fresh());
        }
    }
}

/// Returns the values from 1 on, as bytes.
fn counted(len: usize) -> Vec<u8> {
    (1..=len).map(|value| value as u8).collect()
}

/// Layout A of b2nd.md 2.6.
fn layout_a() -> Spec {
    Spec::new(&[5, 7], &[3, 4], &[2, 2], 1)
}

fn filled(library: &'static Library, spec: Spec, store: Store, path: &Path) -> Array {
    let items = counted(spec.nbytes());
    spec.stored(store, path).filled(library, &items)
}
