//! Cells that write a slice over many chunks of an array.

use std::path::Path;

use super::variants::{Operation, TempFrame, Variant};
use crate::Bench;
use crate::library::Library;
use crate::report::Report;
use crate::schunk::handles::{self, TYPESIZE};
use crate::support::array::{Array, ArraySpec};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// The extent of both dimensions of the array: 64 chunks of 128 x 128 items.
const EXTENT: i64 = 1024;
/// The box that is written: parts of the outer chunks, and the inner chunks.
const START: [i64; 2] = [40, 72];
const STOP: [i64; 2] = [1000, 960];
/// The number of writes in one batch.
const WRITES: usize = 4;

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let nitems = (EXTENT * EXTENT) as usize;
    let before = handles::dataset_bytes("walk-i32", nitems * TYPESIZE);
    let floats = handles::dataset_bytes("field-f32", nitems * TYPESIZE);
    let box_nbytes = ((STOP[0] - START[0]) * (STOP[1] - START[1])) as usize * TYPESIZE;
    for store in Store::ON_DISK {
        let open = |variant: Variant, path: &Path| {
            let mut spec =
                ArraySpec::new(&[EXTENT; 2], &[128; 2], &[32, 128], TYPESIZE as i32).with_store(store, path);
            spec.params = handles::params();
            spec.create_from_buffer(variant.library, &before)
        };
        let work = |frame: &mut TempFrame<Array>| {
            for write in 0..WRITES {
                let items = if write % 2 == 0 { &before } else { &floats };
                assert_eq!(frame.handle().set(&START, &STOP, &items[..box_nbytes]), 0, "a slice");
            }
        };
        let contents = |library: &'static Library, path: &Path| {
            Array::open(library, path).1.expect("an array").to_cbuffer().expect("items")
        };
        Operation {
            store,
            name: format!("set_slice over 64 chunks, {WRITES} times"),
            variants: Variant::levels(bench),
            open: &open,
            work: &work,
            contents: &contents,
        }
        .measure(bench, report, &scratch);
    }
}
