// What is shown now, and what people do to change it.
const bare = !layers.some((_, level) => mapped(level));
const choices = layers.map((_, level) => level).filter((level) => mapped(level) && (!root || level > 0));
const state = { focus: root, output: data.first, mode: "value", level: choices.length ? choices[0] : null };
let touch = matchMedia("(hover: none)").matches, tapped = null;

const mapName = (region) => (region ? nameOf(region) : "All");

function show() {
  const { focus, output, mode } = state;
  const top = focus === null || same(focus, root);
  hide();
  if (!bare) {
    const next = sceneOf(focus, state.level);
    const scale = scaleOf(next.level, output, mode);
    draw(next, scale, output);
    absentees(output);
    legend(scale, next.level);
    $("help").textContent = `${touch ? "Tap a region for its numbers, again to open it" : "Point at a region for its numbers, click to open it"}. ` +
      "With keys: arrows move, Enter opens, Escape goes back.";
  }
  const regions = top && !bare && state.level !== null ? scene.regions : childrenOf(focus);
  const level = regions.length ? regions[0].level : null;
  const scale = level === null ? null : scaleOf(level, output, mode);
  if (bare && scale) legend(scale, level);
  if (bare) $("key").hidden = mode === "value" || !scale;
  $("below-title").textContent = level === null ? "Nothing below this level" : `${mapName(focus)}, by ${layers[level].name}`;
  $("find-field").hidden = regions.length <= 12;
  $("level").hidden = choices.length < 2 || !top;
  crumbs();
  card();
  // Colours in the table are those of the legend; where it is about another level, values are bars of one colour.
  const plain = mode === "value" && (bare || level !== scene.level);
  list({ regions, scale, output, plain, focus });
}

function crumbs() {
  const trail = trailOf(state.focus);
  $("trail").replaceChildren(...trail.map((region, i) => {
    const item = element("li");
    if (i === trail.length - 1) item.append(element("span", { "aria-current": "location" }, mapName(region)));
    else {
      const button = element("button", { type: "button" }, mapName(region));
      button.addEventListener("click", () => go(region, "list"));
      item.append(button);
    }
    return item;
  }));
}

function card() {
  $("place").textContent = mapName(state.focus);
  $("figures").replaceChildren(...(state.focus ? figures(state.focus) : []));
  $("card").hidden = !state.focus;
}

function figures(region) {
  const numbers = band(region, state.output);
  const pair = (name, text) => {
    const row = element("div");
    row.append(element("dt", {}, `${name} `), element("dd", {}, text));
    return row;
  };
  const value = pair("Value", whole.format(numbers.value));
  value.className = "main";
  return [
    value,
    pair(intervalName, span(numbers)),
    pair("Error", margin(numbers)),
  ];
}

function legend(scale, level) {
  const what = state.mode === "error" ? "Relative error" : data.outputs[state.output];
  $("caption").textContent = `${what}, by ${layers[level].name}`;
  const entries = [...scale.legend];
  const unstated = state.mode === "error" && layers[level].data[state.output][1] === null;
  if (unstated) entries.push({ name: "no interval stated", colour: "void" });
  else if (!bare && layers[level].context.length) entries.push({ name: "no number published", colour: "void" });
  $("legend").replaceChildren(...entries.map(({ name, colour }) => {
    const item = element("li", { "data-colour": colour });
    const swatch = drawn("svg", { viewBox: "0 0 26 16", "aria-hidden": "true" });
    swatch.append(drawn("rect", { width: 26, height: 16, class: colour }));
    item.append(swatch, name);
    return item;
  }));
}

function absentees(output) {
  const { regions } = scene;
  const lost = regions.filter((region) => !shapeOf(region));
  $("absent").hidden = !lost.length;
  $("absent-why").textContent = `${whole.format(lost.length)} of ${whole.format(regions.length)} have a number and no shape in this geometry.`;
  $("absent-list").replaceChildren(...lost.map((region) => {
    const item = element("li", { "data-at": keyOf(region) });
    const numbers = band(region, output);
    item.append(
      childrenOf(region).length ? element("button", { type: "button", class: "open" }, nameOf(region)) : nameOf(region),
      `: ${whole.format(numbers.value)} (${span(numbers)})`,
    );
    return item;
  }));
}

function tell(region, x, y, name) {
  const tip = $("tip");
  tip.replaceChildren();
  if (region) {
    const above = parentOf(region);
    const where = above && !same(above, root) ? `, ${nameOf(above)}` : "";
    const numbers = element("dl");
    numbers.append(...figures(region));
    tip.append(element("b", {}, nameOf(region) + where), numbers);
    const target = targetOf(region);
    if (target) tip.append(element("div", { class: "quiet" }, `${touch ? "Tap again" : "Click or Enter"} to open ${nameOf(target)}`));
    if (scene && region.level === scene.level) {
      const colour = scaleOf(region.level, state.output, state.mode).of(region);
      for (const item of $("legend").children) item.classList.toggle("here", item.dataset.colour === colour);
    }
  } else tip.append(element("b", {}, name), element("div", { class: "quiet" }, "no number published"));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function hide() {
  $("tip").hidden = true;
  tapped = null;
  for (const item of $("legend").children) item.classList.remove("here");
  if (scene) mark(scene.marked);
}

function go(region, from) {
  const left = state.focus;
  state.focus = region;
  $("find").value = "";
  show();
  $("said").textContent = region ? spoken(region, state.output) : "All regions";
  const next = from === "keys" && (nodeOf(left) ?? nodeOf(region) ?? shapes.querySelector('[tabindex="0"]'));
  if (next) enter(next);
  else if (from !== "pointer") $("place").focus({ preventScroll: true });
}

// A region without children opens the one around it, unless that is open already.
function targetOf(region) {
  if (childrenOf(region).length) return same(region, state.focus) ? null : region;
  const around = parentOf(region);
  return around && !same(around, state.focus) && !same(around, root) ? around : null;
}

function open(region, from) {
  const target = targetOf(region);
  if (target) go(target, from);
}

function up(from) {
  const trail = trailOf(state.focus);
  if (trail.length > 1) go(trail.at(-2), from);
  else hide();
}

function choose(field, options, current, change) {
  options.forEach(([value, text]) => {
    const label = element("label"), input = element("input", { type: "radio", name: field.id, value });
    input.checked = value === current;
    input.addEventListener("change", () => { change(value); show(); });
    label.append(input, element("span", {}, text));
    field.append(label);
  });
}

canvas.addEventListener("pointerdown", (event) => { touch = event.pointerType === "touch"; }, true);
canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") return;
  const region = regionOf(event.target), name = event.target.dataset && event.target.dataset.name;
  if (!region && !name) return hide();
  tell(region, event.clientX, event.clientY, name);
  if (region && region.level === scene.level) mark(region);
});
canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
canvas.addEventListener("click", (event) => {
  const region = regionOf(event.target), name = event.target.dataset.name;
  if (!region) return touch && name ? tell(null, event.clientX, event.clientY, name) : hide();
  if (touch && !same(tapped, region)) {
    tell(region, event.clientX, event.clientY);
    mark(region);
    tapped = region;
  } else open(region, "pointer");
});
shapes.addEventListener("focusin", (event) => {
  if (!event.target.matches(":focus-visible")) return;
  const region = regionOf(event.target), box = event.target.getBoundingClientRect();
  if (!region) return;
  tell(region, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  mark(region);
});
shapes.addEventListener("focusout", hide);
shapes.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    open(regionOf(event.target), "keys");
  } else if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    enter(neighbour(event.target, event.key));
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.matches("select, input[type=search]")) return;
  up(shapes.contains(document.activeElement) ? "keys" : "list");
});
for (const place of [$("rows"), $("absent-list")]) {
  place.addEventListener("click", (event) => {
    if (event.target.closest("button.open")) open(regionOf(event.target), "list");
  });
}
$("rows").addEventListener("pointerover", (event) => {
  const region = regionOf(event.target);
  if (scene && region && region.level === scene.level) mark(region);
});
$("rows").addEventListener("pointerleave", () => { if (scene) mark(scene.marked); });
$("find").addEventListener("input", () => list(listed));
$("more").addEventListener("click", () => {
  shown += PAGE;
  list(listed);
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("output").addEventListener("change", (event) => { state.output = Number(event.target.value); show(); });

$("title").textContent = data.title;
for (const id of ["about", "privacy", "note"]) {
  $(id).textContent = data[id];
  $(id).hidden = !data[id];
}
document.body.classList.toggle("bare", bare);
$("map").hidden = bare;
$("mode").hidden = !stated;
$("absent").hidden = true;
if (!bare) canvas.setAttribute("viewBox", `0 0 ${data.box.join(" ")}`);
data.outputs.forEach((name, i) => $("output").append(element("option", { value: i }, name)));
$("output").value = data.first;
choose($("mode"), [["value", "value"], ["error", "relative error"]], state.mode, (value) => { state.mode = value; });
choose($("level"), choices.map((level) => [level, layers[level].name]), state.level, (level) => { state.level = level; });
fillHead(() => list(listed));
show();
