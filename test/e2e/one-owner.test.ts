import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../support/lifetime.ts';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { COMMAND, runLote, startLote, type CommandEnd } from '../support/lote/lote-command.ts';
import { NETWORK_NAMESPACE, PID_NAMESPACE, whyNoNamespaces, type Sandboxed } from '../support/namespaces.ts';
import { startLoteUp, sharedTemporal, type RunningLote } from '../support/lote/running-lote.ts';

const whyNot = whyNoNamespaces();
if (whyNot !== null) console.warn(`one owner: tests in namespaces are left out; ${whyNot}`);

function runInside(
  inside: Sandboxed,
  parameters: readonly string[],
  { place }: RunningLote,
  more: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  return startLote(parameters, { ...place.env, ...more }, COMMAND, inside).end;
}

/** Two containers on one volume: what they share is the directory, and at most the network or the processes. */
describe.skipIf(whyNot !== null)('a data directory whose owner runs elsewhere', () => {
  const running = shared(() => startLoteUp(sharedTemporal()));

  it('is not opened from another network namespace: each command refuses with a sentence', async () => {
    const file = await fileOf('shared');
    for (const parameters of [['run', file], ['status'], ['reconcile'], ['purge', '--older-than', '400d']]) {
      const { code, stderr } = await runInside(NETWORK_NAMESPACE, parameters, running);

      expect(code, stderr).toBe(3);
      expect(stderr).toContain(`nothing answers at ${running.console}`);
      expect(stderr).toContain('Nothing was opened');
    }
    // A command that is told no server asks that of the owner.
    const nights = await runInside(NETWORK_NAMESPACE, ['nightly', 'show'], running, { TEMPORAL_ADDRESS: '' });
    expect(nights.code, nights.stderr).toBe(3);
    expect(nights.stderr).toContain('Connecting to Temporal');
    const up = await runInside(NETWORK_NAMESPACE, ['up'], running);
    expect(up.code, up.stderr).toBe(3);
    expect(up.stderr).toContain('nother process owns');
    expect(await readdir(running.place.reportsDir).catch(() => [])).toEqual([]);
    expect((await runLote(['run', file, '--json'], running.place.env)).code).toBe(0);
  });

  it('is found from another process namespace, where its pid means nothing: the work is handed over', async () => {
    const file = await fileOf('handed');
    const { code, stdout, stderr } = await runInside(PID_NAMESPACE, ['run', file, '--json'], running);

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ batches: [{ counts: { issued: 4 } }] });
  });

  async function fileOf(series: string): Promise<string> {
    const file = join(running.place.inputDir, `${series}.csv`);
    await writeInvoiceFile(file, { invoices: 4, series });
    return file;
  }
});
