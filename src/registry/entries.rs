//! The entries of the tables, and the tables with the library's own entries.

use super::table::{RegistryTable, TableEntry};
use crate::abi::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_filter_backward_cb, blosc2_filter_forward_cb,
    blosc2_tuner,
};
use std::ffi::CStr;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisteredCodec {
    /// Id of the codec, in the chunk header's `udcompcode`.
    pub compcode: u8,
    /// Name of the codec, if it has one.
    pub name: Option<&'static CStr>,
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
pub(crate) struct RegisteredFilter {
    /// Id of the filter.
    pub id: u8,
    /// Name of the filter, if it has one.
    pub name: Option<&'static CStr>,
    /// The caller's forward function; `None` until its plugin is loaded.
    pub forward: blosc2_filter_forward_cb,
    /// The caller's backward function; `None` until its plugin is loaded.
    pub backward: blosc2_filter_backward_cb,
}

/// A tuner that is registered.
#[derive(Clone, Copy)]
pub(crate) struct Tuner {
    /// Id of the tuner.
    pub id: i32,
    /// Name of the tuner, if it has one.
    pub name: Option<&'static CStr>,
    /// The caller's functions, as registered.
    pub functions: blosc2_tuner,
}

// SAFETY: the struct holds function pointers and a name that is never freed; both may be used from any thread.
unsafe impl Send for Tuner {}
// SAFETY: nothing in it is ever written.
unsafe impl Sync for Tuner {}

impl Tuner {
    /// Returns whether no function is missing.
    pub(super) fn is_complete(&self) -> bool {
        let blosc2_tuner { init, next_blocksize, next_cparams, update, free, .. } = &self.functions;
        init.is_some()
            && next_blocksize.is_some()
            && next_cparams.is_some()
            && update.is_some()
            && free.is_some()
    }
}

impl TableEntry for RegisteredCodec {
    fn id(&self) -> i32 {
        i32::from(self.compcode)
    }
    fn name(&self) -> Option<&'static CStr> {
        self.name
    }
}

impl TableEntry for RegisteredFilter {
    fn id(&self) -> i32 {
        i32::from(self.id)
    }
    fn name(&self) -> Option<&'static CStr> {
        self.name
    }
}

impl TableEntry for Tuner {
    fn id(&self) -> i32 {
        self.id
    }
    fn name(&self) -> Option<&'static CStr> {
        self.name
    }
}

const fn library_codec(compcode: u8, name: &'static CStr) -> RegisteredCodec {
    RegisteredCodec {
        compcode,
        name: Some(name),
        complib: compcode,
        version: 1,
        encoder: None,
        decoder: None,
    }
}

const fn library_filter(id: u8, name: &'static CStr) -> RegisteredFilter {
    RegisteredFilter { id, name: Some(name), forward: None, backward: None }
}

/// The codecs. Those with reserved ids, in the order of registration (`codecs.md` 12.2): the optional codecs, ids 32 to
/// 35, if this build includes them, and the codecs 36 to 40, whose functions are in plugin libraries.
pub(super) static CODECS: RegistryTable<RegisteredCodec> = RegistryTable::new(&[
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
pub(super) const LIBRARY_FILTERS: &[RegisteredFilter] = &[
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

pub(super) static FILTERS: RegistryTable<RegisteredFilter> = RegistryTable::new(LIBRARY_FILTERS);

pub(super) static TUNERS: RegistryTable<Tuner> = RegistryTable::new(&[Tuner {
    id: 32,
    name: Some(c"btune"),
    functions: blosc2_tuner {
        init: None,
        next_blocksize: None,
        next_cparams: None,
        update: None,
        free: None,
        id: 32,
        name: c"btune".as_ptr().cast_mut(),
    },
}]);
