//! Evaluation of the model: linear functions and boosted decision trees, which predict size and times of a codec at a level.

use super::features::NFEATURES;

/// The number of predicted values: the fields of [`Prediction`].
pub const NOUTPUTS: usize = 3;
/// The number of conditions of a tree.
pub const DEPTH: usize = 3;
/// The unit of the values at the leaves.
pub const LEAF_UNIT: f32 = 1.0 / 2048.0;

/// A tree whose conditions are the same for all nodes of a depth.
pub struct Tree {
    /// Indices of the features that are compared.
    pub features: [u8; DEPTH],
    /// The condition holds if the feature is greater.
    pub thresholds: [f32; DEPTH],
    /// For each combination of conditions that hold (bit `i`: condition `i`), what is added to the outputs, in
    /// [`LEAF_UNIT`].
    pub leaves: [[i16; NOUTPUTS]; 1 << DEPTH],
}

impl Tree {
    /// Returns the index of the leaf for these features.
    pub fn leaf(&self, features: &[f32; NFEATURES]) -> usize {
        let conditions = self.features.iter().zip(&self.thresholds).enumerate();
        conditions
            .map(|(i, (&feature, &limit))| usize::from(features[usize::from(feature)] > limit) << i)
            .sum()
    }
}

/// The model of a codec at a level.
pub struct LevelModel {
    /// Codec id.
    pub compcode: u8,
    /// Compression level.
    pub clevel: u8,
    /// The outputs for features of 0.
    pub constant: [f32; NOUTPUTS],
    /// What each unit of a feature adds to the outputs.
    pub linear: [[f32; NOUTPUTS]; NFEATURES],
    /// The trees, whose outputs are added.
    pub trees: &'static [Tree],
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
    /// Returns the prediction for a sample with these features.
    pub fn predict(&self, features: &[f32; NFEATURES]) -> Prediction {
        let mut sums = [0i32; NOUTPUTS];
        for tree in self.trees {
            for (sum, &value) in sums.iter_mut().zip(&tree.leaves[tree.leaf(features)]) {
                *sum += i32::from(value);
            }
        }
        let mut outputs = self.constant;
        for (place, output) in outputs.iter_mut().enumerate() {
            *output += sums[place] as f32 * LEAF_UNIT;
            for (weights, &feature) in self.linear.iter().zip(features) {
                *output += weights[place] * feature;
            }
        }
        // A stored chunk is as long as its content.
        Prediction { size: outputs[0].min(0.0), compress_time: outputs[1], decompress_time: outputs[2] }
    }
}
