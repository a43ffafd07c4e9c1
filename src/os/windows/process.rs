//! The process and its threads: ends of threads, `errno`, clocks, output of other processes.

use crate::os::types::ThreadEnd;
use std::ffi::{c_int, c_void};
use std::os::windows::io::AsRawHandle;
use std::process::ChildStdout;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::{
    FLS_OUT_OF_INDEXES, FlsAlloc, FlsFree, FlsGetValue, FlsSetValue,
};

/// A point in time, of which only differences are meaningful: `LARGE_INTEGER`.
pub(crate) type Timestamp = i64;

/// Returns the time of a monotonic clock.
pub(crate) fn monotonic_now() -> Timestamp {
    let mut now = 0;
    // SAFETY: an integer to be filled.
    unsafe { QueryPerformanceCounter(&mut now) };
    now
}

/// Returns the time between two points in nanoseconds; negative if `end` is earlier.
pub(crate) fn elapsed_nanoseconds(start: Timestamp, end: Timestamp) -> f64 {
    let mut ticks_per_second = 0;
    // SAFETY: an integer to be filled.
    unsafe { QueryPerformanceFrequency(&mut ticks_per_second) };
    1e9 * (end - start) as f64 / ticks_per_second as f64
}

/// The index of the variable whose destructor is the handler of [`call_at_thread_end`].
static THREAD_END_INDEX: AtomicU32 = AtomicU32::new(FLS_OUT_OF_INDEXES);

/// Makes the system call `H::run` when this thread ends. Returns false if that fails.
pub(crate) fn call_at_thread_end<H: ThreadEnd>() -> bool {
    unsafe extern "system" fn run<H: ThreadEnd>(_: *const c_void) {
        H::run();
    }
    let mut index = THREAD_END_INDEX.load(Ordering::Acquire);
    if index == FLS_OUT_OF_INDEXES {
        // SAFETY: a function that stays mapped: unloading the library is not supported (abi.md 9.7).
        let new = unsafe { FlsAlloc(Some(run::<H>)) };
        if new == FLS_OUT_OF_INDEXES {
            return false;
        }
        index = new;
        let expected = FLS_OUT_OF_INDEXES;
        if let Err(first) =
            THREAD_END_INDEX.compare_exchange(expected, new, Ordering::Release, Ordering::Acquire)
        {
            // SAFETY: the index above, which no other thread has.
            unsafe { FlsFree(new) };
            index = first;
        }
    }
    // SAFETY: an index that is never freed. Its value is only compared with NULL.
    unsafe { !FlsGetValue(index).is_null() || FlsSetValue(index, (&raw const THREAD_END_INDEX).cast()) != 0 }
}

/// Returns the address of `errno` of this thread, valid for the lifetime of the thread.
pub(crate) fn errno_location() -> *mut c_int {
    unsafe extern "C" {
        fn _errno() -> *mut c_int;
    }
    // SAFETY: no arguments; returns a valid pointer.
    unsafe { _errno() }
}

/// Waits until there is output to read, or the other end is closed. Returns whether that happened before the deadline.
pub(crate) fn wait_for_output(stdout: &ChildStdout, deadline: Instant) -> bool {
    const PAUSE: Duration = Duration::from_millis(5);
    loop {
        let mut available = 0;
        let (none, no_count) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: an open pipe, and an integer to be filled.
        let peeked = unsafe {
            PeekNamedPipe(stdout.as_raw_handle(), none, 0, no_count, &mut available, ptr::null_mut())
        };
        if peeked == 0 || available > 0 {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns a number that no other running process has.
pub(crate) fn process_id() -> u32 {
    std::process::id()
}
