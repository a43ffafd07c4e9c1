//! Group `contexts`: 1 to 64 threads of the program, each with contexts of its own, that compress and decompress chunks of
//! 256 KiB at the same time.

use std::sync::Barrier;
use std::time::Instant;

use crate::support::calls::{OwnedContext, Params, dparams};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::{Options, ROUNDS, print_heading, print_row};

const CHUNKSIZE: usize = 256 << 10;

/// Chunks that all threads process together.
const CHUNKS: usize = 256;

/// The codecs: name, number and level.
const CODECS: [(&str, u8, u8); 2] = [("lz4 5", 1, 5), ("zstd 1", 5, 1)];

/// Returns the MiB per second that `nthreads` threads compress and decompress together.
fn throughput(library: &'static Library, params: &Params, data: &[u8], nthreads: usize) -> f64 {
    let barrier = Barrier::new(nthreads);
    std::thread::scope(|scope| {
        let work = || {
            let mut compression =
                OwnedContext::for_compression(library, params.cparams()).expect("a context");
            let mut decompression = OwnedContext::for_decompression(library, dparams(params.nthreads));
            let (mut chunk, mut dest) = (vec![0; data.len() + 64], vec![0; data.len()]);
            let mut process = || {
                let nbytes = compression.compress(data, &mut chunk);
                assert!(nbytes > 0, "{}: a chunk", library.name);
                let nbytes = decompression.decompress(&chunk[..nbytes as usize], &mut dest);
                assert_eq!(nbytes as usize, data.len(), "{}: a chunk", library.name);
            };
            process();
            barrier.wait();
            let start = Instant::now();
            (0..CHUNKS / nthreads).for_each(|_| process());
            (start, Instant::now())
        };
        let threads: Vec<_> = (0..nthreads).map(|_| scope.spawn(work)).collect();
        let times: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a thread")).collect();
        let start = times.iter().map(|times| times.0).min().expect("a thread");
        let end = times.iter().map(|times| times.1).max().expect("a thread");
        (CHUNKS * data.len()) as f64 / f64::from(1 << 20) / (end - start).as_secs_f64()
    })
}

pub fn run(libraries: [&'static Library; 2], options: &Options) {
    print_heading("Contexts at the same time", "MiB/s, threads of the program");
    let mut random = Random::new(10);
    let floats = (0..CHUNKSIZE / 4).flat_map(|n| {
        let noise = (random.next() >> 40) as f32 / (1u32 << 24) as f32;
        ((n as f32 * 1e-3).sin() + 0.01 * noise).to_le_bytes()
    });
    let data: Vec<u8> = floats.collect();
    for (codec_name, codec, clevel) in CODECS {
        for nthreads in [1, 2] {
            let params = Params { codec, clevel, typesize: 4, nthreads, ..Params::default() };
            for program_threads in [1, 2, 4, 16, 64] {
                let name = format!("{codec_name}, contexts of {nthreads} threads, {program_threads}");
                if !options.has_row(&name) {
                    continue;
                }
                let mut best = [0.0f64; 2];
                for _ in 0..ROUNDS {
                    for (best, library) in best.iter_mut().zip(libraries) {
                        *best = best.max(throughput(library, &params, &data, program_threads));
                    }
                }
                print_row(&name, best, best[0] / best[1]);
            }
        }
    }
}
