//! Tests of the byte formats: each check with its error code, and the index. `tests/golden/frames` compares whole frames
//! with those of the reference.

mod checks;
mod index;

use crate::frame::format::header::{FrameHeader, FrameKind};

/// The header of an empty frame with the default parameters and typesize 4.
fn empty_header() -> FrameHeader {
    FrameHeader {
        gap: None,
        has_checksums: false,
        header_len: 97,
        frame_len: 132,
        version: 2,
        kind: FrameKind::Contiguous,
        compcode: 0,
        compcode_meta: 0,
        clevel: 5,
        splitmode: 4,
        use_dict: false,
        nbytes: 0,
        cbytes: 0,
        typesize: 4,
        blocksize: 0,
        chunksize: -1,
        nthreads_c: 1,
        nthreads_d: 1,
        has_vlmetalayers: false,
        filters: [0, 0, 0, 0, 0, 1],
        filters_meta: [0; 6],
        flags2: 0,
    }
}
