// All sites, and what new ones get.

import {
  SUGGESTED,
  defaultLevel,
  forget,
  inWords,
  levelOf,
  noiseFor,
  publicPlaces,
  removeLevel,
  removePublicPlaces,
  setDefaultLevel,
  setPublicPlaces,
  sites,
} from "./settings.js";

const $ = (id) => document.getElementById(id);

function cell(row, content, className) {
  const cell = row.insertCell();
  if (className) cell.className = className;
  cell.append(content);
  return cell;
}

function button(text, label, work) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: text });
  button.setAttribute("aria-label", label);
  button.addEventListener("click", work);
  return button;
}

async function list() {
  const known = await sites();
  const rows = [];
  for (const site of known) {
    const level = await levelOf(site);
    const noise = await noiseFor(site, level.kind === "blurred" ? level.privacy : SUGGESTED);
    const account = await noise.account();
    const row = document.createElement("tr");
    cell(row, site, "site");
    cell(row, inWords(level));
    cell(row, String(account.reports), "number");
    cell(row, `${account.spentPerKm.toFixed(1)}/km, ${account.lifetimeSpentPerKm.toFixed(1)}/km`, "number");
    const actions = document.createElement("div");
    actions.className = "row";
    const page = `popup.html?site=${encodeURIComponent(site)}`;
    actions.append(
      button("Change", `Change what ${site} is told`, () => open(page, "lrgeo", "width=420,height=720")),
      button("Forget answers", `Forget the answers that ${site} had`, async () => {
        if (confirm(`The next answer to ${site} will be a new draw, which tells it more about the same spot. Forget?`)) await forget(site);
      }),
      button("Remove", `Treat ${site} as a new site`, () => removeLevel(site)),
    );
    cell(row, actions);
    rows.push(row);
  }
  $("sites").replaceChildren(...rows);
  $("table").hidden = known.length === 0;
  $("none").hidden = known.length > 0;
}

async function showDefault() {
  const level = await defaultLevel();
  $("default-kind").value = level.kind;
  $("default-privacy").value = level.privacy ?? SUGGESTED;
  unfold();
}

const unfold = () => ($("default-words").hidden = $("default-kind").value !== "blurred");

$("default-kind").addEventListener("change", unfold);
$("default").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("wrong").textContent = $("said").textContent = "";
  try {
    await setDefaultLevel({ kind: $("default-kind").value, privacy: $("default-privacy").value.trim() });
    $("said").textContent = "Saved.";
  } catch (error) {
    $("wrong").textContent = error.message;
  }
});

async function showPlaces() {
  const map = await publicPlaces();
  $("places-said").textContent = map ? `New answers near them are one of ${map.places.length} places of ${map.name}.` : "None: answers are points of a fine lattice, in the sea or not.";
  $("places-remove").hidden = !map;
}

$("places-file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  $("places-wrong").textContent = "";
  try {
    await setPublicPlaces(file.name, await file.text());
  } catch (error) {
    $("places-wrong").textContent = error.message;
  }
  // The same file may be chosen again once it is mended.
  target.value = "";
  await showPlaces();
});
$("places-remove").addEventListener("click", () => removePublicPlaces().then(showPlaces));
let listing = Promise.resolve();
chrome.storage.local.onChanged.addListener(() => (listing = listing.then(list)));
await showDefault();
await showPlaces();
await list();
