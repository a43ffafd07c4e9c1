//! Damaged parts of files, as lines and as JSON.

use blosc2::{Damage, Part};
use serde::Serialize;
use std::fmt;

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
            message: damage.message.lines().map(str::trim).collect::<Vec<_>>().join(" "),
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
            write!(f, " ({length} bytes)")?;
        }
        write!(f, ": {}", self.message)
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
