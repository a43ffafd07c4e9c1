//! Ranges of the ids of codecs, filters and tuners: those of the format, globally registered ones, and those of
//! programs (`abi.md` 5.4).

/// First id of the codecs of the format.
pub const BLOSC2_DEFINED_CODECS_START: i32 = 0;
/// Last id of the codecs of the format.
pub const BLOSC2_DEFINED_CODECS_STOP: i32 = 31;
/// First id of the globally registered codecs.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS_START: i32 = 32;
/// Last id of the globally registered codecs.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS_STOP: i32 = 159;
/// Historical count of the globally registered codecs.
pub const BLOSC2_GLOBAL_REGISTERED_CODECS: i32 = 5;
/// First id of the codecs that programs register.
pub const BLOSC2_USER_REGISTERED_CODECS_START: i32 = 160;
/// Last id of the codecs that programs register.
pub const BLOSC2_USER_REGISTERED_CODECS_STOP: i32 = 255;
/// First id of the filters of the format.
pub const BLOSC2_DEFINED_FILTERS_START: i32 = 0;
/// Last id of the filters of the format.
pub const BLOSC2_DEFINED_FILTERS_STOP: i32 = 31;
/// First id of the globally registered filters.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS_START: i32 = 32;
/// Last id of the globally registered filters.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP: i32 = 159;
/// Historical count of the globally registered filters.
pub const BLOSC2_GLOBAL_REGISTERED_FILTERS: i32 = 5;
/// First id of the filters that programs register.
pub const BLOSC2_USER_REGISTERED_FILTERS_START: i32 = 160;
/// Last id of the filters that programs register.
pub const BLOSC2_USER_REGISTERED_FILTERS_STOP: i32 = 255;
/// First id of the library's own tuners.
pub const BLOSC2_DEFINED_TUNER_START: i32 = 0;
/// Last id of the library's own tuners.
pub const BLOSC2_DEFINED_TUNER_STOP: i32 = 31;
/// First id of the globally registered tuners.
pub const BLOSC2_GLOBAL_REGISTERED_TUNER_START: i32 = 32;
/// Last id of the globally registered tuners.
pub const BLOSC2_GLOBAL_REGISTERED_TUNER_STOP: i32 = 159;
/// Historical count of the globally registered tuners.
pub const BLOSC2_GLOBAL_REGISTERED_TUNERS: i32 = 0;
/// First id of the tuners that programs register.
pub const BLOSC2_USER_REGISTERED_TUNER_START: i32 = 160;
/// Last id of the tuners that programs register; higher ids are accepted, too.
pub const BLOSC2_USER_REGISTERED_TUNER_STOP: i32 = 255;
