//! A year of temperatures on a grid, written by four threads: each writes the months that no other thread has begun, as slabs of
//! one array in a file. Then threads read ahead while the means are computed.
//!
//! `cargo run --release -p blosc2-safe --example climate -- temperature.b2nd`
//!
//! Without an argument, the file is in the directory for temporary files.

use blosc2::{Array, Codec, Durability, Filter, Params, Result, step};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

const MONTHS: u64 = 12;
const LATITUDES: u64 = 180;
const LONGITUDES: u64 = 360;

/// Returns the temperatures of a month, in °C.
fn simulate(month: u64) -> Vec<f32> {
    let season = (month as f32 / 6.0 * std::f32::consts::PI).cos();
    let items = (0..LATITUDES * LONGITUDES).map(|n| {
        let latitude = (n / LONGITUDES) as f32 - 90.0;
        let longitude = (n % LONGITUDES) as f32;
        let coldness = (latitude / 90.0).powi(2) * 45.0 + latitude / 90.0 * season * 15.0;
        // Measured to a tenth of a degree.
        ((28.0 - coldness + (longitude / 20.0).sin()) * 10.0).round() / 10.0
    });
    items.collect()
}

fn main() -> Result<()> {
    let argument = std::env::args_os().nth(1).map(PathBuf::from);
    let path = argument.unwrap_or_else(|| std::env::temp_dir().join("temperature.b2nd"));
    let array = Array::<f32>::builder([MONTHS, LATITUDES, LONGITUDES])
        // A slab is a chunk, so that threads only wait for each other while they store.
        .chunks([1, LATITUDES as u32, LONGITUDES as u32])
        .blocks([1, 30, LONGITUDES as u32])
        .params(Params::new().codec(Codec::Zstd).level(5).filters([Filter::Shuffle, Filter::ByteDelta]))
        .durability(Durability::Kill)
        .metalayer("unit", b"degrees Celsius")
        .truncate(true)
        .create(&path)?;

    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let write_months = || -> Result<()> {
            loop {
                let month = next.fetch_add(1, Ordering::Relaxed);
                if month >= MONTHS {
                    return Ok(());
                }
                array.write_shared((month, .., ..), &simulate(month))?;
            }
        };
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(write_months)).collect();
        writers.into_iter().try_for_each(|writer| writer.join().expect("no writer panics"))
    })?;
    println!("{} chunks, {:.1} times smaller on disk", array.nchunks(), array.ratio());
    drop(array);

    let array = Array::<f32>::open(&path)?;
    for (month, items) in array.prefetch_chunks(2)?.enumerate() {
        let items = items?;
        assert_eq!(items, simulate(month as u64));
        println!("month {month:2}: {:6.2} degrees", items.iter().sum::<f32>() / items.len() as f32);
    }
    // Every third month at one place.
    let seasons = array.read((step(.., 3), 140, 10))?;
    println!("seasons at 50° N, 10° E: {seasons:?}");
    assert_eq!(seasons.len(), 4);
    Ok(())
}
