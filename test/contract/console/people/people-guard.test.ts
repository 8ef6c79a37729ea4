import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createConsoleApp, startConsole, type RunningConsole } from '../../../../src/console/console-app.ts';
import type { ConsoleActions, ConsoleOptions } from '../../../../src/console/console-options.ts';
import { TOKEN_HEADER } from '../../../../src/console/http/guard.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { signInProxy, type SignInProxy } from '../../../support/servers/sign-in-proxy.ts';
import { aBatch, anInvoice, consoleActions, ledgerHolding, optionsOf } from '../../../unit/console/console-ledger.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { consolePeople, profileSettings } from '../../../../src/app/console/console-parts.ts';

const TOKEN = 'a-long-random-token';
/** Of this machine, as 127.0.0.1 is; the tests themselves come from there, and only the proxy from here. */
const PROXY = '127.0.0.2';
const BATCH = 'batch-may-0a1b2c3d';
const NO = { code: 'no', message: 'No.' };
const INVOICES = [
  anInvoice({ ordinal: 1, state: 'failed', reason: NO }),
  anInvoice({ ordinal: 2, state: 'unknown', reason: NO }),
];
const FOUND = INVOICES.map((invoice) => ({
  ...invoice,
  ...{ batchId: BATCH, application: 'default', file: 'may.csv', readAt: 0 },
}));
const CHECK = {
  ...{ refused: false, sha256: 'ab', proof: {}, rows: 1, rowsWithoutInvoice: 0, rowsLost: 0, invoices: 1, invalid: 0 },
  ...{ netOfValid: {}, findings: [], firstBodies: [] },
};

const SIGN_IN = {
  ...{ trustedProxies: [`${PROXY}/32`], userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' },
  ...{ operators: ['ana', 'olga'], operatorGroups: ['billing'], publicUrl: 'https://lote.example' },
};

let directory: string;
let ledger: Ledger;
let web: RunningConsole;
let proxy: SignInProxy;
let options: ConsoleOptions;
/** Who did what, as the actions were told. */
let done: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-people-'));
  await mkdir(join(directory, BATCH));
  for (const name of ['report.json', 'report.csv', 'report.html', 'corrections.csv'])
    await writeFile(join(directory, BATCH, name), 'F-1;501964843');
  ledger = await temporaryLedger();
  options = consoleOptions();
  web = await startConsole({ ...options, host: '127.0.0.1', port: 0 });
  proxy = await signInProxy(web.url, PROXY);
});

afterAll(async () => {
  await proxy.stop();
  await web.close();
  await ledger.close();
  await rm(directory, { recursive: true });
});

beforeEach(() => {
  done = [];
});

function consoleOptions(): ConsoleOptions {
  const held = ledgerHolding([{ batch: aBatch({ batchId: BATCH }), invoices: INVOICES }]);
  return optionsOf({
    ledger: { ...held, searchInvoices: async () => ({ found: FOUND, lookedAt: 2, backTo: null, next: null }) },
    ...{ reportsDir: directory, token: TOKEN, people: consolePeople(SIGN_IN, ledger), actions: actions() },
    profileSettings: profileSettings(DEFAULT_PROFILE),
  });
}

function actions(): ConsoleActions {
  return consoleActions({
    run: async (_request, note) => {
      await note(BATCH, 'may.csv');
      done.push('run');
      return { batches: [{ batchId: BATCH, workflowId: 'w', file: 'may.csv' }] };
    },
    files: {
      keep: async () => (done.push('keep'), 'incoming/may.csv'),
      check: async () => CHECK,
      mapper: { view: async () => null, save: async ({ by }) => (done.push(`map by ${by}`), 'saved') },
      start: async (_file, _declared, note) => {
        await note(BATCH);
        done.push('start');
        return { batchId: BATCH, sha256: 'ab' };
      },
    },
    operate: async (_id, { kind }, by) => (done.push(`${kind} by ${by}`), 'Done.'),
    retry: async ({ by }) => (done.push(`retry by ${by}`), { how: 'started' }),
    reconcile: async () => (done.push('reconcile'), { how: 'started' }),
    watch: async () => ({ paused: false, cancelled: false, waitingFor: null }),
  });
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string | readonly string[]>;
  readonly body?: string;
  /** Address of this machine from which the request comes. */
  readonly from?: string;
}

/** Not fetch: it chooses Host, Origin and its own address by itself. */
async function ask(port: number, path: string, { method = 'GET', headers = {}, body = '', from }: Asked = {}) {
  const own = { host: 'lote.example', 'content-length': String(Buffer.byteLength(body)) };
  const asked = request({
    ...{ host: '127.0.0.1', port, path, method },
    headers: { ...own, ...headers } as IncomingHttpHeaders,
    ...(from === undefined ? {} : { localAddress: from }),
  }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer), headers: answer.headers };
}

type Answer = Awaited<ReturnType<typeof ask>>;

/** Through the proxy, signed in as somebody. */
function as(person: string, path: string, { headers = {}, ...asked }: Asked = {}): Promise<Answer> {
  return ask(proxy.port, path, { ...asked, headers: { authorization: `Person ${person}`, ...headers } });
}

async function post(person: string, path: string, body = 'kind=pause&reason=why'): Promise<Answer> {
  const headers = { origin: 'https://lote.example', 'content-type': 'application/x-www-form-urlencoded' };
  return as(person, path, { method: 'POST', headers, body });
}

async function audited(batchId = BATCH): Promise<readonly string[]> {
  return (await ledger.auditOf(batchId)).map(({ who, what, why }) => `${who} ${what} ${why}`);
}

/** Every address of the console with a method of its own; its parameters filled in. */
function routes(method: string): readonly string[] {
  const all = createConsoleApp(options).routes.filter((route) => route.method === method);
  const filled = all.map(({ path }) =>
    path
      .replace(':ordinal{[0-9]{1,9}}', '1')
      .replace(/:date(\{.+\})?/u, '2026-11-21')
      .replace(':name', 'report.csv')
      .replace(':id', BATCH),
  );
  return [...new Set(filled)].toSorted();
}

const POSTS: readonly string[] = [
  ...['/api/purge', '/api/rows', '/api/run'],
  ...['invoices/1/reconcile', 'invoices/1/retry', 'operations', 'reconcile', 'retry'].map(
    (path) => `/batches/${BATCH}/${path}`,
  ),
  ...['/files', '/mapping', '/start'],
];

/** Of those, what no page asks for. */
const FOR_PROGRAMS: readonly string[] = ['/api/purge', '/api/rows', '/api/run'];

/** What runs before an answer is made, and answers nothing itself. */
const MIDDLEWARE: readonly string[] = ['/*', '/batches/*', '/mapping', '/start'];

const PAGES: readonly string[] = [
  ...['/', `/batches/${BATCH}`, `/batches/${BATCH}/audit`, `/batches/${BATCH}/invoices/1`],
  ...['/figures', '/health', '/nights', '/nights/2026-11-21', '/profile', '/search'],
];
const DOWNLOADS: readonly string[] = ['/api/invoices?q=F-1', `/batches/${BATCH}/files/report.csv`];
/** Without a name, a tax number or a reference, or for those who may operate alone (`/check`, `/mapping`). */
const OTHERS: readonly string[] = [
  ...['/api/batches', `/api/batches/${BATCH}`, '/api/health', '/api/misfits', '/check', '/health/live'],
  ...['/health/ready', '/icon.svg', '/live.js', '/mapping', '/style.css'],
];

describe('a console behind a proxy that signs people in', () => {
  it.each([
    ['ana', 'en', 'Signed in as <strong>ana</strong> (may operate)'],
    ['bruno', 'en', 'Signed in as <strong>bruno</strong> (may look)'],
    ['bruno finance,billing', 'en', '<strong>bruno</strong> (may operate)'],
    ['bruno', 'pt', 'Sessão de <strong>bruno</strong> (pode consultar)'],
  ])('shows %s, in %s, the name and the role that the proxy gave', async (person, language, shown) => {
    expect((await as(person, '/', { headers: { 'accept-language': language } })).text).toContain(shown);
  });

  it.each<[string, string, Record<string, string>]>([
    ['no name', '/', {}],
    ['a name of its own', '/', { 'x-forwarded-user': 'ana' }],
    [
      'a name and a forged address of the proxy',
      '/',
      { 'x-forwarded-user': 'ana', 'x-forwarded-for': PROXY, forwarded: `for=${PROXY}` },
    ],
    ['the cookie of a session with the token', '/?token=a-long-random-token', {}],
  ])('refuses a request past the proxy with %s', async (_, path, headers) => {
    const answer = await ask(web.port, path, { headers });

    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
    expect(answer.text).toContain('person-unknown');
  });

  it('drops a name that the client itself wrote, at the proxy', async () => {
    expect((await ask(proxy.port, '/', { headers: { 'x-forwarded-user': 'ana' } })).status).toBe(401);
  });

  /** As from the proxy, with these headers. */
  const fromProxy = (name: string | readonly string[], groups: string | readonly string[] = '') =>
    ask(web.port, '/', { from: PROXY, headers: { 'x-forwarded-user': name, 'x-forwarded-groups': groups } });

  it.each<[string, ...Parameters<typeof fromProxy>]>([
    ['two names, as from a proxy that adds its header to a forged one', ['olga', 'bruno']],
    ['two headers with groups', 'bruno', ['bruno', 'billing']],
    ['an empty name', ''],
    ['the name of the actor that programs have', 'Console-Token'],
    ['a name without end', 'a'.repeat(129)],
    ['a name with a control character', 'ana\u0085x'],
  ])('refuses %s', async (_, name, groups) => {
    expect((await fromProxy(name, groups)).status).toBe(401);
  });

  it('reads a name in UTF-8', async () => {
    const name = Buffer.from('joão', 'utf8').toString('latin1');

    expect((await fromProxy(name)).text).toContain('<strong>joão</strong>');
  });

  it('answers people under the name of CONSOLE_URL alone: a page of a stranger that resolves here is DNS rebinding', async () => {
    const answer = await as('ana', '/', { headers: { host: 'evil.example' } });

    expect(answer.status).toBe(421);
    expect(answer.text).toContain('CONSOLE_URL');
  });

  it('answers the probes of a container alone without a person', async () => {
    expect((await ask(web.port, '/health/live')).text).toBe('{"status":"live"}');
    expect((await ask(web.port, '/health/ready')).text).toBe('{"status":"ready","parts":{}}');
  });
});

describe('a person who may look', () => {
  it('is refused at every address that changes something, and nothing happens', async () => {
    expect(new Set(createConsoleApp(options).routes.map(({ method }) => method))).toEqual(
      new Set(['ALL', 'GET', 'POST']),
    );
    expect(routes('ALL')).toEqual(MIDDLEWARE);
    expect(routes('POST')).toEqual(POSTS);

    for (const path of POSTS) {
      const answer = await post('bruno', path);
      // The token that a proxy adds to every request does not make a program of a person.
      const headers = { origin: 'https://lote.example', [TOKEN_HEADER]: TOKEN };
      const withToken = await as('bruno', path, { method: 'POST', headers, body: '{}' });

      expect([path, answer.status, withToken.status]).toEqual([path, 403, 403]);
      expect(answer.text).toContain('role-missing');
    }
    expect(done).toEqual([]);
  });

  it('finds no form on any page, where a person who may operate does', async () => {
    const known = [...PAGES, ...DOWNLOADS, ...OTHERS].map((path) => path.split('?')[0] ?? '');
    expect(routes('GET')).toEqual(known.toSorted());

    const formsOf = async (person: string): Promise<readonly string[]> => {
      const pages = await Promise.all(PAGES.map(async (path) => ({ path, ...(await as(person, path)) })));
      return pages.filter(({ text: page }) => /method="post"|formaction/u.test(page)).map(({ path }) => path);
    };
    expect(await formsOf('bruno')).toEqual([]);
    expect(await formsOf('ana')).toEqual(['/', `/batches/${BATCH}`, `/batches/${BATCH}/invoices/1`]);
  });

  it.each(['/check', '/mapping'])('is told so in the language of the page, also at %s', async (path) => {
    const answer = await as('bruno', `${path}?file=may.csv`, { headers: { 'accept-language': 'es' } });

    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Puede consultar, pero no actuar.');
  });
});

describe('a person who may operate', () => {
  it('is let through to every address that is not for programs, and named to what it does', async () => {
    for (const path of POSTS)
      expect([path, (await post('ana', path, 'kind=pause&reason=why')).status === 403]).toEqual([
        path,
        FOR_PROGRAMS.includes(path),
      ]);

    for (const one of ['pause by ana', 'retry by ana']) expect(done).toContain(one);
    for (const one of ['run', 'purge']) expect(done).not.toContain(one);
  });

  it('cannot act from a page of another site', async () => {
    const headers = { origin: 'https://evil.example' };

    const answer = await as('ana', `/batches/${BATCH}/reconcile`, { method: 'POST', headers });

    expect(answer.text).toContain('origin-refused');
  });

  it('stands in the audit with a start and a question to the service', async () => {
    await post('olga', '/start', 'file=incoming%2Fmay.csv');
    await post('olga', `/batches/${BATCH}/reconcile`);

    expect(await audited()).toContain('olga start incoming/may.csv');
    expect((await audited()).some((line) => line.startsWith('olga reconcile '))).toBe(true);
  });
});

describe('a download that holds personal data', () => {
  it.each([
    ...DOWNLOADS,
    ...['report.json', 'report.html', 'corrections.csv'].map((name) => `/batches/${BATCH}/files/${name}`),
  ])('stands in the audit with the name of the person: %s', async (path) => {
    const before = (await audited()).length;

    expect((await as('bruno', path)).status).toBe(200);

    const [entry = '', ...more] = (await audited()).slice(before);
    expect(more).toEqual([]);
    expect(entry).toBe(`bruno download ${new URL(path, 'http://x').pathname.split('/').at(-1)}`);
  });

  it('is the only thing that a look leaves in the audit', async () => {
    const before = (await audited()).length;

    for (const path of [...PAGES, ...OTHERS, `/batches/${BATCH}/files/none.csv`]) await as('bruno', path);

    expect((await audited()).length).toBe(before);
  });

  it('is refused when it cannot be written down, and so is the start of a program', async () => {
    const people = { signIn: SIGN_IN, note: async () => Promise.reject(new Error('the ledger is away')) };
    const other = await startConsole({ ...options, people, host: '127.0.0.1', port: 0 });
    const headers = { 'x-forwarded-user': 'ana' };
    const run = { method: 'POST', headers: { [TOKEN_HEADER]: TOKEN }, body: '{"files":["/in/may.csv"]}' };

    const download = await ask(other.port, `/batches/${BATCH}/files/report.csv`, { from: PROXY, headers });
    const start = await ask(other.port, '/api/run', run);
    await other.close();

    expect([download.status, start.status]).toEqual([500, 500]);
    expect(download.text).not.toContain('501964843');
    expect(done).toEqual([]);
  });
});

describe('a program with the token of the console', () => {
  it('acts past the proxy, and is named as such in the audit', async () => {
    const before = (await audited()).length;
    const headers = { [TOKEN_HEADER]: TOKEN, 'x-forwarded-user': 'ana', host: 'console:8091' };

    const body = JSON.stringify({ files: ['/in/may.csv'] });
    expect((await ask(web.port, '/api/run', { method: 'POST', headers, body })).status).toBe(200);
    expect((await ask(web.port, '/api/invoices?q=F-1', { headers })).status).toBe(200);

    expect((await audited()).slice(before)).toEqual(['console-token start may.csv', 'console-token download invoices']);
  });
});
