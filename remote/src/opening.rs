//! Opening a super-chunk by URL, also with a library that opens only names of local files.

use crate::callbacks;
use crate::client::{BackendParams, Place};
use crate::failure::{self, Failure, Result};
use crate::library::Library;
use blosc2::remote::Client;
use blosc2_core::abi::{BLOSC2_ERROR_FILE_OPEN, blosc2_io, blosc2_schunk};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file without content, as long as a remote one: C-Blosc2 compares the length of a frame with that of a local file when it
/// opens the frame. Removed on drop.
struct Placeholder(PathBuf);

impl Placeholder {
    fn new(path: PathBuf, len: u64) -> Result<Placeholder> {
        let failed = |error: io::Error| {
            let text = format!("cannot make {} with {len} bytes: {error}", path.display());
            Failure::new(BLOSC2_ERROR_FILE_OPEN, text)
        };
        let file = File::create_new(&path).map_err(failed)?;
        let placeholder = Placeholder(path.clone());
        file.set_len(len).map_err(failed)?;
        Ok(placeholder)
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        // A file that another process has removed is no error.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns a path for a new file.
fn new_path() -> PathBuf {
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("blosc2-remote-{}-{number}", std::process::id()))
}

/// Opens the super-chunk at `url`, a directory if the URL ends with `/`.
pub(crate) fn open(client: &Client, url: &str) -> Result<*mut blosc2_schunk> {
    let library = Library::find()?;
    library.register()?;
    let is_directory = url.ends_with('/');
    // The name of a local file or directory; libblosc2 also removes `file:///` from names.
    let local = match (library.has_extensions() && !url.starts_with("file:///"), is_directory) {
        (true, _) => None,
        (false, false) => Some(new_path()),
        (false, true) => Some(std::env::temp_dir()),
    };
    let name = match &local {
        None => url,
        Some(path) => {
            path.to_str().ok_or_else(|| Failure::param(format!("the path {path:?} is not UTF-8")))?
        }
    };
    let root =
        |name: &str| if is_directory { name.strip_suffix('/').unwrap_or(name) } else { name }.to_owned();
    let place = Place { name: root(name), url: root(url) };
    let params = Arc::new(BackendParams::new(client.clone(), Some(place)));
    let placeholder = match &local {
        Some(path) if !is_directory => Some(Placeholder::new(path.clone(), params.open(name)?.len())?),
        _ => None,
    };
    let name = CString::new(name).map_err(|_| Failure::param("the URL has a NUL"))?;
    let io = blosc2_io {
        id: callbacks::ID,
        name: ptr::null(),
        params: Arc::into_raw(params.clone()).cast_mut().cast(),
    };
    // The functions of the back-end replace the text if one of them fails.
    failure::record(&format!("there is no frame at {url}, or it is damaged"));
    // SAFETY: strings and structs that live during the call; the parameters live until `destroy`.
    let schunk = unsafe { (library.open_udio)(name.as_ptr(), &io) };
    drop(placeholder);
    if schunk.is_null() && !params.is_destroyed.swap(true, Ordering::AcqRel) {
        // C-Blosc2 does not call `destroy` after each failed open.
        // SAFETY: made by `Arc::into_raw` above; `is_destroyed` ensures that `destroy` does not free it, too.
        drop(unsafe { Arc::from_raw(io.params.cast::<BackendParams>()) });
    }
    Ok(schunk)
}
