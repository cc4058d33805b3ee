// A map of public places, from a file that the owner gives: what `lrgeo map export --places-csv` or `--geojson` writes, or any table or collection like it.

/** The places of a file, each latitude, longitude and weight; otherwise an Error that says what is wrong. */
export function readPlaces(text) {
  const places = text.trimStart().startsWith("{") ? fromGeoJson(JSON.parse(text)) : fromTable(text);
  if (!places.flat().every(Number.isFinite)) throw new Error("places: a latitude, longitude or prior is no number");
  return places;
}

/** Points, and of a whole map those that are places; `prior` is their weight, and all weigh the same without. */
function fromGeoJson({ features }) {
  if (!Array.isArray(features)) throw new Error("places: the file must be a GeoJSON FeatureCollection, or a table with lat and lon");
  const isPlace = ({ geometry, properties }) => geometry?.type === "Point" && (properties?.kind ?? "place") === "place";
  return features.filter(isPlace).map(({ geometry: { coordinates: [lon, lat] }, properties }) => [lat, lon, properties?.prior ?? 1]);
}

/** A table with the columns lat, lon and perhaps prior, in any order. */
function fromTable(text) {
  const [head, ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const names = cells(head ?? "");
  const [lat, lon, prior] = ["lat", "lon", "prior"].map((name) => names.indexOf(name));
  if (lat < 0 || lon < 0) throw new Error("places: the first line must name the columns, lat and lon among them");
  return lines.map(cells).map((line) => [number(line[lat]), number(line[lon]), prior < 0 ? 1 : number(line[prior])]);
}

const number = (text) => (text?.trim() ? Number(text) : NaN);

/** The cells of a line; quoted ones may hold commas. */
function cells(line) {
  const found = `,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return Array.from(found, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain.trim());
}
