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

const BATCH_ID = new RegExp(`(?:^|-)batch-[a-z0-9-]+-[0-9a-f]{${HASH_DIGITS}}$`, 'u');

/** Whether a name, such as that of a folder, has the form of an id of a batch. */
export function isBatchId(name: string): boolean {
  return BATCH_ID.test(name);
}

/** Whether two batches may be of the same bytes, whatever their files are called: only the whole hashes tell. */
export function mayBeSameBytes(one: string, other: string): boolean {
  return one.slice(-HASH_DIGITS) === other.slice(-HASH_DIGITS);
}

/** The name of a file without its folders, whichever system wrote them. */
export function baseName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}
