//! The expected contents of an array, and the changes that each release makes.

use std::path::Path;

use super::library::{Array, Release};
use crate::support;
use crate::support::array::ArraySpec;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;

/// The size of an item in bytes.
const ITEM_SIZE: usize = 4;

/// A change of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a box in one chunk.
    SmallSlice,
    /// Writes a box that intersects all chunks.
    LargeSlice,
    /// Adds 10 rows of zeros.
    Grow,
    /// Removes 20 rows.
    Shrink,
}

impl Change {
    pub const ALL: [Change; 4] = [Change::SmallSlice, Change::LargeSlice, Change::Grow, Change::Shrink];
}

/// The expected shape and items.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    shape: [i64; 2],
    items: Vec<u8>,
}

impl Model {
    /// Creates an array with our library: chunks of 10 x 30 items.
    pub fn create(store: Store, path: &Path) -> Model {
        let model = Model::initial();
        let spec = ArraySpec::new(&model.shape, &[10, 30], &[5, 10], ITEM_SIZE as i32);
        drop(spec.with_store(store, path).create_from_buffer(Library::ours(), &model.items));
        model
    }

    /// Returns the contents that [`Model::create`] creates.
    pub fn initial() -> Model {
        let shape = [40, 60];
        Model { shape, items: Random::new(77).bytes((shape[0] * shape[1]) as usize * ITEM_SIZE) }
    }

    /// Makes a change with an open array, and in this model.
    pub fn change(&mut self, array: &Array<'_>, change: Change, seed: u64) {
        let [rows, columns] = self.shape;
        match change {
            Change::SmallSlice => self.set(array, [1, 2], [4, 7], seed),
            Change::LargeSlice => self.set(array, [3, 5], [rows - 3, columns - 5], seed),
            Change::Grow => self.resize(array, rows + 10),
            Change::Shrink => self.resize(array, rows - 20),
        }
    }

    fn set(&mut self, array: &Array<'_>, start: [i64; 2], stop: [i64; 2], seed: u64) {
        let row_nbytes = (stop[1] - start[1]) as usize * ITEM_SIZE;
        let items = Random::new(seed).bytes((stop[0] - start[0]) as usize * row_nbytes);
        for (row, part) in (start[0]..stop[0]).zip(items.chunks(row_nbytes)) {
            let at = (row * self.shape[1] + start[1]) as usize * ITEM_SIZE;
            self.items[at..at + row_nbytes].copy_from_slice(part);
        }
        assert_eq!(array.set(&start, &stop, &items), 0, "a slice {start:?}..{stop:?}");
    }

    fn resize(&mut self, array: &Array<'_>, rows: i64) {
        self.shape[0] = rows;
        self.items.resize((rows * self.shape[1]) as usize * ITEM_SIZE, 0);
        assert_eq!(array.resize(&self.shape), 0, "resize to {rows} rows");
    }

    /// Checks the items that a release reads. A release without arrays reads the chunks, which must be those that our
    /// library reads.
    pub fn check(&self, release: &Release, path: &Path, what: &str) {
        let what = format!("{what}: read by {}", release.version);
        if release.has_arrays() {
            let array = release.open_array(path).unwrap_or_else(|| panic!("{what}: cannot be opened"));
            let items = array.items(self.items.len());
            assert!(items.as_ref() == Ok(&self.items), "{what}: {:?}", items.err());
        } else {
            let schunk = release.open_schunk(path).unwrap_or_else(|| panic!("{what}: cannot be opened"));
            let expected =
                support::super_chunk::SuperChunk::open(Library::ours(), path).expect("a super-chunk");
            assert!(expected.nchunks() > 0, "{what}");
            for nchunk in 0..expected.nchunks() {
                let content = expected.decompress(nchunk).expect("a chunk");
                let found = schunk.decompress(nchunk, content.len());
                assert!(found == Ok(content), "{what}: chunk {nchunk}: {:?}", found.err());
            }
        }
    }

    /// As [`Model::check`] with our library, with the shape.
    pub fn check_ours(&self, path: &Path, what: &str) {
        self.check(Release::ours(), path, what);
        let array = support::array::Array::open(Library::ours(), path).1.expect("an array");
        assert_eq!(array.shape(), self.shape, "{what}");
    }
}
