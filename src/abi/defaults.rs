//! The default parameter structs: each field has the same value as in the objects of the C headers (`abi.md` 6.4).

use std::ptr::null_mut;

use super::{
    BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_STUNE,
    BLOSC2_IO_FILESYSTEM, CBool, blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_stdio_mmap,
    blosc2_stdio_params, blosc2_storage,
};

const NO_FILTER: u8 = BLOSC_NOFILTER as u8;

/// Default compression parameters: BloscLZ at level 5 after a byte shuffle of 8-byte items, one thread.
pub const BLOSC2_CPARAMS_DEFAULTS: blosc2_cparams = blosc2_cparams {
    compcode: BLOSC_BLOSCLZ as u8,
    compcode_meta: 0,
    clevel: 5,
    use_dict: 0,
    typesize: 8,
    nthreads: 1,
    blocksize: 0,
    splitmode: BLOSC_FORWARD_COMPAT_SPLIT,
    schunk: null_mut(),
    filters: [NO_FILTER, NO_FILTER, NO_FILTER, NO_FILTER, NO_FILTER, BLOSC_SHUFFLE as u8],
    filters_meta: [0; 6],
    prefilter: None,
    preparams: null_mut(),
    tuner_params: null_mut(),
    tuner_id: BLOSC_STUNE,
    instr_codec: CBool::FALSE,
    codec_params: null_mut(),
    filter_params: [null_mut(); 6],
};

/// Default decompression parameters: one thread, no postfilter.
pub const BLOSC2_DPARAMS_DEFAULTS: blosc2_dparams =
    blosc2_dparams { nthreads: 1, schunk: null_mut(), postfilter: None, postparams: null_mut(), typesize: 8 };

/// Default storage: separate chunks in memory.
pub const BLOSC2_STORAGE_DEFAULTS: blosc2_storage = blosc2_storage {
    contiguous: CBool::FALSE,
    urlpath: null_mut(),
    cparams: null_mut(),
    dparams: null_mut(),
    io: null_mut(),
};

/// Default I/O back-end: plain files.
pub const BLOSC2_IO_DEFAULTS: blosc2_io =
    blosc2_io { id: BLOSC2_IO_FILESYSTEM as u8, name: c"filesystem".as_ptr(), params: null_mut() };

/// Default parameters of the plain-file back-end: no inter-process locking.
pub const BLOSC2_STDIO_PARAMS_DEFAULTS: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::FALSE };

/// Default parameters of the memory-mapping back-end: read-only; 1 GiB is reserved in modes in which the mapping
/// can grow.
pub const BLOSC2_STDIO_MMAP_DEFAULTS: blosc2_stdio_mmap = blosc2_stdio_mmap {
    mode: c"r".as_ptr(),
    initial_mapping_size: 1 << 30,
    needs_free: CBool::FALSE,
    addr: null_mut(),
    urlpath: null_mut(),
    file_size: 0,
    mapping_size: 0,
    is_memory_only: CBool::FALSE,
    file: null_mut(),
    fd: -1,
    access_flags: -1,
    map_flags: -1,
    #[cfg(windows)]
    mmap_handle: crate::os::NO_MAP_HANDLE,
};
