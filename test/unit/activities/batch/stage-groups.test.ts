import { describe, expect, it } from 'vitest';
import type { ActivityDeps, ReadFileOk } from '../../../../activities/deps.ts';
import { stageGroups } from '../../../../activities/batch/stage-groups.ts';
import type { RawRow } from '../../../../src/domain/row.ts';
import type { BatchClaim } from '../../../../src/domain/records/batch-record.ts';
import type { StageInvoice } from '../../../../src/ledger/staging/stage-invoices.ts';

type Write = (portion: readonly StageInvoice[]) => Promise<void>;

/** A file of so many invoices of one row, none of them valid, whose portions are written by `write`. */
function stage(invoices: number, write: Write, signal = new AbortController().signal): Promise<number> {
  const parts = {
    application: 'default',
    settings: { retry: { rejectionIsProof: true } },
    files: {
      toInvoices: ([row]: readonly RawRow[]) => [
        { ok: false, ref: row?.ref, nif: row?.nif, rows: [row?.row], currency: null, net: null, findings: [] },
      ],
    },
    ledger: { stageInvoices: (_: BatchClaim, portion: readonly StageInvoice[]) => write(portion) },
    now: () => 0,
  };
  const rows = {
    append: () => Promise.resolve(),
    async *groups() {
      for (let row = 1; row <= invoices; row += 1) yield [{ row, ref: `F/${row}`, nif: '1', object: null, cells: [] }];
    },
  };
  const claim = { batchId: 'batch', fencingToken: 1 };
  const read = { conversion: {} } as ReadFileOk<unknown>;
  return stageGroups(parts as unknown as ActivityDeps, { file: 'rows.csv' }, { claim, read, rows, signal });
}

function turns(count: number): Promise<void> {
  return count === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(() => resolve(turns(count - 1))));
}

describe('staging the rows of a file', () => {
  it('gives each invoice to the ledger once, in the order of the file', async () => {
    const ordinals: number[] = [];

    const staged = await stage(2_500, async (portion) => {
      ordinals.push(...portion.map(({ ordinal }) => ordinal));
      await turns(portion.length % 3);
    });

    expect(staged).toBe(2_500);
    expect(ordinals).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 1));
  });

  it('writes two portions at a time', async () => {
    let writing = 0;
    let most = 0;

    await stage(5_000, async () => {
      writing += 1;
      most = Math.max(most, writing);
      await turns(50);
      writing -= 1;
    });

    expect(most).toBe(2);
  });

  it('ends between two portions when the attempt is over', async () => {
    const attempt = new AbortController();
    let staged = 0;

    const staging = stage(
      6_000,
      async (portion) => {
        staged += portion.length;
        attempt.abort(new Error('the worker stops'));
        await turns(5);
      },
      attempt.signal,
    );

    await expect(staging).rejects.toThrow('the worker stops');
    expect(staged).toBe(1_000);
  });

  it('ends with the failure of a portion, after the other that is written has ended', async () => {
    const ends: string[] = [];

    const staging = stage(6_000, async ([first]) => {
      await turns(first?.ordinal === 1 ? 20 : 100);
      ends.push(`from ${first?.ordinal}`);
      if (first?.ordinal === 1) throw new Error('the disk is full');
    });

    await expect(staging).rejects.toThrow('the disk is full');
    expect(ends).toContain('from 1001');
    expect(ends).not.toContain('from 4001');
  });
});
