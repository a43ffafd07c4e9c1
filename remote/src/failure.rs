//! Error codes, and the text of the last error.

use blosc2::ErrorKind;
use blosc2_core::blosc1::catch_panics;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::io;
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

/// An error: its code, `BLOSC2_ERROR_*`, and its text.
pub(crate) struct Failure {
    pub(crate) code: c_int,
    pub(crate) text: String,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(code: c_int, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    /// Returns the error of an argument.
    pub(crate) fn param(text: impl Into<String>) -> Failure {
        Failure::new(blosc2_core::abi::BLOSC2_ERROR_INVALID_PARAM, text)
    }

    /// Returns the error of opening a file.
    pub(crate) fn of_open(error: io::Error) -> Failure {
        Failure::new(blosc2_core::abi::BLOSC2_ERROR_FILE_OPEN, error.to_string())
    }

    /// Returns the error of reading a file.
    pub(crate) fn of_read(error: io::Error) -> Failure {
        Failure::new(blosc2_core::abi::BLOSC2_ERROR_FILE_READ, error.to_string())
    }
}

impl From<blosc2::Error> for Failure {
    fn from(error: blosc2::Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::InvalidParam => blosc2_core::abi::BLOSC2_ERROR_INVALID_PARAM,
            ErrorKind::FileOpen => blosc2_core::abi::BLOSC2_ERROR_FILE_OPEN,
            _ => blosc2_core::abi::BLOSC2_ERROR_FAILURE,
        };
        Failure::new(code, error.to_string())
    }
}

/// The text of the last error of all threads: a read fails on threads of libblosc2, too.
static LAST: Mutex<Option<CString>> = Mutex::new(None);

thread_local! {
    /// The text that [`last_text`] has returned to this thread.
    static RETURNED: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Locks the last text. `None` after a second: in a child of a fork, another thread of the parent may have held the lock.
fn lock() -> Option<MutexGuard<'static, Option<CString>>> {
    for _ in 0..1000 {
        match LAST.try_lock() {
            Ok(last) => return Some(last),
            Err(TryLockError::Poisoned(last)) => return Some(last.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Makes `text` the last text.
pub(crate) fn record(text: &str) {
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    if let Some(mut last) = lock() {
        *last = Some(text);
    }
}

/// Returns a copy of the last text, which is valid until the next call of this thread; NULL without an error.
pub(crate) fn last_text() -> *const c_char {
    let text = match lock() {
        Some(last) => last.clone(),
        None => Some(c"the text of the error belongs to the process before the fork".to_owned()),
    };
    let returned = RETURNED.try_with(|returned| {
        let mut returned = returned.borrow_mut();
        *returned = text;
        returned.as_ref().map_or(ptr::null(), |text| text.as_ptr())
    });
    returned.unwrap_or(ptr::null())
}

/// Runs the body of an exported function, and records its error. Returns `failed` of the code after an error; a panic, which
/// only a defect of the library can cause, is the code -1.
pub(crate) fn value_or<T>(failed: impl FnOnce(c_int) -> T, body: impl FnOnce() -> Result<T>) -> T {
    let recorded = |failure: Failure| {
        let _ = catch_panics(|| record(&failure.text));
        failed(failure.code)
    };
    match catch_panics(body) {
        Some(Ok(value)) => value,
        Some(Err(failure)) => recorded(failure),
        None => recorded(Failure::new(blosc2_core::abi::BLOSC2_ERROR_FAILURE, "a defect of the library")),
    }
}

/// As [`value_or`], for functions that return 0 or a code.
pub(crate) fn code(body: impl FnOnce() -> Result<()>) -> c_int {
    value_or(|code| code, || body().map(|()| 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn errors_and_panics_are_codes_with_a_text() {
        let text = || {
            // SAFETY: a string of this thread, which no other call replaces meanwhile.
            unsafe { CStr::from_ptr(last_text()) }.to_str().unwrap().to_owned()
        };
        assert_eq!(code(|| Err(Failure::param("a\0b"))), -12);
        assert_eq!(text(), "a?b");
        assert_eq!(value_or(i64::from, || -> Result<i64> { panic!("on purpose") }), -1);
        assert_eq!(text(), "a defect of the library");
        assert_eq!(code(|| Ok(())), 0);
        // Of all threads.
        let elsewhere = thread::spawn(text).join().unwrap();
        assert_eq!(elsewhere, "a defect of the library");
    }
}
