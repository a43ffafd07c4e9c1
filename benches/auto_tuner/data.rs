//! The data sets: chunks of drawn families and pieces of files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cell::{Cell, DrawRanges};

/// Length in bytes of a chunk; whole items.
const CHUNK_LEN: usize = 1 << 20;

/// The seed that stands for the files of [`FIELD_DATA`]; the index is the number of the file in the order of their names.
pub const FILES: u64 = 0;
/// Real files of several fields, which `scripts/fetch-field-data.sh` fetches.
const FIELD_DATA: &str = "reference/field-data";
/// The largest number of chunks of a file, at equal distances.
const CHUNKS_OF_FILE: usize = 4;

/// Chunks of one source.
pub struct DataSet {
    /// The family of drawn data, or the name of the file.
    pub name: String,
    pub typesize: usize,
    pub chunks: Vec<Vec<u8>>,
}

impl DataSet {
    /// Draws set `index` of the run `seed`: two chunks with parameters of their own; or returns chunks of a file.
    pub fn new(seed: u64, index: u64) -> DataSet {
        match seed {
            FILES => DataSet::of_file(&field_files()[index as usize]),
            _ => DataSet::draw_pieces(seed, index, CHUNK_LEN, 2),
        }
    }

    /// Reads chunks of a file, which is called `NAME.tN.bin` for items of N bytes.
    fn of_file(path: &Path) -> DataSet {
        let name = path.file_name().expect("the name of a file").to_string_lossy().into_owned();
        let typesize = name.split('.').rev().find_map(|part| part.strip_prefix('t')?.parse().ok());
        let typesize: usize = typesize.unwrap_or_else(|| panic!("{name}: no item size"));
        let content = fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let len = content.len().min(CHUNK_LEN) / typesize * typesize;
        let count = (content.len() / len).min(CHUNKS_OF_FILE);
        let starts = (0..count).map(|n| (content.len() - len) * n / (count - 1).max(1) / typesize * typesize);
        DataSet { name, typesize, chunks: starts.map(|at| content[at..at + len].to_vec()).collect() }
    }

    /// Draws set `index` of the run `seed`: `count` successive chunks of one series.
    pub fn draw_series(seed: u64, index: u64, count: usize) -> DataSet {
        let mut set = DataSet::draw_pieces(seed, index, count * CHUNK_LEN, 1);
        let chunk_len = CHUNK_LEN / set.typesize * set.typesize;
        set.chunks = set.chunks[0].chunks_exact(chunk_len).take(count).map(<[u8]>::to_vec).collect();
        set
    }

    fn draw_pieces(seed: u64, index: u64, nbytes: usize, count: usize) -> DataSet {
        let mut cell = Cell::draw(seed, index, &DrawRanges::default());
        let typesize = cell.params.typesize as usize;
        cell.nbytes = nbytes / typesize * typesize;
        DataSet { name: cell.family.to_string(), typesize, chunks: cell.data_sets(count) }
    }
}

/// Returns the real files, in the order of their names.
pub fn field_files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIELD_DATA);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "bin")).collect();
    paths.sort();
    paths
}
