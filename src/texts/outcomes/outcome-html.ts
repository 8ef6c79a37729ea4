import type { CurrencyTotal } from '../../domain/outcome-counts.ts';
import type { Finding, Reason } from '../../domain/invoice.ts';
import type { Contradiction, Outcome } from '../../domain/invoice-state.ts';
import { fill } from '../fill.ts';
import { html, table, type SafeHtml } from '../html.ts';
import { problemWords } from '../problems/problem-words.ts';
import type { SpeechFormat } from '../speech-format.ts';
import type { OutcomeTexts } from './en.ts';

/** Words about outcomes and nights, with the numbers and times of one reader. */
export interface OutcomeFormat extends SpeechFormat {
  readonly texts: OutcomeTexts;
}

/** Meaning of a state: done, under way, open for an operator, or wrong. */
export type Tone = 'good' | 'under-way' | 'open' | 'bad';

const TONES: Readonly<Record<Outcome, Tone>> = {
  issued: 'good',
  'already-issued': 'good',
  accepted: 'under-way',
  sending: 'under-way',
  staged: 'under-way',
  unsettled: 'open',
  unknown: 'open',
  held: 'open',
  failed: 'bad',
  rejected: 'bad',
  conflict: 'bad',
  invalid: 'bad',
};

/** Order in which states are shown: issued, under way, needing a person. */
export const STATE_ORDER = Object.keys(TONES) as readonly Outcome[];

/** Returns the colour of a state. */
export function toneOf(state: Outcome): Tone {
  return TONES[state];
}

/** Returns a state with its colour. */
export function stateMark(state: Outcome): SafeHtml {
  return html`<span class="state ${TONES[state]}">${state}</span>`;
}

type Counts = Readonly<Record<Outcome, number>>;

const WIDTH = 1000;
/** Thinner parts are invisible; the words beside the bar give the exact numbers. */
const THINNEST = 3;

/** Returns a bar of the states; empty without invoices. */
export function stateBar(counts: Counts): SafeHtml {
  const present = STATE_ORDER.filter((state) => counts[state] > 0);
  if (present.length === 0) return html``;
  const total = present.reduce((sum, state) => sum + counts[state], 0);
  const wanted = present.map((state) => Math.max(THINNEST, (counts[state] / total) * WIDTH));
  const scale = WIDTH / wanted.reduce((sum, width) => sum + width, 0);
  let x = 0;
  const parts = present.map((state, at) => {
    const width = (wanted[at] ?? 0) * scale;
    // One line, because a list of a hundred batches has hundreds of parts. The gap separates parts of one colour.
    const part = html`<rect class="${TONES[state]}" x="${x.toFixed(1)}" width="${(width - 1).toFixed(1)}" height="10" />`;
    x += width;
    return part;
  });
  const label = present.map((state) => `${state} ${counts[state]}`).join(', ');
  return html`<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none">${parts}</svg>`;
}

/** Returns the numbers of a bar in words. */
export function stateLegend(counts: Counts, { texts, count }: OutcomeFormat): SafeHtml {
  const present = STATE_ORDER.filter((state) => counts[state] > 0);
  if (present.length === 0) return html``;
  return html`<ul class="legend">
    ${present.map((state) => html`<li>${stateMark(state)} <strong>${count(counts[state])}</strong> <span class="soft">${texts.states[state]}</span></li>`)}
  </ul>`;
}

interface WholeOutcome {
  readonly invoices: number;
  readonly issued: number;
  readonly rowsLost: number;
  /** How the file differs from its control totals, or null. */
  readonly totalsDiffer: string | null;
  /** Issued invoices in doubt, with the first references. */
  readonly contradicted: number;
  readonly contradictedRefs: readonly string[];
}

/** Says in a sentence whether everything was issued, then what more a person must know. */
export function outcomeVerdict(format: OutcomeFormat, outcome: WholeOutcome): SafeHtml {
  const { texts, plural } = format;
  const { verdicts } = texts;
  const { invoices, issued, rowsLost, totalsDiffer } = outcome;
  const sentences = [
    ...(issued < invoices ? [plural(verdicts.notAll, invoices - issued, invoices)] : []),
    ...doubtSentence(format, outcome),
    ...(totalsDiffer !== null && issued === invoices ? [verdicts.totalsDiffer] : []),
    ...(rowsLost > 0 ? [plural(verdicts.rowsLeft, rowsLost)] : []),
  ];
  const [first = plural(verdicts.allIssued, invoices), ...others] = sentences;
  return html`<p class="big"><strong>${first}</strong></p>${others.map((sentence) => html`<p>${sentence}</p>`)}${doubtRefs(format, outcome)}`;
}

type Doubt = Pick<WholeOutcome, 'contradicted' | 'contradictedRefs'>;

/** Explains the doubt about invoices and what to do; empty if none is in doubt. */
export function doubtSentence({ texts, plural }: OutcomeFormat, { contradicted }: Doubt): readonly string[] {
  return contradicted === 0 ? [] : [plural(texts.contradictions.sentence, contradicted)];
}

/** Lists the invoices to look up at the service. */
export function doubtRefs({ texts: { verdicts }, count }: OutcomeFormat, doubt: Doubt): SafeHtml {
  const { contradicted, contradictedRefs } = doubt;
  if (contradicted === 0) return html``;
  const left = contradicted - contradictedRefs.length;
  const names = contradictedRefs.join('; ');
  return html`<p><strong>${verdicts.inDoubt}: ${left === 0 ? names : fill(verdicts.more, { names, n: count(left) })}</strong></p>`;
}

/** Returns totals by currency; each column adds up to the line under it. */
export function totalsTable({ texts, money, count }: OutcomeFormat, totals: readonly CurrencyTotal[]): SafeHtml {
  if (totals.length === 0) return html``;
  const words = texts.totals;
  const states = STATE_ORDER.filter((state) => totals.some(({ byState }) => byState[state] !== undefined));
  const line = (name: string, cellOf: (total: CurrencyTotal) => string) => [name, ...totals.map(cellOf)];
  const columns = [
    { row: texts.heads.net },
    ...totals.map(({ currency }) => ({ number: currency ?? words.noCurrency })),
  ];
  const rows = states.map((state) =>
    line(state, ({ byState }) => (byState[state] === undefined ? '' : money(byState[state]))),
  );
  const unreadable = totals.some(({ withoutAmount }) => withoutAmount > 0);
  const foot = [
    line(words.all, ({ net }) => money(net)),
    line(words.number, ({ invoices }) => count(invoices)),
    ...(unreadable ? [line(words.unreadable, ({ withoutAmount }) => count(withoutAmount))] : []),
  ];
  return html`<section>
    <h2>${words.title}</h2>
    <p class="soft">${words.note}</p>
    ${table(words.title, columns, rows, foot)}
  </section>`;
}

const SEVERITY_TONES = { error: 'bad', warning: 'open', info: 'under-way' } as const;

/** Returns the first findings of a file with their places, and the number of the rest. */
export function findingsTable(
  format: OutcomeFormat,
  findings: readonly Finding[],
  { title, most }: { readonly title: string; readonly most: number },
): SafeHtml {
  const { heads, severities, moreFindings } = format.texts;
  const columns = [heads.severity, { number: heads.row }, heads.column, { text: heads.finding }];
  const rows = findings
    .slice(0, most)
    .map(({ severity, row, column, message, code }) => [
      html`<span class="state ${SEVERITY_TONES[severity]}">${severities[severity]}</span>`,
      ...[row ?? '', column ?? ''],
      html`${problemWords(format, { code, message })} <span class="mono soft">${code}</span>`,
    ]);
  const left = format.count(findings.length - most);
  return html`${table(title, columns, rows)}
  ${findings.length > most ? html`<p class="soft">${fill(moreFindings, { n: left })}</p>` : ''}`;
}

interface WithReason {
  readonly state: Outcome;
  readonly reason: Reason | null;
  readonly findings: readonly Finding[];
  readonly flags: readonly string[];
  readonly contradictions?: readonly Contradiction[];
}

/** Says why an invoice is in its state, with its other findings. */
export function reasonLines(format: OutcomeFormat, invoice: WithReason): readonly SafeHtml[] {
  const { state, reason, findings, flags, contradictions = [] } = invoice;
  const lines = [
    ...(reason === null ? [] : [problemWords(format, reason, state)]),
    ...findings.filter(({ message }) => message !== reason?.message).map((finding) => problemWords(format, finding)),
    ...contradictions.map((flag) => html`<strong>${format.texts.contradictions.flags[flag]}</strong>`),
    ...flags.map((flag) => html`${flag}`),
  ];
  return lines.map((line) => html`<div>${line}</div>`);
}

interface DoneByHand {
  readonly at: number | string;
  readonly who: string | null;
  readonly what: string;
  readonly why: string;
  readonly acceptedDuplicateRisk: boolean;
  readonly invoices: number;
  readonly examples: readonly { readonly ref: string; readonly from: string; readonly move: string }[];
}

/** Lists who did what to a batch, when and why. */
export function auditTable({ texts, time, count }: OutcomeFormat, audit: readonly DoneByHand[]): SafeHtml {
  const { heads, audit: words } = texts;
  const { when, who: by, what: done, why: cause, invoices: number, examples: among } = heads;
  const rows = audit.map(({ at, who, what, why, acceptedDuplicateRisk, invoices, examples }) => [
    time(new Date(at).getTime()),
    who ?? html`<span class="soft">${words.nobody}</span>`,
    wordOf(words.actions, what),
    html`${why} ${acceptedDuplicateRisk ? html`<strong>${words.risk}</strong>` : ''}`,
    invoices === 0 && what !== 'retry' ? '' : count(invoices),
    examples.map(({ ref, from, move }) => html`<div>${ref}: ${from}, ${wordOf(words.moves, move)}</div>`),
  ]);
  return table(words.title, [{ time: when }, by, done, { text: cause }, { number }, { text: among }], rows);
}

/** Returns a word in the reader's language, or `other` without a translation. */
export function wordOf(words: Readonly<Record<string, string>>, word: string, other = word): string {
  return Object.hasOwn(words, word) ? (words[word] ?? other) : other;
}

/** Parts of the proof that are long, or that only Lote needs; report.json has them. */
const LEFT_OUT = new Set(['dialect', 'header', 'conversion']);

type Words = OutcomeTexts['proof'];

/** Says how Lote read the file, a line for each decision; report.json has what has no plain form. */
export function proofLines(proof: Readonly<Record<string, unknown>>, { texts }: OutcomeFormat): SafeHtml {
  const words = texts.proof;
  const lines = Object.entries(proof)
    .filter(([name]) => !LEFT_OUT.has(name))
    .flatMap(([name, value]) => named(words, name, value))
    .filter(([, said]) => said !== '');
  if (lines.length === 0) return html``;
  return html`<p>${words.title}</p>
    <ul>
      ${lines.map(([name, said]) => html`<li><span class="soft">${name}:</span> ${said}</li>`)}
    </ul>`;
}

function named(words: Words, name: string, value: unknown): readonly (readonly [name: string, said: string])[] {
  const shown = wordOf(words.names, name, name.replaceAll('_', ' '));
  if (!isRecord(value) || chosenOf(value) !== undefined) return [[shown, decision(words, value)]];
  // Some proofs have one decision for each column, such as decimal marks.
  return Object.entries(value).map(([column, entry]) => {
    return [fill(words.inColumn, { name: shown, column }), decision(words, entry)];
  });
}

function chosenOf(value: Readonly<Record<string, unknown>>): unknown {
  return value['name'] ?? value['value'] ?? value['mark'];
}

/** Returns a decision such as `comma, proved (row 8: 0,5)`; empty if it says nothing. */
function decision(words: Words, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return markName(words, String(value));
  if (typeof value === 'boolean') return value ? words.yes : '';
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').join(', ');
  const chosen = isRecord(value) ? chosenOf(value) : undefined;
  // With `either` no number of the column has a mark, so nothing was decided.
  if (!isRecord(value) || typeof chosen !== 'string' || value['how'] === 'either') return '';
  const how = typeof value['how'] === 'string' ? `, ${wordOf(words.how, value['how'])}` : '';
  return `${markName(words, chosen)}${how}${witness(words, value['witness'])}`;
}

function witness(words: Words, value: unknown): string {
  if (!isRecord(value)) return '';
  const { row, value: cell } = value;
  return typeof row === 'number' && typeof cell === 'string'
    ? ` ${fill(words.witness, { row: String(row), value: cell })}`
    : '';
}

/** Returns the name of a mark, because a lone comma is hard to see and a tab is invisible. */
export function markName({ marks }: Words, mark: string): string {
  const names = { ',': marks.comma, ';': marks.semicolon, '.': marks.point, '\t': marks.tab, '|': marks.bar };
  return wordOf(names, mark);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
