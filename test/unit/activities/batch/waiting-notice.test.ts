import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { guarded, type WaitingNotice } from '../../../../activities/failure.ts';
import { LoteError } from '../../../../src/domain/errors.ts';

const AWAY = new LoteError(
  'ledger-unavailable',
  'Using the ledger: the database is read-only; nothing was acknowledged',
);

async function attempts(upTo: number, end: (attempt: number) => Promise<unknown>): Promise<readonly WaitingNotice[]> {
  const notified: WaitingNotice[] = [];
  for (let attempt = 1; attempt <= upTo; attempt += 1) {
    const environment = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
    const parts = {
      log: { error: () => undefined },
      notifyWaiting: async (one: WaitingNotice) => void notified.push(one),
    };
    const run = guarded('closePage', parts, () => end(attempt));
    await environment.run(run, undefined).catch(() => undefined);
  }
  return notified;
}

describe('an activity that is repeated', () => {
  it('tells its batch why at the second, fourth, eighth failure, and that it has passed', async () => {
    const notified = await attempts(10, (attempt) => (attempt < 10 ? Promise.reject(AWAY) : Promise.resolve()));

    const why = 'ledger-unavailable: Using the ledger: the database is read-only';
    expect(notified.map(({ reason }) => reason)).toEqual([why, why, why, null]);
    expect(new Set(notified.map(({ activity }) => activity))).toEqual(new Set(['closePage']));
  });

  it('says nothing of a hiccup, and nothing of trouble that does not pass', async () => {
    expect(await attempts(2, (attempt) => (attempt < 2 ? Promise.reject(AWAY) : Promise.resolve()))).toEqual([]);
    expect(await attempts(2, () => Promise.reject(new LoteError('file-changed', 'x')))).toEqual([]);
    expect(await attempts(8, () => Promise.reject(new Error('Maria Silva')))).toEqual([]);
  });
});
