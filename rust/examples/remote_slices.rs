//! Reads parts of an array behind a URL, compares them with the same file on disk, and prints the requests that each needed:
//!
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- write PATH PLANES
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- read URL PATH
//!
//! From a server without encryption, the requests of each step are repeated, 16 at a time, without anything else, to show the time that they
//! need at least.
//!
//! Reads drawn boxes and lists of drawn arrays, which it writes below PATH and reads below URL, by several settings of the client:
//!
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- draw URL PATH SEED COUNT
//!
//! Uploads that file, and a directory that four threads then append to, downloads the directory, and compares what is read with what was
//! written:
//!
//!     cargo run --release -p blosc2-safe --features remote --example remote_slices -- change URL PATH

use blosc2::remote::{Client, Request};
use blosc2::{Array, Codec, Filter, Params, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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

/// The requests of a step.
type Requests = Arc<Mutex<Vec<(Instant, Request)>>>;

/// A client, and its requests.
struct Recorder {
    client: Client,
    requests: Requests,
}

impl Recorder {
    fn new() -> Recorder {
        let requests = Requests::default();
        let list = requests.clone();
        let note = move |request: &Request| {
            list.lock().expect("no panic").push((Instant::now(), request.clone()));
        };
        Recorder { client: Client::new().on_request(note), requests }
    }

    /// Runs a step, and prints its requests, bytes and time.
    fn step<R>(&self, name: &str, run: impl FnOnce() -> Result<R>) -> Result<R> {
        let (count, nbytes, start) = (self.client.requests(), self.client.nbytes(), Instant::now());
        let result = run()?;
        let seconds = start.elapsed().as_secs_f64();
        let (count, nbytes) = (self.client.requests() - count, self.client.nbytes() - nbytes);
        let requests = std::mem::take(&mut *self.requests.lock().expect("no panic"));
        let bound = match time_of_requests(requests) {
            Some(bound) => format!("{bound:>7.3} s for the requests alone, ratio {:.2}", seconds / bound),
            None => String::new(),
        };
        println!("{name:<34} {count:>4} requests {nbytes:>10} bytes {seconds:>7.3} s {bound}");
        Ok(result)
    }

    /// Runs a step on the array of the URL and on the one on disk, compares the items, and prints the time of the latter.
    fn compare<R: PartialEq>(
        &self,
        name: &str,
        [remote, local]: [&Array<f32>; 2],
        run: impl Fn(&Array<f32>) -> Result<R>,
    ) -> Result<()> {
        let items = self.step(name, || run(remote))?;
        let start = Instant::now();
        let expected = run(local)?;
        println!("{:<59} on disk {:>7.3} s", "", start.elapsed().as_secs_f64());
        assert!(items == expected, "{name}: other items than on disk");
        Ok(())
    }
}

/// Makes the requests again, in the rounds in which they were made, 16 at a time. Returns the seconds; `None` for other requests than reads
/// from a server without encryption.
fn time_of_requests(mut requests: Vec<(Instant, Request)>) -> Option<f64> {
    requests.sort_by_key(|(end, request)| *end - request.time);
    let mut rounds: Vec<(Instant, Vec<Request>)> = Vec::new();
    for (end, request) in requests {
        request.url.strip_prefix("http://").filter(|_| request.method == "GET")?;
        match rounds.last_mut() {
            Some((last, round)) if end - request.time < *last => {
                *last = end.max(*last);
                round.push(request);
            }
            _ => rounds.push((end, vec![request])),
        }
    }
    let (address, _) = rounds.first()?.1[0].url.strip_prefix("http://")?.split_once('/')?;
    let connections: Vec<_> = (0..16).map_while(|_| TcpStream::connect(address).ok()).collect();
    let start = Instant::now();
    for (_, round) in &rounds {
        let next = AtomicUsize::new(0);
        let transfer = |connection: &TcpStream| -> std::io::Result<()> {
            let mut connection = BufReader::with_capacity(1 << 20, connection);
            while let Some(request) = round.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (host, path) = request.url["http://".len()..].split_once('/').expect("a path");
                let (first, last) = (request.range.start, request.range.end - 1);
                let text =
                    format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nRange: bytes={first}-{last}\r\n\r\n");
                connection.get_mut().write_all(text.as_bytes())?;
                let mut line = String::new();
                while connection.read_line(&mut line)? > 2 {
                    line.clear();
                }
                std::io::copy(&mut Read::by_ref(&mut connection).take(request.nbytes), &mut std::io::sink())?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                connections.iter().map(|connection| scope.spawn(|| transfer(connection))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
        .ok()?;
    }
    Some(start.elapsed().as_secs_f64())
}

/// A sequence of numbers that a seed determines.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    /// Returns a number from 1 to `limit`, of which small ones are as frequent as large ones.
    fn scale(&mut self, limit: u64) -> u64 {
        let bits = u64::from(limit.max(1).ilog2()) + 1;
        let most = (1 << (1 + self.below(bits))).min(limit.max(1));
        1 + self.below(most)
    }
}

/// Writes a drawn array with about half of its bytes noise.
fn draw_array(random: &mut Random, path: &str) -> Result<Array<i32>> {
    let ndim = 1 + random.below(4) as usize;
    let side = (16_000_000_f64.powf(1.0 / ndim as f64)) as u64;
    let shape: Vec<u64> = (0..ndim).map(|_| side / 2 + random.below(side / 2) + 1).collect();
    let chunks: Vec<u32> = shape.iter().map(|&extent| (extent / random.scale(64)).max(1) as u32).collect();
    let blocks: Vec<u32> = chunks.iter().map(|&extent| (extent / random.scale(8) as u32).max(1)).collect();
    let count: u64 = shape.iter().product();
    let noise = 1 << random.below(24);
    let items: Vec<i32> = (0..count).map(|i| (i / 100) as i32 ^ random.below(noise) as i32).collect();
    let params =
        Params::new().codec(if random.below(2) == 0 { Codec::Lz4 } else { Codec::Zstd }).level(1).threads(2);
    let builder = Array::<i32>::builder(shape).chunks(chunks).blocks(blocks).params(params).truncate(true);
    builder.directory(random.below(4) == 0).create_from(path, &items)
}

/// Reads the same drawn parts of drawn arrays by several settings, and prints their times, requests and bytes as ratios to those of the
/// first.
fn draw(url: &str, path: &str, mut random: Random, count: u64) -> Result<()> {
    type Setting = (&'static str, fn(Client) -> Client);
    let settings: [Setting; 8] = [
        ("gap 64 KiB, 4 MiB", |client| client),
        ("no gap", |client| client.max_gap(0)),
        ("gap 16 KiB", |client| client.max_gap(16 << 10)),
        ("gap 256 KiB", |client| client.max_gap(256 << 10)),
        ("1 MiB for a request", |client| client.max_request(1 << 20)),
        ("16 MiB for a request", |client| client.max_request(16 << 20)),
        ("4 requests at a time", |client| client.parallel(4)),
        ("64 requests at a time", |client| client.parallel(64)),
    ];
    // Of reads that need at most 16 requests, and of those that need more.
    let mut logs = [vec![[0.0; 3]; settings.len()], vec![[0.0; 3]; settings.len()]];
    let mut reads = [0.0; 2];
    for n in 0..count {
        let name = format!("drawn-{n}.b2nd");
        let local = draw_array(&mut random, &format!("{path}/{name}"))?;
        for _ in 0..4 {
            let ranges: Vec<_> = local
                .shape()
                .iter()
                .map(|&extent| {
                    // Half of the ranges are the whole axis: planes, rows and columns.
                    let start = random.below(extent);
                    if random.below(2) == 0 {
                        0..extent
                    } else {
                        start..start + random.scale((extent - start) / 8)
                    }
                })
                .collect();
            if ranges.iter().map(|range| range.end - range.start).product::<u64>() > 4_000_000 {
                continue;
            }
            let lists: Vec<Vec<u64>> = ranges
                .iter()
                .map(|range| {
                    (0..random.scale(8))
                        .map(|_| range.start + random.below(range.end - range.start))
                        .collect()
                })
                .collect();
            let is_box = random.below(2) == 0;
            let first = random.below(settings.len() as u64) as usize;
            let mut results = vec![[0.0; 3]; settings.len()];
            for at in (0..settings.len()).map(|at| (at + first) % settings.len()) {
                let client = settings[at].1(Client::new());
                let array: Array<i32> = client.open_array(&format!("{url}/{name}"))?;
                let (requests, nbytes, start) = (client.requests(), client.nbytes(), Instant::now());
                let items = if is_box { array.read(&ranges[..])? } else { array.select(&lists)? };
                let seconds = start.elapsed().as_secs_f64();
                let expected = if is_box { local.read(&ranges[..])? } else { local.select(&lists)? };
                assert!(items == expected, "wrong items of {name}");
                let [requests, nbytes] = [client.requests() - requests, client.nbytes() - nbytes];
                results[at] = [seconds, (requests + 1) as f64, (nbytes + 4096) as f64];
            }
            // The second setting joins nothing.
            let kind = usize::from(results[1][1] > 16.0);
            reads[kind] += 1.0;
            for (log, result) in logs[kind].iter_mut().zip(&results) {
                for (sum, (value, first)) in log.iter_mut().zip(result.iter().zip(results[0])) {
                    *sum += (value / first).ln();
                }
            }
        }
    }
    for ((kind, logs), reads) in ["up to", "more than"].iter().zip(logs).zip(reads) {
        println!(
            "\n{reads} reads of {kind} 16 requests; geometric means of the ratios to the first line: time, requests, bytes"
        );
        for ((name, _), log) in settings.iter().zip(logs) {
            let [time, requests, nbytes] = log.map(|sum: f64| (sum / reads).exp());
            println!("{name:<24} {time:>6.3} {requests:>6.3} {nbytes:>6.3}");
        }
    }
    Ok(())
}

fn read(url: &str, path: &str) -> Result<()> {
    let local = Array::<f32>::open(path)?;
    let (planes, frame_len) = (local.shape()[0], local.info()?.frame_len);
    let block_nbytes = frame_len / (planes * 64);
    println!("{url}: {planes} planes, {frame_len} bytes, about {block_nbytes} in a block");
    let recorder = Recorder::new();
    let client = &recorder.client;
    let array: Array<f32> = recorder.step("open", || client.open_array(url))?;
    let arrays = [&array, &local];
    recorder.compare("an item", arrays, |array| array.get(&[planes / 2, 1000, 700]))?;
    recorder.compare("another item of the block", arrays, |array| array.get(&[planes / 2, 1010, 720]))?;
    let count = planes.min(100);
    let name = format!("an item of each of {count} chunks");
    recorder.compare(&name, arrays, |array| array.read((..count, 10, 10)))?;
    let name = format!("a row of each of {count} chunks");
    recorder.compare(&name, arrays, |array| array.read((..count, 600, ..)))?;
    println!("{:<34} {:>24} bytes in their {} blocks", "", count * 8 * block_nbytes, count * 8);
    recorder.compare("a plane", arrays, |array| array.read((planes - 1, .., ..)))?;
    Ok(())
}

/// Appends rows to an array in a directory from several threads, each with a client of its own.
fn change(url: &str, path: &str) -> Result<()> {
    const THREADS: u64 = 4;
    const APPENDS: u64 = 8;
    let recorder = Recorder::new();
    let client = &recorder.client;
    let file = format!("{url}/file.b2nd");
    recorder.step("upload a file", || client.upload(path, &file, true))?;
    let copy: Array<f32> = client.open_array(&file)?;
    assert_eq!(copy.read((0, .., ..))?, Array::<f32>::open(path)?.read((0, .., ..))?);
    assert!(client.upload(path, &file, false).is_err());

    let local = format!("{path}.rows");
    let builder = Array::<u64>::builder([1, 1000]).chunks([3, 1000]).directory(true).truncate(true);
    drop(builder.create_from(&local, &[0; 1000])?);
    let start =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let directory = format!("{url}/rows-{start}.b2nd");
    recorder.step("upload a directory", || client.upload(&local, &directory, false))?;
    recorder.step(&format!("{} rows by {THREADS} writers", THREADS * APPENDS), || {
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
    let copy = tempfile::tempdir()?;
    let copy = copy.path().join("copy");
    recorder.step("download the directory", || client.download(&directory, &copy, true))?;
    assert!(blosc2::verify(&copy, 1)?.is_empty());
    assert_eq!(Array::<u64>::open(&copy)?.read((5..7, 2))?, [7, 8]);
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path, planes] => write(path, planes.parse().expect("a number of planes")),
        ["read", url, path] => read(url, path),
        ["draw", url, path, seed, count] => {
            let random = Random(seed.parse().expect("a seed"));
            draw(url, path, random, count.parse().expect("a number of arrays"))
        }
        ["change", url, path] => change(url, path),
        _ => panic!("expected `write`, `read`, `draw` or `change`"),
    }
}
