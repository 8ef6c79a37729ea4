import { describe, expect, it } from 'vitest';
import { TOKEN_HEADER } from '../../../../src/console/http/guard.ts';
import { pageHeaders } from '../../../support/browser/page-headers.ts';
import { testConsole, type TestConsole } from '../console-ledger.ts';

const TOKEN = 'a-long-random-token';
const RUN = { batches: [{ batchId: 'b', workflowId: 'w', file: 'may.csv' }] };

function appWith(given: TestConsole = {}) {
  return testConsole({ actions: { run: async () => RUN }, ...given });
}

function ask(given: TestConsole, path: string, headers: Record<string, string> = {}) {
  return appWith(given).request(`http://127.0.0.1:8091${path}`, { headers: { host: '127.0.0.1:8091', ...headers } });
}

function postRun(given: TestConsole, headers: Record<string, string> = {}, app = appWith(given)) {
  return app.request('http://127.0.0.1:8091/api/run', {
    method: 'POST',
    headers: { host: '127.0.0.1:8091', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ files: ['/in/may.csv'] }),
  });
}

/** What a browser sends that has loaded a page of this console; `cookie`: of a session that it has already. */
async function browserOf(app: ReturnType<typeof appWith>, cookie = ''): Promise<Record<string, string>> {
  const load = (path: string) =>
    app.request(`http://127.0.0.1:8091${path}`, { headers: { host: '127.0.0.1:8091', cookie } });
  const page = await pageHeaders('http://127.0.0.1:8091', load);
  return { ...page, cookie: [page['cookie'] ?? '', cookie].filter((one) => one !== '').join('; ') };
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
    },
  );
});

describe('a request that changes something', () => {
  it('passes from a page, for files of the input directory only, and with the token alone, for any', async () => {
    const asked: unknown[] = [];
    const app = appWith({ token: TOKEN, actions: { run: async (_, access) => (asked.push(access), RUN) } });

    expect((await postRun({}, await browserOf(app), app)).status).toBe(202);
    expect((await postRun({}, { [TOKEN_HEADER]: TOKEN }, app)).status).toBe(202);

    expect(asked).toMatchObject([{ anywhere: false }, { anywhere: true }]);
  });

  it.each<[string, (page: Record<string, string>) => Record<string, string>]>([
    ['the origin alone', ({ origin }) => ({ origin: origin ?? '' })],
    ['no token of a page', ({ origin, cookie }) => ({ origin: origin ?? '', cookie: cookie ?? '' })],
    ['no cookie of a page', (page) => ({ ...page, cookie: '' })],
    ['the cookie of another page', (page) => ({ ...page, cookie: `lote_page=${'A'.repeat(24)}` })],
    ['the origin of another site', (page) => ({ ...page, origin: 'http://evil.example' })],
  ])('is refused with %s', async (_, change) => {
    const app = appWith({ actions: { run: () => Promise.reject(new Error('must not run')) } });

    expect((await postRun({}, change(await browserOf(app)), app)).status).toBe(403);
  });

  it('is refused from a page of another console', async () => {
    const page = await browserOf(appWith());

    const answer = await postRun({}, page);

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'page-old' } });
  });

  it.each<[string, Record<string, string>]>([
    ['from another site', { origin: 'http://evil.example' }],
    ['from another port of this machine', { origin: 'http://127.0.0.1:3000' }],
    ['from a page without an origin', { origin: 'null' }],
    ['without any origin', {}],
    ['with the wrong token', { [TOKEN_HEADER]: `${TOKEN}x` }],
    ['with an empty token', { [TOKEN_HEADER]: '' }],
    ['with an origin that only begins right', { origin: 'http://127.0.0.1:8091.evil.example' }],
  ])('is refused %s', async (_, headers) => {
    const run = () => Promise.reject(new Error('must not run'));

    expect((await postRun({ token: TOKEN, actions: { run } }, headers)).status).toBe(403);
  });

  it('is refused at every address from a foreign page, whatever it would do', async () => {
    const app = appWith({ actions: {} });
    const paths = app.routes
      .filter(({ method }) => method === 'POST')
      .map(({ path }) => path.replace(/:ordinal\{[^}]*\}.?/u, '1/'));
    const foreign = { host: '127.0.0.1:8091', origin: 'http://evil.example' };

    const answers = await Promise.all(
      paths.map(async (path) => app.request(`http://127.0.0.1:8091${path}`, { method: 'POST', headers: foreign })),
    );

    expect(paths).toEqual(expect.arrayContaining(['/files', '/start', '/mapping', '/batches/:id/operations']));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
  });

  it('is refused with an empty token where none is set', async () => {
    expect((await postRun({ token: '' }, { [TOKEN_HEADER]: '' })).status).toBe(403);
  });
});

describe('a console that is reachable from elsewhere', () => {
  const elsewhere = { token: TOKEN, access: 'token' } as const;

  it.each(['/', '/api/batches', '/batches/x/files/report.html', '/style.css', '/?token=wrong'])(
    'shows nothing of %s without the token',
    async (path) => {
      expect((await ask(elsewhere, path)).status).toBe(401);
    },
  );

  it('answers programs with the token, whatever the host name', async () => {
    expect((await ask(elsewhere, '/api/batches', { host: 'lote.example', [TOKEN_HEADER]: TOKEN })).status).toBe(200);
  });

  it('opens a session for a browser and takes the token out of the address', async () => {
    const opened = await ask(elsewhere, `/?token=${TOKEN}`);
    const cookie = opened.headers.get('set-cookie') ?? '';

    expect(opened.status).toBe(303);
    expect(opened.headers.get('location')).toBe('/');
    expect(cookie).toMatch(/HttpOnly/u);
    expect(cookie).toMatch(/SameSite=Strict/u);
    expect(cookie).not.toContain(TOKEN);
    expect((await ask(elsewhere, '/', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
    expect((await ask(elsewhere, '/', { cookie: 'lote_console=guess' })).status).toBe(401);
  });

  it('writes the token of an address into no link of the page', async () => {
    const page = await ask({ token: TOKEN }, `/?token=${TOKEN}&application=a`);

    const text = await page.text();
    expect(text).toContain('href="/?application=a&amp;lang=pt"');
    expect(text).not.toContain(TOKEN);
  });

  it('refuses a POST of a session that comes from another site', async () => {
    const session = ((await ask(elsewhere, `/?token=${TOKEN}`)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const app = appWith(elsewhere);
    const page = await browserOf(app, session);

    expect((await postRun(elsewhere, { ...page, origin: 'http://evil.example' }, app)).status).toBe(403);
    expect((await postRun(elsewhere, page, app)).status).toBe(202);
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

  it('tells a health check without the token that it is up, and nothing more', async () => {
    const answer = await ask(elsewhere, '/api/health');

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'up' });
  });
});

describe('every answer', () => {
  it.each(['/', '/nothing', '/style.css', '/api/batches', '/api/nothing'])(
    'of %s forbids foreign content and caching',
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

  it('also of a refusal', async () => {
    const { status, headers } = await ask({}, '/', { host: 'evil.example' });

    expect(status).toBe(421);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
