import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Engine, EngineOutcome } from '../../../src/sandbox/engine.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { readProfile } from '../../../src/wiring/account/read-profiles.ts';
import { profileDigestOf } from '../../../src/wiring/profile-fit/profile-digest.ts';

const FAILED: EngineOutcome = { status: 'failed', code: 'wrong_series', message: 'The series is closed' };

/** Answers after which the sending stops, and what was on its way then. */
const MOST_ANSWERS = 10;

describe('a service profile that cannot read the answers', { concurrent: true, timeout: 240_000 }, () => {
  it.each([
    ['the id stands elsewhere', { invoice: { id: '/data/id' } }, 'no id at /data/id'],
    ['the id begins otherwise', { invoice: { idPrefix: 'doc_' } }, 'an id of another kind at /id'],
  ])('stops the batch within the first ten answers and says why: %s', async (_name, profile, said) => {
    await withStack({ profile, env: { LOTE_PAGE_SIZE: '500' } }, async (stack) => {
      await stack.drop('wrong.csv', testInvoices(100));
      const { handle, batchId } = await stack.start({ file: 'wrong.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor === 'answers-unreadable');

      expect(stack.posts().length).toBeLessThanOrEqual(MOST_ANSWERS);
      const reason = (await stack.ledger.breaker(stack.front.url))?.reason;
      expect(reason?.message).toContain(said);
      expect(reason?.message).toContain('SERVICE_PROFILE');
      const sent = stack.posts().length;
      await until(() => stack.posts().length > sent + 1);
      expect(new Set(stack.posts().map(({ key }) => key)).size, 'a probe makes no new document').toBeLessThanOrEqual(5);
      const states = new Set((await stack.lines(batchId)).map(({ state }) => state));
      expect([...states].filter((state) => state === 'issued' || state === 'rejected' || state === 'failed')).toEqual(
        [],
      );
      await handle.terminate();
    });
  });

  it('sends no invoice at all while the list of merchants is no success by it', async () => {
    const profile = { answers: { success: { at: '/ok', is: ['true'] } } };
    await withStack({ profile }, async (stack) => {
      await stack.drop('wrong.csv', testInvoices(10));
      const { handle } = await stack.start({ file: 'wrong.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor === 'service-list-unreadable');

      expect(stack.posts()).toEqual([]);
      await handle.terminate();
    });
  });

  it('stops no worker that starts later, for whoever starts it has corrected the profile', async () => {
    await withStack({}, async (stack) => {
      const reason = { code: 'profile-contradiction', message: 'Correct the profile' };
      const opened = { baseUrl: stack.front.url, reason, openedAt: Date.now(), probeAfter: Date.now() };
      await stack.ledger.openBreaker(opened);

      await stack.deploy();

      expect((await stack.run('corrected.csv', testInvoices(3))).counts).toMatchObject({ issued: 3 });
    });
  });

  it.each([
    ['answers', { invoice: { issued: ['failed'], failed: ['issued'] } }],
    ['events', { event: { issued: ['invoice.failed'], failed: ['invoice.issued'] } }],
  ])('that swaps the words for issued and failed in %s says nothing wrong in the report', async (where, profile) => {
    const failing = (number: number): boolean => number % 3 === 0;
    const engine: Engine = {
      process({ body }) {
        const isFailing = failing(Number(/F-(\d+)$/.exec(body.customer.name)?.[1]));
        return { delayMs: 20, outcome: isFailing ? FAILED : { status: 'issued' } };
      },
    };
    const env = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: '20s' };
    await withStack({ profile, env, sandbox: { engine } }, async (stack) => {
      await stack.drop('swapped.csv', testInvoices(300));
      const { handle, batchId } = await stack.start({ file: 'swapped.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor === 'profile-contradiction');

      for (const { ref, state } of await stack.lines(batchId)) {
        const isFailing = failing(Number(ref.slice(2)));
        expect(`${ref} ${state}`).not.toBe(`${ref} ${isFailing ? 'issued' : 'failed'}`);
      }
      expect(stack.posts().length, where).toBeLessThan(300);
      await handle.terminate();
      const standsAfter = async (start: () => Promise<void>): Promise<boolean> => {
        await start();
        return (await stack.ledger.breaker(stack.front.url)) !== null;
      };
      expect(await standsAfter(stack.deploy), 'a start with the same profile has corrected nothing').toBe(true);
      await stack.ledger.clearMisfit(profileDigestOf(stack.config, readProfile(stack.config)), 'profile-contradiction');
      expect(await standsAfter(stack.deploy), 'an operator says that it is right').toBe(false);
    });
  });

  it('that swaps them in answers and events alike settles nothing more once the reasons have shown it', async () => {
    const number = (ref: string): number => Number(/F-(\d+)$/.exec(ref)?.[1]);
    // The first twenty are accepted before one of them ends; then each at a time of its own.
    const engine: Engine = {
      process({ body }) {
        const own = number(body.customer.name);
        return { delayMs: 8_000 + own * 200, outcome: own % 3 === 0 ? FAILED : { status: 'issued' } };
      },
    };
    const profile = {
      invoice: { issued: ['failed'], failed: ['issued'] },
      event: { issued: ['invoice.failed'], failed: ['invoice.issued'] },
    };
    // The first polls come at the tenth second, among the events.
    const env = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: '40s' };
    await withStack({ profile, env, sandbox: { engine } }, async (stack) => {
      await stack.drop('swapped.csv', testInvoices(300));
      const { handle, batchId } = await stack.start({ file: 'swapped.csv' });
      await until(async () => (await stack.ledger.breaker(stack.front.url)) !== null);
      const settled = async (): Promise<readonly string[]> =>
        (await stack.lines(batchId))
          .filter(({ state }) => state === 'issued' || state === 'failed')
          .map(({ ref, state }) => `${ref} ${state}`);
      // What was on its way is written, on a slow machine later; events come all the time, five a second.
      let before = await settled();
      await until(async () => {
        await sleep(2_000);
        const earlier = before;
        before = await settled();
        return before.length === earlier.length;
      });
      const polled = stack.front.requests.length;
      await sleep(10_000);

      expect(before.length).toBeLessThan(10);
      expect(await settled()).toEqual(before);
      expect(stack.deliveries().notStored.times, 'events that come again').toBeGreaterThan(0);
      expect(stack.front.requests.slice(polled).filter(({ method }) => method === 'GET').length).toBeLessThan(20);
      await handle.terminate();
    });
  });
});
