//! Files and directories that are copied from a store to a disk.
//!
//! Index file -> names of the chunk files -> files in a new directory beside the destination -> destination.

#[cfg(test)]
mod tests;

use super::client::Client;
use super::connection::{Connection, Response, is_changed, wait};
use super::files::RemoteFiles;
use super::place::Place;
use super::write::{INDEX, PARTS_IN_MEMORY, names_of};
use crate::error::{Error, ErrorKind, Result};
use crate::super_chunk::SuperChunk;
use blosc2_core::rust_api::schunk::SourceFile;
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path as StorePath;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The number of bytes of a file that are in memory at a time.
const BUFFER: usize = 8 << 20;

impl Client {
    /// Downloads a file, or the directory of a super-chunk, to a path where nothing exists. The copy appears there when it is whole; it
    /// is not synchronised with the disk.
    ///
    /// Of a directory, the index file and the chunk files that it names are copied. With `damaged`, all chunk files are copied if the
    /// store lists them, and one that is missing is no error: [`verify`](crate::verify) finds what is missing, and
    /// [`repair`](crate::repair) saves the rest.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let (path, copy) = (dir.path().join("a.b2nd"), dir.path().join("copy.b2nd"));
    /// use blosc2::{Array, remote::Client};
    ///
    /// drop(Array::<u8>::builder([10]).directory(true).create_from(&path, &[7; 10])?);
    /// Client::new().download(&format!("file://{}", path.display()), &copy, false)?;
    /// assert_eq!(Array::<u8>::open(&copy)?.read(..)?, [7; 10]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a URL that is not valid; `FileRead` for a missing file, one that changes meanwhile, and an error of the server
    /// or the network; `FileWrite` for an error of the disk, with the cause `AlreadyExists` for a path where something exists. Nothing
    /// is at the path then.
    pub fn download(&self, url: &str, path: impl AsRef<Path>, damaged: bool) -> Result<()> {
        let (dest, place) = (path.as_ref(), Place::parse(url)?);
        let of_disk = |error: io::Error| {
            let text = format!("{}: {error}", dest.display());
            Error::with_cause(ErrorKind::FileWrite, text, error.kind())
        };
        if dest.symlink_metadata().is_ok() {
            return Err(of_disk(io::ErrorKind::AlreadyExists.into()));
        }
        let parent = dest.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = tempfile::tempdir_in(parent.unwrap_or(Path::new("."))).map_err(of_disk)?;
        let copy = directory.path().join("copy");
        self.fetch(url, &place, &copy, damaged)?;
        fs::rename(&copy, dest).map_err(of_disk)
    }

    /// Copies a file, or the directory if the URL ends with a slash or names no file.
    fn fetch(&self, url: &str, place: &Place, copy: &Path, damaged: bool) -> Result<()> {
        let mut missing = None;
        if !url.ends_with('/') {
            match copy_file(&self.files(place)?, place.path.as_ref(), copy) {
                Err(error) if error.is_missing() => missing = Some(error),
                copied => return copied,
            }
        }
        let connection = self.connections(place)?.0;
        let (files, index_path) = (connection.clone(), place.path.clone().join(INDEX));
        let index = wait(async move { files.get(&index_path, None, None).await });
        // Of both errors, that of the file is returned.
        let index = index.map_err(|error| missing.unwrap_or_else(|| read_error(&error)))?;
        copy_directory(connection, &place.path, &index, copy, damaged)
    }
}

fn read_error(error: &io::Error) -> Error {
    Error::from_io(ErrorKind::FileRead, error)
}

fn write_error(error: &io::Error) -> Error {
    Error::from_io(ErrorKind::FileWrite, error)
}

fn copy_file(files: &RemoteFiles, name: &str, dest: &Path) -> Result<()> {
    let file = files.open_file(name).map_err(|error| read_error(&error))?;
    let mut copy = fs::File::create_new(dest).map_err(|error| write_error(&error))?;
    let mut bytes = vec![0; BUFFER];
    let mut position = 0;
    while position < file.len() {
        let len = usize::try_from(file.len() - position).map_or(BUFFER, |rest| rest.min(BUFFER));
        file.read_exact_at(position, &mut bytes[..len]).map_err(|error| read_error(&error))?;
        copy.write_all(&bytes[..len]).map_err(|error| write_error(&error))?;
        position += len as u64;
    }
    Ok(())
}

/// Copies the directory `source`, whose index file was read. With `damaged`, missing chunk files are no error.
fn copy_directory(
    connection: Arc<Connection>,
    source: &StorePath,
    index: &Response,
    dest: &Path,
    damaged: bool,
) -> Result<()> {
    let written = fs::create_dir(dest).and_then(|()| fs::write(dest.join(INDEX), &index.bytes));
    written.map_err(|error| write_error(&error))?;
    let names = match names_in_index(dest) {
        Err(error) if !damaged => return Err(error),
        names => names.unwrap_or_default(),
    };
    let (source, dest, old) = (source.clone(), dest.to_owned(), index.meta.clone());
    let copied = wait(async move {
        let mut names = names;
        if damaged && let Ok(listed) = connection.list(&source).await {
            names.extend(listed.into_iter().filter(|name| is_chunk_file(name)));
        }
        let requests = names.into_iter().map(|name| {
            let (connection, target, source) = (&connection, dest.join(&name), source.clone().join(name));
            async move {
                match connection.get(&source, None, None).await {
                    Ok(file) => fs::write(target, file.bytes).map_err(|error| write_error(&error)),
                    Err(error) if damaged && error.kind() == io::ErrorKind::NotFound => Ok(()),
                    Err(error) => Err(read_error(&error)),
                }
            }
        });
        let parallel = connection.settings.parallel.min(PARTS_IN_MEMORY);
        let copied =
            futures_util::stream::iter(requests).buffer_unordered(parallel).try_collect::<()>().await;
        // A writer that has changed the directory has removed superseded files.
        if is_changed(&old, &connection.head(&source.clone().join(INDEX)).await?.meta) {
            let text = format!("{}/{source} has changed while it was downloaded", connection.place);
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        Ok(copied)
    });
    copied.map_err(|error| read_error(&error))?
}

/// Returns whether a name is that of a chunk file (`frame.md` 9): a store may list others, which must not become paths.
fn is_chunk_file(name: &str) -> bool {
    let number = name.strip_suffix(".chunk");
    number.is_some_and(|number| number.len() == 8 && number.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns the names of the chunk files in the index file of a directory.
fn names_in_index(directory: &Path) -> Result<BTreeSet<String>> {
    let schunk = SuperChunk::open(directory)?;
    let files = (0..schunk.nchunks()).map(|nchunk| Ok(schunk.core().file_of_chunk(nchunk)?));
    Ok(names_of(files.collect::<Result<Vec<_>>>()?.into_iter().flatten()))
}
