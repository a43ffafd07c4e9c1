//! Checking and repairing frames.

use super::c_path;
use crate::b2nd::metalayer::check_array_metalayer;
use crate::error::Result;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts::read_header;
use crate::frame::recovery::check::verify::{CheckOptions, other_data};
use crate::frame::recovery::{check, repair};
use std::path::Path;

pub use crate::frame::recovery::check::report::{Damage, FramePart};

/// Returns the offset and the length, in bytes, of data that follow the frame at byte `offset` of the file at `path`
/// and are not remains of changes of the frame; `None` if there are none.
pub fn other_data_behind(path: &Path, offset: u64) -> Result<Option<(u64, u64)>> {
    let files = FrameFiles::open(&c_path(path)?, super::schunk::signed(offset)?)?;
    let (_, header) = read_header(&files)?;
    Ok(other_data(&files, &header)?.and_then(|place| place.offset.zip(place.len)))
}

fn options(offset: u64, nthreads: usize) -> Result<CheckOptions<'static>> {
    let offset = super::schunk::signed(offset)?;
    Ok(CheckOptions { offset, nthreads: nthreads.max(1), check_metalayer: &check_array_metalayer })
}

/// Checks all parts of the frame at `path`, and passes each damaged part to `report`. Returns their number.
pub fn verify(path: &Path, offset: u64, nthreads: usize, report: &mut dyn FnMut(&Damage<'_>)) -> Result<u64> {
    check::verify::verify(&c_path(path)?, &options(offset, nthreads)?, &mut |damage| {
        report(damage);
        Ok(())
    })
}

/// Saves everything that is whole in the frame at `source` into a new frame at `destination`. Returns the number of
/// chunks that were saved.
pub fn repair(
    source: &Path,
    destination: &Path,
    nthreads: usize,
    report: &mut dyn FnMut(&Damage<'_>),
) -> Result<u64> {
    repair::repair(&c_path(source)?, &c_path(destination)?, &options(0, nthreads)?, &mut |damage| {
        report(damage);
        Ok(())
    })
}
