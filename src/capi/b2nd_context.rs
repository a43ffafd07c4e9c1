//! The parameters for new arrays: creating, reading and freeing them (`abi.md` 2.7).

use super::b2nd_meta::{check_dims, check_ndim};
use super::ffi::{check_not_null, result_code, value_or};
use super::pointers::{
    CArray, CObjectOwner, CStruct, CText, Dims, MetalayerList, Size, Taken, c_str, optional_c_str,
    source_slice, storage_parts,
};
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_STORAGE_DEFAULTS, b2nd_context_t, blosc2_metalayer, blosc2_storage,
};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::{Array, ArrayParams};
use crate::b2nd::geometry;
use crate::chunk::SpecialValue;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::malloc::MallocBytes;
use crate::schunk::copy::CopyDestination;
use crate::schunk::storage::{Storage, malloc_value};
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

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

    /// Creates an array of special chunks.
    pub(super) fn create(&self, special: SpecialValue) -> Result<Box<Array>> {
        // SAFETY: the parameters come from a C caller, which keeps the memory at their pointers valid as long as the array.
        unsafe { Array::create(&self.array_params(), special) }
    }

    /// Creates a copy of `src`, which has the shape of this context.
    pub(super) fn copy(&self, src: &Array) -> Result<Box<Array>> {
        // SAFETY: the parameters come from a C caller, which keeps the memory at their pointers valid as long as the array.
        unsafe { src.copy(&self.array_params(), &self.copy_destination) }
    }

    /// Creates an array from the box from `start` to `stop` of `src`, which has the shape of this context.
    pub(super) fn slice(&self, src: &Array, start: &[i64], stop: &[i64]) -> Result<Box<Array>> {
        // SAFETY: the parameters come from a C caller, which keeps the memory at their pointers valid as long as the array.
        unsafe { src.slice(&self.array_params(), start, stop) }
    }

    /// Appends `second` along `axis` to a copy of `first`.
    pub(super) fn concatenate(
        &self,
        first: &Array,
        second: &Array,
        axis: usize,
    ) -> Result<Option<Box<Array>>> {
        // SAFETY: the parameters come from a C caller, which keeps the memory at their pointers valid as long as the array.
        unsafe { first.concatenate(second, axis, Some((&self.array_params(), &self.copy_destination))) }
    }
}

/// A creation context, which came from `b2nd_create_ctx`, is not freed, and is used only by this call; or NULL. The memory
/// that its storage and its metalayers refer to is initialised, and unchanged during the call.
#[repr(transparent)]
pub struct ArrayContext<'call, P>(P, PhantomData<&'call mut ()>);

/// The number of dimensions and the shape of a creation context.
#[derive(Clone, Copy)]
pub(super) struct ContextShape(i8, [i64; MAX_DIM]);

impl<'call> ArrayContext<'call, *mut b2nd_context_t> {
    /// Returns whether the caller passed NULL.
    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Borrows the struct; NULL is an error.
    fn fields(&self) -> Result<&b2nd_context_t> {
        // SAFETY: by the rule of this type NULL or initialised; only this value gives access to the struct.
        unsafe { self.0.as_ref() }.ok_or_else(|| err!(NullPointer, "`ctx` is NULL"))
    }

    /// Reads the context; NULL is an error.
    pub(super) fn read(&self) -> Result<CreationContext<'call>> {
        let ctx = self.fields()?;
        let ndim = check_ndim(ctx.ndim)?;
        // SAFETY: by the rule of this type the context's own copies, whose pointers are NULL or valid during the call.
        let (destination, dtype) = unsafe { (storage_parts(&*ctx.b2_storage), optional_c_str(ctx.dtype)) };
        let mut metalayers = Vec::new();
        let count = usize::try_from(ctx.nmetalayers).unwrap_or(0).min(ctx.metalayers.len());
        for metalayer in &ctx.metalayers[..count] {
            let len = usize::try_from(metalayer.content_len).map_err(|_| {
                err!(InvalidParam, "`content_len` of a metalayer is negative: {}", metalayer.content_len)
            })?;
            // SAFETY: by the rule of this type names and contents are valid during the call.
            let (name, content) =
                unsafe { (c_str(metalayer.name)?, source_slice(metalayer.content.cast(), len)?) };
            let copy = (fallible::c_string(&[name.to_bytes()])?, fallible::copy_of(content)?);
            fallible::push(&mut metalayers, copy)?;
        }
        Ok(CreationContext {
            ndim,
            shape: ctx.shape,
            chunkshape: ctx.chunkshape,
            blockshape: ctx.blockshape,
            dtype,
            dtype_format: ctx.dtype_format,
            storage: destination.with_defaults(),
            copy_destination: destination,
            metalayers,
        })
    }

    /// Returns the number of dimensions and the shape; NULL is an error.
    pub(super) fn shape(&self) -> Result<ContextShape> {
        self.fields().map(|ctx| ContextShape(ctx.ndim, ctx.shape))
    }

    /// Borrows the struct; `None` for NULL.
    fn fields_mut(&mut self) -> Option<&mut b2nd_context_t> {
        // SAFETY: by the rule of this type NULL or initialised, and used only by this call, in which only this value gives
        // access to the struct.
        unsafe { self.0.as_mut() }
    }

    /// Restores the number of dimensions and the shape. Does nothing for NULL.
    pub(super) fn restore_shape(&mut self, shape: ContextShape) {
        if let Some(ctx) = self.fields_mut() {
            (ctx.ndim, ctx.shape) = (shape.0, shape.1);
        }
    }

    /// Stores the number of dimensions and the shape, where programs may read them. Does nothing for NULL.
    pub(super) fn set_shape(&mut self, shape: &[i64]) {
        if let Some(ctx) = self.fields_mut() {
            ctx.ndim = shape.len() as i8;
            ctx.shape[..shape.len()].copy_from_slice(shape);
        }
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
    b2_storage: CStruct<*const blosc2_storage>,
    ndim: Size<i8, Dims>,
    shape: CArray<*const i64, Dims>,
    chunkshape: CArray<*const i32, Dims>,
    blockshape: CArray<*const i32, Dims>,
    dtype: CText<*const c_char>,
    dtype_format: i8,
    metalayers: CArray<*const blosc2_metalayer, MetalayerList>,
    nmetalayers: Size<i32, MetalayerList>,
) -> *mut b2nd_context_t {
    value_or(ptr::null_mut(), || {
        let len = check_dims(&ndim)?;
        let dims = len.get();
        let (shape, chunkshape, blockshape) =
            (shape.items(len)?, chunkshape.items(len)?, blockshape.items(len)?);
        geometry::check_shapes(shape, chunkshape, blockshape)?;
        let given = b2_storage.get().copied().unwrap_or(BLOSC2_STORAGE_DEFAULTS);
        // SAFETY: NULL, or compression parameters that the caller keeps valid during the call.
        let mut cparams = unsafe { given.cparams.as_ref() }.copied().unwrap_or(BLOSC2_CPARAMS_DEFAULTS);
        cparams.blocksize = geometry::block_nbytes(blockshape, cparams.typesize)?;
        let len = nmetalayers.len_or_zero();
        let count = len.get();
        // SAFETY: integers, pointers and arrays of them, for which zero is valid.
        let mut ctx: b2nd_context_t = unsafe { std::mem::zeroed() };
        ensure!(
            count <= ctx.metalayers.len() && (count == 0 || !metalayers.is_null()),
            InvalidParam,
            "`nmetalayers` is {count}, expected at most {}, or `metalayers` is NULL",
            ctx.metalayers.len(),
        );
        ctx.ndim = ndim.number();
        ctx.shape[..dims].copy_from_slice(shape);
        ctx.chunkshape[..dims].copy_from_slice(chunkshape);
        ctx.blockshape[..dims].copy_from_slice(blockshape);
        ctx.dtype_format = dtype_format;
        ctx.metalayers[..count].copy_from_slice(metalayers.items(len)?);
        ctx.nmetalayers = nmetalayers.number().max(0);
        let text = match dtype.optional() {
            None => MallocBytes::copy_of(format!("|S{}\0", cparams.typesize).as_bytes())?,
            Some(dtype) => MallocBytes::copy_of(dtype.to_bytes_with_nul())?,
        };
        let ctx = OwnedCreationContext(malloc_value(ctx)?);
        let no_cparams = blosc2_storage { cparams: ptr::null_mut(), ..given };
        // SAFETY: the structs just made, which no other code uses. If a step fails, `ctx` frees the parts that it
        // has.
        unsafe {
            (*ctx.0).dtype = text.into_raw().cast();
            (*ctx.0).b2_storage = malloc_value(no_cparams)?;
            (*(*ctx.0).b2_storage).cparams = malloc_value(cparams)?;
        }
        Ok(ctx.into_raw())
    })
}

/// Owns a creation context: a `malloc` block with parts that are `malloc` blocks. The parts that are not made yet are NULL.
pub(super) struct OwnedCreationContext(*mut b2nd_context_t);

impl OwnedCreationContext {
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

impl CObjectOwner for b2nd_context_t {
    type Owner = OwnedCreationContext;

    unsafe fn take(object: NonNull<Self>) -> OwnedCreationContext {
        OwnedCreationContext(object.as_ptr())
    }
}

/// Frees `ctx`, the parameters for new arrays.
///
/// Returns 0, or -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the context is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free_ctx(ctx: Taken<*mut b2nd_context_t>) -> c_int {
    result_code(|| {
        check_not_null(ctx.is_null())?;
        drop(ctx.take());
        Ok(0)
    })
}
