//! The table of the codecs of the library itself (`codecs.md` 1): the five codecs that every Blosc2 library has, and
//! Snappy, which only Blosc 1 has. Codecs that are registered at run time are in [`registry`](crate::registry).

#![forbid(unsafe_code)]

#[cfg(feature = "snappy")]
use super::snappy;
use crate::error::{Error, Result, err};
use std::ffi::CStr;

/// A codec of the library itself. The numbers are the ABI's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BuiltInCodec {
    /// BloscLZ, Blosc's own.
    BloscLz = 0,
    /// LZ4, the fast encoder.
    Lz4 = 1,
    /// LZ4, the high-compression encoder: the streams are [`BuiltInCodec::Lz4`]'s.
    Lz4Hc = 2,
    /// Snappy, for chunks of Blosc 1 only.
    #[cfg(feature = "snappy")]
    Snappy = 3,
    /// Deflate in a zlib wrapper.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

struct Properties {
    codec: BuiltInCodec,
    /// The ABI's name.
    name: &'static CStr,
    /// The format code in bits 5-7 of a chunk's flags, which is also the code of the library.
    format: u8,
    library_name: &'static CStr,
    library_version: &'static str,
    /// Whether this build has the codec. The feature has the name of the library.
    is_built: bool,
    /// Whether chunks of Blosc2 may use the codec.
    is_in_blosc2: bool,
    /// Whether streams can refer to a dictionary.
    has_dictionaries: bool,
    /// Whether the decoder can stop after a part of the content.
    decodes_prefixes: bool,
    /// The highest level at which shuffled blocks are split into one stream per byte of an item; `None` for never.
    max_split_level: Option<i32>,
    /// Whether blocks that are not split have the larger automatic sizes.
    has_large_blocks: bool,
}

/// The codecs, by ascending code.
const TABLE: &[Properties] = &[
    Properties {
        codec: BuiltInCodec::BloscLz,
        name: c"blosclz",
        format: 0,
        library_name: c"BloscLZ",
        // The version whose streams and encoder decisions this implementation reproduces.
        library_version: "2.5.3",
        is_built: true,
        is_in_blosc2: true,
        has_dictionaries: false,
        decodes_prefixes: true,
        max_split_level: Some(9),
        has_large_blocks: false,
    },
    Properties {
        codec: BuiltInCodec::Lz4,
        name: c"lz4",
        format: 1,
        library_name: c"LZ4",
        // That of the C library whose format and sizes the encoders match.
        library_version: "1.10.0",
        is_built: cfg!(feature = "lz4"),
        is_in_blosc2: true,
        has_dictionaries: true,
        decodes_prefixes: cfg!(feature = "lz4"),
        max_split_level: Some(9),
        has_large_blocks: false,
    },
    Properties {
        codec: BuiltInCodec::Lz4Hc,
        name: c"lz4hc",
        format: 1,
        library_name: c"LZ4",
        // That of the C library whose format and sizes the encoders match.
        library_version: "1.10.0",
        is_built: cfg!(feature = "lz4"),
        is_in_blosc2: true,
        has_dictionaries: true,
        decodes_prefixes: cfg!(feature = "lz4"),
        max_split_level: None,
        has_large_blocks: true,
    },
    #[cfg(feature = "snappy")]
    Properties {
        codec: BuiltInCodec::Snappy,
        name: c"snappy",
        format: 2,
        library_name: c"Snappy",
        library_version: snappy::VERSION,
        is_built: true,
        is_in_blosc2: false,
        has_dictionaries: false,
        decodes_prefixes: false,
        max_split_level: None,
        has_large_blocks: false,
    },
    Properties {
        codec: BuiltInCodec::Zlib,
        name: c"zlib",
        format: 3,
        library_name: c"Zlib",
        // That of the zlib whose streams the encoder writes.
        library_version: "1.3.1",
        is_built: cfg!(feature = "zlib"),
        is_in_blosc2: true,
        has_dictionaries: false,
        decodes_prefixes: false,
        max_split_level: None,
        has_large_blocks: true,
    },
    Properties {
        codec: BuiltInCodec::Zstd,
        name: c"zstd",
        format: 4,
        library_name: c"Zstd",
        // That of the bundled library.
        library_version: "1.5.7",
        is_built: cfg!(feature = "zstd"),
        is_in_blosc2: true,
        has_dictionaries: true,
        decodes_prefixes: false,
        max_split_level: Some(5),
        has_large_blocks: true,
    },
];

impl BuiltInCodec {
    /// The names of the codecs of Blosc2, separated by commas.
    pub(crate) const NAMES: &CStr = c"blosclz,lz4,lz4hc,zlib,zstd";

    /// Returns the codecs of Blosc2, by ascending code.
    pub(crate) fn all() -> impl Iterator<Item = BuiltInCodec> {
        TABLE.iter().filter(|row| row.is_in_blosc2).map(|row| row.codec)
    }

    /// Returns the codecs of Blosc 1, by ascending code.
    pub(crate) fn all_of_blosc1() -> impl Iterator<Item = BuiltInCodec> {
        TABLE.iter().map(|row| row.codec)
    }

    /// Returns the codec with that code, or `None` if it is not a built-in one.
    pub(crate) fn from_compcode(code: i32) -> Option<BuiltInCodec> {
        BuiltInCodec::all().find(|codec| i32::from(codec.compcode()) == code)
    }

    /// Returns the codec of Blosc 1 with that code, or `None` if there is none.
    pub(crate) fn from_blosc1_compcode(code: i32) -> Option<BuiltInCodec> {
        BuiltInCodec::all_of_blosc1().find(|codec| i32::from(codec.compcode()) == code)
    }

    /// Returns the codec that decodes that format code in chunks of Blosc2, or `None` if there is none.
    pub(crate) fn from_format(format: u8) -> Option<BuiltInCodec> {
        BuiltInCodec::all().find(|codec| codec.format() == format)
    }

    /// Returns the codec that decodes that format code in chunks of Blosc 1, or `None` if there is none.
    pub(crate) fn from_blosc1_format(format: u8) -> Option<BuiltInCodec> {
        BuiltInCodec::all_of_blosc1().find(|codec| codec.format() == format)
    }

    /// Returns the codec of that name, exactly as written, or `None` if there is none.
    pub(crate) fn from_name(name: &CStr) -> Option<BuiltInCodec> {
        BuiltInCodec::all().find(|codec| codec.name() == name)
    }

    /// Checks that this build has the codec.
    ///
    /// # Errors
    /// `CodecSupport`.
    pub(crate) fn check_is_built(self) -> Result<()> {
        if self.properties().is_built { Ok(()) } else { Err(self.left_out()) }
    }

    /// Returns the error for a codec that this build does not have.
    #[cold]
    pub(super) fn left_out(self) -> Error {
        let feature = self.library_name().to_string_lossy().to_lowercase();
        err!(
            CodecSupport,
            "the codec {:?} needs the feature `{feature}`, which is off in this build",
            self.name()
        )
    }

    fn properties(self) -> &'static Properties {
        TABLE.iter().find(|row| row.codec == self).expect("the table has a row for each codec")
    }

    /// Returns the ABI's code.
    pub(crate) const fn compcode(self) -> u8 {
        self as u8
    }

    /// Returns the ABI's name.
    pub(crate) fn name(self) -> &'static CStr {
        self.properties().name
    }

    /// Returns the format code in bits 5-7 of a chunk's flags, which is also the code of the library that the codec
    /// belongs to (`blosc2_get_complib_info`).
    pub(crate) fn format(self) -> u8 {
        self.properties().format
    }

    pub(crate) fn library_name(self) -> &'static CStr {
        self.properties().library_name
    }

    pub(crate) fn library_version(self) -> &'static str {
        self.properties().library_version
    }

    /// Returns whether streams of the codec can refer to a dictionary.
    pub(crate) fn has_dictionaries(self) -> bool {
        self.properties().has_dictionaries
    }

    /// Returns whether the decoder can stop after a part of the content.
    pub(crate) fn decodes_prefixes(self) -> bool {
        self.properties().decodes_prefixes
    }

    /// Returns whether shuffled blocks are split into one stream per byte of an item at `clevel`, by default.
    pub(crate) fn splits_at(self, clevel: i32) -> bool {
        self.properties().max_split_level.is_some_and(|max| clevel <= max)
    }

    /// Returns whether blocks that are not split have the larger automatic sizes.
    pub(crate) fn has_large_blocks(self) -> bool {
        self.properties().has_large_blocks
    }
}
