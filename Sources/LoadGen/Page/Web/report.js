const order = ["vote", "create", "list", "page", "get"];
const operations = order.filter((name) => run.ops && run.ops[name]);
const seconds = (run.intervals || []).filter((one) => one.seconds > 0.05);
const start = (one) => one.end_seconds - one.seconds;
const middle = (one) => one.end_seconds - one.seconds / 2;
const length = seconds.length ? seconds[seconds.length - 1].end_seconds : 1;
const measuredFrom = (list) => { const one = list.find((one) => one.measured); return one ? start(one) : 0; };
const levels = (run.slo || []).map((slo) => {
  const found = /^(?:(p[\d.]+|max)<([\d.]+)(ns|us|ms|s)|rate>=?([\d.]+)([kM]?))$/.exec(slo.text);
  if (!found) return null;
  if (found[4]) return { rate: found[4] * ({ k: 1e3, M: 1e6 }[found[5]] || 1), text: slo.text };
  return { ms: found[2] * { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3 }[found[3]], text: slo.text };
}).filter(Boolean);
const overlaid = runs.length > 1;
const ofFirst = overlaid ? ` · ${run.name}` : "";
const nameOf = (one, index) => one.name || `run ${index + 1}`;

function timeAxis(width) {
  return { scale: span(0, length, Math.max(3, Math.floor(width / 110))), text: (value) => short(fixed(value, 1)) + " s" };
}
function shadeWarmup(svg, plot) {
  const until = measuredFrom(seconds);
  if (until <= 0) return;
  const width = plot.px(until) - plot.left;
  add(svg, "rect", { class: "shade", x: plot.left, y: plot.top, width, height: plot.bottom - plot.top });
  if (width > 60) add(svg, "text", { class: "shade-text", x: plot.left + 7, y: plot.top + 14 }, "warm-up");
}
function levelLine(svg, plot, value, text) {
  const y = plot.py(value);
  if (y < plot.top || y > plot.bottom) return;
  add(svg, "line", { class: "level", x1: plot.left, x2: plot.right, y1: y, y2: y });
  add(svg, "text", { class: "level-text", x: plot.right - 4, y: y - 5, "text-anchor": "end" }, text);
}
/* Areas on top of each other: `parts` are [name, color, value of an interval]. */
function stack(svg, plot, list, parts) {
  let base = list.map(() => 0);
  for (const [, color, value] of parts) {
    const top = list.map((one, index) => base[index] + Math.max(0, value(one) || 0));
    const edge = list.flatMap((one, index) =>
      [[plot.px(start(one)), plot.py(top[index])], [plot.px(one.end_seconds), plot.py(top[index])]]);
    const below = list.flatMap((one, index) =>
      [[plot.px(start(one)), plot.py(base[index])], [plot.px(one.end_seconds), plot.py(base[index])]]).reverse();
    add(svg, "path", { d: line(edge.concat(below)) + "Z", fill: color, "fill-opacity": 0.8 });
    base = top;
  }
}
const at = (one) => `${fixed(start(one), 0)} – ${fixed(one.end_seconds, 0)} s${one.measured ? "" : ", not measured"}`;

function throughputChart(parent) {
  const per = (name) => (one) => (one[name] || 0) / one.seconds;
  const total = (one) => order.reduce((sum, name) => sum + (one[name] || 0), 0) / one.seconds;
  const parts = operations.map((name, index) => [name, colors[index], per(name)]);
  chart(parent, "throughput", {
    title: "Throughput over time", wide: true,
    note: overlaid ? "Successful answers a second of each run, aligned at the start of the measured time."
      : "Successful answers a second, by operation.",
    legend: overlaid ? runs.map((one, index) => [nameOf(one, index), colors[index % 6]]) : parts,
    draw(svg, width, height) {
      const lists = overlaid ? runs.map((one) => one.intervals || []) : [seconds];
      const most = Math.max(1, ...lists.flat().map(total), ...levels.map((level) => level.rate || 0));
      const plot = frame(svg, width, height, timeAxis(width), { scale: linear(most), text: rate });
      if (overlaid) {
        const from = measuredFrom(seconds);
        lists.forEach((list, index) => {
          const shift = from - measuredFrom(list);
          add(svg, "path", { class: "curve", stroke: colors[index % 6], d: line(list.filter((one) =>
            one.seconds > 0.5 && middle(one) + shift <= length).map((one) => [plot.px(middle(one) + shift), plot.py(total(one))])) });
        });
      } else {
        shadeWarmup(svg, plot);
        stack(svg, plot, seconds, parts);
      }
      for (const level of levels) if (level.rate) levelLine(svg, plot, level.rate, level.text);
      hover(svg, plot, seconds.map((one) => plot.px(middle(one))), (index) => {
        const one = seconds[index];
        if (overlaid) return [[at(one)]].concat(lists.map((list, number) => {
          const same = list.find((other) => Math.abs(middle(other) - measuredFrom(list) - middle(one) + measuredFrom(seconds)) < 0.3);
          return [nameOf(runs[number], number), same ? rate(total(same)) + "/s" : "–", colors[number % 6]];
        }));
        return [[at(one)]].concat(parts.map(([name, color, value]) => [name, rate(value(one)) + "/s", color]),
          parts.length > 1 ? [["all", rate(total(one)) + "/s"]] : []);
      });
    },
    heads: ["Second", "Measured"].concat(operations.map((name) => name + "/s")),
    rows: () => seconds.map((one) => [one.end_seconds, one.measured ? "yes" : "no"]
      .concat(operations.map((name) => [per(name)(one), rate(per(name)(one))]))),
  });
}

function latencyChart(parent) {
  const parts = [["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p99.9", "p999"], ["max", "max"]]
    .map(([name, key], index) => [name, [colors[0], colors[2], colors[1], colors[3], "var(--faint)"][index],
      (one) => (one.response_ms || {})[key]]);
  chart(parent, "latency", {
    title: "Latency over time" + ofFirst, wide: true, legend: parts, height: 252,
    note: (open ? "From the intended start: what a user waits." : "From the send: in a closed loop response and service time are one.")
      + " Logarithmic. A percentile needs ten samples beyond it.",
    draw(svg, width, height) {
      const values = seconds.flatMap((one) => parts.map(([, , value]) => value(one))).filter((value) => value > 0);
      const scale = logarithmic(Math.min(...values, 1) * 0.8, Math.max(...values, 1) * 1.15);
      const plot = frame(svg, width, height, timeAxis(width), { scale, text: time });
      shadeWarmup(svg, plot);
      parts.forEach(([, color, value]) => add(svg, "path", { class: "curve", stroke: color,
        d: line(seconds.map((one) => [plot.px(middle(one)), known(value(one)) ? plot.py(value(one)) : null])) }));
      for (const level of levels) if (level.ms) levelLine(svg, plot, level.ms, level.text);
      hover(svg, plot, seconds.map((one) => plot.px(middle(one))), (index) => [[at(seconds[index])]]
        .concat(parts.slice().reverse().map(([name, color, value]) => [name, time(value(seconds[index])), color])));
    },
    heads: ["Second"].concat(parts.map(([name]) => name)),
    rows: () => seconds.map((one) => [one.end_seconds].concat(parts.map(([, , value]) => [value(one) || 0, time(value(one))]))),
  });
}

/* Bucket number i of an interval begins at 2^(i/4) ns. */
const bucketStart = (number) => 2 ** (number / 4) / 1e6;
function heatChart(parent) {
  const cells = seconds.filter((one) => (one.response_ms || {}).buckets);
  chart(parent, "heat", {
    title: "Where latencies fall" + ofFirst, wide: true, height: 262,
    note: "Each column is a second, each row a range of latencies, the stronger the more requests. Two bands are two kinds of "
      + "requests; a high column is a stall.",
    draw(svg, width, height) {
      const lows = cells.map((one) => one.response_ms.first_bucket);
      const highs = cells.map((one) => one.response_ms.first_bucket + one.response_ms.buckets.length);
      const low = Math.min(...lows, 40), high = Math.max(...highs, 60);
      const least = bucketStart(lows.length ? Math.min(...lows) : low), most = bucketStart(highs.length ? Math.max(...highs) : high);
      const plot = frame(svg, width, height, timeAxis(width), { scale: logarithmic(least, most), text: time });
      const paths = Array(12).fill("");
      const densities = cells.map((one) => Math.max(...one.response_ms.buckets) / one.seconds);
      const top = Math.max(1, ...densities);
      for (const one of cells) {
        const x = plot.px(start(one)), wide = Math.max(1, plot.px(one.end_seconds) - x - (width / cells.length > 6 ? 1 : 0));
        one.response_ms.buckets.forEach((hits, offset) => {
          if (!hits) return;
          const number = one.response_ms.first_bucket + offset;
          const y = plot.py(bucketStart(number + 1)), tall = plot.py(bucketStart(number)) - y;
          /* Logarithmic, so that one request in a hundred thousand is still seen. */
          const shade = 0.12 + 0.88 * Math.log1p(hits / one.seconds) / Math.log1p(top);
          paths[Math.min(11, Math.floor(shade * 12))] += `M${x.toFixed(1)} ${y.toFixed(1)}h${wide.toFixed(1)}v${tall.toFixed(1)}h${(-wide).toFixed(1)}z`;
        });
      }
      paths.forEach((path, index) => {
        if (path) add(svg, "path", { d: path, fill: colors[0], "fill-opacity": ((index + 0.7) / 12).toFixed(2) });
      });
      hover(svg, plot, cells.map((one) => plot.px(middle(one))), (index, y) => {
        const one = cells[index], all = one.response_ms;
        const hit = all.buckets.findIndex((_, offset) => y <= plot.py(bucketStart(all.first_bucket + offset))
          && y >= plot.py(bucketStart(all.first_bucket + offset + 1)));
        const number = all.first_bucket + hit;
        return [[at(one)], ["requests", count(all.count)]].concat(hit < 0 ? [] : [
          [`${time(bucketStart(number))} – ${time(bucketStart(number + 1))}`, count(all.buckets[hit])]]);
      });
    },
    heads: ["Second", "Requests", "Most frequent", "p50", "Longest"],
    rows: () => cells.map((one) => {
      const all = one.response_ms, top = all.buckets.indexOf(Math.max(...all.buckets)) + all.first_bucket;
      return [one.end_seconds, [all.count, count(all.count)], [top, `${time(bucketStart(top))} – ${time(bucketStart(top + 1))}`],
        [all.p50 || 0, time(all.p50)], [all.max, time(all.max)]];
    }),
  });
}
function processorChart(parent) {
  const cores = (run.env || {}).cores || 1;
  const list = seconds.filter((one) => one.cpu && known(one.cpu.busy));
  const value = (key) => (one) => one.cpu[key] || 0;
  const others = (one) => Math.max(0, one.cpu.busy - value("server")(one) - value("generator")(one));
  const idle = (one) => Math.max(0, cores - Math.max(one.cpu.busy, value("server")(one) + value("generator")(one)) - value("steal")(one));
  const seen = list.some((one) => known(one.cpu.server));
  const parts = [["server", colors[0], value("server")], ["generator", colors[1], value("generator")],
    [seen ? "others" : "others, and the server if it is here", colors[3], others], ["steal", "var(--bad)", value("steal")],
    ["idle", "var(--grid)", idle]].filter(([name]) => seen || name !== "server");
  chart(parent, "processors", {
    title: "Processors" + ofFirst, legend: parts, note: `Cores in use, of ${cores}. The generator and other programs take what the server does not get.`,
    draw(svg, width, height) {
      const plot = frame(svg, width, height, timeAxis(width), { scale: linear(cores, 4), text: (value) => short(fixed(value, 2)) });
      stack(svg, plot, list, parts);
      hover(svg, plot, list.map((one) => plot.px(middle(one))), (index) => [[at(list[index])]]
        .concat(parts.map(([name, color, value]) => [name, fixed(value(list[index]), 2), color])));
    },
    heads: ["Second"].concat(parts.map(([name]) => name)),
    rows: () => list.map((one) => [one.end_seconds].concat(parts.map(([, , value]) => [value(one), fixed(value(one), 2)]))),
  });
}

function outcomeChart(parent) {
  const parts = [["errors", "var(--bad)"], ["timeouts", colors[1]], ["lost", colors[3]], ["reconnects", colors[2]]]
    .map(([name, color]) => [name, color, (one) => one[name] || 0]);
  const all = (one) => parts.reduce((sum, [, , value]) => sum + value(one), 0);
  const outcomes = run.outcomes || {};
  chart(parent, "outcomes", {
    title: "Failures over time" + ofFirst, legend: parts,
    note: `Of ${count(outcomes.sent || 0)} operations ${count(outcomes.ok || 0)} succeeded; here are the others, warm-up included, and connections opened again.`,
    draw(svg, width, height) {
      const most = Math.max(4, ...seconds.map(all));
      const plot = frame(svg, width, height, timeAxis(width), { scale: linear(most), text: (value) => short(rate(value)) });
      shadeWarmup(svg, plot);
      stack(svg, plot, seconds, parts);
      if (!seconds.some(all)) {
        add(svg, "text", { class: "empty", x: (plot.left + plot.right) / 2, y: (plot.top + plot.bottom) / 2, "text-anchor": "middle" }, "Nothing failed.");
      }
      hover(svg, plot, seconds.map((one) => plot.px(middle(one))), (index) => [[at(seconds[index])]]
        .concat(parts.map(([name, color, value]) => [name, count(value(seconds[index])), color])));
    },
    heads: ["Second"].concat(parts.map(([name]) => name)),
    rows: () => seconds.map((one) => [one.end_seconds].concat(parts.map(([, , value]) => value(one)))),
  });
}
const open = (run.config || {}).loop === "open";
const spectra = (one) => ((one.charts || {}).measures || {});
const measureNames = { response: "response", service: "service", slip: "generator slip" };

/* The curves of the percentile charts: measures of one run, or the response of several. */
function curves() {
  if (overlaid) return runs.map((one, index) => [nameOf(one, index), colors[index % 6], spectra(one).response || spectra(one).service])
    .filter(([, , measure]) => measure);
  return Object.keys(measureNames).filter((name) => spectra(run)[name])
    .filter((name) => open || name === "service")
    .map((name, index) => [open ? measureNames[name] : "response = service", colors[index], spectra(run)[name]]);
}

function spectrumChart(parent) {
  const list = curves();
  const deepest = Math.max(2, ...list.map(([, , measure]) => Math.log10(measure.count)));
  const depth = (percentile) => Math.min(deepest, Math.log10(1 / Math.max(1 - percentile / 100, 1e-12)));
  chart(parent, "spectrum", {
    title: "Latency by percentile", legend: list,
    note: "Each step to the right is ten times rarer. " + (open && !overlaid
      ? "Response counts from the intended start, service from the send; the gap is waiting that closed-loop tools do not show." : ""),
    draw(svg, width, height) {
      const points = list.flatMap(([, , measure]) => measure.spectrum);
      const marks = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999].filter((mark) => depth(mark) < deepest);
      const values = points.map(([, ms]) => ms).filter((ms) => ms > 0);
      const scale = logarithmic(Math.min(...values, 1e3) * 0.85, Math.max(...values, 1e-3) * 1.1);
      const plot = frame(svg, width, height,
        { scale: { ticks: marks.map(depth), place: (value) => value / deepest }, room: 60,
          text: (value) => short((100 - 100 / 10 ** value).toFixed(4)) + "%" },
        { scale, text: time });
      for (const level of levels) if (level.ms) levelLine(svg, plot, level.ms, level.text);
      list.forEach(([, color, measure]) => add(svg, "path", { class: "curve", stroke: color,
        d: line(measure.spectrum.map(([percentile, ms]) => [plot.px(depth(percentile)), plot.py(ms)])) }));
      const longest = list.reduce((best, one) => one[2].spectrum.length > best[2].spectrum.length ? one : best, list[0]);
      if (longest) hover(svg, plot, longest[2].spectrum.map(([percentile]) => plot.px(depth(percentile))), (index) => {
        const percentile = longest[2].spectrum[index][0];
        const value = (measure) => (measure.spectrum.find(([other]) => other >= percentile) || measure.spectrum[measure.spectrum.length - 1])[1];
        return [[`${short(percentile.toFixed(4))}%`]].concat(list.map(([name, color, measure]) => [name, time(value(measure)), color]));
      });
    },
    heads: ["Percentile"].concat(list.map(([name]) => name)),
    rows: () => [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100].map((level) =>
      [level].concat(list.map(([, , measure]) => {
        const found = measure.spectrum.find(([other]) => other >= level - 1e-9) || measure.spectrum[measure.spectrum.length - 1];
        return [found[1], time(found[1])];
      }))),
  });
}

/* Bucket number i of a whole run begins at 2^(i/16) ns. */
const fineStart = (number) => 2 ** (number / 16) / 1e6;
function spreadChart(parent) {
  const list = curves().filter(([name]) => name !== measureNames.slip).slice(0, overlaid ? 6 : 1);
  const modes = overlaid ? [] : list.flatMap(([, , measure]) => measure.modes || []);
  const sums = list.map(([, , measure]) => measure.counts.reduce((sum, hits) => sum + hits, 0));
  chart(parent, "spread", {
    title: "Distribution", legend: list,
    note: modes.length ? (modes.length === 1 ? "One mode: " : `${modes.length} modes: `)
      + modes.map((mode) => `${time(mode.ms)} (${percent(mode.share, 0)})`).join(", ") + "." : "Share of requests by latency.",
    draw(svg, width, height) {
      const lows = list.map(([, , measure]) => measure.first), highs = list.map(([, , measure]) => measure.first + measure.counts.length);
      const low = Math.min(...lows), high = Math.max(...highs, low + 8);
      const most = Math.max(0.01, ...list.map(([, , measure], index) => Math.max(...measure.counts) / sums[index]));
      const plot = frame(svg, width, height, { scale: logarithmic(fineStart(low), fineStart(high)), text: time, room: 60 },
        { scale: linear(most), text: (value) => short(percent(value)) });
      list.forEach(([, color, measure], index) => {
        const edge = [[plot.px(fineStart(measure.first)), plot.bottom]];
        measure.counts.forEach((hits, offset) => {
          const y = plot.py(hits / sums[index]);
          edge.push([plot.px(fineStart(measure.first + offset)), y], [plot.px(fineStart(measure.first + offset + 1)), y]);
        });
        edge.push([plot.px(fineStart(measure.first + measure.counts.length)), plot.bottom]);
        add(svg, "path", { d: line(edge) + "Z", fill: color, "fill-opacity": list.length > 1 ? 0.25 : 0.75 });
        if (list.length > 1) add(svg, "path", { class: "curve", stroke: color, d: line(edge) });
      });
      for (const mode of modes) {
        const x = plot.px(mode.ms);
        add(svg, "line", { class: "cursor", x1: x, x2: x, y1: plot.top, y2: plot.bottom });
        const isLate = x > plot.right - 60;
        add(svg, "text", { x: isLate ? x - 5 : x + 5, y: plot.top + 12, "text-anchor": isLate ? "end" : "start" }, time(mode.ms));
      }
      const places = [];
      for (let number = low; number < high; number += 1) places.push(plot.px(fineStart(number + 0.5)));
      hover(svg, plot, places, (index) => [[`${time(fineStart(low + index))} – ${time(fineStart(low + index + 1))}`]]
        .concat(list.map(([name, color, measure], place) => {
          const hits = measure.counts[low + index - measure.first] || 0;
          return [name, `${count(hits)} (${percent(hits / sums[place], 2)})`, color];
        })));
    },
    heads: ["From"].concat(list.map(([name]) => name)),
    rows: () => list.length ? list[0][2].counts.map((hits, offset) => {
      const from = fineStart(list[0][2].first + offset);
      return [[from, time(from)]].concat(list.map(([, , measure]) => measure.counts[list[0][2].first + offset - measure.first] || 0));
    }) : [],
  });
}

/* Where the time goes: the mean in slip and service, and of the service's median its own part, by its own clock. */
function decomposition(one, name) {
  const measures = spectra(one), rows = [];
  if (!measures.service) return rows;
  rows.push([name ? name + ", mean" : "mean", (measures.slip ? [["generator slip", measures.slip.mean]] : []).concat([["service time", measures.service.mean]])]);
  const calls = (one.server_times_ms || {}).calls || {};
  for (const [method, operation] of [["cast_vote", "vote"], ["batch_cast_votes", "vote"], ["list_posts", "list"], ["get_post", "get"]]) {
    const whole = (((one.ops || {})[operation] || {}).service_ms || {}).p50, inside = (calls[method] || {}).p50;
    if (!known(whole) || !known(inside)) continue;
    rows.push([`${name ? name + ", " : ""}${operation} p50`, [["on the way", Math.max(0, whole - inside)], ["in the server", Math.min(inside, whole)]]]);
  }
  return rows;
}
function decompositionChart(parent) {
  const rows = runs.flatMap((one, index) => decomposition(one, overlaid ? nameOf(one, index) : ""));
  const names = [...new Set(rows.flatMap(([, parts]) => parts.map(([name]) => name)))];
  const color = (name) => colors[names.indexOf(name) % 6];
  chart(parent, "decomposition", {
    title: "Where the time goes", legend: names.map((name) => [name, color(name)]), height: Math.max(74, 26 + rows.length * 44) + 26,
    note: "The mean of a request, and where the service told its own times, the median of a call.",
    draw(svg, width, height) {
      const whole = (parts) => parts.reduce((sum, [, ms]) => sum + ms, 0);
      const most = Math.max(1e-6, ...rows.map(([, parts]) => whole(parts)));
      const left = rows.length > 1 ? Math.max(...rows.map(([name]) => name.length)) * 6.6 + 10 : 0, right = width - 74;
      rows.forEach(([name, parts], index) => {
        const y = 12 + index * 44;
        if (left) add(svg, "text", { x: 0, y: y + 19 }, name);
        let x = left;
        for (const [part, ms] of parts) {
          const wide = ms / most * (right - left);
          const bar = add(svg, "rect", { x, y, width: Math.max(1, wide), height: 28, rx: 3, fill: color(part), "fill-opacity": 0.85 });
          bar.addEventListener("pointermove", (event) => showTip(event,
            [[part], ["mean", time(ms)], ["share", percent(ms / whole(parts))]]));
          bar.addEventListener("pointerleave", () => { tip.style.display = "none"; });
          if (wide > 110) add(svg, "text", { x: x + 9, y: y + 18, style: "fill: var(--card)" }, `${part} ${time(ms)}`);
          x += wide;
        }
        add(svg, "text", { x: x + 8, y: y + 18 }, time(whole(parts)));
      });
    },
    heads: ["Run"].concat(names),
    rows: () => rows.map(([name, parts]) => [name].concat(names.map((part) => {
      const found = parts.find(([other]) => other === part);
      return found ? [found[1], time(found[1])] : "–";
    }))),
  });
}
function searchChart(parent) {
  const series = run.series, capacity = series.capacity_per_second;
  const list = series.runs.map((one) => ({ phase: one.phase, rate: one.offered_per_second ?? one.per_second, level: one.p99_ms, outcome: one.outcome }))
    .filter((one) => known(one.rate) && known(one.level));
  const color = (one) => one.outcome === "passed" ? "var(--good)" : one.outcome === "failed" ? "var(--bad)" : known(one.outcome) ? "var(--warn)" : colors[0];
  const kinds = [...new Map(list.map((one) => [one.outcome || one.phase, color(one)]))];
  chart(parent, "search", {
    title: { search: "Search for the capacity", steps: "Step by step", runs: "Run by run" }[series.kind] || "Runs", wide: true, legend: kinds, height: 262,
    note: "A point is a run: its rate, and the 99th percentile of the response time."
      + (series.goal ? ` The goal is ${series.goal}.` : "") + (series.generator_limit ? " The generator, and not the service, was the limit." : ""),
    draw(svg, width, height) {
      const levels99 = list.map((one) => one.level).concat(levels.filter((level) => level.ms).map((level) => level.ms));
      const plot = frame(svg, width, height,
        { scale: linear(Math.max(1, ...list.map((one) => one.rate)) * 1.03, 6), text: (value) => rate(value) + "/s", room: 80 },
        { scale: logarithmic(Math.min(...levels99, 1e3) * 0.7, Math.max(...levels99, 1e-3) * 1.4), text: time });
      for (const level of levels) if (level.ms) levelLine(svg, plot, level.ms, level.text);
      const curve = list.filter((one) => one.phase === "curve" || series.kind === "steps").sort((one, two) => one.rate - two.rate);
      if (curve.length > 1) {
        add(svg, "path", { class: "curve", stroke: "var(--faint)", d: line(curve.map((one) => [plot.px(one.rate), plot.py(one.level)])) });
      }
      if (known(capacity)) {
        const x = plot.px(capacity);
        add(svg, "line", { class: "cursor", x1: x, x2: x, y1: plot.top, y2: plot.bottom });
        add(svg, "text", { x: x - 6, y: plot.top + 12, "text-anchor": "end" }, `capacity ${rate(capacity)}/s`);
      }
      for (const one of list) {
        const point = add(svg, "circle", { cx: plot.px(one.rate), cy: plot.py(one.level), r: 5.5,
          fill: color(one), "fill-opacity": 0.75, stroke: "var(--card)" });
        point.addEventListener("pointermove", (event) => showTip(event, [[one.phase || "trial"], ["offered", rate(one.rate) + "/s"],
          ["p99", time(one.level)], ["outcome", one.outcome || "–"]]));
        point.addEventListener("pointerleave", () => { tip.style.display = "none"; });
      }
    },
    heads: ["Run", "Phase", "Rate", "p99", "Outcome"],
    rows: () => list.map((one, index) => [index + 1, one.phase || "–", [one.rate, rate(one.rate)], [one.level, time(one.level)], one.outcome || "–"]),
  });
}

/* Each pair is a dot at its ratio of B to A; A against itself shows what the machine's noise does. */
function pairChart(parent) {
  const ab = run.ab, pairs = ab.pairs || [];
  const of = (key) => (pair) => known(pair.a[key]) && known(pair.b[key]) && pair.a[key] > 0 ? pair.b[key] / pair.a[key] : null;
  const lanes = [["throughput", ab.throughput, of("per_second")], ["server CPU", ab.server_cpu, of("server_seconds_per_million")],
    ["response p99", ab.response_p99_ms, of("response_p99_ms")]].filter(([, figure, value]) => figure && pairs.some((pair) => value(pair)));
  const kinds = [["B ÷ A", colors[0]], ["A ÷ A, the control", "var(--faint)"], ["estimate, 95%", colors[1]]];
  const tainted = (pair) => pair.a.tainted || pair.b.tainted;
  chart(parent, "pairs", {
    title: "B beside A, pair by pair", wide: true, legend: kinds, height: 40 + lanes.length * 104,
    note: "A point is a pair of slices: the figure of B ÷ that of A. The shaded band is the interval of the control; pale points had others on the machine.",
    draw(svg, width, height) {
      const values = lanes.flatMap(([, figure, value]) => pairs.map(value).concat(figure.ratio_ci95 || [], figure.aa_ratio_ci95 || []))
        .filter((value) => value > 0);
      const far = Math.max(0.02, ...values.map((value) => Math.abs(Math.log(value)))) * 1.1;
      const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((part) => 2 * far / part <= width / 90) || 1;
      const first = Math.ceil(Math.exp(-far) / step);
      const marks = Array.from({ length: 1 + Math.floor(Math.exp(far) / step) - first }, (_, index) => (first + index) * step);
      const scale = { place: (value) => (Math.log(value) + far) / (2 * far), ticks: marks };
      const plot = frame(svg, width, height, { scale, text: (value) => fixed(value, 2) },
        { scale: { ticks: [], place: (value) => value }, text: String });
      lanes.forEach(([name, figure, value], lane) => {
        const top = plot.top + lane * 104, middle = top + 58, { ratio, ratio_ci95: ci, aa_ratio_ci95: control } = figure;
        if (control) add(svg, "rect", { class: "shade", x: plot.px(control[0]), y: top + 22, width: plot.px(control[1]) - plot.px(control[0]), height: 62 });
        add(svg, "text", { x: plot.left, y: top + 12 }, name + (known(ratio) ? ` × ${fixed(ratio, 3)}` : "")
          + (ci ? ` (${fixed(ci[0], 3)} to ${fixed(ci[1], 3)})` : "") + (figure.verdict ? `: ${figure.verdict}` : ""));
        pairs.forEach((pair, index) => {
          if (!known(value(pair))) return;
          const point = add(svg, "circle", { cx: plot.px(value(pair)), cy: middle - 22 + (index * 17) % 30, r: 4.5,
            fill: pair.control ? "var(--faint)" : colors[0], "fill-opacity": tainted(pair) ? 0.25 : 0.75 });
          point.addEventListener("pointermove", (event) => showTip(event, [[`pair ${index + 1}`],
            [pair.control ? "A ÷ A" : "B ÷ A", fixed(value(pair), 3)], ["others on the machine", tainted(pair) ? "yes" : "no"]]));
          point.addEventListener("pointerleave", () => { tip.style.display = "none"; });
        });
        if (ci) add(svg, "rect", { x: plot.px(ci[0]), y: middle + 20, width: Math.max(2, plot.px(ci[1]) - plot.px(ci[0])), height: 6, rx: 3, fill: colors[1] });
        if (known(ratio)) add(svg, "circle", { cx: plot.px(ratio), cy: middle + 23, r: 5, fill: colors[1], stroke: "var(--card)" });
      });
      const one = plot.px(1);
      add(svg, "line", { class: "axis", x1: one, x2: one, y1: plot.top, y2: plot.bottom });
    },
    heads: ["Pair", "Kind", "Tainted"].concat(lanes.map(([name]) => name)),
    rows: () => pairs.map((pair, index) => [index + 1, pair.control ? "control" : "pair", tainted(pair) ? "yes" : "no"]
      .concat(lanes.map(([, , value]) => [value(pair) || 0, known(value(pair)) ? fixed(value(pair), 3) : "–"]))),
  });
}
function section(title) {
  add(page, "h2", {}, title);
  return add(page, "main", {});
}
function card(parent, title, note, wide) {
  const made = add(parent, "section", { class: wide ? "card wide" : "card" });
  add(made, "h3", {}, title);
  if (note) add(made, "p", {}, note);
  return made;
}
function facts(parent, pairs) {
  const list = add(parent, "dl", {});
  for (const [name, value] of pairs) {
    if (!known(value) || value === "") continue;
    add(list, "dt", {}, name);
    add(list, "dd", {}, String(value));
  }
}

function banner() {
  if (run.ab) {
    const words = [["throughput", run.ab.throughput], ["server CPU", run.ab.server_cpu]].filter(([, figure]) => figure && figure.verdict);
    const made = add(page, "div", { class: "banner" });
    add(made, "b", {}, "B BESIDE A");
    for (const [name, figure] of words) {
      add(made, "p", {}, `${name}: ${figure.verdict}` + (known(figure.ratio) ? `, B ÷ A ${fixed(figure.ratio, 3)}` : ""));
    }
    return;
  }
  const verdict = run.verdict || {}, audit = run.audit || {}, figures = (verdict.figures || "").toUpperCase();
  const word = audit.passed === false ? "AUDIT FAILED" : verdict.valid ? "VALID" : figures;
  const made = add(page, "div", { class: `banner ${audit.passed === false ? "bad" : verdict.valid ? "good" : "warn"}` });
  add(made, "b", {}, [word, verdict.bound, verdict.contended ? "CONTENDED" : ""].filter(Boolean).join(" · "));
  const reasons = (audit.passed === false ? audit.examples || [] : []).concat(verdict.summary || [], verdict.reasons || []);
  if (run.interrupted) reasons.push("A signal ended the run early.");
  for (const reason of reasons) add(made, "p", {}, reason);
}

function tiles() {
  if (run.ab) return;
  const list = add(page, "ul", { class: "tiles", "aria-label": "Headline" });
  const tile = (name, value, below, mark) => {
    const made = add(list, "li", { class: "tile" });
    add(made, "span", {}, name);
    add(made, "b", mark ? { class: mark } : {}, value);
    add(made, "small", {}, below || "\u00a0");
  };
  const rates = seconds.filter((one) => one.measured && one.seconds > 0.5)
    .map((one) => order.reduce((sum, name) => sum + (one[name] || 0), 0) / one.seconds);
  tile("Throughput", rate(run.per_second), rates.length > 2 ? `op/s, min ${rate(Math.min(...rates))}` : "op/s");
  const measure = spectra(run).response || spectra(run).service;
  const kind = open ? "response" : "closed loop";
  for (const [name, level] of [["p50", 50], ["p99", 99], ["p99.9", 99.9]]) {
    if (!measure || measure.count * (100 - level) / 100 < 9.999) continue;
    const found = measure.spectrum.find(([percentile]) => percentile >= level - 1e-9);
    if (found) tile(name, time(found[1]), kind);
  }
  if (measure) tile("Longest", time(measure.spectrum[measure.spectrum.length - 1][1]), kind);
  const errors = (run.errors || {}).total;
  if (known(errors)) tile("Failed", count(errors), `of ${count((run.outcomes || {}).sent || 0)}`, errors ? "bad" : undefined);
  const cpu = (run.cpu || {}).server_seconds_per_million;
  if (known(cpu)) tile("Server CPU", fixed(cpu, 2), "s per million");
  const audit = run.audit || {};
  if (known(audit.passed)) {
    tile("Audit", audit.passed ? "exact" : "FAILED", `${count(audit.votes_acknowledged || 0)} votes`, audit.passed ? "good" : "bad");
  }
}

function latencyTable(parent) {
  const made = card(parent, "Latency by operation", "Milliseconds. Percentiles with fewer than ten samples beyond them are left out.", true);
  const wanted = (run.config || {}).percentiles || [50, 90, 99, 99.9, 99.99];
  const rows = [];
  runs.forEach((one, index) => order.filter((name) => (one.ops || {})[name]).forEach((name) => {
    for (const [key, measure] of [["response_ms", "response"], ["service_ms", "service"], ["slip_ms", "generator slip"]]) {
      const found = one.ops[name][key];
      if (!found || (one.config.loop !== "open" && key === "response_ms")) continue;
      rows.push([(overlaid ? nameOf(one, index) + " · " : "") + name + (one.config.loop === "open" ? " · " + measure : ""),
        [one.ops[name].count, count(one.ops[name].count)], found.mean || 0]
        .concat(wanted.map((level) => found["p" + String(level).replace(".", "")]), [found.max])
        .map((cell, place) => place < 2 || !known(cell) ? cell ?? "–" : [cell, cell >= 99.95 ? fixed(cell, 0)
          : fixed(cell, cell >= 9.995 ? 1 : cell >= 0.9995 ? 2 : 3)]));
    }
  }));
  table(made, ["Operation", "Count", "mean"].concat(wanted.map((level) => "p" + level), ["max"]), rows);
}

function splitTable(parent) {
  const split = run.latency_split_ms;
  if (!split || !split.sample_count) return;
  const one = !split.other_clock_count, levels = ["mean", "p50", "p90", "p99", "p999", "max"];
  const made = card(parent, "Latency split", `Of ${count(split.sample_count)} calls that the service timed.`
    + (one ? "" : " Its clock is another, so both ways are one part."), true);
  const parts = [["there", "on the way there"], ["execution", "executing"], ["held", "held until durable"], ["back", "on the way back"]];
  if (!one) parts.push(["both_ways", "both ways"]);
  table(made, ["Part", "mean", "p50", "p90", "p99", "p99.9", "max"], parts.filter(([key]) => split[key])
    .map(([key, name]) => [name].concat(levels.map((level) => known(split[key][level]) ? [split[key][level], time(split[key][level])] : "–"))));
}

function auditTable(parent, audit, name) {
  const made = card(parent, name ? `Audit of ${name.toUpperCase()}` : "Audit",
    audit.passed === true ? "Every acknowledged vote counted once, and every page in order."
      : audit.passed === false ? "The service's counts contradict its answers." : `Not done: ${audit.reason || "no word why"}.`);
  if (!known(audit.passed)) return;
  for (const example of audit.examples || []) add(made, "p", { class: "bad-text" }, example);
  const rows = Object.entries(audit.violations || {}).map(([name, hits]) => [name, count(hits)]);
  table(made, ["What", "Count"], rows.concat([
    ["verdict", audit.passed ? "PASS" : "FAIL"], ["votes acknowledged", count(audit.votes_acknowledged)],
    ["votes without an answer", count(audit.votes_unknown)], ["votes answered with an error", count(audit.votes_failed)],
    ["votes that the service counted", count(audit.votes_counted)],
    ["posts exact", `${count(audit.posts_exact)} of ${count(audit.posts)}`],
    ["posts created during the run", count(audit.posts_created)], ["posts listed", count(audit.posts_listed)]]));
}

function levelTable(parent) {
  if (!(run.slo || []).length) return;
  table(card(parent, "Service levels", "What the run was asked to keep."), ["Level", "Measured", "Kept"], run.slo.map((slo) =>
    [slo.text, known(slo.value) ? [slo.value, /^(?:\w+\.)?(?:p[\d.]+|max)/.test(slo.text) ? time(slo.value / 1e6)
      : /^rate/.test(slo.text) ? rate(slo.value) + "/s" : short(fixed(slo.value, 3))] : "–", slo.kept ? "PASS" : "MISS"]));
}

function failureTable(parent) {
  const errors = run.errors || {}, rows = Object.entries(Object.assign({}, errors.causes, errors.server))
    .sort((one, two) => two[1] - one[1]).map(([name, hits]) => [name, count(hits)]);
  if (!rows.length) return;
  const made = card(parent, "Why requests failed", errors.first_protocol_error);
  table(made, ["Cause", "Count"], rows);
}

function comparison(parent) {
  if (!overlaid) return;
  const rows = runs.map((one, index) => {
    const measure = spectra(one).response || spectra(one).service || { spectrum: [[100, 0]] };
    const level = (wanted) => { const found = measure.spectrum.find(([percentile]) => percentile >= wanted) || [0, 0]; return [found[1], time(found[1])]; };
    return [nameOf(one, index), (one.verdict || {}).figures || "–", [one.per_second, rate(one.per_second)], level(50), level(99), level(99.9),
      known((one.cpu || {}).server_seconds_per_million) ? fixed(one.cpu.server_seconds_per_million, 2) : "–",
      (one.audit || {}).passed === true ? "exact" : (one.audit || {}).passed === false ? "FAIL" : "–"];
  });
  table(card(parent, "Runs", "Side by side. The verdict, the tiles and the tables above and below are those of the first.", true),
    ["Run", "Figures", "op/s", "p50", "p99", "p99.9", "CPU-s/M", "Audit"], rows);
}
function setting(parent) {
  const config = run.config || {}, env = run.env || {}, cpu = run.cpu || {}, connections = run.connections || {};
  const left = card(parent, "Load");
  facts(left, [["target", config.target], ["loop", config.rate ? `open, ${rate(config.rate)}/s (${config.arrival})` : "closed"],
    ["clients", `${config.clients} × pipeline ${config.pipeline} (${config.pipeline_mode})`],
    ["batch", config.batch > 1 ? `${config.batch} votes` : null], ["threads", config.threads], ["mix", config.mix],
    ["posts", known(config.posts) ? count(config.posts) : null], ["keys", config.keys + (known(config.hottest_post_share) ? `, hottest post ${percent(config.hottest_post_share)}` : "")],
    ["feed", config.feed], ["seed", config.seed], ["measured", known(run.measured_seconds) ? `${fixed(run.measured_seconds, 2)} s after ${config.warmup_seconds} s`
      : known(config.slice_seconds) ? `${config.rounds} pairs of ${config.slice_seconds} s, ${config.aa} of the control` : null],
    ["connections", run.connections && `${count(connections.opened || 0)} opened, ${count(connections.lost || 0)} lost`]]);
  const right = card(parent, "Machine");
  facts(right, [["processor", env.processor], ["cores", env.cores], ["kernel", env.kernel], ["started", env.start_time],
    ["server", cpu.server ? `${fixed(cpu.server.seconds / run.measured_seconds, 2)} cores, ${percent(cpu.server.busiest_thread_share, 0)} of its busiest thread's` : "not seen"],
    ["generator", cpu.generator ? `${fixed(cpu.generator.seconds / run.measured_seconds, 2)} cores, loop idle ${percent(Math.min(...(cpu.loop_idle_shares || [1])), 0)}` : null],
    ["steal", percent(cpu.steal_share)], ["other programs", percent(cpu.other_share)],
    ["in flight", known(cpu.little_in_flight) ? `${fixed(cpu.little_in_flight, 1)} by Little's law` : null]]);
}

function raw(parent) {
  const made = card(parent, "Again", null, true);
  for (const one of runs) {
    const row = add(made, "div", { class: "row" });
    add(row, "pre", { style: "flex: 1" }, (one.env || {}).command || "");
    const button = add(row, "button", { type: "button" }, "Copy command");
    button.addEventListener("click", () => navigator.clipboard.writeText((one.env || {}).command || "")
      .then(() => { button.textContent = "Copied"; }));
  }
  const details = add(made, "details", {});
  add(details, "summary", {}, "Data as JSON");
  details.addEventListener("toggle", () => {
    if (!details.querySelector("pre")) add(details, "pre", { class: "scroll" }, JSON.stringify({ runs }, null, 1));
  });
}
const header = add(page, "header", {});
add(header, "h1", {}, "loadgen");
add(header, "p", { class: "where" }, [(run.config || {}).target || [(run.config || {}).target_a, (run.config || {}).target_b].filter(Boolean).join(" and "), (run.config || {}).mix, (run.env || {}).start_time,
  overlaid ? `${runs.length} runs` : run.merged ? `${run.merged} generators merged` : ""].filter(Boolean).join("  ·  "));
banner();
tiles();
if (overlaid) comparison(section("Comparison"));
const isSeries = run.series && run.series.runs.length;
const comparisons = isSeries || run.ab ? section(run.ab ? "Two services" : "All runs") : null;
if (isSeries) searchChart(comparisons);
if (run.ab) pairChart(comparisons);
if (seconds.length) {
  const over = section("Over time");
  throughputChart(over);
  latencyChart(over);
  heatChart(over);
  if (seconds.some((one) => one.cpu)) processorChart(over);
  outcomeChart(over);
}
if (curves().length) {
  const spread = section("Latency");
  spectrumChart(spread);
  spreadChart(spread);
  decompositionChart(spread);
  levelTable(spread);
  latencyTable(spread);
  splitTable(spread);
}
const truth = section("Correctness");
for (const [name, audit] of Object.entries(run.audits || { "": run.audit || {} })) auditTable(truth, audit, name);
failureTable(truth);
setting(section("Setting"));
raw(section("Reproduce"));
add(page, "footer", {}, "Made by loadgen. Histograms of all threads are added, never percentiles averaged. This file needs no network.");

let drawnFor = 0;
function drawAll() {
  if (drawnFor === page.clientWidth) return;
  drawnFor = page.clientWidth;
  for (const draw of charts) draw();
}
drawAll();
window.addEventListener("resize", drawAll);
page.dataset.state = "ready";
