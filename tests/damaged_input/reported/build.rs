//! Builds chunks and frames by hand, field by field (chunk.md 1, frame.md 1).

/// Bits 5-7 of a chunk's flags.
pub const BLOSCLZ: u8 = 0;
pub const ZLIB: u8 = 3;
pub const REGISTERED: u8 = 6;
/// Flags: the header has 32 bytes.
const EXTENDED: u8 = 0x05;
/// Flags: the content is stored uncompressed.
const MEMCPYED: u8 = 0x02;
/// Flags: one stream in each block.
const NOT_SPLIT: u8 = 0x10;
/// The length of a chunk's header in bytes.
pub const CHUNK_HEADER: usize = 32;
/// The length of a frame's header without metalayers, in bytes.
const FRAME_HEADER: usize = 97;

/// Returns a chunk with this body after its header of 32 bytes.
fn with_header(flags: u8, typesize: u8, sizes: [i32; 2], body: &[u8]) -> Vec<u8> {
    let mut chunk = vec![5, 1, EXTENDED | flags, typesize];
    let [nbytes, blocksize] = sizes;
    for field in [nbytes, blocksize, (CHUNK_HEADER + body.len()) as i32] {
        chunk.extend(field.to_le_bytes());
    }
    chunk.resize(CHUNK_HEADER, 0);
    chunk.extend(body);
    chunk
}

/// Returns a chunk of one block, whose only stream is `stream`.
pub fn chunk_of_stream(format: u8, typesize: u8, nbytes: i32, stream: &[u8]) -> Vec<u8> {
    chunk_of_streams(format, typesize, [nbytes, nbytes], &[stream])
}

/// Returns a chunk of `[nbytes, blocksize]` bytes with one stream for each block.
pub fn chunk_of_streams(format: u8, typesize: u8, sizes: [i32; 2], streams: &[&[u8]]) -> Vec<u8> {
    let mut starts = Vec::new();
    let mut blocks = Vec::new();
    for stream in streams {
        let start = CHUNK_HEADER + 4 * streams.len() + blocks.len();
        starts.extend((start as i32).to_le_bytes());
        blocks.extend((stream.len() as i32).to_le_bytes());
        blocks.extend(*stream);
    }
    with_header(format << 5 | NOT_SPLIT, typesize, sizes, &[starts, blocks].concat())
}

/// Returns a BloscLZ stream of `len` bytes 7: a literal, a match at distance 1, a literal.
pub fn sevens(len: usize) -> Vec<u8> {
    // A match of 9 bytes, and the additional length bytes.
    let more = len - 2 - 9;
    let mut stream = vec![0x20, 7, 0xE0];
    stream.resize(stream.len() + more / 255, 255);
    stream.extend([(more % 255) as u8, 0, 0, 7]);
    stream
}

/// Returns a chunk whose content is stored uncompressed.
pub fn memcpyed_chunk(typesize: u8, blocksize: i32, content: &[u8]) -> Vec<u8> {
    with_header(MEMCPYED, typesize, [content.len() as i32, blocksize], content)
}

/// A value in the index of a frame.
#[derive(Clone, Copy)]
pub enum IndexEntry {
    /// The offset of a chunk relative to the end of the header.
    Offset(i64),
    /// A chunk of zeros, which has no payload.
    Zeros,
}

/// A contiguous frame.
pub struct Frame {
    pub typesize: i32,
    /// The uncompressed size of each chunk but the last one.
    pub chunksize: i32,
    /// The total uncompressed size.
    pub nbytes: i64,
    pub codec: u8,
    pub codec_meta: u8,
    pub metalayers: Vec<(&'static str, Vec<u8>)>,
    /// The chunks one after the other.
    pub payload: Vec<u8>,
    pub index: Vec<IndexEntry>,
}

impl Frame {
    /// The length of the header.
    pub fn header_len(&self) -> usize {
        let of = |(name, content): &(&str, Vec<u8>)| 6 + name.len() + 5 + content.len();
        FRAME_HEADER + self.metalayers.iter().map(of).sum::<usize>()
    }

    /// Returns the bytes of the contiguous frame.
    pub fn bytes(&self) -> Vec<u8> {
        self.with_data(0, &self.payload)
    }

    /// Returns the bytes of `chunks.b2frame` in the directory of a sparse frame, whose chunks are in separate files.
    /// An entry of the index is the number of a file.
    pub fn index_file(&self) -> Vec<u8> {
        self.with_data(1, &[])
    }

    fn with_data(&self, frame_type: u8, data: &[u8]) -> Vec<u8> {
        let mut frame = self.header();
        frame[26] = frame_type;
        frame.extend(data);
        let mut offsets = Vec::new();
        for entry in &self.index {
            let value = match *entry {
                IndexEntry::Offset(offset) => offset,
                IndexEntry::Zeros => i64::MIN | 1 << 56,
            };
            offsets.extend(value.to_le_bytes());
        }
        frame.extend(memcpyed_chunk(8, offsets.len() as i32, &offsets));
        frame.extend([0x94, 1, 0x93, 0xCD, 0, 6, 0xDE, 0, 0, 0xDC, 0, 0, 0xCE, 0, 0, 0, 35, 0xD8, 0]);
        frame.extend([0; 16]);
        let len = frame.len() as u64;
        frame[16..24].copy_from_slice(&len.to_be_bytes());
        frame
    }

    fn header(&self) -> Vec<u8> {
        let mut header = vec![0x9E, 0xA8];
        header.extend(b"b2frame\0\xD2");
        header.extend((self.header_len() as i32).to_be_bytes());
        header.push(0xCF);
        header.extend([0; 8]);
        header.extend([0xA4, 0x12, 0, 0x50 | self.codec.min(6), 3, 0xD3]);
        header.extend(self.nbytes.to_be_bytes());
        header.push(0xD3);
        header.extend((self.payload.len() as i64).to_be_bytes());
        for field in [self.typesize, 0, self.chunksize] {
            header.push(0xD2);
            header.extend(field.to_be_bytes());
        }
        header.extend([0xD1, 0, 1, 0xD1, 0, 1, 0xC2, 0xD8, 6, 0, 0, 0, 0, 0, 0]);
        header.extend([self.codec, self.codec_meta, 0, 0, 0, 0, 0, 0, 0, 0]);
        self.add_metalayers(&mut header);
        assert_eq!(header.len(), self.header_len());
        header
    }

    fn add_metalayers(&self, header: &mut Vec<u8>) {
        let count = (self.metalayers.len() as u16).to_be_bytes();
        let map: usize = self.metalayers.iter().map(|(name, _)| 6 + name.len()).sum();
        header.extend([0x93, 0xCD]);
        header.extend((7 + map as u16).to_be_bytes());
        header.push(0xDE);
        header.extend(count);
        // The contents follow the map and the marker with their number.
        let mut at = header.len() + map + 3;
        for (name, content) in &self.metalayers {
            header.push(0xA0 | name.len() as u8);
            header.extend(name.bytes());
            header.push(0xD2);
            header.extend((at as i32).to_be_bytes());
            at += 5 + content.len();
        }
        header.push(0xDC);
        header.extend(count);
        for (_, content) in &self.metalayers {
            header.push(0xC6);
            header.extend((content.len() as i32).to_be_bytes());
            header.extend(content);
        }
    }
}

/// Returns the metalayer `b2nd` of an array of floats or bytes (b2nd.md 2).
pub fn array_metalayer(shape: &[i64], chunkshape: &[i32], blockshape: &[i32], dtype: &str) -> Vec<u8> {
    let ndim = shape.len() as u8;
    let mut content = vec![0x97, 0, ndim, 0x90 | ndim];
    for extent in shape {
        content.push(0xD3);
        content.extend(extent.to_be_bytes());
    }
    for shape in [chunkshape, blockshape] {
        content.push(0x90 | ndim);
        for extent in shape {
            content.push(0xD2);
            content.extend(extent.to_be_bytes());
        }
    }
    content.extend([0, 0xDB]);
    content.extend((dtype.len() as i32).to_be_bytes());
    content.extend(dtype.bytes());
    content
}
