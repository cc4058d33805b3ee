# %% [markdown]
# # lrgeo in ten minutes
# Run it as a script, or open it as a notebook (jupytext, VS Code): cells begin with `# %%`.

# %% A city: streets, places, where people are and where they go
import numpy as np

import lrgeo

city = lrgeo.Map.demo(700)
print(city, "prior sums to", city.prior.sum())

# %% Noise for people who stand anywhere
noise = city.build(privacy="factor 2 within 300 m")
print(noise, noise.verify())

# %% What it means: two people 300 m apart draw from nearly the same distribution
here = city.coords[len(city) // 2]
there = here + [0.0027, 0.0]
rows = noise.rows(np.array([here[0], there[0]]), np.array([here[1], there[1]]))
seen = rows[1] > 0
print("largest factor between them:", (rows[0][seen] / rows[1][seen]).max())
assert (rows[0] <= 2.01 * rows[1]).all()

# %% The best mechanism between places, with a proof of how good it is
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

# %% A mechanism of your own beside ours
laplace_like = np.exp(-1.0 * km)
laplace_like /= laplace_like.sum(axis=1, keepdims=True)
own = small.import_matrix(laplace_like)
table = lrgeo.compare([own, small.build("lp", epsilon=own.epsilon)])
for line in table:
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()})
assert table[1]["expected_cost"] <= table[0]["expected_cost"]
