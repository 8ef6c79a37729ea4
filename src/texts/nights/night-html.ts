import type { NightlyRunEntry, NightlyRunState, NightlyVerdict, NightMessageNote } from '../../domain/records/night.ts';
import { fill } from '../fill.ts';
import { html, table, type HtmlValue, type Row, type SafeHtml } from '../html.ts';
import type { OutcomeFormat } from '../outcomes/outcome-html.ts';
import { nightTone, nightVerdict, type NightOutcome, waitingName, remarkText } from './night-verdict.ts';

/** Returns the name of a file with the links that only one place has. */
type NameOf = (entry: NightlyRunEntry) => HtmlValue;

/** The nights of one date: totals, and runs, oldest first. */
export interface NightPage extends NightOutcome {
  readonly runs: readonly NightlyRunState[];
  readonly totals: NightOutcome['totals'] & Readonly<Record<'invoices' | 'notIssued', number>>;
}

const TONES: Readonly<Record<NightlyVerdict, string>> = {
  failed: 'bad',
  refused: 'bad',
  attention: 'open',
  issued: 'good',
};
const URGENT_FIRST = Object.keys(TONES);

/** Shows whether every file went through, then each run, with the files that need a person first. */
export function nightSections(format: OutcomeFormat, night: NightPage, nameOf: NameOf): SafeHtml {
  const { texts, count, time, plural } = format;
  const end = night.runs.at(-1)?.finishedAt ?? null;
  const totals = Object.fromEntries(Object.entries(night.totals).map(([name, number]) => [name, count(number)]));
  return html`<section class="verdict ${nightTone(night)}" aria-label="${texts.nights.outcome}">
      <p class="big"><strong>${nightVerdict(texts, plural, night)}</strong></p>
      <p>${fill(texts.nightFile.counts, totals)}</p>
      ${end === null ? '' : html`<p class="soft">${fill(texts.nights.asOf, { time: time(end) })}</p>`}
    </section>
    ${night.runs.toReversed().map((run) => runSection(format, run, nameOf))}`;
}

function runSection(format: OutcomeFormat, run: NightlyRunState, nameOf: NameOf): SafeHtml {
  const { texts, time, count } = format;
  const { nights, nightFile, heads } = texts;
  const files = run.files.toSorted((a, b) => URGENT_FIRST.indexOf(a.verdict) - URGENT_FIRST.indexOf(b.verdict));
  const rows = files.map((entry) => fileRow(format, entry, nameOf));
  const started = time(run.startedAt);
  const times =
    run.finishedAt === null
      ? fill(nightFile.unfinishedTimes, { started })
      : fill(texts.times, { started, finished: time(run.finishedAt) });
  const numbers = [heads.invoices, nights.issued].map((number) => ({ number }));
  const columns = [{ text: heads.file }, nights.outcome, ...numbers, { text: nights.know }];
  return html`<section>
    <h2>${nights.run} ${started}</h2>
    <p class="soft">${times} <span class="mono">${run.workflowId}</span></p>
    ${run.message === null ? '' : messageLine(format, run.message)}
    ${files.length === 0 ? '' : table(nights.files, columns, rows)}
    ${
      run.waiting.length === 0
        ? ''
        : html`<h3>${nights.waitingFiles}</h3>
            <ul>
              ${run.waiting.map((file) => html`<li><strong>${waitingName(file, { count })}</strong>: ${nights.waiting[file.reason]}</li>`)}
            </ul>`
    }
  </section>`;
}

function messageLine({ texts: { morning }, time }: OutcomeFormat, { state, at, detail }: NightMessageNote): SafeHtml {
  const words = `${morning.byMail}: ${fill(morning.states[state], { time: time(at) })}`;
  return html`<p class="${state === 'sent' ? 'soft' : 'state open'}">${words}</p>
    ${detail === null ? '' : html`<p class="soft" lang="en">${detail}</p>`}`;
}

function fileRow(format: OutcomeFormat, entry: NightlyRunEntry, nameOf: NameOf): Row {
  const { shelvedAs, verdict, invoices, issued, remarks } = entry;
  return [
    html`${nameOf(entry)}${shelvedAs === null ? '' : html`<p class="soft mono">${shelvedAs}</p>`}`,
    html`<span class="state ${TONES[verdict]}">${format.texts.nights.verdicts[verdict]}</span>`,
    ...[format.count(invoices), format.count(issued)],
    remarks.map((remark) => html`<p>${remarkText(format, remark)}</p>`),
  ];
}
