//! Copies the names of codecs, filters, tuners and I/O back-ends that a program registers. Some programs leave the
//! name pointer uninitialised, because the C library dereferences it only to compare names. This module
//! dereferences it only after the system has confirmed that the memory is readable.

use crate::os::MemoryProbe;
use crate::trace;
use std::ffi::{CString, c_char};

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
    let probe = match MemoryProbe::open() {
        Ok(probe) => probe,
        Err(error) => {
            trace::warning(|| format!("cannot check whether a name is readable: {error}"));
            return None;
        }
    };
    let mut bytes = Vec::new();
    let mut address = name.cast::<u8>();
    while bytes.len() < MAX_REGISTERED_NAME_LEN {
        if !probe.can_read(address) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::GuardedPages;
    use std::ptr;

    /// Copies `text` to the address at which it ends just before the guard page of `pages`.
    fn copy_before_guard_page(pages: &GuardedPages, text: &[u8]) -> *const c_char {
        let start = pages.guard().wrapping_sub(text.len());
        // SAFETY: inside the accessible pages, which this test owns.
        unsafe { start.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        start.cast()
    }

    #[test]
    fn strings_up_to_the_end_of_readable_memory_are_copied() {
        let pages = GuardedPages::new(2 * MIN_PAGE_SIZE);
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
                copy_if_readable(copy_before_guard_page(&pages, text.as_bytes_with_nul())),
                Some(text.clone()),
                "{len}"
            );
            assert_eq!(copy_if_readable(text.as_ptr()), Some(text));
        }
    }

    #[test]
    fn unreadable_or_unterminated_memory_gives_none() {
        let pages = GuardedPages::new(2 * MIN_PAGE_SIZE);
        assert_eq!(copy_if_readable(ptr::null()), None);
        for address in [1, 16, MIN_PAGE_SIZE, usize::MAX, usize::MAX / 2] {
            assert_eq!(copy_if_readable(ptr::without_provenance(address)), None, "{address:x}");
        }
        for len in [1, 100, MIN_PAGE_SIZE, MIN_PAGE_SIZE + 1] {
            assert_eq!(copy_if_readable(copy_before_guard_page(&pages, &vec![b'n'; len])), None, "{len}");
        }
        let endless = vec![b'n'; 2 * MAX_REGISTERED_NAME_LEN];
        assert_eq!(copy_if_readable(endless.as_ptr().cast()), None);
    }
}
