import { html, type SafeHtml } from './html.ts';

/** Parts of the proof that are long, or that only Lote needs; they stand in report.json. */
const LEFT_OUT = new Set(['dialect', 'header', 'conversion']);

/** How the file was read, a line for each thing that had to be decided; what has no plain form stands in report.json. */
export function proofLines(proof: Readonly<Record<string, unknown>>): SafeHtml {
  const lines = Object.entries(proof)
    .filter(([name]) => !LEFT_OUT.has(name))
    .flatMap(([name, value]) => named(name, value));
  if (lines.length === 0) return html``;
  return html`<p>How it was read:</p>
    <ul>
      ${lines.map(([name, value]) => html`<li><span class="soft">${name}:</span> ${value}</li>`)}
    </ul>`;
}

type Line = readonly [name: string, value: string];

function named(name: string, value: unknown): readonly Line[] {
  const plain = decision(value);
  if (plain !== null) return plain === '' ? [] : [[name.replaceAll('_', ' '), plain]];
  if (!isRecord(value)) return [];
  // One decision for each column, as of decimal marks.
  return Object.entries(value).flatMap(([part, entry]) => {
    const said = decision(entry);
    return said === null || said === '' ? [] : [[`${name} in ${part}`, said] as const];
  });
}

/** `comma, proved (row 8: 0,5)`; `''` for what says nothing, null for what is no single decision. */
function decision(value: unknown): string | null {
  if (typeof value === 'string' || typeof value === 'number') return markName(String(value));
  if (typeof value === 'boolean') return value ? 'yes' : '';
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').join(', ');
  if (!isRecord(value)) return '';
  const chosen = value['name'] ?? value['value'] ?? value['mark'];
  if (chosen === null) return '';
  if (typeof chosen !== 'string') return null;
  // No number of the column has a mark: nothing was decided.
  if (value['how'] === 'either') return '';
  const how = typeof value['how'] === 'string' ? `, ${value['how']}` : '';
  return `${markName(chosen)}${how}${witness(value['witness'])}`;
}

function witness(value: unknown): string {
  if (!isRecord(value)) return '';
  const { row, value: cell } = value;
  return typeof row === 'number' && typeof cell === 'string' ? ` (row ${row}: ${cell})` : '';
}

/** A lone comma is hard to see, a tab cannot be seen at all. */
function markName(mark: string): string {
  return { ',': 'comma', ';': 'semicolon', '.': 'point', '\t': 'tab', '|': 'bar' }[mark] ?? mark;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
