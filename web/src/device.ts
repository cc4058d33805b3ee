// The phone of somebody who does not exist, and what it solves for itself.

import { Asked } from "./ask";
import type { City } from "./data";
import type { LatLon } from "./maths/plane";
import type { Tasks } from "./workers/compute";
import type { DeviceTasks, Person } from "./workers/device";

/** More than this of the cost table is not fetched for a picture. */
const MOST_TABLE_BYTES = 64e6;

/** A function of two vectors by a relaxed instruction: browsers that know it know all of them. */
const RELAXED = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11]);

/** Why mode `local` cannot be run here; null where it can. */
export function whyNotLocal(city: City): string | null {
  const { local } = city.description;
  if (!local) return "This server does not offer it: it publishes no y (privacy.local in the settings).";
  if (!local.table_tiles.length) return "This server does not offer it: it publishes no tiles.";
  const bytes = local.table_tiles.reduce((sum, tile) => sum + tile.bytes, 0);
  if (bytes > MOST_TABLE_BYTES) return `The whole cost table is ${Math.round(bytes / 1e6)} MB, too much to fetch for a picture.`;
  if (!WebAssembly.validate(RELAXED)) return "This browser cannot: the module that solves on the device needs relaxed SIMD, which Chromium has since version 114.";
  return null;
}

/** The device, started when somebody first needs it. */
export class Device extends Asked<DeviceTasks> {
  readonly #solved = new Set<number>();

  constructor(
    readonly city: City,
    readonly compute: Asked<Tasks>,
  ) {
    super(new Worker(new URL("./workers/device.ts", import.meta.url), { type: "module" }));
  }

  person(at: LatLon): Person {
    return { origin: location.origin, at, privacy: `factor 2 within ${Math.floor((1000 * Math.log(2)) / this.city.manifest.promise.epsilon_per_km)} m` };
  }

  /** Has the programme of mode `local` solved at a coordinate, so that its row can be looked at; each place once, one at a time. */
  solve(at: LatLon, then: () => void, failed: (reason: string) => void): void {
    const place = nearest(this.city, at);
    if (this.#solved.has(place)) return then();
    const learn = (row: Float64Array) => this.compute.ask("learn", { place, row }).then(() => {
      this.#solved.add(place);
      then();
    });
    const slices = this.city.description.local?.table_tiles.map(({ hash }) => hash) ?? [];
    this.latest("solve", "row", { ...this.person(at), slices }, learn, failed);
  }
}

function nearest({ lat, lon }: City, at: LatLon): number {
  const narrow = Math.cos((at.lat * Math.PI) / 180);
  let [best, least] = [0, Infinity];
  for (let i = 0; i < lat.length; i++) {
    const away = (lat[i] - at.lat) ** 2 + ((lon[i] - at.lon) * narrow) ** 2;
    if (away < least) [best, least] = [i, away];
  }
  return best;
}
