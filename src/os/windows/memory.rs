//! A test whether memory can be read.

use std::io;
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEMORY_BASIC_INFORMATION, PAGE_GUARD, PAGE_NOACCESS, VirtualQuery,
};

/// Tests whether bytes can be read.
pub(crate) struct MemoryProbe;

impl MemoryProbe {
    pub(crate) fn open() -> io::Result<MemoryProbe> {
        Ok(MemoryProbe)
    }

    /// Returns whether the byte at `address`, which may be any address, can be read.
    pub(crate) fn can_read(&self, address: *const u8) -> bool {
        let mut found = MEMORY_BASIC_INFORMATION::default();
        // SAFETY: any address is allowed; a struct of that length to be filled.
        let len = unsafe { VirtualQuery(address.cast(), &mut found, size_of::<MEMORY_BASIC_INFORMATION>()) };
        len != 0 && found.State == MEM_COMMIT && found.Protect & (PAGE_GUARD | PAGE_NOACCESS) == 0
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
        use windows_sys::Win32::System::Memory::{MEM_RESERVE, PAGE_READWRITE, VirtualAlloc};
        // SAFETY: new memory, of which the last pages are not committed.
        unsafe {
            let start = VirtualAlloc(std::ptr::null(), len + Self::GUARD_LEN, MEM_RESERVE, PAGE_READWRITE);
            assert!(!VirtualAlloc(start, len, MEM_COMMIT, PAGE_READWRITE).is_null());
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
        use windows_sys::Win32::System::Memory::{MEM_RELEASE, VirtualFree};
        // SAFETY: memory that this value owns.
        unsafe { VirtualFree(self.0.cast(), 0, MEM_RELEASE) };
    }
}

/// Returns the length of a block of `malloc`, for tests.
///
/// # Safety
/// `start` is a block of `malloc`.
#[cfg(test)]
pub(crate) unsafe fn block_len(start: *mut u8) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { libc::_msize(start.cast()) }
}
