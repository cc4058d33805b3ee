// The only place that has the browser's geolocation: a page of the extension that nobody sees. It answers the worker and no one else.

const FRESH = 1000;
const PATIENCE = 30000;

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  // The worker has no tab; content scripts and pages do.
  if (message.to !== "source" || sender.id !== chrome.runtime.id || sender.tab) return;
  const told = ({ coords, timestamp }) => {
    const { latitude, longitude, accuracy, altitude, altitudeAccuracy, heading, speed } = coords;
    reply({ coords: { latitude, longitude, accuracy, altitude, altitudeAccuracy, heading, speed }, timestamp });
  };
  const failed = ({ code, message }) => reply({ error: { code, message } });
  navigator.geolocation.getCurrentPosition(told, failed, { enableHighAccuracy: message.high === true, maximumAge: FRESH, timeout: PATIENCE });
  return true;
});
