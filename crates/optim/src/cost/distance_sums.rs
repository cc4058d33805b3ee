//! Sums of distances to many points on a line, by sorting them once.

/// Points on a line with the sums of all up to each.
pub(crate) struct DistanceSums {
    /// Ascending, counted from `centre`.
    points: Vec<f64>,
    /// The sum of the points before each position; one more than there are points.
    before: Vec<f64>,
    centre: f64,
}

impl DistanceSums {
    pub(crate) fn to(mut points: Vec<f64>) -> Self {
        points.sort_by(f64::total_cmp);
        // Counted from the median: half of the points lie on the other side of it from any value, so nothing that is added up
        // is large beside the sum of distances, which is then only a few roundings off.
        let centre = points.get(points.len() / 2).copied().unwrap_or(0.0);
        points.iter_mut().for_each(|point| *point -= centre);
        let mut before = Vec::with_capacity(points.len() + 1);
        before.push(0.0);
        // What rounding takes from the sum is carried along: the error does not grow with the number of points.
        let (mut sum, mut lost) = (0.0, 0.0);
        for &point in &points {
            let next = sum + point;
            let back = next - sum;
            lost += (sum - (next - back)) + (point - back);
            sum = next;
            before.push(sum + lost);
        }
        Self { points, before, centre }
    }

    /// The sum of `|value - point|` over all points.
    pub(crate) fn from(&self, value: f64) -> f64 {
        let value = value - self.centre;
        let below = self.points.partition_point(|&point| point < value);
        let (sum_below, sum) = (self.before[below], self.before[self.points.len()]);
        let above = self.points.len() - below;
        (value * below as f64 - sum_below) + ((sum - sum_below) - value * above as f64)
    }
}
