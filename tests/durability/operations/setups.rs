//! The frames that are changed.

use std::ops::Range;
use std::path::Path;

use super::ours;
use crate::contents::Form;
use crate::support::array::ArraySpec;
use crate::support::calls::{Params, Special, compress, special_chunk};
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// The frame that an operation changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setup {
    /// Five chunks, one of them special, and metalayers of both kinds.
    Schunk,
    /// As [`Setup::Schunk`], after changes by a process that ended without freeing the super-chunk.
    Fragmented,
    /// A super-chunk without chunks.
    Empty,
    /// A super-chunk with a header of several sectors.
    LongHeader,
    /// A super-chunk behind another one in the same file.
    SecondFrame,
    /// As [`Setup::SecondFrame`], with a sector boundary in the first bytes of the header.
    SplitHeader,
    /// 40 x 60 items in chunks of 10 x 30.
    Array,
    /// 44 x 60 items in chunks of 10 x 30: the last chunks are not full.
    PartialArray,
    /// 40 x 30 items in chunks of 10 x 30, to which a whole chunk can be appended.
    NarrowArray,
    /// As [`Setup::Array`], with a header of several sectors.
    LongHeaderArray,
}

/// The number of items of a chunk.
pub const ITEMS: usize = 1500;

/// The number of metalayers, and the length of each in bytes, that make a header longer than a sector.
const LONG_HEADER: (usize, usize) = (5, 150);

pub fn params() -> Params {
    Params { typesize: 4, ..Params::default() }
}

/// Returns the bytes of `count` random items.
pub fn noise(seed: u64, count: usize) -> Vec<u8> {
    Random::new(seed).words(count)
}

/// Returns a compressed chunk of `count` random items.
pub fn chunk(seed: u64, count: usize) -> Vec<u8> {
    let content = noise(seed, count);
    compress(ours(), &params(), &content, content.len() + 100).expect("a chunk")
}

/// Returns a compressed chunk of random items and zeros, of about half the length of [`chunk`].
pub fn half_zeros() -> Vec<u8> {
    let content = [noise(96, ITEMS / 2), vec![0; 4 * (ITEMS - ITEMS / 2)]].concat();
    compress(ours(), &params(), &content, content.len() + 100).expect("a chunk")
}

/// Returns a payload-free chunk of zeros.
pub fn zeros() -> Vec<u8> {
    special_chunk(ours(), &params(), Special::Zeros, 4 * ITEMS as i32, 32).expect("a chunk")
}

fn long_metalayers() -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..LONG_HEADER.0).map(|number| (format!("long{number}"), vec![number as u8; LONG_HEADER.1]))
}

/// Adds metalayers until the header is longer than a sector.
pub fn add_long_metalayers(schunk: &SuperChunk) {
    for (name, content) in long_metalayers() {
        assert!(schunk.meta_add(&name, &content) >= 0);
    }
}

fn make_schunk(store: Store, path: &Path, is_header_long: bool) -> SuperChunk {
    let schunk = SuperChunk::create(ours(), store, path, &params());
    assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
    if is_header_long {
        add_long_metalayers(&schunk);
    }
    for seed in 0..5 {
        schunk.append(&noise(seed, ITEMS)).expect("appended");
    }
    schunk.update_chunk(3, &zeros()).expect("replaced");
    assert_eq!(schunk.vlmeta_add("variable", &noise(9, 200)), 0);
    schunk
}

/// Makes dead regions in the frame, and does not free the super-chunk.
fn fragment(schunk: SuperChunk) {
    schunk.update_chunk(0, &chunk(10, ITEMS)).expect("replaced");
    schunk.delete_chunk(2).expect("deleted");
    schunk.append(&noise(11, ITEMS)).expect("appended");
    assert!(schunk.vlmeta_update("variable", &noise(12, 300)) >= 0);
    std::mem::forget(schunk);
}

/// Creates a file with two frames. The offset of the second one in its sector is in `offsets`.
fn make_two_frames(path: &Path, offsets: Range<i64>) {
    for seed in [50, 51] {
        let frame = make_schunk(Store::MemoryFrame, Path::new(""), false);
        frame.append(&noise(seed, ITEMS)).expect("appended");
        let mut padding = 0;
        while !offsets.contains(&(frame.frame_len() % 512)) {
            padding += 8;
            assert!(frame.vlmeta_update("variable", &noise(9, 200 + padding)) >= 0);
        }
        frame.append_file(path).expect("appended");
    }
}

fn spec(store: Store, path: &Path, shape: [i64; 2]) -> ArraySpec {
    ArraySpec::new(&shape, &[10, 30], &[5, 10], 4).with_store(store, path)
}

fn make_array(spec: &ArraySpec) {
    drop(spec.create_from_buffer(ours(), &noise(1, spec.nbytes() / 4)));
}

impl Setup {
    /// Returns a description for messages.
    pub fn name(self) -> &'static str {
        match self {
            Setup::Schunk => "super-chunk",
            Setup::Fragmented => "fragmented frame",
            Setup::Empty => "empty frame",
            Setup::LongHeader => "long header",
            Setup::SecondFrame => "second frame of a file",
            Setup::SplitHeader => "second frame with a split header",
            Setup::Array => "array",
            Setup::PartialArray => "array with partial chunks",
            Setup::NarrowArray => "array one chunk wide",
            Setup::LongHeaderArray => "array with a long header",
        }
    }

    pub fn form(self) -> Form {
        match self {
            Setup::Schunk | Setup::Fragmented | Setup::Empty | Setup::LongHeader => Form::SuperChunk,
            Setup::SecondFrame | Setup::SplitHeader => Form::SecondFrame,
            _ => Form::Array,
        }
    }

    /// Returns the stores that the frame can be in.
    pub fn stores(self) -> &'static [Store] {
        if self.form() == Form::SecondFrame { &[Store::File] } else { &Store::ON_DISK }
    }

    /// Creates the files.
    pub fn make(self, store: Store, path: &Path) {
        match self {
            Setup::Schunk => drop(make_schunk(store, path, false)),
            Setup::Fragmented => fragment(make_schunk(store, path, false)),
            Setup::Empty => {
                let schunk = SuperChunk::create(ours(), store, path, &params());
                assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
            }
            Setup::LongHeader => drop(make_schunk(store, path, true)),
            Setup::SecondFrame => make_two_frames(path, 0..400),
            Setup::SplitHeader => make_two_frames(path, 450..490),
            Setup::Array => make_array(&spec(store, path, [40, 60])),
            Setup::PartialArray => make_array(&spec(store, path, [44, 60])),
            Setup::NarrowArray => make_array(&spec(store, path, [40, 30])),
            Setup::LongHeaderArray => {
                let metalayers = long_metalayers()
                    .map(|(name, content)| (std::ffi::CString::new(name).expect("a name"), content));
                make_array(&ArraySpec { metalayers: metalayers.collect(), ..spec(store, path, [40, 60]) });
            }
        }
    }
}
