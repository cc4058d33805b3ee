// The level of one site: of the page that is open, or of the one that a window asks about.

import { Noise } from "./lrgeo/noise.js";
import { MemoryStorage } from "./lrgeo/index.js";
import { draw, inWords as pictureInWords, length } from "./picture.js";
import { SUGGESTED, chosenLevel, levelOf, noiseFor, setLevel } from "./settings.js";

const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);

/** The slider goes from 20 m to 10 km, evenly in powers of ten. */
const [LEAST, MOST] = [20, 10000];
const toMetres = (value) => Number((LEAST * (MOST / LEAST) ** (value / 100)).toPrecision(2));
const toSlider = (metres) => Math.round((100 * Math.log(metres / LEAST)) / Math.log(MOST / LEAST));

async function currentSite() {
  if (asked.has("site")) return asked.get("site");
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const answer = tab && (await chrome.tabs.sendMessage(tab.id, { which: "site" }, { frameId: 0 }).catch(() => null));
  return answer?.site ?? null;
}

const site = await currentSite();
const kind = () => document.querySelector("input[name=kind]:checked")?.value;

function wanted() {
  switch (kind()) {
    case "blurred":
      return { kind: "blurred", privacy: $("privacy").value.trim() };
    case "fixed":
      return { kind: "fixed", lat: $("lat").value.trim(), lon: $("lon").value.trim() };
    default:
      return { kind: kind() };
  }
}

function unfold() {
  $("blurred-more").hidden = kind() !== "blurred";
  $("fixed-more").hidden = kind() !== "fixed";
  $("wrong").textContent = "";
  if (kind() === "blurred") picture();
}

/** The picture of the words, or what is wrong with them. */
async function picture() {
  const words = $("privacy").value.trim();
  try {
    const about = await new Noise(words, { storage: new MemoryStorage() }).about();
    if (words !== $("privacy").value.trim()) return;
    const twice = (1000 * Math.LN2) / about.epsilonPerKm;
    $("within").value = toSlider(twice);
    $("within-said").textContent = length(twice);
    draw($("picture"), about);
    $("meaning").textContent =
      `${pictureInWords(about)} None is more than twice as likely from you as from somebody ${length(twice)} away. ` +
      `Within ${length(about.reuseWithinM)} the same one is given again.`;
    $("wrong").textContent = "";
  } catch (error) {
    $("wrong").textContent = error.message;
  }
}

async function account(level) {
  const noise = await noiseFor(site, level.kind === "blurred" ? level.privacy : SUGGESTED);
  const { spentPerKm, lifetimeSpentPerKm, reports } = await noise.account();
  const name = `trouble ${site}`;
  const trouble = (await chrome.storage.session.get(name))[name];
  const spent = `This site has had ${reports} different ${reports === 1 ? "answer" : "answers"}; privacy spent: ${spentPerKm.toFixed(1)}/km today, ${lifetimeSpentPerKm.toFixed(1)}/km ever.`;
  $("account").textContent = trouble && level.kind === "blurred" ? `${spent} Last trouble: ${trouble}` : spent;
}

async function show() {
  $("site").textContent = site;
  if (asked.has("ask")) $("question").textContent = "This site wants to know where you are";
  const level = await levelOf(site);
  const chosen = level.kind === "ask" ? { kind: "blurred", privacy: SUGGESTED } : level;
  $(chosen.kind).checked = true;
  $("privacy").value = chosen.privacy ?? SUGGESTED;
  if (chosen.kind === "fixed") [$("lat").value, $("lon").value] = [chosen.lat, chosen.lon];
  $("form").hidden = false;
  unfold();
  if (!asked.has("ask")) $(chosen.kind).focus();
  await account(level);
}

for (const input of document.querySelectorAll("input[name=kind]")) input.addEventListener("change", unfold);
$("within").addEventListener("input", () => {
  $("privacy").value = `factor 2 within ${toMetres(Number($("within").value))} m`;
  picture();
});
$("privacy").addEventListener("input", picture);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", picture);
$("all").addEventListener("click", () => chrome.runtime.openOptionsPage());
$("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await setLevel(site, wanted());
    if (asked.has("site")) window.close();
    $("account").textContent = "Saved. The site gets it the next time it asks.";
  } catch (error) {
    $("wrong").textContent = error.message;
  }
});

if (site?.startsWith("http")) await show();
else $("nowhere").hidden = false;
