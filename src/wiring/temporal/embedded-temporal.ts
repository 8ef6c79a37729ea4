import type { Client } from '@temporalio/client';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { superviseTemporal } from '../../runtime/temporal/supervise-temporal.ts';
import { acquireTemporalBinary } from '../../runtime/temporal/temporal-binary.ts';
import type { TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { startTemporalServer } from '../../runtime/temporal/temporal-server.ts';
import { connectClient, placeOf } from './connect-client.ts';

/** A connection to Temporal. `ui` is null when the address of the UI is not known. */
export interface ConnectedTemporal {
  readonly place: TemporalPlace;
  readonly ui: string | null;
  readonly client: Client;
  /** Rejects when a server of our own cannot be kept up; never resolves. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
  /** For an end that waits for nothing. */
  kill(): void;
}

export interface TemporalWish {
  readonly config: Config;
  readonly log: Logger;
  readonly notify: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  /** Real path of the data directory. */
  readonly dataDir: string;
}

/** The server that was given, or one of our own with its file in the data directory, watched and started again when it dies. */
export function openTemporal(wish: TemporalWish): Promise<ConnectedTemporal> {
  const { address } = wish.config.temporal;
  return address === null ? ownServer(wish) : givenServer(wish, address);
}

async function givenServer({ config }: TemporalWish, address: string): Promise<ConnectedTemporal> {
  const place = await placeOf(address, config.temporal);
  const client = await connectClient(place, config.temporal.namespace);
  return {
    place,
    ui: config.temporal.uiUrl,
    client,
    lost: new Promise(() => undefined),
    stop: () => client.connection.close(),
    kill: () => undefined,
  };
}

async function ownServer({ config, log, notify, env, dataDir }: TemporalWish): Promise<ConnectedTemporal> {
  const { namespace } = config.temporal;
  const binary = await acquireTemporalBinary(notify, env);
  const server = await startTemporalServer({ binary, dataDir, namespace });
  const place = { address: server.address };
  const client = await connectClient(place, namespace).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const supervised = superviseTemporal({ server, log, now: Date.now });
  return {
    place,
    ui: server.ui,
    client,
    lost: supervised.lost,
    async stop() {
      await supervised.release();
      await client.connection.close();
      await server.stop();
    },
    kill: () => server.kill(),
  };
}
