//! Names of things that a program registers. Programs leave the pointer uninitialised, since the C library follows it only
//! to compare names; here it is never followed, but the kernel is asked to copy the string.

use crate::trace;
use std::ffi::{CString, c_char};
use std::io;

/// Limit for a name, in bytes: what has no NUL up to there is no name.
const LONGEST: usize = 64 << 10;

/// A divisor of every page size, in bytes: memory between two multiples is either readable as a whole or not at all.
const PAGE: usize = 4096;

/// Returns a copy of the string at `name`, or `None` for NULL and for an address at which no string can be read.
///
/// Any address may be passed. The memory is not read by this process's code: see [`Pipe::copy`].
pub fn copy_if_readable(name: *const c_char) -> Option<CString> {
    if name.is_null() {
        return None;
    }
    let pipe = match Pipe::open() {
        Ok(pipe) => pipe,
        Err(error) => {
            trace::warning(|| format!("a name is not read: {error}"));
            return None;
        }
    };
    let mut bytes = Vec::new();
    let mut address = name.cast::<u8>();
    while bytes.len() < LONGEST {
        let mut part = [0; PAGE];
        let part = &mut part[..PAGE - address.addr() % PAGE];
        pipe.copy(address, part).ok()?;
        if let Some(end) = part.iter().position(|&byte| byte == 0) {
            bytes.extend_from_slice(&part[..end]);
            return CString::new(bytes).ok();
        }
        bytes.extend_from_slice(part);
        address = address.wrapping_add(part.len());
    }
    None
}

/// A pipe of this process with itself.
struct Pipe {
    reader: i32,
    writer: i32,
}

impl Pipe {
    fn open() -> io::Result<Pipe> {
        let mut ends = [-1; 2];
        // SAFETY: a place for two descriptors.
        if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        for end in ends {
            // SAFETY: a descriptor that was opened just now; only its flag changes.
            unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        Ok(Pipe { reader: ends[0], writer: ends[1] })
    }

    /// Copies the `dest.len()` bytes at `from`, at most [`PAGE`], through the pipe: where they cannot be read, `write` fails
    /// with `EFAULT`, and nothing happens to this process. The pipe is empty before, and has capacity for a page.
    fn copy(&self, from: *const u8, dest: &mut [u8]) -> io::Result<()> {
        loop {
            // SAFETY: `write` takes any address; it reads memory on behalf of the process as far as that may.
            let written = unsafe { libc::write(self.writer, from.cast(), dest.len()) };
            match usize::try_from(written) {
                Ok(written) if written == dest.len() => break,
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        let mut done = 0;
        while done < dest.len() {
            let rest = &mut dest[done..];
            // SAFETY: writes into `rest`, within its length.
            let read = unsafe { libc::read(self.reader, rest.as_mut_ptr().cast(), rest.len()) };
            match usize::try_from(read) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => done += read,
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // SAFETY: descriptors of our own, closed once.
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

    /// Three pages, of which the last one cannot be read.
    struct Pages(*mut u8);

    impl Pages {
        fn new() -> Pages {
            // SAFETY: a fresh mapping, of which the last page is closed.
            unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let open = libc::PROT_READ | libc::PROT_WRITE;
                let start = libc::mmap(ptr::null_mut(), 3 * PAGE, open, flags, -1, 0);
                assert_ne!(start, libc::MAP_FAILED);
                assert_eq!(libc::mprotect(start.byte_add(2 * PAGE), PAGE, libc::PROT_NONE), 0);
                Pages(start.cast())
            }
        }

        /// Puts `text` where it ends before the third page.
        fn put(&self, text: &[u8]) -> *const c_char {
            let start = self.0.wrapping_add(2 * PAGE - text.len());
            // SAFETY: inside the pages that are open, which are ours.
            unsafe { start.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            start.cast()
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: a mapping of our own.
            unsafe { libc::munmap(self.0.cast(), 3 * PAGE) };
        }
    }

    #[test]
    fn strings_are_copied() {
        let pages = Pages::new();
        for len in [0, 1, 7, PAGE - 2, PAGE - 1, PAGE, PAGE + 5, 2 * PAGE - 1] {
            let text = CString::new(vec![b'n'; len]).unwrap();
            assert_eq!(copy_if_readable(pages.put(text.as_bytes_with_nul())), Some(text.clone()), "{len}");
            assert_eq!(copy_if_readable(text.as_ptr()), Some(text));
        }
    }

    #[test]
    fn addresses_without_a_string_have_no_name() {
        let pages = Pages::new();
        assert_eq!(copy_if_readable(ptr::null()), None);
        for address in [1, 16, PAGE, usize::MAX, usize::MAX / 2] {
            assert_eq!(copy_if_readable(ptr::without_provenance(address)), None, "{address:x}");
        }
        for len in [1, 100, PAGE, PAGE + 1] {
            assert_eq!(copy_if_readable(pages.put(&vec![b'n'; len])), None, "{len}");
        }
        let endless = vec![b'n'; 2 * LONGEST];
        assert_eq!(copy_if_readable(endless.as_ptr().cast()), None);
    }
}
