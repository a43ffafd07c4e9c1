//! The addresses of separate planes, for the kernels.

use super::planes::{MAX_SEPARATE_PLANES, SeparatePlane};
use std::mem::MaybeUninit;

/// The largest number of bytes of a plane that a kernel loads at once.
const MAX_VECTOR_LEN: usize = 64;

/// The bytes of each plane. Those of a run are one vector, which the kernel loads for every element.
pub(super) struct PlaneSources {
    starts: [*const u8; MAX_SEPARATE_PLANES],
    /// All ones for the bytes of a plane, 0 for a run: the bits of an element's number that are part of its offset.
    offset_masks: [usize; MAX_SEPARATE_PLANES],
}

/// Memory for the vectors of the runs. Uninitialised, since most blocks have few runs.
#[repr(align(64))]
pub(super) struct RunVectors([MaybeUninit<[u8; MAX_VECTOR_LEN]>; MAX_SEPARATE_PLANES]);

impl RunVectors {
    #[inline(always)]
    pub(super) fn new() -> Self {
        RunVectors([MaybeUninit::uninit(); MAX_SEPARATE_PLANES])
    }
}

impl PlaneSources {
    /// Returns the sources of up to 8 planes. They may be used while `planes` and `runs` are borrowed.
    #[inline(always)]
    pub(super) fn new(planes: &[SeparatePlane<'_>], runs: &mut RunVectors) -> Self {
        let mut sources = PlaneSources {
            starts: [std::ptr::null(); MAX_SEPARATE_PLANES],
            offset_masks: [0; MAX_SEPARATE_PLANES],
        };
        for (j, (plane, run)) in planes.iter().zip(&mut runs.0).enumerate() {
            (sources.starts[j], sources.offset_masks[j]) = match plane {
                SeparatePlane::Bytes(bytes) => (bytes.as_ptr(), usize::MAX),
                SeparatePlane::Run(value) => (run.write([*value; MAX_VECTOR_LEN]).as_ptr(), 0),
            };
        }
        sources
    }

    /// Returns the address of the bytes of plane `j` from element `first` on.
    #[inline(always)]
    pub(super) fn at(&self, j: usize, first: usize) -> *const u8 {
        self.starts[j].wrapping_add(first & self.offset_masks[j])
    }
}
