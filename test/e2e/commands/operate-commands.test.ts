import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/sandbox/engine.ts';
import type { CommandEnd } from '../../support/lote/lote-command.ts';
import { batchOf, lotePlace, readJson, type CommandBatch, type LotePlace } from '../../support/lote/running-lote.ts';
import { until } from '../../support/until.ts';

interface ReportDocument {
  readonly batch: { readonly revision: number };
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: { readonly sinceRevision: number; readonly byState: readonly unknown[] } | null;
  readonly audit: readonly { readonly at: string }[];
}

/** Longer than the send time. */
const RETENTION_MS = 15_000;
const TIMES = { LOTE_SETTLE_TIMEOUT: '30s', LOTE_SEND_TIMEOUT: '5s' };

function retry(place: LotePlace, batch: CommandBatch, ...parameters: readonly string[]): Promise<CommandEnd> {
  return place.run('retry', batch.id, '--json', ...parameters);
}

async function runFile(place: LotePlace, series: string, invoices: number): Promise<CommandEnd> {
  return place.run('run', await place.file(`${series}.csv`, { invoices, series }), '--json');
}

/** A failed document and its issued successor are no duplicate; two living documents of one content are. */
function expectIssuedOnce({ sandbox }: LotePlace, issued: number): void {
  const alive = sandbox.books().invoices.filter(({ status }) => status !== 'failed');
  expect(alive).toHaveLength(issued);
  expect(new Set(alive.map(({ bodySha256 }) => bodySha256)).size).toBe(issued);
}

/** One owner that stays up, as in production, and the commands of operators beside it; the service's own books judge. */
describe('commands of operators', () => {
  let place: LotePlace;
  /** Customers that the engine fails at the moment. */
  const failing = new Set<string>();

  const engine: Engine = {
    async process({ body }) {
      if (!failing.has(body.customer.name)) return { delayMs: 5, outcome: { status: 'issued' } };
      return { delayMs: 5, outcome: { status: 'failed', code: 'engine_down', message: 'Not now' } };
    },
  };

  beforeAll(async () => {
    place = await lotePlace({ sandbox: { engine }, env: TIMES, up: true });
  });

  afterAll(() => place.remove());

  it('retry sends failed and rejected invoices again once the cause is gone: by reference, then by state', async () => {
    for (const ordinal of [3, 7, 9]) failing.add(`Cliente Secreto ${ordinal}`);
    place.front.script = ({ body }) => (body.includes('"Artigo A/5"') ? { status: 422 } : 'pass');
    const first = await runFile(place, 'A', 12);
    const batch = batchOf(first);
    expect(first.code, first.stderr).toBe(1);
    expect(batch.counts).toMatchObject({ issued: 8, failed: 3, rejected: 1 });
    failing.clear();
    place.front.script = () => 'pass';

    const unknownRef = await retry(place, batch, '--ref', 'A/99');
    const byRef = await retry(place, batch, '--ref', 'A/3', '--reason', 'the engine is back', '--who', 'ana');
    const byState = await retry(place, batch, '--state', 'failed', '--reason', 'the engine is back', '--who', 'rui');
    const rest = await retry(place, batch, '--reason', 'the rule was wrong', '--who', 'rui');

    expect(unknownRef.code, unknownRef.stderr).toBe(64);
    expect([byRef.code, byState.code, rest.code], byRef.stderr + byState.stderr + rest.stderr).toEqual([1, 1, 0]);
    expect(batchOf(byRef).counts).toMatchObject({ issued: 9, failed: 2, rejected: 1 });
    expect(batchOf(byState).counts).toMatchObject({ issued: 11, failed: 0, rejected: 1 });
    expect(batchOf(rest).counts).toMatchObject({ issued: 12 });
    expectIssuedOnce(place, 12);
    const report = await readJson<ReportDocument>(batch.reports.json);
    expect(report.batch.revision).toBe(4);
    expect(report.audit).toMatchObject([
      { who: 'ana', why: 'the engine is back', invoices: 1, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the engine is back', invoices: 2, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the rule was wrong', invoices: 1, acceptedDuplicateRisk: false },
    ]);
  });
});

describe('retry after the retention window of the service', () => {
  let place: LotePlace;

  beforeAll(async () => {
    const profile = { idempotency: { retentionHours: RETENTION_MS / 3_600_000 } };
    place = await lotePlace({ profile, env: TIMES, up: true });
  });

  afterAll(() => place.remove());

  it('repeats an unknown invoice only at an accepted risk, with who, when and why', async () => {
    const posts = () =>
      place.front.requests.filter(({ path, body }) => path === '/v1/invoices' && body.includes('B/2'));
    place.front.script = ({ body }) => (body.includes('"Artigo B/2"') ? 'pass-and-cut' : 'pass');
    const first = await runFile(place, 'B', 4);
    const batch = batchOf(first);
    expect(batch.counts, first.stderr).toMatchObject({ issued: 3, unknown: 1 });
    place.front.script = () => 'pass';
    const before = posts().length;
    await until(() => Date.now() > (posts().at(-1)?.at ?? 0) + RETENTION_MS);

    const refused = await retry(place, batch, '--ref', 'B/2', '--reason', 'the customer asks');
    const withoutReason = await retry(place, batch, '--ref', 'B/2', '--accept-duplicate-risk');
    const sentBefore = posts().length - before;
    const why = ['--reason', 'their support sees nothing', '--who', 'ana'];
    const accepted = await retry(place, batch, '--ref', 'B/2', '--accept-duplicate-risk', ...why);

    expect([refused.code, withoutReason.code], refused.stderr + withoutReason.stderr).toEqual([1, 64]);
    expect(refused.stderr).toContain('--accept-duplicate-risk sends them all the same');
    expect(withoutReason.stderr).toContain('--reason');
    expect(sentBefore, 'POSTs without the word of an operator').toBe(0);
    expect(accepted.code, accepted.stderr).toBe(0);
    // The same key: a service that remembers longer than it promised answers with the first document.
    expect(new Set(posts().map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    expectIssuedOnce(place, 4);
    const { audit } = await readJson<ReportDocument>(batch.reports.json);
    expect(audit).toMatchObject([
      { why: 'the customer asks', invoices: 0, acceptedDuplicateRisk: false },
      { who: 'ana', why: 'their support sees nothing', invoices: 1, acceptedDuplicateRisk: true },
    ]);
    expect(audit[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });
});
