//! Chunks of a contiguous frame whose entries in the index are damaged.

use super::scan::{FoundChunk, ScanRules, scan};
use crate::error::Result;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::recovery::check::chunks::ChunkChecker;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::store::load;

/// Returns the whole chunks in the data section that are not at one of the places `known`, which are in ascending order, in the order of their places.
/// `None` if the data section has other bytes, too: these may be the damaged chunks of lost entries.
pub(super) fn find_orphans(
    files: &FrameFiles,
    checker: &ChunkChecker<'_>,
    header: &FrameHeader,
    known: &[u64],
) -> Result<Option<Vec<FoundChunk>>> {
    if header.kind == FrameKind::Sparse {
        return Ok(None);
    }
    let (start, end) = (header.header_len as u64, load::index_offset(header));
    let found = scan(files, checker, start..end, ScanRules::of_frame(header))?;
    if !found.gaps.is_empty() || found.index.is_some() || found.trailer.is_some() {
        return Ok(None);
    }
    let mut orphans = found.chunks;
    orphans.retain(|chunk| known.binary_search(&(chunk.at - start)).is_err());
    Ok(Some(orphans))
}
