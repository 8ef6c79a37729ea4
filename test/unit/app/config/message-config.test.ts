import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';

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
