//! Code that `compress` and `decompress` share: inputs, destinations, and the steps from one to the other.

use crate::args::FileArguments;
use crate::error::{Failure, WithPath};
use crate::input::is_dash;
use crate::output::{OutputPlace, TemporaryPath, binary_stdout, name_temporary_file};
use crate::pipe::{copy, stdout_name};
use crate::remote;
use crate::size::with_unit;
use crate::source::Bytes;
use crate::store::{self, Place};
use crate::terminal::Terminal;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where the results of a verb go.
pub(crate) enum Destination<'a> {
    /// To a file next to each input.
    Beside,
    /// To this file.
    File(&'a Path),
    Stdout(File),
}

/// Where the result of one input goes.
pub(crate) enum Output {
    File(PathBuf),
    /// Stdout, a device or a pipe, with its name.
    Stream(File, PathBuf),
}

impl<'a> Destination<'a> {
    /// Returns the destination for the inputs `files`, with the value of `--output`. A terminal is an error without
    /// `force`.
    pub(crate) fn new(
        files: &[PathBuf],
        output: Option<&'a Path>,
        force: bool,
    ) -> Result<Destination<'a>, Failure> {
        let count = files.len();
        let has_stdin = files.iter().any(|file| is_dash(file));
        match output {
            Some(_) if count > 1 => {
                Err(Failure::usage(format!("--output with {count} inputs, expected one")))
            }
            None if has_stdin && count > 1 => {
                Err(Failure::usage(format!("`-` among {count} inputs, expected it alone")))
            }
            None if has_stdin => binary_stdout(force).map(Destination::Stdout),
            None => Ok(Destination::Beside),
            Some(path) if is_dash(path) => binary_stdout(force).map(Destination::Stdout),
            Some(path) => Ok(Destination::File(path)),
        }
    }

    /// Returns the output of one input: the file `beside` it, unless another was given. No file exists there, unless
    /// `--force` was given.
    pub(crate) fn output(
        &self,
        input: &Input<'_>,
        beside: impl FnOnce() -> Result<PathBuf, Failure>,
        files: &FileArguments,
    ) -> Result<Output, Failure> {
        let path = self.path(input, beside, files)?;
        if let Destination::Stdout(stdout) = self {
            let stdout = stdout.try_clone().with_path(stdout_name())?;
            return Ok(Output::Stream(stdout, path));
        }
        match OutputPlace::new(&path, input.path, files.force)? {
            OutputPlace::File(file) => Ok(Output::File(file)),
            // A device may discard the bytes, so the input must stay.
            OutputPlace::Stream(_) if files.rm => {
                Err(Failure::usage(format!("--rm with {}, which is no file", path.display())))
            }
            OutputPlace::Stream(stream) => Ok(Output::Stream(stream, path)),
        }
    }
}

impl Destination<'_> {
    /// Returns the path of the output; the name of stdout.
    fn path(
        &self,
        input: &Input<'_>,
        beside: impl FnOnce() -> Result<PathBuf, Failure>,
        files: &FileArguments,
    ) -> Result<PathBuf, Failure> {
        if files.rm && remote::is_url(input.path) {
            return Err(Failure::usage(format!(
                "--rm with {}, whose file is not removed",
                input.path.display()
            )));
        }
        match self {
            Destination::Stdout(_) => Ok(stdout_name().to_owned()),
            Destination::File(path) => Ok(path.to_path_buf()),
            Destination::Beside => beside(),
        }
    }

    /// Returns the name of the output that would be written, with the checks of [`output`](Self::output).
    pub(crate) fn name(
        &self,
        input: &Input<'_>,
        beside: impl FnOnce() -> Result<PathBuf, Failure>,
        files: &FileArguments,
    ) -> Result<PathBuf, Failure> {
        let path = self.path(input, beside, files)?;
        if !matches!(self, Destination::Stdout(_)) {
            OutputPlace::new(&path, input.path, files.force)?;
        }
        Ok(path)
    }
}

/// A file that is read, or stdin.
pub(crate) struct Input<'a> {
    path: &'a Path,
    /// Of a regular file, whose mode and times the output gets; `None` for stdin, pipes and directories.
    metadata: Option<Metadata>,
    /// Whether the input is a directory.
    is_directory: bool,
    /// The place of a member of a store.
    member: Option<Place>,
}

impl<'a> Input<'a> {
    /// Returns the input at `path`, where `-` is stdin.
    pub(crate) fn new(path: &'a Path) -> Result<Input<'a>, Failure> {
        if is_dash(path) {
            return Ok(Input { path, metadata: None, is_directory: false, member: None });
        }
        let member = store::find(path)?;
        if member.is_some() || remote::is_url(path) {
            return Ok(Input { path, metadata: None, is_directory: false, member });
        }
        let metadata = fs::metadata(path).with_path(path)?;
        let is_directory = metadata.is_dir();
        Ok(Input { path, metadata: Some(metadata).filter(Metadata::is_file), is_directory, member: None })
    }

    /// Returns the path, or `-`.
    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    fn is_stdin(&self) -> bool {
        is_dash(self.path)
    }

    /// Returns whether the input is a directory.
    pub(crate) fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// Returns whether the input is stdin, a pipe or a device, which is read once from its begin.
    fn is_stream(&self) -> bool {
        let is_seekable = self.metadata.is_some() || self.member.is_some() || remote::is_url(self.path);
        !is_seekable && !self.is_directory
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &'a Path {
        if self.is_stdin() { Path::new("stdin") } else { self.path }
    }

    /// Returns the metadata of a regular file.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// Returns the length of a file in bytes, if it is known.
    pub(crate) fn len(&self) -> Option<u64> {
        match remote::is_url(self.path) {
            true => self.file().ok()?.len().ok(),
            false => self.metadata.as_ref().map(Metadata::len),
        }
    }

    /// Opens the input as a stream.
    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>, Failure> {
        if self.is_stdin() {
            return Ok(Box::new(io::stdin()));
        }
        if let Some(Place::Inside(store, range)) = &self.member {
            let mut bytes = Bytes::open(store).with_path(store)?;
            bytes.seek(SeekFrom::Start(range.start)).with_path(store)?;
            return Ok(Box::new(bytes.take(range.end - range.start)));
        }
        Ok(Box::new(self.file()?))
    }

    /// Copies the content to a temporary file.
    fn spool(&self) -> Result<Spool, Failure> {
        let spool = Spool::new()?;
        let mut file = File::create_new(spool.path()).with_path(spool.path())?;
        copy(&mut BufReader::new(self.open()?), self.name(), &mut file, spool.path())?;
        Ok(spool)
    }

    /// Returns the input as a file that is in a temporary one.
    fn spooled(&self, spool: Spool) -> Seekable {
        name_temporary_file(spool.path(), &self.name().display().to_string());
        Seekable { path: self.path.to_owned(), spool: Some(spool) }
    }

    /// Opens an input that is not stdin.
    pub(crate) fn file(&self) -> Result<Bytes, Failure> {
        Bytes::open(self.path).with_path(self.path)
    }

    /// Moves a whole output to its destination, with the mode and the times of the input. With `--rm`, the input is
    /// removed.
    pub(crate) fn finish(&self, output: TemporaryPath, files: &FileArguments) -> Result<(), Failure> {
        if let Some(metadata) = &self.metadata {
            output.copy_metadata(metadata)?;
        }
        // The content must survive a loss of power before the input is removed.
        output.commit(files.force, files.rm || files.durability.survives_power_loss())?;
        self.remove(files)
    }

    /// Removes the input, if it is a regular file, with `--rm`.
    pub(crate) fn remove(&self, files: &FileArguments) -> Result<(), Failure> {
        if files.rm && self.metadata.is_some() {
            fs::remove_file(self.path).with_path(self.path)?;
        }
        Ok(())
    }
}

/// A file or directory that is read at any position: a stream, and a frame in the content of another one, is copied to a
/// temporary file first.
pub(crate) struct Seekable {
    path: PathBuf,
    spool: Option<Spool>,
}

impl Seekable {
    /// Returns the file at `path`, where `-` is stdin. In messages, a temporary file has the name of its stream.
    pub(crate) fn new(path: &Path) -> Result<Seekable, Failure> {
        Seekable::of(&Input::new(path)?)
    }

    /// As [`new`](Self::new), for verbs that read all of a file or directory on disk: that of a URL is copied to a temporary place, too.
    pub(crate) fn on_disk(path: &Path) -> Result<Seekable, Failure> {
        let input = Input::new(path)?;
        if !remote::is_url(path) || matches!(input.member, Some(Place::Embedded(..))) {
            return Seekable::of(&input);
        }
        if input.member.is_some() {
            return Ok(input.spooled(input.spool()?));
        }
        let spool = Spool::new()?;
        remote::download(path, spool.path()).with_path(path)?;
        Ok(input.spooled(spool))
    }

    /// Returns the file of an input.
    pub(crate) fn of(input: &Input<'_>) -> Result<Seekable, Failure> {
        let spool = match &input.member {
            Some(Place::Embedded(store, offset, range)) => {
                let spool = Spool::new()?;
                store::extract_embedded(store, *offset, range, spool.path())?;
                spool
            }
            None if input.is_stream() => input.spool()?,
            // Also a member that has a place in a file, where it is opened by its name.
            _ => return Ok(Seekable { path: input.path.to_owned(), spool: None }),
        };
        Ok(input.spooled(spool))
    }

    /// Returns whether the file is a temporary copy.
    pub(crate) fn is_copy(&self) -> bool {
        self.spool.is_some()
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        self.spool.as_ref().map_or(&self.path, Spool::path)
    }
}

/// A path in a new directory of the system's temporary directory. All is removed on drop.
pub(crate) struct Spool(TemporaryPath);

impl Spool {
    /// Creates the directory. Nothing exists at the path in it.
    pub(crate) fn new() -> Result<Spool, Failure> {
        let spool = Spool(TemporaryPath::new(&std::env::temp_dir().join("blosc2"))?);
        name_temporary_file(spool.path(), &format!("a temporary file in {}", std::env::temp_dir().display()));
        Ok(spool)
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Runs `action` for each file. A failure is printed, and the other files follow. Returns the failure with the highest
/// exit code.
pub(crate) fn for_each_file(
    files: &[PathBuf],
    terminal: &Terminal,
    action: impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failures = files.iter().map(PathBuf::as_path).map(action).filter_map(Result::err);
    let worst = failures
        .map(|failure| {
            if let Some(message) = failure.message() {
                terminal.error(message);
            }
            failure.into_reported()
        })
        .max_by_key(Failure::exit_code);
    worst.map_or(Ok(()), Err)
}

/// Returns the sizes of a file before and after, with the ratio of content and compressed size, and the time.
pub(crate) fn summary(name: &Path, sizes: [u64; 2], ratio: &str, start: Instant) -> String {
    let [before, after] = sizes.map(with_unit);
    format!("{}: {before} -> {after} ({ratio}), {:.1} s", name.display(), start.elapsed().as_secs_f64())
}

/// Returns the ratio of a content and its compressed size as text, for example `4.8x`.
pub(crate) fn ratio(content: u64, compressed: u64) -> String {
    format!("{:.1}x", content as f64 / compressed.max(1) as f64)
}
