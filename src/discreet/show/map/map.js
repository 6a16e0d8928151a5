// The picture: shapes of one level, the zoom, and moving about with keys. Two of them may stand side by side.
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

function element(tag, attributes = {}, text) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const keyOf = ({ level, index }) => `${level}:${index}`;
const regionOf = (node) => {
  const found = node && node.closest && node.closest("[data-at]");
  if (!found) return null;
  const [level, index] = found.dataset.at.split(":").map(Number);
  return { level, index };
};

// The lowest level that a focus shows, on the map or below it.
function depthOf(focus, chosen) {
  if (!focus || same(focus, root)) return Math.max(chosen ?? 0, Math.min((focus ? focus.level : -1) + 1, layers.length - 1));
  const below = layers.findIndex((_, level) => level > focus.level && mapped(level));
  return Math.max(below, Math.min(focus.level + 1, layers.length - 1));
}

// What the map shows at a focus: the nearest level below that has shapes; at the lowest, the region among its siblings.
function sceneOf(focus, chosen) {
  const top = !focus || same(focus, root);
  if (top && chosen !== null) return { level: chosen, regions: descendants(focus, chosen), whole: true };
  for (let level = focus.level + 1; level < layers.length; level++) {
    if (!mapped(level)) continue;
    const regions = descendants(focus, level);
    if (regions.length && (shapeOf(focus) || regions.some(shapeOf))) return { level, regions, parent: focus };
    break;
  }
  for (let here = focus; here; here = parentOf(here)) {
    if (!shapeOf(here)) continue;
    const parent = parentOf(here), whole = !parent || same(parent, root);
    return { level: here.level, regions: whole ? descendants(parent, here.level) : childrenOf(parent), whole, parent: whole ? null : parent, marked: here };
  }
  const level = chosen ?? layers.findIndex((_, i) => mapped(i));
  return { level, regions: everyOf(level), whole: true };
}

class Pane {
  constructor(suffix) {
    for (const id of ["canvas", "stage", "ground", "shapes", "borders", "halo", "view"]) this[id] = $(id + suffix);
    this.scene = null;
    this.centres = null;
    this.nodes = new Map();
    this.place = { scale: 1, x: 0, y: 0 }; // how the box of all shapes lies on the canvas
    this.canvas.setAttribute("viewBox", `0 0 ${data.box.join(" ")}`);
  }

  nodeOf(region) {
    return region ? this.nodes.get(keyOf(region)) ?? null : null;
  }

  draw(next, scale, view) {
    const key = (s) => s && `${s.level}/${s.whole}/${s.parent ? keyOf(s.parent) : ""}`;
    if (key(next) !== key(this.scene)) this.redraw(next);
    this.scene = next;
    this.view.textContent = viewName(view);
    this.shapes.setAttribute("aria-label", `Map of ${viewName(view)}, level ${layers[next.level].name}`);
    for (const region of next.regions) {
      const node = this.nodeOf(region);
      if (!node) continue;
      node.setAttribute("class", `shape ${scale.of(region)}${targetOf(region) ? " open" : ""}`);
      node.setAttribute("aria-label", spoken(region, view));
      node.setAttribute("aria-selected", same(region, next.marked) ? "true" : "false");
    }
    this.mark(next.marked);
  }

  redraw(next) {
    this.nodes.clear();
    this.centres = null;
    const made = next.regions.filter(shapeOf).map((region, i) => {
      const node = drawn("path", { d: shapeOf(region), role: "option", tabindex: i ? -1 : 0, "data-at": keyOf(region) });
      this.nodes.set(keyOf(region), node);
      return node;
    });
    const voids = layers[next.level].context.map(([name, d]) => drawn("path", { d, class: "void", "data-name": name }));
    // A small square that stands for a region without an area lies on top of its neighbours.
    const speck = (node) => +(node.getAttribute("d").length < 32);
    fill(this.shapes, [...made].sort((a, b) => speck(a) - speck(b)));
    this.shapes.classList.toggle("few", made.length <= 300);
    // Around a region: its siblings, to be seen and to be clicked. Over everything: the borders of the levels above.
    const around = next.parent && mapped(next.parent.level) ? everyOf(next.parent.level) : [];
    const above = layers.flatMap((layer, level) => (level < next.level && mapped(level) ? layer.shapes.filter(Boolean) : []));
    const lines = above.length ? above : data.outline;
    // Pale regions need a coast to stand out from the page.
    const coast = next.whole && made.length <= 500 ? made.map((node) => drawn("path", { d: node.getAttribute("d"), class: "coast" })) : [];
    fill(this.ground, [...coast, ...voids, ...around.filter((region) => shapeOf(region) && !same(region, next.parent)).map((region) =>
      drawn("path", { d: shapeOf(region), class: "ground open", "data-at": keyOf(region) }))]);
    fill(this.borders, lines.map((d) => drawn("path", { d })));
    this.zoom(next, made);
  }

  zoom(next, made) {
    this.place = { scale: 1, x: 0, y: 0 };
    if (next.whole) return void (this.stage.style.transform = "none");
    const [width, height] = data.box;
    const outline = shapeOf(next.parent) && this.stage.appendChild(drawn("path", { d: shapeOf(next.parent) }));
    const boxes = (made.length ? made : [outline]).map((node) => node.getBBox());
    if (outline) outline.remove();
    const least = (value) => boxes.reduce((far, box) => Math.min(far, value(box)), Infinity);
    const left = least((b) => b.x), top = least((b) => b.y);
    const right = -least((b) => -b.x - b.width), bottom = -least((b) => -b.y - b.height);
    const scale = Math.min(width / (right - left || 1), height / (bottom - top || 1), 150) * 0.92;
    const x = width / 2 - (scale * (left + right)) / 2, y = height / 2 - (scale * (top + bottom)) / 2;
    this.place = { scale, x, y };
    this.stage.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  mark(region) {
    const d = region && shapeOf(region);
    if (d) this.halo.setAttribute("d", d);
    else this.halo.removeAttribute("d");
  }

  // The next shape in the direction of an arrow key: ahead counts once, aside twice.
  neighbour(node, key) {
    this.centres ??= new Map([...this.nodes.values()].map((other) => {
      const box = other.getBBox();
      return [other, [box.x + box.width / 2, box.y + box.height / 2]];
    }));
    const [x, y] = this.centres.get(node);
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    let best = null, least = Infinity;
    for (const [other, [u, v]] of this.centres) {
      const ahead = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (ahead > 0 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
    }
    return best;
  }

  enter(node) {
    if (!node) return;
    for (const other of this.shapes.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", -1);
    node.setAttribute("tabindex", 0);
    node.focus({ preventScroll: true });
  }
}

// The second map: a copy of the first, with ids of its own.
function secondPane() {
  const twin = $("map").cloneNode(true);
  for (const node of [twin, ...twin.querySelectorAll("[id]")]) node.id += "-2";
  twin.setAttribute("aria-labelledby", "caption-2");
  $("maps").append(twin);
  return new Pane("-2");
}
