//! Metalayers.

use crate::error::Result;
use blosc2_core::rust_api::schunk::{MetalayerKind, SuperChunkRef};
use std::collections::BTreeMap;

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

impl<'a> Metalayers<'a> {
    pub(crate) fn new(core: SuperChunkRef<'a>) -> Self {
        Metalayers(core)
    }

    /// Returns the names of the fixed metalayers, in their order.
    pub fn fixed_names(self) -> Vec<String> {
        names(self.0, MetalayerKind::Fixed)
    }

    /// Returns the names of the metalayers of variable length, in their order.
    pub fn variable_names(self) -> Vec<String> {
        names(self.0, MetalayerKind::Variable)
    }

    /// Returns the content of a fixed metalayer; `None` if there is none of that name.
    ///
    /// # Errors
    /// None in practice.
    pub fn fixed(self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.metalayer(MetalayerKind::Fixed, name)?)
    }

    /// Returns the content of a metalayer of variable length; `None` if there is none of that name.
    ///
    /// # Errors
    /// Those of a damaged content.
    pub fn variable(self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.metalayer(MetalayerKind::Variable, name)?)
    }

    /// Returns all fixed metalayers.
    ///
    /// # Errors
    /// None in practice.
    pub fn fixed_map(self) -> Result<BTreeMap<String, Vec<u8>>> {
        self.map(MetalayerKind::Fixed)
    }

    /// Returns all metalayers of variable length.
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
pub struct MetalayersMut<'a>(SuperChunkRef<'a>);

impl<'a> MetalayersMut<'a> {
    pub(crate) fn new(core: SuperChunkRef<'a>) -> Self {
        MetalayersMut(core)
    }

    /// Returns the metalayers for reading.
    pub fn get(&self) -> Metalayers<'_> {
        Metalayers(self.0)
    }

    /// Sets the content of a fixed metalayer. A new one must be added before the first chunk of a frame; the content of
    /// an existing one must keep its length.
    ///
    /// # Errors
    /// `InvalidParam` otherwise, for a name of more than 31 bytes, and for the 17th metalayer; those of writing.
    pub fn set_fixed(&mut self, name: &str, content: &[u8]) -> Result<()> {
        Ok(self.0.set_metalayer(MetalayerKind::Fixed, name, content)?)
    }

    /// Sets the content of a metalayer of variable length.
    ///
    /// # Errors
    /// `InvalidParam` for a name of more than 31 bytes or a content of 2 GiB or more; those of writing.
    pub fn set_variable(&mut self, name: &str, content: &[u8]) -> Result<()> {
        Ok(self.0.set_metalayer(MetalayerKind::Variable, name, content)?)
    }

    /// Removes a metalayer of variable length.
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
