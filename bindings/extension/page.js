// In the page, before any of its scripts: `navigator.geolocation` asks the extension instead of the browser.
//
// Nothing secret comes here. A page that takes this apart gets what it gets by calling it; the browser's own geolocation is closed to websites
// altogether (worker.js), so that there is nothing to get back to.

(() => {
  "use strict";
  const { Geolocation, GeolocationPosition, GeolocationCoordinates, GeolocationPositionError, Permissions } = window;
  if (!Geolocation) return;
  const { create, defineProperty, entries } = Object;
  const { setTimeout, clearTimeout, TypeError } = window;

  const channel = new MessageChannel();
  const port = channel.port1;
  const send = port.postMessage.bind(port);
  const waiting = new Map();
  let next = 1;
  port.onmessage = ({ data: { id, answer } }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  // bridge.js listens already, and takes the first such message for itself.
  window.postMessage("lrgeo", "*", [channel.port2]);

  const ask = (what, told) => {
    const id = next++;
    waiting.set(id, told);
    send({ id, ...what });
    return id;
  };

  /** An object of the browser's own kind, with these values. */
  const made = (kind, values) => {
    const object = create(kind.prototype);
    for (const [name, value] of entries(values)) defineProperty(object, name, { value, enumerable: true });
    return object;
  };
  const json = (object, text) => defineProperty(object, "toJSON", { value: () => text });
  const position = ({ coords, timestamp }) => {
    const told = made(GeolocationPosition, { coords: json(made(GeolocationCoordinates, coords), { ...coords }), timestamp });
    return json(told, { coords: { ...coords }, timestamp });
  };
  const number = (value, otherwise) => (value === undefined ? otherwise : Math.max(0, Math.min(Number(value) || 0, 0x7fffffff)));
  const wanted = (options) => ({ timeout: number(options?.timeout, null), high: Boolean(options?.enableHighAccuracy) });
  const functions = (name, success, failure) => {
    const wrong = (which) => new TypeError(`Failed to execute '${name}' on 'Geolocation': ${which} is not a function.`);
    if (typeof success !== "function") throw wrong("parameter 1");
    if (failure != null && typeof failure !== "function") throw wrong("parameter 2");
  };
  const tell = (answer, success, failure) => {
    if (answer.position) success(position(answer.position));
    else failure?.(made(GeolocationPositionError, answer.error));
  };

  const watches = new Map();
  const methods = {
    getCurrentPosition(success, failure, options) {
      functions("getCurrentPosition", success, failure);
      ask({ position: wanted(options) }, (answer) => tell(answer, success, failure));
    },
    watchPosition(success, failure, options) {
      functions("watchPosition", success, failure);
      const watch = { last: null, timer: 0 };
      const id = next++;
      watches.set(id, watch);
      const look = () =>
        ask({ position: wanted(options) }, (answer) => {
          if (!watches.has(id)) return;
          // The same again says nothing new: a page is told when somebody moves.
          const said = JSON.stringify(answer.position?.coords ?? answer.error);
          if (said !== watch.last) tell(answer, success, failure);
          watch.last = said;
          watch.timer = setTimeout(look, answer.again);
        });
      look();
      return id;
    },
    clearWatch(id) {
      clearTimeout(watches.get(id)?.timer);
      watches.delete(id);
    },
  };
  for (const [name, value] of entries(methods)) {
    defineProperty(Geolocation.prototype, name, { value, writable: false, configurable: false, enumerable: true });
  }

  // Pages look whether they may ask at all; the browser would say no.
  const query = Permissions?.prototype.query;
  if (query) {
    const value = async function (descriptor) {
      const status = await query.call(this, descriptor);
      if (descriptor?.name !== "geolocation") return status;
      const state = await new Promise((resolve) => ask({ permission: true }, (answer) => resolve(answer.permission)));
      return defineProperty(status, "state", { value: state });
    };
    defineProperty(Permissions.prototype, "query", { value, writable: true, configurable: true, enumerable: true });
  }
})();
