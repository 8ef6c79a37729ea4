import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/domain/invoice.ts';
import { confirmedOptions, type MappingOptions } from '../../support/files/confirmed-layout.ts';
import { ingested, ingestedAsIs, type Ingested } from './ingested.ts';

/**
 * Files in which readers of invoices have gone wrong without a word (`cases`), and files of other programs (`workbooks`, whose `README.md` says which).
 * Beside each stands in `<file>.expected`, or `<case>.expected` for `<case>.in`, what a person has worked out that it says.
 */
const GOLDEN = fileURLToPath(new URL('../../golden/', import.meta.url));
const FILES = ['cases', 'workbooks'].flatMap((folder) =>
  readdirSync(GOLDEN + folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:in|csv|json|xlsx|xlsm|ods)$/u.test(name) && !/^(?:generators|saved-again)\//u.test(name))
    .map((name) => `${folder}/${name}`),
);

interface Expected {
  /** What a person says of columns that the file asks about; null: no answer is in the file. Left out: the proposal is saved. */
  readonly answer?: MappingOptions | null;
  /** The code of the refusal. */
  readonly refused?: string;
  /** Reference and quantity*price of each line of every invoice that may go out, with buyer and description where they matter. */
  readonly sent?: readonly string[];
  /** Reference of every other invoice -> codes of errors that keep it from going out. */
  readonly held?: Readonly<Record<string, readonly string[]>>;
  /** How many others there are. */
  readonly invalid?: number;
  /** References of invoices that go out with a finding. */
  readonly warned?: readonly string[];
  /** Codes of findings about the file or a row in no invoice. */
  readonly said?: readonly string[];
}

function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ code }) => code);
}

function sentLike(expected: readonly string[], { invoices }: Ingested): readonly string[] {
  const valid = invoices.flatMap((one) => (one.ok ? [one.invoice] : []));
  return valid.map(({ ref, customer, lines }, at) => {
    const shows = (text: string): boolean => expected[at]?.includes(text) === true;
    const words = lines.map(
      ({ quantity, unitPrice, description }) =>
        `${quantity}*${unitPrice}${shows(` ${description}`) ? ` ${description}` : ''}`,
    );
    return `${ref}${shows(' to ') ? ` to ${customer.name}` : ''}: ${words.join(' ')}`;
  });
}

/** Reads a file that may not be read by what its headers resemble, once a person has confirmed its columns. */
async function answered(path: string, answer: MappingOptions): Promise<Ingested> {
  const read = await ingestedAsIs(path, (await confirmedOptions(path, answer)) ?? expect.fail('nothing was saved'));
  const skipped = read.result.findings.reduce((sum, { rows = 0 }) => sum + rows, 0);
  const inInvoices = read.invoices.reduce((sum, { rows }) => sum + rows.length, 0);
  expect(inInvoices + skipped).toBe(read.result.rows);
  return read;
}

describe('a file', () => {
  it.each(FILES)('%s reads as a person expects', async (name) => {
    const path = GOLDEN + name;
    const beside = `${path.replace(/\.in$/u, '')}.expected`;
    expect(existsSync(beside), `${beside} is missing`).toBe(true);
    const { answer, ...expected } = JSON.parse(readFileSync(beside, 'utf8')) as Expected;
    if (answer !== undefined)
      expect((await ingestedAsIs(path)).result).toMatchObject({
        ok: false,
        findings: [{ code: 'layout-unconfirmed' }],
      });
    if (answer === null) return;

    const read = await (answer === undefined ? ingested(path) : answered(path, answer));

    const { result, invoices } = read;
    const { sent = [], held, invalid = 0, warned, said } = expected;
    expect(result.ok ? undefined : result.findings[0]?.code).toBe(expected.refused);
    expect(sentLike(sent, read)).toEqual(sent);
    if (name.startsWith('workbooks/'))
      for (const one of invoices)
        if (one.ok) expect([one.invoice.merchant.nif, one.invoice.currency]).toEqual(['501964843', 'EUR']);
    const wrong = invoices.filter(({ ok }) => !ok);
    if (held !== undefined)
      expect(wrong.map((one) => (one.ok ? '' : one.ref)).toSorted()).toEqual(Object.keys(held).toSorted());
    else if (answer === undefined) expect(wrong).toHaveLength(invalid);
    for (const one of wrong)
      if (!one.ok && held !== undefined)
        expect(codesOf(one.findings)).toEqual(expect.arrayContaining([...(held[one.ref] ?? [])]));
    const withFindings = invoices.flatMap((one) => (one.ok && one.findings.length > 0 ? [one.invoice.ref] : []));
    if (warned !== undefined) expect(withFindings).toEqual(warned);
    if (said !== undefined) expect(codesOf(result.findings).toSorted()).toEqual([...said].toSorted());
  });

  it('is there for each of a hundred and more', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(115);
  });
});
