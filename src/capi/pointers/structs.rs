//! Strings, structs and variables.

use super::raw::{Pointer, impl_is_null};
use crate::abi::{blosc2_cparams, blosc2_dparams, blosc2_storage};
use crate::error::{Error, Result, err};
use crate::pipeline::context::{Context, OwnedContext};
use crate::schunk::copy::CopyDestination;
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

impl_is_null! { CText<> Variable<> }

/// Returns the string at `ptr`; NULL is an error.
///
/// # Safety
/// `ptr` is NULL or points at a string that ends with NUL and does not change during `'a`.
#[inline]
pub(in crate::capi) unsafe fn c_str<'a>(ptr: *const c_char) -> Result<&'a CStr> {
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
pub(in crate::capi) unsafe fn optional_c_str<'a>(ptr: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not NULL, and by the contract of this function it ends with NUL.
    (!ptr.is_null()).then(|| unsafe { CStr::from_ptr(ptr) })
}

/// A string that ends with NUL and does not change during the call; or NULL.
#[repr(transparent)]
pub struct CText<'call, P>(P, PhantomData<&'call ()>);

impl<'call, P: Pointer<Target = c_char>> CText<'call, P> {
    /// Returns the string; NULL is an error.
    #[inline]
    pub(in crate::capi) fn get(&self) -> Result<&'call CStr> {
        self.optional().ok_or_else(null_text_error)
    }

    /// Returns the string; `None` for NULL.
    #[inline]
    pub(in crate::capi) fn optional(&self) -> Option<&'call CStr> {
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
    pub(in crate::capi) fn get(&self) -> Option<&'call P::Target> {
        // SAFETY: NULL, or by the rule of this type initialised and unchanged during the call.
        unsafe { self.0.address().as_ref() }
    }
}

impl<'call, P: Pointer<Target = blosc2_storage>> CStruct<'call, P> {
    /// Returns the storage with its parts; NULL is an error.
    #[inline]
    pub(in crate::capi) fn storage(&self) -> Result<CopyDestination<'call>> {
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
pub(in crate::capi) unsafe fn storage_parts<'a>(storage: &blosc2_storage) -> CopyDestination<'a> {
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
    pub(in crate::capi) fn get(&self) -> &blosc2_cparams {
        &self.0
    }

    /// Creates a compression context.
    #[inline]
    pub(in crate::capi) fn context(&self) -> Result<OwnedContext> {
        // SAFETY: by the rule of this type the pointers are NULL or stay valid as long as the context.
        unsafe { Context::for_compression(&self.0) }
    }
}

impl Parameters<'_, blosc2_dparams> {
    /// Creates a decompression context.
    #[inline]
    pub(in crate::capi) fn context(&self) -> Result<OwnedContext> {
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
    pub(in crate::capi) fn get(&self) -> Option<T>
    where
        T: Copy,
    {
        // Borrowed mutably by no other code while this value is borrowed, the variable follows the rule of `CStruct`.
        CStruct(self.0, PhantomData).get().copied()
    }

    /// Stores a value, unless the caller passed NULL.
    #[inline]
    pub(in crate::capi) fn set(&mut self, value: T) {
        if let Some(variable) = self.get_mut() {
            *variable = value;
        }
    }

    /// Borrows the variable; `None` for NULL.
    #[inline]
    pub(in crate::capi) fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: NULL, or by the rule of this type initialised and used only by this call, in which this value is
        // borrowed mutably as long as the result.
        unsafe { self.0.as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    #[test]
    fn null_is_rejected() {
        assert!(CText(null::<c_char>(), PhantomData).get().is_err());
        assert!(CStruct(null::<blosc2_cparams>(), PhantomData).get().is_none());
        assert!(Variable(null_mut::<i32>(), PhantomData).get_mut().is_none());
    }
}
