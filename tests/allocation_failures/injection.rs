//! Allocators that fail on request: `malloc` and its relatives, which memory that crosses the ABI comes from,
//! and the allocator of Rust. Each fails only in the thread that asks for it, since the test harness has threads, too.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Which requests of one of the allocators fail.
#[derive(Clone, Copy)]
struct Plan {
    /// Requests that succeed before the first one that fails.
    succeeding: usize,
    /// Requests that fail then.
    failing: usize,
    /// Requests that have failed.
    failed: usize,
}

impl Plan {
    const NONE: Plan = Plan { succeeding: usize::MAX, failing: 0, failed: 0 };
}

thread_local! {
    static MALLOC: Cell<Plan> = const { Cell::new(Plan::NONE) };
    static RUST: Cell<Plan> = const { Cell::new(Plan::NONE) };
}

/// Counts a request. Returns whether it fails.
fn fails(plan: &'static std::thread::LocalKey<Cell<Plan>>) -> bool {
    let mut now = plan.get();
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

/// Runs `work` while `malloc` fails once, after `succeeding` requests that succeed. Returns the result and whether the
/// request to fail was made.
pub fn with_failing_malloc<R>(succeeding: usize, work: impl FnOnce() -> R) -> (R, bool) {
    MALLOC.set(Plan { succeeding, failing: 1, failed: 0 });
    let result = work();
    (result, MALLOC.replace(Plan::NONE).failed > 0)
}

/// Runs `work` while every request fails, of `malloc` and of Rust's allocator, after `succeeding` requests of the latter
/// that succeed. Returns the result and the number of requests that failed.
pub fn without_memory<R>(succeeding: usize, work: impl FnOnce() -> R) -> (R, usize) {
    MALLOC.set(Plan { succeeding: 0, failing: usize::MAX, failed: 0 });
    RUST.set(Plan { succeeding, failing: usize::MAX, failed: 0 });
    let result = work();
    let failed = MALLOC.replace(Plan::NONE).failed + RUST.replace(Plan::NONE).failed;
    (result, failed)
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(at: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(at: *mut c_void);
}

/// The C library's function, or NULL.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if fails(&MALLOC) {
        return null_mut();
    }
    // SAFETY: passed on as it is.
    unsafe { __libc_malloc(size) }
}

/// The C library's function, or NULL.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if fails(&MALLOC) {
        return null_mut();
    }
    // SAFETY: passed on as it is.
    unsafe { __libc_calloc(count, size) }
}

/// The C library's function, or NULL.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(at: *mut c_void, size: usize) -> *mut c_void {
    if fails(&MALLOC) {
        return null_mut();
    }
    // SAFETY: passed on as it is.
    unsafe { __libc_realloc(at, size) }
}

/// The C library's function, or NULL.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    if fails(&MALLOC) {
        return null_mut();
    }
    // SAFETY: passed on as it is.
    unsafe { __libc_memalign(alignment, size) }
}

/// The C library's function.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(at: *mut c_void) {
    // SAFETY: passed on as it is.
    unsafe { __libc_free(at) }
}

/// The C library's function, or its error code.
///
/// # Safety
/// As that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if fails(&MALLOC) {
        return libc::ENOMEM;
    }
    // SAFETY: `place` is writable by the caller's word.
    unsafe {
        let at = __libc_memalign(alignment, size);
        if at.is_null() {
            return libc::ENOMEM;
        }
        place.write(at);
    }
    0
}

/// The allocator of Rust code, which is none of the functions above: most of its requests may not fail.
struct RustAllocator;

#[global_allocator]
static RUST_ALLOCATOR: RustAllocator = RustAllocator;

// SAFETY: passes every request on to the C library, whose blocks have the alignment and the length that are asked for.
unsafe impl GlobalAlloc for RustAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(&RUST) {
            return null_mut();
        }
        // SAFETY: any length and any power of two may be asked for.
        unsafe { __libc_memalign(layout.align().max(size_of::<usize>()), layout.size()) }.cast()
    }

    unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
        // SAFETY: a block of `alloc`, by the caller's word.
        unsafe { __libc_free(at.cast()) }
    }
}
