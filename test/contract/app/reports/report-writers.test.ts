import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ReportWriter } from '../../../../activities/deps.ts';
import { createReportWriter } from '../../../../src/app/reports/report-files.ts';
import {
  accepted,
  delivery,
  invoiceOf,
  NOW,
  REASON,
  serviceIdOf,
  validInvoice,
  recordDeliveries,
} from '../../ledger/scenario.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { activityPlaces } from '../../activities/activity-place.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** The ledger's calls of one writing, from the first to the one after its files are in place. */
const CALLS = Array.from({ length: 14 }, (_, at) => at + 1);

const openPlace = activityPlaces();
let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

function writer(ledger: Ledger): ReportWriter {
  return createReportWriter({
    ...{ ledger, reportsDir, dataDir: reportsDir, notes: () => [], now: () => NOW },
    profileDigest: 'of this test',
  });
}

/** A batch with one invoice that the service has accepted. */
async function sentBatch(ref: string) {
  const { scenario, deps } = openPlace();
  const { ledger } = deps;
  const batch = await scenario.run([{ ref }]);
  const { invoiceId } = await batch.one(ref);
  const serviceId = serviceIdOf(scenario, ref);
  await batch.send(ref, accepted(serviceId));
  const { application } = scenario;
  return {
    ...{ ledger, batch, invoiceId, serviceId, application },
    /** The service says so by GET. */
    says: (status: 'issued' | 'failed', now = NOW) =>
      ledger.recordStatus([{ invoiceId, serviceId, status, reason: status === 'failed' ? REASON : null, now }]),
    /** Its page ends without a final word, and its batch with it. */
    async close() {
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });
      await batch.finish();
    },
    purge: () => ledger.purge({ before: NOW + 10, dryRun: false, now: NOW + 100, application }),
  };
}

/** How writing it ended. */
function writeWith(ledger: Ledger, batchId: string): Promise<string | undefined> {
  return writer(ledger)
    .write(batchId)
    .then(
      () => 'written',
      (error: { code?: string }) => error.code,
    );
}

async function reportedStates(batchId: string): Promise<readonly string[]> {
  const report = JSON.parse(await readFile(join(reportsDir, batchId, 'report.json'), 'utf8')) as {
    invoices: readonly { state: string }[];
  };
  return report.invoices.map(({ state }) => state);
}

/** The same ledger; its writer is stopped before its call of this number, or its first one of this name, until it is let go. */
function stoppedAt(ledger: Ledger, call: number | keyof Ledger) {
  let left = typeof call === 'number' ? call : 1;
  let go: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (go = resolve));
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const wait = async (name: string | symbol): Promise<void> => {
    if (typeof call === 'number' || name === call) left -= 1;
    else return;
    if (left !== 0) return;
    arrive();
    await stopped;
  };
  const slow = new Proxy(ledger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'batchInvoices')
        return (...args: readonly unknown[]) => wait(name).then(() => Reflect.apply(value, target, args) as unknown);
      return async function* (batchId: string) {
        await wait(name);
        yield* target.batchInvoices(batchId);
      };
    },
  });
  return { ledger: slow, arrived, go };
}

/** The same ledger; its writer stops before it puts files in place, goes on when it is let go, and dies before its next call. */
function killedAfterPlacing(ledger: Ledger) {
  const gate = { go: (): void => undefined, arrive: (): void => undefined };
  const stopped = new Promise<void>((resolve) => (gate.go = resolve));
  const arrived = new Promise<void>((resolve) => (gate.arrive = resolve));
  let looks = 0;
  const late: Ledger = {
    ...ledger,
    async sinceReport(batchId) {
      const since = await ledger.sinceReport(batchId);
      looks += 1;
      // The second look is the last call before the files are put in place.
      if (looks !== 2) return since;
      gate.arrive();
      await stopped;
      return since;
    },
    noteReported: () => Promise.reject(new Error('killed')),
  };
  return { ledger: late, arrived, go: () => gate.go() };
}

describe('two writers of one report', () => {
  it.each(CALLS)('leave the newer one, when the older was stopped before its call %i of the ledger', async (call) => {
    const { ledger, batch, application, says, close } = await sentBatch('late');
    await close();
    const slow = stoppedAt(ledger, call);
    const ended = writeWith(slow.ledger, batch.batchId);
    await Promise.race([slow.arrived, ended]);
    await says('issued', NOW + 2);
    await writer(ledger).write(batch.batchId);

    slow.go();
    expect(['written', 'report-superseded']).toContain(await ended);

    expect(await reportedStates(batch.batchId)).toEqual(['issued']);
    expect((await ledger.sinceReport(batch.batchId)).changes).toEqual([]);
    expect(await ledger.outdatedReports(application)).toEqual([]);
  });

  it('leave a report outdated that gives the reason of before, because it was read before the reason changed', async () => {
    const { scenario, deps } = openPlace();
    const { ledger } = deps;
    const batch = await scenario.run([{ ref: 'reason' }]);
    await batch.send('reason', { kind: 'unknown', reason: REASON });
    await batch.finish();
    await writer(ledger).write(batch.batchId);
    const slow = stoppedAt(ledger, 'noteReported');
    const ended = writeWith(slow.ledger, batch.batchId);
    await slow.arrived;
    const over = { code: 'retention-window-over', message: 'Ask the service.' };
    const end = { application: scenario.application, now: NOW + 1, frozenUntil: NOW, reason: over, messageAhead: '' };
    expect(await ledger.endRepeats(end)).toBe(1);

    slow.go();

    expect(await ended).toBe('written');
    expect(await ledger.outdatedReports(scenario.application)).toEqual([batch.batchId]);
    await writer(ledger).write(batch.batchId);
    expect(await ledger.outdatedReports(scenario.application)).toEqual([]);
  });

  /** A batch with one invoice without a final word, and a writer of its report that has read it and has put nothing in place yet. */
  async function withLateWriter(ref: string) {
    const sent = await sentBatch(ref);
    await sent.close();
    const late = killedAfterPlacing(sent.ledger);
    const ended = writeWith(late.ledger, sent.batch.batchId);
    await late.arrived;
    return { ...sent, late, ended };
  }

  it('leave the newer one, when the older was stopped before it put its files in place and killed after', async () => {
    const { ledger, batch, late, ended, says } = await withLateWriter('killed');
    await says('issued', NOW + 2);
    await writer(ledger).write(batch.batchId);

    late.go();

    expect(await ended).toBe('report-superseded');
    expect(await reportedStates(batch.batchId)).toEqual(['issued']);
    const csv = await readFile(join(reportsDir, batch.batchId, 'report.csv'), 'utf8');
    expect(csv).toContain('issued');
    expect(csv).not.toContain('unsettled');
  });

  it('leave the corrections of the newer one, also when the older has none to put in place', async () => {
    const { ledger, batch, late, ended } = await withLateWriter('corrections');
    const directory = join(reportsDir, batch.batchId);
    await writer(ledger).write(batch.batchId);
    await writeFile(join(directory, 'corrections.csv'), 'of the newer one');

    late.go();

    expect(await ended).toBe('report-superseded');
    expect(await readFile(join(directory, 'corrections.csv'), 'utf8')).toBe('of the newer one');
    const files = ['corrections.csv', 'report.csv', 'report.html', 'report.json'];
    expect((await readdir(directory)).toSorted()).toEqual(files);
  });

  it('do not wait for each other: the older one ends while the newer one has only begun', async () => {
    const { scenario, deps } = openPlace();
    const batch = await scenario.run([{ ref: 'large' }]);
    await deps.ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });
    await batch.finish();
    const older = stoppedAt(deps.ledger, 'batchInvoices');
    const newer = stoppedAt(deps.ledger, 'batchInvoices');
    const olderEnded = writeWith(older.ledger, batch.batchId);
    await older.arrived;
    const newerEnded = writeWith(newer.ledger, batch.batchId);
    await newer.arrived;

    older.go();

    expect(await olderEnded).toBe('written');
    expect(await reportedStates(batch.batchId)).toEqual(['held']);
    newer.go();
    expect(await newerEnded).toBe('written');
  });
});

describe('the report of a file that was refused', () => {
  async function refused() {
    const place = openPlace();
    const batch = await place.scenario.begin();
    await place.deps.ledger.refuseBatch(batch, { rows: 0, fileFindings: [], proof: {}, now: NOW });
    const dropAgain = () => batch.claim({ workflowId: 'workflow-2', runId: 'run-2', now: NOW + 1 });
    return { batch, dropAgain, ledger: place.deps.ledger };
  }

  it('is superseded when the file is dropped again while it is written', async () => {
    const { batch, dropAgain, ledger } = await refused();
    const slow = stoppedAt(ledger, 'nextRevision');
    const ended = writeWith(slow.ledger, batch.batchId);
    await slow.arrived;

    await dropAgain();
    slow.go();

    expect(await ended).toBe('report-superseded');
  });

  it('is reused until the file was dropped again and its batch has ended', async () => {
    const { batch, dropAgain, ledger } = await refused();
    await writer(ledger).write(batch.batchId);
    const before = await writer(ledger).reuse(batch.batchId);
    await dropAgain();
    await batch.stage('read');
    await batch.finish();

    expect(before).toMatchObject({ state: 'refused' });
    expect(await writer(ledger).reuse(batch.batchId)).toBeNull();
  });

  it('is reused no more when the service has contradicted itself about an invoice whose state stays', async () => {
    const { ledger, batch, serviceId } = await sentBatch('contradicted');
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    await batch.finish();
    await writer(ledger).write(batch.batchId);
    const before = await writer(ledger).reuse(batch.batchId);

    await recordDeliveries(ledger, [delivery(serviceId, 'failed')]);

    expect(before).toMatchObject({ counts: { issued: 1 } });
    expect(await batch.line('contradicted')).toMatchObject({ state: 'issued', flags: ['failed-after-issued'] });
    expect(await writer(ledger).reuse(batch.batchId)).toBeNull();
  });
});

describe('a reports folder that was restored from an older copy', () => {
  it('has no report that is reused where the ledger knows a newer one of the same end', async () => {
    const { ledger, batch, serviceId, says } = await sentBatch('late-issue');
    await says('failed');
    await batch.finish();
    await writer(ledger).write(batch.batchId);
    const json = join(reportsDir, batch.batchId, 'report.json');
    const copy = await readFile(json);
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    await writer(ledger).write(batch.batchId);
    const newest = await writer(ledger).reuse(batch.batchId);

    await writeFile(json, copy);

    expect(newest).toMatchObject({ counts: { issued: 1 } });
    expect(await writer(ledger).reuse(batch.batchId)).toBeNull();
  });
});

describe('the report of a purged batch', () => {
  it('is written once more when late news move one of its invoices, and then says what the ledger says', async () => {
    const { ledger, batch, serviceId, application, says, purge } = await sentBatch('old');
    await says('failed');
    await batch.finish();
    await writer(ledger).write(batch.batchId);
    await purge();
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    const outdated = await ledger.outdatedReports(application);

    await writer(ledger).write(batch.batchId);

    expect(outdated).toEqual([batch.batchId]);
    expect(await reportedStates(batch.batchId)).toEqual(['issued']);
    expect(await ledger.outdatedReports(application)).toEqual([]);
  });

  it('has its amounts in the mark of the file, whose copy is gone', async () => {
    const { scenario, deps } = openPlace();
    const batch = await scenario.begin();
    const invoice = invoiceOf({ ref: 'comma', unitPrice: '1234.25' });
    await deps.ledger.stageInvoices(batch, [validInvoice(scenario.application, invoice, 1)], NOW);
    const comma = { mark: ',', how: 'proved' };
    await deps.ledger.finishStaging(batch, {
      ...{ rows: 1, rowsWithoutInvoice: 0, invoices: 1, pageSize: 2, fileFindings: [] },
      proof: { decimal: comma },
    });
    await batch.send('comma', accepted(serviceIdOf(scenario, 'comma')));
    await batch.finish();

    const { reports } = await writer(deps.ledger).write(batch.batchId);

    expect(await readFile(reports.csv, 'utf8')).toContain(';"2468,5";');
  });

  it('says what rows it lost, and counts no totals row among them, also when all of its invoices are issued', async () => {
    const { scenario, deps } = openPlace();
    const { ledger } = deps;
    const batch = await scenario.begin();
    await ledger.stageInvoices(batch, [validInvoice(scenario.application, invoiceOf({ ref: 'late' }), 1)], NOW);
    const about = { column: null, severity: 'error' } as const;
    await ledger.finishStaging(batch, {
      ...{ rows: 3, rowsWithoutInvoice: 2, invoices: 1, pageSize: 2, proof: {} },
      fileFindings: [
        { ...about, row: 3, code: 'reference-missing', message: 'Row 3 of Maria has no reference' },
        { ...about, row: 4, code: 'totals-row', message: 'Row 4 ("Total Maria") is one', severity: 'warning' },
      ],
    });
    const serviceId = serviceIdOf(scenario, 'late-total');
    const { invoiceId } = await batch.one('late');
    await batch.send('late', accepted(serviceId));
    await ledger.recordStatus([{ invoiceId, serviceId, status: 'failed', reason: REASON, now: NOW }]);
    await batch.finish();
    await writer(ledger).write(batch.batchId);
    await ledger.purge({ before: NOW + 10, dryRun: false, now: NOW + 100, application: scenario.application });
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);

    const { counts, reports } = await writer(ledger).write(batch.batchId);

    expect(counts).toMatchObject({ issued: 1, rowsWithoutInvoice: 2, rowsLost: 1 });
    const html = await readFile(reports.html, 'utf8');
    expect(html).toMatch(/rows? belongs? to no invoice/u);
    expect(html).not.toContain('Maria');
  });

  it('is written by the next reconciliation when the purge came before any report of the batch', async () => {
    const { scenario, deps } = openPlace();
    const { ledger } = deps;
    const batch = await scenario.run([{ ref: 'unreported' }]);
    await batch.send('unreported', { kind: 'rejected', reason: REASON });
    await batch.finish();
    await ledger.purge({ before: NOW + 10, dryRun: false, now: NOW + 100, application: scenario.application });
    const unreported = () =>
      ledger.unreportedBatches(scenario.application).then((runs) => runs.map(({ batchId }) => batchId));
    const before = await unreported();

    await writer(ledger).write(batch.batchId);

    expect(before).toEqual([batch.batchId]);
    expect(await reportedStates(batch.batchId)).toEqual(['rejected']);
    expect(await unreported()).toEqual([]);
  });
});

describe('a report that is there', () => {
  async function reported() {
    const { scenario, deps } = openPlace();
    const batch = await scenario.run([{ ref: 'there' }]);
    await batch.send('there', { kind: 'rejected', reason: REASON });
    await batch.finish();
    await writer(deps.ledger).write(batch.batchId);
    return { batch, ledger: deps.ledger, directory: join(reportsDir, batch.batchId) };
  }

  it.each(['', '{"counts": {', 'null', '{}'])('is not reused when its file is damaged: %j', async (text) => {
    const { batch, ledger, directory } = await reported();
    await writeFile(join(directory, 'report.json'), text);

    expect(await writer(ledger).reuse(batch.batchId)).toBeNull();
  });

  it('is not missing when the batch was ended by a worker whose clock is ahead', async () => {
    const { scenario, deps } = openPlace();
    const batch = await scenario.run([{ ref: 'ahead' }]);
    await batch.send('ahead', { kind: 'rejected', reason: REASON });
    await deps.ledger.setBatchState(batch.batchId, 'finished', NOW + 86_400_000);
    const before = await deps.ledger.unreportedBatches(scenario.application);

    await writer(deps.ledger).write(batch.batchId);

    expect(before).toHaveLength(1);
    expect(await deps.ledger.unreportedBatches(scenario.application)).toEqual([]);
  });
});
