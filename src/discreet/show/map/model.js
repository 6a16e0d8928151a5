// The published numbers, which whoever runs this gives as `data`, and where each region belongs.
const layers = data.layers;
const whole = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const root = layers[0].codes.length === 1 ? { level: 0, index: 0 } : null;

// A list that repeats one number was sent as that number.
const at = (list, index) => (typeof list === "number" ? list : list[index]);
const same = (a, b) => a === b || (a && b && a.level === b.level && a.index === b.index);

const nameOf = ({ level, index }) => (layers[level].labels && layers[level].labels[index]) || layers[level].codes[index];
const shapeOf = ({ level, index }) => layers[level].shapes && layers[level].shapes[index];
const parentOf = ({ level, index }) => (level ? { level: level - 1, index: at(layers[level].parents, index) } : null);
const mapped = (level) => Boolean(layers[level].shapes);

function band({ level, index }, output) {
  const [values, down, up] = layers[level].data[output];
  const value = values[index];
  if (down === null) return { value, lower: null, upper: null, half: null, relative: null }; // no interval is known
  const lower = value - at(down, index), upper = value + at(up, index);
  const half = Math.ceil((upper - lower) / 2);
  const relative = half === 0 ? 0 : value === 0 ? Infinity : half / Math.abs(value);
  return { value, lower, upper, half, relative };
}

const families = [];
function childrenOf(region) {
  const level = region ? region.level + 1 : 0;
  if (level >= layers.length) return [];
  const { codes, parents } = layers[level];
  if (!region) return codes.map((_, index) => ({ level, index }));
  if (!families[level]) {
    families[level] = layers[level - 1].codes.map(() => []);
    codes.forEach((_, index) => families[level][at(parents, index)].push({ level, index }));
  }
  return families[level][region.index];
}

function descendants(region, level) {
  let found = childrenOf(region);
  while (found.length && found[0].level < level) found = found.flatMap(childrenOf);
  return found;
}

function trailOf(region) {
  const trail = [];
  for (let here = region; here; here = parentOf(here)) trail.unshift(here);
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

const stated = layers.some((layer) => layer.data.some(([, down]) => down !== null));
const span = ({ lower, upper }) => (lower === null ? "not stated" : `${whole.format(lower)} to ${whole.format(upper)}`);
const margin = ({ half, relative }) => (half === null ? "not stated" : `\u00b1${whole.format(half)} (${share(relative)})`);
const intervalName = data.confidence ? `${data.confidence} interval` : "Interval";

function spoken(region, output) {
  const numbers = band(region, output);
  const said = `${nameOf(region)}: ${whole.format(numbers.value)}, ${intervalName} ${span(numbers)}`;
  return numbers.half === null ? said : `${said}, error ${whole.format(numbers.half)} (${share(numbers.relative)})`;
}
