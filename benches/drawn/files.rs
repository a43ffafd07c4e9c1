//! Pieces of real files: the arrays that `scripts/fetch-bench-data.sh` fetches, the reference library and its headers,
//! and the sources of this package.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::support::random::Random;

/// Directories, relative to the package, and the extensions of the files that are used.
const SOURCE_DIRS: [(&str, &[&str]); 5] = [
    ("reference/bench-data", &["bin"]),
    ("reference/blosc2/lib", &["so"]),
    ("reference/blosc2", &["py"]),
    ("src/capi", &["rs"]),
    ("docs", &["md", "svg"]),
];
/// The least length in bytes of a file that is used.
const MIN_FILE_LEN: usize = 8 << 10;

/// Returns the files, in the order of their paths.
fn load_files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<PathBuf> = Vec::new();
        for (directory, endings) in SOURCE_DIRS {
            let entries = fs::read_dir(root.join(directory)).into_iter().flatten().flatten();
            let is_wanted = |path: &PathBuf| {
                path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted))
            };
            paths.extend(entries.map(|entry| entry.path()).filter(is_wanted));
        }
        paths.sort();
        let contents = paths.iter().filter_map(|path| fs::read(path).ok());
        let mut files: Vec<Vec<u8>> = contents.filter(|bytes| bytes.len() >= MIN_FILE_LEN).collect();
        if files.is_empty() {
            files.push(fs::read(root.join("Cargo.lock")).expect("the package has a lock file"));
        }
        files
    })
}

/// Returns `nbytes` bytes of a file from a random position; a file that is too short is repeated.
pub fn piece(random: &mut Random, nbytes: usize) -> Vec<u8> {
    let file = random.pick(load_files());
    let start = random.below(file.len().saturating_sub(nbytes) + 1);
    file.iter().skip(start).chain(file.iter().cycle()).take(nbytes).copied().collect()
}
