import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ingested } from './ingested.ts';

/**
 * Files in which readers of invoices have gone wrong without a word. Beside each `<case>.in` stands in `<case>.expected` what an accountant expects of it:
 * that it is refused for this reason, or which invoices go out with which amounts, and how many are invalid.
 */
const FOLDER = fileURLToPath(new URL('../../golden/cases/', import.meta.url));
const CASES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.in'));

interface Expected {
  readonly refused?: string;
  readonly sent?: readonly string[];
  readonly invalid?: number;
  readonly warned?: readonly string[];
}

describe('files that were misread', () => {
  it('are 30 and more', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(30);
  });

  it.each(CASES)('%s ends as an accountant expects', async (name) => {
    const expected = JSON.parse(readFileSync(`${FOLDER}${name.slice(0, -3)}.expected`, 'utf8')) as Expected;
    const { result, invoices } = await ingested(`${FOLDER}${name}`);

    const found = result.ok ? null : result.findings[0]?.code;
    expect(found).toBe(expected.refused ?? null);
    const sent = invoices.flatMap((one) =>
      one.ok
        ? [`${one.invoice.ref}: ${one.invoice.lines.map((line) => `${line.quantity}*${line.unitPrice}`).join(' ')}`]
        : [],
    );
    expect(sent).toEqual(expected.sent ?? []);
    expect(invoices.filter(({ ok }) => !ok)).toHaveLength(expected.invalid ?? 0);
    const warned = invoices.flatMap((one) => (one.ok && one.findings.length > 0 ? [one.invoice.ref] : []));
    if (expected.warned !== undefined) expect(warned).toEqual(expected.warned);
  });
});
