//! The shuffle kernels of every available level against the public functions of the reference library, interleaved in
//! one process: prints how many times as fast as the reference each is. Also the filters on words, beside `memcpy`, and the checksum of
//! frames, beside the crate `crc32c` (names `words` and `crc32c`).
//!
//! `BLOSC2_REFERENCE` is the path of the reference's shared library.
//! `cargo bench --bench filter_kernels -- [name=bitshuffle] [level=avx2] [t=4] [size=32768]`

use blosc2::internals::cpu::{self, SimdLevel};
use blosc2::internals::{bitshuffle, delta, shuffle, trunc_prec};
use std::hint::black_box;
use std::time::Instant;

type ReferenceFilter = unsafe extern "C" fn(i32, i32, *const u8, *mut u8) -> i32;
type Kernel = fn(usize, &[u8], &mut [u8]);
type KernelAt = fn(SimdLevel, usize, &[u8], &mut [u8]);

/// Name, symbol in the reference, the public function, and the same function for a given SIMD level.
const FUNCTIONS: [(&str, &str, Kernel, KernelAt); 4] = [
    ("shuffle", "blosc2_shuffle", shuffle::shuffle, shuffle::shuffle_at),
    ("unshuffle", "blosc2_unshuffle", shuffle::unshuffle, shuffle::unshuffle_at),
    ("bitshuffle", "blosc2_bitshuffle", bitshuffle::bitshuffle, bitshuffle::bitshuffle_at),
    ("bitunshuffle", "blosc2_bitunshuffle", bitshuffle::bitunshuffle, bitshuffle::bitunshuffle_at),
];
const TYPESIZES: [usize; 22] =
    [2, 4, 8, 16, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 20, 24, 32, 64, 100, 256];
const SIZES: [usize; 4] = [4 << 10, 32 << 10, 256 << 10, 1 << 20];

/// The number of batches per function; the fastest counts.
const BATCHES: usize = 24;
/// The number of bytes that a batch filters, rounded down to whole buffers.
const BATCH_BYTES: usize = 4 << 20;

fn main() {
    let Some(path) = std::env::var_os("BLOSC2_REFERENCE") else {
        eprintln!("filter_kernels: skipped, BLOSC2_REFERENCE does not name the reference library");
        return;
    };
    // SAFETY: the user states that the file at `path` is the reference library, whose initialisers are sound.
    let library = unsafe { libloading::Library::new(path) }.expect("the reference library loads");
    let arguments: Vec<String> = std::env::args().collect();
    let wanted = |key: &str, value: &str| {
        let mut given = arguments.iter().filter_map(|a| a.strip_prefix(key)?.strip_prefix('=')).peekable();
        given.peek().is_none() || given.any(|list| list.split(',').any(|one| one == value))
    };

    for (name, symbol, kernel, kernel_at) in FUNCTIONS.iter().filter(|f| wanted("name", f.0)) {
        // SAFETY: the reference's public functions have this signature.
        let reference: libloading::Symbol<ReferenceFilter> =
            unsafe { library.get(*symbol) }.expect("the reference exports its shuffles");
        for level in cpu::available_levels().filter(|level| wanted("level", level.name())) {
            println!("\n{name}, {}: times as fast as the reference (reference GB/s)", level.name());
            print!("{:>8}", "typesize");
            for size in SIZES.iter().filter(|size| wanted("size", &size.to_string())) {
                print!("{:>18}", format!("{} KiB", size >> 10));
            }
            println!();
            for typesize in TYPESIZES.into_iter().filter(|t| wanted("t", &t.to_string())) {
                print!("{typesize:>8}");
                for size in SIZES.into_iter().filter(|size| wanted("size", &size.to_string())) {
                    let (ours, theirs) = if level == cpu::level() {
                        compare(kernel, *reference, typesize, size)
                    } else {
                        compare(|t, src, dest| kernel_at(level, t, src, dest), *reference, typesize, size)
                    };
                    print!("{:>18}", format!("{:.2} ({:.1})", theirs / ours, size as f64 / theirs / 1e9));
                }
                println!();
            }
        }
    }
    if wanted("name", "words") {
        word_filters(&SIZES);
    }
    if wanted("name", "crc32c") {
        checksums();
    }
}

/// Measures the checksum of frames and the crate that computes it on machines without our kernel.
fn checksums() {
    println!("\ncrc32c: times as fast as the crate (crate GB/s)");
    let content: Vec<u8> = (0..BATCH_BYTES).map(|i| (i * i / 3 + 5 * i) as u8).collect();
    for len in [16, 64, 100, 128, 256, 1 << 10, 4 << 10, 32 << 10, 256 << 10, 1 << 20] {
        let seconds = |checksum: &dyn Fn(&[u8]) -> u32| {
            let time = Instant::now();
            for part in content.chunks_exact(len) {
                black_box(checksum(black_box(part)));
            }
            time.elapsed().as_secs_f64()
        };
        let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
        for _ in 0..BATCHES {
            ours = ours.min(seconds(&blosc2::internals::crc32c));
            theirs = theirs.min(seconds(&crc32c::crc32c));
        }
        println!(
            "{len:>8} bytes{:>18}",
            format!("{:.2} ({:.1})", theirs / ours, BATCH_BYTES as f64 / theirs / 1e9)
        );
    }
}

/// Measures the filters that the reference does not export, relative to `memcpy` of the same bytes.
fn word_filters(sizes: &[usize]) {
    println!("\nspeed relative to memcpy (memcpy GB/s)");
    print!("{:>24}", "");
    for size in sizes {
        print!("{:>18}", format!("{} KiB", size >> 10));
    }
    println!();
    let line = |name: String, filter: &dyn Fn(&[u8], &mut [u8])| {
        print!("{name:>24}");
        for &size in sizes {
            let src: Vec<u8> = (0..size).map(|i| (i * i / 3 + 5 * i) as u8).collect();
            let mut dest = vec![0; size + 1088];
            let dest = &mut dest[1088..];
            let rounds = BATCH_BYTES / size;
            let (mut ours, mut copy) = (f64::MAX, f64::MAX);
            for _ in 0..BATCHES {
                let time = Instant::now();
                for _ in 0..rounds {
                    filter(&src, dest);
                }
                ours = ours.min(time.elapsed().as_secs_f64() / rounds as f64);
                let time = Instant::now();
                for _ in 0..rounds {
                    black_box(&mut *dest).copy_from_slice(black_box(&src));
                }
                copy = copy.min(time.elapsed().as_secs_f64() / rounds as f64);
            }
            print!("{:>18}", format!("{:.2} ({:.1})", copy / ours, size as f64 / copy / 1e9));
        }
        println!();
    };
    for t in [1, 2, 4, 8] {
        line(format!("delta encode first {t}"), &|src, dest| delta::encode_first(t, src, dest));
        for level in cpu::available_levels() {
            line(format!("decode first {t} {}", level.name()), &|_, dest| {
                delta::decode_first_at(level, t, dest)
            });
        }
    }
    let reference = vec![7; 1 << 20];
    line("delta encode other".into(), &|src, dest| delta::encode_other(4, src, &reference, dest));
    line("delta decode other".into(), &|_, dest| delta::decode_other(4, dest, &reference));
    line("trunc_prec 4".into(), &|src, dest| trunc_prec::truncate(10, 4, src, dest).expect("valid"));
    line("trunc_prec 8".into(), &|src, dest| trunc_prec::truncate(10, 8, src, dest).expect("valid"));
}

/// Returns the seconds per call of our kernel and of the reference's function, each of its fastest batch.
fn compare(
    kernel: impl Fn(usize, &[u8], &mut [u8]),
    reference: ReferenceFilter,
    typesize: usize,
    size: usize,
) -> (f64, f64) {
    let src: Vec<u8> = (0..size + 4096).map(|i| (i * i / 3 + 5 * i) as u8).collect();
    // The source is page-aligned and the destination has another page offset, which avoids 4 KiB aliasing.
    let mut room = vec![0u8; size + (8 << 10)];
    let start = room.as_ptr().align_offset(4096) + 1088;
    let dest = &mut room[start..start + size];
    let src = &src[src.as_ptr().align_offset(4096)..][..size];
    let rounds = BATCH_BYTES / size;
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    for _ in 0..BATCHES {
        let time = Instant::now();
        for _ in 0..rounds {
            kernel(typesize, src, dest);
        }
        ours = ours.min(time.elapsed().as_secs_f64() / rounds as f64);
        let time = Instant::now();
        for _ in 0..rounds {
            // SAFETY: both buffers are `size` bytes long.
            let code = unsafe { reference(typesize as i32, size as i32, src.as_ptr(), dest.as_mut_ptr()) };
            assert_eq!(code, size as i32);
        }
        theirs = theirs.min(time.elapsed().as_secs_f64() / rounds as f64);
    }
    (ours, theirs)
}
