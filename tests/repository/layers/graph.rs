//! The files of a crate and their imports.

use super::source::{Source, Use};
use std::collections::{BTreeMap, BTreeSet};

type Module = Vec<String>;

/// The graph of imports. Its nodes are the files that are reached from `lib.rs` or `main.rs` by `mod`.
pub struct Graph {
    sources: BTreeMap<String, Source>,
    /// The module of each file.
    modules: BTreeMap<String, Module>,
    /// The file of each module, including modules inside a file.
    files: BTreeMap<Module, String>,
    /// For each file the files that define its imports, with an example of a path.
    edges: BTreeMap<String, BTreeMap<String, String>>,
}

impl Graph {
    /// Reads the files of a crate, given as path relative to `src` and text.
    pub fn new(texts: &BTreeMap<String, String>) -> Graph {
        let mut graph = Graph {
            sources: BTreeMap::new(),
            modules: BTreeMap::new(),
            files: BTreeMap::new(),
            edges: BTreeMap::new(),
        };
        let root = if texts.contains_key("lib.rs") { "lib.rs" } else { "main.rs" };
        graph.add(root, vec!["crate".to_string()], texts);
        for (file, source) in &graph.sources {
            let mut edges = BTreeMap::new();
            for used in &source.uses {
                let target = graph.absolute_path(file, used).and_then(|path| graph.resolve(&path));
                if let Some(target) = target.filter(|target| target != file) {
                    edges.entry(target).or_insert_with(|| used.path.join("::"));
                }
            }
            graph.edges.insert(file.clone(), edges);
        }
        graph
    }

    /// Adds a file and the files of its modules.
    fn add(&mut self, file: &str, module: Module, texts: &BTreeMap<String, String>) {
        let source = Source::parse(&texts[file]);
        let (dir, name) = file.rsplit_once('/').unwrap_or(("", file));
        let base = match name {
            "lib.rs" | "main.rs" | "mod.rs" => dir.to_string(),
            _ => file.trim_end_matches(".rs").to_string(),
        };
        for inline in &source.inline_modules {
            self.files.insert([&module[..], inline].concat(), file.to_string());
        }
        let children = source.children.clone();
        self.files.insert(module.clone(), file.to_string());
        self.modules.insert(file.to_string(), module.clone());
        self.sources.insert(file.to_string(), source);
        for child in children {
            let path = format!("{base}/{}", child.join("/"));
            let path = path.trim_start_matches('/');
            let found = [format!("{path}.rs"), format!("{path}/mod.rs")];
            if let Some(file) = found.iter().find(|file| texts.contains_key(*file)) {
                self.add(file, [&module[..], &child].concat(), texts);
            }
        }
    }

    /// Returns all edges: the importing file, the defining file, and an example of a path.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.edges.iter().flat_map(|(from, edges)| {
            edges.iter().map(move |(to, example)| (from.as_str(), to.as_str(), example.as_str()))
        })
    }

    /// Returns the types and traits of the crate: the defining file and the name.
    pub fn types(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sources
            .iter()
            .flat_map(|(file, source)| source.types.iter().map(move |name| (file.as_str(), name.as_str())))
    }

    /// Returns the path from the root of the crate; `None` for a path that leaves the crate.
    fn absolute_path(&self, file: &str, used: &Use) -> Option<Vec<String>> {
        let module = [&self.modules[file][..], &used.within].concat();
        let (first, rest) = used.path.split_first()?;
        match first.as_str() {
            "crate" => Some(used.path.clone()),
            "self" => Some([&module[..], rest].concat()),
            "super" => {
                let ups = used.path.iter().take_while(|segment| *segment == "super").count();
                Some([&module[..module.len().checked_sub(ups)?], &used.path[ups..]].concat())
            }
            _ => {
                let child = [&module[..], std::slice::from_ref(first)].concat();
                if self.files.contains_key(&child) {
                    return Some([&child[..], rest].concat());
                }
                if used.name.is_some() {
                    return None;
                }
                // A path in the code may begin with an imported module.
                let mut imports =
                    self.sources[file].uses.iter().filter(|import| import.name.as_ref() == Some(first));
                let imported = imports.find_map(|import| self.absolute_path(file, import))?;
                self.files.contains_key(&imported).then(|| [&imported[..], rest].concat())
            }
        }
    }

    /// Returns the file that defines the item of an absolute path, or the file of its module if the item is not
    /// found.
    fn resolve(&self, path: &[String]) -> Option<String> {
        if let Some(file) = self.find_definition(path, &mut BTreeSet::new()) {
            return Some(file);
        }
        let known = self.module_len(path)?;
        if known == 1 {
            // Exported macros are defined at the root.
            let defines = |source: &Source| path.get(1).is_some_and(|name| source.definitions.contains(name));
            return self.sources.iter().find(|(_, source)| defines(source)).map(|(file, _)| file.clone());
        }
        self.files.get(&path[..known]).cloned()
    }

    /// Returns how many segments of a path are modules.
    fn module_len(&self, path: &[String]) -> Option<usize> {
        (1..=path.len()).rev().find(|&len| self.files.contains_key(&path[..len]))
    }

    /// Returns the file that defines an item. Follows re-exports.
    fn find_definition(&self, path: &[String], seen: &mut BTreeSet<Vec<String>>) -> Option<String> {
        if !seen.insert(path.to_vec()) {
            return None;
        }
        let known = self.module_len(path)?;
        let file = &self.files[&path[..known]];
        let Some((name, rest)) = path[known..].split_first() else { return Some(file.clone()) };
        let source = &self.sources[file];
        if name == "*" || source.definitions.contains(name) {
            return Some(file.clone());
        }
        let globs = |used: &&Use| used.path.last().is_some_and(|last| last == "*");
        let imports = source.uses.iter().filter(|used| used.name.as_ref() == Some(name));
        for import in imports.filter(|used| !globs(used)) {
            if let Some(path) = self.absolute_path(file, import) {
                let whole = [&path[..], rest].concat();
                if let Some(found) =
                    self.find_definition(&whole, seen).or_else(|| self.find_definition(&path, seen))
                {
                    return Some(found);
                }
            }
        }
        for import in source.uses.iter().filter(globs) {
            if let Some(mut path) = self.absolute_path(file, import) {
                path.pop();
                path.push(name.clone());
                path.extend_from_slice(rest);
                if let Some(found) = self.find_definition(&path, seen) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Returns the violations of the rules, one or more lines for each.
    pub fn violations(&self, layers: &[&[&str]]) -> Vec<String> {
        let mut found = Vec::new();
        let layer = |file: &str| layers.iter().position(|layer| layer.contains(&top_level_module(file)));
        for file in self.sources.keys().filter(|file| layer(file).is_none()) {
            found.push(format!("{file}: the module has no layer"));
        }
        for (from, to, example) in self.edges() {
            if top_level_module(from) != top_level_module(to) && layer(from) >= layer(to) {
                found.push(format!("not downwards: {from} -> {to} ({example})"));
            }
        }
        for cycle in self.cycles() {
            let inside = |(from, to, _): &(&str, &str, &str)| cycle.contains(*from) && cycle.contains(*to);
            let edges = self.edges().filter(inside);
            let lines = edges.map(|(from, to, example)| format!("\n    {from} -> {to} ({example})"));
            found.push(format!("a cycle of {} files:{}", cycle.len(), lines.collect::<String>()));
        }
        found
    }

    /// Returns the sets of files that reach each other.
    fn cycles(&self) -> Vec<BTreeSet<String>> {
        let reached: BTreeMap<_, _> =
            self.sources.keys().map(|file| (file, self.reachable_files(file))).collect();
        let mut cycles = Vec::new();
        let mut done = BTreeSet::new();
        for (file, there) in &reached {
            if !done.contains(file.as_str()) && there.contains(file.as_str()) {
                let back = |other: &&&str| reached[&other.to_string()].contains(file.as_str());
                let cycle: BTreeSet<String> =
                    there.iter().filter(back).map(|file| file.to_string()).collect();
                done.extend(cycle.iter().cloned());
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// Returns the files that `file` imports, directly or not.
    fn reachable_files<'a>(&'a self, file: &'a str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            open.extend(self.edges[file].keys().map(String::as_str).filter(|to| reached.insert(*to)));
        }
        reached
    }
}

/// Returns the top-level module of a file.
fn top_level_module(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}
