//! Evaluation of the model: boosted decision trees that predict size and times of a codec at each level.

use super::features::NFEATURES;

/// The number of levels, 1 to 9.
pub const NLEVELS: usize = 9;
/// The number of predicted values of a codec: for each level the natural logarithms of the compressed size divided by the
/// size, and of the times of compression and decompression in nanoseconds per byte.
pub const NOUTPUTS: usize = 3 * NLEVELS;
/// The number of components from which the predicted values are combined.
pub const NCOMPONENTS: usize = 6;
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
    /// For each combination of conditions that hold (bit `i`: condition `i`), the components, in [`LEAF_UNIT`].
    pub leaves: [[i16; NCOMPONENTS]; 1 << DEPTH],
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

/// The model of a codec.
pub struct CodecModel {
    /// The values for features of 0.
    pub constant: [f32; NOUTPUTS],
    /// What each unit of a feature adds to the values.
    pub linear: [[f32; NOUTPUTS]; NFEATURES],
    /// What each unit of a component adds to the values.
    pub basis: [[f32; NOUTPUTS]; NCOMPONENTS],
    /// The trees, whose components are added.
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

impl CodecModel {
    /// Returns the predictions for the levels 1 to 9.
    pub fn predict(&self, features: &[f32; NFEATURES]) -> [Prediction; NLEVELS] {
        let mut components = [0i32; NCOMPONENTS];
        for tree in self.trees {
            for (sum, &value) in components.iter_mut().zip(&tree.leaves[tree.leaf(features)]) {
                *sum += i32::from(value);
            }
        }
        let mut outputs = self.constant;
        for (vector, &feature) in self.linear.iter().zip(features) {
            for (output, &weight) in outputs.iter_mut().zip(vector) {
                *output += weight * feature;
            }
        }
        for (vector, &component) in self.basis.iter().zip(&components) {
            for (output, &weight) in outputs.iter_mut().zip(vector) {
                *output += weight * component as f32 * LEAF_UNIT;
            }
        }
        let mut predictions = [Prediction::default(); NLEVELS];
        for (prediction, values) in predictions.iter_mut().zip(outputs.chunks_exact(3)) {
            // A chunk is at most a header longer than its content.
            *prediction =
                Prediction { size: values[0].min(0.0), compress_time: values[1], decompress_time: values[2] };
        }
        predictions
    }
}
