import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { EXIT, batchExitCode } from '../../../../src/cli/output/exit-codes.ts';
import { withShortfalls } from '../../../../src/domain/batch-outcomes.ts';
import { createReportWriter } from '../../../../src/app/reports/report-files.ts';
import {
  accepted,
  delivery,
  NOW,
  REASON,
  serviceIdOf,
  type TestBatch,
  recordDeliveries,
} from '../../ledger/scenario.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { activityPlaces } from '../../activities/activity-place.ts';

const openPlace = activityPlaces();
let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

/** A place with its writer of reports, and what the reports of its batches say. */
function place() {
  const { scenario, deps } = openPlace();
  const { ledger } = deps;
  const writer = createReportWriter({
    ...{ ledger, reportsDir, dataDir: reportsDir, notes: () => [], now: () => NOW },
    profileDigest: 'of this test',
  });
  async function write({ batchId }: TestBatch) {
    const summary = await writer.write(batchId);
    const html = await readFile(summary.reports.html, 'utf8');
    return { ...summary, html, exitCode: batchExitCode(summary) };
  }
  /** An invoice whose key has brought two documents. */
  async function twice(ref: string) {
    const batch = await scenario.run([{ ref }]);
    const { invoiceId } = await batch.freeze(ref);
    const ids = [serviceIdOf(scenario, `${ref}-1`), serviceIdOf(scenario, `${ref}-2`)] as const;
    for (const id of ids) {
      const outcome = accepted(id);
      await ledger.recordSends([{ invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome }]);
    }
    const says = (serviceId: string, status: 'issued' | 'failed') =>
      ledger.recordStatus([{ invoiceId, serviceId, status, reason: REASON, now: NOW + 5 }]);
    return { batch, ids, says };
  }
  const outdated = () => ledger.outdatedReports(scenario.application);
  const shortfall = async (batch: TestBatch) => {
    const found = await withShortfalls(ledger, [{ batchId: batch.batchId, rowsWithoutInvoice: 0 }]);
    return found[0]?.shortfall;
  };
  return { scenario, ledger, writer, write, twice, outdated, shortfall };
}

describe('the report of an invoice that was issued, and that the service then called failed', () => {
  it('says so, names it, and is written once more; its state, and so the exit code, stays', async () => {
    const { scenario, ledger, writer, write, outdated, shortfall } = place();
    const batch = await scenario.run([{ ref: 'taken-back' }, { ref: 'sure' }]);
    const serviceId = serviceIdOf(scenario, 'taken-back');
    for (const ref of ['taken-back', 'sure']) await batch.send(ref, accepted(serviceIdOf(scenario, ref)));
    await recordDeliveries(
      ledger,
      [serviceId, serviceIdOf(scenario, 'sure')].map((id) => delivery(id, 'issued')),
    );
    await batch.finish();
    const before = await write(batch);

    await recordDeliveries(ledger, [delivery(serviceId, 'failed')]);
    expect(await outdated()).toEqual([batch.batchId]);
    expect(await writer.reuse(batch.batchId)).toBeNull();
    const after = await write(batch);

    expect(before.html).toContain('Everything went out: 2 invoices');
    expect(before.counts).not.toHaveProperty('contradicted');
    expect(before.exitCode).toBe(EXIT.ok);
    expect(after.counts).toMatchObject({ invoices: 2, issued: 2, contradicted: 1 });
    expect(after.exitCode).toBe(EXIT.ok);
    expect(after.html).not.toContain('Everything went out');
    expect(after.html).toContain('<section class="verdict bad"');
    expect(after.html).toContain('<strong>1 invoice went out and is in doubt');
    expect(after.html).toContain('In doubt: taken-back</strong>');
    expect(after.html).toContain('The service said that it was issued, and then that it failed.');
    expect(after.html).toContain('Invoices that went out and are in doubt: 1; before, 0.');
    expect(await shortfall(batch)).toMatchObject({ contradicted: 1, contradictedRefs: ['taken-back'] });
    expect(await outdated(), 'what it says is true now').toEqual([]);
    expect(await writer.reuse(batch.batchId)).toMatchObject({ counts: { contradicted: 1 } });
  });

  it('is in doubt also in the report of a later file that found it issued', async () => {
    const { scenario, ledger, write } = place();
    const first = await scenario.run([{ ref: 'again' }]);
    const serviceId = serviceIdOf(scenario, 'again');
    await first.send('again', accepted(serviceId));
    await recordDeliveries(ledger, [delivery(serviceId, 'issued')]);
    await first.finish();
    const second = await scenario.run([{ ref: 'again' }, { ref: 'held' }]);
    await ledger.holdUnsent(second.batchId, { reason: REASON, now: NOW });
    await recordDeliveries(ledger, [delivery(serviceId, 'failed')]);
    await second.finish();

    const { counts, html } = await write(second);

    expect(counts).toMatchObject({ 'already-issued': 1, held: 1, contradicted: 1 });
    expect(html).toContain('1 of 2 invoices is not confirmed as issued.');
    expect(html).toContain('1 invoice went out and is in doubt');
  });
});

describe('the report of a key that brought two documents', () => {
  it('has the invoice in doubt until the second one has failed, and then says that everything went out', async () => {
    const { write, twice, outdated, shortfall } = place();
    const { batch, ids, says } = await twice('two-ids');
    await says(ids[0], 'issued');
    await batch.finish();

    const before = await write(batch);
    await says(ids[1], 'failed');
    expect(await outdated(), 'no flag has changed').toEqual([batch.batchId]);
    const after = await write(batch);

    expect(before).toMatchObject({ counts: { issued: 1, contradicted: 1 }, exitCode: EXIT.ok });
    expect(before.html).toContain('The service accepted a second document of this invoice: it may exist twice.');
    expect(after.exitCode).toBe(EXIT.ok);
    expect(after.html).toContain('Everything went out: 1 invoice');
    expect(after.html).toContain('Invoices that went out and are in doubt: 0; before, 1.');
    expect(await shortfall(batch)).toMatchObject({ contradicted: 0, contradictedRefs: [] });
    expect(await outdated()).toEqual([]);
  });

  it.each([
    ['the second one is, while the first may be', null, ['second-service-id']],
    ['both are', 'issued', ['second-service-id', 'issued-in-earlier-generation']],
  ] as const)('counts what may exist twice when %s', async (_, first, contradictions) => {
    const { twice, ledger } = place();
    const { batch, ids, says } = await twice('which');
    await says(ids[1], 'issued');
    if (first !== null) await says(ids[0], first);

    expect(await batch.line('which')).toMatchObject({ state: 'issued', contradictions });
    const found = await ledger.contradictedInvoices([batch.batchId]);
    expect(found.get(batch.batchId)).toEqual({ invoices: 1, refs: ['which'] });
  });
});
