//! Measures writes to one array by 1 and by 2 threads, in memory and in a file, and prints how many times the second is as
//! fast.
//!
//! `cargo run --release -p blosc2 --example parallel_write`

use blosc2::{Array, Codec, Durability, Filter, Params};
use std::time::{Duration, Instant};

/// 256 MiB in chunks of 4 MiB.
const SHAPE: [u64; 2] = [64, 1 << 20];
const CHUNK_NITEMS: usize = 1 << 20;

fn builder(level: u8) -> blosc2::ArrayBuilder<Array<f32>> {
    let params = Params::new().codec(Codec::Zstd).level(level).filters([Filter::Shuffle]);
    Array::<f32>::builder(SHAPE).chunks([1, 1 << 20]).params(params)
}

/// Returns the time in which threads write all chunks.
fn time(array: &Array<f32>, chunks: &[Vec<f32>], threads: usize) -> blosc2::Result<Duration> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let write = |first: usize| {
            (first..SHAPE[0] as usize)
                .step_by(threads)
                .try_for_each(|n| array.write_chunk(n as u64, &chunks[n % chunks.len()]))
        };
        let writers: Vec<_> = (0..threads).map(|first| scope.spawn(move || write(first))).collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"))
    })?;
    Ok(start.elapsed())
}

fn main() -> blosc2::Result<()> {
    let path = std::env::temp_dir().join(format!("parallel_write_{}.b2nd", std::process::id()));
    let wave = |chunk: usize, n: usize| ((n * 7 % 1001 + chunk) as f32 / 9.0).sin() + (n as f32 / 1e5).cos();
    let chunks: Vec<Vec<f32>> =
        (0..8).map(|chunk| (0..CHUNK_NITEMS).map(|n| wave(chunk, n)).collect()).collect();
    println!("{:<24} {:>9} {:>9} {:>6}", "store, level", "1 thread", "2 threads", "times");
    for level in [1, 5] {
        for store in ["memory", "file, off", "file, kill"] {
            let make = || match store {
                "memory" => builder(level).in_memory(),
                store => {
                    let durability = if store == "file, off" { Durability::Off } else { Durability::Kill };
                    builder(level).durability(durability).truncate(true).create(&path)
                }
            };
            // The shortest of five times each, one after the other: other programs and the disk only make calls longer.
            let (mut one, mut two) = (Duration::MAX, Duration::MAX);
            for _ in 0..5 {
                one = one.min(time(&make()?, &chunks, 1)?);
                two = two.min(time(&make()?, &chunks, 2)?);
            }
            let (one, two) = (one.as_secs_f64(), two.as_secs_f64());
            println!("{:<24} {one:>7.2} s {two:>7.2} s {:>6.2}", format!("{store}, {level}"), one / two);
        }
    }
    let _ = std::fs::remove_file(path);
    Ok(())
}
