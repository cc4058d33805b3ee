//! BiCGStab for `E x = b`, the operator given as a function.

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Solves `apply(x) = b` from the given `x` to a relative residual, or as far as it gets; ends at
/// once when `apply` fails.
pub(crate) fn bicgstab<E>(
    apply: impl Fn(&[f64]) -> Result<Vec<f64>, E>,
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
    limit: usize,
) -> Result<(), E> {
    let norm = dot(b, b).sqrt().max(f64::MIN_POSITIVE);
    let mut r: Vec<f64> = b.iter().zip(apply(x)?).map(|(b, y)| b - y).collect();
    let shadow = r.clone();
    let n = b.len();
    let (mut p, mut v) = (vec![0.0; n], vec![0.0; n]);
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    for _ in 0..limit {
        let residual = dot(&r, &r).sqrt() / norm;
        if residual <= tolerance {
            return Ok(());
        }
        let next_rho = dot(&shadow, &r);
        let beta = next_rho / rho * (alpha / omega);
        rho = next_rho;
        if !beta.is_finite() || rho == 0.0 {
            return Ok(());
        }
        for i in 0..n {
            p[i] = r[i] + beta * (p[i] - omega * v[i]);
        }
        v = apply(&p)?;
        alpha = rho / dot(&shadow, &v);
        if !alpha.is_finite() {
            return Ok(());
        }
        for i in 0..n {
            r[i] -= alpha * v[i];
        }
        let t = apply(&r)?;
        let tt = dot(&t, &t);
        omega = if tt > 0.0 { dot(&t, &r) / tt } else { 0.0 };
        for i in 0..n {
            x[i] += alpha * p[i] + omega * r[i];
            r[i] -= omega * t[i];
        }
    }
    Ok(())
}
