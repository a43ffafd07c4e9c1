//! Measures writes to one array by 1 and by 2 threads, in memory and in a file, and prints how many times the second is as
//! fast. The first line of a level is compression alone, without an array: more than that is not possible.
//!
//! `cargo run --release -p blosc2-safe --example parallel_write`

use blosc2::{Array, Codec, Durability, Encoder, Filter, Params};
use std::time::{Duration, Instant};

/// 256 MiB in chunks of 4 MiB.
const SHAPE: [u64; 2] = [64, 1 << 20];
const CHUNK_NITEMS: usize = 1 << 20;

fn params(level: u8) -> Params {
    Params::new().codec(Codec::Zstd).level(level).filters([Filter::Shuffle]).typesize(4).blocksize(128 << 10)
}

fn builder(level: u8) -> blosc2::ArrayBuilder<Array<f32>> {
    Array::<f32>::builder(SHAPE).chunks([1, 1 << 20]).params(params(level))
}

/// Returns the time in which threads run `write` for all chunks.
fn time(threads: usize, write: impl Fn(usize) -> blosc2::Result<()> + Sync) -> blosc2::Result<Duration> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let write = &write;
        let write = move |first: usize| (first..SHAPE[0] as usize).step_by(threads).try_for_each(write);
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
        for store in ["none", "memory", "file, off", "file, kill"] {
            let run = |threads| {
                let array = match store {
                    "none" => {
                        return time(threads, |n| {
                            let chunk = bytemuck::cast_slice(&chunks[n % chunks.len()]);
                            Encoder::new(&params(level))?.compress(chunk).map(drop)
                        });
                    }
                    "memory" => builder(level).in_memory()?,
                    store => {
                        let durability =
                            if store == "file, off" { Durability::Off } else { Durability::Kill };
                        builder(level).durability(durability).truncate(true).create(&path)?
                    }
                };
                time(threads, |n| array.write_chunk(n as u64, &chunks[n % chunks.len()]))
            };
            // The shortest of five times each, one after the other: other programs and the disk only make calls longer.
            let (mut one, mut two) = (Duration::MAX, Duration::MAX);
            for _ in 0..5 {
                one = one.min(run(1)?);
                two = two.min(run(2)?);
            }
            let (one, two) = (one.as_secs_f64(), two.as_secs_f64());
            println!("{:<24} {one:>7.2} s {two:>7.2} s {:>6.2}", format!("{store}, {level}"), one / two);
        }
    }
    let _ = std::fs::remove_file(path);
    Ok(())
}
