import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { consoleCommand, receiverCommand, workerCommand } from '../../../../src/cli/commands/roles.ts';

const SHARED = {
  DATABASE_URL: 'postgresql://lote:secret-word@127.0.0.1:1/lote',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  INVOICING_BASE_URL: 'http://127.0.0.1:1',
  INVOICING_API_KEY: 'sk_test_abc',
};

it.each([
  ['worker', workerCommand, ['DATABASE_URL'], /TEMPORAL_ADDRESS, INVOICING_BASE_URL and INVOICING_API_KEY must all/u],
  ['worker', workerCommand, ['TEMPORAL_ADDRESS'], /must all be set/u],
  ['worker', workerCommand, ['INVOICING_BASE_URL', 'INVOICING_API_KEY'], /must all be set/u],
  ['receiver', receiverCommand, Object.keys(SHARED), /must all be set/u],
  ['console', consoleCommand, ['DATABASE_URL'], /DATABASE_URL must be set/u],
])('a %s is not started as a process of its own without what it shares', async (_, command, missing, message) => {
  const env = Object.fromEntries(Object.entries(SHARED).filter(([name]) => !missing.includes(name)));

  const error = await command(env).catch((reason: unknown) => reason);

  expect(error).toMatchObject({ code: 'configuration-invalid', message: expect.stringMatching(message) as string });
  expect(exitCodeOf(error)).toBe(64);
  expect(JSON.stringify(error)).not.toContain('secret-word');
});
