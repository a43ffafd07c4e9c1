//! How a file is opened, and the shape of a write to it.

use std::ffi::CStr;

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpenMode {
    /// `rb`: reading a file that exists.
    Read,
    /// `rb+`: reading and writing a file that exists.
    Update,
    /// `wb`: writing a file that is created, or cut to nothing.
    Create,
    /// `ab`: writing behind what a file has; it is created if need be. Positions are given as everywhere else.
    Append,
}

impl OpenMode {
    /// As `fopen` and a program's `open` spell it (`frame.md` 5.2).
    pub(crate) const fn as_c_str(self) -> &'static CStr {
        match self {
            OpenMode::Read => c"rb",
            OpenMode::Update => c"rb+",
            OpenMode::Create => c"wb",
            OpenMode::Append => c"ab",
        }
    }
}

/// How a write is told to a program's `write`, which can see it (`frame.md` 5.2). The library's own back-ends do
/// not care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteShape {
    /// `size = 1, nitems = length`: payloads, indexes, trailers.
    Bytes,
    /// `size = length, nitems = 1`: whole headers and whole frames. No bytes are `(NULL, 0, 1)`.
    Item,
}
