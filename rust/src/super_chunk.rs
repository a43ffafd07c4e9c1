//! Super-chunks.

use crate::chunk::{Chunk, ChunkInfo, zeros};
use crate::error::{Error, ErrorKind, Result};
use crate::metalayers::{Metalayers, MetalayersMut};
use crate::params::Params;
use crate::prefetch::{self, Prefetch};
use blosc2_core::rust_api::params::CompressSettings;
use blosc2_core::rust_api::schunk::{self as core, FileAccess, NewStorage, SuperChunkRef};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The size and the properties of a super-chunk.
///
/// ```
/// use blosc2::{Params, SuperChunk};
///
/// let mut schunk = SuperChunk::new(&Params::new().typesize(1))?;
/// schunk.append(&[1; 1000])?;
/// schunk.append(&[2; 500])?;
/// let info = schunk.info();
/// assert_eq!((info.nchunks, info.nbytes, info.chunksize), (2, 1500, Some(1000)));
/// assert!(info.cbytes < info.nbytes);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SuperChunkInfo {
    /// Number of chunks.
    pub nchunks: u64,
    /// Length of the content in bytes.
    pub nbytes: u64,
    /// Length of the chunks in bytes.
    pub cbytes: u64,
    /// Length of the content of a chunk in bytes, and the upper limit for the last one; `None` without chunks, and for
    /// chunks of different sizes.
    pub chunksize: Option<usize>,
    /// Length of the frame in bytes: of the file, or of the index file of a directory. Without a frame, about what a
    /// frame would have.
    pub frame_len: u64,
    /// Whether the chunks are in one frame, in memory or in a file.
    pub is_contiguous: bool,
    /// Whether the chunks have blocks of variable length.
    pub has_variable_blocks: bool,
    /// Whether the frame has checksums, which are compared when it is read; not with `BLOSC2_CHECKSUMS=off`.
    pub has_checksums: bool,
    /// Compression parameters, with the number of threads that work on one call now.
    pub params: Params,
}

/// A sequence of chunks with metalayers: in memory, in a file, or in a directory.
///
/// The content is the concatenation of the contents of the chunks. All chunks have the same size, except that the last
/// one may be shorter; chunks of different sizes are possible, but have no random access by items.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("numbers.b2frame");
/// use blosc2::{Params, SuperChunk};
///
/// let mut schunk = SuperChunk::create(&path, &Params::new().typesize(4))?;
/// for n in 0..10u32 {
///     let content: Vec<u8> = (n * 1000..(n + 1) * 1000).flat_map(|n| n.to_le_bytes()).collect();
///     schunk.append(&content)?;
/// }
/// schunk.metalayers_mut()?.set_variable("source", b"a counter")?;
///
/// let schunk = SuperChunk::open(&path)?;
/// assert_eq!((schunk.nchunks(), schunk.nbytes()), (10, 40_000));
/// assert_eq!(schunk.read_items(5000..5001)?, 5000u32.to_le_bytes());
/// assert_eq!(schunk.metalayers().variable("source")?.as_deref(), Some(&b"a counter"[..]));
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct SuperChunk {
    // In an `Arc`, because a transaction refers to it while the program changes the super-chunk.
    core: Arc<core::SuperChunkHandle>,
    is_writable: bool,
}

impl std::fmt::Debug for SuperChunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuperChunk").field("info", &self.info()).finish_non_exhaustive()
    }
}

impl SuperChunk {
    /// Creates a super-chunk in memory, whose chunks are stored one by one.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// assert_eq!(schunk.append(&[7; 8000])?, 1);
    /// assert_eq!(schunk.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for parameters out of range.
    pub fn new(params: &Params) -> Result<SuperChunk> {
        SuperChunk::create_at(None, false, params)
    }

    /// Creates a super-chunk in memory, in one frame: the bytes of a file.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new_frame(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// assert!(schunk.info().is_contiguous);
    /// assert_eq!(schunk.to_frame()?.len() as u64, schunk.info().frame_len);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for parameters out of range.
    pub fn new_frame(params: &Params) -> Result<SuperChunk> {
        SuperChunk::create_at(None, true, params)
    }

    /// Opens a copy of a frame in memory.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let copy = blosc2::SuperChunk::from_frame(&schunk.to_frame()?)?;
    /// assert_eq!(copy.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged header.
    pub fn from_frame(frame: &[u8]) -> Result<SuperChunk> {
        Ok(SuperChunk::from_core(core::SuperChunkHandle::from_frame(frame)?, true))
    }

    fn create_at(path: Option<&Path>, is_contiguous: bool, params: &Params) -> Result<SuperChunk> {
        let place = NewStorage { path, is_contiguous, access: FileAccess::Plain };
        let core = core::SuperChunkHandle::create(&place, &params.settings()?, params.nthreads()?)?;
        Ok(SuperChunk::from_core(core, true))
    }

    pub(crate) fn from_core(core: core::SuperChunkHandle, is_writable: bool) -> SuperChunk {
        SuperChunk { core: Arc::new(core), is_writable }
    }

    pub(crate) fn core(&self) -> SuperChunkRef<'_> {
        core::SuperChunkHandle::as_ref(&self.core)
    }

    /// Returns the functions that change the super-chunk.
    ///
    /// # Errors
    /// `FileWrite` for a super-chunk that was opened for reading.
    pub(crate) fn core_mut(&mut self) -> Result<SuperChunkRef<'_>> {
        if !self.is_writable {
            return Err(read_only());
        }
        Ok(self.core())
    }

    /// Returns whether the super-chunk holds an array. See [`AnyArray::open`](crate::AnyArray::open).
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([3]).in_memory()?;
    /// assert!(blosc2::SuperChunk::from_frame(&array.to_frame()?)?.is_array());
    /// assert!(!blosc2::SuperChunk::new(&blosc2::Params::new())?.is_array());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn is_array(&self) -> bool {
        blosc2_core::rust_api::array::ArrayHandle::is_in(&self.core)
    }

    /// Returns the size and the properties.
    ///
    /// ```
    /// let schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(4).level(9))?;
    /// let info = schunk.info();
    /// assert_eq!((info.nchunks, info.params.get_typesize(), info.params.get_level()), (0, 4, 9));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn info(&self) -> SuperChunkInfo {
        info(self.core())
    }

    /// Returns the number of chunks.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// assert_eq!(schunk.nchunks(), 0);
    /// schunk.append(&[0; 800])?;
    /// assert_eq!(schunk.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nchunks(&self) -> u64 {
        self.core().nchunks()
    }

    /// Returns the length of the content in bytes.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[0; 800])?;
    /// schunk.append(&[1; 400])?;
    /// assert_eq!(schunk.nbytes(), 1200);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nbytes(&self) -> u64 {
        self.core().info().nbytes
    }

    /// Returns the length of the chunks in bytes.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 800])?;
    /// assert_eq!(schunk.cbytes(), schunk.chunk(0)?.as_bytes().len() as u64);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn cbytes(&self) -> u64 {
        self.core().info().cbytes
    }

    /// Returns the size of an item in bytes.
    ///
    /// ```
    /// let schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(4))?;
    /// assert_eq!(schunk.typesize(), 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn typesize(&self) -> usize {
        usize::try_from(self.core().info().settings.typesize).unwrap_or(1)
    }

    /// Returns the number of whole items.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(4))?;
    /// schunk.append(&[0; 800])?;
    /// assert_eq!(schunk.nitems(), 200);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nitems(&self) -> u64 {
        self.nbytes() / self.typesize().max(1) as u64
    }

    /// Reads the changes that other handles and processes have made to the same files. Returns whether there were any.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Params, SuperChunk};
    ///
    /// let mut writer = SuperChunk::create(&path, &Params::new())?;
    /// let reader = SuperChunk::open(&path)?;
    /// writer.append(&[7; 8000])?;
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Lock`; those of a damaged frame.
    pub fn refresh(&self) -> Result<bool> {
        Ok(self.core().refresh()?)
    }

    /// Sets the number of threads that work on one call.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.set_threads(4)?;
    /// assert_eq!(schunk.info().params.get_threads(), 4);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 or more than 32767.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        Ok(self.core().set_nthreads(crate::params::nthreads(threads)?)?)
    }

    /// Compresses `content`, and appends it as one chunk. Returns the number of chunks.
    ///
    /// ```
    /// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// assert_eq!(schunk.append(b"first chunk")?, 1);
    /// assert_eq!(schunk.append(b"last")?, 2);
    /// assert_eq!(schunk.read_items(6..15)?, b"chunklast");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ChunkAppend` if the chunk does not fit behind the others: all but the last have the same size;
    /// `MaxBufsizeExceeded` for more than 2 GiB; those of writing.
    pub fn append(&mut self, content: &[u8]) -> Result<u64> {
        Ok(self.core_mut()?.append(content)?)
    }

    /// Appends a chunk. Returns the number of chunks.
    ///
    /// ```
    /// use blosc2::{Params, SuperChunk};
    ///
    /// let params = Params::new().typesize(1);
    /// let chunk = blosc2::compress(b"a chunk", &params)?;
    /// let mut schunk = SuperChunk::new(&params)?;
    /// assert_eq!(schunk.append_chunk(&chunk)?, 1);
    /// assert_eq!(schunk.decompress_chunk(0)?, b"a chunk");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_chunk(&mut self, chunk: &Chunk<'_>) -> Result<u64> {
        Ok(self.core_mut()?.append_chunk(chunk.as_bytes())?)
    }

    /// Inserts a chunk before chunk `nchunk`. Returns the number of chunks.
    ///
    /// ```
    /// # let params = blosc2::Params::new().typesize(1);
    /// # let mut schunk = blosc2::SuperChunk::new(&params)?;
    /// schunk.append(b"one")?;
    /// schunk.append(b"two")?;
    /// schunk.insert_chunk(1, &blosc2::compress(b"new", &params)?)?;
    /// assert_eq!(schunk.read_items(0..9)?, b"onenewtwo");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ChunkInsert`, `InvalidParam` for a number out of range; those of writing.
    pub fn insert_chunk(&mut self, nchunk: u64, chunk: &Chunk<'_>) -> Result<u64> {
        Ok(self.core_mut()?.insert_chunk(nchunk, chunk.as_bytes())?)
    }

    /// Replaces chunk `nchunk`.
    ///
    /// ```
    /// # let params = blosc2::Params::new().typesize(1);
    /// # let mut schunk = blosc2::SuperChunk::new(&params)?;
    /// schunk.append(b"one")?;
    /// schunk.append(b"two")?;
    /// schunk.update_chunk(0, &blosc2::compress(b"new", &params)?)?;
    /// assert_eq!(schunk.read_items(0..6)?, b"newtwo");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ChunkUpdate`, `InvalidParam` for a number out of range; those of writing.
    pub fn update_chunk(&mut self, nchunk: u64, chunk: &Chunk<'_>) -> Result<()> {
        Ok(self.core_mut()?.update_chunk(nchunk, chunk.as_bytes())?)
    }

    /// Deletes chunk `nchunk`. Returns the number of chunks.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"one")?;
    /// schunk.append(b"two")?;
    /// assert_eq!(schunk.delete_chunk(0)?, 1);
    /// assert_eq!(schunk.decompress_chunk(0)?, b"two");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; those of writing.
    pub fn delete_chunk(&mut self, nchunk: u64) -> Result<u64> {
        Ok(self.core_mut()?.delete_chunk(nchunk)?)
    }

    /// Puts the chunks in another order: chunk `order[i]` becomes chunk `i`.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// for content in [b"a", b"b", b"c"] {
    ///     schunk.append(content)?;
    /// }
    /// schunk.reorder(&[2, 0, 1])?;
    /// assert_eq!(schunk.read_items(0..3)?, b"cab");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam`, `Data` if `order` is no permutation of all numbers; those of writing.
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        Ok(self.core_mut()?.reorder(order)?)
    }

    /// Returns a copy of chunk `nchunk`, compressed.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let chunk = schunk.chunk(0)?;
    /// assert!(chunk.as_bytes().len() < 8000);
    /// assert_eq!(chunk.decompress()?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; those of a damaged frame.
    pub fn chunk(&self, nchunk: u64) -> Result<Chunk<'static>> {
        Chunk::try_from(self.core().chunk(nchunk)?)
    }

    /// Returns the properties of chunk `nchunk`, of which only the header is read.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[0; 8000])?;
    /// let info = schunk.chunk_info(0)?;
    /// assert_eq!((info.nbytes, info.special), (8000, Some(blosc2::Special::Zeros)));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; those of a damaged frame.
    pub fn chunk_info(&self, nchunk: u64) -> Result<ChunkInfo> {
        Ok(self.core().chunk_info(nchunk)?.into())
    }

    /// Decompresses chunk `nchunk`.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"first chunk")?;
    /// assert_eq!(schunk.decompress_chunk(0)?, b"first chunk");
    /// assert!(schunk.decompress_chunk(1).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; those of a damaged chunk.
    pub fn decompress_chunk(&self, nchunk: u64) -> Result<Vec<u8>> {
        decompressed(self.core(), nchunk)
    }

    /// Decompresses chunk `nchunk` into `dest`. Returns the number of bytes.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"first chunk")?;
    /// let mut dest = [0; 100];
    /// let len = schunk.decompress_chunk_into(0, &mut dest)?;
    /// assert_eq!(&dest[..len], b"first chunk");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`decompress_chunk`](Self::decompress_chunk); `WriteBuffer`, `InvalidParam` for a `dest` that is too short.
    pub fn decompress_chunk_into(&self, nchunk: u64, dest: &mut [u8]) -> Result<usize> {
        Ok(self.core().decompress_chunk(nchunk, dest)?)
    }

    /// Returns the chunks in order, compressed.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[1; 8000])?;
    /// schunk.append(&[2; 4000])?;
    /// let sizes = schunk.chunks().map(|chunk| Ok(chunk?.info().nbytes));
    /// assert_eq!(sizes.collect::<blosc2::Result<Vec<_>>>()?, [8000, 4000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = Result<Chunk<'static>>> + DoubleEndedIterator + '_ {
        (0..usize::try_from(self.nchunks()).unwrap_or(usize::MAX)).map(|n| self.chunk(n as u64))
    }

    /// Returns the contents of the chunks in order.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"first")?;
    /// schunk.append(b"last")?;
    /// let contents = schunk.contents().collect::<blosc2::Result<Vec<_>>>()?;
    /// assert_eq!(contents, [&b"first"[..], b"last"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn contents(&self) -> impl ExactSizeIterator<Item = Result<Vec<u8>>> + DoubleEndedIterator + '_ {
        (0..usize::try_from(self.nchunks()).unwrap_or(usize::MAX)).map(|n| self.decompress_chunk(n as u64))
    }

    /// Returns the contents of the chunks in order. `threads` threads decompress them ahead of the caller, up to two chunks
    /// each.
    ///
    /// ```
    /// use blosc2::{Params, SuperChunk};
    ///
    /// let mut schunk = SuperChunk::new(&Params::new())?;
    /// for n in 0..10 {
    ///     schunk.append(&[n; 8000])?;
    /// }
    /// for (n, content) in schunk.prefetch_contents(2)?.enumerate() {
    ///     assert_eq!(content?, [n as u8; 8000]);
    /// }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 threads; `ThreadCreate`.
    pub fn prefetch_contents(&self, threads: usize) -> Result<Prefetch<'_, Vec<u8>>> {
        let core = self.core.clone();
        prefetch::start(threads, self.nchunks(), move |n| {
            decompressed(core::SuperChunkHandle::as_ref(&core), n)
        })
    }

    /// Returns the contents of the chunks, for the threads of `rayon`.
    ///
    /// ```
    /// use blosc2::{Params, SuperChunk};
    /// use rayon::prelude::*;
    ///
    /// let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.append(&[1; 8000])?;
    /// schunk.append(&[2; 8000])?;
    /// let sums = schunk.par_contents().map(|content| Ok(content?.iter().map(|&n| u64::from(n)).sum()));
    /// assert_eq!(sums.collect::<blosc2::Result<Vec<u64>>>()?, [8000, 16_000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn par_contents(&self) -> impl rayon::iter::IndexedParallelIterator<Item = Result<Vec<u8>>> + '_ {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let nchunks = usize::try_from(self.nchunks()).unwrap_or(usize::MAX);
        (0..nchunks).into_par_iter().map(|n| self.decompress_chunk(n as u64))
    }

    /// Returns the bytes of a range of items.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(2))?;
    /// schunk.append(b"a0b1c2d3")?;
    /// schunk.append(b"e4f5")?;
    /// assert_eq!(schunk.read_items(2..5)?, b"c2d3e4");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for items outside the content, or chunks of different sizes; those of damaged chunks.
    pub fn read_items(&self, items: Range<u64>) -> Result<Vec<u8>> {
        let count = usize::try_from(items.end.saturating_sub(items.start)).unwrap_or(usize::MAX);
        if items.start > items.end || items.end > self.nitems() {
            return Err(Error::param(format!("items {items:?} of {}", self.nitems())));
        }
        let mut dest = zeros(count.saturating_mul(self.typesize()))?;
        self.core().read_items(items.start, items.end, &mut dest)?;
        Ok(dest)
    }

    /// Reads as many items from `start` on as `dest` holds; its length is a multiple of the item size.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(2))?;
    /// schunk.append(b"a0b1c2d3")?;
    /// let mut items = [0; 4];
    /// schunk.read_items_into(1, &mut items)?;
    /// assert_eq!(&items, b"b1c2");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_items`](Self::read_items).
    pub fn read_items_into(&self, start: u64, dest: &mut [u8]) -> Result<()> {
        let stop = self.end_of_items(start, dest.len())?;
        Ok(self.core().read_items(start, stop, dest)?)
    }

    /// Overwrites the items from `start` on by those with the bytes `content`, which are whole items.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(2))?;
    /// schunk.append(b"a0b1c2d3")?;
    /// schunk.write_items(1, b"x8y9")?;
    /// assert_eq!(schunk.decompress_chunk(0)?, b"a0x8y9d3");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_items`](Self::read_items); those of writing.
    pub fn write_items(&mut self, start: u64, content: &[u8]) -> Result<()> {
        let stop = self.end_of_items(start, content.len())?;
        Ok(self.core_mut()?.write_items(start, stop, content)?)
    }

    fn end_of_items(&self, start: u64, len: usize) -> Result<u64> {
        let typesize = self.typesize();
        if !len.is_multiple_of(typesize) {
            return Err(Error::param(format!("{len} bytes, expected whole items of {typesize} bytes")));
        }
        Ok(start.saturating_add((len / typesize) as u64))
    }

    /// Returns the bytes of single items, given by their numbers in any order.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(2))?;
    /// schunk.append(b"a0b1c2d3")?;
    /// assert_eq!(schunk.gather(&[3, 0, 3])?, b"d3a0d3");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_items`](Self::read_items).
    pub fn gather(&self, items: &[u64]) -> Result<Vec<u8>> {
        let mut dest = zeros(items.len().saturating_mul(self.typesize()))?;
        self.core().read_sparse(items, &mut dest)?;
        Ok(dest)
    }

    /// Returns the metalayers.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_variable("source", b"a counter")?;
    /// assert_eq!(schunk.metalayers().variable_names(), ["source"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn metalayers(&self) -> Metalayers<'_> {
        Metalayers::new(self.core())
    }

    /// Returns the metalayers for changes.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1])?;
    /// assert_eq!(schunk.metalayers().fixed("version")?, Some(vec![1]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileWrite` for a super-chunk that was opened for reading.
    pub fn metalayers_mut(&mut self) -> Result<MetalayersMut<'_>> {
        Ok(MetalayersMut::new(self.core_mut()?))
    }

    /// Returns the bytes of a file with this super-chunk.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// std::fs::write(&path, schunk.to_frame()?)?;
    /// assert_eq!(blosc2::SuperChunk::open(&path)?.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `SchunkCopy`, `MemoryAlloc`.
    pub fn to_frame(&self) -> Result<Vec<u8>> {
        Ok(self.core().to_frame()?)
    }

    /// Copies the super-chunk with its metalayers to the new file `path`, with other parameters if `params` are given;
    /// the chunks are compressed again then. The size of items stays.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Codec, Params, SuperChunk};
    ///
    /// let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let copy = schunk.copy_to(&path, Some(&Params::new().codec(Codec::Zstd)))?;
    /// assert_eq!(copy.info().params.get_codec(), Codec::Zstd);
    /// assert_eq!(copy.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if the file exists; those of reading and writing. The file does not exist then.
    pub fn copy_to(&self, path: impl AsRef<Path>, params: Option<&Params>) -> Result<SuperChunk> {
        let place = NewStorage { path: Some(path.as_ref()), is_contiguous: true, access: FileAccess::Plain };
        let settings =
            params.map(|params| params.clone().typesize(self.typesize()).settings()).transpose()?;
        let core = self.core.copy(&place, settings.as_ref())?;
        Ok(SuperChunk::from_core(core, true))
    }

    /// Appends the super-chunk, as one frame, to a file. Returns its offset in bytes, for
    /// [`OpenOptions::offset`](crate::OpenOptions::offset).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("frames");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// std::fs::write(&path, b"other data")?;
    /// let offset = SuperChunk::new(&Params::new().level(9))?.append_to_file(&path)?;
    /// let schunk = OpenOptions::new().offset(offset).open(&path)?;
    /// assert_eq!((offset, schunk.info().params.get_level()), (10, 9));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`, `SchunkCopy`.
    pub fn append_to_file(&self, path: impl AsRef<Path>) -> Result<u64> {
        Ok(self.core().append_to_file(path.as_ref())?)
    }

    /// Makes several changes as one. If `changes` returns an error or panics, none of them is there. At a
    /// [durability](crate::Durability) above `Off`, all of them or none are in the file if the process dies. With
    /// [locking](crate::OpenOptions::locking), other processes wait meanwhile.
    ///
    /// At the durability `Off`, changes in a file are reverted unless another process has changed the file meanwhile. A
    /// super-chunk in memory is copied before the changes.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("pairs.b2frame");
    /// # let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new())?;
    /// schunk.transaction(|schunk| {
    ///     schunk.append(&[0; 800])?;
    ///     schunk.append(&[1; 800])
    /// })?;
    /// # assert_eq!(schunk.nchunks(), 2);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `changes`; `Lock`; those of writing.
    pub fn transaction<R>(&mut self, changes: impl FnOnce(&mut SuperChunk) -> Result<R>) -> Result<R> {
        let core = self.core.clone();
        self.core_mut()?.lock()?;
        let bracket = Bracket(core::SuperChunkHandle::as_ref(&core));
        let result = match bracket.0.has_transactions() {
            true => bracket.0.transaction(|| changes(self)),
            false => self.change_after_copying(changes),
        };
        let end = bracket.end();
        let result = result?;
        end?;
        Ok(result)
    }

    /// Makes changes of a super-chunk in memory, which is that from before if they fail.
    fn change_after_copying<R>(&mut self, changes: impl FnOnce(&mut SuperChunk) -> Result<R>) -> Result<R> {
        let is_contiguous = self.info().is_contiguous;
        let place = NewStorage { path: None, is_contiguous, access: FileAccess::Plain };
        let mut copy = CopyBefore { before: Some(self.core.copy(&place, None)?), schunk: self };
        let result = changes(copy.schunk)?;
        copy.before = None;
        Ok(result)
    }

    /// Waits until all changes survive a loss of power.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// schunk.sync()?;
    /// assert_eq!(blosc2::SuperChunk::open(&path)?.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; `InvalidParam` for a mapped file.
    pub fn sync(&self) -> Result<()> {
        Ok(self.core().sync()?)
    }
}

/// A transaction that is open; it is closed on drop, also if the changes panic.
pub(crate) struct Bracket<'a>(pub(crate) SuperChunkRef<'a>);

impl Bracket<'_> {
    pub(crate) fn end(self) -> Result<()> {
        let ended = self.0.unlock();
        std::mem::forget(self);
        Ok(ended?)
    }
}

impl Drop for Bracket<'_> {
    fn drop(&mut self) {
        // The error that ends the transaction is returned already, or a panic passes.
        let _ = self.0.unlock();
    }
}

/// A copy of a super-chunk in memory, which replaces the changed one on drop.
struct CopyBefore<'a> {
    schunk: &'a mut SuperChunk,
    before: Option<core::SuperChunkHandle>,
}

impl Drop for CopyBefore<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.schunk.core = Arc::new(before);
        }
    }
}

fn decompressed(core: SuperChunkRef<'_>, nchunk: u64) -> Result<Vec<u8>> {
    let _fetched = core.fetch_chunk(nchunk)?;
    let mut content = zeros(core.chunk_info(nchunk)?.nbytes)?;
    let len = core.decompress_chunk(nchunk, &mut content)?;
    content.truncate(len);
    Ok(content)
}

pub(crate) fn info(core: SuperChunkRef<'_>) -> SuperChunkInfo {
    let info = core.info();
    SuperChunkInfo {
        nchunks: info.nchunks,
        nbytes: info.nbytes,
        cbytes: info.cbytes,
        chunksize: info.chunksize,
        frame_len: info.frame_len,
        is_contiguous: info.is_contiguous,
        has_variable_blocks: info.has_variable_blocks,
        has_checksums: info.has_checksums,
        params: Params::from_settings(&CompressSettings { nthreads: core.nthreads(), ..info.settings }),
    }
}

/// Returns the error of a change of something that was opened for reading.
pub(crate) fn read_only() -> Error {
    Error::new(ErrorKind::FileWrite, "opened for reading, expected `OpenOptions::write(true)`".to_owned())
}
