//! Codecs and filters of the program.

use crate::error::{Error, Result};
use crate::params::{Codec, Filter};
use blosc2_core::rust_api::plugins as core;

/// A codec of the program: compresses streams of bytes.
///
/// ```
/// use blosc2::{Params, UserCodec, register_codec};
///
/// /// Stores two bytes below 16 in one.
/// struct Nibbles;
///
/// impl UserCodec for Nibbles {
///     fn encode(&self, _: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize> {
///         let pairs = stream.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4);
///         let len = pairs.len();
///         let fits = len <= dest.len() && stream.iter().all(|&byte| byte < 16);
///         fits.then(|| dest.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair)).map(|()| len)
///     }
///
///     fn decode(&self, _: u8, stream: &[u8], dest: &mut [u8]) -> bool {
///         let pairs = dest.chunks_mut(2);
///         stream.len() == pairs.len()
///             && pairs.zip(stream).all(|(pair, from)| {
///                 pair.iter_mut().zip([from & 15, from >> 4]).for_each(|(to, byte)| *to = byte);
///                 true
///             })
///     }
/// }
///
/// let codec = register_codec(200, "nibbles", Nibbles)?;
/// let content: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 28) as u8).collect();
/// let chunk = blosc2::compress(&content, &Params::new().codec(codec).typesize(1))?;
/// assert!(chunk.as_bytes().len() < 51_000);
/// assert_eq!(chunk.decompress()?, content);
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// A pair of closures is a codec, too:
///
/// ```
/// use blosc2::{Params, register_codec};
///
/// // Streams whose second half is zero.
/// let encode = |_: u8, stream: &[u8], dest: &mut [u8]| {
///     let (first, second) = stream.split_at(stream.len() / 2);
///     let is_sparse = second.iter().all(|&byte| byte == 0);
///     dest.get_mut(..first.len()).filter(|_| is_sparse).map(|dest| dest.copy_from_slice(first))?;
///     Some(first.len())
/// };
/// let decode = |_: u8, stream: &[u8], dest: &mut [u8]| {
///     let (first, second) = dest.split_at_mut(dest.len() / 2);
///     second.fill(0);
///     let fits = first.len() == stream.len();
///     fits.then(|| first.copy_from_slice(stream)).is_some()
/// };
/// let codec = register_codec(202, "halves", (encode, decode))?;
/// let content = [(0..5000u32).map(|n| (n * n) as u8).collect(), vec![0; 5000]].concat();
/// let chunk = blosc2::compress(&content, &Params::new().codec(codec).filters([]).typesize(1))?;
/// assert!(chunk.as_bytes().len() < 5100);
/// assert_eq!(chunk.decompress()?, content);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait UserCodec: Send + Sync + 'static {
    /// Compresses `stream` into `dest`. Returns the length in bytes; `None` if it does not fit, so that the stream is stored.
    /// `meta` is [`Params::codec_meta`](crate::Params::codec_meta).
    fn encode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize>;

    /// Decompresses `stream`, which can be damaged, into `dest`. Returns whether it has exactly the bytes of `dest`.
    fn decode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> bool;
}

impl<E, D> UserCodec for (E, D)
where
    E: Fn(u8, &[u8], &mut [u8]) -> Option<usize> + Send + Sync + 'static,
    D: Fn(u8, &[u8], &mut [u8]) -> bool + Send + Sync + 'static,
{
    fn encode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize> {
        (self.0)(meta, stream, dest)
    }

    fn decode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> bool {
        (self.1)(meta, stream, dest)
    }
}

/// A filter of the program: rearranges the bytes of a block before they are compressed.
///
/// A pair of closures is a filter, too:
///
/// ```
/// use blosc2::{Params, register_filter};
///
/// let inverted = |_: u8, block: &[u8], dest: &mut [u8]| dest.iter_mut().zip(block).for_each(|(to, from)| *to = !from);
/// let filter = register_filter(201, "inverted", (inverted, inverted))?;
/// let chunk = blosc2::compress(&[0xff; 100_000], &Params::new().filters([filter]))?;
/// assert!(chunk.decompress()? == [0xff; 100_000]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait UserFilter: Send + Sync + 'static {
    /// Writes the filtered `block` to `dest`, which has the same length. `meta` is the byte of parameters of
    /// [`Filter::Other`]. Returns `false` to make the compression fail.
    fn forward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool;

    /// Reverses [`forward`](Self::forward). Returns `false` to make the decompression fail.
    fn backward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool;
}

impl<F, B> UserFilter for (F, B)
where
    F: Fn(u8, &[u8], &mut [u8]) + Send + Sync + 'static,
    B: Fn(u8, &[u8], &mut [u8]) + Send + Sync + 'static,
{
    fn forward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        (self.0)(meta, block, dest);
        true
    }

    fn backward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        (self.1)(meta, block, dest);
        true
    }
}

struct Adapter<T>(T);

impl<T: UserCodec> core::StreamCodec for Adapter<T> {
    fn encode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize> {
        self.0.encode(meta, stream, dest)
    }

    fn decode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> bool {
        self.0.decode(meta, stream, dest)
    }
}

impl<T: UserFilter> core::BlockFilter for Adapter<T> {
    fn forward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        self.0.forward(meta, block, dest)
    }

    fn backward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool {
        self.0.backward(meta, block, dest)
    }
}

/// Returns the id, if programs may use it.
fn checked(id: u8) -> Result<u8> {
    if id < 160 {
        return Err(Error::param(format!("the id {id}, expected 160 to 255")));
    }
    Ok(id)
}

/// Registers a codec under an id from 160 to 255, which chunks store, for this process. A codec cannot be replaced. See
/// [`UserCodec`]. A panic of the codec is an error of the call that uses it.
///
/// ```
/// use blosc2::{Codec, UserCodec, register_codec};
///
/// /// Stores no stream.
/// struct Never;
///
/// impl UserCodec for Never {
///     fn encode(&self, _: u8, _: &[u8], _: &mut [u8]) -> Option<usize> {
///         None
///     }
///
///     fn decode(&self, _: u8, _: &[u8], _: &mut [u8]) -> bool {
///         false
///     }
/// }
///
/// assert_eq!(register_codec(160, "never", Never)?, Codec::Other(160));
/// assert!(register_codec(160, "another", Never).is_err());
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `InvalidParam` for another id, and one that is registered; `CodecParam` for an id that has another name.
pub fn register_codec(id: u8, name: &str, codec: impl UserCodec) -> Result<Codec> {
    core::register_codec(checked(id)?, name, Box::new(Adapter(codec)))?;
    Ok(Codec::Other(id))
}

/// Registers a filter under an id from 160 to 255, which chunks store, for this process. A filter cannot be replaced. See
/// [`UserFilter`]. The result has 0 as its byte of parameters.
///
/// ```
/// use blosc2::{Filter, register_filter};
///
/// let copy = |_: u8, block: &[u8], dest: &mut [u8]| dest.copy_from_slice(block);
/// let filter = register_filter(202, "copy", (copy, copy))?;
/// assert_eq!(filter, Filter::Other { id: 202, meta: 0 });
/// assert!(register_filter(7, "copy", (copy, copy)).is_err());
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// # Errors
/// `InvalidParam` for another id, and one that is registered; `Failure` for an id that has another name.
pub fn register_filter(id: u8, name: &str, filter: impl UserFilter) -> Result<Filter> {
    core::register_filter(checked(id)?, name, Box::new(Adapter(filter)))?;
    Ok(Filter::Other { id, meta: 0 })
}
