import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/invoice.ts';
import { isCanonicalDecimal } from '../../src/domain/money.ts';
import type { IngestOptions } from '../../src/ingest/ingest-result.ts';
import { ingestedText, removeTemporaryFiles } from '../unit/ingest/ingested.ts';
import type { Ingested } from '../unit/ingest/ingested.ts';
import { propertyRuns } from './property-runs.ts';

afterAll(removeTemporaryFiles);

const FOLDER = fileURLToPath(new URL('../golden/ingest/', import.meta.url));

/** The corpus: each file with what is declared of it. */
const FILES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.in'))
  .map((name) => {
    const options = `${FOLDER}${name.replace(/\.in$/, '.options')}`;
    return {
      bytes: readFileSync(FOLDER + name),
      options: existsSync(options) ? (JSON.parse(readFileSync(options, 'utf8')) as IngestOptions) : {},
    };
  });

/** Signs that mean something to one of the readers. */
const SIGNS = [...Array.from(',;"\n\r\t|\0{}[]:\\\uFEFF-.é\u2028=\u{1f600}'), "'", '""', '\\ud800', '1e9'];

type Mutation = (bytes: Buffer) => Buffer;

const place = fc.double({ min: 0, max: 1, noNaN: true });
const piece = fc.oneof(
  fc.constantFrom(...SIGNS).map((sign): Uint8Array => Buffer.from(sign)),
  fc.uint8Array({ maxLength: 12 }),
);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.nat({ max: 255 })).map(([at, byte]): Mutation => (bytes) => {
    const changed = Buffer.from(bytes);
    if (changed.length > 0) changed[Math.floor(at * (changed.length - 1))] = byte;
    return changed;
  }),
  // Cut off, cut out, and something put in: the parts of a file before one place and behind another, with a piece between.
  place.map(
    (at): Mutation =>
      (bytes) =>
        spliced(bytes, [at, 1], Buffer.alloc(0)),
  ),
  fc.tuple(place, place).map(
    (cuts): Mutation =>
      (bytes) =>
        spliced(bytes, cuts, Buffer.alloc(0)),
  ),
  {
    weight: 2,
    arbitrary: fc.tuple(place, piece).map(
      ([at, put]): Mutation =>
        (bytes) =>
          spliced(bytes, [at, at], put),
    ),
  },
  // The tail of another file, or a piece of this one again.
  fc.tuple(place, fc.constantFrom(...FILES), place).map(([at, other, from]): Mutation => (bytes) => {
    return spliced(bytes, [at, 1], spliced(other.bytes, [0, from], Buffer.alloc(0)));
  }),
);

/** The bytes with another piece in the place of those between two places. */
function spliced(bytes: Buffer, places: readonly number[], put: Uint8Array): Buffer {
  const [from, to] = places.map((at) => Math.floor(at * bytes.length)).toSorted((a, b) => a - b);
  return Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)]);
}

const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

function expectFinding(finding: Finding): void {
  expect(finding.code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(finding.message.length).toBeGreaterThan(20);
  expect(finding.message.length).toBeLessThan(3000);
  // PostgreSQL takes neither in its JSON.
  expect(finding.message + (finding.column ?? '')).not.toMatch(/\p{Surrogate}|\0/u);
}

/** Either rows that are all accounted for, or a refusal that says why; never half of both. */
function expectSound({ result, invoices }: Ingested): void {
  result.findings.forEach(expectFinding);
  if (!result.ok) {
    expect(result.findings.some(({ severity }) => severity === 'error')).toBe(true);
    return;
  }
  const rows = invoices.flatMap((invoice) => invoice.rows);
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows.length + result.rowsWithoutInvoice).toBe(result.rows);
  for (const invoice of invoices) {
    invoice.findings.forEach(expectFinding);
    if (!invoice.ok) expect(invoice.findings.some(({ severity }) => severity === 'error')).toBe(true);
    else
      for (const line of invoice.invoice.lines)
        expect([line.quantity, line.unitPrice].every((value) => isCanonicalDecimal(value))).toBe(true);
  }
}

describe('no input crashes ingest', () => {
  it('damaged files of the corpus end in invoices and findings, or in a refusal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FILES), mutations, async ({ bytes, options }, given) => {
        const damaged = given.reduce<Buffer>((before, mutate) => mutate(before), bytes);

        expectSound(await ingestedText(damaged, options));
      }),
      propertyRuns(1500),
    );
  });

  it('random bytes behind any beginning do so too', async () => {
    const beginnings = ['', '[', '{"invoices":[', '\uFEFF', 'sep=;\n', '"', '{"a":', '\u00ff\u00fe'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 300 }), async (beginning, random) => {
        expectSound(await ingestedText(Buffer.concat([Buffer.from(beginning, 'latin1'), random])));
      }),
      propertyRuns(500),
    );
  });
});
