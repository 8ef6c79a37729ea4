import { beforeAll, describe, expect, inject, it } from 'vitest';
import { shared } from '../support/lifetime.ts';
import { startFleet } from '../support/lote/fleet.ts';
import { runLote } from '../support/lote/lote-command.ts';
import { checkIn, documentOf, lotePlace, type LotePlace } from '../support/lote/running-lote.ts';

const server = inject('postgresUrl');
if (server === null) console.warn('every command: the cluster is left out, because there is no PostgreSQL');

/** A worker and a receiver on a shared PostgreSQL ledger and a shared Temporal server. */
const cluster = () => startFleet({ roles: ['worker', 'receiver'] });

const PLACES = [
  ['in its own process', () => lotePlace(), { hasLedger: true }],
  ['beside the owner of the data directory', () => lotePlace({ up: true }), { hasLedger: false }],
  ...(server === null ? [] : [['as a client of a cluster', cluster, { hasLedger: true }] as const]),
] as const;

interface Batch {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
}

/** One small file with an invoice that fails, and each command after it: what does the work makes no difference. */
describe.each(PLACES)('every command %s', (_, open, { hasLedger }) => {
  const where = shared<Pick<LotePlace, 'env' | 'file' | 'remove'>>(open);
  let file: string;
  let batch: Batch;

  beforeAll(async () => {
    file = await where.file('may.csv', { invoices: 3, failing: [2] });
  });

  async function lote<T>(code: number, ...parameters: readonly string[]): Promise<T> {
    const end = await runLote([...parameters, '--json'], where.env);
    expect(end.code, `${parameters.join(' ')}: ${end.stderr}`).toBe(code);
    return documentOf(end);
  }

  it('run sends the file, once', async () => {
    await lote(0, 'check', file);
    for (const title of ['first', 'again']) {
      const { batches } = await lote<{ batches: Batch[] }>(1, 'run', file);
      expect(batches, title).toMatchObject([{ state: 'finished', counts: { issued: 2, failed: 1, invoices: 3 } }]);
      batch = batches[0] as Batch;
    }
  });

  it('status, report and find tell of it', async () => {
    const counts = { issued: 2, failed: 1 };
    const all = await lote<{ batches: Batch[] }>(0, 'status');
    expect(all).toEqual({ batches: [{ id: batch.id, file: 'may.csv', state: 'finished', counts, rowsLost: 0 }] });
    expect(await lote(0, 'status', batch.id)).toEqual(all);
    for (const follow of [[], ['--follow']]) {
      const report = await lote<{ batch: Batch }>(1, 'report', batch.id, ...follow);
      expect(report.batch).toMatchObject({ id: batch.id, state: 'finished', counts: { ...counts, invoices: 3 } });
    }
    const { found } = await lote<{ found: object[] }>(0, 'find', 'F/2');
    expect(found).toMatchObject([{ batchId: batch.id, ref: 'F/2', state: 'failed', rows: [3] }]);
    expect(await lote(1, 'find', 'nothing')).toMatchObject({ found: [] });
  });

  it('retry finds invoices by reference, and reconcile looks at the rest', async () => {
    const { batches } = await lote<{ batches: Batch[] }>(1, 'retry', batch.id, '--ref', 'F/2', '--reason', 'again');
    expect(batches).toMatchObject([{ id: batch.id, retried: { moved: 1 }, counts: { issued: 2, failed: 1 } }]);
    const { error } = await lote<{ error: object }>(64, 'retry', batch.id, '--ref', 'F/9');
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('1 of 1 are not: F/9') as string });
    expect(await lote(0, 'reconcile')).toMatchObject({ reconciliation: { serviceAway: false } });
  });

  it.each(['status', 'report', 'retry', 'confirm-total'])('%s knows no batch of another id', async (command) => {
    const more = command === 'confirm-total' ? ['--reason', 'right', '--invoices', '3'] : [];
    const { error } = await lote<{ error: object }>(64, command, 'batch-none', ...more);
    expect(error).toMatchObject({ code: 'batch-not-found' });
  });

  it('nightly is switched on, runs now, and is switched off', async () => {
    expect(await lote(0, 'nightly', 'on', '--at', '03:30')).toMatchObject({ nights: { hour: 3, minute: 30 } });
    // It lies in the drop folder, too, and one of its invoices failed.
    expect(await lote(1, 'nightly', 'now')).toMatchObject({ night: { files: 1, problems: 1 } });
    expect(await lote(0, 'nightly', 'show')).toMatchObject({ nights: { hour: 3, minute: 30 } });
    expect(await lote(0, 'nightly', 'off')).toMatchObject({ nights: null, was: true });
  });

  it('purge removes nothing that is not old', async () => {
    const purged = await lote<{ purged: { batches: object[] } }>(0, 'purge', '--older-than', '1d');
    expect(purged.purged.batches).toEqual([]);
    const { stdout } = await runLote(['purge', '--older-than', '400d', '--dry-run'], where.env);
    expect(stdout).toBe('Nothing to purge.\n');
  });

  it('confirm-service and confirm-ledger need the ledger for themselves', async () => {
    for (const command of ['confirm-service', 'confirm-ledger']) {
      const { code, stderr } = await runLote([command], where.env);
      expect(code, stderr).toBe(hasLedger ? 0 : 3);
      if (!hasLedger) expect(stderr).toContain('Stop that process first');
    }
  });

  it('doctor says what it found, and changes nothing', async () => {
    const end = await runLote(['doctor', '--json'], where.env);
    expect([0, 1]).toContain(end.code);
    for (const name of ['configuration', 'ledger', 'temporal']) expect(checkIn(end, name), name).toBeDefined();
  });
});
