//! A compressed array on disk: writes it, reads a part of it, and prints the sizes.
//!
//! `cargo run --release -p blosc2-safe --example array_on_disk -- waves.b2nd`
//!
//! Without an argument, the file is in the directory for temporary files.

use std::path::PathBuf;

use blosc2::{Array, Codec, Filter, Params};

fn main() -> blosc2::Result<()> {
    let argument = std::env::args_os().nth(1).map(PathBuf::from);
    let path = argument.unwrap_or_else(|| std::env::temp_dir().join("waves.b2nd"));
    let waves: Vec<f32> = (0..1000 * 1000).map(|n| (n as f32 / 5000.0).sin()).collect();
    let params = Params::new().codec(Codec::Zstd).level(5).filters([Filter::Shuffle]).threads(2);
    let array =
        Array::<f32>::builder([1000, 1000]).params(params).truncate(true).create_from(&path, &waves)?;
    println!("{} items of 4 bytes, {:.1} times smaller on disk", array.nitems(), array.ratio());

    let part = Array::<f32>::open(&path)?.read((500, 10..13))?;
    println!("row 500, columns 10 to 12: {part:?}");
    assert_eq!(part, waves[500_010..500_013]);
    Ok(())
}
