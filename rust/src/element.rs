//! The types of array items.

use bytemuck::Pod;

mod private {
    pub trait Sealed {}
}

/// A type of array items: the integers, `f32` and `f64`.
///
/// ```
/// use blosc2::Element;
///
/// assert!(f32::matches(">f4") == cfg!(target_endian = "big"));
/// assert!(u8::matches("|u1") && u8::matches("<u1"));
/// ```
pub trait Element: Pod + Default + PartialEq + Send + Sync + private::Sealed {
    /// The kind of the type, as in the data types of NumPy: `i`, `u` or `f`.
    const KIND: char;

    /// Returns the data type in the notation of NumPy, for example `<f4`.
    fn dtype() -> String {
        let order = match size_of::<Self>() {
            1 => '|',
            _ => NATIVE_ORDER,
        };
        format!("{order}{}{}", Self::KIND, size_of::<Self>())
    }

    /// Returns whether items of the data type `dtype`, in the notation of NumPy, are this type: same kind and size, and
    /// the byte order of the machine.
    fn matches(dtype: &str) -> bool {
        let dtype = dtype.trim_matches(|c| c == '\'' || c == '"');
        let (order, rest) = match dtype.chars().next() {
            Some(order @ ('<' | '>' | '|' | '=')) => (order, &dtype[1..]),
            _ => ('=', dtype),
        };
        let has_order = size_of::<Self>() == 1 || order == '=' || order == NATIVE_ORDER;
        has_order && rest == format!("{}{}", Self::KIND, size_of::<Self>())
    }
}

/// The character for the byte order of the machine.
const NATIVE_ORDER: char = if cfg!(target_endian = "little") { '<' } else { '>' };

macro_rules! elements {
    ($($type:ty: $kind:literal;)*) => {
        $(
            impl private::Sealed for $type {}
            impl Element for $type {
                const KIND: char = $kind;
            }
        )*
    };
}

elements! {
    u8: 'u';
    u16: 'u';
    u32: 'u';
    u64: 'u';
    i8: 'i';
    i16: 'i';
    i32: 'i';
    i64: 'i';
    f32: 'f';
    f64: 'f';
}
