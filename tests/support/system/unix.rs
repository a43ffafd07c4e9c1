//! Unix: see the parent module.

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::Command;
use std::ptr;
#[cfg(target_pointer_width = "64")]
use std::sync::atomic::{AtomicU32, Ordering};

pub use std::os::unix::fs::FileExt;

/// The signals of faults.
pub const FAULTS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];

/// Sets a variable of the environment unless it is set. No other thread uses the environment.
pub fn set_missing_variable(name: &CStr, value: &CStr) {
    // SAFETY: two C strings, and no other thread (guaranteed by the caller).
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 0) };
}

/// Sets a variable of the environment, or removes it.
///
/// # Safety
/// No other thread uses the environment.
pub unsafe fn set_variable(name: &str, value: Option<&str>) {
    // SAFETY: guaranteed by the caller.
    unsafe { value.map_or_else(|| std::env::remove_var(name), |value| std::env::set_var(name, value)) }
}

/// Returns the length of a page in bytes.
pub fn page_len() -> usize {
    // SAFETY: reads a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Returns the address of `len` bytes between two inaccessible pages; `len` is whole pages.
pub fn map_guarded(len: usize) -> *mut u8 {
    let (page, flags) = (page_len(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh private anonymous mapping at an address of the system's choice, and pages in it.
    unsafe {
        let base = libc::mmap(ptr::null_mut(), len + 2 * page, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(base, libc::MAP_FAILED, "mmap of {len} bytes");
        let start = base.cast::<u8>().add(page);
        assert_eq!(libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE), 0, "mprotect");
        start
    }
}

/// Unmaps the bytes of [`map_guarded`] and the pages around them.
///
/// # Safety
/// Nothing uses the memory any more.
pub unsafe fn unmap_guarded(start: *mut u8, len: usize) {
    let page = page_len();
    // SAFETY: exactly the mapping of `map_guarded`.
    unsafe { libc::munmap(start.sub(page).cast(), len + 2 * page) };
}

/// Makes the bytes of [`map_guarded`] read-only.
///
/// # Safety
/// Nothing writes to the memory any more.
pub unsafe fn make_read_only(start: *mut u8, len: usize) {
    // SAFETY: pages of a mapping of `map_guarded`.
    assert_eq!(unsafe { libc::mprotect(start.cast(), len, libc::PROT_READ) }, 0, "mprotect");
}

/// Returns the address of `len` bytes that are zeros: `piece` bytes of memory again and again. Both are whole pages.
#[cfg(target_pointer_width = "64")]
pub fn map_repeated(len: usize, piece: usize) -> *mut u8 {
    // In memory, if the system has a file system for that: a disk is not written.
    let memory = std::path::Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("blosc2-repeated-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).expect("a new file");
    std::fs::remove_file(&path).expect("the file can be removed");
    file.set_len(piece as u64).expect("the length of the file");
    // A fault for each of a million pages would take most of the time of a test.
    #[cfg(target_os = "linux")]
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    #[cfg(not(target_os = "linux"))]
    let flags = libc::MAP_SHARED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping at an address of the system's choice, of which each part is replaced.
    unsafe {
        let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let start = libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, private, -1, 0);
        assert_ne!(start, libc::MAP_FAILED, "mmap of {len} bytes");
        for at in (0..len).step_by(piece) {
            let part = (len - at).min(piece);
            let place = start.cast::<u8>().add(at).cast();
            let mapped = libc::mmap(place, part, access, flags | libc::MAP_FIXED, file.as_raw_fd(), 0);
            assert_ne!(mapped, libc::MAP_FAILED, "mmap of {part} bytes of a file");
        }
        start.cast()
    }
}

/// Unmaps the bytes of [`map_repeated`].
///
/// # Safety
/// Nothing uses the memory any more.
#[cfg(target_pointer_width = "64")]
pub unsafe fn unmap_repeated(start: *mut u8, len: usize) {
    // SAFETY: exactly the mappings of `map_repeated`.
    unsafe { libc::munmap(start.cast(), len) };
}

/// Sets the limit of the address space: allocations beyond it fail from now on.
pub fn limit_address_space(bytes: u64) {
    // With pointers of 32 bits the address space is shorter than the limit.
    let bytes = if size_of::<usize>() < 8 { libc::RLIM_INFINITY } else { bytes as libc::rlim_t };
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: a valid struct.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

/// Sets `errno` of this thread.
#[cfg(target_os = "linux")]
pub fn set_errno(code: c_int) {
    // SAFETY: a variable of this thread.
    unsafe { *libc::__errno_location() = code };
}

/// Makes the child ignore SIGSEGV and SIGBUS. A Rust program registers each thread for its report of stack overflows, under
/// a lock that may be held during a fork; it does not if these signals have handlers already.
pub fn without_stack_overflow_report(again: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: `signal` is async-signal-safe, as is required between fork and exec.
    unsafe {
        again.pre_exec(|| {
            libc::signal(libc::SIGSEGV, libc::SIG_IGN);
            libc::signal(libc::SIGBUS, libc::SIG_IGN);
            Ok(())
        })
    }
}

/// Makes stderr write to `file`. Returns the previous file, and the descriptor of it that signal handlers use.
pub fn redirect_stderr(file: &File) -> (File, c_int) {
    // SAFETY: system calls on descriptors of this process; the result owns the new one.
    unsafe {
        let previous = libc::dup(2);
        assert!(previous >= 0 && libc::dup2(file.as_raw_fd(), 2) == 2);
        (File::from_raw_fd(previous), previous)
    }
}
