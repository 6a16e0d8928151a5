// The same numbers as a sortable table with bars: all there is for levels without shapes, and for readers without sight.
const PAGE = 100;
const collator = new Intl.Collator("en", { numeric: true });
const sorting = { key: "value", down: true };
let shown = PAGE, listed = { regions: [] };

// One view has bars and errors; two have their values and intervals side by side.
function columnsOf(views) {
  const name = { key: "name", title: "Region", by: (row) => row.name };
  if (views.length > 1) {
    return [name, ...views.flatMap((view, i) => [
      { key: i ? "value-2" : "value", kind: "value", title: viewName(view), by: (row) => row.bands[i].value },
      { key: i ? "interval-2" : "interval", kind: "interval", title: intervalName, by: (row) => row.bands[i].lower },
    ])];
  }
  return [
    name,
    { key: "meter", title: "Bar with interval" },
    { key: "value", title: views[0].minus ? "Difference" : "Value", by: (row) => row.bands[0].value },
    { key: "interval", title: intervalName, by: (row) => row.bands[0].lower },
    { key: "error", title: "Error", by: (row) => row.bands[0].half },
    { key: "relative", title: "Relative error", by: (row) => row.bands[0].relative },
  ];
}

// Many children at once: a call takes only so many arguments.
function fill(parent, children) {
  const all = document.createDocumentFragment();
  for (const child of children) all.append(child);
  parent.replaceChildren(all);
}

function fillHead(columns) {
  fill($("columns"), columns.map(({ key, title, by }) => {
    const head = element("th", { role: "columnheader", scope: "col", class: `${key} ${key.replace("-2", "")}` });
    if (!by) {
      head.append(element("span", { class: "unseen" }, title));
      return head;
    }
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      sorting.down = sorting.key === key ? !sorting.down : key !== "name";
      sorting.key = key;
      list(listed);
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
  const { regions, scale, views, plain } = now;
  const columns = columnsOf(views);
  if (!columns.some(({ key }) => key === sorting.key)) sorting.key = "value";
  fillHead(columns);
  const sought = $("find").value.trim().toLowerCase();
  let rows = regions.map((region) => ({ region, name: nameOf(region), bands: views.map((view) => band(region, view)) }));
  const first = rows.map((row) => row.bands[0]);
  const low = extreme(first, ["lower", "value"], Math.min, 0), high = extreme(first, ["upper", "value"], Math.max, 1);
  if (sought) {
    rows = rows.filter(({ region, name }) =>
      name.toLowerCase().includes(sought) || layers[region.level].codes[region.index].toLowerCase().includes(sought));
  }
  const { by } = columns.find(({ key }) => key === sorting.key);
  const compare = (a, b) => (typeof by(a) === "string" ? collator.compare(by(a), by(b)) : by(a) < by(b) ? -1 : +(by(a) > by(b)));
  rows.sort((a, b) => (sorting.down ? -compare(a, b) : compare(a, b)));
  listed.rows = rows;
  fill($("rows"), rows.slice(0, shown).map((row) => line(row, scale, low, high, plain)));
  $("more").hidden = rows.length <= shown;
  $("more").textContent = `Show more (${whole.format(rows.length - shown)} left)`;
  $("table").hidden = !regions.length;
  $("table").classList.toggle("two", views.length > 1);
}

// Math.max(...list) has a limit on how many it takes.
const extreme = (bands, keys, pick, from) => bands.reduce((far, one) => keys.reduce((end, key) => (one[key] === null ? end : pick(end, one[key])), far), from);

function line(row, scale, low, high, plain) {
  const { region } = row;
  const made = element("tr", { role: "row", "data-at": keyOf(region) });
  const first = element("td", { role: "cell" });
  if (opens(region)) first.append(element("button", { type: "button", class: "open" }, row.name));
  else first.append(row.name);
  if (row.name !== layers[region.level].codes[region.index]) first.append(element("small", {}, layers[region.level].codes[region.index]));
  if (!same(parentOf(region), listed.focus)) first.append(element("small", {}, nameOf(parentOf(region))));
  if (mapped(region.level) && !shapeOf(region)) first.append(element("small", {}, "not on the map"));
  made.append(first);
  if (row.bands.length > 1) {
    row.bands.forEach((found, i) => {
      made.append(
        element("td", { role: "cell", class: "value" }, amount(found, listed.views[i])),
        element("td", { role: "cell", class: "interval" }, span(found)),
      );
    });
    return made;
  }
  const [found] = row.bands;
  const bar = element("td", { role: "cell", class: "meter" });
  const x = (number) => (100 * (number - low)) / (high - low);
  const svg = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  const ends = [x(0), x(found.value)].sort((a, b) => a - b);
  if (found.value !== null) svg.append(
    drawn("rect", { x: ends[0], y: 1, width: ends[1] - ends[0], height: 8, class: plain ? "plain" : scale.of(region) }),
  );
  const [from, to] = [x(found.lower), x(found.upper)];
  if (found.half !== null && to - from > 0.4) { // narrower than two pixels: a speck that would say nothing
    const whisker = `M${from} 5H${to}M${from} 2V8M${to} 2V8`;
    svg.append(drawn("path", { d: whisker, class: "shade" }), drawn("path", { d: whisker })); // to be seen on any colour
  }
  bar.append(svg);
  made.append(
    bar,
    element("td", { role: "cell", class: "value" }, amount(found, listed.views[0])),
    element("td", { role: "cell", class: "interval" }, span(found)),
    element("td", { role: "cell", class: "error" }, found.half === null ? "\u2013" : `\u00b1${whole.format(found.half)}`),
    element("td", { role: "cell", class: "relative" }, found.half === null || found.relative === Infinity ? "\u2013" : share(found.relative)),
  );
  return made;
}
