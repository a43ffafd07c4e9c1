//! `blosc2 diff`: the first difference of the contents of two files.

use crate::args::DiffArguments;
use crate::array_reader::{ArrayReader, read_box};
use crate::boxes::{BOX_NBYTES, Boxes, nbytes};
use crate::dtype::Dtype;
use crate::dtype::text::{ItemText, push_hex};
use crate::error::{Failure, WithPath};
use crate::input::{Content, is_dash};
use crate::pipe::print_line;
use crate::terminal::{Progress, Terminal};
use crate::transfer::Seekable;
use blosc2::AnyArray;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::ops::Range;
use std::path::Path;

/// The first bytes of a frame: two bytes of MessagePack and a magic number.
const FRAME_START: &[u8] = b"\x9e\xa8b2frame\0";
/// Size of the buffer of a file that is no frame in bytes.
const BUFFER_NBYTES: usize = 1 << 20;

/// Runs the verb.
pub(crate) fn run(arguments: &DiffArguments, terminal: &Terminal) -> Result<(), Failure> {
    let difference = compare(arguments, terminal).map_err(Failure::into_incomplete)?;
    let names = format!("{} {}", arguments.first.display(), arguments.second.display());
    let Some(difference) = difference else {
        terminal.detail(&format!("{names}: equal"));
        return Ok(());
    };
    print_line(&format!("{names}: {difference}"))?;
    Err(Failure::reported())
}

/// Returns what differs, as text.
fn compare(arguments: &DiffArguments, terminal: &Terminal) -> Result<Option<String>, Failure> {
    if is_dash(&arguments.first) && is_dash(&arguments.second) {
        return Err(Failure::usage("`-` twice, expected it once"));
    }
    let threads = arguments.threads.count();
    let files = (Seekable::new(&arguments.first)?, Seekable::new(&arguments.second)?);
    let first = Side::open(files.0.path(), threads)?;
    let second = Side::open(files.1.path(), threads)?;
    let progress = terminal.progress("diff", first.data.nbytes().or(second.data.nbytes()));
    match (&first.data, &second.data) {
        (Data::Array(a), Data::Array(b)) => array_difference((a, first.path), (b, second.path), &progress),
        _ => byte_difference(first, second, &progress),
    }
}

/// One of the two files.
struct Side<'a> {
    path: &'a Path,
    data: Data,
}

/// The content of a file.
enum Data {
    Array(AnyArray),
    /// Bytes, with their number.
    Bytes(Box<dyn BufRead>, u64),
}

impl<'a> Side<'a> {
    fn open(path: &'a Path, threads: usize) -> Result<Side<'a>, Failure> {
        let data = match plain_file(path)? {
            Some(data) => data,
            None => match Content::open(path, threads)? {
                Content::Array(array) => Data::Array(array),
                Content::SuperChunk(schunk) => {
                    let nbytes = schunk.nbytes();
                    Data::Bytes(Box::new(schunk.into_reader()), nbytes)
                }
            },
        };
        Ok(Side { path, data })
    }
}

/// Returns the bytes of a file that is neither a frame nor a directory.
fn plain_file(path: &Path) -> Result<Option<Data>, Failure> {
    let mut file = File::open(path).with_path(path)?;
    let metadata = file.metadata().with_path(path)?;
    if metadata.is_dir() {
        return Ok(None);
    }
    let mut start = Vec::new();
    let frame_start_len = FRAME_START.len() as u64;
    file.by_ref().take(frame_start_len).read_to_end(&mut start).with_path(path)?;
    if start == FRAME_START {
        return Ok(None);
    }
    let bytes = BufReader::with_capacity(BUFFER_NBYTES, Cursor::new(start).chain(file));
    Ok(Some(Data::Bytes(Box::new(bytes), metadata.len())))
}

/// Returns what differs between two arrays, as text.
fn array_difference(
    first: (&AnyArray, &Path),
    second: (&AnyArray, &Path),
    progress: &Progress,
) -> Result<Option<String>, Failure> {
    let (a, b) = (first.0, second.0);
    if a.shape() != b.shape() {
        return Ok(Some(format!("shapes {:?} and {:?}", a.shape(), b.shape())));
    }
    let types = (type_of(a), type_of(b));
    if types.0 != types.1 {
        return Ok(Some(format!("types {} and {}", types.0, types.1)));
    }
    let Some(found) = first_item(first, second, progress)? else { return Ok(None) };
    let position = position(found.number, a.shape());
    Ok(Some(format!("item {position:?}: {}", found.values(&ItemText::of_array(a)))))
}

/// Returns the type of the items as text; those of one text have the same meaning.
fn type_of(array: &AnyArray) -> String {
    match Dtype::of_array(array) {
        Some(dtype) => dtype.to_string(),
        None => format!("{:?} of {} bytes", array.dtype(), array.typesize()),
    }
}

/// Two items that differ.
struct DifferentItems {
    /// The number of the item in C order.
    number: u64,
    first: Vec<u8>,
    second: Vec<u8>,
}

impl DifferentItems {
    /// Returns both values as text; as bytes if their texts are equal.
    fn values(&self, item: &ItemText) -> String {
        let (mut first, mut second) = (String::new(), String::new());
        item.push(&self.first, &mut first);
        item.push(&self.second, &mut second);
        if first == second {
            (first, second) = ("bytes ".to_owned(), "bytes ".to_owned());
            push_hex(&self.first, &mut first);
            push_hex(&self.second, &mut second);
        }
        format!("{first} and {second}")
    }
}

/// Returns the first items in C order that differ between two arrays of the same shape and type.
fn first_item(
    (a, a_path): (&AnyArray, &Path),
    (b, b_path): (&AnyArray, &Path),
    progress: &Progress,
) -> Result<Option<DifferentItems>, Failure> {
    let shape = a.shape();
    let whole: Vec<Range<u64>> = shape.iter().map(|&extent| 0..extent).collect();
    let (mut a_items, mut b_items) = (Vec::new(), Vec::new());
    let mut least: Option<DifferentItems> = None;
    for current in Boxes::of_chunks(&whole, a.chunkshape(), a.typesize(), BOX_NBYTES) {
        // The boxes are not in C order: after a difference, those that begin before it are read as well.
        let start: Vec<u64> = current.iter().map(|range| range.start).collect();
        if least.as_ref().is_some_and(|least| number(&start, shape) > least.number) {
            continue;
        }
        read_box(a, &current, &mut a_items).with_path(a_path)?;
        read_box(b, &current, &mut b_items).with_path(b_path)?;
        progress.add(a_items.len() as u64);
        if a_items == b_items {
            continue;
        }
        let mut pairs = a_items.chunks_exact(a.typesize()).zip(b_items.chunks_exact(a.typesize()));
        let Some(at) = pairs.position(|(a, b)| a != b) else { continue };
        let number = number_in_box(at as u64, &current, shape);
        if least.as_ref().is_none_or(|least| number < least.number) {
            let item = |items: &[u8]| items[at * a.typesize()..][..a.typesize()].to_vec();
            least = Some(DifferentItems { number, first: item(&a_items), second: item(&b_items) });
        }
    }
    Ok(least)
}

/// Returns the number, in C order, of the item at a position.
fn number(position: &[u64], shape: &[u64]) -> u64 {
    position.iter().zip(shape).fold(0, |number, (at, extent)| number * extent + at)
}

/// Returns the position of item `number` in C order.
fn position(mut number: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (at, &extent) in position.iter_mut().zip(shape).rev() {
        *at = number % extent;
        number /= extent;
    }
    position
}

/// Returns the number in the array of item `at` of a box.
fn number_in_box(at: u64, current: &[Range<u64>], shape: &[u64]) -> u64 {
    let extents: Vec<u64> = current.iter().map(|range| range.end - range.start).collect();
    let within = position(at, &extents);
    let absolute: Vec<u64> = within.iter().zip(current).map(|(at, range)| range.start + at).collect();
    number(&absolute, shape)
}

/// Returns what differs between the bytes of two contents, as text.
fn byte_difference(
    mut first: Side<'_>,
    mut second: Side<'_>,
    progress: &Progress,
) -> Result<Option<String>, Failure> {
    let lengths = match (first.data.nbytes(), second.data.nbytes()) {
        (Some(a), Some(b)) if a != b => Some(format!("lengths {a} and {b}, ")),
        _ => None,
    };
    let (mut a, mut b) = (first.data.stream(), second.data.stream());
    let found = first_byte((&mut *a, first.path), (&mut *b, second.path), progress)?;
    Ok(found.map(|(offset, bytes)| match bytes {
        (Some(a), Some(b)) => {
            format!("{}offset {offset}: 0x{a:02x} and 0x{b:02x}", lengths.unwrap_or_default())
        }
        _ => format!("{}the first {offset} bytes are equal", lengths.unwrap_or_default()),
    }))
}

/// The two bytes at one offset; `None` at the end of a content.
type Bytes = (Option<u8>, Option<u8>);

/// Returns the offset of the first difference, and the bytes there.
fn first_byte(
    (a, a_path): (&mut dyn BufRead, &Path),
    (b, b_path): (&mut dyn BufRead, &Path),
    progress: &Progress,
) -> Result<Option<(u64, Bytes)>, Failure> {
    let mut offset = 0;
    loop {
        let a_piece = a.fill_buf().with_path(a_path)?;
        let b_piece = b.fill_buf().with_path(b_path)?;
        let len = a_piece.len().min(b_piece.len());
        if len == 0 {
            let bytes = (a_piece.first().copied(), b_piece.first().copied());
            return Ok((bytes != (None, None)).then_some((offset, bytes)));
        }
        // The comparison of slices is much faster than a search.
        if a_piece[..len] != b_piece[..len] {
            let equal = a_piece.iter().zip(b_piece).take_while(|(a, b)| a == b).count();
            let bytes = (a_piece.get(equal).copied(), b_piece.get(equal).copied());
            return Ok(Some((offset + equal as u64, bytes)));
        }
        offset += len as u64;
        progress.add(len as u64);
        a.consume(len);
        b.consume(len);
    }
}

impl Data {
    /// Returns the number of bytes, if it is known.
    fn nbytes(&self) -> Option<u64> {
        match self {
            Data::Array(array) => nbytes(array.shape(), array.typesize()),
            Data::Bytes(_, nbytes) => Some(*nbytes),
        }
    }

    /// Returns the bytes; those of an array are its items in C order.
    fn stream(&mut self) -> Box<dyn BufRead + '_> {
        match self {
            Data::Array(array) => Box::new(ArrayReader::of_array(array)),
            Data::Bytes(reader, _) => Box::new(reader),
        }
    }
}
