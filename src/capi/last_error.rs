//! The last error of each thread, for `blosc2x_last_error`.
//!
//! A failing call moves its [`Error`] into a thread-local variable; the text is formatted when the program reads it.
//! The variable has no Rust destructor: without memory, the standard library cannot register one and ends the process.
//! A handler that the system calls at the end of a thread frees its error. If the handler cannot be registered, only the kind of the error is kept, which takes no memory.

use crate::error::{Error, Text};
use crate::os::{self, ThreadEnd};
use std::cell::Cell;
use std::ffi::c_char;
use std::mem::{self, ManuallyDrop};
use std::ptr;

/// The last error of a thread.
enum LastError {
    /// No call of the thread has failed.
    None,
    /// The error of a call.
    Recorded(Error),
    /// The text of an error, which ends with its only NUL.
    Formatted(Vec<u8>),
}

thread_local! {
    static LAST_ERROR: Cell<ManuallyDrop<LastError>> = const { Cell::new(ManuallyDrop::new(LastError::None)) };
}
const _: () = assert!(!mem::needs_drop::<Cell<ManuallyDrop<LastError>>>());

/// Replaces the last error of this thread, and returns the previous one.
fn replace(new: LastError) -> LastError {
    let replaced = LAST_ERROR.try_with(|last| last.replace(ManuallyDrop::new(new)));
    replaced.map_or(LastError::None, ManuallyDrop::into_inner)
}

/// Makes `error` the last error of this thread.
#[cold]
pub(super) fn record(error: Error) {
    let can_own_memory = error.has_details() && os::call_at_thread_end::<FreeLastError>();
    drop(replace(LastError::Recorded(if can_own_memory { error } else { error.without_details() })));
}

/// Returns the text of the last error of this thread, NULL if there is none. The text is valid until the next
/// [`record`] of this thread or the end of the thread. Without memory for the text, it is the message of the kind.
pub(super) fn text() -> *const c_char {
    let last = match replace(LastError::None) {
        LastError::Recorded(error) => match format_error(&error) {
            Some(text) => LastError::Formatted(text),
            None => LastError::Recorded(error),
        },
        last => last,
    };
    let text = match &last {
        LastError::None => ptr::null(),
        LastError::Recorded(error) => error.kind().message().as_ptr(),
        LastError::Formatted(text) => text.as_ptr().cast(),
    };
    replace(last);
    text
}

/// Returns the text of an error and a NUL. A NUL inside the text would end it early for C, and becomes `?`. Returns
/// `None` for an error without details, and when memory runs out.
fn format_error(error: &Error) -> Option<Vec<u8>> {
    if !error.has_details() {
        return None;
    }
    let Text::Formatted(text) = Text::new(format_args!("{error:#}\0")) else { return None };
    let mut bytes = text.into_bytes();
    let (&mut last, before) = bytes.split_last_mut()?;
    before.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'?');
    // A text that memory did not suffice for is truncated, and does not end with NUL.
    (last == 0).then_some(bytes)
}

/// Frees the last error of a thread that ends. Destructors that run later may call the library, and record errors again:
/// the system then frees again.
struct FreeLastError;

impl ThreadEnd for FreeLastError {
    fn run() {
        drop(replace(LastError::None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::err;
    use std::ffi::CStr;
    use std::thread;

    fn read() -> Option<String> {
        let text = text();
        // SAFETY: NULL or a string that no other call has replaced.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8").to_owned())
    }

    #[test]
    fn text_is_that_of_the_last_error_of_the_thread() {
        let own = thread::spawn(|| {
            assert_eq!(read(), None);
            record(err!(Data, "{} blocks", 17));
            assert_eq!(text(), text());
            assert_eq!(read().as_deref(), Some("Invalid data: 17 blocks"));
            assert_eq!(thread::spawn(read).join().unwrap(), None);
            record(err!(NullPointer, "constant"));
            assert_eq!(read().as_deref(), Some("Pointer is null: constant"));
        });
        own.join().unwrap();
    }

    #[test]
    fn nul_inside_a_text_is_replaced() {
        thread::spawn(|| {
            record(err!(Data, "a{}b\0\0", '\0'));
            assert_eq!(read().as_deref(), Some("Invalid data: a?b??"));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn without_details_the_text_is_that_of_the_kind() {
        thread::spawn(|| {
            record(err!(Tuner, "details").without_details());
            assert_eq!(read().as_deref(), Some("Tuner failure"));
        })
        .join()
        .unwrap();
    }
}
