//! The entries of the tables, and the tables with the library's own entries.

use super::table::{Registered, RegistryTable};
use crate::abi::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_filter_backward_cb, blosc2_filter_forward_cb,
    blosc2_tuner,
};
use std::ffi::CStr;

/// The registered properties of a codec.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodecEntry {
    /// Code of the codec's compression library; only reported to callers, never stored in a chunk.
    pub complib: u8,
    /// Version of the codec's format, in the chunk header's `versionlz`.
    pub version: u8,
    /// The caller's encoder; `None` until its plugin is loaded.
    pub encoder: blosc2_codec_encoder_cb,
    /// The caller's decoder; `None` until its plugin is loaded.
    pub decoder: blosc2_codec_decoder_cb,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterEntry {
    /// The caller's forward function; `None` until its plugin is loaded.
    pub forward: blosc2_filter_forward_cb,
    /// The caller's backward function; `None` until its plugin is loaded.
    pub backward: blosc2_filter_backward_cb,
}

/// The functions of a tuner, as registered.
#[derive(Clone, Copy)]
pub(crate) struct TunerEntry(pub blosc2_tuner);

// SAFETY: the struct holds function pointers and a name that is never freed; both may be used from any thread.
unsafe impl Send for TunerEntry {}
// SAFETY: nothing in it is ever written.
unsafe impl Sync for TunerEntry {}

impl TunerEntry {
    /// Returns whether no function is missing.
    pub(super) fn is_complete(&self) -> bool {
        let blosc2_tuner { init, next_blocksize, next_cparams, update, free, .. } = &self.0;
        init.is_some()
            && next_blocksize.is_some()
            && next_cparams.is_some()
            && update.is_some()
            && free.is_some()
    }
}

const fn library_codec(id: u8, name: &'static CStr) -> Registered<CodecEntry> {
    let properties = CodecEntry { complib: id, version: 1, encoder: None, decoder: None };
    Registered { id: id as i32, name: Some(name), properties }
}

const fn library_filter(id: i32, name: &'static CStr) -> Registered<FilterEntry> {
    Registered { id, name: Some(name), properties: FilterEntry { forward: None, backward: None } }
}

/// The codecs. Those with reserved ids, in the order of registration (`codecs.md` 12.2): the optional codecs, ids 32 to
/// 35, if this build includes them, and the codecs 36 to 40, whose functions are in plugin libraries.
pub(super) static CODECS: RegistryTable<CodecEntry> = RegistryTable::new(&[
    #[cfg(feature = "ndlz")]
    library_codec(32, c"ndlz"),
    #[cfg(feature = "zfp")]
    library_codec(33, c"zfp_acc"),
    #[cfg(feature = "zfp")]
    library_codec(34, c"zfp_prec"),
    #[cfg(feature = "zfp")]
    library_codec(35, c"zfp_rate"),
    library_codec(36, c"openhtj2k"),
    library_codec(37, c"grok"),
    library_codec(38, c"openzl"),
    library_codec(39, c"j2k"),
    library_codec(40, c"htj2k"),
]);

/// The optional filters, ids 32 to 36, that this build includes, in the order of registration.
pub(super) const LIBRARY_FILTERS: &[Registered<FilterEntry>] = &[
    #[cfg(feature = "plugin-filters")]
    library_filter(32, c"ndcell"),
    #[cfg(feature = "plugin-filters")]
    library_filter(33, c"ndmean"),
    #[cfg(feature = "plugin-filters")]
    library_filter(34, c"bytedelta_buggy"),
    #[cfg(feature = "plugin-filters")]
    library_filter(35, c"bytedelta"),
    #[cfg(feature = "plugin-filters")]
    library_filter(36, c"int_trunc"),
];

pub(super) static FILTERS: RegistryTable<FilterEntry> = RegistryTable::new(LIBRARY_FILTERS);

pub(super) static TUNERS: RegistryTable<TunerEntry> = RegistryTable::new(&[Registered {
    id: 32,
    name: Some(c"btune"),
    properties: TunerEntry(blosc2_tuner {
        init: None,
        next_blocksize: None,
        next_cparams: None,
        update: None,
        free: None,
        id: 32,
        name: c"btune".as_ptr().cast_mut(),
    }),
}]);
