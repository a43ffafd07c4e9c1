//! Group `arrays`: arrays of 2 to 8 dimensions with about a million items of 4 bytes, with LZ4 at level 5.

use crate::support::array::{Array, ArraySpec};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::{Options, Pair, measure, print_heading, print_row};

/// The number of dimensions, and the length in each of the array, a chunk and a block.
const SHAPES: [(usize, i64, i32, i32); 7] = [
    (2, 1000, 500, 100),
    (3, 100, 50, 25),
    (4, 32, 16, 8),
    (5, 16, 8, 4),
    (6, 10, 5, 5),
    (7, 8, 4, 2),
    (8, 6, 3, 3),
];

/// Item size in bytes.
const TYPESIZE: usize = 4;

/// Reads the items from `start` on into `dest`, a box with `shape`.
fn read_box(array: &Array, start: &[i64], shape: &[i64], dest: &mut [u8]) {
    let mut stop = [0; 8];
    for (stop, (start, length)) in stop.iter_mut().zip(start.iter().zip(shape)) {
        *stop = start + length;
    }
    // SAFETY: a limit for each of up to 8 dimensions, and `dest` is valid for writes of `dest.len()` bytes.
    let rc = unsafe {
        (array.functions.b2nd_get_slice_cbuffer)(
            array.raw(),
            start.as_ptr(),
            stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            shape.as_ptr(),
            dest.len() as i64,
        )
    };
    assert_eq!(rc, 0, "{}: a box", array.library.name);
}

/// Returns reads of boxes of `length` items in each dimension, at random places.
fn box_pair(arrays: &[Array; 2], length: i64) -> Pair<'_> {
    arrays.each_ref().map(|array| {
        let mut random = Random::new(9);
        let (ndim, places) = (array.ndim(), (array.shape()[0] - length + 1) as u64);
        let mut dest = vec![0; length.pow(ndim as u32) as usize * TYPESIZE];
        Box::new(move || {
            let start: [i64; 8] = std::array::from_fn(|_| (random.next() % places) as i64);
            read_box(array, &start[..ndim], &[length; 8][..ndim], &mut dest);
        }) as _
    })
}

pub fn run(libraries: [&'static Library; 2], options: &Options) {
    print_heading("Arrays", "microseconds, dimensions");
    let mut results = Vec::new();
    for (ndim, length, chunk, block) in SHAPES {
        let mut spec =
            ArraySpec::new(&vec![length; ndim], &vec![chunk; ndim], &vec![block; ndim], TYPESIZE as i32);
        spec.params.codec = 1;
        let mut random = Random::new(8);
        let numbers = (0..spec.nbytes() / TYPESIZE).scan(0u32, |number, _| {
            *number = number.wrapping_add((random.next() % 4) as u32);
            Some(*number)
        });
        let items: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        let arrays = libraries.map(|library| spec.create_from_buffer(library, &items));
        assert!(arrays.iter().all(|array| array.to_cbuffer().as_ref() == Ok(&items)), "the items");
        let (spec, items) = (&spec, &items);
        let create: Pair =
            libraries.map(|library| Box::new(move || drop(spec.create_from_buffer(library, items))) as _);
        let pairs = [
            ("create", create),
            ("read all", box_pair(&arrays, length)),
            ("read a box, half of each dimension", box_pair(&arrays, length / 2)),
            ("read an item", box_pair(&arrays, 1)),
        ];
        for (operation, mut pair) in pairs {
            if options.has_row(operation) {
                results.push((operation, ndim, measure(&mut pair, None)));
            }
        }
    }
    // A stable sort: the dimensions stay in ascending order.
    results.sort_by_key(|&(operation, ..)| operation);
    for (operation, ndim, costs) in results {
        print_row(&format!("{operation}, {ndim}"), costs, costs[1] / costs[0]);
    }
}
