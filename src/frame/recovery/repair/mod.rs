//! Saving everything that is whole in a damaged frame into a new frame.
//!
//! | module | contents |
//! |---|---|
//! | [`header`] | the header of the source, with invalid fields replaced |
//! | [`sections`] | headers and trailers that are recognised by their own bytes |
//! | [`index`] | the index where the header says that it is |
//! | [`scan`] | chunks, index and trailer found in the bytes of the file |
//! | [`orphans`] | chunks of which only the entry in the index is damaged |
//! | [`numbers`] | the numbers of chunks whose places the header or the index does not give |
//! | [`copy`], [`fill`] | copying the whole chunks; filling the places of the others |
//! | [`blocks`] | the whole blocks of a damaged chunk |
//! | [`metadata`] | the metalayers and the trailer |
//! | [`survey`] | all of these: what is left of the frame |
//! | [`sizes`] | the sizes of the chunks of the new frame |
//! | [`output`] | the new frame |
//!
//! Data flow: files of the source -> [`survey`] -> chunks, each checked and copied to the [`output`] -> sizes -> index,
//! trailer, header -> the name of the destination. The source is only read. A whole chunk is copied without
//! changing its bytes.

mod blocks;
mod copy;
mod fill;
mod header;
mod index;
mod metadata;
mod numbers;
mod orphans;
mod output;
mod scan;
mod sections;
mod sizes;
mod survey;

use crate::chunk::container::B2ND_METALAYER;
use crate::error::{Error, Result, err};
use crate::frame::format::header::FIXED_HEADER_LEN;
use crate::frame::format::metalayers::{self, section_len};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::report::{DamagePlace, FramePart, ReportFn, Reporter};
use crate::frame::recovery::check::verify::CheckOptions;
use copy::copy_chunks;
use output::{NewFrame, NewFrameParts, check_destination};
use std::ffi::CStr;
use survey::Survey;

/// Saves everything that is whole in the frame at `source` into a new frame at `destination`, and passes each damaged
/// part of the source to `report`. Returns the number of chunks that were saved. The new frame is checked before it gets
/// its name.
///
/// # Errors
/// Those of [`FrameFiles::open`]; `FileOpen` if something exists at `destination`; the error of the header if the source
/// holds neither a header nor chunks; `Failure` if the parts that are whole do not make a whole frame; those of reading,
/// of writing, and of `report`. Nothing exists at `destination` then.
pub(crate) fn repair(
    source: &CStr,
    destination: &CStr,
    options: &CheckOptions<'_>,
    report: &mut ReportFn<'_>,
) -> Result<u64> {
    check_destination(destination)?;
    let files = FrameFiles::open(source, options.offset)?;
    let mut reporter = Reporter::new(&files, report);
    let mut survey = Survey::make(options, &mut reporter)?;
    let (mut frame, mut saved) = write_frame(destination, &survey, options, &mut reporter)?;
    let mut damage = frame.find_damage(options)?;
    let is_array = |(name, _): &(Vec<u8>, Vec<u8>)| name == B2ND_METALAYER.to_bytes();
    if let Some(error) = damage.as_ref().filter(|_| survey.metalayers.iter().any(is_array)) {
        let error = Error::new(error.kind(), format_args!("the array does not fit its chunks: {error}"));
        reporter.report_part(FramePart::Metalayer, DamagePlace::unknown(), &error)?;
        drop(frame);
        survey.metalayers.retain(|metalayer| !is_array(metalayer));
        // The damaged parts are reported already.
        let silent: &mut ReportFn<'_> = &mut |_| Ok(());
        (frame, saved) = write_frame(destination, &survey, options, &mut Reporter::new(&files, silent))?;
        damage = frame.find_damage(options)?;
    }
    if let Some(error) = damage {
        return Err(err!(Failure, "the parts that are whole do not make a whole frame: {error}"));
    }
    frame.publish()?;
    Ok(saved)
}

/// Writes the whole parts of a frame into a new one, which has no name yet. Returns it with the number of chunks that
/// were saved.
fn write_frame(
    destination: &CStr,
    survey: &Survey,
    options: &CheckOptions<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<(NewFrame, u64)> {
    let metalayers = metalayers::borrow(&survey.metalayers)?;
    let vlmetalayers = metalayers::borrow(&survey.vlmetalayers)?;
    let header_len = FIXED_HEADER_LEN + section_len(&metalayers)?;
    let mut frame = NewFrame::create(reporter.files.kind(), destination, header_len)?;
    let copied = copy_chunks(survey, options, &mut frame, reporter)?;
    frame.finish(NewFrameParts {
        header: copied.header,
        metalayers: &metalayers,
        vlmetalayers: &vlmetalayers,
        offsets: &copied.offsets,
    })?;
    Ok((frame, copied.saved))
}
