//! Catching panics, which only defects of the library cause, where C code calls the library.

use crate::{pool, trace};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

thread_local! {
    /// Whether this thread runs a function of the library.
    static IN_LIBRARY_CALL: Cell<bool> = const { Cell::new(false) };
}

static IS_HOOK_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Installs, once, a panic hook that reports panics inside the library only through `BLOSC_TRACE`: a program's
/// stderr does not belong to the library. Panics elsewhere in a Rust program go to the hook that was installed
/// before.
#[cold]
fn install_panic_hook() {
    // A thread that is unwinding must not change the hook; a later call changes it.
    if thread::panicking() || IS_HOOK_INSTALLED.swap(true, Relaxed) {
        return;
    }
    let elsewhere = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if IN_LIBRARY_CALL.try_with(Cell::get).unwrap_or(false) || pool::is_in_job() {
            trace::warning(|| format!("a defect of the library: {info}"));
        } else {
            elsewhere(info);
        }
    }));
}

/// Runs `body`. Returns `None` if it panics; the caller must not use the values that `body` was using again.
#[inline(always)]
pub fn catch_panics<R>(body: impl FnOnce() -> R) -> Option<R> {
    in_library_call(|| catch_panics_of_short_call(body))
}

/// Runs `body`, whose panics are reported through `BLOSC_TRACE` only. The caller catches them.
#[inline(always)]
pub(crate) fn in_library_call<R>(body: impl FnOnce() -> R) -> R {
    struct Mark<'a>(&'a Cell<bool>, bool);
    impl Drop for Mark<'_> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    if !IS_HOOK_INSTALLED.load(Relaxed) {
        install_panic_hook();
    }
    // `IN_LIBRARY_CALL` is accessed once: finding a thread-local value takes as long as everything else in this
    // function.
    IN_LIBRARY_CALL.with(|inside| {
        let _mark = Mark(inside, inside.replace(true));
        body()
    })
}

/// As [`catch_panics`], without the thread-local value: finding it takes longer than reading the header of a chunk, or
/// copying items of a stored one. The hook that was installed before reports a panic, too, except for the parts of
/// `body` that run [`in_library_call`].
#[inline(always)]
pub(crate) fn catch_panics_of_short_call<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught_and_the_call_ends() {
        assert_eq!(catch_panics(|| 7), Some(7));
        assert_eq!(catch_panics(|| -> i32 { panic!("on purpose") }), None);
        assert_eq!(catch_panics_of_short_call(|| -> i32 { panic!("on purpose") }), None);
        assert_eq!(catch_panics_of_short_call(|| in_library_call(|| -> i32 { panic!("on purpose") })), None);
        assert!(!IN_LIBRARY_CALL.get());
    }
}
