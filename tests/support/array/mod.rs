//! Safe wrappers for the array functions of a loaded library: they take slices, return vectors, free handles, and
//! place a canary after every destination. They do not check results.

pub mod calls;
pub mod functions;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr;

use blosc2::abi::{
    CBool, b2nd_array_t, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_metalayer, blosc2_storage,
    blosc2x_tuner_params,
};

use super::auto_tuner::auto_tuned;
use super::calls::{Params, dparams};
use super::library::Library;
use super::super_chunk::functions::SchunkPtr as RawSuperChunk;
use super::super_chunk::{Store, SuperChunk, c_path};
use functions::{ArrayContextPtr, ArrayPtr, Functions};

/// The parameters of a new array.
#[derive(Clone, Debug)]
pub struct ArraySpec {
    pub shape: Vec<i64>,
    pub chunkshape: Vec<i32>,
    pub blockshape: Vec<i32>,
    pub params: Params,
    /// The parameters of the automatic tuner, if it chooses.
    pub auto: Option<&'static blosc2x_tuner_params>,
    /// Number of threads for decompression.
    pub dthreads: i16,
    pub dtype: Option<CString>,
    pub dtype_format: i8,
    pub metalayers: Vec<(CString, Vec<u8>)>,
    pub store: Store,
    /// Path of a store on disk.
    pub path: PathBuf,
}

impl ArraySpec {
    /// Parameters of an array in memory, without a frame, with default compression parameters.
    pub fn new(shape: &[i64], chunkshape: &[i32], blockshape: &[i32], typesize: i32) -> ArraySpec {
        ArraySpec {
            shape: shape.to_vec(),
            chunkshape: chunkshape.to_vec(),
            blockshape: blockshape.to_vec(),
            params: Params { typesize, ..Params::default() },
            auto: None,
            dthreads: 1,
            dtype: None,
            dtype_format: 0,
            metalayers: Vec::new(),
            store: Store::Memory,
            path: PathBuf::new(),
        }
    }

    pub fn with_store(self, store: Store, path: &Path) -> ArraySpec {
        ArraySpec { store, path: path.to_owned(), ..self }
    }

    pub fn with_dtype(self, dtype: &str) -> ArraySpec {
        ArraySpec { dtype: Some(CString::new(dtype).expect("a dtype without NUL")), ..self }
    }

    /// Returns the size of all items in bytes.
    pub fn nbytes(&self) -> usize {
        self.shape.iter().product::<i64>() as usize * self.params.typesize as usize
    }

    /// Creates the library's creation parameters; returns `None` if the library rejects them.
    pub fn try_context(&self, library: &'static Library, io: Option<blosc2_io>) -> Option<ArrayContext> {
        ArrayContext::new(library, self, io)
    }

    #[track_caller]
    pub fn context(&self, library: &'static Library) -> ArrayContext {
        self.try_context(library, None).unwrap_or_else(|| panic!("{}: no context: {self:?}", library.name))
    }

    /// Creates an array with these items; panics if that fails.
    #[track_caller]
    pub fn create_from_buffer(&self, library: &'static Library, items: &[u8]) -> Array {
        let (rc, array) = self.context(library).create_from_buffer(items);
        assert_eq!(rc, 0, "{}: {self:?}", library.name);
        array.expect("an array")
    }

    #[track_caller]
    pub fn zeros(&self, library: &'static Library) -> Array {
        let (rc, array) = self.context(library).zeros();
        assert_eq!(rc, 0, "{}: {self:?}", library.name);
        array.expect("an array")
    }
}

/// The data that a C context points to until the array is created (abi.md 11.3).
struct ContextData {
    path: CString,
    cparams: blosc2_cparams,
    dparams: blosc2_dparams,
    io: Option<blosc2_io>,
    names: Vec<(CString, Vec<u8>)>,
}

/// Creation parameters that are freed when dropped.
pub struct ArrayContext {
    pub library: &'static Library,
    pub functions: &'static Functions,
    raw: ArrayContextPtr,
    // The memory that `raw` points to.
    _borrowed: Box<ContextData>,
}

impl ArrayContext {
    fn new(library: &'static Library, spec: &ArraySpec, io: Option<blosc2_io>) -> Option<ArrayContext> {
        let functions = Functions::of(library);
        let mut borrowed = Box::new(ContextData {
            path: c_path(&spec.path),
            cparams: match spec.auto {
                Some(tuner) => auto_tuned(&spec.params, tuner),
                None => spec.params.cparams(),
            },
            dparams: dparams(spec.dthreads),
            io,
            names: spec.metalayers.clone(),
        });
        let metalayers: Vec<blosc2_metalayer> = borrowed
            .names
            .iter_mut()
            .map(|(name, content)| blosc2_metalayer {
                name: name.as_ptr().cast_mut(),
                content: content.as_mut_ptr(),
                content_len: content.len() as i32,
            })
            .collect();
        let storage = blosc2_storage {
            contiguous: CBool::from(spec.store.is_contiguous()),
            urlpath: if spec.store.is_on_disk() {
                borrowed.path.as_ptr().cast_mut()
            } else {
                ptr::null_mut()
            },
            cparams: &mut borrowed.cparams,
            dparams: &mut borrowed.dparams,
            io: borrowed.io.as_mut().map_or(ptr::null_mut(), ptr::from_mut),
        };
        // SAFETY: `ndim` dimensions in each list; all pointers are valid, and the borrowed ones as long as the
        // context.
        let raw = unsafe {
            (functions.b2nd_create_ctx)(
                &storage,
                spec.shape.len() as i8,
                spec.shape.as_ptr(),
                spec.chunkshape.as_ptr(),
                spec.blockshape.as_ptr(),
                spec.dtype.as_deref().map_or(ptr::null(), CStr::as_ptr),
                spec.dtype_format,
                metalayers.as_ptr(),
                metalayers.len() as i32,
            )
        };
        (!raw.is_null()).then(|| ArrayContext { library, functions, raw, _borrowed: borrowed })
    }

    pub fn raw(&self) -> ArrayContextPtr {
        self.raw
    }

    /// Calls a function that creates an array. A function that fails must leave the out-pointer empty, except in the
    /// cases of b2nd.md Q13; a pointer that the reference leaves there is not used.
    fn create_array(
        &self,
        call: impl FnOnce(&Functions, ArrayContextPtr, *mut ArrayPtr) -> i32,
    ) -> (i32, Option<Array>) {
        call_creator(self.library, |functions, out| call(functions, self.raw, out))
    }

    pub fn zeros(&self) -> (i32, Option<Array>) {
        // SAFETY: a live context and an out-pointer.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_zeros)(ctx, out) })
    }

    pub fn empty(&self) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_empty)(ctx, out) })
    }

    pub fn uninit(&self) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_uninit)(ctx, out) })
    }

    pub fn nans(&self) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_nans)(ctx, out) })
    }

    /// Creates an array of one repeated value; `value` must be one item.
    pub fn full(&self, value: &[u8]) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`; an item is read.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_full)(ctx, out, value.as_ptr().cast()) })
    }

    /// `b2nd_from_cbuffer`.
    pub fn create_from_buffer(&self, items: &[u8]) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`; a buffer of its stated length.
        self.create_array(|f, ctx, out| unsafe {
            (f.b2nd_from_cbuffer)(ctx, out, items.as_ptr().cast(), items.len() as i64)
        })
    }

    pub fn copy(&self, src: &Array) -> (i32, Option<Array>) {
        // SAFETY: as in `zeros`; a live array.
        self.create_array(|f, ctx, out| unsafe { (f.b2nd_copy)(ctx, src.raw, out) })
    }

    /// Copies a box of `src`; `start` and `stop` have one coordinate per dimension of `src`.
    pub fn get_slice(&self, src: &Array, start: &[i64], stop: &[i64]) -> (i32, Option<Array>) {
        // SAFETY: as in `copy`.
        self.create_array(|f, ctx, out| unsafe {
            (f.b2nd_get_slice)(ctx, out, src.raw, start.as_ptr(), stop.as_ptr())
        })
    }

    /// Returns a new array.
    pub fn concatenate(&self, first: &Array, second: &Array, axis: i8) -> (i32, Option<Array>) {
        // SAFETY: as in `copy`.
        self.create_array(|f, ctx, out| unsafe {
            (f.b2nd_concatenate)(ctx, first.raw, second.raw, axis, true, out)
        })
    }
}

impl Drop for ArrayContext {
    fn drop(&mut self) {
        // SAFETY: a live context, freed once.
        unsafe { (self.functions.b2nd_free_ctx)(self.raw) };
    }
}

/// Returns the return code of a function that creates an array, and the array if it succeeded.
pub fn call_creator(
    library: &'static Library,
    call: impl FnOnce(&Functions, *mut ArrayPtr) -> i32,
) -> (i32, Option<Array>) {
    let functions = Functions::of(library);
    let mut raw: ArrayPtr = ptr::null_mut();
    let rc = call(functions, &mut raw);
    if rc >= 0 {
        assert!(!raw.is_null(), "{}: success ({rc}) without an array", library.name);
    } else if library.is_reference() {
        // After an error the pointer may refer to an incomplete array (b2nd.md D16).
        raw = ptr::null_mut();
    }
    (rc, Array::from_raw(library, raw))
}

/// An array that is freed when dropped.
pub struct Array {
    pub library: &'static Library,
    pub functions: &'static Functions,
    raw: ArrayPtr,
}

impl Array {
    /// Takes ownership of an array that a library returned.
    pub fn from_raw(library: &'static Library, raw: ArrayPtr) -> Option<Array> {
        (!raw.is_null()).then(|| Array { library, functions: Functions::of(library), raw })
    }

    pub fn open(library: &'static Library, path: &Path) -> (i32, Option<Array>) {
        let path = c_path(path);
        // SAFETY: a terminated path and an out-pointer.
        call_creator(library, |f, out| unsafe { (f.b2nd_open)(path.as_ptr(), out) })
    }

    pub fn open_offset(library: &'static Library, path: &Path, offset: i64) -> (i32, Option<Array>) {
        let path = c_path(path);
        // SAFETY: as in `open`.
        call_creator(library, |f, out| unsafe { (f.b2nd_open_offset)(path.as_ptr(), out, offset) })
    }

    /// Opens a frame, of which the library makes a copy.
    pub fn from_frame_copy(library: &'static Library, frame: &mut [u8]) -> (i32, Option<Array>) {
        // SAFETY: a buffer of its stated length, not kept.
        call_creator(library, |f, out| unsafe {
            (f.b2nd_from_cframe)(frame.as_mut_ptr(), frame.len() as i64, true, out)
        })
    }

    /// Opens a frame in the caller's buffer.
    ///
    /// # Safety
    ///
    /// `frame` must outlive the array, and must come from `malloc` if the array is going to be changed.
    pub unsafe fn from_borrowed_frame(
        library: &'static Library,
        frame: *mut u8,
        len: usize,
    ) -> (i32, Option<Array>) {
        // SAFETY: guaranteed by the caller (see above).
        call_creator(library, |f, out| unsafe { (f.b2nd_from_cframe)(frame, len as i64, false, out) })
    }

    /// Creates an array from a super-chunk and takes ownership of it on success.
    pub fn from_super_chunk(schunk: SuperChunk) -> Result<Array, i32> {
        let library = schunk.library;
        // SAFETY: a live super-chunk, which belongs to the array afterwards.
        let (rc, array) = call_creator(library, |f, out| unsafe { (f.b2nd_from_schunk)(schunk.raw(), out) });
        match array {
            Some(array) => {
                std::mem::forget(schunk);
                Ok(array)
            }
            None => Err(rc),
        }
    }

    pub fn raw(&self) -> ArrayPtr {
        self.raw
    }

    /// The public struct of the array.
    pub fn fields(&self) -> &b2nd_array_t {
        // SAFETY: a live array; nothing changes it while the borrow lasts.
        unsafe { &*self.raw }
    }

    pub fn ndim(&self) -> usize {
        self.fields().ndim as usize
    }

    pub fn shape(&self) -> &[i64] {
        &self.fields().shape[..self.ndim()]
    }

    pub fn chunkshape(&self) -> &[i32] {
        &self.fields().chunkshape[..self.ndim()]
    }

    pub fn blockshape(&self) -> &[i32] {
        &self.fields().blockshape[..self.ndim()]
    }

    pub fn dtype(&self) -> Option<CString> {
        let dtype = self.fields().dtype;
        // SAFETY: NULL or a terminated string that lives as long as the array.
        (!dtype.is_null()).then(|| unsafe { CStr::from_ptr(dtype) }.to_owned())
    }

    pub fn typesize(&self) -> usize {
        // SAFETY: a live array has a live super-chunk.
        unsafe { (*self.fields().sc).typesize as usize }
    }

    /// Returns the size of all items in bytes.
    pub fn nbytes(&self) -> usize {
        self.fields().nitems as usize * self.typesize()
    }

    /// The super-chunk of the array, borrowed.
    pub fn schunk(&self) -> BorrowedSuperChunk<'_> {
        let raw: RawSuperChunk = self.fields().sc;
        let schunk = SuperChunk::from_raw(self.library, raw).expect("a super-chunk");
        BorrowedSuperChunk { schunk: std::mem::ManuallyDrop::new(schunk), _array: self }
    }

    /// Frees the array and returns the return code.
    pub fn free(self) -> i32 {
        let (functions, raw) = (self.functions, self.raw);
        std::mem::forget(self);
        // SAFETY: a live array, freed once.
        unsafe { (functions.b2nd_free)(raw) }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: a live array, freed once.
        unsafe { (self.functions.b2nd_free)(self.raw) };
    }
}

/// The super-chunk of an array, borrowed from it.
pub struct BorrowedSuperChunk<'a> {
    schunk: std::mem::ManuallyDrop<SuperChunk>,
    _array: &'a Array,
}

impl std::ops::Deref for BorrowedSuperChunk<'_> {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.schunk
    }
}
