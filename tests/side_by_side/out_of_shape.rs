//! Slices that reach beyond the shape of an array, drawn at random, with both libraries (b2nd.md 6.4, 6.5, 6.8).
//!
//! The C library treats the grid of chunks as infinite: it computes the number of a chunk outside the array's grid as
//! if the grid continued, which gives the number of another chunk of the array; it returns -1 if the number exceeds
//! that of the last chunk. Items outside the shape are zero when read, and are not stored. No item is accessed if the
//! box begins outside the shape in any dimension. Programs rely on that, so our library returns the same codes and the
//! same items, with two exceptions:
//!
//! - A write that covers all items of a chunk outside the grid replaces the other chunk, which has its number, by zeros
//!   in the C library. In this library the other chunk is unchanged.
//! - A negative start makes the C library read or write at addresses before those of the chunk, or in other chunks.
//!   Most of these calls return -1; in this library all do.
//!
//! `BLOSC2_ARRAY_COUNT` is the number of boxes, `BLOSC2_ARRAY_SEED` selects another sample.

use std::collections::BTreeSet;

use crate::support::array::{Array, ArraySpec};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;

/// A box, and its array.
#[derive(Clone, Debug)]
struct SliceCase {
    shape: Vec<i64>,
    chunkshape: Vec<i32>,
    blockshape: Vec<i32>,
    typesize: i32,
    start: Vec<i64>,
    stop: Vec<i64>,
}

/// The chunks that the C library accesses for a box.
struct ChunkWalk {
    /// Numbers of the accessed chunks of the array.
    reached: BTreeSet<i64>,
    /// Whether a chunk outside the grid has the number of another one.
    is_aliased: bool,
    /// Whether a computed number exceeds that of the last chunk: the call returns -1.
    exceeds_last_chunk: bool,
}

impl SliceCase {
    fn draw(random: &mut Random) -> SliceCase {
        let ndim = 1 + random.below(4);
        let mut case = SliceCase {
            shape: Vec::new(),
            chunkshape: Vec::new(),
            blockshape: Vec::new(),
            typesize: *random.pick(&[1, 2, 4, 7]),
            start: Vec::new(),
            stop: Vec::new(),
        };
        for _ in 0..ndim {
            let extent = 1 + random.below(8);
            let chunk = 1 + random.below(extent + 1);
            let block = if random.one_in(3) { chunk } else { 1 + random.below(chunk) };
            // Mostly inside the shape, sometimes past its end.
            let (over, longest) = (*random.pick(&[0, 0, 0, 4]), *random.pick(&[3, 9]));
            let start = random.below(extent + over);
            let stop = start + 1 + random.below(longest);
            let on_grid = random.below(3) * chunk;
            let (start, stop) = if random.one_in(4) { (on_grid, on_grid + chunk) } else { (start, stop) };
            case.shape.push(extent as i64);
            case.chunkshape.push(chunk as i32);
            case.blockshape.push(block as i32);
            case.start.push(start as i64);
            case.stop.push(stop as i64);
        }
        case
    }

    fn ndim(&self) -> usize {
        self.shape.len()
    }

    fn nbytes(&self, shape: &[i64]) -> usize {
        shape.iter().product::<i64>() as usize * self.typesize as usize
    }

    fn extents(&self) -> Vec<i64> {
        self.start.iter().zip(&self.stop).map(|(start, stop)| stop - start).collect()
    }

    /// Returns the bytes of the items of an array, none of which is zero.
    fn items(&self) -> Vec<u8> {
        (0..self.nbytes(&self.shape)).map(|at| 1 + (at % 251) as u8).collect()
    }

    fn array(&self, library: &'static Library) -> Array {
        let spec = ArraySpec::new(&self.shape, &self.chunkshape, &self.blockshape, self.typesize);
        spec.create_from_buffer(library, &self.items())
    }

    fn chunks_along(&self, dim: usize) -> i64 {
        (self.shape[dim] as u64).div_ceil(self.chunkshape[dim] as u64) as i64
    }

    /// Visits all chunks that the box would intersect in an infinite grid of chunks.
    fn walk(&self) -> ChunkWalk {
        let mut walk = ChunkWalk { reached: BTreeSet::new(), is_aliased: false, exceeds_last_chunk: false };
        if self.start.iter().zip(&self.shape).any(|(start, extent)| start >= extent) {
            return walk;
        }
        let chunk = |dim: usize| i64::from(self.chunkshape[dim]);
        let nchunks: i64 = (0..self.ndim()).map(|dim| self.chunks_along(dim)).product();
        let mut at: Vec<i64> = (0..self.ndim()).map(|dim| self.start[dim] / chunk(dim)).collect();
        loop {
            let number = (0..self.ndim()).fold(0, |number, dim| number * self.chunks_along(dim) + at[dim]);
            if number >= nchunks {
                walk.exceeds_last_chunk = true;
                return walk;
            }
            if (0..self.ndim()).all(|dim| at[dim] < self.chunks_along(dim)) {
                walk.reached.insert(number);
            } else {
                walk.is_aliased = true;
            }
            let next = (0..self.ndim()).rev().find(|&dim| (at[dim] + 1) * chunk(dim) < self.stop[dim]);
            let Some(dim) = next else { return walk };
            at[dim] += 1;
            (dim + 1..self.ndim()).for_each(|behind| at[behind] = self.start[behind] / chunk(behind));
        }
    }

    /// Returns the items of the array after those in the chunks of `walk` are replaced by items of `source`, the
    /// buffer of the box.
    fn items_after_write(&self, walk: &ChunkWalk, source: &[u8]) -> Vec<u8> {
        let mut items = self.items();
        let (extents, typesize) = (self.extents(), self.typesize as usize);
        for (index, item) in items.chunks_exact_mut(typesize).enumerate() {
            let mut rest = index as i64;
            let (mut at, mut is_inside) = (vec![0; self.ndim()], true);
            for dim in (0..self.ndim()).rev() {
                at[dim] = rest % self.shape[dim];
                rest /= self.shape[dim];
                is_inside &= (self.start[dim]..self.stop[dim]).contains(&at[dim]);
            }
            let (mut number, mut place) = (0, 0);
            for dim in 0..self.ndim() {
                number = number * self.chunks_along(dim) + at[dim] / i64::from(self.chunkshape[dim]);
                place = place * extents[dim] + (at[dim] - self.start[dim]);
            }
            if is_inside && walk.reached.contains(&number) {
                item.copy_from_slice(&source[place as usize * typesize..][..typesize]);
            }
        }
        items
    }
}

/// Runs `check` for every box of the sample.
fn for_each_case(salt: u64, check: impl Fn(&SliceCase)) {
    let seed = from_environment("BLOSC2_ARRAY_SEED", 20_251_123);
    for index in 0..from_environment("BLOSC2_ARRAY_COUNT", 1500) {
        check(&SliceCase::draw(&mut Random::of_item(seed ^ salt, index)));
    }
}

#[test]
fn reads_beyond_the_shape_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for_each_case(1, |case| {
        let walk = case.walk();
        let room = case.nbytes(&case.extents());
        let [mine, theirs] = [ours, reference].map(|library| {
            let array = case.array(library);
            array.get_slice_cbuffer(&case.start, &case.stop, &case.extents(), room, room as i64)
        });
        assert_eq!(theirs.0, if walk.exceeds_last_chunk { -1 } else { 0 }, "{case:?}");
        assert!(mine == theirs, "{case:?}: {mine:?} for {theirs:?}");
    });
}

#[test]
fn writes_beyond_the_shape_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for_each_case(2, |case| {
        let walk = case.walk();
        let source: Vec<u8> = (0..case.nbytes(&case.extents())).map(|at| (at % 249) as u8 ^ 0xA5).collect();
        let write = |library| {
            let array = case.array(library);
            (array.set(&case.start, &case.stop, &source), array.to_cbuffer())
        };
        let (mine, theirs) = (write(ours), write(reference));
        assert_eq!(mine.0, theirs.0, "{case:?}");
        let right = case.items_after_write(&walk, &source);
        if !ours.is_reference() {
            assert!(mine.1.as_ref() == Ok(&right), "{case:?}: {:?} for {right:?}", mine.1);
        }
        if !walk.is_aliased {
            assert!(theirs.1.as_ref() == Ok(&right), "{case:?}: {:?} for {right:?}", theirs.1);
        }
    });
}

#[test]
fn get_slice_beyond_the_shape_agrees_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for_each_case(3, |case| {
        let mut random = Random::new(case.nbytes(&case.extents()) as u64);
        let target = if random.one_in(2) { case.clone() } else { SliceCase::draw(&mut random) };
        let same = target.ndim() == case.ndim();
        let (chunkshape, blockshape) = if same {
            (&target.chunkshape, &target.blockshape)
        } else {
            (&case.chunkshape, &case.blockshape)
        };
        let spec = ArraySpec::new(&case.extents(), chunkshape, blockshape, case.typesize);
        let slice = |library| {
            let (code, array) =
                spec.context(library).get_slice(&case.array(library), &case.start, &case.stop);
            (code, array.map(|array| (array.shape().to_vec(), array.to_cbuffer())))
        };
        let (mine, theirs) = (slice(ours), slice(reference));
        assert!(mine == theirs, "{case:?} into {spec:?}: {mine:?} for {theirs:?}");
    });
}

/// A slice that a program used, and that an earlier version of this library rejected.
#[test]
fn slice_at_the_end_of_the_last_dimension_is_accepted() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for library in [ours, reference] {
        for store in [Store::Memory, Store::MemoryFrame] {
            let spec = ArraySpec::new(&[10, 7, 6, 4], &[7, 5, 1, 4], &[3, 5, 1, 2], 8);
            let spec = spec.with_store(store, "".as_ref());
            let items = vec![7; spec.nbytes()];
            let array = spec.create_from_buffer(library, &items);
            let (start, stop) = ([4, 4, 0, 4], [5, 5, 10, 5]);
            let (code, slice) = spec.context(library).get_slice(&array, &start, &stop);
            assert_eq!(code, 0, "{}", library.name);
            assert_eq!(slice.map(|slice| slice.to_cbuffer()), Some(Ok(vec![0; 80])), "{}", library.name);
            assert_eq!(array.get(&start, &stop), Ok(vec![0; 80]), "{}", library.name);
            assert_eq!(array.set(&start, &stop, &[9; 80]), 0, "{}", library.name);
            assert_eq!(array.to_cbuffer(), Ok(items), "{}", library.name);
        }
    }
}

#[test]
fn negative_starts_are_rejected() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let spec = ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1);
    let items: Vec<u8> = (1..36).collect();
    for (start, stop) in [([-1, 0], [2, 2]), ([0, -1], [2, 3]), ([-1, -1], [1, 1]), ([-3, 0], [-1, 2])] {
        for library in [ours, reference] {
            let array = spec.create_from_buffer(library, &items);
            assert_eq!(array.get(&start, &stop), Err(-1), "{}: {start:?}..{stop:?}", library.name);
            let source = vec![9; 12];
            let shape = [stop[0] - start[0], stop[1] - start[1]];
            let code = array.set_slice_cbuffer(&source, &shape, 12, &start, &stop);
            assert_eq!(code, -1, "{}: {start:?}..{stop:?}", library.name);
            assert_eq!(array.to_cbuffer().as_ref(), Ok(&items), "{}: {start:?}..{stop:?}", library.name);
            assert_eq!(spec.context(library).get_slice(&array, &start, &stop).0, -1, "{}", library.name);
        }
    }
    // In the C library their chunk has the number of another chunk.
    let array = spec.create_from_buffer(ours, &items);
    for (start, stop) in [([4, -1], [5, 3]), ([4, -4], [5, 3]), ([3, i64::MIN], [4, i64::MIN + 1])] {
        assert_eq!(array.get(&start, &stop), Err(-1), "{start:?}..{stop:?}");
        assert_eq!(array.set(&start, &stop, &[9; 7]), -1, "{start:?}..{stop:?}");
    }
    // Nothing is read if the box begins outside the shape in another dimension.
    for library in [ours, reference] {
        let array = spec.create_from_buffer(library, &items);
        assert_eq!(array.get(&[5, -3], &[6, -1]), Ok(vec![0; 2]), "{}", library.name);
    }
    assert_eq!(array.to_cbuffer().as_ref(), Ok(&items));
}
