import { describe, expect, it } from 'vitest';
import { applicationOf, applyChange, restoreApplications } from '../../../src/sandbox/application.ts';
import { readBooksOf } from '../../../src/sandbox/books.ts';
import type { InvoiceRecord, MerchantRecord } from '../../../src/sandbox/records.ts';
import type { StoredBooks } from '../../../src/sandbox/store/sandbox-store.ts';

function invoice(id: string, changes: Partial<InvoiceRecord> = {}): InvoiceRecord {
  return {
    id,
    applicationId: 'app_1',
    merchantId: 'mrc_1',
    idempotencyKey: null,
    bodySha256: `sha ${id}`,
    createdAt: 10,
    status: 'processing',
    error: null,
    settledAt: null,
    ...changes,
  };
}

function merchant(position: number): MerchantRecord {
  return {
    id: `mrc_${position}`,
    applicationId: 'app_1',
    nif: String(position),
    position,
    idempotencyKey: `m${position}`,
    body: '{}',
    bodySha256: '',
    createdAt: 20,
  };
}

const NOTHING: StoredBooks = {
  merchants: [],
  invoices: [],
  processingBodies: new Map(),
  webhooks: [],
  storedErrors: [],
  deliveries: [],
};

describe('restoreApplications', () => {
  it('keeps the answers of all keys, the oldest in front', () => {
    const storedError = {
      applicationId: 'app_1',
      idempotencyKey: 'e',
      path: '/v1/merchants',
      bodySha256: 'x',
      createdAt: 5,
    };
    const applications = restoreApplications({
      ...NOTHING,
      merchants: [merchant(0)],
      invoices: [invoice('inv_1', { idempotencyKey: 'i' }), invoice('inv_2')],
      storedErrors: [storedError],
    });

    const { keptAnswers } = applicationOf(applications, 'app_1');

    expect([...keptAnswers.keys()]).toEqual(['e', 'i', 'm0']);
    expect(keptAnswers.get('i')).toEqual({
      path: '/v1/invoices',
      bodySha256: 'sha inv_1',
      createdAt: 10,
      outcome: { kind: 'invoice', id: 'inv_1' },
    });
    expect(keptAnswers.get('e')?.outcome).toEqual({ kind: 'error' });
  });

  it('goes on counting merchants where it stopped', () => {
    const applications = restoreApplications({ ...NOTHING, merchants: [merchant(0), merchant(7)] });

    expect(applicationOf(applications, 'app_1').nextMerchantPosition).toBe(8);
    expect(applicationOf(applications, 'app_2').nextMerchantPosition).toBe(0);
  });
});

describe('applyChange', () => {
  it('settles the invoice of that application only', () => {
    const applications = restoreApplications({
      ...NOTHING,
      invoices: [invoice('inv_1'), invoice('inv_1', { applicationId: 'app_2' })],
    });
    const error = { code: 'no', message: 'No.' };

    applyChange(applications, {
      kind: 'settlement',
      settlement: { applicationId: 'app_2', invoiceId: 'inv_1', error, settledAt: 99 },
    });

    expect(applicationOf(applications, 'app_1').invoices.get('inv_1')?.status).toBe('processing');
    expect(applicationOf(applications, 'app_2').invoices.get('inv_1')).toMatchObject({
      status: 'failed',
      settledAt: 99,
    });
  });

  it('ignores the settlement of an invoice that is not there', () => {
    const applications = restoreApplications(NOTHING);

    applyChange(applications, {
      kind: 'settlement',
      settlement: { applicationId: 'app_1', invoiceId: 'inv_1', error: null, settledAt: 99 },
    });

    expect(readBooksOf(applications).invoices).toEqual([]);
  });
});

describe('readBooksOf', () => {
  const applications = restoreApplications({
    ...NOTHING,
    invoices: [
      invoice('inv_1', { bodySha256: 'same', idempotencyKey: 'k' }),
      invoice('inv_2', { bodySha256: 'same', status: 'issued', settledAt: 1 }),
      invoice('inv_3', { idempotencyKey: 'k', status: 'failed', settledAt: 1, error: { code: 'no', message: '' } }),
      invoice('inv_4', { bodySha256: 'same', applicationId: 'app_2', idempotencyKey: 'k' }),
      invoice('inv_5', { bodySha256: 'other' }),
    ],
  });

  it('counts by state', () => {
    expect(readBooksOf(applications).totals).toMatchObject({ invoices: 5, processing: 3, issued: 1, failed: 1 });
    expect(readBooksOf(applications, 'app_2').totals).toMatchObject({ invoices: 1, processing: 1 });
    expect(readBooksOf(applications, 'app_none').totals).toMatchObject({ invoices: 0, merchants: 0 });
  });

  it('finds duplicates by bytes and by key, within one application', () => {
    expect(readBooksOf(applications).duplicates).toEqual([
      { by: 'body', applicationId: 'app_1', value: 'same', ids: ['inv_1', 'inv_2'] },
      { by: 'idempotency-key', applicationId: 'app_1', value: 'k', ids: ['inv_1', 'inv_3'] },
    ]);
  });
});
