import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeatUnknown } from '../../../../activities/settling/reconcile.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { createInvoicingService, type InvoicingService } from '../../../../src/service/client.ts';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import type { TestBatch } from '../../../contract/ledger/scenario.ts';
import { independentSandbox, SANDBOX_KEY } from '../../../support/servers/service-front.ts';
import { activityPlaces, asActivity, RETRY, sendFirst, type ActivityPlace } from '../activity-place.ts';

const MINUTE = 60_000;
const placeOf = activityPlaces();

describe('invoices that a wrong profile could not see refused', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await independentSandbox({ settleMs: 20 });
  });
  afterAll(() => sandbox.close());

  async function withService<T>(profile: object, work: (service: InvoicingService) => Promise<T>): Promise<T> {
    const service = createInvoicingService({
      ...{ baseUrl: sandbox.url, apiKey: SANDBOX_KEY, application: 'corrected' },
      profile: loadProfile(JSON.stringify(profile)),
    });
    try {
      return await work(service);
    } finally {
      await service.close();
    }
  }

  /** Two invoices that the sandbox refuses (their bytes are no invoice), in a form that the profile cannot read; their batch is closed. */
  async function refusedUnread(place: ActivityPlace): Promise<TestBatch> {
    const batch = await place.scenario.run([{ ref: 'R0' }, { ref: 'R1' }], 1_000);
    const outcomes = await withService({ error: { code: '/nowhere', message: '/nowhere' } }, async (service) => {
      const answers = await Promise.all(
        (await batch.sendable()).map(({ invoice, idempotencyKey }) =>
          service.createInvoice(JSON.stringify({ ref: invoice.ref }), idempotencyKey),
        ),
      );
      return answers.map((answer) => {
        if (answer.kind !== 'lost') throw new Error(`The profile reads the refusal: ${answer.kind}`);
        return { kind: 'unknown', reason: answer.reason } as const;
      });
    });
    await sendFirst(place, batch, outcomes);
    await batch.finish();
    await batch.report({ writtenAt: place.deps.now() });
    return batch;
  }

  async function reconcile(place: ActivityPlace, refusedRepeatIsProof: boolean): Promise<void> {
    await withService({}, async (service) => {
      const settings = { ...place.deps.settings, retry: { ...RETRY, refusedRepeatIsProof } };
      const deps = { ...place.deps, service: { ...service, baseUrl: place.deps.service.baseUrl }, settings };
      await asActivity(repeatUnknown, deps, { all: true });
    });
  }

  it('are rejected, two of two, where the profile says that the refusal of a repeat is a proof', async () => {
    const place = placeOf();
    const batch = await refusedUnread(place);
    place.later(MINUTE);

    await reconcile(place, true);

    expect((await batch.lines()).map(({ state, generation }) => [state, generation])).toEqual([
      ['rejected', 1],
      ['rejected', 1],
    ]);
  });

  it('stay unknown without that word, with a reason that says what to do, and follow it when it comes', async () => {
    const place = placeOf();
    const batch = await refusedUnread(place);
    place.later(MINUTE);

    await reconcile(place, false);
    const careful = await batch.lines();
    place.later(MINUTE);
    await reconcile(place, true);

    for (const { state, reason } of careful) {
      expect([state, reason?.code]).toEqual(['unknown', 'refused-after-lost-answer']);
      expect(reason?.message).toContain('idempotency.refusedRepeatIsProof');
    }
    expect((await batch.lines()).map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  });
});
