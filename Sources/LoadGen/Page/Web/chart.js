"use strict";
const page = document.body;
window.addEventListener("error", () => { page.dataset.errors = Number(page.dataset.errors) + 1; });
const runs = JSON.parse(document.getElementById("data").textContent).runs;
const run = runs[0];
const colors = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6"].map((name) => `var(${name})`);

function add(parent, name, attributes, line) {
  const inSVG = name === "svg" || parent.namespaceURI.endsWith("svg");
  const made = inSVG ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (line !== undefined) made.textContent = line;
  parent.appendChild(made);
  return made;
}

/* Numbers as the text report prints them. */
const known = (value) => value !== null && value !== undefined;
const fixed = (value, digits) => value.toFixed(digits);
const count = (value) => Math.round(value).toLocaleString("en-US");
const percent = (share, digits = 1) => known(share) ? fixed(share * 100, digits) + "%" : "–";
function rate(value) {
  if (!known(value)) return "–";
  if (value >= 999950) return fixed(value / 1e6, 2) + "M";
  if (value >= 9999.5) return fixed(value / 1e3, 1) + "k";
  return fixed(value, value >= 99.95 ? 0 : 1);
}
function time(ms) {
  if (!known(ms)) return "–";
  if (ms === 0) return "0";
  const [value, unit] = ms >= 999.5 ? [ms / 1e3, "s"] : ms >= 0.0995 ? [ms, "ms"] : [ms * 1e3, "µs"];
  return fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + " " + unit;
}
const short = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

/* Scales. */
function linear(most, want = 4) {
  const raw = Math.max(most, 1e-9) / want, ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((part) => part * ten).find((part) => part >= raw * 0.999);
  const top = Math.ceil(most / step - 1e-9) * step || step;
  const ticks = [];
  for (let tick = 0; tick <= top * 1.0001; tick += step) ticks.push(tick);
  return { ticks, place: (value) => value / top };
}
function span(from, to, want) {
  const ticks = linear(to - from, want).ticks.map((tick) => tick + from).filter((tick) => tick <= to);
  return { ticks, place: (value) => (value - from) / (to - from || 1) };
}
function logarithmic(least, most) {
  const from = Math.log10(least), to = Math.max(Math.log10(most), from + 0.3);
  const ticks = [];
  for (let power = Math.floor(from); power <= to; power += 1) {
    for (const part of to - from > 2.2 ? [1] : to - from > 1.2 ? [1, 3] : [1, 2, 5]) {
      const tick = part * 10 ** power;
      if (tick >= least * 0.999 && tick <= 10 ** to * 1.001) ticks.push(tick);
    }
  }
  return { ticks, place: (value) => (Math.log10(Math.max(value, least)) - from) / (to - from) };
}

/* The frame of a plot: grid, axes and the places of values. */
function frame(svg, width, height, x, y) {
  const left = 56, right = width - 8, top = 10, bottom = height - 26;
  const px = (value) => left + x.scale.place(value) * (right - left);
  const py = (value) => bottom - y.scale.place(value) * (bottom - top);
  for (const tick of y.scale.ticks) {
    add(svg, "line", { class: "grid", x1: left, x2: right, y1: py(tick), y2: py(tick) });
    add(svg, "text", { x: left - 8, y: py(tick) + 4, "text-anchor": "end" }, short(y.text(tick)));
  }
  let last = -Infinity;
  x.scale.ticks.forEach((tick) => {
    if (px(tick) - last < (x.room || 56)) return;
    last = px(tick);
    const anchor = px(tick) > right - 14 ? "end" : px(tick) < left + 6 ? "start" : "middle";
    add(svg, "text", { x: px(tick), y: height - 8, "text-anchor": anchor }, short(x.text(tick)));
  });
  add(svg, "line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom });
  return { left, right, top, bottom, px, py };
}

/* The values at the pointer. */
const tip = add(page, "div", { class: "tip" });
function hover(svg, plot, places, rows) {
  const cursor = add(svg, "line", { class: "cursor", y1: plot.top, y2: plot.bottom, visibility: "hidden" });
  const hide = () => { tip.style.display = "none"; cursor.setAttribute("visibility", "hidden"); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), at = event.clientX - box.left;
    if (!places.length || at < plot.left - 12 || at > plot.right + 12) return hide();
    let best = 0;
    places.forEach((place, index) => {
      if (Math.abs(place - at) < Math.abs(places[best] - at)) best = index;
    });
    cursor.setAttribute("x1", places[best]);
    cursor.setAttribute("x2", places[best]);
    cursor.setAttribute("visibility", "visible");
    showTip(event, rows(best, event.clientY - box.top));
  });
}
function showTip(event, rows) {
  tip.replaceChildren();
  for (const [name, value, color] of rows) {
    if (value === undefined) { add(tip, "b", {}, name); continue; }
    const line = add(tip, "div", {}), label = add(line, "span", {});
    if (color) add(label, "i", { style: `--k: ${color}` });
    label.append(name);
    add(line, "span", { class: "number" }, value);
  }
  tip.style.display = "block";
  const { width, height } = tip.getBoundingClientRect();
  const x = event.clientX + 16 + width > innerWidth ? event.clientX - 16 - width : event.clientX + 16;
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 4)) + "px";
}
/* A table; its columns sort when their heads are clicked. Cells are texts, numbers or [number, text]. */
function table(parent, heads, rows) {
  const made = add(add(parent, "div", { class: "scroll" }), "table", {});
  const head = add(add(made, "thead", {}), "tr", {}), body = add(made, "tbody", {});
  const key = (cell) => Array.isArray(cell) ? cell[0] : cell;
  const fill = () => body.replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    row.forEach((cell) => {
      const text = Array.isArray(cell) ? cell[1] : known(cell) ? String(cell) : "–";
      const mark = /^(PASS|exact|yes)$/.test(text) ? "good" : /^(FAIL|MISS|no)$/.test(text) ? "bad" : "";
      const made = add(line, "td", {}, mark ? undefined : text);
      if (mark) add(made, "span", { class: mark }, text);
    });
    return line;
  }));
  heads.forEach((name, place) => {
    const cell = add(head, "th", { scope: "col", tabindex: "0" }, name);
    const sort = () => {
      const down = cell.getAttribute("aria-sort") !== "descending";
      head.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((one, two) => {
        const [a, b] = [key(one[place]), key(two[place])];
        const order = typeof a === "number" && typeof b === "number" ? a - b
          : String(a).localeCompare(String(b));
        return down ? -order : order;
      });
      fill();
    };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
  fill();
  return made;
}

/* A chart: its title, what it shows, its drawing and the same as a table. */
const charts = [];
function chart(parent, id, { title, note, wide, height = 232, legend = [], draw, heads, rows }) {
  const figure = add(parent, "figure", { class: wide ? "card wide" : "card", id, "data-drawn": 0 });
  add(figure, "h3", {}, title);
  if (note) add(figure, "p", {}, note);
  if (legend.length > 1) {
    const list = add(figure, "div", { class: "legend" });
    for (const [name, color] of legend) {
      const item = add(list, "span", {});
      add(item, "i", { style: `--k: ${color}` });
      item.append(name);
    }
  }
  const place = add(figure, "div", { class: "plot" });
  if (heads) {
    const details = add(figure, "details", {});
    add(details, "summary", {}, "Table");
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("table")) table(details, heads, rows());
    });
  }
  charts.push(() => {
    const width = Math.max(240, place.clientWidth), tall = typeof height === "function" ? height(width) : height;
    place.replaceChildren();
    const svg = add(place, "svg", { viewBox: `0 0 ${width} ${tall}`, height: tall, role: "img", "aria-label": title });
    draw(svg, width, tall);
    figure.dataset.drawn = svg.querySelectorAll("path, rect, circle").length;
  });
}
function line(points) {
  let text = "", broken = true;
  for (const [x, y] of points) {
    if (!known(y) || Number.isNaN(y)) { broken = true; continue; }
    text += `${broken ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    broken = false;
  }
  return text;
}
