import { spawn } from 'node:child_process';
import type { AnnouncedReport } from '../../../activities/deps.ts';
import { childEnvironment } from '../process/child-environment.ts';

/** A mailer that hangs must not keep a batch from ending. */
const TIMEOUT_MS = 60_000;

interface ReportHookOptions {
  /** Program and its first arguments; null runs no program. */
  readonly command: readonly string[] | null;
  readonly env: NodeJS.ProcessEnv;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly timeoutMs?: number;
}

/**
 * Runs `LOTE_ON_REPORT` with the path of a report as its last argument, and the rest as LOTE_REPORT_* variables,
 * without a shell: a file name is never read as a command. The program gets PATH, HOME and the like, and no secrets of
 * Lote. After a crash Lote may run it twice for one report. Lote only logs a failure.
 */
export function createReportHook({ command, env, log, timeoutMs = TIMEOUT_MS }: ReportHookOptions) {
  const [program, ...first] = command ?? [];
  return async ({ kind, html, json, id, state }: AnnouncedReport): Promise<void> => {
    if (program === undefined) return;
    const report = { LOTE_REPORT_KIND: kind, LOTE_REPORT_HTML: html, LOTE_REPORT_JSON: json };
    const environment = { ...childEnvironment(env), ...report, LOTE_REPORT_ID: id, LOTE_REPORT_STATE: state };
    const failure = await run(program, [...first, html], { env: environment, timeoutMs });
    if (failure !== null) log.warn('LOTE_ON_REPORT failed', { report: id, failure });
  };
}

/** Returns null on success, else the reason of the failure. */
function run(
  program: string,
  parameters: readonly string[],
  { env, timeoutMs: timeout }: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      env,
      stdio: 'ignore',
      windowsHide: true,
      timeout,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const how =
        signal === null
          ? `it ended with exit code ${code}`
          : `it was ended by ${signal} (time limit ${timeout / 1000} s)`;
      resolve(code === 0 ? null : how);
    });
  });
}
