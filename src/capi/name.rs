//! Copies the names of codecs, filters, tuners and I/O back-ends that a program registers. Some programs leave the
//! name pointer uninitialised, because the C library dereferences it only to compare names. This module
//! dereferences it only after the kernel has confirmed that the memory is readable.

use crate::trace;
use std::ffi::{CString, c_char};
use std::io;

/// Limit for the length of a name, in bytes: a string without a NUL within this length counts as no name.
const MAX_REGISTERED_NAME_LEN: usize = 64 << 10;

/// A divisor of every page size, in bytes: the memory between two multiples of it is either readable as a whole or
/// not at all.
const MIN_PAGE_SIZE: usize = 4096;

/// Returns a copy of the string at `name`, or `None` for NULL and for an address at which no string can be read.
///
/// Any address may be passed, as long as no other thread changes the mapping of memory there. No byte after the
/// NUL of a string is read: memory checkers would report that.
pub(super) fn copy_if_readable(name: *const c_char) -> Option<CString> {
    if name.is_null() {
        return None;
    }
    let pipe = match Pipe::open() {
        Ok(pipe) => pipe,
        Err(error) => {
            trace::warning(|| format!("cannot check whether a name is readable: {error}"));
            return None;
        }
    };
    let mut bytes = Vec::new();
    let mut address = name.cast::<u8>();
    while bytes.len() < MAX_REGISTERED_NAME_LEN {
        if !pipe.can_read(address) {
            return None;
        }
        for _ in 0..MIN_PAGE_SIZE - address.addr() % MIN_PAGE_SIZE {
            // SAFETY: in the same page as a byte that was found readable.
            let byte = unsafe { address.read_volatile() };
            if byte == 0 {
                return CString::new(bytes).ok();
            }
            bytes.push(byte);
            address = address.wrapping_add(1);
        }
    }
    None
}

/// A pipe whose two ends belong to this process. It is empty between calls.
struct Pipe {
    reader: i32,
    writer: i32,
}

impl Pipe {
    fn open() -> io::Result<Pipe> {
        let mut ends = [-1; 2];
        if open_pipe(&mut ends) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Pipe { reader: ends[0], writer: ends[1] })
    }

    /// Returns whether the byte at `address` can be read. The kernel copies the byte into the pipe; if it cannot read
    /// the byte, the system call fails with `EFAULT` and has no other effect.
    fn can_read(&self, address: *const u8) -> bool {
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

/// Opens a pipe on a system without `pipe2`; returns 0, or -1 and sets `errno`. A program that another thread starts between the calls inherits the pipe.
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

impl Drop for Pipe {
    fn drop(&mut self) {
        // SAFETY: descriptors that this value owns, closed once.
        unsafe {
            libc::close(self.reader);
            libc::close(self.writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    /// Three pages, of which the last one is not readable.
    struct GuardedPages(*mut u8);

    impl GuardedPages {
        fn new() -> GuardedPages {
            // SAFETY: a new mapping, of which the last page is made inaccessible.
            unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let open = libc::PROT_READ | libc::PROT_WRITE;
                let start = libc::mmap(ptr::null_mut(), 3 * MIN_PAGE_SIZE, open, flags, -1, 0);
                assert_ne!(start, libc::MAP_FAILED);
                assert_eq!(
                    libc::mprotect(start.byte_add(2 * MIN_PAGE_SIZE), MIN_PAGE_SIZE, libc::PROT_NONE),
                    0
                );
                GuardedPages(start.cast())
            }
        }

        /// Copies `text` to the address at which it ends just before the third page.
        fn copy_before_guard_page(&self, text: &[u8]) -> *const c_char {
            let start = self.0.wrapping_add(2 * MIN_PAGE_SIZE - text.len());
            // SAFETY: inside the accessible pages, which this value owns.
            unsafe { start.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            start.cast()
        }
    }

    impl Drop for GuardedPages {
        fn drop(&mut self) {
            // SAFETY: a mapping that this value owns.
            unsafe { libc::munmap(self.0.cast(), 3 * MIN_PAGE_SIZE) };
        }
    }

    #[test]
    fn strings_up_to_the_end_of_readable_memory_are_copied() {
        let pages = GuardedPages::new();
        for len in [
            0,
            1,
            7,
            MIN_PAGE_SIZE - 2,
            MIN_PAGE_SIZE - 1,
            MIN_PAGE_SIZE,
            MIN_PAGE_SIZE + 5,
            2 * MIN_PAGE_SIZE - 1,
        ] {
            let text = CString::new(vec![b'n'; len]).unwrap();
            assert_eq!(
                copy_if_readable(pages.copy_before_guard_page(text.as_bytes_with_nul())),
                Some(text.clone()),
                "{len}"
            );
            assert_eq!(copy_if_readable(text.as_ptr()), Some(text));
        }
    }

    #[test]
    fn unreadable_or_unterminated_memory_gives_none() {
        let pages = GuardedPages::new();
        assert_eq!(copy_if_readable(ptr::null()), None);
        for address in [1, 16, MIN_PAGE_SIZE, usize::MAX, usize::MAX / 2] {
            assert_eq!(copy_if_readable(ptr::without_provenance(address)), None, "{address:x}");
        }
        for len in [1, 100, MIN_PAGE_SIZE, MIN_PAGE_SIZE + 1] {
            assert_eq!(copy_if_readable(pages.copy_before_guard_page(&vec![b'n'; len])), None, "{len}");
        }
        let endless = vec![b'n'; 2 * MAX_REGISTERED_NAME_LEN];
        assert_eq!(copy_if_readable(endless.as_ptr().cast()), None);
    }
}
