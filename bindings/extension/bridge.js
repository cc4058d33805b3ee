// Beside the page, in a world of its own: passes a page's questions on to the worker, and the worker's answers back. It knows no settings and no position.

(() => {
  "use strict";
  const DENIED = 1;
  const UNAVAILABLE = 2;
  const TIMEOUT = 3;
  const error = (code, message) => ({ error: { code, message }, again: 60000 });
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** As browsers do: only in secure pages, and in frames that the page lets ask. */
  function refused() {
    if (!isSecureContext) return error(DENIED, "Only secure origins are allowed (see: https://goo.gl/Y0ZkNV).");
    if (document.featurePolicy && !document.featurePolicy.allowsFeature("geolocation")) {
      return error(DENIED, "Geolocation has been disabled in this document by permissions policy.");
    }
    return null;
  }

  async function position({ timeout, high }) {
    const no = refused();
    if (no) return no;
    for (;;) {
      const answered = chrome.runtime.sendMessage({ ask: "position", high });
      // The time that somebody takes to decide does not count.
      const late = timeout === null ? new Promise(() => {}) : pause(timeout).then(() => error(TIMEOUT, "Timeout expired"));
      const answer = await Promise.race([answered, late]);
      if (!answer.deciding) return answer;
      await pause(300);
    }
  }

  async function permission() {
    if (refused()) return { permission: "denied" };
    return await chrome.runtime.sendMessage({ ask: "permission" });
  }

  addEventListener("message", function first(event) {
    if (event.source !== window || event.data !== "lrgeo") return;
    removeEventListener("message", first);
    event.stopImmediatePropagation();
    const [port] = event.ports;
    port.onmessage = async ({ data }) => {
      let answer;
      try {
        answer = data.permission ? await permission() : await position({ timeout: data.position.timeout ?? null, high: Boolean(data.position.high) });
      } catch {
        // The extension was updated or removed while the page stayed.
        answer = error(UNAVAILABLE, "Reload the page.");
      }
      port.postMessage({ id: data.id, answer });
    };
  });

  // The popup asks which site this is.
  chrome.runtime.onMessage.addListener((message, _sender, reply) => {
    if (message.which === "site" && window === top) reply({ site: origin });
  });
})();
