//! Floats and doubles in the form that ZFP codes: an exponent that the values of a cell share, and integers
//! (`codecs.md` 10.3 and 10.7).

use super::integer::Integer;

/// A type of values.
pub(super) trait Value: Copy + Default {
    /// The type of the integers that values are converted to.
    type Int: Integer;
    /// The size of a value in bytes.
    const SIZE: usize;
    const WIDTH: u32 = 8 * Self::SIZE as u32;
    /// The number of bits at the start of a cell that is not empty: a flag and the exponent.
    const HEADER_BITS: u32;
    /// The bias of exponents in the stream.
    const BIAS: i32;

    fn read(bytes: &[u8]) -> Self;

    /// Writes the value to `bytes`, which has the size of the value.
    fn write(self, bytes: &mut [u8]);

    /// Returns the exponent of the least power of 2 that is above all magnitudes.
    fn exponent<const N: usize>(values: &[Self; N]) -> i32;

    /// Converts values to integers.
    fn quantise<const N: usize>(values: &[Self; N], exponent: i32) -> [Self::Int; N];

    /// The inverse of [`Value::quantise`].
    fn dequantise<const N: usize>(numbers: &[Self::Int; N], exponent: i32) -> [Self; N];
}

/// The number of values that are compared at the same time.
const LANES: usize = 4;

macro_rules! value {
    ($float:ident, $signed:ident, $exponent_bits:literal) => {
        impl Value for $float {
            type Int = $signed;
            const SIZE: usize = size_of::<$float>();
            const HEADER_BITS: u32 = 1 + $exponent_bits;
            const BIAS: i32 = (1 << ($exponent_bits - 1)) - 1;

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0.0, |bytes| $float::from_ne_bytes(*bytes))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }

            #[inline(always)]
            fn exponent<const N: usize>(values: &[Self; N]) -> i32 {
                // Not `max`: NaNs are skipped.
                let larger =
                    |most: $float, magnitude: $float| if magnitude > most { magnitude } else { most };
                let mut most = [0.0; LANES];
                for some in values.chunks_exact(LANES) {
                    for (most, value) in most.iter_mut().zip(some) {
                        *most = larger(*most, value.abs());
                    }
                }
                let most = most.into_iter().fold(0.0, larger);
                if most == 0.0 {
                    return -Self::BIAS;
                }
                if most == $float::INFINITY {
                    return 0;
                }
                let biased = (most.to_bits() >> ($float::MANTISSA_DIGITS - 1)) as i32;
                (biased - Self::BIAS + 1).max(1 - Self::BIAS)
            }

            #[inline(always)]
            fn quantise<const N: usize>(values: &[Self; N], exponent: i32) -> [$signed; N] {
                // Scaled in two steps, because a single factor may be infinite, as it is in the reference
                // (`codecs.md` 10.9).
                let shift = Self::WIDTH as i32 - 2 - exponent;
                let first = shift.min(Self::BIAS);
                let factors = (power_of_2::$float(first), power_of_2::$float(shift - first));
                const LIMIT: $float = -($signed::MIN as $float);
                values.map(|value| {
                    let scaled = value * factors.0 * factors.1;
                    // Infinities and NaNs are not in range.
                    let is_in_range = scaled.abs() < LIMIT;
                    let number = if is_in_range { scaled } else { 0.0 };
                    // SAFETY: the magnitude of `number` is below that of the least integer.
                    let number: $signed = unsafe { number.to_int_unchecked() };
                    if is_in_range { number } else { $signed::MIN }
                })
            }

            #[inline(always)]
            fn dequantise<const N: usize>(numbers: &[$signed; N], exponent: i32) -> [Self; N] {
                let factor = power_of_2::$float(exponent - (Self::WIDTH as i32 - 2));
                numbers.map(|number| factor * number as $float)
            }
        }
    };
}

value!(f32, i32, 8);
value!(f64, i64, 11);

/// Powers of 2, one function for each type; 0 below the least subnormal number.
mod power_of_2 {
    macro_rules! power_of_2 {
        ($float:ident, $unsigned:ident) => {
            #[inline(always)]
            pub(crate) fn $float(exponent: i32) -> $float {
                const FRACTION: i32 = $float::MANTISSA_DIGITS as i32 - 1;
                const BIAS: i32 = $float::MAX_EXP - 1;
                $float::from_bits(if exponent > -BIAS {
                    ((exponent + BIAS) as $unsigned) << FRACTION
                } else if exponent > -BIAS - FRACTION {
                    1 << (exponent + BIAS - 1 + FRACTION)
                } else {
                    0
                })
            }
        };
    }
    power_of_2!(f32, u32);
    power_of_2!(f64, u64);
}
