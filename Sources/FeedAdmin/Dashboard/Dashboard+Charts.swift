extension Dashboard {
    /// The script's drawing: tiles, lines and the table of errors.
    static let charts = #"""
        /* Title, column, kind, and the values from which on a tile is yellow and red, as the alerts have
           them; falling values where the first is the greater one. */
        const tiles = [
          ["Votes a second", "votes_per_second", "count"],
          ["Vote, 99 %", "vote_p99_seconds", "seconds", 0.1, 0.25],
          ["Commit, 99 %", "commit_p99_seconds", "seconds", 0.05, 0.1],
          ["Oldest held answer", "oldest_held_seconds", "seconds", 1, 5],
          ["Checkpoint lag", "checkpoint_lag_bytes", "bytes", 83886080, 167772160],
          ["Disk free", "disk_free_bytes", "bytes", 2147483648, 1073741824],
          ["Busiest loop", "busy_share", "share", 0.7, 0.9],
          ["Last backup", "backup_age_seconds", "age", 93600, 108000],
          ["Connections", "connections", "count"],
        ];
        const plots = [
          ["Votes and other calls a second", "count", [
            ["votes", "votes_per_second"], ["other calls", "calls_per_second"],
            ["errors", "errors_per_second"]]],
          ["Time of votes", "seconds", [
            ["median", "vote_p50_seconds"], ["99 %", "vote_p99_seconds"],
            ["longest", "vote_max_seconds"]]],
          ["Time of other calls, and of holding answers", "seconds", [
            ["other calls, 99 %", "call_p99_seconds"], ["held, 99 %", "held_p99_seconds"]]],
          ["Time of commits", "seconds", [
            ["median", "commit_p50_seconds"], ["99 %", "commit_p99_seconds"]]],
          ["Checkpoint lag", "bytes", [
            ["waits", "checkpoint_lag_bytes"], ["refuses changes", "checkpoint_lag_limit_bytes"]]],
          ["Disk", "bytes", [["free", "disk_free_bytes"], ["journal", "journal_bytes"]]],
          ["Memory", "bytes", [
            ["process", "resident_bytes"], ["held for clients", "buffered_bytes"]]],
          ["Busiest loop", "share", [["busy", "busy_share"]]],
          ["Connections", "count", [["open", "connections"]]],
        ];
        const width = 360, height = 170, left = 52, below = 18, above = 6;

        function element(parent, name, attributes, line) {
          const made = parent.namespaceURI.endsWith("svg") || name === "svg"
            ? document.createElementNS("http://www.w3.org/2000/svg", name)
            : document.createElement(name);
          for (const key in attributes) made.setAttribute(key, attributes[key]);
          if (line !== undefined) made.textContent = line;
          parent.appendChild(made);
          return made;
        }

        /* A round number at or above the value, in steps of 1, 2 and 5 of the unit's base. */
        function roundUp(value, kind) {
          if (!(value > 0)) return 1;
          if (kind === "share") return 1;
          const base = kind === "bytes" ? 1024 ** Math.floor(Math.log(value) / Math.log(1024)) : 1;
          const ten = base * 10 ** Math.floor(Math.log10(value / base));
          return [1, 2, 5, 10].map((step) => step * ten).find((step) => step >= value);
        }

        /* Rows of a range, as many as there are pixels: of each group the largest value. */
        function points(place, since) {
          const rows = state.rows.filter((row) => row[0] >= since && row[place] !== null);
          const group = Math.max(1, Math.ceil(rows.length / width));
          const result = [];
          for (let first = 0; first < rows.length; first += group) {
            const part = rows.slice(first, first + group);
            result.push([part[0][0], Math.max(...part.map((row) => row[place]))]);
          }
          return result;
        }

        function clock(milliseconds) { return new Date(milliseconds).toLocaleTimeString(); }

        /* The top of an axis. A spike of a few points does not flatten the others: it is cut off. */
        function topOf(values, kind) {
          const most = Math.max(0, ...values);
          if (kind !== "seconds" || values.length < 20) return roundUp(most, kind);
          const sorted = [...values].sort((one, other) => one - other);
          const usual = sorted[Math.floor(sorted.length * 0.95)];
          return roundUp(usual > 0 ? Math.min(most, 3 * usual) : most, kind);
        }

        function level(value, warn, bad) {
          if (warn === undefined || value === null || value === undefined) return "";
          const passes = (limit) => warn < bad ? value >= limit : value <= limit;
          return passes(bad) ? "bad" : passes(warn) ? "warn" : "good";
        }

        function drawPlot(figure, kind, lines, hover) {
          const svg = figure.querySelector("svg"), legend = figure.querySelector(".legend");
          svg.replaceChildren();
          legend.replaceChildren();
          const last = state.rows.length ? state.rows[state.rows.length - 1][0] : Date.now();
          const since = last - state.range * 1000;
          const all = lines.map(([, name]) => points(column(name), since));
          const most = topOf(all.flat().map((point) => point[1]), kind);
          const x = (time) => left + (time - since) / (last - since) * (width - left - 4);
          const y = (value) =>
            above + (1 - Math.min(1, value / most)) * (height - above - below);
          for (const part of [0, 0.5, 1]) {
            const place = y(most * part);
            element(svg, "line", { x1: left, x2: width, y1: place, y2: place });
            element(svg, "text", { x: left - 6, y: place + 4, "text-anchor": "end" },
                    text(most * part, kind));
          }
          for (const [part, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
            element(svg, "text", {
              x: left + part * (width - left), y: height - 3, "text-anchor": anchor,
            }, clock(since + part * (last - since)));
          }
          let drawn = 0;
          lines.forEach(([label, name], number) => {
            const line = all[number], color = "abc"[number];
            if (line.length > 1) {
              const path = line.map((point) => x(point[0]).toFixed(1) + " " + y(point[1]).toFixed(1));
              element(svg, "path", { d: "M" + path.join("L"), class: color });
              drawn += line.length;
            }
            const at = hover === null ? null : since + hover * (last - since);
            const near = at === null ? null : line.reduce((best, point) =>
              best && Math.abs(best[0] - at) < Math.abs(point[0] - at) ? best : point, null);
            const entry = element(legend, "span", {});
            element(entry, "i", { class: color });
            entry.append(label + " ");
            element(entry, "b", {}, text(near ? near[1] : newest(name), kind));
            if (near && number === 0) {
              element(svg, "line", { x1: x(near[0]), x2: x(near[0]), y1: above, y2: height - below });
              const ago = element(legend, "span", { class: "ago" });
              ago.textContent = clock(near[0]);
            }
          });
          figure.querySelector(".empty").hidden = drawn > 0;
          figure.dataset.drawn = drawn;
        }

        const redraws = plots.map(([title, kind, lines]) => {
          const figure = element(byId("charts"), "figure", {});
          element(figure, "h2", {}, title);
          const svg = element(figure, "svg", {
            viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": title });
          element(figure, "div", { class: "legend" });
          element(figure, "p", { class: "empty" }, "no values");
          let hover = null;
          const redraw = () => drawPlot(figure, kind, lines, hover);
          svg.addEventListener("pointermove", (event) => {
            const box = svg.getBoundingClientRect();
            const scale = Math.min(box.width / width, box.height / height);
            const start = box.left + (box.width - width * scale) / 2 + left * scale;
            hover = Math.min(1, Math.max(0,
              (event.clientX - start) / ((width - left - 4) * scale)));
            redraw();
          });
          svg.addEventListener("pointerleave", () => { hover = null; redraw(); });
          return redraw;
        });

        function drawErrors() {
          const table = byId("errors"), before = state.errorLog[0];
          table.replaceChildren();
          for (const [reason, count] of state.errors) {
            const row = element(table, "tr", {});
            element(row, "td", {}, reason);
            element(row, "td", {}, text(count, "count"));
            element(row, "td", {}, text(count - ((before && before[1].get(reason)) || 0), "count"));
          }
          if (!state.errors.length) element(element(table, "tr", {}), "td", { colspan: 3 }, "none");
        }

        function draw() {
          byId("facts").textContent = state.facts.join(" · ");
          byId("tiles").replaceChildren();
          for (const [title, name, kind, warn, bad] of tiles) {
            const tile = element(byId("tiles"), "li", {
              "data-level": level(newest(name), warn, bad) });
            element(tile, "span", {}, title);
            element(tile, "b", {}, text(newest(name), kind));
          }
          for (const redraw of redraws) redraw();
          drawErrors();
        }

        for (const button of document.querySelectorAll("nav button")) {
          button.addEventListener("click", () => {
            state.range = Number(button.dataset.seconds);
            for (const other of document.querySelectorAll("nav button")) {
              other.setAttribute("aria-pressed", String(other === button));
            }
            draw();
          });
        }
        draw();
        read();
        """#
}
