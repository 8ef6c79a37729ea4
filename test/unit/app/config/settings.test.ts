import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';

const ON = { CONSOLE_TRUSTED_PROXIES: '10.0.0.5', CONSOLE_URL: 'https://lote.example' };

function refusal(env: Readonly<Record<string, string>>): string {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('the settings of sign-in', () => {
  it('are off without trusted proxies', () => {
    expect(readConfig({ CONSOLE_URL: 'https://lote.example' }).console.signIn).toBeNull();
  });

  it('take lists with spaces, and the usual headers', () => {
    const env = {
      ...ON,
      CONSOLE_TRUSTED_PROXIES: '10.0.0.5, 10.1.0.0/16,fd00::/8',
      CONSOLE_OPERATORS: 'ana@example.com, João Sá',
      CONSOLE_OPERATOR_GROUPS: 'billing',
    };

    expect(readConfig(env).console.signIn).toEqual({
      trustedProxies: ['10.0.0.5', '10.1.0.0/16', 'fd00::/8'],
      userHeader: 'X-Forwarded-User',
      groupsHeader: 'X-Forwarded-Groups',
      operators: ['ana@example.com', 'João Sá'],
      operatorGroups: ['billing'],
      publicUrl: 'https://lote.example',
    });
  });

  it.each([
    'proxy.local',
    '10.0.0.5,',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/8/8',
    '10.0.0',
    '10.0.0.1/',
    '0.0.0.0/0',
    '2000::/3',
  ])('refuse %j as trusted proxies', (addresses) => {
    expect(refusal({ ...ON, CONSOLE_TRUSTED_PROXIES: addresses })).toContain('CONSOLE_TRUSTED_PROXIES must be IP');
  });

  it.each(['X Forwarded', 'Cookie', 'Host', 'x-forwarded-for', 'X-Lote-Token', 'Origin'])(
    'refuse %j as the header of the name',
    (header) => {
      expect(refusal({ ...ON, CONSOLE_USER_HEADER: header })).toContain('CONSOLE_USER_HEADER must be');
    },
  );

  it.each([
    ['operators without a proxy that signs them in', { CONSOLE_OPERATORS: 'ana' }, 'CONSOLE_TRUSTED_PROXIES must be'],
    ['groups without such a proxy', { CONSOLE_OPERATOR_GROUPS: 'billing' }, 'CONSOLE_TRUSTED_PROXIES must be set'],
    ['a proxy without an address for people', { CONSOLE_TRUSTED_PROXIES: '10.0.0.5' }, 'CONSOLE_URL must be set'],
    ['one header for both', { ...ON, CONSOLE_GROUPS_HEADER: 'x-forwarded-user' }, 'must be two headers'],
  ])('refuse %s', (_, env, says) => {
    expect(refusal(env)).toContain(says);
  });
});

const MAIL = {
  LOTE_SMTP_URL: 'smtp://mail.example',
  LOTE_MAIL_FROM: 'Lote <lote@lote.example>',
  LOTE_MAIL_TO: 'a@office.example, b@office.example',
};

function mailOf(over: Readonly<Record<string, string>>) {
  return readConfig({ ...MAIL, ...over }, '/work').mail;
}

describe('the settings of messages', () => {
  it('are STARTTLS on port 587 for smtp, but none on this machine, TLS on 465 for smtps, and another port where one is given', () => {
    expect(mailOf({})).toEqual({
      ...{ host: 'mail.example', port: 587, tls: 'starttls', auth: null },
      ...{ from: 'Lote <lote@lote.example>', to: ['a@office.example', 'b@office.example'] },
    });
    expect(mailOf({ LOTE_SMTP_URL: 'smtps://mail.example' })).toMatchObject({ port: 465, tls: 'implicit' });
    expect(mailOf({ LOTE_SMTP_URL: 'smtp://[::1]:2525' })).toMatchObject({
      ...{ host: '::1', port: 2525, tls: 'none' },
    });
  });

  it('keep the password out of the log, and hold it', () => {
    const config = readConfig({
      ...MAIL,
      ...{ LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD: ' pass word ' },
    });

    expect(config.mail?.auth).toEqual({ user: 'ana', password: ' pass word ' });
    expect(config.secrets).toContain(' pass word ');
  });

  it.each([
    [{ LOTE_SMTP_URL: 'smtp://mail.example' }, 'must be set together; some are missing'],
    [{ ...MAIL, LOTE_SMTP_USER: 'ana' }, 'LOTE_SMTP_USER and LOTE_SMTP_PASSWORD'],
    [{ ...MAIL, LOTE_SMTP_URL: 'smtp://ana:geheim@mail.example' }, 'without user and password'],
  ])('are refused where they cannot hold: %j', (env, rule) => {
    expect(() => readConfig(env)).toThrow(rule);
    expect(() => readConfig(env)).not.toThrow(/geheim/u);
  });
});
