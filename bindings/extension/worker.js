// Decides what a site is told. True positions come from the extension's own page (source.js), and leave this file only where the owner chose "exact".

import { honestAccuracy } from "./lrgeo/geolocation.js";
import { chosenLevel, inWords, levelOf, noiseFor } from "./settings.js";

const DENIED = 1;
const UNAVAILABLE = 2;
const MINUTE = 60000;

/** How long a page that watches waits before it asks again. */
const AGAIN = { exact: 2000, other: 10000 };

/** Websites have no geolocation but ours, however they reach for it; and what is stored is for the extension's own pages alone. */
async function close() {
  for (const primaryPattern of ["http://*/*", "https://*/*"]) {
    await chrome.contentSettings.location.set({ primaryPattern, setting: "block" });
  }
}
const closed = chrome.storage.local.setAccessLevel({ accessLevel: "TRUSTED_CONTEXTS" });
chrome.runtime.onInstalled.addListener(close);
chrome.runtime.onStartup.addListener(close);

const refused = (code, message) => ({ error: { code, message }, again: MINUTE });
const told = (coords, timestamp, again) => ({ position: { coords: { altitude: null, altitudeAccuracy: null, heading: null, speed: null, ...coords }, timestamp }, again });

/** The site is the one in the address bar: a page answers for the frames that it lets ask, as with the browser's own permission. */
function siteOf(sender) {
  if (sender.frameId === 0) return sender.origin;
  try {
    return new URL(sender.tab.url).origin;
  } catch {
    return sender.origin;
  }
}

let source;

/** Where somebody is. */
async function fix(high) {
  source ??= chrome.offscreen
    .hasDocument()
    .then((there) => there || chrome.offscreen.createDocument({ url: "source.html", reasons: ["GEOLOCATION"], justification: "to know the position that is then blurred" }))
    .catch((error) => {
      source = undefined;
      throw error;
    });
  await source;
  return await chrome.runtime.sendMessage({ to: "source", high });
}

/** One after the other for each site: a report must be remembered before the next is drawn. */
const queues = new Map();
function inTurn(site, work) {
  const done = (queues.get(site) ?? Promise.resolve()).then(work);
  queues.set(site, done.catch(() => {}));
  return done;
}

async function answer(site, level, high) {
  if (level.kind === "off") return refused(DENIED, "User denied Geolocation");
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  if (level.kind === "fixed") return told({ latitude: level.lat, longitude: level.lon, accuracy: 100 }, now, AGAIN.other);
  const { coords, timestamp, error } = await fix(high && level.kind === "exact");
  if (error) return refused(error.code, error.message);
  if (level.kind === "exact") return told(coords, timestamp, AGAIN.exact);
  try {
    const report = await (await noiseFor(site, level.privacy)).report({ lat: coords.latitude, lon: coords.longitude });
    const accuracy = honestAccuracy(report.accuracyM, coords.accuracy);
    // The moment of a fix is not needed, and tells.
    return told({ latitude: report.lat, longitude: report.lon, accuracy }, now, AGAIN.other);
  } catch (error) {
    // Why is the owner's business: a page that knew would know how often its user moves.
    await chrome.storage.session.set({ [`trouble ${site}`]: error.message });
    return refused(UNAVAILABLE, "Position unavailable");
  }
}

const ASKING = "asking ";

/** Has the owner decide about a site, in a small window. Until then there is no answer; if it is closed, the answer is no for this session. */
async function decide(site) {
  const name = ASKING + site;
  const known = (await chrome.storage.session.get(name))[name];
  if (known === "dismissed") return refused(DENIED, "User denied Geolocation");
  if (known === undefined) {
    await chrome.storage.session.set({ [name]: "opening" });
    const url = `popup.html?ask=1&site=${encodeURIComponent(site)}`;
    const { id } = await chrome.windows.create({ url, type: "popup", width: 420, height: 720 });
    await chrome.storage.session.set({ [name]: id });
  }
  return { deciding: true };
}

chrome.windows.onRemoved.addListener(async (id) => {
  for (const [name, value] of Object.entries(await chrome.storage.session.get(null))) {
    if (!name.startsWith(ASKING) || value !== id) continue;
    const decided = await chosenLevel(name.slice(ASKING.length));
    if (decided) await chrome.storage.session.remove(name);
    else await chrome.storage.session.set({ [name]: "dismissed" });
  }
});

const BADGES = { exact: ["!", "#b3261e"], blurred: ["≈", "#1a6b3c"], fixed: ["●", "#1f5fa8"], off: ["×", "#5f6368"] };

/** Shows that the page asked, and what it got. */
function show(tabId, level) {
  const [text, color] = BADGES[level.kind] ?? ["?", "#8a5a00"];
  chrome.action.setBadgeText({ tabId, text }).catch(() => {});
  chrome.action.setBadgeBackgroundColor({ tabId, color }).catch(() => {});
  chrome.action.setTitle({ tabId, title: `This site asked where you are: ${inWords(level)}` }).catch(() => {});
}

async function position(sender, high) {
  const site = siteOf(sender);
  const level = await levelOf(site);
  show(sender.tab.id, level);
  if (level.kind === "ask") return await decide(site);
  return await inTurn(site, () => answer(site, level, high));
}

async function permission(sender) {
  const level = await levelOf(siteOf(sender));
  return { permission: level.kind === "ask" ? "prompt" : level.kind === "off" ? "denied" : "granted" };
}

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  if (sender.id !== chrome.runtime.id || !sender.tab || !message.ask) return;
  const answered = closed.then(() => (message.ask === "permission" ? permission(sender) : position(sender, message.high === true)));
  answered.then(reply, () => reply(refused(UNAVAILABLE, "Position unavailable")));
  return true;
});
