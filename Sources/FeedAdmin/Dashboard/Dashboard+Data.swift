extension Dashboard {
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
}
