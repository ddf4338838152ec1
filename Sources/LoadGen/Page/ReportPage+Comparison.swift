extension ReportPage {
    /// The charts of a search and of a comparison of two services.
    static let comparisonCharts = #"""
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
        """#
}
