//! A table of registered codecs, filters or tuners, searched by id or name in the order of registration.

use crate::error::{Error, ErrorKind, Result, ensure};
use crate::fork_count::PerProcessLock;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::RwLockWriteGuard;

/// The first id that callers may register.
pub(super) const FIRST_USER_ID: i32 = 160;

/// Maximum number of entries of a table, the library's own included.
const CAPACITY: usize = 255;

/// An entry of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered<T> {
    /// The id that chunks and parameters use.
    pub id: i32,
    /// The name it was registered under, if any.
    pub name: Option<&'static CStr>,
    pub properties: T,
}

/// The entries, with the library's own first.
pub(super) struct RegistryTable<T: 'static> {
    builtin: &'static [Registered<T>],
    /// All entries; empty as long as they are the library's own.
    entries: PerProcessLock<Vec<Registered<T>>>,
}

impl<T: Copy> RegistryTable<T> {
    /// Returns a table that begins with the library's own entries.
    pub(super) const fn new(builtin: &'static [Registered<T>]) -> Self {
        RegistryTable { builtin, entries: PerProcessLock::new_static(Vec::new()) }
    }

    /// Removes all but the library's own entries.
    pub(super) fn reset(&self) {
        self.entries.write().clear();
    }

    /// Returns the first entry for which `wanted` returns true.
    pub(super) fn find(&self, wanted: impl Fn(&Registered<T>) -> bool) -> Option<Registered<T>> {
        let changed = self.entries.read();
        let entries = if changed.is_empty() { self.builtin } else { &changed };
        entries.iter().find(|e| wanted(e)).copied()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Registered<T>>> {
        let mut entries = self.entries.write();
        if entries.is_empty() {
            entries.extend_from_slice(self.builtin);
        }
        entries
    }

    /// Replaces the first entry with the id and the name of `changed`, if there is one.
    pub(super) fn replace(&self, changed: Registered<T>) {
        let is_it = |entry: &&mut Registered<T>| entry.id == changed.id && entry.name == changed.name;
        if let Some(entry) = self.write().iter_mut().find(is_it) {
            *entry = changed;
        }
    }

    /// Appends an entry with the properties that `properties` returns for the copied name. Registering an id again under the same name, or
    /// again without a name, is no error and changes nothing.
    ///
    /// # Errors
    /// `kind` for a reserved id or one that is registered under another name, `CodecSupport` when the table is full.
    pub(super) fn register(
        &self,
        id: i32,
        name: Option<&CStr>,
        kind: ErrorKind,
        properties: impl FnOnce(Option<&'static CStr>) -> T,
    ) -> Result<()> {
        if id < FIRST_USER_ID {
            let text = format_args!("the id {id} of {name:?}, expected {FIRST_USER_ID} or more");
            return Err(Error::new(kind, text));
        }
        let mut entries = self.write();
        ensure!(entries.len() < CAPACITY, CodecSupport, "cannot register {name:?}: the table is full");
        match entries.iter().find(|e| e.id == id).map(|e| e.name) {
            Some(known) if known == name => Ok(()),
            Some(known) => {
                Err(Error::new(kind, format_args!("the id {id} of {name:?} is registered as {known:?}")))
            }
            None => {
                let name = name.map(intern_name);
                entries.push(Registered { id, name, properties: properties(name) });
                Ok(())
            }
        }
    }
}

/// Returns a copy of `name` that is never freed, one for each distinct name: C code may keep the pointer.
fn intern_name(name: &CStr) -> &'static CStr {
    static NAMES: PerProcessLock<BTreeSet<&'static CStr>> = PerProcessLock::new_static(BTreeSet::new());
    let mut names = NAMES.write();
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static CStr = Box::leak(name.into());
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_one_copy() {
        let name = String::from("a name of its own\0");
        let one = intern_name(CStr::from_bytes_with_nul(name.as_bytes()).unwrap());
        let two = intern_name(c"a name of its own");
        assert_eq!(one.as_ptr(), two.as_ptr());
        assert_ne!(one.as_ptr().cast(), name.as_ptr());
    }
}
