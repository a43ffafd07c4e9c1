//! The time of short calls of this crate: what `scripts/bench-crate.sh` compares with the C functions. Prints a line for each call:
//! its name and the nanoseconds of the fastest of 30 series of calls.
//!
//! `cargo run --release -p blosc2-safe --example call_costs`

use blosc2::{Array, Decoder, Encoder, Filter, Params, Result, SuperChunk, compress};
use std::hint::black_box;
use std::time::Instant;

const CALLS: u32 = 2000;

fn measure(name: &str, mut call: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(CALLS));
    }
    println!("{name} {:.1}", best * 1e9);
    Ok(())
}

/// The content of all calls: numbers of 4 bytes, also in `capi-tests/call_costs.c`.
fn numbers(len: usize) -> Vec<i32> {
    (0..len as i32).map(|n| n / 3 + (n.wrapping_mul(0x9e37) >> 4 & 7)).collect()
}

fn main() -> Result<()> {
    let params =
        Params::new().typesize(4).filters([Filter::Shuffle]).codec(blosc2::Codec::Lz4).level(5).threads(1);
    let content: Vec<u8> = numbers(128).iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut dest = vec![0; 1024];
    let mut encoder = Encoder::new(&params)?;
    measure("compress_512", || encoder.compress_into(black_box(&content), &mut dest).map(drop))?;
    let chunk = compress(&content, &params)?;
    let mut decoder = Decoder::with_threads(1)?;
    measure("decompress_512", || decoder.decompress_into(black_box(&chunk), &mut dest).map(drop))?;

    let content: Vec<u8> = numbers(10 << 10).iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut schunk = SuperChunk::new(&params)?;
    for part in content.chunks(4096) {
        schunk.append(part)?;
    }
    let mut dest = vec![0; 4096];
    measure("schunk_decompress_chunk", || schunk.decompress_chunk_into(black_box(3), &mut dest).map(drop))?;
    measure("schunk_get_slice_10", || schunk.read_items_into(black_box(2000), &mut dest[..40]))?;
    measure("schunk_set_slice_10", || schunk.write_items(black_box(2000), &dest[..40]))?;
    schunk.metalayers_mut()?.set_variable("units", b"mm")?;
    measure("vlmeta_get", || schunk.metalayers().variable(black_box("units")).map(drop))?;

    let items = numbers(100 * 100);
    let mut array = Array::<i32>::builder([100, 100])
        .chunks([50, 50])
        .blocks([10, 10])
        .params(params)
        .in_memory_from(&items)?;
    let mut dest = vec![0; 100];
    measure("array_get_item", || array.read_into([black_box(57)..58, 33..34], &mut dest[..1]))?;
    measure("array_get_box_of_100", || array.read_into([black_box(55)..65, 35..45], &mut dest))?;
    measure("array_set_item", || array.write([black_box(57)..58, 33..34], &dest[..1]))
}
