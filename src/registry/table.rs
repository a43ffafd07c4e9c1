//! A table of registered codecs, filters or tuners, searched by id or name in the order of registration.

use std::collections::HashSet;
use std::ffi::CStr;
use std::sync::{LazyLock, Mutex, PoisonError, RwLock};

/// The first id that callers may register.
pub(super) const FIRST_USER_ID: i32 = 160;

/// Maximum number of entries of a table, the library's own included.
const CAPACITY: usize = 255;

/// An entry of a table.
pub(super) trait Entry: Copy {
    /// Returns the id that chunks and parameters use.
    fn id(&self) -> i32;
    /// Returns the name it was registered under, if any.
    fn name(&self) -> Option<&'static CStr>;
}

/// The reason for which a registration was rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The id is below the range for callers.
    Reserved,
    /// The id is registered under this name, or without a name.
    Taken(Option<&'static CStr>),
    /// The table is full.
    Full,
}

/// The entries, with the library's own first.
pub(super) struct Table<T> {
    entries: RwLock<Vec<T>>,
    builtin: usize,
}

impl<T: Entry> Table<T> {
    /// Returns a table that begins with the library's own entries.
    pub(super) fn new(builtin: Vec<T>) -> Self {
        Table { builtin: builtin.len(), entries: RwLock::new(builtin) }
    }

    /// Removes all but the library's own entries.
    pub(super) fn reset(&self) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).truncate(self.builtin);
    }

    /// Returns the first entry for which `wanted` returns true.
    pub(super) fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).iter().find(|e| wanted(e)).copied()
    }

    /// Changes the first entry for which `wanted` returns true. Returns the changed entry.
    pub(super) fn update(&self, wanted: impl Fn(&T) -> bool, change: impl FnOnce(&mut T)) -> Option<T> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter_mut().find(|e| wanted(e))?;
        change(entry);
        Some(*entry)
    }

    /// Appends the entry that `entry` returns for the copied name. Registering an id again under the same name, or
    /// again without a name, is no error and changes nothing.
    pub(super) fn register(
        &self,
        id: i32,
        name: Option<&CStr>,
        entry: impl FnOnce(Option<&'static CStr>) -> T,
    ) -> Result<(), Verdict> {
        if id < FIRST_USER_ID {
            return Err(Verdict::Reserved);
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= CAPACITY {
            return Err(Verdict::Full);
        }
        match entries.iter().find(|e| e.id() == id) {
            Some(known) if known.name() == name => Ok(()),
            Some(known) => Err(Verdict::Taken(known.name())),
            None => {
                entries.push(entry(name.map(keep)));
                Ok(())
            }
        }
    }
}

/// Returns a copy of `name` that is never freed, one for each distinct name: C code may keep the pointer.
fn keep(name: &CStr) -> &'static CStr {
    static NAMES: LazyLock<Mutex<HashSet<&'static CStr>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
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

    #[derive(Clone, Copy)]
    struct Thing(i32, Option<&'static CStr>);

    impl Entry for Thing {
        fn id(&self) -> i32 {
            self.0
        }
        fn name(&self) -> Option<&'static CStr> {
            self.1
        }
    }

    #[test]
    fn rules_of_registration() {
        let table = Table::new(vec![Thing(32, Some(c"own"))]);
        let add_as = |id, name: Option<&CStr>| table.register(id, name, |name| Thing(id, name));
        let add = |id, name| add_as(id, Some(name));
        assert_eq!(add(159, c"a"), Err(Verdict::Reserved));
        assert_eq!(add(160, c"a"), Ok(()));
        assert_eq!(add(160, c"a"), Ok(()));
        assert_eq!(add(160, c"b"), Err(Verdict::Taken(Some(c"a"))));
        assert_eq!(add_as(160, None), Err(Verdict::Taken(Some(c"a"))));
        assert_eq!(add_as(161, None), Ok(()));
        assert_eq!(add_as(161, None), Ok(()));
        assert_eq!(add(161, c"a"), Err(Verdict::Taken(None)));
        for id in 1000..1252 {
            assert_eq!(add(id, c"same name"), Ok(()));
        }
        assert_eq!(add(2000, c"c"), Err(Verdict::Full));
        assert_eq!(add(160, c"a"), Err(Verdict::Full));
        table.reset();
        assert!(table.find(|t| t.id() == 160).is_none());
        assert!(table.find(|t| t.id() == 32).is_some());
    }

    #[test]
    fn names_are_kept_once() {
        let name = String::from("a name of its own\0");
        let one = keep(CStr::from_bytes_with_nul(name.as_bytes()).unwrap());
        let two = keep(c"a name of its own");
        assert_eq!(one.as_ptr(), two.as_ptr());
        assert_ne!(one.as_ptr().cast(), name.as_ptr());
    }
}
