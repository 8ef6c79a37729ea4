import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import { pageAt, testConsole } from '../console-ledger.ts';
import { profileSettings } from '../../../../src/app/console/console-parts.ts';

describe('the page of the service profile', () => {
  function get(text: string, path = '/profile'): Promise<string> {
    const app = testConsole({
      misfits: async () => [
        { code: 'status-unknown', message: 'No answer holds a known word.', times: 3, firstAt: 0, lastAt: 0 },
      ],
      health: async () => [{ name: 'service profile', state: 'ok', detail: 'fits' }],
      serviceProfile: { baseUrl: 'http://user:geheim@127.0.0.1:9/x' },
      profileSettings: profileSettings(loadProfile(text)),
    });
    return pageAt(app, path);
  }

  it('explains every setting, with what is not the default', async () => {
    const page = await get('{"limits":{"requestsPerSecond":10}}');

    for (const key of ['requests.headers', 'signature.header', 'limits.requestsPerSecond', 'retry.maxGenerations'])
      expect(page).toContain(`<code>${key}</code>`);
    expect(page).toContain('the header that holds the signature');
    expect(page.split('changed</strong>').length).toBe(2);
    expect(page).toContain('http://•••@127.0.0.1:9/x');
    expect(page).toContain('No answer holds a known word.');
    expect(await get('{}', '/health')).toContain('<a href="/profile">service profile</a>');
  });

  it('shows no secret, and no text as HTML', async () => {
    const headers = { 'X-Api-Key': 'geheim-17' };
    const page = await get(JSON.stringify({ requests: { headers }, error: { code: '/<script>x' } }));

    expect(page).not.toContain('geheim-17');
    expect(page).toContain('(not shown)');
    expect(page).not.toContain('<script>x');
  });

  it('changes nothing: it takes no form', async () => {
    expect(await get('{}')).not.toMatch(/method="post"/iu);
  });
});
