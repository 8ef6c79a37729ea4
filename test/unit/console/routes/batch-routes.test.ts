import { describe, expect, it } from 'vitest';
import { createConsoleApp } from '../../../../src/console/console-app.ts';
import type { BatchWatch, ConsoleActions, Operation } from '../../../../src/console/console-options.ts';
import { maskedBody } from '../../../../src/console/pages/invoices/request-list.ts';
import type { InvoiceDetails, InvoiceGeneration } from '../../../../src/domain/ports/invoice-lookup.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { pageHeaders } from '../../../support/browser/page-headers.ts';
import { aBatch, anInvoice, ledgerHolding, type Held } from '../console-ledger.ts';

const BROWSER = { host: '127.0.0.1', origin: 'http://127.0.0.1' };
const RUNNING: Held = {
  batch: aBatch({ state: 'running', finishedAt: null }),
  invoices: [anInvoice({ state: 'staged' })],
};
const AT_WORK: BatchWatch = { paused: false, cancelled: false, waitingFor: null };
const PAGE = '/batches/batch-may-0a1b2c3d';

interface Given {
  readonly held?: Held;
  readonly watch?: BatchWatch | null;
  readonly operate?: NonNullable<ConsoleActions['operate']>;
  readonly details?: InvoiceDetails;
}

function appWith({ held = RUNNING, watch = AT_WORK, operate = async () => 'ok', details }: Given = {}) {
  return createConsoleApp({
    ledger: ledgerHolding([held], details === undefined ? {} : { invoiceDetails: async () => details }),
    reportsDir: '/nowhere',
    links: { temporalUi: null },
    version: '0.1.0',
    timeZone: 'UTC',
    actions: { operate, watch: async () => watch },
  });
}

async function pageOf(given: Given, path = PAGE): Promise<string> {
  return (await appWith(given).request(`http://127.0.0.1${path}`, { headers: BROWSER })).text();
}

async function send(given: Given, fields: Record<string, string>, headers: Record<string, string> = BROWSER) {
  const app = appWith(given);
  return app.request(`http://127.0.0.1${PAGE}/operations`, {
    method: 'POST',
    headers: { ...(await fromPage(app, headers)), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
}

/** A request of a page of the same console; other headers are those of somebody else. */
async function fromPage(app: ReturnType<typeof createConsoleApp>, headers: Record<string, string>) {
  if (headers !== BROWSER) return headers;
  const load = (path: string) => app.request(`http://127.0.0.1${path}`, { headers: BROWSER });
  return { ...BROWSER, ...(await pageHeaders('http://127.0.0.1', load)) };
}

describe('the operations of a batch', () => {
  it.each([
    ['that runs', AT_WORK, ['value="pause"', 'value="cancelRemaining"'], ['value="resume"']],
    ['that is paused', { ...AT_WORK, paused: true }, ['value="resume"', 'value="cancelRemaining"'], ['value="pause"']],
    [
      'that was cancelled',
      { ...AT_WORK, cancelled: true },
      ['Nothing more is sent.'],
      ['value="pause"', 'value="resume"'],
    ],
    ['whose run does not answer', null, [], ['value="pause"', 'value="resume"']],
  ])('of one %s', async (_, watch, there, missing) => {
    const page = await pageOf({ watch });

    for (const text of there) expect(page).toContain(text);
    for (const text of missing) expect(page).not.toContain(text);
  });

  it('say why a batch waits', async () => {
    expect(await pageOf({ watch: { ...AT_WORK, waitingFor: 'service-unreachable' } })).toContain(
      'It waits: service-unreachable',
    );
  });

  it('are none of one that has ended', async () => {
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

  it('from a page of somebody else are refused', async () => {
    const operate = () => Promise.reject(new Error('must not be sent'));

    expect(
      (await send({ operate }, { kind: 'resume' }, { host: '127.0.0.1', origin: 'http://evil.example' })).status,
    ).toBe(403);
  });

  it('on a run that has ended are told so', async () => {
    const operate = () =>
      Promise.reject(new LoteError('batch-not-found', 'Its workflow must be running, found it ended.'));

    const answer = await send({ operate }, { kind: 'resume' });

    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('found it ended')]);
  });
});

describe('the picture of a batch that runs', () => {
  it('tells in words what it shows, and what it waits for where no form says it', async () => {
    const counts = { ordinal: 1, state: 'issued' as const };
    const held: Held = { ...RUNNING, invoices: [anInvoice(counts), anInvoice({ ordinal: 2, state: 'staged' })] };
    const page = await pageOf({ held });
    const watching = createConsoleApp({
      ...{ ledger: ledgerHolding([held]), reportsDir: '/nowhere', links: { temporalUi: null }, version: '0.1.0' },
      actions: { watch: async () => ({ ...AT_WORK, waitingFor: 'the ledger' }) },
    });
    const waiting = await (await watching.request(`http://127.0.0.1${PAGE}`, { headers: BROWSER })).text();

    expect(page).toContain('aria-label="Sent and settled so far: sent 1 / 2, settled 1 / 2"');
    expect(page).not.toContain('It waits:');
    expect(waiting.match(/It waits:\s+the ledger/gu)).toHaveLength(1);
  });

  it.each(['finished', 'refused', 'staging'] as const)('is not there when the batch is %s', async (state) => {
    expect(await pageOf({ held: { ...RUNNING, batch: aBatch({ state }) } })).not.toContain('<figure>');
  });
});

describe('the page of an invoice', () => {
  const NOON = Date.UTC(2026, 4, 1, 12);
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
    ...life,
    generation: 1,
    idempotencyKey: 'lote_1',
    state: 'rejected',
    serviceId: null,
    acceptedAt: null,
    settledAt: null,
    changedAt: null,
    frozenAt: NOON - 9_001,
    firstSentAt: NOON - 9_000,
    reason: { code: 'no', message: 'The tax code is not known.' },
    body: null,
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
        receivedAt: NOON + 2_000,
        type: 'invoice.issued',
        eventId: 'evt_1',
        serviceId: 'inv_2',
        verdict: 'issued',
        reason: null,
      },
    ],
    batches: [
      { batchId: 'batch-april-1', file: 'april.csv', ordinal: 7, readAt: NOON - 20_000, rows: [8, 9] },
      { batchId: 'batch-may-0a1b2c3d', file: 'may.csv', ordinal: 1, readAt: NOON - 5_000, rows: [2] },
    ],
    tries: [],
    actions: [],
  };
  const invoicePage = (given: InvoiceDetails = details) => pageOf({ details: given }, `${PAGE}/invoices/1`);

  it('is a time line of files, POSTs, answers, GETs and people, each where it belongs', async () => {
    const lost = {
      generation: 2,
      sentAt: NOON,
      answeredAt: NOON + 500,
      reason: { code: 'reset', message: 'No answer.' },
    };
    const page = await invoicePage({
      ...details,
      deliveries: [],
      tries: [lost],
      actions: [
        ...[{ at: NOON - 3_000, who: 'ana', what: 'pause', why: 'lunch', acceptedDuplicateRisk: false, move: null }],
        ...[
          {
            at: NOON - 2,
            who: null,
            what: 'retry',
            why: 'again',
            acceptedDuplicateRisk: true,
            move: 'regenerate' as const,
          },
        ],
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
      'person sent again under a new key, by not known again · The risk of a duplicate was accepted.',
      'Lote request and key fixed, generation 2',
      expect.stringMatching(/^answer sent, no final answer No answer\. \(.*12:00:00.*\)$/u),
      'answer accepted by the service as inv_2',
      'answer asked by GET: issued',
      'Lote final: issued',
    ]);
    expect(page).toContain('Asked by GET as planned: 2 times.');
  });

  it('tells what happened in its order, and what was sent under each key', async () => {
    const page = await invoicePage();

    const order = ['first sent', 'accepted by the service as inv_2', 'webhook invoice.issued', 'final: issued'];
    expect(order.map((text) => page.indexOf(text)).toSorted((a, b) => a - b)).toEqual(
      order.map((text) => page.indexOf(text)),
    );
    expect(order.every((text) => page.includes(text))).toBe(true);
    expect(page.indexOf('lote_2')).toBeLessThan(page.indexOf('lote_1'));
    expect(page).toContain('The tax code is not known.');
    expect(page).toContain('issued-after-failed');
  });

  it('shows what the file says, and where else the invoice stands', async () => {
    const page = await invoicePage();

    expect(page).toContain('Pão &lt;b&gt;');
    expect(page).toContain('<td class="number">5.00</td>');
    expect(page).toContain('<strong>2.50 EUR</strong>');
    expect(page).toContain('<a href="/batches/batch-april-1/invoices/7">april.csv</a>');
    expect(page).not.toContain('/invoices/1">may.csv');
  });

  it('masks people in what was sent', async () => {
    const page = await invoicePage();

    expect(page).not.toContain('210484276');
    expect(page).toContain('&quot;tax_id&quot;:&quot;•••76&quot;');
  });

  it('of a line that never was an invoice says so', async () => {
    const page = await invoicePage({ ...details, content: null, generations: [], deliveries: [], batches: [] });

    expect(page).toContain('so Lote keeps no invoice of it');
    expect(page).toContain('Nothing was sent.');
  });

  it.each(['/invoices/2', '/invoices/x', '/invoices/0', '/invoices/12345678901'])('is 404 at %s', async (path) => {
    const app = appWith();

    expect((await app.request(`http://127.0.0.1${PAGE}${path}`, { headers: BROWSER })).status).toBe(404);
  });
});

describe('maskedBody', () => {
  it.each([
    ['{"name":"Ana"}', '{"name":"•••"}'],
    ['{"tax_id" : "210484276"}', '{"tax_id" : "•••76"}'],
    ['{"name":"a\\"b,\\"tax_id\\":1"}', '{"name":"•••"}'],
    ['{"quantity":1.10,"description":"name"}', '{"quantity":1.10,"description":"name"}'],
    ['{"name":""}', '{"name":"•••"}'],
  ])('%s becomes %s', (body, masked) => {
    expect(maskedBody(body)).toBe(masked);
  });
});
