//! Compression and decompression of streams of chunks: reading, the codec, and writing overlap, in one thread each.
//!
//! Data flow: a source, which fills buffers with content -> an encoder -> a super-chunk ([`append_chunks`]); or a source
//! -> a file ([`write_contents`]).

use crate::array_reader::ArrayReader;
use crate::buffers::{Buffer, channel};
use crate::error::{Failure, WithPath};
use crate::terminal::Progress;
use blosc2::{AnyArray, Chunk, Encoder, SuperChunk};
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

/// The largest difference in bytes between the length of a chunk and that of its content.
const MAX_OVERHEAD: usize = 32;

/// Number of bytes of items that are written at once.
const ITEMS_READ: usize = 4 << 20;

/// Fills a buffer with the next content of a source. Returns whether there is one.
pub(crate) trait Source: FnMut(&mut Buffer) -> Result<bool, Failure> + Send {}

impl<F: FnMut(&mut Buffer) -> Result<bool, Failure> + Send> Source for F {}

/// Returns the source that reads a stream in pieces of `size` bytes. `name` is that of the stream in errors.
pub(crate) fn stream_source<'a>(
    mut input: impl Read + Send + 'a,
    name: &'a Path,
    size: usize,
) -> impl Source + 'a {
    move |buffer| {
        buffer.read_from(&mut input, size).with_path(name)?;
        Ok(!buffer.content().is_empty())
    }
}

/// Returns the source of the contents of all chunks. `name` is that of the file in errors.
pub(crate) fn chunk_source<'a>(schunk: &'a SuperChunk, name: &'a Path) -> impl Source + 'a {
    let (mut nchunk, mut total) = (0, 0);
    move |buffer| {
        if nchunk == schunk.nchunks() {
            let nbytes = schunk.nbytes();
            if total != nbytes {
                let message = format!("the chunks have {total} bytes, expected the {nbytes} of the header");
                return Err(Failure::file(name, message));
            }
            return Ok(false);
        }
        let mut decompress = || -> io::Result<u64> {
            let room = buffer.room(schunk.chunk_info(nchunk)?.nbytes)?;
            let len = schunk.decompress_chunk_into(nchunk, room)?;
            buffer.truncate(len);
            Ok(len as u64)
        };
        let len = decompress().map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => Failure::file(name, format_args!("chunk {nchunk}: {error}")),
            _ => Failure::file(name, format_args!("chunk {nchunk} is damaged: {error}")),
        })?;
        total += len;
        nchunk += 1;
        Ok(true)
    }
}

/// Returns the source of the items of an array in C order. `name` is that of the file in errors.
pub(crate) fn item_source<'a>(array: &'a AnyArray, name: &'a Path) -> impl Source + 'a {
    stream_source(ArrayReader::of_array(array), name, ITEMS_READ)
}

/// Compresses the contents of `source`, and appends each as one chunk to `schunk`, whose file is `path`.
pub(crate) fn append_chunks(
    source: impl Source,
    encoder: &mut Encoder,
    schunk: &mut SuperChunk,
    path: &Path,
    progress: &Progress,
) -> Result<(), Failure> {
    let (content_filler, mut contents) = channel();
    let (chunk_filler, mut chunks) = channel();
    scope(|scope| {
        let reader = spawn(scope, move || content_filler.run(source))?;
        let writer = spawn(scope, move || {
            while let Some(chunk) = chunks.next() {
                let appended = Chunk::from_bytes(chunk).and_then(|chunk| schunk.append_chunk(&chunk));
                appended.with_path(path)?;
            }
            Ok(())
        })?;
        let encoded = chunk_filler.run(|chunk| {
            let Some(content) = contents.next() else { return Ok(false) };
            encode(encoder, content, chunk).with_path(path)?;
            progress.add(content.len() as u64);
            Ok(true)
        });
        // The reader ends without the other end of its channel.
        drop(contents);
        let (read, written) = (join(reader), join(writer));
        encoded.and(read).and(written)
    })
}

/// Compresses `content` into `chunk`.
fn encode(encoder: &mut Encoder, content: &[u8], chunk: &mut Buffer) -> blosc2::Result<()> {
    let room = chunk.room(content.len() + MAX_OVERHEAD)?;
    // The room is always enough; an empty chunk is an error when it is appended.
    let len = encoder.compress_into(content, room)?.unwrap_or(0);
    chunk.truncate(len);
    Ok(())
}

/// Writes the contents of `source` to `output`, whose name in errors is `name`. Returns their length in bytes.
pub(crate) fn write_contents(
    source: impl Source,
    mut output: impl Write,
    name: &Path,
    progress: &Progress,
) -> Result<u64, Failure> {
    let (filler, mut contents) = channel();
    scope(|scope| {
        let reader = spawn(scope, move || filler.run(source))?;
        let mut write = || {
            let mut nbytes = 0;
            while let Some(content) = contents.next() {
                output.write_all(content).with_path(name)?;
                nbytes += content.len() as u64;
                progress.add(content.len() as u64);
            }
            Ok(nbytes)
        };
        let written = write();
        // The reader ends without the other end of its channel.
        drop(contents);
        join(reader).and(written)
    })
}

/// Starts a thread.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Failure> {
    Builder::new().spawn_scoped(scope, run).map_err(|error| Failure::data(format!("no thread: {error}")))
}

/// Returns the result of a thread, or passes its panic on.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
