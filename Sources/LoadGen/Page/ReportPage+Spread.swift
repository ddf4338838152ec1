extension ReportPage {
    /// The charts of latencies over the whole run.
    static let spreadCharts = #"""
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
        """#
}
