import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchOf, lotePlace, type LotePlace } from '../../support/lote/running-lote.ts';
import { until } from '../../support/until.ts';

interface Listed {
  readonly batches: readonly {
    readonly batchId: string;
    readonly file: string;
    readonly counts: Record<string, number>;
  }[];
}

describe('`lote confirm-total`', () => {
  let place: LotePlace;

  beforeAll(async () => {
    place = await lotePlace({ up: true });
  });

  afterAll(() => place.remove());

  it('refuses a wrong number, and sends the held batch with the right one', async () => {
    const week = await Promise.all(
      [1, 2, 3, 4, 5].map((day) => place.file(`may_${day}.csv`, { invoices: 2, series: `W${day}` })),
    );
    expect((await place.run('run', ...week)).code).toBe(0);
    const held = place.run('run', await place.file('may_6.csv', { invoices: 22, series: 'H' }), '--json');
    // Of the owner: to ask by command starts one each time.
    const heldBatch = async () =>
      ((await (await fetch(`${place.console}/api/batches`)).json()) as Listed).batches.find(
        (batch) => batch.file === 'may_6.csv' && batch.counts['held'] === 22,
      );
    await until(async () => (await heldBatch()) !== undefined);
    const { batchId: id } = (await heldBatch()) ?? { batchId: '' };

    const status = (await place.run('status', id)).stdout;
    expect(status).toContain(`Batch ${id}: held`);
    expect(status).toContain('22 invoices, usually 2');
    expect(status).toContain(`lote confirm-total ${id} --invoices 22`);

    const wrong = await place.run('confirm-total', id, '--invoices', '21', '--reason', 'guess');
    expect(wrong).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('that of the file, 22; found 21') as string,
    });
    const unasked = await place.run('confirm-total', id, '--reason', 'nobody sits there');
    expect(unasked).toMatchObject({ code: 64, stderr: expect.stringContaining('--invoices') as string });
    expect((await heldBatch())?.counts).toMatchObject({ held: 22 });

    const right = await place.run('confirm-total', id, '--invoices', '22', '--reason', 'looked at', '--json');
    expect(right.code).toBe(0);
    expect(batchOf(right).counts).toMatchObject({ issued: 22 });
    expect((await held).code).toBe(0);
  });
});
