//! Named cells: data that a heuristic of an encoder has misclassified, and data of programs that became slower.

use crate::cell::Cell;
use crate::support::random::Random;

/// Returns `n` items of 8 bytes.
fn items(n: usize, mut item: impl FnMut(usize) -> u64) -> Vec<u8> {
    (0..n).flat_map(|i| item(i).to_le_bytes()).collect()
}

fn floats(n: usize, mut item: impl FnMut(usize) -> f32) -> Vec<u8> {
    (0..n).flat_map(|i| item(i).to_le_bytes()).collect()
}

/// Returns `len` bytes of noise that repeats after `period` bytes.
fn repeated_noise(period: usize, len: usize) -> Vec<u8> {
    Random::new(period as u64).bytes(period).iter().cycle().take(len).copied().collect()
}

/// Returns `len` bytes with a period, of which one in `rate` differs.
fn changed_period(period: usize, rate: usize, len: usize) -> Vec<u8> {
    let mut random = Random::new(period as u64);
    (0..len).map(|i| (i % period * 7 + usize::from(random.one_in(rate))) as u8).collect()
}

pub fn named_cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |name: &str, codec: &str, clevels: &[u8], filters: &str, typesize: usize, bytes: &[u8]| {
        for &clevel in clevels {
            cells.push(Cell::named(name, codec, clevel, filters, typesize, bytes.to_vec()));
        }
    };
    for period in [1 << 10, 4 << 10, 32_000, 100_000, 1 << 20] {
        let bytes = repeated_noise(period, 4 << 20);
        for codec in ["lz4hc", "zlib", "zstd"] {
            for (filters, typesize) in [("none", 1), ("shuffle", 4), ("bitshuffle", 8)] {
                let name = format!("noise repeated after {period} bytes");
                add(&name, codec, &[1, 4, 6, 9], filters, typesize, &bytes);
            }
        }
    }
    for (period, rate) in [(12, 200), (24, 200), (51, 50), (51, 200), (51, 2000), (100, 200), (300, 200)] {
        let name = format!("bytes of period {period}, one change in {rate}");
        add(&name, "zlib", &[6, 7, 8, 9], "none", 1, &changed_period(period, rate, 1 << 20));
    }
    let thousandths = floats(1_000_000, |i| i as f32 / 1000.0);
    add("float32 i/1000", "zlib", &[3, 5, 7, 9], "shuffle", 4, &thousandths);
    let ramp = items(1_000_000, |i| i as u64);
    for filters in ["shuffle", "bitshuffle"] {
        add("int64 i", "zstd", &[5, 6, 7, 8, 9], filters, 8, &ramp);
        add("int64 i", "zlib", &[3, 5, 7], filters, 8, &ramp);
    }
    let mut random = Random::new(1);
    let noisy = items(500_000, |i| (i / 7 + random.below(50)) as u64);
    add("int64 i//7 + noise below 50", "zlib", &[3, 5, 7], "shuffle", 8, &noisy);
    let mut price = 100.0f64;
    let prices = items(500_000, |_| {
        price += (random.below(2001) as f64 - 1000.0) / 5000.0;
        ((price * 100.0).round() / 100.0).to_bits()
    });
    add("float64 with two decimals, walk", "zlib", &[5, 7], "shuffle", 8, &prices);
    let uniform = items(500_000, |_| (random.below(100_000) as f64 / 100.0).to_bits());
    add("float64 with two decimals, uniform", "zlib", &[5, 7], "shuffle", 8, &uniform);
    let mut sorted: Vec<u64> = (0..500_000).map(|i| (i * 1000 + random.below(100_000)) as u64).collect();
    sorted.sort_unstable();
    let sorted = items(sorted.len(), |i| sorted[i]);
    add("sorted noisy int64", "blosclz", &[1, 5, 9], "none", 8, &sorted);
    let long = items(4_000_000, |i| (i as u64) << 3);
    add("int64 8 i, long", "lz4", &[1], "shuffle", 8, &long);
    let noisy = items(500_000, |i| (i as u64) * 1_000_003 + (random.next() >> 40));
    for codec in ["lz4", "blosclz"] {
        add("incompressible ramp", codec, &[1], "none", 8, &noisy);
    }
    let words: Vec<u64> =
        (0..300).map(|_| random.next() & 0x0f0f_0f0f_0f0f_0f0f | 0x6060_6060_6060_6060).collect();
    let strings = items(500_000, |_| words[random.below(words.len())]);
    add("strings of 8 characters", "zlib", &[3, 5, 7], "bitshuffle", 8, &strings);
    add("strings of 8 characters", "zlib", &[3, 5, 7], "shuffle", 8, &strings);
    cells.extend(slow_to_decode());
    cells
}

/// Returns cells of kinds of data that were decompressed at less than 0.9 of the reference's speed, apart from the last
/// one, which was slow to compress.
fn slow_to_decode() -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |name: &str, codec: &str, clevel, filters: &str, typesize: usize, bytes: Vec<u8>| {
        cells.push(Cell::named(name, codec, clevel, filters, typesize, bytes));
    };
    let mut random = Random::new(2);
    let channels = items(1 << 15, |i| {
        let noise = (random.below(2001) as f64 - 1000.0) / 1e5;
        ((i as f64 / 500.0 + (i % 2) as f64).sin() * if i % 2 == 0 { 1.0 } else { 30.0 } + noise).to_bits()
    });
    add("two noisy channels", "lz4hc", 2, "shuffle", 8, channels);
    for step in [5, 300] {
        let mut value = 0i32;
        let walk = floats(1 << 14, |_| {
            value =
                if random.one_in(100) { 0 } else { value + random.below(2 * step + 1) as i32 - step as i32 };
            f32::from_bits(value as u32)
        });
        for codec in ["blosclz", "lz4", "lz4hc"] {
            let name = format!("int32 walk with resets, steps to {step}");
            add(&name, codec, 5, "none", 4, walk.clone());
        }
    }
    let counts =
        floats(20_000, |_| f32::from_bits(20 + (random.below(8) + random.below(8) + random.below(8)) as u32));
    for codec in ["blosclz", "lz4"] {
        add("int32 counts around 30", codec, 4, "none", 4, counts.clone());
    }
    let runs = items(1 << 10, |i| (i / 37 * 1_000_003) as u64);
    let congruent = items(1 << 10, |i| (i * 7919 % 1000) as u64);
    for (name, bytes) in [("int64 in runs, 8 KiB", runs), ("int64 congruences, 8 KiB", congruent)] {
        for filters in ["none", "shuffle"] {
            add(name, "blosclz", 5, filters, 8, bytes.clone());
        }
    }
    for typesize in [12, 16, 24] {
        let records: Vec<u8> = (0..(4 << 10) / typesize)
            .flat_map(|i| {
                let mut record = vec![0; typesize];
                record[..4].copy_from_slice(&(i as u32 * 3).to_le_bytes());
                record[4] = random.below(9) as u8;
                record[8..10].copy_from_slice(&(random.below(3000) as u16).to_le_bytes());
                record
            })
            .collect();
        for filters in ["none", "shuffle"] {
            add("records, 4 KiB", "lz4", 5, filters, typesize, records.clone());
        }
    }
    for len in [24_000, 28_000, 64_000, 200_000] {
        add("noise, stored", "blosclz", 5, "none", 1, random.bytes(len));
    }
    let mut value = 0;
    let categories = items(1 << 10, |_| {
        value = if random.one_in(12) { random.below(9) as u64 } else { value };
        value
    });
    add("int64 categories in runs, 8 KiB", "lz4hc", 3, "bitshuffle", 8, categories);
    cells
}
