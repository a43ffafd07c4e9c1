//! Arrays.

use crate::chunk::zeros;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::metalayers::{Metalayers, MetalayersMut};
use crate::params::Params;
use crate::ranges::{Axes, Ranges};
use crate::super_chunk::{SuperChunkInfo, info, read_only};
use blosc2_core::rust_api::array::{ArrayHandle, ArraySettings};
use blosc2_core::rust_api::schunk::{FileAccess, NewStorage, SuperChunkRef};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

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
/// assert_eq!((array.dtype(), array.shape()), ("<i2", &[3][..]));
/// assert_eq!(array.read_bytes((1..,))?, [2, 0, 3, 0]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct AnyArray {
    // In an `Arc`, because threads that read ahead refer to it.
    core: Arc<ArrayHandle>,
    is_writable: bool,
    /// The extents when the array was opened, refreshed, or changed by this value.
    shape: Vec<u64>,
    chunkshape: Vec<u32>,
    blockshape: Vec<u32>,
    dtype: String,
    dtype_format: i8,
}

impl std::fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fmt_as("AnyArray", f)
    }
}

impl AnyArray {
    fn fmt_as(&self, name: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(name)
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .field("chunkshape", &self.chunkshape())
            .field("blockshape", &self.blockshape())
            .finish_non_exhaustive()
    }

    #[cfg(feature = "remote")]
    pub(crate) fn core(&self) -> &ArrayHandle {
        &self.core
    }

    pub(crate) fn from_core(core: ArrayHandle, is_writable: bool) -> AnyArray {
        let (shape, chunkshape, blockshape) = (core.shape(), core.chunkshape(), core.blockshape());
        let (dtype, dtype_format) = core.dtype();
        AnyArray { core: Arc::new(core), is_writable, shape, chunkshape, blockshape, dtype, dtype_format }
    }

    /// Opens a copy of a frame in memory.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([3]).in_memory_from(&[1, 2, 3])?;
    /// let copy = blosc2::AnyArray::from_frame(&array.to_frame()?)?;
    /// assert_eq!((copy.shape(), copy.read_bytes(..)?), (&[3][..], vec![1, 2, 3]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_frame(frame: &[u8]) -> Result<AnyArray> {
        Ok(AnyArray::from_core(ArrayHandle::from_frame(frame)?, true))
    }

    fn schunk(&self) -> Result<SuperChunkRef<'_>> {
        Ok(self.core.schunk()?)
    }

    fn core_mut(&mut self) -> Result<&ArrayHandle> {
        self.writable_core()
    }

    fn writable_core(&self) -> Result<&ArrayHandle> {
        if !self.is_writable {
            return Err(read_only());
        }
        Ok(&self.core)
    }

    pub(crate) fn core_to_change(&mut self) -> Result<&Arc<ArrayHandle>> {
        self.core_mut()?;
        Ok(&self.core)
    }

    /// Reads the shape again, or takes the array back that was there before a transaction.
    pub(crate) fn end_transaction(&mut self, before: Option<ArrayHandle>) {
        if let Some(before) = before {
            self.core = Arc::new(before);
        }
        // A failure is that of the next call, too.
        let _ = self.refresh();
    }

    fn settings(&self) -> ArraySettings<'_> {
        ArraySettings {
            shape: &self.shape,
            chunkshape: &self.chunkshape,
            blockshape: &self.blockshape,
            dtype: &self.dtype,
            dtype_format: self.dtype_format,
            metalayers: &[],
        }
    }

    pub(crate) fn copy_in_memory(&self) -> Result<ArrayHandle> {
        let is_contiguous = self.info()?.is_contiguous;
        let place = NewStorage { path: None, is_contiguous, access: FileAccess::Plain };
        Ok(self.core.copy(&place, None, &self.settings())?)
    }

    /// Runs a change of the shape.
    fn change_shape<R>(&mut self, change: impl FnOnce(&ArrayHandle) -> blosc2_core::Result<R>) -> Result<R> {
        let done = change(self.core_mut()?);
        // A call that fails may have read the shape that another handle has written.
        self.shape = self.core.shape();
        Ok(done?)
    }

    /// Returns the extents in items, in C order: the last dimension is contiguous. If another
    /// handle or process changes the shape in the same files, [`refresh`](Self::refresh) reads it again.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([2, 3]).in_memory()?;
    /// assert_eq!(array.shape(), [2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the number of dimensions, at most 16.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([2, 3]).in_memory()?;
    /// assert_eq!(array.ndim(), 2);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of items.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([2, 3]).in_memory()?;
    /// assert_eq!(array.nitems(), 6);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nitems(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns the extents of a chunk in items: the unit of writing.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([1000, 200]).chunks([100, 200]).in_memory()?;
    /// assert_eq!(array.chunkshape(), [100, 200]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn chunkshape(&self) -> &[u32] {
        &self.chunkshape
    }

    /// Returns the extents of a block in items: the unit of reading.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([1000, 200]).blocks([10, 200]).in_memory()?;
    /// assert_eq!(array.blockshape(), [10, 200]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn blockshape(&self) -> &[u32] {
        &self.blockshape
    }

    /// Returns the size of an item in bytes.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([2, 3]).in_memory()?;
    /// assert_eq!(array.typesize(), 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn typesize(&self) -> usize {
        self.core.typesize()
    }

    /// Returns the data type of the items, in the notation of NumPy unless [`dtype_format`](Self::dtype_format) is
    /// another number than 0.
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([2, 3], ">f4", 4).in_memory()?;
    /// assert_eq!(array.dtype(), ">f4");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// Returns the number of the notation of [`dtype`](Self::dtype): 0 for that of NumPy.
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([2, 3], ">f4", 4).in_memory()?;
    /// assert_eq!(array.dtype_format(), 0);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn dtype_format(&self) -> i8 {
        self.dtype_format
    }

    /// Returns the size and the properties of the super-chunk of the array. Its content includes the padding of chunks at
    /// the end of a dimension.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([4, 4]).chunks([2, 4]).in_memory()?;
    /// let info = array.info()?;
    /// assert_eq!((info.nchunks, info.nbytes, info.chunksize), (2, 16, Some(8)));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// None in practice.
    pub fn info(&self) -> Result<SuperChunkInfo> {
        Ok(info(self.schunk()?))
    }

    /// Returns the length of the items divided by that of the chunks.
    ///
    /// ```
    /// let zeros = blosc2::Array::<f64>::builder([1000, 1000]).in_memory()?;
    /// assert!(zeros.ratio() > 1000.0);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn ratio(&self) -> f64 {
        let nbytes = self.nitems() as f64 * self.typesize() as f64;
        let cbytes = self.info().map_or(0, |info| info.cbytes.max(info.frame_len));
        if cbytes == 0 { f64::INFINITY } else { nbytes / cbytes as f64 }
    }

    /// Returns the bytes of the items that `ranges` select, in C order.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.read_bytes((.., 1..))?, [2, 3, 5, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit; `Failure` for damaged chunks; `MemoryAlloc`.
    pub fn read_bytes(&self, ranges: impl Ranges) -> Result<Vec<u8>> {
        let mut axes = Axes::new(self.shape());
        axes.select(&ranges)?;
        if let Some(lists) = axes.lists() {
            return self.select_bytes(&lists);
        }
        let mut dest = zeros(box_nbytes(axes.ranges(), self.typesize())?)?;
        self.core.read_box(axes.ranges(), &mut dest)?;
        Ok(dest)
    }

    /// Reads the bytes of the items that `ranges` select into `dest`, in C order.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// let mut column = [0; 2];
    /// array.read_bytes_into((.., 1), &mut column)?;
    /// assert_eq!(column, [2, 5]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes); `InvalidParam` for a `dest` of another length.
    pub fn read_bytes_into(&self, ranges: impl Ranges, dest: &mut [u8]) -> Result<()> {
        let mut axes = Axes::new(self.shape());
        axes.select(&ranges)?;
        match axes.lists() {
            None => self.core.read_box(axes.ranges(), dest)?,
            Some(lists) => self.core.read_orthogonal(&lists, dest)?,
        }
        Ok(())
    }

    /// Overwrites the items that `ranges` select by those with the bytes `items`, in C order.
    ///
    /// ```
    /// let mut array = blosc2::AnyArray::builder([2, 3], "|u1", 1).in_memory()?;
    /// array.write_bytes((1, ..2), &[8, 9])?;
    /// assert_eq!(array.read_bytes(..)?, [0, 0, 0, 8, 9, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit or `items` of another length; those of writing.
    pub fn write_bytes(&mut self, ranges: impl Ranges, items: &[u8]) -> Result<()> {
        let mut axes = Axes::new(self.shape());
        axes.select(&ranges)?;
        match axes.lists() {
            None => Ok(self.writable_core()?.write_box(axes.ranges(), items)?),
            Some(lists) => self.assign_bytes(&lists, items),
        }
    }

    pub(crate) fn write_box_shared(&self, ranges: &[Range<u64>], items: &[u8]) -> Result<()> {
        Ok(self.writable_core()?.write_box_in_parallel(ranges, items)?)
    }

    /// Changes the shape. New items are zeros.
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?.into_any();
    /// array.resize(&[3, 1])?;
    /// assert_eq!(array.read_bytes(..)?, [1, 3, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for another number of dimensions; those of writing.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.change_shape(|core| core.resize(shape))
    }

    /// Inserts items along `axis`, before position `at` or at the end. `items` holds whole rows: as many items as the
    /// shape without `axis` has, or a multiple.
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([2, 2]).chunks([1, 2]).in_memory_from(&[1, 2, 3, 4])?.into_any();
    /// array.insert_bytes(0, Some(1), &[8, 9])?;
    /// assert_eq!(array.read_bytes(..)?, [1, 2, 8, 9, 3, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for an axis or position out of range, a position inside a chunk, or no whole rows; those of
    /// writing.
    pub fn insert_bytes(&mut self, axis: usize, at: Option<u64>, items: &[u8]) -> Result<()> {
        self.change_shape(|core| core.insert(axis, at, items))
    }

    /// Deletes a range of rows along `axis`.
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([4]).chunks([2]).in_memory_from(&[1, 2, 3, 4])?.into_any();
    /// array.delete(0, 0..2)?;
    /// assert_eq!(array.read_bytes(..)?, [3, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for an axis or rows out of range, or rows that are not whole chunks; those of writing.
    pub fn delete(&mut self, axis: usize, rows: Range<u64>) -> Result<()> {
        let count = rows
            .end
            .checked_sub(rows.start)
            .ok_or_else(|| Error::param(format!("rows {rows:?}, expected a start of at most the end")))?;
        self.change_shape(|core| core.delete(axis, rows.start, count))
    }

    /// Appends the items of `other`, whose other extents are the same, along `axis`.
    ///
    /// ```
    /// use blosc2::Array;
    ///
    /// let mut array = Array::<u8>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?.into_any();
    /// let other = Array::<u8>::builder([2, 1]).in_memory_from(&[5, 6])?;
    /// array.concatenate(1, &other)?;
    /// assert_eq!((array.shape(), array.read_bytes(..)?), (&[2, 3][..], vec![1, 2, 5, 3, 4, 6]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for other shapes, item sizes or data types; those of reading and writing.
    pub fn concatenate(&mut self, axis: usize, other: &AnyArray) -> Result<()> {
        if self.dtype() != other.dtype() {
            return Err(Error::param(format!(
                "items of type {:?}, expected {:?}",
                other.dtype(),
                self.dtype()
            )));
        }
        self.change_shape(|core| core.concatenate(&other.core, axis))
    }

    /// Returns the same items, for reading, without the dimensions of extent 1. Their chunks must have that extent, too.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([1, 3, 1]).in_memory_from(&[1, 2, 3])?;
    /// let line = blosc2::Array::<u8>::try_from(array.squeeze()?)?;
    /// assert_eq!((line.shape(), line.read(1)?), (&[3][..], vec![2]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for longer chunks, and for an array with other metalayers than `b2nd`.
    pub fn squeeze(&self) -> Result<AnyArray> {
        let removed: Vec<bool> = self.shape.iter().map(|&extent| extent == 1).collect();
        Ok(AnyArray::from_core(self.core.squeeze(&removed)?, false))
    }

    /// Returns the same items, for reading, with a new dimension of extent 1 before dimension `axis`, or behind all.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.expand_dims(1)?.shape(), [2, 1, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for an axis out of range, the 17th dimension, and an array with other metalayers than `b2nd`.
    pub fn expand_dims(&self, axis: usize) -> Result<AnyArray> {
        let ndim = self.ndim();
        if axis > ndim {
            return Err(Error::param(format!("axis {axis}, expected at most {ndim}")));
        }
        let added: Vec<bool> = (0..=ndim).map(|dim| dim == axis).collect();
        Ok(AnyArray::from_core(self.core.expand_dims(&added)?, false))
    }

    /// Returns the bytes of the items at all combinations of the coordinates in `lists`, one list for each dimension.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.select_bytes(&[vec![1, 0], vec![0, 2]])?, [4, 6, 1, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam`, `InvalidIndex` for lists that do not fit; `Failure` for damaged chunks.
    pub fn select_bytes(&self, lists: &[Vec<u64>]) -> Result<Vec<u8>> {
        let nitems = lists.iter().try_fold(self.typesize(), |n, list| n.checked_mul(list.len()));
        let mut dest = zeros(nitems.unwrap_or(usize::MAX))?;
        self.core.read_orthogonal(lists, &mut dest)?;
        Ok(dest)
    }

    /// Overwrites the items at all combinations of the coordinates in `lists`, in C order.
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?.into_any();
    /// array.assign_bytes(&[vec![0, 1], vec![2]], &[8, 9])?;
    /// assert_eq!(array.read_bytes(..)?, [1, 2, 8, 4, 5, 9]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`select_bytes`](Self::select_bytes); those of writing.
    pub fn assign_bytes(&mut self, lists: &[Vec<u64>], items: &[u8]) -> Result<()> {
        Ok(self.core_mut()?.write_orthogonal(lists, items)?)
    }

    /// Reads the changes that other handles and processes have made to the same files. Returns whether there were any.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// let mut writer = blosc2::Array::<u8>::builder([2]).create_from(&path, &[1, 2])?;
    /// let mut reader = blosc2::AnyArray::open(&path)?;
    /// writer.resize(&[5])?;
    /// assert_eq!(reader.shape(), [2]);
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.shape(), [5]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Lock`; those of a damaged frame.
    pub fn refresh(&mut self) -> Result<bool> {
        let is_changed = self.core.refresh()?;
        let before = std::mem::replace(&mut self.shape, self.core.shape());
        // A read may have found the change before.
        Ok(is_changed || before != self.shape)
    }

    /// Sets the number of threads that work on one call.
    ///
    /// ```
    /// let mut array = blosc2::AnyArray::builder([10], "|S4", 4).in_memory()?;
    /// array.set_threads(4)?;
    /// assert_eq!(array.info()?.params.get_threads(), 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 or more than 32767.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        Ok(self.schunk()?.set_nthreads(crate::params::nthreads(threads)?)?)
    }

    /// Returns the metalayers.
    ///
    /// ```
    /// let array = blosc2::Array::<f32>::builder([10]).metalayer("unit", b"m").in_memory()?;
    /// assert_eq!(array.metalayers()?.fixed("unit")?.as_deref(), Some(&b"m"[..]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// None in practice.
    pub fn metalayers(&self) -> Result<Metalayers<'_>> {
        Ok(Metalayers::new(self.schunk()?))
    }

    /// Returns the metalayers for changes. That of the array, `b2nd`, must keep its meaning.
    ///
    /// ```
    /// let mut array = blosc2::AnyArray::builder([10], "|S4", 4).in_memory()?;
    /// array.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// assert_eq!(array.metalayers()?.variable_names(), ["source"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileWrite` for an array that was opened for reading.
    pub fn metalayers_mut(&mut self) -> Result<MetalayersMut<'_>> {
        self.core_mut()?;
        Ok(MetalayersMut::new(self.schunk()?))
    }

    /// Returns the bytes of a file with this array.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// let array = blosc2::Array::<i32>::builder([3]).in_memory_from(&[1, 2, 3])?;
    /// std::fs::write(&path, array.to_frame()?)?;
    /// assert_eq!(blosc2::Array::<i32>::open(&path)?.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `SchunkCopy`, `MemoryAlloc`.
    pub fn to_frame(&self) -> Result<Vec<u8>> {
        Ok(self.schunk()?.to_frame()?)
    }

    /// Copies the array with its metalayers to the new file `path`; with other parameters if `params` are given.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, Codec, Params};
    ///
    /// let array = Array::<i32>::builder([3]).in_memory_from(&[1, 2, 3])?;
    /// let copy = array.copy_to(&path, Some(&Params::new().codec(Codec::Zstd)))?;
    /// assert_eq!(copy.info()?.params.get_codec(), Codec::Zstd);
    /// assert_eq!(Array::<i32>::try_from(copy)?.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen`, `Failure` if the file exists or cannot be written; those of reading.
    pub fn copy_to(&self, path: impl AsRef<Path>, params: Option<&Params>) -> Result<AnyArray> {
        let place = NewStorage { path: Some(path.as_ref()), is_contiguous: true, access: FileAccess::Plain };
        let compress =
            params.map(|params| params.clone().typesize(self.typesize()).settings()).transpose()?;
        let core = self.core.copy(&place, compress.as_ref(), &self.settings())?;
        Ok(AnyArray::from_core(core, true))
    }

    /// Waits until all changes survive a loss of power.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// let array = blosc2::Array::<i32>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// array.sync()?;
    /// assert_eq!(blosc2::Array::<i32>::open(&path)?.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub fn sync(&self) -> Result<()> {
        Ok(self.schunk()?.sync()?)
    }
}

/// Returns the length, in bytes, of the items of `typesize` bytes in a box.
fn box_nbytes(ranges: &[Range<u64>], typesize: usize) -> Result<usize> {
    let nitems = ranges
        .iter()
        .try_fold(1usize, |n, range| n.checked_mul(usize::try_from(range.end - range.start).ok()?));
    nitems.and_then(|n| n.checked_mul(typesize)).ok_or_else(|| {
        Error::new(ErrorKind::MemoryAlloc, format!("the items of {ranges:?} do not fit into memory"))
    })
}

/// Reads items of an array, and may outlive the borrow of the array.
pub(crate) struct SharedReader(Arc<ArrayHandle>);

impl SharedReader {
    /// Returns the items of a box, which is inside the array.
    pub(crate) fn read_items<T: Element>(&self, ranges: &[Range<u64>]) -> Result<Vec<T>> {
        let mut items = vec_of(box_nbytes(ranges, size_of::<T>())? / size_of::<T>())?;
        T::fill_from(&mut items, |bytes| Ok(self.0.read_box(ranges, bytes)?))?;
        Ok(items)
    }

    /// Returns the items at all combinations of the coordinates in `lists`.
    pub(crate) fn select_items<T: Element>(&self, lists: &[Vec<u64>]) -> Result<Vec<T>> {
        let nitems = lists.iter().try_fold(1usize, |n, list| n.checked_mul(list.len()));
        let mut items = vec_of(nitems.unwrap_or(usize::MAX))?;
        T::fill_from(&mut items, |bytes| Ok(self.0.read_orthogonal(lists, bytes)?))?;
        Ok(items)
    }
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
        self.array.fmt_as(&format!("Array<{}>", std::any::type_name::<T>()), f)
    }
}

impl<T> std::ops::Deref for Array<T> {
    type Target = AnyArray;

    fn deref(&self) -> &AnyArray {
        &self.array
    }
}

/// There is no `DerefMut`: an array must not be replaced by one with items of another type.
///
/// ```compile_fail,E0594
/// let mut array = blosc2::Array::<i32>::builder([1]).in_memory()?;
/// *array = blosc2::Array::<f32>::builder([1]).in_memory()?.into_any();
/// # Ok::<(), blosc2::Error>(())
/// ```
#[cfg(doctest)]
struct NoDerefMut;

impl<T> From<Array<T>> for AnyArray {
    fn from(array: Array<T>) -> AnyArray {
        array.array
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
        if !T::matches(dtype) || array.typesize() != size_of::<T>() || array.dtype_format() != 0 {
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
    /// Returns the items that `ranges` select, in C order.
    ///
    /// ```
    /// use blosc2::{Array, step};
    ///
    /// let array = Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.read((.., 1..))?, [2, 3, 5, 6]);
    /// assert_eq!(array.read((1, step(.., 2)))?, [4, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes`].
    pub fn read(&self, ranges: impl Ranges) -> Result<Vec<T>> {
        let mut axes = Axes::new(self.shape());
        axes.select(&ranges)?;
        match axes.lists() {
            None => self.read_ranges(axes.ranges()),
            Some(lists) => self.select(&lists),
        }
    }

    pub(crate) fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<T>> {
        self.shared_reader().read_items(ranges)
    }

    /// Returns a reader that a thread may keep.
    pub(crate) fn shared_reader(&self) -> SharedReader {
        SharedReader(self.array.core.clone())
    }

    /// Reads the items that `ranges` select into `dest`, in C order.
    ///
    /// ```
    /// let array = blosc2::Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// let mut row = [0; 3];
    /// array.read_into((1, ..), &mut row)?;
    /// assert_eq!(row, [4, 5, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes_into`].
    pub fn read_into(&self, ranges: impl Ranges, dest: &mut [T]) -> Result<()> {
        T::fill_from(dest, |bytes| self.read_bytes_into(ranges, bytes))
    }

    /// Returns the item at a position.
    ///
    /// ```
    /// let array = blosc2::Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.get(&[1, 0])?, 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a position outside the array; `Failure` for a damaged chunk.
    pub fn get(&self, at: &[u64]) -> Result<T> {
        let mut item = [T::zeroed()];
        self.read_into(at, &mut item)?;
        Ok(item[0])
    }

    /// Overwrites the items that `ranges` select by `items`, in C order.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 3]).in_memory()?;
    /// array.write((.., 1), &[-1, -2])?;
    /// assert_eq!(array.read(..)?, [0, -1, 0, 0, -2, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::write_bytes`].
    pub fn write(&mut self, ranges: impl Ranges, items: &[T]) -> Result<()> {
        self.array.write_bytes(ranges, bytemuck::cast_slice(items))
    }

    /// Overwrites the item at a position.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 3]).in_memory()?;
    /// array.set(&[1, 0], 7)?;
    /// assert_eq!(array.read(..)?, [0, 0, 0, 7, 0, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::write_bytes`].
    pub fn set(&mut self, at: &[u64], item: T) -> Result<()> {
        self.write(at, &[item])
    }

    /// Changes the shape. New items are zeros.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?;
    /// array.resize(&[3, 1])?;
    /// assert_eq!(array.read(..)?, [1, 3, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::resize`].
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.array.resize(shape)
    }

    /// Deletes a range of rows along `axis`, which are whole chunks.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([4]).chunks([2]).in_memory_from(&[1, 2, 3, 4])?;
    /// array.delete(0, 0..2)?;
    /// assert_eq!(array.read(..)?, [3, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::delete`].
    pub fn delete(&mut self, axis: usize, rows: Range<u64>) -> Result<()> {
        self.array.delete(axis, rows)
    }

    /// Appends the items of `other`, whose other extents are the same, along `axis`.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?;
    /// let other = blosc2::Array::<i32>::builder([2, 1]).in_memory_from(&[5, 6])?;
    /// array.concatenate(1, &other)?;
    /// assert_eq!((array.shape(), array.read(..)?), (&[2, 3][..], vec![1, 2, 5, 3, 4, 6]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::concatenate`].
    pub fn concatenate(&mut self, axis: usize, other: &AnyArray) -> Result<()> {
        self.array.concatenate(axis, other)
    }

    /// Reads the changes that other handles and processes have made to the same files. Returns whether there were any.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// let mut writer = blosc2::Array::<i32>::builder([2]).create_from(&path, &[1, 2])?;
    /// let mut reader = blosc2::Array::<i32>::open(&path)?;
    /// writer.append(0, &[3])?;
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.read(..)?, [1, 2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::refresh`].
    pub fn refresh(&mut self) -> Result<bool> {
        self.array.refresh()
    }

    /// Sets the number of threads that work on one call.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([10]).in_memory()?;
    /// array.set_threads(4)?;
    /// assert_eq!(array.info()?.params.get_threads(), 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::set_threads`].
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        self.array.set_threads(threads)
    }

    /// Returns the metalayers for changes. That of the array, `b2nd`, must keep its meaning.
    ///
    /// ```
    /// let mut array = blosc2::Array::<f32>::builder([10]).in_memory()?;
    /// array.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// assert_eq!(array.metalayers()?.variable_names(), ["source"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::metalayers_mut`].
    pub fn metalayers_mut(&mut self) -> Result<MetalayersMut<'_>> {
        self.array.metalayers_mut()
    }

    /// Inserts items along `axis`, before position `at`. See [`AnyArray::insert_bytes`].
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 2]).chunks([2, 1]).in_memory_from(&[1, 2, 3, 4])?;
    /// array.insert(1, 1, &[-1, -2])?;
    /// assert_eq!(array.read(..)?, [1, -1, 2, 3, -2, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::insert_bytes`].
    pub fn insert(&mut self, axis: usize, at: u64, items: &[T]) -> Result<()> {
        self.array.insert_bytes(axis, Some(at), bytemuck::cast_slice(items))
    }

    /// Appends items along `axis`. See [`AnyArray::insert_bytes`].
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([0, 2]).in_memory()?;
    /// array.append(0, &[1, 2])?;
    /// array.append(0, &[3, 4, 5, 6])?;
    /// assert_eq!((array.shape(), array.read(..)?), (&[3, 2][..], vec![1, 2, 3, 4, 5, 6]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::insert_bytes`].
    pub fn append(&mut self, axis: usize, items: &[T]) -> Result<()> {
        self.array.insert_bytes(axis, None, bytemuck::cast_slice(items))
    }

    /// Returns the items at all combinations of the coordinates in `lists`, one list for each dimension.
    ///
    /// ```
    /// let array = blosc2::Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.select(&[vec![1, 0], vec![0, 2]])?, [4, 6, 1, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::select_bytes`].
    pub fn select(&self, lists: &[Vec<u64>]) -> Result<Vec<T>> {
        self.shared_reader().select_items(lists)
    }

    /// Overwrites the items at all combinations of the coordinates in `lists`, in C order.
    ///
    /// ```
    /// let mut array = blosc2::Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// array.assign(&[vec![0, 1], vec![2]], &[-1, -2])?;
    /// assert_eq!(array.read(..)?, [1, 2, -1, 4, 5, -2]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::assign_bytes`].
    pub fn assign(&mut self, lists: &[Vec<u64>], items: &[T]) -> Result<()> {
        self.array.assign_bytes(lists, bytemuck::cast_slice(items))
    }

    /// Returns the array for changes that keep the type of its items.
    pub(crate) fn as_any_mut(&mut self) -> &mut AnyArray {
        &mut self.array
    }

    /// Returns the array with items of any type.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2]).in_memory_from(&[1, 2])?;
    /// let any: blosc2::AnyArray = array.into_any();
    /// assert_eq!((any.dtype(), any.read_bytes(..)?), ("|u1", vec![1, 2]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_any(self) -> AnyArray {
        self.array
    }
}

/// Returns `len` items of zero bytes.
fn vec_of<T: Element>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items
        .try_reserve_exact(len)
        .map_err(|_| Error::new(ErrorKind::MemoryAlloc, format!("a buffer of {len} items")))?;
    items.resize(len, T::zeroed());
    Ok(items)
}
