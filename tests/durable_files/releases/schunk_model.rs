//! The expected contents of a super-chunk, and the changes that each release makes.

use std::collections::BTreeMap;
use std::path::Path;

use super::library::{Release, Schunk};
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// The uncompressed size of every chunk.
const NBYTES: usize = 6000;
/// The name of the fixed metalayer.
const META: &str = "fixed";
/// The variable-length metalayers: the first one is updated, the second one is deleted.
const NOTES: [&str; 2] = ["first", "second"];

fn params() -> Params {
    Params { typesize: 4, ..Params::default() }
}

/// Returns the content of a chunk of which `noise` bytes are random, so that its compressed size is a little more.
fn content(seed: u64, noise: usize) -> Vec<u8> {
    let mut bytes = Random::new(seed).bytes(noise);
    bytes.resize(NBYTES, seed as u8 | 1);
    bytes
}

/// A change of one chunk or metalayer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Append,
    UpdateSame,
    UpdateLonger,
    UpdateShorter,
    /// Updates a chunk with zeros, which have no payload.
    UpdateZeros,
    Insert,
    Delete,
    MetaUpdate,
    VlmetaAdd,
    VlmetaUpdate,
    VlmetaDelete,
}

impl Change {
    pub const ALL: [Change; 11] = [
        Change::Append,
        Change::UpdateSame,
        Change::UpdateLonger,
        Change::UpdateShorter,
        Change::UpdateZeros,
        Change::Insert,
        Change::Delete,
        Change::MetaUpdate,
        Change::VlmetaAdd,
        Change::VlmetaUpdate,
        Change::VlmetaDelete,
    ];
}

/// The expected contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    chunks: Vec<Vec<u8>>,
    meta: Vec<u8>,
    vlmetas: BTreeMap<String, Vec<u8>>,
}

impl Model {
    /// Creates a super-chunk with our library: a chunk of noise, compressible chunks, and metalayers.
    pub fn create(store: Store, path: &Path) -> Model {
        Model::create_open(store, path).0
    }

    /// As [`create`](Self::create), but never closes the super-chunk.
    pub fn create_without_closing(store: Store, path: &Path) {
        std::mem::forget(Model::create_open(store, path).1);
    }

    fn create_open(store: Store, path: &Path) -> (Model, SuperChunk) {
        let schunk = SuperChunk::create(Library::ours(), store, path, &params());
        let model = Model::initial();
        assert_eq!(schunk.meta_add(META, &model.meta), 0);
        for chunk in &model.chunks {
            schunk.append(chunk).expect("appended");
        }
        for (name, bytes) in &model.vlmetas {
            assert!(schunk.vlmeta_add(name, bytes) >= 0);
        }
        (model, schunk)
    }

    /// Returns the contents that [`Model::create`] creates.
    pub fn initial() -> Model {
        let noise = [NBYTES, 2000, 3000, 100, 4000, 2500];
        Model {
            chunks: noise.iter().enumerate().map(|(n, &noise)| content(n as u64, noise)).collect(),
            meta: b"the content".to_vec(),
            vlmetas: NOTES.iter().map(|name| (name.to_string(), content(20, 60)[..90].to_vec())).collect(),
        }
    }

    /// Makes a change with an open super-chunk, and in this model. `seed` makes the new contents different from all
    /// others.
    pub fn change(&mut self, schunk: &Schunk<'_>, change: Change, seed: u64) {
        let nchunks = self.chunks.len() as i64;
        match change {
            Change::Append => {
                self.chunks.push(content(seed, 1800));
                let last = self.chunks.last().expect("a chunk");
                assert_eq!(schunk.append(last), nchunks + 1, "{change:?}");
            }
            Change::UpdateSame => self.update(schunk, 0, content(seed, NBYTES)),
            Change::UpdateLonger => self.update(schunk, 1, content(seed, 5000)),
            Change::UpdateShorter => self.update(schunk, 2, content(seed, 500)),
            Change::UpdateZeros => self.update(schunk, 3, vec![0; NBYTES]),
            Change::Insert => {
                self.chunks.insert(2, content(seed, 2200));
                assert_eq!(schunk.insert(2, &compressed(&self.chunks[2])), nchunks + 1, "{change:?}");
            }
            Change::Delete => {
                self.chunks.remove(1);
                assert_eq!(schunk.delete(1), nchunks - 1, "{change:?}");
            }
            Change::MetaUpdate => {
                self.meta = content(seed, self.meta.len())[..self.meta.len()].to_vec();
                assert!(schunk.meta_update(META, &self.meta) >= 0, "{change:?}");
            }
            Change::VlmetaAdd => self.set_note(schunk, &format!("note {seed}"), seed, true),
            Change::VlmetaUpdate => self.set_note(schunk, NOTES[0], seed, false),
            Change::VlmetaDelete => {
                self.vlmetas.remove(NOTES[1]).expect("a metalayer");
                assert!(schunk.vlmeta_delete(NOTES[1]) >= 0, "{change:?}");
            }
        }
    }

    /// Returns the number of chunks.
    pub fn nchunks(&self) -> usize {
        self.chunks.len()
    }

    /// Returns whether the change is possible: a metalayer is deleted once, and 16 are the limit.
    pub fn can(&self, change: Change) -> bool {
        match change {
            Change::VlmetaDelete => self.vlmetas.contains_key(NOTES[1]),
            Change::VlmetaAdd => self.vlmetas.len() < 16,
            _ => true,
        }
    }

    fn update(&mut self, schunk: &Schunk<'_>, nchunk: usize, bytes: Vec<u8>) {
        self.chunks[nchunk] = bytes;
        let chunk = compressed(&self.chunks[nchunk]);
        assert_eq!(schunk.update(nchunk as i64, &chunk), self.chunks.len() as i64, "update of {nchunk}");
    }

    fn set_note(&mut self, schunk: &Schunk<'_>, name: &str, seed: u64, is_new: bool) {
        let bytes = content(seed, 300)[..200 + seed as usize % 300].to_vec();
        assert!(schunk.vlmeta_set(name, &bytes, is_new) >= 0, "{name}");
        self.vlmetas.insert(name.to_string(), bytes);
    }

    /// Checks everything that a release reads from the frame.
    pub fn check(&self, release: &Release, path: &Path, what: &str) {
        let what = format!("{what}: read by {}", release.version);
        let schunk = release.open_schunk(path).unwrap_or_else(|| panic!("{what}: cannot be opened"));
        self.check_chunks(&schunk, &what);
        let behind = schunk.decompress(self.chunks.len() as i64, NBYTES);
        assert!(behind.is_err(), "{what}: more than {} chunks", self.chunks.len());
        for (name, expected) in &self.vlmetas {
            assert_eq!(schunk.vlmeta_get(name).as_ref(), Ok(expected), "{what}: {name}");
        }
        if !self.vlmetas.contains_key(NOTES[1]) {
            assert!(schunk.vlmeta_get(NOTES[1]).is_err(), "{what}: a deleted metalayer");
        }
    }

    /// Checks the chunks that an open super-chunk has.
    pub fn check_chunks(&self, schunk: &Schunk<'_>, what: &str) {
        for (nchunk, expected) in self.chunks.iter().enumerate() {
            let found = schunk.decompress(nchunk as i64, NBYTES);
            assert!(found.as_ref() == Ok(expected), "{what}: chunk {nchunk}: {:?}", found.err());
        }
    }

    /// As [`Model::check`] with our library, with the fixed metalayer, which C programs read from the struct.
    pub fn check_ours(&self, path: &Path, what: &str) {
        self.check(Release::ours(), path, what);
        let schunk = SuperChunk::open(Library::ours(), path).expect("a super-chunk");
        assert_eq!(schunk.meta_get(META).as_ref(), Some(&self.meta), "{what}");
        assert_eq!(schunk.nchunks(), self.chunks.len() as i64, "{what}");
        assert_eq!(schunk.nvlmetalayers() as usize, self.vlmetas.len(), "{what}");
    }
}

/// Returns the chunk that our library compresses.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    compress(Library::ours(), &params(), bytes, bytes.len() + 100).expect("a chunk")
}
