//! The data that are compressed: generated data like those of scientific programs, and the real arrays that
//! `scripts/fetch-bench-data.sh` fetches. They are the same bytes in every run.

use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};

/// A data set and its item size in bytes.
pub struct Dataset {
    pub name: String,
    pub typesize: i32,
    pub bytes: Vec<u8>,
}

/// Generates at least the given number of bytes.
type Generator = fn(usize) -> Vec<u8>;

/// Name, item size in bytes, generator. Quick mode uses the first [`QUICK_COUNT`].
const GENERATED: [(&str, i32, Generator); 8] = [
    ("field-f32", 4, field),
    ("ids-i64", 8, ids),
    ("sensor-i16", 2, sensor),
    ("random-f32", 4, random),
    ("walk-i32", 4, walk),
    ("prices-f64", 8, prices),
    ("timestamps-i64", 8, timestamps),
    ("text-u1", 1, text),
];

const QUICK_COUNT: usize = 4;

/// Returns the names of the data sets: the first [`QUICK_COUNT`] generated ones, or with `full` all generated and real
/// ones.
pub fn names(full: bool) -> Vec<String> {
    let generated = GENERATED.iter().map(|entry| entry.0.to_string());
    if full {
        generated.chain(real_files().into_iter().map(|file| file.0)).collect()
    } else {
        generated.take(QUICK_COUNT).collect()
    }
}

impl Dataset {
    /// Loads the data sets of these names, at most `nbytes` bytes of each; from a longer real array, the middle part.
    pub fn load(names: &[String], nbytes: usize) -> Vec<Dataset> {
        let real = real_files();
        if real.is_empty() {
            eprintln!("SKIPPED real data: no files found (run scripts/fetch-bench-data.sh)");
        }
        names
            .iter()
            .map(|name| match GENERATED.iter().find(|entry| entry.0 == name) {
                Some(&(_, typesize, generate)) => {
                    let mut bytes = generate(nbytes);
                    bytes.truncate(nbytes / typesize as usize * typesize as usize);
                    Dataset { name: name.clone(), typesize, bytes }
                }
                None => {
                    let (_, typesize, path) = real.iter().find(|file| file.0 == *name).expect("a known name");
                    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    let width = *typesize as usize;
                    let start = bytes.len().saturating_sub(nbytes) / 2 / width * width;
                    let end = bytes.len().min(start + nbytes / width * width);
                    Dataset { name: name.clone(), typesize: *typesize, bytes: bytes[start..end].to_vec() }
                }
            })
            .collect()
    }
}

/// Returns name, item size in bytes and path of the fetched arrays: files named `<name>.t<item size>.bin`.
fn real_files() -> Vec<(String, i32, PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/bench-data");
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let stem = path.file_name()?.to_str()?.strip_suffix(".bin")?;
            let (name, typesize) = stem.rsplit_once(".t")?;
            Some((name.to_string(), typesize.parse().ok()?, path.clone()))
        })
        .collect();
    files.sort();
    files
}

/// The random number generator SplitMix64.
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a roughly normal number with mean 0 and standard deviation 1: the sum of twelve uniform numbers, less 6.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Returns items of `N` bytes from `item`, which gets the index: `nbytes` bytes, rounded up to whole items.
fn collect_items<const N: usize>(nbytes: usize, item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    (0..nbytes.div_ceil(N)).flat_map(item).collect()
}

/// A smooth field on a grid 512 wide: a sum of three waves, as in weather data or simulations.
fn field(nbytes: usize) -> Vec<u8> {
    collect_items(nbytes, |i| {
        let (x, y) = ((i % 512) as f64 / 512.0, (i / 512) as f64 / 512.0);
        let waves = (TAU * (3.0 * x + y)).sin()
            + 0.5 * (TAU * (7.0 * y - 2.0 * x)).cos()
            + 0.1 * (TAU * 31.0 * x).sin();
        ((280.0 + 15.0 * waves) as f32).to_le_bytes()
    })
}

/// Sorted identifiers with gaps.
fn ids(nbytes: usize) -> Vec<u8> {
    let (mut random, mut id) = (SplitMix64::new(1), 10_000_000_000i64);
    collect_items(nbytes, |_| {
        id += 1 + (random.below(4) * random.below(20)) as i64;
        id.to_le_bytes()
    })
}

/// Samples of a 12-bit converter: a slow signal with noise.
fn sensor(nbytes: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(2);
    collect_items(nbytes, |i| {
        let signal = 2048.0 + 900.0 * (i as f64 * 0.003).sin() + 12.0 * random.normal();
        (signal.clamp(0.0, 4095.0) as i16).to_le_bytes()
    })
}

fn random(nbytes: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(3);
    collect_items(nbytes, |_| random.next().to_le_bytes())
}

/// A random walk of integers.
fn walk(nbytes: usize) -> Vec<u8> {
    let (mut random, mut value) = (SplitMix64::new(4), 0i32);
    collect_items(nbytes, |_| {
        value += random.below(201) as i32 - 100;
        value.to_le_bytes()
    })
}

/// Prices with two decimals.
fn prices(nbytes: usize) -> Vec<u8> {
    let (mut random, mut price) = (SplitMix64::new(5), 100.0f64);
    collect_items(nbytes, |_| {
        price = (price + random.normal() * 0.2).max(1.0);
        ((price * 100.0).round() / 100.0).to_le_bytes()
    })
}

/// Times in nanoseconds, 10 ms apart, with the jitter of a real clock.
fn timestamps(nbytes: usize) -> Vec<u8> {
    let (mut random, mut time) = (SplitMix64::new(6), 1_700_000_000_000_000_000i64);
    collect_items(nbytes, |_| {
        time += 10_000_000 + (random.normal() * 2_000.0) as i64;
        time.to_le_bytes()
    })
}

/// Lines of a log.
fn text(nbytes: usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "request",
        "from",
        "station",
        "answered",
        "in",
        "sensor",
        "temperature",
        "of",
        "humidity",
        "rejected",
        "cache",
        "stored",
    ];
    let (mut random, mut out, mut line) = (SplitMix64::new(8), Vec::with_capacity(nbytes + 128), 0);
    while out.len() < nbytes {
        line += 1 + random.below(3);
        let mut text = format!("2024-05-{:02} {line:08}", 1 + line / 40_000 % 28);
        for _ in 0..3 + random.below(6) {
            text.push(' ');
            text.push_str(WORDS[random.below(WORDS.len())]);
        }
        text.push_str(&format!(" {}\n", random.below(1000)));
        out.extend_from_slice(text.as_bytes());
    }
    out
}
