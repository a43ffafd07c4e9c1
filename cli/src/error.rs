//! The end of a verb without success.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// Why a verb ends with another exit code than 0.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    /// One line; `None` if the verb has printed the result itself.
    message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// Damage, a difference, a failed read or write.
    Data,
    /// A file was saved in part, or files could not be compared.
    Incomplete,
    /// The reader of the output, for example `head`, has ended: nothing more is written.
    ReaderEnded,
    /// Arguments that are not valid.
    Usage,
}

impl Failure {
    /// A problem with data: exit code 1.
    pub(crate) fn data(message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Data, message: Some(message.into()) }
    }

    /// A problem with the data of a file: exit code 1.
    pub(crate) fn file(path: &Path, error: impl Display) -> Failure {
        Failure::data(format!("{}: {error}", path.display()))
    }

    /// Arguments that are not valid: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Usage, message: Some(message.into()) }
    }

    /// A result that is printed already, with exit code 1.
    pub(crate) fn reported() -> Failure {
        Failure { kind: FailureKind::Data, message: None }
    }

    /// A file that was saved without its damaged parts, which is printed already: exit code 2.
    pub(crate) fn incomplete() -> Failure {
        Failure { kind: FailureKind::Incomplete, message: None }
    }

    /// The end of the reader of the output, which is no error: exit code 0 without a message.
    pub(crate) fn reader_ended() -> Failure {
        Failure { kind: FailureKind::ReaderEnded, message: None }
    }

    /// Returns the failure of a comparison that could not be made: exit code 2, unless the reader has ended.
    pub(crate) fn into_incomplete(self) -> Failure {
        match self.kind {
            FailureKind::ReaderEnded => self,
            _ => Failure { kind: FailureKind::Incomplete, ..self },
        }
    }

    /// Returns the failure of a message that is printed already, with the same exit code.
    pub(crate) fn into_reported(self) -> Failure {
        Failure { message: None, ..self }
    }

    /// Returns the message.
    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::ReaderEnded => 0,
            FailureKind::Data => 1,
            FailureKind::Incomplete | FailureKind::Usage => 2,
        }
    }
}

/// Adds the file to an error.
pub(crate) trait WithPath<T> {
    /// Returns the failure of the file at `path`.
    fn with_path(self, path: &Path) -> Result<T, Failure>;
}

impl<T> WithPath<T> for blosc2::Result<T> {
    fn with_path(self, path: &Path) -> Result<T, Failure> {
        self.map_err(|error| Failure::file(path, error))
    }
}

impl<T> WithPath<T> for io::Result<T> {
    fn with_path(self, path: &Path) -> Result<T, Failure> {
        self.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::reader_ended(),
            _ => Failure::file(path, error),
        })
    }
}
