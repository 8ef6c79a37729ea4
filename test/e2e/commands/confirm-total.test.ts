import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { runLote } from '../../support/lote/lote-command.ts';
import { startLoteUp, type RunningLote } from '../../support/lote/running-lote.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { until } from '../../support/until.ts';

interface Listed {
  readonly batches: readonly {
    readonly batchId: string;
    readonly file: string;
    readonly counts: Record<string, number>;
  }[];
}

interface Status {
  readonly batches: readonly { readonly counts: Record<string, number> }[];
}

describe('`lote confirm-total`', { timeout: 240_000 }, () => {
  let lote: RunningLote;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const shared = sharedTemporal();
    lote = await startLoteUp(shared);
    env = { ...shared, ...lote.place.env };
  }, 120_000);

  afterAll(() => lote.stop());

  async function file(name: string, invoices: number, series: string): Promise<string> {
    const path = join(lote.place.inputDir, name);
    await writeInvoiceFile(path, { invoices, series });
    return path;
  }

  it('refuses a wrong number, and sends the held batch with the right one', async () => {
    const week = await Promise.all([1, 2, 3, 4, 5].map((day) => file(`may_${day}.csv`, 2, `W${day}`)));
    expect((await runLote(['run', ...week], env)).code).toBe(0);
    const held = runLote(['run', await file('may_6.csv', 22, 'H'), '--json'], env);
    // Of the owner: to ask by command starts one each time.
    const heldBatch = async () =>
      ((await (await fetch(`${lote.console}/api/batches`)).json()) as Listed).batches.find(
        (batch) => batch.file === 'may_6.csv' && batch.counts['held'] === 22,
      );
    await until(async () => (await heldBatch()) !== undefined);
    const { batchId: id } = (await heldBatch()) ?? { batchId: '' };

    const status = (await runLote(['status', id], env)).stdout;
    expect(status).toContain(`Batch ${id}: held`);
    expect(status).toContain('22 invoices, usually 2');
    expect(status).toContain(`lote confirm-total ${id} --invoices 22`);

    const wrong = await runLote(['confirm-total', id, '--invoices', '21', '--reason', 'guess'], env);
    expect(wrong).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('that of the file, 22; found 21') as string,
    });
    const unasked = await runLote(['confirm-total', id, '--reason', 'nobody sits there'], env);
    expect(unasked).toMatchObject({ code: 64, stderr: expect.stringContaining('--invoices N') as string });
    expect((await heldBatch())?.counts).toMatchObject({ held: 22 });

    const right = await runLote(['confirm-total', id, '--invoices', '22', '--reason', 'looked at', '--json'], env);
    expect(right.code).toBe(0);
    expect((JSON.parse(right.stdout) as Status).batches[0]?.counts).toMatchObject({ issued: 22 });
    expect((await held).code).toBe(0);
  });
});
