//! Single chunks.

use crate::error::{Error, ErrorKind, Result};
use crate::params::{self, Codec, Filter, Params};
use blosc2_core::rust_api::chunk::{self as core, Compressor, Decompressor, MAX_OVERHEAD};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The kind of a chunk without streams, in [`ChunkInfo::special`].
///
/// ```
/// use blosc2::{Chunk, Params, Special};
///
/// let chunk = Chunk::repeated(&[1, 2], 10_000, &Params::new().typesize(2))?;
/// assert_eq!(chunk.info().special, Some(Special::Value));
/// assert_eq!(blosc2::compress(b"content", &Params::new().typesize(1))?.info().special, None);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub use blosc2_core::rust_api::chunk::Special;

/// See [`Encoder::with_prefilter`] and [`Decoder::with_postfilter`].
///
/// ```
/// use blosc2::{BlockPosition, Encoder, Params};
///
/// // Each item is its number, whatever the content is.
/// let number = |block: BlockPosition, _: &[u8], output: &mut [u8]| {
///     let items = output.chunks_exact_mut(8).zip(block.offset as u64 / 8..);
///     items.for_each(|(item, number)| item.copy_from_slice(&number.to_le_bytes()));
///     true
/// };
/// let chunk = Encoder::with_prefilter(&Params::new(), number)?.compress(&[0; 800_000])?;
/// assert_eq!(chunk.read_items(70_000..70_001)?, 70_000u64.to_le_bytes());
/// # Ok::<(), blosc2::Error>(())
/// ```
pub use blosc2_core::rust_api::block_functions::BlockPosition;

/// The properties of a chunk, from its header.
///
/// ```
/// use blosc2::{Codec, Filter, Params};
///
/// let content: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = blosc2::compress(&content, &Params::new().codec(Codec::Zstd).typesize(4))?;
/// let info = chunk.info();
/// assert_eq!((info.nbytes, info.cbytes, info.typesize), (40_000, chunk.as_bytes().len(), 4));
/// assert_eq!((info.codec, &info.filters[..], info.special), (Codec::Zstd, &[Filter::Shuffle][..], None));
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// Length of the content in bytes.
    pub nbytes: usize,
    /// Length of the chunk in bytes.
    pub cbytes: usize,
    /// Length of a block in bytes; of variable-length blocks, their number.
    pub blocksize: usize,
    /// Size of an item in bytes.
    pub typesize: usize,
    /// The codec. A chunk of LZ4HC has LZ4.
    pub codec: Codec,
    /// The filters, in the order in which they were applied.
    pub filters: Vec<Filter>,
    /// The content of a chunk without streams; `None` for other chunks.
    pub special: Option<Special>,
    /// Whether the content is stored without compression.
    pub is_stored: bool,
    /// Whether the chunk has a dictionary.
    pub has_dictionary: bool,
    /// Whether the blocks have variable lengths.
    pub has_variable_blocks: bool,
}

impl From<core::ChunkFields> for ChunkInfo {
    fn from(info: core::ChunkFields) -> ChunkInfo {
        ChunkInfo {
            nbytes: info.nbytes,
            cbytes: info.cbytes,
            blocksize: info.blocksize,
            typesize: info.typesize,
            codec: Codec::from_id(info.compcode),
            filters: params::filters(&info.filters, &info.filters_meta),
            special: info.special,
            is_stored: info.is_stored,
            has_dictionary: info.has_dictionary,
            has_variable_blocks: info.has_variable_blocks,
        }
    }
}

impl ChunkInfo {
    /// Reads the header of a chunk: the first 32 bytes, or all of a shorter chunk. The rest need not be there.
    ///
    /// ```
    /// let chunk = blosc2::compress(&[7; 10_000], &blosc2::Params::new())?;
    /// let info = blosc2::ChunkInfo::from_header(&chunk.as_bytes()[..32])?;
    /// assert_eq!(info.cbytes, chunk.as_bytes().len());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ReadBuffer`, `InvalidHeader`, `VersionSupport`.
    pub fn from_header(bytes: &[u8]) -> Result<ChunkInfo> {
        Ok(core::ChunkFields::parse(bytes)?.into())
    }
}

/// A chunk: up to 2 GiB of content, compressed, with a header of 16 or 32 bytes. Borrowed or owned.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("numbers.chunk");
/// use blosc2::{Chunk, Params};
///
/// let content: Vec<u8> = (0..100_000u32).flat_map(|n| n.to_le_bytes()).collect();
/// let chunk = blosc2::compress(&content, &Params::new().typesize(4))?;
/// std::fs::write(&path, &chunk)?;
///
/// let bytes = std::fs::read(&path)?;
/// let chunk = Chunk::from_bytes(&bytes)?;
/// assert_eq!((chunk.info().nbytes, chunk.info().typesize), (400_000, 4));
/// assert_eq!(chunk.decompress()?, content);
/// assert_eq!(chunk.read_items(1000..1002)?, content[4000..4008]);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk<'a> {
    bytes: Cow<'a, [u8]>,
    info: ChunkInfo,
}

impl<'a> Chunk<'a> {
    /// Borrows a chunk. Bytes behind it are left out.
    ///
    /// ```
    /// let mut bytes = blosc2::compress(&[7; 10_000], &blosc2::Params::new())?.into_bytes();
    /// let len = bytes.len();
    /// bytes.extend(b"other data");
    /// assert_eq!(blosc2::Chunk::from_bytes(&bytes)?.as_bytes(), &bytes[..len]);
    /// assert!(blosc2::Chunk::from_bytes(&bytes[..len - 1]).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ReadBuffer` if the chunk is longer than `bytes`; `InvalidHeader`, `VersionSupport`.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Chunk<'a>> {
        Chunk::new(Cow::Borrowed(bytes))
    }

    fn new(bytes: Cow<'a, [u8]>) -> Result<Chunk<'a>> {
        let info = ChunkInfo::from(core::ChunkFields::parse_whole(&bytes)?);
        if bytes.len() < info.cbytes {
            let (len, cbytes) = (bytes.len(), info.cbytes);
            return Err(Error::new(
                ErrorKind::ReadBuffer,
                format!("the chunk has {len} bytes, expected {cbytes}"),
            ));
        }
        let bytes = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..info.cbytes]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(info.cbytes);
                Cow::Owned(bytes)
            }
        };
        Ok(Chunk { bytes, info })
    }

    /// Returns a chunk of `nbytes` zeros, which has 32 bytes.
    ///
    /// ```
    /// use blosc2::{Chunk, Params};
    ///
    /// let zeros = Chunk::zeros(1 << 30, &Params::new())?;
    /// assert_eq!((zeros.as_bytes().len(), zeros.info().nbytes), (32, 1 << 30));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a length that is no multiple of the item size, and parameters out of range;
    /// `MaxBufsizeExceeded`.
    pub fn zeros(nbytes: usize, params: &Params) -> Result<Chunk<'static>> {
        Chunk::special(Special::Zeros, nbytes, &[], params)
    }

    /// Returns a chunk of `nbytes` bytes of NaNs, of items of 4 or 8 bytes.
    ///
    /// ```
    /// use blosc2::{Chunk, Params};
    ///
    /// let nans = Chunk::nans(8000, &Params::new().typesize(8))?;
    /// assert!(nans.decompress()?.as_chunks::<8>().0.iter().all(|&item| f64::from_ne_bytes(item).is_nan()));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros); `InvalidParam` for items of another size.
    pub fn nans(nbytes: usize, params: &Params) -> Result<Chunk<'static>> {
        if !matches!(params.get_typesize(), 4 | 8) {
            return Err(Error::param(format!("NaNs of {} bytes, expected 4 or 8", params.get_typesize())));
        }
        Chunk::special(Special::Nans, nbytes, &[], params)
    }

    /// Returns a chunk of `nbytes` bytes, in which the item `value` is repeated.
    ///
    /// ```
    /// use blosc2::{Chunk, Params};
    ///
    /// let chunk = Chunk::repeated(&[1, 2], 10_000, &Params::new().typesize(2))?;
    /// assert_eq!(chunk.decompress()?, [1, 2].repeat(5000));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros); `InvalidParam` for a value that is not as long as an item.
    pub fn repeated(value: &[u8], nbytes: usize, params: &Params) -> Result<Chunk<'static>> {
        if value.len() != params.get_typesize() {
            let typesize = params.get_typesize();
            return Err(Error::param(format!("a value of {} bytes, expected {typesize}", value.len())));
        }
        Chunk::special(Special::Value, nbytes, value, params)
    }

    fn special(special: Special, nbytes: usize, value: &[u8], params: &Params) -> Result<Chunk<'static>> {
        if !nbytes.is_multiple_of(params.get_typesize().max(1)) {
            let typesize = params.get_typesize();
            return Err(Error::param(format!("{nbytes} bytes, expected whole items of {typesize} bytes")));
        }
        Chunk::try_from(Compressor::new(&params.settings()?, None)?.special(special, nbytes, value)?)
    }

    /// Returns the bytes of the chunk, with its header.
    ///
    /// ```
    /// let chunk = blosc2::compress(&[7; 10_000], &blosc2::Params::new())?;
    /// assert_eq!(blosc2::decompress(chunk.as_bytes())?, [7; 10_000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the properties in the header.
    ///
    /// ```
    /// let chunk = blosc2::compress(&[7; 10_000], &blosc2::Params::new())?;
    /// assert_eq!((chunk.info().nbytes, chunk.info().typesize), (10_000, 8));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn info(&self) -> &ChunkInfo {
        &self.info
    }

    /// Returns the chunk with bytes of its own; copies them if they are borrowed.
    ///
    /// ```
    /// use blosc2::{Chunk, Result};
    ///
    /// fn read(path: &std::path::Path) -> Result<Chunk<'static>> {
    ///     Ok(Chunk::from_bytes(&std::fs::read(path)?)?.into_owned())
    /// }
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.chunk");
    /// # std::fs::write(&path, blosc2::compress(&[7; 10_000], &blosc2::Params::new())?)?;
    /// assert_eq!(read(&path)?.decompress()?, [7; 10_000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_owned(self) -> Chunk<'static> {
        Chunk { bytes: Cow::Owned(self.bytes.into_owned()), info: self.info }
    }

    /// Returns the bytes of the chunk, with its header; copies them if they are borrowed.
    ///
    /// ```
    /// let bytes = blosc2::compress(&[7; 10_000], &blosc2::Params::new())?.into_bytes();
    /// assert_eq!(blosc2::decompress(&bytes)?, [7; 10_000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_owned()
    }

    /// Decompresses the chunk, with one thread.
    ///
    /// ```
    /// let chunk = blosc2::compress(b"some content", &blosc2::Params::new().typesize(1))?;
    /// assert_eq!(chunk.decompress()?, b"some content");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged chunk; `MemoryAlloc`.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        Decoder::new()?.decompress(self)
    }

    /// Returns the bytes of a range of items; decompresses only the blocks that contain them.
    ///
    /// ```
    /// let chunk = blosc2::compress(b"a0b1c2d3", &blosc2::Params::new().typesize(2))?;
    /// assert_eq!(chunk.read_items(1..3)?, b"b1c2");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for items outside the chunk; those of a damaged chunk.
    pub fn read_items(&self, items: Range<usize>) -> Result<Vec<u8>> {
        Decoder::new()?.read_items(self, items)
    }
}

impl TryFrom<Vec<u8>> for Chunk<'static> {
    type Error = Error;

    /// Takes over the bytes of a chunk, as [`Chunk::from_bytes`].
    fn try_from(bytes: Vec<u8>) -> Result<Chunk<'static>> {
        Chunk::new(Cow::Owned(bytes))
    }
}

impl AsRef<[u8]> for Chunk<'_> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Compresses `content`, up to 2 GiB, into a chunk.
///
/// ```
/// let chunk = blosc2::compress(b"Hello, hello, hello, hello, hello!", &blosc2::Params::new().typesize(1))?;
/// assert_eq!(blosc2::decompress(chunk.as_bytes())?, b"Hello, hello, hello, hello, hello!");
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// As [`Encoder::new`] and [`Encoder::compress`].
pub fn compress(content: &[u8], params: &Params) -> Result<Chunk<'static>> {
    Encoder::new(params)?.compress(content)
}

/// Compresses `content`, less than 2 GiB, into a chunk that programs of Blosc 1 read: with one of its codecs, and one shuffle,
/// bitshuffle, or no filter. Items of more than 255 bytes count as bytes. [`Params::auto`] has no effect.
///
/// ```
/// use blosc2::{Chunk, Codec, Params};
///
/// let chunk = blosc2::compress_for_blosc1(&[1; 10_000], &Params::new().codec(Codec::Lz4))?;
/// assert_eq!(chunk.as_bytes()[0], 2, "the format version of Blosc 1");
/// assert_eq!(Chunk::from_bytes(chunk.as_bytes())?.decompress()?, [1; 10_000]);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `InvalidParam` for parameters out of range, `CodecSupport`, `FilterPipeline` for those that Blosc 1 lacks;
/// `MaxBufsizeExceeded`, `MemoryAlloc`.
pub fn compress_for_blosc1(content: &[u8], params: &Params) -> Result<Chunk<'static>> {
    Chunk::try_from(core::compress_for_blosc1(&params.settings()?, content)?)
}

/// Decompresses a chunk, with one thread.
///
/// ```
/// let chunk = blosc2::compress(b"some content", &blosc2::Params::new().typesize(1))?;
/// assert_eq!(blosc2::decompress(chunk.as_bytes())?, b"some content");
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// Those of a damaged chunk; `MemoryAlloc`.
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>> {
    Chunk::from_bytes(chunk)?.decompress()
}

/// Compresses buffers into chunks.
///
/// ```
/// use blosc2::{Codec, Encoder, Params};
///
/// let mut encoder = Encoder::new(&Params::new().codec(Codec::Lz4).typesize(2).threads(2))?;
/// let chunks: Vec<_> = (0..3).map(|n| encoder.compress(&vec![n; 100_000])).collect::<Result<_, _>>()?;
/// assert!(chunks.iter().all(|chunk| chunk.info().nbytes == 100_000));
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct Encoder(Compressor);

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// Returns an encoder.
    ///
    /// ```
    /// let mut encoder = blosc2::Encoder::new(&blosc2::Params::new().level(9))?;
    /// assert_eq!(encoder.compress(&[7; 8000])?.decompress()?, [7; 8000]);
    /// assert!(blosc2::Encoder::new(&blosc2::Params::new().level(10)).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a parameter out of range or a filter that does not exist.
    pub fn new(params: &Params) -> Result<Encoder> {
        Ok(Encoder(Compressor::new(&params.settings()?, None)?))
    }

    /// Returns an encoder that compresses other blocks than those of the content: `prefilter` reads the block that is its
    /// second argument, and writes the third, which has the same length and is zero before. It returns `false` to make the
    /// compression fail. Threads call it at the same time, in any order, and perhaps more than once for a block.
    ///
    /// ```
    /// use blosc2::{BlockPosition, Decoder, Encoder, Params, SuperChunk};
    ///
    /// // Chunks of differences from a signal that the program can calculate.
    /// let signal = |place: usize| (place / 100 % 251) as u8;
    /// let subtract = move |block: BlockPosition, input: &[u8], output: &mut [u8]| {
    ///     let places = block.offset..;
    ///     output.iter_mut().zip(input).zip(places).for_each(|((to, from), at)| *to = from.wrapping_sub(signal(at)));
    ///     true
    /// };
    /// let add = move |block: BlockPosition, input: &[u8], output: &mut [u8]| {
    ///     let places = block.offset..;
    ///     output.iter_mut().zip(input).zip(places).for_each(|((to, from), at)| *to = from.wrapping_add(signal(at)));
    ///     true
    /// };
    ///
    /// let params = Params::new().typesize(1).threads(2);
    /// let content: Vec<u8> = (0..1_000_000).map(|at| signal(at) + u8::from(at % 1000 == 0)).collect();
    /// let mut schunk = SuperChunk::new(&params)?;
    /// schunk.append_chunk(&Encoder::with_prefilter(&params, subtract)?.compress(&content)?)?;
    ///
    /// // Other readers get the differences.
    /// assert_eq!(schunk.read_items(0..3)?, [1, 0, 0]);
    /// assert!(Decoder::with_postfilter(2, add)?.decompress(&schunk.chunk(0)?)? == content);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new). [`compress`](Self::compress) returns `FilterPipeline` if `prefilter` returns `false` or
    /// panics; [`compress_blocks`](Self::compress_blocks) `InvalidParam`.
    pub fn with_prefilter(
        params: &Params,
        prefilter: impl Fn(BlockPosition, &[u8], &mut [u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Encoder> {
        Ok(Encoder(Compressor::new(&params.settings()?, Some(Box::new(prefilter)))?))
    }

    /// Compresses `content`.
    ///
    /// ```
    /// let mut encoder = blosc2::Encoder::new(&blosc2::Params::new())?;
    /// let chunk = encoder.compress(&[7; 8000])?;
    /// assert!(chunk.as_bytes().len() < 200);
    /// assert_eq!(chunk.decompress()?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `MaxBufsizeExceeded` for more than 2 GiB; `CodecSupport`, `CodecParam`, `FilterPipeline`, `MemoryAlloc`.
    pub fn compress(&mut self, content: &[u8]) -> Result<Chunk<'static>> {
        let mut bytes = zeros(content.len() + MAX_OVERHEAD)?;
        let len = self.0.compress(content, &mut bytes)?;
        bytes.truncate(len);
        bytes.shrink_to_fit();
        Chunk::try_from(bytes)
    }

    /// Compresses blocks of different lengths, of which none is empty, into one chunk. Each of them is decompressed alone.
    ///
    /// ```
    /// use blosc2::{Decoder, Encoder, Params};
    ///
    /// let words: [&[u8]; 3] = [b"blocks", b"of", b"different lengths"];
    /// let chunk = Encoder::new(&Params::new().typesize(1))?.compress_blocks(&words)?;
    /// assert!(chunk.info().has_variable_blocks);
    /// assert_eq!(Decoder::new()?.decompress_block(&chunk, 2)?, words[2]);
    /// assert_eq!(Decoder::new()?.decompress_blocks(&chunk)?, words);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for no blocks, and an empty one; as [`compress`](Self::compress).
    pub fn compress_blocks(&mut self, blocks: &[&[u8]]) -> Result<Chunk<'static>> {
        Chunk::try_from(self.0.compress_varlen(blocks)?)
    }

    /// Compresses `content` into `dest`. Returns the length of the chunk in bytes; `None` if it does not fit. The
    /// length of the content and 32 bytes are always enough.
    ///
    /// ```
    /// let mut encoder = blosc2::Encoder::new(&blosc2::Params::new())?;
    /// let mut dest = [0; 8032];
    /// let len = encoder.compress_into(&[7; 8000], &mut dest)?.expect("32 bytes more than the content");
    /// assert_eq!(blosc2::decompress(&dest[..len])?, [7; 8000]);
    /// assert_eq!(encoder.compress_into(&[7; 8000], &mut [0; 40])?, None);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`compress`](Self::compress).
    pub fn compress_into(&mut self, content: &[u8], dest: &mut [u8]) -> Result<Option<usize>> {
        if dest.len() < MAX_OVERHEAD {
            return Ok(None);
        }
        Ok(Some(self.0.compress(content, dest)?).filter(|&len| len > 0))
    }
}

/// Decompresses chunks.
///
/// ```
/// use blosc2::{Decoder, Params};
///
/// let chunk = blosc2::compress(&[7; 10_000], &Params::new())?;
/// let mut content = vec![0; 10_000];
/// assert_eq!(Decoder::new()?.decompress_into(&chunk, &mut content)?, 10_000);
/// assert_eq!(content, [7; 10_000]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct Decoder(Decompressor);

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// Returns a decoder with one thread.
    ///
    /// ```
    /// let chunk = blosc2::compress(&[7; 8000], &blosc2::Params::new())?;
    /// assert_eq!(blosc2::Decoder::new()?.decompress(&chunk)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub fn new() -> Result<Decoder> {
        Decoder::with_threads(1)
    }

    /// Returns a decoder with up to `threads` threads.
    ///
    /// ```
    /// let chunk = blosc2::compress(&[7; 8000], &blosc2::Params::new())?;
    /// assert_eq!(blosc2::Decoder::with_threads(2)?.decompress(&chunk)?, [7; 8000]);
    /// assert!(blosc2::Decoder::with_threads(0).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 or more than 32767; `MemoryAlloc`.
    pub fn with_threads(threads: usize) -> Result<Decoder> {
        Ok(Decoder(Decompressor::new(params::nthreads(threads)?, None)?))
    }

    /// Returns a decoder with up to `threads` threads that replaces the blocks of chunks: `postfilter` reads the
    /// decompressed block that is its second argument, and writes the third, which has the same length and unspecified
    /// content before. It returns `false` to make the decompression fail. Threads call it at the same time, in any order. See
    /// [`Encoder::with_prefilter`].
    ///
    /// ```
    /// use blosc2::{BlockPosition, Decoder, Params};
    ///
    /// let chunk = blosc2::compress(b"a text, ".repeat(1000).as_slice(), &Params::new())?;
    /// let upper = |_: BlockPosition, input: &[u8], output: &mut [u8]| {
    ///     output.copy_from_slice(&input.to_ascii_uppercase());
    ///     true
    /// };
    /// assert_eq!(Decoder::with_postfilter(1, upper)?.read_items(&chunk, 2..3)?, b"A TEXT, ");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`with_threads`](Self::with_threads). Functions that decompress return `Postfilter` if `postfilter` returns `false`
    /// or panics, and `InvalidParam` for chunks with blocks of different lengths.
    pub fn with_postfilter(
        threads: usize,
        postfilter: impl Fn(BlockPosition, &[u8], &mut [u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Decoder> {
        Ok(Decoder(Decompressor::new(params::nthreads(threads)?, Some(Box::new(postfilter)))?))
    }

    /// Decompresses a chunk.
    ///
    /// ```
    /// let mut decoder = blosc2::Decoder::new()?;
    /// for n in 0..3 {
    ///     let chunk = blosc2::compress(&[n; 8000], &blosc2::Params::new())?;
    ///     assert_eq!(decoder.decompress(&chunk)?, [n; 8000]);
    /// }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged chunk; `MemoryAlloc`.
    pub fn decompress(&mut self, chunk: &Chunk<'_>) -> Result<Vec<u8>> {
        let mut content = zeros(chunk.info().nbytes)?;
        self.decompress_into(chunk, &mut content)?;
        Ok(content)
    }

    /// Decompresses a chunk into `dest`. Returns the number of bytes.
    ///
    /// ```
    /// let chunk = blosc2::compress(b"some content", &blosc2::Params::new().typesize(1))?;
    /// let mut dest = [0; 100];
    /// let len = blosc2::Decoder::new()?.decompress_into(&chunk, &mut dest)?;
    /// assert_eq!(&dest[..len], b"some content");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `WriteBuffer` if the content does not fit; those of a damaged chunk. The content of `dest` is unspecified then.
    pub fn decompress_into(&mut self, chunk: &Chunk<'_>, dest: &mut [u8]) -> Result<usize> {
        Ok(self.0.decompress(chunk.as_bytes(), dest)?)
    }

    /// Decompresses the blocks of a chunk with blocks of different lengths. See [`Encoder::compress_blocks`].
    ///
    /// ```
    /// let mut encoder = blosc2::Encoder::new(&blosc2::Params::new().typesize(1))?;
    /// let chunk = encoder.compress_blocks(&[b"one", b"block"])?;
    /// assert_eq!(blosc2::Decoder::new()?.decompress_blocks(&chunk)?, [&b"one"[..], b"block"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a chunk of equal blocks; those of a damaged chunk.
    pub fn decompress_blocks(&mut self, chunk: &Chunk<'_>) -> Result<Vec<Vec<u8>>> {
        Ok(self.0.decompress_varlen(chunk.as_bytes())?)
    }

    /// Decompresses one block of a chunk with blocks of different lengths. See [`Encoder::compress_blocks`].
    ///
    /// ```
    /// let mut encoder = blosc2::Encoder::new(&blosc2::Params::new().typesize(1))?;
    /// let chunk = encoder.compress_blocks(&[b"one", b"block"])?;
    /// assert_eq!(blosc2::Decoder::new()?.decompress_block(&chunk, 1)?, b"block");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`decompress_blocks`](Self::decompress_blocks); `InvalidParam` for a number out of range.
    pub fn decompress_block(&mut self, chunk: &Chunk<'_>, nblock: usize) -> Result<Vec<u8>> {
        Ok(self.0.decompress_varlen_block(chunk.as_bytes(), nblock)?)
    }

    /// Returns the bytes of a range of items; decompresses only the blocks that contain them.
    ///
    /// ```
    /// let chunk = blosc2::compress(b"a0b1c2d3", &blosc2::Params::new().typesize(2))?;
    /// assert_eq!(blosc2::Decoder::new()?.read_items(&chunk, 1..3)?, b"b1c2");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for items outside the chunk; those of a damaged chunk.
    pub fn read_items(&mut self, chunk: &Chunk<'_>, items: Range<usize>) -> Result<Vec<u8>> {
        let info = chunk.info();
        let count = info.nbytes / info.typesize.max(1);
        if items.start > items.end || items.end > count {
            return Err(Error::param(format!("items {items:?} of {count}")));
        }
        let mut content = zeros(items.len() * info.typesize)?;
        if !items.is_empty() {
            let (start, nitems) = (items.start as i32, items.len() as i32);
            self.0.read_items(chunk.as_bytes(), start, nitems, &mut content)?;
        }
        Ok(content)
    }
}

/// Returns `len` zeros.
///
/// # Errors
/// `MemoryAlloc`.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    resize(&mut bytes, len)?;
    Ok(bytes)
}

/// Sets the length of a buffer; bytes that are added are zero.
///
/// # Errors
/// `MemoryAlloc`.
pub(crate) fn resize(bytes: &mut Vec<u8>, len: usize) -> Result<()> {
    bytes
        .try_reserve_exact(len.saturating_sub(bytes.len()))
        .map_err(|_| Error::new(ErrorKind::MemoryAlloc, format!("a buffer of {len} bytes")))?;
    bytes.resize(len, 0);
    Ok(())
}
