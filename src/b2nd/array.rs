//! An array: a super-chunk, and the geometry of its content (`b2nd.md` 4, 6.2, 6.10, 6.15).
//!
//! The metalayer of the super-chunk defines the geometry; `CachedGeometry` and the public struct hold copies of it. The
//! public struct owns the super-chunk: C code may take it out of the struct before the array is freed.

use super::MAX_DIM;
use super::geometry::Geometry;
use super::metalayer::{self, ArrayMeta};
use super::shape_lock::ShapeLock;
use crate::abi::{b2nd_array_t, chunk_cache_s};
use crate::chunk::SpecialValue;
use crate::error::{ErrorKind, Result, ensure, err, to_kind, to_kind_unless_lock};
use crate::frame::format::array_meta::B2ND_METALAYER;
use crate::malloc::{MallocBytes, MallocVec};
use crate::schunk::storage::Storage;
use crate::schunk::{OwnedSuperChunk, SuperChunk};
use parking_lot::RwLock;
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString};
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// An array. It begins with the public struct of the C API.
#[repr(C)]
pub(crate) struct Array {
    public: UnsafeCell<b2nd_array_t>,
    cached_geometry: RwLock<CachedGeometry>,
    /// A view has the lock of the array whose chunks it uses.
    shape_lock: Arc<ShapeLock>,
    /// For a view, the steps of that array with which the view computes the numbers of chunks; 0 along dimensions with
    /// one chunk. `None` for other arrays.
    view_steps: Option<[i64; MAX_DIM]>,
}

/// The geometry that the public struct holds.
struct CachedGeometry {
    geometry: Arc<Geometry>,
    /// Address of the super-chunk from whose metalayer the geometry was read. C code may replace the super-chunk of the
    /// array; the change tick of the new one is unrelated to that of the old one.
    schunk: usize,
}

// SAFETY: the public struct is written when the array is made, and by `update_geometry`, which locks
// `cached_geometry`; the tick is only accessed atomically. The library owns the pointers in the struct.
unsafe impl Sync for Array {}
// SAFETY: no field is bound to a thread.
unsafe impl Send for Array {}

/// The parts of an array except its super-chunk. All fallible steps of making an array are done when an `ArrayBuilder`
/// exists.
pub(crate) struct ArrayBuilder {
    geometry: Arc<Geometry>,
    /// Data type of the items as text, NUL-terminated.
    dtype: Option<MallocBytes>,
    dtype_format: i8,
    /// Change tick of the super-chunk when the geometry was read from it; 0 if the geometry was not read from a
    /// super-chunk.
    tick: i64,
}

impl ArrayBuilder {
    /// Returns a builder for an array of the given geometry; `dtype` is its data type as text, without a final NUL.
    pub(super) fn new(geometry: Geometry, dtype: Option<&[u8]>, dtype_format: i8) -> Result<ArrayBuilder> {
        let dtype = dtype.map(MallocBytes::with_nul).transpose()?;
        Ok(ArrayBuilder { geometry: Arc::new(geometry), dtype, dtype_format, tick: 0 })
    }

    /// Returns a builder for the array in `schunk`, read from its metalayer.
    ///
    /// # Errors
    /// `MetalayerNotFound`, `Failure` for an invalid metalayer, `InvalidParam` for an invalid geometry, `MemoryAlloc`.
    pub(crate) fn read(schunk: &SuperChunk) -> Result<ArrayBuilder> {
        let meta = read_array_meta(schunk)?;
        let geometry = meta.geometry(schunk.typesize())?;
        let builder = ArrayBuilder::new(geometry, meta.dtype.as_deref(), meta.dtype_format)?;
        Ok(ArrayBuilder { tick: schunk.change_tick(), ..builder })
    }

    /// Makes the array, which owns `schunk` from then on. Nothing can fail any more, so `schunk` is never lost.
    pub(crate) fn into_array(self, schunk: OwnedSuperChunk) -> Box<Array> {
        let shape_lock = Arc::new(ShapeLock::new(self.geometry.chunk_steps()));
        self.build(schunk, shape_lock, None)
    }

    /// Makes a view of `base`, which has the geometry `geometry`. It owns `schunk`, a view of the super-chunk of `base`.
    pub(super) fn into_view(self, schunk: OwnedSuperChunk, base: &Array, geometry: &Geometry) -> Box<Array> {
        let steps = base.view_steps.unwrap_or_else(|| {
            let mut steps = geometry.chunk_steps();
            for (dim, step) in steps.iter_mut().enumerate().take(geometry.ndim()) {
                if geometry.chunks_along(dim) <= 1 {
                    *step = 0;
                }
            }
            steps
        });
        self.build(schunk, Arc::clone(&base.shape_lock), Some(steps))
    }

    fn build(
        self,
        schunk: OwnedSuperChunk,
        shape_lock: Arc<ShapeLock>,
        view_steps: Option<[i64; MAX_DIM]>,
    ) -> Box<Array> {
        let ArrayBuilder { geometry, dtype, dtype_format, tick } = self;
        // SAFETY: integers, pointers and arrays of them, for which zero is valid.
        let mut public: b2nd_array_t = unsafe { mem::zeroed() };
        public.dtype = dtype.map_or(ptr::null_mut(), MallocBytes::into_raw).cast();
        public.dtype_format = dtype_format;
        public.chunk_cache = chunk_cache_s { data: ptr::null_mut(), nchunk: -1 };
        public.last_tick = tick;
        public.sc = schunk.into_raw_of_array();
        let schunk = public.sc.addr();
        // SAFETY: `public` is a local variable of this function.
        unsafe { write_public_geometry(&geometry, &raw mut public) };
        Box::new(Array {
            public: UnsafeCell::new(public),
            cached_geometry: RwLock::new(CachedGeometry { geometry, schunk }),
            shape_lock,
            view_steps,
        })
    }
}

#[derive(Clone)]
pub(crate) struct ArrayParams<'a> {
    /// Shape in items.
    pub shape: &'a [i64],
    pub chunkshape: &'a [i32],
    pub blockshape: &'a [i32],
    /// Data type of the items as text.
    pub dtype: Option<&'a CStr>,
    pub dtype_format: i8,
    /// Place and compression parameters; their block size is that of the block shape.
    pub storage: Storage<'a>,
    /// Metalayers besides the array's own.
    pub metalayers: &'a [(CString, Vec<u8>)],
}

impl Array {
    /// Returns a pointer to the public struct.
    pub(crate) fn as_ptr(&self) -> *mut b2nd_array_t {
        self.public.get()
    }

    /// Passes ownership of the array to C code. The files that it has created are kept.
    pub(crate) fn into_raw(self: Box<Self>) -> Result<*mut b2nd_array_t> {
        if let Ok(schunk) = self.schunk() {
            schunk.finish_creation()?;
        }
        Ok(Box::into_raw(self).cast())
    }

    pub(crate) fn schunk(&self) -> Result<&SuperChunk> {
        // SAFETY: `sc` is NULL or the super-chunk of the struct, which lives as long as the array unless C code has
        // taken it.
        unsafe { SuperChunk::from_ptr((*self.as_ptr()).sc) }
            .ok_or_else(|| err!(NullPointer, "the array has no super-chunk"))
    }

    pub(crate) fn geometry(&self) -> Arc<Geometry> {
        Arc::clone(&self.cached_geometry.read().geometry)
    }

    pub(super) fn shape_lock(&self) -> &ShapeLock {
        &self.shape_lock
    }

    /// Checks that the chunks of a view have the numbers that they had when it was made; always true for other arrays.
    pub(super) fn check_chunk_numbers(&self) -> Result<()> {
        let Some(expected) = &self.view_steps else { return Ok(()) };
        let current = self.shape_lock.chunk_steps();
        ensure!(
            expected.iter().zip(&current).all(|(&expected, &current)| expected == 0 || expected == current),
            Failure,
            "the array of the view has chunk numbers in steps of {current:?}, expected {expected:?}: its shape \
             has changed",
        );
        Ok(())
    }

    /// Returns the change tick of the super-chunk: the number of changes of its metalayers that this process has read;
    /// 0 without a super-chunk.
    pub(super) fn change_tick(&self) -> i64 {
        self.schunk().map_or(0, SuperChunk::change_tick)
    }

    /// Returns the data type of the items as text.
    pub(crate) fn dtype(&self) -> Option<&CStr> {
        // SAFETY: set when the array was made, and never changed.
        let dtype = unsafe { (*self.as_ptr()).dtype };
        // SAFETY: checked to be non-NULL; a NUL-terminated string of the library.
        (!dtype.is_null()).then(|| unsafe { CStr::from_ptr(dtype) })
    }

    /// Returns the format of the data type's text.
    pub(crate) fn dtype_format(&self) -> i8 {
        // SAFETY: set when the array was made, and never changed.
        unsafe { (*self.as_ptr()).dtype_format }
    }

    /// Stores the geometry that the metalayer had at change tick `tick` of `schunk`, also in the public struct. Does
    /// nothing if a geometry of a later tick of the same super-chunk is stored already: several threads may read a new
    /// geometry at the same time.
    pub(super) fn update_geometry(&self, geometry: Arc<Geometry>, tick: i64, schunk: &SuperChunk) {
        let mut cached = self.cached_geometry.write();
        let schunk = ptr::from_ref(schunk).addr();
        if tick < self.last_tick() && cached.schunk == schunk {
            return;
        }
        // SAFETY: the array owns the struct; its geometry is only written with `cached_geometry` locked, as here.
        unsafe { write_public_geometry(&geometry, self.as_ptr()) };
        if self.view_steps.is_none() {
            self.shape_lock.set_chunk_steps(geometry.chunk_steps());
        }
        *cached = CachedGeometry { geometry, schunk };
        self.last_tick_field().store(tick, Ordering::Relaxed);
    }

    /// Returns the change tick of the super-chunk for which the shape was read last.
    pub(super) fn last_tick(&self) -> i64 {
        self.last_tick_field().load(Ordering::Relaxed)
    }

    fn last_tick_field(&self) -> &AtomicI64 {
        // SAFETY: the array owns the struct; an aligned field that the library only accesses atomically once the
        // array is made.
        unsafe { AtomicI64::from_ptr(&raw mut (*self.as_ptr()).last_tick) }
    }

    /// Makes an array whose chunks are all special.
    ///
    /// # Safety
    /// Pointers in the parameters are valid as the ABI requires, for as long as the array lives.
    ///
    /// # Errors
    /// `InvalidParam` and `MaxBufsizeExceeded` for an invalid geometry; `Failure` when the super-chunk cannot be made
    /// or filled.
    pub(crate) unsafe fn create(params: &ArrayParams<'_>, special: SpecialValue) -> Result<Box<Array>> {
        let typesize = params.storage.cparams.typesize;
        let geometry = Geometry::new(params.shape, params.chunkshape, params.blockshape, typesize)?;
        let dtype = params.dtype.map(CStr::to_bytes);
        let meta = metalayer::serialize(
            params.shape,
            params.chunkshape,
            params.blockshape,
            dtype,
            params.dtype_format,
        )?;
        let builder = ArrayBuilder::new(geometry, dtype, params.dtype_format)?;
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the array,
        // which owns the super-chunk.
        let schunk = unsafe { SuperChunk::create(&params.storage) }
            .map_err(to_kind_unless_lock(ErrorKind::Failure))?;
        init_schunk(&schunk, &builder.geometry, &meta, params, special)?;
        Ok(builder.into_array(schunk))
    }

    /// Makes an array from a super-chunk that has the metalayer.
    ///
    /// # Errors
    /// Those of [`ArrayBuilder::read`]; the super-chunk is freed then.
    fn from_schunk(schunk: OwnedSuperChunk) -> Result<Box<Array>> {
        Ok(ArrayBuilder::read(&schunk)?.into_array(schunk))
    }

    /// Opens the array in a file or directory.
    pub(crate) fn open(path: &CStr, offset: i64) -> Result<Box<Array>> {
        let io = Storage::default().io;
        // SAFETY: the default back-end has no parameters.
        let schunk =
            unsafe { SuperChunk::open(path, offset, io) }.map_err(to_kind(ErrorKind::NullPointer))?;
        Array::from_schunk(schunk)
    }

    /// Opens an array in a frame in memory.
    pub(crate) fn from_cframe(memory: MallocVec, copy: bool) -> Result<Box<Array>> {
        let schunk = if copy { SuperChunk::from_copy(memory) } else { SuperChunk::from_frame(memory) };
        Array::from_schunk(schunk.map_err(to_kind(ErrorKind::Failure))?)
    }

    /// Rereads the shape if another handle has changed it (`b2nd.md` 6.15). Returns whether the shape was reread.
    ///
    /// # Errors
    /// `Lock`, `Data` when more than the shape has changed, those of an invalid metalayer.
    pub(crate) fn refresh(&self) -> Result<bool> {
        let Ok(schunk) = self.schunk() else { return Ok(false) };
        if schunk.frame().is_none() {
            return Ok(false);
        }
        schunk.refresh_ignoring_errors()?;
        let tick = schunk.change_tick();
        if self.last_tick() == tick {
            return Ok(false);
        }
        let meta = match read_array_meta(schunk) {
            Err(error) if error.kind() == crate::ErrorKind::MetalayerNotFound => return Ok(false),
            meta => meta?,
        };
        let old = self.geometry();
        let dims = meta.ndim;
        if dims != old.ndim()
            || meta.chunkshape[..dims] != *old.chunkshape()
            || meta.blockshape[..dims] != *old.blockshape()
        {
            return Err(err!(
                Data,
                "the metalayer has chunks of {:?} and blocks of {:?}, expected {:?} and {:?}",
                &meta.chunkshape[..dims],
                &meta.blockshape[..dims],
                old.chunkshape(),
                old.blockshape()
            ));
        }
        self.update_geometry(Arc::new(old.with_shape(&meta.shape[..dims])?), tick, schunk);
        Ok(true)
    }
}

/// Writes the public fields of a geometry.
///
/// # Safety
/// `public` points at a struct that no other code writes meanwhile, and to which no code has a reference.
unsafe fn write_public_geometry(geometry: &Geometry, public: *mut b2nd_array_t) {
    let (shape, chunkshape, blockshape, extshape, extchunkshape) = geometry.public_shapes();
    let strides = geometry.strides();
    // SAFETY: by the contract of this function `public` points at a struct that no other code writes or borrows.
    unsafe {
        (*public).ndim = geometry.ndim() as i8;
        (*public).shape = *shape;
        (*public).chunkshape = *chunkshape;
        (*public).blockshape = *blockshape;
        (*public).extshape = *extshape;
        (*public).extchunkshape = *extchunkshape;
        (*public).nitems = geometry.nitems();
        (*public).chunknitems = geometry.chunknitems();
        (*public).extnitems = geometry.extnitems();
        (*public).blocknitems = geometry.blocknitems();
        (*public).extchunknitems = geometry.extchunknitems();
        (*public).item_array_strides = strides.item_array;
        (*public).item_chunk_strides = strides.item_chunk;
        (*public).item_extchunk_strides = strides.item_extchunk;
        (*public).item_block_strides = strides.item_block;
        (*public).block_chunk_strides = strides.block_chunk;
        (*public).chunk_array_strides = strides.chunk_array;
    }
}

/// Adds the metalayers and chunks to a new super-chunk.
fn init_schunk(
    schunk: &SuperChunk,
    geometry: &Geometry,
    meta: &[u8],
    params: &ArrayParams<'_>,
    special: SpecialValue,
) -> Result<()> {
    let chunksize = geometry.chunk_nbytes()?;
    schunk.preset_chunksize(chunksize);
    schunk.meta_add(B2ND_METALAYER, meta).map_err(to_kind_unless_lock(ErrorKind::Failure))?;
    for (name, content) in params.metalayers {
        schunk.meta_add(name, content).map_err(to_kind_unless_lock(ErrorKind::Failure))?;
    }
    if geometry.nitems() > 0 {
        let (nchunks, chunknitems) = (geometry.nchunks(), geometry.extchunknitems());
        let nitems = nchunks.checked_mul(chunknitems).ok_or_else(|| {
            err!(Failure, "{nchunks} chunks of {chunknitems} items, expected less than 2^63 items")
        })?;
        schunk
            .fill_special(nitems, i32::from(special.id()), chunksize)
            .map_err(to_kind_unless_lock(ErrorKind::Failure))?;
    }
    Ok(())
}

pub(crate) fn read_array_meta(schunk: &SuperChunk) -> Result<ArrayMeta> {
    ArrayMeta::parse(&read_array_meta_bytes(schunk)?)
}

pub(super) fn read_array_meta_bytes(schunk: &SuperChunk) -> Result<Vec<u8>> {
    let bytes = schunk
        .array_meta()?
        .ok_or_else(|| err!(MetalayerNotFound, "the super-chunk has no metalayer `b2nd` or `caterva`"))?;
    ensure!(!bytes.is_empty(), NullPointer, "the metalayer of the array has 0 bytes");
    Ok(bytes)
}

impl Drop for Array {
    fn drop(&mut self) {
        let a = self.as_ptr();
        // SAFETY: the array is being dropped, so no other code uses it. It owns the data type and, unless C code has
        // taken it, the super-chunk.
        unsafe {
            if let Some(schunk) = NonNull::new((*a).sc) {
                let schunk = OwnedSuperChunk::from_raw(schunk);
                let _ = schunk.release_backend();
            }
            libc::free((*a).dtype.cast());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_of_an_older_tick_does_not_replace_a_newer_one() {
        let mut cparams = *Storage::default().cparams;
        (cparams.typesize, cparams.blocksize) = (4, 8);
        let params = ArrayParams {
            shape: &[4],
            chunkshape: &[2],
            blockshape: &[2],
            dtype: None,
            dtype_format: 0,
            storage: Storage { cparams: &cparams, ..Storage::default() },
            metalayers: &[],
        };
        // SAFETY: the default parameters only have pointers to literals.
        let array = unsafe { Array::create(&params, SpecialValue::Zero) }.unwrap();
        let other = |shape: i64| Arc::new(array.geometry().with_shape(&[shape]).unwrap());
        let tick = array.last_tick();
        // SAFETY: the struct of the array; no other thread uses it.
        let shown = || unsafe { (*array.as_ptr()).shape[0] };
        let schunk = array.schunk().unwrap();
        array.update_geometry(other(6), tick + 2, schunk);
        assert_eq!((array.geometry().shape(), shown(), array.last_tick()), (&[6][..], 6, tick + 2));
        array.update_geometry(other(5), tick + 1, schunk);
        assert_eq!((array.geometry().shape(), shown(), array.last_tick()), (&[6][..], 6, tick + 2));
        array.update_geometry(other(7), tick + 2, schunk);
        assert_eq!((array.geometry().shape(), shown(), array.last_tick()), (&[7][..], 7, tick + 2));
        // The change tick of another super-chunk is unrelated.
        // SAFETY: the default parameters only have pointers to literals.
        let another = unsafe { SuperChunk::create(&Storage::default()) }.unwrap();
        array.update_geometry(other(8), tick + 1, &another);
        assert_eq!((array.geometry().shape(), shown(), array.last_tick()), (&[8][..], 8, tick + 1));
    }
}
