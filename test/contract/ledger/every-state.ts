import type { Outcome } from '../../../src/domain/invoice-state.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import {
  accepted,
  createScenario,
  delivery,
  finishStaging,
  invalidInvoice,
  invoiceOf,
  NIF,
  NOW,
  REASON,
  validInvoice,
  type Scenario,
  type TestBatch,
} from './scenario.ts';

/** Every outcome that an invoice of a batch may have; the reference of the invoice says it. */
export const STATES: readonly Outcome[] = [
  'staged',
  'sending',
  'accepted',
  'issued',
  'failed',
  'rejected',
  'unknown',
  'unsettled',
  'held',
  'invalid',
  'conflict',
  'already-issued',
];

export const FROZEN = 'the frozen bytes';
const PAGE_SIZE = 4;
const LONG_AFTER = NOW + 1_000_000;

/** What `everyState` made. */
export interface EveryState {
  readonly batchId: string;
  readonly application: string;
}

/** Fills a ledger with a running batch that has an invoice in each of `STATES`, and with rows in the other tables. */
export async function everyState(ledger: Ledger): Promise<EveryState> {
  const scenario = createScenario(ledger);
  const { application } = scenario;
  await issuedBefore(ledger, scenario);
  const batch = await scenario.begin();
  const texts = STATES.map((ref) => ({ ref, ...(ref === 'conflict' && { unitPrice: '99' }) }));
  await ledger.stageInvoices(
    batch,
    texts.map((text, index) =>
      text.ref === 'invalid' ? invalidInvoice(index + 1, text) : validInvoice(application, invoiceOf(text), index + 1),
    ),
    NOW,
  );
  await finishStaging(ledger, batch, { invoices: texts.length, pageSize: PAGE_SIZE });

  await batch.freeze('sending', FROZEN);
  for (const ref of ['accepted', 'issued', 'failed', 'unsettled']) await batch.send(ref, accepted(`inv_${ref}`));
  await batch.send('rejected', { kind: 'rejected', reason: REASON });
  await batch.send('unknown', { kind: 'unknown', reason: REASON });
  await batch.send('held', { kind: 'held', reason: REASON });
  await ledger.recordDeliveries([delivery('inv_issued', 'issued'), delivery('inv_of_nobody', 'issued')]);
  await settleSecondPage(ledger, batch);
  await fillOtherTables(ledger, batch.batchId, application);
  return { batchId: batch.batchId, application };
}

/** An earlier batch of the application, by which later invoices are known already. */
async function issuedBefore(ledger: Ledger, scenario: Scenario): Promise<void> {
  const refs = ['already-issued', 'conflict'];
  const batch = await scenario.run(refs.map((ref) => ({ ref })));
  for (const ref of refs) {
    await batch.send(ref, accepted(`inv_before_${ref}`));
    await ledger.recordDeliveries([delivery(`inv_before_${ref}`, 'issued')]);
  }
  await batch.finish();
}

/** The page of `failed` and `unsettled`. */
async function settleSecondPage(ledger: Ledger, { batchId, fencingToken }: TestBatch): Promise<void> {
  const pending = await ledger.pendingInvoices(batchId, 2, LONG_AFTER, 10);
  const failed = pending.filter(({ serviceId }) => serviceId === 'inv_failed');
  await ledger.recordStatus(
    failed.map((one) => ({ ...one, status: 'failed' as const, reason: REASON, now: NOW + 50 })),
  );
  await ledger.closePage(batchId, 2, { acceptedBefore: LONG_AFTER, reason: REASON, now: LONG_AFTER, fencingToken });
}

async function fillOtherTables(ledger: Ledger, batchId: string, application: string): Promise<void> {
  const baseUrl = 'https://invoicing.example';
  const place = { baseUrl, application, url: 'https://hooks.example/webhooks' };
  await ledger.saveMerchants(application, [{ nif: NIF, merchantId: 'mrc_1' }]);
  await ledger.rememberAccount({ application, baseUrl, keyFingerprint: 'fingerprint' }, NOW);
  await ledger.claimEndpoint(place, { claimant: 'one', ttlMs: 60_000 });
  await ledger.saveEndpoint({ ...place, secret: 'whsec_of_a_test' }, NOW);
  await ledger.noteMisfits('digest', [{ code: 'answers-unreadable', message: 'A test', times: 1, at: NOW }]);
  await ledger.settleFolderMark(application, 'input', 'mark');
  await ledger.raiseSendingMark('scope', ledger.id);
  await ledger.leaseRate(baseUrl, { requests: 1, requestsPerSecond: 5 });
  await ledger.retryInvoices({
    batchId,
    selection: { states: ['rejected'] },
    policy: { maxGenerations: 3, retentionMs: 1_000, rejectionIsProof: false, acceptDuplicateRisk: false, now: NOW },
    action: { actionId: 'action-1', who: 'ana', why: 'a test' },
  });
}
