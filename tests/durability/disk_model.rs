//! A model of a disk with a write cache: what is on disk after the power is cut.
//!
//! A change is on disk for certain once it is synchronised. Of the other changes, any part may be there: each write,
//! each sector of a write, each change of a length, and each change of a directory entry.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::recording::Event;
use crate::support::random::Random;

/// The unit, in bytes, in which a disk writes.
pub const SECTOR: u64 = 512;

/// How a file system orders changes of directory entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NameOrder {
    /// A change that is not synchronised may be lost without the others.
    Any,
    /// The changes on disk are the first ones, as in a file system with a journal of its metadata.
    Journal,
}

/// The target of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    /// The index of a file.
    File(usize),
    Directory,
}

/// A change of directory entries that happens completely or not at all: their new targets.
#[derive(Clone, Debug)]
struct NameChange(Vec<(PathBuf, Option<Entry>)>);

/// A change of a file.
#[derive(Clone, Debug)]
enum Change<'a> {
    Write { at: u64, bytes: &'a [u8] },
    SetLen(u64),
}

/// The contents of a file: what is on disk, and the changes that are not synchronised.
#[derive(Clone, Debug, Default)]
struct FileState<'a> {
    on_disk: Cow<'a, [u8]>,
    pending: Vec<Change<'a>>,
}

/// The files of a directory: the bytes of each file; `None` for a directory.
pub type Image = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// The disk, with all files in one directory of the host.
#[derive(Clone, Debug)]
pub struct Disk<'a> {
    root: &'a Path,
    order: NameOrder,
    files: Vec<FileState<'a>>,
    /// The file that has an inode number now.
    file_of_inode: HashMap<u64, usize>,
    directory_of_inode: HashMap<u64, PathBuf>,
    names_on_disk: BTreeMap<PathBuf, Entry>,
    pending_names: Vec<NameChange>,
    /// The entries as the processes see them.
    names: BTreeMap<PathBuf, Entry>,
}

/// The files of a directory with their inode numbers, sorted by path: the start of a recording.
#[derive(Clone, Debug)]
pub struct Snapshot {
    root: (PathBuf, u64),
    entries: Vec<(PathBuf, u64, Option<Vec<u8>>)>,
}

impl Snapshot {
    /// Reads a directory, whose path must be absolute and without links.
    pub fn read(root: &Path) -> Snapshot {
        let mut entries = Vec::new();
        let mut unread = vec![root.to_owned()];
        while let Some(directory) = unread.pop() {
            for entry in fs::read_dir(&directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                let inode = fs::symlink_metadata(&path).expect("an entry").ino();
                if path.is_dir() {
                    unread.push(path.clone());
                    entries.push((path, inode, None));
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    entries.push((path, inode, Some(bytes)));
                }
            }
        }
        entries.sort();
        Snapshot { root: (root.to_owned(), fs::metadata(root).expect("a directory").ino()), entries }
    }

    /// Returns the files without their inode numbers.
    pub fn image(&self) -> Image {
        self.entries.iter().map(|(path, _, bytes)| (path.clone(), bytes.clone())).collect()
    }
}

impl<'a> Disk<'a> {
    /// Returns a disk with everything of a directory on it.
    pub fn new(start: &'a Snapshot, order: NameOrder) -> Disk<'a> {
        let mut disk = Disk {
            root: &start.root.0,
            order,
            files: Vec::new(),
            file_of_inode: HashMap::new(),
            directory_of_inode: HashMap::from([(start.root.1, start.root.0.clone())]),
            names_on_disk: BTreeMap::new(),
            pending_names: Vec::new(),
            names: BTreeMap::new(),
        };
        for (path, inode, bytes) in &start.entries {
            let entry = match bytes {
                Some(bytes) => {
                    disk.file_of_inode.insert(*inode, disk.files.len());
                    disk.files.push(FileState { on_disk: Cow::Borrowed(bytes), pending: Vec::new() });
                    Entry::File(disk.files.len() - 1)
                }
                None => {
                    disk.directory_of_inode.insert(*inode, path.clone());
                    Entry::Directory
                }
            };
            disk.names_on_disk.insert(path.clone(), entry);
        }
        disk.names = disk.names_on_disk.clone();
        disk
    }

    /// Applies an event to the cache, or writes the cache to the disk.
    pub fn apply(&mut self, event: &'a Event) {
        match event {
            Event::Write { inode, at, bytes } => {
                self.file(*inode).pending.push(Change::Write { at: *at, bytes });
            }
            Event::SetLen { inode, len } => self.file(*inode).pending.push(Change::SetLen(*len)),
            Event::Create { path, inode } => {
                self.directory_of_inode.remove(inode);
                self.file_of_inode.insert(*inode, self.files.len());
                self.files.push(FileState::default());
                self.change_names(vec![(path.clone(), Some(Entry::File(self.files.len() - 1)))]);
            }
            Event::MakeDirectory { path, inode } => {
                self.file_of_inode.remove(inode);
                self.directory_of_inode.insert(*inode, path.clone());
                self.change_names(vec![(path.clone(), Some(Entry::Directory))]);
            }
            Event::Rename { from, to } => {
                let entry = *self.names.get(from).unwrap_or_else(|| panic!("no {}", from.display()));
                assert_eq!(from.parent(), to.parent(), "moving a file is not modelled: {event}");
                if entry == Entry::Directory {
                    self.move_entries(from, to);
                }
                self.change_names(vec![(from.clone(), None), (to.clone(), Some(entry))]);
            }
            Event::Exchange { first, second } => {
                assert_eq!(first.parent(), second.parent(), "moving a file is not modelled: {event}");
                let [at_first, at_second] = [first, second].map(|path| self.names.get(path).copied());
                self.change_names(vec![(first.clone(), at_second), (second.clone(), at_first)]);
            }
            Event::Link { path, inode } => {
                let file = self.file_of_inode[inode];
                self.change_names(vec![(path.clone(), Some(Entry::File(file)))]);
            }
            Event::Remove { path } => self.change_names(vec![(path.clone(), None)]),
            Event::Sync { inode } => match self.directory_of_inode.get(inode).cloned() {
                Some(directory) => self.synchronise_names(|path| path.parent() == Some(&directory)),
                None => self.file(*inode).synchronise(),
            },
            Event::SyncAll => {
                self.synchronise_names(|_| true);
                self.files.iter_mut().for_each(FileState::synchronise);
            }
            Event::Mark(_) => {}
        }
    }

    /// Moves the entries of a directory that is renamed, whether they are on disk or not: they belong to the directory,
    /// whatever its name. They cannot be reached by the old name any more, also if the power is cut before the new name
    /// is on disk.
    fn move_entries(&mut self, from: &Path, to: &Path) {
        let moved = |path: &Path| match path.strip_prefix(from) {
            Ok(name) if path != from => to.join(name),
            _ => path.to_owned(),
        };
        for names in [&mut self.names, &mut self.names_on_disk] {
            *names = std::mem::take(names).into_iter().map(|(path, entry)| (moved(&path), entry)).collect();
        }
        for (path, _) in self.pending_names.iter_mut().flat_map(|change| &mut change.0) {
            *path = moved(path);
        }
        self.directory_of_inode
            .values_mut()
            .filter(|path| *path == from)
            .for_each(|path| *path = to.to_owned());
    }

    fn file(&mut self, inode: u64) -> &mut FileState<'a> {
        let index = self.file_of_inode.get(&inode);
        &mut self.files[*index.unwrap_or_else(|| panic!("a change of file {inode} outside the directory"))]
    }

    fn change_names(&mut self, entries: Vec<(PathBuf, Option<Entry>)>) {
        let change = NameChange(entries);
        change.apply_to(&mut self.names);
        self.pending_names.push(change);
    }

    /// Writes the changes of entries whose paths are `in_directory` to the disk.
    fn synchronise_names(&mut self, in_directory: impl Fn(&Path) -> bool) {
        let is_in_directory = |change: &NameChange| change.0.iter().all(|(path, _)| in_directory(path));
        let pending = std::mem::take(&mut self.pending_names);
        let last = pending.iter().rposition(is_in_directory);
        for (index, change) in pending.into_iter().enumerate() {
            let is_synchronised = match self.order {
                NameOrder::Any => is_in_directory(&change),
                NameOrder::Journal => last.is_some_and(|last| index <= last),
            };
            if is_synchronised {
                change.apply_to(&mut self.names_on_disk);
            } else {
                self.pending_names.push(change);
            }
        }
    }

    /// Returns the number of changes that are not synchronised.
    pub fn pending(&self) -> usize {
        self.pending_names.len() + self.files.iter().map(|file| file.pending.len()).sum::<usize>()
    }

    /// Returns the files as the processes see them.
    pub fn image_of_cache(&self) -> Image {
        let complete = |file: usize| {
            let mut file = self.files[file].clone();
            file.synchronise();
            file.on_disk.into_owned()
        };
        self.image(&self.names, complete)
    }

    /// Returns files that may be on disk after the power is cut now.
    pub fn image_after_cut(&self, random: &mut Random) -> Image {
        // The share of changes that are kept differs from draw to draw, so that the loss of a single change is drawn
        // often, however many there are.
        let kept_of_16 = *random.pick(&[2, 8, 14]);
        let mut names = self.names_on_disk.clone();
        match self.order {
            NameOrder::Any => {
                for change in &self.pending_names {
                    if random.below(16) < kept_of_16 {
                        change.apply_to(&mut names);
                    }
                }
            }
            NameOrder::Journal => {
                let kept = random.below(self.pending_names.len() + 1);
                self.pending_names[..kept].iter().for_each(|change| change.apply_to(&mut names));
            }
        }
        // Drawn for all files in the same order, whether they have a name or not.
        let bytes: Vec<Vec<u8>> =
            self.files.iter().map(|file| file.bytes_after_cut(kept_of_16, random)).collect();
        self.image(&names, |file| bytes[file].clone())
    }

    /// Returns the files of the directory; a file in a directory that has no entry is not reachable. (Directories are
    /// not nested deeper than one level.)
    fn image(&self, names: &BTreeMap<PathBuf, Entry>, bytes_of: impl Fn(usize) -> Vec<u8>) -> Image {
        let is_reachable = |path: &Path| {
            let parent = path.parent().expect("a path in the directory");
            parent == self.root || names.get(parent) == Some(&Entry::Directory)
        };
        let reachable = names.iter().filter(|(path, _)| is_reachable(path));
        let files = reachable.map(|(path, entry)| match entry {
            Entry::File(file) => (path.clone(), Some(bytes_of(*file))),
            Entry::Directory => (path.clone(), None),
        });
        files.collect()
    }
}

impl NameChange {
    fn apply_to(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        for (path, entry) in &self.0 {
            match entry {
                Some(entry) => names.insert(path.clone(), *entry),
                None => names.remove(path),
            };
        }
    }
}

/// Overwrites a part of a file; a gap behind its end is filled with zeros.
fn overwrite(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let (at, end) = (at as usize, at as usize + bytes.len());
    if file.len() < end {
        file.resize(end, 0);
    }
    file[at..end].copy_from_slice(bytes);
}

impl FileState<'_> {
    /// Writes all changes to the disk.
    fn synchronise(&mut self) {
        for change in self.pending.drain(..) {
            let file = self.on_disk.to_mut();
            match change {
                Change::Write { at, bytes } => overwrite(file, at, bytes),
                Change::SetLen(len) => file.resize(len as usize, 0),
            }
        }
    }

    /// Returns bytes that may be on disk after the power is cut; a change is kept in `kept_of_16` of 16 cases.
    fn bytes_after_cut(&self, kept_of_16: usize, random: &mut Random) -> Vec<u8> {
        let mut file = self.on_disk.to_vec();
        let mut len = file.len() as u64;
        // The lengths that the file has had since it was synchronised. Any of them may be on disk.
        let mut lens = vec![len];
        let is_kept = |random: &mut Random| random.below(16) < kept_of_16;
        for change in &self.pending {
            match *change {
                Change::Write { at, bytes } => {
                    len = len.max(at + bytes.len() as u64);
                    if random.one_in(2) {
                        if is_kept(random) {
                            overwrite(&mut file, at, bytes);
                        }
                    } else {
                        for (at, sector) in sectors(at, bytes) {
                            if is_kept(random) {
                                overwrite(&mut file, at, sector);
                            }
                        }
                    }
                }
                Change::SetLen(new) => {
                    if is_kept(random) && (new as usize) < file.len() {
                        file.truncate(new as usize);
                    }
                    len = new;
                }
            }
            lens.push(len);
        }
        let len = if random.one_in(2) { len } else { *random.pick(&lens) };
        file.resize(len as usize, 0);
        file
    }
}

/// Splits a write at the sector boundaries of the file.
fn sectors(mut at: u64, mut bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let len = (SECTOR - at % SECTOR).min(bytes.len() as u64) as usize;
        let (sector, rest) = bytes.split_at(len);
        let start = at;
        (at, bytes) = (at + len as u64, rest);
        Some((start, sector))
    })
}

/// Replaces the files in a directory of the host by an image of the directory `root`.
pub fn write_image(image: &Image, root: &Path, directory: &Path) {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).expect("a directory");
    for (path, bytes) in image {
        let path = directory.join(path.strip_prefix(root).expect("a path in the directory"));
        match bytes {
            Some(bytes) => fs::write(&path, bytes).expect("a file"),
            None => fs::create_dir(&path).expect("a directory"),
        }
    }
}
