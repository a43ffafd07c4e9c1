//! Lengths of chunks beside earlier releases of the C library: what a program gains or loses that comes from one of them.
//! `scripts/fetch-old-releases.sh` fetches them.

use std::ffi::c_void;
use std::path::{Path, PathBuf};

use blosc2::abi::blosc2_cparams;
use libloading::os::unix::{Library as OsLibrary, RTLD_LOCAL, RTLD_NOW, Symbol};

use crate::cell::Cell;
use crate::library;
use crate::measure::CellRatios;
use crate::report::Report;

/// The releases: those of the wheels of python-blosc2 3.0.0 and 3.12.2.
const VERSIONS: [&str; 2] = ["2.15.2", "2.22.1"];

/// The functions of a library that compress a chunk. All releases since 2.15 have the same `blosc2_cparams`.
struct Compressor {
    name: &'static str,
    create: Symbol<unsafe extern "C" fn(blosc2_cparams) -> *mut c_void>,
    compress: Symbol<unsafe extern "C" fn(*mut c_void, *const c_void, i32, *mut c_void, i32) -> i32>,
    free: Symbol<unsafe extern "C" fn(*mut c_void)>,
}

impl Compressor {
    /// Loads a library, which stays loaded.
    fn load(name: &'static str, path: &Path) -> Result<Compressor, libloading::Error> {
        // SAFETY: the libraries have no observable initialisers; the functions have these types in all releases.
        unsafe {
            let library = OsLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL)?;
            let compressor = Compressor {
                name,
                create: library.get(b"blosc2_create_cctx")?,
                compress: library.get(b"blosc2_compress_ctx")?,
                free: library.get(b"blosc2_free_ctx")?,
            };
            library.get::<unsafe extern "C" fn()>(b"blosc2_init")?();
            std::mem::forget(library);
            Ok(compressor)
        }
    }

    /// Returns the length of the chunk of `data` in bytes.
    fn chunk_len(&self, cell: &Cell, data: &[u8]) -> usize {
        let mut chunk = vec![0u8; data.len() + 32];
        // SAFETY: the parameters are plain numbers, and the lengths are those of the buffers.
        let cbytes = unsafe {
            let context = (self.create)(cell.params.cparams());
            let (len, capacity) = (data.len() as i32, chunk.len() as i32);
            let cbytes =
                (self.compress)(context, data.as_ptr().cast(), len, chunk.as_mut_ptr().cast(), capacity);
            (self.free)(context);
            cbytes
        };
        usize::try_from(cbytes).unwrap_or_else(|_| panic!("{}: {cell}: {cbytes}", self.name))
    }
}

/// Returns the report of each release on the lengths of its chunks relative to ours.
///
/// # Errors
/// A library that does not load.
pub fn compare_sizes(
    cells: impl Iterator<Item = Cell>,
) -> Result<Vec<(&'static str, Report)>, libloading::Error> {
    let ours = Compressor::load("ours", &library::path_of_ours())?;
    let directory = std::env::var_os("BLOSC2_OLD_RELEASES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/releases"), PathBuf::from);
    let mut releases = Vec::new();
    for version in VERSIONS {
        let path = directory.join(version).join("libblosc2.so");
        releases.push((Compressor::load(version, &path)?, Report::default()));
    }
    for cell in cells {
        let data = cell.data_sets(1).remove(0);
        let cbytes = ours.chunk_len(&cell, &data);
        for (release, report) in &mut releases {
            let size = release.chunk_len(&cell, &data) as f64 / cbytes as f64;
            report.add(&cell, CellRatios { size, cbytes, speeds: None });
        }
    }
    Ok(releases.into_iter().map(|(release, report)| (release.name, report)).collect())
}
