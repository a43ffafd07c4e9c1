//! The parameters of a super-chunk as structs for C (`schunk.md` 9).

use crate::abi::{BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, blosc2_cparams, blosc2_dparams};
use crate::pipeline::library;
use crate::schunk::SuperChunk;

impl SuperChunk {
    /// Returns the compression parameters that are numbers; pointers have their defaults (`schunk.md` 9).
    pub(crate) fn cparams(&self) -> blosc2_cparams {
        let nthreads = self.nthreads_to_compress().unwrap_or_else(library::nthreads);
        let s = self.as_ptr();
        let mut cparams =
            blosc2_cparams { tuner_id: 0, nthreads, schunk: s.cast(), ..BLOSC2_CPARAMS_DEFAULTS };
        // SAFETY: the rule of `c_struct`.
        unsafe {
            cparams.compcode = (*s).compcode;
            cparams.compcode_meta = (*s).compcode_meta;
            cparams.clevel = (*s).clevel;
            cparams.use_dict = i32::from((*s).use_dict);
            cparams.typesize = (*s).typesize;
            cparams.blocksize = self.blocksize();
            cparams.splitmode = i32::from((*s).splitmode);
            cparams.filters = (*s).filters;
            cparams.filters_meta = (*s).filters_meta;
        }
        cparams
    }

    /// Returns the decompression parameters that are numbers; pointers have their defaults (`schunk.md` 9).
    pub(crate) fn dparams(&self) -> blosc2_dparams {
        let nthreads = self.nthreads_to_decompress().unwrap_or_else(library::nthreads);
        blosc2_dparams { nthreads, schunk: self.as_ptr().cast(), typesize: 0, ..BLOSC2_DPARAMS_DEFAULTS }
    }
}
