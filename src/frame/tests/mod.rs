//! Tests of the byte formats: each check with its error code, and the index. `tests/golden/frames` compares whole frames
//! with those of the reference.

mod checks;
mod index;

use crate::frame::format::header::FrameHeader;

/// The header of an empty frame with the default parameters and typesize 4.
fn empty_header() -> FrameHeader {
    FrameHeader {
        header_len: 97,
        frame_len: 132,
        version: 2,
        clevel: 5,
        splitmode: 4,
        typesize: 4,
        chunksize: -1,
        nthreads_c: 1,
        nthreads_d: 1,
        filters: [0, 0, 0, 0, 0, 1],
        ..FrameHeader::default()
    }
}
