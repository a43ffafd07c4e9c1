//! The description of a damaged part of a frame, and its report.

use super::files::FrameFiles;
use crate::abi::{
    BLOSC2X_PART_CHUNK, BLOSC2X_PART_FILE, BLOSC2X_PART_HEADER, BLOSC2X_PART_INDEX, BLOSC2X_PART_METALAYER,
    BLOSC2X_PART_OTHER_DATA, BLOSC2X_PART_TRAILER, BLOSC2X_PART_VLMETALAYER,
};
use crate::error::{Error, ErrorKind, Result, err};

/// A part of a frame; the values are those of the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum FramePart {
    /// The fixed part of the header; if its checksum differs, the header with its metalayers.
    Header = BLOSC2X_PART_HEADER,
    /// The section of metalayers in the header, or one metalayer.
    Metalayer = BLOSC2X_PART_METALAYER,
    /// A metalayer of variable length.
    Vlmetalayer = BLOSC2X_PART_VLMETALAYER,
    /// The index chunk.
    Index = BLOSC2X_PART_INDEX,
    /// The trailer, or the table of checksums before it.
    Trailer = BLOSC2X_PART_TRAILER,
    /// A chunk.
    Chunk = BLOSC2X_PART_CHUNK,
    /// The file with the header.
    File = BLOSC2X_PART_FILE,
    /// Data behind the frame in its file, which are no part of it and no damage.
    OtherData = BLOSC2X_PART_OTHER_DATA,
}

/// The place of a part in its file, in bytes; `None` where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DamagePlace {
    /// Offset in the file.
    pub offset: Option<u64>,
    /// Length.
    pub len: Option<u64>,
}

impl DamagePlace {
    /// Returns a place with a known offset.
    pub(crate) fn new(offset: u64, len: Option<u64>) -> DamagePlace {
        DamagePlace { offset: Some(offset), len }
    }

    /// Returns the place of a part that has no bytes, or whose place is not known.
    pub(crate) fn unknown() -> DamagePlace {
        DamagePlace::default()
    }
}

/// A damaged part.
#[derive(Clone, Copy, Debug)]
pub struct Damage<'a> {
    /// The part.
    pub part: FramePart,
    /// Number of the chunk; `None` for other parts, and for bytes between chunks.
    pub nchunk: Option<u64>,
    /// The place of the part.
    pub place: DamagePlace,
    /// The error that a read of the part returns.
    pub error: &'a Error,
}

/// Separates damage from a lack of memory, which is no property of the file. The inner result is that of the bytes.
pub(crate) fn damage_of<T>(result: Result<T>) -> Result<std::result::Result<T, Error>> {
    match result {
        Err(error) if error.kind() == ErrorKind::MemoryAlloc => Err(error),
        result => Ok(result),
    }
}

/// Returns the value, or `None` for damaged bytes.
pub(crate) fn if_whole<T>(result: Result<T>) -> Result<Option<T>> {
    damage_of(result).map(std::result::Result::ok)
}

/// A function that receives each damaged part. After an error, no more parts are checked.
pub(crate) type ReportFn<'r> = dyn FnMut(&Damage<'_>) -> Result<()> + 'r;

/// Passes damaged parts to a function, and counts them.
pub(crate) struct Reporter<'r> {
    /// The files of the frame.
    pub files: &'r FrameFiles,
    report: &'r mut ReportFn<'r>,
    count: u64,
    /// One bit for each kind of part that was reported; the position of the bit is the number of the part.
    reported: u32,
}

impl<'r> Reporter<'r> {
    /// Creates a reporter that calls `report`.
    pub(crate) fn new(files: &'r FrameFiles, report: &'r mut ReportFn<'r>) -> Reporter<'r> {
        Reporter { files, report, count: 0, reported: 0 }
    }

    /// Returns the number of reported parts.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether a part of one of these kinds was reported.
    pub(crate) fn has_reported(&self, parts: &[FramePart]) -> bool {
        parts.iter().any(|part| self.reported & 1 << *part as i32 != 0)
    }

    /// Returns the place of the part at byte `at` of the frame.
    pub(crate) fn place(&self, at: u64, len: Option<u64>) -> DamagePlace {
        DamagePlace::new(self.files.file_offset(at), len)
    }

    /// Returns the value; `None` after an error, which is reported.
    pub(crate) fn value_or_report<T>(
        &mut self,
        result: Result<T>,
        part: FramePart,
        place: DamagePlace,
    ) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.report_part(part, place, &error).map(|()| None),
        }
    }

    /// Reports a part other than a chunk.
    ///
    /// # Errors
    /// Those of the function; `MemoryAlloc` for an error of that kind, which is no damage.
    pub(crate) fn report_part(&mut self, part: FramePart, place: DamagePlace, error: &Error) -> Result<()> {
        self.report(&Damage { part, nchunk: None, place, error })
    }

    /// Reports a chunk.
    pub(crate) fn report_chunk(&mut self, nchunk: u64, place: DamagePlace, error: &Error) -> Result<()> {
        self.report(&Damage { part: FramePart::Chunk, nchunk: Some(nchunk), place, error })
    }

    /// Reports that other data follow the frame in its file, without counting them.
    pub(crate) fn report_other_data(&mut self, place: DamagePlace) -> Result<()> {
        let error = err!(Failure, "other data follow the frame in its file");
        (self.report)(&Damage { part: FramePart::OtherData, nchunk: None, place, error: &error })
    }

    fn report(&mut self, damage: &Damage<'_>) -> Result<()> {
        if damage.error.kind() == ErrorKind::MemoryAlloc {
            return Err(Error::new(ErrorKind::MemoryAlloc, format_args!("{}", damage.error)));
        }
        self.count += 1;
        self.reported |= 1 << damage.part as i32;
        (self.report)(damage)
    }
}
