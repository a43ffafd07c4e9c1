//! Allocators that fail on request: `malloc` and its relatives, which allocate the memory that crosses the ABI, and
//! the allocator of Rust. They fail only in the thread that requested it, since the test harness has threads, too.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

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
    static MALLOC_FAILURES: Cell<FailurePlan> = const { Cell::new(FailurePlan::NONE) };
    static RUST_FAILURES: Cell<FailurePlan> = const { Cell::new(FailurePlan::NONE) };
}

/// Counts an allocation of `len` bytes; returns whether it fails.
fn should_fail(plan: &'static std::thread::LocalKey<Cell<FailurePlan>>, len: usize) -> bool {
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
    unsafe { __libc_malloc(size) }
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
    unsafe { __libc_calloc(count, size) }
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
