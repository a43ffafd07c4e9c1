//! Values for ZFP: smooth, rough, special.

use crate::support::random::Random;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A smooth surface.
    Smooth,
    /// Noise of one magnitude.
    Noise,
    /// Random magnitudes from the whole range of the type.
    WideRange,
    /// Mostly zeros of both signs.
    Sparse,
    /// The smallest and the largest finite numbers.
    Extreme,
    /// With infinities and NaNs.
    Special,
    /// Random bit patterns.
    Bits,
    /// Small integers.
    Integers,
}

impl Values {
    pub const ALL: [Values; 8] = [
        Values::Smooth,
        Values::Noise,
        Values::WideRange,
        Values::Sparse,
        Values::Extreme,
        Values::Special,
        Values::Bits,
        Values::Integers,
    ];

    /// Returns `count` values of `typesize` bytes.
    pub fn generate(self, random: &mut Random, typesize: usize, count: usize) -> Vec<u8> {
        let scale = 2f64.powi(random.below(60) as i32 - 30);
        let step = random.below(1000) as f64 * 1e-3;
        let mut bytes = Vec::with_capacity(count * typesize);
        for at in 0..count {
            let value = match self {
                Values::Smooth => ((at % 17) as f64 * step).sin() * scale + at as f64 * scale * 1e-3,
                Values::Noise => (random_unit(random) - 0.5) * scale,
                Values::WideRange => random_magnitude(random, typesize),
                Values::Sparse if random.one_in(20) => random_magnitude(random, typesize),
                Values::Sparse => *random.pick(&[0.0, 0.0, -0.0]),
                Values::Extreme => random_extreme(random, typesize),
                Values::Special if random.one_in(6) => {
                    *random.pick(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN])
                }
                Values::Special => (random_unit(random) - 0.5) * scale,
                Values::Bits => {
                    bytes.extend_from_slice(&random.next().to_le_bytes()[..typesize]);
                    continue;
                }
                Values::Integers => random.below(200) as f64 - 100.0,
            };
            match typesize {
                4 => bytes.extend_from_slice(&(value as f32).to_ne_bytes()),
                _ => bytes.extend_from_slice(&value.to_ne_bytes()),
            }
        }
        bytes
    }
}

fn random_unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

fn random_magnitude(random: &mut Random, typesize: usize) -> f64 {
    let exponent =
        if typesize == 4 { random.below(270) as i32 - 149 } else { random.below(2090) as i32 - 1074 };
    let sign = if random.one_in(2) { -1.0 } else { 1.0 };
    // In two steps, since one `powi` cannot compute the smallest powers of two (down to 2^-1074).
    sign * (1.0 + random_unit(random)) * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

fn random_extreme(random: &mut Random, typesize: usize) -> f64 {
    let single = [f32::MAX, f32::MIN, f32::MIN_POSITIVE, f32::from_bits(1), 0.0, 1.0].map(f64::from);
    let double = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::from_bits(1), 0.0, 1.0];
    *random.pick(if typesize == 4 { &single } else { &double })
}
