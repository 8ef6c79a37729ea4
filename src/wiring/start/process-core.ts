import { createServiceClock, type ServiceClock } from '../../domain/time/service-clock.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { DataDir } from '../../runtime/data-dir/data-dir.ts';
import { requireOpenFiles } from '../../runtime/process/open-files.ts';
import { optimiseLater } from '../../runtime/process/optimise-later.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Capture } from '../recordings/capture.ts';
import { openCapture } from '../recordings/open-capture.ts';
import { seenBy } from '../account/application-ledger.ts';
import { openLedger } from '../account/open-ledger.ts';
import { markedLedger } from '../account/marked-ledger.ts';
import { openSendingGuard, type SendingGuard } from '../account/sending-guard.ts';
import type { ProfiledApplication } from '../account/read-profiles.ts';
import { createCrashPoints, killSelf, stopSelf, type CrashPoints } from './crash-points.ts';
import { openProcessTelemetry, type TelemetryParts } from './process-telemetry.ts';
import type { StartedParts } from './stop-in-reverse.ts';

const CLOCK_BEHIND =
  "the service's clock is ahead of this machine's: if this one is wrong, set it (NTP); until then keys that were used before this start count as that much older";

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

/** What the applications of a data directory's owner have in common. */
export interface SharedCore extends OwnedPlace {
  /** As it is stored: without what one application sees of it. */
  readonly opened: Ledger;
  readonly crash: CrashPoints;
  readonly telemetry: Telemetry;
}

/** What every part of a data directory's owner works on, for one application. */
export interface ApplicationCore extends OwnedPlace {
  readonly profile: ServiceProfile;
  readonly ledger: Ledger;
  /** null: the built-in sandbox needs none. */
  readonly sending: SendingGuard | null;
  readonly crash: CrashPoints;
  /** Of this process and the service of the application. */
  readonly clock: ServiceClock;
  /** null: nothing is recorded. */
  readonly capture: Capture | null;
  readonly telemetry: Telemetry;
}

/**
 * Opens the ledger.
 * @throws LoteError `configuration-invalid` when the system lets this process open too few files
 */
export async function openSharedCore(
  place: OwnedPlace,
  killTemporal: () => void,
  role: TelemetryParts['role'] = 'embedded',
): Promise<SharedCore> {
  const { config, dataDir, parts, notify, log } = place;
  requireOpenFiles();
  optimiseLater();
  const telemetry = await openProcessTelemetry({ config, role, parts, log });
  notify('Opening the ledger …');
  const crash = createCrashPoints({ crashAt: config.crashAt, killTemporal, killSelf, stopSelf });
  const { databaseUrl } = config;
  const opened = await openLedger({ databaseUrl, directory: dataDir.ledger, measure: telemetry.onStatement });
  parts.addToTheEnd('ledger', () => opened.close());
  return { ...place, opened, crash, telemetry };
}

/** The core of one application: its profile, and the ledger as it uses it. */
export async function openApplicationCore(
  shared: SharedCore,
  { config, profile }: ProfiledApplication,
): Promise<ApplicationCore> {
  const { crash, parts, log } = shared;
  const { application, isOneOfSeveral } = config;
  const telemetry = isOneOfSeveral ? shared.telemetry.ofApplication(application) : shared.telemetry;
  const seen = seenBy(config, shared.opened);
  const clock = createServiceClock({
    onBehind: (aheadMs) => log.warn(CLOCK_BEHIND, { application, aheadSeconds: Math.round(aheadMs / 1_000) }),
  });
  const sending = openSendingGuard(config, { ledger: crash.ledger(seen), profile, log, clock });
  const ledger = telemetry.ledger(crash.ledger(markedLedger(seen, sending)));
  const capture = await openCapture({ config, profile, parts, log });
  return { ...shared, config, profile, ledger, sending, clock, capture, telemetry };
}
