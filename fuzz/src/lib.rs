//! Code that the fuzz targets share: parameters drawn from the input, buffers between inaccessible pages, the
//! initialisation of the library, and the test modules that call every function on a damaged frame or array.

pub mod support;

// These modules refer to each other by `super`, here and in the tests that they belong to.
#[path = "../../tests/damaged_input/arrays/exercise.rs"]
pub mod array_exercise;
#[path = "../../tests/damaged_input/arrays/originals.rs"]
pub mod array_originals;
#[path = "../../tests/damaged_input/frames/fields.rs"]
pub mod fields;
#[path = "../../tests/damaged_input/frames/exercise.rs"]
pub mod frame_exercise;
#[path = "../../tests/damaged_input/frames/originals.rs"]
pub mod frame_originals;

pub mod chunks;
pub mod container;
pub mod streams;

use std::sync::Once;

use support::library::Library;
use support::random::Random;

/// How a frame is passed to the library; `frame_originals` creates frames of each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A buffer in memory.
    Buffer,
    /// A file.
    File,
    /// A directory with a file for each chunk.
    Directory,
}

/// Upper limit for a destination of a target, in bytes. A result for which a header claims more is not requested.
pub const CAPACITY: usize = 256 << 10;

/// Returns the linked library. The first call initialises it and makes every panic abort the process: the exported
/// functions catch panics and return an error code, which would hide them from the fuzzer.
pub fn library() -> &'static Library {
    static ONCE: Once = Once::new();
    let library = Library::ours();
    ONCE.call_once(|| {
        // The first call of a function of the library installs its panic hook in front of the existing one.
        let mut size = 0;
        // SAFETY: a NULL chunk with length 0, and a valid out-pointer.
        unsafe { (library.blosc1_cbuffer_validate)(std::ptr::null(), 0, &mut size) };
        std::panic::set_hook(Box::new(|info| {
            eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }));
    });
    library
}

/// The number of bytes at the end of an input that seed the choices of the target.
pub const SEED_LEN: usize = 8;

/// Splits an input into the data under test and a generator for the choices of the target; `None` if it is too short.
/// The seed of the generator is at the end so that an input begins like the format under test.
pub fn split_seed(input: &[u8]) -> Option<(&[u8], Random)> {
    let (data, parameters) = input.split_last_chunk::<SEED_LEN>()?;
    Some((data, Random::new(u64::from_le_bytes(*parameters))))
}
