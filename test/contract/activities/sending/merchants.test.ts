import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { ensureMerchants, type MerchantsInput } from '../../../../activities/sending/merchants.ts';
import { merchantKeyOf } from '../../../../src/domain/fingerprint.ts';
import { accepted, claimOf, NIF, OTHER_NIF, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { activityPlaces, asActivity, outcomesOf, type ActivityPlace } from '../activity-place.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantAnswer, MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

const placeOf = activityPlaces();
const REFUSED: MerchantAnswer = { kind: 'refused', reason: { code: 'nif-invalid', message: 'HTTP 422: bad NIF' } };
const NOT_NOW: MerchantAnswer = {
  kind: 'not-now',
  reason: { code: 'http-503', message: 'HTTP 503' },
  retryAfterMs: null,
};
const DENIED: MerchantAnswer = { kind: 'access-denied', reason: { code: 'http-401', message: 'HTTP 401' } };
const FORBIDDEN: MerchantAnswer = { kind: 'access-denied', reason: { code: 'http-403', message: 'HTTP 403: no' } };

interface Asked {
  readonly nif: string;
  readonly legalName: string;
  readonly email: string;
  readonly key: string;
}

/** A service with this list, which answers creations in turn; the last answer stands for all that come after. */
function service(list: MerchantListAnswer | readonly string[], ...answers: readonly MerchantAnswer[]) {
  const asked: Asked[] = [];
  const parts: Partial<InvoicingService> = {
    listMerchants: () =>
      Promise.resolve<MerchantListAnswer>(
        'kind' in list ? list : { kind: 'list', merchants: list.map((nif) => ({ nif, merchantId: `mrc_${nif}` })) },
      ),
    createMerchant(merchant, key) {
      asked.push({ ...merchant, key });
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      return Promise.resolve(answer ?? { kind: 'created', merchantId: `mrc_new_${merchant.nif}` });
    },
  };
  return { parts, asked };
}

function details(ref: string, nif: string) {
  return { ref, nif, legalName: `Comerciante ${nif}`, email: `fiscal@${nif}.example` };
}

/** A batch of one invoice for each of so many merchants, the first of which has this NIF. */
function batchOf(place: ActivityPlace, merchants: number, first: number): Promise<TestBatch> {
  return place.scenario.run(Array.from({ length: merchants }, (_each, at) => details(`R${at}`, String(first + at))));
}

function ensure(place: ActivityPlace, batch: TestBatch, over: Partial<MerchantsInput> = {}) {
  return asActivity(ensureMerchants, place.deps, {
    ledgerId: place.deps.ledger.id,
    ...claimOf(batch.batchId),
    lastTry: false,
    holdStuck: false,
    ...over,
  });
}

/** The same place, whose service lists the merchant under this id; null: it does not list it. `OTHER_NIF` keeps its own. */
function listing(place: ActivityPlace, merchantId: string | null): ActivityPlace {
  const merchants = [
    ...(merchantId === null ? [] : [{ nif: NIF, merchantId }]),
    { nif: OTHER_NIF, merchantId: `mrc_${OTHER_NIF}` },
  ];
  const listMerchants = () => Promise.resolve({ kind: 'list', merchants } as const);
  return { ...place, deps: { ...place.deps, service: { ...place.deps.service, listMerchants } } };
}

async function merchantIds(batch: TestBatch): Promise<Record<string, string | null>> {
  return Object.fromEntries((await batch.sendable()).map(({ invoice, merchantId }) => [invoice.ref, merchantId]));
}

describe('merchants before sending', () => {
  it('that the service has are remembered and not created again', async () => {
    const { parts, asked } = service([NIF, OTHER_NIF]);
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([{ ref: 'A' }]);

    expect(await ensure(place, batch)).toBeNull();
    expect(asked).toEqual([]);
    expect(await merchantIds(batch)).toEqual({ A: `mrc_${NIF}` });
  });

  it('that it does not have are created once, under the key that is theirs for ever', async () => {
    const { parts, asked } = service([OTHER_NIF]);
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', NIF), details('C', OTHER_NIF)]);

    expect(await ensure(place, batch)).toBeNull();
    expect(asked).toEqual([
      {
        ...{ nif: NIF, legalName: `Comerciante ${NIF}`, email: `fiscal@${NIF}.example` },
        key: merchantKeyOf(place.deps.application, NIF),
      },
    ]);
    expect(await merchantIds(batch)).toEqual({ A: `mrc_new_${NIF}`, B: `mrc_new_${NIF}`, C: `mrc_${OTHER_NIF}` });
  });

  it('are read for each batch anew: an id under which no invoice was taken is replaced', async () => {
    const place = placeOf({ service: service([NIF]).parts });
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await ensure(place, batch);

    expect(await ensure(listing(place, 'mrc_right'), batch)).toBeNull();
    expect(await merchantIds(batch)).toEqual({ A: 'mrc_right' });
  });

  it.each([
    ['is listed under another id', 'mrc_other', 'The service lists this merchant under another id'],
    ['is not listed any more', null, 'The service took earlier invoices of this merchant, and does not list it'],
  ])('of which one %s have its invoices held until the service is confirmed', async (_, id, message) => {
    const { parts, asked } = service([NIF, OTHER_NIF]);
    const place = placeOf({ service: parts });
    const { ledger, application } = place.deps;
    const earlier = await place.scenario.run([details('sent', NIF)]);
    await ensure(place, earlier);
    await earlier.send('sent', accepted(serviceIdOf(place.scenario, 'sent')));
    const open = await place.scenario.run([details('open', NIF)]);
    await ensure(place, open);
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);

    expect(await ensure(listing(place, id), batch)).toBeNull();

    expect(await batch.line('A')).toMatchObject({
      state: 'held',
      reason: { code: 'merchant-id-changed', message: expect.stringContaining(message) as string },
    });
    expect(await batch.line('B')).toMatchObject({ state: 'staged' });
    expect(asked.map(({ nif }) => nif)).toEqual([]);
    // A batch that began before gives it no bytes any more.
    expect(await merchantIds(open)).toEqual({ open: null });
    await ensure(listing(place, id), open);

    const account = { application, baseUrl: place.deps.service.baseUrl, keyFingerprint: 'same' };
    await ledger.confirmAccount(account, place.deps.now());
    const next = await place.scenario.run([details('C', NIF)]);
    await ensure(listing(place, id), next);
    expect(await merchantIds(next)).toEqual({ C: id ?? `mrc_new_${NIF}` });
  });

  it('that are listed under the old id again go', async () => {
    const place = placeOf({ service: service([NIF]).parts });
    const batch = await place.scenario.run([details('sent', NIF), details('A', NIF)], 1);
    await ensure(place, batch);
    await batch.send('sent', accepted(serviceIdOf(place.scenario, 'sent')));
    await ensure(listing(place, 'mrc_other'), batch);
    const next = await place.scenario.run([details('B', NIF)]);

    await ensure(place, next);
    expect(await merchantIds(next)).toEqual({ B: `mrc_${NIF}` });
  });

  it('without a name or an address keep their invoices here, and only theirs', async () => {
    const { parts, asked } = service([]);
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([{ ref: 'A', nif: NIF, email: 'a@b.example' }, details('B', OTHER_NIF)]);

    expect(await ensure(place, batch)).toBeNull();
    expect(asked.map(({ nif }) => nif)).toEqual([OTHER_NIF]);
    expect(await batch.line('A')).toMatchObject({
      state: 'held',
      reason: {
        code: 'merchant-details-missing',
        message:
          'The service does not know this merchant, and the file lacks its legal name or e-mail. Add merchant_legal_name and merchant_email and drop the file again.',
      },
    });
    expect(await batch.line('B')).toMatchObject({ state: 'staged' });
  });

  it('that the service refuses keep their invoices here, with its own words', async () => {
    const { parts } = service([], REFUSED);
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', NIF)]);

    expect(await ensure(place, batch)).toBeNull();
    expect((await batch.line('B')).reason).toEqual({
      code: 'merchant-refused',
      message:
        'The service refused to create this merchant (nif-invalid: HTTP 422: bad NIF). Its invoices were not sent.',
    });
  });
});

describe('merchants whose creation has no answer', () => {
  it('are waited for, and the others go on', async () => {
    const { parts } = service([], NOT_NOW, { kind: 'created', merchantId: 'mrc_x' });
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);

    expect(await ensure(place, batch)).toEqual({ for: 'merchants', reason: 'http-503' });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 2 });
  });

  it('are given up when the patience with them is spent, and the others go', async () => {
    const { parts } = service([], NOT_NOW, { kind: 'created', merchantId: 'mrc_x' });
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);

    expect(await ensure(place, batch, { holdStuck: true })).toBeNull();
    expect((await batch.lines()).find(({ state }) => state === 'held')?.reason).toEqual({
      code: 'merchant-not-created',
      message:
        'The service did not say that it created this merchant (http-503: HTTP 503). Its invoices were not sent; drop the file again to try once more.',
    });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ held: 1, staged: 1 });
  });

  it('are not the service’s trouble, however many, where it answers that their keys were used for other details', async () => {
    const reason = { code: 'key-known-with-other-bytes', message: 'HTTP 409: other bytes' };
    const mismatches = Array.from({ length: 12 }, (): MerchantAnswer => ({ ...NOT_NOW, reason }));
    const { parts, asked } = service([], ...mismatches, { kind: 'created', merchantId: 'mrc_last' });
    const place = placeOf({ service: parts });
    const batch = await batchOf(place, 13, 520_000_000);

    expect(await ensure(place, batch)).toEqual({ for: 'merchants', reason: reason.code });
    expect(asked).toHaveLength(13);
  });

  it('do not add up over one that was created', async () => {
    const nines: MerchantAnswer[] = Array.from({ length: 9 }, () => NOT_NOW);
    const { parts } = service([], ...nines, { kind: 'created', merchantId: 'mrc_mid' }, NOT_NOW);
    const place = placeOf({ service: parts });
    const batch = await batchOf(place, 15, 510_000_000);

    expect(await ensure(place, batch)).toMatchObject({ for: 'merchants' });
  });
});

describe('merchants whose creation is forbidden or has no answer', () => {
  const CREATED: MerchantAnswer = { kind: 'created', merchantId: 'mrc_x' };

  it('are waited for a while and then keep their invoices here, and only theirs', async () => {
    const { parts, asked } = service([], FORBIDDEN, CREATED, CREATED, FORBIDDEN, CREATED);
    const place = placeOf({ service: parts });

    expect(await ensure(place, await batchOf(place, 3, 530_000_000))).toEqual({ for: 'merchants', reason: 'http-403' });
    expect(asked).toHaveLength(3);
    const batch = await batchOf(place, 3, 531_000_000);
    expect(await ensure(place, batch, { lastTry: true, holdStuck: true })).toBeNull();
    expect((await batch.lines()).find(({ state }) => state === 'held')?.reason).toEqual({
      code: 'merchant-not-created',
      message:
        'The service did not say that it created this merchant (http-403: HTTP 403: no; ask its support whether the API key may create merchants). Its invoices were not sent; drop the file again to try once more.',
    });
  });

  it.each([FORBIDDEN, NOT_NOW])(
    'leave the invoices of merchants that are known from before, however many they are (%o)',
    async (answer) => {
      const { parts, asked } = service([NIF], answer);
      const place = placeOf({ service: parts });
      const first = answer === FORBIDDEN ? 532_000_000 : 535_000_000;
      const batch = await place.scenario.run([
        ...Array.from({ length: 12 }, (_each, at) => details(`R${at}`, String(first + at))),
        { ref: 'no-details', nif: String(first + 90) },
        { ref: 'known', nif: NIF },
      ]);

      expect(await ensure(place, batch)).toMatchObject({ for: 'merchants' });
      expect(asked).toHaveLength(10);
      expect(await ensure(place, batch, { holdStuck: true })).toBeNull();

      expect(await outcomesOf(place, batch.batchId)).toEqual({ held: 13, staged: 1 });
      expect(await batch.line('known')).toMatchObject({ state: 'staged' });
      expect(await batch.line('no-details')).toMatchObject({ reason: { code: 'merchant-details-missing' } });
    },
  );

  it('are asked for in another order at each try, so that one that may be created is found', async () => {
    const good = '534000002';
    let tries = 0;
    const place = placeOf({
      over: { random: () => (tries < 2 ? 0 : 0.99) },
      service: {
        ...service([]).parts,
        createMerchant: ({ nif }) => Promise.resolve(nif === good ? CREATED : FORBIDDEN),
      },
    });
    const batch = await batchOf(place, 12, 534_000_000);

    const created: number[] = [];
    for (; tries < 3; tries += 1) {
      await ensure(place, batch);
      created.push(Object.values(await merchantIds(batch)).filter((id) => id !== null).length);
    }

    expect(created).toEqual([0, 0, 1]);
    expect(await ensure(place, batch, { holdStuck: true })).toBeNull();
  });

  it.each([
    [FORBIDDEN, 3, 'http-403'],
    [FORBIDDEN, 12, 'http-403'],
    [NOT_NOW, 1, 'http-503'],
    [NOT_NOW, 12, 'http-503'],
  ] as const)(
    'are the service’s trouble where the batch can send nothing else (%o, %i of them)',
    async (answer, merchants, code) => {
      const { parts, asked } = service([], answer);
      const place = placeOf({ service: parts });
      const batch = await batchOf(place, merchants, 533_000_000 + merchants * 100 + (code === 'http-403' ? 0 : 5_000));

      const waiting = { for: 'service', reason: code };
      expect(await ensure(place, batch, { holdStuck: true })).toEqual(waiting);
      expect(asked).toHaveLength(Math.min(merchants, 10));
      expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: merchants });

      const last = await ensure(place, batch, { lastTry: true, holdStuck: true });
      expect(last).toEqual(waiting);
      expect(await outcomesOf(place, batch.batchId)).toEqual({ held: merchants });
      expect(await batch.line('R0')).toMatchObject({ state: 'held', reason: { code } });
    },
  );
});

describe('a new merchant that two files spell differently', () => {
  it('is created once, and both files are sent', async () => {
    const names = new Map<string, string>();
    let lists = 0;
    const place = placeOf({
      service: {
        async listMerchants() {
          const merchants = [...names.keys()].map(() => ({ nif: NIF, merchantId: 'mrc_1' }));
          lists += 1;
          await until(() => lists >= 2);
          return { kind: 'list', merchants };
        },
        createMerchant({ legalName }, key) {
          const name = names.get(key) ?? legalName;
          names.set(key, name);
          return Promise.resolve(name === legalName ? { kind: 'created', merchantId: 'mrc_1' } : NOT_NOW);
        },
      },
    });
    const one = await place.scenario.run([{ ref: 'A', legalName: 'Loja', email: 'a@loja.example' }]);
    const other = await place.scenario.run([{ ref: 'B', legalName: 'Loja, Lda.', email: 'a@loja.example' }]);
    const both = () => Promise.all([ensure(place, one), ensure(place, other)]);

    expect((await both()).filter((waiting) => waiting === null)).toHaveLength(1);
    await both();

    expect([await merchantIds(one), await merchantIds(other)]).toEqual([{ A: 'mrc_1' }, { B: 'mrc_1' }]);
    expect([await outcomesOf(place, one.batchId), await outcomesOf(place, other.batchId)]).toEqual([
      { staged: 1 },
      { staged: 1 },
    ]);
  });
});

describe('a service that cannot be asked for merchants', () => {
  const UNREADABLE: MerchantListAnswer = {
    kind: 'unreadable',
    reason: { code: 'service-unreachable', message: 'connect ECONNREFUSED' },
  };

  it.each([
    ['its list cannot be read', service(UNREADABLE), 'service-unreachable', 0],
    ['it lets nobody in', service([], DENIED), 'http-401', 1],
  ])('creates nothing and is waited for when %s', async (_, { parts, asked }, reason, posts) => {
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);

    expect(await ensure(place, batch)).toEqual({ for: 'service', reason });
    expect(asked).toHaveLength(posts);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 2 });
    expect((await place.deps.calibration.known(0)).found).toEqual([]);
    expect(place.logged).toEqual([
      {
        ...{ level: 'warn', message: 'merchants cannot be ensured now' },
        fields: { batchId: batch.batchId, reason, lastTry: false },
      },
    ]);
  });

  it('is told as a service profile that does not fit when its list cannot be read, until it can', async () => {
    const reason = { code: 'service-list-unreadable', message: 'no list at /items (merchants.items)' };
    const place = placeOf({ service: service({ kind: 'unreadable', reason }).parts, isProved: false });
    const batch = await place.scenario.run([details('A', NIF)]);
    const found = async () => (await place.deps.calibration.known(0)).found;

    await ensure(place, batch);
    expect(await found()).toMatchObject([{ ...reason, times: 1 }]);
    await ensure(
      { ...place, deps: { ...place.deps, service: { ...place.deps.service, ...service([]).parts } } },
      batch,
    );
    expect(await found()).toEqual([]);
  });

  it('leaves everything held, with its reason, when the patience is over', async () => {
    const place = placeOf({ service: service(UNREADABLE).parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);

    expect(await ensure(place, batch, { lastTry: true })).toMatchObject({ for: 'service' });
    expect(await batch.line('A')).toMatchObject({ state: 'held', reason: UNREADABLE.reason });
  });

  const CONTRADICTION = { code: 'profile-contradiction', message: 'Correct the profile' };

  it.each<readonly [string, (place: ActivityPlace, batch: TestBatch) => Promise<unknown>, string]>([
    [
      'of a paused batch',
      async ({ deps }, { batchId }) => {
        const run = { batchId, workflowId: `workflow-of-${batchId}`, runId: 'run-1' };
        await deps.ledger.recordControl({ ...run, version: 1, paused: true, cancelled: false });
      },
      'sending-stopped',
    ],
    [
      'while the service is stopped for a contradiction of the profile',
      ({ deps }) => deps.calibration.stop(CONTRADICTION),
      CONTRADICTION.code,
    ],
  ])('%s: none is created, and the batch waits with that reason', async (_, stop, reason) => {
    const { parts, asked } = service([OTHER_NIF]);
    const place = placeOf({ service: parts });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);
    await stop(place, batch);

    expect(await ensure(place, batch)).toEqual({ for: 'service', reason });
    expect(asked).toEqual([]);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 2 });
    await ensure(place, batch, { lastTry: true });
    const isHeld = reason === CONTRADICTION.code;
    expect(await batch.line('A')).toMatchObject(
      isHeld ? { state: 'held', reason: { code: reason } } : { state: 'staged' },
    );
  });

  it('whose creation may not leave any more make the batch wait', async () => {
    const place = placeOf({ service: service([], { kind: 'not-permitted' }).parts });
    const batch = await place.scenario.run([details('A', NIF)]);

    expect(await ensure(place, batch)).toEqual({ for: 'service', reason: 'sending-stopped' });
  });

  it('registers its webhook first: an answer may come before the next line is run', async () => {
    const order: string[] = [];
    const place = placeOf({
      service: {
        listMerchants() {
          order.push('list');
          return Promise.resolve({ kind: 'list', merchants: [] });
        },
      },
      over: { ensureWebhook: () => Promise.resolve(void order.push('webhook')) },
    });
    const batch = await place.scenario.run([{ ref: 'A' }]);

    await ensure(place, batch);

    expect(order).toEqual(['webhook', 'list']);
  });
});

describe('merchants whose worker stops', () => {
  const MERCHANTS: { nif: string; merchantId: string }[] = [];
  const UNREADABLE: MerchantListAnswer = {
    kind: 'unreadable',
    reason: { code: 'service-unreachable', message: 'cancelled' },
  };

  it.each<readonly [string, boolean, (stop: () => void) => Partial<InvoicingService>, number]>([
    [
      'after one was created: the others are not taken for done',
      false,
      (stop) => ({
        listMerchants: () => Promise.resolve({ kind: 'list', merchants: MERCHANTS }),
        createMerchant({ nif }) {
          stop();
          MERCHANTS.push({ nif, merchantId: `mrc_new_${nif}` });
          return Promise.resolve({ kind: 'created', merchantId: `mrc_new_${nif}` });
        },
      }),
      1,
    ],
    [
      'while the next creation waits for its turn',
      false,
      (stop) => ({
        ...service([]).parts,
        createMerchant: () => Promise.resolve(stop()).then(() => ({ kind: 'not-permitted' })),
      }),
      2,
    ],
    [
      'while the list is read for the last time: nothing is held',
      true,
      (stop) => ({ listMerchants: () => Promise.resolve(stop()).then(() => UNREADABLE) }),
      2,
    ],
  ])('are left to another attempt when it stops %s', async (_, lastTry, parts, left) => {
    const env = new MockActivityEnvironment();
    const place = placeOf({ service: parts(() => env.cancel('WORKER_SHUTDOWN')) });
    const batch = await place.scenario.run([details('A', NIF), details('B', OTHER_NIF)]);
    const input = { ledgerId: place.deps.ledger.id, ...claimOf(batch.batchId), lastTry, holdStuck: lastTry };

    await expect(env.run(ensureMerchants, place.deps, input)).rejects.toMatchObject({
      ...{ type: 'worker-stops', nonRetryable: false },
    });

    expect(Object.values(await merchantIds(batch)).filter((id) => id === null)).toHaveLength(left);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ staged: 2 });
    if (left === 1) expect(await ensure(place, batch)).toBeNull();
  });
});
