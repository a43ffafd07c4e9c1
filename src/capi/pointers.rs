//! The types of the pointer parameters of the exported functions. Each type has the layout of the C type in its angle
//! brackets, and stands for a rule of the module [`capi`](super) about that parameter.
//!
//! A value proves its rule: its fields are private and no function makes values, so that only a C caller can, which
//! must follow the rules. A value cannot outlive its call either: the lifetime `'call` of a parameter is any lifetime
//! for the body of the function. That is why most methods are safe, and why the references that they return are valid.
//!
//! The length of a buffer is another parameter of the function. Both carry the same *role*, for example [`Input`]: all
//! buffers of a role in one signature have the length that its only [`Size`] of this role says, or, for [`ArrayDims`], its
//! only [`Handle`] of an array. A method with a role takes a [`Len`] of the same role, so the body of a function cannot
//! combine a buffer with another length.
//!
//! The types are `pub` because exported functions have them in their signatures; code outside of `capi` has no use for
//! them, nor for the traits of their methods.
#![allow(private_bounds, reason = "the methods are for this module, and so are their traits")]

use crate::abi::{
    b2nd_array_t, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_schunk, blosc2_storage,
};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::Array;
use crate::chunk::format::{MIN_HEADER_LENGTH, flag2, offset};
use crate::chunk::{ChunkHeader, read_i32};
use crate::err;
use crate::error::{Error, Result};
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::context::{Context, OwnedContext};
use crate::schunk::change::InputChunk;
use crate::schunk::copy::CopyDestination;
use crate::schunk::read::SchunkBlockSource;
use crate::schunk::{OwnedSuperChunk, SuperChunk};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

/// A raw pointer type: `*const T` or `*mut T`.
pub(super) trait Pointer: Copy {
    /// The type of the item.
    type Target;

    /// Returns the address.
    fn address(self) -> *const Self::Target;
}

impl<T> Pointer for *const T {
    type Target = T;

    #[inline]
    fn address(self) -> *const T {
        self
    }
}

impl<T> Pointer for *mut T {
    type Target = T;

    #[inline]
    fn address(self) -> *const T {
        self
    }
}

/// Defines `is_null` for parameter types.
macro_rules! impl_is_null {
    ($($name:ident<$($generic:ident),*>)*) => {$(
        impl<P: Pointer, $($generic),*> $name<'_, P, $($generic),*> {
            /// Returns whether the caller passed NULL.
            #[inline]
            pub(super) fn is_null(&self) -> bool {
                self.0.address().is_null()
            }
        }
    )*};
}

impl_is_null! { Handle<> Taken<> CText<> Variable<> SourceBuffer<> DestBuffer<> CArray<R> Out<> OutArray<R> }

// Objects of the library.

/// The C type of an object of the library.
///
/// # Safety
/// A pointer to this type that the library returns points at the start of an `Object`, which can be borrowed until it
/// is freed.
pub(super) unsafe trait CObject {
    /// The object.
    type Object;

    /// Returns the error for NULL.
    fn null_error() -> Error;
}

/// The C type of an object whose ownership a caller can pass to the library.
pub(super) trait CObjectOwner: Sized {
    /// The owner of the object.
    type Owner;

    /// Takes the ownership.
    ///
    /// # Safety
    /// `object` came from this library, is not owned by another value, and no other code uses it from now on.
    unsafe fn take(object: NonNull<Self>) -> Self::Owner;
}

// SAFETY: a pointer to a super-chunk that the library returns is that of a `SuperChunk`, whose first field is the C struct.
unsafe impl CObject for blosc2_schunk {
    type Object = SuperChunk;

    #[cold]
    fn null_error() -> Error {
        err!(NullPointer, "the super-chunk is NULL")
    }
}

impl CObjectOwner for blosc2_schunk {
    type Owner = OwnedSuperChunk;

    #[inline]
    unsafe fn take(object: NonNull<Self>) -> OwnedSuperChunk {
        // SAFETY: by the contract of this function a super-chunk of this library that no other code owns or uses.
        unsafe { OwnedSuperChunk::from_raw(object) }
    }
}

// SAFETY: a pointer to a context that the library returns, also in `schunk->cctx` and `dctx`, came from
// `OwnedContext::into_c`, which casts that of a `Context`.
unsafe impl CObject for blosc2_context {
    type Object = Context;

    #[cold]
    fn null_error() -> Error {
        err!(NullPointer, "the context is NULL")
    }
}

impl CObjectOwner for blosc2_context {
    type Owner = Option<OwnedContext>;

    #[inline]
    unsafe fn take(object: NonNull<Self>) -> Option<OwnedContext> {
        // SAFETY: by the contract of this function a context of this library that no other code owns or uses.
        unsafe { OwnedContext::from_c(object.as_ptr()) }
    }
}

// SAFETY: a pointer to an array that the library returns is that of an `Array`, whose first field is the C struct.
unsafe impl CObject for b2nd_array_t {
    type Object = Array;

    #[cold]
    fn null_error() -> Error {
        err!(NullPointer, "the array is NULL")
    }
}

impl CObjectOwner for b2nd_array_t {
    type Owner = Box<Array>;

    #[inline]
    unsafe fn take(object: NonNull<Self>) -> Box<Array> {
        // SAFETY: `Array::into_raw` made the pointer from a box, and by the contract of this function no other code
        // uses it.
        unsafe { Box::from_raw(object.cast().as_ptr()) }
    }
}

/// An object of the library, which no other call frees during this one; or NULL.
#[repr(transparent)]
pub struct Handle<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer<Target: CObject>> Handle<'call, P> {
    /// Borrows the object; NULL is an error.
    #[inline]
    pub(super) fn get(&self) -> Result<&'call <P::Target as CObject>::Object> {
        // SAFETY: NULL, or by the rule of this type an object that this library has returned and that is not freed
        // during the call; `CObject` guarantees its type.
        unsafe { self.0.address().cast::<<P::Target as CObject>::Object>().as_ref() }
            .ok_or_else(P::Target::null_error)
    }
}

impl<'call, P: Pointer<Target = blosc2_context>> Handle<'call, P> {
    /// Returns the source of the blocks of a lazy chunk: the context's super-chunk. `None` for other chunks.
    #[inline(always)]
    pub(super) fn block_source(&self, chunk: &[u8]) -> Option<SchunkBlockSource<'call>> {
        // For most chunks one byte is enough to tell that they are not lazy; 16-byte headers do not have that byte.
        let may_be_lazy = chunk.get(offset::BLOSC2_FLAGS).is_some_and(|flags| flags & flag2::LAZY != 0);
        if may_be_lazy { self.lazy_block_source(chunk) } else { None }
    }

    /// Returns the super-chunk if the header of `chunk` is that of a lazy chunk.
    fn lazy_block_source(&self, chunk: &[u8]) -> Option<SchunkBlockSource<'call>> {
        if !ChunkHeader::parse(chunk).is_ok_and(|header| header.is_lazy()) {
            return None;
        }
        let schunk = self.get().ok()?.head().schunk();
        // SAFETY: the super-chunk that the caller passed with the parameters of this context, or that owns it: the ABI
        // requires that it is NULL or stays valid as long as the context.
        unsafe { SuperChunk::from_ptr(schunk) }.map(SchunkBlockSource)
    }
}

impl<'call, P: Pointer<Target = b2nd_array_t>> Handle<'call, P> {
    /// Returns the number of dimensions of the array, the length of the parameters with the role [`ArrayDims`].
    #[inline]
    pub(super) fn dims(&self) -> Result<Len<'call, ArrayDims>> {
        Ok(Len::new(self.get()?.geometry().ndim()))
    }

    /// Returns the pointer, to be returned to the caller.
    #[inline]
    pub(super) fn as_ptr(&self) -> *mut b2nd_array_t {
        self.0.address().cast_mut()
    }
}

/// An object of the library that no other call uses from now on: the caller passes its ownership. If the function
/// returns an error without [taking](Self::take) the object, the ownership stays with the caller. Or NULL.
#[repr(transparent)]
pub struct Taken<'call, P>(P, PhantomData<&'call ()>);

impl<P: Pointer<Target: CObjectOwner>> Taken<'_, P> {
    /// Takes the ownership; `None` for NULL.
    #[inline]
    pub(super) fn take(self) -> Option<<P::Target as CObjectOwner>::Owner> {
        // SAFETY: by the rule of this type an object of this library that no other code uses. This value is used up,
        // and `get` borrows it, so nothing else in this call uses the object either.
        NonNull::new(self.0.address().cast_mut()).map(|object| unsafe { P::Target::take(object) })
    }
}

impl<P: Pointer<Target: CObject>> Taken<'_, P> {
    /// Borrows the object before it is taken; NULL is an error.
    #[inline]
    pub(super) fn get(&self) -> Result<&<P::Target as CObject>::Object> {
        // The rule of `Handle` holds until `take`, which uses up this value after the borrow has ended.
        Handle(self.0, PhantomData).get()
    }
}

// Strings and structs.

/// Returns the string at `ptr`; NULL is an error.
///
/// # Safety
/// `ptr` is NULL or points at a string that ends with NUL and does not change during `'a`.
#[inline]
pub(super) unsafe fn c_str<'a>(ptr: *const c_char) -> Result<&'a CStr> {
    // SAFETY: by the contract of this function NULL or a string.
    unsafe { optional_c_str(ptr) }.ok_or_else(null_text_error)
}

#[cold]
fn null_text_error() -> Error {
    err!(InvalidParam, "a string argument is NULL")
}

/// Returns the string at `ptr`; `None` for NULL.
///
/// # Safety
/// `ptr` is NULL or points at a string that ends with NUL and does not change during `'a`.
#[inline]
pub(super) unsafe fn optional_c_str<'a>(ptr: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not NULL, and by the contract of this function it ends with NUL.
    (!ptr.is_null()).then(|| unsafe { CStr::from_ptr(ptr) })
}

/// A string that ends with NUL and does not change during the call; or NULL.
#[repr(transparent)]
pub struct CText<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer<Target = c_char>> CText<'call, P> {
    /// Returns the string; NULL is an error.
    #[inline]
    pub(super) fn get(&self) -> Result<&'call CStr> {
        self.optional().ok_or_else(null_text_error)
    }

    /// Returns the string; `None` for NULL.
    #[inline]
    pub(super) fn optional(&self) -> Option<&'call CStr> {
        // SAFETY: by the rule of this type NULL or a string that is unchanged during the call.
        unsafe { optional_c_str(self.0.address()) }
    }
}

/// An initialised struct or number that does not change during the call; or NULL.
#[repr(transparent)]
pub struct CStruct<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer> CStruct<'call, P> {
    /// Borrows the struct; `None` for NULL.
    #[inline]
    pub(super) fn get(&self) -> Option<&'call P::Target> {
        // SAFETY: NULL, or by the rule of this type initialised and unchanged during the call.
        unsafe { self.0.address().as_ref() }
    }
}

impl<'call, P: Pointer<Target = blosc2_storage>> CStruct<'call, P> {
    /// Returns the storage with its parts; NULL is an error.
    #[inline]
    pub(super) fn storage(&self) -> Result<CopyDestination<'call>> {
        let storage = self.get().ok_or_else(|| err!(NullPointer, "`storage` is NULL"))?;
        // SAFETY: the rule of this type holds for the structs and strings that a struct of the caller points at, too.
        Ok(unsafe { storage_parts(storage) })
    }
}

/// Returns the content of `storage`; the parts whose pointers are NULL are `None`.
///
/// # Safety
/// The pointers in `storage` are NULL, or point at initialised structs and a string that are unchanged during `'a`.
#[inline]
pub(super) unsafe fn storage_parts<'a>(storage: &blosc2_storage) -> CopyDestination<'a> {
    // SAFETY: by the contract of this function each pointer is NULL or points at an initialised struct or a string.
    unsafe {
        CopyDestination {
            contiguous: storage.contiguous.get(),
            urlpath: optional_c_str(storage.urlpath),
            cparams: storage.cparams.as_ref(),
            dparams: storage.dparams.as_ref(),
            io: storage.io.as_ref(),
        }
    }
}

/// Parameters that the caller passes as a struct. The pointers in it are NULL, or stay valid as the documentation of the
/// struct requires, as long as a context that is created with the parameters.
#[repr(transparent)]
pub struct Parameters<'call, T>(T, PhantomData<&'call ()>);

impl Parameters<'_, blosc2_cparams> {
    /// Returns the struct.
    #[inline]
    pub(super) fn get(&self) -> &blosc2_cparams {
        &self.0
    }

    /// Creates a compression context.
    #[inline]
    pub(super) fn context(&self) -> Result<OwnedContext> {
        // SAFETY: by the rule of this type the pointers are NULL or stay valid as long as the context.
        unsafe { Context::for_compression(&self.0) }
    }
}

impl Parameters<'_, blosc2_dparams> {
    /// Creates a decompression context.
    #[inline]
    pub(super) fn context(&self) -> Result<OwnedContext> {
        // SAFETY: by the rule of this type the pointers are NULL or stay valid as long as the context.
        unsafe { Context::for_decompression(&self.0) }
    }
}

/// An initialised variable of the caller that only this call uses, and may change; or NULL.
#[repr(transparent)]
pub struct Variable<'call, P>(P, PhantomData<&'call ()>);

impl<T> Variable<'_, *mut T> {
    /// Returns the value; `None` for NULL.
    #[inline]
    pub(super) fn get(&self) -> Option<T>
    where
        T: Copy,
    {
        // Borrowed mutably by no other code while this value is borrowed, the variable follows the rule of `CStruct`.
        CStruct(self.0, PhantomData).get().copied()
    }

    /// Stores a value, unless the caller passed NULL.
    #[inline]
    pub(super) fn set(&mut self, value: T) {
        if let Some(variable) = self.get_mut() {
            *variable = value;
        }
    }

    /// Borrows the variable; `None` for NULL.
    #[inline]
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: NULL, or by the rule of this type initialised and used only by this call, in which this value is
        // borrowed mutably as long as the result.
        unsafe { self.0.as_mut() }
    }
}

// Buffers and their lengths.

/// The role of `src` and its size.
pub enum Input {}

/// The role of `dest` and its size.
pub enum Output {}

/// The role of the one size of both `src` and `dest`.
pub enum InputAndOutput {}

/// The role of arrays with one number for each dimension, and of a parameter with the number of dimensions.
pub enum Dims {}

/// The role of arrays with one number for each dimension of the only array among the parameters.
pub enum ArrayDims {}

/// The role of arrays with one element for each block, and of the number of blocks.
pub enum Blocks {}

/// The role of an array with one number for each chunk of the super-chunk.
pub enum Chunks {}

/// The role of the start and the stop of a slice.
pub enum SliceBounds {}

/// The role of an array of names.
pub enum Names {}

/// The role of an array of item numbers, and of its length.
pub enum Coords {}

/// The role of an array of metalayers, and of its length.
pub enum MetalayerList {}

/// A number of bytes or items: the length of the buffers with the role `R`.
#[repr(transparent)]
pub struct Size<'call, N, R>(N, PhantomData<(&'call (), R)>);

impl<'call, N: Copy + TryInto<usize>, R> Size<'call, N, R> {
    /// Returns the number that the caller passed.
    #[inline]
    pub(super) fn number(&self) -> N {
        self.0
    }

    /// Returns the length; `None` for a negative number.
    #[inline]
    pub(super) fn len(&self) -> Option<Len<'call, R>> {
        self.0.try_into().ok().map(Len::new)
    }

    /// Returns the length; a negative number counts as 0.
    #[inline]
    pub(super) fn len_or_zero(&self) -> Len<'call, R> {
        Len::new(self.0.try_into().unwrap_or(0))
    }
}

impl<'call, R> Size<'call, i32, R> {
    /// Returns the length, which must not be negative.
    #[inline]
    pub(super) fn non_negative_len(&self) -> Result<Len<'call, R>> {
        let len = self.0;
        self.len().ok_or_else(|| err!(InvalidParam, "a length is {len}, expected 0 or more"))
    }
}

/// The length of the buffers with the role `R` in this call, or less.
pub(super) struct Len<'call, R>(usize, PhantomData<(&'call (), R)>);

impl<R> Clone for Len<'_, R> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Len<'_, R> {}

impl<R> Len<'_, R> {
    #[inline]
    fn new(len: usize) -> Self {
        Len(len, PhantomData)
    }

    /// Returns the length in bytes or items.
    #[inline]
    pub(super) fn get(self) -> usize {
        self.0
    }

    /// Returns the smaller one of this length and `limit`.
    #[inline]
    pub(super) fn min(self, limit: usize) -> Self {
        Len::new(self.0.min(limit))
    }
}

impl<'call> Len<'call, InputAndOutput> {
    /// Returns the length of the source and that of the destination.
    #[inline]
    pub(super) fn both(self) -> (Len<'call, Input>, Len<'call, Output>) {
        (Len::new(self.0), Len::new(self.0))
    }
}

/// Returns the `len` bytes at `ptr`; NULL is an error, except with a length of 0.
///
/// # Safety
/// `ptr` is NULL, or points at `len` initialised bytes that do not change during `'a`.
#[inline]
pub(super) unsafe fn source_slice<'a>(ptr: *const c_void, len: usize) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(err!(NullPointer, "the source is NULL, expected {len} bytes"));
    }
    // SAFETY: not NULL, and by the contract of this function `len` bytes long.
    Ok(unsafe { slice::from_raw_parts(ptr.cast(), len) })
}

/// Returns the `len` items at `ptr`; NULL is an error, except with a length of 0.
///
/// # Safety
/// `ptr` is NULL, or aligned and points at `len` initialised items that do not change during `'a`.
#[inline(always)]
pub(super) unsafe fn typed_slice<'a, T>(ptr: *const T, len: usize) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(err!(NullPointer, "an array of {len} numbers is NULL"));
    }
    // SAFETY: not NULL, and by the contract of this function `len` items.
    Ok(unsafe { slice::from_raw_parts(ptr, len) })
}

/// A buffer to be read, which does not change during the call; or NULL. It has the role [`Input`]: its length in bytes
/// (for a `P` that is larger, in items) is the [`Size`] of that role. In a signature without one, the documentation of
/// the function states the length.
#[repr(transparent)]
pub struct SourceBuffer<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer> SourceBuffer<'call, P> {
    /// Borrows the bytes; NULL is an error, except with a length of 0.
    #[inline]
    pub(super) fn bytes(&self, len: Len<'call, Input>) -> Result<&'call [u8]> {
        // SAFETY: the buffer has that length, because both have the same role in the signature of this call.
        unsafe { self.first_bytes(len.get()) }
    }

    /// Borrows `len` bytes; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the buffer at least `len` bytes.
    #[inline]
    pub(super) unsafe fn first_bytes(&self, len: usize) -> Result<&'call [u8]> {
        // SAFETY: by the rule of this type unchanged during the call, and by the contract of this function long enough.
        unsafe { source_slice(self.0.address().cast(), len) }
    }
}

/// A buffer to be written, which overlaps no other memory of the call and may be uninitialised; or NULL. It has the role
/// [`Output`]: its length in bytes is the [`Size`] of that role. In a signature without one, the documentation of the
/// function states the length.
#[repr(transparent)]
pub struct DestBuffer<'call, P>(P, PhantomData<&'call mut ()>);

impl<'call> DestBuffer<'call, *mut c_void> {
    /// Borrows the buffer; NULL is an error, except with a length of 0.
    #[inline]
    pub(super) fn buffer(self, len: Len<'call, Output>) -> Result<OutBuffer<'call>> {
        // SAFETY: the buffer has that length, because both have the same role in the signature of this call.
        unsafe { self.first_bytes(len.get()) }
    }

    /// Borrows `len` bytes; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the buffer at least `len` bytes.
    #[inline]
    pub(super) unsafe fn first_bytes(self, len: usize) -> Result<OutBuffer<'call>> {
        if len == 0 {
            return Ok(OutBuffer::default());
        }
        if self.is_null() {
            return Err(err!(NullPointer, "the destination is NULL, expected {len} bytes"));
        }
        // SAFETY: not NULL, by the contract of this function `len` bytes long, and by the rule of this type used by no
        // other code during the call; this value, the only one for the buffer, is used up.
        Ok(unsafe { OutBuffer::from_raw(self.0.cast(), len) })
    }
}

/// An array of initialised items that do not change during the call; or NULL. Its length in items is that of its role.
#[repr(transparent)]
pub struct CArray<'call, P, R>(P, PhantomData<(&'call (), R)>);

impl<'call, P: Pointer, R> CArray<'call, P, R> {
    /// Borrows the items; NULL is an error, except with a length of 0.
    #[inline]
    pub(super) fn items(&self, len: Len<'call, R>) -> Result<&'call [P::Target]> {
        // SAFETY: the array has that length, because both have the same role in the signature of this call.
        unsafe { self.first_items(len.get()) }
    }

    /// Borrows `len` items; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the array at least `len` items.
    #[inline]
    pub(super) unsafe fn first_items(&self, len: usize) -> Result<&'call [P::Target]> {
        // SAFETY: by the rule of this type unchanged during the call, and by the contract of this function long enough.
        unsafe { typed_slice(self.0.address(), len) }
    }
}

/// At least the first 16 bytes of a chunk, its header, which do not change during the call; or NULL.
#[repr(transparent)]
pub struct ChunkStart<'call, P>(P, PhantomData<&'call ()>);

impl<P: Pointer> ChunkStart<'_, P> {
    /// Parses the header.
    #[inline]
    pub(super) fn header(&self) -> Result<ChunkHeader> {
        // SAFETY: by the rule of this type NULL or that many bytes.
        ChunkHeader::parse_basic(unsafe { source_slice(self.0.address().cast(), MIN_HEADER_LENGTH) }?)
    }
}

/// A whole chunk, which is as long as its header says and does not change during the call; or NULL.
#[repr(transparent)]
pub struct UnsizedChunk<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer> UnsizedChunk<'call, P> {
    /// Borrows the bytes, whose number is read from the header.
    #[inline]
    pub(super) fn bytes(&self) -> Result<&'call [u8]> {
        // A chunk has at least a short header.
        let header = ChunkStart(self.0, PhantomData).header()?;
        // SAFETY: by the rule of this type the chunk has the length in its header.
        unsafe { source_slice(self.0.address().cast(), usize::try_from(header.cbytes).unwrap_or(0)) }
    }
}

/// A chunk to be stored, which is as long as its header says; or NULL. If the parameter of the type [`ChunkStays`] is
/// false, the chunk is a `malloc` block, whose ownership the caller passes unless the function returns an error.
#[repr(transparent)]
pub struct ChunkToStore<'call, P>(P, PhantomData<&'call mut ()>);

/// Whether the only [`ChunkToStore`] of the call belongs to the caller after it.
#[repr(transparent)]
pub struct ChunkStays<'call, B>(B, PhantomData<&'call ()>);

impl ChunkToStore<'_, *mut u8> {
    /// Passes the chunk to `store_chunk`: borrowed if `stays` is true, otherwise with its ownership. If `store_chunk` does
    /// not take the chunk, it still belongs to the C caller.
    #[inline]
    pub(super) fn pass(
        self,
        stays: ChunkStays<'_, bool>,
        store_chunk: impl FnOnce(InputChunk<'_>) -> Result<i64>,
    ) -> Result<i64> {
        let start = NonNull::new(self.0).ok_or_else(|| err!(NullPointer, "`chunk` is NULL"))?;
        // SAFETY: by the rule of this type a chunk, which has at least a short header.
        let head = unsafe { slice::from_raw_parts(start.as_ptr(), MIN_HEADER_LENGTH) };
        let cbytes = read_i32(head, 12).and_then(|cbytes| usize::try_from(cbytes).ok());
        let len = cbytes.unwrap_or(0).max(MIN_HEADER_LENGTH);
        if stays.0 {
            // SAFETY: by the rule of this type the chunk has the length in its header.
            return store_chunk(InputChunk::Copy(unsafe { slice::from_raw_parts(start.as_ptr(), len) }));
        }
        // SAFETY: by the rule of this type a `malloc` block of that length, since the chunk does not stay with the caller.
        let mut block = Some(unsafe { MallocBytes::from_raw(start, len) });
        let result = store_chunk(InputChunk::Take(&mut block));
        // A block that was not taken still belongs to the C caller.
        let _ = block.map(MallocBytes::into_raw);
        result
    }
}

// Results.

/// The place of a result, which overlaps no other memory of the call and may be uninitialised; or NULL.
///
/// [`Out::cleared`] is called before the first check of a function, so that each of its results is NULL, false or 0
/// when the function fails.
#[repr(transparent)]
pub struct Out<'call, P>(P, PhantomData<&'call mut ()>);

impl<'call, T> Out<'call, *mut T> {
    /// Sets the result to NULL, false or 0, unless the caller passed NULL, and returns its place.
    #[inline]
    pub(super) fn cleared(self) -> ResultPlace<'call, T> {
        // A place is an array of one item.
        OutArray::<_, ()>(self.0, PhantomData).cleared(Len::new(1))
    }
}

/// The places of an array of results, which overlap no other memory of the call and may be uninitialised; or NULL. The
/// length of the array in items is that of its role.
#[repr(transparent)]
pub struct OutArray<'call, P, R>(P, PhantomData<(&'call mut (), R)>);

impl<'call, T, R> OutArray<'call, *mut T, R> {
    /// Sets the results to NULL, false or 0, unless the caller passed NULL, and returns their places.
    #[inline]
    pub(super) fn cleared(self, len: Len<'call, R>) -> ResultPlace<'call, T> {
        // SAFETY: by the rule of this type NULL or places that no other code uses; the array has that length, because
        // both have the same role in the signature of this call.
        unsafe { ResultPlace::cleared(self.0, len.get()) }
    }

    /// Returns the first `len` places, without changing them.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the array at least `len` items.
    #[inline]
    pub(super) unsafe fn first_places(self, len: usize) -> ResultPlace<'call, T> {
        // By the rule of this type NULL, or places that no other code uses; by the contract of this function enough.
        ResultPlace { start: self.0, len: if self.0.is_null() { 0 } else { len }, call: PhantomData }
    }
}

/// The places of one number for each dimension, which overlap no other memory of the call: of 16 numbers, the highest
/// number of dimensions. Or NULL.
#[repr(transparent)]
pub struct OutDims<'call, P>(P, PhantomData<&'call mut ()>);

impl<T: Copy> OutDims<'_, *mut T> {
    /// Returns whether the caller passed NULL.
    #[inline]
    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Stores the numbers, unless the caller passed NULL.
    ///
    /// # Panics
    /// For more than 16 numbers.
    #[inline]
    pub(super) fn store(&self, numbers: &[T]) {
        assert!(numbers.len() <= MAX_DIM, "{} dimensions", numbers.len());
        if !self.0.is_null() {
            // SAFETY: by the rule of this type space for 16 numbers that overlaps no other memory.
            unsafe { self.0.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len()) };
        }
    }
}

/// The place of a result, or the places of an array of results, after they were cleared; or NULL.
#[derive(Clone, Copy)]
pub(super) struct ResultPlace<'call, T> {
    start: *mut T,
    len: usize,
    call: PhantomData<&'call mut ()>,
}

impl<T> ResultPlace<'_, T> {
    /// Sets the `len` elements at `start` to NULL, false or 0, unless `start` is NULL.
    ///
    /// # Safety
    /// `start` is NULL, or aligned and points at writable memory for `len` elements that no other code uses as long as
    /// the result exists.
    #[inline]
    unsafe fn cleared(start: *mut T, len: usize) -> Self {
        if start.is_null() {
            return ResultPlace { start, len: 0, call: PhantomData };
        }
        // SAFETY: not NULL, and writable by the contract of this function. The library never reads the elements, so
        // zero bytes need not be a valid `T`.
        unsafe { start.write_bytes(0, len) };
        ResultPlace { start, len, call: PhantomData }
    }

    /// Returns whether the caller passed NULL.
    #[inline]
    pub(super) fn is_null(&self) -> bool {
        self.start.is_null()
    }

    /// Stores the result, unless the caller passed NULL.
    #[inline]
    pub(super) fn store(&self, value: T) {
        self.store_at(0, value);
    }

    /// Stores element `index` of an array of results, unless the caller passed NULL or the array is shorter.
    #[inline]
    pub(super) fn store_at(&self, index: usize, value: T) {
        if index < self.len {
            // SAFETY: an element of the array, which is writable by the contract of `cleared`.
            unsafe { self.start.add(index).write(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    #[test]
    fn null_is_rejected_unless_the_length_is_zero() {
        let source = SourceBuffer(null::<c_void>(), PhantomData);
        assert!(source.bytes(Len::new(0)).unwrap().is_empty());
        assert!(source.bytes(Len::new(1)).is_err());
        let array = CArray::<_, Dims>(null::<i64>(), PhantomData);
        assert!(array.items(Len::new(0)).unwrap().is_empty());
        assert!(array.items(Len::new(1)).is_err());
        let dest = |len| DestBuffer(null_mut(), PhantomData).buffer(Len::new(len)).map(|dest| dest.len());
        assert_eq!(dest(0).ok(), Some(0));
        assert!(dest(1).is_err());
        assert!(Handle(null_mut::<blosc2_context>(), PhantomData).get().is_err());
        assert!(Taken(null_mut::<b2nd_array_t>(), PhantomData).take().is_none());
        assert!(CText(null::<c_char>(), PhantomData).get().is_err());
        assert!(CStruct(null::<blosc2_cparams>(), PhantomData).get().is_none());
        assert!(Variable(null_mut::<i32>(), PhantomData).get_mut().is_none());
    }

    #[test]
    fn negative_lengths_are_none_or_zero() {
        let size = Size::<i32, Input>(-1, PhantomData);
        assert!(size.len().is_none() && size.non_negative_len().is_err());
        assert_eq!(size.len_or_zero().get(), 0);
        assert_eq!(Size::<i8, Dims>(3, PhantomData).len_or_zero().min(2).get(), 2);
    }

    #[test]
    fn results_are_cleared_first_and_stored_within_their_array() {
        let (mut number, mut array) = (7, [7; 4]);
        let one = Out(&raw mut number, PhantomData).cleared();
        let some = OutArray::<_, Dims>(array.as_mut_ptr(), PhantomData).cleared(Len::new(3));
        let none = OutArray::<_, Dims>(null_mut::<i32>(), PhantomData).cleared(Len::new(3));
        assert!(none.is_null() && !one.is_null() && !some.is_null());
        none.store(1);
        some.store_at(2, 5);
        some.store_at(3, 5);
        assert_eq!((number, array), (0, [0, 0, 5, 7]));
        one.store(9);
        assert_eq!(number, 9);
    }

    #[test]
    fn the_first_dimensions_are_stored() {
        let mut shape = [7; MAX_DIM];
        OutDims(shape.as_mut_ptr(), PhantomData).store(&[1, 2]);
        assert_eq!(shape[..3], [1, 2, 7]);
        OutDims(null_mut(), PhantomData).store(&[1]);
    }
}
