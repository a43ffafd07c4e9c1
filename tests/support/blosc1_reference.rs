//! C-Blosc 1.21.6, which `scripts/fetch-blosc1.sh` fetches, and its codec libraries.

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::path::{Path, PathBuf};

/// Loads the library from the root of the repository. It is never unloaded, and neither are its codecs.
///
/// # Errors
/// What to do if it was not fetched.
pub fn open(root: &Path) -> Result<&'static Library, String> {
    let entries = std::fs::read_dir(root.join("reference-blosc1")).into_iter().flatten().flatten();
    let files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains(".so.")).collect();
    let is_blosc = |path: &&PathBuf| path.to_string_lossy().contains("libblosc-");
    let load = |path: &Path, visibility| {
        // SAFETY: C libraries without requirements for their initialisation.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | visibility) };
        library.map_err(|error| format!("cannot load {}: {error}", path.display()))
    };
    // The library finds its codecs by their names once they are loaded.
    for path in files.iter().filter(|path| !is_blosc(path)) {
        std::mem::forget(load(path, RTLD_GLOBAL)?);
    }
    let path =
        files.iter().find(is_blosc).ok_or("C-Blosc 1 was not fetched (run scripts/fetch-blosc1.sh)")?;
    Ok(Box::leak(Box::new(load(path, RTLD_LOCAL)?)))
}
