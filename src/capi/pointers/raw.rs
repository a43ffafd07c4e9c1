//! Raw pointers of both kinds.

/// A raw pointer type: `*const T` or `*mut T`.
pub(in crate::capi) trait Pointer: Copy {
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
            pub(in crate::capi) fn is_null(&self) -> bool {
                self.0.address().is_null()
            }
        }
    )*};
}

pub(super) use impl_is_null;
