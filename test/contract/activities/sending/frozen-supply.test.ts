import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { NIF, NOW, OTHER_NIF, REASON } from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { outcomesOf } from '../activity-place.ts';
import { created, slicePlaces, type SlicePlace } from './slice-place.ts';
import type { CreateAnswer } from '../../../../src/domain/records/service-answers.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const sending = slicePlaces();
const PUT_OFF: CreateAnswer = { kind: 'not-now', reason: REASON, retryAfterMs: 5_000 };

/** Tells how many invoices each freezing had; one of them may fail. */
function countedFreezing(portions: number[], failsAt = Infinity) {
  return ({ freeze }: Ledger): Partial<Ledger> => ({
    async freeze(batchId, items, now) {
      portions.push(items.length);
      if (portions.length >= failsAt) throw new Error('the ledger is away');
      return freeze(batchId, items, now);
    },
  });
}

describe('the invoices of a large slice', () => {
  it('are frozen in portions, each while the one before is sent, and go in their order', async () => {
    const portions: number[] = [];
    const atPost: number[] = [];
    const place = sending(
      () => {
        atPost.push(portions.length);
        return created();
      },
      1,
      { ledger: countedFreezing(portions) },
    );
    const batch = await place.batch(600);

    expect(await place.slice(batch)).toMatchObject({ accepted: 600, left: 0 });

    expect(portions).toEqual([250, 250, 100]);
    expect(place.posts).toEqual(Array.from({ length: 600 }, (_, at) => `R${at}`));
    expect([atPost[0], atPost[249], atPost[250]]).toEqual([2, 2, 3]);
  });

  it('are all staged again when their worker stops, and most of them were never frozen', async () => {
    const portions: number[] = [];
    const env = new MockActivityEnvironment();
    const place = sending(
      () => {
        env.cancel('WORKER_SHUTDOWN');
        return created();
      },
      1,
      { ledger: countedFreezing(portions) },
    );
    const batch = await place.batch(1_000);

    expect(await place.slice(batch, { env })).toMatchObject({ accepted: 1, left: 999 });
    expect(portions).toEqual([250, 250]);
    const unsent = await batch.sendable();
    expect(unsent.filter(({ state }) => state === 'staged')).toHaveLength(999);
  });

  it('are not sent when they are held before their turn, and are counted as left', async () => {
    const place = sending(async (_ref, nth) => {
      if (nth === 1) {
        const { batchId } = await started;
        await place.deps.ledger.holdUnsent(batchId, { reason: REASON, merchantNif: OTHER_NIF, now: place.deps.now() });
      }
      return created();
    });
    const nifOf = (at: number): string => (at < 300 ? NIF : OTHER_NIF);
    const started = place.batch(Array.from({ length: 600 }, (_, at) => ({ ref: `R${at}`, nif: nifOf(at) })));
    const batch = await started;

    const { accepted, left } = await place.slice(batch);

    expect(accepted + left).toBe(600);
    expect(place.posts).not.toContain('R599');
    expect(await batch.line('R599')).toMatchObject({ state: 'held' });
  });

  it('are left to the next attempt when a portion cannot be frozen', async () => {
    const place = sending(created, 1, { ledger: countedFreezing([], 2) });
    const batch = await place.batch(600);

    await expect(place.slice(batch)).rejects.toThrow('the ledger is away');

    expect(place.posts).toHaveLength(250);
    expect(await batch.line('R250')).toMatchObject({ state: 'staged' });
  });

  it('are staged again when an answer cannot be recorded, but for the one that was sent', async () => {
    let records = 0;
    const place = sending(created, 1, {
      ledger: ({ recordSends }) => ({
        async recordSends(...call) {
          records += 1;
          if (records === 3) throw new Error('the ledger is away');
          return recordSends(...call);
        },
      }),
    });
    const batch = await place.batch(300);

    await expect(place.slice(batch)).rejects.toThrow('the ledger is away');

    expect(place.posts).toEqual(['R0', 'R1', 'R2']);
    const unsent = await batch.sendable();
    expect(unsent.map(({ state }) => state)).toEqual(['sending', ...Array.from({ length: 297 }, () => 'staged')]);
    expect(unsent.filter(({ mayExist }) => mayExist).map(({ invoice }) => invoice.ref)).toEqual(['R2']);
  });

  it('do not leave any more once an answer cannot be recorded, though many of them wait for their turn', async () => {
    const concurrency = 16;
    let hasFailed = false;
    const place: SlicePlace = sending(
      async (ref) => {
        // The others on the wire are answered after that.
        if (ref !== 'R0') await until(() => hasFailed);
        return created();
      },
      concurrency,
      {
        ledger: ({ recordSends }) => ({
          async recordSends(...call) {
            if (hasFailed) return recordSends(...call);
            hasFailed = true;
            throw new Error('the ledger was away for a moment');
          },
        }),
      },
    );
    const batch = await place.batch(4 * concurrency);

    await expect(place.slice(batch)).rejects.toThrow('the ledger was away for a moment');

    expect(place.posts.length).toBeLessThan(2 * concurrency);
    const unsent = await batch.sendable();
    expect(unsent.filter(({ state }) => state === 'staged')).toHaveLength(4 * concurrency - place.posts.length);
    expect(unsent.filter(({ mayExist }) => mayExist).map(({ invoice }) => invoice.ref)).toEqual(['R0']);
  });

  it('that provably never arrived stay so when their portion cannot be frozen', async () => {
    const portions: number[] = [];
    const place = sending((_, nth) => (nth === 1 ? PUT_OFF : created()), 1, { ledger: countedFreezing(portions, 3) });
    const batch = await place.batch(251);
    await place.slice(batch, { to: 1 });

    await expect(place.slice(batch)).rejects.toThrow('the ledger is away');

    expect(await batch.one('R0')).toMatchObject({ state: 'sending', attempts: 1, mayExist: false });
  });

  it('are all accepted, though another worker begins the slice anew in the middle', async () => {
    const answers = new Map<string, CreateAnswer>();
    const place: SlicePlace = sending(async (ref) => {
      const answer = answers.get(ref) ?? created();
      if (ref !== 'R99' || answers.has(ref)) return note(ref, answer);
      note(ref, answer);
      const other = await place.slice(await started, { deps: place.deps });
      // What the first one had frozen is taken as what may exist.
      expect(other).toMatchObject({ accepted: 501, left: 0 });
      return answer;
    });
    const note = (ref: string, answer: CreateAnswer): CreateAnswer => {
      answers.set(ref, answer);
      return answer;
    };
    const started = place.batch(600);
    const batch = await started;

    expect(await place.slice(batch)).toMatchObject({ left: 100 });

    expect(await outcomesOf(place, batch.batchId)).toEqual({ accepted: 600 });
    // Two portions of the first one, and all that had no answer when the other began.
    expect(place.posts).toHaveLength(500 + 501);
  });

  it('go under the new id of their merchant when the old one was forgotten before they were frozen', async () => {
    const bare = sending(() => created());
    const { ledger } = bare.deps;
    const account = { application: bare.scenario.application, baseUrl: bare.deps.service.baseUrl };
    await ledger.confirmAccount({ ...account, keyFingerprint: 'old' }, NOW);
    const batch = await bare.batch([{ ref: 'R0' }, { ref: 'R1', nif: OTHER_NIF }]);
    await ledger.confirmAccount({ ...account, keyFingerprint: 'new' }, NOW);
    const bodies: string[] = [];
    let isAway = true;
    const service: InvoicingService = {
      ...bare.deps.service,
      listMerchants: () =>
        Promise.resolve(
          isAway
            ? { kind: 'unreadable', reason: { code: 'http-503', message: 'HTTP 503' } }
            : { kind: 'list', merchants: [{ nif: NIF, merchantId: 'mrc_new' }] },
        ),
      createInvoice(body) {
        bodies.push(body);
        return Promise.resolve(created());
      },
    };
    const deps = { ...bare.deps, service };

    expect(await bare.slice(batch, { deps })).toMatchObject({ left: 2, waiting: { reason: 'http-503' } });
    isAway = false;
    expect(await bare.slice(batch, { deps })).toMatchObject({ accepted: 0, left: 2, waiting: null });
    expect(await bare.slice(batch, { deps })).toMatchObject({ accepted: 1, left: 0 });

    expect(bodies).toEqual([expect.stringContaining('mrc_new')]);
    expect(await batch.line('R1')).toMatchObject({ state: 'held', reason: { code: 'merchant-details-missing' } });
  });

  it('go with the bytes that they have, also when the id of their merchant was forgotten since', async () => {
    const place = sending((_, nth) => (nth === 1 ? PUT_OFF : created()));
    const { deps, scenario } = place;
    const account = { application: scenario.application, baseUrl: deps.service.baseUrl };
    await deps.ledger.confirmAccount({ ...account, keyFingerprint: 'old' }, NOW);
    const batch = await place.batch(1);
    await place.slice(batch);
    await deps.ledger.confirmAccount({ ...account, keyFingerprint: 'new' }, NOW);

    expect(await place.slice(batch)).toMatchObject({ accepted: 1, left: 0 });

    expect(place.posts).toEqual(['R0', 'R0']);
  });
});
