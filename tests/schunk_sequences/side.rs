//! One library with its super-chunk: safe calls that return values which can be compared with those of the other
//! library. Knows nothing about what the right answer is.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use blosc2::abi::{
    BLOSC2_IO_DEFAULTS, BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_cparams, blosc2_dparams, blosc2_io,
    blosc2_schunk, blosc2_stdio_mmap, blosc2_stdio_params, blosc2_storage,
};

use super::api::{Api, Schunk};
use super::backends::{self, Counters};
use super::setup::{Backend, Store};
use super::value::Bytes;
use crate::support::calls::{Params, dparams};

/// What a destination holds before a call.
pub const BEFORE: u8 = 0xCC;

static LOCKING: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::TRUE };

/// The public fields of a super-chunk that both libraries have to agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
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

/// A library, the super-chunk it works on, and where that lives.
pub struct Side {
    pub api: &'static Api,
    pub schunk: Schunk,
    pub second: Schunk,
    /// The file or directory of the super-chunk; empty in memory.
    pub path: PathBuf,
    pub directory: PathBuf,
    counters: Box<Counters>,
    maps: Vec<Box<blosc2_stdio_mmap>>,
    /// The frame that the super-chunk borrows from us.
    borrowed: *mut u8,
}

/// A path as C wants it.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path without NUL")
}

/// `len` bytes from `malloc`, as memory that the library may free has to be.
pub fn malloced(bytes: &[u8]) -> *mut u8 {
    // SAFETY: a fresh block of at least `bytes.len()` bytes is filled.
    unsafe {
        let block = libc::malloc(bytes.len().max(1)).cast::<u8>();
        assert!(!block.is_null());
        ptr::copy_nonoverlapping(bytes.as_ptr(), block, bytes.len());
        block
    }
}

impl Side {
    pub fn new(api: &'static Api, directory: PathBuf) -> Side {
        std::fs::create_dir_all(&directory).expect("a scratch directory");
        Side {
            api,
            schunk: ptr::null_mut(),
            second: ptr::null_mut(),
            path: PathBuf::new(),
            directory,
            counters: Box::default(),
            maps: Vec::new(),
            borrowed: ptr::null_mut(),
        }
    }

    fn io(&mut self, backend: Backend, mode: &'static CStr) -> blosc2_io {
        match backend {
            Backend::Native => BLOSC2_IO_DEFAULTS,
            Backend::Locking => {
                blosc2_io { params: ptr::from_ref(&LOCKING).cast_mut().cast(), ..BLOSC2_IO_DEFAULTS }
            }
            Backend::Mapped { initial } => {
                let mut map = Box::new(blosc2_stdio_mmap {
                    mode: mode.as_ptr(),
                    initial_mapping_size: initial,
                    ..BLOSC2_STDIO_MMAP_DEFAULTS
                });
                let params = ptr::from_mut(&mut *map).cast();
                self.maps.push(map);
                blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params }
            }
            Backend::Fills => backends::io(backends::FILLS, &self.counters),
            Backend::Points => backends::io(backends::POINTS, &self.counters),
        }
    }

    /// What the user-defined back-ends counted: open streams, and destroyed parameters.
    pub fn counted(&self) -> (i64, i64) {
        let open = self.counters.opens.load(Relaxed) - self.counters.closes.load(Relaxed);
        (open, self.counters.destroys.load(Relaxed))
    }

    /// Calls `call` with a storage description for `store` at `self.path`.
    fn with_storage(
        &mut self,
        store: Store,
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
            contiguous: store.contiguous().into(),
            urlpath: if store.on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
            cparams: cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
            dparams: dparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
            io: if store.on_disk() { &mut io } else { ptr::null_mut() },
        };
        call(self.api, &mut storage)
    }

    pub fn create(&mut self, store: Store, backend: Backend, path: &Path, params: &Params, nthreads: i16) -> bool {
        self.schunk = self.with_storage(store, backend, path, Some(params), Some(nthreads), |api, storage| {
            // SAFETY: a storage whose pointers are NULL or valid.
            unsafe { (api.blosc2_schunk_new)(storage) }
        });
        self.path = if store.on_disk() { plain_path(path) } else { PathBuf::new() };
        !self.schunk.is_null()
    }

    /// A copy of the super-chunk, which the caller frees or adopts.
    pub fn copy(&mut self, store: Store, path: &Path, cparams: Option<&Params>, nthreads: Option<i16>) -> Schunk {
        let schunk = self.schunk;
        self.with_storage(store, Backend::Native, path, cparams, nthreads, |api, storage| {
            // SAFETY: a live super-chunk and a storage whose pointers are NULL or valid.
            unsafe { (api.blosc2_schunk_copy)(schunk, storage) }
        })
    }

    pub fn open(&mut self, backend: Backend, path: &Path, offset: i64) -> Schunk {
        let text = c_path(path);
        let io = self.io(backend, c"r+");
        // SAFETY: a path and, where there is one, a back-end that outlives the super-chunk.
        unsafe {
            match (backend, offset) {
                (Backend::Native, 0) => (self.api.blosc2_schunk_open)(text.as_ptr()),
                (Backend::Native, _) => (self.api.blosc2_schunk_open_offset)(text.as_ptr(), offset),
                (_, 0) => (self.api.blosc2_schunk_open_udio)(text.as_ptr(), &io),
                _ => (self.api.blosc2_schunk_open_offset_udio)(text.as_ptr(), offset, &io),
            }
        }
    }

    /// A super-chunk round a frame of our own; with `copy` false it borrows the block.
    pub fn from_buffer(&mut self, frame: &[u8], copy: bool) -> (Schunk, *mut u8) {
        let block = malloced(frame);
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

    /// Frees the super-chunk and makes `schunk` the new one.
    pub fn adopt(&mut self, schunk: Schunk, path: PathBuf, borrowed: *mut u8) -> i32 {
        let rc = self.close();
        self.schunk = schunk;
        self.path = path;
        self.borrowed = borrowed;
        rc
    }

    /// Takes the block under the super-chunk out and in again (schunk.md 7).
    pub fn detach_and_wrap(&mut self) -> i64 {
        self.hand_over();
        // SAFETY: a live super-chunk in a memory frame, whose block becomes ours and then the new one's.
        unsafe {
            (self.api.blosc2_schunk_avoid_cframe_free)(self.schunk, CBool::TRUE);
            let (mut block, mut needs_free) = (ptr::null_mut(), CBool(7));
            let len = (self.api.blosc2_schunk_to_buffer)(self.schunk, &mut block, &mut needs_free);
            assert!(!needs_free.get(), "a memory frame is handed out as it is");
            (self.api.blosc2_schunk_free)(self.schunk);
            self.schunk = (self.api.blosc2_schunk_from_buffer)(block, len, CBool::FALSE);
            if self.schunk.is_null() {
                libc::free(block.cast());
                return -1000;
            }
            self.borrowed = block;
            len
        }
    }

    /// Gives a borrowed frame to the super-chunk: it is about to change, and may reallocate it.
    pub fn hand_over(&mut self) {
        if !self.borrowed.is_null() {
            // SAFETY: a live super-chunk.
            unsafe { (self.api.blosc2_schunk_avoid_cframe_free)(self.schunk, CBool::FALSE) };
            self.borrowed = ptr::null_mut();
        }
    }

    pub fn free(&self, schunk: Schunk) -> i32 {
        // SAFETY: a super-chunk of this library, or NULL is not called.
        if schunk.is_null() { -1000 } else { unsafe { (self.api.blosc2_schunk_free)(schunk) } }
    }

    pub fn close_second(&mut self) -> i32 {
        let second = std::mem::replace(&mut self.second, ptr::null_mut());
        if second.is_null() { 0 } else { self.free(second) }
    }

    /// Leaves everything as it is, for good: after a panic nothing is certain.
    pub fn forget(&mut self) {
        (self.schunk, self.second, self.borrowed) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    }

    pub fn close(&mut self) -> i32 {
        self.close_second();
        let schunk = std::mem::replace(&mut self.schunk, ptr::null_mut());
        let rc = if schunk.is_null() { 0 } else { self.free(schunk) };
        // SAFETY: NULL, or a block of ours that nobody else uses any more.
        unsafe { libc::free(std::mem::replace(&mut self.borrowed, ptr::null_mut()).cast()) };
        rc
    }

    fn raw(&self) -> &blosc2_schunk {
        // SAFETY: a live super-chunk; nothing changes it while the borrow lasts.
        unsafe { &*self.schunk }
    }

    pub fn fields(&self) -> Fields {
        fields_of(self.raw())
    }

    pub fn cbytes(&self) -> i64 {
        self.raw().cbytes
    }

    pub fn data_len(&self) -> usize {
        self.raw().data_len
    }

    /// The parameters of the compression context as they are now (schunk.md 4).
    pub fn context_params(&self) -> Params {
        let mut cparams = Params::default().cparams();
        // SAFETY: the live context of a live super-chunk, and a valid out-pointer.
        unsafe { (self.api.library.blosc2_ctx_get_cparams)(self.raw().cctx, &mut cparams) };
        params_of(&cparams)
    }

    pub fn cparams(&self) -> (i32, Params) {
        let mut out = ptr::null_mut::<blosc2_cparams>();
        // SAFETY: a live super-chunk; the result is a block of malloc.
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

    pub fn append(&mut self, chunk: &[u8], copy: bool) -> i64 {
        self.mutate(chunk, copy, |api, schunk, block| {
            // SAFETY: a live super-chunk and a whole chunk in a block of malloc.
            unsafe { (api.blosc2_schunk_append_chunk)(schunk, block, copy.into()) }
        })
    }

    pub fn insert(&mut self, nchunk: i64, chunk: &[u8], copy: bool) -> i64 {
        self.mutate(chunk, copy, |api, schunk, block| {
            // SAFETY: as in `append`.
            unsafe { (api.blosc2_schunk_insert_chunk)(schunk, nchunk, block, copy.into()) }
        })
    }

    pub fn update(&mut self, nchunk: i64, chunk: &[u8], copy: bool) -> i64 {
        self.mutate(chunk, copy, |api, schunk, block| {
            // SAFETY: as in `append`.
            unsafe { (api.blosc2_schunk_update_chunk)(schunk, nchunk, block, copy.into()) }
        })
    }

    /// Passes a block of malloc, which is the library's after a success without `copy`.
    fn mutate(&mut self, chunk: &[u8], copy: bool, call: impl FnOnce(&Api, Schunk, *mut u8) -> i64) -> i64 {
        self.hand_over();
        let block = malloced(chunk);
        let rc = call(self.api, self.schunk, block);
        if copy {
            // SAFETY: still ours, and as it was.
            unsafe {
                assert!(std::slice::from_raw_parts(block, chunk.len()) == chunk, "a chunk to copy was written to");
                libc::free(block.cast());
            }
        }
        rc
    }

    pub fn delete(&mut self, nchunk: i64) -> i64 {
        self.hand_over();
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_delete_chunk)(self.schunk, nchunk) }
    }

    pub fn append_buffer(&mut self, data: &[u8]) -> i64 {
        self.hand_over();
        // SAFETY: a live super-chunk and a slice with its length.
        unsafe { (self.api.blosc2_schunk_append_buffer)(self.schunk, data.as_ptr().cast(), data.len() as i32) }
    }

    pub fn reorder(&mut self, order: &[i64]) -> i32 {
        self.hand_over();
        let mut order = order.to_vec();
        order.push(0);
        // SAFETY: a live super-chunk and at least as many entries as it has chunks (the caller's).
        unsafe { (self.api.blosc2_schunk_reorder_offsets)(self.schunk, order.as_mut_ptr()) }
    }

    pub fn fill(&mut self, nitems: i64, kind: i32, chunksize: i32) -> i64 {
        self.hand_over();
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_fill_special)(self.schunk, nitems, kind, chunksize) }
    }

    /// Return value and destination of a read into `destsize` bytes, with a canary behind it.
    fn read(&self, destsize: usize, call: impl FnOnce(&Api, *mut c_void) -> i32) -> (i32, Bytes) {
        let mut dest = vec![BEFORE; destsize];
        dest.extend([0xA5; 64]);
        let rc = call(self.api, dest.as_mut_ptr().cast());
        assert!(dest[destsize..].iter().all(|&byte| byte == 0xA5), "a write behind a destination");
        dest.truncate(destsize);
        // What a failed read leaves is nobody's business.
        (rc, Bytes(if rc < 0 { Vec::new() } else { dest }))
    }

    pub fn decompress(&self, schunk: Schunk, nchunk: i64, destsize: usize) -> (i32, Bytes) {
        self.read(destsize, |api, dest| {
            // SAFETY: a live super-chunk and a destination of its stated size.
            unsafe { (api.blosc2_schunk_decompress_chunk)(schunk, nchunk, dest, destsize as i32) }
        })
    }

    pub fn get_slice(&self, start: i64, stop: i64, destsize: usize) -> (i32, Bytes) {
        self.read(destsize, |api, dest| {
            // SAFETY: a live super-chunk and room for the items (the caller's).
            unsafe { (api.blosc2_schunk_get_slice_buffer)(self.schunk, start, stop, dest) }
        })
    }

    pub fn get_sparse(&self, coords: &[i64], destsize: usize) -> (i32, Bytes) {
        self.read(destsize, |api, dest| {
            // SAFETY: as in `get_slice`.
            unsafe {
                (api.blosc2_schunk_get_sparse_buffer)(self.schunk, coords.len() as i64, coords.as_ptr(), dest)
            }
        })
    }

    pub fn set_slice(&mut self, start: i64, stop: i64, data: &[u8]) -> i32 {
        self.hand_over();
        let mut data = data.to_vec();
        // SAFETY: a live super-chunk and the bytes of the items (the caller's).
        unsafe { (self.api.blosc2_schunk_set_slice_buffer)(self.schunk, start, stop, data.as_mut_ptr().cast()) }
    }

    /// Return value, bytes and who frees them.
    pub fn get_chunk(&self, nchunk: i64) -> (i32, Bytes, bool) {
        // SAFETY: a function of this library.
        self.fetch(|schunk, chunk, free| unsafe { (self.api.blosc2_schunk_get_chunk)(schunk, nchunk, chunk, free) })
    }

    fn fetch(&self, call: impl FnOnce(Schunk, *mut *mut u8, *mut CBool) -> i32) -> (i32, Bytes, bool) {
        let (mut chunk, mut needs_free) = (UNTOUCHED as *mut u8, CBool(7));
        let rc = call(self.schunk, &mut chunk, &mut needs_free);
        if rc < 0 {
            let untouched = chunk as usize == UNTOUCHED && needs_free.0 == 7;
            assert!(untouched || chunk.is_null() && needs_free.0 == 0, "outputs of a failed get");
            return (rc, Bytes(Vec::new()), untouched);
        }
        // SAFETY: the library returned `rc` bytes at `chunk`, ours to free if it says so.
        unsafe {
            let bytes = std::slice::from_raw_parts(chunk, rc as usize).to_vec();
            if needs_free.get() {
                libc::free(chunk.cast());
            }
            (rc, Bytes(bytes), needs_free.get())
        }
    }

    /// A lazy chunk, and what `decode` makes of it while it is valid.
    pub fn get_lazychunk<T>(&self, nchunk: i64, decode: impl FnOnce(&Side, &[u8]) -> T) -> (i32, Bytes, bool, Option<T>) {
        let mut decoded = None;
        let (rc, bytes, free) = self.fetch(|schunk, chunk, free| {
            // SAFETY: a live super-chunk and valid out-pointers.
            unsafe { (self.api.blosc2_schunk_get_lazychunk)(schunk, nchunk, chunk, free) }
        });
        if rc >= 0 {
            decoded = Some(decode(self, &bytes.0));
        }
        (rc, bytes, free, decoded)
    }

    /// Decodes with the context of the super-chunk.
    pub fn decode(&self, chunk: &[u8], destsize: usize) -> (i32, Bytes) {
        self.read(destsize, |api, dest| {
            // SAFETY: the live context of a live super-chunk, and slices with their lengths.
            unsafe {
                let (src, len) = (chunk.as_ptr().cast(), chunk.len() as i32);
                (api.library.blosc2_decompress_ctx)(self.raw().dctx, src, len, dest, destsize as i32)
            }
        })
    }

    pub fn decode_bytes(&self, chunk: &[u8], start: i32, len: i32) -> (i32, Bytes) {
        self.read(len as usize, |api, dest| {
            // SAFETY: as in `decode`.
            unsafe {
                let (src, size) = (chunk.as_ptr().cast(), chunk.len() as i32);
                (api.library.blosc2_getitem_bytes_ctx)(self.raw().dctx, src, size, start, len, dest, len)
            }
        })
    }

    pub fn get_vlblock(&self, nchunk: i64, nblock: i32) -> (i32, Bytes) {
        let (mut dest, mut size) = (UNTOUCHED as *mut u8, -77);
        // SAFETY: a live super-chunk and valid out-pointers; a success gives `size` bytes of malloc.
        unsafe {
            let rc = (self.api.blosc2_schunk_get_vlblock)(self.schunk, nchunk, nblock, &mut dest, &mut size);
            if rc < 0 {
                assert!(dest as usize == UNTOUCHED && size == -77, "outputs of a failed get_vlblock");
                return (rc, Bytes(Vec::new()));
            }
            assert_eq!(rc, size);
            let bytes = std::slice::from_raw_parts(dest, size as usize).to_vec();
            libc::free(dest.cast());
            (rc, Bytes(bytes))
        }
    }

    pub fn frame_len(&self, schunk: Schunk) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_frame_len)(schunk) }
    }

    pub fn offsets(&self) -> Option<Vec<i64>> {
        // SAFETY: a live super-chunk; the result is NULL or `nchunks` entries of malloc.
        unsafe {
            let offsets = (self.api.blosc2_frame_get_offsets)(self.schunk);
            if offsets.is_null() {
                return None;
            }
            let list = std::slice::from_raw_parts(offsets, self.raw().nchunks as usize).to_vec();
            libc::free(offsets.cast());
            Some(list)
        }
    }

    pub fn slice_nchunks(&self, start: i64, stop: i64) -> (i64, Vec<i64>) {
        let (mut start, mut stop, mut list) = (start, stop, ptr::null_mut::<i64>());
        // SAFETY: a live super-chunk; the result is NULL or `count` entries of malloc.
        unsafe {
            let count = (self.api.blosc2_get_slice_nchunks)(self.schunk, &mut start, &mut stop, &mut list);
            let numbers = if count > 0 { std::slice::from_raw_parts(list, count as usize).to_vec() } else { vec![] };
            libc::free(list.cast());
            (count, numbers)
        }
    }

    /// The frame; an error code, or the length and whether it was made for us.
    pub fn to_buffer(&self) -> (i64, Bytes, bool) {
        let (mut frame, mut needs_free) = (UNTOUCHED as *mut u8, CBool(7));
        // SAFETY: a live super-chunk; a success gives `len` bytes, ours to free if it says so.
        unsafe {
            let len = (self.api.blosc2_schunk_to_buffer)(self.schunk, &mut frame, &mut needs_free);
            if len < 0 {
                assert!(frame.is_null() && needs_free.0 == 0, "outputs of a failed to_buffer");
                return (len, Bytes(Vec::new()), false);
            }
            let bytes = std::slice::from_raw_parts(frame, len as usize).to_vec();
            if needs_free.get() {
                libc::free(frame.cast());
            }
            (len, Bytes(bytes), needs_free.get())
        }
    }

    pub fn to_file(&self, path: &Path) -> i64 {
        // SAFETY: a live super-chunk and a path.
        unsafe { (self.api.blosc2_schunk_to_file)(self.schunk, c_path(path).as_ptr()) }
    }

    pub fn append_file(&self, path: &Path) -> i64 {
        // SAFETY: a live super-chunk and a path.
        unsafe { (self.api.blosc2_schunk_append_file)(self.schunk, c_path(path).as_ptr()) }
    }

    pub fn lock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_lock)(self.schunk) }
    }

    pub fn unlock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_unlock)(self.schunk) }
    }

    pub fn refresh(&self, schunk: Schunk) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.api.blosc2_schunk_refresh)(schunk) }
    }

    pub fn meta_add(&mut self, name: &CStr, content: &[u8]) -> i32 {
        self.hand_over();
        let mut content = content.to_vec();
        // SAFETY: a live super-chunk, a name and a slice with its length.
        unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_meta_add)(self.schunk, name.as_ptr(), content.as_mut_ptr(), len)
        }
    }

    pub fn meta_update(&mut self, name: &CStr, content: &[u8]) -> i32 {
        self.hand_over();
        let mut content = content.to_vec();
        // SAFETY: as in `meta_add`.
        unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_meta_update)(self.schunk, name.as_ptr(), content.as_mut_ptr(), len)
        }
    }

    pub fn vlmeta_put(&mut self, update: bool, name: &CStr, content: &[u8], params: Option<&Params>) -> i32 {
        self.hand_over();
        let mut content = content.to_vec();
        let mut cparams = params.map(Params::cparams);
        let cparams = cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: as in `meta_add`; parameters or NULL.
        unsafe {
            let (data, len) = (content.as_mut_ptr(), content.len() as i32);
            if update {
                (self.api.blosc2_vlmeta_update)(self.schunk, name.as_ptr(), data, len, cparams)
            } else {
                (self.api.blosc2_vlmeta_add)(self.schunk, name.as_ptr(), data, len, cparams)
            }
        }
    }

    pub fn vlmeta_delete(&mut self, name: &CStr) -> i32 {
        self.hand_over();
        // SAFETY: a live super-chunk and a name.
        unsafe { (self.api.blosc2_vlmeta_delete)(self.schunk, name.as_ptr()) }
    }

    pub fn vlmeta_exists(&self, name: &CStr) -> i32 {
        // SAFETY: a live super-chunk and a name.
        unsafe { (self.api.blosc2_vlmeta_exists)(self.schunk, name.as_ptr()) }
    }

    pub fn vlmeta_get(&self, schunk: Schunk, name: &CStr) -> (i32, Bytes) {
        let (mut content, mut len) = (UNTOUCHED as *mut u8, -77);
        // SAFETY: a live super-chunk and valid out-pointers; a success gives `len` bytes of malloc, or NULL.
        unsafe {
            let rc = (self.api.blosc2_vlmeta_get)(schunk, name.as_ptr(), &mut content, &mut len);
            if rc < 0 {
                assert!(content as usize == UNTOUCHED && len == -77, "outputs of a failed vlmeta_get");
                return (rc, Bytes(Vec::new()));
            }
            let bytes = if len == 0 {
                assert!(content.is_null(), "content of nothing");
                Vec::new()
            } else {
                std::slice::from_raw_parts(content, len as usize).to_vec()
            };
            libc::free(content.cast());
            (rc, Bytes(bytes))
        }
    }

    /// Count and names as `blosc2_vlmeta_get_names` gives them.
    pub fn vlmeta_names(&self, schunk: Schunk) -> (i32, Vec<CString>) {
        // SAFETY: a live super-chunk, and room for every entry it has; the names are C strings of it.
        unsafe {
            let mut names = vec![ptr::null_mut::<c_char>(); (*schunk).nvlmetalayers.max(0) as usize + 1];
            let count = (self.api.blosc2_vlmeta_get_names)(schunk, names.as_mut_ptr());
            names.truncate(count.max(0) as usize);
            (count, names.into_iter().map(|name| CStr::from_ptr(name).to_owned()).collect())
        }
    }

    /// The metalayers as the inline functions of the headers see them (schunk.md 2).
    pub fn metalayers(&self, schunk: Schunk) -> Vec<(CString, Bytes)> {
        // SAFETY: a live super-chunk, whose first `nmetalayers` entries are valid.
        unsafe {
            let schunk = &*schunk;
            schunk.metalayers[..schunk.nmetalayers as usize].iter().map(|layer| layer_of(*layer)).collect()
        }
    }

    /// The variable-length metalayers with their compressed contents.
    pub fn raw_vlmetalayers(&self, schunk: Schunk) -> Vec<(CString, Bytes)> {
        // SAFETY: a live super-chunk, whose first `nvlmetalayers` entries are valid.
        unsafe {
            let schunk = &*schunk;
            schunk.vlmetalayers[..schunk.nvlmetalayers as usize].iter().map(|layer| layer_of(*layer)).collect()
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.close();
    }
}

const UNTOUCHED: usize = 0x5A5A_5A50;

/// The path behind `file:///`.
fn plain_path(path: &Path) -> PathBuf {
    // Not by components: what follows may begin with a slash.
    match path.as_os_str().as_bytes().strip_prefix(b"file:///") {
        Some(rest) => PathBuf::from(OsStr::from_bytes(rest)),
        None => path.to_owned(),
    }
}

unsafe fn layer_of(layer: *const blosc2::abi::blosc2_metalayer) -> (CString, Bytes) {
    // SAFETY: the caller passes a valid metalayer: a C string, and `content_len` bytes.
    unsafe {
        let layer = &*layer;
        let content = match layer.content_len {
            0 => Vec::new(),
            len => std::slice::from_raw_parts(layer.content, len as usize).to_vec(),
        };
        (CStr::from_ptr(layer.name).to_owned(), Bytes(content))
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
        metas: cparams.filters_meta,
    }
}

/// See [`Fields`].
pub fn fields_of(schunk: &blosc2_schunk) -> Fields {
    let mut filters = [0; 12];
    filters[..6].copy_from_slice(&schunk.filters);
    filters[6..].copy_from_slice(&schunk.filters_meta);
    // SAFETY: a live super-chunk has a storage with a back-end (abi.md 3.3).
    let (contiguous, io) = unsafe {
        let storage = &*schunk.storage;
        (storage.contiguous.get(), (*storage.io).id)
    };
    Fields {
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
