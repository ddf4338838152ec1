extension ReportPage {
    /// What was asked for, where, and how to do it again.
    static let settings = #"""
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
        """#

    /// The order of all parts.
    static let main = #"""
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
        """#
}
