//! Reading the parts of a frame other than its chunks, with the checks of opening a frame (`frame.md` 4.1, 4.4, 4.5) in
//! their order. Opening a frame and checking a damaged one (`check`, `repair`) use the same functions.

#![forbid(unsafe_code)]

use crate::chunk::ChunkHeader;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::checksums::{self, ChecksumMode, ChecksumTable, ChecksummedParts, Root};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{self, Offsets};
use crate::frame::format::metalayers::{self, OwnedMetalayer};
use crate::frame::format::plan::{FrameLayout, Images};
use crate::frame::format::trailer;

/// The minimum length, in bytes, of a frame that is opened from a file (`frame.md` 4.1).
const MIN_FILE_LEN: u64 = 112;
/// The minimum offset, in bytes, of a trailer.
const MIN_TRAILER_OFFSET: u64 = 32;

/// The bytes of a contiguous frame, or of the index file of a sparse frame.
pub(crate) trait ReadFrame {
    /// Fills `dest` with the bytes that begin at byte `at` of the frame.
    ///
    /// # Errors
    /// `FileRead` or `ReadBuffer` if the bytes are not there, and those of the back-end.
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()>;

    /// Returns the `len` bytes at byte `at`. `len` is at most the length of the frame that its header states.
    fn read_vec_at(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len).map_err(|_| err!(MemoryAlloc, "{len} bytes of a frame"))?;
        let mut bytes = fallible::filled(0, len)?;
        self.read_at(at, &mut bytes)?;
        Ok(bytes)
    }
}

/// The parts of a frame that are read when it is opened: all but the chunks.
pub(in crate::frame) struct LoadedParts {
    pub layout: FrameLayout,
    pub offsets: Offsets,
    pub images: Images,
    pub contents: FrameContents,
    pub checksums: Option<Checksums>,
}

/// The properties of a super-chunk that its frame stores.
pub(crate) struct FrameContents {
    pub header: FrameHeader,
    pub nchunks: usize,
    /// Whether header, index and trailer were checked by checksums.
    pub is_checked: bool,
    pub metalayers: Vec<OwnedMetalayer>,
    /// The metalayers of variable length, compressed.
    pub vlmetalayers: Vec<OwnedMetalayer>,
}

/// Reads all parts of a frame but the chunks. The index must end before byte `index_limit`.
///
/// # Errors
/// The errors of `frame.md` 4.4 and 4.5; `Data` for parts that do not fit their checksums; those of reading.
pub(in crate::frame) fn load_parts(
    frame: &impl ReadFrame,
    header: &FrameHeader,
    trailer_len: u64,
    index_limit: u64,
    mode: ChecksumMode,
) -> Result<LoadedParts> {
    let mut layout = FrameLayout::of_opened(header, trailer_len);
    let header_image = frame.read_vec_at(0, header.header_len as u64)?;
    let metalayers = metalayers::to_owned(metalayers::parse_header_section(&header_image)?)?;
    let trailer = frame.read_vec_at(trailer_offset(header, trailer_len)?, trailer_len)?;
    let vlmetalayers = metalayers::to_owned(metalayers::parse_trailer_section(&trailer)?)?;
    let (index, offsets) = match header.nbytes {
        ..=0 => (Vec::new(), Offsets::default()),
        _ => read_index(frame, header, index_limit)?,
    };
    check_offsets(header, &offsets)?;
    let mut images = Images { header: header_image, index, table: Vec::new(), trailer };
    let mut checksums = None;
    if checksums::has_table(header, &images.trailer, mode) {
        checksums = Some(load_checksums(frame, &layout, &mut images, offsets.len())?);
        layout.table_len = images.table.len() as u64;
    }
    let contents = FrameContents {
        header: header.clone(),
        nchunks: offsets.len(),
        is_checked: checksums.is_some(),
        metalayers,
        vlmetalayers,
    };
    Ok(LoadedParts { layout, offsets, images, contents, checksums })
}

/// Reads the table of checksums, stores it in `images`, and checks the images by it.
///
/// # Errors
/// `Data` for a table or a part that is damaged; those of reading the frame.
fn load_checksums(
    frame: &impl ReadFrame,
    layout: &FrameLayout,
    images: &mut Images,
    nchunks: usize,
) -> Result<Checksums> {
    let index_end = layout.index_offset() + images.index.len() as u64;
    let trailer_at = layout.frame_len - layout.trailer_len;
    let (bytes, table) = read_table(frame, index_end, trailer_at, &images.trailer)?;
    images.table = bytes;
    let parts = ChecksummedParts {
        header: &images.header,
        index: checksums::checksum(&images.index),
        trailer: &images.trailer,
        frame_len: layout.frame_len,
    };
    Checksums::parse(table, &parts, layout.index_offset(), nchunks)
}

/// Checks the length that the header of a frame in a file states.
pub(in crate::frame) fn check_file_len(header: &FrameHeader) -> Result<()> {
    if header.frame_len < MIN_FILE_LEN {
        let frame_len = header.frame_len;
        return Err(err!(FileRead, "the frame length is {frame_len}, expected at least {MIN_FILE_LEN}"));
    }
    Ok(())
}

/// Returns the length in bytes of the trailer at the end of a frame of `frame_len` bytes.
///
/// # Errors
/// `ReadBuffer` for a frame that is too short; `Data` for bytes that are not the end of a trailer.
pub(in crate::frame) fn read_trailer_len(frame: &impl ReadFrame, frame_len: u64) -> Result<u64> {
    let mut tail = [0; trailer::MIN_LEN];
    let at = frame_len
        .checked_sub(tail.len() as u64)
        .ok_or_else(|| err!(ReadBuffer, "the frame length is {frame_len}, too short for a trailer"))?;
    frame.read_at(at, &mut tail)?;
    Ok(trailer::parse_trailer_len(&tail, frame_len)? as u64)
}

/// Returns the offset of a trailer of `trailer_len` bytes: at the end of the frame, or behind the header if there are
/// no chunks.
pub(in crate::frame) fn trailer_offset(header: &FrameHeader, trailer_len: u64) -> Result<u64> {
    let frame_len = header.frame_len;
    let at = if header.nbytes > 0 { frame_len - trailer_len } else { header.header_len as u64 };
    ensure!(
        at >= MIN_TRAILER_OFFSET && at.checked_add(trailer_len).is_some_and(|end| end <= frame_len),
        ReadBuffer,
        "the trailer of {trailer_len} bytes at offset {at} is outside the frame of {frame_len} bytes",
    );
    Ok(at)
}

/// Returns the offset of the index in bytes.
pub(in crate::frame) fn index_offset(header: &FrameHeader) -> u64 {
    let data_len = match header.kind {
        FrameKind::Contiguous => u64::try_from(header.cbytes).unwrap_or(0),
        FrameKind::Sparse => 0,
    };
    (header.header_len as u64).saturating_add(data_len)
}

/// Reads and decodes the index of a frame with chunks, which must end before byte `limit`. The entries are checked by
/// [`check_offsets`].
pub(in crate::frame) fn read_index(
    frame: &impl ReadFrame,
    header: &FrameHeader,
    limit: u64,
) -> Result<(Vec<u8>, Offsets)> {
    let at = index_offset(header);
    let head_end = at.checked_add(EXTENDED_HEADER_LENGTH as u64);
    ensure!(
        head_end.is_some_and(|end| end <= header.frame_len),
        InvalidHeader,
        "the index at offset {at} is outside the frame of {} bytes",
        header.frame_len,
    );
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    frame.read_at(at, &mut head)?;
    let chunk = ChunkHeader::parse(&head)?;
    let cbytes = u64::try_from(chunk.cbytes).unwrap_or(0);
    ensure!(
        at + cbytes <= limit,
        InvalidHeader,
        "the index of {cbytes} bytes at offset {at} is not inside the first {limit} bytes",
    );
    let nchunks = header.nchunks(|| index::stored_nbytes(&chunk))?;
    let has_gap = header.kind == FrameKind::Sparse && header.gap.is_some();
    let bytes = if has_gap { read_moved_index(frame, at, &chunk)? } else { frame.read_vec_at(at, cbytes)? };
    let offsets = index::decode(&bytes, usize::try_from(nchunks).unwrap_or(0))?;
    Ok((bytes, offsets))
}

/// Reads the index chunk of a directory that was not closed after atomic changes. Returns the chunk without the gap before
/// its blocks.
fn read_moved_index(frame: &impl ReadFrame, at: u64, chunk: &ChunkHeader) -> Result<Vec<u8>> {
    let head_len = index::head_len(chunk);
    let mut bytes = frame.read_vec_at(at, head_len as u64)?;
    let gap = index::gap_before_blocks(chunk, &bytes)?;
    let blocks_at = head_len + gap;
    let blocks_len = usize::try_from(chunk.cbytes).unwrap_or(0).saturating_sub(blocks_at);
    index::move_blocks(chunk, &mut bytes, -(gap as i32));
    fallible::extend(&mut bytes, &frame.read_vec_at(at + blocks_at as u64, blocks_len as u64)?)?;
    Ok(bytes)
}

/// Checks that the offsets of all chunks of a contiguous frame are inside its data section.
pub(in crate::frame) fn check_offsets(header: &FrameHeader, offsets: &Offsets) -> Result<()> {
    if header.kind == FrameKind::Sparse {
        return Ok(());
    }
    let last = header.cbytes - EXTENDED_HEADER_LENGTH as i64;
    let offset = offsets.max_number();
    if offset >= 0 && offset > last {
        return Err(err!(InvalidHeader, "a chunk offset is {offset}, expected at most {last}"));
    }
    Ok(())
}

/// Reads the table of checksums of a frame that [has one](crate::frame::format::checksums::has_table): it ends where the trailer
/// begins, at byte `trailer_at`, and begins behind the index. Returns its bytes, too.
///
/// # Errors
/// `Data` for a root or a table that is damaged; those of reading.
pub(in crate::frame) fn read_table(
    frame: &impl ReadFrame,
    index_end: u64,
    trailer_at: u64,
    trailer: &[u8],
) -> Result<(Vec<u8>, ChecksumTable)> {
    let root = Root::parse(trailer)?;
    let at = ChecksumTable::offset(root, index_end, trailer_at, trailer.len() as u64)?;
    let bytes = frame.read_vec_at(at, u64::from(root.table_len))?;
    let mut table = ChecksumTable::parse(&bytes, root, at)?;
    table.read_pages(|at, dest| frame.read_at(at, dest))?;
    Ok((bytes, table))
}
