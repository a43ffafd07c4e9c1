//! The list of the known defects of the reference in array functions, by name and number of b2nd.md 10. A step that
//! would trigger one of them is skipped and counted under its name; no other step is skipped. DELTA (D1) is in no
//! setup.

/// A defect of the reference that no library has to reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownDefect {
    /// D2: items of more than 255 bytes lose their size in copies with equal partitions, and in operations based on
    /// them.
    WideCopy,
    /// D3: a whole chunk ignores the shape of the buffer.
    WholeChunkBuffershape,
    /// D4: appending a whole chunk ignores the end of the array.
    AppendAccelerated,
    /// D6: views over dimensions whose chunks or blocks are wider than one item.
    WideView,
    /// D7: freeing a view frees the variable-length metalayers of its base.
    ViewMetalayers,
    /// D8: orthogonal selections of arrays without dimensions.
    ZeroDimSelection,
    /// D12: deletions past the end.
    DeletePastEnd,
    /// D13: divisions by zero.
    DivisionByZero,
    /// D14: concatenation compares the partitions of the wrong arrays.
    ConcatenateAlignment,
    /// chunk.md 10.1 (`support::known_defects`): a copy compresses short variable-length metalayers with the
    /// blocksize of the new array, and cannot read them.
    MetalayerBlocksize,
    /// D24: a shape is published with a dtype that is longer than the stored one.
    LongerDtype,
}
