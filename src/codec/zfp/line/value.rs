//! Floats and doubles as ZFP sees them: an exponent that four values share, and whole numbers (`codecs.md` 10.3 to 10.5,
//! and 10.7).

use super::CELL;

/// A type of values.
pub trait Value: Copy + Default {
    /// Bytes of a value.
    const SIZE: usize;
    /// Bits of a value.
    const WIDTH: u32 = 8 * Self::SIZE as u32;
    /// Bits that a cell which is not empty begins with: a flag and the exponent.
    const HEADER_BITS: u32;
    /// What is added to exponents in the stream.
    const BIAS: i32;

    /// The value at the start of `bytes`.
    fn read(bytes: &[u8]) -> Self;

    /// Writes the value to `bytes`, which is as large.
    fn write(self, bytes: &mut [u8]);

    /// The least power of 2 that is above all magnitudes.
    fn exponent(values: &[Self; CELL]) -> i32;

    /// The transformed values in negabinary, the highest bit in bit 63.
    fn quantise(values: &[Self; CELL], exponent: i32) -> [u64; CELL];

    /// The inverse of [`Value::quantise`].
    fn restore(coded: [u64; CELL], exponent: i32) -> [Self; CELL];
}

macro_rules! value {
    ($float:ident, $signed:ident, $unsigned:ident, $exponent_bits:literal) => {
        impl Value for $float {
            const SIZE: usize = size_of::<$float>();
            const HEADER_BITS: u32 = 1 + $exponent_bits;
            const BIAS: i32 = (1 << ($exponent_bits - 1)) - 1;

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0.0, |bytes| $float::from_le_bytes(*bytes))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn exponent(values: &[Self; CELL]) -> i32 {
                let mut most: $float = 0.0;
                for value in values {
                    let magnitude = value.abs();
                    // Not `max`: what is no number is skipped.
                    most = if magnitude > most { magnitude } else { most };
                }
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
            fn quantise(values: &[Self; CELL], exponent: i32) -> [u64; CELL] {
                // In two steps, where a single factor would be infinite, as it is in the reference (`codecs.md` 10.9).
                let shift = Self::WIDTH as i32 - 2 - exponent;
                let first = shift.min(Self::BIAS);
                let factors = (power_of_2::$float(first), power_of_2::$float(shift - first));
                const LIMIT: $float = -($signed::MIN as $float);
                let [x, y, z, w] = values.map(|value| {
                    let scaled = value * factors.0 * factors.1;
                    if scaled.abs() < LIMIT { scaled as $signed } else { $signed::MIN }
                });
                let (mut x, mut y, mut z, mut w) = (x, y, z, w);
                x = x.wrapping_add(w) >> 1;
                w = w.wrapping_sub(x);
                z = z.wrapping_add(y) >> 1;
                y = y.wrapping_sub(z);
                x = x.wrapping_add(z) >> 1;
                z = z.wrapping_sub(x);
                w = w.wrapping_add(y) >> 1;
                y = y.wrapping_sub(w);
                w = w.wrapping_add(y >> 1);
                y = y.wrapping_sub(w >> 1);
                [x, y, z, w].map(|coefficient| {
                    let coded = (coefficient as $unsigned).wrapping_add(negabinary::$unsigned)
                        ^ negabinary::$unsigned;
                    u64::from(coded) << (64 - Self::WIDTH)
                })
            }

            #[inline(always)]
            fn restore(coded: [u64; CELL], exponent: i32) -> [Self; CELL] {
                let [mut x, mut y, mut z, mut w] = coded.map(|coded| {
                    let coded = (coded >> (64 - Self::WIDTH)) as $unsigned;
                    (coded ^ negabinary::$unsigned).wrapping_sub(negabinary::$unsigned) as $signed
                });
                y = y.wrapping_add(w >> 1);
                w = w.wrapping_sub(y >> 1);
                y = y.wrapping_add(w);
                w = (w << 1).wrapping_sub(y);
                z = z.wrapping_add(x);
                x = (x << 1).wrapping_sub(z);
                y = y.wrapping_add(z);
                z = (z << 1).wrapping_sub(y);
                w = w.wrapping_add(x);
                x = (x << 1).wrapping_sub(w);
                let factor = power_of_2::$float(exponent - (Self::WIDTH as i32 - 2));
                [x, y, z, w].map(|value| factor * value as $float)
            }
        }
    };
}

value!(f32, i32, u32, 8);
value!(f64, i64, u64, 11);

/// Every other bit, which is what turns two's complement into negabinary.
#[allow(non_upper_case_globals)]
mod negabinary {
    pub const u32: u32 = u32::MAX / 3 * 2;
    pub const u64: u64 = u64::MAX / 3 * 2;
}

/// Powers of 2, one function for each type; 0 below the least subnormal number.
mod power_of_2 {
    macro_rules! power_of_2 {
        ($float:ident, $unsigned:ident) => {
            #[inline(always)]
            pub fn $float(exponent: i32) -> $float {
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
