import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compileAll, compiledPath } from './compiled.ts';

export interface Child<First> {
  readonly pid: number;
  /** What it said first. */
  readonly first: First;
  /** Lets it end, and waits until it has. */
  end(): Promise<void>;
}

export interface ChildOptions {
  /** A file, relative to `bench/processes`; one in TypeScript runs compiled. */
  readonly file: string;
  readonly input: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly profileDir?: string | null;
  readonly nodeOptions?: readonly string[];
  /** The Node to run it; left out: that of this process. */
  readonly node?: string;
  /** Is given the process id at once. */
  readonly onStart?: (pid: number) => void;
}

/** After its input ended; a Temporal server that still runs child workflows takes some seconds to leave. */
const END_MS = 60_000;

/**
 * Starts a process of the bench with one JSON document as its argument and waits for the first line that it prints, another one. It lives until
 * the end of its standard input: a bench that is killed leaves nothing behind.
 */
export async function startChild<First>({
  file,
  input,
  env = {},
  profileDir,
  nodeOptions = [],
  node = process.execPath,
  onStart,
}: ChildOptions): Promise<Child<First>> {
  const path = await runnable(file);
  const profiling = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [];
  const child = spawn(node, [...nodeOptions, ...profiling, path, JSON.stringify(input)], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    ended.then((code) => Promise.reject(new Error(`${file} ended with exit code ${code} before it said anything`))),
  ]);
  return {
    pid: child.pid ?? -1,
    first: JSON.parse(first) as First,
    async end() {
      child.stdin.end();
      const patience = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await ended;
      clearTimeout(patience);
    },
  };
}

async function runnable(file: string): Promise<string> {
  if (!file.endsWith('.ts')) return fileURLToPath(new URL(`./processes/${file}`, import.meta.url));
  await compileAll();
  return compiledPath(file);
}

/** Runs a process of the bench to its end and returns what it said. */
export async function runChild<First>(options: ChildOptions): Promise<First> {
  const child = await startChild<First>(options);
  await child.end();
  return child.first;
}
