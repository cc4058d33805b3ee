"""The log-log picture of growth: a column of panels for what grows, time above memory."""

import math

COLOURS = ["#1b6ca8", "#c0392b", "#2d8a4e", "#8e44ad"]
MEASURES = [("seconds", "CPU seconds"), ("megabytes", "peak memory, MB")]
# Width and height of a panel; room at the left for numbers, above for titles, below for numbers, for each line of the legend.
WIDTH, HEIGHT, LEFT, TOP, BELOW, LINE = 330, 260, 62, 34, 40, 34


def exponent(points, what):
    """The least-squares slope of log(what) against log(size)."""
    xs = [math.log(point["size"]) for point in points]
    ys = [math.log(point[what]) for point in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / sum((x - x_mean) ** 2 for x in xs)


def ticks(low, high):
    """1, 2 and 5 times powers of ten where there is room, otherwise the powers alone."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if math.log10(high / low) < 2.5 else (1,)
    return [m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high * 1.0001]


class Axis:
    """Numbers to places on one logarithmic axis, from `start` over `length` (negative: upwards)."""

    def __init__(self, values, start, length):
        self.low, self.high = min(values) / 1.25, max(values) * 1.25
        self.start, self.length = start, length

    def at(self, value):
        return self.start + self.length * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self):
        return ticks(self.low, self.high)


def panel(series, left, top, what, over, title):
    x = Axis([p["size"] for s in series for p in s["points"]], left, WIDTH)
    y = Axis([p[what] for s in series for p in s["points"]], top + HEIGHT, -HEIGHT)
    out = [f'<text x="{left}" y="{top - 10}" font-weight="bold">{title} by {over}</text>']
    for value in y.ticks():
        at = y.at(value)
        out.append(f'<path d="M{left} {at:.1f}h{WIDTH}" stroke="#e2e2e2"/><text x="{left - 7}" y="{at + 4:.1f}" text-anchor="end">{value:,g}</text>')
    for value in x.ticks():
        at = x.at(value)
        out.append(f'<path d="M{at:.1f} {top}v{HEIGHT}" stroke="#eeeeee"/><text x="{at:.1f}" y="{top + HEIGHT + 17}" text-anchor="middle">{value:,.0f}</text>')
    out.append(f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>')
    for colour, line in zip(COLOURS, series):
        points = [(x.at(p["size"]), y.at(p[what])) for p in line["points"]]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in points]
    return out


def draw(series):
    grows = list(dict.fromkeys(line["over"] for line in series))
    column, row = LEFT + WIDTH + 24, TOP + HEIGHT + BELOW
    legend_lines = max(sum(line["over"] == over for line in series) for over in grows)
    width, height = column * len(grows), row * len(MEASURES) + LINE * legend_lines + 16
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for c, over in enumerate(grows):
        mine = [line for line in series if line["over"] == over]
        for r, (what, title) in enumerate(MEASURES):
            out += panel(mine, c * column + LEFT, r * row + TOP, what, over, title)
        for at, (colour, line) in enumerate(zip(COLOURS, mine)):
            x, y = c * column + LEFT, row * len(MEASURES) + LINE * at + 14
            fits = (f"{exponent(line['points'], what):.2f} (end {exponent(line['points'][-2:], what):.2f})" for what, _ in MEASURES)
            time, memory = fits
            out.append(f'<circle cx="{x + 4}" cy="{y - 4}" r="4.5" fill="{colour}"/><text x="{x + 16}" y="{y}">{line["name"]}</text>')
            out.append(f'<text x="{x + 16}" y="{y + 15}" fill="#555">exponents: time {time}, memory {memory}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
