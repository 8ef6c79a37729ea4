import type { WaitingReason } from '../../domain/ports/drop-folder.ts';
import type { NightlyRunEntry, NightlyRunState, NightlyVerdict } from '../../domain/ports/run-log.ts';
import { STYLE } from '../formats/html/style.ts';
import { html, type SafeHtml } from '../formats/html/html.ts';
import { isoTime } from '../../domain/time/iso-time.ts';
import type { NightlySummary } from './run-summary.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const VERDICTS: Readonly<Record<NightlyVerdict, { readonly tone: string; readonly text: string }>> = {
  failed: { tone: 'bad', text: 'run failed' },
  refused: { tone: 'bad', text: 'refused' },
  attention: { tone: 'open', text: 'needs somebody' },
  issued: { tone: 'good', text: 'everything went out' },
};

const WAITING: Readonly<Record<WaitingReason, string>> = {
  growing: 'It was still being written. The next night looks again.',
  empty: 'It has no content yet. The next night looks again.',
  'no-marker': 'Its .done marker is missing or older than the file.',
  'not-movable': 'The system did not let Lote move it: check who owns the file and the folder.',
  'too-many': 'A night takes 500 files. The next night goes on.',
  unfinished: 'The night could not bring it to its end. It lies in in-progress; the next night goes on with it.',
};

/** `reports/nights/<date>.html`: did every file go through, what needs somebody first, then each run. */
export function nightlyHtml(summary: NightlySummary, linkTo: (path: string) => string): string {
  const { date, runs } = summary;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>Night of ${date}</title>
        <style>
          ${{ safe: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <header><h1>Night of ${date}</h1></header>
          <section class="verdict ${tone(summary)}" aria-label="Outcome">
            <p><strong>${verdict(summary)}</strong></p>
            <p>${countsLine(summary)}</p>
          </section>
          ${runs.toReversed().map((run) => runSection(run, linkTo))}
        </main>
      </body>
    </html> `.safe;
}

function tone({ totals }: NightlySummary): string {
  if (totals.failed + totals.refused > 0) return 'bad';
  return totals.attention + totals.waiting > 0 ? 'open' : 'good';
}

function verdict({ totals }: NightlySummary): string {
  if (totals.files + totals.waiting === 0) return 'No file was dropped.';
  const open = totals.files - totals.issued + totals.waiting;
  if (open === 0)
    return `Everything went out: ${files(totals.files)}, ${totals.invoices} ${totals.invoices === 1 ? 'invoice' : 'invoices'}.`;
  return `${files(open)} of ${totals.files + totals.waiting} ${open === 1 ? 'needs' : 'need'} somebody.`;
}

function countsLine({ totals }: NightlySummary): string {
  return (
    `${totals.issued} went out, ${totals.attention} with invoices or rows to correct, ${totals.refused} refused, ` +
    `${totals.failed} runs failed, ${totals.waiting} still waiting. ${totals.notIssued} of ${totals.invoices} invoices did not go out.`
  );
}

function runSection(
  { night, workflowId, startedAt, finishedAt, files: entries, waiting }: NightlyRunState,
  linkTo: (path: string) => string,
): SafeHtml {
  const urgent = Object.keys(VERDICTS);
  const sorted = entries.toSorted((a, b) => urgent.indexOf(a.verdict) - urgent.indexOf(b.verdict));
  return html`<section>
    <h2>Run ${night}</h2>
    <p class="soft">
      Workflow <span class="mono">${workflowId}</span>. Started ${shortTime(startedAt)},
      ${finishedAt === null ? 'not finished: what it left is gone on with by the next night' : `finished ${shortTime(finishedAt)}`}.
    </p>
    ${
      sorted.length === 0
        ? ''
        : table(
            ['File', 'Outcome', 'Invoices', 'Issued', 'What to know'],
            sorted.map((entry) => fileRow(entry, linkTo)),
          )
    }
    ${
      waiting.length === 0
        ? ''
        : table(
            ['Still waiting', 'Why'],
            waiting.map(
              ({ name, reason }) =>
                html`<tr><td class="text">${name}</td><td class="text">${WAITING[reason]}</td></tr>`,
            ),
          )
    }
  </section>`;
}

function table(heads: readonly string[], rows: readonly SafeHtml[]): SafeHtml {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads[0] ?? ''}">
    <table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;
}

function fileRow(entry: NightlyRunEntry, linkTo: (path: string) => string): SafeHtml {
  const { tone: own, text } = VERDICTS[entry.verdict];
  const link = (path: string | null, name: string): SafeHtml | string =>
    path === null ? '' : html`<p><a href="${linkTo(path)}">${name}</a></p>`;
  return html`<tr>
    <td class="text">${entry.name}${entry.shelvedAs === null ? '' : html`<p class="soft mono">${entry.shelvedAs}</p>`}</td>
    <td><span class="state ${own}">${text}</span></td>
    <td class="number">${entry.invoices}</td>
    <td class="number">${entry.issued}</td>
    <td class="text">
      ${entry.sentences.map((sentence) => html`<p>${sentence}</p>`)} ${link(entry.report, 'Report')}${link(entry.corrections, 'Corrections')}
    </td>
  </tr>`;
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}

function shortTime(epochMs: number): string {
  const iso = isoTime(epochMs);
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
