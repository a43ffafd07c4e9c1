//! One library with its super-chunk: safe calls that return values which can be compared with those of the other
//! library. They do not check results.

mod chunks;
mod frames;
mod metadata;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use blosc2::abi::{
    BLOSC2_IO_DEFAULTS, BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_cparams, blosc2_dparams, blosc2_io,
    blosc2_schunk, blosc2_stdio_mmap, blosc2_stdio_params, blosc2_storage,
};

use crate::api::{Api, Schunk};
use crate::setup::{Backend, StorageKind};
use crate::support::calls::{Params, dparams};
use crate::support::user_back_ends::{self as backends, Counters};

/// Fill byte of a destination before a call.
pub const DEST_FILL_BYTE: u8 = 0xCC;

static LOCKING_PARAMS: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::TRUE };

/// The public fields of a super-chunk that must be equal in both libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchunkFields {
    pub nchunks: i64,
    pub nbytes: i64,
    pub chunksize: i32,
    pub blocksize: i32,
    pub typesize: i32,
    pub codec: [u8; 6],
    pub filters: [u8; 12],
    pub current_nchunk: i64,
    pub change_tick: i64,
    pub in_memory: (bool, bool),
    pub flags2: u8,
    pub ndim: (i8, bool, bool),
    pub contiguous: bool,
    pub io: u8,
}

/// A library, its current super-chunk, and the path of that.
pub struct LibrarySide {
    pub api: &'static Api,
    pub schunk: Schunk,
    pub second_handle: Schunk,
    /// The file or directory of the super-chunk; empty in memory.
    pub path: PathBuf,
    pub directory: PathBuf,
    counters: Box<Counters>,
    maps: Vec<*mut blosc2_stdio_mmap>,
    /// The frame that the super-chunk borrows from the test.
    borrowed_frame: *mut u8,
}

/// Converts a path to a C string.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("a path without NUL")
}

/// Returns a copy of `bytes` in memory from `malloc`, as required for memory that the library may free.
pub fn copy_to_malloc(bytes: &[u8]) -> *mut u8 {
    // SAFETY: a fresh block of at least `bytes.len()` bytes is filled.
    unsafe {
        let block = libc::malloc(bytes.len().max(1)).cast::<u8>();
        assert!(!block.is_null());
        ptr::copy_nonoverlapping(bytes.as_ptr(), block, bytes.len());
        block
    }
}

impl LibrarySide {
    pub fn new(api: &'static Api, directory: PathBuf) -> LibrarySide {
        std::fs::create_dir_all(&directory).expect("a scratch directory");
        LibrarySide {
            api,
            schunk: ptr::null_mut(),
            second_handle: ptr::null_mut(),
            path: PathBuf::new(),
            directory,
            counters: Box::default(),
            maps: Vec::new(),
            borrowed_frame: ptr::null_mut(),
        }
    }

    fn io(&mut self, backend: Backend, mode: &'static CStr) -> blosc2_io {
        match backend {
            Backend::Native => BLOSC2_IO_DEFAULTS,
            Backend::Locking => {
                blosc2_io { params: ptr::from_ref(&LOCKING_PARAMS).cast_mut().cast(), ..BLOSC2_IO_DEFAULTS }
            }
            Backend::Mapped { initial } => {
                let map = Box::into_raw(Box::new(blosc2_stdio_mmap {
                    mode: mode.as_ptr(),
                    initial_mapping_size: initial,
                    ..BLOSC2_STDIO_MMAP_DEFAULTS
                }));
                self.maps.push(map);
                let params = map.cast();
                blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params }
            }
            Backend::FillsBuffer => backends::io(backends::FILLING_BACK_END, &self.counters),
            Backend::ReturnsPointers => backends::io(backends::POINTING_BACK_END, &self.counters),
        }
    }

    /// Returns the counters of the user-defined back-ends: open streams, and destroyed parameters.
    pub fn counter_values(&self) -> (i64, i64) {
        let open = self.counters.opens.load(Relaxed) - self.counters.closes.load(Relaxed);
        (open, self.counters.destroys.load(Relaxed))
    }

    /// Calls `call` with a storage description for `store` at `self.path`.
    fn with_storage(
        &mut self,
        store: StorageKind,
        backend: Backend,
        path: &Path,
        cparams: Option<&Params>,
        nthreads: Option<i16>,
        call: impl FnOnce(&Api, *mut blosc2_storage) -> Schunk,
    ) -> Schunk {
        let path = c_path(path);
        let mut io = self.io(backend, c"w+");
        let mut cparams = cparams.map(Params::cparams);
        let mut dparams = nthreads.map(dparams);
        let mut storage = blosc2_storage {
            contiguous: store.is_contiguous().into(),
            urlpath: if store.is_on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
            cparams: cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
            dparams: dparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
            io: if store.is_on_disk() { &mut io } else { ptr::null_mut() },
        };
        call(self.api, &mut storage)
    }

    pub fn create(
        &mut self,
        store: StorageKind,
        backend: Backend,
        path: &Path,
        params: &Params,
        nthreads: i16,
    ) -> bool {
        self.schunk =
            self.with_storage(store, backend, path, Some(params), Some(nthreads), |api, storage| {
                // SAFETY: a storage whose pointers are NULL or valid.
                unsafe { (api.blosc2_schunk_new)(storage) }
            });
        self.path = if store.is_on_disk() { strip_file_prefix(path) } else { PathBuf::new() };
        !self.schunk.is_null()
    }

    /// Returns a copy of the super-chunk, which the caller frees or adopts.
    pub fn copy(
        &mut self,
        store: StorageKind,
        path: &Path,
        cparams: Option<&Params>,
        nthreads: Option<i16>,
    ) -> Schunk {
        let schunk = self.schunk;
        self.with_storage(store, Backend::Native, path, cparams, nthreads, |api, storage| {
            // SAFETY: a live super-chunk and a storage whose pointers are NULL or valid.
            unsafe { (api.blosc2_schunk_copy)(schunk, storage) }
        })
    }

    pub fn open(&mut self, backend: Backend, path: &Path, offset: i64) -> Schunk {
        let text = c_path(path);
        let io = self.io(backend, c"r+");
        // SAFETY: a path and, if there is one, a back-end that outlives the super-chunk.
        unsafe {
            match (backend, offset) {
                (Backend::Native, 0) => (self.api.blosc2_schunk_open)(text.as_ptr()),
                (Backend::Native, _) => (self.api.blosc2_schunk_open_offset)(text.as_ptr(), offset),
                (_, 0) => (self.api.blosc2_schunk_open_udio)(text.as_ptr(), &io),
                _ => (self.api.blosc2_schunk_open_offset_udio)(text.as_ptr(), offset, &io),
            }
        }
    }

    /// Opens a super-chunk over a frame of the test; with `copy` false it borrows the block.
    pub fn open_frame(&self, frame: &[u8], copy: bool) -> (Schunk, *mut u8) {
        let block = copy_to_malloc(frame);
        // SAFETY: a block of `frame.len()` bytes from malloc.
        unsafe {
            let schunk = (self.api.blosc2_schunk_from_buffer)(block, frame.len() as i64, copy.into());
            if copy || schunk.is_null() {
                libc::free(block.cast());
                return (schunk, ptr::null_mut());
            }
            (schunk, block)
        }
    }

    /// Frees the super-chunk and makes `schunk` the current one.
    pub fn replace_schunk(&mut self, schunk: Schunk, path: PathBuf, borrowed: *mut u8) -> i32 {
        let rc = self.close();
        self.schunk = schunk;
        self.path = path;
        self.borrowed_frame = borrowed;
        rc
    }

    /// Takes the block from the super-chunk and opens it again (schunk.md 7).
    pub fn detach_and_reopen(&mut self) -> i64 {
        self.transfer_frame();
        // SAFETY: a live super-chunk in a memory frame, whose block passes to the test and then to the new
        // super-chunk.
        unsafe {
            (self.api.blosc2_schunk_avoid_cframe_free)(self.schunk, CBool::TRUE);
            let (mut block, mut needs_free) = (ptr::null_mut(), CBool(7));
            let len = (self.api.blosc2_schunk_to_buffer)(self.schunk, &mut block, &mut needs_free);
            assert!(!needs_free.get(), "to_buffer of a memory frame gives the frame itself, not a copy");
            (self.api.blosc2_schunk_free)(self.schunk);
            self.schunk = (self.api.blosc2_schunk_from_buffer)(block, len, CBool::FALSE);
            if self.schunk.is_null() {
                libc::free(block.cast());
                return -1000;
            }
            self.borrowed_frame = block;
            len
        }
    }

    /// Passes the ownership of a borrowed frame to the super-chunk before a change, which may reallocate it.
    pub fn transfer_frame(&mut self) {
        if !self.borrowed_frame.is_null() {
            // SAFETY: a live super-chunk.
            unsafe { (self.api.blosc2_schunk_avoid_cframe_free)(self.schunk, CBool::FALSE) };
            self.borrowed_frame = ptr::null_mut();
        }
    }

    pub fn free(&self, schunk: Schunk) -> i32 {
        // SAFETY: a super-chunk of this library; the function is not called with NULL.
        if schunk.is_null() { -1000 } else { unsafe { (self.api.blosc2_schunk_free)(schunk) } }
    }

    pub fn close_second(&mut self) -> i32 {
        let second = std::mem::replace(&mut self.second_handle, ptr::null_mut());
        if second.is_null() { 0 } else { self.free(second) }
    }

    /// Leaks everything: after a panic the state of the library is unknown.
    pub fn leak(&mut self) {
        (self.schunk, self.second_handle, self.borrowed_frame) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        self.maps.clear();
    }

    pub fn close(&mut self) -> i32 {
        self.close_second();
        let schunk = std::mem::replace(&mut self.schunk, ptr::null_mut());
        let rc = if schunk.is_null() { 0 } else { self.free(schunk) };
        // SAFETY: NULL, or a block of the test that nothing else uses any more.
        unsafe { libc::free(std::mem::replace(&mut self.borrowed_frame, ptr::null_mut()).cast()) };
        rc
    }

    fn raw(&self) -> &blosc2_schunk {
        // SAFETY: a live super-chunk; nothing changes it while the borrow lasts.
        unsafe { &*self.schunk }
    }

    pub fn fields(&self) -> SchunkFields {
        fields_of(self.raw())
    }

    pub fn cbytes(&self) -> i64 {
        self.raw().cbytes
    }

    pub fn data_len(&self) -> usize {
        self.raw().data_len
    }

    /// Returns the current parameters of the compression context (schunk.md 4).
    pub fn context_params(&self) -> Params {
        let mut cparams = Params::default().cparams();
        // SAFETY: the live context of a live super-chunk, and a valid out-pointer.
        unsafe { (self.api.library.blosc2_ctx_get_cparams)(self.raw().cctx, &mut cparams) };
        params_of(&cparams)
    }

    pub fn cparams(&self) -> (i32, Params) {
        let mut out = ptr::null_mut::<blosc2_cparams>();
        // SAFETY: a live super-chunk; the result is a block from malloc.
        unsafe {
            let rc = (self.api.blosc2_schunk_get_cparams)(self.schunk, &mut out);
            assert!(ptr::eq((*out).schunk, self.schunk.cast()), "cparams->schunk");
            let params = params_of(&*out);
            libc::free(out.cast());
            (rc, params)
        }
    }

    pub fn dparams(&self) -> (i32, i16, i32) {
        let mut out = ptr::null_mut::<blosc2_dparams>();
        // SAFETY: as in `cparams`.
        unsafe {
            let rc = (self.api.blosc2_schunk_get_dparams)(self.schunk, &mut out);
            let result = (rc, (*out).nthreads, (*out).typesize);
            libc::free(out.cast());
            result
        }
    }
}

impl Drop for LibrarySide {
    fn drop(&mut self) {
        self.close();
        for map in self.maps.drain(..) {
            // SAFETY: a box from `Box::into_raw` that no super-chunk uses any more.
            drop(unsafe { Box::from_raw(map) });
        }
    }
}

const UNTOUCHED: usize = 0x5A5A_5A50;

/// Returns the path without the prefix `file:///`.
fn strip_file_prefix(path: &Path) -> PathBuf {
    // Not by components: the rest may begin with a slash.
    match path.to_str().expect("UTF-8").strip_prefix("file:///") {
        Some(rest) => PathBuf::from(rest),
        None => path.to_owned(),
    }
}

fn params_of(cparams: &blosc2_cparams) -> Params {
    Params {
        codec: cparams.compcode,
        codec_meta: cparams.compcode_meta,
        clevel: cparams.clevel,
        use_dict: cparams.use_dict != 0,
        typesize: cparams.typesize,
        nthreads: cparams.nthreads,
        blocksize: cparams.blocksize,
        splitmode: cparams.splitmode,
        filters: cparams.filters,
        filters_meta: cparams.filters_meta,
    }
}

/// See [`SchunkFields`].
pub fn fields_of(schunk: &blosc2_schunk) -> SchunkFields {
    let mut filters = [0; 12];
    filters[..6].copy_from_slice(&schunk.filters);
    filters[6..].copy_from_slice(&schunk.filters_meta);
    // SAFETY: a live super-chunk has a storage with a back-end (abi.md 3.3).
    let (contiguous, io) = unsafe {
        let storage = &*schunk.storage;
        (storage.contiguous.get(), (*storage.io).id)
    };
    SchunkFields {
        nchunks: schunk.nchunks,
        nbytes: schunk.nbytes,
        chunksize: schunk.chunksize,
        blocksize: schunk.blocksize,
        typesize: schunk.typesize,
        codec: [
            schunk.version,
            schunk.compcode,
            schunk.compcode_meta,
            schunk.clevel,
            schunk.splitmode,
            schunk.use_dict,
        ],
        filters,
        current_nchunk: schunk.current_nchunk,
        change_tick: schunk.change_tick,
        in_memory: (schunk.frame.is_null(), schunk.data.is_null()),
        flags2: schunk.flags2,
        ndim: (schunk.ndim, schunk.blockshape.is_null(), schunk.view),
        contiguous,
        io,
    }
}
