extension ReportPage {
    /// The charts of throughput and latencies over time.
    static let timeCharts = #"""
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
        """#
}
