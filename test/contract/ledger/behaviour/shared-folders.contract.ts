import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenLedger } from '../scenario.ts';

export function sharedFoldersContract(open: OpenLedger): void {
  describe('the mark of a common folder', () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await open();
    });

    it('is not known before somebody brings one', async () => {
      expect(await ledger.folderMark(randomUUID(), 'input')).toBeNull();
    });

    it('is the one that was brought first, also when several bring one at once', async () => {
      const application = randomUUID();

      const settled = await Promise.all(
        ['a', 'b', 'c'].map((mark) => ledger.settleFolderMark(application, 'reports', mark)),
      );

      expect(new Set(settled).size).toBe(1);
      expect(await ledger.folderMark(application, 'reports')).toBe(settled[0]);
      expect(await ledger.settleFolderMark(application, 'reports', 'd')).toBe(settled[0]);
    });

    it('is one for each application and role', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      await ledger.settleFolderMark(first, 'input', 'a');
      await ledger.settleFolderMark(second, 'input', 'b');
      await ledger.settleFolderMark(first, 'files', 'c');

      expect(await ledger.folderMark(first, 'input')).toBe('a');
      expect(await ledger.folderMark(second, 'input')).toBe('b');
      expect(await ledger.folderMark(first, 'files')).toBe('c');
      expect(await ledger.folderMark(second, 'files')).toBeNull();
    });
  });
}
