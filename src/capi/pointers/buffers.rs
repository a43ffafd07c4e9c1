//! Buffers and their lengths.

use super::raw::{Pointer, impl_is_null};
use crate::chunk::format::{LONGER_CONTENT, MIN_HEADER_LENGTH};
use crate::chunk::{ChunkHeader, read_i32};
use crate::error::{Result, ensure, err};
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::schunk::change::InputChunk;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

impl_is_null! { SourceBuffer<> DestBuffer<> CArray<R> }

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
    pub(in crate::capi) fn number(&self) -> N {
        self.0
    }

    /// Returns the length; `None` for a negative number.
    #[inline]
    pub(in crate::capi) fn len(&self) -> Option<Len<'call, R>> {
        self.0.try_into().ok().map(Len::new)
    }

    /// Returns the length; a negative number counts as 0.
    #[inline]
    pub(in crate::capi) fn len_or_zero(&self) -> Len<'call, R> {
        Len::new(self.0.try_into().unwrap_or(0))
    }
}

impl<'call, R> Size<'call, i32, R> {
    /// Returns the length, which must not be negative.
    #[inline]
    pub(in crate::capi) fn non_negative_len(&self) -> Result<Len<'call, R>> {
        let len = self.0;
        self.len().ok_or_else(|| {
            err!(InvalidParam, "a length is {len}, expected 0 or more and less than 2^31; {LONGER_CONTENT}")
        })
    }
}

/// The length of the buffers with the role `R` in this call, or less.
pub(in crate::capi) struct Len<'call, R>(usize, PhantomData<(&'call (), R)>);

impl<R> Clone for Len<'_, R> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Len<'_, R> {}

impl<R> Len<'_, R> {
    #[inline]
    pub(super) fn new(len: usize) -> Self {
        Len(len, PhantomData)
    }

    /// Returns the length in bytes or items.
    #[inline]
    pub(in crate::capi) fn get(self) -> usize {
        self.0
    }

    /// Returns the smaller one of this length and `limit`.
    #[inline]
    pub(in crate::capi) fn min(self, limit: usize) -> Self {
        Len::new(self.0.min(limit))
    }
}

impl<'call> Len<'call, InputAndOutput> {
    /// Returns the length of the source and that of the destination.
    #[inline]
    pub(in crate::capi) fn both(self) -> (Len<'call, Input>, Len<'call, Output>) {
        (Len::new(self.0), Len::new(self.0))
    }
}

/// Returns the `len` bytes at `ptr`; NULL is an error, except with a length of 0.
///
/// # Safety
/// `ptr` is NULL, or points at `len` initialised bytes that do not change during `'a`.
#[inline]
pub(in crate::capi) unsafe fn source_slice<'a>(ptr: *const c_void, len: usize) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    ensure!(!ptr.is_null(), NullPointer, "the source is NULL, expected {len} bytes");
    // SAFETY: not NULL, and by the contract of this function `len` bytes long.
    Ok(unsafe { slice::from_raw_parts(ptr.cast(), len) })
}

/// Returns the `len` items at `ptr`; NULL is an error, except with a length of 0.
///
/// # Safety
/// `ptr` is NULL, or aligned and points at `len` initialised items that do not change during `'a`.
#[inline(always)]
pub(in crate::capi) unsafe fn typed_slice<'a, T>(ptr: *const T, len: usize) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    ensure!(!ptr.is_null(), NullPointer, "an array of {len} numbers is NULL");
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
    pub(in crate::capi) fn bytes(&self, len: Len<'call, Input>) -> Result<&'call [u8]> {
        // SAFETY: the buffer has that length, because both have the same role in the signature of this call.
        unsafe { self.first_bytes(len.get()) }
    }

    /// Borrows `len` bytes; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the buffer at least `len` bytes.
    #[inline]
    pub(in crate::capi) unsafe fn first_bytes(&self, len: usize) -> Result<&'call [u8]> {
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
    pub(in crate::capi) fn buffer(self, len: Len<'call, Output>) -> Result<OutBuffer<'call>> {
        // SAFETY: the buffer has that length, because both have the same role in the signature of this call.
        unsafe { self.first_bytes(len.get()) }
    }

    /// Borrows `len` bytes; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the buffer at least `len` bytes.
    #[inline]
    pub(in crate::capi) unsafe fn first_bytes(self, len: usize) -> Result<OutBuffer<'call>> {
        if len == 0 {
            return Ok(OutBuffer::default());
        }
        ensure!(!self.is_null(), NullPointer, "the destination is NULL, expected {len} bytes");
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
    pub(in crate::capi) fn items(&self, len: Len<'call, R>) -> Result<&'call [P::Target]> {
        // SAFETY: the array has that length, because both have the same role in the signature of this call.
        unsafe { self.first_items(len.get()) }
    }

    /// Borrows `len` items; NULL is an error, except with a length of 0.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the array at least `len` items.
    #[inline]
    pub(in crate::capi) unsafe fn first_items(&self, len: usize) -> Result<&'call [P::Target]> {
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
    pub(in crate::capi) fn header(&self) -> Result<ChunkHeader> {
        // SAFETY: by the rule of this type NULL or that many bytes.
        ChunkHeader::parse_basic(unsafe { source_slice(self.0.address().cast(), MIN_HEADER_LENGTH) }?)
    }

    /// As [`header`](Self::header), but returns only the sizes: see [`ChunkHeader::sizes`].
    #[inline(always)]
    pub(in crate::capi) fn sizes(&self) -> Result<[i32; 3]> {
        // SAFETY: by the rule of this type NULL or that many bytes.
        ChunkHeader::sizes(unsafe { source_slice(self.0.address().cast(), MIN_HEADER_LENGTH) }?)
    }
}

/// A whole chunk, which is as long as its header says and does not change during the call; or NULL.
#[repr(transparent)]
pub struct UnsizedChunk<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer> UnsizedChunk<'call, P> {
    /// Borrows the bytes, whose number is read from the header.
    #[inline]
    pub(in crate::capi) fn bytes(&self) -> Result<&'call [u8]> {
        // A chunk has at least a short header.
        let [_, _, cbytes] = ChunkStart(self.0, PhantomData).sizes()?;
        // SAFETY: by the rule of this type the chunk has the length in its header.
        unsafe { source_slice(self.0.address().cast(), usize::try_from(cbytes).unwrap_or(0)) }
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
    pub(in crate::capi) fn pass(
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
    }

    #[test]
    fn negative_lengths_are_none_or_zero() {
        let size = Size::<i32, Input>(-1, PhantomData);
        assert!(size.len().is_none() && size.non_negative_len().is_err());
        assert_eq!(size.len_or_zero().get(), 0);
        assert_eq!(Size::<i8, Dims>(3, PhantomData).len_or_zero().min(2).get(), 2);
    }
}
