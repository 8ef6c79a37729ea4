import { createRequire } from 'node:module';
import type * as EnvConfigModule from '@temporalio/envconfig';
import { LoteError } from '../../domain/errors.ts';

type EnvConfig = typeof EnvConfigModule;

/** Address, namespace, API key, TLS and headers, as `@temporalio/envconfig` gives them. */
export type TemporalProfile = ReturnType<EnvConfig['loadClientConfigProfile']>;

/** Loaded at its first use, because most starts set no TEMPORAL_… variable. */
const require = createRequire(import.meta.url);

/**
 * Reads the TEMPORAL_… variables, and the profile file that they name, with Temporal's own library. A file is read only when
 * TEMPORAL_PROFILE or TEMPORAL_CONFIG_FILE is set: a developer's default profile must not send a first `npm start` to some other server.
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
      // The parser's own message quotes the line, which may hold the key.
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

function invalid(message: string): LoteError {
  return new LoteError('configuration-invalid', `Reading the configuration: ${message}`);
}
