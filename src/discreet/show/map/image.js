// What is on the screen as a PNG file: drawn anew on a canvas, since the page's policy lets no image be loaded.
const IMAGE = { width: 1600, margin: 48, gap: 40, row: 34 };

function wrap(pen, text, width) {
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (line && pen.measureText(longer).width > width) lines.push(line);
    line = line && pen.measureText(longer).width > width ? word : longer;
  }
  return line ? [...lines, line] : lines;
}

const styleOf = (node) => getComputedStyle(node);

// Paths as they are on the page: fill, line and its width, which does not grow with the zoom.
function paint(pen, node, unit) {
  const style = styleOf(node), path = new Path2D(node.getAttribute("d"));
  if (style.fill !== "none") {
    pen.fillStyle = style.fill;
    pen.fill(path, "evenodd");
  }
  if (style.stroke === "none") return;
  pen.strokeStyle = style.stroke;
  pen.globalAlpha = Number(style.strokeOpacity);
  pen.lineWidth = (1.4 * parseFloat(style.strokeWidth)) / unit;
  pen.stroke(path);
  pen.globalAlpha = 1;
}

function paintMap(pen, pane, left, top, width, height) {
  const [wide, tall] = data.box, unit = Math.min(width / wide, height / tall), { scale, x, y } = pane.place;
  pen.save();
  pen.translate(left + (width - unit * wide) / 2, top);
  pen.scale(unit, unit);
  pen.beginPath();
  pen.rect(0, 0, wide, tall);
  pen.clip();
  pen.translate(x, y);
  pen.scale(scale, scale);
  pen.lineJoin = "round";
  for (const node of pane.stage.querySelectorAll("path[d]")) paint(pen, node, unit * scale);
  pen.restore();
}

function paintLegend(pen, suffix, left, top, width, write) {
  write($(`caption${suffix}`).textContent, left, top, "600 24px");
  let x = left, y = top + IMAGE.row;
  for (const item of $(`legend${suffix}`).children) {
    pen.font = `22px ${write.font}`;
    const wide = pen.measureText(item.textContent).width + 80;
    if (x > left && x + wide > left + width) [x, y] = [left, y + IMAGE.row];
    const box = item.querySelector("rect");
    pen.fillStyle = styleOf(box).fill;
    pen.fillRect(x, y - 18, 36, 22);
    pen.strokeStyle = styleOf(box).stroke;
    pen.lineWidth = 1;
    pen.strokeRect(x, y - 18, 36, 22);
    write(item.textContent, x + 46, y, "22px");
    x += wide;
  }
  return y + IMAGE.row;
}

// Where there are no shapes: the rows of the table, as many as it shows.
function paintRows(pen, left, top, width, write, ink) {
  const rows = listed.rows.slice(0, Math.min(shown, 60)), views = listed.views;
  const highest = extreme(rows.flatMap((row) => row.bands), ["upper", "value"], Math.max, 1);
  const part = (width - 380) / views.length;
  if (views.length > 1) {
    views.forEach((view, i) => write(viewName(view), left + 380 + i * part, top, "600 22px"));
    top += IMAGE.row;
  }
  rows.forEach((row, at) => {
    const y = top + at * IMAGE.row;
    write(row.name, left, y, "22px", 360);
    row.bands.forEach((found, i) => {
      const x = left + 380 + i * part, room = part - 340, unit = room / highest;
      pen.fillStyle = ink;
      pen.globalAlpha = 0.35;
      pen.fillRect(x, y - 18, Math.max(0, found.value * unit), 22);
      pen.globalAlpha = 1;
      if (found.half !== null) pen.fillRect(x + Math.max(0, found.lower) * unit, y - 8, Math.max(1, (found.upper - Math.max(0, found.lower)) * unit), 2);
      write(found.value === null ? goneName(views[i]) : `${amount(found, views[i])} (${span(found)})`, x + room + 20, y, "22px", 310);
    });
  });
  return top + rows.length * IMAGE.row;
}

// Everything is laid out twice: once to learn the height, once to be seen.
function compose(canvas, views, panes) {
  const pen = canvas.getContext("2d"), { width, margin, gap, row } = IMAGE, body = styleOf(document.body);
  const ink = body.color, inner = width - 2 * margin;
  pen.fillStyle = styleOf($("map")).backgroundColor;
  pen.fillRect(0, 0, width, canvas.height);
  const write = (text, x, y, font, most) => {
    pen.font = `${font} ${body.fontFamily}`;
    pen.fillStyle = ink;
    pen.fillText(text, x, y, most);
  };
  write.font = body.fontFamily;
  const paragraph = (text, y, font) => {
    pen.font = `${font} ${body.fontFamily}`;
    return wrap(pen, text, inner).reduce((at, line) => (write(line, margin, at, font), at + parseInt(font.match(/\d+px/)) * 1.35), y);
  };
  let y = paragraph(data.title, margin + 40, "650 40px");
  y = paragraph(trailOf(state.focus).map(mapName).join(" \u203a "), y, "24px") + 16;
  if (bare) y = paintRows(pen, margin, y + 10, inner, write, ink);
  else {
    const wide = (inner - gap * (views.length - 1)) / views.length, [box, tall] = data.box;
    const height = Math.min((wide * tall) / box, 1000);
    const ends = panes.map((pane, i) => {
      const left = margin + i * (wide + gap);
      paintMap(pen, pane, left, y, wide, height);
      return paintLegend(pen, i ? "-2" : "", left, y + height + 44, wide, write);
    });
    y = Math.max(...ends);
  }
  for (const id of ["about", "privacy", "note"]) {
    if ($(id).textContent) y = paragraph($(id).textContent, y + 14, "20px");
  }
  return Math.ceil(y + margin - row / 2);
}

function saveImage() {
  const views = shownViews(), canvas = element("canvas", { width: IMAGE.width, height: 10 });
  canvas.height = compose(canvas, views, panes.slice(0, views.length));
  compose(canvas, views, panes.slice(0, views.length));
  canvas.toBlob((blob) => {
    const name = [data.title, ...views.map(viewName)].join(" ").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80);
    const link = element("a", { download: `${name || "map"}.png`, href: URL.createObjectURL(blob) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}
