// The published numbers, which whoever runs this gives as `data` and, level by level, as `part`; where regions belong.
const layers = data.layers; // of each a name, a size and whether it has shapes, until the rest of it is loaded
const whole = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

// Levels of one region above everything say the same: the last of them is where the map begins.
let start = 0;
while (start + 2 < layers.length && layers[start + 1].size === 1) start++;
const root = layers[0].size === 1 ? { level: start, index: 0 } : null;

// Levels down to one: loaded, or promises that they will be. In a file nothing has to be waited for.
const coming = [];
function load(level) {
  const waits = [];
  for (let each = 0; each <= level; each++) {
    if (layers[each].codes) continue;
    coming[each] ??= part(each);
    if (coming[each].then) waits.push(coming[each].then((found) => void Object.assign(layers[each], found)));
    else Object.assign(layers[each], coming[each]);
  }
  return waits;
}

// Whole numbers as text: seven bits a byte, the lowest first, the sign in the lowest bit of all. One number stands for
// a list that repeats it.
function unpack(packed, size) {
  if (typeof packed === "number") return new Float64Array(size).fill(packed);
  const bytes = atob(packed), numbers = new Float64Array(size);
  for (let at = 0, index = 0; index < size; index++) {
    let byte = bytes.charCodeAt(at++);
    const sign = byte & 1 ? -1 : 1;
    let number = (byte & 127) >> 1;
    for (let unit = 64; byte > 127; unit *= 128) {
      byte = bytes.charCodeAt(at++);
      number += (byte & 127) * unit;
    }
    numbers[index] = number && sign * number;
  }
  return numbers;
}

const decoded = new Map();
function column(level, name, packed) {
  const key = `${level}/${name}`;
  if (!decoded.has(key)) decoded.set(key, packed === null ? null : unpack(packed, layers[level].size));
  return decoded.get(key);
}
const numbers = (level, { output, edition }, which) => column(level, `${edition}/${output}/${which}`, layers[level].data[edition][output][which]);

const same = (a, b) => a === b || (a && b && a.level === b.level && a.index === b.index);
const nameOf = ({ level, index }) => (layers[level].labels && layers[level].labels[index]) || layers[level].codes[index];
const shapeOf = ({ level, index }) => layers[level].shapes && layers[level].shapes[index];
const parentOf = ({ level, index }) => (level ? { level: level - 1, index: column(level, "parents", layers[level].parents)[index] } : null);
const mapped = (level) => layers[level].mapped;
const opens = ({ level, index }) => column(level, "children", layers[level].children)[index] > 0;

// Regions that an edition does not have: borders are drawn anew between years.
const gone = new Map();
function inEdition({ level, index }, { edition }) {
  const lists = layers[level].missing;
  if (!lists || !lists[edition].length) return true;
  const key = `${level}/${edition}`;
  if (!gone.has(key)) gone.set(key, new Set(lists[edition]));
  return !gone.get(key).has(index);
}

// A view is a number to look at: an output of an edition, or, with `minus`, its difference from another one. Intervals
// are of the kind that is chosen.
const NOTHING = { value: null, lower: null, upper: null, half: null, relative: null };
const widths = (value, lower, upper) => {
  const half = Math.ceil((upper - lower) / 2);
  return { value, lower, upper, half, relative: half === 0 ? 0 : value === 0 ? Infinity : half / Math.abs(value) };
};

// Noises of two releases are independent: half-widths around unbiased estimates add as squares. A published number need
// not be in the middle of its interval, so its own distances do not. Of one release, or of who knows, distances just add.
const LINEAR = 1 + 2 * data.kinds.length;
const hasLinear = (level, { output, edition }) => layers[level].data[edition][output].length > LINEAR;
const apart = (level, view, other) => state.kind === 0 && data.sources && data.sources[view.edition] !== data.sources[other.edition] &&
  hasLinear(level, view) && hasLinear(level, other);
function difference(region, view) {
  const [now, then] = [band(region, { ...view, minus: null }), band(region, view.minus)];
  if (now.value === null || then.value === null) return NOTHING;
  const value = now.value - then.value;
  if (now.half === null || then.half === null) return { ...NOTHING, value };
  const { level, index } = region, pair = [view, view.minus];
  if (!apart(level, ...pair)) return widths(value, now.lower - then.upper, now.upper - then.lower);
  const [[to, from], halves] = [LINEAR, LINEAR + 1].map((which) => pair.map((one) => numbers(level, one, which)[index]));
  const half = Math.ceil(Math.hypot(...halves));
  return widths(value, Math.min(to - from - half, value), Math.max(to - from + half, value));
}
const withinNoise = ({ value, lower, upper }) => (lower === null ? value === 0 : lower <= 0 && upper >= 0);

function band(region, view) {
  if (view.minus) return difference(region, view);
  if (!inEdition(region, view)) return NOTHING;
  const { level, index } = region;
  const value = numbers(level, view, 0)[index];
  const down = numbers(level, view, 1 + 2 * state.kind), up = numbers(level, view, 2 + 2 * state.kind);
  if (down === null) return { ...NOTHING, value }; // no interval is known
  return widths(value, value - down[index], value + up[index]);
}

const partsOf = ({ output, edition }) => [data.outputs[output], ...(data.editions.length > 1 ? [data.editions[edition]] : [])];
function viewName(view) {
  if (!view.minus) return partsOf(view).join(", ");
  const [now, then] = [partsOf(view), partsOf(view.minus)];
  if (now.length > 1 && now[0] === then[0]) return `${now[0]}, ${now[1]} \u2212 ${then[1]}`;
  return now.length > 1 && now[1] === then[1] ? `${now[0]} \u2212 ${then[0]}, ${now[1]}` : `${now.join(", ")} \u2212 ${then.join(", ")}`;
}
const goneName = (view) => (view.minus ? "not in both" : `not in ${data.editions[view.edition]}`);
const amount = ({ value }, view) => (value === null ? goneName(view) : `${view.minus && value > 0 ? "+" : ""}${whole.format(value)}`);

const families = [];
function childrenOf(region) {
  const level = region ? region.level + 1 : 0;
  if (level >= layers.length) return [];
  if (!region) return everyOf(0);
  if (!families[level]) {
    families[level] = layers[level - 1].codes.map(() => []);
    column(level, "parents", layers[level].parents).forEach((above, index) => families[level][above].push({ level, index }));
  }
  return families[level][region.index];
}
const everyOf = (level) => layers[level].codes.map((_, index) => ({ level, index }));

function descendants(region, level) {
  let found = childrenOf(region);
  while (found.length && found[0].level < level) found = found.flatMap(childrenOf);
  return found;
}

function trailOf(region) {
  const trail = [];
  for (let here = region; here && !(root && here.level < root.level); here = parentOf(here)) trail.unshift(here);
  return root ? trail : [null, ...trail];
}

// Errors are rounded up, never down.
function share(relative) {
  if (relative === null) return "not stated";
  if (relative === Infinity) return "no relative error at 0";
  if (relative === 0) return "0%";
  const hundredths = relative * 100;
  if (hundredths < 0.1) return "under 0.1%";
  const unit = hundredths < 10 ? 0.1 : hundredths < 1000 ? 1 : 10 ** Math.floor(Math.log10(hundredths) - 1);
  return `${whole.format(+(Math.ceil(hundredths / unit - 1e-9) * unit).toFixed(1))}%`;
}

const stated = layers.some((layer) => layer.stated);
const span = ({ value, lower, upper }) => (value === null ? "\u2013" : lower === null ? "not stated" : `${whole.format(lower)} to ${whole.format(upper)}`);
const margin = ({ value, half, relative }) => (value === null ? "\u2013" : half === null ? "not stated" : `\u00b1${whole.format(half)} (${share(relative)})`);
const intervalName = data.confidence ? `${data.confidence} interval` : "Interval";

function spoken(region, view) {
  const found = band(region, view);
  if (found.value === null) return `${nameOf(region)}: ${goneName(view)}`;
  const said = `${nameOf(region)}: ${amount(found, view)}, ${intervalName} ${span(found)}`;
  if (view.minus) return withinNoise(found) ? `${said}, within noise` : said;
  return found.half === null ? said : `${said}, error ${whole.format(found.half)} (${share(found.relative)})`;
}
