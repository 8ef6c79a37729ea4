import { describe, expect, it } from 'vitest';
import type { BatchWatch, ConsoleActions, Operation } from '../../../../src/console/console-options.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { aBatch, anInvoice, ledgerHolding, pageAt, postForm, testConsole, visit } from '../console-ledger.ts';
import type { Held } from '../console-ledger.ts';
import type { InvoiceDetails, InvoiceGeneration } from '../../../../src/ledger/batches/lookup.ts';
import type { SavedTotalCheck } from '../../../../src/domain/records/total-check.ts';
import type { AuditEntry } from '../../../../src/ledger/operations/audit.ts';

const RUNNING: Held = {
  batch: aBatch({ state: 'running', finishedAt: null }),
  invoices: [anInvoice({ state: 'staged' })],
};
const AT_WORK: BatchWatch = { paused: false, cancelled: false, waitingFor: null };
const PAGE = '/batches/batch-may-0a1b2c3d';
const NOON = Date.UTC(2026, 4, 1, 12);

interface Given {
  readonly held?: Held;
  readonly watch?: BatchWatch | null;
  readonly operate?: NonNullable<ConsoleActions['operate']>;
  readonly details?: InvoiceDetails;
  readonly saved?: SavedTotalCheck;
}

function appWith({ held = RUNNING, watch = AT_WORK, operate = async () => 'ok', details, saved }: Given = {}) {
  const given = details === undefined ? {} : { invoiceDetails: async () => details };
  return testConsole({
    ledger: ledgerHolding([held], { ...given, totalCheck: async () => saved ?? null }),
    actions: { operate, watch: async () => watch },
  });
}

const pageOf = (given: Given, path = PAGE) => pageAt(appWith(given), path);
const send = (given: Given, fields: Record<string, string>) => postForm(appWith(given), `${PAGE}/operations`, fields);

describe('the operations of a batch', () => {
  it.each([
    ['that runs', AT_WORK, ['value="pause"', 'value="cancelRemaining"'], ['value="resume"']],
    ['that is paused', { ...AT_WORK, paused: true }, ['value="resume"', 'value="cancelRemaining"'], ['value="pause"']],
    ['cancelled', { ...AT_WORK, cancelled: true }, ['Nothing more is sent.'], ['value="pause"', 'value="resume"']],
    ['whose run does not answer', null, [], ['value="pause"', 'value="resume"']],
  ])('of one %s', async (_, watch, there, missing) => {
    const page = await pageOf({ watch });

    for (const text of there) expect(page).toContain(text);
    for (const text of missing) expect(page).not.toContain(text);
  });

  it('say why a batch waits, and are none of one that has ended', async () => {
    const waits = await pageOf({ watch: { ...AT_WORK, waitingFor: 'service-unreachable' } });

    expect(waits).toContain('It waits: service-unreachable');
    expect(await pageOf({ held: { ...RUNNING, batch: aBatch() } })).not.toContain('/operations');
  });

  it('go to the running workflow, and the page says what was done', async () => {
    const sent: (readonly [string, Operation])[] = [];
    const operate = async (workflowId: string, operation: Operation) => {
      sent.push([workflowId, operation]);
      return 'ok';
    };

    const paused = await send({ operate }, { kind: 'pause', reason: ' tax office is closed ' });
    await send({ operate }, { kind: 'resume', reason: '' });
    await send({ operate }, { kind: 'settleNow' });

    expect(sent).toEqual([
      ['batch-may-0a1b2c3d', { kind: 'pause', reason: 'tax office is closed' }],
      ['batch-may-0a1b2c3d', { kind: 'resume' }],
      ['batch-may-0a1b2c3d', { kind: 'settleNow' }],
    ]);
    expect([paused.status, paused.headers.get('location')]).toEqual([303, `${PAGE}?done=pause`]);
    expect(await pageOf({}, `${PAGE}?done=pause`)).toMatch(/role="status"><p>Paused\./u);
    expect(await pageOf({}, `${PAGE}?done=<b>`)).not.toContain('role="status"');
  });

  it.each([
    ['without a reason', { kind: 'pause', reason: ' ' }],
    ['of an unknown kind', { kind: 'terminate', reason: 'x' }],
    ['of no kind', {}],
  ])('%s lead back to the page, and nothing is sent', async (_, fields) => {
    const operate = () => Promise.reject(new Error('must not be sent'));

    const answer = await send({ operate }, fields as Record<string, string>);

    expect([answer.status, answer.headers.get('location')]).toEqual([303, PAGE]);
  });

  it('on a run that has ended are told so', async () => {
    const operate = () =>
      Promise.reject(new LoteError('batch-not-found', 'Its workflow must be running, found it ended.'));

    const answer = await send({ operate }, { kind: 'resume' });

    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('found it ended')]);
  });
});

const WAITS: BatchWatch = { ...AT_WORK, waitingFor: 'total-unusual' };
const UNUSUAL: SavedTotalCheck = {
  pattern: 'may_#.csv',
  total: { invoices: 13_200, net: { EUR: '1000000.5' } },
  check: {
    ...{ kind: 'unusual', batches: 7, factor: 5, difference: '13200 invoices, usually 1200.' },
    usual: { invoices: 1_200, net: { EUR: '90000' } },
  },
  confirmedAt: null,
};

/** The page of a batch that waits for its total. */
function held(given: Given, language = 'en', query = ''): Promise<string> {
  const waiting = { ...RUNNING, invoices: [anInvoice({ state: 'held' })] };
  return pageAt(appWith({ held: waiting, watch: WAITS, saved: UNUSUAL, ...given }), `${PAGE}${query}`, language);
}

describe('the page of a batch that is held because of its total', () => {
  it.each([
    ['en', 'held: confirm the total', '13,200', '1,000,000.5', 'from the last 7 files named may_#.csv'],
    ['pt-PT', 'retido: confirmar o total', '13 200', '1 000 000,5', 'dos últimos 7 ficheiros'],
    ['es-ES', 'retenido: confirmar el total', '13.200', '1.000.000,5', 'de los últimos 7 archivos'],
  ])('in %s says so, with both totals, and asks for the number', async (language, ...words) => {
    const page = (await held({}, language)).replaceAll(/[\u00A0\u202F]/gu, ' ');

    for (const word of words) expect(page).toContain(word);
    expect(page).toContain('value="confirmTotal"');
    expect(page).not.toContain('value="13200"');
  });

  it.each<[string, Given]>([
    ['no run could take the answer', { watch: null }],
    ['the rest was cancelled', { watch: { ...WAITS, cancelled: true } }],
    ['the answer was given', { saved: { ...UNUSUAL, confirmedAt: 1 } }],
  ])('has no form where %s', async (_, given) => {
    expect(await held(given)).not.toContain('value="confirmTotal"');
  });

  it('sends number and reason, and nothing without a number or a reason', async () => {
    const sent: Operation[] = [];
    const operate = async (_: string, operation: Operation) => (sent.push(operation), 'ok');
    const confirm = (invoices: string, reason: string) => send({ operate }, { kind: 'confirmTotal', invoices, reason });

    expect((await confirm('13200', 'year')).headers.get('location')).toBe(`${PAGE}?done=confirmTotal`);
    for (const [invoices, reason] of [
      ['all', 'year'],
      ['', 'year'],
      ['13200', ' '],
    ] as const)
      expect((await confirm(invoices, reason)).status).toBe(303);

    expect(sent).toEqual([{ kind: 'confirmTotal', invoices: 13_200, reason: 'year' }]);
    expect(await held({}, 'en', '?done=confirmTotal')).toContain('The total is confirmed.');
  });
});

it.each(['running', 'finished', 'refused', 'staging'] as const)(
  'shows rate and time left of a batch that runs, and of no other: %s',
  async (state) => {
    const invoices = [anInvoice({ ordinal: 1, state: 'issued' }), anInvoice({ ordinal: 2, state: 'staged' })];
    const page = await pageOf({ held: { invoices, batch: aBatch({ state, finishedAt: null }) } });

    const rate = /<p class="rate">[\d.,]+ settled a second since the start\. <strong>About [^<]+ left\.<\/strong>/u;
    expect(rate.test(page)).toBe(state === 'running');
  },
);

describe('the page of an invoice', () => {
  const life: InvoiceGeneration = {
    generation: 2,
    idempotencyKey: 'lote_2',
    state: 'issued',
    serviceId: 'inv_2',
    attempts: 3,
    asks: 2,
    frozenAt: NOON - 1,
    firstSentAt: NOON,
    acceptedAt: NOON + 1_000,
    settledAt: NOON + 3_000,
    changedAt: NOON + 3_000,
    reason: null,
    flags: [],
    body: '{"customer":{"name":"Ana \\"Zé\\" Sá","tax_id":"210484276"},"lines":[{"unit_price":1.10}]}',
  };
  const earlier: InvoiceGeneration = {
    ...{ ...life, generation: 1, idempotencyKey: 'lote_1', state: 'rejected', serviceId: null, body: null },
    ...{ acceptedAt: null, settledAt: null, changedAt: null, frozenAt: NOON - 9_001, firstSentAt: NOON - 9_000 },
    reason: { code: 'no', message: 'The tax code is not known.' },
  };
  const details: InvoiceDetails = {
    line: anInvoice({ generation: 2, flags: ['issued-after-failed'], net: '2.5' }),
    content: {
      ref: 'F-1',
      merchant: { nif: '501964843', legalName: null, email: null },
      customer: { name: 'Ana Sá', taxId: null },
      currency: 'EUR',
      lines: [{ description: 'Pão <b>', quantity: '0.5', unitPrice: '5', taxCode: 'IVA_6' }],
    },
    generations: [life, earlier],
    deliveries: [
      {
        ...{ receivedAt: NOON + 2_000, type: 'invoice.issued', eventId: 'evt_1', serviceId: 'inv_2' },
        ...{ verdict: 'issued', reason: null },
      },
    ],
    batches: [
      { batchId: 'batch-april-1', file: 'april.csv', ordinal: 7, readAt: NOON - 20_000, rows: [8, 9] },
      { batchId: 'batch-may-0a1b2c3d', file: 'may.csv', ordinal: 1, readAt: NOON - 5_000, rows: [2] },
    ],
    actions: [],
  };
  const invoicePage = (given: InvoiceDetails = details) => pageOf({ details: given }, `${PAGE}/invoices/1`);

  it('is a time line of files, POSTs, answers, GETs and people, each where it belongs', async () => {
    const page = await invoicePage({
      ...details,
      deliveries: [],
      actions: [
        { at: NOON - 3_000, who: 'ana', what: 'pause', why: 'lunch', acceptedDuplicateRisk: false, move: null },
        { at: NOON - 2, who: null, what: 'retry', why: 'so', acceptedDuplicateRisk: true, move: 'regenerate' },
      ],
    });

    const cells = [...page.matchAll(/<tr>\s*<td class="time">(?<row>.*?)<\/tr>/gsu)].map(({ groups }) =>
      (groups?.row ?? '')
        .replaceAll(/<[^>]*>/gu, ' ')
        .replaceAll(/\s+/gu, ' ')
        .trim(),
    );
    expect(cells.map((cell) => cell.replace(/^.*?(?:AM|PM) /u, ''))).toEqual([
      'file read from april.csv, rows 8, 9',
      'Lote request and key fixed, generation 1',
      'Lote first sent',
      'file read from may.csv, row 2',
      'person paused, by ana lunch',
      'person sent again under a new key, by not known so · The risk of a duplicate was accepted.',
      'Lote request and key fixed, generation 2',
      'Lote first sent',
      'answer accepted by the service as inv_2',
      'Lote final: issued',
    ]);
    expect(page).toContain('Asked by GET as planned: 2 times.');
  });

  it('tells of a webhook, what was sent under each key, the newest first, and what the file says', async () => {
    const page = await invoicePage();

    expect(page).toMatch(/webhook invoice\.issued[^]*lote_2[^]*lote_1/u);
    for (const text of [
      ...['The tax code is not known.', 'issued-after-failed', 'Pão &lt;b&gt;', '<td class="number">5.00</td>'],
      ...['<strong>2.50 EUR</strong>', '<a href="/batches/batch-april-1/invoices/7">april.csv</a>'],
    ])
      expect(page).toContain(text);
    expect(page).not.toContain('/invoices/1">may.csv');
    expect(page, 'the body of a request names people').not.toContain('210484276');
  });

  it('of a line that never was an invoice says so', async () => {
    const page = await invoicePage({ ...details, content: null, generations: [], deliveries: [], batches: [] });

    for (const text of ['so Lote keeps no invoice of it', 'Nothing was sent.']) expect(page).toContain(text);
  });

  it.each(['/invoices/2', '/invoices/x', '/invoices/0', '/invoices/12345678901'])('is 404 at %s', async (path) => {
    expect((await visit(appWith(), `${PAGE}${path}`)).status).toBe(404);
  });
});

const PAUSED: AuditEntry = {
  ...{ at: NOON, who: 'ana', what: 'pause', why: 'tax office is closed' },
  ...{ acceptedDuplicateRisk: false, invoices: 0, examples: [] },
};
const AUDIT: readonly AuditEntry[] = [
  PAUSED,
  {
    ...{ at: NOON + 60_000, who: null, what: 'retry', why: '=1+1 <b>', acceptedDuplicateRisk: true, invoices: 1200 },
    examples: [{ ref: '@F-1', rows: [2], move: 'abandon', from: 'unknown', generation: 1 }],
  },
];

async function auditAt(path: string, audit: readonly AuditEntry[] = AUDIT, language = 'en'): Promise<string> {
  const ledger = ledgerHolding([{ batch: aBatch(), invoices: [anInvoice()] }], { auditOf: async () => audit });
  return pageAt(testConsole({ ledger }), path, language);
}

describe('the audit of a batch', () => {
  it('is named on its page, with how often something was done', async () => {
    expect(await auditAt(PAGE)).toMatch(/Done by hand<\/dt>\s*<dd><a href="[^"]+\/audit">2</u);
    expect(await auditAt(PAGE, [])).not.toContain('/audit"');
  });

  it('tells who did what, when, why, to how many and at which risk', async () => {
    const page = await auditAt(`${PAGE}/audit`);

    expect(page).toMatch(/tax office is closed[^]*=1\+1 &lt;b&gt;/u);
    for (const text of ['ana', 'paused', 'not known', 'sent again', '1,200', 'The risk of a duplicate was accepted.'])
      expect(page).toContain(text);
    expect(page).toContain('@F-1: unknown, sent again under a new key, the first one unsettled');
  });

  it('shows the newest entries of many, and the way to the older ones', async () => {
    const many = Array.from({ length: 120 }, (_, at) => ({ ...PAUSED, why: `reason ${at + 1}.` }));
    const newest = await auditAt(`${PAGE}/audit`, many);

    expect(newest.match(/reason \d+\./gu)).toEqual(many.slice(100).map(({ why }) => why));
    for (const text of [`href="${PAGE}/audit?page=2"`, 'Page 3 / 3']) expect(newest).toContain(text);
    expect((await auditAt(`${PAGE}/audit?page=1`, many)).match(/reason \d+\./gu)).toHaveLength(50);
  });

  it.each([
    ['pt', `${PAGE}/audit`, 'Nada foi feito à mão.'],
    ['es', `${PAGE}/audit`, 'No se hizo nada a mano.'],
    ['en', '/batches/nobody/audit', 'There is nothing at this address.'],
  ])('says in %s that there is nothing at %s', async (language, path, text) => {
    expect(await auditAt(path, [], language)).toContain(text);
  });
});
