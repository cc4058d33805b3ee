# %% [markdown]
# # lrgeo in ten minutes
# Run it as a script, or open it as a notebook (jupytext, VS Code): cells begin with `# %%`.

# %% A city: streets, places, where people are and where they go
import numpy as np
from numpy.typing import NDArray

import lrgeo

city = lrgeo.Map.demo(700)
print(city, "prior sums to", city.prior.sum())

# %% Noise for people who stand anywhere
noise = city.build(privacy="factor 2 within 300 m")
print(noise, noise.verify())

# %% What it means: two people 300 m apart draw from nearly the same distribution
here = city.coords[len(city) // 2]
there = here + [0.0027, 0.0]
rows = noise.rows([here[0], there[0]], [here[1], there[1]])
seen = rows[1] > 0
print("largest factor between them:", (rows[0][seen] / rows[1][seen]).max())
assert (rows[0] <= 2.01 * rows[1]).all()

# %% A frame of people becomes a frame of reports: the same index, and nothing else of theirs
people = city.places_frame()[["lat", "lon"]].head(5)
reports = noise.sample(people)
print(reports)
assert list(reports.index) == list(people.index) and (reports["accuracy_m"] > 100).all()

# %% The best mechanism between places, with a proof of how good it is. Ctrl-C ends with the best so far
best = city.build("published", epsilon=2.0, time_limit=30)
print(f"{best.expected_cost:.3f} {best.unit} per report, at least {best.lower_bound:.3f}")

# %% The optimiser on plain arrays
small = city.central(60)
cost = small.prior[:, None] * small.losses()
at = small.coords
km = 111.2 * np.hypot(at[:, None, 0] - at[None, :, 0], np.cos(np.radians(at[0, 0])) * (at[:, None, 1] - at[None, :, 1]))
i, j = np.triu_indices(len(small), 1)
solution = lrgeo.solve(cost, np.column_stack([i, j, km[i, j]]), 2.0)
print(solution)
assert solution.gap <= 1e-6


# %% A mechanism of your own beside ours: a function of the map that returns its matrix, or an object with settings.
# It is verified like ours; its promise is the least epsilon that it keeps.
class Fading:
    """Reports fade with distance, at a rate of one's choice."""

    def __init__(self, per_km: float) -> None:
        self.per_km = per_km

    def __call__(self, city: lrgeo.Map) -> NDArray[np.float64]:
        weights = np.exp(-self.per_km * km)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


fading = small.import_matrix(Fading(1.0)(small))
table = lrgeo.compare([Fading(1.0), small.build("lp", epsilon=fading.epsilon)], small)
for line in table:
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()})
assert table[0]["kind"] == "Fading" and table[1]["expected_cost"] <= table[0]["expected_cost"]

# %% Costs of your own: here a report that is too far north costs twice as much as one too far south
north = at[None, :, 0] - at[:, None, 0]
uneven = small.with_utility(np.where(north > 0, 2.0, 1.0) * km)
print(uneven.build("lp", epsilon=2.0))

# %% What leaks besides the report: somebody who reports again and again, and somebody who walks
for attack in lrgeo.attack.repeat(fading, counts=[1, 10, 50], users=50):
    print(f"{attack.sees:35} {100 * attack.all.top_1:5.1f} % right, off by {attack.all.error_km:.2f} km")
walk = lrgeo.attack.trace(fading, small, users=5, fixes=20, particles=500).followed
assert walk[3].draws_per_journey < walk[0].draws_per_journey
