import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const REAL = { INVOICING_BASE_URL: 'https://invoicing.example', INVOICING_API_KEY: 'sk_test_abcdef' };

function failureOf(env: Record<string, string>): LoteError {
  try {
    readConfig(env, '/work');
  } catch (error) {
    if (error instanceof LoteError) return error;
    throw error;
  }
  throw new Error('The configuration was accepted.');
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
      temporal: { address: null, namespace: 'default', profile: {}, apiKeyFile: null, uiUrl: null },
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
        WEBHOOK_URL: 'https://hooks.example/webhooks',
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
      webhook: {
        secrets: ['newest', 'oldest'],
        url: 'https://hooks.example/webhooks',
      },
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

  it('takes an empty variable as one that is absent, as compose files pass it', () => {
    const config = readConfig({ INVOICING_BASE_URL: '', INVOICING_API_KEY: ' ', LOTE_SETTLE_TIMEOUT: '' });

    expect(config.service).toEqual({ kind: 'sandbox' });
    expect(config.settleTimeoutMs).toBe(15 * 60_000);
  });

  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['2 days', 172_800_000],
  ])('reads the duration %s', (text, milliseconds) => {
    expect(readConfig({ LOTE_SEND_TIMEOUT: text }).sendTimeoutMs).toBe(milliseconds);
  });

  it.each([
    ['LOTE_SETTLE_TIMEOUT', '15', 'must be a duration with a unit'],
    ['LOTE_SETTLE_TIMEOUT', '-5m', 'must be a duration with a unit'],
    ['LOTE_SETTLE_TIMEOUT', '0s', 'must be a duration with a unit'],
    ['LOTE_SETTLE_TIMEOUT', 'soon', 'must be a duration with a unit'],
    ['LOTE_SETTLE_TIMEOUT', '90d', 'of 24 days at most'],
    ['LOTE_LANGUAGE', 'fr', 'must be en, pt or es'],
    ['LOTE_SMTP_URL', 'https://mail.example', 'must be smtp://host or smtps://host'],
    ['LOTE_MAIL_FROM', 'no address', 'must be an e-mail address'],
    ['LOTE_MAIL_TO', 'ana,', 'must be e-mail addresses with commas between'],
    ['LOTE_TOTAL_FACTOR', '1', 'must be a number from 1.5 to 1000, or off'],
    ['LOTE_TOTAL_FACTOR', 'none', 'must be a number from 1.5 to 1000, or off'],
    ['LOTE_FAILURE_BUDGET', '50', 'must be a percentage from 0% to 100%'],
    ['LOTE_FAILURE_BUDGET', '101%', 'must be a percentage from 0% to 100%'],
    ['LOTE_PAGE_SIZE', '0', 'must be a whole number from 1 to 20000'],
    ['LOTE_PAGE_SIZE', '2e3', 'must be a whole number from 1 to 20000'],
    ['RECEIVER_PORT', '65536', 'must be a port number from 0 to 65535'],
    ['RECEIVER_PORT', 'http', 'must be a port number from 0 to 65535'],
    ['WEBHOOK_URL', 'http://hooks.example/webhooks', 'must be an https address'],
    ['INVOICING_BASE_URL', 'invoicing.example', 'must be an http or https address'],
    ['TEMPORAL_ADDRESS', 'http://temporal:7233', 'must be of the form host:port'],
    ['LOTE_APPLICATION', 'Grupo Ñ', 'must be 1 to 40 of'],
    ['LOTE_LOG_LEVEL', 'loud', 'must be one of debug, info, warn, error, silent'],
  ])('refuses %s=%s, naming variable, rule and what was found', (name, value, rule) => {
    const failure = failureOf({ [name]: value });

    expect(failure.code).toBe('configuration-invalid');
    expect(failure.message).toContain(`${name} `);
    expect(failure.message).toContain(rule);
    expect(failure.message).toContain(JSON.stringify(value));
  });

  it('allows plain http for webhooks within this machine', () => {
    expect(readConfig({ WEBHOOK_URL: 'http://127.0.0.1:8090/webhooks' }).webhook.url).toBe(
      'http://127.0.0.1:8090/webhooks',
    );
  });

  it('refuses a setting that it does not know, and names the nearest one', () => {
    const { code, message } = failureOf({ LOTE_SETTLE_TIME: '9m', LOTE_DROP_MARKER: 'done' });

    expect(code).toBe('configuration-invalid');
    expect(message).toContain('LOTE_SETTLE_TIME is no setting of Lote; the nearest one is LOTE_SETTLE_TIMEOUT');
    expect(message).toContain('LOTE_DROP_MARKER is no setting of Lote');
    // What a program of LOTE_ON_REPORT inherits, and what Compose reads.
    expect(
      readConfig({ LOTE_REPORT_ID: 'b', LOTE_USER_ID: '1000', LOTE_SMTP_PASSWORD_FILE: '' }, '/work'),
    ).toBeDefined();
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
    const { message } = failureOf(env);

    expect(message).toContain(name);
    expect(message).toContain('not shown');
    expect(message).not.toContain('hidden');
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
    [
      'a key without an address: invoices would be simulated that were meant to be issued',
      { INVOICING_API_KEY: 'sk_live_1' },
      'INVOICING_BASE_URL must be set',
    ],
    [
      'a client certificate without its key',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: 'a.pem' },
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
    ],
    [
      'one folder for input and reports',
      { LOTE_INPUT_DIR: 'files', LOTE_REPORTS_DIR: './files' },
      'must be two folders',
    ],
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

  it('takes the password from PGPASSWORD, with any character', () => {
    const env = { DATABASE_URL: 'postgresql://lote@db:5433/lote?application_name=a', PGPASSWORD: PASSWORD };

    expect(addressOf(env)).toEqual({ host: 'db', port: 5433, user: 'lote', password: PASSWORD, database: 'lote' });
    expect(readConfig(env).secrets).toContain(PASSWORD);
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

  it('hides a password that stands in the query, where the driver reads it, too', () => {
    const env = { DATABASE_URL: 'postgresql://lote@db/lote?password=pa%2Fss%2B1' };

    expect(addressOf(env)).toMatchObject({ password: 'pa/ss+1' });
    expect(readConfig(env).secrets).toContain('pa/ss+1');
  });

  it('reads the password from a file, without the line end alone', async () => {
    const file = join(await temporaryDirectory(), 'password');
    await writeFile(file, `${PASSWORD}\n`);

    expect(addressOf({ DATABASE_URL: 'postgresql://lote@db/lote', PGPASSWORD_FILE: file })).toMatchObject({
      password: PASSWORD,
    });
  });

  it.each(['sslmode=require', 'application_name=50%'])(
    'leaves an address that says everything as it is: %s',
    (query) => {
      const address = `postgresql://lote:pa%2Fss@db:5432/lote?${query}`;
      expect(readConfig({ DATABASE_URL: address, PGPASSWORD: 'x' }).databaseUrl).toBe(address);
    },
  );

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
  async function profileFile(text: string): Promise<string> {
    const file = join(await temporaryDirectory(), 'temporal.toml');
    await writeFile(file, text);
    return file;
  }

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

  it('refuses a file that is no profile without quoting it', async () => {
    const file = await profileFile('[profile.default]\napi_key = "very secret\n');
    const { message } = failureOf({ TEMPORAL_CONFIG_FILE: file });

    expect(message).toContain(file);
    expect(message).not.toContain('very secret');
  });

  it.each([
    ['a profile that is not there', '[profile.default]\naddress = "one:7233"\n', { TEMPORAL_PROFILE: 'other' }],
    ['a setting that nobody knows', '[profile.default]\nadress = "one:7233"\n', {}],
  ])('refuses %s', async (_, text, env) => {
    const file = await profileFile(text);
    expect(failureOf({ TEMPORAL_CONFIG_FILE: file, ...env }).message).toContain(file);
  });
});

describe('readConfig with secrets in files', () => {
  it('reads them without the line end that editors add', async () => {
    const file = join(await temporaryDirectory(), 'key');
    await writeFile(file, 'sk_test_from_file\n');

    const config = readConfig({ INVOICING_BASE_URL: REAL.INVOICING_BASE_URL, INVOICING_API_KEY_FILE: file });

    expect(config.service).toMatchObject({ apiKey: 'sk_test_from_file' });
    expect(config.secrets).toContain('sk_test_from_file');
  });

  it('refuses both forms at once', async () => {
    const file = join(await temporaryDirectory(), 'key');
    await writeFile(file, 'one');

    expect(failureOf({ WEBHOOK_SECRET: 'other', WEBHOOK_SECRET_FILE: file }).message).toContain(
      'WEBHOOK_SECRET and WEBHOOK_SECRET_FILE',
    );
  });

  it('names the variable and the path when the file is missing or empty', async () => {
    const directory = await temporaryDirectory();
    const empty = join(directory, 'empty');
    await writeFile(empty, '\n');

    expect(failureOf({ WEBHOOK_SECRET_FILE: join(directory, 'none') }).message).toMatch(
      /WEBHOOK_SECRET_FILE must name a readable file; .*none could not be read \(ENOENT\)/,
    );
    expect(failureOf({ WEBHOOK_SECRET_FILE: empty }).message).toContain('is empty');
  });

  it.each([
    ['/usr/local/bin/mail report', ['/usr/local/bin/mail report']],
    ['["mail", "--to", "a b"]', ['mail', '--to', 'a b']],
    ['mailer; rm -rf /', ['mailer; rm -rf /']],
  ])('reads the command %s as %j', (text, command) => {
    expect(readConfig({ LOTE_ON_REPORT: text }).onReport).toEqual(command);
  });

  it.each(['[]', '["mail", 1]', '[mail]', '[""]'])('refuses the command %s with an example', (text) => {
    expect(() => readConfig({ LOTE_ON_REPORT: text })).toThrow('JSON array such as');
  });
});
