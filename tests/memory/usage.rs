//! Measures the memory that a library allocates in addition to the data of the program. Each measurement runs in a
//! separate process, which loads one library. The benchmark `memory` prints the figures of both libraries; the test
//! `peak` compares those of this library with `docs/memory.md`.

use std::env;
use std::ffi::c_void;
use std::ptr;

use blosc2::abi::{CBool, blosc2_storage};

use crate::support::calls::{Params, dparams};
use crate::support::child::this_program;
use crate::support::library::Library;
use crate::support::memory::{PeakMemory, anonymous_bytes};
use crate::support::super_chunk::functions::Functions;

/// The environment variable that names the [`Task`] of a process.
const TASK_VARIABLE: &str = "BLOSC2_MEMORY_TASK";

/// Size of a chunk in bytes.
const CHUNKSIZE: usize = 4 << 20;

/// Number of chunks of a super-chunk.
const NCHUNKS: i64 = 8;

/// Numbers of threads that are measured.
pub const NTHREADS: [i16; 3] = [1, 2, 8];

/// The codecs that are measured, with their numbers. Zstandard has the largest state of all codecs.
pub const CODECS: [(&str, u8); 3] = [("blosclz", 0), ("lz4", 1), ("zstd", 5)];

/// What one process measures.
#[derive(Clone, Copy)]
pub struct Task {
    /// Whether the library is the C library.
    pub is_reference: bool,
    /// Codec number.
    pub codec: u8,
    /// Number of threads, for compression and for decompression.
    pub nthreads: i16,
}

/// Resident memory, in bytes, in excess of the memory before the super-chunk was created.
pub struct Usage {
    /// Peak while chunks are appended and read, minus the compressed chunks.
    pub peak: usize,
    /// After the super-chunk is freed.
    pub after_free: usize,
}

/// Starts this program again, with `args`, to perform `task`.
pub fn measure(task: Task, args: &[&str]) -> Usage {
    let text = format!("{} {} {}", u8::from(task.is_reference), task.codec, task.nthreads);
    let output = this_program().args(args).env(TASK_VARIABLE, text).output().expect("a process");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    // The test harness may print a name before it.
    let result = stdout.lines().find_map(|line| line.split_once("usage: ")).expect("a result").1;
    let (peak, after_free) = result.split_once(' ').expect("two numbers");
    Usage { peak: peak.parse().expect("bytes"), after_free: after_free.parse().expect("bytes") }
}

/// Performs the task of this process and prints the result for [`measure`]. Returns whether the process has a task.
pub fn run_task() -> bool {
    let Ok(text) = env::var(TASK_VARIABLE) else { return false };
    let numbers: Vec<i16> = text.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [is_reference, codec, nthreads] = numbers[..] else { panic!("{TASK_VARIABLE}={text}") };
    let library =
        if is_reference == 1 { Library::reference().expect("the C library") } else { Library::ours() };
    let usage = fill_and_read(library, codec as u8, nthreads);
    println!("usage: {} {}", usage.peak, usage.after_free);
    true
}

/// Appends chunks to a super-chunk in memory, reads them, and frees the super-chunk.
fn fill_and_read(library: &'static Library, codec: u8, nthreads: i16) -> Usage {
    let functions = Functions::of(library);
    let source = content();
    let mut dest = vec![1u8; CHUNKSIZE];
    let params = Params { codec, nthreads, clevel: 5, typesize: 4, ..Params::default() };
    let (mut cparams, mut dparams) = (params.cparams(), dparams(nthreads));
    let mut storage = blosc2_storage {
        contiguous: CBool::FALSE,
        urlpath: ptr::null_mut(),
        cparams: &mut cparams,
        dparams: &mut dparams,
        io: ptr::null_mut(),
    };
    let before = anonymous_bytes();
    let peak_memory = PeakMemory::start();
    let nbytes = CHUNKSIZE as i32;
    // SAFETY: a storage whose pointers are valid during the call, and buffers with their true lengths; the super-chunk
    // is used until it is freed.
    let peak = unsafe {
        let schunk = (functions.blosc2_schunk_new)(&mut storage);
        assert!(!schunk.is_null());
        for nchunk in 1..=NCHUNKS {
            assert_eq!(
                (functions.blosc2_schunk_append_buffer)(schunk, source.as_ptr().cast::<c_void>(), nbytes),
                nchunk
            );
        }
        for nchunk in 0..NCHUNKS {
            let read =
                (functions.blosc2_schunk_decompress_chunk)(schunk, nchunk, dest.as_mut_ptr().cast(), nbytes);
            assert_eq!(read, nbytes);
            assert!(dest == source);
        }
        let compressed = (*schunk).cbytes as usize;
        assert!(compressed > CHUNKSIZE, "the content must not compress to less than CHUNKSIZE");
        let peak = peak_memory.growth().saturating_sub(compressed);
        assert_eq!((functions.blosc2_schunk_free)(schunk), 0);
        peak
    };
    Usage { peak, after_free: anonymous_bytes().saturating_sub(before) }
}

/// Returns numbers of 4 bytes that compress to about half their size.
fn content() -> Vec<u8> {
    let mut state = 1u64;
    let mut content = Vec::with_capacity(CHUNKSIZE);
    for n in 0..CHUNKSIZE as u32 / 4 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        content.extend_from_slice(&((n << 12) | (state >> 52) as u32).to_le_bytes());
    }
    content
}
