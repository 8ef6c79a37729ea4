import { spawn } from 'node:child_process';

export interface ShellEnd {
  readonly code: number | null;
  readonly output: string;
}

/** A command line as somebody types it in a terminal: what it starts is in one process group, and Ctrl-C goes to all of it. */
export interface TypedCommand {
  readonly end: Promise<ShellEnd>;
  /** What it has printed so far. */
  output(): string;
  ctrlC(): void;
  /** Whatever is left of it. */
  kill(): void;
}

export function typed(line: string, directory: string, env: Readonly<Record<string, string>>): TypedCommand {
  const child = spawn('sh', ['-c', line], {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const end = new Promise<ShellEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
  const toAll = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended already.
    }
  };
  return { end, output: () => output, ctrlC: () => toAll('SIGINT'), kill: () => toAll('SIGKILL') };
}
