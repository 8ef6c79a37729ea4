import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';

const MAIL = {
  LOTE_SMTP_URL: 'smtp://mail.example',
  LOTE_MAIL_FROM: 'Lote <lote@lote.example>',
  LOTE_MAIL_TO: 'a@office.example, b@office.example',
};
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function mailOf(over: Readonly<Record<string, string>>) {
  return readConfig({ ...MAIL, ...over }, '/work').messages.mail;
}

describe('the settings of messages', () => {
  it('are STARTTLS on port 587 for smtp, TLS on 465 for smtps, and another port where one is given', () => {
    expect(mailOf({})).toEqual({
      ...{ host: 'mail.example', port: 587, tls: 'starttls', auth: null, caCertPath: null },
      ...{ from: 'Lote <lote@lote.example>', to: ['a@office.example', 'b@office.example'] },
    });
    expect(mailOf({ LOTE_SMTP_URL: 'smtps://mail.example' })).toMatchObject({ port: 465, tls: 'implicit' });
    expect(mailOf({ LOTE_SMTP_URL: 'smtp://[::1]:2525', LOTE_SMTP_TLS: 'none' })).toMatchObject({
      ...{ host: '::1', port: 2525, tls: 'none' },
    });
  });

  it('keep password and signing secret out of the log, and hold both', () => {
    const config = readConfig({
      ...MAIL,
      ...{ LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD: ' pass word ' },
      ...{ LOTE_MESSAGE_URL: 'https://hooks.example/lote', LOTE_MESSAGE_SECRET: SECRET },
    });

    expect(config.messages.mail?.auth).toEqual({ user: 'ana', password: ' pass word ' });
    expect(config.messages.webhook).toEqual({ url: 'https://hooks.example/lote', secret: SECRET });
    expect(config.secrets).toEqual(expect.arrayContaining([' pass word ', SECRET]));
  });

  it.each([
    [{ LOTE_SMTP_URL: 'smtp://mail.example' }, 'must be set together; some are missing'],
    [{ ...MAIL, LOTE_SMTP_USER: 'ana' }, 'LOTE_SMTP_USER and LOTE_SMTP_PASSWORD'],
    [{ LOTE_MESSAGE_URL: 'https://hooks.example' }, 'LOTE_MESSAGE_URL and LOTE_MESSAGE_SECRET'],
    [
      { ...MAIL, LOTE_SMTP_TLS: 'none', LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD: 'x' },
      'LOTE_SMTP_TLS must not be none with a password',
    ],
    [{ ...MAIL, LOTE_SMTP_URL: 'smtp://ana:geheim@mail.example' }, 'without user and password'],
    [
      { LOTE_MESSAGE_URL: 'https://hooks.example', LOTE_MESSAGE_SECRET: 'whsec_c2hvcnQ=' },
      'must be whsec_ and 24 to 64',
    ],
  ])('are refused where they cannot hold: %j', (env, rule) => {
    expect(() => readConfig(env)).toThrow(rule);
    expect(() => readConfig(env)).not.toThrow(/geheim|c2hvcnQ/u);
  });

  it('may be none with a password on this machine', () => {
    const own = { LOTE_SMTP_URL: 'smtp://localhost', LOTE_SMTP_TLS: 'none' };
    expect(mailOf({ ...own, LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD: 'x' })).toMatchObject({ tls: 'none' });
  });
});
