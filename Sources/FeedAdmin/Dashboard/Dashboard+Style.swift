extension Dashboard {
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
