//! The parameters of a job: a snapshot of the context's, which workers share and which does not change during the job.

use super::callbacks::{Postfilter, Prefilter};
use crate::abi::{CBool, blosc2_cparams, blosc2_dparams, blosc2_prefilter_params};
use crate::chunk::Container;
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::codec::BuiltInCodec;
use std::ffi::c_void;
use std::ptr;

/// Pointers that callers pass in for their own callbacks. The library passes them on and never follows them.
#[derive(Clone, Copy)]
pub(crate) struct CallbackPointers {
    /// The context's super-chunk.
    pub schunk: *mut c_void,
    pub tuner_params: *mut c_void,
    /// Parameters for user codecs.
    pub codec_params: *mut c_void,
    /// Parameters for user filters, one for each slot.
    pub filter_params: [*mut c_void; MAX_FILTERS],
}

impl Default for CallbackPointers {
    fn default() -> Self {
        CallbackPointers {
            schunk: ptr::null_mut(),
            tuner_params: ptr::null_mut(),
            codec_params: ptr::null_mut(),
            filter_params: [ptr::null_mut(); MAX_FILTERS],
        }
    }
}

// SAFETY: the pointers are only copied here. The callbacks that receive them belong to the program, and the ABI
// states that callbacks run on worker threads.
unsafe impl Send for CallbackPointers {}
// SAFETY: through a shared reference the pointers can only be copied, too.
unsafe impl Sync for CallbackPointers {}

/// One pointer like those in [`CallbackPointers`].
#[derive(Clone, Copy)]
pub(crate) struct CallbackPointer(pub *mut c_void);

// SAFETY: as for `CallbackPointers`.
unsafe impl Send for CallbackPointer {}
// SAFETY: as for `CallbackPointers`.
unsafe impl Sync for CallbackPointer {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkFormat {
    /// The 32-byte header of Blosc2.
    Blosc2,
    /// The 16-byte header of Blosc 1 with the version byte of Blosc2, as C-Blosc2 writes it (`BLOSC_BLOSC1_COMPAT`).
    ShortHeader,
    /// Format 2, which Blosc 1 reads (`blosc1.md` 5). The header has the bits `filter_flags`, also where the filter
    /// does nothing.
    Blosc1 {
        /// [`flag::SHUFFLE`](crate::chunk::format::flag::SHUFFLE) or
        /// [`flag::BITSHUFFLE`](crate::chunk::format::flag::BITSHUFFLE), or 0.
        filter_flags: u8,
    },
}

/// Parameters of a compression.
#[derive(Clone, Copy)]
pub(crate) struct CompressParams {
    /// Codec id; negative for an unknown codec name.
    pub compcode: i32,
    /// The codec's meta byte.
    pub compcode_meta: u8,
    /// Compression level, 0..=9 once checked.
    pub clevel: i32,
    /// Whether to train and use a dictionary.
    pub use_dict: bool,
    /// Whether to write instrumentation records instead of data.
    pub instr_codec: bool,
    /// Whether a compressed chunk may be longer than a stored one, as an index of a frame (`frame.md` 1.4).
    pub keeps_longer: bool,
    /// Item size in bytes, as requested.
    pub typesize: i32,
    /// Number of threads that may work on the chunk, at least 1.
    pub nthreads: usize,
    /// Block size in bytes: 0 or less for an automatic one.
    pub blocksize: i32,
    /// Split mode.
    pub splitmode: i32,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// The meta bytes of the filters, one for each slot.
    pub filters_meta: [u8; MAX_FILTERS],
    pub format: ChunkFormat,
    /// Fills the blocks instead of the source.
    pub prefilter: Option<Prefilter>,
    pub tuner_id: i32,
    /// Index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    pub callback_pointers: CallbackPointers,
    /// The properties of the context's super-chunk, if an optional codec or filter (ids 32 to 36) needs them.
    pub container: Option<Container>,
}

impl Default for CompressParams {
    /// The defaults of the public header (`chunk.md` 5.1).
    fn default() -> Self {
        CompressParams {
            compcode: 0,
            compcode_meta: 0,
            clevel: 5,
            use_dict: false,
            instr_codec: false,
            keeps_longer: false,
            typesize: 8,
            nthreads: 1,
            blocksize: 0,
            splitmode: crate::abi::BLOSC_FORWARD_COMPAT_SPLIT,
            filters: [0, 0, 0, 0, 0, filter_id::SHUFFLE],
            filters_meta: [0; MAX_FILTERS],
            format: ChunkFormat::Blosc2,
            prefilter: None,
            tuner_id: 0,
            nchunk: -1,
            callback_pointers: CallbackPointers::default(),
            container: None,
        }
    }
}

impl CompressParams {
    /// Returns the codec, if it is one of the library itself in that format.
    pub(crate) fn built_in_codec(&self) -> Option<BuiltInCodec> {
        match self.format {
            ChunkFormat::Blosc1 { .. } => BuiltInCodec::from_blosc1_compcode(self.compcode),
            ChunkFormat::Blosc2 | ChunkFormat::ShortHeader => BuiltInCodec::from_compcode(self.compcode),
        }
    }

    /// Returns the struct that is passed to the program's codecs and filters (`codecs.md` 14.1).
    pub(crate) fn c_cparams(&self, typesize: i32, blocksize: i32) -> blosc2_cparams {
        blosc2_cparams {
            compcode: self.compcode as u8,
            compcode_meta: self.compcode_meta,
            clevel: self.clevel as u8,
            use_dict: i32::from(self.use_dict),
            typesize,
            nthreads: i16::try_from(self.nthreads).unwrap_or(i16::MAX),
            blocksize,
            splitmode: self.splitmode,
            schunk: self.callback_pointers.schunk,
            filters: self.filters,
            filters_meta: self.filters_meta,
            prefilter: self.prefilter.map(|p| p.function()),
            preparams: self
                .prefilter
                .map_or(ptr::null_mut::<blosc2_prefilter_params>(), |p| p.context_params()),
            tuner_params: self.callback_pointers.tuner_params,
            tuner_id: self.tuner_id,
            instr_codec: CBool::from(self.instr_codec),
            codec_params: self.callback_pointers.codec_params,
            filter_params: self.callback_pointers.filter_params,
        }
    }
}

/// Parameters of a decompression.
#[derive(Clone, Copy)]
pub(crate) struct DecompressParams<'a> {
    /// Number of threads that may work on the chunk, at least 1.
    pub nthreads: usize,
    /// Transforms each decoded block.
    pub postfilter: Option<&'a Postfilter>,
    /// Blocks to leave out, one byte each; a non-zero byte leaves its block out.
    pub mask: Option<&'a [u8]>,
    /// Index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// The context's super-chunk, for callbacks.
    pub schunk: CallbackPointer,
    /// The properties of the super-chunk, if an optional codec or filter (ids 32 to 36) needs them.
    pub container: Option<&'a Container>,
}

impl Default for DecompressParams<'_> {
    fn default() -> Self {
        DecompressParams {
            nthreads: 1,
            postfilter: None,
            mask: None,
            nchunk: -1,
            schunk: CallbackPointer(ptr::null_mut()),
            container: None,
        }
    }
}

impl DecompressParams<'_> {
    /// Returns the struct that is passed to the program's codecs and filters.
    pub(crate) fn c_dparams(&self, typesize: i32) -> blosc2_dparams {
        blosc2_dparams {
            nthreads: i16::try_from(self.nthreads).unwrap_or(i16::MAX),
            schunk: self.schunk.0,
            postfilter: self.postfilter.map(|p| p.function()),
            postparams: self.postfilter.map_or(ptr::null_mut(), |p| p.context_params()),
            typesize,
        }
    }
}
