//! Valid frames of every kind, made by every available library, from which mutants are made.

use super::Form;
use super::fields::{Files, FrameLayout, parse_layout};
use crate::support::calls::{Params, Special, compress, special_chunk, vlcompress};
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// A valid frame.
pub struct Original {
    pub name: String,
    pub files: Files,
    /// The layout of the frame or of the index file.
    pub layout: FrameLayout,
    /// The entries of its index.
    pub offsets: Vec<i64>,
}

impl Original {
    /// Returns the name of the file with the header.
    pub fn main_file(&self) -> &'static str {
        if self.files.contains_key("frame") { "frame" } else { "chunks.b2frame" }
    }
}

const FRAME_KINDS: [&str; 14] = [
    "blosclz",
    "lz4",
    "zlib",
    "zstd",
    "delta",
    "dictionary",
    "variable",
    "blocks",
    "fill",
    "array",
    "empty",
    "holes",
    "wide",
    "one",
];

fn params_of_kind(kind: &str) -> Params {
    let base = Params { typesize: 4, blocksize: 256, ..Params::default() };
    match kind {
        "lz4" => Params { codec: 1, filters: [0, 0, 0, 0, 0, 2], ..base },
        "zlib" => Params { codec: 4, filters: [0; 6], ..base },
        "zstd" => Params { codec: 5, clevel: 9, ..base },
        "delta" => Params { codec: 1, typesize: 8, filters: [0, 0, 0, 0, 3, 1], ..base },
        "dictionary" => Params { codec: 5, typesize: 1, blocksize: 1024, use_dict: true, ..base },
        "wide" => Params { typesize: 300, blocksize: 0, ..base },
        "fill" | "one" => Params { blocksize: 0, ..base },
        _ => base,
    }
}

/// Returns the metalayer of an array of 6 x 100 int32 in chunks of 2 x 100 (b2nd.md).
fn array_metalayer() -> Vec<u8> {
    let mut content = vec![0x97, 0, 2, 0x92];
    for length in [6i64, 100] {
        content.push(0xD3);
        content.extend(length.to_be_bytes());
    }
    for shape in [[2i32, 100], [1, 100]] {
        content.push(0x92);
        for length in shape {
            content.push(0xD2);
            content.extend(length.to_be_bytes());
        }
    }
    content.extend([0, 0xDB, 0, 0, 0, 3]);
    content.extend(b"<i4");
    content
}

fn append_chunks(
    library: &'static Library,
    kind: &str,
    schunk: &SuperChunk,
    params: &Params,
    random: &mut Random,
) {
    let width = params.typesize as usize;
    let data = |random: &mut Random, kind: Data, len: usize| kind.generate(random, width, len);
    if kind == "array" {
        schunk.meta_add("b2nd", &array_metalayer());
    }
    if kind != "one" {
        schunk.meta_add("first", b"twelve bytes");
        schunk.meta_add("", &[7; 40]);
    }
    match kind {
        "empty" => {}
        "fill" => {
            assert_eq!(schunk.fill_special(450, 1, 400), 5);
            schunk.append(&data(random, Data::Ramp, 400)).ok();
        }
        "variable" => {
            for len in [400, 40, 1200, 4, 800] {
                schunk.append(&data(random, Data::Ramp, len)).expect("appended");
            }
        }
        "blocks" => {
            for sizes in [[100, 8, 320], [48, 4, 4], [16, 600, 16]] {
                let blocks = sizes.map(|size| data(random, Data::Text, size));
                let chunk = vlcompress(library, params, &blocks, 4000).expect("a chunk");
                schunk.append_chunk(&chunk).expect("appended");
            }
        }
        "one" => {
            schunk.append(&data(random, Data::Ramp, 400)).expect("appended");
        }
        "dictionary" => {
            for _ in 0..2 {
                schunk.append(&data(random, Data::Text, 9000)).expect("appended");
            }
        }
        _ => {
            let len = if kind == "wide" { 1200 } else { 800 };
            for kind in [Data::Ramp, Data::Noise, Data::Text, Data::Zeros, Data::Records] {
                schunk.append(&data(random, kind, len)).expect("appended");
            }
            let plain = Params { filters: [0, 0, 0, 0, 0, 1], blocksize: 0, ..params.clone() };
            let value = vec![9; width];
            for special in [Special::Uninit, Special::Value(&value)] {
                let chunk = special_chunk(library, &plain, special, len as i32, 32 + width).expect("a chunk");
                schunk.append_chunk(&chunk).expect("appended");
            }
            if kind == "holes" {
                schunk.delete_chunk(1).expect("deleted");
                schunk.reorder(&[4, 0, 2, 5, 1, 3]);
                let chunk =
                    compress(library, params, &data(random, Data::Noise, len), 2000).expect("a chunk");
                schunk.update_chunk(2, &chunk).expect("updated");
            }
            schunk.append(&data(random, Data::Ramp, len / 2)).expect("appended");
        }
    }
    if kind != "one" {
        schunk.vlmeta_add("short", b"abc");
        schunk.vlmeta_add("longer", &b"blosc2 ".repeat(60));
        schunk.vlmeta_add("zeros", &[0; 500]);
    }
}

/// Returns all originals in this form.
pub fn originals(form: Form) -> Vec<Original> {
    let scratch = ScratchDir::new();
    let mut originals = Vec::new();
    for library in crate::support::all_libraries() {
        for kind in FRAME_KINDS {
            let random = &mut Random::new(5);
            let params = params_of_kind(kind);
            let (store, path) =
                (if form == Form::Directory { Store::Directory } else { Store::File }, scratch.new_path());
            let schunk = SuperChunk::create(library, store, &path, &params);
            append_chunks(library, kind, &schunk, &params, random);
            let offsets = if schunk.nchunks() > 0 { schunk.offsets().expect("offsets") } else { Vec::new() };
            drop(schunk);
            let files = match form {
                Form::Directory => read_files(&path),
                _ => [("frame".to_string(), std::fs::read(&path).expect("a frame"))].into(),
            };
            let main = files.get("frame").unwrap_or_else(|| &files["chunks.b2frame"]);
            let layout = parse_layout(main);
            originals.push(Original { name: format!("{kind} of {}", library.name), files, layout, offsets });
        }
    }
    originals
}
