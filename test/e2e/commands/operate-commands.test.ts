import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import type { Engine } from '../../../src/sandbox/engine.ts';
import type { CommandEnd } from '../../support/lote/lote-command.ts';
import { batchOf, lotePlace, reportOf, type CommandBatch, type LotePlace } from '../../support/lote/running-lote.ts';
import { until } from '../../support/until.ts';

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
  /** Customers that the engine fails at the moment. */
  const failing = new Set<string>();

  const engine: Engine = {
    async process({ body }) {
      if (!failing.has(body.customer.name)) return { delayMs: 5, outcome: { status: 'issued' } };
      return { delayMs: 5, outcome: { status: 'failed', code: 'engine_down', message: 'Not now' } };
    },
  };

  const place = shared(() => lotePlace({ sandbox: { engine }, env: TIMES, up: true }));

  it('retry sends failed and rejected invoices again once the cause is gone: by reference, then by state', async () => {
    for (const ordinal of [3, 7, 9]) failing.add(`Cliente Secreto ${ordinal}`);
    place.front.script = ({ body }) => (body.includes('"Artigo A/5"') ? { status: 422 } : 'pass');
    const first = await runFile(place, 'A', 12);
    const batch = batchOf(first);
    expect(first.code, first.stderr).toBe(1);
    expect(batch.counts).toMatchObject({ issued: 8, failed: 3, rejected: 1 });
    failing.clear();
    place.front.script = () => 'pass';

    const unknownRef = await retry(place, batch, '--ref', 'A/3', '--ref', 'A/99');
    const byRef = await retry(place, batch, '--ref', 'A/3', '--reason', 'the engine is back', '--who', 'ana');
    const byState = await retry(place, batch, '--state', 'failed', '--reason', 'the engine is back', '--who', 'rui');
    const rest = await retry(place, batch, '--reason', 'the rule was wrong', '--who', 'rui');

    expect(unknownRef.code, unknownRef.stderr).toBe(64);
    expect(unknownRef.stderr).toContain('1 of 2 are not: A/99. Nothing was sent.');
    expect([byRef.code, byState.code, rest.code], byRef.stderr + byState.stderr + rest.stderr).toEqual([1, 1, 0]);
    expect(batchOf(byRef).counts).toMatchObject({ issued: 9, failed: 2, rejected: 1 });
    expect(batchOf(byState).counts).toMatchObject({ issued: 11, failed: 0, rejected: 1 });
    expect(batchOf(rest).counts).toMatchObject({ issued: 12 });
    expectIssuedOnce(place, 12);
    const report = await reportOf(batch);
    expect(report.batch.revision).toBe(4);
    expect(report.audit).toMatchObject([
      { who: 'ana', why: 'the engine is back', invoices: 1, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the engine is back', invoices: 2, acceptedDuplicateRisk: false },
      { who: 'rui', why: 'the rule was wrong', invoices: 1, acceptedDuplicateRisk: false },
    ]);
  });
});

describe('retry after the retention window of the service', () => {
  const profile = { idempotency: { retentionHours: RETENTION_MS / 3_600_000 } };
  const place = shared(() => lotePlace({ profile, env: TIMES, up: true }));

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
    const { audit } = await reportOf(batch);
    expect(audit).toMatchObject([
      { why: 'the customer asks', invoices: 0, acceptedDuplicateRisk: false },
      { who: 'ana', why: 'their support sees nothing', invoices: 1, acceptedDuplicateRisk: true },
    ]);
    expect(audit[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
  });
});

interface Listed {
  readonly batches: readonly {
    readonly batchId: string;
    readonly file: string;
    readonly counts: Record<string, number>;
  }[];
}

/** A service whose refusals prove nothing. */
const NO_PROOF = { idempotency: { mismatchCodes: [] } };

describe('operators beside one owner', () => {
  const place = shared(() => lotePlace({ up: true, profile: NO_PROOF }));

  it('replace what was rejected by a corrected file only with the accepted risk of a duplicate, as a retry does', async () => {
    const file = await place.file('a.csv', { invoices: 2 });
    // The refused content stays refused: its key is asked once more before the corrected content is sent.
    place.front.script = ({ method, path, body }) =>
      method === 'POST' && path === '/v1/invoices' && body.includes('Cliente Secreto')
        ? { status: 422, json: { error: { code: 'no', message: 'No.' } } }
        : 'pass';
    expect(batchOf(await place.run('run', '--json', file)).counts).toMatchObject({ rejected: 2 });
    const corrected = await place.file('b.csv', { invoices: 2 });
    await writeFile(corrected, (await readFile(file, 'utf8')).replaceAll('Cliente Secreto', 'Cliente Corrigido'));

    const refused = batchOf(await place.run('run', '--json', corrected));
    place.expectIssued(0);
    const corrections = refused.reports.corrections ?? '';
    const accepted = batchOf(await place.run('run', '--json', corrections, '--accept-duplicate-risk'));
    place.front.script = () => 'pass';

    expect(refused).toMatchObject({ exitCode: 1, counts: { conflict: 2 } });
    expect(accepted).toMatchObject({ exitCode: 0, counts: { issued: 2 } });
    place.expectIssued(2);
  });

  it('confirm a total: a wrong number is refused, and the right one sends the held batch', async () => {
    const week = await Promise.all(
      [1, 2, 3, 4, 5].map((day) => place.file(`may_${day}.csv`, { invoices: 2, series: `W${day}` })),
    );
    expect((await place.run('run', ...week)).code).toBe(0);
    const held = place.run('run', await place.file('may_6.csv', { invoices: 22, series: 'H' }), '--json');
    // Of the owner: to ask by command starts one each time.
    const heldBatch = async () =>
      ((await (await fetch(`${place.console}/api/batches`)).json()) as Listed).batches.find(
        (batch) => batch.file === 'may_6.csv' && batch.counts['held'] === 22,
      );
    await until(async () => (await heldBatch()) !== undefined);
    const { batchId: id } = (await heldBatch()) ?? { batchId: '' };

    const status = (await place.run('status', id)).stdout;
    expect(status).toContain(`Batch ${id}: held`);
    expect(status).toContain('22 invoices, usually 2');
    expect(status).toContain(`lote confirm-total ${id} --invoices 22`);

    const wrong = await place.run('confirm-total', id, '--invoices', '21', '--reason', 'guess');
    expect(wrong).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('that of the file, 22; found 21') as string,
    });
    const unasked = await place.run('confirm-total', id, '--reason', 'nobody sits there');
    expect(unasked).toMatchObject({ code: 64, stderr: expect.stringContaining('--invoices') as string });
    expect((await heldBatch())?.counts).toMatchObject({ held: 22 });

    const right = await place.run('confirm-total', id, '--invoices', '22', '--reason', 'looked at', '--json');
    expect(right.code).toBe(0);
    expect(batchOf(right).counts).toMatchObject({ issued: 22 });
    expect((await held).code).toBe(0);
  });
});
