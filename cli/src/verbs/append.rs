//! `blosc2 append`: more content at the end of a super-chunk, or more rows of an array.

use crate::args::AppendArguments;
use crate::boxes::{BOX_NBYTES, Boxes, relative_to};
use crate::buffers::Buffer;
use crate::dtype::Dtype;
use crate::error::{Failure, WithPath};
use crate::input::{is_dash, open_for_change};
use crate::npy::{Header, is_npy};
use crate::npy_file::NpyFile;
use crate::size::count;
use crate::source::Bytes;
use crate::terminal::Terminal;
use crate::transfer::Input;
use crate::verbs::compress::whole_items;
use crate::verbs::import::open_seekable;
use blosc2::{AnyArray, OpenOptions, SuperChunk};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Size of a chunk, in bytes, behind a super-chunk without chunks: the default of `compress`.
const CHUNKSIZE: usize = 4 << 20;

/// Runs the verb.
pub(crate) fn run(arguments: &AppendArguments, terminal: &Terminal) -> Result<(), Failure> {
    let path = &arguments.file;
    let options = OpenOptions::new()
        .write(true)
        .threads(arguments.threads.count())
        .durability(arguments.durability.level());
    let mut schunk = open_for_change(path, &options)?;
    let nbytes = if schunk.is_array() {
        drop(schunk);
        let mut array = options.open_any_array(path).with_path(path)?;
        append_rows(&mut array, arguments, terminal)?
    } else if arguments.axis.is_some() {
        return Err(Failure::usage(format!("--axis with {}, which is no array", path.display())));
    } else {
        append_content(&mut schunk, arguments, terminal)?
    };
    terminal.detail(&format!("{}: {} appended", path.display(), count(nbytes, "byte")));
    Ok(())
}

/// Appends all bytes of the input, or none of them. Returns their number.
fn append_content(
    schunk: &mut SuperChunk,
    arguments: &AppendArguments,
    terminal: &Terminal,
) -> Result<u64, Failure> {
    let input = Input::new(&arguments.input)?;
    let mut stream = input.open()?;
    let chunksize = match schunk.info().chunksize {
        Some(chunksize) => chunksize,
        None if schunk.nchunks() == 0 => whole_items(crate::size::Size(CHUNKSIZE), schunk.typesize())?,
        None => {
            return Err(Failure::file(
                &arguments.file,
                "chunks of several sizes, expected chunks of one size",
            ));
        }
    };
    let progress = terminal.progress("append", input.len());
    // A failure of the input, which is none of the library.
    let mut failure = None;
    let appended = schunk.transaction(|schunk| {
        let mut nbytes = 0;
        let mut piece = Buffer::default();
        loop {
            let room = chunksize - last_len(schunk, chunksize)?;
            if let Err(error) = piece.read_from(&mut stream, room) {
                failure = Some(Failure::file(input.name(), &error));
                return Err(error.into());
            }
            if piece.content().is_empty() {
                return Ok(nbytes);
            }
            if piece.content().len() % schunk.typesize() != 0 {
                let total = nbytes + piece.content().len() as u64;
                let items = count(schunk.typesize() as u64, "byte");
                let message = format!("{}, expected whole items of {items}", count(total, "byte"));
                failure = Some(Failure::file(input.name(), &message));
                return Err(io::Error::other(message).into());
            }
            append_piece(schunk, piece.content(), chunksize)?;
            nbytes += piece.content().len() as u64;
            progress.add(piece.content().len() as u64);
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => appended.with_path(&arguments.file),
    }
}

/// Returns the length of the last chunk, if it is shorter than others; otherwise 0.
fn last_len(schunk: &SuperChunk, chunksize: usize) -> blosc2::Result<usize> {
    let nchunks = schunk.nchunks();
    let len = if nchunks == 0 { 0 } else { schunk.chunk_info(nchunks - 1)?.nbytes };
    Ok(len % chunksize)
}

/// Adds content to the last chunk, if it is shorter than others, or as a new one.
fn append_piece(schunk: &mut SuperChunk, content: &[u8], chunksize: usize) -> blosc2::Result<()> {
    if last_len(schunk, chunksize)? == 0 {
        return schunk.append(content).map(drop);
    }
    let last = schunk.nchunks() - 1;
    let mut whole = schunk.decompress_chunk(last)?;
    whole.extend_from_slice(content);
    let chunk = blosc2::compress(&whole, &schunk.info().params)?;
    schunk.update_chunk(last, &chunk)
}

/// Appends the rows of the input. Returns the length of their items in bytes.
fn append_rows(
    array: &mut AnyArray,
    arguments: &AppendArguments,
    terminal: &Terminal,
) -> Result<u64, Failure> {
    let (path, name) = (&arguments.file, input_name(&arguments.input));
    let (axis, old_shape) = (arguments.axis.unwrap_or(0), array.shape().to_vec());
    if axis >= old_shape.len() {
        let ndim = old_shape.len();
        return Err(Failure::usage(format!(
            "--axis {axis}, expected less than {ndim}, of the shape {old_shape:?}"
        )));
    }
    let file = open_seekable(&arguments.input, name)?;
    let mut source = open_rows(file, name, array, axis)?;
    let mut expected = old_shape.clone();
    expected[axis] = source.header.shape.get(axis).copied().unwrap_or(0);
    if source.header.shape != expected {
        return Err(Failure::file(
            name,
            format!(
                "shape {:?}, expected that of {old_shape:?} except in dimension {axis}",
                source.header.shape
            ),
        ));
    }
    let mut shape = old_shape.clone();
    shape[axis] = shape[axis]
        .checked_add(expected[axis])
        .ok_or_else(|| Failure::file(path, "the shape is too large"))?;
    let mut ranges: Vec<Range<u64>> = shape.iter().map(|&extent| 0..extent).collect();
    ranges[axis].start = old_shape[axis];
    let nbytes = source.header.nbytes().map_err(|error| Failure::file(name, error))?;
    let progress = terminal.progress("append", Some(nbytes));
    let (chunkshape, typesize) = (array.chunkshape().to_vec(), array.typesize());
    // A failure of the input, which is none of the library.
    let mut failure = None;
    let appended = array.transaction(|array| {
        array.resize(&shape)?;
        let mut items = Vec::new();
        for current in Boxes::of_chunks(&ranges, &chunkshape, typesize, BOX_NBYTES) {
            if let Err(error) = source.read_box(&relative_to(&current, &ranges), &mut items) {
                failure = Some(error);
                return Err(io::Error::other("the rows cannot be read").into());
            }
            array.write_bytes(&current, &items)?;
            progress.add(items.len() as u64);
        }
        Ok(nbytes)
    });
    match failure {
        Some(failure) => Err(failure),
        None => appended.with_path(path),
    }
}

fn input_name(input: &Path) -> &Path {
    if is_dash(input) { Path::new("stdin") } else { input }
}

/// Returns the rows in a NumPy file, or in a file of raw items.
fn open_rows<'a>(
    mut file: Bytes,
    name: &'a Path,
    array: &AnyArray,
    axis: usize,
) -> Result<NpyFile<'a>, Failure> {
    let dtype = Dtype::of_array(array);
    if is_npy(&mut file).with_path(name)? {
        let source = NpyFile::new(file, name, None)?;
        return match dtype {
            Some(dtype) if dtype.to_string() == source.header.dtype.to_string() => Ok(source),
            _ => Err(Failure::file(
                name,
                format!(
                    "items of type {}, expected {:?}, as the array has",
                    source.header.dtype,
                    array.dtype()
                ),
            )),
        };
    }
    let typesize = array.typesize();
    // Bytes of that size, whatever they mean.
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => format!("V{typesize}").parse().map_err(|error: String| Failure::file(name, error))?,
    };
    let mut shape = array.shape().to_vec();
    let others = shape.iter().enumerate().filter(|(dim, _)| *dim != axis);
    let row = others.fold(typesize as u64, |nbytes, (_, &extent)| nbytes.saturating_mul(extent));
    let len = file.len().with_path(name)?;
    if row == 0 || len % row != 0 {
        return Err(Failure::file(name, format!("{}, expected whole rows of {row}", count(len, "byte"))));
    }
    shape[axis] = len / row;
    NpyFile::new(file, name, Some(Header { dtype, fortran_order: false, shape }))
}
