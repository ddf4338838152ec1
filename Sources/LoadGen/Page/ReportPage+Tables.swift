extension ReportPage {
    /// The verdict, the tiles and the tables.
    static let tables = #"""
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
        """#
}
