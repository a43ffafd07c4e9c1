//! Opening and creating files.

use crate::array::{AnyArray, Array};
use crate::chunk::Encoder;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::params::{Params, nthreads};
use crate::super_chunk::SuperChunk;
use blosc2_core::rust_api::array::ArrayHandle;
use blosc2_core::rust_api::schunk::{self as core, FileAccess, NewStorage};
use std::path::Path;

/// The degree to which a change on disk is atomic and durable, for [`OpenOptions::durability`].
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// use blosc2::{Durability, OpenOptions};
///
/// assert!(Durability::Off < Durability::Kill && Durability::Kill < Durability::Power);
/// let options = OpenOptions::new().write(true).create(true).durability(Durability::Power);
/// options.open(&path)?.append(&[7; 8000])?; // There also after a loss of power.
/// assert_eq!(OpenOptions::new().open(&path)?.nchunks(), 1);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub use blosc2_core::rust_api::schunk::Durability;

/// How a super-chunk or an array on disk is opened or created, as [`std::fs::OpenOptions`] for files.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("log.b2frame");
/// use blosc2::{Durability, OpenOptions, Params};
///
/// let mut log = OpenOptions::new()
///     .write(true)
///     .create(true)
///     .durability(Durability::Kill)
///     .params(Params::new().typesize(1))
///     .open(&path)?;
/// log.append(b"a chunk")?;
///
/// // Read-only, the default: changes are errors.
/// let mut log = OpenOptions::new().open(&path)?;
/// assert_eq!(log.decompress_chunk(0)?, b"a chunk");
/// assert!(log.append(b"another").is_err());
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    write: bool,
    create: bool,
    create_new: bool,
    truncate: bool,
    directory: bool,
    locking: bool,
    mapped: bool,
    offset: u64,
    durability: Option<Durability>,
    threads: Option<usize>,
    params: Params,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions::new()
    }
}

impl OpenOptions {
    /// Returns the options for reading an existing file or directory.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
    /// let mut schunk = OpenOptions::new().open(&path)?;
    /// assert_eq!(schunk.decompress_chunk(0)?, [7; 8000]);
    /// assert!(schunk.append(&[8; 8000]).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn new() -> OpenOptions {
        OpenOptions {
            write: false,
            create: false,
            create_new: false,
            truncate: false,
            directory: false,
            locking: false,
            mapped: false,
            offset: 0,
            durability: None,
            threads: None,
            params: Params::new(),
        }
    }

    /// Sets whether changes are allowed.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new())?;
    /// let mut schunk = OpenOptions::new().write(true).open(&path)?;
    /// assert_eq!(schunk.append(&[7; 8000])?, 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }

    /// Sets whether a missing file is created; needs [`write`](Self::write).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::OpenOptions;
    ///
    /// let options = OpenOptions::new().write(true).create(true);
    /// assert_eq!(options.open(&path)?.append(&[7; 8000])?, 1); // created
    /// assert_eq!(options.open(&path)?.append(&[8; 8000])?, 2); // opened
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets whether the file is created, and an existing one is an error; needs [`write`](Self::write).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::OpenOptions;
    ///
    /// let options = OpenOptions::new().write(true).create_new(true);
    /// assert_eq!(options.open(&path)?.nchunks(), 0);
    /// let error = std::io::Error::from(options.open(&path).unwrap_err());
    /// assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn create_new(mut self, create_new: bool) -> Self {
        self.create_new = create_new;
        self
    }

    /// Sets whether an existing file or directory is removed and created again; needs [`write`](Self::write).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
    /// let schunk = OpenOptions::new().write(true).truncate(true).open(&path)?;
    /// assert_eq!(schunk.nchunks(), 0);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Sets whether a new super-chunk is a directory with one file for each chunk instead of one file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, SuperChunk};
    ///
    /// let options = OpenOptions::new().write(true).create(true).directory(true);
    /// options.open(&path)?.append(&[7; 8000])?;
    /// assert!(path.is_dir());
    /// assert_eq!(SuperChunk::open(&path)?.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn directory(mut self, directory: bool) -> Self {
        self.directory = directory;
        self
    }

    /// Sets whether a lock file (`<path>.b2lock`) excludes other processes, so that several may change one file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::OpenOptions;
    ///
    /// let options = OpenOptions::new().write(true).create(true).locking(true);
    /// let (mut first, mut second) = (options.open(&path)?, options.open(&path)?);
    /// first.append(&[7; 8000])?;
    /// assert_eq!(second.append(&[8; 8000])?, 2);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn locking(mut self, locking: bool) -> Self {
        self.locking = locking;
        self
    }

    /// Sets whether the file is mapped into memory. Only for reading one file, without [`locking`](Self::locking); it must
    /// not be changed meanwhile.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
    /// let schunk = OpenOptions::new().mapped(true).open(&path)?;
    /// assert_eq!(schunk.decompress_chunk(0)?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn mapped(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    /// Sets the offset, in bytes, of a frame inside a file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("archive");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// let frame = SuperChunk::new(&Params::new().level(9))?.to_frame()?;
    /// std::fs::write(&path, [&[0; 100][..], &frame].concat())?;
    /// let schunk = OpenOptions::new().offset(100).open(&path)?;
    /// assert_eq!(schunk.info().params.get_level(), 9);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets what a change leaves if the process dies, or the machine loses power, in the middle of it. The default is
    /// the environment variable `BLOSC2_DURABILITY`, otherwise [`Durability::Kill`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Durability, OpenOptions, SuperChunk};
    ///
    /// // Faster, but a process that dies in the middle of a change leaves a damaged file.
    /// let options = OpenOptions::new().write(true).create(true).durability(Durability::Off);
    /// options.open(&path)?.append(&[7; 8000])?;
    /// assert_eq!(SuperChunk::open(&path)?.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// Sets the number of threads that work on one call; the default is that of the parameters, for an existing file 1.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{OpenOptions, Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new())?.append(&[7; 8000])?;
    /// let schunk = OpenOptions::new().threads(4).open(&path)?;
    /// assert_eq!((schunk.info().params.get_threads(), schunk.nchunks()), (4, 1));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the parameters of a new super-chunk. An existing one has its own.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Codec, OpenOptions, Params};
    ///
    /// let params = Params::new().codec(Codec::Zstd).typesize(4);
    /// let schunk = OpenOptions::new().write(true).create(true).params(params).open(&path)?;
    /// assert_eq!((schunk.info().params.get_codec(), schunk.typesize()), (Codec::Zstd, 4));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Opens or creates the super-chunk at `path`.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{ErrorKind, OpenOptions};
    ///
    /// assert_eq!(OpenOptions::new().open(&path).unwrap_err().kind(), ErrorKind::FileOpen);
    /// OpenOptions::new().write(true).create(true).open(&path)?.append(&[7; 8000])?;
    /// assert_eq!(OpenOptions::new().open(&path)?.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if it does not exist, or exists and must not; `InvalidParam` for options that contradict each other;
    /// those of a damaged header.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SuperChunk> {
        let path = path.as_ref();
        let is_new = self.prepare(path)?;
        let schunk = if is_new {
            let place =
                NewStorage { path: Some(path), is_contiguous: !self.directory, access: self.access()? };
            let params = self.params_of_new();
            core::SuperChunkHandle::create(&place, &params.settings()?, params.nthreads()?)?
        } else {
            let schunk = core::SuperChunkHandle::open(path, self.offset, self.access()?)?;
            schunk.as_ref().set_nthreads(nthreads(self.threads.unwrap_or(1))?)?;
            schunk
        };
        self.set_durability(schunk.as_ref())?;
        Ok(SuperChunk::from_core(schunk, self.write))
    }

    /// Opens the array at `path`, whose items are `T`. For a new array, see [`Array::builder`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, OpenOptions};
    ///
    /// Array::<i32>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// OpenOptions::new().write(true).open_array::<i32>(&path)?.set(&[0], -1)?;
    /// assert_eq!(OpenOptions::new().open_array::<i32>(&path)?.read(..)?, [-1, 2, 3]);
    /// assert!(OpenOptions::new().open_array::<f32>(&path).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open); `MetalayerNotFound` if there is no array; `InvalidParam` for items of another type.
    pub fn open_array<T: Element>(&self, path: impl AsRef<Path>) -> Result<Array<T>> {
        Array::try_from(self.open_any_array(path)?)
    }

    /// Opens the array at `path`, with items of any type.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{Array, OpenOptions};
    ///
    /// Array::<u8>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// let array = OpenOptions::new().open_any_array(&path)?;
    /// assert_eq!((array.dtype(), array.read_bytes(..)?), ("|u1", vec![1, 2, 3]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open); `MetalayerNotFound` if there is no array.
    pub fn open_any_array(&self, path: impl AsRef<Path>) -> Result<AnyArray> {
        if self.create || self.create_new || self.truncate {
            return Err(Error::param("an array is created by `Array::builder`".to_owned()));
        }
        let array = ArrayHandle::open(path.as_ref(), self.offset, self.access()?)?;
        array.schunk()?.set_nthreads(nthreads(self.threads.unwrap_or(1))?)?;
        self.set_durability(array.schunk()?)?;
        Ok(AnyArray::from_core(array, self.write))
    }

    /// Checks the options, and removes a file that is created again. Returns whether the file is created.
    fn prepare(&self, path: &Path) -> Result<bool> {
        if (self.create || self.create_new || self.truncate) && !self.write {
            return Err(Error::param("a file is created without `write`".to_owned()));
        }
        self.access()?;
        let exists = core::exists(path)?;
        if exists && self.create_new {
            let message = format!("{} exists already", path.display());
            return Err(Error::with_cause(ErrorKind::FileOpen, message, std::io::ErrorKind::AlreadyExists));
        }
        let is_new = self.create_new || self.truncate || (self.create && !exists);
        if is_new && self.offset != 0 {
            return Err(Error::param(format!("offset {}, expected 0 for a new file", self.offset)));
        }
        if exists && self.truncate {
            // Invalid parameters are an error before the file is removed.
            Encoder::new(&self.params_of_new())?;
            core::remove(path)?;
        }
        Ok(is_new && (self.create || self.create_new || exists))
    }

    fn params_of_new(&self) -> Params {
        self.params.clone().threads(self.threads.unwrap_or(self.params.get_threads()))
    }

    fn access(&self) -> Result<FileAccess> {
        match (self.mapped, self.locking) {
            (true, _) if self.write => Err(Error::param("a mapped file is opened with `write`".to_owned())),
            (true, true) => Err(Error::param("a mapped file is opened with `locking`".to_owned())),
            (true, false) => Ok(FileAccess::Mapped),
            (false, true) => Ok(FileAccess::Locked),
            (false, false) => Ok(FileAccess::Plain),
        }
    }

    fn set_durability(&self, schunk: core::SuperChunkRef<'_>) -> Result<()> {
        self.durability.map_or(Ok(()), |level| Ok(schunk.set_durability(level)?))
    }
}

/// Calls `f`. The files that this thread creates meanwhile have checksums, or none. The default is the environment variable
/// `BLOSC2_CHECKSUMS`, otherwise checksums.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// use blosc2::{Params, SuperChunk};
///
/// for has_checksums in [true, false] {
///     let path = dir.path().join(has_checksums.to_string());
///     blosc2::with_checksums(has_checksums, || SuperChunk::create(&path, &Params::new())?.append(&[7; 8000]))?;
///     assert_eq!(SuperChunk::open(&path)?.info().has_checksums, has_checksums);
/// }
/// # Ok::<(), blosc2::Error>(())
/// ```
pub fn with_checksums<R>(has_checksums: bool, f: impl FnOnce() -> R) -> R {
    core::with_checksums(has_checksums, f)
}

impl SuperChunk {
    /// Creates a super-chunk in the new file `path`. For other choices see [`OpenOptions`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Params, SuperChunk};
    ///
    /// let mut schunk = SuperChunk::create(&path, &Params::new().typesize(1))?;
    /// schunk.append(b"a chunk")?;
    /// assert!(path.is_file());
    /// assert!(SuperChunk::create(&path, &Params::new()).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if the file exists or cannot be created; `InvalidParam`.
    pub fn create(path: impl AsRef<Path>, params: &Params) -> Result<SuperChunk> {
        OpenOptions::new().write(true).create_new(true).params(params.clone()).open(path)
    }

    /// Opens the super-chunk in a file or a directory for reading. For other choices see [`OpenOptions`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{Params, SuperChunk};
    ///
    /// SuperChunk::create(&path, &Params::new().typesize(1))?.append(b"a chunk")?;
    /// assert_eq!(SuperChunk::open(&path)?.decompress_chunk(0)?, b"a chunk");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if it does not exist; those of a damaged header.
    pub fn open(path: impl AsRef<Path>) -> Result<SuperChunk> {
        OpenOptions::new().open(path)
    }
}

impl AnyArray {
    /// Opens the array in a file or a directory for reading. For other choices see [`OpenOptions`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::{AnyArray, Array};
    ///
    /// Array::<f32>::builder([2, 3]).create(&path)?;
    /// assert_eq!(AnyArray::open(&path)?.shape(), [2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `FileOpen` if it does not exist; `MetalayerNotFound` if there is no array; those of a damaged header.
    pub fn open(path: impl AsRef<Path>) -> Result<AnyArray> {
        OpenOptions::new().open_any_array(path)
    }
}

impl<T: Element> Array<T> {
    /// Opens the array in a file or a directory for reading. For other choices see [`OpenOptions::open_array`].
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::Array;
    ///
    /// Array::<i32>::builder([3]).create_from(&path, &[1, 2, 3])?;
    /// assert_eq!(Array::<i32>::open(&path)?.read(1..)?, [2, 3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::open`]; `InvalidParam` for items of another type.
    pub fn open(path: impl AsRef<Path>) -> Result<Array<T>> {
        OpenOptions::new().open_array(path)
    }
}
