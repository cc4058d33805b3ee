// What the server publishes, fetched whole and in one fixed order: nothing that is asked for depends on where somebody is or looks.

import type { Area, Lattice } from "./maths/noise";
import type { LatLon } from "./maths/plane";

export interface Index {
  version: string;
  map: string;
  places: number;
  spacing_km: number;
  cell_km: number | null;
  bounds: [number, number, number, number];
  streets: string;
  costs: string | null;
  rounds: number[];
  operation: boolean;
  landmarks: { name: string; at: [number, number] }[];
}

export interface FileEntry {
  hash: string;
  bytes: number;
  places: number;
}

export interface Manifest {
  link: { sequence: number; previous: string | null; issued: string; expires: string; next_key: string };
  map: string;
  mechanism: string;
  kind: string;
  promise: { epsilon_per_km: number; gamma_km: number | null };
  expected_cost: number;
  unit: string;
  optimum: { status: string; cost: number; lower_bound: number; gap: number } | null;
  check: { method: string; pairs: number; violations: number; worst_log_excess: number | null; effective_epsilon_per_km: number };
  places: FileEntry;
  noise: FileEntry | null;
  tiles: FileEntry[];
}

/** What `local` and `offload` are solved with. */
export interface Parameters {
  epsilon_per_km: number;
  gamma_km: number | null;
  relevant_km: number;
  relevant_max: number | null;
  exponential_km: number;
  obfuscation_km: number;
  range: "own" | "each";
  alike: number | null;
}

export interface Description {
  parameters: Parameters;
  /** The public y of mode `local`, and the slices of the cost table. */
  local: { y: number[]; cost: number; lower_bound: number; table_tiles: { hash: string; bytes: number }[] } | null;
}

export interface Target extends LatLon {
  weight: number;
}

/** Everything public that the page works with. */
export interface City {
  index: Index;
  manifest: Manifest;
  description: Description;
  lat: Float64Array;
  lon: Float64Array;
  prior: Float64Array;
  noise: { lattice: Lattice; centre: LatLon; area: Area } | null;
  /** Rows that were published in tiles, by place. */
  published: Map<number, Float64Array>;
  targets: Target[];
  travel: Float32Array | null;
}

export interface Streets {
  /** Broad ones have a higher class, 0 to 2. */
  lines: { class: number; points: [number, number][] }[];
}

async function get(path: string, accept = "*/*"): Promise<Response> {
  const answer = await fetch(path, { headers: { accept } });
  if (!answer.ok) throw new Error(`${path.split("/").slice(0, 3).join("/")} answered ${answer.status}`);
  return answer;
}

const json = async <T>(path: string): Promise<T> => (await get(path, "application/json")).json() as Promise<T>;
const bytes = async (path: string): Promise<DataView> => new DataView(await (await get(path)).arrayBuffer());

/** The map to look at, before anything can be computed. */
export async function fetchMap(): Promise<{ index: Index; streets: Streets }> {
  const index = await json<Index>("/v1/page");
  return { index, streets: decodeStreets(await bytes(`/v1/page/files/${index.streets}`)) };
}

export async function fetchCity(index: Index): Promise<City> {
  const manifest = await json<Manifest>("/v1/manifest");
  const description = await json<Description>("/v1/map");
  const places = decodePlaces(await bytes(`/v1/places/${manifest.places.hash}`));
  const noise = manifest.noise ? decodeNoise(await bytes(`/v1/noise/${manifest.noise.hash}`)) : null;
  const published = new Map<number, Float64Array>();
  for (const tile of manifest.tiles) decodeTile(await bytes(`/v1/tiles/${tile.hash}`), published);
  const costs = index.costs ? decodeCosts(await bytes(`/v1/page/files/${index.costs}`)) : { targets: [], travel: null };
  return { index, manifest, description, ...places, noise, published, ...costs };
}

function magic(view: DataView, text: string): void {
  for (let i = 0; i < text.length; i++) if (view.getUint8(i) !== text.charCodeAt(i)) throw new Error(`this is no file of kind ${text}`);
}

const f64 = (view: DataView, at: number) => view.getFloat64(at, true);
const u32 = (view: DataView, at: number) => view.getUint32(at, true);

export function decodeStreets(view: DataView): Streets {
  magic(view, "LRSTREET");
  const count = u32(view, 8);
  const corner = [f64(view, 16), f64(view, 24)];
  const lines = [];
  let at = 32 + 4 * count;
  for (let line = 0; line < count; line++) {
    const head = u32(view, 32 + 4 * line);
    const points: [number, number][] = [];
    for (let point = 0; point < (head & 0xffffff); point++, at += 8) points.push([corner[1] + u32(view, at + 4) * 1e-6, corner[0] + u32(view, at) * 1e-6]);
    lines.push({ class: head >>> 24, points });
  }
  return { lines };
}

export function decodePlaces(view: DataView): { lat: Float64Array; lon: Float64Array; prior: Float64Array } {
  magic(view, "LRPLACES");
  const count = u32(view, 44);
  const column = (offset: number) => Float64Array.from({ length: count }, (_, i) => f64(view, 48 + 24 * i + offset));
  return { lat: column(0), lon: column(8), prior: column(16) };
}

export function decodeNoise(view: DataView): { lattice: Lattice; centre: LatLon; area: Area } {
  magic(view, "LRNOISE_");
  const number = (i: number) => f64(view, 44 + 8 * i);
  const squares: [number, number] = [u32(view, 132), u32(view, 136)];
  const reports = Uint32Array.from({ length: squares[0] * squares[1] }, (_, i) => u32(view, 144 + 4 * i));
  const lattice = { rate: number(0), spacingKm: number(7), tipKm: number(8), first: [number(9), number(10)] as [number, number], squares, side: u32(view, 140), reports };
  return { lattice, centre: { lat: number(1), lon: number(2) }, area: [number(3), number(4), number(5), number(6)] };
}

/** The rows of a tile (docs/tiles.md). Whether they keep the promise is checked by the device, not here: this is to look at. */
export function decodeTile(view: DataView, rows: Map<number, Float64Array>): void {
  magic(view, "LRTILE\r\n");
  const [count, n] = [u32(view, 76), u32(view, 80)];
  let at = 84;
  const members = Array.from({ length: n }, (_, i) => u32(view, at + 4 * i));
  at += 4 * n;
  const present: number[] = [];
  for (let k = 0; k < count; k++) if ((view.getUint8(at + (k >> 3)) >> (k & 7)) & 1) present.push(k);
  at += Math.ceil(count / 8);
  const tails = Array.from({ length: n }, (_, i) => f64(view, at + 8 * i));
  at += 8 * n;
  const isListed = u32(view, at) === 1;
  at += 4;
  let columns: number[][];
  if (isListed) {
    const counts = Array.from({ length: n }, (_, i) => u32(view, at + 4 * i));
    at += 4 * n;
    columns = counts.map((length) => {
      const list = Array.from({ length }, (_, i) => u32(view, at + 4 * i));
      at += 4 * length;
      return list;
    });
  } else columns = members.map(() => present);
  members.forEach((place, i) => {
    const row = new Float64Array(count);
    for (const k of present) row[k] = tails[i];
    for (const k of columns[i]) {
      row[k] = f64(view, at);
      at += 8;
    }
    rows.set(place, row);
  });
}

export function decodeCosts(view: DataView): { targets: Target[]; travel: Float32Array } {
  magic(view, "LRTRAVEL");
  const [places, count] = [u32(view, 8), u32(view, 12)];
  const targets = Array.from({ length: count }, (_, l) => ({ lat: f64(view, 16 + 24 * l), lon: f64(view, 24 + 24 * l), weight: f64(view, 32 + 24 * l) }));
  const start = 16 + 24 * count;
  return { targets, travel: new Float32Array(view.buffer.slice(start, start + 4 * places * count)) };
}
