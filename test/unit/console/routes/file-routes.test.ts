import { describe, expect, it } from 'vitest';
import type { ConsoleActions, Declared, FileCheck } from '../../../../src/console/console-options.ts';
import { LoteError } from '../../../../src/domain/errors.ts';
import { aBatch, BROWSER, ledgerHolding, pageAt, postForm, testConsole, visit } from '../console-ledger.ts';
import type { Held, TestConsole } from '../console-ledger.ts';
import { finding } from '../../report/batch-invoices.ts';

const CLEAN: FileCheck = {
  refused: false,
  sha256: 'f'.repeat(64),
  proof: {
    encoding: { name: 'windows-1252', how: 'declared', bom: false },
    delimiter: { value: '\t', how: 'proved' },
    decimal: { quantity: { mark: ',', how: 'proved', witness: { row: 8, value: '0,5' } }, unit_price: { mark: null } },
    header: [{ column: 'invoice_ref', header: 'Fatura n.º' }],
    ignored: ['Notas'],
  },
  rows: 3,
  rowsWithoutInvoice: 0,
  rowsLost: 0,
  invoices: 2,
  invalid: 0,
  netOfValid: { EUR: '1234.5', BRL: '2' },
  findings: [],
  firstBodies: ['{"lines":[]}'],
};

const WRONG = finding(7, 'quantity', 'quantity-unreadable', 'Row 7: no number.');

interface Given {
  readonly check?: Partial<FileCheck>;
  readonly files?: Partial<ConsoleActions['files']>;
  readonly held?: readonly Held[];
  readonly options?: TestConsole;
}

function appWith({ check = {}, files = {}, held = [], options = {} }: Given = {}) {
  return testConsole({
    ledger: ledgerHolding(held),
    links: { temporalUi: 'http://127.0.0.1:8233' },
    actions: {
      files: {
        keep: async (name) => `incoming/0a1b2c3d/${name}`,
        check: async () => ({ ...CLEAN, ...check }),
        start: async () => ({ batchId: 'batch-may-0a1b2c3d', sha256: 'f'.repeat(64) }),
        ...files,
      },
    },
    ...options,
  });
}

async function upload(given: Given, name: string, content: string) {
  const body = new FormData();
  body.set('file', new File([content], name));
  return appWith(given).request('http://127.0.0.1/files', { method: 'POST', headers: BROWSER, body });
}

const checkPage = (given: Given, query = 'file=incoming/0a1b2c3d/may.csv') => pageAt(appWith(given), `/check?${query}`);

describe('a file that comes by the browser', () => {
  it('is kept as it came, and checked next', async () => {
    const kept: string[] = [];
    const keep = async (name: string, content: AsyncIterable<Uint8Array>) => {
      for await (const bytes of content) kept.push(Buffer.from(bytes).toString());
      return `incoming/0a1b2c3d/${name}`;
    };

    const answer = await upload({ files: { keep } }, 'maio & junho.csv', 'a,b\r\n1,"2"\r\n');

    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/check?file=incoming%2F0a1b2c3d%2Fmaio+%26+junho.csv');
    expect(kept.join('')).toBe('a,b\r\n1,"2"\r\n');
  });

  it('that is too large is told so on a page, and that was not chosen leads back to the form', async () => {
    const keep = () => Promise.reject(new LoteError('usage', 'Receiving a file: it must be smaller.'));

    const large = await upload({ files: { keep } }, 'may.csv', 'x');
    const none = await upload({}, '', '');

    expect([large.status, await large.text()]).toEqual([400, expect.stringContaining('it must be smaller.')]);
    expect([none.status, none.headers.get('location')]).toEqual([303, '/']);
  });

  it('has no form where nothing can be started', async () => {
    const shows = { options: { actions: undefined } };

    expect(await pageAt(appWith(), '/')).toContain('action="/files"');
    expect(await pageAt(appWith(shows), '/')).not.toContain('action="/files"');
    expect((await visit(appWith(shows), '/check?file=x')).status).toBe(404);
  });
});

describe('the check of a file', () => {
  it('offers to start what is clean, with what it comes to and how it was read', async () => {
    const page = await checkPage({});

    for (const text of [
      ...['No errors: all 2 invoices can be sent.', 'Start: issue 2 invoices', '1,234.50</span> EUR', 'tab, proved'],
      ...['windows-1252, declared', 'comma, proved (row 8: 0,5)', 'Fatura n.º', 'Notas'],
    ])
      expect(page).toContain(text);
    expect(page).not.toContain('decimal in unit_price');
  });

  it('calls a file clean whose only row without an invoice is a totals row, as `lote check` does', async () => {
    const page = await checkPage({ check: { rowsWithoutInvoice: 1 } });

    expect(page).toContain('<section class="verdict good">');
    for (const text of ['belongs to no invoice', 'Correct the file and check it again'])
      expect(page).not.toContain(text);
  });

  it('says how many cannot go, why, and offers to start the others', async () => {
    const page = await checkPage({ check: { invalid: 1, rowsWithoutInvoice: 3, rowsLost: 2, findings: [WRONG] } });

    for (const text of [
      ...['1 of 2 invoices has an error and cannot be sent.', '2 rows belong to no invoice.', 'Row 7: no number.'],
      ...['Start: issue 1 invoice<', 'action="/files"'],
    ])
      expect(page).toContain(text);
  });

  it.each([
    ['is refused', { refused: true, invoices: 0, findings: [WRONG] }, 'Row 7: no number.'],
    ['has no valid invoice', { invalid: 2, findings: [WRONG] }, 'Row 7: no number.'],
  ])('offers no start for a file that %s', async (_, check, said) => {
    const page = await checkPage({ check });

    expect(page).not.toContain('action="/start');
    expect(page).toContain(said);
  });

  it('names the batch that these bytes had before', async () => {
    const held = [{ batch: aBatch({ sha256: CLEAN.sha256, file: 'april.csv' }), invoices: [] }];

    expect(await checkPage({ held })).toMatch(
      /was started before, as batch <a href="\/batches\/batch-may-0a1b2c3d">april\.csv</u,
    );
  });

  it('passes on what the operator declares, and nothing that is none of it', async () => {
    const asked: Declared[] = [];
    const check = async (_: string, declared: Declared) => {
      asked.push(declared);
      return CLEAN;
    };

    const page = await checkPage(
      { files: { check } },
      'file=may.csv&decimal=,&encoding=cp850&duplicateRows=&lookAlikes=keep&onInvalid=hold',
    );
    await checkPage({ files: { check } }, 'file=may.csv&decimal=x&encoding=../x&lookAlikes=maybe');

    expect(asked).toEqual([{ decimal: ',', encoding: 'cp850', lookAlikes: 'keep' }, {}]);
    expect(page).toContain('<input type="hidden" name="lookAlikes" value="keep" />');
    expect(page).toMatch(/<option value="keep" selected>are invoices of their own/u);
    expect(page).toContain('<input type="hidden" name="decimal" value="," />');
    expect(page).toMatch(/<option value="cp850" selected>/u);
  });

  it('leads to the same check in the other languages', async () => {
    const page = await checkPage({}, 'file=may.csv&decimal=,');
    const address = /<a href="(\/check[^"]*)" lang="pt"/u.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';

    const answer = await visit(appWith(), `${address}`);

    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('name="decimal" value=","');
  });

  it('shows nothing of a proof of a shape that it does not know', async () => {
    const page = await checkPage({
      check: { proof: { encoding: 3, decimal: 'x', header: [1], novelty: { a: '<b>' } } },
    });

    expect(page).toContain('How the file was read');
    expect(page).not.toContain('<b>');
  });

  it.each([
    ['without a file', '', 404],
    ['of a file that is not there', 'file=gone.csv', 400],
  ])('%s is no page', async (_, query, status) => {
    const check = () => Promise.reject(new LoteError('file-unreadable', 'There is no such file.'));
    const answer = await visit(appWith({ files: { check } }), `/check?${query}`);

    expect(answer.status).toBe(status);
  });
});

describe('the start of a file', () => {
  /** A start that keeps what it was asked for. */
  function recorded() {
    const started: unknown[] = [];
    const answer = { batchId: 'batch-may-0a1b2c3d', sha256: 'ab' };
    return { started, startFile: async (...asked: [string, Declared]) => (started.push(asked.slice(0, 2)), answer) };
  }

  const start = (given: Given, fields: Record<string, string>) => postForm(appWith(given), '/start', fields);

  it('starts it with what was declared, and leads to the batch', async () => {
    const { started, startFile } = recorded();

    const answer = await start(
      { files: { start: startFile } },
      { file: 'incoming/x/may.csv', decimal: ',', lookAlikes: 'keep' },
    );

    expect(started).toEqual([['incoming/x/may.csv', { decimal: ',', lookAlikes: 'keep' }]]);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/batches/batch-may-0a1b2c3d?started=ab']);
  });

  it('starts it with the accepted risk of a duplicate, which is asked for only where a refusal is no proof', async () => {
    const { started, startFile } = recorded();
    const profileWith = (mismatchCodes: readonly string[]) => ({ serviceProfile: { idempotency: { mismatchCodes } } });

    await start({ files: { start: startFile } }, { file: 'incoming/x/may.csv', acceptDuplicateRisk: 'yes' });

    expect(started).toEqual([['incoming/x/may.csv', { acceptDuplicateRisk: true }]]);
    expect(await checkPage({ options: profileWith([]) })).toContain('name="acceptDuplicateRisk"');
    expect(await checkPage({ options: profileWith(['mismatch']) })).not.toContain('acceptDuplicateRisk');
    expect(await checkPage({})).not.toContain('acceptDuplicateRisk');
  });

  it('without a file leads back, and a form that is too large is refused', async () => {
    expect((await start({}, {})).headers.get('location')).toBe('/');
    expect((await start({}, { file: 'x'.repeat(20_000) })).status).toBe(413);
  });

  it('leads to a page that waits for the worker, and from there to the batch that has these bytes', async () => {
    const waiting = await visit(appWith(), `/batches/batch-new-1?started=ab`);
    const held = [{ batch: aBatch({ sha256: 'ab' }), invoices: [] }];
    const known = await visit(appWith({ held }), `/batches/batch-new-1?started=ab`);

    expect(await waiting.text()).toContain('waits for a worker to read its file');
    expect([known.status, known.headers.get('location')]).toEqual([303, '/batches/batch-may-0a1b2c3d']);
  });
});
