//! Families of number series. A family draws its parameters and then its values. A record consists of several columns,
//! each with a series.

use std::f64::consts::TAU;

use crate::cell::draw_unit;
use crate::support::random::Random;

/// Returns the bit pattern of item `i`; a column stores its low bytes.
type Series = Box<dyn FnMut(&mut Random, usize) -> u64>;

/// A family of number series.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    /// Draws the parameters of a series of items of a width in bytes.
    series: fn(&mut Random, usize) -> Series,
}

const FAMILIES: [Family; 17] = [
    Family { name: "walk", series: walk },
    Family { name: "smooth", series: smooth },
    Family { name: "smooth-int", series: smooth_integers },
    Family { name: "ramp", series: ramp },
    Family { name: "noisy-ramp", series: noisy_ramp },
    Family { name: "rounded", series: rounded },
    Family { name: "categories", series: categories },
    Family { name: "sparse", series: sparse },
    Family { name: "timestamps", series: timestamps },
    Family { name: "runs", series: runs },
    Family { name: "periods", series: periods },
    Family { name: "skewed", series: skewed },
    Family { name: "counts", series: counts },
    Family { name: "bits", series: bits },
    Family { name: "strings", series: strings },
    Family { name: "floats", series: floats },
    Family { name: "records", series: walk },
];

/// Draws a family.
pub fn draw_family(random: &mut Random) -> Family {
    *random.pick(&FAMILIES)
}

/// Returns `nbytes` bytes of items of `typesize` bytes.
pub fn generate(family: Family, random: &mut Random, typesize: usize, nbytes: usize) -> Vec<u8> {
    let mut columns = columns(family, random, typesize);
    let mut bytes = Vec::with_capacity(nbytes + typesize);
    let mut item = 0;
    while bytes.len() < nbytes {
        for (width, series) in &mut columns {
            bytes.extend_from_slice(&series(random, item).to_le_bytes()[..*width]);
        }
        item += 1;
    }
    bytes.truncate(nbytes);
    bytes
}

/// Draws the columns of an item of `typesize` bytes, each with its width in bytes: one that fills the item, or several.
fn columns(family: Family, random: &mut Random, typesize: usize) -> Vec<(usize, Series)> {
    let is_mixed = family.name == "records";
    if typesize <= 8 && !(is_mixed && typesize > 1) {
        return vec![(typesize, (family.series)(random, typesize))];
    }
    let mut columns = Vec::new();
    let mut left = typesize;
    while left > 0 {
        let widths: Vec<usize> = [1, 2, 4, 8].into_iter().filter(|&width| width <= left).collect();
        let width = if is_mixed { *random.pick(&widths) } else { *widths.last().expect("1 at least") };
        let family = if is_mixed { draw_family(random) } else { family };
        columns.push((width, (family.series)(random, width)));
        left -= width;
    }
    columns
}

/// Draws a number from `least` to about `most`, each doubling equally often.
fn log_uniform(random: &mut Random, least: f64, most: f64) -> f64 {
    least * ((most / least).log2() * draw_unit(random)).exp2()
}

/// Draws a roughly normal number with standard deviation 1.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| draw_unit(random)).sum::<f64>() - 6.0
}

/// Returns the largest number of a column of `width` bytes, at most 2^62.
fn column_range(width: usize) -> f64 {
    (8.0 * width as f64).min(62.0).exp2()
}

/// Returns the bit pattern of a floating-point number in items of 4 or 8 bytes, of the nearest integer in others.
fn bit_pattern(value: f64, width: usize) -> u64 {
    match width {
        4 => u64::from((value as f32).to_bits()),
        8 => value.to_bits(),
        _ => value as i64 as u64,
    }
}

fn walk(random: &mut Random, width: usize) -> Series {
    let step = log_uniform(random, 1.0, column_range(width).sqrt().min(1e6));
    let is_float = matches!(width, 4 | 8) && random.one_in(3);
    let mut value = column_range(width) / 4.0 * draw_unit(random);
    Box::new(move |random, _| {
        value += step * (2.0 * draw_unit(random) - 1.0);
        if is_float { bit_pattern(value / 100.0, width) } else { value.round() as i64 as u64 }
    })
}

/// Sums of waves, as in simulations; one series in three has noise.
fn smooth(random: &mut Random, width: usize) -> Series {
    let nwaves = 1 + random.below(4);
    let waves: Vec<(f64, f64, f64)> = (0..nwaves)
        .map(|_| {
            let (amplitude, phase) = (log_uniform(random, 0.01, 10.0), TAU * draw_unit(random));
            (amplitude, TAU / log_uniform(random, 10.0, 1e6), phase)
        })
        .collect();
    let noise = if random.one_in(3) { log_uniform(random, 1e-7, 1.0) } else { 0.0 };
    let offset = if random.one_in(2) { log_uniform(random, 0.1, 1e4) } else { 0.0 };
    let scale = if matches!(width, 4 | 8) { 1.0 } else { column_range(width) / 100.0 };
    Box::new(move |random, i| {
        let sum: f64 = waves.iter().map(|(a, f, phase)| a * (f * i as f64 + phase).sin()).sum();
        let noise = if noise > 0.0 { noise * normal(random) } else { 0.0 };
        bit_pattern(scale * (sum + offset + noise), width)
    })
}

fn smooth_integers(random: &mut Random, width: usize) -> Series {
    let mut series = smooth(random, 8);
    let scale = log_uniform(random, 1.0, column_range(width).sqrt().min(1e5));
    Box::new(move |random, i| (scale * f64::from_bits(series(random, i))).round() as i64 as u64)
}

/// `start + i / repeats * step`, as integers or floating-point numbers.
fn ramp(random: &mut Random, width: usize) -> Series {
    let start = if random.one_in(2) { 0 } else { random.next() >> 20 };
    let step = if random.one_in(2) { 1 } else { log_uniform(random, 1.0, 1e6) as u64 };
    let repeats = if random.one_in(2) { 1 } else { 1 + random.below(100) };
    let divisor =
        if matches!(width, 4 | 8) && random.one_in(2) { log_uniform(random, 1.0, 1e6) } else { 0.0 };
    Box::new(move |_, i| {
        let value = start.wrapping_add((i / repeats) as u64 * step);
        if divisor > 0.0 { bit_pattern(value as f64 / divisor, width) } else { value }
    })
}

/// `i * step / repeats + noise`.
fn noisy_ramp(random: &mut Random, _: usize) -> Series {
    let repeats = 1 + random.below(20) as u64;
    let step = log_uniform(random, 1.0, 1e4) as u64;
    let noise = log_uniform(random, 2.0, 1e6) as usize;
    Box::new(move |random, i| (i as u64 * step / repeats).wrapping_add(random.below(noise) as u64))
}

/// Numbers with a few decimals.
fn rounded(random: &mut Random, width: usize) -> Series {
    let decimals = 10f64.powi(random.below(5) as i32);
    let is_walk = random.one_in(2);
    let spread = log_uniform(random, 0.1, 1e4);
    let mut value = spread * draw_unit(random);
    Box::new(move |random, _| {
        value = if is_walk { value + 0.01 * spread * normal(random) } else { spread * draw_unit(random) };
        bit_pattern((value * decimals).round() / decimals, width)
    })
}

/// A few values, some of them more frequent than others.
fn categories(random: &mut Random, _: usize) -> Series {
    let n = log_uniform(random, 2.0, 5000.0) as usize;
    let is_small = random.one_in(2);
    let values: Vec<u64> = (0..n).map(|i| if is_small { i as u64 } else { random.next() }).collect();
    let skew = if random.one_in(2) { 1.0 } else { log_uniform(random, 1.0, 4.0) };
    Box::new(move |random, _| values[((draw_unit(random).powf(skew) * n as f64) as usize).min(n - 1)])
}

fn sparse(random: &mut Random, width: usize) -> Series {
    let share = log_uniform(random, 0.0005, 0.5);
    let mut values = match random.below(3) {
        0 => floats(random, width),
        1 => counts(random, width),
        _ => walk(random, width),
    };
    Box::new(move |random, i| if draw_unit(random) < share { values(random, i) } else { 0 })
}

/// Times with a step, jitter and gaps.
fn timestamps(random: &mut Random, _: usize) -> Series {
    let step = log_uniform(random, 1.0, 1e9) as u64;
    let jitter = if random.one_in(2) { 1 + (step as f64 * 0.01 * draw_unit(random)) as usize } else { 1 };
    let gaps = log_uniform(random, 1e-5, 0.1);
    let mut time = 1_600_000_000u64.wrapping_mul(*random.pick(&[1, 1000, 1_000_000, 1_000_000_000]));
    Box::new(move |random, _| {
        time += step + random.below(jitter) as u64;
        if draw_unit(random) < gaps {
            time += step * random.below(1000) as u64;
        }
        time
    })
}

/// Runs of a value. The next value is near the last one, from a small set, or arbitrary.
fn runs(random: &mut Random, width: usize) -> Series {
    let mean = log_uniform(random, 2.0, 1e5);
    let is_fixed = random.one_in(3);
    let kind = random.below(3);
    let nvalues = 2 + random.below(200);
    let step = log_uniform(random, 1.0, column_range(width).sqrt().min(1e5)) as usize;
    let (mut left, mut value) = (0usize, random.next() >> 8);
    Box::new(move |random, _| {
        if left == 0 {
            left = if is_fixed { mean as usize } else { (-mean * (1.0 - draw_unit(random)).ln()) as usize };
            value = match kind {
                0 => value.wrapping_add(random.below(2 * step + 1) as u64).wrapping_sub(step as u64),
                1 => (random.below(nvalues) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                _ => random.next(),
            };
        }
        left = left.saturating_sub(1);
        value
    })
}

/// A series of another family that is periodic; one in three has a few changed items.
fn periods(random: &mut Random, width: usize) -> Series {
    let period = log_uniform(random, 2.0, 300_000.0) as usize;
    let mut values = match random.below(4) {
        0 | 1 => Box::new(|random: &mut Random, _| random.next()) as Series,
        2 => walk(random, width),
        _ => floats(random, width),
    };
    let changes = if random.one_in(3) { log_uniform(random, 1e-5, 0.05) } else { 0.0 };
    let mut seen: Vec<u64> = Vec::new();
    Box::new(move |random, i| {
        if seen.len() < period {
            let value = values(random, i);
            seen.push(value);
            return value;
        }
        if changes > 0.0 && draw_unit(random) < changes { random.next() } else { seen[i % period] }
    })
}

fn skewed(random: &mut Random, width: usize) -> Series {
    let scale = log_uniform(random, 1.0, column_range(width).min(1e9));
    let power = log_uniform(random, 1.0, 8.0);
    let is_exponential = random.one_in(2);
    Box::new(move |random, _| {
        let drawn = draw_unit(random);
        let value =
            if is_exponential { -(1.0 - drawn).ln() * scale / 8.0 } else { drawn.powf(power) * scale };
        value as u64
    })
}

/// Numbers of events around a mean that may change slowly.
fn counts(random: &mut Random, _: usize) -> Series {
    let mean = log_uniform(random, 0.2, 300.0);
    let wave = if random.one_in(2) { TAU / log_uniform(random, 100.0, 1e5) } else { 0.0 };
    Box::new(move |random, i| {
        let mean = mean * (1.0 + 0.8 * (wave * i as f64).sin());
        (mean + mean.sqrt() * normal(random)).max(0.0).round() as u64
    })
}

/// Noise in the lowest bits; the others are the same in all items.
fn bits(random: &mut Random, width: usize) -> Series {
    let nbits = 1 + random.below(8 * width.min(8));
    let others = if random.one_in(2) { 0 } else { random.next() };
    let mask = u64::MAX >> (64 - nbits);
    Box::new(move |random, _| (others & !mask) | (random.next() & mask))
}

/// Words from a list, padded with zeros; the columns of an item are independent words.
fn strings(random: &mut Random, width: usize) -> Series {
    let n = log_uniform(random, 3.0, 3000.0) as usize;
    let words: Vec<u64> = (0..n)
        .map(|_| {
            let len = 1 + random.below(width);
            let letters: Vec<u8> =
                (0..len).map(|_| b'a' + (random.below(26) * random.below(26) / 26) as u8).collect();
            let mut word = [0; 8];
            word[..len].copy_from_slice(&letters);
            u64::from_le_bytes(word)
        })
        .collect();
    let digits = random.one_in(4);
    Box::new(move |random, i| {
        if digits {
            let text = format!("{:08}", i * 7 % 100_000_000);
            return u64::from_le_bytes(text.as_bytes()[..8].try_into().expect("eight digits"));
        }
        words[random.below(n) * random.below(n) / n]
    })
}

/// Random floating-point numbers: uniform, normal or log-normal; one series in three is rounded to a few mantissa bits.
fn floats(random: &mut Random, width: usize) -> Series {
    let kind = random.below(3);
    let cut = if random.one_in(3) { random.below(if width == 8 { 50 } else { 22 }) } else { 0 };
    let scale = log_uniform(random, 1e-3, 1e6);
    Box::new(move |random, _| {
        let value = match kind {
            0 => draw_unit(random),
            1 => normal(random),
            _ => normal(random).exp(),
        };
        let width = if width == 8 || width == 4 { width } else { 8 };
        bit_pattern(scale * value, width) >> cut << cut
    })
}
