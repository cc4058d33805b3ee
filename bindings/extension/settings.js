// What the owner wants, by site. Kept in chrome.storage.local, which only the extension's own pages can read (worker.js closes it to content scripts).

import { Noise } from "./lrgeo/noise.js";
import { readPlaces } from "./places.js";

export const SUGGESTED = "factor 2 within 300 m";
export const KINDS = ["exact", "blurred", "fixed", "off"];

const SITE = "site ";
const STATE = "state ";
const DEFAULT = "new sites";
const PLACES = "public places";

/** What sites get that nobody has decided about: `{ kind: "ask" }` asks. */
export async function defaultLevel() {
  return (await chrome.storage.local.get(DEFAULT))[DEFAULT] ?? { kind: "ask" };
}

export async function setDefaultLevel(level) {
  await chrome.storage.local.set({ [DEFAULT]: level.kind === "ask" ? { kind: "ask" } : await checked(level) });
}

/** The level that was chosen for a site; null for none. */
export async function chosenLevel(site) {
  return (await chrome.storage.local.get(SITE + site))[SITE + site] ?? null;
}

export async function levelOf(site) {
  return (await chosenLevel(site)) ?? (await defaultLevel());
}

export async function setLevel(site, level) {
  await chrome.storage.local.set({ [SITE + site]: await checked(level) });
}

/** All sites that have a level or a memory. */
export async function sites() {
  const names = Object.keys(await chrome.storage.local.get(null));
  const of = (prefix) => names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return [...new Set([...of(SITE), ...of(STATE)])].sort();
}

/** Goes back to what new sites get; what was reported stays remembered. */
export async function removeLevel(site) {
  await chrome.storage.local.remove(SITE + site);
}

/** Forgets what was reported: the next report from the same spot is drawn anew, which tells more. */
export async function forget(site) {
  await chrome.storage.local.remove(STATE + site);
}

/** Where the reports of one site are remembered. */
export class SiteStorage {
  constructor(site) {
    this.name = STATE + site;
  }
  async get() {
    return (await chrome.storage.local.get(this.name))[this.name] ?? null;
  }
  async set(text) {
    await chrome.storage.local.set({ [this.name]: text });
  }
}

/** The map that blurred answers are moved to, `{ name, places }`; null for none. */
export async function publicPlaces() {
  return (await chrome.storage.local.get(PLACES))[PLACES] ?? null;
}

/** Takes the places of a file: from now on new answers near them are places of it. What was answered stays. */
export async function setPublicPlaces(name, text) {
  const places = readPlaces(text);
  await new Noise(SUGGESTED, { places }).about();
  await chrome.storage.local.set({ [PLACES]: { name, places } });
}

export async function removePublicPlaces() {
  await chrome.storage.local.remove(PLACES);
}

/** Which place is reported follows from the outcome of the noise alone: a map moves answers to where people are, and tells no more. */
export async function noiseFor(site, privacy) {
  const { places } = (await publicPlaces()) ?? {};
  return new Noise(privacy, { storage: new SiteStorage(site), places });
}

/** A level that makes sense, with nothing else in it; otherwise an Error that says what is wrong. */
export async function checked(level) {
  switch (level.kind) {
    case "exact":
    case "off":
      return { kind: level.kind };
    case "blurred":
      await new Noise(level.privacy).about();
      return { kind: "blurred", privacy: level.privacy };
    case "fixed": {
      const [lat, lon] = [Number(level.lat), Number(level.lon)];
      if (!(level.lat !== "" && Math.abs(lat) <= 90)) throw new Error("latitude: must be between -90 and 90");
      if (!(level.lon !== "" && Math.abs(lon) <= 180)) throw new Error("longitude: must be between -180 and 180");
      return { kind: "fixed", lat, lon };
    }
    default:
      throw new Error("level: must be exact, blurred, fixed or off");
  }
}

/** A level in words. */
export function inWords(level) {
  switch (level.kind) {
    case "ask":
      return "asks you first";
    case "exact":
      return "exact position";
    case "blurred":
      return `blurred: ${level.privacy}`;
    case "fixed":
      return `always ${level.lat}, ${level.lon}`;
    default:
      return "no position";
  }
}
