import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createConsoleApp } from '../../../../src/console/console-app.ts';
import type { RecordedAnswers, ReplayComparison } from '../../../../src/console/profile-editor.ts';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { createProfileEditor, type SavedCopy } from '../../../../src/wiring/console/profile-editor.ts';
import { saveProfile, savedProfile } from '../../../../src/wiring/console/save-profile.ts';
import { pageHeaders } from '../../../support/browser/page-headers.ts';
import { ledgerHolding } from '../console-ledger.ts';

interface Given {
  readonly text?: string;
  readonly showsOnly?: boolean;
  readonly recorded?: RecordedAnswers;
  readonly replay?: ReplayComparison;
}

const ORIGIN = 'http://127.0.0.1';
const LESS: ReplayComparison = {
  rows: [{ what: '2 × 201 to create-invoice', inForce: 'issued', copy: 'no status', change: 'worse' }],
  understandsLess: true,
};

describe('the page of the service profile', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'lote-profile-page-'));
  });

  function app({ text = '{}', showsOnly = false, recorded, replay }: Given = {}) {
    const place = { dataDir, ledger: { noteActions: async () => undefined }, now: Date.now };
    const audited = { at: 0, who: 'console', what: 'save-profile', why: 'profiles/a.json', invoices: 0 };
    return createConsoleApp({
      ledger: ledgerHolding([], {
        auditOf: async (id) =>
          id === 'service-profile' ? [{ ...audited, acceptedDuplicateRisk: false, examples: [] }] : [],
      }),
      misfits: async () => [
        { code: 'status-unknown', message: 'No answer holds a known word.', times: 3, firstAt: 0, lastAt: 0 },
      ],
      health: async () => [{ name: 'service profile', state: 'ok', detail: 'fits' }],
      ...{ reportsDir: '/nowhere', links: { temporalUi: null }, version: '0.1.0' },
      serviceProfile: { baseUrl: 'http://user:geheim@127.0.0.1:9/x' },
      profileEditor: createProfileEditor({
        profile: loadProfile(text),
        fileText: () => text,
        secrets: [],
        recordings: { recorded: async () => recorded ?? null, compare: async () => replay ?? null },
        ...(showsOnly ? {} : { save: (copy: SavedCopy) => saveProfile(place, copy) }),
        kept: (name) => savedProfile(dataDir, name),
      }),
    });
  }

  const get = async (given: Given = {}, path = '/profile', language = 'en'): Promise<string> => {
    const headers = { host: '127.0.0.1', 'accept-language': language };
    return (await app(given).request(`${ORIGIN}${path}`, { headers })).text();
  };

  async function post(path: string, fields: Readonly<Record<string, string>>, given: Given = {}, foreign = false) {
    const made = app(given);
    const load = (page: string) => made.request(`${ORIGIN}${page}`, { headers: { host: '127.0.0.1' } });
    const proof = foreign ? { origin: 'http://evil.example' } : await pageHeaders(ORIGIN, load);
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return made.request(`${ORIGIN}${path}`, { method: 'POST', headers: { host: '127.0.0.1', ...proof }, body });
  }

  it('explains every section and setting, with what is not the default', async () => {
    const page = await get({ text: '{"limits":{"requestsPerSecond":10}}' });

    for (const title of [
      'Requests',
      'Answers',
      'Errors',
      'Invoices',
      'Signatures',
      'Events',
      'Limits',
      'Sending again',
    ])
      expect(page).toContain(`>${title} <code`);
    expect(page).toContain('the header that holds the signature, or the token');
    expect(page.split('changed</strong>').length).toBe(2);
    expect(page).toContain('<code>{&quot;error&quot;:{&quot;code&quot;:&quot;invalid_tax_code&quot;}}</code>');
    expect(page).toContain('http://•••@127.0.0.1:9/x');
    expect(page).toContain('Set LOTE_CAPTURE to a folder');
    expect(page).toContain('profiles/a.json');
    expect(page).toContain('No answer holds a known word.');
    expect(await get({}, '/health')).toContain('<a href="/profile">service profile</a>');
    expect(await get({}, '/profile', 'pt-PT')).toContain('Assinaturas <code');
    expect(await get({}, '/profile', 'es')).toContain('Firmas <code');
  });

  it('shows what the last recorded answer holds beside its setting', async () => {
    const recorded = {
      count: 7,
      byKey: new Map([
        ['invoice.status', { value: 'qu•••<b>', record: '0007.json', at: 0 }],
        ['error.code', { value: null, record: '0003.json', at: 0 }],
      ]),
    };
    const page = await get({ recorded });

    expect(page).toContain('7 answers and deliveries are recorded.');
    expect(page).toContain('<code>qu•••&lt;b&gt;</code>');
    expect(page).toContain('0007.json · ');
    expect(page).toContain('nothing there');
    expect(page).not.toContain('Set LOTE_CAPTURE');
  });

  it('shows each mistake of a copy with its line, its column and the nearest word', async () => {
    const answer = await post('/profile/check', { profile: '{\r\n  "signature": { "algoritm": "sha256" }\r\n}' });
    const page = (await answer.text()).replaceAll(/\s+/gu, ' ');

    expect(answer.status).toBe(200);
    expect(page).toContain('1 mistake');
    expect(page).toMatch(/<td class="number">2<\/td> <td class="number">18<\/td>/u);
    expect(page).toContain('<td><code>algorithm</code></td>');
    expect(page).not.toContain('/profile/save');
    expect(page).toContain('{ &quot;algoritm&quot;: &quot;sha256&quot; } }</textarea');
  });

  it('shows what a copy changes, and offers to keep it', async () => {
    const page = await (await post('/profile/check', { profile: '{"limits":{"maxConcurrency":8}}' })).text();

    expect(page).toContain('1 setting differs from the profile in force');
    expect(page).toContain('/profile/save?form=');
    expect(page).toContain('/profile/download?form=');
    expect(page).not.toContain('name="acceptsLess"');
  });

  it('saves a copy, says what to set, and leaves the profile in force as it is', async () => {
    const answer = await post('/profile/save', {
      profile: '{\r\n"limits":{"maxConcurrency":8}\r\n}',
      name: 'autumn.json',
    });

    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile?saved=autumn']);
    const file = join(dataDir, 'profiles', 'autumn.json');
    expect(await readFile(file, 'utf8')).toBe('{\n"limits":{"maxConcurrency":8}\n}');
    const page = await get({}, '/profile?saved=autumn');
    expect(page).toContain(`set SERVICE_PROFILE=${file} and restart`);
    expect(page).not.toContain('changed</strong>');
    expect(await get({}, '/profile?saved=winter')).not.toContain('SERVICE_PROFILE=');
  });

  it.each([
    ['with mistakes', { profile: '{"limit":1}', name: 'a' }, {}, 'the copy has mistakes'],
    ['under a name that leads elsewhere', { profile: '{}', name: '../a' }, {}, 'the name must be'],
    [
      'that understands less',
      { profile: '{}', name: 'a' },
      { replay: LESS },
      'understands less of the recorded answers. Tick',
    ],
  ])('refuses to save or download a copy %s', async (_, fields, given, why) => {
    for (const path of ['/profile/save', '/profile/download']) {
      const answer = await post(path, fields, given);

      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(why);
    }
  });

  it('shows what a copy understands of the recorded answers, and saves less only with a tick', async () => {
    const page = await (await post('/profile/check', { profile: '{}' }, { replay: LESS })).text();
    expect(page).toContain('2 × 201 to create-invoice');
    expect(page).toContain('>worse</span>');
    expect(page).toContain('name="acceptsLess"');

    const fields = { profile: '{}', name: 'a', acceptsLess: 'yes' };
    expect((await post('/profile/save', fields, { replay: LESS })).status).toBe(303);
  });

  it('gives a copy as a download, also where the console only shows', async () => {
    const answer = await post('/profile/download', { profile: '{}', name: 'autumn' }, { showsOnly: true });

    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="autumn.json"');
    expect(await answer.text()).toBe('{}');
    const checked = await post('/profile/check', { profile: '{}' }, { showsOnly: true });
    expect(await checked.text()).not.toContain('/profile/save');
    expect((await post('/profile/save', { profile: '{}', name: 'a' }, { showsOnly: true })).status).toBe(404);
  });

  it.each(['/profile/check', '/profile/download', '/profile/save'])(
    'takes nothing at %s from a page of somebody else, nor more than a megabyte',
    async (path) => {
      expect((await post(path, { profile: '{}', name: 'a' }, {}, true)).status).toBe(403);
      expect((await post(path, { profile: 'x'.repeat(1_100_000), name: 'a' })).status).toBe(413);
      expect(await savedProfile(dataDir, 'a')).toBeNull();
    },
  );

  it('reads a text as text: nothing of it is HTML', async () => {
    const page = await (await post('/profile/check', { profile: '</textarea><script>x</script>' })).text();

    expect(page).not.toContain('<script>x');
    expect(page).toContain('&lt;script&gt;x');
  });
});
