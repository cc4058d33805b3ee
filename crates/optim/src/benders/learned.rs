//! Which users are asked first: a linear score of what is known of each before it is asked.
//!
//! A guess that one user calls infeasible needs nobody else's opinion, so an iteration first asks the users with a score above
//! zero, and the others only where all of these have a matrix. Weights are trained elsewhere (`bench/learned-cuts`).

/// Weights of the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// One for each of: one; how long ago the user was asked; whether it then called y infeasible; how much its cut taught; how
    /// far y has moved since; the share of columns that are tied for it.
    pub weights: [f64; 6],
}

/// What is remembered of a user.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    asked: usize,
    infeasible: f64,
    taught: f64,
    y: Vec<f64>,
    tied: f64,
}

impl Memory {
    /// Of a user that nobody has asked yet.
    pub(super) fn new(tied: f64, columns: usize) -> Self {
        Self { asked: 0, infeasible: 1.0, taught: 1.0, y: vec![0.0; columns], tied }
    }

    /// The user was asked; what it taught is a share of what the bounds leave open.
    pub(super) fn note(&mut self, iteration: usize, y: &[f64], infeasible: bool, taught: f64) {
        self.asked = iteration;
        self.infeasible = if infeasible { 1.0 } else { 0.0 };
        self.taught = taught.clamp(0.0, 1.0);
        self.y.copy_from_slice(y);
    }

    fn features(&self, iteration: usize, y: &[f64], largest: &[Option<f64>]) -> [f64; 6] {
        let moved = y.iter().zip(&self.y).zip(largest);
        let moved = moved.map(|((a, b), unit)| unit.map_or(0.0, |unit| (a - b).abs() / unit));
        let age = (iteration - self.asked) as f64 / 5.0;
        [1.0, age.min(1.0), self.infeasible, self.taught, moved.sum::<f64>().min(1.0), self.tied]
    }
}

impl Policy {
    /// The users to ask first; all where none stands out.
    pub(super) fn first(
        &self,
        users: &[Memory],
        iteration: usize,
        y: &[f64],
        largest: &[Option<f64>],
    ) -> Vec<usize> {
        let score = |user: &Memory| -> f64 {
            user.features(iteration, y, largest).iter().zip(self.weights).map(|(f, w)| f * w).sum()
        };
        let chosen: Vec<usize> = (0..users.len()).filter(|&m| score(&users[m]) > 0.0).collect();
        if chosen.is_empty() { (0..users.len()).collect() } else { chosen }
    }
}
