// A drop-in `navigator.geolocation` whose positions are reports. A page that calls it learns where somebody nearly is, with an honest accuracy.

const DENIED = 1;
const UNAVAILABLE = 2;
const TIMEOUT = 3;

/**
 * `new BlurredGeolocation(client)` has `getCurrentPosition`, `watchPosition` and `clearWatch` as browsers do. `source` is where true positions come
 * from: the browser's own. Reports are remembered around where they were drawn, so watching spends nothing while one stays.
 */
export class BlurredGeolocation {
  #client;
  #source;
  #watches = new Map();
  #next = 1;

  constructor(client, source = globalThis.navigator?.geolocation) {
    if (!source) throw new TypeError("lrgeo: there is no geolocation to blur");
    this.#client = client;
    this.#source = source;
  }

  getCurrentPosition(success, failure, options = {}) {
    if (typeof success !== "function") throw new TypeError("getCurrentPosition: needs a function");
    this.#source.getCurrentPosition(
      (position) => this.#blur(position).then(success, (error) => failure?.(positionError(error))),
      (error) => failure?.(error),
      asked(options),
    );
  }

  watchPosition(success, failure, options = {}) {
    if (typeof success !== "function") throw new TypeError("watchPosition: needs a function");
    const id = this.#next++;
    const watch = { busy: false, last: null, own: null };
    this.#watches.set(id, watch);
    const told = (position) => {
      // One at a time: a fix that comes while the one before is blurred is not needed.
      if (watch.busy || !this.#watches.has(id)) return;
      watch.busy = true;
      this.#blur(position)
        .then((blurred) => {
          if (!this.#watches.has(id)) return;
          // The same report again says nothing new: a page is told when it changes, as it is told when somebody moves.
          const { latitude, longitude } = blurred.coords;
          const same = watch.last && watch.last.latitude === latitude && watch.last.longitude === longitude;
          watch.last = { latitude, longitude };
          if (!same) success(blurred);
        })
        .catch((error) => this.#watches.has(id) && failure?.(positionError(error)))
        .finally(() => (watch.busy = false));
    };
    watch.own = this.#source.watchPosition(told, (error) => failure?.(error), asked(options));
    return id;
  }

  clearWatch(id) {
    const watch = this.#watches.get(id);
    if (!watch) return;
    this.#watches.delete(id);
    this.#source.clearWatch(watch.own);
  }

  async #blur(position) {
    const { latitude, longitude } = position.coords;
    const report = await this.#client.report({ lat: latitude, lon: longitude });
    return blurredPosition(report, position.timestamp, position.coords.accuracy);
  }
}

/** A position with what a report says and nothing else: no speed, heading or altitude, which would tell the way. */
export function blurredPosition(report, timestamp, fixAccuracyM) {
  const coords = {
    latitude: report.lat,
    longitude: report.lon,
    accuracy: honestAccuracy(report.accuracyM ?? 10000, fixAccuracyM),
    altitude: null,
    altitudeAccuracy: null,
    heading: null,
    speed: null,
  };
  // To whole minutes: the moment of a fix is not needed, and tells.
  const minute = 60000;
  return {
    coords: Object.freeze({ ...coords, toJSON: () => coords }),
    timestamp: Math.floor((timestamp ?? Date.now()) / minute) * minute,
    // The shape of the W3C's proposal: what was granted is the approximate location.
    accuracyMode: "approximate",
  };
}

/**
 * The radius that holds the true position when the fix that was blurred may itself be off. A fix that is off by up to a quarter of the report's radius makes no
 * difference that can be seen; of worse ones no more is told than the power of two above them.
 */
export function honestAccuracy(reportM, fixM) {
  const quarter = reportM / 4;
  const off = fixM > quarter ? 2 ** Math.ceil(Math.log2(fixM)) : quarter;
  return Math.ceil(Math.hypot(reportM, off));
}

/** What the true source is asked for: as exact as a phone gives without effort, since noise hides the rest. `accuracyMode: "approximate"` is what is answered anyway. */
function asked({ timeout, maximumAge } = {}) {
  const options = { enableHighAccuracy: false };
  if (timeout !== undefined) options.timeout = timeout;
  if (maximumAge !== undefined) options.maximumAge = maximumAge;
  return options;
}

function positionError(error) {
  const code = error?.kind === "policy" || error?.kind === "lie" || error?.kind === "spent" ? DENIED : UNAVAILABLE;
  const message = error?.message ?? String(error);
  return { code, message, PERMISSION_DENIED: DENIED, POSITION_UNAVAILABLE: UNAVAILABLE, TIMEOUT };
}

/** Puts it in the place of the page's own, so that scripts loaded afterwards know no other. */
export function install(client, target = globalThis.navigator) {
  const blurred = new BlurredGeolocation(client, target.geolocation);
  Object.defineProperty(target, "geolocation", { value: blurred, configurable: false, enumerable: true });
  return blurred;
}
