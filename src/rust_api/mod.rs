//! The functions of the core for the crate `blosc2`, the Rust API of this workspace: safe, with Rust types, and without
//! the C structs. Not a public interface: any release may change it. The crate `blosc2` has the documented types;
//! there the errors of each function are listed, too.
//!
//! | module | owns |
//! |---|---|
//! | [`params`] | parameters of compression and decompression |
//! | [`auto_tuner`] | the automatic tuner: its settings, and the explanation of its choice |
//! | [`chunk`] | compressing and decompressing single chunks; the fields of a chunk's header |
//! | [`plugins`] | codecs and filters of the program |
//! | [`block_functions`] | prefilters and postfilters of the program |
//! | [`schunk`] | super-chunks and their metalayers |
//! | [`array`](mod@array) | arrays |
//! | [`check`] | checking and repairing frames |
//! | [`stream`] | frames that are written to, and read from, any stream |

pub mod array;
pub mod auto_tuner;
pub mod block_functions;
pub mod check;
pub mod chunk;
pub mod params;
pub mod plugins;
pub mod schunk;
pub mod stream;

use crate::error::{Result, err};
use std::ffi::CString;
use std::path::Path;

/// Returns the path as a C string.
///
/// # Errors
/// `InvalidParam` for a path with a NUL byte.
fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| err!(InvalidParam, "the path {} has a NUL byte", path.display()))
}

/// Returns a name or text as a C string.
///
/// # Errors
/// `InvalidParam` for a text with a NUL byte.
fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| err!(InvalidParam, "the text {text:?} has a NUL byte"))
}
