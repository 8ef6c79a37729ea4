import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const REAL = { INVOICING_BASE_URL: 'https://invoicing.example', INVOICING_API_KEY: 'sk_test_abcdef' };

function failureOf(env: Readonly<Record<string, string>>): LoteError {
  try {
    readConfig(env, '/work');
  } catch (error) {
    if (error instanceof LoteError) return error;
    throw error;
  }
  throw new Error('The configuration was accepted.');
}

/** A file of its own with this content. */
async function fileWith(text: string, name = 'file'): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, text);
  return path;
}

describe('readConfig', () => {
  it('gives the documented defaults for an empty environment: everything embedded', () => {
    const config = readConfig({}, '/work');

    expect(config).toEqual({
      service: { kind: 'sandbox' },
      serviceBaseUrl: null,
      serviceProfilePath: null,
      webhook: { secrets: [], url: null },
      receiver: { host: '127.0.0.1', port: 8090, explicit: false, variable: 'RECEIVER_PORT' },
      health: { host: '127.0.0.1', port: 8093, explicit: false, variable: 'HEALTH_PORT' },
      console: {
        host: '127.0.0.1',
        port: 8091,
        explicit: false,
        variable: 'CONSOLE_PORT',
        token: null,
        publicUrl: null,
        signIn: null,
      },
      sandbox: { host: '127.0.0.1', port: 8092, explicit: false, variable: 'SANDBOX_PORT' },
      databaseUrl: null,
      temporal: { address: null, namespace: 'default', profile: {}, uiUrl: null },
      taskQueue: 'lote',
      dataDir: '/work/.lote',
      inputDir: '/work/input',
      reportsDir: '/work/reports',
      application: 'default',
      onReport: null,
      language: 'en',
      mail: null,
      drop: { stableMs: 10_000, patienceMs: 10 * 60_000 },
      settleTimeoutMs: 15 * 60_000,
      sendTimeoutMs: 30 * 60_000,
      outagePatienceMs: 12 * 3_600_000,
      failureBudget: 0.5,
      totalFactor: 5,
      pageSize: 2000,
      logLevel: 'info',
      metrics: null,
      traces: null,
      secrets: [],
    });
  });

  it('reads every value that is set', () => {
    const config = readConfig(
      {
        ...REAL,
        INVOICING_BASE_URL: 'https://invoicing.example/',
        WEBHOOK_SECRET: 'newest, oldest',
        WEBHOOK_URL: 'http://127.0.0.1:8090/webhooks',
        RECEIVER_HOST: '0.0.0.0',
        RECEIVER_PORT: '18090',
        DATABASE_URL: 'postgresql://lote:pa%2Fss@db:5432/lote',
        TEMPORAL_ADDRESS: 'temporal:7233',
        SERVICE_PROFILE: 'profile.json',
        LOTE_DATA_DIR: '/var/lote',
        LOTE_SETTLE_TIMEOUT: '1500ms',
        LOTE_FAILURE_BUDGET: '12.5%',
        LOTE_TOTAL_FACTOR: '2.5',
        LOTE_PAGE_SIZE: '500',
        LOTE_LOG_LEVEL: 'debug',
      },
      '/work',
    );

    expect(config).toMatchObject({
      service: { kind: 'remote', baseUrl: 'https://invoicing.example', apiKey: 'sk_test_abcdef' },
      webhook: { secrets: ['newest', 'oldest'], url: 'http://127.0.0.1:8090/webhooks' },
      receiver: { host: '0.0.0.0', port: 18090, explicit: true },
      databaseUrl: 'postgresql://lote:pa%2Fss@db:5432/lote',
      temporal: { address: 'temporal:7233' },
      serviceProfilePath: '/work/profile.json',
      dataDir: '/var/lote',
      settleTimeoutMs: 1500,
      failureBudget: 0.125,
      totalFactor: 2.5,
      pageSize: 500,
      logLevel: 'debug',
    });
    expect(config.secrets).toEqual(expect.arrayContaining(['sk_test_abcdef', 'newest', 'oldest', 'pa%2Fss', 'pa/ss']));
  });

  it.each([
    // Compose files pass an empty variable for an absent one.
    [' ', 30 * 60_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['2 days', 172_800_000],
  ])('reads the duration %j', (text, sendTimeoutMs) => {
    const config = readConfig({ INVOICING_BASE_URL: '', LOTE_SEND_TIMEOUT: text });
    expect(config).toMatchObject({ service: { kind: 'sandbox' }, sendTimeoutMs });
  });

  it.each([
    ['LOTE_SETTLE_TIMEOUT', ['15', '-5m', '0s', 'soon'], 'must be a duration with a unit'],
    ['LOTE_SETTLE_TIMEOUT', ['90d'], 'of 24 days at most'],
    ['LOTE_LANGUAGE', ['fr'], 'must be en, pt or es'],
    ['LOTE_SMTP_URL', ['https://mail.example'], 'must be smtp://host or smtps://host'],
    ['LOTE_MAIL_FROM', ['no address'], 'must be an e-mail address'],
    ['LOTE_MAIL_TO', ['ana,'], 'must be e-mail addresses with commas between'],
    ['LOTE_TOTAL_FACTOR', ['1', 'none'], 'must be a number from 1.5 to 1000, or off'],
    ['LOTE_FAILURE_BUDGET', ['50', '101%'], 'must be a percentage from 0% to 100%'],
    ['LOTE_PAGE_SIZE', ['0', '2e3'], 'must be a whole number from 1 to 20000'],
    ['RECEIVER_PORT', ['65536', 'http'], 'must be a port number from 0 to 65535'],
    ['WEBHOOK_URL', ['http://hooks.example/webhooks'], 'must be an https address'],
    ['INVOICING_BASE_URL', ['invoicing.example'], 'must be an http or https address'],
    ['TEMPORAL_ADDRESS', ['http://temporal:7233'], 'must be of the form host:port'],
    ['LOTE_APPLICATION', ['Grupo Ñ'], 'must be 1 to 40 of'],
    ['LOTE_LOG_LEVEL', ['loud'], 'must be one of debug, info, warn, error, silent'],
  ] as const)('refuses %s=%s, naming variable, rule and what was found', (name, values, rule) => {
    for (const value of values) {
      const { code, message } = failureOf({ [name]: value });

      expect(code).toBe('configuration-invalid');
      for (const part of [`${name} `, rule, JSON.stringify(value)]) expect(message).toContain(part);
    }
  });

  it('refuses a setting that it does not know, and names the nearest one', () => {
    const { code, message } = failureOf({ LOTE_SETTLE_TIME: '9m', LOTE_DROP_MARKER: 'done' });

    expect(code).toBe('configuration-invalid');
    expect(message).toContain('LOTE_SETTLE_TIME is no setting of Lote; the nearest one is LOTE_SETTLE_TIMEOUT');
    expect(message).toContain('LOTE_DROP_MARKER is no setting of Lote');
    // What a program of LOTE_ON_REPORT inherits, and what Compose reads.
    const others = { LOTE_REPORT_ID: 'b', LOTE_USER_ID: '1000', LOTE_SMTP_PASSWORD_FILE: '' };
    expect(readConfig(others, '/work')).toBeDefined();
  });

  it('tells everything that is wrong in one error', () => {
    expect(failureOf({ LOTE_PAGE_SIZE: 'many', LOTE_SEND_TIMEOUT: 'long' }).message).toMatch(
      /LOTE_SEND_TIMEOUT[^]*LOTE_PAGE_SIZE|LOTE_PAGE_SIZE[^]*LOTE_SEND_TIMEOUT/u,
    );
  });

  it.each([
    ['INVOICING_API_KEY', { ...REAL, INVOICING_API_KEY: 'sk_live_ hidden' }],
    ['WEBHOOK_SECRET', { WEBHOOK_SECRET: 'hidden,,' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://lote:hidden@db/lote' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgresql://lote:hidden%@db/lote' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgresql://lote:hidden%ff@db/lote' }],
    ['INVOICING_BASE_URL', { ...REAL, INVOICING_BASE_URL: 'https://user:hidden@invoicing.example' }],
  ])('never shows the value of a wrong %s', (name, env) => {
    expect(failureOf(env).message).toMatch(new RegExp(`^(?!.*hidden).*${name}.*not shown`, 'su'));
  });

  it('refuses an address without a key, but in a process that sends nothing', () => {
    const address = { INVOICING_BASE_URL: REAL.INVOICING_BASE_URL };

    expect(failureOf(address).message).toContain('INVOICING_API_KEY');
    expect(readConfig(address, '/work', 'nothing')).toMatchObject({
      service: { kind: 'sandbox' },
      serviceBaseUrl: REAL.INVOICING_BASE_URL,
    });
  });

  it.each([
    // Invoices would be simulated that were meant to be issued.
    ['a key without an address', { INVOICING_API_KEY: 'sk_live_1' }, 'INVOICING_BASE_URL must be set'],
    ['a certificate without its key', { TEMPORAL_TLS_CLIENT_CERT_PATH: 'a.pem' }, 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
    ['one folder for both', { LOTE_INPUT_DIR: 'files', LOTE_REPORTS_DIR: './files' }, 'must be two folders'],
  ])('refuses %s', (_name, env, says) => {
    expect(failureOf(env).message).toContain(says);
  });
});

describe('readConfig with the PG… variables', () => {
  const PASSWORD = ' p@ss:w/o?#[]%41&=+;\'"\\$`é ';
  /** As the driver reads it. */
  function addressOf(env: Record<string, string>): object {
    const { host, port, user, password, database } = new pg.Client({
      connectionString: readConfig(env).databaseUrl ?? '',
    });
    return { host, port, user, password, database };
  }

  it.each([
    ['from PGPASSWORD, with any character', async () => ({ PGPASSWORD: PASSWORD }), '', PASSWORD],
    [
      'from its file, without the line end alone',
      async () => ({ PGPASSWORD_FILE: await fileWith(`${PASSWORD}\n`) }),
      '',
      PASSWORD,
    ],
    ['from the query of the address', async () => ({}), '&password=pa%2Fss%2B1', 'pa/ss+1'],
  ])('takes the password %s, and hides it', async (_, envOf, query, password) => {
    const env = { DATABASE_URL: `postgresql://lote@db:5433/lote?application_name=a${query}`, ...(await envOf()) };

    expect(addressOf(env)).toEqual({ host: 'db', port: 5433, user: 'lote', password, database: 'lote' });
    expect(readConfig(env).secrets).toContain(password);
  });

  it.each([
    ['postgresql://one,other/lote', 'must name one host'],
    ['postgresql:///lote?host=/run/a,/run/b', 'must name one host'],
    ['postgresql:///lote?hostaddr=10.0.0.1', '?hostaddr= is not read'],
    ['postgresql://?service=billing', '?service= is not read'],
    ['postgresql://lote@db?dbname=ledger', '?dbname= is not read'],
    ['postgresql://lote@db/ledger?database=other', '?database= is not read'],
  ])('refuses %s, which the driver would read as another server or database', (address, says) => {
    const { message } = failureOf({ DATABASE_URL: address });

    expect(message).toContain(says);
    expect(message).not.toContain('10.0.0.1');
  });

  it('leaves an address that says everything as it is', () => {
    for (const query of ['sslmode=require', 'application_name=50%']) {
      const address = `postgresql://lote:pa%2Fss@db:5432/lote?${query}`;
      expect(readConfig({ DATABASE_URL: address, PGPASSWORD: 'x' }).databaseUrl).toBe(address);
    }
  });

  it('stays with the embedded ledger when only they are set: a shell sets them for other programs', () => {
    expect(readConfig({ PGHOST: 'db', PGPORT: 'any', PGPASSWORD: 'x' }).databaseUrl).toBeNull();
  });
});

describe('readConfig with headers for a collector', () => {
  it('hides each value, as it stands and decoded, and the token in it', () => {
    const headers = 'authorization=Bearer%20to%2Bken,x-key=abcd,broken=%E0%A4%A';

    expect(readConfig({ OTEL_EXPORTER_OTLP_HEADERS: headers }).secrets).toEqual([
      ...[headers, 'Bearer%20to%2Bken', 'abcd', '%E0%A4%A', 'Bearer to+ken', 'to+ken'],
    ]);
  });
});

describe('readConfig with a Temporal profile', () => {
  const profileFile = (text: string): Promise<string> => fileWith(text, 'temporal.toml');

  it('takes address, namespace, key and certificates from it', async () => {
    const file = await profileFile(`
[profile.nightly]
address = "temporal.example:7233"
namespace = "invoices"
api_key = "key_of_the_profile"
[profile.nightly.tls]
server_name = "temporal.internal"
client_cert_path = "/etc/lote/client.pem"
client_key_path = "/etc/lote/client.key"
`);
    const { temporal, secrets } = readConfig({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'nightly' });

    expect(temporal).toMatchObject({
      address: 'temporal.example:7233',
      namespace: 'invoices',
      profile: {
        apiKey: 'key_of_the_profile',
        tls: {
          serverName: 'temporal.internal',
          clientCert: { path: '/etc/lote/client.pem' },
          clientKey: { path: '/etc/lote/client.key' },
        },
      },
    });
    expect(secrets).toContain('key_of_the_profile');
  });

  it('prefers what the environment says', async () => {
    const file = await profileFile('[profile.default]\naddress = "one:7233"\nnamespace = "of-the-profile"\n');
    const { temporal } = readConfig({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_ADDRESS: 'two:7233' });

    expect(temporal).toMatchObject({ address: 'two:7233', namespace: 'of-the-profile' });
  });

  it.each([
    ['a file that is no profile', '[profile.default]\napi_key = "very secret\n', {}],
    ['a profile that is not there', '[profile.default]\naddress = "one:7233"\n', { TEMPORAL_PROFILE: 'other' }],
    ['an unknown setting', '[profile.default]\nadress = "one:7233"\n', {}],
  ])('refuses %s, without quoting it', async (_, text, env) => {
    const file = await profileFile(text);
    const { message } = failureOf({ TEMPORAL_CONFIG_FILE: file, ...env });

    expect(message).toContain(file);
    expect(message).not.toContain('very secret');
  });
});

describe('readConfig with secrets in files', () => {
  it('reads them without the line end that editors add', async () => {
    const file = await fileWith('sk_test_from_file\n');
    const config = readConfig({ INVOICING_BASE_URL: REAL.INVOICING_BASE_URL, INVOICING_API_KEY_FILE: file });

    expect(config.service).toMatchObject({ apiKey: 'sk_test_from_file' });
    expect(config.secrets).toContain('sk_test_from_file');
  });

  it.each([
    [
      'both forms',
      (file: string) => ({ WEBHOOK_SECRET: 'other', WEBHOOK_SECRET_FILE: file }),
      /SECRET and WEBHOOK_SECRET_FILE/,
    ],
    [
      'a missing file',
      (file: string) => ({ WEBHOOK_SECRET_FILE: `${file}-none` }),
      /WEBHOOK_SECRET_FILE must name a readable file; .*none could not be read \(ENOENT\)/,
    ],
    ['an empty file', (file: string) => ({ WEBHOOK_SECRET_FILE: file }), /is empty/],
  ])('refuses %s, naming the variable', async (_, envOf, says) => {
    expect(failureOf(envOf(await fileWith('\n'))).message).toMatch(says);
  });

  it('reads a command as a path or as a JSON array, and refuses another one with an example', () => {
    const read = (text: string) => readConfig({ LOTE_ON_REPORT: text }).onReport;

    for (const path of ['/usr/local/bin/mail report', 'mailer; rm -rf /']) expect(read(path)).toEqual([path]);
    expect(read('["mail", "--to", "a b"]')).toEqual(['mail', '--to', 'a b']);
    for (const text of ['[]', '["mail", 1]', '[mail]', '[""]']) expect(() => read(text)).toThrow('JSON array such as');
  });
});

const ON = { CONSOLE_TRUSTED_PROXIES: '10.0.0.5', CONSOLE_URL: 'https://lote.example' };

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

  it('refuse what is no address or too wide as trusted proxies, and headers with another meaning', () => {
    const proxies = 'proxy.local 10.0.0.5, 10.0.0.0/33 fd00::/129 10.0.0.0/8/8 10.0.0 10.0.0.1/ 0.0.0.0/0 2000::/3';
    for (const one of proxies.split(' '))
      expect(failureOf({ ...ON, CONSOLE_TRUSTED_PROXIES: one }).message, one).toContain('PROXIES must be IP');
    for (const one of ['X Forwarded', 'Cookie', 'Host', 'x-forwarded-for', 'X-Lote-Token', 'Origin'])
      expect(failureOf({ ...ON, CONSOLE_USER_HEADER: one }).message, one).toContain('CONSOLE_USER_HEADER must be');
  });

  it.each([
    ['operators without a proxy that signs them in', { CONSOLE_OPERATORS: 'ana' }, 'CONSOLE_TRUSTED_PROXIES must be'],
    ['groups without such a proxy', { CONSOLE_OPERATOR_GROUPS: 'billing' }, 'CONSOLE_TRUSTED_PROXIES must be set'],
    ['a proxy without an address for people', { CONSOLE_TRUSTED_PROXIES: '10.0.0.5' }, 'CONSOLE_URL must be set'],
    ['one header for both', { ...ON, CONSOLE_GROUPS_HEADER: 'x-forwarded-user' }, 'must be two headers'],
  ])('refuse %s', (_, env, says) => {
    expect(failureOf(env).message).toContain(says);
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
    expect(mailOf({ LOTE_SMTP_URL: 'smtp://[::1]:2525' })).toMatchObject({ host: '::1', port: 2525, tls: 'none' });
  });

  it('keep the password out of the log, and hold it', () => {
    const config = readConfig({ ...MAIL, LOTE_SMTP_USER: 'ana', LOTE_SMTP_PASSWORD: ' pass word ' });

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
