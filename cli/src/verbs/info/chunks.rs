//! The chunks of a file: counts, and a list.

use super::subject::Subject;
use crate::remote;
use crate::terminal::Terminal;
use blosc2::{ChunkInfo, Codec, Special};
use serde::{Serialize, Serializer};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// The numbers of chunks.
#[derive(Default, Serialize)]
pub(super) struct ChunkCounts {
    /// All chunks.
    pub count: u64,
    /// Chunks whose content is compressed.
    pub compressed: u64,
    /// Chunks whose content is stored without compression.
    pub stored: u64,
    /// Special chunks of zeros.
    pub zeros: u64,
    /// Special chunks of NaNs.
    pub nans: u64,
    /// Special chunks of one value.
    pub value: u64,
    /// Special chunks whose content is unspecified.
    pub uninit: u64,
    /// Chunks with a dictionary.
    pub with_dictionary: u64,
    /// Chunks whose header cannot be read.
    pub unreadable: u64,
    /// The codecs of the compressed chunks.
    pub codecs: Vec<String>,
    /// The lists of filters of the compressed chunks, each once.
    pub filters: Vec<Vec<String>>,
    /// The error of the first of those.
    #[serde(skip)]
    pub first_error: Option<String>,
}

impl ChunkCounts {
    /// Reads the headers of all chunks.
    pub(super) fn read(subject: &Subject, terminal: &Terminal) -> ChunkCounts {
        /// Number of chunks whose headers are read at once.
        const STEP: u64 = 1024;
        let mut counts = ChunkCounts { count: subject.nchunks(), ..ChunkCounts::default() };
        let header_codec = subject.codec();
        let progress = terminal.count_progress("chunks", counts.count);
        for start in (0..counts.count).step_by(STEP as usize) {
            let chunks = start..counts.count.min(start + STEP);
            for (nchunk, info) in chunks.clone().zip(infos(subject, chunks)) {
                match info {
                    Ok(info) => counts.add(&info, &header_codec),
                    Err(error) => {
                        counts.unreadable += 1;
                        counts.first_error.get_or_insert_with(|| format!("chunk {nchunk}: {error}"));
                    }
                }
            }
            progress.add(STEP);
        }
        counts
    }

    /// Adds a chunk of a file whose header states the codec `header_codec`.
    fn add(&mut self, info: &ChunkInfo, header_codec: &str) {
        let count = match info.special {
            Some(Special::Zeros) => &mut self.zeros,
            Some(Special::Nans) => &mut self.nans,
            Some(Special::Value) => &mut self.value,
            Some(Special::Uninit) => &mut self.uninit,
            None if info.is_stored => &mut self.stored,
            None => &mut self.compressed,
        };
        *count += 1;
        self.with_dictionary += u64::from(info.has_dictionary);
        if info.special.is_none() && !info.is_stored {
            // A chunk of LZ4HC has the format of LZ4.
            let is_lz4hc = info.codec == Codec::Lz4 && header_codec == "lz4hc";
            add_once(
                &mut self.codecs,
                if is_lz4hc { header_codec.to_owned() } else { info.codec.to_string() },
            );
            add_once(&mut self.filters, info.filters.iter().map(ToString::to_string).collect());
        }
    }
}

/// Reads the headers of chunks, of a URL by several requests at a time.
fn infos(subject: &Subject, chunks: Range<u64>) -> Vec<blosc2::Result<ChunkInfo>> {
    /// Number of requests at a time: that of the client.
    const REQUESTS: u64 = 16;
    let read = |chunks: Range<u64>| chunks.map(|nchunk| subject.chunk_info(nchunk)).collect::<Vec<_>>();
    if !remote::is_url(&subject.path) {
        return read(chunks);
    }
    let part = (chunks.end - chunks.start).div_ceil(REQUESTS) as usize;
    thread::scope(|scope| {
        let starts = chunks.clone().step_by(part.max(1));
        let parts = starts.map(|start| start..chunks.end.min(start + part as u64));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Adds a value that the list does not have.
fn add_once<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

/// One chunk. In JSON: `number`, `nbytes`, `cbytes`, `ratio`, `kind` (compressed, stored, zeros, nans, value, uninit or
/// unreadable) and `error`; what cannot be read is null.
#[derive(Serialize)]
pub(super) struct ChunkLine {
    pub number: u64,
    pub nbytes: Option<usize>,
    pub cbytes: Option<usize>,
    pub ratio: Option<f64>,
    pub kind: &'static str,
    pub error: Option<String>,
}

impl ChunkLine {
    fn new(number: u64, info: blosc2::Result<ChunkInfo>) -> ChunkLine {
        match info {
            Ok(info) => ChunkLine {
                number,
                nbytes: Some(info.nbytes),
                cbytes: Some(info.cbytes),
                ratio: Some(info.nbytes as f64 / info.cbytes.max(1) as f64),
                kind: kind(&info),
                error: None,
            },
            Err(error) => ChunkLine {
                number,
                nbytes: None,
                cbytes: None,
                ratio: None,
                kind: "unreadable",
                error: Some(error.to_string()),
            },
        }
    }
}

fn kind(info: &ChunkInfo) -> &'static str {
    match info.special {
        Some(Special::Zeros) => "zeros",
        Some(Special::Nans) => "nans",
        Some(Special::Value) => "value",
        Some(Special::Uninit) => "uninit",
        None if info.is_stored => "stored",
        None => "compressed",
    }
}

/// The list of the chunks of a file, whose headers are read one by one when the list is printed.
pub(super) struct ChunkList<'a>(pub &'a Subject);

impl ChunkList<'_> {
    /// Returns the chunks in order.
    pub(super) fn lines(&self) -> impl Iterator<Item = ChunkLine> + '_ {
        (0..self.0.nchunks()).map(|nchunk| ChunkLine::new(nchunk, self.0.chunk_info(nchunk)))
    }
}

impl Serialize for ChunkList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lines())
    }
}
