//! Arrays with chunks that are shorter than the chunk shape (b2nd.md 10 D23): random operations beside a model that
//! holds the bytes of each chunk. Every item that its chunk has is readable, and a read of an item that its chunk does
//! not have is an error. Arrays in files are made by either library, and read by both.
//!
//! `BLOSC2_SHORT_CHUNKS_COUNT=<number>` runs more cases, `BLOSC2_SHORT_CHUNKS_SEED` selects other ones.

use std::collections::BTreeMap;
use std::path::Path;

use super::geometry::{Geometry, extents, flat_index, for_each_coord};
use crate::support::array::{Array, ArraySpec};
use crate::support::both_libraries;
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::verify::verify;

/// The bytes of all chunks, by number.
struct Model {
    geometry: Geometry,
    chunks: BTreeMap<usize, Vec<u8>>,
}

impl Model {
    /// Returns the bytes of an item; `None` if its chunk does not have all of them.
    fn item(&self, coords: &[i64]) -> Option<&[u8]> {
        let (nchunk, at) = self.geometry.chunk_and_offset(coords);
        self.chunks[&nchunk].get(at..at + self.geometry.typesize)
    }

    /// Returns the bytes of several items; `None` if one of them is missing.
    fn items(&self, coords: &[Vec<i64>]) -> Option<Vec<u8>> {
        let found: Option<Vec<&[u8]>> = coords.iter().map(|coords| self.item(coords)).collect();
        found.map(|items| items.concat())
    }

    /// Writes items, one after another in `bytes`. A written chunk has its full size afterwards.
    fn set_items(&mut self, coords: &[Vec<i64>], bytes: &[u8]) {
        let (typesize, chunk_bytes) = (self.geometry.typesize, self.geometry.chunk_bytes());
        for (coords, item) in coords.iter().zip(bytes.chunks_exact(typesize)) {
            let (nchunk, at) = self.geometry.chunk_and_offset(coords);
            let chunk = self.chunks.get_mut(&nchunk).expect("a chunk of the shape");
            chunk.resize(chunk_bytes, 0);
            chunk[at..at + typesize].copy_from_slice(item);
        }
    }

    /// Sets the bytes outside the shape to zero, in each chunk of which all items of the shape are in `coords`.
    fn clear_replaced_chunks(&mut self, coords: &[Vec<i64>]) {
        let mut missing: BTreeMap<usize, i64> = BTreeMap::new();
        for_each_coord(&self.geometry.shape, |coords| {
            *missing.entry(self.geometry.chunk_and_offset(coords).0).or_default() += 1;
        });
        for coords in coords {
            *missing.get_mut(&self.geometry.chunk_and_offset(coords).0).expect("a chunk of the shape") -= 1;
        }
        for (nchunk, _) in missing.into_iter().filter(|&(_, missing)| missing == 0) {
            self.chunks.insert(nchunk, vec![0; self.geometry.chunk_bytes()]);
        }
    }

    fn resize_rows(&mut self, rows: i64) {
        self.geometry.shape[0] = rows;
        let (nchunks, chunk_bytes) = (self.geometry.nchunks(), self.geometry.chunk_bytes());
        self.chunks.retain(|&nchunk, _| nchunk < nchunks);
        for nchunk in 0..nchunks {
            self.chunks.entry(nchunk).or_insert_with(|| vec![0; chunk_bytes]);
        }
    }

    /// Returns the number of chunks that lack an item of the shape.
    fn count_lacking(&self) -> usize {
        let mut lacking: Vec<usize> = Vec::new();
        for_each_coord(&self.geometry.shape, |coords| {
            if self.item(coords).is_none() {
                lacking.push(self.geometry.chunk_and_offset(coords).0);
            }
        });
        lacking.sort_unstable();
        lacking.dedup();
        lacking.len()
    }
}

/// Returns the coordinates of a box.
fn coords_of_box(start: &[i64], stop: &[i64]) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    for_each_coord(&extents(start, stop), |at| {
        all.push(at.iter().zip(start).map(|(at, start)| at + start).collect());
    });
    all
}

/// An array with its model.
struct Case {
    random: Random,
    spec: ArraySpec,
    array: Array,
    model: Model,
    trace: String,
}

impl Case {
    /// Makes an array, and replaces some of its chunks by shorter ones.
    fn new(seed: u64, number: u64, writer: &'static Library, store: Store, path: &Path) -> Case {
        let mut random = Random::of_item(seed, number);
        let ndim = 1 + random.below(3);
        let mut draw =
            |limit: usize| -> Vec<i64> { (0..ndim).map(|_| 1 + random.below(limit) as i64).collect() };
        let (shape, chunkshape, blockshape) = (draw(if ndim == 1 { 40 } else { 7 }), draw(6), draw(4));
        let narrow = |extents: &[i64]| extents.iter().map(|&extent| extent as i32).collect::<Vec<_>>();
        let typesize = *random.pick(&[1, 2, 4, 8]);
        let mut spec = ArraySpec::new(&shape, &narrow(&chunkshape), &narrow(&blockshape), typesize)
            .with_store(store, path);
        spec.params.codec = *random.pick(&[0, 1, 5]);
        spec.dthreads = *random.pick(&[1, 3]);
        let geometry = Geometry::of(&spec);
        let run = *random.pick(&[3, 60, 400]);
        let items: Vec<u8> = (0..geometry.nbytes()).map(|at| 1 + (at / run % 200) as u8).collect();
        let array = spec.create_from_buffer(writer, &items);
        let mut chunks = BTreeMap::new();
        let block_bytes = blockshape.iter().product::<i64>() as usize * geometry.typesize;
        for nchunk in 0..geometry.nchunks() {
            let mut chunk = array.schunk().decompress(nchunk as i64).expect("a chunk");
            if random.one_in(2) {
                let len = match random.below(3) {
                    0 => random.below(chunk.len()) / block_bytes * block_bytes,
                    1 => random.below(chunk.len()) / geometry.typesize * geometry.typesize,
                    // The split streams of the reference do not have all bytes of a block that is no multiple of the item size.
                    _ if writer.is_reference() => geometry.typesize,
                    _ => random.below(chunk.len()),
                };
                chunk.truncate(if len == 0 { geometry.typesize } else { len });
                let blocksize = if random.one_in(4) { 0 } else { block_bytes as i32 };
                let params = Params { blocksize, ..spec.params.clone() };
                let bytes = compress(writer, &params, &chunk, chunk.len() + 64).expect("a shorter chunk");
                array.schunk().update_chunk(nchunk as i64, &bytes).expect("a shorter chunk is accepted");
            }
            chunks.insert(nchunk, chunk);
        }
        let trace = format!("{writer} {spec:?}\n", writer = writer.name);
        Case { random, spec, array, model: Model { geometry, chunks }, trace }
    }

    #[track_caller]
    fn check(&self, name: &str, found: Result<Vec<u8>, i32>, expected: Option<Vec<u8>>) {
        match (found, expected) {
            (Ok(found), Some(expected)) => assert_eq!(found, expected, "{name}: {}", self.trace),
            (Err(_), None) => {}
            (found, expected) => panic!("{name}: {found:?}, expected {expected:?}: {}", self.trace),
        }
    }

    /// Compares each item with the model. `view` has `added` dimensions of extent 1 before those of the array.
    #[track_caller]
    fn check_all_of(&self, name: &str, view: &Array, added: usize) {
        for_each_coord(&self.model.geometry.shape, |coords| {
            let start: Vec<i64> = std::iter::repeat_n(&0, added).chain(coords).copied().collect();
            let stop: Vec<i64> = start.iter().map(|at| at + 1).collect();
            let expected = self.model.item(coords).map(<[u8]>::to_vec);
            self.check(&format!("{name} {coords:?}"), view.get(&start, &stop), expected);
        });
    }

    fn draw_box(&mut self) -> (Vec<i64>, Vec<i64>) {
        let (geometry, random) = (&self.model.geometry, &mut self.random);
        let mut limits = (Vec::new(), Vec::new());
        for (&extent, &chunk) in geometry.shape.iter().zip(&geometry.chunkshape) {
            let mut start = random.below(extent as usize) as i64;
            let mut stop = start + 1 + random.below((extent - start) as usize) as i64;
            if random.one_in(3) {
                // A whole chunk, as far as it is inside the shape.
                start = start / chunk * chunk;
                stop = (start + chunk).min(extent);
            }
            limits.0.push(start);
            limits.1.push(stop);
        }
        limits
    }

    fn draw_selection(&mut self) -> Vec<Vec<i64>> {
        let (geometry, random) = (&self.model.geometry, &mut self.random);
        let mut draw = |&extent: &i64| (0..extent).filter(|_| random.one_in(3)).collect::<Vec<i64>>();
        geometry.shape.iter().map(&mut draw).collect()
    }

    /// Does one random operation.
    fn step(&mut self, path: &Path) {
        let kind = self.random.below(10);
        self.trace += &format!("{kind} ");
        match kind {
            0 | 1 => {
                let (start, stop) = self.draw_box();
                let expected = self.model.items(&coords_of_box(&start, &stop));
                self.check(&format!("{start:?}..{stop:?}"), self.array.get(&start, &stop), expected);
            }
            2 => {
                let (start, stop) = self.draw_box();
                let coords = coords_of_box(&start, &stop);
                let bytes = self.random.bytes(coords.len() * self.model.geometry.typesize);
                assert_eq!(self.array.set(&start, &stop, &bytes), 0, "{}", self.trace);
                self.model.clear_replaced_chunks(&coords);
                self.model.set_items(&coords, &bytes);
            }
            3 | 4 => {
                let selection = self.draw_selection();
                let sizes: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
                let mut coords = Vec::new();
                for_each_coord(&sizes, |at| {
                    coords.push(at.iter().zip(&selection).map(|(&at, list)| list[at as usize]).collect());
                });
                let len = coords.len() * self.model.geometry.typesize;
                if kind == 3 {
                    let (rc, found) = self.array.get_orthogonal(&selection, &sizes, len, len as i64);
                    let found = if rc < 0 { Err(rc) } else { Ok(found) };
                    self.check(&format!("{selection:?}"), found, self.model.items(&coords));
                } else {
                    let bytes = self.random.bytes(len);
                    let rc = self.array.set_orthogonal(&selection, &bytes, &sizes, len as i64);
                    assert_eq!(rc, 0, "{}", self.trace);
                    self.model.set_items(&coords, &bytes);
                }
            }
            5 => {
                let shape = self.model.geometry.shape.clone();
                let count = 1 + self.random.below(4);
                let coords: Vec<Vec<i64>> = (0..count)
                    .map(|_| shape.iter().map(|&extent| self.random.below(extent as usize) as i64).collect())
                    .collect();
                let flat: Vec<i64> = coords.iter().map(|coords| flat_index(coords, &shape)).collect();
                let len = count * self.model.geometry.typesize;
                let (rc, found) = self.array.get_sparse(&flat, len, len as i64);
                let found = if rc < 0 { Err(rc) } else { Ok(found) };
                self.check(&format!("sparse {flat:?}"), found, self.model.items(&coords));
            }
            6 => {
                let rows = 1 + self.random.below(12) as i64;
                let shape: Vec<i64> =
                    std::iter::once(rows).chain(self.model.geometry.shape[1..].iter().copied()).collect();
                assert_eq!(self.array.resize(&shape, None), 0, "{shape:?}: {}", self.trace);
                self.model.resize_rows(rows);
            }
            7 => {
                let mut row = self.model.geometry.shape.clone();
                let old = row[0];
                let count = 1 + self.random.below(2 * self.model.geometry.chunkshape[0] as usize) as i64;
                row[0] = count;
                let bytes =
                    self.random.bytes(row.iter().product::<i64>() as usize * self.model.geometry.typesize);
                assert_eq!(self.array.append(&bytes, 0), 0, "{count} rows: {}", self.trace);
                self.model.resize_rows(old + count);
                let mut start = vec![0; row.len()];
                start[0] = old;
                let coords = coords_of_box(&start, &self.model.geometry.shape);
                self.model.clear_replaced_chunks(&coords);
                self.model.set_items(&coords, &bytes);
            }
            8 => {
                let axis: Vec<bool> = (0..=self.model.geometry.ndim()).map(|dim| dim == 0).collect();
                let (rc, view) = self.array.expand_dims(&axis);
                assert_eq!(rc, 0, "{}", self.trace);
                let view = view.expect("a view");
                self.check_all_of("view", &view, 1);
                let (rc, squeezed) = view.squeeze_index(&axis);
                if rc == 0 {
                    self.check_all_of("squeezed view", &squeezed.expect("a view"), 0);
                }
            }
            _ => {
                assert_eq!(self.array.save(path), 0, "{}", self.trace);
                let (rc, saved) = Array::open(self.array.library, path);
                assert_eq!(rc, 0, "{}", self.trace);
                self.check_all_of("saved", &saved.expect("an array"), 0);
                let spec = ArraySpec { shape: self.model.geometry.shape.clone(), ..self.spec.clone() };
                let spec = spec.with_store(Store::MemoryFrame, Path::new(""));
                let (rc, copy) = spec.context(self.array.library).copy(&self.array);
                assert_eq!(rc, 0, "{}", self.trace);
                self.check_all_of("copy", &copy.expect("an array"), 0);
                let (damages, reports) = verify(path);
                let lacking = self.model.count_lacking();
                assert_eq!(
                    (damages, reports.len()),
                    (lacking as i64, lacking),
                    "{reports:?}: {}",
                    self.trace
                );
            }
        }
    }

    /// Compares the items that the reference reads from a file with the model. It reads only some items of short
    /// chunks. Returns how many of those it has read.
    fn check_items_read_by(&self, reader: &'static Library, path: &Path) -> usize {
        let (rc, array) = Array::open(reader, path);
        assert_eq!(rc, 0, "{}", self.trace);
        let array = array.expect("an array");
        let mut count = 0;
        for_each_coord(&self.model.geometry.shape, |coords| {
            let stop: Vec<i64> = coords.iter().map(|at| at + 1).collect();
            let (found, expected) = (array.get(coords, &stop), self.model.item(coords));
            let (nchunk, _) = self.model.geometry.chunk_and_offset(coords);
            let is_short = self.model.chunks[&nchunk].len() < self.model.geometry.chunk_bytes();
            if found.is_ok() && expected.is_some() {
                assert_eq!(found.as_deref().ok(), expected, "{} {coords:?}: {}", reader.name, self.trace);
                count += usize::from(is_short);
            }
            assert!(is_short || found.is_ok(), "{} {coords:?}: {}", reader.name, self.trace);
        });
        count
    }
}

#[test]
fn items_of_short_chunks_are_those_of_the_model() {
    let Some((ours, reference)) = both_libraries() else { return };
    let seed = from_environment("BLOSC2_SHORT_CHUNKS_SEED", 1);
    let scratch = ScratchDir::in_memory();
    let mut compared = 0;
    for number in 0..from_environment("BLOSC2_SHORT_CHUNKS_COUNT", 300) {
        let store = Store::ALL[number as usize % 4];
        let path = scratch.new_path();
        let writer = if store.is_on_disk() && number % 8 > 3 { reference } else { ours };
        let mut case = Case::new(seed, number, writer, store, &path);
        case.trace = format!("seed {seed}, number {number}: {}", case.trace);
        if store.is_on_disk() {
            let (rc, reopened) = Array::open(ours, &path);
            assert_eq!(rc, 0, "{}", case.trace);
            case.array = reopened.expect("an array");
            compared += case.check_items_read_by(reference, &path);
        }
        case.check_all_of("made", &case.array, 0);
        for _ in 0..12 {
            let saved = scratch.new_path();
            case.step(&saved);
        }
        case.check_all_of("changed", &case.array, 0);
        if store.is_on_disk() {
            let (rc, reopened) = Array::open(ours, &path);
            assert_eq!(rc, 0, "{}", case.trace);
            case.check_all_of("reopened", &reopened.expect("an array"), 0);
        }
    }
    assert!(compared > 100, "{compared} items of short chunks were read by the reference");
}
