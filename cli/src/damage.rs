//! Damaged parts of files, as lines and as JSON.

use crate::output::with_final_names;
use crate::size::count;
use crate::source;
use blosc2::{Damage, Part};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// A damaged part. In JSON: `part`, `chunk`, `offset` and `length` (bytes), `message`, `code`; unknown values are null.
#[derive(Serialize)]
pub(crate) struct DamagedPart {
    part: &'static str,
    chunk: Option<u64>,
    offset: Option<u64>,
    length: Option<u64>,
    message: String,
    code: i32,
}

impl From<&Damage> for DamagedPart {
    fn from(damage: &Damage) -> DamagedPart {
        DamagedPart {
            part: part_name(damage.part),
            chunk: damage.nchunk,
            offset: damage.offset,
            length: damage.len,
            message: with_final_names(&damage.message.lines().map(str::trim).collect::<Vec<_>>().join(" ")),
            code: damage.code,
        }
    }
}

impl fmt::Display for DamagedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.part)?;
        if let Some(nchunk) = self.chunk {
            write!(f, " {nchunk}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        if let Some(length) = self.length {
            write!(f, " ({})", count(length, "byte"))?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Data behind the frame in its file. In JSON: `offset` and `length` (bytes).
#[derive(Serialize)]
pub(crate) struct OtherData {
    offset: u64,
    length: u64,
}

impl OtherData {
    /// Returns the data behind the frame in the file at `path`; `None` also for a file that holds no frame.
    pub(crate) fn behind(path: &Path) -> Option<OtherData> {
        let range = source::other_data_behind(path).ok().flatten()?;
        Some(OtherData { offset: range.start, length: range.end - range.start })
    }
}

impl fmt::Display for OtherData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of other data follow the frame at byte {}", count(self.length, "byte"), self.offset)
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Header => "header",
        Part::Metalayer => "metalayer",
        Part::VariableMetalayer => "variable-length metalayer",
        Part::Index => "index",
        Part::Trailer => "trailer",
        Part::Chunk => "chunk",
        Part::File => "file",
    }
}
