//! `blosc2 compress`: files and streams of bytes to contiguous frames.

use crate::args::{CompressArguments, with_default_blocksize};
use crate::error::{Failure, WithPath};
use crate::kind::Kind;
use crate::os;
use crate::output::TemporaryPath;
use crate::pipe::print_line;
use crate::pipeline::{append_chunks, stream_source};
use crate::probe::{ItemSize, first_sample, samples};
use crate::size::Size;
use crate::terminal::Terminal;
use crate::transfer::{Destination, Input, Output, Spool, ratio, summary};
use crate::walk::Found;
use blosc2::{Durability, Encoder, OpenOptions, Params, SuperChunk};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The largest content of a chunk in bytes: its length and that of a header fit into 31 bits.
const MAX_CHUNKSIZE: usize = i32::MAX as usize - 32;

/// Runs the verb.
pub(crate) fn run(arguments: &CompressArguments, terminal: &Terminal) -> Result<(), Failure> {
    // The item size has no part in the checks; those of the chunk size are made for the smallest one.
    let least = arguments.typesize.map_or(1, usize::from);
    whole_items(arguments.chunksize, least)?;
    let params = arguments.compression.params(least, arguments.threads.count());
    if let Some(part) = arguments.compression.check(&params)?
        && arguments.files_arguments.rm
    {
        return Err(Failure::usage(format!("--rm with {part}, which changes the content")));
    }
    Encoder::new(&params).map_err(|error| Failure::usage(error.to_string()))?;
    let force = arguments.files_arguments.force;
    let recursive = arguments.files_arguments.recursive;
    let is_plain = |kind, path: &Path| kind != Kind::FrameDirectory && !is_compressed(path);
    let found = Found::expand(&arguments.files, recursive, terminal, is_plain);
    let destination = Destination::new(&found.files, arguments.output.as_deref(), force)?;
    let job = Compression { arguments, terminal };
    found.for_each(terminal, |file| job.compress(file, &destination))
}

/// Returns whether the name is that of a Blosc2 file.
fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "b2frame" || extension == "b2nd")
}

/// Returns the size of a chunk in bytes, rounded down to whole items.
pub(crate) fn whole_items(size: Size, typesize: usize) -> Result<usize, Failure> {
    if size.0 > MAX_CHUNKSIZE {
        return Err(Failure::usage(format!("chunks of {} bytes, expected at most {MAX_CHUNKSIZE}", size.0)));
    }
    if size.0 < typesize {
        return Err(Failure::usage(format!(
            "chunks of {} bytes, expected at least one item of {typesize} bytes",
            size.0
        )));
    }
    Ok(size.0 - size.0 % typesize)
}

/// The values that are the same for all inputs.
struct Compression<'a> {
    arguments: &'a CompressArguments,
    terminal: &'a Terminal,
}

/// The files that were written, and their sizes.
struct Written {
    /// The sizes of the content and of the frame in bytes.
    sizes: [u64; 2],
    item_size: ItemSize,
}

impl Compression<'_> {
    /// Compresses one input.
    fn compress(&self, path: &Path, destination: &Destination<'_>) -> Result<(), Failure> {
        if is_compressed(path) {
            self.terminal.warning(&format!("{}: is compressed already, skipped", path.display()));
            return Err(Failure::reported());
        }
        let start = Instant::now();
        let input = Input::new(path)?;
        if input.is_directory() {
            return Err(Failure::file(
                path,
                "is a directory, expected a file; -r compresses the files in it",
            ));
        }
        let files = &self.arguments.files_arguments;
        if files.dry_run {
            return self.announce(&input, destination);
        }
        let written = match destination.output(&input, || Ok(with_suffix(path)), files)? {
            Output::File(file) => {
                let temporary = TemporaryPath::new(&file)?;
                let written = self.write_frame(&input, temporary.path())?;
                input.finish(temporary, files)?;
                written
            }
            Output::Stream(mut stream, name) => {
                let spool = Spool::new()?;
                let written = self.write_frame(&input, spool.path())?;
                let mut frame = File::open(spool.path()).with_path(spool.path())?;
                io::copy(&mut frame, &mut stream).with_path(&name)?;
                input.remove(files)?;
                written
            }
        };
        let [content, frame] = written.sizes;
        let ratio = format!("{}, items of {}", ratio(content, frame), written.item_size);
        self.terminal.note(&summary(input.name(), written.sizes, &ratio, start));
        Ok(())
    }

    /// Prints the file that would be written.
    fn announce(&self, input: &Input<'_>, destination: &Destination<'_>) -> Result<(), Failure> {
        let output =
            destination.name(input, || Ok(with_suffix(input.path())), &self.arguments.files_arguments)?;
        // Of a stream, nothing is read.
        let item_size = match input.len() {
            Some(_) => format!(" (items of {})", self.open(input)?.0),
            None => String::new(),
        };
        print_line(&format!("{} -> {}{item_size}", input.name().display(), output.display()))
    }

    /// Returns the item size, and the content as a stream.
    fn open(&self, input: &Input<'_>) -> Result<(ItemSize, Box<dyn Read + Send>), Failure> {
        let mut stream = input.open()?;
        let limit = self.arguments.chunksize.0;
        if let Some(typesize) = self.arguments.typesize {
            return Ok((ItemSize::given(usize::from(typesize)), stream));
        }
        let (samples, stream): (_, Box<dyn Read + Send>) = match input.len() {
            Some(len) => (samples(&mut input.file()?, len, input.name())?, stream),
            None => {
                let begin = first_sample(&mut stream, input.name())?;
                (vec![begin.clone()], Box::new(Cursor::new(begin).chain(stream)))
            }
        };
        let item_size = ItemSize::of_samples(&samples, limit, |typesize| {
            self.arguments.compression.fixed_params(typesize, 1)
        });
        Ok((item_size.with_path(input.name())?, stream))
    }

    /// Writes the input as a frame to the new file `path`.
    fn write_frame(&self, input: &Input<'_>, path: &Path) -> Result<Written, Failure> {
        let (item_size, stream) = self.open(input)?;
        let chunksize = whole_items(self.arguments.chunksize, item_size.typesize)?;
        let params = self.arguments.compression.params(item_size.typesize, self.arguments.threads.count());
        let params = with_default_blocksize(params);
        let mut encoder = Encoder::new(&params).with_path(path)?;
        let level = self.arguments.files_arguments.durability.level();
        let create = || create_frame(path, &params, level, input.metadata());
        let mut schunk = self.arguments.checksums.apply(false, create)?;
        let progress = self.terminal.progress(&input.name().display().to_string(), input.len());
        let source = stream_source(stream, input.name(), chunksize);
        append_chunks(source, &mut encoder, &mut schunk, path, &progress)?;
        Ok(Written { sizes: [schunk.nbytes(), schunk.info().frame_len], item_size })
    }
}

/// Creates an empty super-chunk: a file, or a directory if the source is one. With the permissions of a source file, no other
/// user can read it who cannot read the source.
pub(crate) fn create_frame(
    path: &Path,
    params: &Params,
    durability: Durability,
    source: Option<&fs::Metadata>,
) -> Result<SuperChunk, Failure> {
    let options = OpenOptions::new()
        .write(true)
        .create_new(true)
        .directory(source.is_some_and(fs::Metadata::is_dir))
        .durability(durability)
        .params(params.clone());
    let schunk = options.open(path).with_path(path)?;
    if let Some(source) = source.filter(|source| !source.is_dir()) {
        // The library writes to the file.
        fs::set_permissions(path, os::writable(source.permissions())).with_path(path)?;
    }
    Ok(schunk)
}

/// Returns the name of the frame of a file.
fn with_suffix(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".b2frame");
    PathBuf::from(name)
}
