//! Checking and repairing frames.

use super::c_path;
use super::schunk::{Source, SourcePlace};
use crate::b2nd::metalayer::check_array_metalayer;
use crate::error::Result;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts::read_header;
use crate::frame::recovery::check::report::Reporter;
use crate::frame::recovery::check::verify::{CheckOptions, other_data, verify_files};
use crate::frame::recovery::{check, repair};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use crate::frame::recovery::check::report::{Damage, FramePart};

/// Returns the offset and the length, in bytes, of data that follow the frame at byte `offset` of the file at `path`
/// and are not remains of changes of the frame; `None` if there are none.
pub fn other_data_behind(path: &Path, offset: u64) -> Result<Option<(u64, u64)>> {
    other_data_of(&FrameFiles::open(&c_path(path)?, super::schunk::signed(offset)?)?)
}

/// As [`other_data_behind`], for a frame in a place of `source`.
pub fn other_data_behind_source(
    source: Arc<dyn Source>,
    place: SourcePlace<'_>,
) -> Result<Option<(u64, u64)>> {
    let (kind, name, offset) = place.parts();
    other_data_of(&FrameFiles::of_source(source, kind, &super::c_text(name)?, offset)?)
}

fn other_data_of(files: &FrameFiles) -> Result<Option<(u64, u64)>> {
    let (_, header) = read_header(files)?;
    Ok(other_data(files, &header)?.and_then(|place| place.offset.zip(place.len)))
}

fn options<'a>(nthreads: usize, progress: &'a dyn Fn(u64)) -> CheckOptions<'a> {
    CheckOptions { offset: 0, nthreads: nthreads.max(1), check_metalayer: &check_array_metalayer, progress }
}

/// Checks all parts of the frame at `path`, and passes each damaged part to `report`, and the length of each stored chunk,
/// in bytes, to `progress`. Returns the number of damaged parts.
pub fn verify(
    path: &Path,
    nthreads: usize,
    report: &mut dyn FnMut(&Damage<'_>),
    progress: &dyn Fn(u64),
) -> Result<u64> {
    check::verify::verify(&c_path(path)?, &options(nthreads, progress), &mut |damage| {
        report(damage);
        Ok(())
    })
}

/// As [`verify`], for the frame in a range of bytes of the file at `path`.
pub fn verify_range(
    path: &Path,
    range: Range<u64>,
    nthreads: usize,
    report: &mut dyn FnMut(&Damage<'_>),
    progress: &dyn Fn(u64),
) -> Result<u64> {
    let offset = super::schunk::signed(range.start)?;
    let files = FrameFiles::open(&c_path(path)?, offset)?.limited(range.end.saturating_sub(range.start));
    let report = &mut |damage: &Damage<'_>| {
        report(damage);
        Ok(())
    };
    verify_files(&CheckOptions { offset, ..options(nthreads, progress) }, &mut Reporter::new(&files, report))
}

/// Saves everything that is whole in the frame at `source` into a new frame at `destination`. Returns the number of
/// chunks that were saved. `progress` receives the lengths of the stored chunks of the source, and of the new frame, when
/// they are checked.
pub fn repair(
    source: &Path,
    destination: &Path,
    nthreads: usize,
    report: &mut dyn FnMut(&Damage<'_>),
    progress: &dyn Fn(u64),
) -> Result<u64> {
    repair::repair(&c_path(source)?, &c_path(destination)?, &options(nthreads, progress), &mut |damage| {
        report(damage);
        Ok(())
    })
}
