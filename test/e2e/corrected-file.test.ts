import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../support/files/invoice-file.ts';
import { runLote, type Place } from '../support/lote/lote-command.ts';
import { startLoteUp, type RunningLote } from '../support/lote/running-lote.ts';
import { independentSandbox } from '../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../support/servers/shared-temporal.ts';
import { startServiceFront, type ServiceFront } from '../support/servers/service-front.ts';

interface Batch {
  readonly exitCode: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly reports: { readonly corrections: string | null };
}

/** `lote up` owns the data directory, and each command hands its file over to it. */
describe('a corrected file at a service whose refusals prove nothing', { timeout: 300_000 }, () => {
  let directory: string;
  let lote: RunningLote;
  let place: Place;
  let sandbox: Sandbox;
  let front: ServiceFront;
  let env: Record<string, string>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-corrected-'));
    sandbox = await independentSandbox();
    front = await startServiceFront(sandbox.url);
    const profile = join(directory, 'profile.json');
    await writeFile(profile, JSON.stringify({ idempotency: { mismatchCodes: [] } }));
    const own = {
      ...(await sandboxEnv({ env: {} }, { url: front.url })),
      ...sharedTemporal(),
      SERVICE_PROFILE: profile,
      LOTE_SETTLE_TIMEOUT: '20s',
    };
    lote = await startLoteUp(own);
    place = lote.place;
    env = { ...own, ...place.env };
  }, 120_000);

  afterEach(async () => {
    await lote.stop();
    await front.close();
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function run(file: string, ...options: readonly string[]): Promise<Batch> {
    const { stdout, stderr } = await runLote(['run', file, '--json', ...options], env);
    const [batch] = (JSON.parse(stdout) as { batches: Batch[] }).batches;
    if (batch === undefined) throw new Error(stderr);
    return batch;
  }

  it('replaces what was rejected only with the accepted risk of a duplicate, as a retry does', async () => {
    const [file, corrected] = [join(place.inputDir, 'a.csv'), join(place.inputDir, 'b.csv')];
    await writeInvoiceFile(file, { invoices: 2 });
    front.script = ({ method, path }) =>
      method === 'POST' && path === '/v1/invoices'
        ? { status: 422, json: { error: { code: 'no', message: 'No.' } } }
        : 'pass';
    expect((await run(file)).counts).toMatchObject({ rejected: 2 });
    front.script = () => 'pass';
    await writeInvoiceFile(corrected, { invoices: 2, merchants: ['501964843', '502773154', '511882408'] });
    await changeCustomers(corrected);

    const refused = await run(corrected);
    const sentWithout = sandbox.books().totals.invoices;
    const accepted = await run(refused.reports.corrections ?? '', '--accept-duplicate-risk');

    expect(refused).toMatchObject({ exitCode: 1, counts: { conflict: 2 } });
    expect(sentWithout).toBe(0);
    expect(accepted).toMatchObject({ exitCode: 0, counts: { issued: 2 } });
    expect(sandbox.books().totals.invoices).toBe(2);
  });
});

async function changeCustomers(file: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('Cliente Secreto', 'Cliente Corrigido'));
}
