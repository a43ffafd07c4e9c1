//! Codecs, filters and tuners by id (`codecs.md` 12): those with reserved ids (32 to 159) and those that callers
//! register. The codecs and filters that the format itself defines are in `codec` and `filter`.
//!
//! The tables hold C function pointers, but never call them; `pipeline` does. The functions of an entry that was
//! registered without functions are in a plugin library, which is loaded at their first use, while no lock is held.

mod plugin;
mod plugin_functions;
mod table;

use crate::abi::{
    blosc2_codec, blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_filter, blosc2_filter_backward_cb,
    blosc2_filter_forward_cb, blosc2_tuner,
};
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use std::ffi::CStr;
use std::ptr;
use std::sync::LazyLock;
use table::{FIRST_USER_ID, RegistrationError, RegistryTable, TableEntry};

pub(crate) use plugin_functions::{load_codec, load_filter, load_tuner};

/// A codec that is registered.
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

/// A filter that is registered.
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
// SAFETY: as above; nothing in it is ever written.
unsafe impl Sync for Tuner {}

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

/// Ids and names of the codecs with reserved ids, in the order of registration (`codecs.md` 12.2): the optional codecs,
/// ids 32 to 35, if this build includes them, and the codecs 36 to 40, whose functions are in plugin libraries.
const LIBRARY_CODECS: &[(u8, &CStr)] = &[
    #[cfg(feature = "ndlz")]
    (32, c"ndlz"),
    #[cfg(feature = "zfp")]
    (33, c"zfp_acc"),
    #[cfg(feature = "zfp")]
    (34, c"zfp_prec"),
    #[cfg(feature = "zfp")]
    (35, c"zfp_rate"),
    (36, c"openhtj2k"),
    (37, c"grok"),
    (38, c"openzl"),
    (39, c"j2k"),
    (40, c"htj2k"),
];

/// Ids and names of the optional filters, ids 32 to 36, that this build includes, in the order of registration.
const LIBRARY_FILTERS: &[(u8, &CStr)] = &[
    #[cfg(feature = "plugin-filters")]
    (32, c"ndcell"),
    #[cfg(feature = "plugin-filters")]
    (33, c"ndmean"),
    #[cfg(feature = "plugin-filters")]
    (34, c"bytedelta_buggy"),
    #[cfg(feature = "plugin-filters")]
    (35, c"bytedelta"),
    #[cfg(feature = "plugin-filters")]
    (36, c"int_trunc"),
];

static CODECS: LazyLock<RegistryTable<RegisteredCodec>> = LazyLock::new(|| {
    RegistryTable::new(
        LIBRARY_CODECS
            .iter()
            .map(|&(compcode, name)| RegisteredCodec {
                compcode,
                name: Some(name),
                complib: compcode,
                version: 1,
                encoder: None,
                decoder: None,
            })
            .collect(),
    )
});

static FILTERS: LazyLock<RegistryTable<RegisteredFilter>> = LazyLock::new(|| {
    RegistryTable::new(
        LIBRARY_FILTERS
            .iter()
            .map(|&(id, name)| RegisteredFilter { id, name: Some(name), forward: None, backward: None })
            .collect(),
    )
});

static TUNERS: LazyLock<RegistryTable<Tuner>> = LazyLock::new(|| {
    RegistryTable::new(vec![Tuner {
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
    }])
});

/// Removes the entries that callers have registered: `blosc2_init` calls this when the library is not initialised.
pub(crate) fn reset() {
    CODECS.reset();
    FILTERS.reset();
    TUNERS.reset();
}

/// Returns the codec with that id.
pub(crate) fn codec(compcode: i32) -> Option<RegisteredCodec> {
    CODECS.find(|c| i32::from(c.compcode) == compcode)
}

/// Returns the first codec with that name, in the order of registration.
pub(crate) fn codec_by_name(name: &CStr) -> Option<RegisteredCodec> {
    CODECS.find(|c| c.name == Some(name))
}

/// Returns the first codec whose library code is `complib`, in the order of registration.
pub(crate) fn codec_by_complib(complib: i32) -> Option<RegisteredCodec> {
    CODECS.find(|c| i32::from(c.complib) == complib)
}

/// Returns the filter with that id.
pub(crate) fn filter(id: u8) -> Option<RegisteredFilter> {
    FILTERS.find(|f| f.id == id)
}

/// Returns the tuner with that id.
pub(crate) fn tuner(id: i32) -> Option<Tuner> {
    TUNERS.find(|t| t.id == id)
}

/// Returns whether a context may be created with that filter id (`codecs.md` 12.3): user ids are checked only when
/// used.
pub(crate) fn is_valid_filter_id(id: u8) -> bool {
    id <= crate::chunk::format::filter_id::TRUNC_PREC
        || i32::from(id) >= FIRST_USER_ID
        || is_library_filter(id)
}

fn is_library_filter(id: u8) -> bool {
    LIBRARY_FILTERS.iter().any(|&(known, _)| known == id)
}

/// Registers a codec under `name`, which is copied; `None` for a codec without a name.
///
/// # Errors
/// `CodecParam` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is
/// full.
pub(crate) fn register_codec(codec: &blosc2_codec, name: Option<&CStr>) -> Result<()> {
    let entry = |name| RegisteredCodec {
        compcode: codec.compcode,
        name,
        complib: codec.complib,
        version: codec.version,
        encoder: codec.encoder,
        decoder: codec.decoder,
    };
    CODECS
        .register(i32::from(codec.compcode), name, entry)
        .map_err(|error| registration_error(error, i32::from(codec.compcode), name, ErrorKind::CodecParam))
}

/// Registers a filter under `name`, which is copied, or without a name.
///
/// # Errors
/// `Failure` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is full.
pub(crate) fn register_filter(filter: &blosc2_filter, name: Option<&CStr>) -> Result<()> {
    let entry =
        |name| RegisteredFilter { id: filter.id, name, forward: filter.forward, backward: filter.backward };
    FILTERS
        .register(i32::from(filter.id), name, entry)
        .map_err(|error| registration_error(error, i32::from(filter.id), name, ErrorKind::Failure))
}

/// Registers a tuner under `name`, which is copied, or without a name.
///
/// # Errors
/// `Failure` for an id below 160 or one that is registered under another name, `CodecSupport` when the table is full.
pub(crate) fn register_tuner(tuner: &blosc2_tuner, name: Option<&CStr>) -> Result<()> {
    let entry = |name: Option<&'static CStr>| {
        let pointer = name.map_or(ptr::null_mut(), |name| name.as_ptr().cast_mut());
        Tuner { id: tuner.id, name, functions: blosc2_tuner { name: pointer, ..*tuner } }
    };
    TUNERS
        .register(tuner.id, name, entry)
        .map_err(|error| registration_error(error, tuner.id, name, ErrorKind::Failure))
}

/// Returns the error for a registration that was rejected; its kind is `kind` except for a full table.
fn registration_error(error: RegistrationError, id: i32, name: Option<&CStr>, kind: ErrorKind) -> Error {
    match error {
        RegistrationError::ReservedId => {
            Error::new(kind, format_args!("the id {id} of {name:?}, expected {FIRST_USER_ID} or more"))
        }
        RegistrationError::IdInUse(by) => {
            Error::new(kind, format_args!("the id {id} of {name:?} is registered as {by:?}"))
        }
        RegistrationError::TableFull => err!(CodecSupport, "cannot register {name:?}: the table is full"),
    }
}
