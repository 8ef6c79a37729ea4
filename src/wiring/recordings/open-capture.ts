import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { StartedParts } from '../start/stop-in-reverse.ts';
import { openCaptureFolder } from './capture-folder.ts';
import { createCapture, type Capture } from './capture.ts';
import { createMasker } from './mask/masker.ts';

/** What a capture needs of its process. */
interface CapturePlace {
  readonly config: Config;
  readonly profile: ServiceProfile;
  readonly parts: StartedParts;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/**
 * The capture of this process; null without LOTE_CAPTURE, and where its folder cannot be used, which the log says: no recording is worth a batch.
 * @throws LoteError `configuration-invalid` for a folder in which files are served
 */
export async function openCapture({ config, profile, parts, log }: CapturePlace): Promise<Capture | null> {
  if (config.captureDir === null) return null;
  try {
    const served = [config.reportsDir, config.inputDir, join(config.dataDir, 'files')];
    const folder = await openCaptureFolder(config.captureDir, served);
    const masker = createMasker({ profile, key: pseudonymKey(config, folder), secrets: config.secrets });
    const capture = createCapture({ folder, masker, scheme: profile.signature, log });
    parts.add('capture', () => capture.close());
    return capture;
  } catch (error) {
    if (error instanceof LoteError) throw error;
    log.warn('Nothing is recorded: the folder of LOTE_CAPTURE cannot be used', {
      why: error instanceof Error ? error.message : 'unknown',
    });
    return null;
  }
}

/**
 * All processes of an account give the same pseudonyms in one folder. The key stands nowhere: whoever has the folder alone cannot try out all tax numbers.
 */
function pseudonymKey({ service }: Config, folder: string): Uint8Array {
  const secret = service.kind === 'remote' ? service.apiKey : randomBytes(32);
  return createHmac('sha256', secret).update(`lote pseudonyms ${folder}`).digest();
}
