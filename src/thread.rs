//! The id of the current thread, and whether the process has other threads: both without a lock, for the cheapest
//! calls.

use crate::os;
use std::ffi::c_char;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Returns a number that no other living thread has; never 0.
#[inline]
pub(crate) fn id() -> usize {
    if let (false, Some(id)) = (cfg!(loom), os::thread_pointer()) {
        return id;
    }
    // A loom model allocates thread-local values at their first use. The address of such a value can be that of a
    // thread that has ended, without a happens-before relation between the two, so ids are counted instead.
    #[cfg(loom)]
    {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
        loom::thread_local! {
            static ID: usize = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        ID.with(|&id| id)
    }
    #[cfg(not(loom))]
    {
        crate::sync::per_thread! {
            static PLACE: std::cell::Cell<u8> = const { std::cell::Cell::new(0) };
        }
        PLACE.with(|place| ptr::from_ref(place).addr())
    }
}

/// Replaces the flag of the C library if it has none: always 0, which means several threads.
static MULTI_THREADED_FLAG: c_char = 0;

/// Address of the flag in which the C library stores whether the process has only one thread; NULL until the first
/// use.
static SINGLE_THREADED_FLAG: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// Returns whether this thread is certainly the only one of the process, now and until it starts another: then no other
/// thread can hold or acquire a lock. `false` if the C library has no such flag (glibc 2.32 and later have it).
#[inline]
pub(crate) fn is_only_thread() -> bool {
    // The threads of a loom model are not threads of the process.
    if cfg!(loom) {
        return false;
    }
    let mut told = SINGLE_THREADED_FLAG.load(Ordering::Relaxed);
    if told.is_null() {
        told = find_single_threaded_flag();
    }
    // SAFETY: the C library's flag or `MULTI_THREADED_FLAG`, which both live as long as the process. The C library
    // changes its flag only on the only thread, or to record that there are other threads.
    unsafe { told.read_volatile() != 0 }
}

/// Looks up the flag of the C library, and stores its address in `SINGLE_THREADED_FLAG`.
#[cold]
fn find_single_threaded_flag() -> *mut c_char {
    let found = os::single_threaded_flag();
    let told = if found.is_null() { &raw const MULTI_THREADED_FLAG } else { found }.cast_mut();
    SINGLE_THREADED_FLAG.store(told, Ordering::Relaxed);
    told
}

#[cfg(test)]
mod tests {
    #[test]
    fn threads_have_different_ids_and_are_not_the_only_thread() {
        let me = super::id();
        let other = std::thread::spawn(|| (super::id(), super::is_only_thread())).join().unwrap();
        assert_eq!(super::id(), me);
        assert_ne!((me, false), (other.0, true));
        assert_ne!(me, other.0);
        assert!(!other.1);
        assert_ne!(me, 0);
    }
}
