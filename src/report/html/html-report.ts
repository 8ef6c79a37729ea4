import { wentOut } from '../../domain/invoice-state.ts';
import { issuedCount } from '../../domain/outcome-counts.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';
import { fill } from '../../texts/fill.ts';
import { html, SafeHtml, tableStart, type HtmlValue } from '../../texts/html.ts';
import { reasonLines, stateMark, totalsTable } from '../../texts/outcomes/outcome-html.ts';
import { isContradicted, reasonOf, type ReportModel } from '../report-model.ts';
import type { ReportFormat } from '../texts/report-format.ts';
import { fileSection, firstScreen, historySection, reasonsTable, rowNumbers } from './sections.ts';

/** The page loads nothing and runs no scripts, because its texts come from files and from the service. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** A browser opens a page with this many rows at once, and a person reads no more; report.csv has all of them. */
const MOST_LISTED = 2_000;

/** Writes report.html, one self-contained page. `portions` is read once for each list: invoices in doubt, other invoices that need a person, and issued ones. */
export async function* htmlReport(
  model: ReportModel,
  portions: () => AsyncIterable<readonly BatchInvoice[]>,
  { corrections, format }: { readonly corrections: string | null; readonly format: ReportFormat },
): AsyncGenerator<string> {
  const { texts } = format;
  yield documentHead(format.language, fill(texts.title, { file: model.batch.file }));
  yield html`${firstScreen(model, corrections, format)} ${reasonsTable(model.reasons, format)}
  ${totalsTable(format, model.totals)} ${fileSection(model, format)} ${historySection(model, format)}`.safe;
  const { list } = texts;
  const out = issuedCount(model.counts);
  const inDoubt = model.contradicted.invoices;
  const open = model.counts.invoices - out;
  // The first list is complete, because a person must look up each of its invoices.
  const sections: readonly InvoiceSection[] = [
    { title: list.inDoubt, belongs: isContradicted, total: inDoubt, most: inDoubt },
    { title: list.notOut, belongs: ({ state }) => !wentOut(state), total: open, most: MOST_LISTED },
    {
      ...{ title: list.out, total: out - inDoubt, most: MOST_LISTED },
      belongs: (invoice) => wentOut(invoice.state) && !isContradicted(invoice),
    },
  ];
  for (const section of sections) if (section.total > 0) yield* invoiceSection(format, section, portions());
  yield '</main></body></html>\n';
}

/** One list of invoices. */
interface InvoiceSection {
  readonly title: string;
  readonly belongs: (invoice: BatchInvoice) => boolean;
  readonly total: number;
  /** Limit of invoices in the list; the page says where all of them are. */
  readonly most: number;
}

/** Writes one list: invoices in doubt, not confirmed as issued, or the others. Together they have every invoice. */
async function* invoiceSection(
  format: ReportFormat,
  { title, belongs, total, most }: InvoiceSection,
  invoices: AsyncIterable<readonly BatchInvoice[]>,
): AsyncGenerator<string> {
  const { texts, count } = format;
  const { reference, merchant, state, net, rows, reason, serviceId } = texts.heads;
  const shown = Math.min(total, most);
  yield html`<section><h2>${title} (${count(total)})</h2> ${shown < total ? html`<p>${fill(texts.list.rest, { n: count(shown), of: count(total) })}</p>` : ''}
    ${tableStart(title, [reference, merchant, state, { number: net }, rows, reason, serviceId])}`.safe;
  let written = 0;
  for await (const portion of invoices) {
    const listed = portion.filter(belongs).slice(0, most - written);
    written += listed.length;
    yield listed.map((invoice) => invoiceRow(format, invoice).safe).join('');
  }
  yield '</tbody></table></div></section>\n';
}

function invoiceRow(format: ReportFormat, invoice: BatchInvoice): SafeHtml {
  const { ref, merchantNif, state, net, currency, rows, serviceId } = invoice;
  // The row is on one line, because white space between cells would be a node each and a third of a large page.
  return html`<tr><td>${ref}</td><td>${merchantNif}</td><td>${stateMark(state)}</td><td class="number">${net === null ? '' : `${format.money(net)} ${currency ?? ''}`}</td><td>${rowNumbers(format, rows)}</td><td class="text">${reasonLines(format, { ...invoice, reason: wentOut(state) ? null : reasonOf(invoice) })}</td><td class="mono">${serviceId ?? ''}</td></tr>
`;
}

/** Returns everything before the content of `<main>` of a page that is one file. */
export function documentHead(language: string, title: HtmlValue): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${new SafeHtml(STYLE)}
        </style>
      </head>
      <body>
        <main>
     `.safe;
}

/** One style sheet inside the page makes the report one file for mailing. Each pair of colours has a contrast of 4.5 or more. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--good:#1a7f37;--under-way:#0969da;--open:#9a6700;--bad:#cf222e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;--panel:#161b22;--line:#30363d;--good:#3fb950;--under-way:#58a6ff;--open:#d29922;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 4rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.25rem 0 .5rem}
p{margin:.35rem 0}.big{font-size:1.15rem}h2.doer{font-size:1rem;margin:.9rem 0 .15rem}ul.tasks{margin:0;padding-left:1.1rem}ul.tasks li{margin:.15rem 0}.soft{color:var(--soft)}.mono{font-family:ui-monospace,monospace;font-size:.85em;overflow-wrap:anywhere}
.verdict{border-left:.4rem solid var(--tone);background:var(--panel);padding:1rem 1.25rem;border-radius:.25rem}
.good{--tone:var(--good)}.under-way{--tone:var(--under-way)}.open{--tone:var(--open)}.bad{--tone:var(--bad)}
svg.bar{display:block;width:100%;height:1.5rem;margin:1rem 0 .5rem;border-radius:.25rem}svg.bar rect{fill:var(--tone)}
ul.legend{list-style:none;padding:0;margin:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:.15rem 1.25rem}
.state{color:var(--tone);font-weight:600;white-space:nowrap}.state::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em;border-radius:50%;background:var(--tone)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line);unicode-bidi:isolate}
a,code,dd,span,strong{unicode-bidi:isolate}
th{color:var(--soft);font-weight:600}td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.text{overflow-wrap:anywhere;min-width:12rem}thead th{white-space:nowrap}tfoot tr:first-child>*{border-top:2px solid var(--ink);font-weight:700;color:var(--ink)}
a{color:var(--under-way)}a:focus-visible{outline:2px solid var(--under-way);outline-offset:2px}
@media print{:root{--ink:#000;--soft:#444;--paper:#fff;--panel:#fff;--line:#999;--good:#1a7f37;--under-way:#0550ae;--open:#7d4e00;--bad:#a40e26}
body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}tr{break-inside:avoid}thead{display:table-header-group}h2{break-after:avoid}
svg.bar,.state::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
