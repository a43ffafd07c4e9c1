//! Parts that the fuzz targets share: parameters drawn from the input, buffers between inaccessible pages, the start of the
//! library, and the modules of the tests that use everything of a damaged frame or array.

pub mod support;

// The modules below name each other from the root of the crate, as in the tests that they belong to.
#[path = "../../tests/mutated_arrays/exercise.rs"]
pub mod array_exercise;
#[path = "../../tests/mutated_arrays/originals.rs"]
pub mod array_originals;
#[path = "../../tests/mutated_frames/fields.rs"]
pub mod fields;
#[path = "../../tests/mutated_frames/exercise.rs"]
pub mod frame_exercise;
#[path = "../../tests/mutated_frames/originals.rs"]
pub mod frame_originals;

pub mod chunks;
pub mod container;
pub mod streams;

use std::sync::Once;

use support::library::Library;
use support::random::Random;

/// How a frame reaches the library; `frame_originals` makes frames of each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A buffer in memory.
    Buffer,
    /// A file.
    File,
    /// A directory with a file for each chunk.
    Directory,
}

/// The largest destination that a target asks for, in bytes. Headers may claim more; such a result is not asked for.
pub const CAPACITY: usize = 256 << 10;

/// Starts the library, and makes every panic abort the process. A panic inside of a C function is caught there and becomes
/// an error code, which would hide it from the fuzzer.
pub fn library() -> &'static Library {
    static ONCE: Once = Once::new();
    let library = Library::ours();
    ONCE.call_once(|| {
        // The library puts its own panic hook before the existing one at the first call.
        let mut size = 0;
        // SAFETY: no chunk and a valid out-pointer.
        unsafe { (library.blosc1_cbuffer_validate)(std::ptr::null(), 0, &mut size) };
        std::panic::set_hook(Box::new(|info| {
            eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }));
    });
    library
}

/// Bytes at the end of an input that choose how the rest is used.
pub const PARAMETERS: usize = 8;

/// Splits an input into the data under test and a generator for the choices of a target. The choices come last so that an
/// input begins as the format under test does.
pub fn split(input: &[u8]) -> Option<(&[u8], Random)> {
    let (data, parameters) = input.split_last_chunk::<PARAMETERS>()?;
    Some((data, Random::new(u64::from_le_bytes(*parameters))))
}
