//! Bytes of remote files in a directory on disk, for clients of any number of processes.
//!
//! The directory has a directory for each remote file, with a file for each range of bytes that was fetched: `START-LENGTH`, in
//! hexadecimal digits. Such a file begins with the length of the key of the remote file, the key, and a checksum (CRC-32C) of key, start
//! and bytes; the bytes follow. What is damaged, or of another key, counts as missing.

use super::connection::lock;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// The lengths of the ranges of a file on disk, by their starts.
type Lengths = BTreeMap<u64, u64>;

/// A directory with bytes of remote files.
#[derive(Debug)]
pub(super) struct DiskCache {
    directory: PathBuf,
    limit: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The length of all files in bytes, as far as this process knows.
    used: u64,
    /// The ranges of remote files, by their keys.
    ranges: HashMap<String, Lengths>,
}

impl DiskCache {
    /// Opens or creates a cache for at most `limit` bytes in a directory, which has nothing else.
    pub(super) fn new(directory: PathBuf, limit: u64) -> io::Result<DiskCache> {
        fs::create_dir_all(&directory)?;
        let cache = DiskCache { directory, limit, state: Mutex::default() };
        lock(&cache.state).used = cache.files().iter().map(|(_, len, _)| len).sum();
        cache.remove_oldest();
        Ok(cache)
    }

    fn directory_of(&self, key: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.directory.join(format!("{:016x}", hasher.finish()))
    }

    /// Returns the files with their lengths and their times of the last use.
    fn files(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        let files = entries(&self.directory).flat_map(|directory| entries(&directory.path()));
        let described = files.filter_map(|file| {
            let meta = file.metadata().ok()?;
            Some((file.path(), meta.len(), meta.modified().ok()?))
        });
        described.collect()
    }

    /// Removes the files that were used longest ago, until a quarter of the limit is free, if the cache has more bytes than its limit.
    fn remove_oldest(&self) {
        if lock(&self.state).used <= self.limit {
            return;
        }
        let mut files = self.files();
        files.sort_unstable_by_key(|(.., time)| *time);
        let mut used: u64 = files.iter().map(|(_, len, _)| len).sum();
        for (path, len, _) in files {
            if used <= self.limit / 4 * 3 {
                break;
            }
            if fs::remove_file(&path).is_ok() {
                used -= len;
            }
        }
        *lock(&self.state) = State { used, ranges: HashMap::new() };
    }

    /// Returns the ranges of a file that the cache has.
    fn ranges(&self, key: &str) -> Lengths {
        if let Some(ranges) = lock(&self.state).ranges.get(key) {
            return ranges.clone();
        }
        let mut ranges = Lengths::new();
        for file in fs::read_dir(self.directory_of(key)).into_iter().flatten().flatten() {
            let name = file.file_name().into_string().unwrap_or_default();
            let numbers =
                name.split_once('-').map(|(start, len)| [start, len].map(|n| u64::from_str_radix(n, 16)));
            if let Some([Ok(start), Ok(len)]) = numbers {
                let longest = ranges.entry(start).or_default();
                *longest = len.max(*longest);
            }
        }
        lock(&self.state).ranges.insert(key.to_owned(), ranges.clone());
        ranges
    }

    /// Returns the ranges of bytes, with their starts, that have some of `wanted`.
    pub(super) fn read(&self, key: &str, wanted: &[Range<u64>]) -> Vec<(u64, Vec<u8>)> {
        let ranges = self.ranges(key);
        let mut found = BTreeMap::new();
        for range in wanted {
            let Some((&start, &len)) = ranges.range(..=range.start).next_back() else { continue };
            if start + len > range.start && !found.contains_key(&start) {
                match self.read_range(key, start, len) {
                    Some(bytes) => drop(found.insert(start, bytes)),
                    None => {
                        // Removed by another process, or damaged.
                        if let Some(ranges) = lock(&self.state).ranges.get_mut(key) {
                            ranges.remove(&start);
                        }
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    fn read_range(&self, key: &str, start: u64, len: u64) -> Option<Vec<u8>> {
        let path = self.directory_of(key).join(name(start, len));
        let mut bytes = fs::read(&path).ok()?;
        let head = head(key, start, bytes.get(4 + key.len() + 4..)?);
        if !bytes.starts_with(&head) || (bytes.len() - head.len()) as u64 != len {
            let _ = fs::remove_file(&path);
            return None;
        }
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            // Only the order of removal depends on the time.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(bytes.split_off(head.len()))
    }

    /// Adds bytes of a file. An error has no effect but that they are not there.
    pub(super) fn add(&self, key: &str, start: u64, bytes: &[u8]) {
        if self.write(key, start, bytes).is_ok() {
            {
                let mut state = lock(&self.state);
                state.used += bytes.len() as u64;
                if let Some(ranges) = state.ranges.get_mut(key) {
                    let longest = ranges.entry(start).or_default();
                    *longest = (bytes.len() as u64).max(*longest);
                }
            }
            self.remove_oldest();
        }
    }

    fn write(&self, key: &str, start: u64, bytes: &[u8]) -> io::Result<()> {
        let directory = self.directory_of(key);
        fs::create_dir_all(&directory)?;
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        file.write_all(&head(key, start, bytes))?;
        file.write_all(bytes)?;
        file.persist(directory.join(name(start, bytes.len() as u64)))?;
        Ok(())
    }
}

fn name(start: u64, len: u64) -> String {
    format!("{start:x}-{len:x}")
}

/// Returns what is before the bytes in a file.
fn head(key: &str, start: u64, bytes: &[u8]) -> Vec<u8> {
    let checksum = crc32c::crc32c_append(
        crc32c::crc32c_append(crc32c::crc32c(key.as_bytes()), &start.to_le_bytes()),
        bytes,
    );
    [&(key.len() as u32).to_le_bytes()[..], key.as_bytes(), &checksum.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cache: &DiskCache, key: &str, range: Range<u64>) -> Vec<(u64, Vec<u8>)> {
        cache.read(key, std::slice::from_ref(&range))
    }

    fn files(directory: &Path) -> Vec<PathBuf> {
        let cache = DiskCache { directory: directory.to_owned(), limit: u64::MAX, state: Mutex::default() };
        cache.files().into_iter().map(|(path, ..)| path).collect()
    }

    #[test]
    fn bytes_are_found_by_other_clients_unless_they_are_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(directory.path().to_owned(), 1 << 20).unwrap();
        cache.add("a", 4096, &[1; 8192]);
        cache.add("b", 0, &[2; 10]);
        let other = DiskCache::new(directory.path().to_owned(), 1 << 20).unwrap();
        for cache in [&cache, &other] {
            assert_eq!(
                cache.read("a", &[0..4096, 4096..8192, 8192..12288, 12288..16384]),
                [(4096, vec![1; 8192])]
            );
            assert_eq!(read(cache, "b", 0..4096), [(0, vec![2; 10])]);
            assert!(read(cache, "c", 0..4096).is_empty());
        }
        for path in files(directory.path()) {
            let mut bytes = fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&path, bytes).unwrap();
        }
        assert!(read(&cache, "a", 4096..8192).is_empty() && read(&other, "b", 0..4096).is_empty());
        assert!(files(directory.path()).is_empty());
        // The key is checked: two keys may have the same hash.
        cache.add("a", 0, &[3; 10]);
        fs::create_dir_all(cache.directory_of("d")).unwrap();
        fs::copy(cache.directory_of("a").join("0-a"), cache.directory_of("d").join("0-a")).unwrap();
        assert!(read(&cache, "d", 0..4096).is_empty());
        assert_eq!(read(&cache, "a", 0..4096), [(0, vec![3; 10])]);
    }

    #[test]
    fn the_oldest_bytes_are_removed_above_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let cache = DiskCache::new(directory.path().to_owned(), 100_000).unwrap();
        for n in 0..40 {
            cache.add("a", n * 4096, &[n as u8; 4096]);
            assert!(cache.files().iter().map(|(_, len, _)| len).sum::<u64>() < 110_000);
        }
        assert_eq!(read(&cache, "a", 39 * 4096..40 * 4096), [(39 * 4096, vec![39; 4096])]);
        assert!(read(&cache, "a", 0..4096).is_empty());
    }
}
