//! The description of one file.

use super::chunks::{ChunkCounts, ChunkList};
use super::metalayer::{self, ContentForm, Metalayer};
use super::stats::FileStats;
use super::subject::{Subject, SubjectContent};
use super::why::Why;
use crate::args::InfoArguments;
use crate::damage::OtherData;
use crate::output::with_final_names;
use crate::terminal::Terminal;
use serde::{Serialize, Serializer};

/// What a file is: the element of the JSON array. Values that a file does not have are null.
#[derive(Serialize)]
pub(super) struct Description<'a> {
    pub path: String,
    /// `array`, `super-chunk`, `lazy expression` or `chunk`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `file` or `directory`.
    pub storage: &'static str,
    /// Extents of an array in items.
    pub shape: Option<Vec<u64>>,
    /// Data type of the items of an array.
    pub dtype: Option<String>,
    /// Extents of a chunk of an array in items.
    pub chunk_shape: Option<Vec<u32>>,
    /// Extents of a block of an array in items.
    pub block_shape: Option<Vec<u32>>,
    /// Size of an item in bytes.
    pub typesize: usize,
    /// Number of items.
    pub items: u64,
    /// Length of the content in bytes.
    pub nbytes: u64,
    /// Length of all chunks in bytes.
    pub cbytes: u64,
    /// Length of the file, or of all files in the directory, in bytes.
    pub file_bytes: u64,
    pub other_data: Option<OtherData>,
    /// `nbytes` divided by `file_bytes`.
    pub ratio: f64,
    pub has_checksums: bool,
    /// The codec of the chunks if they have one, otherwise that of the header.
    pub codec: String,
    /// The codec's own byte of parameters.
    pub codec_meta: Option<u8>,
    pub level: Option<u8>,
    /// The filters in the order in which they are applied: those of the chunks if they have the same, otherwise those of
    /// the header.
    pub filters: Vec<String>,
    /// Length of the content of a chunk in bytes, if all have the same.
    pub chunksize: Option<usize>,
    pub chunks: ChunkCounts,
    pub metalayers: Vec<Metalayer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<FileStats>,
    /// With `--why`: what the automatic tuner would choose; `Err` has the text of an error.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "why_to_json")]
    pub why: Option<Result<Why, String>>,
    /// With `--chunks`: all chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_list: Option<ChunkList<'a>>,
}

impl Description<'_> {
    /// Returns the description of a file, for which the headers of all chunks are read.
    pub(super) fn new<'a>(
        subject: &'a Subject,
        arguments: &InfoArguments,
        terminal: &Terminal,
    ) -> Description<'a> {
        let array = subject.array();
        let chunks = ChunkCounts::read(subject, terminal);
        let compression = Compression::of(subject);
        let metalayers = match &subject.content {
            SubjectContent::Frame(schunk, _) => {
                let form = match (arguments.meta, arguments.hex) {
                    (false, _) => ContentForm::Absent,
                    (true, false) => ContentForm::Text,
                    (true, true) => ContentForm::Hex,
                };
                metalayer::read_all(schunk.metalayers(), form)
            }
            SubjectContent::Chunk(_) => Vec::new(),
        };
        Description {
            path: with_final_names(&subject.path.display().to_string()),
            kind: subject.type_name(),
            storage: subject.storage(),
            shape: array.map(|array| array.shape().to_vec()),
            dtype: array.map(|array| array.dtype().to_owned()),
            chunk_shape: array.map(|array| array.chunkshape().to_vec()),
            block_shape: array.map(|array| array.blockshape().to_vec()),
            typesize: subject.typesize(),
            items: subject.items(),
            nbytes: subject.nbytes(),
            cbytes: compression.cbytes,
            file_bytes: subject.file_bytes,
            other_data: OtherData::behind(&subject.path),
            ratio: subject.ratio(),
            has_checksums: subject.has_checksums(),
            codec: match &chunks.codecs[..] {
                [codec] => codec.clone(),
                _ => subject.codec(),
            },
            codec_meta: compression.codec_meta,
            level: compression.level,
            filters: match &chunks.filters[..] {
                [filters] => filters.clone(),
                _ => compression.filters,
            },
            chunksize: compression.chunksize,
            chunks,
            metalayers,
            stats: arguments.stats.then(|| FileStats::read(subject, terminal)),
            why: arguments.why.map(|tradeoff| Why::new(subject, tradeoff)),
            chunk_list: arguments.chunks.then_some(ChunkList(subject)),
        }
    }
}

/// Writes an explanation; null if there is an error, which is printed for the file.
fn why_to_json<S: Serializer>(why: &Option<Result<Why, String>>, to: S) -> Result<S::Ok, S::Error> {
    why.as_ref().and_then(|why| why.as_ref().ok()).serialize(to)
}

/// How the content is compressed.
struct Compression {
    cbytes: u64,
    codec_meta: Option<u8>,
    level: Option<u8>,
    filters: Vec<String>,
    chunksize: Option<usize>,
}

impl Compression {
    fn of(subject: &Subject) -> Compression {
        match &subject.content {
            SubjectContent::Frame(schunk, _) => {
                let info = schunk.info();
                Compression {
                    cbytes: info.cbytes,
                    codec_meta: Some(info.params.get_codec_meta()),
                    level: Some(info.params.get_level()),
                    filters: info.params.get_filters().iter().map(ToString::to_string).collect(),
                    chunksize: info.chunksize,
                }
            }
            // The level and the byte of the codec are not in chunks.
            SubjectContent::Chunk(info) => Compression {
                cbytes: info.cbytes as u64,
                codec_meta: None,
                level: None,
                filters: info.filters.iter().map(ToString::to_string).collect(),
                chunksize: Some(info.nbytes),
            },
        }
    }
}
