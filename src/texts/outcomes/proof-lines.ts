import { fill } from '../fill.ts';
import { html, type SafeHtml } from '../html.ts';
import type { OutcomeTexts } from './en.ts';
import { wordOf, type OutcomeFormat } from './outcome-html.ts';

/** Parts of the proof that are long, or that only Lote needs; they stand in report.json. */
const LEFT_OUT = new Set(['dialect', 'header', 'conversion']);

type Words = OutcomeTexts['proof'];

/** How the file was read, a line for each thing that had to be decided; what has no plain form stands in report.json. */
export function proofLines(proof: Readonly<Record<string, unknown>>, { texts }: OutcomeFormat): SafeHtml {
  const words = texts.proof;
  const lines = Object.entries(proof)
    .filter(([name]) => !LEFT_OUT.has(name))
    .flatMap(([name, value]) => named(words, name, value));
  if (lines.length === 0) return html``;
  return html`<p>${words.title}</p>
    <ul>
      ${lines.map(([name, value]) => html`<li><span class="soft">${name}:</span> ${value}</li>`)}
    </ul>`;
}

type Line = readonly [name: string, value: string];

function named(words: Words, name: string, value: unknown): readonly Line[] {
  const plain = decision(words, value);
  const shown = wordOf(words.names, name, name.replaceAll('_', ' '));
  if (plain !== null) return plain === '' ? [] : [[shown, plain]];
  if (!isRecord(value)) return [];
  // One decision for each column, as of decimal marks.
  return Object.entries(value).flatMap(([column, entry]) => {
    const said = decision(words, entry);
    return said === null || said === '' ? [] : [[fill(words.inColumn, { name: shown, column }), said] as const];
  });
}

/** `comma, proved (row 8: 0,5)`; `''` for what says nothing, null for what is no single decision. */
function decision(words: Words, value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'number') return markName(words, String(value));
  if (typeof value === 'boolean') return value ? words.yes : '';
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').join(', ');
  if (!isRecord(value)) return '';
  const chosen = value['name'] ?? value['value'] ?? value['mark'];
  if (chosen === null) return '';
  if (typeof chosen !== 'string') return null;
  // No number of the column has a mark: nothing was decided.
  if (value['how'] === 'either') return '';
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

/** The name of a mark: a lone comma is hard to see, a tab cannot be seen at all. */
export function markName({ marks }: Words, mark: string): string {
  const names = { ',': marks.comma, ';': marks.semicolon, '.': marks.point, '\t': marks.tab, '|': marks.bar };
  return wordOf(names, mark);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
