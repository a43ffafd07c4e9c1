//! Safe wrappers for the super-chunk functions of a loaded library: they take slices, return vectors, free handles,
//! and place a canary after every destination. They do not check results.

pub mod functions;
pub mod metalayers;
pub mod scratch;

use std::ffi::CString;
use std::path::Path;
use std::ptr;

use blosc2::abi::{CBool, blosc2_cparams, blosc2_io, blosc2_stdio_params, blosc2_storage};

use super::calls::{BytesResult, Params, dparams, len32, with_destination};
use super::library::{Context, Library};
use functions::{Functions, SchunkPtr};

/// The storage of a super-chunk (schunk.md 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Chunks in memory, no frame (MS).
    Memory,
    /// A contiguous frame in memory (MC).
    MemoryFrame,
    /// A contiguous frame on disk (DC).
    File,
    /// A directory with a file for each chunk (DS).
    Directory,
}

impl Store {
    pub const ALL: [Store; 4] = [Store::Memory, Store::MemoryFrame, Store::File, Store::Directory];
    pub const FRAMES: [Store; 3] = [Store::MemoryFrame, Store::File, Store::Directory];
    pub const ON_DISK: [Store; 2] = [Store::File, Store::Directory];

    pub fn is_contiguous(self) -> bool {
        matches!(self, Store::MemoryFrame | Store::File)
    }

    pub fn is_on_disk(self) -> bool {
        matches!(self, Store::File | Store::Directory)
    }
}

/// Converts a path to a C string.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("a path without NUL")
}

/// A super-chunk that is freed when dropped.
pub struct SuperChunk {
    pub library: &'static Library,
    pub functions: &'static Functions,
    raw: SchunkPtr,
}

/// Converts a return code: a negative one is an error.
fn rc_to_result(rc: i64) -> Result<i64, i32> {
    if rc < 0 { Err(i32::try_from(rc).expect("an error code")) } else { Ok(rc) }
}

impl SuperChunk {
    /// Creates a super-chunk; returns `None` if the library rejects the parameters.
    pub fn try_create(
        library: &'static Library,
        store: Store,
        path: &Path,
        params: &Params,
        io: Option<&blosc2_io>,
    ) -> Option<SuperChunk> {
        SuperChunk::try_create_with(library, store, path, params.cparams(), io)
    }

    /// Does the same with parameters for C, whose pointers are NULL or valid as long as the super-chunk.
    pub fn try_create_with(
        library: &'static Library,
        store: Store,
        path: &Path,
        mut cparams: blosc2_cparams,
        io: Option<&blosc2_io>,
    ) -> Option<SuperChunk> {
        let mut dparams = dparams(1);
        let path = c_path(path);
        let mut storage = blosc2_storage {
            contiguous: CBool::from(store.is_contiguous()),
            urlpath: if store.is_on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
            cparams: &mut cparams,
            dparams: &mut dparams,
            io: io.map_or(ptr::null_mut(), |io| ptr::from_ref(io).cast_mut()),
        };
        let functions = Functions::of(library);
        // SAFETY: a storage whose pointers are valid during the call, which copies them.
        let raw = unsafe { (functions.blosc2_schunk_new)(&mut storage) };
        SuperChunk::from_raw(library, raw)
    }

    /// Creates a super-chunk; panics if that fails.
    #[track_caller]
    pub fn create(library: &'static Library, store: Store, path: &Path, params: &Params) -> SuperChunk {
        SuperChunk::try_create(library, store, path, params, None)
            .unwrap_or_else(|| panic!("{}: no super-chunk in {store:?} {}", library.name, path.display()))
    }

    /// Takes ownership of a super-chunk that a library returned.
    pub fn from_raw(library: &'static Library, raw: SchunkPtr) -> Option<SuperChunk> {
        (!raw.is_null()).then(|| SuperChunk { library, functions: Functions::of(library), raw })
    }

    pub fn open(library: &'static Library, path: &Path) -> Option<SuperChunk> {
        let path = c_path(path);
        // SAFETY: a terminated path.
        let raw = unsafe { (Functions::of(library).blosc2_schunk_open)(path.as_ptr()) };
        SuperChunk::from_raw(library, raw)
    }

    pub fn open_offset(library: &'static Library, path: &Path, offset: i64) -> Option<SuperChunk> {
        let path = c_path(path);
        // SAFETY: a terminated path.
        let raw = unsafe { (Functions::of(library).blosc2_schunk_open_offset)(path.as_ptr(), offset) };
        SuperChunk::from_raw(library, raw)
    }

    /// Opens a frame through a back-end.
    pub fn open_udio(library: &'static Library, path: &Path, io: &blosc2_io) -> Option<SuperChunk> {
        let path = c_path(path);
        // SAFETY: a terminated path; the caller keeps the parameters alive.
        let raw = unsafe { (Functions::of(library).blosc2_schunk_open_udio)(path.as_ptr(), io) };
        SuperChunk::from_raw(library, raw)
    }

    /// Opens a file with the lock between processes.
    pub fn open_locking(library: &'static Library, path: &Path) -> Option<SuperChunk> {
        let (path, io) = (c_path(path), locking_io());
        // SAFETY: a terminated path; the parameters live as long as the process.
        let raw = unsafe { (Functions::of(library).blosc2_schunk_open_udio)(path.as_ptr(), &io) };
        SuperChunk::from_raw(library, raw)
    }

    /// Opens a frame in memory, of which the library makes a copy.
    pub fn from_frame_copy(library: &'static Library, frame: &mut [u8]) -> Option<SuperChunk> {
        // SAFETY: a buffer of its stated length, not kept.
        let raw = unsafe {
            (Functions::of(library).blosc2_schunk_from_buffer)(frame.as_mut_ptr(), frame.len() as i64, true)
        };
        SuperChunk::from_raw(library, raw)
    }

    /// Opens a frame in the caller's buffer.
    ///
    /// # Safety
    ///
    /// `frame` must outlive the super-chunk, and must come from `malloc` if the super-chunk is going to be changed.
    pub unsafe fn from_borrowed_frame(
        library: &'static Library,
        frame: *mut u8,
        len: usize,
    ) -> Option<SuperChunk> {
        // SAFETY: guaranteed by the caller.
        let raw = unsafe { (Functions::of(library).blosc2_schunk_from_buffer)(frame, len as i64, false) };
        SuperChunk::from_raw(library, raw)
    }

    pub fn raw(&self) -> SchunkPtr {
        self.raw
    }

    /// Frees the super-chunk and returns the return code.
    pub fn free(self) -> i32 {
        let (functions, raw) = (self.functions, self.raw);
        std::mem::forget(self);
        // SAFETY: a live super-chunk, freed once.
        unsafe { (functions.blosc2_schunk_free)(raw) }
    }

    pub fn append(&self, src: &[u8]) -> Result<i64, i32> {
        // SAFETY: a source of its stated length.
        rc_to_result(unsafe {
            (self.functions.blosc2_schunk_append_buffer)(self.raw, src.as_ptr().cast(), len32(src))
        })
    }

    pub fn append_chunk(&self, chunk: &[u8]) -> Result<i64, i32> {
        // SAFETY: a chunk that is copied and not written to.
        rc_to_result(unsafe {
            (self.functions.blosc2_schunk_append_chunk)(self.raw, chunk.as_ptr().cast_mut(), true)
        })
    }

    pub fn insert_chunk(&self, nchunk: i64, chunk: &[u8]) -> Result<i64, i32> {
        // SAFETY: as in `append_chunk`.
        rc_to_result(unsafe {
            (self.functions.blosc2_schunk_insert_chunk)(self.raw, nchunk, chunk.as_ptr().cast_mut(), true)
        })
    }

    pub fn update_chunk(&self, nchunk: i64, chunk: &[u8]) -> Result<i64, i32> {
        // SAFETY: as in `append_chunk`.
        rc_to_result(unsafe {
            (self.functions.blosc2_schunk_update_chunk)(self.raw, nchunk, chunk.as_ptr().cast_mut(), true)
        })
    }

    pub fn delete_chunk(&self, nchunk: i64) -> Result<i64, i32> {
        // SAFETY: a live super-chunk.
        rc_to_result(unsafe { (self.functions.blosc2_schunk_delete_chunk)(self.raw, nchunk) })
    }

    pub fn reorder(&self, order: &[i64]) -> i32 {
        let mut order = order.to_vec();
        // SAFETY: `nchunks` numbers (ensured by the caller).
        unsafe { (self.functions.blosc2_schunk_reorder_offsets)(self.raw, order.as_mut_ptr()) }
    }

    pub fn fill_special(&self, nitems: i64, kind: i32, chunksize: i32) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_fill_special)(self.raw, nitems, kind, chunksize) }
    }

    /// Returns the uncompressed bytes of a chunk, decompressed into a destination of `destsize` bytes.
    pub fn decompress_into(&self, nchunk: i64, destsize: usize) -> BytesResult {
        let (rc, mut dest) = with_destination(destsize, |dest| {
            // SAFETY: a destination of its stated length.
            unsafe {
                (self.functions.blosc2_schunk_decompress_chunk)(
                    self.raw,
                    nchunk,
                    dest.as_mut_ptr().cast(),
                    len32(dest),
                )
            }
        });
        if rc < 0 {
            return Err(rc);
        }
        dest.truncate(rc as usize);
        Ok(dest)
    }

    /// Returns the uncompressed bytes of a chunk; the size is taken from its header first.
    pub fn decompress(&self, nchunk: i64) -> BytesResult {
        let chunk = self.get_chunk(nchunk)?;
        let nbytes = i32::from_le_bytes(chunk[4..8].try_into().expect("four bytes"));
        self.decompress_into(nchunk, usize::try_from(nbytes).map_err(|_| -11)?)
    }

    /// Returns all uncompressed bytes.
    #[track_caller]
    pub fn contents(&self) -> Vec<u8> {
        let chunk = |nchunk| {
            self.decompress(nchunk)
                .unwrap_or_else(|code| panic!("{}: chunk {nchunk}: error {code}", self.library.name))
        };
        (0..self.nchunks()).flat_map(chunk).collect()
    }

    fn take_chunk(&self, rc: i32, chunk: *mut u8, needs_free: bool) -> BytesResult {
        if rc < 0 {
            return Err(rc);
        }
        assert!(!chunk.is_null(), "{}: success without a chunk", self.library.name);
        // SAFETY: the library returned a buffer of that length, which the caller frees if the library says so.
        unsafe {
            let bytes = std::slice::from_raw_parts(chunk, rc as usize).to_vec();
            if needs_free {
                libc::free(chunk.cast());
            }
            Ok(bytes)
        }
    }

    pub fn get_chunk(&self, nchunk: i64) -> BytesResult {
        let (mut chunk, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: valid out-pointers.
        let rc = unsafe {
            (self.functions.blosc2_schunk_get_chunk)(self.raw, nchunk, &mut chunk, &mut needs_free)
        };
        self.take_chunk(rc, chunk, needs_free)
    }

    pub fn get_lazychunk(&self, nchunk: i64) -> BytesResult {
        let (mut chunk, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: valid out-pointers.
        let rc = unsafe {
            (self.functions.blosc2_schunk_get_lazychunk)(self.raw, nchunk, &mut chunk, &mut needs_free)
        };
        self.take_chunk(rc, chunk, needs_free)
    }

    pub fn get_vlblock(&self, nchunk: i64, nblock: i32) -> BytesResult {
        let (mut dest, mut size) = (ptr::null_mut(), 0);
        // SAFETY: valid out-pointers.
        let rc = unsafe {
            (self.functions.blosc2_schunk_get_vlblock)(self.raw, nchunk, nblock, &mut dest, &mut size)
        };
        assert!(rc < 0 || rc == size, "{}: {rc} and {size} bytes", self.library.name);
        self.take_chunk(rc, dest, true)
    }

    /// Returns items `start..stop`, read into a buffer of `room` bytes.
    pub fn get_slice(&self, start: i64, stop: i64, room: usize) -> BytesResult {
        let (rc, dest) = with_destination(room, |dest| {
            // SAFETY: `room` bytes are enough for the slice (ensured by the caller).
            unsafe {
                (self.functions.blosc2_schunk_get_slice_buffer)(
                    self.raw,
                    start,
                    stop,
                    dest.as_mut_ptr().cast(),
                )
            }
        });
        if rc < 0 { Err(rc) } else { Ok(dest) }
    }

    pub fn set_slice(&self, start: i64, stop: i64, items: &[u8]) -> i32 {
        let mut items = items.to_vec();
        // SAFETY: as many items as the slice has (ensured by the caller).
        unsafe {
            (self.functions.blosc2_schunk_set_slice_buffer)(self.raw, start, stop, items.as_mut_ptr().cast())
        }
    }

    pub fn get_sparse(&self, coords: &[i64], room: usize) -> BytesResult {
        let (rc, dest) = with_destination(room, |dest| {
            // SAFETY: a buffer that is large enough for the items (ensured by the caller).
            unsafe {
                (self.functions.blosc2_schunk_get_sparse_buffer)(
                    self.raw,
                    coords.len() as i64,
                    coords.as_ptr(),
                    dest.as_mut_ptr().cast(),
                )
            }
        });
        if rc < 0 { Err(rc) } else { Ok(dest) }
    }

    /// Returns the numbers of the chunks that items `start..stop` belong to.
    pub fn slice_nchunks(&self, start: i64, stop: i64) -> Result<Vec<i64>, i64> {
        let (mut start, mut stop, mut numbers) = (start, stop, ptr::null_mut());
        // SAFETY: valid pointers; without an array metalayer the limits are scalars.
        unsafe {
            let rc = (self.functions.blosc2_get_slice_nchunks)(self.raw, &mut start, &mut stop, &mut numbers);
            if rc < 0 {
                return Err(rc);
            }
            let found =
                if rc == 0 { Vec::new() } else { std::slice::from_raw_parts(numbers, rc as usize).to_vec() };
            libc::free(numbers.cast());
            Ok(found)
        }
    }

    pub fn frame_len(&self) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_frame_len)(self.raw) }
    }

    /// Returns the raw offsets of a frame.
    pub fn offsets(&self) -> Option<Vec<i64>> {
        // SAFETY: the library returns `nchunks` numbers, which the caller frees.
        unsafe {
            let offsets = (self.functions.blosc2_frame_get_offsets)(self.raw);
            if offsets.is_null() {
                return None;
            }
            let numbers = std::slice::from_raw_parts(offsets, self.nchunks() as usize).to_vec();
            libc::free(offsets.cast());
            Some(numbers)
        }
    }

    /// Returns the bytes of the frame.
    pub fn to_buffer(&self) -> BytesResult {
        let (mut frame, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: valid out-pointers; the caller frees the result if the library says so.
        unsafe {
            let len = (self.functions.blosc2_schunk_to_buffer)(self.raw, &mut frame, &mut needs_free);
            rc_to_result(len)?;
            let bytes = std::slice::from_raw_parts(frame, len as usize).to_vec();
            if needs_free {
                libc::free(frame.cast());
            }
            Ok(bytes)
        }
    }

    pub fn to_file(&self, path: &Path) -> Result<i64, i32> {
        let path = c_path(path);
        // SAFETY: a terminated path.
        rc_to_result(unsafe { (self.functions.blosc2_schunk_to_file)(self.raw, path.as_ptr()) })
    }

    pub fn append_file(&self, path: &Path) -> Result<i64, i32> {
        let path = c_path(path);
        // SAFETY: a terminated path.
        rc_to_result(unsafe { (self.functions.blosc2_schunk_append_file)(self.raw, path.as_ptr()) })
    }

    /// Copies to another store; without `params` the copy has the parameters of the source.
    pub fn copy_to(&self, store: Store, path: &Path, params: Option<&Params>) -> Option<SuperChunk> {
        self.copy_to_with(store, path, params.map(Params::cparams))
    }

    /// Does the same with parameters for C, whose pointers are NULL or valid as long as the copy.
    pub fn copy_to_with(
        &self,
        store: Store,
        path: &Path,
        mut cparams: Option<blosc2_cparams>,
    ) -> Option<SuperChunk> {
        let path = c_path(path);
        let mut storage = blosc2_storage {
            contiguous: CBool::from(store.is_contiguous()),
            urlpath: if store.is_on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
            cparams: cparams.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        // SAFETY: a storage whose pointers are valid during the call.
        let raw = unsafe { (self.functions.blosc2_schunk_copy)(self.raw, &mut storage) };
        SuperChunk::from_raw(self.library, raw)
    }

    pub fn refresh(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_refresh)(self.raw) }
    }

    pub fn lock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_lock)(self.raw) }
    }

    pub fn unlock(&self) -> i32 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_unlock)(self.raw) }
    }
}

/// Public fields, as C reads them.
macro_rules! field_getters {
    ($($name:ident: $type:ty),* $(,)?) => {
        impl SuperChunk {
            $(pub fn $name(&self) -> $type {
                // SAFETY: a live super-chunk, which no other thread changes during the read.
                unsafe { (*self.raw).$name }
            })*
        }
    };
}

field_getters! {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    splitmode: u8,
    typesize: i32,
    blocksize: i32,
    chunksize: i32,
    flags2: u8,
    use_dict: u8,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    nchunks: i64,
    current_nchunk: i64,
    nbytes: i64,
    cbytes: i64,
    data_len: usize,
    dctx: Context,
    cctx: Context,
    nmetalayers: u16,
    nvlmetalayers: i16,
    change_tick: i64,
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        // SAFETY: a live super-chunk, freed once.
        unsafe { (self.functions.blosc2_schunk_free)(self.raw) };
    }
}

/// The default back-end with the lock between processes; its parameters live as long as the process.
pub fn locking_io() -> blosc2_io {
    static PARAMS: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::TRUE };
    blosc2_io { id: 0, name: c"filesystem".as_ptr(), params: ptr::from_ref(&PARAMS).cast_mut().cast() }
}
