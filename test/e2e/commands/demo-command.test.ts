import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { newPlace, runLote, type Place } from '../../support/lote/lote-command.ts';
import { processes, type Processes } from '../../support/lote/processes.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

describe('lote demo', { timeout: 240_000 }, () => {
  let place: Place;
  let sandbox: Sandbox;
  let real: Readonly<Record<string, string>>;
  let all: Processes;

  beforeEach(async () => {
    all = processes();
    place = await newPlace();
    sandbox = await independentSandbox();
    real = { ...(await sandboxEnv(place, sandbox)), ...sharedTemporal() };
  });

  afterEach(async () => {
    await all.killAll();
    await sandbox.close();
    await place.remove();
  });

  it('issues no sample at a real service that the environment names', async () => {
    const { code, stderr } = await runLote(['demo'], real);

    expect(sandbox.books().totals.invoices).toBe(0);
    expect(stderr).toContain('INVOICING_BASE_URL is set');
    expect(code).toBe(64);
    await expect(stat(place.dataDir), 'a ledger').rejects.toThrow('ENOENT');
  });

  it('leaves no sample in a shared ledger', async () => {
    const shared = { ...place.env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/lote' };

    const { code, stderr } = await runLote(['demo'], shared);

    expect(stderr).toContain('DATABASE_URL is set');
    expect(code).toBe(64);
  });

  it('hands no sample over to an owner that works at a real service', async () => {
    const up = all.start(['up'], real);
    await up.said('Console');

    const { code, stderr } = await runLote(['demo'], place.env);

    expect(sandbox.books().totals.invoices).toBe(0);
    expect(stderr).toContain('it works at a real service');
    expect(code).toBe(64);
  });
});
