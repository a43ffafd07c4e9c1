//! The time that the library needs for a file in memory, without reading and writing it: what `scripts/bench-cli.sh`
//! compares the command with. Prints two numbers: seconds of compression and of decompression.
//!
//! `cargo run --release -p blosc2-safe --example codec_time -- FILE CODEC LEVEL TYPESIZE THREADS`

use blosc2::{Chunk, Codec, Decoder, Encoder, Filter, Params};
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

/// The size of chunks that the command uses, in bytes.
const CHUNKSIZE: usize = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, codec, level, typesize, threads] = &arguments[..] else {
        return Err("expected FILE CODEC LEVEL TYPESIZE THREADS".into());
    };
    let (typesize, threads) = (typesize.parse()?, threads.parse()?);
    let filters = if typesize > 1 { vec![Filter::Shuffle] } else { Vec::new() };
    let params = Params::new().codec(codec.parse::<Codec>()?).level(level.parse()?);
    let mut encoder = Encoder::new(&params.filters(filters).typesize(typesize).threads(threads))?;
    let mut decoder = Decoder::with_threads(threads)?;
    let (mut content, mut back) = (vec![0; CHUNKSIZE], vec![0; CHUNKSIZE]);
    let mut chunk = vec![0; CHUNKSIZE + 32];
    let (mut compress, mut decompress) = (Duration::ZERO, Duration::ZERO);
    let mut input = File::open(file)?;
    loop {
        let mut len = 0;
        while len < CHUNKSIZE {
            match input.read(&mut content[len..])? {
                0 => break,
                count => len += count,
            }
        }
        if len == 0 {
            break;
        }
        let start = Instant::now();
        let cbytes = encoder.compress_into(&content[..len], &mut chunk)?.ok_or("the chunk does not fit")?;
        compress += start.elapsed();
        let parsed = Chunk::from_bytes(&chunk[..cbytes])?;
        let start = Instant::now();
        decoder.decompress_into(&parsed, &mut back)?;
        decompress += start.elapsed();
        if back[..len] != content[..len] {
            return Err("the decompressed content differs".into());
        }
    }
    println!("{:.3} {:.3}", compress.as_secs_f64(), decompress.as_secs_f64());
    Ok(())
}
