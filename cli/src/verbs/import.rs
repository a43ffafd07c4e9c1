//! `blosc2 import`: a NumPy file, or raw numbers, to an array.

use crate::args::ImportArguments;
use crate::boxes::{BOX_NBYTES, Boxes};
use crate::error::{Failure, WithPath};
use crate::input::is_dash;
use crate::npy::Header;
use crate::npy_file::NpyFile;
use crate::output::{OutputPlace, TemporaryPath};
use crate::pipe::copy;
use crate::source::Bytes;
use crate::terminal::Terminal;
use crate::transfer::Spool;
use blosc2::{AnyArray, ErrorKind};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Runs the verb.
pub(crate) fn run(arguments: &ImportArguments, terminal: &Terminal) -> Result<(), Failure> {
    let destination = &arguments.output;
    if is_dash(destination) {
        return Err(Failure::usage(
            "output \"-\", expected the name of a file: an array is not written to stdout",
        ));
    }
    if arguments.compression.blocksize.is_some() {
        return Err(Failure::usage("--blocksize with an array, expected --blocks: the shape of a block"));
    }
    let place = OutputPlace::new(destination, &arguments.input, arguments.force)?;
    let mut source = open(arguments)?;
    match place {
        OutputPlace::File(file) => {
            let temporary = TemporaryPath::new(&file)?;
            write(&mut source, arguments, temporary.path(), terminal)?;
            temporary.commit(arguments.force, arguments.durability.survives_power_loss())
        }
        OutputPlace::Stream(mut stream) => {
            let spool = Spool::new()?;
            write(&mut source, arguments, spool.path(), terminal)?;
            let mut file = File::open(spool.path()).with_path(spool.path())?;
            io::copy(&mut file, &mut stream).with_path(destination).map(drop)
        }
    }
}

/// Writes the array to the new file `path`.
fn write(
    source: &mut NpyFile<'_>,
    arguments: &ImportArguments,
    path: &Path,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let destination = &arguments.output;
    let mut array = arguments.checksums.apply(false, || create(&source.header, arguments, path))?;
    copy_items(source, &mut array, destination, terminal)?;
    terminal.detail(&format!(
        "{} -> {}: {} {:?}, ratio {:.1}",
        arguments.input.display(),
        destination.display(),
        source.header.dtype,
        source.header.shape,
        array.ratio()
    ));
    Ok(())
}

/// Opens the input, and checks that it has the length that its header or the arguments state.
fn open(arguments: &ImportArguments) -> Result<NpyFile<'_>, Failure> {
    let path: &Path = if is_dash(&arguments.input) { Path::new("stdin") } else { &arguments.input };
    let given = given_header(arguments)?;
    NpyFile::new(open_seekable(&arguments.input, path)?, path, given)
}

/// Returns the header that the arguments state for a raw file.
fn given_header(arguments: &ImportArguments) -> Result<Option<Header>, Failure> {
    let (Some(shape), Some(dtype)) = (&arguments.shape, &arguments.dtype) else { return Ok(None) };
    Ok(Some(Header { dtype: dtype.clone(), fortran_order: false, shape: shape.clone() }))
}

/// Opens a file. The content of stdin or of another pipe is copied to a temporary file first, because its parts are
/// not read one after the other.
pub(crate) fn open_seekable(input: &Path, path: &Path) -> Result<Bytes, Failure> {
    if is_dash(input) {
        return spool(io::stdin().lock(), path).map(Bytes::Disk);
    }
    let bytes = Bytes::open(input).with_path(path)?;
    if let Bytes::Disk(file) = &bytes {
        let metadata = file.metadata().with_path(path)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return spool(BufReader::new(bytes), path).map(Bytes::Disk);
        }
    }
    Ok(bytes)
}

/// Copies the stream `path` to a temporary file without a name.
fn spool(mut stream: impl BufRead, path: &Path) -> Result<File, Failure> {
    let name = PathBuf::from(format!("a temporary file in {}", std::env::temp_dir().display()));
    let mut file = tempfile::tempfile().with_path(&name)?;
    copy(&mut stream, path, &mut file, &name)?;
    file.rewind().with_path(&name)?;
    Ok(file)
}

/// Creates the array for the items of a file with that header.
fn create(header: &Header, arguments: &ImportArguments, path: &Path) -> Result<AnyArray, Failure> {
    let (shape, typesize) = (&header.shape, header.dtype.size());
    check_shapes(arguments.chunks.as_deref(), arguments.blocks.as_deref(), shape)?;
    let params = arguments.compression.params(typesize, arguments.threads.count());
    arguments.compression.check(&params)?;
    let dtype = header.dtype.to_string();
    let mut builder = AnyArray::builder(shape.iter().copied(), &dtype, typesize)
        .params(params)
        .durability(arguments.durability.level());
    if let Some(chunks) = &arguments.chunks {
        builder = builder.chunks(chunks.iter().copied());
    }
    if let Some(blocks) = &arguments.blocks {
        builder = builder.blocks(blocks.iter().copied());
    }
    builder.create(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidParam => Failure::usage(error.to_string()),
        _ => Failure::file(&arguments.output, error),
    })
}

/// Checks the shapes of chunks and blocks that are given for an array.
pub(crate) fn check_shapes(
    chunks: Option<&[u32]>,
    blocks: Option<&[u32]>,
    shape: &[u64],
) -> Result<(), Failure> {
    check_extents("--chunks", chunks, shape)?;
    check_extents("--blocks", blocks, shape)?;
    let (Some(chunks), Some(blocks)) = (chunks, blocks) else { return Ok(()) };
    if blocks.iter().zip(chunks).any(|(block, chunk)| block > chunk) {
        return Err(Failure::usage(format!("--blocks {blocks:?}, expected at most --chunks: {chunks:?}")));
    }
    Ok(())
}

/// Checks the number of the extents of `option`, if it is given.
fn check_extents(option: &str, extents: Option<&[u32]>, shape: &[u64]) -> Result<(), Failure> {
    match extents {
        Some(extents) if extents.len() != shape.len() => Err(Failure::usage(format!(
            "{option} with {} extents, expected {}, for the shape {shape:?}",
            extents.len(),
            shape.len()
        ))),
        Some(extents) if extents.contains(&0) => {
            Err(Failure::usage(format!("{option} {extents:?}, expected extents of at least 1")))
        }
        _ => Ok(()),
    }
}

/// Copies all items. Each chunk is compressed once.
fn copy_items(
    source: &mut NpyFile<'_>,
    array: &mut AnyArray,
    destination: &Path,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let whole: Vec<Range<u64>> = source.header.shape.iter().map(|&extent| 0..extent).collect();
    let progress = terminal.progress("import", source.header.nbytes().ok());
    let mut items = Vec::new();
    for current in Boxes::of_chunks(&whole, array.chunkshape(), array.typesize(), BOX_NBYTES) {
        source.read_box(&current, &mut items)?;
        array.write_bytes(&current, &items).with_path(destination)?;
        progress.add(items.len() as u64);
    }
    Ok(())
}
