extension ReportPage {
    /// What all charts are: a title, a drawing and a table that can be sorted.
    static let charts = #"""
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
        """#

    /// The charts of processors and failures over time.
    static let processorCharts = #"""
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
        """#
}
