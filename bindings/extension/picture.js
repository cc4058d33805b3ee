// A picture of the blur: how likely a report is where, around somebody in the middle.

/** Draws it; `about` is what `Noise.about()` says. The wave of shades is the density, the rings hold half and 95 % of all reports. */
export function draw(canvas, about) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth, clientHeight } = canvas;
  const [width, height] = [clientWidth, clientHeight].map((pixels) => Math.max(1, Math.round(pixels * ratio)));
  Object.assign(canvas, { width, height });
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  const rings = [0.5, 0.95].map((share) => ({ share, metres: radiusOf(about, share) }));
  // The outer ring fills the height, with room for its label.
  const metresPerPixel = rings[1].metres / (0.44 * height);
  const context = canvas.getContext("2d");
  const [red, green, blue] = colour("--blur").split(/\s+/).map(Number);
  const image = context.createImageData(width, height);
  const most = about.density(0);
  const [x0, y0] = [width / 2, height / 2];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      // The square root of the density: eyes see more of the pale parts so.
      const share = Math.sqrt(about.density(Math.hypot(x - x0, y - y0) * metresPerPixel) / most);
      image.data.set([red, green, blue, Math.round(235 * share)], at);
    }
  }
  context.putImageData(image, 0, 0);
  context.strokeStyle = context.fillStyle = colour("--ink");
  context.lineWidth = 1.5 * ratio;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  for (const { share, metres } of rings) {
    const radius = metres / metresPerPixel;
    context.setLineDash(share < 0.9 ? [] : [6 * ratio, 4 * ratio]);
    context.beginPath();
    context.arc(x0, y0, radius, 0, 2 * Math.PI);
    context.stroke();
    // On the rings themselves: there is always room in the middle.
    context.textAlign = "center";
    const label = `${share === 0.5 ? "half" : "95 %"} within ${length(metres)}`;
    outlined(context, label, x0, y0 + (share === 0.5 ? radius : -radius) + 4 * ratio, colour("--ground"), ratio);
    context.textAlign = "start";
  }
  context.setLineDash([]);
  context.beginPath();
  context.arc(x0, y0, 4 * ratio, 0, 2 * Math.PI);
  context.fill();
  outlined(context, "you", x0 + 8 * ratio, y0 + 4 * ratio, colour("--ground"), ratio);
  scale(context, metresPerPixel, height, ratio, colour("--ground"));
  canvas.setAttribute("aria-label", inWords(about));
}

/** The picture in words, for whoever does not see it. */
export function inWords(about) {
  return `Half of the answers lie within ${length(radiusOf(about, 0.5))} of you, 95 % within ${length(radiusOf(about, 0.95))}.`;
}

function outlined(context, text, x, y, around, ratio) {
  context.save();
  context.lineWidth = 4 * ratio;
  context.lineJoin = "round";
  context.strokeStyle = around;
  context.strokeText(text, x, y);
  context.restore();
  context.fillText(text, x, y);
}

function scale(context, metresPerPixel, height, ratio, around) {
  const metres = round(90 * ratio * metresPerPixel);
  const [x, y, long] = [12 * ratio, height - 14 * ratio, metres / metresPerPixel];
  context.beginPath();
  context.moveTo(x, y - 4 * ratio);
  context.lineTo(x, y);
  context.lineTo(x + long, y);
  context.lineTo(x + long, y - 4 * ratio);
  context.stroke();
  outlined(context, length(metres), x + 4 * ratio, y - 7 * ratio, around, ratio);
}

/** The radius that holds a share of all reports. */
export function radiusOf(about, share) {
  let [low, high] = [0, 1];
  while (about.within(high) < share) high *= 2;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (about.within(middle) < share) low = middle;
    else high = middle;
  }
  return high;
}

/** One, two or five of a power of ten, at most this. */
function round(metres) {
  const ten = 10 ** Math.floor(Math.log10(metres));
  return [5, 2, 1].find((times) => times * ten <= metres) * ten;
}

export function length(metres) {
  if (metres >= 9950) return `${Math.round(metres / 1000)} km`;
  if (metres >= 995) return `${(metres / 1000).toFixed(1)} km`;
  return `${Number(metres.toPrecision(2))} m`;
}
