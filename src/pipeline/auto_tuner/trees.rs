//! Evaluation of the model: boosted decision trees, which predict size and times of a codec at a level.

use super::features::NFEATURES;

/// The number of predicted values: the fields of [`Prediction`].
pub const NOUTPUTS: usize = 3;
/// The number of conditions between the root of a tree and a leaf.
pub const DEPTH: usize = 4;
/// The unit of the values at the leaves.
pub const LEAF_UNIT: f32 = 1.0 / 2048.0;
/// The number of values that a feature is compared with.
pub const NLIMITS: usize = 63;

/// For a feature the values that it is compared with, in ascending order.
pub type FeatureLimits = [f32; NLIMITS];
/// For each feature the number of its limits below it.
pub type Ranks = [u8; NFEATURES];

/// Returns the ranks of features, for each of which `limits` has an entry.
pub fn ranks(features: &[f32; NFEATURES], limits: &[FeatureLimits]) -> Ranks {
    let rank_of = |feature: usize| limits[feature].partition_point(|&limit| limit < features[feature]) as u8;
    std::array::from_fn(rank_of)
}

/// A complete binary tree.
pub struct Tree {
    /// The conditions, level by level: a feature, and the rank that it exceeds if the condition holds.
    pub conditions: [(u8, u8); (1 << DEPTH) - 1],
    /// What is added to the output, in [`LEAF_UNIT`]. The bits of the index are the conditions that hold, the root's the highest.
    pub leaves: [i16; 1 << DEPTH],
}

impl Tree {
    /// Returns the index of the leaf for features with these ranks.
    pub fn leaf(&self, ranks: &Ranks) -> usize {
        let mut place = 1;
        for _ in 0..DEPTH {
            let (feature, rank) = self.conditions[place - 1];
            place = 2 * place + usize::from(ranks[usize::from(feature)] > rank);
        }
        place - (1 << DEPTH)
    }
}

/// The model of a codec at a level.
pub struct LevelModel {
    /// Codec id.
    pub compcode: u8,
    /// Compression level.
    pub clevel: u8,
    /// For each output a constant, to which the leaves are added.
    pub constants: [f32; NOUTPUTS],
    /// The trees of each output.
    pub trees: [&'static [Tree]; NOUTPUTS],
}

/// The models of codecs and levels.
pub struct Model {
    /// The limits that the conditions of all trees refer to, for each feature.
    pub limits: &'static [FeatureLimits],
    /// The codecs and levels.
    pub levels: &'static [LevelModel],
}

/// Predicted size and times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prediction {
    /// Natural logarithm of the compressed size divided by the size.
    pub size: f32,
    /// Natural logarithm of the nanoseconds per byte of compression.
    pub compress_time: f32,
    /// The same of decompression.
    pub decompress_time: f32,
}

impl LevelModel {
    /// Returns the prediction for a sample whose features have these ranks.
    pub fn predict(&self, ranks: &Ranks) -> Prediction {
        let output = |place: usize| {
            let leaves = self.trees[place].iter().map(|tree| i32::from(tree.leaves[tree.leaf(ranks)]));
            self.constants[place] + leaves.sum::<i32>() as f32 * LEAF_UNIT
        };
        // A stored chunk is as long as its content.
        Prediction { size: output(0).min(0.0), compress_time: output(1), decompress_time: output(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::MODEL;
    use super::*;

    #[test]
    fn rank_is_the_number_of_limits_below() {
        let limits = [std::array::from_fn(|i| i as f32); NFEATURES];
        let mut features = [0.0; NFEATURES];
        features[1] = 2.5;
        features[2] = 1e9;
        assert_eq!(ranks(&features, &limits)[..3], [0, 3, NLIMITS as u8]);
    }

    #[test]
    fn leaf_index_has_the_bits_of_the_conditions() {
        let conditions = std::array::from_fn(|node| (0, node as u8));
        let tree = Tree { conditions, leaves: [0; 1 << DEPTH] };
        let leaf = |rank| tree.leaf(&[rank; NFEATURES]);
        // A rank of 4 fulfils conditions 0 and 2, but not 6 and 13, which follow them.
        assert_eq!([leaf(0), leaf(4), leaf(15)], [0b0000, 0b1100, 0b1111]);
    }

    #[test]
    fn model_refers_to_features_and_limits_that_exist() {
        assert_eq!(MODEL.limits.len(), NFEATURES);
        assert!(MODEL.limits.iter().all(|limits| limits.is_sorted()));
        for tree in MODEL.levels.iter().flat_map(|level| level.trees).flatten() {
            let is_known = |&(feature, rank): &(u8, u8)| {
                usize::from(feature) < NFEATURES && usize::from(rank) <= NLIMITS
            };
            assert!(tree.conditions.iter().all(is_known));
        }
    }
}
