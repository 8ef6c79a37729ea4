/** Number of digits of the file's hash at the end of a batch id. */
const HASH_DIGITS = 8;

/** Returns the id of a batch and its workflow: `batch-<slug of the file's name>-<first 8 of its hash>`, with any application but the default in front. */
export function batchIdOf(application: string, file: string, sha256: string): string {
  const stem = baseName(file).replace(/\.[^.]*$/, '');
  const slug =
    stem
      .normalize('NFKD')
      // A combining accent is not a separator: "março" is one word, however the system encodes it.
      .replaceAll(/\p{M}+/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 40) || 'file';
  const prefix = application === 'default' ? '' : `${application}-`;
  return `${prefix}batch-${slug}-${sha256.slice(0, HASH_DIGITS)}`;
}

/** Returns the name of a file without its folders, with the separators of any system. */
export function baseName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}

const BUILD_MARK = /@\d+\.\d+\.\d+[^@]*\+[0-9a-f]{12}$/u;

/** Returns the task queue for the runs of one build: `lote@0.2.0+9f86d081884c`. */
export function buildQueue(taskQueue: string, build: string): string {
  return `${entryQueue(taskQueue)}@${build}`;
}

/** Returns the task queue of the installation, on which its runs are started. */
export function entryQueue(taskQueue: string): string {
  return taskQueue.replace(BUILD_MARK, '');
}

/** Returns the workflow id of a page, so that a sender of signals need not ask Temporal. */
export function pageWorkflowId(batchId: string, page: number): string {
  return `${batchId}-p${String(page).padStart(4, '0')}`;
}
