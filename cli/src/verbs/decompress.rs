//! `blosc2 decompress`: the contents of frames and arrays to files and streams of bytes.

use crate::args::DecompressArguments;
use crate::error::{Failure, WithPath};
use crate::input::Content;
use crate::kind::Kind;
use crate::os;
use crate::output::TemporaryPath;
use crate::pipe::print_line;
use crate::pipeline::{chunk_source, item_source, write_contents};
use crate::sparse::SparseWriter;
use crate::terminal::{Progress, Terminal};
use crate::transfer::{Destination, Input, Output, Seekable, ratio, summary};
use crate::walk::Found;
use blosc2::SuperChunkInfo;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the verb.
pub(crate) fn run(arguments: &DecompressArguments, terminal: &Terminal) -> Result<(), Failure> {
    let force = arguments.files_arguments.force;
    let recursive = arguments.files_arguments.recursive;
    let is_frame = |kind, path: &Path| {
        kind != Kind::Chunk && path.extension().is_some_and(|extension| extension == "b2frame")
    };
    let found = Found::expand(&arguments.files, recursive, terminal, is_frame);
    let destination = Destination::new(&found.files, arguments.output.as_deref(), force)?;
    found.for_each(terminal, |file| decompress(file, arguments, &destination, terminal))
}

/// Decompresses one input.
fn decompress(
    path: &Path,
    arguments: &DecompressArguments,
    destination: &Destination<'_>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let start = Instant::now();
    let (input, files) = (Input::new(path)?, &arguments.files_arguments);
    if input.is_directory() && files.rm {
        return Err(Failure::file(path, "is a directory, expected a file, which --rm can remove"));
    }
    if files.dry_run {
        let output = destination.name(&input, || without_suffix(path), files)?;
        return print_line(&format!("{} -> {}", input.name().display(), output.display()));
    }
    let output = destination.output(&input, || without_suffix(path), files)?;
    // A frame is read from its end.
    let frame = Seekable::of(&input)?;
    let content = Content::open_as(frame.path(), input.name(), arguments.threads.count())?;
    let (compressed, nbytes) = sizes(&content, input.name())?;
    let progress = terminal.progress(&input.name().display().to_string(), Some(nbytes));
    let written = match output {
        Output::File(file) => {
            let temporary = TemporaryPath::new(&file)?;
            let created = create(&temporary, &input)?;
            let mut sparse = SparseWriter::new(&created, !arguments.sparse.no_sparse);
            let written = write(&content, input.name(), &mut sparse, &file, &progress)?;
            sparse.finish().with_path(&file)?;
            input.finish(temporary, files)?;
            written
        }
        Output::Stream(stream, name) => {
            let written = write(&content, input.name(), stream, &name, &progress)?;
            input.remove(files)?;
            written
        }
    };
    drop(progress);
    let ratio = ratio(written, compressed);
    terminal.note(&summary(input.name(), [compressed, written], &ratio, start));
    Ok(())
}

/// Writes the content of the input `name` to `output`, with its name. Returns the number of bytes.
fn write(
    content: &Content,
    name: &Path,
    output: impl Write,
    output_name: &Path,
    progress: &Progress,
) -> Result<u64, Failure> {
    match content {
        Content::SuperChunk(schunk) => {
            write_contents(chunk_source(schunk, name), output, output_name, progress)
        }
        Content::Array(array) => write_contents(item_source(array, name), output, output_name, progress),
    }
}

/// Returns the name of the content of a frame.
fn without_suffix(path: &Path) -> Result<PathBuf, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("b2frame") => Ok(path.with_extension("")),
        Some("b2nd") => Err(Failure::file(
            path,
            "is an array: --output names a file for its raw items, and `blosc2 export` writes a NumPy file",
        )),
        _ => Err(Failure::file(path, "expected a name with .b2frame, or --output")),
    }
}

/// Returns the sizes of the compressed and of the whole content in bytes.
fn sizes(content: &Content, name: &Path) -> Result<(u64, u64), Failure> {
    let compressed = |info: SuperChunkInfo| {
        if info.is_contiguous { info.frame_len } else { info.frame_len.saturating_add(info.cbytes) }
    };
    Ok(match content {
        Content::SuperChunk(schunk) => (compressed(schunk.info()), schunk.nbytes()),
        Content::Array(array) => {
            let info = array.info().with_path(name)?;
            (compressed(info), array.nitems().saturating_mul(array.typesize() as u64))
        }
    })
}

/// Creates the temporary file for the content of an input, which no other user can read until it has the mode of the
/// input.
fn create(output: &TemporaryPath, input: &Input<'_>) -> Result<File, Failure> {
    os::create_new_file(output.path(), input.metadata().is_some()).with_path(output.path())
}
