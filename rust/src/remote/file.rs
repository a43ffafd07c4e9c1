//! Files of a store that are read as bytes.

use super::client::Client;
use super::files::RemoteFile;
use super::place::Place;
use crate::error::{Error, ErrorKind, Result};
use blosc2_core::rust_api::schunk::SourceFile;
use std::io;

/// A file that is opened for reading its bytes; see [`Client::open_file`].
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.txt");
/// std::fs::write(&path, "a text")?;
/// let file = blosc2::remote::Client::new().open_file(&format!("file://{}", path.display()))?;
/// assert_eq!(file.nbytes(), 6);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct File(RemoteFile);

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("nbytes", &self.nbytes()).finish_non_exhaustive()
    }
}

impl File {
    /// Returns the length in bytes.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.txt");
    /// std::fs::write(&path, "abc")?;
    /// let file = blosc2::remote::Client::new().open_file(&format!("file://{}", path.display()))?;
    /// assert_eq!(file.nbytes(), 3);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nbytes(&self) -> u64 {
        self.0.len()
    }

    /// Fills `dest` with the bytes from `position` on.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.txt");
    /// std::fs::write(&path, "a text")?;
    /// let file = blosc2::remote::Client::new().open_file(&format!("file://{}", path.display()))?;
    /// assert!(file.read_exact_at(2, &mut [0; 5]).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileRead` for bytes behind the end, with the cause `UnexpectedEof`, and for an error of the server or the network.
    pub fn read_exact_at(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        if position.checked_add(dest.len() as u64).is_none_or(|end| end > self.nbytes()) {
            let text = format!(
                "the file has {} bytes, {} from {position} were requested",
                self.nbytes(),
                dest.len()
            );
            return Err(Error::with_cause(ErrorKind::FileRead, text, io::ErrorKind::UnexpectedEof));
        }
        self.0.read_exact_at(position, dest).map_err(|error| Error::from_io(ErrorKind::FileRead, &error))
    }
}

impl Client {
    /// Opens any file, for reading its bytes. They come from the cache of the client, in requests of at least 16 KiB.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.txt");
    /// std::fs::write(&path, "a text")?;
    /// let file = blosc2::remote::Client::new().open_file(&format!("file://{}", path.display()))?;
    /// let mut word = [0; 4];
    /// file.read_exact_at(2, &mut word)?;
    /// assert_eq!((file.nbytes(), &word), (6, b"text"));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a URL that is not valid; `FileOpen` for a missing file and for an error of the server or the network.
    pub fn open_file(&self, url: &str) -> Result<File> {
        let place = Place::parse(url)?;
        let opened = self.files(&place)?.open_file(place.path.as_ref());
        Ok(File(opened.map_err(|error| Error::from_io(ErrorKind::FileOpen, &error))?))
    }
}
