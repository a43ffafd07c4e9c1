//! Generators of test data: kinds of bytes that are typical of scientific programs, and extreme cases.

use super::random::Random;

/// A kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// All bytes zero.
    Zeros,
    /// One byte value, repeated.
    Constant,
    /// Integers of the element width that increase by a constant step.
    Ramp,
    /// f32 or f64 samples of a smooth curve.
    SmoothFloats,
    /// Random bytes.
    Noise,
    /// Words of a small vocabulary.
    Text,
    /// Random bytes of a few different values.
    LowEntropy,
    /// The same record repeated, with a counter in it.
    Records,
    /// Sections of the other kinds, one after the other.
    Mixed,
    /// Zeros with a few other bytes.
    Sparse,
}

impl Data {
    pub const ALL: [Data; 10] = [
        Data::Zeros,
        Data::Constant,
        Data::Ramp,
        Data::SmoothFloats,
        Data::Noise,
        Data::Text,
        Data::LowEntropy,
        Data::Records,
        Data::Mixed,
        Data::Sparse,
    ];

    /// Returns `len` bytes of this kind for elements of `width` bytes.
    pub fn generate(self, random: &mut Random, width: usize, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len + width + 64);
        match self {
            Data::Zeros => out.resize(len, 0),
            Data::Constant => {
                let value = random.byte();
                out.resize(len, value);
            }
            Data::Ramp => {
                let mut value = random.next() >> 40;
                let step = 1 + random.below(300) as u64;
                while out.len() < len {
                    let bytes = value.to_le_bytes();
                    (0..width).for_each(|i| out.push(*bytes.get(i).unwrap_or(&0)));
                    value = value.wrapping_add(step);
                }
            }
            Data::SmoothFloats => {
                let frequency = 0.001 + random.below(1000) as f64 * 1e-5;
                let mut i = 0.0f64;
                while out.len() < len {
                    let value = (i * frequency).sin() * 100.0 + i * 0.01;
                    if width == 4 {
                        out.extend_from_slice(&(value as f32).to_le_bytes());
                    } else {
                        out.extend_from_slice(&value.to_le_bytes());
                    }
                    i += 1.0;
                }
            }
            Data::Noise => out = random.bytes(len),
            Data::Text => {
                let words =
                    ["the ", "chunk ", "of ", "data ", "block\n", "42 ", "compression ", "a ", "north "];
                while out.len() < len {
                    out.extend_from_slice(random.pick(&words).as_bytes());
                }
            }
            Data::LowEntropy => {
                let values = random.bytes(1 + random.clone().below(5));
                (0..len).for_each(|_| out.push(*random.pick(&values)));
            }
            Data::Records => {
                let size = (width * (1 + random.below(12))).clamp(8, 4096);
                let record = random.bytes(size);
                let mut count = 0u32;
                while out.len() < len {
                    let start = out.len();
                    out.extend_from_slice(&record);
                    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
                    count += 1;
                }
            }
            Data::Mixed => {
                while out.len() < len {
                    let kind = Data::ALL[random.below(8)];
                    let stretch = 1 + random.below(len / 3 + 64);
                    out.extend(kind.generate(random, width, stretch));
                }
            }
            Data::Sparse => {
                out.resize(len, 0);
                (0..len / 500 + 1).filter(|_| len > 0).for_each(|_| {
                    let at = random.below(len);
                    out[at] = random.byte();
                });
            }
        }
        out.truncate(len);
        out
    }
}
