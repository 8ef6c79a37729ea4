import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sandboxed } from '../namespaces.ts';

/** The variable with the path of the compiled command, which starts in half the time of the sources. */
export const COMMAND_VARIABLE = 'LOTE_TEST_COMMAND';
/** The script of `lote`. */
export const COMMAND = process.env[COMMAND_VARIABLE] ?? fileURLToPath(new URL('../../../bin/lote.js', import.meta.url));

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly pid: number;
  readonly end: Promise<CommandEnd>;
  /** Resolves when standard output or standard error holds the text; rejects when the command ends without it. */
  said(text: string): Promise<void>;
  /** Returns the output so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL to the whole process group: the command and the processes that it started. */
  killGroup(): void;
}

export type Place = Awaited<ReturnType<typeof newPlace>>;

/** A separate place for one test: data directory, input and reports. */
export async function newPlace() {
  const directory = await mkdtemp(join(tmpdir(), 'lote-e2e-'));
  const inputDir = join(directory, 'input');
  const reportsDir = join(directory, 'reports');
  const dataDir = join(directory, 'data');
  return {
    ...{ directory, inputDir, reportsDir, dataDir },
    env: { LOTE_INPUT_DIR: inputDir, LOTE_REPORTS_DIR: reportsDir, LOTE_DATA_DIR: dataDir } as Readonly<
      Record<string, string>
    >,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/**
 * A process of a test lives for seconds. A larger young generation holds all that a start allocates, so V8 collects it
 * less often. Optimising the functions of a start takes longer than it saves (V8's own budget is 67,584; after Node 20
 * it cannot be set). For the same reason V8 compiles the functions of the embedded database once, without optimising.
 */
const NODE_OPTIONS: readonly string[] = [
  ...['--min-semi-space-size=32', '--max-semi-space-size=64', '--liftoff-only'],
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=2000000'] : []),
];

/** The module that ends or stops the process at the step that CRASH_AT names. */
const CRASH_PRELOAD = new URL('../crash/preload.js', import.meta.url).href;

/** Starts the real binary in its own process group. `script` may be that of another build. */
export function startLote(
  parameters: readonly string[],
  env: Readonly<Record<string, string>>,
  script: string = COMMAND,
  inside?: Sandboxed,
): RunningCommand {
  const preload = env['CRASH_AT'] === undefined ? [] : ['--import', CRASH_PRELOAD];
  const command = [process.execPath, ...NODE_OPTIONS, ...preload, script, ...parameters];
  return startCommand(inside?.wrap(command) ?? command, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
  });
}

export interface CommandPlace {
  /** The whole environment: the process gets no other variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Optional: the default is the account of the test. */
  readonly account?: { readonly uid: number; readonly gid: number };
  readonly directory?: string;
}

/** Starts any program in its own process group. */
export function startCommand([program = '', ...parameters]: readonly string[], place: CommandPlace): RunningCommand {
  const child = spawn(program, parameters, {
    env: place.env,
    ...place.account,
    ...(place.directory !== undefined && { cwd: place.directory }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  const heard = new EventEmitter();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    heard.emit('text');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    heard.emit('text');
  });
  const end = new Promise<CommandEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const pid = child.pid ?? -1;
  return {
    pid,
    end,
    output: () => stdout + stderr,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stdout.includes(text) || stderr.includes(text)) resolve();
        };
        heard.on('text', look);
        look();
        void end.then(({ code }) =>
          reject(new Error(`"${text}" was never said; the command ended with ${code}: ${stderr}`)),
        );
      }),
    signal: (name) => void process.kill(pid, name),
    killGroup() {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // The process group has ended already.
      }
    },
  };
}

export function runLote(parameters: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandEnd> {
  return startLote(parameters, env).end;
}

/** The processes of one test. None of them outlives the test, even if it fails. */
export function processes() {
  const started: RunningCommand[] = [];
  let isOver = false;
  return {
    /** Starts `lote`; `command` is the script of another build than the build of the tests. */
    start(parameters: readonly string[], env: Readonly<Record<string, string>>, command?: string) {
      if (isOver) throw new Error('This test has ended, and starts nothing more');
      const running = startLote(parameters, env, command);
      started.push(running);
      return running;
    },
    async killAll() {
      isOver = true;
      for (const command of started) command.killGroup();
      await Promise.all(started.map(({ end }) => end));
    },
  };
}
