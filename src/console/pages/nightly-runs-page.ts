import { html } from 'hono/html';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { NightlyVerdict } from '../../domain/ports/run-log.ts';
import type { ListedNightlySummary, NightlyFile, StoredNightlyRun, StoredNightlySummary } from '../nightly-files.ts';
import { fill } from '../../texts/fill.ts';
import { nightTone, nightVerdict } from '../../texts/nights/night-verdict.ts';
import { remarkText } from '../../texts/nights/remark-text.ts';
import { waitingName } from '../../texts/nights/waiting-files.ts';
import { commandEnd, type ApplicationFilter } from '../forms/application-filter.ts';
import type { PageFormat } from './page-format.ts';
import type { Html } from './page-layout.ts';

const TONES: Readonly<Record<NightlyVerdict, string>> = {
  failed: 'bad',
  refused: 'bad',
  attention: 'open',
  issued: 'good',
};
const MOST_URGENT_FIRST = Object.keys(TONES);

/** Every night, newest first: did every file go through. */
export function nightlyRunsPage(
  format: PageFormat,
  nights: readonly ListedNightlySummary[],
  filter: ApplicationFilter | null,
): Html {
  const application = filter?.chosen ?? null;
  const { nights: texts, invoices } = format.texts;
  if (nights.length === 0)
    return html`<h1>${texts.title}</h1>
      <p>${filter !== null && application === null ? texts.choose : html`${texts.none}${commandEnd(filter)}`}</p>`;
  return html`<h1>${texts.title}</h1>
    <p class="soft">${texts.asOfEach}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="${texts.title}">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.night}</th>
            <th scope="col">${texts.outcome}</th>
            <th scope="col" class="number">${texts.files}</th>
            <th scope="col" class="number">${invoices}</th>
            <th scope="col" class="number">${texts.issued}</th>
          </tr>
        </thead>
        <tbody>
          ${nights.map((night) => listRow(format, night, application === null ? '' : `?application=${encodeURIComponent(application)}`))}
        </tbody>
      </table>
    </div>`;
}

function listRow(format: PageFormat, { date, summary }: ListedNightlySummary, query: string): Html {
  const { texts, count } = format;
  const name = html`<th scope="row"><a href="/nights/${date}${query}">${format.date(date)}</a></th>`;
  if (summary === null)
    return html`<tr>
      ${name}
      <td colspan="4">${texts.nights.unreadable}</td>
    </tr>`;
  const { totals } = summary;
  return html`<tr>
    ${name}
    <td><span class="state ${nightTone(summary)}">${nightVerdict(format.texts, format.plural, summary)}</span></td>
    <td class="number">${count(totals.files + totals.waiting)}</td>
    <td class="number">${count(totals.invoices)}</td>
    <td class="number">${count(totals.invoices - totals.notIssued)}</td>
  </tr>`;
}

/** How a batch is by now. */
export interface BatchNow {
  readonly state: BatchState;
  readonly invoices: number;
  readonly out: number;
}

/** One night: what was taken, where it lies now, and why; `batches`: those that have gone on since, or may have, by id. */
export function nightlyDatePage(
  format: PageFormat,
  summary: StoredNightlySummary,
  batches: ReadonlyMap<string, BatchNow>,
): Html {
  const { nights } = format.texts;
  const end = summary.runs.at(-1)?.finishedAt ?? null;
  return html`<p><a href="/nights">← ${nights.title}</a></p>
    <h1>${nights.night}: ${format.date(summary.date)}</h1>
    <section class="verdict ${nightTone(summary)}">
      <p class="big"><strong>${nightVerdict(format.texts, format.plural, summary)}</strong></p>
      ${end === null ? '' : html`<p class="soft">${fill(nights.asOf, { time: format.time(end) })}</p>`}
    </section>
    ${summary.runs.toReversed().map((run) => runSection(format, run, batches))}`;
}

function runSection(format: PageFormat, run: StoredNightlyRun, batches: ReadonlyMap<string, BatchNow>): Html {
  const { texts, time } = format;
  const { nights } = texts;
  const files = run.files.toSorted(
    (a, b) => MOST_URGENT_FIRST.indexOf(a.verdict) - MOST_URGENT_FIRST.indexOf(b.verdict),
  );
  return html`<h2>${nights.run} ${time(run.startedAt)}</h2>
    <p class="soft">
      ${run.finishedAt === null ? nights.unfinished : html`${texts.finished}: ${time(run.finishedAt)}.`}
      <span class="mono">${run.workflowId}</span>
    </p>
    ${run.messages.map((message) => messageLine(format, message))}
    ${files.length === 0 ? '' : filesTable(format, files, batches)}
    ${
      run.waiting.length === 0
        ? ''
        : html`<h3>${nights.waitingFiles}</h3>
            <ul>
              ${run.waiting.map((file) => html`<li><strong>${waitingName(file, format)}</strong>: ${nights.waiting[file.reason]}</li>`)}
            </ul>`
    }`;
}

/** What became of the message of the night; why not, in Lote's own words. */
function messageLine({ texts: { morning }, time }: PageFormat, message: StoredNightlyRun['messages'][number]): Html {
  const { channel, state, at, detail } = message;
  const words = `${morning.channels[channel]}: ${fill(morning.states[state], { time: time(at) })}`;
  return html`<p class="${state === 'sent' ? 'soft' : 'state open'}">${words}</p>
    ${detail === null ? '' : html`<p class="soft" lang="en">${detail}</p>`}`;
}

function filesTable(format: PageFormat, files: readonly NightlyFile[], batches: ReadonlyMap<string, BatchNow>): Html {
  const { texts } = format;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.nights.files}">
    <table>
      <thead>
        <tr>
          <th scope="col">${texts.file}</th>
          <th scope="col">${texts.nights.outcome}</th>
          <th scope="col" class="number">${texts.invoices}</th>
          <th scope="col" class="number">${texts.nights.issued}</th>
          <th scope="col">${texts.nights.know}</th>
        </tr>
      </thead>
      <tbody>
        ${files.map((file) => fileRow(format, file, file.batchId === null ? undefined : batches.get(file.batchId)))}
      </tbody>
    </table>
  </div>`;
}

function fileRow(format: PageFormat, file: NightlyFile, now: BatchNow | undefined): Html {
  const { count, plural, texts } = format;
  const { nights } = texts;
  const name =
    file.batchId === null
      ? html`${file.name}`
      : html`<a href="/batches/${encodeURIComponent(file.batchId)}">${file.name}</a>`;
  return html`<tr>
    <td class="text">
      ${name}
      ${file.shelvedAs === null ? '' : html`<div class="soft">${nights.lies} <span class="mono">${file.shelvedAs}</span></div>`}
    </td>
    <td><span class="state ${TONES[file.verdict]}">${nights.verdicts[file.verdict]}</span></td>
    <td class="number">${count(file.invoices)}</td>
    <td class="number">${count(file.issued)}</td>
    <td class="text">
      ${file.known ? html`<div>${nights.repeated}</div>` : ''}
      ${file.waitsFor === undefined ? '' : html`<div>${nights.waitsFor[file.waitsFor]}</div>`}
      ${file.verdict === 'attention' && file.issued < file.invoices ? html`<div>${plural(nights.notOut, file.invoices - file.issued, file.invoices)}</div>` : ''}
      ${file.verdict === 'refused' ? html`<div>${nights.nothingSent}</div>` : ''}
      ${now === undefined ? '' : nowLine(format, now)}
      ${note(format, file)}
    </td>
  </tr>`;
}

function nowLine({ texts, plural }: PageFormat, { state, out, invoices }: BatchNow): Html {
  const words = fill(texts.nights.now, { state: texts.batchStates[state] });
  return html`<div>${words} ${plural(texts.morning.wentOut, out, invoices)}</div>`;
}

/** What the note beside the file says; of a run that failed, and of a changed file, nothing else tells why. */
function note(format: PageFormat, { remarks, sentences, verdict: became }: NightlyFile): Html {
  if (sentences.length === 0) return html``;
  const isOpen = became === 'failed' || remarks?.some(({ kind }) => kind === 'changed') === true;
  return html`<details ${isOpen ? 'open' : ''}>
    <summary>${format.texts.nights.note}</summary>
    ${
      remarks === undefined
        ? sentences.map((line) => html`<div lang="en">${line}</div>`)
        : remarks.map((remark) => html`<div>${remarkText(format, remark)}</div>`)
    }
  </details>`;
}
