//! The settings of the process (blosc1.md 3.1): the same steps with both libraries, each in a new process. The results
//! are equal, except for the differences that `Step::difference` gives.

use super::work::{content, round_trip_works};
use crate::support::forked::{Outcome, in_forked_processes};
use crate::support::{Library, libraries};
use std::ffi::CStr;
use std::time::Duration;

/// A call and its result; what this library returns, if it differs from the reference.
struct Step {
    what: &'static str,
    call: fn(&Library) -> i64,
    difference: Option<i64>,
}

fn step(what: &'static str, call: fn(&Library) -> i64) -> Step {
    Step { what, call, difference: None }
}

/// Calls below have no preconditions.
macro_rules! call {
    ($library:ident.$function:ident($($argument:expr),*)) => {
        // SAFETY: numbers, static strings, or no arguments.
        unsafe { ($library.$function)($($argument),*) }
    };
}

/// Returns the code of the current compressor, -2 if it has no name.
fn compressor(library: &Library) -> i64 {
    let name = call!(library.blosc_get_compressor());
    if name.is_null() {
        return -2;
    }
    i64::from(call!(library.blosc_compname_to_compcode(name)))
}

fn set_compressor(library: &Library, name: &CStr) -> i64 {
    i64::from(call!(library.blosc_set_compressor(name.as_ptr())))
}

fn work(library: &Library) -> i64 {
    i64::from(round_trip_works(library, &content(1 << 20, 7)))
}

fn set_and_get_blocksize(library: &Library, size: usize) -> i64 {
    call!(library.blosc_set_blocksize(size));
    i64::from(call!(library.blosc_get_blocksize()))
}

/// A compression through `blosc_compress_ctx`, which does not initialise the library.
fn work_with_context(library: &Library) -> i64 {
    let content = content(1 << 20, 9);
    let chunk = library.compress((5, 1, 4), &content, content.len() + 16, c"lz4", 0, 2).expect("a chunk");
    i64::from(library.decompress(&chunk, content.len(), 2) == Ok(content))
}

fn steps() -> Vec<Step> {
    vec![
        step("default threads", |library| i64::from(call!(library.blosc_get_nthreads()))),
        step("default compressor", compressor),
        step("default block size", |library| i64::from(call!(library.blosc_get_blocksize()))),
        step("free without init", |library| i64::from(call!(library.blosc_free_resources()))),
        step("destroy without init", |library| {
            call!(library.blosc_destroy());
            0
        }),
        step("work of a context", work_with_context),
        step("free after work of a context", |library| i64::from(call!(library.blosc_free_resources()))),
        step("block size without init", |library| set_and_get_blocksize(library, 0)),
        step("free after a block size", |library| i64::from(call!(library.blosc_free_resources()))),
        step("work without init", work),
        step("free after work", |library| i64::from(call!(library.blosc_free_resources()))),
        step("free again", |library| i64::from(call!(library.blosc_free_resources()))),
        step("work after free", work),
        step("4 threads", |library| i64::from(call!(library.blosc_set_nthreads(4)))),
        step("4 threads again", |library| i64::from(call!(library.blosc_set_nthreads(4)))),
        step("work of 4 threads", work),
        step("zlib", |library| set_compressor(library, c"zlib")),
        step("current compressor", compressor),
        step("block size 100000", |library| set_and_get_blocksize(library, 100_000)),
        step("never split", |library| {
            call!(library.blosc_set_splitmode(2));
            work(library)
        }),
        step("destroy", |library| {
            call!(library.blosc_destroy());
            0
        }),
        step("free after destroy", |library| i64::from(call!(library.blosc_free_resources()))),
        step("threads after destroy", |library| i64::from(call!(library.blosc_get_nthreads()))),
        step("compressor after destroy", compressor),
        step("block size after destroy", |library| i64::from(call!(library.blosc_get_blocksize()))),
        step("flags after destroy", |library| {
            let chunk = super::work::compress(library, &content(1 << 20, 7)).expect("a chunk");
            i64::from(chunk[2])
        }),
        step("init", |library| {
            call!(library.blosc_init());
            call!(library.blosc_init());
            i64::from(call!(library.blosc_free_resources()))
        }),
        // With pointers of 32 bits this is 0.
        step("block size 2^32", |library| set_and_get_blocksize(library, (1u64 << 32) as usize)),
        step("block size 2^31 + 5", |library| set_and_get_blocksize(library, (1 << 31) + 5)),
        step("work with a negative block size", work),
        step("block size 0", |library| set_and_get_blocksize(library, 0)),
        step("threads -3", |library| i64::from(call!(library.blosc_set_nthreads(-3)))),
        step("work of -3 threads", work),
        step("threads 100000", |library| i64::from(call!(library.blosc_set_nthreads(100_000)))),
        step("work of 100000 threads", work),
        step("small work of 100000 threads", |library| {
            i64::from(round_trip_works(library, &content(10_000, 7)))
        }),
        step("threads 2", |library| i64::from(call!(library.blosc_set_nthreads(2)))),
        step("unknown split mode", |library| {
            call!(library.blosc_set_splitmode(77));
            work(library)
        }),
        step("default split mode", |library| {
            call!(library.blosc_set_splitmode(4));
            work(library)
        }),
        // An unknown name is stored by the reference, which compresses nothing then (blosc1.md 12.9).
        step("unknown compressor", |library| set_compressor(library, c"nonesuch")),
        Step { difference: Some(4), ..step("compressor after an unknown one", compressor) },
        Step { difference: Some(1), ..step("work after an unknown compressor", work) },
        step("upper case", |library| set_compressor(library, c"LZ4")),
        step("lz4", |library| set_compressor(library, c"lz4")),
        step("work with lz4", work),
        step("free at the end", |library| i64::from(call!(library.blosc_free_resources()))),
    ]
}

#[test]
fn steps_have_the_same_results() {
    let Some((libraries, _guard)) = libraries() else { return };
    let steps = steps();
    let [of_ours, of_reference] = libraries.each_ref().map(|library| {
        in_forked_processes(steps.len(), Duration::from_secs(30), |number| (steps[number].call)(library))
    });
    for (number, step) in steps.iter().enumerate() {
        let (ours, reference) = (of_ours[number], of_reference[number]);
        match step.difference {
            Some(expected) => {
                assert_eq!(ours, Outcome::Returned(expected), "{}", step.what);
                assert_ne!(ours, reference, "{}", step.what);
            }
            None => assert_eq!(ours, reference, "{}", step.what),
        }
    }
    // The defaults and codes of the table in the specification.
    let expected = [1, 0, 0, -1, 0, 1, -1, 0, -1, 1, 0];
    assert_eq!(of_ours[..expected.len()], expected.map(Outcome::Returned));
}
