import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SERVICE_IDS_REPEATED } from '../../../src/domain/calibration-state.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import type { FrontAction, FrontRequest } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

const INVOICES = 300;
/** A proxy that falls behind keeps the next answer of each connection back for so long, in milliseconds, unless that is closed. */
const KEPT_BACK_MS = 3_000;
const OPTIONS = { profile: { limits: { maxConcurrency: 4 } }, env: { LOTE_PAGE_SIZE: '300' } };

/**
 * A proxy between Lote and the service. At these POSTs of the batch (counted from 1; later, where the connection is new) it sends the answer before once more,
 * and is one answer behind on that connection from then on.
 */
function oneAnswerBehind(stack: TestStack, ...starts: readonly number[]): { readonly given: Map<string, string> } {
  const left = [...starts];
  const before = new Map<number, FrontRequest>();
  const behind = new Set<number>();
  const given = new Map<string, string>();
  let posts = 0;
  let newest = 0;
  const keptBack = new Set<number>();
  let keepsBack = 0;
  stack.front.script = async (request): Promise<FrontAction> => {
    const { connection, closed, key, nth } = request;
    newest = Math.max(newest, connection);
    if (request.method !== 'POST' || request.path !== '/v1/invoices') return 'pass';
    posts += 1;
    const last = before.get(connection);
    before.set(connection, request);
    const begins = posts >= (left[0] ?? Infinity) && last !== undefined && nth === 1 && connection > keepsBack;
    if (begins) {
      left.shift();
      behind.add(connection);
      keepsBack = newest;
    } else if (connection <= keepsBack && !keptBack.has(connection)) {
      keptBack.add(connection);
      await sleep(KEPT_BACK_MS, undefined, { signal: closed }).catch(() => undefined);
    }
    if (!behind.has(connection) || last === undefined || closed.aborted) return 'pass';
    const id = idOf(stack, last.key);
    given.set(key ?? '', id);
    return { status: 201, json: { id, status: 'processing' }, afterPassing: true };
  };
  return { given };
}

/** The document that a key created. */
function idOf(stack: TestStack, key: string | null): string {
  return stack.sandbox.books().invoices.find(({ idempotencyKey }) => idempotencyKey === key)?.id ?? '';
}

function keysUsed(stack: TestStack): number {
  return new Set(stack.posts().map(({ key }) => key)).size;
}

describe('an id that two invoices got', { concurrent: true }, () => {
  it('puts both in doubt, and no answer of the connections of that time is taken any more', async () => {
    await withStack(OPTIONS, async (stack) => {
      const { given } = oneAnswerBehind(stack, 150);

      const result = await stack.run('behind.csv', testInvoices(INVOICES));

      const lines = await stack.lines(result.batchId);
      const other = lines.filter(({ idempotencyKey, serviceId }) => serviceId !== idOf(stack, idempotencyKey));
      expect(other.map(({ state, reason }) => [state, reason?.code])).toEqual([['unknown', 'service-id-taken']]);
      const sharedId = given.get(other[0]?.idempotencyKey ?? '');
      const owner = lines.find(({ serviceId }) => serviceId === sharedId);
      expect(owner).toMatchObject({ state: 'issued', contradictions: ['shared-service-id'] });
      expect(result.counts).toMatchObject({ issued: INVOICES - 1, unknown: 1, contradicted: 1 });
      expect(keysUsed(stack)).toBe(INVOICES);
      expect(stack.sandbox.books().duplicates).toEqual([]);
    });
  });

  it('stops the sending at the second such id, wherever in the batch', async () => {
    await withStack(OPTIONS, async (stack) => {
      oneAnswerBehind(stack, 130, 180);
      const { batchId, handle } = await stack.begin('behind.csv', testInvoices(INVOICES));
      await until(async () => (await stack.progress(handle)).waitingFor === SERVICE_IDS_REPEATED);

      const taken = (await stack.lines(batchId)).filter(({ reason }) => reason?.code === 'service-id-taken');
      expect(taken.map(({ state }) => state)).toEqual(['unknown', 'unknown']);
      expect(keysUsed(stack)).toBeLessThan(INVOICES);
      expect(stack.sandbox.books().invoices).toHaveLength(keysUsed(stack));
      expect(stack.sandbox.books().duplicates).toEqual([]);
    });
  });

  it('stops the sending as well where all later answers have one id', async () => {
    await withStack(OPTIONS, async (stack) => {
      let posts = 0;
      let cached = '';
      stack.front.script = ({ method, path, key }) => {
        if (method !== 'POST' || path !== '/v1/invoices') return 'pass';
        posts += 1;
        if (posts < 150) return 'pass';
        cached ||= idOf(stack, stack.posts().at(-5)?.key ?? key);
        return { status: 201, json: { id: cached, status: 'processing' }, afterPassing: true };
      };
      const { batchId, handle } = await stack.begin('cached.csv', testInvoices(INVOICES));
      await until(async () => (await stack.progress(handle)).waitingFor === SERVICE_IDS_REPEATED);

      const lines = await stack.lines(batchId);
      expect(lines.filter(({ serviceId }) => serviceId === cached)).toHaveLength(1);
      expect(keysUsed(stack)).toBeLessThan(INVOICES);
    });
  });
});
