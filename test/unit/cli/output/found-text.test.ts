import { expect, it } from 'vitest';
import type { SearchAnswer } from '../../../../src/console/operations.ts';
import { foundText } from '../../../../src/cli/commands/find.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const FOUND = {
  ...{ batchId: 'batch-may-1', application: 'nord', file: 'may.csv', readAt: NOON, ordinal: 3, rows: [4, 5] },
  ...{ ref: 'F/3', merchantNif: '501964843', state: 'failed', net: '10.5', currency: 'EUR', serviceId: 'inv_3' },
  reason: { code: 'no', message: 'The tax code is not known.' },
} as Partial<SearchAnswer['found'][number]> as SearchAnswer['found'][number];

function textOf(...found: SearchAnswer['found']): string {
  return foundText({ found, lookedAt: 0, backTo: null, next: null }, 'UTC');
}

it('says of each invoice where it stands, why, and how far the search went', () => {
  const next = '2000-batch-may-1';

  expect(foundText({ found: [FOUND], lookedAt: 2000, backTo: NOON, next }, 'UTC')).toBe(
    [
      '1 invoice found:',
      '  F/3  failed',
      '    merchant 501964843, net 10.5 EUR, inv_3',
      '    may.csv, rows 4, 5, read 2026-11-21 12:00, batch batch-may-1',
      '    The tax code is not known.',
      '2000 invoices were looked at one by one, back to 2026-11-21 12:00.',
      'Older ones were not. To go on, give the same command with --after 2000-batch-may-1',
      '',
    ].join('\n'),
  );
  expect(textOf()).toBe('Nothing found.\n');
});

it('says of an invoice that went out that it is in doubt, and why, and leaves out what it does not know', () => {
  const flags = ['issued-after-failed', 'second-service-id'];
  const bare = { ...FOUND, net: null, serviceId: null, reason: null, rows: [4] };

  const text = textOf({ ...bare, state: 'issued', flags, contradictions: ['second-service-id'] });

  expect(text).toContain('\n    merchant 501964843\n    may.csv, row 4, read');
  expect(text).toContain('    The service accepted a second document of this invoice: it may exist twice.\n');
  expect(text).toContain('    flags issued-after-failed, second-service-id\n');
});

it('gives the terminal nothing that it takes for a command', () => {
  const reason = { code: 'no', message: 'no\u0007\nway' };

  const text = textOf({ ...FOUND, ref: 'F\u001b[2J', file: 'may\u001b[31m.csv', reason });

  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  expect(text).toContain('    no way\n');
});
