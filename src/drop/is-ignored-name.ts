/** Beside a data file, in marker mode: the data file is complete. */
export const MARKER_SUFFIX = '.done';

/** How programs name what they are still writing, or keep for themselves. */
const UNFINISHED = /\.(part|partial|filepart|tmp|temp|crdownload|download|swp|lock)$/iu;

/** What Windows puts into each folder that somebody looks at, again and again. */
const OF_WINDOWS = /^(thumbs\.db|desktop\.ini)$/iu;

/** The invoices of the shipped sample are nobody's: no night may ever send them to a real service. */
const SHIPPED_SAMPLE = 'sample.csv';

/** Names in the drop folder that are not (yet) a dropped file. */
export function isIgnoredName(name: string): boolean {
  if (name.startsWith('.') || name.startsWith('~') || name.endsWith('~')) return true;
  if (UNFINISHED.test(name) || OF_WINDOWS.test(name)) return true;
  return name.toLowerCase().endsWith(MARKER_SUFFIX) || name === SHIPPED_SAMPLE;
}
