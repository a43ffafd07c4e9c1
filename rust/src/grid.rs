//! The chunks of an array as a grid of boxes, which several threads write.

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::prefetch::{self, Prefetch};
use crate::ranges::{self, Ranges};
use crate::view::ArrayView;
use std::ops::Range;

impl AnyArray {
    /// Returns the number of chunks along each dimension.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([10, 7]).chunks([4, 7]).in_memory()?;
    /// assert_eq!((array.chunk_grid(), array.nchunks()), (vec![3, 1], 3));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn chunk_grid(&self) -> Vec<u64> {
        let chunks = self.chunkshape();
        self.shape()
            .iter()
            .zip(chunks)
            .map(|(extent, &chunk)| extent.div_ceil(u64::from(chunk.max(1))))
            .collect()
    }

    /// Returns the number of chunks.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([10, 7]).chunks([4, 5]).in_memory()?;
    /// assert_eq!(array.nchunks(), 6);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nchunks(&self) -> u64 {
        self.chunk_grid().iter().product()
    }

    /// Returns the box of chunk `nchunk`, which ends at the end of the array. The numbers are those of the super-chunk: in C
    /// order of the [grid](Self::chunk_grid).
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([10, 7]).chunks([4, 5]).in_memory()?;
    /// assert_eq!(array.chunk_ranges(5)?, [8..10, 5..7]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range.
    pub fn chunk_ranges(&self, nchunk: u64) -> Result<Vec<Range<u64>>> {
        let (shape, chunks, grid) = (self.shape(), self.chunkshape(), self.chunk_grid());
        let nchunks = grid.iter().product();
        if nchunk >= nchunks {
            return Err(Error::param(format!("chunk {nchunk} of {nchunks}")));
        }
        let mut rest = nchunk;
        let mut ranges = vec![0..0; shape.len()];
        for dim in (0..shape.len()).rev() {
            let start = rest % grid[dim] * u64::from(chunks[dim]);
            rest /= grid[dim];
            ranges[dim] = start..start.saturating_add(chunks[dim].into()).min(shape[dim]);
        }
        Ok(ranges)
    }

    /// Overwrites the items in a box, in C order, while other threads read and write the array. See
    /// [`Array::write_shared`].
    ///
    /// ```
    /// let array = blosc2::AnyArray::builder([2, 3], "|u1", 1).chunks([1, 3]).in_memory()?;
    /// std::thread::scope(|scope| {
    ///     let first = scope.spawn(|| array.write_bytes_shared((0, ..), &[1, 2, 3]));
    ///     array.write_bytes_shared((1, ..), &[4, 5, 6])?;
    ///     first.join().unwrap()
    /// })?;
    /// assert_eq!(array.read_bytes(..)?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_bytes_shared(&self, ranges: impl Ranges, items: &[u8]) -> Result<()> {
        self.write_box_shared(&ranges::to_box(&ranges, self.shape())?, items)
    }
}

impl<T: Element> Array<T> {
    /// Overwrites the items in a box, in C order, while other threads read and write the array.
    ///
    /// The chunks are compressed on the calling thread, with [`Params::threads`](crate::Params::threads) threads, and then
    /// stored together: calls of several threads wait for each other only while they store. Boxes of whole chunks are the
    /// fastest. Several threads may write parts of one chunk; the part that comes second is compressed again then. Readers
    /// see each chunk before or after a call.
    ///
    /// ```
    /// use blosc2::Array;
    ///
    /// let array = Array::<u32>::builder([4, 1000]).chunks([1, 1000]).in_memory()?;
    /// std::thread::scope(|scope| {
    ///     let writers: Vec<_> = (0..4u32)
    ///         .map(|n| (n, &array))
    ///         .map(|(n, array)| scope.spawn(move || array.write_shared((n, ..), &[n; 1000])))
    ///         .collect();
    ///     writers.into_iter().try_for_each(|writer| writer.join().unwrap())
    /// })?;
    /// assert_eq!(array.read((2, ..3))?, [2, 2, 2]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_shared(&self, ranges: impl Ranges, items: &[T]) -> Result<()> {
        self.write_bytes_shared(ranges, bytemuck::cast_slice(items))
    }

    /// Returns the box of chunk `nchunk`, as [`chunk_ranges`](AnyArray::chunk_ranges).
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 4]).chunks([2, 2]).in_memory_from(&[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// let chunk = array.chunk(1)?;
    /// assert_eq!((chunk.shape(), chunk.to_vec()?), (vec![2, 2], vec![3, 4, 7, 8]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range.
    pub fn chunk(&self, nchunk: u64) -> Result<ArrayView<'_, T>> {
        self.view(self.chunk_ranges(nchunk)?)
    }

    /// Returns the boxes of all chunks, in order. [`ArrayView::to_vec`] reads the items of one.
    ///
    /// ```
    /// let array = blosc2::Array::<u64>::builder([100, 100]).chunks([30, 100]).in_memory()?;
    /// for (n, chunk) in array.chunks().enumerate() {
    ///     let nitems: u64 = chunk.shape().iter().product();
    ///     chunk.write(&vec![n as u64; nitems as usize])?;
    /// }
    /// assert_eq!(array.read((.., 0))?[59..61], [1, 2]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = ArrayView<'_, T>> + DoubleEndedIterator {
        (0..self.count_of_chunks()).map(|n| self.chunk_in_range(n))
    }

    /// Returns the boxes of all chunks, for the threads of `rayon`.
    ///
    /// ```
    /// use blosc2::Array;
    /// use rayon::prelude::*;
    ///
    /// let array = Array::<f32>::builder([1000, 1000]).chunks([100, 1000]).in_memory()?;
    /// array.par_chunks().enumerate().try_for_each(|(n, chunk)| chunk.write(&vec![n as f32; 100_000]))?;
    /// let sums = array.par_chunks().map(|chunk| Ok(chunk.to_vec()?.iter().sum::<f32>()));
    /// assert_eq!(sums.collect::<blosc2::Result<Vec<f32>>>()?[9], 900_000.0);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn par_chunks(&self) -> impl rayon::iter::IndexedParallelIterator<Item = ArrayView<'_, T>> {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        (0..self.count_of_chunks()).into_par_iter().map(|n| self.chunk_in_range(n))
    }

    /// Returns the items of all chunks, in order. `threads` threads read them ahead of the caller, up to two chunks each.
    ///
    /// ```
    /// let array = blosc2::Array::<u16>::builder([10]).chunks([4]).in_memory_from(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3])?;
    /// let sums = array.prefetch_chunks(2)?.map(|items| Ok(items?.iter().sum::<u16>()));
    /// assert_eq!(sums.collect::<blosc2::Result<Vec<u16>>>()?, [4, 8, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 threads; `ThreadCreate`.
    pub fn prefetch_chunks(&self, threads: usize) -> Result<Prefetch<'_, Vec<T>>> {
        let boxes = self.chunks().map(|chunk| chunk.ranges().to_vec()).collect::<Vec<_>>();
        let reader = self.shared_reader();
        prefetch::start(threads, boxes.len() as u64, move |n| reader.read_items(&boxes[n as usize]))
    }

    /// Overwrites the items of chunk `nchunk`, in C order, while other threads read and write the array: [`Array::chunk`] and
    /// [`ArrayView::write`].
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([5]).chunks([2]).in_memory()?;
    /// array.write_chunk(2, &[9])?;
    /// assert_eq!(array.read(..)?, [0, 0, 0, 0, 9]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; as [`write`](Self::write).
    pub fn write_chunk(&self, nchunk: u64, items: &[T]) -> Result<()> {
        self.chunk(nchunk)?.write(items)
    }

    fn count_of_chunks(&self) -> usize {
        usize::try_from(self.nchunks()).unwrap_or(usize::MAX)
    }

    fn chunk_in_range(&self, nchunk: usize) -> ArrayView<'_, T> {
        self.chunk(nchunk as u64)
            .expect("the number is below that of the chunks, and the shape changes with `&mut` only")
    }
}

impl<T: Element> ArrayView<'_, T> {
    /// Overwrites the items, in C order, while other threads read and write the array. See [`Array::write_shared`].
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory()?;
    /// array.view((.., 1..))?.write(&[1, 2, 3, 4])?;
    /// assert_eq!(array.read(..)?, [0, 1, 2, 0, 3, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write`].
    pub fn write(&self, items: &[T]) -> Result<()> {
        self.array().write_shared(self.ranges(), items)
    }
}
