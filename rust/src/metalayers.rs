//! Metalayers.

use crate::error::Result;
use blosc2_core::rust_api::schunk::{MetalayerKind, SuperChunkRef};
use std::collections::BTreeMap;
use std::fmt;

/// The metalayers of a super-chunk or array: contents with names, in two lists. Fixed ones are in the header; those of
/// variable length are compressed, and can be added and replaced at any time.
///
/// ```
/// use blosc2::{Params, SuperChunk};
///
/// let mut schunk = SuperChunk::new(&Params::new())?;
/// let mut metalayers = schunk.metalayers_mut()?;
/// metalayers.set_fixed("version", &[1, 0])?;
/// metalayers.set_variable("description", b"any length")?;
/// assert_eq!(schunk.metalayers().fixed_names(), ["version"]);
/// assert_eq!(schunk.metalayers().variable_map()?["description"], b"any length");
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Metalayers<'a>(SuperChunkRef<'a>);

impl fmt::Debug for Metalayers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metalayers")
            .field("fixed_names", &self.fixed_names())
            .field("variable_names", &self.variable_names())
            .finish_non_exhaustive()
    }
}

impl<'a> Metalayers<'a> {
    pub(crate) fn new(core: SuperChunkRef<'a>) -> Self {
        Metalayers(core)
    }

    /// Returns the names of the fixed metalayers, in their order.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 0])?;
    /// assert_eq!(schunk.metalayers().fixed_names(), ["version"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn fixed_names(self) -> Vec<String> {
        names(self.0, MetalayerKind::Fixed)
    }

    /// Returns the names of the metalayers of variable length, in their order.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// assert_eq!(schunk.metalayers().variable_names(), ["source"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn variable_names(self) -> Vec<String> {
        names(self.0, MetalayerKind::Variable)
    }

    /// Returns the content of a fixed metalayer; `None` if there is none of that name.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 0])?;
    /// assert_eq!(schunk.metalayers().fixed("version")?, Some(vec![1, 0]));
    /// assert_eq!(schunk.metalayers().fixed("other")?, None);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// None in practice.
    pub fn fixed(self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.metalayer(MetalayerKind::Fixed, name)?)
    }

    /// Returns the content of a metalayer of variable length; `None` if there is none of that name.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// assert_eq!(schunk.metalayers().variable("source")?, Some(b"station 7".to_vec()));
    /// assert_eq!(schunk.metalayers().variable("other")?, None);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged content.
    pub fn variable(self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.metalayer(MetalayerKind::Variable, name)?)
    }

    /// Returns all fixed metalayers.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 0])?;
    /// assert_eq!(schunk.metalayers().fixed_map()?["version"], [1, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// None in practice.
    pub fn fixed_map(self) -> Result<BTreeMap<String, Vec<u8>>> {
        self.map(MetalayerKind::Fixed)
    }

    /// Returns all metalayers of variable length.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// assert_eq!(schunk.metalayers().variable_map()?["source"], b"station 7");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged content.
    pub fn variable_map(self) -> Result<BTreeMap<String, Vec<u8>>> {
        self.map(MetalayerKind::Variable)
    }

    fn map(self, list: MetalayerKind) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut map = BTreeMap::new();
        for name in names(self.0, list) {
            if let Some(content) = self.0.metalayer(list, &name)? {
                map.insert(name, content);
            }
        }
        Ok(map)
    }
}

/// The metalayers of a super-chunk or array, for changes. See [`Metalayers`].
///
/// ```
/// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
/// let mut metalayers = schunk.metalayers_mut()?;
/// metalayers.set_fixed("version", &[1, 0])?;
/// metalayers.set_fixed("version", &[1, 1])?;
/// assert_eq!(metalayers.get().fixed("version")?, Some(vec![1, 1]));
/// assert!(metalayers.set_fixed("version", &[2]).is_err(), "another length");
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct MetalayersMut<'a>(SuperChunkRef<'a>);

/// Metalayers as values of `serde`, in MessagePack, as other Blosc2 programs write them.
#[cfg(feature = "serde")]
impl Metalayers<'_> {
    /// Returns the value of a fixed metalayer; `None` if there is none of that name.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed_value("range", &(0.5, 2.5))?;
    /// assert_eq!(schunk.metalayers().fixed_value::<(f64, f64)>("range")?, Some((0.5, 2.5)));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Data` for a content that is no such value.
    pub fn fixed_value<V: serde::de::DeserializeOwned>(self, name: &str) -> Result<Option<V>> {
        self.fixed(name)?.map(|content| from_msgpack(name, &content)).transpose()
    }

    /// Returns the value of a metalayer of variable length; `None` if there is none of that name. See
    /// [`MetalayersMut::set_variable_value`].
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_variable_value("axes", &["time", "length"])?;
    /// let axes: Option<Vec<String>> = schunk.metalayers().variable_value("axes")?;
    /// assert_eq!(axes.unwrap(), ["time", "length"]);
    /// assert!(schunk.metalayers().variable_value::<f64>("axes").is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Data` for a content that is no such value; those of a damaged content.
    pub fn variable_value<V: serde::de::DeserializeOwned>(self, name: &str) -> Result<Option<V>> {
        self.variable(name)?.map(|content| from_msgpack(name, &content)).transpose()
    }
}

#[cfg(feature = "serde")]
fn from_msgpack<V: serde::de::DeserializeOwned>(name: &str, content: &[u8]) -> Result<V> {
    rmp_serde::from_slice(content).map_err(|error| {
        crate::Error::new(crate::ErrorKind::Data, format!("the content of metalayer {name:?}: {error}"))
    })
}

/// Returns a value in MessagePack; structs are maps.
#[cfg(feature = "serde")]
fn to_msgpack(name: &str, value: &impl serde::Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value)
        .map_err(|error| crate::Error::param(format!("the value of metalayer {name:?}: {error}")))
}

/// Metalayers as values of `serde`, in MessagePack, as other Blosc2 programs write them.
#[cfg(feature = "serde")]
impl MetalayersMut<'_> {
    /// Sets a fixed metalayer to a value, as [`set_fixed`](Self::set_fixed).
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed_value("version", &[1, 0])?;
    /// // MessagePack: an array of 2 numbers.
    /// assert_eq!(schunk.metalayers().fixed("version")?, Some(vec![0x92, 1, 0]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`set_fixed`](Self::set_fixed); `InvalidParam` for a value that MessagePack cannot hold.
    pub fn set_fixed_value(&mut self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        self.set_fixed(name, &to_msgpack(name, value)?)
    }

    /// Sets a metalayer of variable length to a value.
    ///
    /// ```
    /// use blosc2::{Params, SuperChunk};
    /// use std::collections::BTreeMap;
    ///
    /// let mut schunk = SuperChunk::new(&Params::new())?;
    /// let units = BTreeMap::from([("time".to_owned(), "s".to_owned()), ("length".to_owned(), "m".to_owned())]);
    /// schunk.metalayers_mut()?.set_variable_value("units", &units)?;
    /// let read: Option<BTreeMap<String, String>> = schunk.metalayers().variable_value("units")?;
    /// assert_eq!(read, Some(units));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`set_variable`](Self::set_variable); `InvalidParam` for a value that MessagePack cannot hold.
    pub fn set_variable_value(&mut self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        self.set_variable(name, &to_msgpack(name, value)?)
    }
}

impl fmt::Debug for MetalayersMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MetalayersMut").field(&self.get()).finish()
    }
}

impl<'a> MetalayersMut<'a> {
    pub(crate) fn new(core: SuperChunkRef<'a>) -> Self {
        MetalayersMut(core)
    }

    /// Returns the metalayers for reading.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// let mut metalayers = schunk.metalayers_mut()?;
    /// metalayers.set_variable("source", b"station 7")?;
    /// assert_eq!(metalayers.get().variable_names(), ["source"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn get(&self) -> Metalayers<'_> {
        Metalayers(self.0)
    }

    /// Sets the content of a fixed metalayer. A new one must be added before the first chunk of a frame; the content of
    /// an existing one must keep its length.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 0])?;
    /// schunk.append(&[7; 8000])?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 1])?;
    /// assert_eq!(schunk.metalayers().fixed("version")?, Some(vec![1, 1]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` otherwise, for a name of more than 31 bytes, and for the 17th metalayer; those of writing.
    pub fn set_fixed(&mut self, name: &str, content: &[u8]) -> Result<()> {
        Ok(self.0.set_metalayer(MetalayerKind::Fixed, name, content)?)
    }

    /// Sets the content of a metalayer of variable length.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 12")?;
    /// assert_eq!(schunk.metalayers().variable_map()?["source"], b"station 12");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a name of more than 31 bytes or a content of 2 GiB or more; those of writing.
    pub fn set_variable(&mut self, name: &str, content: &[u8]) -> Result<()> {
        Ok(self.0.set_metalayer(MetalayerKind::Variable, name, content)?)
    }

    /// Removes a metalayer of variable length.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// let mut metalayers = schunk.metalayers_mut()?;
    /// metalayers.set_variable("source", b"station 7")?;
    /// metalayers.remove_variable("source")?;
    /// assert_eq!(metalayers.get().variable("source")?, None);
    /// assert_eq!(metalayers.remove_variable("source").unwrap_err().kind(), blosc2::ErrorKind::NotFound);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound`; those of writing.
    pub fn remove_variable(&mut self, name: &str) -> Result<()> {
        Ok(self.0.delete_metalayer(name)?)
    }
}

/// Returns the names of a list of metalayers, as text.
fn names(core: SuperChunkRef<'_>, list: MetalayerKind) -> Vec<String> {
    core.metalayer_names(list).iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
