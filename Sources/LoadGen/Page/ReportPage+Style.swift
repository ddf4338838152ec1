extension ReportPage {
    /// The looks: light and dark as the reader's system has it, one column on a phone, plain on paper.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --page: #f4f5f7; --card: #ffffff; --text: #15181c; --quiet: #5a6370; --faint: #8a939f;
          --line: #e1e5ea; --grid: #eceff3; --shade: #f1f3f6;
          --c1: #2563c9; --c2: #c2570c; --c3: #0f8074; --c4: #8b3fb8; --c5: #a16207; --c6: #c02660;
          --good: #15803d; --bad: #c22323; --warn: #a35b00;
          --good-soft: #e9f6ee; --bad-soft: #fdeded; --warn-soft: #fdf3e3;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0f1215; --card: #171b20; --text: #e8ebef; --quiet: #9aa4b0; --faint: #6d7783;
            --line: #2a3139; --grid: #222930; --shade: #1d2329;
            --c1: #6aa3ff; --c2: #fb9a4b; --c3: #46cdb9; --c4: #c795f0; --c5: #e0b84c; --c6: #f881a9;
            --good: #4ade80; --bad: #fb7b7b; --warn: #f5b755;
            --good-soft: #14261b; --bad-soft: #2d1719; --warn-soft: #2a2112;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 28px 24px 48px; max-width: 1180px; background: var(--page);
          color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
        }
        h1, h2, h3, p, figure, dl, dd, ul { margin: 0; padding: 0; }
        h1 { font-size: 22px; font-weight: 650; letter-spacing: -0.01em; }
        h2 {
          font-size: 12px; font-weight: 600; letter-spacing: 0.06em; text-transform: uppercase;
          color: var(--quiet); margin: 34px 2px 10px;
        }
        h3 { font-size: 15px; font-weight: 600; }
        .number, td, .tile b, svg text { font-variant-numeric: tabular-nums; }
        header .where { color: var(--quiet); overflow-wrap: anywhere; }
        .banner {
          margin-top: 18px; padding: 14px 18px; border-radius: 12px; border: 1px solid var(--line);
          background: var(--card); border-left: 5px solid var(--quiet);
        }
        .banner b { font-size: 17px; letter-spacing: 0.01em; }
        .banner p { color: var(--text); margin-top: 4px; max-width: 92ch; }
        .banner.good { border-left-color: var(--good); background: var(--good-soft); }
        .banner.warn { border-left-color: var(--warn); background: var(--warn-soft); }
        .banner.bad { border-left-color: var(--bad); background: var(--bad-soft); }
        .good b, b.good { color: var(--good); } .warn b { color: var(--warn); } .bad b, b.bad { color: var(--bad); }
        .tiles {
          list-style: none; display: grid; gap: 12px; margin-top: 14px;
          grid-template-columns: repeat(auto-fit, minmax(126px, 1fr));
        }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 11px 13px; }
        .tile span { display: block; color: var(--quiet); font-size: 13px; }
        .tile b { display: block; font-size: 23px; font-weight: 600; letter-spacing: -0.02em; line-height: 1.3; }
        .tile small { color: var(--faint); font-size: 12.5px; }
        main { display: grid; gap: 14px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
        .card {
          background: var(--card); border: 1px solid var(--line); border-radius: 12px;
          padding: 16px 18px 12px; min-width: 0; display: flex; flex-direction: column;
        }
        .wide { grid-column: 1 / -1; }
        .card > p { color: var(--quiet); font-size: 13.5px; max-width: 92ch; }
        .legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin-top: 8px; font-size: 13px; color: var(--quiet); }
        .legend i {
          display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px;
          background: var(--k); vertical-align: -1px;
        }
        .plot { margin-top: 8px; }
        svg { display: block; width: 100%; touch-action: pan-y; overflow: visible; }
        svg text { fill: var(--quiet); font-size: 11.5px; }
        svg .grid { stroke: var(--grid); } svg .axis { stroke: var(--line); }
        svg .level { stroke: var(--bad); stroke-dasharray: 5 4; } svg .level-text { fill: var(--bad); stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
        svg .shade { fill: var(--shade); } svg .shade-text { fill: var(--faint); }
        svg .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
        svg .cursor { stroke: var(--faint); stroke-dasharray: 2 3; }
        svg .empty { fill: var(--faint); font-size: 13.5px; }
        .tip {
          position: fixed; z-index: 9; pointer-events: none; background: var(--card); color: var(--text);
          border: 1px solid var(--line); border-radius: 9px; padding: 8px 11px; font-size: 12.5px;
          box-shadow: 0 6px 22px rgb(0 0 0 / 18%); display: none; max-width: 280px;
        }
        .tip b { display: block; margin-bottom: 2px; }
        .tip div { display: flex; gap: 14px; justify-content: space-between; }
        .tip div span:first-child { color: var(--quiet); }
        .tip i { display: inline-block; width: 9px; height: 9px; border-radius: 2.5px; margin-right: 6px; background: var(--k); }
        details { margin-top: auto; padding-top: 8px; font-size: 13px; }
        summary { cursor: pointer; color: var(--quiet); width: fit-content; padding: 3px 0; }
        summary:hover { color: var(--text); }
        .scroll { overflow: auto; max-height: 340px; }
        .card > .scroll { max-height: none; margin-top: 8px; }
        table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
        th { font-weight: 500; color: var(--quiet); text-align: right; cursor: pointer; white-space: nowrap;
             position: sticky; top: 0; background: var(--card); }
        th:first-child, td:first-child { text-align: left; }
        td { text-align: right; }
        th, td { padding: 5px 0 5px 18px; border-bottom: 1px solid var(--grid); }
        th:first-child, td:first-child { padding-left: 0; }
        tr:last-child td { border-bottom: 0; }
        th[aria-sort]::after { content: " ↓"; } th[aria-sort="ascending"]::after { content: " ↑"; }
        td:first-child { overflow-wrap: anywhere; }
        td .good, .good-text { color: var(--good); } td .bad, .bad-text { color: var(--bad); }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 18px; font-size: 13.5px; margin-top: 8px; }
        dt { color: var(--quiet); } dd { overflow-wrap: anywhere; }
        pre {
          margin: 8px 0 0; padding: 12px 14px; border-radius: 9px; background: var(--shade); overflow: auto;
          font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
        }
        button {
          font: inherit; font-size: 13px; padding: 5px 12px; border: 1px solid var(--line); border-radius: 8px;
          background: var(--card); color: var(--text); cursor: pointer;
        }
        button:hover { border-color: var(--quiet); }
        .row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; justify-content: space-between; }
        footer { margin-top: 26px; color: var(--faint); font-size: 12.5px; }
        @media (max-width: 760px) {
          body { padding: 18px 12px 32px; }
          main { grid-template-columns: minmax(0, 1fr); }
          .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
          .card { padding: 13px 13px 9px; }
          .tile b { font-size: 21px; }
        }
        @media print {
          :root {
            color-scheme: light;
            --page: #fff; --card: #fff; --text: #15181c; --quiet: #5a6370; --faint: #8a939f;
            --line: #d5dae0; --grid: #e6e9ee; --shade: #f1f3f6;
            --c1: #2563c9; --c2: #c2570c; --c3: #0f8074; --c4: #8b3fb8; --c5: #a16207; --c6: #c02660;
            --good: #15803d; --bad: #c22323; --warn: #a35b00;
          }
          body { padding: 0; max-width: none; font-size: 12px; }
          .card, .tile, .banner { break-inside: avoid; }
          details:not([open]), button { display: none; }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }
        """#
}
