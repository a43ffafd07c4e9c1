//! Finding the index of a damaged frame where its header says that it is.

use super::sections::{FileWindow, table_len_before_trailer};
use crate::chunk::ChunkHeader;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure};
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{self, IndexEntry, Offsets, decode_entry};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts::StoredPart;
use crate::frame::store::load;

/// Index entry of a lost chunk, which no reader accepts.
pub(super) const LOST: i64 = i64::MIN;

/// Reads the index at the place that the header gives. The number of its entries may differ from the number of chunks in
/// the header, of which the last change may not have been written.
pub(super) fn read_credible_index(files: &FrameFiles, header: &FrameHeader) -> Result<(StoredPart, Offsets)> {
    let at = load::index_offset(header);
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    files.read_exact(at, &mut head)?;
    let chunk = ChunkHeader::parse(&head)?;
    let nbytes = usize::try_from(index::stored_nbytes(&chunk)?).unwrap_or(0);
    let bytes = files.read_vec(at, u64::try_from(chunk.cbytes).unwrap_or(0))?;
    let offsets = index::decode(&bytes, nbytes / index::ENTRY_LEN)?;
    let part = StoredPart { at, bytes };
    ensure!(
        is_credible(files, header, &part, &offsets)?,
        Data,
        "the chunk at offset {at} is not the index: it has {} entries, which are not the places of chunks",
        offsets.len(),
    );
    Ok((part, offsets))
}

/// Returns whether the chunk is the index, and not a chunk of the data that was written over it. One of its entries is
/// the place of a chunk and a trailer follows; or half of the entries are, and there are as many as the header has
/// chunks; or all are, and these chunks are at least half of the data section.
fn is_credible(
    files: &FrameFiles,
    header: &FrameHeader,
    part: &StoredPart,
    offsets: &Offsets,
) -> Result<bool> {
    let entries = match offsets {
        Offsets::Uniform { code, .. } => std::slice::from_ref(code),
        Offsets::List(list) => &list[..],
    };
    let has_stated_count = header.chunksize > 0
        && header.nchunks(|| Ok(0)).is_ok_and(|nchunks| usize::try_from(nchunks) == Ok(offsets.len()));
    let has_trailer = table_len_before_trailer(&mut FileWindow::new(files), part.end())?.is_some();
    let lens = || entries.iter().filter_map(|&code| len_of_chunk(files, header, code));
    if has_trailer || has_stated_count {
        let needed = if has_trailer { 1 } else { entries.len().div_ceil(2) };
        return Ok(lens().nth(needed.max(1) - 1).is_some());
    }
    let (valid, sum) = lens().fold((0, 0u64), |(valid, sum), len| (valid + 1, sum.saturating_add(len)));
    let data_len = u64::try_from(header.cbytes).unwrap_or(0);
    Ok(valid == entries.len() && sum >= data_len / 2)
}

/// Returns the length of the chunk at the place that the entry gives, 0 for a chunk without bytes. `None` if no chunk
/// begins there.
fn len_of_chunk(files: &FrameFiles, header: &FrameHeader, code: i64) -> Option<u64> {
    let location = match decode_entry(code) {
        Ok(IndexEntry::Payload(location)) => location,
        Ok(IndexEntry::Special(_)) => return Some(0),
        Err(_) => return None,
    };
    if header.kind == FrameKind::Sparse {
        return files.chunk_file_len(location).ok();
    }
    let left = u64::try_from(header.cbytes).ok()?.checked_sub(location)?;
    let at = (header.header_len as u64).checked_add(location)?;
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    files.read_exact(at, &mut head).ok()?;
    let cbytes = u64::try_from(ChunkHeader::parse(&head).ok()?.cbytes).ok()?;
    (cbytes <= left).then_some(cbytes)
}
