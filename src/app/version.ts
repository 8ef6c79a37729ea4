/** Shown by the console and `--version`; a test compares it with package.json. */
export const VERSION = '0.2.0';
