import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { RawRow } from '../../../../src/domain/row.ts';
import type { OpenLedger, Scenario } from '../scenario.ts';
import { collect, createScenario, finishStaging } from '../scenario.ts';

export function rowsContract(open: OpenLedger): void {
  describe('rowStore', () => {
    let ledger: Ledger;
    let scenario: Scenario;
    beforeAll(async () => {
      ledger = await open();
      scenario = createScenario(ledger);
    });

    it('gives the rows back by identity, in file order of each identity and inside it', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      await store.append([rawRow(2, 'B', '1'), rawRow(3, 'A', '1'), rawRow(5, 'B', '1')]);
      await store.append([rawRow(7, 'A', '2'), rawRow(8, 'A', '1')]);

      const groups = await collect(store.groups());

      expect(groups.map((group) => group.map((row) => row.row))).toEqual([[2, 5], [3, 8], [7]]);
    });

    it('gives rows together whose references look alike', async () => {
      const store = ledger.rowStore(await scenario.begin());
      await store.append([rawRow(2, 'FT 2', '1'), rawRow(3, 'FT 3', '1'), rawRow(4, 'FT\u00a02', '1')]);

      const groups = await collect(store.groups());

      expect(groups.map((group) => group.map(({ row, ref }) => [row, ref]))).toEqual([
        [
          [2, 'FT 2'],
          [4, 'FT\u00a02'],
        ],
        [[3, 'FT 3']],
      ]);
    });

    it('gives rows together whose tax numbers differ in the zeros in front alone', async () => {
      const store = ledger.rowStore(await scenario.begin());
      await store.append([rawRow(2, 'FT 2', '0123'), rawRow(3, 'FT 3', '123'), rawRow(4, 'FT 2', '123')]);

      const groups = await collect(store.groups());

      expect(groups.map((group) => group.map(({ row, nif }) => [row, nif]))).toEqual([
        [
          [2, '0123'],
          [4, '123'],
        ],
        [[3, '123']],
      ]);
    });

    it('keeps every cell as it was read', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      const hostile = [
        '',
        null,
        '"',
        '\\',
        '{a,b}',
        'NULL',
        "'; DROP TABLE invoice; --",
        '\u0000',
        '\ud800',
        '  x\r\n',
        '€ 1.234,56',
        '__proto__',
      ];
      const row: RawRow = { row: 1, ref: 'r"\\{},\u0000', nif: '5', object: 4, cells: hostile };
      await store.append([row]);

      expect(await collect(store.groups())).toEqual([[row]]);
    });

    it('does not confuse identities whose parts run together', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      await store.append([rawRow(1, '23', '1'), rawRow(2, '3', '12'), rawRow(3, '1', '23')]);

      expect(await collect(store.groups())).toHaveLength(3);
    });

    it('streams groups across its portions, whole', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      // 3,500 rows in 500 identities, each identity spread over the whole file: every portion border falls into a group.
      const rows = Array.from({ length: 3_500 }, (_, index) => rawRow(index + 1, `ref-${index % 500}`, '1'));
      await store.append(rows);

      const groups = await collect(store.groups());

      expect(groups).toHaveLength(500);
      expect(
        groups.every((group, index) => group.length === 7 && group.every((row) => row.ref === `ref-${index}`)),
      ).toBe(true);
      expect(
        groups.every((group) => group.every((row, place) => place === 0 || row.row > (group[place - 1]?.row ?? 0))),
      ).toBe(true);
    });

    it('holds a single identity larger than a portion', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      await store.append(Array.from({ length: 2_300 }, (_, index) => rawRow(index + 1, 'one', '1')));

      expect((await collect(store.groups())).map((group) => group.length)).toEqual([2_300]);
    });

    it('can be read again, and after more rows', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      await store.append([rawRow(2, 'B', '1')]);
      await collect(store.groups());
      await store.append([rawRow(1, 'A', '1')]);

      expect((await collect(store.groups())).map((group) => group[0]?.ref)).toEqual(['A', 'B']);
    });

    it('is empty without rows, and takes none gladly', async () => {
      const batch = await scenario.begin();
      await ledger.rowStore(batch).append([]);

      expect(await collect(ledger.rowStore(batch).groups())).toEqual([]);
    });

    it('keeps the rows of two batches apart', async () => {
      const [one, two] = [await scenario.begin(), await scenario.begin()];
      await ledger.rowStore(one).append([rawRow(1, 'A', '1')]);
      await ledger.rowStore(two).append([rawRow(1, 'B', '1')]);

      expect((await collect(ledger.rowStore(one).groups())).flat().map((row) => row.ref)).toEqual(['A']);
    });

    it('refuses a row number twice: a row must never replace another', async () => {
      const batch = await scenario.begin();
      const store = ledger.rowStore(batch);
      await store.append([rawRow(1, 'A', '1')]);

      await expect(store.append([rawRow(1, 'B', '1')])).rejects.toMatchObject({ code: 'ledger-race' });
    });

    it('is dropped at the end of staging, and by a restart of it', async () => {
      const ended = await scenario.begin();
      await ledger.rowStore(ended).append([rawRow(1, 'A', '1')]);
      await finishStaging(ledger, ended, { invoices: 0, pageSize: 2 });
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
