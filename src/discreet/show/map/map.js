// The picture: shapes of one level, the zoom, and moving about with keys.
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);
const canvas = $("canvas"), stage = $("stage"), ground = $("ground"), shapes = $("shapes"), borders = $("borders"), halo = $("halo");

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
const nodeOf = (region) => (region ? shapes.querySelector(`[data-at="${keyOf(region)}"]`) : null);

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
  return { level, regions: layers[level].codes.map((_, index) => ({ level, index })), whole: true };
}

let scene = null, centres = null;
function draw(next, scale, output) {
  const key = (s) => s && `${s.level}/${s.whole}/${s.parent ? keyOf(s.parent) : ""}`;
  if (key(next) !== key(scene)) redraw(next);
  scene = next;
  shapes.setAttribute("aria-label", `Map, level ${layers[scene.level].name}`);
  for (const region of scene.regions) {
    const node = nodeCache.get(keyOf(region));
    if (!node) continue;
    node.setAttribute("class", `shape ${scale.of(region)}${targetOf(region) ? " open" : ""}`);
    node.setAttribute("aria-label", spoken(region, output));
    node.setAttribute("aria-selected", same(region, scene.marked) ? "true" : "false");
  }
  mark(scene.marked);
}

const nodeCache = new Map();
function redraw(next) {
  nodeCache.clear();
  centres = null;
  const made = next.regions.filter(shapeOf).map((region, i) => {
    const node = drawn("path", { d: shapeOf(region), role: "option", tabindex: i ? -1 : 0, "data-at": keyOf(region) });
    nodeCache.set(keyOf(region), node);
    return node;
  });
  const voids = layers[next.level].context.map(([name, d]) => drawn("path", { d, class: "void", "data-name": name }));
  // A small square that stands for a region without an area lies on top of its neighbours.
  const speck = (node) => +(node.getAttribute("d").length < 32);
  shapes.replaceChildren(...[...made].sort((a, b) => speck(a) - speck(b)));
  shapes.classList.toggle("few", made.length <= 300);
  // Around a region: its siblings, to be seen and to be clicked. Over everything: the borders of the levels above.
  const around = next.parent && mapped(next.parent.level)
    ? layers[next.parent.level].codes.map((_, index) => ({ level: next.parent.level, index })) : [];
  const above = layers.flatMap((layer, level) => (level < next.level && mapped(level) ? layer.shapes.filter(Boolean) : []));
  const lines = above.length ? above : data.outline;
  // Pale regions need a coast to stand out from the page.
  const coast = next.whole && made.length <= 500 ? made.map((node) => drawn("path", { d: node.getAttribute("d"), class: "coast" })) : [];
  ground.replaceChildren(...coast, ...voids, ...around.filter((region) => shapeOf(region) && !same(region, next.parent)).map((region) =>
    drawn("path", { d: shapeOf(region), class: "ground open", "data-at": keyOf(region) })));
  borders.replaceChildren(...lines.map((d) => drawn("path", { d })));
  zoom(next, made);
}

function zoom(next, made) {
  if (next.whole) return void (stage.style.transform = "none");
  const [width, height] = data.box;
  const outline = shapeOf(next.parent) && stage.appendChild(drawn("path", { d: shapeOf(next.parent) }));
  const boxes = (made.length ? made : [outline]).map((node) => node.getBBox());
  if (outline) outline.remove();
  const left = Math.min(...boxes.map((b) => b.x)), top = Math.min(...boxes.map((b) => b.y));
  const right = Math.max(...boxes.map((b) => b.x + b.width)), bottom = Math.max(...boxes.map((b) => b.y + b.height));
  const scale = Math.min(width / (right - left || 1), height / (bottom - top || 1), 150) * 0.92;
  const x = width / 2 - (scale * (left + right)) / 2, y = height / 2 - (scale * (top + bottom)) / 2;
  stage.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
}

function mark(region) {
  const d = region && shapeOf(region);
  if (d) halo.setAttribute("d", d);
  else halo.removeAttribute("d");
}

// The next shape in the direction of an arrow key: ahead counts once, aside twice.
function neighbour(node, key) {
  centres ??= new Map([...nodeCache.values()].map((other) => {
    const box = other.getBBox();
    return [other, [box.x + box.width / 2, box.y + box.height / 2]];
  }));
  const [x, y] = centres.get(node);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  for (const [other, [u, v]] of centres) {
    const ahead = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
    if (ahead > 0 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
  }
  return best;
}

function enter(node) {
  if (!node) return;
  for (const other of shapes.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", -1);
  node.setAttribute("tabindex", 0);
  node.focus({ preventScroll: true });
}
