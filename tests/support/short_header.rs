//! Converts chunks with a 32-byte header to chunks with a 16-byte header.

use super::calls::Header;

/// Returns the same streams after a 16-byte header (chunk.md 1.15), or `None` if that header cannot represent the
/// chunk.
pub fn with_short_header(chunk: &[u8]) -> Option<Vec<u8>> {
    let header = Header::parse(chunk);
    let expressible = match header.filters {
        [0, 0, 0, 0, 0, 0] => 0,
        [0, 0, 0, 0, 0, 1] => 1,
        [0, 0, 0, 0, 0, 2] => 4,
        [0, 0, 0, 0, 3, 1] => 8 | 1,
        _ => return None,
    };
    if header.special() != 0
        || header.uses_dictionary()
        || header.filters_meta != [0; 6]
        || header.flags2 != 0
    {
        return None;
    }
    let mut short = chunk[..16].to_vec();
    short.extend_from_slice(&chunk[32..]);
    short[2] = header.flags & !(1 | 4 | 8) | expressible;
    short[12..16].copy_from_slice(&(header.cbytes - 16).to_le_bytes());
    if !header.is_memcpyed() && header.nbytes > 0 {
        let nblocks = (header.nbytes as usize).div_ceil(header.blocksize as usize);
        for at in (0..nblocks).map(|block| 16 + 4 * block) {
            let start = i32::from_le_bytes(short[at..at + 4].try_into().expect("four bytes"));
            short[at..at + 4].copy_from_slice(&(start - 16).to_le_bytes());
        }
    }
    Some(short)
}
