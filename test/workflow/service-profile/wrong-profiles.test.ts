import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { FAILING_TAX_CODE, testInvoices, type TestInvoice } from '../../support/batch-file.ts';
import { readReportOf, withStack, type StackOptions, type TestStack } from '../../support/lote/stack.ts';
import { SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';
import type { FrontRequest } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';
import type { DeliveryRefusal } from '../../../src/webhooks/delivery-tally.ts';

const INVOICES = 300;
/** Answers within which a mistake must be told. */
const MOST_ANSWERS = 10;
/** More than stand on one page of the sandbox's list. */
const EXISTING = Array.from({ length: 120 }, (_, at) => String(501_000_000 + at));
/** Of the first page, of the last page, and new to the service. */
const NIFS = [...EXISTING.slice(0, 3), ...EXISTING.slice(-3), '502000001', '502000002', '502000003', '502000004'];
const REFUSED_TAX_CODE = 'IVA_98';
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

const REFUSED = BATCH.filter(({ taxCode }) => taxCode === REFUSED_TAX_CODE).length;
const FAILED = BATCH.filter(({ taxCode }) => taxCode === FAILING_TAX_CODE).length;
const ISSUED = INVOICES - REFUSED - FAILED;
/** What a right profile brings. */
const ALL_SETTLED = { issued: ISSUED, failed: FAILED, rejected: REFUSED };

/** Lote's answer to a mistake. */
type Expected =
  /** Nothing is sent; each invoice is held with words about the setting. */
  | { readonly holds: string; readonly said: string }
  /** Sending stops within the first answers, with words about the setting. */
  | { readonly stops: string; readonly said: string }
  /** No delivery is taken, or none can be read, and GET settles; the tally shows it. */
  | { readonly polls: DeliveryRefusal | 'without-event' | 'other-event' }
  /** Nothing stops, and no state is wrong: these counts, and these words in the reason of some invoice; null: none. */
  | { readonly ends: Readonly<Record<string, number>>; readonly said: string | null };

type Row = readonly [mistake: string, profile: NonNullable<StackOptions['profile']>, expected: Expected];

const LIST = 'service-list-unreadable';

const ROWS: readonly Row[] = [
  ['signature header', { signature: { header: 'X-Signature' } }, { polls: 'signature-missing' }],
  ['algorithm', { signature: { algorithm: 'sha512' } }, { polls: 'signature-malformed' }],
  ['secret', { webhook: { secret: '/id' } }, { polls: 'signature-wrong' }],
  ['event type, its place', { event: { type: '/event' } }, { polls: 'without-event' }],
  ['event type, its words', { event: { issued: ['done'], failed: ['broken'] } }, { polls: 'other-event' }],
  ['event id', { event: { eventId: '/data/id' } }, { ends: ALL_SETTLED, said: null }],
  ['invoice id of an event', { event: { invoiceId: '/id' } }, { polls: 'without-event' }],
  [
    'invoice id of an answer',
    { invoice: { id: '/merchant_id' } },
    { stops: 'answers-unreadable', said: 'an id of another kind at /merchant_id' },
  ],
  ['status place', { invoice: { status: '/state' } }, { ends: ALL_SETTLED, said: 'No status at /state' }],
  [
    'status words',
    { invoice: { issued: ['completed'], failed: ['error'] } },
    { ends: { issued: ISSUED, unsettled: FAILED, rejected: REFUSED }, said: 'without a final answer' },
  ],
  [
    'error place',
    { error: { code: '/code', message: '/message' } },
    { ends: { issued: ISSUED, failed: FAILED, unknown: REFUSED }, said: 'error.code and error.message' },
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
  it.each(ROWS)('does no harm to 300 invoices: %s', async (_mistake, profile, expected) => {
    const env = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: '25s', LOTE_OUTAGE_PATIENCE: '10s' };
    await withStack({ profile, env }, async (stack) => {
      await createExisting(stack);
      stack.front.script = (request) =>
        request.path === '/v1/invoices' && request.body.includes(`"${REFUSED_TAX_CODE}"`)
          ? { status: 422, json: { error: { code: 'tax_code_refused', message: 'The tax code is not known' } } }
          : 'pass';
      const batchId = await ('stops' in expected ? expectStop(stack, expected) : expectEnd(stack, expected));
      await expectAgreement(stack, batchId);
      expectNoSecondMerchant(stack);
    });
  });
});

/** Sends the file and expects that it stops by itself, early. */
async function expectStop(stack: TestStack, { stops, said }: Extract<Expected, { stops: string }>): Promise<string> {
  await stack.drop('wrong.csv', BATCH);
  const { handle, batchId } = await stack.start({ file: 'wrong.csv' });
  await until(async () => (await stack.progress(handle)).waitingFor === stops);
  expect(stack.posts().length).toBeLessThanOrEqual(MOST_ANSWERS);
  const reason = (await stack.ledger.breaker(stack.front.url))?.reason;
  expect(reason?.message).toContain(said);
  expect(reason?.message).toContain('SERVICE_PROFILE');
  await handle.terminate();
  return batchId;
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
    const { said } = expected;
    if (said !== null) expect(reasons.filter((message) => message.includes(said)).length).toBeGreaterThan(0);
  }
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

/** Merchants of earlier days, created past the front. */
async function createExisting({ sandbox }: TestStack): Promise<void> {
  for (const nif of EXISTING) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    const { status } = await fetch(`${sandbox.url}/v1/merchants`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${SANDBOX_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': `earlier-${nif}`,
      },
      body: JSON.stringify({ legal_name: `Comerciante ${nif}`, nif, email: `fiscal@${nif}.example` }),
    });
    expect(status).toBe(201);
  }
}
