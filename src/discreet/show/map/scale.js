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
    const here = (_, index) => !shapes || shapes[index];
    const all = data.editions.map((_, edition) => [...numbers(level, { output, edition }, 0)].filter(here));
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

function scaleOf(level, view, mode) {
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
      if (mode === "error" && found.relative === null) return "void";
      return colour(step(mode === "error" ? found.relative : found.value));
    },
    legend: names.map((name, i) => ({ name, colour: colour(i) })),
  };
}
