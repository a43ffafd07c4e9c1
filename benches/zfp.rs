//! The ZFP codecs against the reference's, block by block, in one process: prints how many times as fast as the
//! reference each is. The time of the reference includes the chunk around the stream, which is a small part.
//!
//! ```text
//! scripts/fetch-reference.sh
//! cargo bench --bench zfp -- [only=precision] [kib=128]
//! ```

// The tests use the other items of this module.
#[allow(dead_code)]
#[path = "../tests/plugins/zfp_streams/blocks.rs"]
mod blocks;
#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;

use blocks::{BlockEncoding, ReferenceCodec};
use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};

/// The number of batches per library; the fastest counts.
const BATCHES: usize = 15;
/// The least duration of a batch in seconds.
const MIN_BATCH_SECONDS: f64 = 0.002;

fn main() {
    let Some((_, library)) = support::both_libraries() else { return };
    let given = |key: &str| std::env::args().find_map(|a| Some(a.strip_prefix(key)?.to_owned()));
    let (only, kib) =
        (given("only=").unwrap_or_default(), given("kib=").map_or(128, |kib| kib.parse().expect("KiB")));
    println!(
        "{:<44}{:>8}{:>10}{:>10}{:>10}",
        "times as fast as the reference", "size", "encode", "decode", "item"
    );
    let mut ratios = [const { Vec::new() }; 3];
    for (mode, metas) in [
        (Mode::Accuracy, [-6i8 as u8, -3i8 as u8, -1i8 as u8]),
        (Mode::Precision, [4, 12, 28]),
        (Mode::Rate, [10, 25, 50]),
    ] {
        for ndim in 1..=4 {
            for typesize in [4, 8] {
                for meta in metas {
                    let zfp = Zfp { mode, meta };
                    // 1: extents that are no multiples of 4.
                    for odd in [0, 1] {
                        let blockshape = shape(ndim, kib * 1024 / typesize as usize, odd);
                        let geometry = ZfpGeometry { blockshape: &blockshape, typesize };
                        let name = format!("{mode:?} {} {blockshape:?} f{}", meta as i8, typesize * 8);
                        if name.to_lowercase().contains(&only) {
                            let cell = measure(library, zfp, geometry, &name);
                            ratios.iter_mut().zip(cell).for_each(|(all, ratio)| all.extend(ratio));
                        }
                    }
                }
            }
        }
    }
    for (name, ratios) in ["encode", "decode", "item"].iter().zip(&ratios).filter(|(_, all)| !all.is_empty())
    {
        let mean = (ratios.iter().map(|ratio: &f64| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("{name}: geometric mean {mean:.2}, worst {worst:.2} of {}", ratios.len());
    }
}

/// Returns the shape of a block of about `items` items: equal extents, multiples of 4 plus `odd`.
fn shape(ndim: usize, items: usize, odd: i32) -> Vec<i32> {
    let side = (items as f64).powf(1.0 / ndim as f64) as i32 / 4 * 4;
    vec![side + odd; ndim]
}

/// Returns the items of a block in C order: a smooth surface with a little noise.
fn surface_items(geometry: ZfpGeometry<'_>) -> Vec<u8> {
    let count: i32 = geometry.blockshape.iter().product();
    let mut noise = 1u64;
    let mut bytes = Vec::new();
    for at in 0..count {
        let (mut rest, mut value) = (at, 0.0);
        for (axis, &extent) in geometry.blockshape.iter().enumerate().rev() {
            value += (f64::from(rest % extent) * 0.05 / (axis + 1) as f64 + axis as f64).sin() * 50.0;
            rest /= extent;
        }
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        value += (noise >> 40) as f64 * 1e-9;
        match geometry.typesize {
            4 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
            _ => bytes.extend_from_slice(&value.to_le_bytes()),
        }
    }
    bytes
}

/// Returns the speed ratios of encoding, of decoding, and (fixed rate only) of reading one item; `None` for all if the
/// block does not compress.
fn measure(
    library: &'static support::library::Library,
    zfp: Zfp,
    geometry: ZfpGeometry<'_>,
    name: &str,
) -> [Option<f64>; 3] {
    let block = surface_items(geometry);
    let reference = ReferenceCodec::new(library, zfp, geometry);
    let chunk = reference.compress(&block);
    let BlockEncoding::Coded(stream) = reference.block_encoding(&chunk) else { return [None; 3] };
    let mut dest = vec![0; block.len()];
    let mut room = vec![0; 2 * block.len() + 1024];
    let encode = compare(
        || {
            let len = zfp.encode(geometry, black_box(&block), &mut dest).expect("a good shape");
            assert_eq!(len, stream.len());
        },
        || assert!(reference.compress_into(black_box(&block), &mut room) > 0),
    );
    // Ours reads the stream at its position inside the chunk, as the reference does.
    let start = chunk.len() - stream.len();
    let stream = &chunk[start..];
    let decode = compare(
        || assert!(zfp.decode(geometry, black_box(stream), &mut dest).is_ok()),
        || assert!(reference.decompress_into(black_box(&chunk), &mut room[..block.len()]) > 0),
    );
    let size = geometry.typesize as usize;
    let count = block.len() / size;
    let item = (zfp.mode == Mode::Rate).then(|| {
        let (mut ours, mut theirs) = (0, 0);
        let next = |at: &mut usize| {
            *at = (*at * 5 + 12_345) % count;
            *at
        };
        let mut value = [0; 8];
        compare(
            || {
                let (at, out) = (next(&mut ours), &mut value[..size]);
                assert!(zfp.decode_items(geometry, stream, at..at + 1, out).expect("in it"));
            },
            || {
                reference.getitem(&chunk, next(&mut theirs), &mut dest[..size]);
            },
        )
    });
    let ratio = block.len() as f64 / stream.len() as f64;
    let shown = item.map_or(String::new(), |item| format!("{item:.2}"));
    println!("{name:<44}{ratio:>8.2}{encode:>10.2}{decode:>10.2}{shown:>10}");
    [Some(encode), Some(decode), item]
}

/// Returns how many times as fast `ours` is as `theirs`.
fn compare(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> f64 {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..BATCHES {
        best[0] = best[0].min(time_batch(&mut ours));
        best[1] = best[1].min(time_batch(&mut theirs));
    }
    best[1] / best[0]
}

/// Returns the seconds per call of one batch.
fn time_batch(work: &mut impl FnMut()) -> f64 {
    let (start, mut calls) = (thread_seconds(), 0);
    loop {
        // Reading the clock takes as long as reading an item: several calls per reading.
        for _ in 0..(calls / 2).clamp(1, 1000) {
            work();
            calls += 1;
        }
        let elapsed = thread_seconds() - start;
        if elapsed > MIN_BATCH_SECONDS {
            return elapsed / f64::from(calls);
        }
    }
}

/// Returns the processor time of the thread in seconds, which other processes do not change.
fn thread_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: Linux has this clock, and `now` is a valid out-pointer.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0, "a clock");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
