// From a number to one of seven colours: quantiles of the level for values, fixed steps for errors.
const STEPS = 7;
const ERRORS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5];

// Two digits are enough to tell quantiles apart and short enough to read.
function rounded(value) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(value) || 1)) - 1);
  return Math.round(value / unit) * unit;
}

// Quantiles are those of all editions together: a colour means the same in every year.
const remembered = new Map();
function breaksOf(level, output) {
  const key = `${level}:${output}`;
  if (!remembered.has(key)) {
    const { shapes } = layers[level];
    const here = (edition) => (_, index) => (!shapes || shapes[index]) && inEdition({ level, index }, { edition });
    const all = data.editions.map((_, edition) => [...numbers(level, { output, edition }, 0)].filter(here(edition)));
    const values = Float64Array.from(all.length === 1 ? all[0] : all.flat()).sort();
    const breaks = [];
    for (let step = 1; step < STEPS; step++) {
      const edge = rounded(values[Math.floor((step * values.length) / STEPS)]);
      if (edge > values[0] && edge <= values[values.length - 1] && edge > (breaks.at(-1) ?? -Infinity)) breaks.push(edge);
    }
    remembered.set(key, breaks);
  }
  return remembered.get(key);
}

// Differences: three steps to either side, in two colours that do not depend on red and green; grey where the interval
// holds no difference at all.
function differences(level, view) {
  const key = `${level}:${JSON.stringify(view)}:${state.kind}`;
  if (!remembered.has(key)) {
    const found = everyOf(level).map((region) => band(region, view)).filter((one) => one.value !== null && !withinNoise(one));
    const sizes = Float64Array.from(found.map((one) => Math.abs(one.value))).sort();
    const edges = [1, 2].map((third) => rounded(sizes[Math.floor((third * sizes.length) / 3)] ?? 0));
    remembered.set(key, [...new Set(edges)].filter((edge) => edge > sizes[0] && edge <= sizes.at(-1)));
  }
  const edges = remembered.get(key), many = edges.length;
  const colour = (sign, step) => `d${3 + sign * (1 + (many ? Math.round((2 * step) / many) : 1))}`;
  const name = (sign, step) => {
    const [low, high] = [step ? compact.format(sign * edges[step - 1]) : "0", step < many ? compact.format(sign * edges[step]) : ""];
    if (!high) return many ? (sign > 0 ? `${low} and more` : `${low} and less`) : sign > 0 ? "more" : "less";
    return sign > 0 ? `${low} to ${high}` : `${high} to ${low}`;
  };
  const steps = Array.from({ length: many + 1 }, (_, step) => step);
  const side = (sign, order) => order.map((step) => ({ name: name(sign, step), colour: colour(sign, step) }));
  return {
    of: (region) => {
      const found = band(region, view);
      if (found.value === null) return "gone";
      if (withinNoise(found)) return "noise";
      return colour(Math.sign(found.value), edges.filter((edge) => Math.abs(found.value) >= edge).length);
    },
    legend: [...side(-1, [...steps].reverse()), { name: "within noise", colour: "noise" }, ...side(1, steps), ...absence(level, view)],
  };
}

// The entry of a key for regions that an edition does not have, if there are any.
function absence(level, view) {
  const lists = layers[level].missing, views = view.minus ? [view, view.minus] : [view];
  return lists && views.some(({ edition }) => lists[edition].length) ? [{ name: goneName(view), colour: "gone" }] : [];
}

function scaleOf(level, view, mode) {
  if (view.minus) return differences(level, view);
  const breaks = mode === "error" ? ERRORS : breaksOf(level, view.output);
  const letter = mode === "error" ? "e" : "v";
  // Fewer classes than colours: spread over the whole ramp.
  const colour = (step) => letter + (breaks.length ? Math.round((step * (STEPS - 1)) / breaks.length) : 3);
  const step = (number) => breaks.filter((edge) => number >= edge).length;
  const text = mode === "error" ? (edge) => `${edge * 100}%` : (edge) => compact.format(edge);
  const names = breaks.length
    ? Array.from({ length: breaks.length + 1 }, (_, i) =>
        i === 0 ? `under ${text(breaks[0])}`
          : i === breaks.length ? `${text(breaks[i - 1])} and more`
          : `${text(breaks[i - 1])} to ${text(breaks[i])}`)
    : ["all alike"];
  return {
    of: (region) => {
      const found = band(region, view);
      if (found.value === null) return "gone";
      if (mode === "error" && found.relative === null) return "void";
      return colour(step(mode === "error" ? found.relative : found.value));
    },
    legend: [...names.map((name, i) => ({ name, colour: colour(i) })), ...absence(level, view)],
  };
}
