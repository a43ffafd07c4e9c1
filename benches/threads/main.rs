//! The cost and the use of threads, beside the reference library in the same process and run.
//!
//! ```text
//! scripts/fetch-reference.sh
//! cargo bench --bench threads                     # all groups, 4 minutes
//! cargo bench --bench threads -- gaps             # short calls, with and without a second thread
//! cargo bench --bench threads -- counts           # long calls, with 1 to 64 threads
//! cargo bench --bench threads -- processes        # processes x threads, as the workers of Dask
//! cargo bench --bench threads -- gaps slice       # the cells with these words in their names
//! ```
//!
//! Group `gaps`: calls of 1 to 16 blocks, between which the program computes for 0 to 1000 us. The columns `2/1` are the
//! time with two threads relative to the time with one, elapsed and of the processor: below 1, the second thread helps.
//! A cell misses if the elapsed time is more than 1.05 times that of one thread, or the processor time more than 1.1
//! times without a fifth less elapsed time.
//!
//! Group `counts`: speed relative to one thread of the same library, for the number of threads in the name, and speed
//! relative to the reference with the same number.
//!
//! Group `processes`: see `processes.rs`.

mod processes;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use support::array::{Array, ArraySpec};
use support::calls::{OwnedContext, Params, dparams};
use support::library::Library;
use support::random::Random;

/// The codecs of the cells: name, id and level.
type Codec = (&'static str, u8, u8);
const BLOSCLZ: Codec = ("blosclz 5", 0, 5);
const LZ4: Codec = ("lz4 5", 1, 5);
const ZSTD: Codec = ("zstd 1", 5, 1);

/// Batches of each variant per cell.
const ROUNDS: usize = 7;

/// A call with 1 and with 2 threads, or more: `variants[library][n]` uses the `n`-th number of threads.
type Variants = [Vec<Box<dyn FnMut()>>; 2];

/// Time per call, in microseconds.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

/// Returns the time of a clock in microseconds.
fn read_clock(id: libc::clockid_t) -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: Linux has the clocks that this program reads, and `now` is a valid out-pointer.
    assert_eq!(unsafe { libc::clock_gettime(id, &raw mut now) }, 0, "a clock");
    now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3
}

/// Returns the mean cost of `calls` calls. The thread computes for the time `gap` before each, which is not counted;
/// the processor time of other threads during the gap is.
fn batch(calls: usize, gap: Duration, work: &mut dyn FnMut()) -> Cost {
    let cpu = read_clock(libc::CLOCK_PROCESS_CPUTIME_ID);
    let (mut wall, mut gap_cpu) = (0.0, 0.0);
    let mut end = Instant::now();
    for _ in 0..calls {
        if !gap.is_zero() {
            let before = read_clock(libc::CLOCK_THREAD_CPUTIME_ID);
            while end.elapsed() < gap {}
            gap_cpu += read_clock(libc::CLOCK_THREAD_CPUTIME_ID) - before;
        }
        let start = Instant::now();
        work();
        end = Instant::now();
        wall += (end - start).as_secs_f64() * 1e6;
    }
    let cpu = read_clock(libc::CLOCK_PROCESS_CPUTIME_ID) - cpu - gap_cpu;
    Cost { wall: wall / calls as f64, cpu: cpu / calls as f64 }
}

/// Returns how many times as fast two threads of this program compute as one: less than 2 if other programs run.
fn parallel_capacity() -> f64 {
    let compute = || (0..5_000_000u64).for_each(|n| _ = std::hint::black_box(n));
    let time = |work: &dyn Fn()| {
        let seconds = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        };
        (0..ROUNDS).map(seconds).fold(f64::MAX, f64::min)
    };
    let one = time(&compute);
    let two = time(&|| std::thread::scope(|scope| _ = (scope.spawn(compute), compute())));
    2.0 * one / two
}

/// Returns the costs of all variants, whose batches alternate: the least elapsed time of a batch, since noise only adds
/// time, and the median of the processor time, which the system counts in steps if other threads run.
fn measure(calls: usize, gap: Duration, variants: &mut Variants) -> [Vec<Cost>; 2] {
    let mut costs = variants.each_ref().map(|list| vec![Vec::new(); list.len()]);
    for _ in 0..ROUNDS {
        for (list, costs) in variants.iter_mut().zip(&mut costs) {
            for (work, costs) in list.iter_mut().zip(costs) {
                batch(calls / 2 + 1, gap, work);
                costs.push(batch(calls, gap, work));
            }
        }
    }
    costs.map(|costs| costs.into_iter().map(summary).collect())
}

fn summary(costs: Vec<Cost>) -> Cost {
    let mut cpu: Vec<f64> = costs.iter().map(|cost| cost.cpu).collect();
    cpu.sort_by(f64::total_cmp);
    Cost { wall: costs.iter().map(|cost| cost.wall).fold(f64::MAX, f64::min), cpu: cpu[cpu.len() / 2] }
}

/// Returns 8-byte floats without a fraction that walk at random.
fn walk(count: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    let mut sum = 0.0;
    let mut unit = || (random.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    (0..count)
        .flat_map(|_| {
            sum += (0..4).map(|_| unit()).sum::<f64>() * 170.0;
            f64::floor(sum).to_le_bytes()
        })
        .collect()
}

/// Returns 4-byte floats of a smooth curve with noise.
fn noisy_floats(nbytes: usize) -> Vec<u8> {
    let mut random = Random::new(2);
    (0..nbytes / 4)
        .flat_map(|n| {
            let noise = (random.next() >> 40) as f32 / (1u32 << 24) as f32;
            ((n as f32 * 1e-3).sin() + 0.01 * noise).to_le_bytes()
        })
        .collect()
}

/// Compresses `data` in blocks of `blocksize` bytes (0: automatic).
fn compress_variants(
    libraries: [&'static Library; 2],
    (codec, clevel): (u8, u8),
    (typesize, blocksize): (i32, i32),
    data: &Rc<[u8]>,
    threads: &[i16],
) -> Variants {
    // All variants write to the same buffer: the address has an effect on short calls.
    let dest = Rc::new(RefCell::new(vec![0; data.len() + 64]));
    libraries.map(|library| {
        let variant = |&nthreads: &i16| {
            let params = Params { codec, clevel, typesize, blocksize, nthreads, ..Params::default() };
            let mut context =
                OwnedContext::for_compression(library, params.cparams()).expect("valid parameters");
            let (data, dest) = (Rc::clone(data), Rc::clone(&dest));
            Box::new(move || assert!(context.compress(&data, &mut dest.borrow_mut()) > 0)) as Box<dyn FnMut()>
        };
        threads.iter().map(variant).collect()
    })
}

/// Decompresses a chunk with that content, which the reference compressed.
fn decompress_variants(
    libraries: [&'static Library; 2],
    (codec, clevel): (u8, u8),
    (typesize, blocksize): (i32, i32),
    data: &[u8],
    threads: &[i16],
) -> Variants {
    let params = Params { codec, clevel, typesize, blocksize, ..Params::default() };
    let chunk = support::calls::compress(libraries[1], &params, data, data.len() + 64).expect("a chunk");
    let chunk: Rc<[u8]> = Rc::from(chunk);
    let dest = Rc::new(RefCell::new(vec![0; data.len()]));
    libraries.map(|library| {
        let variant = |&nthreads: &i16| {
            let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
            let (chunk, dest) = (Rc::clone(&chunk), Rc::clone(&dest));
            Box::new(move || assert!(context.decompress(&chunk, &mut dest.borrow_mut()) > 0))
                as Box<dyn FnMut()>
        };
        threads.iter().map(variant).collect()
    })
}

/// Arrays of 5000 x 1000 items in chunks of 1000 x 1000 and blocks of 25 x 1000, with 1 and 2 threads.
fn create_arrays(libraries: [&'static Library; 2]) -> [[Array; 2]; 2] {
    let items = walk(5_000_000);
    libraries.map(|library| {
        [1, 2].map(|nthreads| {
            let mut spec = ArraySpec::new(&[5000, 1000], &[1000, 1000], &[25, 1000], 8);
            spec.params.codec = LZ4.1;
            (spec.params.nthreads, spec.dthreads) = (nthreads, nthreads);
            spec.create_from_buffer(library, &items)
        })
    })
}

/// Reads 100 columns of all rows of `nblocks` blocks, each time at another position.
fn slice_variants(arrays: &'static [[Array; 2]; 2], nblocks: usize) -> Variants {
    let dest = Rc::new(RefCell::new(vec![0; 25 * nblocks * 800]));
    arrays.each_ref().map(|pair| {
        let variant = |array: &'static Array| {
            let (mut random, rows) = (Random::new(3), 25 * nblocks as i64);
            let dest = Rc::clone(&dest);
            Box::new(move || {
                let mut draw = |count: u64| (random.next() % count) as i64;
                let first = draw(5) * 1000 + draw(41 - nblocks as u64) * 25;
                let (start, stop) = ([first, 400], [first + rows, 500]);
                read_slice(array, &start, &stop, &[rows, 100], &mut dest.borrow_mut());
            }) as Box<dyn FnMut()>
        };
        pair.iter().map(variant).collect()
    })
}

fn read_slice(array: &Array, start: &[i64; 2], stop: &[i64; 2], shape: &[i64; 2], dest: &mut [u8]) {
    // SAFETY: the array has two dimensions, and `dest` is valid for writes of `dest.len()` bytes.
    let rc = unsafe {
        (array.functions.b2nd_get_slice_cbuffer)(
            array.raw(),
            start.as_ptr(),
            stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            shape.as_ptr(),
            dest.len() as i64,
        )
    };
    assert_eq!(rc, 0, "{}: a slice", array.library.name);
}

/// Block size of the chunks of the group `gaps`, in bytes.
const BLOCKSIZE: usize = 64 << 10;

fn run_gaps(libraries: [&'static Library; 2], is_wanted: &dyn Fn(&str) -> bool) {
    println!("{:38} {:>9} {:>16} {:>16}   ours/theirs", "", "us, 1", "ours: 2/1", "theirs: 2/1");
    println!(
        "{:38} {:>9} {:>8}{:>8} {:>8}{:>8} {:>8}{:>8}",
        "", "wall", "wall", "cpu", "wall", "cpu", "1", "2"
    );
    let (mut cells, mut misses) = (0, Vec::new());
    let mut cell = |name: &str, variants: &dyn Fn() -> Variants| {
        if !is_wanted(name) {
            return;
        }
        let mut variants = variants();
        for gap in [0, 20, 50, 200, 1000] {
            let gap = Duration::from_micros(gap);
            let probe = batch(3, gap, &mut variants[1][0]).wall + gap.as_secs_f64() * 1e6;
            let calls = (10_000.0 / probe).clamp(8.0, 400.0) as usize;
            let [ours, theirs] = measure(calls, gap, &mut variants);
            let (wall, cpu) = (ours[1].wall / ours[0].wall, ours[1].cpu / ours[0].cpu);
            let line = format!(
                "{:38} {:9.1} {wall:8.2}{cpu:8.2} {:8.2}{:8.2} {:8.2}{:8.2}",
                format!("{name}, gap {} us", gap.as_micros()),
                ours[0].wall,
                theirs[1].wall / theirs[0].wall,
                theirs[1].cpu / theirs[0].cpu,
                theirs[0].wall / ours[0].wall,
                theirs[1].wall / ours[1].wall,
            );
            let is_missed = wall > 1.05 || (cpu > 1.1 && wall > 0.8);
            println!("{line}{}", if is_missed { "  missed" } else { "" });
            cells += 1;
            if is_missed {
                misses.push(wall);
            }
        }
    };
    let arrays = OnceCell::new();
    for nblocks in [1, 2, 3, 4, 8, 16] {
        let arrays = || *arrays.get_or_init(|| &*Box::leak(Box::new(create_arrays(libraries))));
        cell(&format!("slice lz4 5, {nblocks} blocks"), &|| slice_variants(arrays(), nblocks));
    }
    for (name, codec, clevel) in [BLOSCLZ, LZ4, ZSTD] {
        for nblocks in [1, 2, 4, 8, 16] {
            let data = Rc::from(walk(nblocks * BLOCKSIZE / 8));
            let sizes = (8, BLOCKSIZE as i32);
            cell(&format!("compress {name}, {nblocks} blocks"), &|| {
                compress_variants(libraries, (codec, clevel), sizes, &data, &[1, 2])
            });
            cell(&format!("decompress {name}, {nblocks} blocks"), &|| {
                decompress_variants(libraries, (codec, clevel), sizes, &data, &[1, 2])
            });
        }
    }
    let worst = misses.iter().copied().fold(0.0, f64::max);
    println!(
        "{} of {cells} cells miss; the worst elapsed time of these is {worst:.2} of one thread",
        misses.len()
    );
}

fn run_counts(libraries: [&'static Library; 2], is_wanted: &dyn Fn(&str) -> bool) {
    const THREADS: [i16; 5] = [1, 2, 4, 16, 64];
    let columns = THREADS.map(|nthreads| format!("{nthreads:8}"));
    println!(
        "{:26} speed-up{} | theirs{} | ours/theirs{}",
        "",
        columns.concat(),
        columns.concat(),
        columns.concat()
    );
    for mib in [16, 1] {
        let data = Rc::from(noisy_floats(mib << 20));
        for (name, codec, clevel) in [ZSTD, LZ4] {
            let cell = |operation: &str, variants: &dyn Fn() -> Variants| {
                let name = format!("{operation} {name}, {mib} MiB");
                if !is_wanted(&name) {
                    return;
                }
                let mut variants = variants();
                let probe = batch(2, Duration::ZERO, &mut variants[1][0]).wall;
                let calls = (50_000.0 / probe).clamp(1.0, 100.0) as usize;
                let [ours, theirs] = measure(calls, Duration::ZERO, &mut variants);
                let speed_up = |costs: &[Cost]| -> String {
                    costs.iter().map(|cost| format!("{:8.2}", costs[0].wall / cost.wall)).collect()
                };
                let ratios = theirs.iter().zip(&ours).map(|(theirs, ours)| theirs.wall / ours.wall);
                let ratios: String = ratios.map(|ratio| format!("{ratio:8.2}")).collect();
                println!(
                    "{name:26}         {} |       {} |            {ratios}",
                    speed_up(&ours),
                    speed_up(&theirs)
                );
            };
            cell("compress", &|| compress_variants(libraries, (codec, clevel), (4, 0), &data, &THREADS));
            cell("decompress", &|| decompress_variants(libraries, (codec, clevel), (4, 0), &data, &THREADS));
        }
    }
}

fn main() {
    let Some((ours, theirs)) = support::both_libraries() else { return };
    if processes::run_if_child([ours, theirs]) {
        return;
    }
    // `cargo bench` adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_group = |name: &str| words.first().is_none_or(|group| group == name);
    let is_wanted = |name: &str| words.iter().skip(1).all(|word| name.contains(word.as_str()));
    let print_capacity = || {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        println!("{cores} cores; two threads compute {:.2} times as fast as one", parallel_capacity());
    };
    print_capacity();
    if is_group("gaps") {
        run_gaps([ours, theirs], &is_wanted);
    }
    if is_group("counts") {
        run_counts([ours, theirs], &is_wanted);
    }
    if is_group("processes") {
        processes::run([ours, theirs], &is_wanted);
    }
    print_capacity();
}
