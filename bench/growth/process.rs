//! What a benchmark's own process has taken, from Linux's process table.

/// Peak resident memory of this process.
pub fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok())
        .map_or(f64::NAN, |kb| kb as f64 / 1024.0)
}
