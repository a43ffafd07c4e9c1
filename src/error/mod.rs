//! The error type of the crate, and the only mapping between it and the ABI's negative codes (`abi.md` 5.2).

mod text;

pub use text::Text;

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::panic::Location;

/// The result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: a kind, which becomes the ABI's return code, and a message for `BLOSC_TRACE`.
///
/// The kind is stored outside the box with the message, so that it is available even if the message could not be
/// allocated. On 64-bit machines, a `Result<usize>` has two words, no more than with only the box.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// `None` when it could not be allocated.
    details: Option<Box<[ErrorDetails; 1]>>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Result<usize>>() == 16);

#[derive(Debug)]
struct ErrorDetails {
    text: Text,
    location: &'static Location<'static>,
    /// The error of the operating system that is the cause: its kind and number.
    cause: Option<(io::ErrorKind, Option<i32>)>,
}

impl ErrorDetails {
    /// Returns the details in a box; `None` without memory.
    #[cold]
    #[inline(never)]
    fn boxed(text: fmt::Arguments<'_>, location: &'static Location<'static>) -> Option<Box<[Self; 1]>> {
        let mut details = Vec::new();
        if details.try_reserve_exact(1).is_ok() {
            details.push(ErrorDetails { text: Text::new(text), location, cause: None });
        }
        // `Box::try_new` is not stable; a box of an array with one element reuses the memory of the vector.
        details.try_into().ok()
    }
}

impl Error {
    /// Creates an error of `kind`; `text` states what was expected and what was found. Allocates fallibly: without
    /// memory, the message is truncated or missing.
    ///
    /// Inlined, so that the compiler sees the kind, and that the path of an error does not join that of a success.
    #[inline(always)]
    #[track_caller]
    pub fn new(kind: ErrorKind, text: fmt::Arguments<'_>) -> Self {
        Error { kind, details: ErrorDetails::boxed(text, Location::caller()) }
    }

    /// Returns the result of `make`, which owns copies of the values in its text.
    #[inline(always)]
    pub fn from_copies(make: impl FnOnce() -> Self) -> Self {
        make()
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the source location at which the error was created; `None` if the message could not be allocated.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.details.as_ref().map(|details| details[0].location)
    }

    /// Adds the error of the operating system that is the cause.
    #[must_use]
    pub(crate) fn caused_by(mut self, cause: &io::Error) -> Self {
        if let Some(details) = &mut self.details {
            details[0].cause = Some((cause.kind(), cause.raw_os_error()));
        }
        self
    }

    /// Returns the error of the operating system that is the cause, if it is known.
    pub fn cause(&self) -> Option<io::Error> {
        let (kind, number) = self.details.as_ref()?[0].cause?;
        Some(number.map_or_else(|| kind.into(), io::Error::from_raw_os_error))
    }

    /// Returns whether the error has its message, not only its kind.
    pub(crate) fn has_details(&self) -> bool {
        self.details.is_some()
    }

    /// Frees the message; the kind stays.
    pub(crate) fn without_details(self) -> Self {
        Error { kind: self.kind, details: None }
    }

    /// Returns the ABI's code for this error; always negative.
    pub fn code(&self) -> i32 {
        self.kind.code()
    }
}

/// Returns a function that replaces the kind of an error by the kind `kind` of the operation, except `MemoryAlloc`.
pub(crate) fn to_kind(kind: ErrorKind) -> impl Fn(Error) -> Error + Copy {
    move |error| replace_kind(error, kind, ErrorKind::MemoryAlloc)
}

/// Returns a function that replaces the kind of an error by the kind `kind` of the operation, except `Lock` and
/// `MemoryAlloc`.
pub(crate) fn to_kind_unless_lock(kind: ErrorKind) -> impl Fn(Error) -> Error + Copy {
    move |error| replace_kind(error, kind, ErrorKind::Lock)
}

/// Replaces the kind by `Failure`, unless it is `Lock` or `MemoryAlloc`.
pub(crate) fn to_failure_unless_lock(error: Error) -> Error {
    to_kind_unless_lock(ErrorKind::Failure)(error)
}

/// Replaces the kind of `error`, unless it is `kept` or `MemoryAlloc`.
#[cold]
#[inline(never)]
fn replace_kind(error: Error, kind: ErrorKind, kept: ErrorKind) -> Error {
    match error.kind() {
        ErrorKind::MemoryAlloc => error,
        there if there == kept => error,
        _ => {
            let mut replaced = Error::new(kind, format_args!("{error}"));
            if let (Some(details), Some(old)) = (&mut replaced.details, &error.details) {
                details[0].cause = old[0].cause;
            }
            replaced
        }
    }
}

/// Writes the message, so that an error whose text has another error in it names one kind only. `{:#}` writes the name
/// of the kind before the message.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.message().to_str().unwrap_or_default();
        match &self.details {
            Some(details) if f.alternate() => write!(f, "{kind}: {}", details[0].text),
            Some(details) => details[0].text.fmt(f),
            None => write!(f, "{kind} (no memory for the details)"),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The kinds of errors, one for each code of the ABI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $name,)*
            /// The negative code that a callback of the caller returned; it is returned unchanged.
            Callback(i32),
        }

        impl ErrorKind {
            /// Returns the ABI's code; always negative.
            pub const fn code(self) -> i32 {
                match self {
                    $(ErrorKind::$name => $code,)*
                    ErrorKind::Callback(code) => code,
                }
            }

            /// Returns the text for `blosc2_error_string`.
            pub const fn message(self) -> &'static CStr {
                match self {
                    $(ErrorKind::$name => $text,)*
                    ErrorKind::Callback(code) => match ErrorKind::from_code(code) {
                        Some(ErrorKind::Callback(_)) | None => UNKNOWN_ERROR,
                        Some(kind) => kind.message(),
                    },
                }
            }

            /// Returns the kind with that code, if the ABI defines one.
            pub const fn from_code(code: i32) -> Option<ErrorKind> {
                match code {
                    $($code => Some(ErrorKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// The text that `blosc2_error_string` returns for every number that is not an error code, also for 0.
pub const UNKNOWN_ERROR: &CStr = c"Unknown error";

kinds! {
    /// Generic failure.
    Failure = -1, c"Generic failure";
    /// Invalid stream.
    Stream = -2, c"Bad stream";
    /// Invalid data.
    Data = -3, c"Invalid data";
    /// Memory could not be allocated.
    MemoryAlloc = -4, c"Memory alloc/realloc failure";
    /// The input is too short.
    ReadBuffer = -5, c"Not enough space to read";
    /// The output buffer is too small.
    WriteBuffer = -6, c"Not enough space to write";
    /// The codec is unknown or not available.
    CodecSupport = -7, c"Codec not supported";
    /// A codec parameter is out of range.
    CodecParam = -8, c"Invalid parameter supplied to codec";
    /// A codec dictionary is invalid.
    CodecDict = -9, c"Codec dictionary error";
    /// The format version is newer than the supported ones.
    VersionSupport = -10, c"Version not supported";
    /// A header field has an invalid value.
    InvalidHeader = -11, c"Invalid value in header";
    /// An argument has an invalid value.
    InvalidParam = -12, c"Invalid parameter supplied to function";
    /// A file could not be read.
    FileRead = -13, c"File read failure";
    /// A file could not be written.
    FileWrite = -14, c"File write failure";
    /// A file could not be opened.
    FileOpen = -15, c"File open failure";
    /// The requested object does not exist.
    NotFound = -16, c"Not found";
    /// A run-length encoding is invalid.
    RunLength = -17, c"Bad run length encoding";
    /// A filter is unknown or failed.
    FilterPipeline = -18, c"Filter pipeline error";
    /// A chunk could not be inserted.
    ChunkInsert = -19, c"Chunk insert failure";
    /// A chunk could not be appended.
    ChunkAppend = -20, c"Chunk append failure";
    /// A chunk could not be updated.
    ChunkUpdate = -21, c"Chunk update failure";
    /// A size is above 2 GB.
    TwoGbLimit = -22, c"Sizes larger than 2gb not supported";
    /// A super-chunk could not be copied.
    SchunkCopy = -23, c"Super-chunk copy failure";
    /// The frame has the wrong type.
    FrameType = -24, c"Wrong type for frame";
    /// A file could not be truncated.
    FileTruncate = -25, c"File truncate failure";
    /// A thread could not be created.
    ThreadCreate = -26, c"Thread or thread context creation failure";
    /// A postfilter failed.
    Postfilter = -27, c"Postfilter failure";
    /// A frame cannot be filled with special chunks, or its special chunks are invalid.
    FrameSpecial = -28, c"Special frame failure";
    /// A super-chunk cannot be filled with special chunks.
    SchunkSpecial = -29, c"Special super-chunk failure";
    /// An I/O back-end is unknown or failed.
    PluginIo = -30, c"IO plugin error";
    /// A file could not be removed.
    FileRemove = -31, c"Remove file failure";
    /// A required pointer is NULL.
    NullPointer = -32, c"Pointer is null";
    /// An index is out of range.
    InvalidIndex = -33, c"Invalid index";
    /// The metalayer does not exist.
    MetalayerNotFound = -34, c"Metalayer has not been found";
    /// A source is larger than the format allows, or a destination is too small for a header.
    MaxBufsizeExceeded = -35, c"Maximum buffersize exceeded";
    /// A tuner failed.
    Tuner = -36, c"Tuner failure";
    /// The inter-process lock of a frame could not be acquired or released.
    Lock = -37, c"Frame lock failure";
}

/// Builds an [`Error`]: `err!(Data, "offset {} beyond chunk of {} bytes", off, len)`.
///
/// The text has copies of its values, so that these have no address, and stay in registers where no error occurs.
#[macro_export]
macro_rules! err {
    ($kind:ident, $($text:tt)+) => {
        $crate::error::Error::from_copies(
            move || $crate::error::Error::new($crate::error::ErrorKind::$kind, format_args!($($text)+)),
        )
    };
}

/// Builds an [`Error`] whose cause is the `std::io::Error` in the variable `error`: `os_err!(error, FileOpen, "{path:?}: {error}")`.
macro_rules! os_err {
    ($error:ident, $kind:ident, $($text:tt)+) => {{
        // The text copies the reference.
        let $error = &$error;
        $crate::error::err!($kind, $($text)+).caused_by($error)
    }};
}

/// Returns an error from the function unless the condition holds: `ensure!(len <= max, Data, "{len} bytes")`.
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($text:tt)+) => {
        if !$condition {
            return Err($crate::error::err!($kind, $($text)+));
        }
    };
}

pub(crate) use {crate::err, ensure, os_err};

/// Returns the kind of the error of a call; `None` after success.
#[cfg(test)]
pub(crate) fn error_kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_its_kind_message_and_location() {
        let error = err!(Data, "{} blocks", 17);
        assert_eq!(format!("{error} and {error:#}"), "17 blocks and Invalid data: 17 blocks");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Data, -3));
        assert!(error.location().is_some_and(|place| place.file() == file!()));
        assert_eq!(format!("{:#}", err!(NullPointer, "constant")), "Pointer is null: constant");
    }

    #[test]
    fn the_cause_stays_when_the_kind_is_replaced() {
        let error = io::Error::from_raw_os_error(libc::ENOENT);
        let error = to_kind(ErrorKind::SchunkCopy)(os_err!(error, FileOpen, "no file: {error}"));
        assert_eq!(error.kind(), ErrorKind::SchunkCopy);
        assert_eq!(error.cause().and_then(|cause| cause.raw_os_error()), Some(libc::ENOENT));
        assert!(err!(FileOpen, "no file").cause().is_none());
    }

    #[test]
    fn a_text_with_another_error_in_it_names_one_kind() {
        let inner = err!(Data, "a bad stream in block {}", 3);
        let middle = err!(Failure, "chunk 7: {inner}");
        let outer = Error::new(ErrorKind::ChunkUpdate, format_args!("{middle}"));
        assert_eq!(format!("{outer:#}"), "Chunk update failure: chunk 7: a bad stream in block 3");
    }

    #[test]
    fn an_error_without_details_still_has_its_kind() {
        let error = Error { kind: ErrorKind::Callback(-99), details: None };
        assert_eq!((error.code(), error.location()), (-99, None));
        assert_eq!(error.to_string(), "Unknown error (no memory for the details)");
    }

    #[test]
    fn callback_code_keeps_its_value_and_has_the_message_of_the_kind() {
        assert_eq!(ErrorKind::Callback(-9).code(), -9);
        assert_eq!(ErrorKind::Callback(-9).message(), c"Codec dictionary error");
        assert_eq!(ErrorKind::Callback(-99).message(), UNKNOWN_ERROR);
    }
}
