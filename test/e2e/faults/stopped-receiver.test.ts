import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { SIGNATURE_HEADER, signatureOf } from '../../../src/sandbox/deliverer.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { testFleet } from '../../support/lote/fleet.ts';

const SECRET = 'the-secret-of-this-receiver';
/** So many in a second, one by one, wait for company before they are stored. */
const EVERY_MS = 20;
/** By then the receiver knows the rate. */
const BEFORE_STOP = 150;

interface Answer {
  readonly sha256: string;
  /** Null: no answer came. */
  readonly status: number | null;
}

describe.skipIf(inject('postgresUrl') === null)('a receiver that is stopped while deliveries wait for company', () => {
  it('answers each that it has begun to read, leaves, and has in its ledger what it took', async () => {
    const { parts, database } = await testFleet({
      roles: ['receiver'],
      isProved: true,
      env: { WEBHOOK_SECRET: SECRET },
    });
    const [receiver] = parts as [RunningCommand];
    const url = /Receiver (http\S+)/.exec(receiver.output())?.[1] ?? '';
    const answers: Promise<Answer>[] = [];
    let hasLeft = false;
    const left = receiver.end.finally(() => (hasLeft = true));
    // The service goes on when the receiver has left, however long that took.
    for (let nth = 0; !hasLeft; nth += 1) {
      if (nth === BEFORE_STOP) receiver.signal('SIGTERM');
      answers.push(deliver(url, nth));
      await sleep(EVERY_MS);
    }
    answers.push(deliver(url, answers.length));
    const { code, stderr } = await left;
    const all = await Promise.all(answers);
    const took = all.filter(({ status }) => status === 204);
    const rows = await database.rows<{ sha256: string }>('SELECT sha256 FROM delivery');

    expect(code, stderr).toBe(0);
    expect(new Set(rows.map(({ sha256 }) => sha256))).toEqual(new Set(took.map(({ sha256 }) => sha256)));
    // Those that it had not begun to read have no answer, and come again.
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([204, null]));
    expect(took.length).toBeGreaterThan(BEFORE_STOP / 2);
  });
});

async function deliver(url: string, nth: number): Promise<Answer> {
  const body = JSON.stringify({ id: `evt_${nth}`, type: 'invoice.issued', data: { id: `inv_stopped_${nth}` } });
  const sha256 = createHash('sha256').update(body).digest('hex');
  const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signatureOf(body, SECRET) };
  const answer = fetch(url, { method: 'POST', body, headers }).catch(() => null);
  return { sha256, status: (await answer)?.status ?? null };
}
