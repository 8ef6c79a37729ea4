import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { consoleCommand, receiverCommand, requireShared, workerCommand } from '../../../../src/cli/commands/roles.ts';
import { readConfig } from '../../../../src/app/config/config.ts';

const SHARED = {
  DATABASE_URL: 'postgresql://lote:secret-word@127.0.0.1:1/lote',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  INVOICING_BASE_URL: 'http://127.0.0.1:1',
  INVOICING_API_KEY: 'sk_test_abc',
};

function without(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(SHARED).filter(([name]) => !names.includes(name)));
}

const MISSING = [
  ['worker', 'the database', without('DATABASE_URL')],
  ['worker', 'Temporal', without('TEMPORAL_ADDRESS')],
  ['worker', 'the service', without('INVOICING_BASE_URL', 'INVOICING_API_KEY')],
  ['receiver', 'everything', {}],
] as const;

describe('a part that runs apart from the others', () => {
  it('is configured with all that it shares with them', () => {
    const config = readConfig(SHARED);

    expect(requireShared(config, 'worker')).toBe(config);
  });

  it.each(MISSING)('is not started as a %s without %s: it would keep a truth of its own', async (part, _, env) => {
    const command = part === 'worker' ? workerCommand : receiverCommand;
    const error = await command({ ...env }).catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      code: 'configuration-invalid',
      message: `Starting ${part} as a process of its own: DATABASE_URL, TEMPORAL_ADDRESS, INVOICING_BASE_URL and INVOICING_API_KEY must all be set. For everything in one process use \`lote up\`.`,
    });
    expect(exitCodeOf(error)).toBe(64);
    expect(JSON.stringify(error)).not.toContain('secret-word');
  });

  it('is not started as a console without the database: the owner of an embedded ledger has its own', async () => {
    const message =
      'Starting the console as a process of its own: DATABASE_URL must be set. The console of an embedded ledger is part of the process that owns it: `lote up`.';
    const started = consoleCommand(without('DATABASE_URL'));
    await expect(started).rejects.toMatchObject({ code: 'configuration-invalid', message });
  });
});
