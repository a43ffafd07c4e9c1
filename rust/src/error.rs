//! Errors.

use std::{fmt, io};

/// The kind of an [`Error`].
///
/// ```
/// use blosc2::{ErrorKind, Params, SuperChunk};
///
/// let error = SuperChunk::new(&Params::new().level(10)).unwrap_err();
/// assert_eq!((error.kind(), ErrorKind::InvalidParam.code()), (ErrorKind::InvalidParam, -12));
/// ```
pub use blosc2_core::ErrorKind;

/// The result of the functions of this crate.
///
/// ```
/// fn first_item(path: &str) -> blosc2::Result<i32> {
///     blosc2::Array::open(path)?.get(&[0])
/// }
///
/// assert!(first_item("no/such/file").is_err());
/// # Ok::<(), blosc2::Error>(())
/// ```
pub type Result<T> = std::result::Result<T, Error>;

/// An error: its kind, the code of C-Blosc2 for it, and a message that states what was expected and what was found.
///
/// ```
/// let error = blosc2::decompress(b"no chunk").unwrap_err();
/// assert_eq!((error.kind(), error.code()), (blosc2::ErrorKind::ReadBuffer, -5));
/// assert_eq!(error.to_string(), "Not enough space to read: the header has 8 bytes, expected 16");
///
/// // An error of the operating system is the source, and keeps its kind as a `std::io::Error`.
/// let error = std::io::Error::from(blosc2::SuperChunk::open("no/such/file").unwrap_err());
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// ```
pub struct Error(Reason);

/// Where the error comes from, with the error of the operating system that is its cause, if there is one.
enum Reason {
    Library(blosc2_core::Error, Option<io::Error>),
    Message(ErrorKind, String, Option<io::Error>),
    /// An error of a stream, which is its own cause.
    Stream(io::Error),
}

impl Error {
    /// Returns an error with a message, for example of an [`Element`](crate::Element) or of the changes in a transaction.
    ///
    /// ```
    /// use blosc2::{Error, ErrorKind, Params, SuperChunk};
    ///
    /// let mut schunk = SuperChunk::new(&Params::new())?;
    /// let done = schunk.transaction(|schunk| {
    ///     schunk.append(&[7; 8000])?;
    ///     Err::<(), _>(Error::new(ErrorKind::Data, "no measurement"))
    /// });
    /// assert_eq!(done.unwrap_err().to_string(), "Invalid data: no measurement");
    /// assert_eq!(schunk.nchunks(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Reason::Message(kind, message.into(), None))
    }

    /// Returns an error for an argument that is not valid.
    pub(crate) fn param(message: String) -> Error {
        Error::new(ErrorKind::InvalidParam, message)
    }

    /// Returns an error that is caused by one of the operating system, of the kind `cause`.
    pub(crate) fn with_cause(kind: ErrorKind, message: String, cause: io::ErrorKind) -> Error {
        Error(Reason::Message(kind, message, Some(cause.into())))
    }

    /// Returns an error of a store.
    #[cfg(feature = "remote")]
    pub(crate) fn from_io(kind: ErrorKind, error: &io::Error) -> Error {
        Error::with_cause(kind, error.to_string(), error.kind())
    }

    /// Returns whether the cause is a missing file.
    #[cfg(feature = "remote")]
    pub(crate) fn is_not_found(&self) -> bool {
        self.cause().is_some_and(|cause| cause.kind() == io::ErrorKind::NotFound)
    }

    /// Returns whether the cause can be a file that does not exist: web servers refuse to list a directory, and S3 refuses missing files
    /// to users who must not list the bucket.
    #[cfg(feature = "remote")]
    pub(crate) fn is_missing(&self) -> bool {
        let is_such = |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
        self.cause().is_some_and(|cause| is_such(cause.kind()))
    }

    fn cause(&self) -> Option<&io::Error> {
        match &self.0 {
            Reason::Library(_, cause) | Reason::Message(_, _, cause) => cause.as_ref(),
            Reason::Stream(cause) => Some(cause),
        }
    }

    /// Returns the kind of the error. That of an error of a stream is `FileRead`.
    ///
    /// ```
    /// let error = blosc2::SuperChunk::open("no/such/file").unwrap_err();
    /// assert_eq!(error.kind(), blosc2::ErrorKind::FileOpen);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Reason::Library(error, _) => error.kind(),
            Reason::Message(kind, ..) => *kind,
            Reason::Stream(_) => ErrorKind::FileRead,
        }
    }

    /// Returns the code of C-Blosc2 for the kind: a negative number.
    ///
    /// ```
    /// let error = blosc2::SuperChunk::open("no/such/file").unwrap_err();
    /// assert_eq!(error.code(), blosc2::ErrorKind::FileOpen.code());
    /// ```
    pub fn code(&self) -> i32 {
        self.kind().code()
    }
}

/// Prints the kind and the text, because a program that ends with an error prints this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("kind", &self.kind()).field("message", &self.to_string());
        if let Some(cause) = self.cause() {
            debug.field("source", cause);
        }
        debug.finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Library(error, _) => write!(f, "{error:#}"),
            Reason::Message(kind, message, _) => {
                write!(f, "{}: {message}", kind.message().to_str().unwrap_or_default())
            }
            Reason::Stream(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

impl From<blosc2_core::Error> for Error {
    fn from(error: blosc2_core::Error) -> Error {
        let cause = error.cause();
        Error(Reason::Library(error, cause))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        error.downcast().unwrap_or_else(|error| Error(Reason::Stream(error)))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match (error.cause(), error.kind()) {
            (Some(cause), _) => cause.kind(),
            (None, ErrorKind::InvalidParam | ErrorKind::InvalidIndex) => io::ErrorKind::InvalidInput,
            (None, ErrorKind::MemoryAlloc) => io::ErrorKind::OutOfMemory,
            (None, ErrorKind::FileRead | ErrorKind::FileWrite | ErrorKind::FileOpen) => io::ErrorKind::Other,
            (None, _) => io::ErrorKind::InvalidData,
        };
        match error {
            Error(Reason::Stream(error)) => error,
            error => io::Error::new(kind, error),
        }
    }
}
