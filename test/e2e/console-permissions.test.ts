import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { runLote } from '../support/lote/lote-command.ts';
import { pageHeaders } from '../support/browser/page-headers.ts';
import { batchOf, startLoteUp } from '../support/lote/running-lote.ts';
import { shared } from '../support/lifetime.ts';

describe('the console of a running Lote', () => {
  const running = shared(() => startLoteUp());
  let page: Record<string, string>;
  let secret: string;

  beforeAll(async () => {
    page = await pageHeaders(running.console, (path) => fetch(running.console + path));
    secret = join(running.place.directory, 'private.csv');
    await writeFile(secret, 'root:secret-line\n', { mode: 0o600 });
  });

  async function postRun(headers: Record<string, string>, file: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${running.console}/api/run`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ files: [file] }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  it('takes no file from outside the input directory without the token, and tells nothing of it', async () => {
    await mkdir(running.place.inputDir, { recursive: true });
    await symlink(secret, join(running.place.inputDir, 'link.csv'));
    const within = join(running.place.inputDir, 'link.csv');

    for (const [headers, file] of [
      [{ origin: running.console }, secret],
      [page, secret],
      [page, within],
      [page, join(running.place.inputDir, '..', 'private.csv')],
    ] as const) {
      const { status, text } = await postRun(headers, file);

      expect(status, file).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain('secret-line');
    }
    expect(await readdir(join(running.place.inputDir, 'incoming')).catch(() => [])).toEqual([]);
    const check = await fetch(`${running.console}/check?${new URLSearchParams({ file: 'link.csv' }).toString()}`);
    expect(check.status).toBe(400);
    expect(await check.text()).not.toContain('secret-line');
  });

  it('starts a file of the input directory from a page, and `lote run` hands over one from anywhere', async () => {
    const [inside, outside] = [
      join(running.place.inputDir, 'inside.csv'),
      join(running.place.directory, 'elsewhere.csv'),
    ];
    await writeInvoiceFile(inside, { invoices: 2, series: 'I' });
    await writeInvoiceFile(outside, { invoices: 2, series: 'O' });

    expect((await postRun(page, inside)).status).toBe(202);
    const handedOver = await runLote(['run', outside, '--json'], running.place.env);

    expect(handedOver.code, handedOver.stderr).toBe(0);
    expect((await stat(batchOf(handedOver).reports.json)).mode & 0o777).toBe(0o640);
    expect((await stat(running.place.reportsDir)).mode & 0o007).toBe(0);
    expect((await stat(running.place.dataDir)).mode & 0o777).toBe(0o700);
  });
});
