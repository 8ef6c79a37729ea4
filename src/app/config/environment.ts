import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as EnvConfigModule from '@temporalio/envconfig';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';

/** Variables with secrets: `<NAME>_FILE` names a file with the value, and no error shows a value. */
export const SECRET_VARIABLES = [
  'INVOICING_API_KEY',
  'WEBHOOK_SECRET',
  'DATABASE_URL',
  'PGPASSWORD',
  'TEMPORAL_API_KEY',
  'CONSOLE_TOKEN',
  'LOTE_SMTP_PASSWORD',
] as const;

/** Not trimmed, because passwords may begin or end with any character. From a file, only line ends are removed. */
const VERBATIM: ReadonlySet<string> = new Set(['PGPASSWORD', 'LOTE_SMTP_PASSWORD']);

/** Environment variables by name, before they are parsed. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment without empty values (a compose file passes `${NAME:-}`), with secrets read from `_FILE` names.
 * @throws LoteError `configuration-invalid` when both forms are set, or the file cannot be read or is empty.
 */
export function resolveSecretFiles(env: Environment): Record<string, string> {
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.trim() !== '') resolved[name] = VERBATIM.has(name) ? value : value.trim();
  }
  for (const name of SECRET_VARIABLES) {
    const path = resolved[`${name}_FILE`];
    if (path === undefined) continue;
    if (resolved[name] !== undefined) {
      throw invalid(`${name} and ${name}_FILE: only one of them may be set; both were found.`);
    }
    resolved[name] = readSecret(`${name}_FILE`, { path, verbatim: VERBATIM.has(name) });
  }
  return resolved;
}

function readSecret(variable: string, { path, verbatim }: { path: string; verbatim: boolean }): string {
  let text: string;
  try {
    const content = readFileSync(path, 'utf8');
    text = verbatim ? content.replace(/[\r\n]+$/u, '') : content.trim();
  } catch (cause) {
    const code = errorCode(cause) || 'unreadable';
    throw invalid(`${variable} must name a readable file; ${path} could not be read (${code}).`, cause);
  }
  if (text === '') throw invalid(`${variable} must name a file that holds the secret; ${path} is empty.`);
  return text;
}

/** Returns the error for an unusable configuration. */
export function invalid(message: string, cause?: unknown): LoteError {
  return new LoteError('configuration-invalid', `Reading the configuration: ${message}`, { cause });
}

type EnvConfig = typeof EnvConfigModule;

/** Address, namespace, API key, TLS and headers from `@temporalio/envconfig`. */
export type TemporalProfile = ReturnType<EnvConfig['loadClientConfigProfile']>;

/** Loads the library at its first use, because most starts set no TEMPORAL_… variable. */
const require = createRequire(import.meta.url);

/**
 * Reads the TEMPORAL_… variables and their profile file with Temporal's own library. Lote reads a file only if TEMPORAL_PROFILE
 * or TEMPORAL_CONFIG_FILE is set, because a developer's default profile must not send a first `npm start` to another server.
 * @throws LoteError `configuration-invalid`
 */
export function readTemporalProfile(given: Readonly<Record<string, string>>): TemporalProfile {
  if (!Object.keys(given).some((name) => name.startsWith('TEMPORAL_'))) return {};
  const { TEMPORAL_PROFILE: profile, TEMPORAL_CONFIG_FILE: path } = given;
  const { loadClientConfigProfile } = require('@temporalio/envconfig') as EnvConfig;
  const read = (): TemporalProfile => {
    try {
      return loadClientConfigProfile({
        disableFile: profile === undefined && path === undefined,
        configFileStrict: true,
        overrideEnvVars: { ...given },
      });
    } catch {
      // The parser's own message quotes the line, which may contain the key.
      const where = profile === undefined && path === undefined ? '' : ` and ${path ?? 'the default file of Temporal'}`;
      throw invalid(`the TEMPORAL_… variables${where} must form a profile that Temporal's library can read.`);
    }
  };
  const found = read();
  if ((found.tls?.clientCert === undefined) !== (found.tls?.clientKey === undefined))
    throw invalid(
      'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set together; found one of them.',
    );
  return found;
}
