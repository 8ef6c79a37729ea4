import { describe, expect, it } from 'vitest';
import type { RawRow } from '../../../../src/domain/row.ts';
import { collect, createScenario } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function rowsContract(ledger: Ledger): void {
  describe('rowStore', () => {
    const scenario = createScenario(ledger);
    const newStore = async () => ledger.rowStore(await scenario.begin());

    it('gives the rows back by identity, in file order of each identity and inside it', async () => {
      const store = await newStore();
      await store.append([rawRow(2, 'B', '1'), rawRow(3, 'A', '1'), rawRow(5, 'B', '1')]);
      await store.append([rawRow(7, 'A', '2'), rawRow(8, 'A', '1')]);

      expect((await collect(store.groups())).map((group) => group.map(({ row }) => row))).toEqual([
        [2, 5],
        [3, 8],
        [7],
      ]);
    });

    it.each([
      ['whose references look alike', ['FT 2|1', 'FT 3|1', 'FT\u00a02|1']],
      ['whose tax numbers differ in the zeros in front alone', ['FT 2|0123', 'FT 3|123', 'FT 2|123']],
    ])('gives rows together %s', async (_, texts) => {
      const store = await newStore();
      const rows = texts.map((text, index) => rawRow(index + 2, text.split('|')[0] ?? '', text.split('|')[1] ?? ''));
      await store.append(rows);

      expect(await collect(store.groups())).toEqual([[rows[0], rows[2]], [rows[1]]]);
    });

    it('keeps every cell as it was read', async () => {
      const store = await newStore();
      const hostile = ['"', '\\', '{a,b}', 'NULL', "'; DROP TABLE invoice; --", '\u0000', '\ud800', '  x\r\n'];
      const cells = [...hostile, '', null, '€ 1.234,56', '__proto__'];
      const row: RawRow = { row: 1, ref: 'r"\\{},\u0000', nif: '5', object: 4, cells };
      await store.append([row]);

      expect(await collect(store.groups())).toEqual([[row]]);
    });

    it('does not confuse identities whose parts run together', async () => {
      const store = await newStore();
      await store.append([rawRow(1, '23', '1'), rawRow(2, '3', '12'), rawRow(3, '1', '23')]);

      expect(await collect(store.groups())).toHaveLength(3);
    });

    it('streams groups across its portions, whole', async () => {
      const store = await newStore();
      // 3,500 rows in 500 identities, each identity spread over the whole file: every portion border falls into a group.
      const rows = Array.from({ length: 3_500 }, (_, index) => rawRow(index + 1, `ref-${index % 500}`, '1'));
      await store.append(rows);

      const ofRef = (at: number) => rows.filter((_, index) => index % 500 === at);
      expect(await collect(store.groups())).toEqual(Array.from({ length: 500 }, (_, at) => ofRef(at)));
    });

    it('holds a single identity larger than a portion', async () => {
      const store = await newStore();
      await store.append(Array.from({ length: 2_300 }, (_, index) => rawRow(index + 1, 'one', '1')));

      expect((await collect(store.groups())).map((group) => group.length)).toEqual([2_300]);
    });

    it('can be read again, and after more rows', async () => {
      const store = await newStore();
      await store.append([rawRow(2, 'B', '1')]);
      await collect(store.groups());
      await store.append([rawRow(1, 'A', '1')]);

      expect((await collect(store.groups())).map((group) => group[0]?.ref)).toEqual(['A', 'B']);
    });

    it('is empty without rows, takes none gladly, and keeps those of two batches apart', async () => {
      const [one, two] = [await newStore(), await newStore()];
      await one.append([]);
      await two.append([rawRow(1, 'B', '1')]);

      expect(await collect(one.groups())).toEqual([]);
    });

    it('refuses a row number twice: a row must never replace another', async () => {
      const store = await newStore();
      await store.append([rawRow(1, 'A', '1')]);

      await expect(store.append([rawRow(1, 'B', '1')])).rejects.toMatchObject({ code: 'ledger-race' });
    });

    it('is dropped at the end of staging, and by a restart of it', async () => {
      const ended = await scenario.begin();
      await ledger.rowStore(ended).append([rawRow(1, 'A', '1')]);
      await ended.finishStaging(0);
      const restarted = await scenario.begin();
      await ledger.rowStore(restarted).append([rawRow(1, 'A', '1')]);
      await ledger.restartStaging(restarted);

      expect(await collect(ledger.rowStore(ended).groups())).toEqual([]);
      expect(await collect(ledger.rowStore(restarted).groups())).toEqual([]);
    });
  });
}

function rawRow(row: number, ref: string, nif: string): RawRow {
  return { row, ref, nif, object: null, cells: [ref, nif, null] };
}
