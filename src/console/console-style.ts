/** The console's one style sheet. Contrast of each pair of colours is 4.5 or more, in light and in dark. */
export const CONSOLE_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--link:#0550ae;--good:#1a7f37;--under-way:#0969da;--open:#9a6700;--bad:#cf222e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;--panel:#161b22;--line:#30363d;--link:#79c0ff;--good:#3fb950;--under-way:#58a6ff;--open:#d29922;--bad:#ff7b72}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
.skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.25rem .5rem;z-index:1}
header.top{border-bottom:1px solid var(--line);background:var(--panel)}header.top nav{max-width:76rem;margin:0 auto;padding:.6rem 1rem;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:baseline}
header.top strong{font-size:1.1rem}main,footer{max-width:76rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.35rem 0}
a{color:var(--link)}a:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.soft{color:var(--soft)}.mono{font-family:ui-monospace,monospace;font-size:.85em;overflow-wrap:anywhere}
.good{--tone:var(--good)}.under-way{--tone:var(--under-way)}.open{--tone:var(--open)}.bad{--tone:var(--bad)}
.state{color:var(--tone);font-weight:600;white-space:nowrap}.state::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em;border-radius:50%;background:var(--tone)}
svg.bar{display:block;width:100%;height:1.1rem;border-radius:.25rem;background:var(--line)}svg.bar rect{fill:var(--tone)}td svg.bar{min-width:8rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line);unicode-bidi:isolate}
th{color:var(--soft);font-weight:600}td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.time{white-space:nowrap}td svg.bar{max-width:20rem}td.text{overflow-wrap:anywhere;min-width:13rem}
ul.plain{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.35rem 1.1rem}ul.plain a[aria-current]{font-weight:700;text-decoration:none;color:var(--ink)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.75rem 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}main,footer{padding:.75rem}}
`;

/**
 * Better with JavaScript, whole without: a page that says it is live is read again every two seconds, unless somebody is
 * at work in it.
 */
export const CONSOLE_SCRIPT = `
async function refresh() {
  const main = document.querySelector('main[data-live]');
  if (main === null) return;
  const busy = document.hidden || main.contains(document.activeElement) || String(getSelection()) !== '';
  if (!busy) {
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      const next = answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main') : null;
      if (next !== null) main.replaceWith(next);
    } catch {
      // The console is restarting: the page stays as it is and asks again.
    }
  }
  setTimeout(refresh, 2000);
}
setTimeout(refresh, 2000);
`;
