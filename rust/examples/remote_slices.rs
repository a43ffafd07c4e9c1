//! Reads parts of an array behind a URL, compares them with the same file on disk, and prints the requests that each needed:
//!
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- write PATH PLANES
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- read URL PATH
//!
//! Uploads that file, and a directory that four threads then append to, and compares what is read with what was written:
//!
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- change URL PATH

use blosc2::remote::Client;
use blosc2::{Array, Codec, Filter, Params, Result};
use std::time::Instant;

/// Rows and columns of a plane, and those of a chunk (16 MiB) and a block (256 KiB).
const PLANE: [u64; 2] = [2048, 2048];
const CHUNK: [u32; 3] = [1, 2048, 2048];
const BLOCK: [u32; 3] = [1, 256, 256];

/// Writes an array of planes of 16 MiB, with waves and noise.
fn write(path: &str, planes: u64) -> Result<()> {
    let params = Params::new().codec(Codec::Zstd).level(1).filters([Filter::Shuffle]).threads(2);
    let builder = Array::<f32>::builder([planes, PLANE[0], PLANE[1]]).chunks(CHUNK).blocks(BLOCK);
    let mut array = builder.params(params).truncate(true).create(path)?;
    let mut state = 1_u32;
    for plane in 0..planes {
        let items: Vec<f32> = (0..PLANE[0] * PLANE[1])
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (i as f32 / 3000.0 + plane as f32).sin() * 1000.0 + (state >> 22) as f32 / 8.0
            })
            .collect();
        array.write((plane, .., ..), &items)?;
    }
    Ok(())
}

/// Runs a step, and prints its requests, bytes and time.
fn step<R>(client: &Client, name: &str, run: impl FnOnce() -> Result<R>) -> Result<R> {
    let (requests, nbytes, start) = (client.requests(), client.nbytes(), Instant::now());
    let result = run()?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:<34} {:>4} requests {:>10} bytes {seconds:>7.3} s",
        client.requests() - requests,
        client.nbytes() - nbytes
    );
    Ok(result)
}

fn read(url: &str, path: &str) -> Result<()> {
    let local = Array::<f32>::open(path)?;
    let (planes, frame_len) = (local.shape()[0], local.info()?.frame_len);
    let block_nbytes = frame_len / (planes * 64);
    println!("{url}: {planes} planes, {frame_len} bytes, about {block_nbytes} in a block");
    let client = Client::new();
    let array: Array<f32> = step(&client, "open", || client.open_array(url))?;
    let at = [planes / 2, 1000, 700];
    let item = step(&client, "an item", || array.get(&at))?;
    assert_eq!(item, local.get(&at)?);
    step(&client, "another item of the block", || array.get(&[planes / 2, 1010, 720]))?;
    let count = planes.min(100);
    let line =
        step(&client, &format!("an item of each of {count} chunks"), || array.read((..count, 10, 10)))?;
    assert_eq!(line, local.read((..count, 10, 10))?);
    let rows = step(&client, &format!("a row of each of {count} chunks"), || array.read((..count, 600, ..)))?;
    assert_eq!(rows, local.read((..count, 600, ..))?);
    println!("{:<34} {:>24} bytes in their {} blocks", "", count * 8 * block_nbytes, count * 8);
    let plane = step(&client, "a plane", || array.read((planes - 1, .., ..)))?;
    assert_eq!(plane, local.read((planes - 1, .., ..))?);
    Ok(())
}

/// Appends rows to an array in a directory from several threads, each with a client of its own.
fn change(url: &str, path: &str) -> Result<()> {
    const THREADS: u64 = 4;
    const APPENDS: u64 = 8;
    let client = Client::new();
    let file = format!("{url}/file.b2nd");
    step(&client, "upload a file", || client.upload(path, &file, true))?;
    let copy: Array<f32> = client.open_array(&file)?;
    assert_eq!(copy.read((0, .., ..))?, Array::<f32>::open(path)?.read((0, .., ..))?);
    assert!(client.upload(path, &file, false).is_err());

    let local = format!("{path}.rows");
    let builder = Array::<u64>::builder([1, 1000]).chunks([3, 1000]).directory(true).truncate(true);
    drop(builder.create_from(&local, &[0; 1000])?);
    let start =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let directory = format!("{url}/rows-{start}.b2nd");
    step(&client, "upload a directory", || client.upload(&local, &directory, false))?;
    step(&client, &format!("{} rows by {THREADS} writers", THREADS * APPENDS), || {
        let append = |thread: u64| -> Result<()> {
            for n in 0..APPENDS {
                client.append_items(&directory, 0, &[1 + thread * APPENDS + n; 1000])?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || append(thread))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
    })?;
    let rows: Array<u64> = client.open_array(&directory)?;
    let mut firsts = rows.read((.., 999))?;
    assert_eq!(rows.read((.., 0))?, firsts);
    firsts.sort_unstable();
    assert_eq!(firsts, (0..=THREADS * APPENDS).collect::<Vec<u64>>(), "an append is lost, or was made twice");
    client.write_items(&directory, (5..7, 2), &[7_u64, 8])?;
    assert_eq!(client.open_array::<u64>(&directory)?.read((5..7, 2))?, [7, 8]);
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path, planes] => write(path, planes.parse().expect("a number of planes")),
        ["read", url, path] => read(url, path),
        ["change", url, path] => change(url, path),
        _ => panic!("expected `write PATH PLANES`, `read URL PATH` or `change URL PATH`"),
    }
}
