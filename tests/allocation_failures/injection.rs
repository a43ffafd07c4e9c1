//! Allocators that fail on request: `malloc` and its relatives, which allocate the memory that crosses the ABI, and
//! the allocator of Rust. They fail only in the thread that requested it, since the test harness has threads, too.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Determines which allocations of one allocator fail.
#[derive(Clone, Copy)]
struct FailurePlan {
    /// Number of allocations that succeed before the first failure.
    succeeding: usize,
    /// Number of allocations that fail after that.
    failing: usize,
    /// Number of allocations that have failed.
    failed: usize,
    /// Size of the smallest allocations that count and fail, in bytes.
    min_len: usize,
}

impl FailurePlan {
    const NONE: FailurePlan = FailurePlan { succeeding: usize::MAX, failing: 0, failed: 0, min_len: 0 };
}

thread_local! {
    /// Number of blocks of `malloc` that this thread has allocated, minus the number that it has freed.
    static LIVE_BLOCKS: Cell<i64> = const { Cell::new(0) };
    static MALLOC_FAILURES: Cell<FailurePlan> = const { Cell::new(FailurePlan::NONE) };
    static RUST_FAILURES: Cell<FailurePlan> = const { Cell::new(FailurePlan::NONE) };
}

/// The plan of [`fail_in_process`]: allocations of `MIN_LEN` to `MAX_LEN` bytes are counted in `COUNT`, and number `AT`
/// fails, counted from 1; none if it is 0. With `IS_PERSISTENT`, all later ones fail, too.
static MIN_LEN: AtomicUsize = AtomicUsize::new(0);
static MAX_LEN: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static AT: AtomicUsize = AtomicUsize::new(0);
static IS_PERSISTENT: AtomicBool = AtomicBool::new(false);

/// Makes allocation number `at` with a length in `lens`, in bytes, fail, of all threads and of both allocators; if
/// `is_persistent`, also all later ones. For processes with one test. [`end_failures`] ends it.
pub fn fail_in_process(at: usize, lens: &RangeInclusive<usize>, is_persistent: bool) {
    MIN_LEN.store(*lens.start(), Ordering::SeqCst);
    MAX_LEN.store(*lens.end(), Ordering::SeqCst);
    COUNT.store(0, Ordering::SeqCst);
    IS_PERSISTENT.store(is_persistent, Ordering::SeqCst);
    AT.store(at, Ordering::SeqCst);
}

/// Ends the failures that [`fail_in_process`] has begun. Returns whether there was one.
pub fn end_failures() -> bool {
    let at = AT.swap(0, Ordering::SeqCst);
    at > 0 && COUNT.load(Ordering::SeqCst) >= at
}

/// Counts an allocation of `len` bytes; returns whether it fails.
fn should_fail(plan: &'static std::thread::LocalKey<Cell<FailurePlan>>, len: usize) -> bool {
    let at = AT.load(Ordering::Relaxed);
    let lens = MIN_LEN.load(Ordering::Relaxed)..=MAX_LEN.load(Ordering::Relaxed);
    if at > 0 && lens.contains(&len) {
        let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        if number == at || (number > at && IS_PERSISTENT.load(Ordering::Relaxed)) {
            return true;
        }
    }
    let mut now = plan.get();
    if len < now.min_len {
        return false;
    }
    if now.succeeding > 0 {
        now.succeeding -= 1;
    } else if now.failing > 0 {
        now.failing -= 1;
        now.failed += 1;
        plan.set(now);
        return true;
    }
    plan.set(now);
    false
}

/// Runs `work`; one `malloc` fails, after `succeeding` successful ones. Returns the result and whether that
/// allocation was requested.
pub fn with_one_failed_malloc<R>(succeeding: usize, work: impl FnOnce() -> R) -> (R, bool) {
    MALLOC_FAILURES.set(FailurePlan { succeeding, failing: 1, ..FailurePlan::NONE });
    let result = work();
    (result, MALLOC_FAILURES.replace(FailurePlan::NONE).failed > 0)
}

/// Runs `work`. Returns the result, and the number of blocks of `malloc` that this thread has allocated and not freed.
pub fn count_kept_mallocs<R>(work: impl FnOnce() -> R) -> (R, i64) {
    let before = LIVE_BLOCKS.get();
    let result = work();
    (result, LIVE_BLOCKS.get() - before)
}

/// Counts a new block, unless it is NULL.
fn count_block(at: *mut c_void) -> *mut c_void {
    LIVE_BLOCKS.set(LIVE_BLOCKS.get() + i64::from(!at.is_null()));
    at
}

/// Runs `work`; one allocation of `min_len` bytes or more of Rust's allocator fails, after `succeeding` successful ones.
/// Returns the result and whether that allocation was requested.
pub fn with_one_failed_allocation<R>(
    succeeding: usize,
    min_len: usize,
    work: impl FnOnce() -> R,
) -> (R, bool) {
    RUST_FAILURES.set(FailurePlan { succeeding, failing: 1, failed: 0, min_len });
    let result = work();
    (result, RUST_FAILURES.replace(FailurePlan::NONE).failed > 0)
}

/// Runs `work`; every allocation fails, of `malloc` and of Rust's allocator, after `succeeding` successful ones of
/// the latter. Returns the result and the number of failed allocations.
pub fn without_memory<R>(succeeding: usize, work: impl FnOnce() -> R) -> (R, usize) {
    MALLOC_FAILURES.set(FailurePlan { succeeding: 0, failing: usize::MAX, ..FailurePlan::NONE });
    RUST_FAILURES.set(FailurePlan { succeeding, failing: usize::MAX, ..FailurePlan::NONE });
    let result = work();
    let failed =
        MALLOC_FAILURES.replace(FailurePlan::NONE).failed + RUST_FAILURES.replace(FailurePlan::NONE).failed;
    (result, failed)
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(at: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(at: *mut c_void);
}

/// Calls the C library's function, or returns NULL.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if should_fail(&MALLOC_FAILURES, size) {
        return null_mut();
    }
    // SAFETY: the arguments are passed on unchanged.
    count_block(unsafe { __libc_malloc(size) })
}

/// Calls the C library's function, or returns NULL.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if should_fail(&MALLOC_FAILURES, count.saturating_mul(size)) {
        return null_mut();
    }
    // SAFETY: the arguments are passed on unchanged.
    count_block(unsafe { __libc_calloc(count, size) })
}

/// Calls the C library's function, or returns NULL.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(at: *mut c_void, size: usize) -> *mut c_void {
    if should_fail(&MALLOC_FAILURES, size) {
        return null_mut();
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_realloc(at, size) }
}

/// Calls the C library's function, or returns NULL.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    if should_fail(&MALLOC_FAILURES, size) {
        return null_mut();
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_memalign(alignment, size) }
}

/// Calls the C library's function.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(at: *mut c_void) {
    LIVE_BLOCKS.set(LIVE_BLOCKS.get() - i64::from(!at.is_null()));
    // SAFETY: the arguments are passed on unchanged.
    unsafe { __libc_free(at) }
}

/// Calls the C library's function, or returns its error code.
///
/// # Safety
///
/// The contract of the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if should_fail(&MALLOC_FAILURES, size) {
        return libc::ENOMEM;
    }
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

/// The allocator of Rust code. It uses none of the functions above, since most of its allocations must not fail.
struct RustAllocator;

#[global_allocator]
static RUST_ALLOCATOR: RustAllocator = RustAllocator;

// SAFETY: passes every request on to the C library, whose blocks have the requested alignment and length.
unsafe impl GlobalAlloc for RustAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if should_fail(&RUST_FAILURES, layout.size()) {
            return null_mut();
        }
        // SAFETY: any length and any power of two are valid arguments.
        unsafe { __libc_memalign(layout.align().max(size_of::<usize>()), layout.size()) }.cast()
    }

    unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
        // SAFETY: the caller guarantees that this is a block from `alloc`.
        unsafe { __libc_free(at.cast()) }
    }
}
