//! Arrays: making, opening, copying and freeing them (`abi.md` 2.7).

use super::b2nd_meta::{dimensions, extents};
use super::ffi::{self, code, guard, source, store, string};
use super::schunk::long;
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_STORAGE_DEFAULTS, b2nd_array_t, b2nd_context_t, blosc2_metalayer,
    blosc2_schunk, blosc2_storage,
};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::{Array, Description, Spec};
use crate::b2nd::geometry;
use crate::chunk::Special;
use crate::err;
use crate::error::Result;
use crate::malloc::{Growing, Malloced};
use crate::schunk::OwnedSuperChunk;
use crate::schunk::copy::{CopyTo, FrameBytes};
use crate::schunk::storage::{Storage, block_with};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// The array behind a pointer, which must be there.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn array<'a>(ptr: *const b2nd_array_t) -> Result<&'a Array> {
    // SAFETY: NULL or one of ours, not freed.
    unsafe { Array::from_ptr(ptr) }.ok_or_else(|| err!(NullPointer, "the array is NULL"))
}

/// Sees that there is a place for a result.
pub(super) fn place<T>(ptr: *mut T) -> Result<()> {
    if ptr.is_null() {
        return Err(err!(NullPointer, "no place for the result"));
    }
    Ok(())
}

/// What a creation context says, read from the struct that programs may have changed.
pub(super) struct Given<'a> {
    ndim: usize,
    shape: [i64; MAX_DIM],
    chunkshape: [i32; MAX_DIM],
    blockshape: [i32; MAX_DIM],
    dtype: Option<&'a CStr>,
    dtype_format: i8,
    storage: Storage<'a>,
    to: CopyTo<'a>,
    metalayers: Vec<(CString, Vec<u8>)>,
}

impl Given<'_> {
    /// The context as the core takes it.
    pub(super) fn spec(&self) -> Spec<'_> {
        Spec {
            shape: &self.shape[..self.ndim],
            chunkshape: &self.chunkshape[..self.ndim],
            blockshape: &self.blockshape[..self.ndim],
            dtype: self.dtype,
            dtype_format: self.dtype_format,
            storage: self.storage,
            metalayers: &self.metalayers,
        }
    }

    /// Its storage, for copies.
    pub(super) fn to(&self) -> &CopyTo<'_> {
        &self.to
    }
}

/// Reads a creation context.
///
/// # Safety
/// The rules of the module `capi`; the context came from `b2nd_create_ctx`.
pub(super) unsafe fn given<'a>(ctx: *const b2nd_context_t) -> Result<Given<'a>> {
    // SAFETY: by the caller's word.
    let ctx = unsafe { ctx.as_ref() }.ok_or_else(|| err!(NullPointer, "the context is NULL"))?;
    let ndim = dimensions(ctx.ndim)?;
    // SAFETY: the context's own copy, with pointers that are NULL or valid.
    let storage = unsafe { &*ctx.b2_storage };
    let defaults = Storage::default();
    let mut metalayers = Vec::new();
    let count = usize::try_from(ctx.nmetalayers).unwrap_or(0).min(ctx.metalayers.len());
    for metalayer in &ctx.metalayers[..count] {
        let len = usize::try_from(metalayer.content_len).map_err(|_| err!(InvalidParam, "a metalayer"))?;
        // SAFETY: names and contents have to live until the array is made.
        let (name, content) = unsafe { (string(metalayer.name)?, source(metalayer.content.cast(), len)?) };
        metalayers.push((name.to_owned(), content.to_vec()));
    }
    // SAFETY: as above.
    unsafe {
        let urlpath = (!storage.urlpath.is_null()).then(|| CStr::from_ptr(storage.urlpath));
        Ok(Given {
            ndim,
            shape: ctx.shape,
            chunkshape: ctx.chunkshape,
            blockshape: ctx.blockshape,
            dtype: (!ctx.dtype.is_null()).then(|| CStr::from_ptr(ctx.dtype)),
            dtype_format: ctx.dtype_format,
            storage: Storage {
                contiguous: storage.contiguous.get(),
                urlpath,
                cparams: storage.cparams.as_ref().unwrap_or(defaults.cparams),
                dparams: storage.dparams.as_ref().unwrap_or(defaults.dparams),
                io: storage.io.as_ref().unwrap_or(defaults.io),
            },
            to: CopyTo {
                contiguous: storage.contiguous.get(),
                urlpath,
                cparams: storage.cparams.as_ref(),
                dparams: storage.dparams.as_ref(),
                io: storage.io.as_ref(),
            },
            metalayers,
        })
    }
}

/// Writes number and extents of dimensions into a context, as programs may read them there.
///
/// # Safety
/// `ctx` is a context of ours.
unsafe fn show_shape(ctx: *mut b2nd_context_t, shape: &[i64]) {
    // SAFETY: by the caller's word.
    unsafe {
        (*ctx).ndim = shape.len() as i8;
        (&mut (*ctx).shape)[..shape.len()].copy_from_slice(shape);
    }
}

/// Makes the parameters of new arrays of `ndim` dimensions: the numbers of items in `shape`, `chunkshape` and
/// `blockshape`, the type of the items in `dtype`, written as `dtype_format` says (0 is NumPy's), and
/// `nmetalayers` `metalayers` besides the array's own. `b2_storage` is copied with its compression
/// parameters, whose block size becomes that of a block; its path, back-end and decompression parameters, and
/// names and contents of the metalayers have to stay valid until an array is made. A `dtype` of NULL becomes
/// `|S` and the item size. Free it with `b2nd_free_ctx`.
///
/// Returns NULL for a number of dimensions out of 0 to 16, shapes that do not go together, blocks of more
/// than 2 GB, more than 15 metalayers, or without memory.
///
/// # Safety
/// The rules of the module `capi`; the shapes have `ndim` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_create_ctx(
    b2_storage: *const blosc2_storage,
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    metalayers: *const blosc2_metalayer,
    nmetalayers: i32,
) -> *mut b2nd_context_t {
    guard(
        |_| ptr::null_mut(),
        || {
            let dims = dimensions(ndim)?;
            // SAFETY: by the rules of the module.
            let (shape, chunkshape, blockshape) =
                unsafe { (extents(shape, dims)?, extents(chunkshape, dims)?, extents(blockshape, dims)?) };
            geometry::check(shape, chunkshape, blockshape)?;
            // SAFETY: by the rules of the module.
            let given = unsafe { b2_storage.as_ref() }.copied().unwrap_or(BLOSC2_STORAGE_DEFAULTS);
            // SAFETY: by the rules of the module.
            let mut cparams = unsafe { given.cparams.as_ref() }.copied().unwrap_or(BLOSC2_CPARAMS_DEFAULTS);
            let block = blockshape.iter().try_fold(1i32, |items, &extent| items.checked_mul(extent));
            let blocksize = block.and_then(|items| items.checked_mul(cparams.typesize));
            cparams.blocksize = blocksize
                .filter(|_| cparams.typesize >= 0)
                .ok_or_else(|| err!(InvalidParam, "blocks of {blockshape:?} items"))?;
            let count = usize::try_from(nmetalayers).unwrap_or(0);
            // SAFETY: integers, pointers and arrays of them, for which zero is valid.
            let mut ctx: b2nd_context_t = unsafe { std::mem::zeroed() };
            if count > ctx.metalayers.len() || (count > 0 && metalayers.is_null()) {
                return Err(err!(InvalidParam, "{nmetalayers} metalayers"));
            }
            ctx.ndim = ndim;
            ctx.shape[..dims].copy_from_slice(shape);
            ctx.chunkshape[..dims].copy_from_slice(chunkshape);
            ctx.blockshape[..dims].copy_from_slice(blockshape);
            ctx.dtype_format = dtype_format;
            for (n, place) in ctx.metalayers[..count].iter_mut().enumerate() {
                // SAFETY: by the rules of the module there are so many.
                *place = unsafe { *metalayers.add(n) };
            }
            ctx.nmetalayers = nmetalayers.max(0);
            let text = if dtype.is_null() {
                CString::new(format!("|S{}", cparams.typesize)).unwrap_or_default()
            } else {
                // SAFETY: by the rules of the module.
                unsafe { CStr::from_ptr(dtype) }.to_owned()
            };
            ctx.dtype = Malloced::copy_of(text.as_bytes_with_nul())?.into_raw().cast();
            let storage = blosc2_storage { cparams: block_with(cparams)?, ..given };
            ctx.b2_storage = block_with(storage)?;
            block_with(ctx)
        },
    )
}

/// Frees `ctx`, the parameters of new arrays.
///
/// Returns 0; -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the context is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int {
    code(|| {
        place(ctx)?;
        // SAFETY: one of ours, and this is its end.
        unsafe {
            let storage = (*ctx).b2_storage;
            if !storage.is_null() {
                libc::free((*storage).cparams.cast());
                libc::free(storage.cast());
            }
            libc::free((*ctx).dtype.cast());
            libc::free(ctx.cast());
        }
        Ok(0)
    })
}

/// Makes an array of special chunks.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn create(ctx: *mut b2nd_context_t, special: Special) -> Result<Box<Array>> {
    // SAFETY: by the caller's word.
    unsafe { Array::create(&given(ctx)?.spec(), special) }
}

/// Runs a function that makes an array, and stores it.
///
/// # Safety
/// `result` is NULL or writable.
pub(super) unsafe fn make(
    result: *mut *mut b2nd_array_t,
    body: impl FnOnce() -> Result<Box<Array>>,
) -> c_int {
    code(|| {
        place(result)?;
        // SAFETY: not NULL, and writable by the caller's word.
        unsafe { store(result, ptr::null_mut()) };
        let made = body()?;
        // SAFETY: as above.
        unsafe { store(result, made.into_raw()) };
        Ok(0)
    })
}

/// Makes an array of items that nobody has set, as `ctx` says, and stores it in `*array`. Free it with
/// `b2nd_free`.
///
/// Returns 0. -32 for NULL, -12 for a shape or an item size that cannot be, -35 for chunks above
/// `BLOSC2_MAX_BUFFERSIZE`, -1 when the super-chunk cannot be made; then `*array` is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_uninit(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { make(array, || create(ctx, Special::Uninit)) }
}

/// Makes an array of zeros as `ctx` says and stores it in `*array`; as `b2nd_uninit`.
///
/// Returns 0, or a code as there.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_empty(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { make(array, || create(ctx, Special::Zero)) }
}

/// Makes an array of zeros as `ctx` says and stores it in `*array`; as `b2nd_uninit`.
///
/// Returns 0, or a code as there.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_zeros(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { make(array, || create(ctx, Special::Zero)) }
}

/// Makes an array of NaNs, of items of 4 or 8 bytes, as `ctx` says and stores it in `*array`; as
/// `b2nd_uninit`.
///
/// Returns 0, or a code as there; -3 for items of another size, and the array is made then, too.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_nans(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    let made = unsafe { make(array, || create(ctx, Special::Nan)) };
    code(|| {
        if made < 0 {
            return Ok(0);
        }
        // SAFETY: made just now.
        let typesize = unsafe { self::array(*array) }?.geometry().typesize();
        if typesize != 4 && typesize != 8 {
            return Err(err!(Data, "no NaN has {typesize} bytes"));
        }
        Ok(0)
    })
    .min(made)
}

/// Makes an array in which every item is that at `fill_value`, as `ctx` says, and stores it in `*array`; as
/// `b2nd_uninit`.
///
/// Returns 0, or a code as there.
///
/// # Safety
/// The rules of the module `capi`; `fill_value` points at one item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_full(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    fill_value: *const c_void,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        make(array, || {
            let given = given(ctx)?;
            let typesize = usize::try_from(given.storage.cparams.typesize).unwrap_or(0);
            let value = source(fill_value, typesize)?;
            let mut made = Array::create(&given.spec(), Special::Zero)?;
            made.fill(value)?;
            Ok(made)
        })
    }
}

/// Makes an array of the items at `buffer`, in C order, as `ctx` says and stores it in `*array`; as
/// `b2nd_uninit`. The items are copied.
///
/// Returns 0, or a code as there; -12 when `buffersize` is less than the bytes that the items take, and the
/// array is made then, with zeros.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    code(|| {
        place(array)?;
        if ctx.is_null() || buffer.is_null() {
            return Err(err!(NullPointer, "no context, or no items"));
        }
        // SAFETY: by the rules of the module.
        let made = unsafe { make(array, || create(ctx, Special::Zero)) };
        if made < 0 {
            return Err(crate::Error::new(crate::ErrorKind::Callback(made), format_args!("no array")));
        }
        // SAFETY: made just now; a buffer by the rules of the module.
        let written = unsafe {
            let len = usize::try_from(buffersize).unwrap_or(0);
            self::array(*array)?.write(source(buffer, len)?)
        };
        if let Err(error) = &written
            && error.kind() != crate::ErrorKind::InvalidParam
        {
            // SAFETY: made just now, and nobody has seen it.
            unsafe {
                drop(Box::from_raw((*array).cast::<Array>()));
                store(array, ptr::null_mut());
            }
        }
        written.map(|()| 0)
    })
}

/// Frees `array` with its super-chunk, unless its `sc` was set to NULL.
///
/// Returns 0; -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the array is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free(array: *mut b2nd_array_t) -> c_int {
    code(|| {
        place(array)?;
        // SAFETY: one of ours, and this is its end.
        drop(unsafe { Box::from_raw(array.cast::<Array>()) });
        Ok(0)
    })
}

/// Makes an array of `schunk`, which holds one, and stores it in `*array`. The array takes the super-chunk,
/// unless an error is returned.
///
/// Returns 0. -32 for NULL, -34 without the metalayer, -1 for one that makes no sense, -12 for a shape that
/// cannot be.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_schunk(
    schunk: *mut blosc2_schunk,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    code(|| {
        place(array)?;
        // SAFETY: by the rules of the module.
        let borrowed = unsafe { ffi::schunk(schunk) }?;
        let description = Description::read(borrowed)?;
        // SAFETY: one of ours, whose only owner is the caller, who gives it away: from here on nothing fails.
        let schunk = unsafe { OwnedSuperChunk::from_raw(NonNull::from(borrowed).cast()) };
        // SAFETY: not NULL, and writable by the rules.
        unsafe { store(array, description.into_array(schunk).into_raw()) };
        Ok(0)
    })
}

/// Stores `array` as one frame in memory into `*cframe`, and its length in bytes into `*cframe_len`. `*needs_free` is
/// true for a copy, which the caller frees; else it is the array's own, valid until that changes.
///
/// Returns 0; -32 for NULL, -1 when the frame cannot be made.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cframe(
    array: *const b2nd_array_t,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    code(|| {
        place(cframe)?;
        place(cframe_len)?;
        place(needs_free)?;
        // SAFETY: by the rules of the module.
        let bytes = unsafe { self::array(array) }?.schunk()?.to_buffer();
        let (start, len, copied) = match bytes.map_err(|error| err!(Failure, "{error}"))? {
            FrameBytes::Own(start, len) => (start, len, false),
            FrameBytes::Copy(start, len) => (start, len, true),
        };
        // SAFETY: not NULL, and writable by the rules.
        unsafe {
            store(cframe, start);
            store(cframe_len, len as i64);
            store(needs_free, copied);
        }
        Ok(0)
    })
}

/// Opens the array in the frame of `cframe_len` bytes at `cframe` and stores it in `*array`; `copy` as in
/// `blosc2_schunk_from_buffer`.
///
/// Returns 0; -32 for NULL, -1 when it is no frame, the codes of `b2nd_from_schunk`.
///
/// # Safety
/// The rules of the module `capi`; without `copy` the frame stays as long as the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cframe(
    cframe: *mut u8,
    cframe_len: i64,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        make(array, || {
            let start = NonNull::new(cframe).ok_or_else(|| err!(NullPointer, "the frame is NULL"))?;
            let len = usize::try_from(cframe_len).map_err(|_| err!(Failure, "{cframe_len} bytes"))?;
            Array::from_cframe(Growing::lent(start, len), copy)
        })
    }
}

/// Opens the array in the file or directory `urlpath` and stores it in `*array`. Free it with `b2nd_free`.
///
/// Returns 0; -32 for NULL, and also when there is no frame that can be read, the codes of
/// `b2nd_from_schunk`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { b2nd_open_offset(urlpath, array, 0) }
}

/// As `b2nd_open`, with `array` as there, for a frame that begins `offset` bytes into the file `urlpath`.
///
/// Returns 0, or a code as there.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open_offset(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        make(array, || {
            if urlpath.is_null() {
                return Err(err!(NullPointer, "the path is NULL"));
            }
            Array::open(CStr::from_ptr(urlpath), offset)
        })
    }
}

/// Writes `array` to the file `urlpath`, or to a directory if that is how it is stored, with all its
/// metalayers. There must be nothing yet.
///
/// Returns 0; -32 for NULL, -1 when it cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save(array: *const b2nd_array_t, urlpath: *mut c_char) -> c_int {
    code(|| {
        place(urlpath)?;
        // SAFETY: by the rules of the module.
        unsafe { self::array(array)?.save(CStr::from_ptr(urlpath)) }.map(|()| 0)
    })
}

/// Writes `array` as one frame behind what the file `urlpath` has.
///
/// Returns where the frame begins in the file, 0 in a new one: for `b2nd_open_offset`. -32 for NULL, -12 for
/// a path that is NULL, the codes of `blosc2_schunk_append_file`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save_append(array: *const b2nd_array_t, urlpath: *const c_char) -> i64 {
    // SAFETY: by the rules of the module.
    long(|| unsafe { self::array(array)?.schunk()?.append_file(string(urlpath)?).map(|at| at as i64) })
}

/// Copies `src` to a new array as `ctx` says, whose shape becomes that of `src`, and stores it in `*array`.
/// Free it with `b2nd_free`.
///
/// Returns 0; -32 for NULL, the codes of `b2nd_uninit`, -1 when it cannot be copied.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy(
    ctx: *mut b2nd_context_t,
    src: *const b2nd_array_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        make(array, || {
            let src = self::array(src)?;
            place(ctx)?;
            src.refresh()?;
            show_shape(ctx, src.geometry().shape());
            let given = given(ctx)?;
            src.copy(&given.spec(), given.to())
        })
    }
}

/// Puts `src2` behind `src1` along `axis`: in a copy that is made as `ctx` says, or with `copy` false in
/// `src1` itself, which `*array` is then.
///
/// Returns 0; -32 for NULL, -12 for arrays that do not go together or an axis that is not there, the codes of
/// `b2nd_copy` and `b2nd_resize`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_concatenate(
    ctx: *mut b2nd_context_t,
    src1: *const b2nd_array_t,
    src2: *const b2nd_array_t,
    axis: i8,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    code(|| {
        place(array)?;
        // SAFETY: by the rules of the module.
        let (first, second) = unsafe { (self::array(src1)?, self::array(src2)?) };
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        if !copy {
            // SAFETY: nothing is made.
            unsafe { first.concatenate(second, axis, None) }?;
            // SAFETY: not NULL, and writable by the rules.
            unsafe { store(array, src1.cast_mut()) };
            return Ok(0);
        }
        place(ctx)?;
        first.refresh()?;
        // SAFETY: by the rules of the module.
        let made = unsafe {
            let before = ((*ctx).ndim, (*ctx).shape);
            show_shape(ctx, first.geometry().shape());
            let given = given(ctx)?;
            first.concatenate(second, axis, Some((&given.spec(), given.to()))).inspect_err(|_| {
                ((*ctx).ndim, (*ctx).shape) = before;
            })?
        };
        // SAFETY: as above.
        unsafe { store(array, made.map_or(ptr::null_mut(), Array::into_raw)) };
        Ok(0)
    })
}

/// Makes a new array of the box from `start` to `stop` (the latter left out) of `src` and stores it in
/// `*array`; `ctx` says all but the shape. Free it with `b2nd_free`.
///
/// Items of the box that are outside the shape of `src` are zero.
///
/// Returns 0; -32 for NULL, -12 for a box that ends before it starts, the codes of `b2nd_uninit` and, for the part of
/// the box in each chunk of the new array, those of `b2nd_get_slice_cbuffer`.
///
/// # Safety
/// The rules of the module `capi`; `start` and `stop` have a number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    src: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        make(array, || {
            let src = self::array(src)?;
            place(ctx)?;
            if start.is_null() || stop.is_null() {
                return Err(err!(NullPointer, "no box"));
            }
            src.refresh()?;
            let ndim = src.geometry().ndim();
            let (start, stop) = (extents(start, ndim)?, extents(stop, ndim)?);
            let mut shape = [0; MAX_DIM];
            for dim in 0..ndim {
                shape[dim] = stop[dim].saturating_sub(start[dim]);
            }
            show_shape(ctx, &shape[..ndim]);
            let given = given(ctx)?;
            src.slice(&given.spec(), start, stop)
        })
    }
}
