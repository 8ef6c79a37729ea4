import { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ensureSearchAttributes } from '../../../../src/app/temporal/search-attributes.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { ownName } from '../../../support/files/batch-file.ts';

const TEXT = 1;
const KEYWORD = 2;
const INT = 3;
const WEEK = { seconds: 7 * 24 * 3_600 } as const;

describe('the search attributes', () => {
  const { connection } = temporalClient();
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  const succeeds = (asked: Promise<unknown>): Promise<boolean> => asked.then(Boolean, () => false);

  /** A namespace that has none of them: the server was set up by somebody else. */
  async function freshNamespace(): Promise<Client> {
    const namespace = ownName('ns');
    const asked = { namespace, workflowExecutionRetentionPeriod: WEEK as never };
    await connection().workflowService.registerNamespace(asked);
    const client = new Client({ connection: connection(), namespace });
    // The server's own list of namespaces lags behind.
    await expect.poll(() => succeeds(client.workflow.count())).toBe(true);
    return client;
  }

  it('are registered where they are missing, and left alone where they are there', async () => {
    const client = await freshNamespace();
    await expect(client.workflow.count('LoteState = "running"')).rejects.toThrow();

    expect(await ensureSearchAttributes(client, log)).toBe(true);
    expect(await ensureSearchAttributes(client, log)).toBe(true);

    // The namespace learns of its new attributes a moment later; a batch that is faster repeats its step until then.
    await expect.poll(() => succeeds(client.workflow.count('LoteState = "running"'))).toBe(true);
    expect((await client.workflow.count('LoteState = "running" OR LoteProblems > 0')).count).toBe(0);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['of another type', { LoteProblems: KEYWORD }],
    ['of another type that answers the same questions', { LoteBatch: TEXT, LoteState: KEYWORD, LoteProblems: INT }],
  ])('%s on the server are done without, and said once', async (_, searchAttributes) => {
    const client = await freshNamespace();
    const { namespace } = client.options;
    await connection().operatorService.addSearchAttributes({ namespace, searchAttributes });
    // The namespace learns of its new attributes a moment later.
    await expect.poll(() => client.workflow.count('LoteProblems IS NULL').catch(() => null)).not.toBeNull();

    expect(await ensureSearchAttributes(client, log)).toBe(false);

    expect(warnings.splice(0)).toEqual([expect.stringContaining('batches run without them')]);
  });

  it('are done without where the server refuses', async () => {
    const client = new Client({ connection: connection(), namespace: 'no-such-namespace' });

    expect(await ensureSearchAttributes(client, log)).toBe(false);

    expect(warnings.splice(0)).toEqual(['search attributes cannot be registered; batches run without them']);
  });
});
