//! Objects of the library.

use super::buffers::{ArrayDims, Len};
use super::raw::{Pointer, impl_is_null};
use crate::abi::{b2nd_array_t, blosc2_context, blosc2_schunk};
use crate::b2nd::array::Array;
use crate::chunk::ChunkHeader;
use crate::chunk::format::{flag2, offset};
use crate::error::{Error, Result, err};
use crate::pipeline::context::{Context, OwnedContext};
use crate::schunk::read::SchunkBlockSource;
use crate::schunk::{OwnedSuperChunk, SuperChunk};
use std::marker::PhantomData;
use std::ptr::NonNull;

impl_is_null! { Handle<> Taken<> }

/// The C type of an object of the library.
///
/// # Safety
/// A pointer to this type that the library returns points at the start of an `Object`, which can be borrowed until it
/// is freed.
pub(in crate::capi) unsafe trait CObject {
    /// The object.
    type Object;

    /// Returns the error for NULL.
    fn null_error() -> Error;
}

/// The C type of an object whose ownership a caller can pass to the library.
pub(in crate::capi) trait CObjectOwner: Sized {
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
    pub(in crate::capi) fn get(&self) -> Result<&'call <P::Target as CObject>::Object> {
        // SAFETY: NULL, or by the rule of this type an object that this library has returned and that is not freed
        // during the call; `CObject` guarantees its type.
        unsafe { self.0.address().cast::<<P::Target as CObject>::Object>().as_ref() }
            .ok_or_else(P::Target::null_error)
    }
}

impl<'call, P: Pointer<Target = blosc2_context>> Handle<'call, P> {
    /// Returns the source of the blocks of a lazy chunk: the context's super-chunk. `None` for other chunks.
    #[inline(always)]
    pub(in crate::capi) fn block_source(&self, chunk: &[u8]) -> Option<SchunkBlockSource<'call>> {
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
    pub(in crate::capi) fn dims(&self) -> Result<Len<'call, ArrayDims>> {
        Ok(Len::new(self.get()?.geometry().ndim()))
    }

    /// Returns the pointer, to be returned to the caller.
    #[inline]
    pub(in crate::capi) fn as_ptr(&self) -> *mut b2nd_array_t {
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
    pub(in crate::capi) fn take(self) -> Option<<P::Target as CObjectOwner>::Owner> {
        // SAFETY: by the rule of this type an object of this library that no other code uses. This value is used up,
        // and `get` borrows it, so nothing else in this call uses the object either.
        NonNull::new(self.0.address().cast_mut()).map(|object| unsafe { P::Target::take(object) })
    }
}

impl<P: Pointer<Target: CObject>> Taken<'_, P> {
    /// Borrows the object before it is taken; NULL is an error.
    #[inline]
    pub(in crate::capi) fn get(&self) -> Result<&<P::Target as CObject>::Object> {
        // The rule of `Handle` holds until `take`, which uses up this value after the borrow has ended.
        Handle(self.0, PhantomData).get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn null_is_rejected() {
        assert!(Handle(null_mut::<blosc2_context>(), PhantomData).get().is_err());
        assert!(Taken(null_mut::<b2nd_array_t>(), PhantomData).take().is_none());
    }
}
