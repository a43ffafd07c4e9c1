//! Arrays.

use crate::chunk::zeros;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::metalayers::{Metalayers, MetalayersMut};
use crate::options::{Durability, OpenOptions};
use crate::params::Params;
use crate::ranges::Ranges;
use crate::super_chunk::{SuperChunkInfo, info, read_only};
use crate::view::ArrayView;
use blosc2_core::rust_api::array::{Array as CoreArray, ArraySettings, Fill, MAX_DIM};
use blosc2_core::rust_api::schunk::{self, FileAccess, Place, SuperChunkRef};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

/// The default upper limit for the size of a chunk in bytes.
const DEFAULT_CHUNK_NBYTES: u64 = 4 << 20;
/// The default upper limit for the size of a block in bytes.
const DEFAULT_BLOCK_NBYTES: u64 = 128 << 10;

/// An N-dimensional array whose items have any type: their bytes are read and written. See [`Array`] for items of a
/// known type.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2nd");
/// use blosc2::{AnyArray, Array};
///
/// Array::<i16>::builder([3]).create_from(&path, &[1, 2, 3])?;
/// let array = AnyArray::open(&path)?;
/// assert_eq!((array.dtype().as_str(), array.shape()), ("<i2", vec![3]));
/// assert_eq!(array.read_bytes((1..,))?, [2, 0, 3, 0]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct AnyArray {
    core: CoreArray,
    is_writable: bool,
}

impl std::fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyArray")
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .field("chunkshape", &self.chunkshape())
            .field("blockshape", &self.blockshape())
            .finish_non_exhaustive()
    }
}

impl AnyArray {
    pub(crate) fn from_core(core: CoreArray, is_writable: bool) -> AnyArray {
        AnyArray { core, is_writable }
    }

    /// Opens the array in a file or a directory for reading. For other choices see [`OpenOptions`].
    ///
    /// # Errors
    /// `FileOpen` if it does not exist; `MetalayerNotFound` if there is no array; those of a damaged header.
    pub fn open(path: impl AsRef<Path>) -> Result<AnyArray> {
        OpenOptions::new().open_any_array(path)
    }

    /// Opens a copy of a frame in memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_frame(frame: &[u8]) -> Result<AnyArray> {
        Ok(AnyArray { core: CoreArray::from_frame(frame)?, is_writable: true })
    }

    /// Returns a builder for an array of the given shape, with items of the data type `dtype` in the notation of NumPy,
    /// and of `typesize` bytes.
    pub fn builder(
        shape: impl IntoIterator<Item = u64>,
        dtype: &str,
        typesize: usize,
    ) -> ArrayBuilder<AnyArray> {
        ArrayBuilder::new(shape, dtype.to_owned(), typesize)
    }

    fn schunk(&self) -> Result<SuperChunkRef<'_>> {
        Ok(self.core.schunk()?)
    }

    fn core_mut(&mut self) -> Result<&CoreArray> {
        if !self.is_writable {
            return Err(read_only());
        }
        Ok(&self.core)
    }

    /// Returns the extents in items, in C order: the last dimension is contiguous.
    pub fn shape(&self) -> Vec<u64> {
        self.core.shape()
    }

    /// Returns the number of dimensions, at most 16.
    pub fn ndim(&self) -> usize {
        self.core.shape().len()
    }

    /// Returns the number of items.
    pub fn nitems(&self) -> u64 {
        self.core.shape().iter().product()
    }

    /// Returns the extents of a chunk, the unit of writing.
    pub fn chunkshape(&self) -> Vec<u32> {
        self.core.chunkshape()
    }

    /// Returns the extents of a block, the unit of reading.
    pub fn blockshape(&self) -> Vec<u32> {
        self.core.blockshape()
    }

    /// Returns the size of an item in bytes.
    pub fn typesize(&self) -> usize {
        self.core.typesize()
    }

    /// Returns the data type of the items, in the notation of NumPy unless [`dtype_format`](Self::dtype_format) is
    /// another number than 0.
    pub fn dtype(&self) -> String {
        self.core.dtype().0
    }

    /// Returns the format of the data type's text.
    pub fn dtype_format(&self) -> i8 {
        self.core.dtype().1
    }

    /// Returns the size and the properties of the super-chunk of the array.
    ///
    /// # Errors
    /// None in practice.
    pub fn info(&self) -> Result<SuperChunkInfo> {
        Ok(info(self.schunk()?))
    }

    /// Returns the length of the items divided by that of the chunks.
    pub fn ratio(&self) -> f64 {
        let nbytes = self.nitems() as f64 * self.typesize() as f64;
        let cbytes = self.info().map_or(0, |info| info.cbytes.max(info.frame_len));
        if cbytes == 0 { f64::INFINITY } else { nbytes / cbytes as f64 }
    }

    /// Returns the bytes of the items in a box, in C order.
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit; `Failure` for damaged chunks; `MemoryAlloc`.
    pub fn read_bytes(&self, ranges: impl Ranges) -> Result<Vec<u8>> {
        let ranges = ranges.to_ranges(&self.shape())?;
        let mut dest = zeros(self.box_nbytes(&ranges)?)?;
        self.read_box(&ranges, &mut dest)?;
        Ok(dest)
    }

    /// Reads the bytes of the items in a box into `dest`, in C order.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes); `InvalidParam` for a `dest` of another length.
    pub fn read_bytes_into(&self, ranges: impl Ranges, dest: &mut [u8]) -> Result<()> {
        self.read_box(&ranges.to_ranges(&self.shape())?, dest)
    }

    /// Overwrites the items in a box, in C order.
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit or `items` of another length; those of writing.
    pub fn write_bytes(&mut self, ranges: impl Ranges, items: &[u8]) -> Result<()> {
        let (start, stop) = corners(&ranges.to_ranges(&self.shape())?);
        Ok(self.core_mut()?.write_box(&start, &stop, items)?)
    }

    pub(crate) fn read_box(&self, ranges: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        let (start, stop) = corners(ranges);
        Ok(self.core.read_box(&start, &stop, dest)?)
    }

    /// Returns the length of the items in a box in bytes.
    pub(crate) fn box_nbytes(&self, ranges: &[Range<u64>]) -> Result<usize> {
        let nitems = ranges
            .iter()
            .try_fold(1usize, |n, range| n.checked_mul(usize::try_from(range.end - range.start).ok()?));
        nitems.and_then(|n| n.checked_mul(self.typesize())).ok_or_else(|| {
            Error::new(ErrorKind::MemoryAlloc, format!("the items of {ranges:?} do not fit into memory"))
        })
    }

    /// Changes the shape. New items are zeros.
    ///
    /// # Errors
    /// `InvalidParam` for another number of dimensions; those of writing.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        Ok(self.core_mut()?.resize(shape)?)
    }

    /// Inserts items along `axis`, before position `at` or at the end. `items` holds whole rows: as many items as the
    /// shape without `axis` has, or a multiple.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or position out of range, a position inside a chunk, or no whole rows; those of
    /// writing.
    pub fn insert_bytes(&mut self, axis: usize, at: Option<u64>, items: &[u8]) -> Result<()> {
        Ok(self.core_mut()?.insert(axis, at, items)?)
    }

    /// Deletes a range of rows along `axis`.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or rows out of range, or rows that are not whole chunks; those of writing.
    pub fn delete(&mut self, axis: usize, rows: Range<u64>) -> Result<()> {
        let count = rows.end.saturating_sub(rows.start);
        Ok(self.core_mut()?.delete(axis, rows.start, count)?)
    }

    /// Returns the bytes of the items at all combinations of the coordinates in `lists`, one list for each dimension.
    ///
    /// # Errors
    /// `InvalidParam`, `InvalidIndex` for lists that do not fit; `Failure` for damaged chunks.
    pub fn select_bytes(&self, lists: &[Vec<u64>]) -> Result<Vec<u8>> {
        let nitems = lists.iter().try_fold(self.typesize(), |n, list| n.checked_mul(list.len()));
        let mut dest = zeros(nitems.unwrap_or(usize::MAX))?;
        self.core.read_orthogonal(lists, &mut dest)?;
        Ok(dest)
    }

    /// Overwrites the items at all combinations of the coordinates in `lists`.
    ///
    /// # Errors
    /// As [`select_bytes`](Self::select_bytes); those of writing.
    pub fn assign_bytes(&mut self, lists: &[Vec<u64>], items: &[u8]) -> Result<()> {
        Ok(self.core_mut()?.write_orthogonal(lists, items)?)
    }

    /// Reads the changes that others have made to the same files. Returns whether there were any.
    ///
    /// # Errors
    /// `Lock`; those of a damaged frame.
    pub fn refresh(&self) -> Result<bool> {
        Ok(self.core.refresh()?)
    }

    /// Sets the number of threads that work on one call.
    ///
    /// # Errors
    /// `InvalidParam` for 0 or more than 32767.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        Ok(self.schunk()?.set_nthreads(crate::params::nthreads(threads)?)?)
    }

    /// Returns the metalayers.
    ///
    /// # Errors
    /// None in practice.
    pub fn metalayers(&self) -> Result<Metalayers<'_>> {
        Ok(Metalayers::new(self.schunk()?))
    }

    /// Returns the metalayers for changes. That of the array, `b2nd`, must keep its meaning.
    ///
    /// # Errors
    /// `FileWrite` for an array that was opened for reading.
    pub fn metalayers_mut(&mut self) -> Result<MetalayersMut<'_>> {
        self.core_mut()?;
        Ok(MetalayersMut::new(self.schunk()?))
    }

    /// Returns the bytes of a file with this array.
    ///
    /// # Errors
    /// `SchunkCopy`, `MemoryAlloc`.
    pub fn to_frame(&self) -> Result<Vec<u8>> {
        Ok(self.schunk()?.to_frame()?)
    }

    /// Copies the array with its metalayers to the new file `path`; with other parameters if `params` are given.
    ///
    /// # Errors
    /// `FileOpen`, `Failure` if the file exists or cannot be written; those of reading.
    pub fn copy_to(&self, path: impl AsRef<Path>, params: Option<&Params>) -> Result<AnyArray> {
        let (dtype, dtype_format) = self.core.dtype();
        let (shape, chunkshape, blockshape) = (self.shape(), self.chunkshape(), self.blockshape());
        let settings = ArraySettings {
            shape: &shape,
            chunkshape: &chunkshape,
            blockshape: &blockshape,
            dtype: &dtype,
            dtype_format,
            metalayers: &[],
        };
        let place = Place { path: Some(path.as_ref()), is_contiguous: true, access: FileAccess::Plain };
        let compress =
            params.map(|params| params.clone().typesize(self.typesize()).settings()).transpose()?;
        let core = self.core.copy(&place, compress.as_ref(), &settings)?;
        Ok(AnyArray { core, is_writable: true })
    }

    /// Waits until all changes survive a loss of power.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub fn sync(&self) -> Result<()> {
        Ok(self.schunk()?.sync()?)
    }
}

/// Returns the first and the last corner of a box.
fn corners(ranges: &[Range<u64>]) -> (Vec<u64>, Vec<u64>) {
    ranges.iter().map(|range| (range.start, range.end)).unzip()
}

/// An N-dimensional array of items of type `T`: compressed in chunks, of which parts are read and written.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("squares.b2nd");
/// use blosc2::{Array, Codec, OpenOptions, Params};
///
/// let params = Params::new().codec(Codec::Zstd).level(5);
/// let mut squares = Array::<u64>::builder([100, 200]).chunks([10, 200]).params(params).create(&path)?;
/// let row: Vec<u64> = (0..200).map(|n| n * n).collect();
/// squares.write((7, ..), &row)?;
///
/// let squares = OpenOptions::new().threads(2).open_array::<u64>(&path)?;
/// assert_eq!(squares.read((6..8, 11))?, [0, 121]);
/// assert_eq!(squares.get(&[7, 12])?, 144);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct Array<T> {
    array: AnyArray,
    items: PhantomData<T>,
}

impl<T: Element> std::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.array.fmt(f)
    }
}

impl<T> std::ops::Deref for Array<T> {
    type Target = AnyArray;

    fn deref(&self) -> &AnyArray {
        &self.array
    }
}

impl<T> std::ops::DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut AnyArray {
        &mut self.array
    }
}

impl<T: Element> TryFrom<AnyArray> for Array<T> {
    type Error = Error;

    /// Returns the array with its items as `T`.
    ///
    /// # Errors
    /// `InvalidParam` for items of another type or byte order.
    fn try_from(array: AnyArray) -> Result<Array<T>> {
        let dtype = array.dtype();
        if !T::matches(&dtype) || array.typesize() != size_of::<T>() || array.dtype_format() != 0 {
            return Err(Error::param(format!(
                "items of type {dtype:?} with {} bytes, expected {:?}",
                array.typesize(),
                T::dtype()
            )));
        }
        Ok(Array { array, items: PhantomData })
    }
}

impl<T: Element> Array<T> {
    /// Returns a builder for an array of the given shape.
    pub fn builder(shape: impl IntoIterator<Item = u64>) -> ArrayBuilder<Array<T>> {
        ArrayBuilder::new(shape, T::dtype(), size_of::<T>())
    }

    /// Opens the array in a file or a directory for reading. For other choices see [`OpenOptions::open_array`].
    ///
    /// # Errors
    /// As [`AnyArray::open`]; `InvalidParam` for items of another type.
    pub fn open(path: impl AsRef<Path>) -> Result<Array<T>> {
        OpenOptions::new().open_array(path)
    }

    /// Returns the items in a box, in C order.
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes`].
    pub fn read(&self, ranges: impl Ranges) -> Result<Vec<T>> {
        let ranges = ranges.to_ranges(&self.shape())?;
        self.read_ranges(&ranges)
    }

    pub(crate) fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<T>> {
        let mut items = vec_of(self.box_nbytes(ranges)? / size_of::<T>())?;
        self.read_box(ranges, bytemuck::cast_slice_mut(&mut items))?;
        Ok(items)
    }

    /// Reads the items in a box into `dest`, in C order.
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes_into`].
    pub fn read_into(&self, ranges: impl Ranges, dest: &mut [T]) -> Result<()> {
        self.read_bytes_into(ranges, bytemuck::cast_slice_mut(dest))
    }

    /// Returns the item at a position.
    ///
    /// # Errors
    /// `InvalidParam` for a position outside the array; `Failure` for a damaged chunk.
    pub fn get(&self, at: &[u64]) -> Result<T> {
        let mut item = [T::default()];
        self.read_into(at, &mut item)?;
        Ok(item[0])
    }

    /// Overwrites the items in a box, in C order.
    ///
    /// # Errors
    /// As [`AnyArray::write_bytes`].
    pub fn write(&mut self, ranges: impl Ranges, items: &[T]) -> Result<()> {
        self.write_bytes(ranges, bytemuck::cast_slice(items))
    }

    /// Overwrites the item at a position.
    ///
    /// # Errors
    /// As [`AnyArray::write_bytes`].
    pub fn set(&mut self, at: &[u64], item: T) -> Result<()> {
        self.write(at, &[item])
    }

    /// Inserts items along `axis`, before position `at`. See [`AnyArray::insert_bytes`].
    ///
    /// # Errors
    /// As [`AnyArray::insert_bytes`].
    pub fn insert(&mut self, axis: usize, at: u64, items: &[T]) -> Result<()> {
        self.insert_bytes(axis, Some(at), bytemuck::cast_slice(items))
    }

    /// Appends items along `axis`. See [`AnyArray::insert_bytes`].
    ///
    /// # Errors
    /// As [`AnyArray::insert_bytes`].
    pub fn append(&mut self, axis: usize, items: &[T]) -> Result<()> {
        self.insert_bytes(axis, None, bytemuck::cast_slice(items))
    }

    /// Returns the items at all combinations of the coordinates in `lists`, one list for each dimension.
    ///
    /// # Errors
    /// As [`AnyArray::select_bytes`].
    pub fn select(&self, lists: &[Vec<u64>]) -> Result<Vec<T>> {
        let nitems = lists.iter().try_fold(1usize, |n, list| n.checked_mul(list.len()));
        let mut items = vec_of(nitems.unwrap_or(usize::MAX))?;
        self.array.core.read_orthogonal(lists, bytemuck::cast_slice_mut(&mut items))?;
        Ok(items)
    }

    /// Overwrites the items at all combinations of the coordinates in `lists`.
    ///
    /// # Errors
    /// As [`AnyArray::assign_bytes`].
    pub fn assign(&mut self, lists: &[Vec<u64>], items: &[T]) -> Result<()> {
        self.assign_bytes(lists, bytemuck::cast_slice(items))
    }

    /// Returns a box of the array, which is read when its items are requested.
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit.
    pub fn view(&self, ranges: impl Ranges) -> Result<ArrayView<'_, T>> {
        Ok(ArrayView::new(self, ranges.to_ranges(&self.shape())?))
    }

    /// Returns the array with items of any type.
    pub fn into_any(self) -> AnyArray {
        self.array
    }
}

/// Returns `len` items of the default value.
fn vec_of<T: Element>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items
        .try_reserve_exact(len)
        .map_err(|_| Error::new(ErrorKind::MemoryAlloc, format!("a buffer of {len} items")))?;
    items.resize(len, T::default());
    Ok(items)
}

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
    fn new(shape: impl IntoIterator<Item = u64>, dtype: String, typesize: usize) -> Self {
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
    #[cfg(feature = "ndarray")]
    pub(crate) fn with_shape(mut self, shape: Vec<u64>) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the extents of a chunk: the unit of writing.
    #[must_use]
    pub fn chunks(mut self, chunkshape: impl IntoIterator<Item = u32>) -> Self {
        self.chunks = Some(chunkshape.into_iter().collect());
        self
    }

    /// Sets the extents of a block: the unit of reading.
    #[must_use]
    pub fn blocks(mut self, blockshape: impl IntoIterator<Item = u32>) -> Self {
        self.blocks = Some(blockshape.into_iter().collect());
        self
    }

    /// Sets the compression parameters. The item size and the block size are those of the array.
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Leaves the items unspecified until they are written; the default is zeros.
    #[must_use]
    pub fn uninit(mut self) -> Self {
        self.is_uninit = true;
        self
    }

    /// Adds a fixed metalayer.
    #[must_use]
    pub fn metalayer(mut self, name: &str, content: &[u8]) -> Self {
        self.metalayers.push((name.to_owned(), content.to_vec()));
        self
    }

    /// Sets whether the array is a directory with one file for each chunk instead of one file.
    #[must_use]
    pub fn directory(mut self, directory: bool) -> Self {
        self.directory = directory;
        self
    }

    /// Sets whether an existing file or directory is removed first; the default is an error.
    #[must_use]
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Sets what a change leaves if the process dies, or the machine loses power, in the middle of it.
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
        if let (Some(path), true) = (path, self.truncate) {
            schunk::remove(path)?;
        }
        let place =
            Place { path, is_contiguous: path.is_some() && !self.directory, access: FileAccess::Plain };
        let compress = self.params.clone().typesize(self.typesize).settings()?;
        let fill = match &self.value {
            _ if self.is_uninit => Fill::Uninit,
            Some(value) => Fill::Value(value),
            None => Fill::Zeros,
        };
        let core = CoreArray::create(&place, &compress, self.params.nthreads()?, &settings, fill)?;
        if let Some(level) = self.durability {
            core.schunk()?.set_durability(level)?;
        }
        Ok(AnyArray { core, is_writable: true })
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
    #[must_use]
    pub fn fill_bytes(mut self, value: &[u8]) -> Self {
        self.value = Some(value.to_vec());
        self
    }

    /// Creates the array in memory.
    ///
    /// # Errors
    /// `InvalidParam` for shapes that do not fit; `MemoryAlloc`.
    pub fn in_memory(self) -> Result<AnyArray> {
        self.create_any(None)
    }

    /// Creates the array in the new file or directory `path`.
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory); `Failure` if the file exists or cannot be written.
    pub fn create(self, path: impl AsRef<Path>) -> Result<AnyArray> {
        self.create_any(Some(path.as_ref()))
    }
}

impl<T: Element> ArrayBuilder<Array<T>> {
    /// Sets all items to `value`.
    #[must_use]
    pub fn fill(mut self, value: T) -> Self {
        self.value = Some(bytemuck::bytes_of(&value).to_vec());
        self
    }

    /// Creates the array in memory.
    ///
    /// # Errors
    /// `InvalidParam` for shapes that do not fit; `MemoryAlloc`.
    pub fn in_memory(self) -> Result<Array<T>> {
        Array::try_from(self.create_any(None)?)
    }

    /// Creates the array in memory, from all its items in C order.
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory); `InvalidParam` for another number of items.
    pub fn in_memory_from(self, items: &[T]) -> Result<Array<T>> {
        Array::try_from(self.create_any_from(None, bytemuck::cast_slice(items))?)
    }

    /// Creates the array in the new file or directory `path`.
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory); `Failure` if the file exists or cannot be written.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Array<T>> {
        Array::try_from(self.create_any(Some(path.as_ref()))?)
    }

    /// Creates the array in the new file or directory `path`, from all its items in C order.
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
