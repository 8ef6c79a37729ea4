import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { confirmLedgerCommand } from '../../../../src/cli/commands/confirm-ledger.ts';

it('confirms nothing on a shared ledger whose service it does not know, and never says that nothing is to be confirmed', async () => {
  const directory = await temporaryDirectory();
  const env = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/lote', LOTE_DATA_DIR: join(directory, 'data') };

  await expect(confirmLedgerCommand(env)).rejects.toMatchObject({
    code: 'configuration-invalid',
    message: expect.stringContaining('INVOICING_API_KEY') as string,
  });
});
