//! The mode in which a file is opened, and the unit of a write to it.

use std::ffi::CStr;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpenMode {
    /// `rb`: reads an existing file.
    Read,
    /// `rb+`: reads and writes an existing file.
    Update,
    /// `wb`: writes a file that is created, or truncated to length 0.
    Create,
    /// `ab`: writes a file, which is created if necessary, without truncating it. Positions are absolute, as in the
    /// other modes.
    Append,
}

impl OpenMode {
    /// Returns the mode as a string for `fopen` and for `open` of a program's back-end (`frame.md` 5.2).
    pub(crate) const fn as_c_str(self) -> &'static CStr {
        match self {
            OpenMode::Read => c"rb",
            OpenMode::Update => c"rb+",
            OpenMode::Create => c"wb",
            OpenMode::Append => c"ab",
        }
    }
}

/// The arguments `size` and `nitems` of a write, which the callback `write` of a program receives (`frame.md` 5.2). The
/// library's own back-ends ignore them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteUnit {
    /// `size = 1, nitems = length`: payloads, indexes, trailers.
    Bytes,
    /// `size = length, nitems = 1`: whole headers and whole frames. An empty write is `(NULL, 0, 1)`.
    Item,
}
