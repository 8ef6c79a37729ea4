/** Shown by the console and `--version`; the same as in package.json, which a test compares. */
export const VERSION = '0.2.0';
