import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { FAILING_TAX_CODE, testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import { readReportOf, withStack, type StackOptions, type TestStack } from '../../support/lote/stack.ts';
import { SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import type { FrontRequest } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';
import { FIRST_INVOICES } from '../../../src/domain/first-invoices.ts';
import { applicationIdOf } from '../../../src/sandbox/api-keys.ts';
import type { Engine } from '../../../src/sandbox/engine.ts';
import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import type { SandboxStore } from '../../../src/sandbox/store/sandbox-store.ts';
import type { DeliveryRefusal } from '../../../src/webhooks/delivery-tally.ts';
import { readProfile } from '../../../src/wiring/account/read-profiles.ts';
import { profileDigestOf } from '../../../src/wiring/profile-fit/profile-digest.ts';

/** A large batch, whose first invoices go before the others. */
const INVOICES = 210;
/** Answers within which a mistake must be told. */
const MOST_ANSWERS = 10;
/** More than stand on one page of the sandbox's list. */
const EXISTING = Array.from({ length: 120 }, (_, at) => String(501_000_000 + at));
/** Of the first page, of the last page, and new to the service. */
const NIFS = [...EXISTING.slice(0, 3), ...EXISTING.slice(-3), '502000001', '502000002', '502000003', '502000004'];
const REFUSED_TAX_CODE = 'IVA_98';
/** What GET is to settle is polled until it is settled, however slow the machine is: polls that got no answer are repeated. */
const POLLS = { pollEverySeconds: 5 };
const UNTIL_SETTLED = '10m';
/** Where something is to stay unsettled: by then the events of all others have come, also on a slow machine. */
const SETTLE_ENDS = '60s';
const EVERY_NTH_FAILS = 7;
const EVERY_NTH_IS_REFUSED = 9;

const BATCH: readonly TestInvoice[] = testInvoices(INVOICES).map((invoice, at) => ({
  ...invoice,
  nif: NIFS[at % NIFS.length] ?? '',
  taxCode: taxCodeOf(at),
}));

function taxCodeOf(at: number): string {
  if (at % EVERY_NTH_FAILS === 3) return FAILING_TAX_CODE;
  return at % EVERY_NTH_IS_REFUSED === 5 ? REFUSED_TAX_CODE : 'IVA_23';
}

/** Fails what is to fail after the first polls, and not at once. */
function failingAfter(polled: Promise<void>): Engine {
  return {
    async process({ body }) {
      if (body.lines.every(({ tax_code }) => tax_code !== FAILING_TAX_CODE))
        return { delayMs: 20, outcome: { status: 'issued' } };
      await polled;
      return { delayMs: 20, outcome: { status: 'failed', code: 'tax_code_unknown', message: 'Unknown' } };
    },
  };
}

const REFUSED = BATCH.filter(({ taxCode }) => taxCode === REFUSED_TAX_CODE).length;
const FAILED = BATCH.filter(({ taxCode }) => taxCode === FAILING_TAX_CODE).length;
const ISSUED = INVOICES - REFUSED - FAILED;
/** What a right profile brings. */
const ALL_SETTLED = { issued: ISSUED, failed: FAILED, rejected: REFUSED };

/** What the answers are counted of: those that came before the finding must not be more than `most`. */
interface Told {
  /** Code of the finding. */
  readonly code: string;
  readonly said: string;
  readonly of: (request: FrontRequest) => boolean;
  readonly most: number;
}

/** Lote's answer to a mistake. */
type Expected =
  /** Nothing is sent; each invoice is held with words about the setting. */
  | { readonly holds: string; readonly said: string }
  /** Sending stops after so many answers of this kind, with words about the setting. */
  | { readonly stops: string; readonly said: string; readonly of?: Told['of']; readonly told?: Told }
  /** No delivery is taken, or none can be read, and GET settles; the tally shows it. */
  | { readonly polls: DeliveryRefusal | 'without-event' | 'other-event'; readonly told: Told }
  /** Nothing stops, and no state is wrong: these counts. */
  | ({ readonly ends: Readonly<Record<string, number>>; readonly told: Told } & Partial<Service>);

/** Of a row that needs another service, or another settle time. */
interface Service {
  readonly engine: (polled: Promise<void>) => Engine;
  readonly settle: string;
}

type Row = readonly [mistake: string, profile: NonNullable<StackOptions['profile']>, expected: Expected];

const LIST = 'service-list-unreadable';

const isGet = ({ method, path }: FrontRequest): boolean => method === 'GET' && path.startsWith('/v1/invoices/');
const isPost = ({ method, path }: FrontRequest): boolean => method === 'POST' && path === '/v1/invoices';
const isRefused = (request: FrontRequest): boolean =>
  isPost(request) && request.nth === 1 && request.body.includes(`"${REFUSED_TAX_CODE}"`);

/** Told by GETs. */
const byGet = (code: string, said: string): Told => ({ code, said, of: isGet, most: MOST_ANSWERS });
/** Told by deliveries, while the first invoices of the batch are alone at the service. */
const byDeliveries = (code: string, said: string): Told => ({ code, said, of: isPost, most: FIRST_INVOICES });

const ROWS: readonly Row[] = [
  [
    'signature header',
    { signature: { header: 'X-Signature' } },
    { polls: 'signature-missing', told: byDeliveries('deliveries-refused', 'X-Service-Signature') },
  ],
  [
    'algorithm',
    { signature: { algorithm: 'sha512' } },
    { polls: 'signature-malformed', told: byDeliveries('deliveries-refused', 'sha256') },
  ],
  [
    'secret',
    { webhook: { secret: '/id' } },
    { polls: 'signature-wrong', told: byDeliveries('deliveries-refused', 'secret') },
  ],
  [
    'event type, its place',
    { event: { type: '/event' } },
    { polls: 'without-event', told: byDeliveries('events-unreadable', 'stands at /type') },
  ],
  [
    'event type, its words',
    { event: { issued: ['done'], failed: ['broken'] } },
    { polls: 'other-event', told: byDeliveries('events-unknown', '"invoice.issued"') },
  ],
  [
    'event id',
    { event: { eventId: '/data/id' } },
    { ends: ALL_SETTLED, told: byDeliveries('event-id-not-its-own', 'event.eventId') },
  ],
  [
    'invoice id of an event',
    { event: { invoiceId: '/id' } },
    { polls: 'without-event', told: byDeliveries('events-unreadable', 'stands at /data/id') },
  ],
  [
    'invoice id of an answer',
    { invoice: { id: '/merchant_id' } },
    { stops: 'answers-unreadable', said: 'an id of another kind at /merchant_id' },
  ],
  [
    'invoice id of an answer, where the same stands for all',
    { invoice: { id: '/currency', idPrefix: '' } },
    { stops: 'service-ids-repeated', said: 'invoice.id' },
  ],
  [
    'status place',
    { invoice: { status: '/state' } },
    { ends: ALL_SETTLED, told: byGet('invoice-status-missing', 'Nothing stands at /state (invoice.status)') },
  ],
  [
    'status words',
    { invoice: { issued: ['completed'], failed: ['error'] } },
    {
      ends: { issued: ISSUED, unsettled: FAILED, rejected: REFUSED },
      told: byGet('invoice-status-unknown', '"issued" (signed events say issued)'),
      settle: SETTLE_ENDS,
    },
  ],
  [
    'status words, one of them said before the end',
    { invoice: { issued: ['issued', 'processing'] } },
    {
      ends: ALL_SETTLED,
      told: byGet('issued-word-early', '"processing", which invoice.issued lists'),
      engine: failingAfter,
    },
  ],
  [
    'words swapped in answers',
    { invoice: { issued: ['failed'], failed: ['issued'] } },
    { stops: 'profile-contradiction', said: 'the opposite', of: isGet },
  ],
  [
    'words swapped in events',
    { event: { issued: ['invoice.failed'], failed: ['invoice.issued'] } },
    { stops: 'profile-contradiction', said: 'the opposite', of: isGet },
  ],
  [
    'error place',
    { error: { code: '/code', message: '/message' } },
    {
      stops: 'answers-unreadable',
      said: 'error.code and error.message',
      of: isRefused,
      told: {
        ...{ code: 'refusals-unreadable', said: 'error.code and error.message' },
        ...{ of: isRefused, most: MOST_ANSWERS },
      },
    },
  ],
  ['list items', { merchants: { items: '/items' } }, { holds: LIST, said: 'no list at /items (merchants.items)' }],
  [
    'list id',
    { merchants: { id: '/merchant_id' } },
    { holds: LIST, said: 'no mrc_ id at /merchant_id (merchants.id)' },
  ],
  ['list NIF', { merchants: { nif: '/tax_id' } }, { holds: LIST, said: 'no tax number at /tax_id (merchants.nif)' }],
  [
    'list NIF, where another text stands',
    { merchants: { nif: '/email' } },
    { holds: LIST, said: 'no tax number of digits at /email (merchants.nif)' },
  ],
  ['list next', { merchants: { nextCursor: '/next' } }, { holds: LIST, said: '/next_cursor names a next page' }],
  ['list parameter', { merchants: { cursorParameter: 'page' } }, { holds: LIST, said: 'merchants.cursorParameter' }],
];

describe('one mistake in a service profile', { concurrent: true, timeout: 300_000 }, () => {
  it.each(ROWS)(`does no harm to ${INVOICES} invoices: %s`, async (_mistake, profile, expected) => {
    const settle = 'settle' in expected ? expected.settle : UNTIL_SETTLED;
    const env = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: settle, LOTE_OUTAGE_PATIENCE: '10s' };
    let goOn = (): void => undefined;
    const polled = new Promise<void>((resolve) => (goOn = resolve));
    const engine = 'engine' in expected && { engine: expected.engine(polled) };
    const sandbox = { ...engine, store: await earlierBooks() };
    await withStack({ profile: { ...profile, limits: POLLS }, env, sandbox }, async (stack) => {
      stack.front.script = (request) => {
        // The answer to the first poll of it has been read.
        if (isGet(request) && request.nth > 1) goOn();
        return request.path === '/v1/invoices' && request.body.includes(`"${REFUSED_TAX_CODE}"`)
          ? { status: 422, json: { error: { code: 'tax_code_refused', message: 'The tax code is not known' } } }
          : 'pass';
      };
      const batchId = await ('stops' in expected ? expectStop(stack, expected) : expectEnd(stack, expected));
      if (!('stops' in expected)) await expectAgreement(stack, batchId);
      await expectNothingWrong(stack, batchId);
      expectNoSecondMerchant(stack);
    });
  });
});

describe('an id of another kind in the answers of a service', { timeout: 300_000 }, () => {
  it('stops the sending also when the first POST got no answer, so that a refusal is read before five ids', async () => {
    const env = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: '25s', LOTE_OUTAGE_PATIENCE: '10s' };
    const sandbox = { store: await earlierBooks() };
    await withStack({ profile: { invoice: { id: '/merchant_id' } }, env, sandbox }, async (stack) => {
      let posts = 0;
      stack.front.script = (request) => {
        if (!isPost(request)) return 'pass';
        posts += 1;
        if (posts === 1) return 'cut';
        return request.body.includes(`"${REFUSED_TAX_CODE}"`)
          ? { status: 422, json: { error: { code: 'tax_code_refused', message: 'The tax code is not known' } } }
          : 'pass';
      };

      const { batchId } = await stack.run('wrong.csv', BATCH);

      expect((await stack.ledger.breaker(stack.front.url))?.reason.code).toBe('answers-unreadable');
      expect(new Set(stack.posts().map(({ key }) => key)).size, 'invoices sent').toBeLessThanOrEqual(FIRST_INVOICES);
      await expectNothingWrong(stack, batchId);
    });
  });
});

/** Sends the file and expects that it stops by itself, early. */
async function expectStop(stack: TestStack, expected: Extract<Expected, { stops: string }>): Promise<string> {
  const { stops, said, of = isPost, told } = expected;
  await stack.drop('wrong.csv', BATCH);
  const { handle, batchId } = await stack.start({ file: 'wrong.csv' });
  // The wait ends with the patience of the batch; what the breaker says stays.
  await until(async () => {
    const { waitingFor, phase } = await stack.progress(handle);
    return waitingFor === stops || phase === 'done';
  });
  const breaker = await stack.ledger.breaker(stack.front.url);
  expect(breaker?.reason.code).toBe(stops);
  expect(answersBefore(stack, of, breaker?.openedAt ?? 0)).toBeLessThanOrEqual(MOST_ANSWERS);
  expect(breaker?.reason.message).toContain(said);
  expect(breaker?.reason.message).toContain('SERVICE_PROFILE');
  if (told !== undefined) await expectTold(stack, told);
  await handle.terminate().catch(async (error: unknown) => {
    // It may have come to its end since.
    if ((await stack.progress(handle)).phase !== 'done') throw error;
  });
  return batchId;
}

/** The finding is in the ledger, in plain words, and was there after so many answers. */
async function expectTold(stack: TestStack, { code, said, of, most }: Told): Promise<void> {
  const misfits = await stack.ledger.misfits(profileDigestOf(stack.config, readProfile(stack.config)));
  const found = misfits.find((misfit) => misfit.code === code);
  expect(found?.message, misfits.map((misfit) => misfit.code).join()).toContain(said);
  expect(answersBefore(stack, of, found?.firstAt ?? 0), 'answers before it was told').toBeLessThanOrEqual(most);
}

function answersBefore({ front }: TestStack, of: Told['of'], at: number): number {
  return front.requests.filter((request) => of(request) && request.at < at).length;
}

/** No state of the report is another one than that of the service. */
async function expectNothingWrong(stack: TestStack, batchId: string): Promise<void> {
  const said = { issued: 'IVA_23', failed: FAILING_TAX_CODE, rejected: REFUSED_TAX_CODE };
  const taxCodes = new Map(BATCH.map(({ ref, taxCode }) => [ref, taxCode]));
  for (const { ref, state } of await stack.lines(batchId))
    if (state in said) expect(`${ref} ${taxCodes.get(ref)}`).toBe(`${ref} ${said[state as keyof typeof said]}`);
}

async function expectEnd(stack: TestStack, expected: Exclude<Expected, { stops: string }>): Promise<string> {
  const result = await stack.run('wrong.csv', BATCH);
  const report = await readReportOf(result);
  const reasons = report.invoices.map(({ reason }) => reason?.message ?? '');
  const happened = Object.fromEntries(
    Object.entries(result.counts).filter(([state, count]) => count > 0 && !['rows', 'invoices'].includes(state)),
  );
  if ('holds' in expected) {
    expect(happened).toEqual({ held: INVOICES });
    expect(stack.posts(), 'invoices sent').toEqual([]);
    expect(stack.front.requests.filter(createsMerchant), 'merchants created').toEqual([]);
    expect(new Set(report.invoices.map(({ reason }) => reason?.code))).toEqual(new Set([expected.holds]));
    expect(reasons.filter((message) => !message.includes(expected.said))).toEqual([]);
  } else if ('polls' in expected) {
    expect(happened).toEqual(ALL_SETTLED);
    expectTally(stack, expected.polls);
  } else {
    expect(happened).toEqual(expected.ends);
    expect(await stack.ledger.breaker(stack.front.url), 'nothing stops').toBeNull();
  }
  if ('told' in expected) await expectTold(stack, expected.told);
  return result.batchId;
}

function expectTally(stack: TestStack, polls: Extract<Expected, { polls: string }>['polls']): void {
  const { taken, withoutEvent, refused } = stack.deliveries();
  if (polls === 'without-event' || polls === 'other-event') {
    expect(taken.times).toBe(ISSUED + FAILED);
    expect(withoutEvent.times, 'deliveries without an event').toBe(polls === 'without-event' ? taken.times : 0);
    return;
  }
  expect(taken.times).toBe(0);
  expect(refused[polls].times, polls).toBeGreaterThanOrEqual(ISSUED + FAILED);
}

/** Not by the service's answer, which another service might not give: no request asks for a merchant that is there. */
function expectNoSecondMerchant(stack: TestStack): void {
  const creations = stack.front.requests.filter(createsMerchant);
  const nifs = creations.map(({ body }) => (JSON.parse(body) as { readonly nif: string }).nif);
  expect(
    nifs.filter((nif) => EXISTING.includes(nif)),
    'creations of a merchant that exists',
  ).toEqual([]);
  for (const nif of new Set(nifs))
    expect(new Set(creations.filter(({ body }) => body.includes(nif)).map(({ key }) => key)).size, nif).toBe(1);
}

function createsMerchant({ method, path }: FrontRequest): boolean {
  return method === 'POST' && path === '/v1/merchants';
}

/** The books of a service that has merchants of earlier days. */
async function earlierBooks(): Promise<SandboxStore> {
  const applicationId = applicationIdOf(SANDBOX_KEY);
  const store = memoryStore();
  await store.write(
    EXISTING.map((nif, position) => {
      const body = JSON.stringify({ legal_name: `Comerciante ${nif}`, nif, email: `fiscal@${nif}.example` });
      const bodySha256 = createHash('sha256').update(body).digest('hex');
      const key = { idempotencyKey: `earlier-${nif}`, bodySha256 };
      const merchant = { ...key, id: `mrc_earlier${nif}`, applicationId, nif, position, body, createdAt: Date.now() };
      return { kind: 'merchant', merchant };
    }),
  );
  return store;
}
