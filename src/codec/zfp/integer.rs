//! The integers that a cell's values are converted to: one trait for `i32` and `i64`, with the operations of the
//! transform and of the bit planes.

/// A signed integer as wide as the values that it represents. Arithmetic wraps around.
pub(super) trait Integer: Copy + Default {
    /// An array with one element for every byte of the integer, which is every group of eight bit planes.
    type Bytes<T: Copy>: AsRef<[T]> + AsMut<[T]>;

    /// Returns an array of equal elements.
    fn bytes<T: Copy>(value: T) -> Self::Bytes<T>;

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Returns the number times 2.
    fn twice(self) -> Self;
    /// Returns half of the number, rounded down.
    fn half(self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Returns the number in base -2.
    fn to_negabinary(self) -> Self;
    /// The inverse of [`Integer::to_negabinary`].
    fn of_negabinary(self) -> Self;
    /// Returns byte `group`, counted from the highest.
    fn byte(self, group: usize) -> u8;
    /// Returns a number of which only byte `group` is set.
    fn of_byte(byte: u8, group: usize) -> Self;
    /// Returns the bits, the highest in bit 63.
    fn to_top(self) -> u64;
    /// The inverse of [`Integer::to_top`].
    fn from_top(bits: u64) -> Self;
}

macro_rules! integer {
    ($signed:ident, $unsigned:ident) => {
        impl Integer for $signed {
            type Bytes<T: Copy> = [T; size_of::<$signed>()];

            #[inline(always)]
            fn bytes<T: Copy>(value: T) -> Self::Bytes<T> {
                [value; _]
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn twice(self) -> Self {
                self << 1
            }

            #[inline(always)]
            fn half(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn to_negabinary(self) -> Self {
                ((self as $unsigned).wrapping_add(NEGABINARY_MASK as $unsigned)
                    ^ NEGABINARY_MASK as $unsigned) as $signed
            }

            #[inline(always)]
            fn of_negabinary(self) -> Self {
                (self as $unsigned ^ NEGABINARY_MASK as $unsigned).wrapping_sub(NEGABINARY_MASK as $unsigned)
                    as $signed
            }

            #[inline(always)]
            fn byte(self, group: usize) -> u8 {
                (self >> ($unsigned::BITS as usize - 8 - 8 * group)) as u8
            }

            #[inline(always)]
            fn of_byte(byte: u8, group: usize) -> Self {
                ((byte as $unsigned) << ($unsigned::BITS as usize - 8 - 8 * group)) as $signed
            }

            #[inline(always)]
            fn to_top(self) -> u64 {
                u64::from(self as $unsigned) << (64 - $unsigned::BITS)
            }

            #[inline(always)]
            fn from_top(bits: u64) -> Self {
                (bits >> (64 - $unsigned::BITS)) as $signed
            }
        }
    };
}

integer!(i32, u32);
integer!(i64, u64);

/// The bits of negative weight in base -2.
const NEGABINARY_MASK: u64 = u64::MAX / 3 * 2;
