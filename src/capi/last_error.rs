//! The last error of each thread, for `blosc2x_last_error`.
//!
//! A failing call moves its [`Error`] into a thread-local variable; the text is formatted when the program reads it.
//! The variable has no Rust destructor: without memory, the standard library cannot register one and ends the process.
//! The destructor of a key of the system (`pthread_key_create`) frees the error of a thread that ends. If the key
//! cannot be created or set, only the kind of the error is kept, which takes no memory.

use crate::error::{Error, Text};
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let can_own_memory = error.has_details() && register_destructor();
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

/// The key whose destructor frees the last error of a thread, plus 1; 0 before the key is created.
static KEY: AtomicUsize = AtomicUsize::new(0);

/// Makes the system call [`free_last_error`] when this thread ends. Returns false if that fails.
fn register_destructor() -> bool {
    let Some(key) = destructor_key() else { return false };
    // SAFETY: a key that `pthread_key_create` returned, and that is never deleted. Its value is only compared with
    // NULL.
    unsafe {
        !libc::pthread_getspecific(key).is_null()
            || libc::pthread_setspecific(key, (&raw const KEY).cast()) == 0
    }
}

/// Returns the key, which the first call creates. Takes no lock, which another thread could hold during a `fork`.
fn destructor_key() -> Option<libc::pthread_key_t> {
    let known = KEY.load(Ordering::Acquire);
    if known != 0 {
        return Some((known - 1) as libc::pthread_key_t);
    }
    let mut key = 0;
    // SAFETY: a valid place for the key, and a function that stays mapped: unloading the library is not supported
    // (abi.md 9.7).
    if unsafe { libc::pthread_key_create(&mut key, Some(free_last_error)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(0, key as usize + 1, Ordering::Release, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(created) => {
            // SAFETY: the key above, which no other thread has.
            unsafe { libc::pthread_key_delete(key) };
            Some((created - 1) as libc::pthread_key_t)
        }
    }
}

/// Frees the last error of this thread. Destructors that run later may call the library, and record errors again: the
/// system then calls this function again.
unsafe extern "C" fn free_last_error(_: *mut c_void) {
    drop(replace(LastError::None));
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
