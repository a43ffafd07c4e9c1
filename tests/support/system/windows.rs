//! Windows: see the parent module.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt as WindowsFileExt;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::process::Command;
use std::ptr;
use windows_sys::Win32::System::Console::{STD_ERROR_HANDLE, SetStdHandle};
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE, VirtualAlloc,
    VirtualFree, VirtualProtect,
};

/// The signals of faults.
pub const FAULTS: [c_int; 4] = [libc::SIGSEGV, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];

/// Access to files by position, as the trait of this name for Unix.
pub trait FileExt {
    fn read_at(&self, dest: &mut [u8], position: u64) -> io::Result<usize>;
    fn read_exact_at(&self, dest: &mut [u8], position: u64) -> io::Result<()>;
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, dest: &mut [u8], position: u64) -> io::Result<usize> {
        self.seek_read(dest, position)
    }

    fn read_exact_at(&self, dest: &mut [u8], position: u64) -> io::Result<()> {
        let mut done = 0;
        while done < dest.len() {
            match self.seek_read(&mut dest[done..], position + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => done += more,
            }
        }
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            written += self.seek_write(&bytes[written..], position + written as u64)?;
        }
        Ok(())
    }
}

unsafe extern "C" {
    fn _putenv_s(name: *const c_char, value: *const c_char) -> c_int;
}

/// Sets a variable of the C library's environment unless it is set. No other thread uses the environment.
pub fn set_missing_variable(name: &CStr, value: &CStr) {
    // SAFETY: two C strings, and no other thread (guaranteed by the caller).
    unsafe {
        if libc::getenv(name.as_ptr()).is_null() {
            _putenv_s(name.as_ptr(), value.as_ptr());
        }
    }
}

/// Sets a variable of the C library's environment, which [`std::env::set_var`] does not change, or removes it.
///
/// # Safety
/// No other thread uses the environment.
pub unsafe fn set_variable(name: &str, value: Option<&str>) {
    let [name, value] = [name, value.unwrap_or("")].map(|text| CString::new(text).expect("no NUL"));
    // SAFETY: two C strings, and no other thread (guaranteed by the caller). An empty value removes the variable.
    assert_eq!(unsafe { _putenv_s(name.as_ptr(), value.as_ptr()) }, 0);
}

/// Returns the length of a page in bytes.
pub fn page_len() -> usize {
    4096
}

/// Returns the address of `len` bytes between two inaccessible pages; `len` is whole pages.
pub fn map_guarded(len: usize) -> *mut u8 {
    let page = page_len();
    // SAFETY: new memory, and pages in it.
    unsafe {
        let base = VirtualAlloc(ptr::null(), len + 2 * page, MEM_RESERVE, PAGE_NOACCESS);
        assert!(!base.is_null(), "VirtualAlloc of {len} bytes");
        let start = VirtualAlloc(base.byte_add(page), len, MEM_COMMIT, PAGE_READWRITE);
        assert!(!start.is_null(), "VirtualAlloc of {len} bytes");
        start.cast()
    }
}

/// Unmaps the bytes of [`map_guarded`] and the pages around them.
///
/// # Safety
/// Nothing uses the memory any more.
pub unsafe fn unmap_guarded(start: *mut u8, _len: usize) {
    // SAFETY: the memory of `map_guarded`.
    unsafe { VirtualFree(start.sub(page_len()).cast(), 0, MEM_RELEASE) };
}

/// Makes the bytes of [`map_guarded`] read-only.
///
/// # Safety
/// Nothing writes to the memory any more.
pub unsafe fn make_read_only(start: *mut u8, len: usize) {
    let mut before = 0;
    // SAFETY: pages of the memory of `map_guarded`.
    assert_ne!(unsafe { VirtualProtect(start.cast(), len, PAGE_READONLY, &mut before) }, 0);
}

/// Does nothing: Windows has no limit of the address space.
pub fn limit_address_space(_bytes: u64) {}

/// Sets `errno` of this thread.
pub fn set_errno(code: c_int) {
    unsafe extern "C" {
        fn _errno() -> *mut c_int;
    }
    // SAFETY: a variable of this thread.
    unsafe { *_errno() = code };
}

/// Does nothing: there are no forks.
pub fn without_stack_overflow_report(again: &mut Command) -> &mut Command {
    again
}

/// Makes stderr write to `file`. Returns the previous file, and the descriptor of it that signal handlers use: the C library
/// keeps its own.
pub fn redirect_stderr(file: &File) -> (File, c_int) {
    let previous = std::io::stderr().as_handle().try_clone_to_owned().expect("a handle of stderr");
    // SAFETY: an open handle.
    assert_ne!(unsafe { SetStdHandle(STD_ERROR_HANDLE, file.as_raw_handle()) }, 0);
    (previous.into(), 2)
}
