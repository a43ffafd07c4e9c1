//! The parameters for new arrays: creating, reading and freeing them (`abi.md` 2.7).

use super::b2nd_meta::{check_ndim, shape_slices};
use super::ffi::{c_str, catch_errors, check_not_null, result_code, source_slice};
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_STORAGE_DEFAULTS, b2nd_context_t, blosc2_metalayer, blosc2_storage,
};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::ArrayParams;
use crate::b2nd::geometry;
use crate::err;
use crate::error::Result;
use crate::fallible;
use crate::malloc::MallocBytes;
use crate::schunk::copy::CopyDestination;
use crate::schunk::storage::{Storage, malloc_value};
use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::ManuallyDrop;
use std::ptr;

/// The content of a creation context, read from the struct, whose fields programs may have changed.
pub(super) struct CreationContext<'a> {
    ndim: usize,
    shape: [i64; MAX_DIM],
    chunkshape: [i32; MAX_DIM],
    blockshape: [i32; MAX_DIM],
    dtype: Option<&'a CStr>,
    dtype_format: i8,
    storage: Storage<'a>,
    copy_destination: CopyDestination<'a>,
    metalayers: Vec<(CString, Vec<u8>)>,
}

impl CreationContext<'_> {
    /// Returns the context in the form that the core functions take.
    pub(super) fn array_params(&self) -> ArrayParams<'_> {
        ArrayParams {
            shape: &self.shape[..self.ndim],
            chunkshape: &self.chunkshape[..self.ndim],
            blockshape: &self.blockshape[..self.ndim],
            dtype: self.dtype,
            dtype_format: self.dtype_format,
            storage: self.storage,
            metalayers: &self.metalayers,
        }
    }

    /// Returns the storage of the context, for copies.
    pub(super) fn copy_destination(&self) -> &CopyDestination<'_> {
        &self.copy_destination
    }
}

/// Reads a creation context.
///
/// # Safety
/// The rules of the module `capi`; the context came from `b2nd_create_ctx`.
pub(super) unsafe fn read_creation_context<'a>(ctx: *const b2nd_context_t) -> Result<CreationContext<'a>> {
    // SAFETY: by the contract of this function.
    let ctx = unsafe { ctx.as_ref() }.ok_or_else(|| err!(NullPointer, "`ctx` is NULL"))?;
    let ndim = check_ndim(ctx.ndim)?;
    // SAFETY: the copy that the context owns, with pointers that are NULL or valid.
    let storage = unsafe { &*ctx.b2_storage };
    let defaults = Storage::default();
    let mut metalayers = Vec::new();
    let count = usize::try_from(ctx.nmetalayers).unwrap_or(0).min(ctx.metalayers.len());
    for metalayer in &ctx.metalayers[..count] {
        let len = usize::try_from(metalayer.content_len).map_err(|_| {
            err!(InvalidParam, "`content_len` of a metalayer is negative: {}", metalayer.content_len)
        })?;
        // SAFETY: names and contents must stay valid until the array is created.
        let (name, content) =
            unsafe { (c_str(metalayer.name)?, source_slice(metalayer.content.cast(), len)?) };
        let copy = (fallible::c_string(&[name.to_bytes()])?, fallible::copy_of(content)?);
        fallible::push(&mut metalayers, copy)?;
    }
    // SAFETY: as above.
    unsafe {
        let urlpath = (!storage.urlpath.is_null()).then(|| CStr::from_ptr(storage.urlpath));
        Ok(CreationContext {
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
            copy_destination: CopyDestination {
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

/// Writes the number of dimensions and the shape into a context, where programs may read them.
///
/// # Safety
/// `ctx` is a context that `b2nd_create_ctx` made.
pub(super) unsafe fn set_context_shape(ctx: *mut b2nd_context_t, shape: &[i64]) {
    // SAFETY: by the contract of this function.
    unsafe {
        (*ctx).ndim = shape.len() as i8;
        (&mut (*ctx).shape)[..shape.len()].copy_from_slice(shape);
    }
}

/// Creates the parameters for new arrays of `ndim` dimensions (0 to 16). `shape`, `chunkshape` and `blockshape`
/// are arrays of `ndim` numbers, in items. `dtype` is the data type of the items, a string in the format
/// `dtype_format` (0 is NumPy's), which is copied; NULL means `|S` followed by the item size. `metalayers` are
/// `nmetalayers` fixed metalayers (at most 15) that are added to the `b2nd` metalayer.
///
/// `b2_storage` is copied together with its compression parameters; their block size is set to the size of a block
/// of `blockshape`. NULL means the default storage. Its path, I/O back-end and decompression parameters, and the
/// names and contents of the metalayers, are not copied: they must stay valid until the arrays have been created.
///
/// Returns the parameters, which the caller frees with `b2nd_free_ctx`. Returns NULL for a number of dimensions
/// outside 0 to 16, for shapes that are inconsistent, for blocks above 2 GB, for more than 15 metalayers, and when
/// memory cannot be allocated.
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
    catch_errors(
        |_| ptr::null_mut(),
        || {
            // SAFETY: the caller passes shapes of `ndim` numbers.
            let (shape, chunkshape, blockshape) =
                unsafe { shape_slices(ndim, shape, chunkshape, blockshape) }?;
            geometry::check_shapes(shape, chunkshape, blockshape)?;
            // SAFETY: by the rules of the module.
            let given = unsafe { b2_storage.as_ref() }.copied().unwrap_or(BLOSC2_STORAGE_DEFAULTS);
            // SAFETY: by the rules of the module.
            let mut cparams = unsafe { given.cparams.as_ref() }.copied().unwrap_or(BLOSC2_CPARAMS_DEFAULTS);
            let block = blockshape.iter().try_fold(1i32, |items, &extent| items.checked_mul(extent));
            let blocksize = block.and_then(|items| items.checked_mul(cparams.typesize));
            cparams.blocksize = blocksize.filter(|_| cparams.typesize >= 0).ok_or_else(|| {
                let typesize = cparams.typesize;
                err!(InvalidParam, "a block of {blockshape:?} items of {typesize} bytes exceeds 2 GB")
            })?;
            let count = usize::try_from(nmetalayers).unwrap_or(0);
            // SAFETY: integers, pointers and arrays of them, for which zero is valid.
            let mut ctx: b2nd_context_t = unsafe { std::mem::zeroed() };
            if count > ctx.metalayers.len() || (count > 0 && metalayers.is_null()) {
                return Err(err!(
                    InvalidParam,
                    "`nmetalayers` is {nmetalayers}, expected at most {}, or `metalayers` is NULL",
                    ctx.metalayers.len()
                ));
            }
            ctx.ndim = ndim;
            ctx.shape[..shape.len()].copy_from_slice(shape);
            ctx.chunkshape[..chunkshape.len()].copy_from_slice(chunkshape);
            ctx.blockshape[..blockshape.len()].copy_from_slice(blockshape);
            ctx.dtype_format = dtype_format;
            for (n, place) in ctx.metalayers[..count].iter_mut().enumerate() {
                // SAFETY: by the rules of the module `metalayers` has `count` elements.
                *place = unsafe { *metalayers.add(n) };
            }
            ctx.nmetalayers = nmetalayers.max(0);
            let text = if dtype.is_null() {
                MallocBytes::copy_of(format!("|S{}\0", cparams.typesize).as_bytes())?
            } else {
                // SAFETY: by the rules of the module.
                MallocBytes::copy_of(unsafe { CStr::from_ptr(dtype) }.to_bytes_with_nul())?
            };
            // SAFETY: a new struct without parts.
            let ctx = unsafe { OwnedCreationContext::from_raw(malloc_value(ctx)?) };
            let no_cparams = blosc2_storage { cparams: ptr::null_mut(), ..given };
            // SAFETY: the structs just made, which no other code uses. If a step fails, `ctx` frees the parts that it
            // has.
            unsafe {
                (*ctx.0).dtype = text.into_raw().cast();
                (*ctx.0).b2_storage = malloc_value(no_cparams)?;
                (*(*ctx.0).b2_storage).cparams = malloc_value(cparams)?;
            }
            Ok(ctx.into_raw())
        },
    )
}

/// Owns a creation context. The parts that are not made yet are NULL.
struct OwnedCreationContext(*mut b2nd_context_t);

impl OwnedCreationContext {
    /// Takes the ownership.
    ///
    /// # Safety
    /// `ctx` and its parts, which may be NULL, are `malloc` blocks that no other code frees.
    unsafe fn from_raw(ctx: *mut b2nd_context_t) -> OwnedCreationContext {
        OwnedCreationContext(ctx)
    }

    /// Passes the ownership to C code.
    fn into_raw(self) -> *mut b2nd_context_t {
        ManuallyDrop::new(self).0
    }
}

impl Drop for OwnedCreationContext {
    fn drop(&mut self) {
        let ctx = self.0;
        // SAFETY: `malloc` blocks that this value owns; `free` accepts NULL.
        unsafe {
            let storage = (*ctx).b2_storage;
            if !storage.is_null() {
                libc::free((*storage).cparams.cast());
                libc::free(storage.cast());
            }
            libc::free((*ctx).dtype.cast());
            libc::free(ctx.cast());
        }
    }
}

/// Frees `ctx`, the parameters for new arrays.
///
/// Returns 0, or -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the context is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int {
    result_code(|| {
        check_not_null(ctx)?;
        // SAFETY: an object of this library, which is not used after this call, by the rules of the module.
        drop(unsafe { OwnedCreationContext::from_raw(ctx) });
        Ok(0)
    })
}
