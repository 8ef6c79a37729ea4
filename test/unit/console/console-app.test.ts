import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { totalsDiffer, totalsFinding } from '../../../src/domain/control-totals.ts';
import { LoteError } from '../../../src/domain/errors.ts';
import { OUTCOMES } from '../../../src/domain/invoice-state.ts';
import { aBatch, anInvoice, ledgerHolding, testConsole } from './console-ledger.ts';
import type { Held, TestConsole } from './console-ledger.ts';
import { pageHeaders } from '../../support/browser/page-headers.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';
import { finding } from '../report/batch-invoices.ts';

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

describe('the list of batches', () => {
  it('says what to do while there is none', async () => {
    expect(await pageOf('/')).toContain('drop one into the input folder');
  });

  it('shows each batch with its state, progress and what needs attention', async () => {
    const running = {
      batch: aBatch({ batchId: 'b2', file: 'june.csv', state: 'running', invoices: 2 }),
      invoices: [anInvoice(), anInvoice({ ordinal: 2, state: 'staged' })],
    };

    const page = await pageOf('/', { held: [running, MIXED] });

    expect(page).toMatch(/href="\/batches\/b2">june\.csv</u);
    expect(page).toContain('1 / 2');
    expect(page).toContain('2 need attention');
    expect(page).toContain('<span class="soft">none</span>');
    expect(page.indexOf('june.csv')).toBeLessThan(page.indexOf('may.csv'));
  });

  it('is live only while something runs', async () => {
    const running = { batch: aBatch({ state: 'running' }), invoices: [] };

    expect(await pageOf('/', { held: [running] })).toContain('data-live');
    expect(await pageOf('/', { held: [MIXED] })).not.toContain('data-live');
  });
});

describe('a finished batch', () => {
  const DIFFER = totalsFinding(totalsDiffer(['expected 4 invoices, found 3'], false));
  const TOTALS_ROW = finding(5, null, 'totals-row', 'Row 5 looks like a totals row.', 'warning');
  const flag = 'second-service-id';
  const doubtful = anInvoice({ flags: [flag], contradictions: [flag] });
  const IN_DOUBT = '1 invoice went out and is in doubt';
  const OPEN = '1 of 2 invoices is not confirmed as issued.';
  const and = (given: Parameters<typeof anInvoice>[0], first = anInvoice()) => ({
    ...{ batch: aBatch({ invoices: 2 }), invoices: [first, anInvoice({ ordinal: 2, ...given })] },
  });
  const alone = (batch: Parameters<typeof aBatch>[0] = {}, invoice = anInvoice()) => ({
    ...{ batch: aBatch({ invoices: 1, ...batch }), invoices: [invoice] },
  });

  it.each<[string, Held, string, readonly string[], readonly string[]]>([
    [
      'with a totals row, which is nothing open',
      { ...alone({ rowsWithoutInvoice: 1 }), findings: [TOTALS_ROW] },
      ...(['good', ['<span class="soft">none</span>'], ['Everything went out: 1 invoice.']] as const),
    ],
    [
      'with a lost row',
      alone({ rowsWithoutInvoice: 1 }),
      ...(['open', ['1 row belongs to no invoice.'], ['1 row belongs to no invoice.']] as const),
    ],
    [
      'with other control totals',
      { ...alone(), findings: [DIFFER] },
      ...(['open', ['control totals'], ['does not have the control totals']] as const),
    ],
    [
      'with an invoice in doubt, and control totals that differ',
      { ...alone({}, doubtful), findings: [DIFFER] },
      ...(['bad', [IN_DOUBT, 'control totals'], [IN_DOUBT, 'does not have the control totals']] as const),
    ],
    [
      'with an invoice in doubt, and rows in no invoice',
      alone({ rowsWithoutInvoice: 2 }, doubtful),
      ...(['bad', [IN_DOUBT, '2 rows belong to'], [IN_DOUBT, '2 rows belong to']] as const),
    ],
    [
      'with an invoice in doubt, and one on its way',
      and({ state: 'accepted' }, doubtful),
      ...(['bad', [IN_DOUBT, 'still under way'], [IN_DOUBT, OPEN]] as const),
    ],
    ...(['accepted', 'sending', 'staged'] as const).map((state): [string, Held, string, string[], string[]] => [
      `with an invoice that reconciliation or another batch moves: ${state}`,
      and({ state }),
      'under-way',
      ['<td>1 is still under way</td>'],
      [OPEN],
    ]),
    [
      'with an invoice on its way and one that needs attention, which is said first',
      and({ state: 'unsettled', reason: NO }, anInvoice({ state: 'accepted' })),
      ...(['open', ['<td>1 needs attention</td>'], ['2 of 2 invoices are not confirmed as issued.']] as const),
    ],
  ])('%s, says so in the list and on its page', async (_, held, tone, inList, onPage) => {
    const list = await pageOf('/', { held: [held] });
    const page = await pageOf(`/batches/${aBatch().batchId}`, { held: [held] });

    expect(list).toContain(`<span class="state ${tone}">finished</span>`);
    expect(page).toContain(`<section class="verdict ${tone}">`);
    for (const text of inList) expect(list).toContain(text);
    for (const text of onPage) expect(page).toContain(text);
    expect(page.includes('Everything went out:')).toBe(tone === 'good');
    expect(page.includes('belong')).toBe(inList.some((text) => text.includes('belong')));
  });

  it('says in the API how it falls short', async () => {
    const lost = { ...alone({ rowsWithoutInvoice: 1 }), findings: [DIFFER] };

    const listed: unknown = await (await get('/api/batches', { held: [lost] })).json();

    expect(listed).toMatchObject({ batches: [{ rowsLost: 1, totalsDiffer: DIFFER.message }] });
  });
});

describe('a batch of which an invoice went out and is in doubt', () => {
  const SENTENCE = '1 invoice went out and is in doubt: it may exist twice at the service';

  it('says so, and which one, in the list, on its page, beside the invoice and in the API', async () => {
    const flag = 'second-service-id';
    const invoices = [anInvoice(), anInvoice({ ordinal: 2, flags: [flag], contradictions: [flag] })];
    const held = [{ batch: aBatch({ invoices: 2 }), invoices }];
    const address = `/batches/${aBatch().batchId}`;

    const list = await pageOf('/', { held });
    const page = await pageOf(address, { held });
    const one = await pageOf(`${address}/invoices/2`, { held });
    const said = (await (await get(`/api${address}`, { held })).json()) as unknown;

    expect(list).toContain('<span class="state bad">finished</span>');
    expect(list).toContain(SENTENCE);
    expect(page).toContain('<section class="verdict bad">');
    expect(page).toContain(SENTENCE);
    expect(page).toContain('<strong>In doubt: F-2</strong>');
    expect(page).toContain(
      '<div><strong>The service accepted a second document of this invoice: it may exist twice.</strong></div>',
    );
    expect(page).not.toContain('Everything went out');
    expect(one).toContain('<section class="verdict bad">');
    expect(one).toContain('<strong>The service accepted a second document of this invoice');
    expect(said).toMatchObject({ contradicted: 1, contradictedRefs: ['F-2'] });
  });
});

describe('the page of a batch', () => {
  it('shows problems first, and totals that are exact', async () => {
    const page = await pageOf(`/batches/${MIXED.batch.batchId}`, { held: [MIXED] });

    expect(page).toContain('2 of 3 invoices are not confirmed as issued.');
    expect(page).toContain('1 row belongs to no invoice.');
    expect(page).toContain('The tax code is not known.');
    expect(page).not.toMatch(/>F-1<\/a>/u);
    expect(page).toContain('1,234.60');
    expect(page).toContain('Row 5 looks like a totals row.');
  });

  it('stays live until its report is there: the batch ends a moment before', async () => {
    const path = `/batches/${MIXED.batch.batchId}`;
    const before = await pageOf(path, { held: [MIXED] });
    await mkdir(join(reportsDir, MIXED.batch.batchId));
    await writeFile(join(reportsDir, MIXED.batch.batchId, 'report.html'), '<p>whole</p>');

    const after = await pageOf(path, { held: [MIXED] });

    expect(before).toContain('data-live');
    expect(after).not.toContain('data-live');
    expect(after).toContain('report.html');
  });

  it('shows every invoice, or those of one state, on request', async () => {
    const refs = async (show: string) =>
      [
        ...(await pageOf(`/batches/${MIXED.batch.batchId}?show=${show}`, { held: [MIXED] })).matchAll(
          />(F-\d+)<\/a>/gu,
        ),
      ].map(([, ref]) => ref);

    expect(await refs('all')).toEqual(['F-1', 'F-2', 'F-3']);
    expect(await refs('unknown')).toEqual(['F-3']);
    expect(await refs('held')).toEqual([]);
    expect(await refs('nonsense')).toEqual(['F-2', 'F-3']);
  });

  it('pages through many invoices and reads no further than it shows', async () => {
    const invoices = Array.from({ length: 125 }, (_, index) => anInvoice({ ordinal: index + 1 }));
    const ledger = ledgerHolding([{ batch: aBatch({ invoices: 125 }), invoices }]);
    const app = testConsole({ ledger, reportsDir, links: { temporalUi: null }, version: '0.1.0' });

    const page = await (
      await app.request('http://localhost/batches/batch-may-0a1b2c3d?page=2', { headers: { host: 'localhost' } })
    ).text();

    expect(page.match(/>F-\d+<\/a>/gu)).toHaveLength(50);
    expect(page).toMatch(/>F-51<\/a>/u);
    expect(page).toContain('Page 2 / 3');
    expect(page).toContain('?show=all&amp;page=3#invoices');
    expect(ledger.read()).toBe(50);
  });

  it.each(['0', '-1', '9999999', 'x', '1e3'])('stays inside its pages when asked for page %s', async (asked) => {
    const answer = await get(`/batches/${MIXED.batch.batchId}?show=all&page=${asked}`, { held: [MIXED] });

    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('F-1');
  });

  it('links to its workflow, and never to an address that is none', async () => {
    const withUi = (temporalUi: string) =>
      pageOf(`/batches/${MIXED.batch.batchId}`, { held: [MIXED], links: { temporalUi } });

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
      const invoice = anInvoice({
        ref: HOSTILE,
        merchantNif: HOSTILE,
        currency: HOSTILE,
        serviceId: HOSTILE,
        state: 'rejected',
        reason: { code: HOSTILE, message: HOSTILE },
        findings: [found],
        flags: [HOSTILE],
      });
      const held = [{ batch: aBatch({ file: HOSTILE, sha256: HOSTILE }), invoices: [invoice], findings: [found] }];

      const page = await pageOf(path, { held, version: HOSTILE });

      expect(page).not.toContain('<img');
      expect(page).toContain('&quot;&gt;&lt;img');
    },
  );

  it('has an icon of its own: one in the address of the page would be refused by its policy', async () => {
    const page = await pageOf('/');
    const icon = /<link rel="icon" href="([^"]+)"/u.exec(page)?.[1] ?? '';

    expect((await get(icon)).headers.get('content-type')).toBe('image/svg+xml');
  });

  it('has no inline style and no inline script, which its policy would refuse', async () => {
    const page = await pageOf(`/batches/${MIXED.batch.batchId}`, { held: [MIXED] });

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
    const page = await pageOf(`/batches/${MIXED.batch.batchId}`, { held: [MIXED] });

    const linked = [...page.matchAll(/files\/([^"]+)"/gu)].map(([, name]) => name);
    expect(linked).toEqual(['corrections.csv', 'report.html', 'report.json']);
  });

  it('come with a form for the corrected file where files can be checked here, and only beside corrections', async () => {
    const path = `/batches/${MIXED.batch.batchId}`;
    const actions = {};

    expect(await pageOf(path, { held: [MIXED], actions })).toMatch(/action="\/files[^"]*"/u);
    expect(await pageOf(path, { held: [MIXED] })).not.toContain('type="file"');
    await rm(join(reportsDir, MIXED.batch.batchId, 'corrections.csv'));
    expect(await pageOf(path, { held: [MIXED], actions })).not.toContain('type="file"');
  });

  it('come with the bytes of the file, and a policy under which nothing runs', async () => {
    const report = await get(`/batches/${MIXED.batch.batchId}/files/report.html`, { held: [MIXED] });
    const corrections = await get(`/batches/${MIXED.batch.batchId}/files/corrections.csv`, { held: [MIXED] });

    expect(await report.text()).toBe('<p>whole</p>');
    expect(report.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(report.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(report.headers.get('content-security-policy')).not.toContain('script-src');
    expect(Buffer.from(await corrections.arrayBuffer()).toString('latin1')).toBe('Caf\u00E9');
    expect(corrections.headers.get('content-disposition')).toBe('attachment; filename="corrections.csv"');
  });

  const others =
    'secret.txt .writing-x ..%2Foutside.txt %2E%2E%2Foutside.txt ..%5Coutside.txt report.html%00.txt report.csv';
  it.each(others.split(' '))('are 404 for %s', async (name) => {
    expect((await get(`/batches/${MIXED.batch.batchId}/files/${name}`, { held: [MIXED] })).status).toBe(404);
  });

  it('are none for a batch whose id is no plain name', async () => {
    const held = [{ batch: aBatch({ batchId: '..' }), invoices: [] }];
    await symlink(join(reportsDir, 'outside.txt'), join(reportsDir, 'report.json'));

    expect((await get('/batches/%2E%2E%2F/files/report.json', { held })).status).toBe(404);
  });
});

describe('the JSON API', () => {
  it('lists batches with counts', async () => {
    const answer = await get('/api/batches', { held: [MIXED, { batch: aBatch({ batchId: 'b2' }), invoices: [] }] });

    const document = (await answer.json()) as { batches: object[] };
    expect(document.batches.map((batch) => 'fencingToken' in batch)).toEqual([false, false]);
    expect(document).toMatchObject({
      batches: [
        { batchId: MIXED.batch.batchId, file: 'may.csv', counts: { issued: 1, rejected: 1, unknown: 1, staged: 0 } },
        { batchId: 'b2' },
      ],
    });
  });

  it.each([
    ['1', 1],
    ['0', 2],
    ['x', 2],
    ['-5', 2],
  ])('takes limit=%s for what makes sense', async (limit, expected) => {
    const { batches } = (await (await get(`/api/batches?limit=${limit}`, { held: [MIXED, MIXED] })).json()) as {
      batches: unknown[];
    };

    expect(batches).toHaveLength(expected);
  });

  it('shows one batch: its record, counts by state and by currency, findings', async () => {
    const answer = await get(`/api/batches/${MIXED.batch.batchId}`, { held: [MIXED] });

    const body = (await answer.json()) as Record<string, unknown>;
    const { fencingToken: _, ...shown } = MIXED.batch;
    expect(body).toMatchObject({ ...shown, counts: { rejected: 1 }, fileFindings: MIXED.findings, reports: [] });
    expect(body).not.toHaveProperty('fencingToken');
    expect(Object.keys(body['counts'] as object).sort()).toEqual([...OUTCOMES].sort());
    expect(body['outcomes']).toHaveLength(3);
  });

  it('streams the invoices of a batch, one a line', async () => {
    const lines = (await pageOf(`/api/batches/${MIXED.batch.batchId}/invoices`, { held: [MIXED] }))
      .trimEnd()
      .split('\n');

    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(MIXED.invoices);
  });

  it('reads nothing on for a HEAD, which has no body', async () => {
    let readers = 0;
    async function* endless(): AsyncGenerator<readonly BatchInvoice[]> {
      readers += 1;
      try {
        for (;;) yield [anInvoice()];
      } finally {
        readers -= 1;
      }
    }
    const ledger = { ...ledgerHolding([MIXED]), batchInvoices: endless };

    await get(`/api/batches/${MIXED.batch.batchId}/invoices`, { ledger, method: 'HEAD' });
    await nextTurn();

    expect(readers).toBe(0);
  });

  it.each(['/api/batches/none', '/api/batches/none/invoices', '/api/nothing'])(
    'answers 404 in JSON: %s',
    async (path) => {
      const answer = await get(path);

      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) as string } });
    },
  );
});

describe('POST /api/purge', () => {
  const DAY = 86_400_000;
  const PURGED = {
    batches: [{ batchId: 'b', sha256: 'ab' }],
    contents: 1,
    bodies: 1,
    findings: 0,
    deliveries: 2,
    others: [],
    staying: [],
  };

  function consoleThatPurges() {
    const requests: unknown[] = [];
    const purge = async (request: unknown) => {
      requests.push(request);
      return PURGED;
    };
    const app = testConsole({ reportsDir, token: 'the-token', actions: { purge } });
    const post = (headers: Record<string, string>, body = JSON.stringify({ olderThanMs: DAY, dryRun: false })) =>
      app.request('http://localhost/api/purge', { method: 'POST', headers: { host: 'localhost', ...headers }, body });
    return { app, requests, post };
  }

  it('purges for who carries the token', async () => {
    const { requests, post } = consoleThatPurges();

    const answer = await post({ 'x-lote-token': 'the-token' });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(PURGED);
    expect(requests).toEqual([{ olderThanMs: DAY, dryRun: false }]);
  });

  it('refuses a page of the console, which has everything but the token', async () => {
    const { app, requests, post } = consoleThatPurges();
    const load = (path: string) => app.request(`http://localhost${path}`, { headers: { host: 'localhost' } });

    const answers = [
      await post(await pageHeaders('http://localhost', load)),
      await post({ 'x-lote-token': 'another' }),
      await post({}),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(requests).toEqual([]);
  });

  it.each(['', '{}', '{"olderThanMs":86399999,"dryRun":false}', '{"olderThanMs":86400000}'])(
    'refuses the body %j',
    async (body) => {
      const { requests, post } = consoleThatPurges();

      expect((await post({ 'x-lote-token': 'the-token' }, body)).status).toBe(400);
      expect(requests).toEqual([]);
    },
  );
});

describe('POST /api/run', () => {
  function post(body: string, given: TestConsole = {}) {
    const app = testConsole({ reportsDir, token: 'the-token', ...given });
    return app.request('http://localhost/api/run', {
      method: 'POST',
      headers: { host: 'localhost', 'x-lote-token': 'the-token', 'content-type': 'application/json' },
      body,
    });
  }

  it('hands the files and options over and answers what was started', async () => {
    const requests: unknown[] = [];
    const started = { batches: [{ batchId: 'b', workflowId: 'w', file: 'may.csv' }] };
    const run = async (request: unknown) => {
      requests.push(request);
      return started;
    };

    const answer = await post('{"files":["/in/may.csv"],"options":{"profile":"erp"}}', { actions: { run } });

    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual(started);
    expect(requests).toEqual([{ files: ['/in/may.csv'], options: { profile: 'erp' } }]);
  });

  const wrong = 'x [] {} {"files":[]} {"files":[1]} {"files":["a"],"options":3}';
  it.each(['', ...wrong.split(' '), '{"files":["a"],"options":{"expectNet":{"EUR":15}}}'])(
    'refuses the body %j',
    async (body) => {
      const answer = await post(body, { actions: { run: () => Promise.reject(new Error('must not run')) } });

      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: 'usage' } });
    },
  );

  it('refuses a body that is too large to be a list of names', async () => {
    const body = JSON.stringify({ files: ['x'.repeat(300 * 1024)] });

    expect((await post(body, { actions: { run: () => Promise.reject(new Error('must not run')) } })).status).toBe(413);
  });

  it('says so where nothing can be started', async () => {
    expect((await post('{"files":["/in/may.csv"]}')).status).toBe(501);
  });

  it('passes on why the run could not start', async () => {
    const run = () =>
      Promise.reject(new LoteError('worker-missing', 'Starting a run: a worker must be alive, found none.'));

    const answer = await post('{"files":["/in/may.csv"]}', { actions: { run } });

    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      error: { code: 'worker-missing', message: 'Starting a run: a worker must be alive, found none.' },
    });
  });
});

describe('a service profile that does not fit', () => {
  const misfits = async () => [
    { code: 'deliveries-refused', message: `12 of 12 ${HOSTILE}`, times: 12, firstAt: 1, lastAt: 2 },
  ];
  const address = `/batches/${MIXED.batch.batchId}`;

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

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      status: 'up',
      ledgerId: 'ledger-1',
      checks: [
        { name: 'ledger', state: 'ok' },
        { name: 'temporal', state: 'ok' },
      ],
    });
    expect(await pageOf('/health', { health })).toContain('temporal');
  });

  it('is 503 when a part is in trouble, and says nothing of why a check broke', async () => {
    const ledger = ledgerHolding([], { deliveryTrouble: () => Promise.reject(new Error('password=hunter2')) });
    const health = () => Promise.reject(new Error('password=hunter2'));

    const answer = await get('/api/health', { ledger, health });
    const text = await answer.text();

    expect(answer.status).toBe(503);
    expect(text).toContain('"trouble"');
    expect(text).not.toContain('hunter2');
  });
});

describe('an error behind a page', () => {
  const broken = (error: Error): Given => ({ ledger: ledgerHolding([], { listBatches: () => Promise.reject(error) }) });

  it('is shown when it was made to be read', async () => {
    const answer = await get(
      '/',
      broken(new LoteError('ledger-unavailable', 'Reading the ledger: the database must answer, found it closed.')),
    );

    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('the database must answer');
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
    ['pt-PT,pt;q=0.9,en;q=0.5', undefined, 'pt', 'precisam de atenção'],
    ['fr, es;q=0.8, en;q=0.9', undefined, 'en', 'need attention'],
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
