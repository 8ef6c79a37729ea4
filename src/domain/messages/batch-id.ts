/** Of the hash of a file, at the end of the id of its batch. */
const HASH_DIGITS = 8;

/** Id of the batch of a file, and of its workflow: `batch-<slug of the file's name>-<first 8 of its hash>`, application first unless it is the default one. */
export function batchIdOf(application: string, file: string, sha256: string): string {
  const stem = baseName(file).replace(/\.[^.]*$/, '');
  const slug =
    stem
      .normalize('NFKD')
      // An accent of its own is no separator: "março" is one word, on every system's way to write it.
      .replaceAll(/\p{M}+/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 40) || 'file';
  const prefix = application === 'default' ? '' : `${application}-`;
  return `${prefix}batch-${slug}-${sha256.slice(0, HASH_DIGITS)}`;
}

/** The name of a file without its folders, whichever system wrote them. */
export function baseName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}

const BUILD_MARK = /@\d+\.\d+\.\d+[^@]*\+[0-9a-f]{12}$/u;

/** Task queue on which the runs of one build work: `lote@0.2.0+9f86d081884c`. */
export function buildQueue(taskQueue: string, build: string): string {
  return `${entryQueue(taskQueue)}@${build}`;
}

/** Task queue of the installation, on which its runs are started. */
export function entryQueue(taskQueue: string): string {
  return taskQueue.replace(BUILD_MARK, '');
}

/** Workflow id of a page: known to each sender of a signal without asking Temporal. */
export function pageWorkflowId(batchId: string, page: number): string {
  return `${batchId}-p${String(page).padStart(4, '0')}`;
}
