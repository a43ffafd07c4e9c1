//! `blosc2 recompress`: a file compressed again with other parameters.

use crate::args::{RecompressArguments, with_default_blocksize};
use crate::array_reader::{ArrayReader, read_box};
use crate::boxes::{BOX_NBYTES, Boxes};
use crate::error::{Failure, WithPath};
use crate::input::Content;
use crate::kind::{Kind, stored_len};
use crate::output::{OutputPlace, TemporaryPath, name_temporary_file};
use crate::pipe::print_line;
use crate::pipeline::{append_chunks, chunk_source, stream_source};
use crate::size::with_unit;
use crate::source::INDEX_FILE;
use crate::terminal::{Progress, Terminal};
use crate::transfer::{Seekable, ratio};
use crate::verbs::compress::{create_frame, whole_items};
use crate::verbs::import::check_shapes;
use crate::walk::Found;
use blosc2::{AnyArray, Encoder, ErrorKind, Metalayers, Params, SuperChunk, SuperChunkInfo};
use std::fs;
use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The metalayer with the shapes and the type of an array, which the library writes.
const ARRAY_METALAYER: &str = "b2nd";

/// Runs the verb.
pub(crate) fn run(arguments: &RecompressArguments, terminal: &Terminal) -> Result<(), Failure> {
    if arguments.output.is_some() && arguments.files.len() > 1 {
        let count = arguments.files.len();
        return Err(Failure::usage(format!("--output with {count} inputs, expected one")));
    }
    let is_frame = |kind, _: &Path| matches!(kind, Kind::Frame | Kind::FrameDirectory);
    let found = Found::expand(&arguments.files, arguments.recursive, terminal, is_frame);
    found.for_each(terminal, |file| {
        Recompression { name: file, arguments, terminal, threads: arguments.threads.count() }.run()
    })
}

/// The work on one file.
struct Recompression<'a> {
    /// The name for messages.
    name: &'a Path,
    arguments: &'a RecompressArguments,
    terminal: &'a Terminal,
    threads: usize,
}

impl Recompression<'_> {
    /// Writes the new file, compares it with the old one, and replaces that unless there is another output.
    fn run(&self) -> Result<(), Failure> {
        let start = Instant::now();
        let file = Seekable::on_disk(self.name)?;
        if file.is_copy() && self.arguments.output.is_none() {
            let message = "is copied to this machine, expected --output: only a file on disk is replaced";
            return Err(Failure::file(self.name, message));
        }
        // The file of a symbolic link is replaced, not the link.
        let path = file.path().canonicalize().with_path(self.name)?;
        let metadata = path.metadata().with_path(self.name)?;
        let len = stored_len(&path).with_path(self.name)?;
        let old = Content::open_as(&path, self.name, self.threads)?;
        let info = match &old {
            Content::Array(array) => array.info().with_path(self.name)?,
            Content::SuperChunk(schunk) => schunk.info(),
        };
        if info.is_contiguous {
            self.check_source(&info, len)?;
        } else if self.arguments.output.is_none() {
            self.check_directory(&path)?;
        }
        let (params, is_lossy) = self.params(&info)?;
        let destination = self.destination(&path)?;
        if self.arguments.dry_run {
            let output = self.arguments.output.as_deref().unwrap_or(self.name);
            let (codec, level) = (params.get_codec(), params.get_level());
            return print_line(&format!(
                "{} -> {}: {codec}, level {level}",
                self.name.display(),
                output.display()
            ));
        }
        let temporary = TemporaryPath::new(&destination)?;
        let name = self.arguments.output.as_deref().unwrap_or(self.name);
        name_temporary_file(temporary.path(), &name.display().to_string());
        self.arguments.checksums.apply(info.has_checksums, || match &old {
            Content::Array(array) => self.write_array(array, &info, &params, temporary.path()),
            Content::SuperChunk(schunk) => {
                self.write_super_chunk(schunk, &params, &metadata, temporary.path())
            }
        })?;
        fs::set_permissions(temporary.path(), metadata.permissions()).with_path(temporary.path())?;
        self.check_result(&old, temporary.path(), is_lossy)?;
        let (before, after) = (len, stored_len(temporary.path()).with_path(&destination)?);
        drop(old);
        let (replaces, is_durable) = match &self.arguments.output {
            None => (true, true),
            Some(_) => (self.arguments.force, self.arguments.durability.survives_power_loss()),
        };
        temporary.commit(replaces, is_durable)?;
        self.terminal.note(&format!(
            "{}: {} ({}) -> {} ({}), {:.1} s",
            self.name.display(),
            with_unit(before),
            ratio(info.nbytes, before),
            with_unit(after),
            ratio(info.nbytes, after),
            start.elapsed().as_secs_f64()
        ));
        Ok(())
    }

    /// Returns the path of the new file.
    fn destination(&self, path: &Path) -> Result<PathBuf, Failure> {
        let Some(output) = &self.arguments.output else { return Ok(path.to_owned()) };
        match OutputPlace::new(output, self.name, self.arguments.force)? {
            OutputPlace::File(file) => Ok(file),
            OutputPlace::Stream(_) => Err(Failure::file(output, "is no file, expected the name of one")),
        }
    }

    /// Refuses a file of which something would be lost.
    fn check_source(&self, info: &SuperChunkInfo, len: u64) -> Result<(), Failure> {
        if info.has_variable_blocks {
            return Err(Failure::file(self.name, "blocks of variable length cannot be compressed again"));
        }
        if info.frame_len != len {
            return Err(Failure::file(
                self.name,
                format!("the file has {len} bytes, expected the {} of its frame and no more", info.frame_len),
            ));
        }
        Ok(())
    }

    /// Refuses a directory with other files than those of the super-chunk, which would be removed with it.
    fn check_directory(&self, path: &Path) -> Result<(), Failure> {
        let is_part = |name: &str| match name.strip_suffix(".chunk") {
            Some(number) => number.bytes().all(|digit| digit.is_ascii_hexdigit()),
            None => name == INDEX_FILE,
        };
        for entry in fs::read_dir(path).with_path(self.name)? {
            let name = entry.with_path(self.name)?.file_name();
            if !name.to_str().is_some_and(is_part) {
                return Err(Failure::file(
                    self.name,
                    format!(
                        "the directory has {name:?}, expected only the files of its super-chunk, or --output"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Returns the parameters of the new file, and whether they change the content.
    fn params(&self, info: &SuperChunkInfo) -> Result<(Params, bool), Failure> {
        let mut params = self.arguments.compression.changed(info.params.clone()).threads(self.threads);
        if self.arguments.chunksize.is_some() && self.arguments.compression.blocksize.is_none() {
            // The block size was chosen for the old chunks.
            params = params.blocksize(0);
        }
        let lossy_part = self.arguments.compression.check(&params)?;
        match &lossy_part {
            Some(part) if self.arguments.output.is_none() => Err(Failure::usage(format!(
                "{}: {part} changes the content, expected --output: the old file is not replaced",
                self.name.display()
            ))),
            _ => Ok((params, lossy_part.is_some())),
        }
    }

    /// Writes an array with other parameters to the new file `path`.
    fn write_array(
        &self,
        array: &AnyArray,
        info: &SuperChunkInfo,
        params: &Params,
        path: &Path,
    ) -> Result<(), Failure> {
        if self.arguments.chunksize.is_some() || self.arguments.compression.blocksize.is_some() {
            return Err(Failure::usage(format!(
                "{}: is an array, expected --chunks or --blocks, which are shapes: --chunksize and --blocksize are for \
                 others",
                self.name.display()
            )));
        }
        if self.arguments.chunks.is_some() || self.arguments.blocks.is_some() || !info.is_contiguous {
            return self.write_chunks(array, info, params, path);
        }
        let _progress = self.progress("compressing", None);
        array.copy_to(path, Some(params)).map(drop).with_path(self.name)
    }

    /// Writes an array with chunks and blocks of other shapes, or in a directory, to the new file `path`.
    fn write_chunks(
        &self,
        old: &AnyArray,
        info: &SuperChunkInfo,
        params: &Params,
        path: &Path,
    ) -> Result<(), Failure> {
        if old.dtype_format() != 0 {
            return Err(Failure::file(
                self.name,
                "the notation of the type is unknown, expected that of NumPy",
            ));
        }
        let shape = old.shape();
        check_shapes(self.arguments.chunks.as_deref(), self.arguments.blocks.as_deref(), shape)?;
        let layers = old.metalayers().with_path(self.name)?;
        let mut builder = AnyArray::builder(shape.iter().copied(), old.dtype(), old.typesize())
            .params(params.clone().blocksize(0))
            .directory(!info.is_contiguous)
            .durability(self.arguments.durability.level());
        // Blocks that were chosen for the old chunks do not fit to others.
        let blocks = match (&self.arguments.blocks, &self.arguments.chunks) {
            (None, None) => Some(old.blockshape().to_vec()),
            (blocks, _) => blocks.clone(),
        };
        builder = builder.chunks(self.arguments.chunks.clone().unwrap_or_else(|| old.chunkshape().to_vec()));
        if let Some(blocks) = blocks {
            builder = builder.blocks(blocks);
        }
        for name in layers.fixed_names().iter().filter(|name| *name != ARRAY_METALAYER) {
            builder = builder.metalayer(name, &self.metalayer(name, layers.fixed(name))?);
        }
        let mut new = builder.create(path).map_err(|error| match error.kind() {
            ErrorKind::InvalidParam => Failure::usage(format!("{}: {error}", self.name.display())),
            _ => Failure::file(self.name, error),
        })?;
        let whole: Vec<Range<u64>> = shape.iter().map(|&extent| 0..extent).collect();
        let progress = self.progress("compressing", Some(info.nbytes));
        let mut items = Vec::new();
        for current in Boxes::of_chunks(&whole, new.chunkshape(), new.typesize(), BOX_NBYTES) {
            read_box(old, &current, &mut items).with_path(self.name)?;
            new.write_bytes(&current, &items).with_path(path)?;
            progress.add(items.len() as u64);
        }
        for name in layers.variable_names() {
            let content = self.metalayer(&name, layers.variable(&name))?;
            new.metalayers_mut().and_then(|mut new| new.set_variable(&name, &content)).with_path(path)?;
        }
        Ok(())
    }

    /// Writes a super-chunk with other parameters, and with its metalayers, to the new file `path`.
    fn write_super_chunk(
        &self,
        old: &SuperChunk,
        params: &Params,
        metadata: &fs::Metadata,
        path: &Path,
    ) -> Result<(), Failure> {
        if self.arguments.chunks.is_some() || self.arguments.blocks.is_some() {
            return Err(Failure::usage(format!(
                "{}: is no array, expected --chunksize or --blocksize: --chunks and --blocks are shapes",
                self.name.display()
            )));
        }
        let chunksize = self.arguments.chunksize.map(|size| whole_items(size, old.typesize())).transpose()?;
        let params = with_default_blocksize(params.clone());
        let mut encoder = Encoder::new(&params).with_path(self.name)?;
        let level = self.arguments.durability.level();
        let mut new = create_frame(path, &params, level, Some(metadata))?;
        let layers = old.metalayers();
        for name in layers.fixed_names() {
            let content = self.metalayer(&name, layers.fixed(&name))?;
            new.metalayers_mut().and_then(|mut new| new.set_fixed(&name, &content)).with_path(path)?;
        }
        let progress = self.progress("compressing", Some(old.nbytes()));
        match chunksize {
            Some(size) => {
                let source = stream_source(old.reader(), self.name, size);
                append_chunks(source, &mut encoder, &mut new, path, &progress)?;
            }
            None => append_chunks(chunk_source(old, self.name), &mut encoder, &mut new, path, &progress)?,
        }
        for name in layers.variable_names() {
            let content = self.metalayer(&name, layers.variable(&name))?;
            new.metalayers_mut().and_then(|mut new| new.set_variable(&name, &content)).with_path(path)?;
        }
        Ok(())
    }

    /// Returns the content of a metalayer of the old file.
    fn metalayer(&self, name: &str, content: blosc2::Result<Option<Vec<u8>>>) -> Result<Vec<u8>, Failure> {
        // A name that is no UTF-8 is listed with replaced bytes, and not found.
        content.with_path(self.name)?.ok_or_else(|| {
            Failure::file(
                self.name,
                format!("the metalayer {name:?} cannot be read, expected a name in UTF-8"),
            )
        })
    }

    /// Checks the new file at `path`, and compares its content with that of the old one, unless it `is_lossy`.
    fn check_result(&self, old: &Content, path: &Path, is_lossy: bool) -> Result<(), Failure> {
        if let Some(damage) = blosc2::verify(path, self.threads).with_path(path)?.first() {
            return Err(Failure::file(self.name, format!("the new file is damaged: {}", damage.message)));
        }
        match (old, Content::open(path, self.threads)?) {
            (Content::Array(old), Content::Array(new)) => {
                let layers = (old.metalayers().with_path(self.name)?, new.metalayers().with_path(path)?);
                self.compare_metalayers(layers)?;
                self.compare_arrays(old, &new, is_lossy)
            }
            (Content::SuperChunk(old), Content::SuperChunk(new)) => {
                self.compare_metalayers((old.metalayers(), new.metalayers()))?;
                if is_lossy {
                    return Ok(());
                }
                self.compare_contents(old.nbytes(), old.reader(), new.reader())
            }
            _ => Err(self.difference("one is an array")),
        }
    }

    fn compare_metalayers(&self, (old, new): (Metalayers<'_>, Metalayers<'_>)) -> Result<(), Failure> {
        let maps = |layers: Metalayers<'_>| -> Result<_, Failure> {
            let mut fixed = layers.fixed_map().with_path(self.name)?;
            // The shapes of chunks and blocks may differ; the shape and the type of the items are compared.
            fixed.remove(ARRAY_METALAYER);
            Ok((fixed, layers.variable_map().with_path(self.name)?))
        };
        if maps(old)? == maps(new)? { Ok(()) } else { Err(self.difference("metalayers")) }
    }

    fn compare_arrays(&self, old: &AnyArray, new: &AnyArray, is_lossy: bool) -> Result<(), Failure> {
        if (old.shape(), old.dtype(), old.dtype_format()) != (new.shape(), new.dtype(), new.dtype_format()) {
            return Err(self.difference("shapes or types"));
        }
        if is_lossy {
            return Ok(());
        }
        let nbytes = old.nitems() * old.typesize() as u64;
        self.compare_contents(nbytes, ArrayReader::of_array(old), ArrayReader::of_array(new))
    }

    /// Compares two contents, of which the first has `nbytes` bytes.
    fn compare_contents(
        &self,
        nbytes: u64,
        mut old: impl BufRead,
        mut new: impl BufRead,
    ) -> Result<(), Failure> {
        let progress = self.progress("comparing", Some(nbytes));
        let mut position = 0;
        loop {
            let (first, second) =
                (old.fill_buf().with_path(self.name)?, new.fill_buf().with_path(self.name)?);
            let len = first.len().min(second.len());
            if first[..len] != second[..len] || first.is_empty() != second.is_empty() {
                return Err(self.difference(&format!("bytes {position} to {}", position + len as u64)));
            }
            if len == 0 {
                return Ok(());
            }
            old.consume(len);
            new.consume(len);
            position += len as u64;
            progress.add(len as u64);
        }
    }

    /// Returns the failure of a new file with another content.
    fn difference(&self, what: &str) -> Failure {
        Failure::file(self.name, format!("the new file differs from the old one, which is kept: {what}"))
    }

    fn progress(&self, action: &str, nbytes: Option<u64>) -> Progress {
        self.terminal.progress(&format!("{}: {action}", self.name.display()), nbytes)
    }
}
