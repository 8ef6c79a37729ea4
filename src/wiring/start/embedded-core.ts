import type { Ledger } from '../../domain/ports/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { DataDir } from '../../runtime/data-dir/data-dir.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Capture } from '../recordings/capture.ts';
import { openCapture } from '../recordings/open-capture.ts';
import { openLedger } from '../account/open-ledger.ts';
import { markedLedger, openSendingGuard, type SendingGuard } from '../account/sending-guard.ts';
import { readProfile } from '../account/open-service.ts';
import { createCrashPoints, type CrashPoints } from './crash-points.ts';
import { killSelf, stopSelf } from './crash-self.ts';
import { openProcessTelemetry } from './process-telemetry.ts';
import type { StartedParts } from './stop-in-reverse.ts';

/** A data directory that this process owns, and how it tells what it does. */
export interface OwnedPlace {
  readonly config: Config;
  readonly dataDir: DataDir;
  /** What is started is added here; the owner stops it. */
  readonly parts: StartedParts;
  /** A line for the person who waits. */
  readonly notify: (line: string) => void;
  readonly log: Logger;
}

/** What every part of a data directory's owner works on. */
export interface EmbeddedCore extends OwnedPlace {
  readonly profile: ServiceProfile;
  readonly ledger: Ledger;
  /** null: the built-in sandbox needs none. */
  readonly sending: SendingGuard | null;
  readonly crash: CrashPoints;
  /** null: nothing is recorded. */
  readonly capture: Capture | null;
  readonly telemetry: Telemetry;
}

/** Reads the profile and opens the ledger. */
export async function openCore(place: OwnedPlace, killTemporal: () => void): Promise<EmbeddedCore> {
  const { config, dataDir, parts, notify } = place;
  const profile = readProfile(config);
  const telemetry = await openProcessTelemetry({ config, role: 'embedded', parts, log: place.log });
  notify('Opening the ledger …');
  const crash = createCrashPoints({ crashAt: config.crashAt, killTemporal, killSelf, stopSelf });
  const { databaseUrl } = config;
  const opened = await openLedger({ databaseUrl, directory: dataDir.ledger, measure: telemetry.onStatement });
  const sending = openSendingGuard(config, { ledger: opened, profile, log: place.log });
  const ledger = telemetry.ledger(crash.ledger(markedLedger(opened, sending)));
  parts.add('ledger', () => ledger.close());
  const capture = await openCapture({ config, profile, parts, log: place.log });
  return { ...place, profile, ledger, sending, crash, capture, telemetry };
}
