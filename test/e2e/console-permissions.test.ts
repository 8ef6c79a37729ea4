import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { runLote } from '../support/lote/lote-command.ts';
import { batchOf, startLoteUp } from '../support/lote/running-lote.ts';
import { shared } from '../support/lifetime.ts';

describe('the console of a running Lote', () => {
  const running = shared(() => startLoteUp());
  let secret: string;

  beforeAll(async () => {
    secret = join(running.place.directory, 'private.csv');
    await writeFile(secret, 'root:secret-line\n', { mode: 0o600 });
  });

  it('takes no file from outside the input directory without the token, and tells nothing of it', async () => {
    await mkdir(running.place.inputDir, { recursive: true });
    await symlink(secret, join(running.place.inputDir, 'link.csv'));
    const headers = { origin: running.console, 'content-type': 'application/json' };

    const run = await fetch(`${running.console}/api/run`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ files: [secret] }) },
    });
    expect(run.status).toBe(403);
    for (const file of ['link.csv', secret, join(running.place.inputDir, '..', 'private.csv')]) {
      const check = await fetch(`${running.console}/check?${new URLSearchParams({ file }).toString()}`);
      const body = new URLSearchParams({ file });
      const start = await fetch(`${running.console}/start`, {
        method: 'POST',
        headers: { origin: running.console },
        body,
      });
      expect([check.status, start.status], file).toEqual([400, 400]);
      for (const answer of [run, check, start]) expect(await answer.clone().text()).not.toContain('secret-line');
    }
    expect(await readdir(join(running.place.inputDir, 'incoming')).catch(() => [])).toEqual([]);
  });

  it('lets `lote run` hand over a file from anywhere', async () => {
    const outside = join(running.place.directory, 'elsewhere.csv');
    await writeInvoiceFile(outside, { invoices: 2, series: 'O' });

    const handedOver = await runLote(['run', outside, '--json'], running.place.env);

    expect(handedOver.code, handedOver.stderr).toBe(0);
    expect((await stat(batchOf(handedOver).reports.json)).mode & 0o777).toBe(0o640);
    expect((await stat(running.place.reportsDir)).mode & 0o007).toBe(0);
    expect((await stat(running.place.dataDir)).mode & 0o777).toBe(0o700);
  });
});
