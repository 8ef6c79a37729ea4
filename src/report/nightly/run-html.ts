import type { NightlyRunEntry, NightlyRunState, NightlyVerdict } from '../../domain/ports/run-log.ts';
import type { Speech } from '../../texts/choose-language.ts';
import { documentFormat } from '../../texts/document-format.ts';
import { fill } from '../../texts/fill.ts';
import { NIGHT_TEXTS } from '../../texts/nights/night-catalogue.ts';
import type { NightTexts } from '../../texts/nights/night-texts.ts';
import { nightTone, nightVerdict } from '../../texts/nights/night-verdict.ts';
import { remarkText } from '../../texts/nights/remark-text.ts';
import { waitingName } from '../../texts/nights/waiting-files.ts';
import type { SpeechFormat } from '../../texts/speech-format.ts';
import { STYLE } from '../formats/html/style.ts';
import { html, type SafeHtml } from '../formats/html/html.ts';
import type { NightlySummary } from './run-summary.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const TONES: Readonly<Record<NightlyVerdict, string>> = {
  failed: 'bad',
  refused: 'bad',
  attention: 'open',
  issued: 'good',
};

interface NightPage {
  readonly format: SpeechFormat;
  readonly texts: NightTexts;
  readonly linkTo: (path: string) => string;
}

/** `reports/nights/<date>.html`: did every file go through, what needs somebody first, then each run. */
export function nightlyHtml(summary: NightlySummary, linkTo: (path: string) => string, speech: Speech): string {
  const { runs } = summary;
  const page = { format: documentFormat(speech), texts: NIGHT_TEXTS[speech.language], linkTo };
  const title = fill(page.texts.nightFile.title, { date: page.format.date(summary.date) });
  return html`<!doctype html>
    <html lang="${speech.language}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${{ safe: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <header><h1>${title}</h1></header>
          <section class="verdict ${nightTone(summary)}" aria-label="${page.texts.nights.outcome}">
            <p><strong>${nightVerdict(page.texts, page.format.plural, summary)}</strong></p>
            <p>${countsLine(page, summary)}</p>
            ${asOf(page, summary)}
          </section>
          ${runs.toReversed().map((run) => runSection(page, run))}
        </main>
      </body>
    </html> `.safe;
}

function countsLine({ format: { count }, texts: { nightFile } }: NightPage, { totals }: NightlySummary): string {
  const words = Object.entries(totals).map(([name, number]) => [name, count(number)] as const);
  return fill(nightFile.counts, Object.fromEntries(words));
}

/** Nobody writes the page again when a batch goes on. */
function asOf({ format: { time }, texts: { nights } }: NightPage, { runs }: NightlySummary): SafeHtml {
  const end = runs.at(-1)?.finishedAt ?? null;
  return end === null ? html`` : html`<p class="soft">${fill(nights.asOf, { time: time(end) })}</p>`;
}

function runSection(page: NightPage, run: NightlyRunState): SafeHtml {
  const { nights, nightFile } = page.texts;
  const urgent = Object.keys(TONES);
  const sorted = run.files.toSorted((a, b) => urgent.indexOf(a.verdict) - urgent.indexOf(b.verdict));
  return html`<section>
    <h2>${fill(nightFile.run, { night: run.night })}</h2>
    <p class="soft">
      Workflow <span class="mono">${run.workflowId}</span>. ${timesOf(page, run)}
    </p>
    ${
      sorted.length === 0
        ? ''
        : table(
            [nightFile.file, nights.outcome, nightFile.invoices, nights.issued, nights.know],
            sorted.map((entry) => fileRow(page, entry)),
          )
    }
    ${
      run.waiting.length === 0
        ? ''
        : table(
            [nights.waitingFiles, nightFile.why],
            run.waiting.map(
              (file) =>
                html`<tr><td class="text">${waitingName(file, page.format)}</td><td class="text">${nights.waiting[file.reason]}</td></tr>`,
            ),
          )
    }
  </section>`;
}

function timesOf(
  { format: { time }, texts: { nightFile } }: NightPage,
  { startedAt, finishedAt }: NightlyRunState,
): string {
  const started = time(startedAt);
  return finishedAt === null
    ? fill(nightFile.unfinishedTimes, { started })
    : fill(nightFile.times, { started, finished: time(finishedAt) });
}

function table(heads: readonly string[], rows: readonly SafeHtml[]): SafeHtml {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads[0] ?? ''}">
    <table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;
}

function fileRow(page: NightPage, entry: NightlyRunEntry): SafeHtml {
  const { format, texts, linkTo } = page;
  const { nights, nightFile } = texts;
  const link = (path: string | null, name: string): SafeHtml | string =>
    path === null ? '' : html`<p><a href="${linkTo(path)}">${name}</a></p>`;
  return html`<tr>
    <td class="text">${entry.name}${entry.shelvedAs === null ? '' : html`<p class="soft mono">${entry.shelvedAs}</p>`}</td>
    <td><span class="state ${TONES[entry.verdict]}">${nights.verdicts[entry.verdict]}</span></td>
    <td class="number">${format.count(entry.invoices)}</td>
    <td class="number">${format.count(entry.issued)}</td>
    <td class="text">
      ${remarksOf(page, entry)} ${link(entry.report, nightFile.report)}${link(entry.corrections, nightFile.corrections)}
    </td>
  </tr>`;
}

/** An earlier version of Lote wrote English sentences alone. */
function remarksOf({ format }: NightPage, { remarks, sentences }: NightlyRunEntry): readonly SafeHtml[] {
  return remarks === undefined
    ? sentences.map((sentence) => html`<p lang="en">${sentence}</p>`)
    : remarks.map((remark) => html`<p>${remarkText(format, remark)}</p>`);
}
