//! The types of array items.

use crate::error::{Error, ErrorKind, Result};
use bytemuck::{NoUninit, Zeroable};

/// A type of array items.
///
/// It is implemented for the integers, `f32`, `f64`, `bool` and arrays of them, with the feature `num-complex` for
/// `Complex<f32>` and `Complex<f64>`, and with the feature `half` for `f16`.
///
/// ```
/// use blosc2::Element;
///
/// assert!(f32::matches(">f4") == cfg!(target_endian = "big"));
/// assert!(u8::matches("|u1") && u8::matches("<u1"));
/// assert!(bool::dtype() == "|b1" && u128::dtype() == "|V16");
/// ```
///
/// A program implements it for its records:
///
/// ```
/// use blosc2::{Array, Element, Result};
/// use bytemuck::{Pod, Zeroable}; // with the feature `derive`
/// # #[allow(unused_imports)] // The features `half` and `num-complex` enable `derive`.
/// # use bytemuck_derive::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
/// #[repr(C)]
/// struct Tick {
///     time: u64,
///     price: f64,
/// }
///
/// impl Element for Tick {
///     fn dtype() -> String {
///         "[('time', '<u8'), ('price', '<f8')]".to_owned()
///     }
///
///     fn fill_from(items: &mut [Self], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
///         read(bytemuck::cast_slice_mut(items))
///     }
/// }
///
/// let ticks = [Tick { time: 1, price: 2.5 }, Tick { time: 2, price: 2.75 }];
/// let array = Array::<Tick>::builder([2]).in_memory_from(&ticks)?;
/// assert_eq!(array.read(1..2)?, ticks[1..]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait Element: NoUninit + Zeroable + Send + Sync {
    /// Returns the data type in the notation of NumPy, for example `<f4`.
    fn dtype() -> String;

    /// Fills `items` by `read`, which is called once with as many bytes as the items have.
    ///
    /// For a type that is [`bytemuck::Pod`], this is `read(bytemuck::cast_slice_mut(items))`. Other types check the bytes.
    ///
    /// # Errors
    /// Those of `read`; [`ErrorKind::Data`], by [`Error::new`], for bytes that are no items.
    fn fill_from(items: &mut [Self], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Returns whether items of the data type `dtype`, in the notation of NumPy, are this type: same kind and size, and
    /// the byte order of the machine.
    fn matches(dtype: &str) -> bool {
        let own = Self::dtype();
        let (order, kind) = split_order(dtype.trim_matches(['\'', '"']));
        let (own_order, own_kind) = split_order(&own);
        kind == own_kind && (own_order == '|' || order == own_order || order == '=')
    }
}

/// Returns the character of the byte order of a data type, `=` without one, and the rest.
fn split_order(dtype: &str) -> (char, &str) {
    match dtype.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &dtype[1..]),
        _ => ('=', dtype),
    }
}

/// Returns the data type of a kind, with the byte order of the machine.
fn dtype_of<T>(kind: char) -> String {
    let order = match (size_of::<T>(), kind) {
        (1, _) | (_, 'V') => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    format!("{order}{kind}{}", size_of::<T>())
}

macro_rules! elements {
    ($($(#[$feature:meta])? $type:ty: $kind:literal;)*) => {
        $(
            $(#[$feature])?
            impl Element for $type {
                fn dtype() -> String {
                    dtype_of::<$type>($kind)
                }

                fn fill_from(items: &mut [Self], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
                    read(bytemuck::cast_slice_mut(items))
                }
            }
        )*
    };
}

elements! {
    u8: 'u';
    u16: 'u';
    u32: 'u';
    u64: 'u';
    u128: 'V';
    i8: 'i';
    i16: 'i';
    i32: 'i';
    i64: 'i';
    i128: 'V';
    f32: 'f';
    f64: 'f';
    #[cfg(feature = "half")] half::f16: 'f';
    #[cfg(feature = "num-complex")] num_complex::Complex<f32>: 'c';
    #[cfg(feature = "num-complex")] num_complex::Complex<f64>: 'c';
}

impl Element for bool {
    fn dtype() -> String {
        dtype_of::<bool>('b')
    }

    /// As for other types; `Data` for a byte above 1.
    fn fill_from(items: &mut [Self], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        let failed = |_| Error::new(ErrorKind::MemoryAlloc, format!("a buffer of {} bytes", items.len()));
        bytes.try_reserve_exact(items.len()).map_err(failed)?;
        bytes.resize(items.len(), 0);
        read(&mut bytes)?;
        if let Some(byte) = bytes.iter().find(|&&byte| byte > 1) {
            return Err(Error::new(ErrorKind::Data, format!("a bool is {byte}, expected 0 or 1")));
        }
        items.iter_mut().zip(bytes).for_each(|(item, byte)| *item = byte == 1);
        Ok(())
    }
}

/// Items of `N` values: a subarray of NumPy.
impl<T: Element, const N: usize> Element for [T; N]
where
    [T; N]: NoUninit + Zeroable,
{
    fn dtype() -> String {
        format!("('{}', ({N},))", T::dtype())
    }

    fn fill_from(items: &mut [Self], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        T::fill_from(items.as_flattened_mut(), read)
    }
}
