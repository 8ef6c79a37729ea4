import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PRODUCT } from './limits.ts';
import type { Counts } from './ratchet.ts';

/** What this file uses of the linter's JSON. */
interface Diagnostic {
  readonly filename: string;
  readonly message: string;
}

const CONFIG = '.ci/house/function-length.json';
/** A message for each function is some hundred bytes. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

/** Functions above the limit, as `file name`, with their lines. */
export function longFunctions(root: string): Counts {
  const linter = join(root, 'node_modules/oxlint/bin/oxlint');
  const { stdout, stderr } = spawnSync(process.execPath, [linter, '-c', CONFIG, '--format', 'json', ...PRODUCT], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: OUTPUT_LIMIT_BYTES,
  });
  return lengthsOf(stdout, stderr);
}

/** Of two functions of one name in one file, the longer one counts. */
export function lengthsOf(json: string, trouble: string): Counts {
  const { diagnostics } = readJson(json, trouble);
  const lengths: Record<string, number> = {};
  for (const { filename, message } of diagnostics) {
    const lines = Number(/too many lines \((\d+)\)/u.exec(message)?.[1] ?? Number.NaN);
    if (Number.isNaN(lines)) throw new Error(`Measuring functions: the linter said something else: ${message}`);
    const name = `${filename} ${/`([^`]+)`/u.exec(message)?.[1] ?? 'without a name'}`;
    lengths[name] = Math.max(lengths[name] ?? 0, lines);
  }
  return lengths;
}

function readJson(json: string, trouble: string): { readonly diagnostics: readonly Diagnostic[] } {
  try {
    return JSON.parse(json) as { readonly diagnostics: readonly Diagnostic[] };
  } catch {
    throw new Error(`Measuring functions: the linter must answer in JSON, found ${json.slice(0, 200)} ${trouble}`);
  }
}
