//! The default structs, for languages that cannot use the macros or objects of the headers.

use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2_IO_DEFAULTS, BLOSC2_STDIO_MMAP_DEFAULTS,
    BLOSC2_STORAGE_DEFAULTS, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_stdio_mmap, blosc2_storage,
};

/// Returns the default compression parameters: a struct with the same bytes as `BLOSC2_CPARAMS_DEFAULTS`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_blosc2_cparams_defaults() -> blosc2_cparams {
    BLOSC2_CPARAMS_DEFAULTS
}

/// Returns the default decompression parameters: a struct with the same bytes as `BLOSC2_DPARAMS_DEFAULTS`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_blosc2_dparams_defaults() -> blosc2_dparams {
    BLOSC2_DPARAMS_DEFAULTS
}

/// Returns the default storage parameters: a struct with the same bytes as `BLOSC2_STORAGE_DEFAULTS`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_blosc2_storage_defaults() -> blosc2_storage {
    BLOSC2_STORAGE_DEFAULTS
}

/// Returns the default I/O back-end: a struct with the same values as `BLOSC2_IO_DEFAULTS`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_blosc2_io_defaults() -> blosc2_io {
    BLOSC2_IO_DEFAULTS
}

/// Returns the default parameters of the memory-mapping back-end: a struct with the same values as
/// `BLOSC2_STDIO_MMAP_DEFAULTS`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_get_blosc2_stdio_mmap_defaults() -> blosc2_stdio_mmap {
    BLOSC2_STDIO_MMAP_DEFAULTS
}
