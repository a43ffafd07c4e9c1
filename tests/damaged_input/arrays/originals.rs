//! Valid array frames of every kind, made by every available library, from which mutants are made.

use std::collections::BTreeMap;

use crate::support::array::ArraySpec;
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};

/// The files of a mutant: one named `frame`, or those of a directory.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A valid array.
pub struct Original {
    pub name: String,
    pub files: Files,
    pub ndim: usize,
    /// Position and length of the content of the metalayer in the frame or the index file.
    pub metalayer: (usize, usize),
}

impl Original {
    /// Returns the name of the file with the header.
    pub fn main_file(&self) -> &'static str {
        if self.files.contains_key("frame") { "frame" } else { "chunks.b2frame" }
    }

    /// Describes the differences of a mutant.
    pub fn differences(&self, files: &Files) -> String {
        let mut text = format!("of {}, metalayer at {:#x}", self.name, self.metalayer.0);
        for (name, bytes) in files {
            let Some(before) = self.files.get(name) else { continue };
            let changed: Vec<String> = (0..bytes.len().min(before.len()))
                .filter(|&at| bytes[at] != before[at])
                .take(16)
                .map(|at| format!("[{at:#x}] {:02x} -> {:02x}", before[at], bytes[at]))
                .collect();
            if bytes.len() != before.len() || !changed.is_empty() {
                text += &format!("; {name}: {} -> {} bytes, {changed:?}", before.len(), bytes.len());
            }
        }
        text
    }
}

/// Returns arrays of many ranks, partitions and pipelines; `caterva` has the older metalayer.
fn specs() -> Vec<(&'static str, ArraySpec)> {
    let codec = |mut spec: ArraySpec, codec: u8, filter: u8| {
        spec.params.codec = codec;
        spec.params.filters[5] = filter;
        spec
    };
    let mut layered = ArraySpec::new(&[6, 100], &[2, 100], &[1, 100], 4).with_dtype("<i4");
    layered.metalayers.push((c"first".to_owned(), b"twelve bytes".to_vec()));
    vec![
        ("point", ArraySpec::new(&[], &[], &[], 8)),
        ("line", codec(ArraySpec::new(&[1000], &[100], &[30], 4).with_dtype("<f4"), 1, 1)),
        ("matrix", codec(ArraySpec::new(&[50, 70], &[30, 40], &[20, 20], 1), 0, 0)),
        ("layered", layered),
        ("delta", codec(ArraySpec::new(&[40, 30], &[20, 20], &[5, 10], 8), 1, 3)),
        ("cube", codec(ArraySpec::new(&[9, 10, 11], &[4, 5, 6], &[2, 2, 3], 4).with_dtype(""), 5, 1)),
        ("whole", codec(ArraySpec::new(&[8, 8, 8], &[4, 8, 8], &[1, 8, 8], 2), 4, 2)),
        ("wide", ArraySpec::new(&[7, 3], &[3, 2], &[2, 1], 300)),
        ("four", ArraySpec::new(&[5, 4, 3, 6], &[3, 2, 2, 4], &[2, 1, 2, 3], 1).with_dtype("|u1")),
        (
            "sixteen",
            ArraySpec::new(&[2; 16][..], &[1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 2], &[1; 16], 1),
        ),
        ("empty", ArraySpec::new(&[4, 0, 6], &[2, 3, 2], &[2, 2, 2], 4)),
        ("placeholder", ArraySpec::new(&[100, 0, 12], &[31, 0, 12], &[10, 0, 12], 1)),
    ]
}

fn make_original(
    library: &'static Library,
    store: Store,
    kind: &str,
    spec: &ArraySpec,
    scratch: &ScratchDir,
) -> Original {
    let path = scratch.new_path();
    let random = &mut Random::new(9);
    let spec = spec.clone().with_store(store, &path);
    let items = Data::Ramp.generate(random, spec.params.typesize as usize, spec.nbytes());
    let array = spec.create_from_buffer(library, &items);
    array.schunk().vlmeta_add("short", b"abc");
    if spec.shape.len() == 1 {
        // Chunks that exist only in the index, and one that was moved.
        assert_eq!(array.resize(&[1300], None), 0);
        assert_eq!(array.delete(0, 100, 100), 0);
    }
    let content = array.schunk().meta_get("b2nd").expect("a metalayer");
    drop(array);
    let files = match store {
        Store::Directory => read_files(&path),
        _ => [("frame".to_string(), std::fs::read(&path).expect("a frame"))].into(),
    };
    let mut original = Original {
        name: format!("{kind} of {}", library.name),
        files,
        ndim: spec.shape.len(),
        metalayer: (0, 0),
    };
    let main = &original.files[original.main_file()];
    let at = main.windows(content.len()).position(|window| window == content).expect("the metalayer");
    original.metalayer = (at, content.len());
    original
}

/// Returns all originals: as one frame each, or as files and directories.
pub fn originals(buffers: bool) -> Vec<Original> {
    let scratch = ScratchDir::new();
    let stores = if buffers { &[Store::File][..] } else { &Store::ON_DISK };
    let mut originals = Vec::new();
    for library in crate::support::all_libraries() {
        for &store in stores {
            for (kind, spec) in specs() {
                originals.push(make_original(library, store, kind, &spec, &scratch));
            }
        }
    }
    originals
}
