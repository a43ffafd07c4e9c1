//! Errors.

use std::{fmt, io};

pub use blosc2_core::ErrorKind;

/// The result of the functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: its kind, the code of C-Blosc2 for it, and a message that states what was expected and what was found.
///
/// ```
/// let error = blosc2::decompress(b"no chunk").unwrap_err();
/// assert_eq!((error.kind(), error.code()), (blosc2::ErrorKind::ReadBuffer, -5));
/// assert_eq!(error.to_string(), "Not enough space to read: the header has 8 bytes, expected 16");
/// ```
#[derive(Debug)]
pub struct Error(Inner);

#[derive(Debug)]
enum Inner {
    Library(blosc2_core::Error),
    Io(io::Error),
    Message(ErrorKind, String),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: String) -> Error {
        Error(Inner::Message(kind, message))
    }

    /// Returns an error for an argument that is not valid.
    pub(crate) fn param(message: String) -> Error {
        Error::new(ErrorKind::InvalidParam, message)
    }

    /// Returns the kind of the error. That of an error of a stream is `FileRead`.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Inner::Library(error) => error.kind(),
            Inner::Io(_) => ErrorKind::FileRead,
            Inner::Message(kind, _) => *kind,
        }
    }

    /// Returns the code of C-Blosc2 for the kind: a negative number.
    pub fn code(&self) -> i32 {
        self.kind().code()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Library(error) => write!(f, "{error:#}"),
            Inner::Io(error) => error.fmt(f),
            Inner::Message(kind, message) => {
                write!(f, "{}: {message}", kind.message().to_str().unwrap_or_default())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Inner::Io(error) => Some(error),
            Inner::Library(_) | Inner::Message(..) => None,
        }
    }
}

impl From<blosc2_core::Error> for Error {
    fn from(error: blosc2_core::Error) -> Error {
        Error(Inner::Library(error))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error(Inner::Io(error)),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match (&error.0, error.kind()) {
            (Inner::Io(_), _) => io::ErrorKind::Other,
            (_, ErrorKind::InvalidParam | ErrorKind::InvalidIndex) => io::ErrorKind::InvalidInput,
            (_, ErrorKind::MemoryAlloc) => io::ErrorKind::OutOfMemory,
            (_, ErrorKind::FileRead | ErrorKind::FileWrite | ErrorKind::FileOpen) => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        match error.0 {
            Inner::Io(error) => error,
            _ => io::Error::new(kind, error),
        }
    }
}
