import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
    const child = spawn(program, [...first, html], {
      env: { ...childEnvironment(env), ...report, LOTE_REPORT_ID: id, LOTE_REPORT_STATE: state },
      stdio: 'ignore',
      windowsHide: true,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const failure = await once(child, 'exit').then(
      ([code, signal]) =>
        signal === null
          ? `it ended with exit code ${code}`
          : `it was ended by ${signal} (time limit ${timeoutMs / 1000} s)`,
      ({ message }: Error) => message,
    );
    if (child.exitCode !== 0) log.warn('LOTE_ON_REPORT failed', { report: id, failure });
  };
}
