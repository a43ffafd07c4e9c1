//! The dynamic symbols of the shared object: exactly the functions that `capi-tests/exported-symbols.txt` marks as
//! present, the SONAME of the ABI, and no dependencies except the C library's own objects (abi.md 1).

use std::collections::{BTreeMap, BTreeSet};

const SYMBOL_LIST: &str = include_str!("../../capi-tests/exported-symbols.txt");

/// The dynamic section of a 64-bit little-endian ELF file, as far as these tests use it.
struct DynamicSection {
    soname: Option<String>,
    needed: Vec<String>,
    runpath: bool,
    /// Name and type of every defined global or weak dynamic symbol.
    defined: Vec<(String, u8)>,
}

fn read_le(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn read_c_string(bytes: &[u8], at: usize) -> String {
    let end = at + bytes[at..].iter().position(|&byte| byte == 0).expect("a terminated string");
    String::from_utf8(bytes[at..end].to_vec()).expect("ASCII")
}

impl DynamicSection {
    fn read(elf: &[u8]) -> DynamicSection {
        const SHT_DYNAMIC: u64 = 6;
        const SHT_DYNSYM: u64 = 11;
        const DT_NEEDED: u64 = 1;
        const DT_SONAME: u64 = 14;
        const DT_RPATH: u64 = 15;
        const DT_RUNPATH: u64 = 29;

        assert_eq!(&elf[..6], b"\x7fELF\x02\x01", "a 64-bit little-endian ELF file");
        let table = read_le(elf, 0x28, 8) as usize;
        let (entry, count) = (read_le(elf, 0x3A, 2) as usize, read_le(elf, 0x3C, 2) as usize);
        let section = |index: usize| {
            let at = table + index * entry;
            let (offset, size) = (read_le(elf, at + 0x18, 8) as usize, read_le(elf, at + 0x20, 8) as usize);
            (read_le(elf, at + 4, 4), offset..offset + size, read_le(elf, at + 0x28, 4) as usize)
        };
        let mut dynamic =
            DynamicSection { soname: None, needed: Vec::new(), runpath: false, defined: Vec::new() };
        for (kind, range, link) in (0..count).map(section) {
            if kind != SHT_DYNAMIC && kind != SHT_DYNSYM {
                continue;
            }
            let strings = &elf[section(link).1];
            let entries = &elf[range];
            if kind == SHT_DYNAMIC {
                for entry in entries.chunks_exact(16) {
                    let (tag, value) = (read_le(entry, 0, 8), read_le(entry, 8, 8) as usize);
                    match tag {
                        DT_NEEDED => dynamic.needed.push(read_c_string(strings, value)),
                        DT_SONAME => dynamic.soname = Some(read_c_string(strings, value)),
                        DT_RPATH | DT_RUNPATH => dynamic.runpath = true,
                        _ => {}
                    }
                }
            } else {
                for entry in entries.chunks_exact(24).skip(1) {
                    let (info, section) = (entry[4], read_le(entry, 6, 2));
                    let local = info >> 4 == 0;
                    if section != 0 && !local {
                        let name = read_c_string(strings, read_le(entry, 0, 4) as usize);
                        dynamic.defined.push((name, info & 15));
                    }
                }
            }
        }
        dynamic
    }
}

fn our_dynamic_section() -> DynamicSection {
    let path = crate::support::library::path_of_ours();
    DynamicSection::read(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Returns the list: name and whether it is present.
fn listed_symbols() -> BTreeMap<&'static str, bool> {
    let mut list = BTreeMap::new();
    for line in SYMBOL_LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, mark) = line.split_once(' ').unwrap_or_else(|| panic!("no mark: {line}"));
        let present = match mark {
            "present" => true,
            "later" => false,
            _ => panic!("unknown mark, expected `present` or `later`: {line}"),
        };
        assert!(list.insert(name, present).is_none(), "twice: {name}");
    }
    list
}

#[test]
fn symbol_list_without_extensions_equals_the_exports_of_the_reference() {
    let list: BTreeSet<String> =
        listed_symbols().into_keys().filter(|name| !name.starts_with("blosc2x_")).map(String::from).collect();
    assert_eq!(list.len(), 164);
    let Some(path) = crate::support::library::path_of_reference() else {
        crate::support::both_libraries();
        return;
    };
    let defined: BTreeSet<String> = DynamicSection::read(&std::fs::read(path).expect("the reference"))
        .defined
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("blosc") || name.starts_with("b2nd"))
        .collect();
    assert_eq!(list, defined, "the list (left) and the reference's exports (right)");
}

#[test]
fn exports_equal_the_symbol_list() {
    const STT_FUNC: u8 = 2;
    let present: BTreeSet<String> = listed_symbols()
        .into_iter()
        .filter(|&(_, present)| present)
        .map(|(name, _)| name.to_string())
        .collect();
    let dynamic = our_dynamic_section();
    let defined: BTreeSet<String> = dynamic.defined.iter().map(|(name, _)| name.clone()).collect();
    let missing: Vec<_> = present.difference(&defined).collect();
    let surplus: Vec<_> = defined.difference(&present).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "listed as present but not exported: {missing:?}; exported but not listed as present: {surplus:?}"
    );
    for (name, kind) in &dynamic.defined {
        assert_eq!(*kind, STT_FUNC, "{name} is not a function");
    }
}

#[test]
fn soname_and_needed_libraries_are_the_expected_ones() {
    let dynamic = our_dynamic_section();
    assert_eq!(dynamic.soname.as_deref(), Some("libblosc2.so.9"));
    assert!(!dynamic.runpath, "RPATH or RUNPATH set");
    for object in &dynamic.needed {
        let allowed = ["libc.so.", "libm.so.", "libgcc_s.so.", "ld-linux", "ld64.so."];
        assert!(
            allowed.iter().any(|prefix| object.starts_with(prefix)),
            "needs {object}: {:?}",
            dynamic.needed
        );
    }
}
