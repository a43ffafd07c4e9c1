//! A test whether memory can be read.

use std::io;

/// Tests whether bytes can be read: a pipe whose two ends belong to this process, and which is empty between calls.
pub(crate) struct MemoryProbe {
    reader: i32,
    writer: i32,
}

impl MemoryProbe {
    pub(crate) fn open() -> io::Result<MemoryProbe> {
        let mut ends = [-1; 2];
        if open_pipe(&mut ends) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(MemoryProbe { reader: ends[0], writer: ends[1] })
    }

    /// Returns whether the byte at `address`, which may be any address, can be read. The kernel copies the byte into the
    /// pipe; if it cannot read the byte, the system call fails with `EFAULT` and has no other effect.
    pub(crate) fn can_read(&self, address: *const u8) -> bool {
        retry_if_interrupted(|| write_byte(self.writer, address)) && {
            let mut byte = 0u8;
            // SAFETY: a buffer of one byte; the pipe holds one byte.
            retry_if_interrupted(|| unsafe { libc::read(self.reader, (&raw mut byte).cast(), 1) })
        }
    }
}

/// Opens a pipe that programs started by this process do not inherit. Returns 0, or -1 and sets `errno`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_pipe(ends: &mut [i32; 2]) -> i32 {
    // SAFETY: an array of two descriptors.
    unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }
}

/// Opens a pipe on a system without `pipe2`; returns 0, or -1 and sets `errno`. A program that another thread starts
/// between the calls inherits the pipe.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_pipe(ends: &mut [i32; 2]) -> i32 {
    // SAFETY: an array of two descriptors.
    let result = unsafe { libc::pipe(ends.as_mut_ptr()) };
    if result == 0 {
        for end in ends {
            // SAFETY: a descriptor that `pipe` has opened; only its flag changes.
            unsafe { libc::fcntl(*end, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    result
}

/// Writes the byte at `address`, which may be any address, to `descriptor`. Makes the system call directly:
/// sanitizers check the arguments of the C library's function and end the process for an unreadable address.
fn write_byte(descriptor: i32, address: *const u8) -> isize {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: `write` accepts any address, and reads memory only if it is readable for this process.
    return unsafe { libc::syscall(libc::SYS_write, descriptor, address, 1usize) } as isize;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: `write` accepts any address, and reads memory only if it is readable for this process.
    return unsafe { libc::write(descriptor, address.cast(), 1) };
}

/// Repeats a system call while it is interrupted by a signal; returns whether it transferred a byte.
fn retry_if_interrupted(mut call: impl FnMut() -> isize) -> bool {
    loop {
        match call() {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            transferred => return transferred == 1,
        }
    }
}

impl Drop for MemoryProbe {
    fn drop(&mut self) {
        // SAFETY: descriptors that this value owns, closed once.
        unsafe {
            libc::close(self.reader);
            libc::close(self.writer);
        }
    }
}

/// Memory before a page that cannot be accessed, for tests.
#[cfg(test)]
pub(crate) struct GuardedPages(*mut u8, usize);

#[cfg(test)]
impl GuardedPages {
    const GUARD_LEN: usize = 64 << 10;

    /// Returns `len` bytes, whole pages, before the guard page.
    pub(crate) fn new(len: usize) -> GuardedPages {
        let (flags, access) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping, of which the last page is made inaccessible.
        unsafe {
            let start = libc::mmap(std::ptr::null_mut(), len + Self::GUARD_LEN, access, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(start.byte_add(len), Self::GUARD_LEN, libc::PROT_NONE), 0);
            GuardedPages(start.cast(), len)
        }
    }

    /// Returns the address of the guard page.
    pub(crate) fn guard(&self) -> *mut u8 {
        self.0.wrapping_add(self.1)
    }
}

#[cfg(test)]
impl Drop for GuardedPages {
    fn drop(&mut self) {
        // SAFETY: a mapping that this value owns.
        unsafe { libc::munmap(self.0.cast(), self.1 + Self::GUARD_LEN) };
    }
}

/// Returns the length of a block of `malloc`, for tests.
///
/// # Safety
/// `start` is a block of `malloc`.
#[cfg(test)]
pub(crate) unsafe fn block_len(start: *mut u8) -> usize {
    #[cfg(not(any(target_os = "macos", target_os = "ios")))]
    // SAFETY: guaranteed by the caller.
    return unsafe { libc::malloc_usable_size(start.cast()) };
    #[cfg(any(target_os = "macos", target_os = "ios"))]
    // SAFETY: guaranteed by the caller.
    return unsafe { libc::malloc_size(start.cast()) };
}
