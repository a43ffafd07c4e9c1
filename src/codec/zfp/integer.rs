//! The whole numbers that a cell's values become: one trait over `i32` and `i64`, with what the transform and the planes
//! of bits want of them.

/// A signed integer as wide as the values that it stands for. Arithmetic wraps around.
pub(super) trait Integer: Copy + Default {
    /// Something for every byte, which is every group of eight bit planes.
    type Bytes<T: Copy>: AsRef<[T]> + AsMut<[T]>;

    /// The same for all bytes.
    fn bytes<T: Copy>(value: T) -> Self::Bytes<T>;

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Times 2.
    fn twice(self) -> Self;
    /// Half, rounded down.
    fn half(self) -> Self;
    fn or(self, other: Self) -> Self;
    /// The same number to the base of -2.
    fn to_negabinary(self) -> Self;
    /// The inverse of [`Integer::to_negabinary`].
    fn of_negabinary(self) -> Self;
    /// Byte `group`, counted from the highest.
    fn byte(self, group: usize) -> u8;
    /// A number of that byte only.
    fn of_byte(byte: u8, group: usize) -> Self;
    /// The bits, the highest in bit 63.
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
                ((self as $unsigned).wrapping_add(EVERY_OTHER as $unsigned) ^ EVERY_OTHER as $unsigned)
                    as $signed
            }

            #[inline(always)]
            fn of_negabinary(self) -> Self {
                (self as $unsigned ^ EVERY_OTHER as $unsigned).wrapping_sub(EVERY_OTHER as $unsigned)
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

/// The bits of negative weight to the base of -2.
const EVERY_OTHER: u64 = u64::MAX / 3 * 2;
