//! Checking and repairing files.

use crate::error::Result;
use blosc2_core::rust_api::check::{self, FramePart};
use std::ops::Range;
use std::path::Path;

/// A part of a frame.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// use blosc2::{Params, Part, SuperChunk};
///
/// let mut schunk = SuperChunk::create(&path, &Params::new().typesize(1))?;
/// schunk.append(&content)?;
/// # let header_len = usize::from(std::fs::read(&path)?[14]);
/// let mut bytes = std::fs::read(&path)?;
/// bytes[header_len + 4] += 1; // in the first chunk
/// std::fs::write(&path, bytes)?;
/// assert_eq!(blosc2::verify(&path, 1)?[0].part, Part::Chunk);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The header.
    Header,
    /// The metalayers in the header, or one of them.
    Metalayer,
    /// A metalayer of variable length.
    VariableMetalayer,
    /// The index of the chunks.
    Index,
    /// The trailer, or the table of checksums.
    Trailer,
    /// A chunk.
    Chunk,
    /// The file with the header.
    File,
}

/// A damaged part.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// # let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?;
/// # schunk.append(&content)?;
/// # let header_len = u64::from(std::fs::read(&path)?[14]);
/// let mut bytes = std::fs::read(&path)?;
/// bytes[header_len as usize + 4] += 1; // in the first chunk
/// std::fs::write(&path, bytes)?;
/// let damages = blosc2::verify(&path, 1)?;
/// assert_eq!((damages[0].nchunk, damages[0].offset), (Some(0), Some(header_len)));
/// println!("{}", damages[0].message);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Damage {
    /// The part.
    pub part: Part,
    /// Number of the chunk; `None` for other parts, and for bytes between chunks.
    pub nchunk: Option<u64>,
    /// Offset in the file in bytes, if it is known.
    pub offset: Option<u64>,
    /// Length in bytes, if it is known.
    pub len: Option<u64>,
    /// What a read of the part returns.
    pub message: String,
    /// The code of that error.
    pub code: i32,
}

impl Damage {
    /// Returns a damaged part; `None` for other data behind the frame, which are no damage.
    fn new(damage: &check::Damage<'_>) -> Option<Damage> {
        let part = match damage.part {
            FramePart::Header => Part::Header,
            FramePart::Metalayer => Part::Metalayer,
            FramePart::Vlmetalayer => Part::VariableMetalayer,
            FramePart::Index => Part::Index,
            FramePart::Trailer => Part::Trailer,
            FramePart::Chunk => Part::Chunk,
            FramePart::File => Part::File,
            FramePart::OtherData => return None,
        };
        Some(Damage {
            part,
            nchunk: damage.nchunk,
            offset: damage.place.offset,
            len: damage.place.len,
            message: format!("{:#}", damage.error),
            code: damage.error.code(),
        })
    }
}

/// The result of a repair.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// # let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?;
/// # schunk.append(&content)?;
/// # let header_len = usize::from(std::fs::read(&path)?[14]);
/// schunk.append(&content)?;
/// let mut bytes = std::fs::read(&path)?;
/// bytes[header_len + 4] += 1; // in the first of two chunks
/// std::fs::write(&path, bytes)?;
/// let repaired = blosc2::repair(&path, dir.path().join("new.b2frame"), 1)?;
/// assert_eq!((repaired.saved, repaired.damages[0].nchunk), (1, Some(0)));
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Repaired {
    /// Number of chunks that were saved, without those that were replaced by zeros.
    pub saved: u64,
    /// The damaged parts of the source.
    pub damages: Vec<Damage>,
}

/// Reads and checks everything in the file or directory `path`, with up to `threads` threads, and returns the damaged
/// parts: none if there is no damage. Parts are compared with their checksums, where the file has them.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("zeros.b2frame");
/// # blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?.append(&(0..=255).collect::<Vec<u8>>())?;
/// assert!(blosc2::verify(&path, 1)?.is_empty());
///
/// let mut bytes = std::fs::read(&path)?;
/// let header_len = usize::from(bytes[14]);
/// bytes[header_len + 12] += 1; // the length of the chunk, in its header
/// std::fs::write(&path, bytes)?;
/// let damages = blosc2::verify(&path, 1)?;
/// assert_eq!((damages[0].part, damages[0].nchunk), (blosc2::Part::Chunk, Some(0)));
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `FileOpen`; the error of the header if the file holds no frame.
pub fn verify(path: impl AsRef<Path>, threads: usize) -> Result<Vec<Damage>> {
    verify_with_progress(path, threads, &|_| {})
}

/// As [`verify`]; `progress` receives the length, in bytes, of each stored chunk that was checked. Their sum is at most the
/// length of the file, or of the files in the directory.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("bytes.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?;
/// schunk.append(&content)?;
/// let checked = std::cell::Cell::new(0);
/// blosc2::verify_with_progress(&path, 1, &|nbytes| checked.set(checked.get() + nbytes))?;
/// assert_eq!(checked.get(), schunk.chunk(0)?.as_bytes().len() as u64);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// As [`verify`].
pub fn verify_with_progress(
    path: impl AsRef<Path>,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Result<Vec<Damage>> {
    let mut damages = Vec::new();
    check::verify(path.as_ref(), threads, &mut |damage| damages.extend(Damage::new(damage)), progress)?;
    Ok(damages)
}

/// As [`verify_with_progress`], for the frame in a range of bytes of the file `path`, for example in an archive. The offsets of
/// damaged parts are those in the file.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("archive");
/// # let mut schunk = blosc2::SuperChunk::new_frame(&blosc2::Params::new().typesize(1))?;
/// # schunk.append(&(0..=255).collect::<Vec<u8>>())?;
/// let frame = schunk.to_frame()?;
/// std::fs::write(&path, [b"header", &frame[..], b"other data"].concat())?;
/// let range = 6..6 + frame.len() as u64;
/// assert!(blosc2::verify_range(&path, range.clone(), 1, &|_| {})?.is_empty());
///
/// let damages = blosc2::verify_range(&path, range.start..range.end - 1, 1, &|_| {})?;
/// assert_eq!(damages[0].part, blosc2::Part::File);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// As [`verify`].
pub fn verify_range(
    path: impl AsRef<Path>,
    range: Range<u64>,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Result<Vec<Damage>> {
    let mut damages = Vec::new();
    let report = &mut |damage: &check::Damage<'_>| damages.extend(Damage::new(damage));
    check::verify_range(path.as_ref(), range, threads, report, progress)?;
    Ok(damages)
}

/// Returns the range, in bytes, of data that follow the frame in the file `path`: another frame, or other parts of an
/// archive. They are no damage. Bytes that interrupted changes of the frame have left behind it do not count.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// let frame = blosc2::SuperChunk::new(&blosc2::Params::new())?.to_frame()?;
/// std::fs::write(&path, [&frame[..], b"other data"].concat())?;
/// let len = frame.len() as u64;
/// assert_eq!(blosc2::other_data_behind(&path)?, Some(len..len + 10));
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `FileOpen`; the error of the header if the file holds no frame.
pub fn other_data_behind(path: impl AsRef<Path>) -> Result<Option<Range<u64>>> {
    let found = check::other_data_behind(path.as_ref(), 0)?;
    Ok(found.map(|(offset, len)| offset..offset + len))
}

/// Saves everything that is whole in the damaged file or directory `source` to `destination`, which must not exist. The
/// source is not changed. A lost chunk is replaced by zeros if its number is known. [`verify`] finds no damage in the new
/// file.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("a.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// # let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?;
/// # schunk.append(&content)?;
/// schunk.append(&content)?;
/// # drop(schunk);
/// let len = std::fs::metadata(&path)?.len();
/// std::fs::File::options().write(true).open(&path)?.set_len(len - 100)?; // without the index and the trailer
/// let new = dir.path().join("new.b2frame");
/// assert_eq!(blosc2::repair(&path, &new, 1)?.saved, 2);
/// assert!(blosc2::verify(&new, 1)?.is_empty());
/// assert_eq!(blosc2::SuperChunk::open(&new)?.decompress_chunk(1)?, content);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `FileOpen`; the error of the header if the source holds neither a header nor chunks; those of writing. Nothing is at
/// `destination` then.
pub fn repair(source: impl AsRef<Path>, destination: impl AsRef<Path>, threads: usize) -> Result<Repaired> {
    repair_with_progress(source, destination, threads, &|_| {})
}

/// As [`repair`](fn@repair); `progress` receives the length, in bytes, of each stored chunk of the source that was
/// checked, and then of each one of the new file, which is checked as well.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("bytes.b2frame");
/// # let content: Vec<u8> = (0..=255).collect();
/// let mut schunk = blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?;
/// schunk.append(&content)?;
/// let checked = std::cell::Cell::new(0);
/// let new = dir.path().join("new.b2frame");
/// blosc2::repair_with_progress(&path, &new, 1, &|nbytes| checked.set(checked.get() + nbytes))?;
/// assert_eq!(checked.get(), 2 * schunk.chunk(0)?.as_bytes().len() as u64);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// As [`repair`](fn@repair).
pub fn repair_with_progress(
    source: impl AsRef<Path>,
    destination: impl AsRef<Path>,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Result<Repaired> {
    let mut damages = Vec::new();
    let report = &mut |damage: &check::Damage<'_>| damages.extend(Damage::new(damage));
    let saved = check::repair(source.as_ref(), destination.as_ref(), threads, report, progress)?;
    Ok(Repaired { saved, damages })
}
