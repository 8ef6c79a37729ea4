import { LoteError } from '../../domain/errors.ts';
import type { SharedFolderLedger } from '../../domain/ports/ledger/shared-folder-ledger.ts';
import type { Database } from '../database/database.ts';

/** application, role. */
const FIND_MARK = `/* find-folder-mark */
SELECT mark FROM shared_folder WHERE application = $1 AND role = $2`;

/** application, role, mark. The first one stays. */
const WRITE_MARK = `/* write-folder-mark */
INSERT INTO shared_folder (application, role, mark) VALUES ($1, $2, $3) ON CONFLICT (application, role) DO NOTHING`;

/** The folders that all processes of an application share. */
export function createSharedFolders(database: Database): SharedFolderLedger {
  const folderMark: SharedFolderLedger['folderMark'] = async (application, role) => {
    const [row] = await database.query<{ mark: string }>(FIND_MARK, [application, role]);
    return row?.mark ?? null;
  };
  return {
    folderMark,
    async settleFolderMark(application, role, mark) {
      await database.query(WRITE_MARK, [application, role, mark]);
      const settled = await folderMark(application, role);
      if (settled === null) throw new LoteError('internal', 'Marking a common folder: its row was not written.');
      return settled;
    },
  };
}
