//! Arrays.

use super::params::{CompressSettings, decompress_params};
use super::schunk::{
    BackendParams, CheckedStorage, FileAccess, NewStorage, Source, SourcePlace, SuperChunkHandle,
    SuperChunkRef,
};
use super::{c_path, c_text};
use crate::b2nd::array::{Array, ArrayBuilder, ArrayParams};
use crate::b2nd::geometry;
use crate::b2nd::selection::Selection;
use crate::chunk::SpecialValue;
use crate::error::{Result, ensure, err};
use crate::malloc::MallocVec;
use crate::out_buffer::OutBuffer;
use crate::schunk::storage::Storage;
use std::ffi::CString;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of dimensions.
pub const MAX_DIM: usize = crate::b2nd::MAX_DIM;

/// The content of a new array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill<'a> {
    /// Zeros.
    Zeros,
    /// NaNs, of items of 4 or 8 bytes.
    Nans,
    /// Unspecified items.
    Uninit,
    /// One item, repeated.
    Value(&'a [u8]),
}

/// The shape and the items of a new array.
#[derive(Clone, Copy, Debug)]
pub struct ArraySettings<'a> {
    /// Extents in items.
    pub shape: &'a [u64],
    /// Extents of a chunk in items.
    pub chunkshape: &'a [u32],
    /// Extents of a block in items.
    pub blockshape: &'a [u32],
    /// Data type of the items as text, in the format `dtype_format`.
    pub dtype: &'a str,
    /// Format of `dtype`; 0 for NumPy.
    pub dtype_format: i8,
    /// Metalayers besides the array's own.
    pub metalayers: &'a [(String, Vec<u8>)],
}

/// The parts of [`ArraySettings`] with the types of the core.
struct CheckedSettings {
    shape: Vec<i64>,
    chunkshape: Vec<i32>,
    blockshape: Vec<i32>,
    dtype: CString,
    dtype_format: i8,
    metalayers: Vec<(CString, Vec<u8>)>,
}

fn extent(value: u32) -> Result<i32> {
    i32::try_from(value).map_err(|_| err!(InvalidParam, "the extent {value} exceeds 2^31 - 1"))
}

/// Returns extents or coordinates for the core.
fn signed_all(values: &[u64]) -> Result<Vec<i64>> {
    values.iter().map(|&value| super::schunk::signed(value)).collect()
}

impl CheckedSettings {
    fn new(settings: &ArraySettings<'_>) -> Result<CheckedSettings> {
        let shape = signed_all(settings.shape)?;
        let chunkshape = settings.chunkshape.iter().map(|&n| extent(n)).collect::<Result<Vec<i32>>>()?;
        let blockshape = settings.blockshape.iter().map(|&n| extent(n)).collect::<Result<Vec<i32>>>()?;
        let ndim = shape.len();
        ensure!(
            ndim <= MAX_DIM && chunkshape.len() == ndim && blockshape.len() == ndim,
            InvalidParam,
            "{ndim} extents of the shape, {} of chunks and {} of blocks, expected the same number, at most {MAX_DIM}",
            chunkshape.len(),
            blockshape.len(),
        );
        geometry::check_shapes(&shape, &chunkshape, &blockshape)?;
        let metalayers = settings
            .metalayers
            .iter()
            .map(|(name, content)| Ok((c_text(name)?, content.clone())))
            .collect::<Result<Vec<_>>>()?;
        let (dtype, dtype_format) = (c_text(settings.dtype)?, settings.dtype_format);
        Ok(CheckedSettings { shape, chunkshape, blockshape, dtype, dtype_format, metalayers })
    }

    /// Returns the parameters, with storage of the block size that the block shape has.
    fn params<'a>(&'a self, storage: Storage<'a>) -> ArrayParams<'a> {
        ArrayParams {
            shape: &self.shape,
            chunkshape: &self.chunkshape,
            blockshape: &self.blockshape,
            dtype: Some(&self.dtype),
            dtype_format: self.dtype_format,
            storage,
            metalayers: &self.metalayers,
        }
    }
}

/// An array.
pub struct ArrayHandle {
    // Dropped before the parameters of its back-end.
    inner: Box<Array>,
    params: BackendParams,
    /// The array of which this one is a view.
    _base: Option<Arc<ArrayHandle>>,
}

impl Drop for ArrayHandle {
    fn drop(&mut self) {
        let released = self.inner.schunk().map(|schunk| schunk.release_backend());
        if let Ok(Err(error)) | Err(error) = released {
            crate::trace::error(&error);
        }
    }
}

impl ArrayHandle {
    /// Creates an array. `nthreads` is the number of threads that decompress.
    pub fn create(
        place: &NewStorage<'_>,
        compress: &CompressSettings,
        nthreads: i16,
        settings: &ArraySettings<'_>,
        fill: Fill<'_>,
    ) -> Result<ArrayHandle> {
        let settings = CheckedSettings::new(settings)?;
        let place = CheckedStorage::new(place)?;
        let (mut cparams, dparams) = (compress.to_c(), decompress_params(nthreads));
        cparams.blocksize = geometry::block_nbytes(&settings.blockshape, cparams.typesize)?;
        let typesize = cparams.typesize;
        let special = match fill {
            Fill::Zeros | Fill::Value(_) => SpecialValue::Zero,
            Fill::Nans if typesize != 4 && typesize != 8 => {
                return Err(err!(InvalidParam, "NaNs need items of 4 or 8 bytes, not {typesize}"));
            }
            Fill::Nans => SpecialValue::Nan,
            Fill::Uninit => SpecialValue::Uninit,
        };
        let storage = place.storage(&cparams, &dparams);
        // SAFETY: the parameters have no pointers, except that of the tuner, which is followed only in this call, and those
        // of the back-end, which outlive the array.
        let mut inner = unsafe { Array::create(&settings.params(storage), special) }?;
        if let Fill::Value(value) = fill {
            if usize::try_from(typesize).ok() != Some(value.len()) {
                return Err(err!(InvalidParam, "the value has {} bytes, expected {typesize}", value.len()));
            }
            inner.fill(value)?;
        }
        inner.schunk()?.finish_creation()?;
        Ok(ArrayHandle { inner, params: place.params, _base: None })
    }

    /// Opens the array at byte `offset` of a file, or in a directory.
    pub fn open(path: &Path, offset: u64, access: FileAccess) -> Result<ArrayHandle> {
        let params = BackendParams::new(access);
        let offset = super::schunk::signed(offset)?;
        // SAFETY: the parameters of the back-end outlive the array.
        let schunk = unsafe { crate::schunk::SuperChunk::open(&c_path(path)?, offset, params.io()) }?;
        let builder = ArrayBuilder::read(&schunk)?;
        Ok(ArrayHandle { inner: builder.into_array(schunk), params, _base: None })
    }

    /// Opens the array in a place of `source` for reading.
    pub fn open_source(source: Arc<dyn Source>, place: SourcePlace<'_>) -> Result<ArrayHandle> {
        let schunk = super::schunk::open_source(source, place)?;
        let builder = ArrayBuilder::read(&schunk)?;
        let params = BackendParams::new(FileAccess::Plain);
        Ok(ArrayHandle { inner: builder.into_array(schunk), params, _base: None })
    }

    /// Returns the names of the files that have the chunks of a box, of an array on disk.
    pub fn files_of_box(&self, ranges: &[Range<u64>]) -> Result<Vec<Arc<str>>> {
        let (schunk, geometry) = (self.schunk()?, self.inner.geometry());
        let [mut start, mut stop] = [[0; MAX_DIM]; 2];
        for (dim, range) in ranges.iter().take(MAX_DIM).enumerate() {
            [start[dim], stop[dim]] =
                [range.start, range.end].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
        }
        let chunks = geometry.chunks_of_box(&start, &stop);
        let files = chunks.map(|part| schunk.file_of_chunk(u64::try_from(part.number).unwrap_or(0)));
        files.filter_map(Result::transpose).collect()
    }

    /// Opens a copy of the contiguous frame in `bytes`.
    pub fn from_frame(bytes: &[u8]) -> Result<ArrayHandle> {
        let mut memory = MallocVec::new();
        memory.write_at(0, bytes)?;
        let schunk = crate::schunk::SuperChunk::from_frame(memory)?;
        let builder = ArrayBuilder::read(&schunk)?;
        let params = BackendParams::new(FileAccess::Plain);
        Ok(ArrayHandle { inner: builder.into_array(schunk), params, _base: None })
    }

    /// Returns whether a super-chunk holds an array.
    pub fn is_in(schunk: &SuperChunkHandle) -> bool {
        schunk.inner().has_array()
    }

    /// Copies the array with its metalayers. Without `settings` the chunks and blocks keep their shapes; without
    /// `compress`, the compression parameters stay.
    pub fn copy(
        &self,
        place: &NewStorage<'_>,
        compress: Option<&CompressSettings>,
        settings: &ArraySettings<'_>,
    ) -> Result<ArrayHandle> {
        let settings = CheckedSettings::new(settings)?;
        let place = CheckedStorage::new(place)?;
        let mut cparams =
            compress.map_or_else(|| self.inner.schunk().map(|schunk| schunk.cparams()), |c| Ok(c.to_c()))?;
        cparams.schunk = std::ptr::null_mut();
        cparams.blocksize = geometry::block_nbytes(&settings.blockshape, cparams.typesize)?;
        let dparams = decompress_params(cparams.nthreads);
        let storage = place.storage(&cparams, &dparams);
        let to = place.destination(Some(&cparams), Some(&dparams));
        // SAFETY: the parameters have no pointers (`cparams.schunk` has just been cleared), except that of the tuner, which
        // is followed only in this call, and those of the back-end, which outlive the copy: `params` is dropped after
        // `inner`.
        let inner = unsafe { self.inner.copy(&settings.params(storage), &to) }?;
        inner.schunk()?.finish_creation()?;
        Ok(ArrayHandle { inner, params: place.params, _base: None })
    }

    /// Appends the items of `other` along `axis`.
    pub fn concatenate(&self, other: &ArrayHandle, axis: usize) -> Result<()> {
        // SAFETY: no array is created.
        unsafe { self.inner.concatenate(&other.inner, axis, None) }.map(drop)
    }

    /// Returns the same items under a shape without the dimensions whose flag is set, which have the extent 1.
    pub fn squeeze(self: &Arc<Self>, removed: &[bool]) -> Result<ArrayHandle> {
        let ndim = self.inner.geometry().ndim();
        ensure!(removed.len() == ndim, InvalidParam, "{} flags for {ndim} dimensions", removed.len());
        // SAFETY: the view keeps the array, which is never borrowed mutably.
        unsafe { self.inner.squeeze_index(removed) }.map(|view| self.view(view))
    }

    /// Returns the same items under a shape with more dimensions: those whose flag is set, of extent 1.
    pub fn expand_dims(self: &Arc<Self>, added: &[bool]) -> Result<ArrayHandle> {
        ensure!(
            added.len() <= MAX_DIM,
            InvalidParam,
            "{} dimensions, expected at most {MAX_DIM}",
            added.len()
        );
        // SAFETY: the view keeps the array, which is never borrowed mutably.
        unsafe { self.inner.expand_dims(added) }.map(|view| self.view(view))
    }

    fn view(self: &Arc<Self>, inner: Box<Array>) -> ArrayHandle {
        ArrayHandle { inner, params: BackendParams::new(FileAccess::Plain), _base: Some(self.clone()) }
    }

    /// Returns the super-chunk of the array.
    pub fn schunk(&self) -> Result<SuperChunkRef<'_>> {
        self.inner.schunk().map(SuperChunkRef)
    }

    /// Reads the shape again, which another handle may have changed.
    pub fn refresh(&self) -> Result<bool> {
        self.inner.refresh()
    }

    /// Returns whether the file is mapped.
    pub fn is_mapped(&self) -> bool {
        self.params.is_mapped()
    }

    /// Returns the extents in items.
    pub fn shape(&self) -> Vec<u64> {
        self.inner.geometry().shape().iter().map(|&extent| u64::try_from(extent).unwrap_or(0)).collect()
    }

    /// Returns the extents of a chunk in items.
    pub fn chunkshape(&self) -> Vec<u32> {
        self.inner.geometry().chunkshape().iter().map(|&n| n.unsigned_abs()).collect()
    }

    /// Returns the extents of a block in items.
    pub fn blockshape(&self) -> Vec<u32> {
        self.inner.geometry().blockshape().iter().map(|&n| n.unsigned_abs()).collect()
    }

    /// Returns the item size in bytes.
    pub fn typesize(&self) -> usize {
        usize::try_from(self.inner.geometry().typesize()).unwrap_or(0)
    }

    /// Returns the data type as text, and the format of the text.
    pub fn dtype(&self) -> (String, i8) {
        let text = self.inner.dtype().map(|dtype| dtype.to_string_lossy().into_owned());
        (text.unwrap_or_default(), self.inner.dtype_format())
    }

    /// Reads the box of `ranges` into `dest`, in C order.
    pub fn read_box(&self, ranges: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.with_box(ranges, dest.len(), |start, stop, shape| {
            self.inner.get_box(start, stop, shape, OutBuffer::from(dest), true)
        })
    }

    /// Overwrites the box of `ranges` with `src`, in C order.
    pub fn write_box(&self, ranges: &[Range<u64>], src: &[u8]) -> Result<()> {
        self.with_box(ranges, src.len(), |start, stop, shape| self.inner.set_box(start, stop, shape, src))
    }

    /// As [`write_box`](Self::write_box), for several threads at a time: chunks are compressed without a lock.
    pub fn write_box_in_parallel(&self, ranges: &[Range<u64>], src: &[u8]) -> Result<()> {
        self.with_box(ranges, src.len(), |start, stop, shape| {
            self.inner.set_box_in_parallel(start, stop, shape, src)
        })
    }

    /// Calls `operation` with the start, the stop and the extents of a box that is in the array and whose items have `len`
    /// bytes, unless it is empty.
    #[inline]
    fn with_box(
        &self,
        ranges: &[Range<u64>],
        len: usize,
        operation: impl FnOnce(&[i64], &[i64], &[i64]) -> Result<()>,
    ) -> Result<()> {
        let geometry = self.inner.geometry();
        let shape = geometry.shape();
        let typesize = geometry.typesize();
        let [mut starts, mut stops, mut extents] = [[0; MAX_DIM]; 3];
        let mut nbytes = usize::try_from(typesize).ok();
        let mut fits = ranges.len() == shape.len();
        for (dim, (&Range { start, end }, &extent)) in ranges.iter().zip(shape).enumerate() {
            fits &= start <= end && end <= extent.unsigned_abs();
            let count = end.wrapping_sub(start);
            nbytes = nbytes.and_then(|n| n.checked_mul(usize::try_from(count).ok()?));
            // An extent of the array is an `i64`, and the other numbers are below it if the box fits.
            (starts[dim], stops[dim], extents[dim]) = (start as i64, end as i64, count as i64);
        }
        ensure!(fits, InvalidParam, "the box {ranges:?} is not in the shape {shape:?}");
        ensure!(
            nbytes == Some(len),
            InvalidParam,
            "the buffer has {len} bytes, expected the items of {ranges:?}, of {typesize} bytes each"
        );
        let ndim = shape.len();
        if len == 0 { Ok(()) } else { operation(&starts[..ndim], &stops[..ndim], &extents[..ndim]) }
    }

    /// Reads the items at all combinations of the coordinates in `lists`, one list for each dimension.
    pub fn read_orthogonal(&self, lists: &[Vec<u64>], dest: &mut [u8]) -> Result<()> {
        let (lists, shape) = selection_lists(lists)?;
        let lists: Vec<&[i64]> = lists.iter().map(Vec::as_slice).collect();
        let selection = self.check_selection(&lists, &shape, dest.len())?;
        self.inner.get_orthogonal(&selection, OutBuffer::from(dest))
    }

    /// Overwrites the items at all combinations of the coordinates in `lists`.
    pub fn write_orthogonal(&self, lists: &[Vec<u64>], src: &[u8]) -> Result<()> {
        let (lists, shape) = selection_lists(lists)?;
        let lists: Vec<&[i64]> = lists.iter().map(Vec::as_slice).collect();
        let selection = self.check_selection(&lists, &shape, src.len())?;
        self.inner.set_orthogonal(&selection, src)
    }

    fn check_selection<'a>(
        &self,
        lists: &'a [&'a [i64]],
        shape: &'a [i64],
        len: usize,
    ) -> Result<Selection<'a>> {
        let nitems = shape.iter().try_fold(1i64, |n, &extent| n.checked_mul(extent));
        let expected = nitems.and_then(|n| n.checked_mul(self.typesize() as i64));
        let len = i64::try_from(len).ok().filter(|&len| Some(len) == expected).ok_or_else(|| {
            err!(
                InvalidParam,
                "the buffer has {len} bytes, expected {shape:?} items of {} bytes",
                self.typesize()
            )
        })?;
        Selection::new(self.inner.geometry(), lists, shape, len)
    }

    /// Changes the shape; new items are zeros.
    pub fn resize(&self, shape: &[u64]) -> Result<()> {
        let shape = signed_all(shape)?;
        ensure!(
            shape.len() == self.inner.geometry().ndim(),
            InvalidParam,
            "the array has another number of dimensions than {}",
            shape.len(),
        );
        self.inner.resize(&shape, None)
    }

    /// Inserts `items` along `axis`, before position `at` or at the end.
    pub fn insert(&self, axis: usize, at: Option<u64>, items: &[u8]) -> Result<()> {
        match at {
            Some(at) => self.inner.insert(items, axis, Some(super::schunk::signed(at)?)),
            None => self.inner.append(items, axis),
        }
    }

    /// Deletes `count` rows along `axis`, from `at` on.
    pub fn delete(&self, axis: usize, at: u64, count: u64) -> Result<()> {
        self.inner.delete(axis, super::schunk::signed(at)?, super::schunk::signed(count)?)
    }
}

/// Returns the lists for the core, and their lengths.
fn selection_lists(lists: &[Vec<u64>]) -> Result<(Vec<Vec<i64>>, Vec<i64>)> {
    let lists = lists.iter().map(|list| signed_all(list)).collect::<Result<Vec<_>>>()?;
    let shape = lists.iter().map(|list| i64::try_from(list.len()).unwrap_or(i64::MAX)).collect();
    Ok((lists, shape))
}
