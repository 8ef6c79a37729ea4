import { describe, expect, it } from 'vitest';
import type { ReconcileAnswer, RetryAnswer, RetryWish } from '../../../../src/console/console-options.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { aBatch, anInvoice, ledgerHolding, pageAt, postForm, testConsole } from '../console-ledger.ts';
import type { TestConsole } from '../console-ledger.ts';
import type { BatchInvoice, BatchRecord } from '../../../../src/domain/records/batch-record.ts';

const PAGE = '/batches/batch-may-0a1b2c3d';
const NO = { code: 'no', message: 'No.' };
const MIXED: readonly BatchInvoice[] = [
  anInvoice({ ordinal: 1 }),
  anInvoice({ ordinal: 2, state: 'failed', reason: NO, rows: [7, 8] }),
  anInvoice({ ordinal: 3, state: 'held', reason: NO }),
  anInvoice({ ordinal: 4, state: 'unknown', reason: NO }),
];

interface Given {
  readonly batch?: Partial<BatchRecord>;
  readonly invoices?: readonly BatchInvoice[];
  /** Null: the console only shows. */
  readonly actions?: TestConsole['actions'] | null;
}

const ENDED: RetryAnswer = { how: 'ended', moved: 2, refused: { 'generations-spent': 1 } };
const ASKED = {
  ...{ how: 'ended', asked: 5, settled: 4, serviceAway: true },
} as const satisfies ReconcileAnswer;
const ABLE = { retry: async () => ENDED, reconcile: async () => ASKED };

/** A retry that keeps what was wished. */
function recorded(answer: RetryAnswer = ENDED) {
  const wishes: RetryWish[] = [];
  return { wishes, retry: async (wish: RetryWish) => (wishes.push(wish), answer) };
}

function appWith({ batch = {}, invoices = MIXED, actions = ABLE }: Given = {}) {
  return testConsole({ ledger: ledgerHolding([{ batch: aBatch(batch), invoices }]), actions: actions ?? undefined });
}

const pageOf = (path: string, given: Given = {}, language = 'en') => pageAt(appWith(given), path, language);
const post = (path: string, body: string, given: Given = {}) => postForm(appWith(given), path, body);

describe('sending again, from the page of a batch', () => {
  it('offers the states that may go again and are there, each with its number', async () => {
    const page = await pageOf(PAGE);

    expect([...page.matchAll(/name="states" value="(\w+)" checked/gu)].map(([, state]) => state)).toEqual([
      'failed',
      'held',
    ]);
    expect(page).toContain(`action="${PAGE}/retry"`);
  });

  it.each([
    ['while the batch runs', { batch: { state: 'running' as const } }],
    ['where everything went out', { invoices: [anInvoice()] }],
    ['where nobody could do it', { actions: null }],
  ])('offers nothing %s', async (_, given) => {
    expect(await pageOf(PAGE, given)).not.toContain('/retry"');
  });

  it('hands over states and reason, and says what became of them', async () => {
    const { wishes, retry } = recorded();

    const many = await post(`${PAGE}/retry`, 'states=failed&states=held&reason= engine is back ', {
      actions: { retry },
    });
    await post(`${PAGE}/retry`, 'states=held&reason=x', { actions: { retry } });

    const wish = { batchId: 'batch-may-0a1b2c3d', acceptDuplicateRisk: false, by: 'console' };
    expect(wishes).toEqual([
      { ...wish, states: ['failed', 'held'], reason: 'engine is back' },
      { ...wish, states: ['held'], reason: 'x' },
    ]);
    const page = await pageOf(many.headers.get('location') ?? '');
    expect(page).toContain('Sent again: 2 invoices.');
    expect(page).toContain('1 invoice was left as it is: sent as often as the service profile allows');
  });

  it.each([
    ['without a reason', 'states=failed'],
    ['with an empty reason', 'states=failed&reason=  '],
    ['without a state', 'reason=x'],
    ['with a state that only rows may name', 'states=unknown&reason=x'],
    ['with a state that never goes again', 'states=issued&reason=x'],
  ] as const)('is led back %s, and nothing is sent', async (_, fields) => {
    const retry = () => Promise.reject(new Error('must not be sent'));

    const answer = await post(`${PAGE}/retry`, fields, { actions: { retry } });

    expect([answer.status, answer.headers.get('location')]).toEqual([303, PAGE]);
  });

  it('is told why nothing could be done', async () => {
    const retry = () => Promise.reject(new LoteError('transition-refused', 'Its file was refused. Nothing was done.'));

    const answer = await post(`${PAGE}/retry`, 'states=failed&reason=x', { actions: { retry } });

    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Its file was refused.')]);
  });
});

describe('sending again, from the page of an invoice', () => {
  it.each([
    [2, 'Failed and refused invoices go under a new key'],
    [4, 'The same request goes again under the same key'],
  ])('offers it for invoice %i, and says how it would go', async (ordinal, text) => {
    const page = await pageOf(`${PAGE}/invoices/${ordinal}`);

    expect(page).toContain(`action="${PAGE}/invoices/${ordinal}/retry"`);
    expect(page).toContain(text);
  });

  it('offers nothing for one that went out', async () => {
    expect(await pageOf(`${PAGE}/invoices/1`)).not.toContain('/retry"');
  });

  it('names a row, never a reference, and accepts a risk only by word', async () => {
    const { wishes, retry } = recorded({ how: 'joined' });
    const given = { actions: { retry } };

    const answer = await post(`${PAGE}/invoices/2/retry`, 'reason=again', given);
    await post(`${PAGE}/invoices/4/retry`, 'reason=again&acceptDuplicateRisk=yes', given);

    expect(wishes.map(({ rows, acceptDuplicateRisk }) => [rows, acceptDuplicateRisk])).toEqual([
      [[7], false],
      [[5], true],
    ]);
    expect(JSON.stringify(wishes)).not.toContain('F-');
    expect(await pageOf(answer.headers.get('location') ?? '')).toContain('it takes them up when its pages have ended');
  });
});

describe('asking the service now', () => {
  it('is offered where an answer or a final word is missing', async () => {
    expect(await pageOf(PAGE)).toContain(`action="${PAGE}/reconcile"`);
    expect(await pageOf(`${PAGE}/invoices/4`)).toContain(`action="${PAGE}/invoices/4/reconcile"`);
    expect(await pageOf(`${PAGE}/invoices/2`)).not.toContain('/reconcile"');
    expect(await pageOf(PAGE, { invoices: [anInvoice()] })).not.toContain('/reconcile"');
  });

  it.each<[string, ReconcileAnswer, string, readonly string[]]>([
    [PAGE, ASKED, 'en', ['Asked for 5 documents, 4 of them now have a final word.', 'The rest waits: the service']],
    [`${PAGE}/invoices/4`, { how: 'started' }, 'pt', ['O serviço está a ser consultado.']],
  ])('leads back to %s with what was found', async (page, found, language, said) => {
    const answer = await post(`${page}/reconcile`, '', { actions: { reconcile: async () => found } });

    const address = answer.headers.get('location') ?? '';
    expect(address).toMatch(new RegExp(`^${page}\\?done=reconcile`, 'u'));
    for (const text of said) expect(await pageOf(address, {}, language)).toContain(text);
  });
});

describe('every operation', () => {
  const paths = ['retry', 'reconcile', 'operations', 'invoices/2/retry', 'invoices/2/reconcile'];

  it.each(paths)('%s is 404 without an action for it, and for an unknown batch', async (path) => {
    expect((await post(`${PAGE}/${path}`, '', { actions: null })).status).toBe(404);
    expect((await post(`/batches/nobody/${path}`, '')).status).toBe(404);
  });

  it('ignores a made-up address', async () => {
    const queries = 'done=retry done=retry&how=ended&moved=<b> done=reconcile&how=x done=x done=pause&done=x';
    for (const query of queries.split(' ')) expect(await pageOf(`${PAGE}?${query}`)).not.toContain('<b>');
    expect(await pageOf(`${PAGE}?done=retry&how=ended&moved=-5`)).toContain('Sent again: 0 invoices.');
    expect(await pageOf(`${PAGE}?done=nonsense`)).not.toContain('role="status"');
  });
});
