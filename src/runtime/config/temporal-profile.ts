import { createRequire } from 'node:module';
import type * as EnvConfigModule from '@temporalio/envconfig';
import { LoteError } from '../../domain/errors.ts';

type EnvConfig = typeof EnvConfigModule;
type Profile = ReturnType<EnvConfig['loadClientConfigProfile']>;
type Source = NonNullable<NonNullable<Profile['tls']>['clientCert']>;

/** Loads a package at its first use: most starts name no profile, and this one brings a part of Temporal's client. */
const require = createRequire(import.meta.url);

/**
 * The settings of a Temporal profile file (TOML, as Temporal's own command line writes it) by the names of the environment. Read only when
 * TEMPORAL_PROFILE or TEMPORAL_CONFIG_FILE is set: a developer's default profile must not send a first `npm start` to some other server.
 * @throws LoteError `configuration-invalid` when the file or the profile cannot be read, or says what Lote does not know.
 */
export function readTemporalProfile(given: Readonly<Record<string, string>>): Record<string, string> {
  const { TEMPORAL_PROFILE: profile, TEMPORAL_CONFIG_FILE: path } = given;
  if (profile === undefined && path === undefined) return {};
  const where = `profile ${profile ?? 'default'} of ${path ?? 'the default file of Temporal'}`;
  return byName(load({ profile, path }, where), where);
}

function load({ profile, path }: { profile: string | undefined; path: string | undefined }, where: string): Profile {
  const { loadClientConfigProfile } = require('@temporalio/envconfig') as EnvConfig;
  try {
    return loadClientConfigProfile({
      ...(profile === undefined ? {} : { profile }),
      ...(path === undefined ? {} : { configSource: { path } }),
      ...{ disableEnv: true, configFileStrict: true },
    });
  } catch {
    // The parser's own message quotes the line, which may hold the key.
    throw invalid(
      `the ${where} must be a readable TOML profile, and it is not. Check TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE.`,
    );
  }
}

function byName({ address, namespace, apiKey, tls, grpcMeta }: Profile, where: string): Record<string, string> {
  if (grpcMeta !== undefined && Object.keys(grpcMeta).length > 0)
    throw invalid(`the ${where} must not set grpc_meta, which Lote does not send. Remove it, or name another profile.`);
  const settings = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_API_KEY: apiKey,
    TEMPORAL_TLS: tls === undefined ? undefined : String(tls.disabled !== true),
    TEMPORAL_TLS_SERVER_NAME: tls?.serverName,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: pathOf(tls?.serverCACert, where),
    TEMPORAL_TLS_CLIENT_CERT_PATH: pathOf(tls?.clientCert, where),
    TEMPORAL_TLS_CLIENT_KEY_PATH: pathOf(tls?.clientKey, where),
  };
  const given = Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

function pathOf(source: Source | undefined, where: string): string | undefined {
  if (source === undefined || 'path' in source) return source?.path;
  throw invalid(`the ${where} must name certificates and keys by path; found one written into the profile.`);
}

function invalid(message: string): LoteError {
  return new LoteError('configuration-invalid', `Reading the configuration: ${message}`);
}
