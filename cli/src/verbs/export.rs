//! `blosc2 export`: an array, or a part of it, to a NumPy file or raw numbers.

use crate::args::ExportArguments;
use crate::array_reader::{ArrayReader, read_box};
use crate::boxes::{BOX_NBYTES, Boxes, for_each_run, nbytes, relative_to};
use crate::dtype::Dtype;
use crate::error::{Failure, WithPath};
use crate::input::{Content, is_dash};
use crate::npy::Header;
use crate::output::{OutputPlace, TemporaryPath};
use crate::pipe::{Pipe, copy};
use crate::ranges::Selection;
use crate::sparse::write_at;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use blosc2::AnyArray;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// Runs the verb.
pub(crate) fn run(arguments: &ExportArguments, terminal: &Terminal) -> Result<(), Failure> {
    let (input, output) = (&arguments.input, &arguments.output);
    let place = if is_dash(output) { None } else { Some(OutputPlace::new(output, input, arguments.force)?) };
    let file = Seekable::new(input)?;
    let Content::Array(array) = Content::open_as(file.path(), input, arguments.threads.count())? else {
        return Err(Failure::file(
            input,
            "no array, expected one; `decompress` writes the content of other files",
        ));
    };
    let selection = match &arguments.slice {
        Some(text) => Selection::parse(text, array.shape())?,
        None => Selection::all(array.shape()),
    };
    let is_npy = output.extension().is_some_and(|extension| extension == "npy");
    let header = if is_npy { header(&array, &selection, input)? } else { Vec::new() };
    let mut items = ArrayReader::new(&array, &selection);
    let destination = match place {
        None => {
            let mut pipe = Pipe::binary(arguments.force)?;
            pipe.copy(&mut items, input)?;
            return pipe.finish();
        }
        Some(OutputPlace::Stream(mut stream)) => {
            stream.write_all(&header).with_path(output)?;
            return copy(&mut items, input, &mut stream, output);
        }
        Some(OutputPlace::File(destination)) => destination,
    };
    let temporary = TemporaryPath::new(&destination)?;
    let mut file = File::create_new(temporary.path()).with_path(output)?;
    file.write_all(&header).with_path(output)?;
    match selection.ranges() {
        None => copy(&mut items, input, &mut file, output)?,
        Some(ranges) => {
            let offset = header.len() as u64;
            let shape = &selection.shape;
            let has_holes = !arguments.sparse.no_sparse;
            Export { array: &array, ranges, shape, file, offset, has_holes, input, output }
                .write_items(terminal)?;
        }
    }
    temporary.commit(arguments.force, arguments.durability.survives_power_loss())?;
    terminal.detail(&format!(
        "{} -> {}: {} {:?}",
        input.display(),
        output.display(),
        array.dtype(),
        selection.shape
    ));
    Ok(())
}

/// Returns the header of a NumPy file with a part of an array.
fn header(array: &AnyArray, selection: &Selection, input: &Path) -> Result<Vec<u8>, Failure> {
    let dtype = Dtype::of_array(array).ok_or_else(|| {
        let (dtype, typesize) = (array.dtype(), array.typesize());
        Failure::file(
            input,
            format!(
                "items of type {dtype:?} with {typesize} bytes, expected a known type for a NumPy file; a file of \
                 another name gets raw items"
            ),
        )
    })?;
    let header = Header { dtype, fortran_order: false, shape: selection.shape.clone() };
    header.to_bytes().map_err(|error| Failure::file(input, error))
}

/// An export to a file.
struct Export<'a> {
    array: &'a AnyArray,
    /// The part of the array.
    ranges: Vec<Range<u64>>,
    /// The shape of the items in the file.
    shape: &'a [u64],
    /// The temporary file.
    file: File,
    /// Offset of the first item in bytes.
    offset: u64,
    /// Whether zeros are left out.
    has_holes: bool,
    input: &'a Path,
    output: &'a Path,
}

impl Export<'_> {
    /// Writes all items, of whole chunks where possible: each to its place in the file.
    fn write_items(&mut self, terminal: &Terminal) -> Result<(), Failure> {
        let (chunkshape, typesize) = (self.array.chunkshape(), self.array.typesize());
        let nbytes = nbytes(self.shape, typesize).ok_or_else(|| {
            let shape = self.shape;
            Failure::file(self.input, format!("shape {shape:?}, expected fewer than 2^64 bytes"))
        })?;
        if self.has_holes {
            self.file.set_len(self.offset.saturating_add(nbytes)).with_path(self.output)?;
        }
        let progress = terminal.progress("export", Some(nbytes));
        let mut items = Vec::new();
        for current in Boxes::of_chunks(&self.ranges, chunkshape, typesize, BOX_NBYTES) {
            read_box(self.array, &current, &mut items).with_path(self.input)?;
            self.write_box(&current, &items)?;
            progress.add(items.len() as u64);
        }
        Ok(())
    }

    fn write_box(&mut self, current: &[Range<u64>], items: &[u8]) -> Result<(), Failure> {
        let ranges = &self.ranges;
        let shape: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        let (file, start, has_holes) = (&mut self.file, self.offset, self.has_holes);
        for_each_run(&shape, &relative_to(current, ranges), self.array.typesize(), |offset, within| {
            write_at(file, start + offset, &items[within], has_holes)
        })
        .with_path(self.output)
    }
}
