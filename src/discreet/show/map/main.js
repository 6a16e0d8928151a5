// What is shown now, and what people do to change it.
const bare = !layers.some((_, level) => mapped(level));
const choices = layers.map((_, level) => level).filter((level) => mapped(level) && (!root || level > root.level));
const state = {
  focus: root, mode: "value", kind: data.kind, two: false, level: choices.length ? choices[0] : null,
  views: [{ output: data.first, edition: 0 }, secondView()],
};
const panes = bare ? [] : [new Pane("")];
let touch = matchMedia("(hover: none)").matches, tapped = null, asked = 0;

// What stands beside the first map at first: another edition of the same number, or else another number.
function secondView() {
  if (data.editions.length > 1) return { output: data.first, edition: 1 };
  return { output: data.outputs.length > 1 ? +(data.first === 0) : 0, edition: 0 };
}

const shownViews = () => {
  if (state.mode === "difference") return [{ ...state.views[1], minus: state.views[0] }];
  return state.two ? state.views : state.views.slice(0, 1);
};
const mapName = (region) => (region ? nameOf(region) : "All");

// Levels that are not here yet are waited for; whoever asks for something else meanwhile is served instead.
function show(then) {
  const turn = ++asked, waits = load(depthOf(state.focus, state.level));
  const go = () => {
    if (turn !== asked) return;
    document.body.removeAttribute("aria-busy");
    render();
    if (then) then();
  };
  if (!waits.length) return go();
  document.body.setAttribute("aria-busy", "true");
  Promise.all(waits).then(go, () => { $("said").textContent = $("help").textContent = "This level could not be loaded. Reload the page."; });
}

function render() {
  const { focus, mode } = state, views = shownViews(), two = views.length > 1;
  const top = focus === null || same(focus, root);
  hide();
  document.body.classList.toggle("two", two);
  $("key-2").hidden = !two;
  $("pick-2").hidden = !two && mode !== "difference";
  const subtracted = mode === "difference", plainly = data.outputs.length > 1;
  $("from").textContent = subtracted ? "Difference from " : "Number ";
  $("to").textContent = subtracted ? "to " : "Compared with ";
  $("from-edition").textContent = subtracted && !plainly ? "Difference from " : "Edition ";
  $("to-edition").textContent = subtracted && !plainly ? "to " : "Edition ";
  $("compare").setAttribute("aria-pressed", String(two));
  if (!bare) {
    if (two && panes.length < 2) listen(panes[panes.push(secondPane()) - 1]);
    if (panes[1]) $("map-2").hidden = !two;
    const next = sceneOf(focus, state.level);
    views.forEach((view, i) => {
      const scale = scaleOf(next.level, view, mode);
      panes[i].draw({ ...next }, scale, view);
      legend(i ? "-2" : "", scale, view, next.level);
    });
    absentees(views);
    $("help").textContent = `${touch ? "Tap a region for its numbers, again to open it" : "Point at a region for its numbers, click to open it"}. ` +
      "With keys: arrows move, Enter opens, Escape goes back.";
  }
  const scene = bare ? null : panes[0].scene;
  const regions = top && !bare && state.level !== null ? scene.regions : childrenOf(focus);
  const level = regions.length ? regions[0].level : null;
  const scale = level === null ? null : scaleOf(level, views[0], mode);
  if (bare && scale) legend("", scale, views[0], level);
  if (bare) $("key").hidden = mode === "value" || !scale || two;
  if (bare) $("key-2").hidden = true;
  $("below-title").textContent = level === null ? "Nothing below this level" : `${mapName(focus)}, by ${layers[level].name}`;
  $("find-field").hidden = regions.length <= 12;
  $("level").hidden = choices.length < 2 || !top;
  $("about").textContent = data.about[state.kind] + (mode === "difference" && level !== null ? ` ${told(level, views[0])}` : "");
  crumbs();
  card(views);
  // Colours in the table are those of the legend; where it is about another level, values are bars of one colour.
  const plain = mode === "value" && (bare || level !== scene.level);
  list({ regions, scale, views, plain, focus });
}

// What the interval of a difference is, and is not.
function told(level, view) {
  const how = apart(level, view, view.minus)
    ? "The interval of a difference is around the difference of two unbiased estimates, whose noise is independent, and holds the published one."
    : "The interval of a difference has the width of both together.";
  return `${how} Grey regions are within noise: their interval holds 0.`;
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

function card(views) {
  $("place").textContent = mapName(state.focus);
  $("figures").replaceChildren(...(state.focus ? figures(state.focus, views) : []));
  $("card").hidden = !state.focus;
}

// A list for each view, under its name where there are several.
function figures(region, views) {
  return views.flatMap((view) => {
    const found = band(region, view), all = element("dl");
    const pair = (name, text) => {
      const row = element("div");
      row.append(element("dt", {}, `${name} `), element("dd", {}, text));
      return row;
    };
    const value = pair(view.minus ? "Difference" : "Value", amount(found, view));
    value.className = "main";
    all.append(value);
    if (found.value !== null) all.append(pair(intervalName, span(found)), pair("Error", margin(found)));
    if (view.minus) {
      for (const one of [view.minus, { ...view, minus: null }]) all.append(pair(viewName(one), amount(band(region, one), one)));
      if (found.value !== null && withinNoise(found)) all.append(pair("Within noise:", "the interval holds 0"));
    }
    return views.length > 1 ? [element("div", { class: "of" }, viewName(view)), all] : [all];
  });
}

function legend(suffix, scale, view, level) {
  const what = state.mode === "error" ? "Relative error" : viewName(view);
  const of = state.mode === "error" && shownViews().length > 1 ? ` of ${viewName(view)}` : "";
  $(`caption${suffix}`).textContent = `${what}${of}, by ${layers[level].name}`;
  const entries = [...scale.legend];
  const unstated = state.mode === "error" && numbers(level, view, 1 + 2 * state.kind) === null;
  if (unstated) entries.push({ name: "no interval stated", colour: "void" });
  else if (!bare && layers[level].context.length) entries.push({ name: "no number published", colour: "void" });
  $(`legend${suffix}`).replaceChildren(...entries.map(({ name, colour }) => {
    const item = element("li", { "data-colour": colour });
    const swatch = drawn("svg", { viewBox: "0 0 26 16", "aria-hidden": "true" });
    swatch.append(drawn("rect", { width: 26, height: 16, class: colour }));
    item.append(swatch, name);
    return item;
  }));
}

function absentees(views) {
  const { regions } = panes[0].scene;
  const lost = regions.filter((region) => !shapeOf(region));
  $("absent").hidden = !lost.length;
  $("absent-why").textContent = `${whole.format(lost.length)} of ${whole.format(regions.length)} have a number and no shape in this geometry.`;
  fill($("absent-list"), lost.map((region) => {
    const item = element("li", { "data-at": keyOf(region) });
    const said = views.map((view) => [band(region, view), view]).map(([found, view]) => `${amount(found, view)} (${span(found)})`);
    item.append(opens(region) ? element("button", { type: "button", class: "open" }, nameOf(region)) : nameOf(region), `: ${said.join("; ")}`);
    return item;
  }));
}

const markAll = (region) => { for (const pane of panes) pane.mark(region); };
const unmarkAll = () => { for (const pane of panes) if (pane.scene) pane.mark(pane.scene.marked); };

function tell(region, x, y, name) {
  const tip = $("tip");
  tip.replaceChildren();
  if (region) {
    const above = parentOf(region);
    const where = above && !same(above, root) ? `, ${nameOf(above)}` : "";
    tip.append(element("b", {}, nameOf(region) + where), ...figures(region, shownViews()));
    const target = targetOf(region);
    if (target) tip.append(element("div", { class: "quiet" }, `${touch ? "Tap again" : "Click or Enter"} to open ${nameOf(target)}`));
    if (panes[0] && region.level === panes[0].scene.level) {
      shownViews().forEach((view, i) => {
        const colour = scaleOf(region.level, view, state.mode).of(region);
        for (const item of $(i ? "legend-2" : "legend").children) item.classList.toggle("here", item.dataset.colour === colour);
      });
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
  for (const item of document.querySelectorAll(".legend .here")) item.classList.remove("here");
  unmarkAll();
}

function go(region, from, pane = panes[0]) {
  const left = state.focus;
  state.focus = region;
  $("find").value = "";
  show(() => {
    $("said").textContent = region ? spoken(region, state.views[0]) : "All regions";
    const next = from === "keys" && (pane.nodeOf(left) ?? pane.nodeOf(region) ?? pane.shapes.querySelector('[tabindex="0"]'));
    if (next) pane.enter(next);
    else if (from !== "pointer") $("place").focus({ preventScroll: true });
  });
}

// A region without children opens the one around it, unless that is open already.
function targetOf(region) {
  if (opens(region)) return same(region, state.focus) ? null : region;
  const around = parentOf(region);
  return around && !same(around, state.focus) && !same(around, root) ? around : null;
}

function open(region, from, pane) {
  const target = targetOf(region);
  if (target) go(target, from, pane);
}

function up(from, pane) {
  const trail = trailOf(state.focus);
  if (trail.length > 1) go(trail.at(-2), from, pane);
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

function listen(pane) {
  const { canvas, shapes } = pane;
  canvas.addEventListener("pointerdown", (event) => { touch = event.pointerType === "touch"; }, true);
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const region = regionOf(event.target), name = event.target.dataset && event.target.dataset.name;
    if (!region && !name) return hide();
    tell(region, event.clientX, event.clientY, name);
    if (region && region.level === pane.scene.level) markAll(region);
  });
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
  canvas.addEventListener("click", (event) => {
    const region = regionOf(event.target), name = event.target.dataset.name;
    if (!region) return touch && name ? tell(null, event.clientX, event.clientY, name) : hide();
    if (touch && !same(tapped, region)) {
      tell(region, event.clientX, event.clientY);
      markAll(region);
      tapped = region;
    } else open(region, "pointer", pane);
  });
  shapes.addEventListener("focusin", (event) => {
    if (!event.target.matches(":focus-visible")) return;
    const region = regionOf(event.target), box = event.target.getBoundingClientRect();
    if (!region) return;
    tell(region, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
    markAll(region);
  });
  shapes.addEventListener("focusout", hide);
  shapes.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(regionOf(event.target), "keys", pane);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      pane.enter(pane.neighbour(event.target, event.key));
    }
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.matches("select, input[type=search]")) return;
  const pane = panes.find(({ shapes }) => shapes.contains(document.activeElement));
  up(pane ? "keys" : "list", pane);
});
for (const place of [$("rows"), $("absent-list")]) {
  place.addEventListener("click", (event) => {
    if (event.target.closest("button.open")) open(regionOf(event.target), "list");
  });
}
$("rows").addEventListener("pointerover", (event) => {
  const region = regionOf(event.target);
  if (panes[0] && region && region.level === panes[0].scene.level) markAll(region);
});
$("rows").addEventListener("pointerleave", unmarkAll);
$("find").addEventListener("input", () => list(listed));
$("more").addEventListener("click", () => {
  shown += PAGE;
  list(listed);
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
$("print").addEventListener("click", () => print());
$("save").addEventListener("click", saveImage);
$("compare").addEventListener("click", () => {
  state.two = state.mode === "difference" || !state.two;
  if (state.mode === "difference") {
    state.mode = "value";
    $("mode").querySelector("input").checked = true;
  }
  show();
});

// Lists of numbers and of editions, for either map; a list of one thing is no list.
function offer(field, names, view, part) {
  names.forEach((name, i) => field.append(element("option", { value: i }, name)));
  field.value = view[part];
  field.parentNode.hidden = names.length < 2;
  field.addEventListener("change", () => { view[part] = Number(field.value); show(); });
}

$("title").textContent = data.title;
for (const id of ["about", "privacy", "note"]) {
  $(id).textContent = id === "about" ? data.about[state.kind] : data[id];
  $(id).hidden = !$(id).textContent;
}
document.body.classList.toggle("bare", bare);
$("map").hidden = $("help").hidden = bare;
const several = data.outputs.length * data.editions.length > 1;
$("mode").hidden = !stated && !several;
$("kind").hidden = data.kinds.length < 2;
$("absent").hidden = true;
$("compare").hidden = !several;
["", "-2"].forEach((suffix, i) => {
  offer($(`output${suffix}`), data.outputs, state.views[i], "output");
  offer($(`edition${suffix}`), data.editions, state.views[i], "edition");
});
const modes = [["value", "value"], ...(stated ? [["error", "relative error"]] : []), ...(several ? [["difference", "difference"]] : [])];
choose($("mode"), modes, state.mode, (value) => { state.mode = value; });
choose($("kind"), [[0, "each region"], [1, "typical"]], state.kind, (value) => { state.kind = value; });
choose($("level"), choices.map((level) => [level, layers[level].name]), state.level, (level) => { state.level = level; });
for (const pane of panes) listen(pane);
show();
