import { LoteError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/invoice.ts';
import type { ActivityDeps } from '../deps.ts';
import type { ChangedFile, WaitingFile } from '../../src/domain/records/dropped-file.ts';

/** Temporal takes no result of more than 2 MB. */
const MOST_NAMED = 200;

function fileChanged(name: string): Finding {
  const message = `The archived file ${name} was written to after it was read: what is new in it was not read, and is in no report. Drop it again: nothing is sent twice.`;
  return { row: null, column: null, code: 'archived-file-changed', message, severity: 'error' };
}

/**
 * Notes each archived file that was written to after it was read as a finding of its batch, whose report becomes
 * outdated by that. Returns these files as what a night names.
 */
export async function noteChangedFiles(deps: ActivityDeps): Promise<readonly WaitingFile[]> {
  const changed = await findChangedFiles(deps);
  for (const { name, batchId } of changed)
    if (batchId !== null) await deps.ledger.noteFinding(batchId, fileChanged(name));
  const named = changed.slice(0, MOST_NAMED);
  return named.map(({ name }, at) => {
    const more = at === MOST_NAMED - 1 ? changed.length - MOST_NAMED : 0;
    return { name, reason: 'changed', ...(more === 0 ? {} : { more }) };
  });
}

async function findChangedFiles(deps: ActivityDeps): Promise<readonly ChangedFile[]> {
  const { application, drops, files, ledger, log, now } = deps;
  try {
    return await drops.changed(now(), async (path) => {
      const sha256 = await files.hash(path).catch(() => null);
      return sha256 === null || (await ledger.batchOfFile(application, sha256)) !== null;
    });
  } catch (error) {
    const isAway = error instanceof LoteError && ['folder-unusable', 'input-unusable'].includes(error.code);
    if (!isAway) throw error;
    // It keeps no reconciliation from its other work; the next one looks again.
    log.warn('the archived files cannot be compared with what was read', { err: error });
    return [];
  }
}
