//! New arrays.

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::options::Durability;
use crate::params::Params;
use blosc2_core::rust_api::array::{ArrayHandle, ArraySettings, Fill, MAX_DIM};
use blosc2_core::rust_api::schunk::{self, FileAccess, NewStorage};
use std::marker::PhantomData;
use std::path::Path;

/// The default upper limit for the size of a chunk in bytes.
const DEFAULT_CHUNK_NBYTES: u64 = 4 << 20;
/// The default upper limit for the size of a block in bytes.
const DEFAULT_BLOCK_NBYTES: u64 = 128 << 10;

/// The properties of a new array, from [`Array::builder`] or [`AnyArray::builder`].
///
/// ```
/// use blosc2::{Array, Params};
///
/// let ones = Array::<f64>::builder([1000, 1000])
///     .chunks([100, 1000])
///     .blocks([10, 1000])
///     .params(Params::new().level(9))
///     .fill(1.0)
///     .metalayer("unit", b"m")
///     .in_memory()?;
/// assert_eq!(ones.get(&[999, 999])?, 1.0);
/// assert!(ones.ratio() > 1000.0);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// Without [`chunks`](Self::chunks) and [`blocks`](Self::blocks), chunks have up to 4 MiB and blocks up to 128 KiB.
#[derive(Debug)]
pub struct ArrayBuilder<A> {
    shape: Vec<u64>,
    dtype: String,
    typesize: usize,
    chunks: Option<Vec<u32>>,
    blocks: Option<Vec<u32>>,
    params: Params,
    value: Option<Vec<u8>>,
    is_uninit: bool,
    metalayers: Vec<(String, Vec<u8>)>,
    directory: bool,
    truncate: bool,
    durability: Option<Durability>,
    array: PhantomData<A>,
}

impl<A> ArrayBuilder<A> {
    pub(crate) fn new(shape: impl IntoIterator<Item = u64>, dtype: String, typesize: usize) -> Self {
        ArrayBuilder {
            shape: shape.into_iter().collect(),
            dtype,
            typesize,
            chunks: None,
            blocks: None,
            params: Params::new(),
            value: None,
            is_uninit: false,
            metalayers: Vec::new(),
            directory: false,
            truncate: false,
            durability: None,
            array: PhantomData,
        }
    }

    /// Sets the shape.
    #[cfg(any(feature = "ndarray", feature = "ndarray-0_16"))]
    pub(crate) fn with_shape(mut self, shape: Vec<u64>) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the extents of a chunk in items: the unit of writing.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([10, 7]).chunks([4, 7]).in_memory()?;
    /// assert_eq!((array.chunkshape(), array.nchunks()), (&[4, 7][..], 3));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn chunks(mut self, chunkshape: impl IntoIterator<Item = u32>) -> Self {
        self.chunks = Some(chunkshape.into_iter().collect());
        self
    }

    /// Sets the extents of a block in items: the unit of reading.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([10, 7]).blocks([2, 7]).in_memory()?;
    /// assert_eq!(array.blockshape(), [2, 7]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn blocks(mut self, blockshape: impl IntoIterator<Item = u32>) -> Self {
        self.blocks = Some(blockshape.into_iter().collect());
        self
    }

    /// Sets the compression parameters. The item size and the block size are those of the array.
    ///
    /// ```
    /// use blosc2::{Array, Codec, Params};
    ///
    /// let array = Array::<f32>::builder([10]).params(Params::new().codec(Codec::Zstd)).in_memory()?;
    /// let params = array.info()?.params;
    /// assert_eq!((params.get_codec(), params.get_typesize()), (Codec::Zstd, 4));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Leaves the items unspecified until they are written; the default is zeros.
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([3]).uninit().in_memory()?;
    /// array.write(.., &[1, 2, 3])?;
    /// assert_eq!(array.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn uninit(mut self) -> Self {
        self.is_uninit = true;
        self
    }

    /// Adds a fixed metalayer.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([10]).metalayer("unit", b"m").in_memory()?;
    /// assert_eq!(array.metalayers()?.fixed("unit")?.as_deref(), Some(&b"m"[..]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn metalayer(mut self, name: &str, content: &[u8]) -> Self {
        self.metalayers.push((name.to_owned(), content.to_vec()));
        self
    }

    /// Sets whether the array is a directory with one file for each chunk instead of one file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// blosc2::Array::<u8>::builder([3]).directory(true).create_from(&path, &[1, 2, 3])?;
    /// assert!(path.is_dir());
    /// assert_eq!(blosc2::Array::<u8>::open(&path)?.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn directory(mut self, directory: bool) -> Self {
        self.directory = directory;
        self
    }

    /// Sets whether an existing file or directory is removed first; the default is an error.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::Array;
    ///
    /// Array::<u8>::builder([3]).create(&path)?;
    /// assert!(Array::<u8>::builder([5]).create(&path).is_err());
    /// assert_eq!(Array::<u8>::builder([5]).truncate(true).create(&path)?.shape(), [5]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Sets what a change leaves if the process dies, or the machine loses power, in the middle of it.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, Durability};
    ///
    /// let mut array = Array::<u8>::builder([3]).durability(Durability::Power).create(&path)?;
    /// array.write(.., &[1, 2, 3])?; // After this, a loss of power leaves these items.
    /// assert_eq!(Array::<u8>::open(&path)?.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// Creates the array with items of any type.
    fn create_any(&self, path: Option<&Path>) -> Result<AnyArray> {
        if self.shape.len() > MAX_DIM {
            return Err(Error::param(format!("{} dimensions, expected at most {MAX_DIM}", self.shape.len())));
        }
        let chunks = self.chunks.clone().unwrap_or_else(|| {
            // A chunk holds at least a block that was given.
            let least = self.blocks.as_deref().unwrap_or(&[]);
            shrink(&self.shape, self.typesize, DEFAULT_CHUNK_NBYTES, least)
        });
        let blocks = self.blocks.clone().unwrap_or_else(|| {
            let chunks: Vec<u64> = chunks.iter().map(|&extent| u64::from(extent)).collect();
            shrink(&chunks, self.typesize, DEFAULT_BLOCK_NBYTES, &[])
        });
        let settings = ArraySettings {
            shape: &self.shape,
            chunkshape: &chunks,
            blockshape: &blocks,
            dtype: &self.dtype,
            dtype_format: 0,
            metalayers: &self.metalayers,
        };
        let compress = self.params.clone().typesize(self.typesize).settings()?;
        let nthreads = self.params.nthreads()?;
        let fill = || match &self.value {
            _ if self.is_uninit => Fill::Uninit,
            Some(value) => Fill::Value(value),
            None => Fill::Zeros,
        };
        if let Some(path) = path {
            // Invalid settings are an error before a file is removed or created: those of an empty array in memory.
            let place = NewStorage { path: None, is_contiguous: true, access: FileAccess::Plain };
            let settings = ArraySettings { shape: &vec![0; self.shape.len()], ..settings };
            ArrayHandle::create(&place, &compress, nthreads, &settings, fill())?;
            if self.truncate {
                schunk::remove(path)?;
            }
        }
        let place =
            NewStorage { path, is_contiguous: path.is_some() && !self.directory, access: FileAccess::Plain };
        let core = ArrayHandle::create(&place, &compress, nthreads, &settings, fill())?;
        if let Some(level) = self.durability {
            core.schunk()?.set_durability(level)?;
        }
        Ok(AnyArray::from_core(core, true))
    }

    fn create_any_from(&self, path: Option<&Path>, items: &[u8]) -> Result<AnyArray> {
        let nitems = self.shape.iter().try_fold(self.typesize as u64, |n, &extent| n.checked_mul(extent));
        if nitems != Some(items.len() as u64) {
            return Err(Error::param(format!(
                "{} bytes of items, expected the shape {:?} with items of {} bytes",
                items.len(),
                self.shape,
                self.typesize
            )));
        }
        let mut array = self.create_any(path)?;
        if let Err(error) = array.write_bytes(.., items) {
            drop(array);
            if let Some(path) = path {
                schunk::remove(path)?;
            }
            return Err(error);
        }
        Ok(array)
    }
}

impl ArrayBuilder<AnyArray> {
    /// Sets all items to the value with these bytes.
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([3], "|S2", 2).fill_bytes(b"ab").in_memory()?;
    /// assert_eq!(array.read_bytes(..)?, b"ababab");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn fill_bytes(mut self, value: &[u8]) -> Self {
        self.value = Some(value.to_vec());
        self
    }

    /// Creates the array in memory.
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([2], "|S4", 4).in_memory()?;
    /// assert_eq!(array.read_bytes(..)?, [0; 8]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for shapes, parameters or a value that do not fit, `Failure` for such metalayers; `MemoryAlloc`.
    pub fn in_memory(self) -> Result<AnyArray> {
        self.create_any(None)
    }

    /// Creates the array in the new file or directory `path`.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// let mut array = blosc2::AnyArray::builder([2], "|S2", 2).create(&path)?;
    /// array.write_bytes(1, b"ab")?;
    /// assert_eq!(blosc2::AnyArray::open(&path)?.read_bytes(..)?, b"\0\0ab");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory), for which no file is created or removed; `Failure` if the file exists or cannot be
    /// written.
    pub fn create(self, path: impl AsRef<Path>) -> Result<AnyArray> {
        self.create_any(Some(path.as_ref()))
    }
}

impl<T: Element> ArrayBuilder<Array<T>> {
    /// Sets all items to `value`.
    ///
    /// ```
    /// let array = blosc2::Array::<f64>::builder([2]).fill(0.5).in_memory()?;
    /// assert_eq!(array.read(..)?, [0.5, 0.5]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn fill(mut self, value: T) -> Self {
        self.value = Some(bytemuck::bytes_of(&value).to_vec());
        self
    }

    /// Creates the array in memory.
    ///
    /// ```
    /// let array = blosc2::Array::<u16>::builder([2, 2]).in_memory()?;
    /// assert_eq!(array.read(..)?, [0; 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for shapes, parameters or a value that do not fit, `Failure` for such metalayers; `MemoryAlloc`.
    pub fn in_memory(self) -> Result<Array<T>> {
        Array::try_from(self.create_any(None)?)
    }

    /// Creates the array in memory, from all its items in C order.
    ///
    /// ```
    /// let array = blosc2::Array::<u16>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?;
    /// assert_eq!(array.get(&[1, 0])?, 3);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory); `InvalidParam` for another number of items.
    pub fn in_memory_from(self, items: &[T]) -> Result<Array<T>> {
        Array::try_from(self.create_any_from(None, bytemuck::cast_slice(items))?)
    }

    /// Creates the array in the new file or directory `path`.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// blosc2::Array::<u16>::builder([2, 2]).create(&path)?.write((1, ..), &[3, 4])?;
    /// assert_eq!(blosc2::Array::<u16>::open(&path)?.read(..)?, [0, 0, 3, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory), for which no file is created or removed; `Failure` if the file exists or cannot be
    /// written.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Array<T>> {
        Array::try_from(self.create_any(Some(path.as_ref()))?)
    }

    /// Creates the array in the new file or directory `path`, from all its items in C order.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// blosc2::Array::<u16>::builder([2, 2]).create_from(&path, &[1, 2, 3, 4])?;
    /// assert_eq!(blosc2::Array::<u16>::open(&path)?.read((.., 1))?, [2, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](Self::create); `InvalidParam` for another number of items. The file does not exist then.
    pub fn create_from(self, path: impl AsRef<Path>, items: &[T]) -> Result<Array<T>> {
        Array::try_from(self.create_any_from(Some(path.as_ref()), bytemuck::cast_slice(items))?)
    }
}

/// Returns extents of at most `limit` bytes: those of `shape`, of which the largest is halved until the product fits,
/// but none below that in `least`. An extent of 0 becomes 1.
fn shrink(shape: &[u64], typesize: usize, limit: u64, least: &[u32]) -> Vec<u32> {
    let least = |dim: usize| u64::from(least.get(dim).copied().unwrap_or(1)).max(1);
    let mut extents: Vec<u64> = shape.iter().map(|&extent| extent.clamp(1, i32::MAX as u64)).collect();
    let nbytes =
        |extents: &[u64]| extents.iter().fold(typesize as u64, |n, &extent| n.saturating_mul(extent));
    while nbytes(&extents) > limit {
        let shrinkable = (0..extents.len()).filter(|&dim| extents[dim] > least(dim));
        // Of equal extents the first, whose rows are the farthest apart.
        let Some(dim) = shrinkable.rev().max_by_key(|&dim| extents[dim]) else { break };
        extents[dim] = extents[dim].div_ceil(2).max(least(dim));
    }
    extents.iter().map(|&extent| u32::try_from(extent).unwrap_or(u32::MAX)).collect()
}

impl AnyArray {
    /// Returns a builder for an array of the given shape, with items of the data type `dtype` in the notation of NumPy,
    /// and of `typesize` bytes.
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([2, 3], "<M8[s]", 8).in_memory()?;
    /// assert_eq!((array.shape(), array.dtype(), array.typesize()), (&[2, 3][..], "<M8[s]", 8));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn builder(
        shape: impl IntoIterator<Item = u64>,
        dtype: &str,
        typesize: usize,
    ) -> ArrayBuilder<AnyArray> {
        ArrayBuilder::new(shape, dtype.to_owned(), typesize)
    }
}

impl<T: Element> Array<T> {
    /// Returns a builder for an array of the given shape.
    ///
    /// ```
    /// let array = blosc2::Array::<i8>::builder([2, 3]).in_memory()?;
    /// assert_eq!((array.shape(), array.dtype()), (&[2, 3][..], "|i1"));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn builder(shape: impl IntoIterator<Item = u64>) -> ArrayBuilder<Array<T>> {
        ArrayBuilder::new(shape, T::dtype(), size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn default_chunks_and_blocks_are_within_their_limits() {
        assert_eq!(shrink(&[1000, 1000], 4, 4 << 20, &[]), [1000, 1000]);
        assert_eq!(shrink(&[4000, 4000], 8, 4 << 20, &[]), [500, 1000]);
        assert_eq!(shrink(&[0, 7], 8, 4 << 20, &[]), [1, 7]);
        assert_eq!(shrink(&[u64::MAX], 1, 128 << 10, &[]), [131_072]);
        assert_eq!(shrink(&[1 << 30, 2], 8, 100, &[64, 2]), [64, 2]);
        assert_eq!(shrink(&[], 8, 4, &[]), [0u32; 0]);
    }
}
