//! The process and its threads: forks, ends of threads, `errno`, the environment, output of other processes.

use crate::os::types::ThreadEnd;
use std::ffi::{c_int, c_void};
use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Makes the system call `handler` in each child of a fork. Returns false if that fails. `handler` is async-signal-safe.
#[cfg(not(any(miri, target_os = "emscripten")))]
pub(crate) fn call_in_forked_children(handler: extern "C" fn()) -> bool {
    // SAFETY: the function stays mapped: unloading the library is not supported (`abi.md` 9.7).
    unsafe { libc::pthread_atfork(None, None, Some(handler)) == 0 }
}

/// Returns a number that no other living thread has, where it costs one instruction.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
#[inline(always)]
pub(crate) fn thread_pointer() -> Option<usize> {
    let id: usize;
    // SAFETY: the ABI keeps the address of the thread's own control block in the first word of that block.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) id, options(pure, nomem, nostack, preserves_flags)) };
    Some(id)
}

/// Returns the address of the variable of the C library that is not 0 while the process has only one thread; NULL if the
/// C library has none (glibc has it since 2.32).
#[cfg(not(target_os = "emscripten"))]
pub(crate) fn single_threaded_flag() -> *const std::ffi::c_char {
    // SAFETY: a C string; the symbol is a `char` variable wherever it exists.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) }.cast()
}

/// The key whose destructor is the handler of [`call_at_thread_end`], plus 1; 0 before the key is created.
static THREAD_END_KEY: AtomicUsize = AtomicUsize::new(0);

/// Makes the system call `H::run` when this thread ends. Returns false if that fails.
pub(crate) fn call_at_thread_end<H: ThreadEnd>() -> bool {
    let Some(key) = thread_end_key::<H>() else { return false };
    // SAFETY: a key that `pthread_key_create` returned, and that is never deleted. Its value is only compared with
    // NULL.
    unsafe {
        !libc::pthread_getspecific(key).is_null()
            || libc::pthread_setspecific(key, (&raw const THREAD_END_KEY).cast()) == 0
    }
}

/// Returns the key, which the first call creates. Takes no lock, which another thread could hold during a `fork`.
fn thread_end_key<H: ThreadEnd>() -> Option<libc::pthread_key_t> {
    unsafe extern "C" fn run<H: ThreadEnd>(_: *mut c_void) {
        H::run();
    }
    let known = THREAD_END_KEY.load(Ordering::Acquire);
    if known != 0 {
        return Some((known - 1) as libc::pthread_key_t);
    }
    let mut key = 0;
    // SAFETY: a valid place for the key, and a function that stays mapped: unloading the library is not supported
    // (abi.md 9.7).
    if unsafe { libc::pthread_key_create(&mut key, Some(run::<H>)) } != 0 {
        return None;
    }
    match THREAD_END_KEY.compare_exchange(0, key as usize + 1, Ordering::Release, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(created) => {
            // SAFETY: the key above, which no other thread has.
            unsafe { libc::pthread_key_delete(key) };
            Some((created - 1) as libc::pthread_key_t)
        }
    }
}

/// Returns the address of `errno` of this thread, valid for the lifetime of the thread.
pub(crate) fn errno_location() -> *mut c_int {
    #[cfg(any(target_os = "macos", target_os = "ios", target_os = "freebsd"))]
    // SAFETY: no arguments; returns a valid pointer.
    unsafe {
        libc::__error()
    }
    #[cfg(not(any(target_os = "macos", target_os = "ios", target_os = "freebsd")))]
    // SAFETY: no arguments; returns a valid pointer.
    unsafe {
        libc::__errno_location()
    }
}

/// Returns whether a variable may be set whose name begins with `prefix`: one pass over the environment.
#[cfg(target_os = "linux")]
pub(crate) fn environment_may_have(prefix: &[u8]) -> bool {
    unsafe extern "C" {
        static mut environ: *const *const std::ffi::c_char;
    }
    // SAFETY: the C library's array, NULL or ended by NULL, of C strings. `setenv` on another thread races, as for `getenv`.
    // No byte behind the NUL of a string is read: `starts` ends at the first difference.
    unsafe {
        let starts = |variable: *const std::ffi::c_char| {
            prefix.iter().enumerate().all(|(at, &byte)| *variable.cast::<u8>().add(at) == byte)
        };
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            if starts(*next) {
                return true;
            }
            next = next.add(1);
        }
    }
    false
}

/// Waits until there is output to read, or the other end is closed. Returns whether that happened before the deadline.
pub(crate) fn wait_for_output(stdout: &ChildStdout, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd { fd: stdout.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one descriptor, which is open.
        match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
            0 => return false,
            1.. => return true,
            _ if Error::last_os_error().kind() != ErrorKind::Interrupted => return false,
            _ if left.is_zero() => return false,
            _ => {}
        }
    }
}

/// Returns a number that no other running process has.
pub(crate) fn process_id() -> u32 {
    std::process::id()
}
