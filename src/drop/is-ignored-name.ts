/** Beside a data file, in marker mode: the data file is complete. */
export const MARKER_SUFFIX = '.done';

/** How programs name what they are still writing, or keep for themselves. */
const UNFINISHED = /\.(part|partial|filepart|tmp|temp|crdownload|download|swp|lock)$/iu;

/** The invoices of the shipped sample are nobody's: no night may ever send them to a real service. */
const SHIPPED_SAMPLE = 'sample.csv';

/** Names in the drop folder that are not (yet) a dropped file. */
export function isIgnoredName(name: string): boolean {
  if (name.startsWith('.') || name.startsWith('~') || name.endsWith('~')) return true;
  return UNFINISHED.test(name) || name.toLowerCase().endsWith(MARKER_SUFFIX) || name === SHIPPED_SAMPLE;
}
