// The same numbers as a sortable table with bars: all there is for levels without shapes, and for readers without sight.
const PAGE = 100;
const COLUMNS = [
  { key: "name", title: "Region", by: (row) => row.name },
  { key: "meter", title: "" },
  { key: "value", title: "Value", by: (row) => row.value },
  { key: "interval", title: intervalName, by: (row) => row.lower },
  { key: "error", title: "Error", by: (row) => row.half },
  { key: "relative", title: "Relative error", by: (row) => row.relative },
];
const collator = new Intl.Collator("en", { numeric: true });
const sorting = { key: "value", down: true };
let shown = PAGE, listed = { regions: [] };

function fillHead(again) {
  $("columns").replaceChildren(...COLUMNS.map(({ key, title, by }) => {
    const head = element("th", { role: "columnheader", scope: "col", class: key });
    if (!by) return head;
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      sorting.down = sorting.key === key ? !sorting.down : key !== "name";
      sorting.key = key;
      fillHead(again);
      again();
      $("columns").querySelector(`.${key} button`).focus();
    });
    if (sorting.key === key) head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    head.append(button);
    return head;
  }));
}

function list(now) {
  if (listed.regions !== now.regions) shown = PAGE;
  listed = now;
  const { regions, scale, output, plain } = now;
  const wanted = $("find").value.trim().toLowerCase();
  let rows = regions.map((region) => ({ region, name: nameOf(region), ...band(region, output) }));
  const low = Math.min(0, ...extremes(rows, "lower", Math.min), ...extremes(rows, "value", Math.min)), high = Math.max(1, ...extremes(rows, "upper", Math.max), ...extremes(rows, "value", Math.max));
  if (wanted) {
    rows = rows.filter(({ region, name }) =>
      name.toLowerCase().includes(wanted) || layers[region.level].codes[region.index].toLowerCase().includes(wanted));
  }
  const { by } = COLUMNS.find(({ key }) => key === sorting.key);
  const compare = (a, b) => (typeof by(a) === "string" ? collator.compare(by(a), by(b)) : by(a) < by(b) ? -1 : +(by(a) > by(b)));
  rows.sort((a, b) => (sorting.down ? -compare(a, b) : compare(a, b)));
  $("rows").replaceChildren(...rows.slice(0, shown).map((row) => line(row, scale, low, high, plain)));
  $("more").hidden = rows.length <= shown;
  $("more").textContent = `Show more (${whole.format(rows.length - shown)} left)`;
  $("table").hidden = !regions.length;
}

// Math.max(...list) has a limit on how many it takes.
const extremes = (rows, key, pick) => (rows.length ? [rows.reduce((far, row) => pick(far, row[key]), rows[0][key])] : []);

function line(row, scale, low, high, plain) {
  const { region } = row;
  const made = element("tr", { role: "row", "data-at": keyOf(region) });
  const first = element("td", { role: "cell" });
  if (childrenOf(region).length) first.append(element("button", { type: "button", class: "open" }, row.name));
  else first.append(row.name);
  if (row.name !== layers[region.level].codes[region.index]) first.append(element("small", {}, layers[region.level].codes[region.index]));
  if (!same(parentOf(region), listed.focus)) first.append(element("small", {}, nameOf(parentOf(region))));
  if (mapped(region.level) && !shapeOf(region)) first.append(element("small", {}, "not on the map"));
  const bar = element("td", { role: "cell", class: "meter" });
  const x = (number) => (100 * (number - low)) / (high - low);
  const svg = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  const ends = [x(0), x(row.value)].sort((a, b) => a - b);
  svg.append(
    drawn("rect", { x: ends[0], y: 1, width: ends[1] - ends[0], height: 8, class: plain ? "plain" : scale.of(region) }),
  );
  const [from, to] = [x(row.lower), x(row.upper)];
  if (row.half !== null && to - from > 0.4) { // narrower than two pixels: a speck that would say nothing
    const whisker = `M${from} 5H${to}M${from} 2V8M${to} 2V8`;
    svg.append(drawn("path", { d: whisker, class: "shade" }), drawn("path", { d: whisker })); // to be seen on any colour
  }
  bar.append(svg);
  made.append(
    first, bar,
    element("td", { role: "cell", class: "value" }, whole.format(row.value)),
    element("td", { role: "cell", class: "interval" }, span(row)),
    element("td", { role: "cell", class: "error" }, row.half === null ? "\u2013" : `\u00b1${whole.format(row.half)}`),
    element("td", { role: "cell", class: "relative" }, row.half === null || row.relative === Infinity ? "\u2013" : share(row.relative)),
  );
  return made;
}
