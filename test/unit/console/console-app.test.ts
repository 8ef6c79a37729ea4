import { mkdir, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { totalsDiffer, totalsFinding } from '../../../src/domain/control-totals.ts';
import { LoteError } from '../../../src/domain/errors.ts';
import { aBatch, anInvoice, ledgerHolding, pageAt, testConsole } from './console-ledger.ts';
import type { Held, TestConsole } from './console-ledger.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';
import { finding } from '../report/batch-invoices.ts';
import { profileSettings } from '../../../src/app/console/console-parts.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';

const NO = { code: 'tax-code-unknown', message: 'The tax code is not known.' };
const LOST = { code: 'answer-lost', message: 'No answer came.' };
const HOSTILE = '"><img src=x onerror=alert(1)>\'&';

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

interface Given extends TestConsole {
  readonly held?: readonly Held[];
  readonly method?: 'HEAD';
}

function get(path: string, { held = [], method, ...given }: Given = {}, headers: Record<string, string> = {}) {
  const app = testConsole({ ledger: ledgerHolding(held), reportsDir, ...given });
  return app.request(`http://localhost${path}`, {
    method: method ?? 'GET',
    headers: { host: 'localhost', ...headers },
  });
}

async function pageOf(path: string, given?: Given, headers?: Record<string, string>): Promise<string> {
  return (await get(path, given, headers)).text();
}

const MIXED: Held = {
  batch: aBatch({ rows: 5, invoices: 3, rowsWithoutInvoice: 2 }),
  invoices: [
    anInvoice({ ordinal: 1 }),
    anInvoice({ ordinal: 2, state: 'rejected', reason: NO, net: '0.1' }),
    anInvoice({ ordinal: 3, state: 'unknown', reason: LOST, currency: 'BRL', net: null }),
  ],
  findings: [finding(5, null, 'totals-row', 'Row 5 looks like a totals row.', 'info')],
};

const MIXED_PAGE = `/batches/${MIXED.batch.batchId}`;

describe('the list of batches', () => {
  it('says what to do while there is none, and is then not live', async () => {
    const page = await pageOf('/');

    expect(page).toContain('drop one into the input folder');
    expect(page).not.toContain('data-live');
  });

  it('shows each batch with its state, progress and what needs attention, and is live while one runs', async () => {
    const running = {
      batch: aBatch({ batchId: 'b2', file: 'june.csv', state: 'running', invoices: 2 }),
      invoices: [anInvoice(), anInvoice({ ordinal: 2, state: 'staged' })],
    };

    const page = await pageOf('/', { held: [running, MIXED] });

    expect(page).toMatch(/href="\/batches\/b2">june\.csv[^]*may\.csv/u);
    for (const text of ['1 / 2', '2 need attention', '<span class="soft">none</span>', 'data-live'])
      expect(page).toContain(text);
  });
});

describe('a finished batch', () => {
  const DIFFER = totalsFinding(totalsDiffer(['expected 4 invoices, found 3'], false));
  const TOTALS_ROW = finding(5, null, 'totals-row', 'Row 5 looks like a totals row.', 'warning');
  const flag = 'second-service-id';
  const doubtful = anInvoice({ flags: [flag], contradictions: [flag] });
  const IN_DOUBT = '1 invoice went out and is in doubt: it may exist twice at the service';
  const ROW = '1 row belongs to no invoice.';
  const TOTALS = 'does not have the control totals';
  const OPEN = '1 of 2 invoices is not confirmed as issued.';
  const two = (first: BatchInvoice, second: BatchInvoice): Held => ({
    ...{ batch: aBatch({ invoices: 2 }), invoices: [first, second] },
  });
  const one = (rowsWithoutInvoice = 0, given: Partial<Held> = {}): Held => ({
    ...{ batch: aBatch({ invoices: 1, rowsWithoutInvoice }), invoices: [anInvoice()], ...given },
  });
  const other = (state: BatchInvoice['state']) => anInvoice({ ordinal: 2, state, reason: NO });

  /** Of each: its name, the batch, its colour, and texts of the list and of its page; those of the list also stand on the page where it says them. */
  it.each<[string, Held, string, string, readonly string[]]>([
    ['with a totals row', one(1, { findings: [TOTALS_ROW] }), 'good', 'none', ['Everything went out: 1 invoice.']],
    ['with a lost row', one(1), 'open', ROW, [ROW]],
    ['with other control totals', one(0, { findings: [DIFFER] }), 'open', 'control totals', [TOTALS]],
    [
      'with an invoice in doubt, and other control totals',
      ...([one(0, { invoices: [doubtful], findings: [DIFFER] }), 'bad', IN_DOUBT, [IN_DOUBT, TOTALS]] as const),
    ],
    ['with an invoice in doubt, and a lost row', one(1, { invoices: [doubtful] }), 'bad', IN_DOUBT, [IN_DOUBT, ROW]],
    [
      'with an invoice in doubt, and one on its way',
      two(doubtful, other('accepted')),
      'bad',
      IN_DOUBT,
      [IN_DOUBT, OPEN],
    ],
    ...(['accepted', 'sending', 'staged'] as const).map((state): [string, Held, string, string, string[]] => {
      const held = two(anInvoice(), other(state));
      return [
        `with an invoice that may still move: ${state}`,
        held,
        'under-way',
        '<td>1 is still under way</td>',
        [OPEN],
      ];
    }),
    [
      'with an invoice that needs attention, which is said before one on its way',
      two(anInvoice({ state: 'accepted' }), other('unsettled')),
      ...(['open', '<td>1 needs attention</td>', ['2 of 2 invoices are not confirmed as issued.']] as const),
    ],
  ])('%s, says so in the list and on its page', async (_, held, tone, inList, onPage) => {
    const list = await pageOf('/', { held: [held] });
    const page = await pageOf(MIXED_PAGE, { held: [held] });

    expect(list).toContain(`<span class="state ${tone}">finished</span>`);
    expect(list).toContain(inList);
    for (const text of [`<section class="verdict ${tone}">`, ...onPage]) expect(page).toContain(text);
    expect(page.includes('Everything went out:')).toBe(tone === 'good');
    expect(page.includes('belong')).toBe(onPage.includes(ROW));
  });
});

it('names an issued invoice in doubt on its page, on that of its batch, and in the API', async () => {
  const flag = 'second-service-id';
  const doubt = '<strong>The service accepted a second document of this invoice: it may exist twice.</strong>';
  const invoices = [anInvoice(), anInvoice({ ordinal: 2, flags: [flag], contradictions: [flag] })];
  const held = [{ batch: aBatch({ invoices: 2 }), invoices }];

  const page = await pageOf(MIXED_PAGE, { held });
  expect(page).toContain(doubt);
  expect(page).toContain('<strong>In doubt: F-2</strong>');
  const ofInvoice = await pageOf(`${MIXED_PAGE}/invoices/2`, { held });
  for (const text of ['<section class="verdict bad">', doubt]) expect(ofInvoice).toContain(text);
  const answer: unknown = await (await get(`/api${MIXED_PAGE}`, { held })).json();
  expect(answer).toMatchObject({ contradicted: 1, contradictedRefs: ['F-2'] });
});

describe('the page of a batch', () => {
  it('shows problems first, and totals that are exact', async () => {
    const page = await pageOf(MIXED_PAGE, { held: [MIXED] });

    expect(page).toContain('2 of 3 invoices are not confirmed as issued.');
    expect(page).toContain('1 row belongs to no invoice.');
    expect(page).toContain('The tax code is not known.');
    expect(page).not.toMatch(/>F-1<\/a>/u);
    expect(page).toContain('1,234.60');
    expect(page).toContain('Row 5 looks like a totals row.');
  });

  it('stays live until its report is there: the batch ends a moment before', async () => {
    const before = await pageOf(MIXED_PAGE, { held: [MIXED] });
    await mkdir(join(reportsDir, MIXED.batch.batchId));
    await writeFile(join(reportsDir, MIXED.batch.batchId, 'report.html'), '<p>whole</p>');
    const after = await pageOf(MIXED_PAGE, { held: [MIXED] });

    expect([before.includes('data-live'), after.includes('data-live')]).toEqual([true, false]);
    expect(after).toContain('report.html');
  });

  it('shows every invoice, or those of one state, on request', async () => {
    const refs = async (show: string) => {
      const page = await pageOf(`${MIXED_PAGE}?show=${show}`, { held: [MIXED] });
      return [...page.matchAll(/>(F-\d+)<\/a>/gu)].map(([, ref]) => ref);
    };

    expect(await refs('all')).toEqual(['F-1', 'F-2', 'F-3']);
    expect(await refs('unknown')).toEqual(['F-3']);
    expect(await refs('held')).toEqual([]);
    expect(await refs('nonsense')).toEqual(['F-2', 'F-3']);
  });

  it('pages through many invoices and reads no further than it shows', async () => {
    const invoices = Array.from({ length: 125 }, (_, index) => anInvoice({ ordinal: index + 1 }));
    const ledger = ledgerHolding([{ batch: aBatch({ invoices: 125 }), invoices }]);

    const page = await pageOf(`${MIXED_PAGE}?page=2`, { ledger });

    expect(page.match(/>F-\d+<\/a>/gu)).toHaveLength(50);
    expect(page).toMatch(/>F-51<\/a>/u);
    expect(page).toContain('Page 2 / 3');
    expect(page).toContain('?show=all&amp;page=3#invoices');
    expect(ledger.read()).toBe(50);
  });

  it.each(['0', '-1', '9999999', 'x', '1e3'])('stays inside its pages when asked for page %s', async (asked) => {
    const answer = await get(`${MIXED_PAGE}?show=all&page=${asked}`, { held: [MIXED] });

    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('F-1');
  });

  it('links to its workflow, and never to an address that is none', async () => {
    const withUi = (temporalUi: string) => pageOf(MIXED_PAGE, { held: [MIXED], links: { temporalUi } });

    expect(await withUi('http://127.0.0.1:8233/')).toContain(
      'href="http://127.0.0.1:8233/namespaces/default/workflows/batch-may-0a1b2c3d"',
    );
    expect(await withUi('javascript:alert(1)')).not.toContain('javascript:');
  });

  it('is 404 for a batch that the ledger does not know', async () => {
    const answer = await get('/batches/none');

    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('There is nothing at this address.');
  });

  it.each(['/', '/batches/batch-may-0a1b2c3d', `/batches/batch-may-0a1b2c3d?show=${encodeURIComponent(HOSTILE)}`])(
    'escapes whatever files and the service wrote: %s',
    async (path) => {
      const found = finding(1, HOSTILE, HOSTILE, HOSTILE);
      const texts = { ref: HOSTILE, merchantNif: HOSTILE, currency: HOSTILE, serviceId: HOSTILE, flags: [HOSTILE] };
      const reason = { code: HOSTILE, message: HOSTILE };
      const invoice = anInvoice({ ...texts, state: 'rejected', reason, findings: [found] });
      const held = [{ batch: aBatch({ file: HOSTILE, sha256: HOSTILE }), invoices: [invoice], findings: [found] }];

      const page = await pageOf(path, { held, version: HOSTILE });

      expect(page).not.toContain('<img');
      expect(page).toContain('&quot;&gt;&lt;img');
    },
  );

  it('has no inline icon, style and script, which its policy would refuse', async () => {
    const page = await pageOf(MIXED_PAGE, { held: [MIXED] });
    const icon = /<link rel="icon" href="([^"]+)"/u.exec(page)?.[1] ?? '';

    expect((await get(icon)).headers.get('content-type')).toBe('image/svg+xml');
    expect(page).not.toMatch(/ style="| on[a-z]+="|<style|<script>/u);
  });
});

describe('the files of a report', () => {
  const files = {
    'report.html': '<p>whole</p>',
    'report.json': '{}',
    'corrections.csv': 'Caf\u00E9',
    '.writing-x': 'no',
    'secret.txt': 'no',
  };

  beforeEach(async () => {
    await mkdir(join(reportsDir, MIXED.batch.batchId));
    for (const [name, text] of Object.entries(files))
      await writeFile(join(reportsDir, MIXED.batch.batchId, name), text, 'latin1');
    await writeFile(join(reportsDir, 'outside.txt'), 'no');
  });

  it('are linked from the page of the batch, and nothing else of the directory is', async () => {
    const page = await pageOf(MIXED_PAGE, { held: [MIXED] });

    const linked = [...page.matchAll(/files\/([^"]+)"/gu)].map(([, name]) => name);
    expect(linked).toEqual(['corrections.csv', 'report.html', 'report.json']);
  });

  it('come with a form for the corrected file where files can be checked here, and only beside corrections', async () => {
    const path = MIXED_PAGE;
    const actions = {};

    expect(await pageOf(path, { held: [MIXED], actions })).toContain('action="/files"');
    expect(await pageOf(path, { held: [MIXED] })).not.toContain('type="file"');
    await rm(join(reportsDir, MIXED.batch.batchId, 'corrections.csv'));
    expect(await pageOf(path, { held: [MIXED], actions })).not.toContain('type="file"');
  });

  it('come with the bytes of the file, and a policy under which nothing runs', async () => {
    const report = await get(`${MIXED_PAGE}/files/report.html`, { held: [MIXED] });
    const corrections = await get(`${MIXED_PAGE}/files/corrections.csv`, { held: [MIXED] });

    expect(await report.text()).toBe('<p>whole</p>');
    expect(report.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(report.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(report.headers.get('content-security-policy')).not.toContain('script-src');
    expect(Buffer.from(await corrections.arrayBuffer()).toString('latin1')).toBe('Caf\u00E9');
    expect(corrections.headers.get('content-disposition')).toBe('attachment; filename="corrections.csv"');
  });

  it.skipIf(process.platform !== 'linux')('are closed after a HEAD, which reads no body', async () => {
    await get(`${MIXED_PAGE}/files/report.html`, { held: [MIXED], method: 'HEAD' });

    const opened = async () => {
      const files = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
      return (await Promise.all(files)).filter((path) => path.endsWith('report.html'));
    };
    await expect.poll(opened).toEqual([]);
  });

  const others =
    'secret.txt .writing-x ..%2Foutside.txt %2E%2E%2Foutside.txt ..%5Coutside.txt report.html%00.txt report.csv';
  it.each(others.split(' '))('are 404 for %s', async (name) => {
    expect((await get(`${MIXED_PAGE}/files/${name}`, { held: [MIXED] })).status).toBe(404);
  });

  it('are none for a batch whose id is no plain name', async () => {
    const held = [{ batch: aBatch({ batchId: '..' }), invoices: [] }];
    await symlink(join(reportsDir, 'outside.txt'), join(reportsDir, 'report.json'));

    expect((await get('/batches/%2E%2E%2F/files/report.json', { held })).status).toBe(404);
  });
});

describe('the JSON API', () => {
  it('lists batches with counts and shortfalls, without fencing tokens', async () => {
    const DIFFER = totalsFinding(totalsDiffer(['expected 4 invoices, found 3'], false));
    const falling = { ...MIXED, findings: [DIFFER] };
    const answer = await get('/api/batches', { held: [falling, { batch: aBatch({ batchId: 'b2' }), invoices: [] }] });

    const { batches } = (await answer.json()) as { batches: object[] };
    const counts = { issued: 1, rejected: 1, unknown: 1 };
    const shortfall = { rowsLost: 2, totalsDiffer: DIFFER.message };
    expect(batches.map((batch) => 'fencingToken' in batch)).toEqual([false, false]);
    expect(batches).toMatchObject([
      { batchId: MIXED.batch.batchId, file: 'may.csv', counts, ...shortfall },
      { batchId: 'b2' },
    ]);
  });

  it.each([
    ['1', 1],
    ['0', 2],
    ['x', 2],
    ['-5', 2],
  ])('takes limit=%s for what makes sense', async (limit, expected) => {
    const answer = await get(`/api/batches?limit=${limit}`, { held: [MIXED, MIXED] });

    expect(((await answer.json()) as { batches: unknown[] }).batches).toHaveLength(expected);
  });

  it('shows one batch: its record, counts by state and by currency, findings', async () => {
    const answer = await get(`/api${MIXED_PAGE}`, { held: [MIXED] });

    const body = (await answer.json()) as Record<string, unknown>;
    const { fencingToken: _, ...shown } = MIXED.batch;
    expect(body).toMatchObject({ ...shown, counts: { rejected: 1 }, fileFindings: MIXED.findings, reports: [] });
    expect(body).not.toHaveProperty('fencingToken');
    expect(body['outcomes']).toHaveLength(3);
  });

  it.each(['/api/batches/none', '/api/nothing'])('answers 404 in JSON: %s', async (path) => {
    const answer = await get(path);

    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) as string } });
  });
});

describe('an order of a program', () => {
  const PURGED = { batches: [{ batchId: 'b', sha256: 'ab' }], contents: 1, bodies: 1, findings: 0, deliveries: 2 };
  const STARTED = { batches: [{ batchId: 'b', workflowId: 'w', file: 'may.csv' }] };
  const FOUND = [{ ref: 'F-1', rows: [2] }];
  const PURGE = { olderThanMs: 86_400_000, dryRun: false };
  const RUN = { files: ['/in/may.csv'], options: { profile: 'erp' } };
  const WITH_TOKEN = { 'x-lote-token': 'the-token' };

  /** A console that keeps what it was asked for. */
  function recording(given: TestConsole['actions'] = {}) {
    const asked: unknown[] = [];
    const purge = async (request: unknown) => (asked.push(request), { ...PURGED, others: [], staying: [] });
    const run = async (request: unknown) => (asked.push(request), STARTED);
    const rowsOfRefs = async (request: unknown) => (asked.push(request), FOUND);
    const app = testConsole({ reportsDir, token: 'the-token', actions: { purge, run, rowsOfRefs, ...given } });
    const post = (path: string, body: unknown, headers: Record<string, string> = WITH_TOKEN) =>
      app.request(`http://localhost/api/${path}`, {
        ...{ method: 'POST', headers: { host: 'localhost', ...headers } },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    return { asked, post };
  }

  it.each([
    ['purge', PURGE, PURGED],
    ['run', RUN, STARTED],
    ['rows', { batchId: 'b', refs: ['F-1'] }, FOUND],
  ])('to %s is done for a program with the token, and not for a page of the console', async (path, body, done) => {
    const { asked, post } = recording();

    for (const headers of [{ origin: 'http://localhost' }, { 'x-lote-token': 'another' }, {}])
      expect((await post(path, body, headers)).status).toBe(403);
    expect(asked).toEqual([]);
    const answer = await post(path, body);

    expect([answer.status, await answer.json()]).toMatchObject([200, done]);
    expect(asked).toEqual([body]);
  });

  const wrongRuns = 'x [] {} {"files":[]} {"files":[1]} {"files":["a"],"options":3}'.split(' ');
  it.each([
    ...['', '{}', '{"olderThanMs":86399999,"dryRun":false}', '{"olderThanMs":86400000}'].map((body) => ['purge', body]),
    ...['', ...wrongRuns, '{"files":["a"],"options":{"expectNet":{"EUR":15}}}'].map((body) => ['run', body]),
  ] as const)('to %s is refused with the body %j', async (path, body) => {
    const { asked, post } = recording();

    const answer = await post(path, body);

    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'usage' } }]);
    expect(asked).toEqual([]);
  });

  it('is refused when it is too large to be a list of names, and where nothing can be started', async () => {
    const { asked, post } = recording();

    expect((await post('run', { files: ['x'.repeat(300 * 1024)] })).status).toBe(413);
    expect(asked).toEqual([]);
    const shows = testConsole({ reportsDir, token: 'the-token' });
    const run = { method: 'POST', headers: { host: 'localhost', ...WITH_TOKEN }, body: JSON.stringify(RUN) };
    expect((await shows.request('http://localhost/api/run', run)).status).toBe(501);
  });

  it('is told why the run could not start', async () => {
    const error = { code: 'worker-missing', message: 'Starting a run: a worker must be alive, found none.' } as const;
    const { post } = recording({ run: () => Promise.reject(new LoteError(error.code, error.message)) });

    const answer = await post('run', RUN);

    expect([answer.status, await answer.json()]).toEqual([503, { error }]);
  });
});

describe('a service profile that does not fit', () => {
  const misfits = async () => [
    { code: 'deliveries-refused', message: `12 of 12 ${HOSTILE}`, times: 12, firstAt: 1, lastAt: 2 },
  ];
  const address = MIXED_PAGE;

  it('stands above the counts of a batch that is open, in each language, as text', async () => {
    const page = await pageOf(address, { held: [MIXED], misfits });
    expect(page).toContain('The service profile does not fit the service');
    expect(page.indexOf('12 of 12')).toBeLessThan(page.indexOf('class="legend"'));
    expect(page).not.toContain('<img');
    for (const [language, sentence] of [
      ['pt', 'O perfil do serviço não corresponde ao serviço'],
      ['es', 'El perfil del servicio no corresponde al servicio'],
    ] as const)
      expect(await pageOf(address, { held: [MIXED], misfits }, { 'accept-language': language })).toContain(sentence);
    expect(await (await get('/api/misfits', { misfits })).json()).toMatchObject({ misfits: [{ times: 12 }] });
  });

  it('does not stand on a batch that has ended and has nothing open', async () => {
    const done: Held = { batch: aBatch({ rows: 1, invoices: 1 }), invoices: [anInvoice()] };

    expect(await pageOf(`/batches/${done.batch.batchId}`, { held: [done], misfits })).not.toContain('12 of 12');
  });
});

describe('health', () => {
  it('shows the ledger and the checks that the process brought along', async () => {
    const health = async () => [{ name: 'temporal', state: 'ok', detail: 'answers' }] as const;

    const answer = await get('/api/health', { health });

    const checks = ['ledger', 'temporal'].map((name) => ({ name, state: 'ok' }));
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'up', ledgerId: 'ledger-1', checks }]);
    expect(await pageOf('/health', { health })).toContain('temporal');
  });

  it('is 503 when a part is in trouble, and says nothing of why a check broke', async () => {
    const fail = () => Promise.reject(new Error('password=hunter2'));

    const answer = await get('/api/health', { ledger: ledgerHolding([], { deliveryTrouble: fail }), health: fail });

    const text = await answer.text();
    expect(answer.status).toBe(503);
    expect(text).toContain('"trouble"');
    expect(text).not.toContain('hunter2');
  });
});

describe('an error behind a page', () => {
  const broken = (error: Error): Given => ({ ledger: ledgerHolding([], { listBatches: () => Promise.reject(error) }) });

  it('is shown when it was made to be read', async () => {
    const answer = await get('/', broken(new LoteError('ledger-unavailable', 'The database must answer.')));

    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('The database must answer.')]);
  });

  it('is told to the process and not to the reader otherwise', async () => {
    const notified: unknown[] = [];
    const error = new Error('password=hunter2');

    for (const path of ['/', '/api/batches']) {
      const answer = await get(path, { ...broken(error), onError: (thrown) => notified.push(thrown) });

      expect(answer.status).toBe(500);
      expect(await answer.text()).not.toContain('hunter2');
    }
    expect(notified).toEqual([error, error]);
  });
});

describe('languages', () => {
  it.each([
    ['', 'pt-BR', 'pt', 'precisam de atenção'],
    ['fr,es;q=0.5', 'pt-BR', 'es', 'requieren atención'],
    ['', undefined, 'en', 'need attention'],
  ])('answers %j, in an installation of %s, in %s', async (accept, installed, language, text) => {
    const given = { held: [MIXED], ...(installed === undefined ? {} : { language: installed }) };
    const page = await pageOf('/', given, { 'accept-language': accept });

    expect(page).toContain(`<html lang="${language}">`);
    expect(page).toContain(text);
  });

  it('writes amounts with the marks of the reader, digit by digit', async () => {
    const held = [{ batch: aBatch(), invoices: [anInvoice({ net: '-12345678901234567890.125' })] }];

    const page = await pageOf(`/batches/${aBatch().batchId}`, { held }, { 'accept-language': 'pt-BR' });

    expect(page).toContain('-12.345.678.901.234.567.890,125 EUR');
  });
});

describe('the page of the service profile', () => {
  const MISFIT = 'No answer holds a known word.';

  function get(text: string, path = '/profile'): Promise<string> {
    const app = testConsole({
      misfits: async () => [{ code: 'status-unknown', message: MISFIT, times: 3, firstAt: 0, lastAt: 0 }],
      health: async () => [{ name: 'service profile', state: 'ok', detail: 'fits' }],
      serviceProfile: { baseUrl: 'http://user:geheim@127.0.0.1:9/x' },
      profileSettings: profileSettings(loadProfile(text)),
    });
    return pageAt(app, path);
  }

  it('explains every setting, with what is not the default, and shows no secret and no text as HTML', async () => {
    const page = await get(
      JSON.stringify({ requests: { headers: { 'X-Api-Key': 'geheim-17' } }, error: { code: '/<script>x' } }),
    );

    for (const key of ['requests.headers', 'signature.header', 'limits.requestsPerSecond', 'retry.maxGenerations'])
      expect(page).toContain(`<code>${key}</code>`);
    for (const text of ['the header that holds the signature', '(not shown)', 'http://•••@127.0.0.1:9/x', MISFIT])
      expect(page).toContain(text);
    for (const text of ['geheim', '<script>x', 'method="post"']) expect(page).not.toContain(text);
    expect(page.split('changed</strong>').length).toBe(3);
    expect(await get('{}', '/health')).toContain('<a href="/profile">service profile</a>');
  });
});
