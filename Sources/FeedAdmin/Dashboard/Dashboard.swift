/// The dashboard: one page that loads nothing but its own service's `/history`.
///
/// `dashboard.html` is compiled into the program, which stays a single file.
package enum Dashboard {
    /// The page as it is sent.
    package static var page: [UInt8] { PackageResources.dashboard_html }
}

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

    /// The script's data: what it reads each second, and how numbers are written.
    static let data = #"""
        "use strict";
        const hour = 3600;
        const state = {
          columns: [], rows: [], next: -1, facts: [], errors: [], errorLog: [], range: 300,
        };

        window.addEventListener("error", () => {
          document.body.dataset.errors = Number(document.body.dataset.errors) + 1;
        });

        function byId(id) { return document.getElementById(id); }

        function scaled(value, step, units) {
          let unit = 0;
          while (Math.abs(value) >= step && unit < units.length - 1) { value /= step; unit += 1; }
          const digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
          const space = units[unit] ? "\u00a0" : "";
          return value.toFixed(digits).replace(/\.0+$/, "") + space + units[unit];
        }

        const write = {
          count: (value) => scaled(value, 1000, ["", "k", "M", "G"]),
          seconds: (value) => value >= 1 ? scaled(value, 1e9, ["s"])
            : scaled(value * 1e6, 1000, ["µs", "ms", "s"]),
          bytes: (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]),
          share: (value) => scaled(value * 100, 1e9, ["%"]),
          age: (value) => value < 120 ? Math.round(value) + "\u00a0s"
            : value < 7200 ? Math.round(value / 60) + "\u00a0min"
            : value < 172800 ? Math.round(value / 3600) + "\u00a0h"
            : Math.round(value / 86400) + "\u00a0days",
        };

        function text(value, kind) {
          return value === null || value === undefined ? "–" : write[kind](value);
        }

        function column(name) { return state.columns.indexOf(name) + 1; }

        /* The newest value of a column. */
        function newest(name) {
          const row = state.rows[state.rows.length - 1];
          return row ? row[column(name)] : null;
        }

        function take(answer) {
          if (answer.next < state.next) state.rows = [];
          state.columns = answer.columns;
          state.rows = state.rows.concat(answer.rows).slice(-hour);
          state.next = answer.next;
          state.facts = answer.facts;
          state.errors = answer.errors;
          const now = Date.now();
          state.errorLog.push([now, new Map(answer.errors)]);
          while (state.errorLog.length > 1 && now - state.errorLog[0][0] > 60000) {
            state.errorLog.shift();
          }
          show(answer.causes.length ? "bad" : "ready",
               answer.causes.length ? "not ready: " + answer.causes.join("; ") : "ready");
        }

        function show(kind, line) {
          document.body.dataset.state = kind;
          byId("state").textContent = line;
        }

        async function read() {
          let wait = 1000;
          try {
            const answer = await fetch("/history?after=" + (state.next - 1));
            if (!answer.ok) throw new Error("status " + answer.status);
            take(await answer.json());
            draw();
          } catch (problem) {
            show("bad", "no answer from the service: " + problem.message);
            wait = 3000;
          }
          setTimeout(read, wait);
        }
        """#

    /// The looks: light and dark as the reader's system has it, one column on a phone.
    static let style = #"""
        <style>
        :root {
          color-scheme: light dark;
          --page: #f6f7f9; --card: #ffffff; --text: #16191d; --quiet: #5d6671; --line: #dfe3e8;
          --a: #2563c9; --b: #c2410c; --c: #0f766e; --good: #15803d; --warn: #a16207; --bad: #b91c1c;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #101317; --card: #181c22; --text: #e7eaee; --quiet: #98a2ae; --line: #2b323b;
            --a: #6ea4ff; --b: #fb923c; --c: #4fd1c0; --good: #4ade80; --warn: #facc15; --bad: #f87171;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 16px; max-width: 1280px; background: var(--page);
          color: var(--text); font: 15px/1.45 system-ui, sans-serif;
        }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; }
        h1 { font-size: 20px; margin: 0; }
        h2 { font-size: 14px; font-weight: 600; margin: 0 0 4px; }
        #state { margin: 0; flex: 1; color: var(--quiet); }
        [data-state="ready"] #state { color: var(--good); }
        [data-state="bad"] #state { color: var(--bad); font-weight: 600; }
        #facts { margin: 8px 0 0; color: var(--quiet); font-size: 13px; }
        nav { display: flex; gap: 4px; }
        button {
          font: inherit; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px;
          background: var(--card); color: var(--quiet); cursor: pointer;
        }
        button[aria-pressed="true"] { color: var(--text); border-color: var(--a); }
        #tiles {
          list-style: none; margin: 16px 0; padding: 0; display: grid; gap: 8px;
          grid-template-columns: repeat(auto-fit, minmax(130px, 1fr));
        }
        #tiles li, section, figure {
          background: var(--card); border: 1px solid var(--line); border-radius: 10px;
          padding: 12px; margin: 0;
        }
        #tiles span { display: block; color: var(--quiet); font-size: 13px; }
        #tiles b { font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
        #tiles [data-level="warn"] { border-color: var(--warn); }
        #tiles [data-level="warn"] b { color: var(--warn); }
        #tiles [data-level="bad"] { border-color: var(--bad); }
        #tiles [data-level="bad"] b { color: var(--bad); }
        main {
          display: grid; gap: 12px; margin-bottom: 12px;
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr));
        }
        figure { position: relative; }
        svg { display: block; width: 100%; height: 170px; touch-action: pan-y; }
        svg text { fill: var(--quiet); font-size: 11px; font-variant-numeric: tabular-nums; }
        svg line { stroke: var(--line); }
        svg path { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .a { stroke: var(--a); border-color: var(--a); }
        .b { stroke: var(--b); border-color: var(--b); }
        .c { stroke: var(--c); border-color: var(--c); }
        .legend {
          display: flex; flex-wrap: wrap; gap: 2px 14px; color: var(--quiet); font-size: 13px;
          min-height: 38px; align-content: flex-start;
        }
        .legend i {
          display: inline-block; width: 12px; border-top-width: 3px; border-top-style: solid; margin-right: 5px;
          vertical-align: middle;
        }
        .legend b { color: var(--text); font-weight: 600; font-variant-numeric: tabular-nums; }
        .empty { position: absolute; inset: 45% 0 auto; text-align: center; color: var(--quiet); }
        table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th { text-align: left; color: var(--quiet); font-weight: 500; font-size: 13px; }
        th, td { padding: 5px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        th + th, td + td { text-align: right; padding-left: 12px; }
        footer { margin: 16px 0; color: var(--quiet); font-size: 13px; }
        a { color: var(--a); }
        </style>
        """#
}
