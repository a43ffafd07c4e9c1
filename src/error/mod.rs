//! The one error type of the crate, and the one place that maps it to the ABI's negative codes and back
//! (`abi.md` 5.2).

mod text;

pub use text::Text;

use std::ffi::CStr;
use std::fmt;
use std::panic::Location;

/// The result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong: a kind, which becomes the ABI's return code, and a sentence for `BLOSC_TRACE`.
///
/// The kind is kept beside the pointer: it is there even when no memory was left for the sentence. A `Result<usize>` takes
/// two words, as it would with the pointer alone.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// `None` when it could not be allocated.
    details: Option<Box<[Details; 1]>>,
}

const _: () = assert!(size_of::<Result<usize>>() == 16);

#[derive(Debug)]
struct Details {
    text: Text,
    place: &'static Location<'static>,
}

impl Error {
    /// Makes an error of `kind`; `text` says what was expected and what was found. Allocates fallibly: without memory,
    /// the error has a shorter text or none.
    #[cold]
    #[track_caller]
    pub fn new(kind: ErrorKind, text: fmt::Arguments<'_>) -> Self {
        let place = Location::caller();
        let mut details = Vec::new();
        if details.try_reserve_exact(1).is_ok() {
            details.push(Details { text: Text::new(text), place });
        }
        // `Box::try_new` is not stable; an array of one takes the memory of the vector.
        Error { kind, details: details.try_into().ok() }
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where in the sources the error was found, unless there was no memory to note it.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.details.as_ref().map(|details| details[0].place)
    }

    /// The ABI's code for this error; always negative.
    pub fn code(&self) -> i32 {
        self.kind.code()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.message().to_str().unwrap_or_default();
        match &self.details {
            Some(details) => write!(f, "{kind}: {}", details[0].text),
            None => write!(f, "{kind} (no memory for more)"),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The kinds of error, one for each code of the ABI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorKind {
            $($(#[$doc])* $name,)*
            /// The negative code that a caller's own callback returned, passed on unchanged.
            Callback(i32),
        }

        impl ErrorKind {
            /// The ABI's code; always negative.
            pub const fn code(self) -> i32 {
                match self {
                    $(ErrorKind::$name => $code,)*
                    ErrorKind::Callback(code) => code,
                }
            }

            /// The text of `blosc2_error_string`.
            pub const fn message(self) -> &'static CStr {
                match self {
                    $(ErrorKind::$name => $text,)*
                    ErrorKind::Callback(code) => match ErrorKind::from_code(code) {
                        Some(ErrorKind::Callback(_)) | None => UNKNOWN,
                        Some(kind) => kind.message(),
                    },
                }
            }

            /// The kind with that code, if the ABI names it.
            pub const fn from_code(code: i32) -> Option<ErrorKind> {
                match code {
                    $($code => Some(ErrorKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// What `blosc2_error_string` says of every number that is not an error code, 0 included.
pub const UNKNOWN: &CStr = c"Unknown error";

kinds! {
    /// Generic failure.
    Failure = -1, c"Generic failure";
    /// Bad stream.
    Stream = -2, c"Bad stream";
    /// Invalid data.
    Data = -3, c"Invalid data";
    /// Memory could not be had.
    MemoryAlloc = -4, c"Memory alloc/realloc failure";
    /// The input ends too early.
    ReadBuffer = -5, c"Not enough space to read";
    /// The output does not fit.
    WriteBuffer = -6, c"Not enough space to write";
    /// No such codec.
    CodecSupport = -7, c"Codec not supported";
    /// A codec parameter is out of range.
    CodecParam = -8, c"Invalid parameter supplied to codec";
    /// Bad dictionary.
    CodecDict = -9, c"Codec dictionary error";
    /// A format version from the future.
    VersionSupport = -10, c"Version not supported";
    /// A header field is out of range.
    InvalidHeader = -11, c"Invalid value in header";
    /// An argument is out of range.
    InvalidParam = -12, c"Invalid parameter supplied to function";
    /// A file could not be read.
    FileRead = -13, c"File read failure";
    /// A file could not be written.
    FileWrite = -14, c"File write failure";
    /// A file could not be opened.
    FileOpen = -15, c"File open failure";
    /// No such thing.
    NotFound = -16, c"Not found";
    /// A run that the format does not allow.
    RunLength = -17, c"Bad run length encoding";
    /// A filter is unknown or failed.
    FilterPipeline = -18, c"Filter pipeline error";
    /// A chunk could not be inserted.
    ChunkInsert = -19, c"Chunk insert failure";
    /// A chunk could not be appended.
    ChunkAppend = -20, c"Chunk append failure";
    /// A chunk could not be updated.
    ChunkUpdate = -21, c"Chunk update failure";
    /// A size beyond 2 GB.
    TwoGbLimit = -22, c"Sizes larger than 2gb not supported";
    /// A super-chunk could not be copied.
    SchunkCopy = -23, c"Super-chunk copy failure";
    /// A frame of the wrong type.
    FrameType = -24, c"Wrong type for frame";
    /// A file could not be truncated.
    FileTruncate = -25, c"File truncate failure";
    /// A thread could not be created.
    ThreadCreate = -26, c"Thread or thread context creation failure";
    /// A postfilter failed.
    Postfilter = -27, c"Postfilter failure";
    /// A special frame is bad.
    FrameSpecial = -28, c"Special frame failure";
    /// A special super-chunk is bad.
    SchunkSpecial = -29, c"Special super-chunk failure";
    /// An I/O back-end is unknown or failed.
    PluginIo = -30, c"IO plugin error";
    /// A file could not be removed.
    FileRemove = -31, c"Remove file failure";
    /// A required pointer is NULL.
    NullPointer = -32, c"Pointer is null";
    /// An index is out of range.
    InvalidIndex = -33, c"Invalid index";
    /// No such metalayer.
    MetalayerNotFound = -34, c"Metalayer has not been found";
    /// A buffer is larger (or, for a destination, smaller) than the format allows.
    MaxBufsizeExceeded = -35, c"Maximum buffersize exceeded";
    /// A tuner failed.
    Tuner = -36, c"Tuner failure";
    /// A frame lock could not be taken.
    Lock = -37, c"Frame lock failure";
}

/// Builds an [`Error`]: `err!(Data, "offset {} beyond chunk of {} bytes", off, len)`.
#[macro_export]
macro_rules! err {
    ($kind:ident, $($text:tt)+) => {
        $crate::error::Error::new($crate::error::ErrorKind::$kind, format_args!($($text)+))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_of_which_kind() {
        let error = err!(Data, "{} blocks", 17);
        assert_eq!(error.to_string(), "Invalid data: 17 blocks");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Data, -3));
        assert!(error.place().is_some_and(|place| place.file() == file!()));
        assert_eq!(err!(NullPointer, "constant").to_string(), "Pointer is null: constant");
    }

    #[test]
    fn an_error_without_details_still_has_its_kind() {
        let error = Error { kind: ErrorKind::Callback(-99), details: None };
        assert_eq!((error.code(), error.place()), (-99, None));
        assert_eq!(error.to_string(), "Unknown error (no memory for more)");
    }

    #[test]
    fn every_code_maps_there_and_back() {
        for code in -37..0 {
            assert_eq!(ErrorKind::from_code(code).map(ErrorKind::code), Some(code));
        }
        for code in [-38, 0, 1] {
            assert_eq!(ErrorKind::from_code(code), None);
        }
    }

    #[test]
    fn a_callback_code_keeps_its_number_and_borrows_the_text() {
        assert_eq!(ErrorKind::Callback(-9).code(), -9);
        assert_eq!(ErrorKind::Callback(-9).message(), c"Codec dictionary error");
        assert_eq!(ErrorKind::Callback(-99).message(), UNKNOWN);
    }
}
