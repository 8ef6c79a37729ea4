import type { Logger } from '../runtime/logger.ts';
import type { SandboxLog } from '../sandbox/sandbox-log.ts';

/** The sandbox stands alone and writes pino's way, fields first. */
export function sandboxLog(log: Logger): SandboxLog {
  return {
    info: (fields, message) => log.info(message, { ...fields }),
    warn: (fields, message) => log.warn(message, { ...fields }),
    error: (fields, message) => log.error(message, { ...fields }),
  };
}
