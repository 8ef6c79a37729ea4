import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { expectAgreement, withStack, type TestStack } from '../../support/lote/stack.ts';
import { FAILING_TAX_CODE, testInvoices, type TestInvoice } from '../../support/files/batch-file.ts';
import { SANDBOX_KEY, type FrontAction, type FrontRequest } from '../../support/servers/service-front.ts';
import { CALIBRATION_INVOICES } from '../../../src/domain/calibration-state.ts';
import { applicationIdOf } from '../../../src/sandbox/application.ts';
import type { Engine } from '../../../src/sandbox/engine.ts';
import { memoryStore, type SandboxStore } from '../../../src/sandbox/store.ts';

const INVOICES = 300;
/** More than stand on one page of the sandbox's list. */
const EXISTING = Array.from({ length: 120 }, (_, at) => String(501_000_000 + at));
/** Of the first page, of the last page, and new to the service. */
const NIFS = [...EXISTING.slice(0, 3), ...EXISTING.slice(-3), '502000001', '502000002', '502000003', '502000004'];
const REFUSED_TAX_CODE = 'IVA_98';
const REFUSAL = { code: 'tax_code_refused', message: 'The tax code is not known' };

const BATCH: readonly TestInvoice[] = testInvoices(INVOICES).map((invoice, at) => ({
  ...invoice,
  nif: NIFS[at % NIFS.length] ?? '',
  taxCode: at % 7 === 3 ? FAILING_TAX_CODE : at % 9 === 5 ? REFUSED_TAX_CODE : 'IVA_23',
}));

/** The wait for final words is a quarter of the settle time. */
const ENV = { LOTE_PAGE_SIZE: '500', LOTE_SETTLE_TIMEOUT: '12s', LOTE_OUTAGE_PATIENCE: '4s' };

const ENGINE: Engine = {
  process({ body }) {
    const isFailing = body.lines.some(({ tax_code }) => tax_code === FAILING_TAX_CODE);
    if (!isFailing) return { delayMs: 20, outcome: { status: 'issued' } };
    return { delayMs: 20, outcome: { status: 'failed', code: 'tax_code_unknown', message: 'Unknown' } };
  },
};

type Profile = NonNullable<StackOptions['profile']>;

interface Circumstances {
  /** Left out: the list of merchants is read, and invoices go out. */
  readonly nothingIsSent?: true;
  /** The ledger has not the ids of the service's books. */
  readonly hasOtherIds?: true;
  readonly webhooks?: 'none';
  readonly refusal?: FrontAction;
  readonly get?: FrontAction;
}

/** `said` stands in what Lote says does not fit. */
type Row = readonly [mistake: string, profile: Profile, said: string, circumstances?: Circumstances];

const SWAPPED = { issued: ['failed'], failed: ['issued'] };
const SWAPPED_EVENTS = { issued: ['invoice.failed'], failed: ['invoice.issued'] };

const ROWS: readonly Row[] = [
  ['signature header', { signature: { header: 'X-Signature' } }, 'signature.header'],
  ['algorithm', { signature: { algorithm: 'sha512' } }, 'algorithm'],
  ['secret', { webhook: { secret: '/id' } }, 'webhook.secret'],
  ['event type, its place', { event: { type: '/event' } }, 'event.type'],
  ['event type, its words', { event: { issued: ['done'], failed: ['broken'] } }, 'event.issued'],
  ['invoice id of an event', { event: { invoiceId: '/id' } }, 'event.invoiceId'],
  ['invoice id of an answer', { invoice: { id: '/merchant_id' } }, 'invoice.id'],
  ['id that is the same for all', { invoice: { id: '/currency', idPrefix: '' } }, 'invoice.id', { hasOtherIds: true }],
  ['status place', { invoice: { status: '/state' } }, '/state'],
  ['status words', { invoice: { issued: ['completed'], failed: ['error'] } }, 'invoice.issued'],
  ['processing among the words for issued', { invoice: { issued: ['issued', 'processing'] } }, '"processing"'],
  [
    'processing among the words for issued, without events',
    { invoice: { issued: ['issued', 'processing'] } },
    '"processing"',
    { webhooks: 'none' },
  ],
  ['words swapped in answers', { invoice: SWAPPED }, 'swap'],
  ['words swapped in events', { event: SWAPPED_EVENTS }, 'swap'],
  ['words swapped in both', { invoice: SWAPPED, event: SWAPPED_EVENTS }, 'swap'],
  ['words swapped in answers, without events', { invoice: SWAPPED }, 'swap', { webhooks: 'none' }],
  ['error place', { error: { code: '/code', message: '/message' } }, 'error.code'],
  [
    'envelope status ignored',
    {},
    'answers.success and answers.status',
    { refusal: { status: 200, json: { status: 422, error: REFUSAL } } },
  ],
  [
    'a rule that calls refusals lost',
    { answers: { rules: [{ code: [REFUSAL.code], means: 'lost' }] } },
    'answers.rules',
  ],
  ['path of the GET', { requests: { getInvoice: { path: '/v1/invoice/{id}' } } }, 'requests.getInvoice.path'],
  [
    'a GET without the id of the invoice',
    {},
    'requests.getInvoice.carriesId',
    { get: { status: 200, json: { status: 'issued' } } },
  ],
  ['list items', { merchants: { items: '/items' } }, 'merchants.items', { nothingIsSent: true }],
  ['list id', { merchants: { id: '/merchant_id' } }, 'merchants.id', { nothingIsSent: true }],
  ['list NIF', { merchants: { nif: '/tax_id' } }, 'merchants.nif', { nothingIsSent: true }],
  ['list NIF, where another text stands', { merchants: { nif: '/email' } }, 'merchants.nif', { nothingIsSent: true }],
  ['next page', { merchants: { nextCursor: '/next' } }, '/next_cursor', { nothingIsSent: true }],
  ['page parameter', { merchants: { cursorParameter: 'page' } }, 'merchants.cursorParameter', { nothingIsSent: true }],
];

const isGet = ({ method, path }: FrontRequest): boolean => method === 'GET' && path.startsWith('/v1/invoices/');

describe('one mistake in a service profile', { concurrent: true }, () => {
  const rows = ROWS.map(([mistake, profile, said, row = {}]) => ({ mistake, profile, said, row }));

  it.each(rows)(
    `stops before 20 of ${INVOICES} invoices are out, and is told: $mistake`,
    async ({ profile, said, row }) => {
      const { webhooks = 'on' } = row;
      const sandbox = { engine: ENGINE, store: await earlierBooks() };
      await withStack({ profile, isProved: false, env: ENV, sandbox, webhooks }, async (stack) => {
        stack.front.script = scriptOf(row);

        const result = await stack.run('wrong.csv', BATCH);

        const sent = new Set(stack.posts().map(({ key }) => key)).size;
        expect(sent, 'invoices sent').toBeLessThanOrEqual(row.nothingIsSent === true ? 0 : CALIBRATION_INVOICES);
        expect(result.counts).toMatchObject({ held: INVOICES - sent });
        const report = await readReport(result.reports.json);
        expect(report.misfits.map(({ message }) => message).join(' ')).toContain(said);
        if (row.hasOtherIds !== true) await expectAgreement(stack, result.batchId);
        await expectNothingWrong(stack, result.batchId);
        expectNoSecondMerchant(stack);
      });
    },
  );
});

function scriptOf({ refusal = { status: 422, json: { error: REFUSAL } }, get = 'pass' }: Circumstances) {
  return (request: FrontRequest): FrontAction => {
    if (isGet(request)) return get;
    return request.path === '/v1/invoices' && request.body.includes(`"${REFUSED_TAX_CODE}"`) ? refusal : 'pass';
  };
}

async function readReport(path: string): Promise<{ readonly misfits: readonly { readonly message: string }[] }> {
  return JSON.parse(await readFile(path, 'utf8')) as { readonly misfits: readonly { readonly message: string }[] };
}

/** No state of the report is another one than that of the service. */
async function expectNothingWrong(stack: TestStack, batchId: string): Promise<void> {
  const said = { issued: 'IVA_23', failed: FAILING_TAX_CODE, rejected: REFUSED_TAX_CODE };
  const taxCodes = new Map(BATCH.map(({ ref, taxCode }) => [ref, taxCode]));
  for (const { ref, state } of await stack.lines(batchId))
    if (state in said) expect(`${ref} ${taxCodes.get(ref)}`).toBe(`${ref} ${said[state as keyof typeof said]}`);
}

/** Not by the service's answer, which another service might not give: no request asks for a merchant that is there. */
function expectNoSecondMerchant(stack: TestStack): void {
  const creations = stack.front.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/merchants');
  const nifs = creations.map(({ body }) => (JSON.parse(body) as { readonly nif: string }).nif);
  expect(
    nifs.filter((nif) => EXISTING.includes(nif)),
    'creations of a merchant that exists',
  ).toEqual([]);
  for (const nif of new Set(nifs))
    expect(new Set(creations.filter(({ body }) => body.includes(nif)).map(({ key }) => key)).size, nif).toBe(1);
}

/** The books of a service that has merchants of earlier days. */
async function earlierBooks(): Promise<SandboxStore> {
  const applicationId = applicationIdOf(SANDBOX_KEY);
  const store = memoryStore();
  await store.write(
    EXISTING.map((nif) => {
      const body = JSON.stringify({ legal_name: `Comerciante ${nif}`, nif, email: `fiscal@${nif}.example` });
      const bodySha256 = createHash('sha256').update(body).digest('hex');
      const key = { idempotencyKey: `earlier-${nif}`, bodySha256 };
      const merchant = { ...key, id: `mrc_earlier${nif}`, applicationId, nif, body, createdAt: Date.now() };
      return { kind: 'merchant', record: merchant };
    }),
  );
  return store;
}
