//! One library with its array, and the data that the array borrows: back-ends, counters, mappings.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use blosc2::abi::{BLOSC2_IO_DEFAULTS, BLOSC2_STDIO_MMAP_DEFAULTS, blosc2_io, blosc2_stdio_mmap};

use crate::setup::Backend;
use crate::support::array::{Array, ArrayContext, ArraySpec};
use crate::support::library::Library;
use crate::support::super_chunk::{SuperChunk, c_path, locking_io};
use crate::support::user_back_ends::{self, Counters};

/// See the module documentation.
pub struct LibraryState {
    pub library: &'static Library,
    array: Option<Array>,
    /// Path of the file or directory of the array; empty for an array in memory.
    pub path: PathBuf,
    pub directory: PathBuf,
    counters: Box<Counters>,
    mmap_params: Vec<*mut blosc2_stdio_mmap>,
}

impl LibraryState {
    pub fn new(library: &'static Library, directory: PathBuf) -> LibraryState {
        std::fs::create_dir_all(&directory).expect("a scratch directory");
        LibraryState {
            library,
            array: None,
            path: PathBuf::new(),
            directory,
            counters: Box::default(),
            mmap_params: Vec::new(),
        }
    }

    pub fn array(&self) -> &Array {
        self.array.as_ref().expect("an array")
    }

    pub fn has_array(&self) -> bool {
        self.array.is_some()
    }

    /// Frees the current array and takes over `array`.
    pub fn replace_array(&mut self, array: Option<Array>, path: &Path) {
        self.array = array;
        self.path = path.to_owned();
    }

    /// Returns a back-end for one handle.
    fn create_io(&mut self, backend: Backend, new: bool) -> blosc2_io {
        match backend {
            Backend::Native => BLOSC2_IO_DEFAULTS,
            Backend::Locking => locking_io(),
            Backend::Mapped => {
                let map = Box::into_raw(Box::new(blosc2_stdio_mmap {
                    mode: if new { c"w+" } else { c"r+" }.as_ptr(),
                    initial_mapping_size: 1 << 26,
                    ..BLOSC2_STDIO_MMAP_DEFAULTS
                }));
                self.mmap_params.push(map);
                blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params: map.cast() }
            }
            Backend::UserReadsIntoBuffer => {
                user_back_ends::io(user_back_ends::FILLING_BACK_END, &self.counters)
            }
            Backend::UserReturnsPointer => {
                user_back_ends::io(user_back_ends::POINTING_BACK_END, &self.counters)
            }
        }
    }

    /// Returns the counters of the user-defined back-ends: open streams, and destroyed parameters.
    pub fn io_counts(&self) -> (i64, i64) {
        let open = self.counters.opens.load(Relaxed) - self.counters.closes.load(Relaxed);
        (open, self.counters.destroys.load(Relaxed))
    }

    pub fn context(&mut self, spec: &ArraySpec, backend: Backend) -> Option<ArrayContext> {
        let io = spec.store.is_on_disk().then(|| self.create_io(backend, true));
        spec.try_context(self.library, io)
    }

    pub fn open(&mut self, path: &Path, backend: Backend) -> Result<Array, i32> {
        if backend == Backend::Native {
            let (rc, array) = Array::open(self.library, path);
            return array.ok_or(rc);
        }
        let io = self.create_io(backend, false);
        let path = c_path(path);
        let functions = crate::support::super_chunk::functions::Functions::of(self.library);
        // SAFETY: a path, and a back-end that outlives the super-chunk.
        let raw = unsafe { (functions.blosc2_schunk_open_udio)(path.as_ptr(), &io) };
        Array::from_super_chunk(SuperChunk::from_raw(self.library, raw).ok_or(-1000)?)
    }

    /// Leaks everything: after a panic the state of the library is unknown.
    pub fn forget(&mut self) {
        std::mem::forget(self.array.take());
        self.mmap_params.clear();
        std::mem::forget(std::mem::take(&mut self.counters));
    }
}

impl Drop for LibraryState {
    fn drop(&mut self) {
        self.array = None;
        for map in self.mmap_params.drain(..) {
            // SAFETY: a box from `Box::into_raw` that no array uses any more.
            drop(unsafe { Box::from_raw(map) });
        }
    }
}
