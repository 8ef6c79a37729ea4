import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReportWriter } from '../../../../activities/deps.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { createReportWriter } from '../../../../src/wiring/reports/report-files.ts';
import { accepted, NOW, REASON, serviceIdOf } from '../../../contract/ledger/scenario.ts';
import { activityPlaces } from '../../activities/activity-place.ts';

/** The ledger's calls of one writing, from the first to the one after its files are in place. */
const CALLS = Array.from({ length: 14 }, (_, at) => at + 1);

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await mkdtemp(join(tmpdir(), 'lote-writers-'));
});

afterEach(() => rm(reportsDir, { recursive: true, force: true }));

/** The same ledger; its writer is stopped before its call of this number, until it is let go. */
function stoppedAt(ledger: Ledger, call: number) {
  let left = call;
  let go: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (go = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const wait = async (): Promise<void> => {
    left -= 1;
    if (left !== 0) return;
    arrive();
    await stopped;
  };
  const slow = new Proxy(ledger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'batchInvoices')
        return (...args: readonly unknown[]) => wait().then(() => Reflect.apply(value, target, args) as unknown);
      return async function* (batchId: string) {
        await wait();
        yield* target.batchInvoices(batchId);
      };
    },
  });
  return { ledger: slow, arrived, go };
}

describe('two writers of one report', () => {
  const openPlace = activityPlaces();

  it.each(CALLS)('leave the newer one, when the older was stopped before its call %i of the ledger', async (call) => {
    const { scenario, deps } = openPlace();
    const batch = await scenario.run([{ ref: 'late' }]);
    const { invoiceId } = await batch.one('late');
    const serviceId = serviceIdOf(scenario, 'late');
    await batch.send('late', accepted(serviceId));
    await deps.ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });
    await batch.finish();
    const writer = (ledger: Ledger): ReportWriter =>
      createReportWriter({
        ...{ ledger, reportsDir, dataDir: reportsDir, notes: () => [], now: () => NOW },
        profile: { profileDigest: 'of this test', baseUrl: null, now: () => NOW },
      });
    const slow = stoppedAt(deps.ledger, call);
    const ended = writer(slow.ledger)
      .write(batch.batchId)
      .then(
        () => 'written',
        (error: { code?: string }) => error.code,
      );
    await Promise.race([slow.arrived, ended]);
    await deps.ledger.recordStatus([{ invoiceId, serviceId, status: 'issued', reason: null, now: NOW + 2 }]);
    await writer(deps.ledger).write(batch.batchId);

    slow.go();
    expect(['written', 'report-superseded']).toContain(await ended);

    const report = JSON.parse(await readFile(join(reportsDir, batch.batchId, 'report.json'), 'utf8')) as {
      invoices: readonly { state: string }[];
    };
    expect(report.invoices.map(({ state }) => state)).toEqual(['issued']);
    expect((await deps.ledger.sinceReport(batch.batchId)).changes).toEqual([]);
    expect(await deps.ledger.outdatedReports(scenario.application)).toEqual([]);
  });
});
