import { describe, expect, it } from 'vitest';
import { TOKEN_HEADER } from '../../../../src/console/http/guard.ts';
import { aBatch, ledgerHolding, testConsole, type TestConsole } from '../console-ledger.ts';

const TOKEN = 'a-long-random-token';
const ORIGIN = 'http://127.0.0.1:8091';
const HOST = { host: '127.0.0.1:8091' };
const CHANGE = `/batches/${aBatch().batchId}/reconcile`;

function appWith(given: TestConsole = {}) {
  const ledger = ledgerHolding([{ batch: aBatch(), invoices: [] }]);
  return testConsole({ ledger, actions: { reconcile: async () => ({ how: 'started' }) }, ...given });
}

function ask(given: TestConsole, path: string, headers: Record<string, string> = {}) {
  return appWith(given).request(`${ORIGIN}${path}`, { headers: { ...HOST, ...headers } });
}

function change(given: TestConsole, headers: Record<string, string> = {}, path = CHANGE) {
  return appWith(given).request(`${ORIGIN}${path}`, { method: 'POST', headers: { ...HOST, ...headers } });
}

describe('the Host header', () => {
  it.each(['127.0.0.1:8091', 'localhost:8091', 'LOCALHOST', '[::1]:8091', 'console.internal:80'])(
    'lets %s in',
    async (host) => {
      expect((await ask({ hosts: ['Console.internal'] }, '/', { host })).status).toBe(200);
    },
  );

  const strangers =
    'evil.example:8091 evil.example 127.0.0.1.evil.example:8091 localhost.evil.example 10.0.0.1 127.0.0.1@evil.example';
  it.each(['', ...strangers.split(' ')])(
    'keeps %j out: a name of a stranger that leads here is DNS rebinding',
    async (host) => {
      const answer = await ask({}, '/api/batches', { host });

      expect(answer.status).toBe(421);
      expect(await answer.json()).toMatchObject({ error: { code: 'host-unknown' } });
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );
});

describe('a request that changes something', () => {
  it.each<[string, Record<string, string>]>([
    ['a page of this console', { origin: ORIGIN }],
    ['a program with the token', { [TOKEN_HEADER]: TOKEN }],
  ])('passes from %s', async (_, headers) => {
    expect((await change({ token: TOKEN }, headers)).status).toBe(303);
  });

  it.each<[string, Record<string, string>]>([
    ['from another site', { origin: 'http://evil.example' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:3000' }],
    ['from a page without an origin', { origin: 'null' }],
    ['without any origin', {}],
    ['with the wrong token', { [TOKEN_HEADER]: `${TOKEN}x` }],
    ['with an empty token', { [TOKEN_HEADER]: '' }],
    ['with an origin that only begins right', { origin: `${ORIGIN}.evil.example` }],
  ])('is refused %s', async (_, headers) => {
    const reconcile = () => Promise.reject(new Error('must not run'));

    for (const token of [TOKEN, ''])
      expect((await change({ token, actions: { reconcile } }, headers)).status).toBe(403);
  });

  it('is refused at every address from a foreign page, whatever it would do', async () => {
    const paths = appWith()
      .routes.filter(({ method }) => method === 'POST')
      .map(({ path }) => path.replace(/:ordinal\{[^}]*\}.?/u, '1/'));

    const answers = await Promise.all(paths.map(async (path) => change({}, { origin: 'http://evil.example' }, path)));

    expect(paths).toEqual(expect.arrayContaining(['/files', '/start', '/mapping', '/batches/:id/operations']));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
  });
});

describe('a console that is reachable from elsewhere', () => {
  const elsewhere = { token: TOKEN, access: 'token' } as const;

  it.each(['/', '/api/batches', '/api/health', '/batches/x/files/report.html', '/style.css', '/?token=wrong'])(
    'shows nothing of %s without the token',
    async (path) => {
      expect((await ask(elsewhere, path)).status).toBe(401);
    },
  );

  it('answers programs with the token, whatever the host name, and the probes of a container', async () => {
    expect((await ask(elsewhere, '/api/batches', { host: 'lote.example', [TOKEN_HEADER]: TOKEN })).status).toBe(200);
    expect(await (await ask(elsewhere, '/health/ready')).json()).toEqual({ status: 'ready', parts: {} });
  });

  it('opens a session for a browser, takes the token out of the address, and lets no other site use the session', async () => {
    const opened = await ask(elsewhere, `/?token=${TOKEN}`);
    const [session = '', ...attributes] = (opened.headers.get('set-cookie') ?? '').split('; ');

    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/']);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Strict']));
    expect(session).not.toContain(TOKEN);
    expect((await ask(elsewhere, '/', { cookie: session })).status).toBe(200);
    expect((await ask(elsewhere, '/', { cookie: 'lote_console=guess' })).status).toBe(401);
    expect((await change(elsewhere, { cookie: session, origin: ORIGIN })).status).toBe(303);
    expect((await change(elsewhere, { cookie: session, origin: 'http://evil.example' })).status).toBe(403);
  });

  it('writes the token of an address into no link of the page', async () => {
    const text = await (await ask({ token: TOKEN }, `/?token=${TOKEN}&application=a`)).text();

    expect(text).toContain('href="/?application=a&amp;lang=pt"');
    expect(text).not.toContain(TOKEN);
  });

  it.each(['//evil.example/', '//evil.example/x', '/\\evil.example/', '//evil.example/%2f..'])(
    'never leads to another host: %s',
    async (path) => {
      for (const query of [`?token=${TOKEN}`, '?lang=pt', '']) {
        const answer = await ask(elsewhere, `${path}${query}`);

        expect(answer.headers.get('location') ?? '/').toMatch(/^\/(?![/\\])/u);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(await answer.text()).not.toContain('evil.example');
      }
    },
  );
});

it.each(['/', '/nothing', '/style.css', '/api/batches', '/api/nothing'])(
  'every answer forbids foreign content and caching: %s',
  async (path) => {
    const { headers } = await ask({}, path);
    const policy = headers.get('content-security-policy');

    for (const rule of ["default-src 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(rule);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  },
);
