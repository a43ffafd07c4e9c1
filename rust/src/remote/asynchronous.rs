//! Calls that do not block the thread that polls them.

use super::client::Client;
use super::connection;
use crate::array::Array;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ranges::{Axes, Ranges};
use crate::super_chunk::SuperChunk;

/// Runs `call`, which may block, on a thread of this module, and returns its result as a future of any executor. The call goes on if
/// the future is dropped.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// use blosc2::{Params, SuperChunk, remote::{self, Client}};
///
/// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
/// let url = format!("file://{}", path.display());
/// let chunk = remote::unblock(move || Client::new().open_super_chunk(&url)?.decompress_chunk(0));
/// assert_eq!(pollster::block_on(chunk)?, [7; 8000]);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// Those of `call`; `Failure` if it panics, or if there are no threads: in a child of a fork.
pub async fn unblock<R: Send + 'static>(call: impl FnOnce() -> Result<R> + Send + 'static) -> Result<R> {
    let runtime = connection::runtime().map_err(|error| Error::from_io(ErrorKind::Failure, &error))?;
    let result = runtime.spawn_blocking(call).await;
    result.unwrap_or_else(|_| Err(Error::new(ErrorKind::Failure, "the call has panicked")))
}

impl Client {
    /// As [`open_array`](Self::open_array), without blocking the thread that polls.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new();
    /// let opened = pollster::block_on(client.open_array_async::<f32>("file:///no/such/file"));
    /// assert!(opened.is_err());
    /// ```
    ///
    /// # Errors
    /// As [`open_array`](Self::open_array).
    pub async fn open_array_async<T: Element>(&self, url: &str) -> Result<Array<T>> {
        let (client, url) = (self.clone(), url.to_owned());
        Array::try_from(unblock(move || client.open_any_array(&url)).await?)
    }

    /// As [`open_super_chunk`](Self::open_super_chunk), without blocking the thread that polls.
    ///
    /// ```
    /// let client = blosc2::remote::Client::new();
    /// let opened = pollster::block_on(client.open_super_chunk_async("file:///no/such/file"));
    /// assert!(opened.is_err());
    /// ```
    ///
    /// # Errors
    /// As [`open_array`](Self::open_array).
    pub async fn open_super_chunk_async(&self, url: &str) -> Result<SuperChunk> {
        let (client, url) = (self.clone(), url.to_owned());
        unblock(move || client.open_super_chunk(&url)).await
    }
}

impl<T: Element> Array<T> {
    /// As [`read`](Array::read), without blocking the thread that polls.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([3]).in_memory_from(&[1, 2, 3])?;
    /// assert_eq!(pollster::block_on(array.read_async(1..))?, [2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Array::read).
    pub async fn read_async(&self, ranges: impl Ranges) -> Result<Vec<T>> {
        let mut axes = Axes::new(self.shape());
        axes.select(&ranges)?;
        let (reader, ranges, lists) = (self.shared_reader(), axes.ranges().to_vec(), axes.lists());
        unblock(move || match lists {
            None => reader.read_items(&ranges),
            Some(lists) => reader.select_items(&lists),
        })
        .await
    }
}
