//! Compression and decompression of small buffers allocate no memory per call: after the first calls of a thread
//! nothing is allocated any more, neither by Rust nor by the C codecs, and no worker is woken (filters.md D11).
//!
//! The tests call the functions of the crate, not of the shared library, so that they use the allocator of this
//! program, and they replace the allocation functions of the C library, which both languages use, by counting ones.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use blosc2::abi::{ContextHead, blosc2_context, blosc2_cparams};
use blosc2::capi::defaults::{blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults};
use blosc2::capi::process::blosc2_set_nthreads;

use crate::exported::{
    blosc1_set_compressor, blosc2_compress, blosc2_compress_ctx, blosc2_create_cctx, blosc2_create_dctx,
    blosc2_decompress, blosc2_decompress_ctx, blosc2_free_ctx, blosc2_getitem_ctx,
};

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether the allocations of this thread are counted: the test harness has threads of its own.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count_allocation() {
    if COUNTED.get() {
        ALLOCATIONS.fetch_add(1, Relaxed);
    }
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(at: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
}

/// Counts the call and calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    count_allocation();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_malloc(size) }
}

/// Counts the call and calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    count_allocation();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_calloc(count, size) }
}

/// Counts the call and calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(at: *mut c_void, size: usize) -> *mut c_void {
    count_allocation();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_realloc(at, size) }
}

/// Counts the call and calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    count_allocation();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_memalign(alignment, size) }
}

/// Counts the call and calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    count_allocation();
    // SAFETY: the caller guarantees that `place` is writable.
    unsafe {
        let at = __libc_memalign(alignment, size);
        if at.is_null() {
            return libc::ENOMEM;
        }
        place.write(at);
    }
    0
}

/// Returns the number of allocations that this thread makes in `work`.
fn allocations_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Relaxed);
    COUNTED.set(true);
    work();
    COUNTED.set(false);
    ALLOCATIONS.load(Relaxed) - before
}

/// Builds with debug assertions keep a list of the parts of a destination that workers borrow: one allocation per
/// decompression. Other builds have no list.
const OVERLAP_CHECK_ALLOCATIONS: usize = if cfg!(debug_assertions) { 1 } else { 0 };

/// Returns the allocations of a decompression, without the allocation of the overlap check.
fn decompression_allocations(work: impl FnOnce()) -> usize {
    allocations_of(work).saturating_sub(OVERLAP_CHECK_ALLOCATIONS)
}

const CODECS: [(u8, &std::ffi::CStr); 5] =
    [(0, c"blosclz"), (1, c"lz4"), (2, c"lz4hc"), (4, c"zlib"), (5, c"zstd")];

/// Returns bytes that compress, but not to a special chunk.
fn compressible_bytes(len: usize) -> Vec<u8> {
    (0..len / 4).flat_map(|i| ((i as f32 * 0.01).sin() * 100.0 + (i * i % 7) as f32).to_le_bytes()).collect()
}

struct Buffers {
    src: Vec<u8>,
    chunk: Vec<u8>,
    out: Vec<u8>,
}

impl Buffers {
    fn new(len: usize) -> Buffers {
        Buffers { src: compressible_bytes(len), chunk: vec![0; 2 * len + 10_000], out: vec![0; len] }
    }

    /// Compresses, decompresses and reads items with two contexts; returns the number of allocations.
    fn allocations_with_contexts(
        &mut self,
        writer: *mut blosc2_context,
        reader: *mut blosc2_context,
    ) -> usize {
        let (nbytes, room) = (self.src.len() as i32, self.chunk.len() as i32);
        let src = self.src.as_ptr().cast();
        let (chunk, out) = (self.chunk.as_mut_ptr().cast(), self.out.as_mut_ptr().cast());
        let (mut cbytes, mut read, mut items) = (0, 0, 0);
        let compressing = allocations_of(|| {
            // SAFETY: a live context of this thread; buffers with their true lengths.
            cbytes = unsafe { blosc2_compress_ctx(writer, src, nbytes, chunk, room) };
        });
        assert!(cbytes > 32, "{cbytes}");
        let decompressing = decompression_allocations(|| {
            // SAFETY: as above.
            read = unsafe { blosc2_decompress_ctx(reader, chunk, cbytes, out, nbytes) };
        });
        assert!(read == nbytes && self.out == self.src, "{read}");
        let reading = allocations_of(|| {
            // SAFETY: as above.
            items = unsafe { blosc2_getitem_ctx(reader, chunk, cbytes, 7, 11, out, nbytes) };
        });
        assert!(items == 44 && self.out[..44] == self.src[28..72], "{items}");
        compressing + decompressing + reading
    }

    /// The same with the functions that take no context.
    fn allocations_without_context(&mut self, clevel: c_int, shuffle: c_int) -> usize {
        let (nbytes, room) = (self.src.len() as i32, self.chunk.len() as i32);
        let src = self.src.as_ptr().cast();
        let (chunk, out) = (self.chunk.as_mut_ptr().cast(), self.out.as_mut_ptr().cast());
        let (mut cbytes, mut read) = (0, 0);
        let compressing = allocations_of(|| {
            // SAFETY: buffers with their true lengths.
            cbytes = unsafe { blosc2_compress(clevel, shuffle, 4, src, nbytes, chunk, room) };
        });
        assert!(cbytes > 32, "{cbytes}");
        let decompressing = decompression_allocations(|| {
            // SAFETY: as above.
            read = unsafe { blosc2_decompress(chunk, cbytes, out, nbytes) };
        });
        assert!(read == nbytes && self.out == self.src, "{read}");
        compressing + decompressing
    }
}

#[test]
fn filters_d11_small_buffers_allocate_nothing() {
    let workers = blosc2::internals::pool::worker_count();
    let sizes = [512, 4 << 10, 32 << 10];
    let mut buffers = sizes.map(Buffers::new);
    // Checks that the counter works: a context and the per-thread state, including that of the C codecs, are
    // allocated.
    let counted = allocations_of(|| drop(std::hint::black_box(vec![0u8; 1000])));
    assert_eq!(counted, 1);
    for (codec, name) in CODECS {
        let fresh_thread = std::thread::scope(|scope| {
            let work = || {
                let defaults = blosc2_get_blosc2_cparams_defaults();
                let cparams = blosc2_cparams { compcode: codec, typesize: 4, ..defaults };
                // SAFETY: structs without pointers; contexts used here and freed once.
                unsafe {
                    let writer = blosc2_create_cctx(cparams);
                    let reader = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
                    let count = Buffers::new(4096).allocations_with_contexts(writer, reader);
                    blosc2_free_ctx(writer);
                    blosc2_free_ctx(reader);
                    count
                }
            };
            scope.spawn(work).join().expect("a thread")
        });
        assert!(fresh_thread >= 2, "{name:?}: {fresh_thread} allocations to begin with");
        for clevel in [1, 5, 9] {
            for shuffle in [1, 2] {
                for nthreads in [1, 4] {
                    let defaults = blosc2_get_blosc2_cparams_defaults();
                    let mut cparams =
                        blosc2_cparams { compcode: codec, clevel, nthreads, typesize: 4, ..defaults };
                    cparams.filters[5] = shuffle;
                    let mut dparams = blosc2_get_blosc2_dparams_defaults();
                    dparams.nthreads = nthreads;
                    // SAFETY: structs without pointers.
                    let (writer, reader) =
                        unsafe { (blosc2_create_cctx(cparams), blosc2_create_dctx(dparams)) };
                    // SAFETY: a terminated name, a plain setter.
                    unsafe { assert_eq!(blosc1_set_compressor(name.as_ptr()), c_int::from(codec)) };
                    let what = format!("{name:?}, level {clevel}, filter {shuffle}, {nthreads} threads");
                    for buffers in &mut buffers {
                        // A context keeps the block size of a call as the request for the next one; reset it.
                        // SAFETY: a live context begins with these fields (abi.md 4.3).
                        unsafe { (*writer.cast::<ContextHead>()).blocksize = 0 };
                        let mut round = || {
                            buffers.allocations_with_contexts(writer, reader)
                                + buffers
                                    .allocations_without_context(c_int::from(clevel), c_int::from(shuffle))
                        };
                        round();
                        // A zstd context shrinks once its workspace was too large for 128 streams in a row: here it
                        // is too large after longer buffers or higher levels.
                        let given_back = if codec == 5 { 66 } else { 0 };
                        let counts = (0..given_back + 10).map(|_| round()).collect::<Vec<_>>();
                        let resizes = counts.iter().filter(|&&count| count > 0).count();
                        assert!(resizes <= usize::from(codec == 5), "{what}: {counts:?}");
                    }
                    assert_eq!(blosc2::internals::pool::worker_count(), workers, "{what}: workers");
                    // SAFETY: both are live and not used afterwards.
                    unsafe {
                        blosc2_free_ctx(writer);
                        blosc2_free_ctx(reader);
                    }
                }
            }
        }
    }
    // With running workers, small buffers are still processed by the calling thread, without allocations.
    assert_eq!(blosc2_set_nthreads(4), 1);
    let started = blosc2::internals::pool::worker_count();
    assert_eq!(started, 3);
    for (_, name) in CODECS {
        // SAFETY: a terminated name.
        unsafe { assert!(blosc1_set_compressor(name.as_ptr()) >= 0) };
        let mut run =
            || buffers.iter_mut().map(|buffers| buffers.allocations_without_context(5, 1)).sum::<usize>();
        run();
        assert_eq!(run(), 0, "{name:?}");
    }
    assert_eq!(blosc2::internals::pool::worker_count(), started);
}
