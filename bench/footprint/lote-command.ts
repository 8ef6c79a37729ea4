import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { watchMemory, type MemoryWatch } from '../measures/memory-watch.ts';

const LOTE = fileURLToPath(new URL('../../bin/lote.js', import.meta.url));

/** A command of Lote as a user starts it, in a process of its own. */
export interface LoteCommand {
  readonly pid: number;
  readonly memory: MemoryWatch;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Resolves once its output holds the text; rejects when it ends before. */
  until(text: string): Promise<void>;
  /** Its output, after it ended with 0, or with 1 for invoices that were not issued. @throws with its output otherwise. */
  readonly done: Promise<string>;
  /** SIGTERM; resolves when it has left. */
  stop(): Promise<void>;
}

/** Starts `lote` on this Node with these arguments and nothing in its environment but what is given, PATH and HOME. */
export function startLote(node: string, args: readonly string[], env: Readonly<Record<string, string>>): LoteCommand {
  const startedAt = Date.now();
  const child = spawn(node, [LOTE, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? -1;
  const memory = watchMemory(() => [pid]);
  let output = '';
  let errors = '';
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
    for (const one of waiting) if (output.includes(one.text)) one.resolve();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => void memory.stop().then(() => resolve(code)));
  });
  const failed = (code: number | null): Error =>
    new Error(`lote ${args.join(' ')} ended with exit code ${code}:\n${output}${errors}`);
  const done = ended.then((code) => (code === 0 || code === 1 ? output : Promise.reject(failed(code))));
  // Who waits for a line is told there.
  done.catch(() => undefined);
  return {
    ...{ pid, memory, startedAt, done },
    until: (text) =>
      Promise.race([
        new Promise<void>((resolve) => waiting.push({ text, resolve })),
        ended.then((code) => Promise.reject(failed(code))),
      ]),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
