import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import type { Check } from '../../../../src/wiring/doctor/check.ts';
import { checkCertificate } from '../../../../src/wiring/doctor/check-certificate.ts';
import { selfSigned } from '../../../support/files/self-signed.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const DAY_MS = 86_400_000;

describe('what doctor says of the certificate that Temporal is shown', () => {
  async function checked(pem: string, now: number = Date.now()): Promise<readonly Check[]> {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'client.crt'), pem);
    await writeFile(join(directory, 'client.key'), 'a key');
    const { temporal } = readConfig(
      {
        ...{ TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_TLS_CLIENT_CERT_PATH: 'client.crt' },
        TEMPORAL_TLS_CLIENT_KEY_PATH: 'client.key',
      },
      directory,
    );
    return checkCertificate(temporal, now);
  }

  it('is until when it is valid', async () => {
    expect(await checked(selfSigned('valid').cert)).toMatchObject([{ name: 'temporal certificate', state: 'ok' }]);
  });

  it('is that it ends soon in the last tenth of its thirty days', async () => {
    const { cert } = selfSigned('valid');

    const [early] = await checked(cert, Date.now() + 26 * DAY_MS);
    const [soon] = await checked(cert, Date.now() + 28 * DAY_MS);

    expect(early).toMatchObject({ state: 'ok' });
    expect(soon).toMatchObject({ state: 'unknown', detail: expect.stringContaining('valid only until') as string });
  });

  it('is trouble when it has expired, and what to do', async () => {
    expect(await checked(selfSigned('expired').cert)).toMatchObject([
      {
        state: 'trouble',
        detail: expect.stringContaining('expired at 2020-02-01T00:00:00.000Z') as string,
        cure: expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH') as string,
      },
    ]);
  });

  it('is trouble when the file holds none', async () => {
    expect(await checked('no PEM')).toMatchObject([{ state: 'trouble' }]);
  });

  it('is nothing where none is shown', async () => {
    const { temporal } = readConfig({ TEMPORAL_ADDRESS: 'temporal.example:7233' }, '/nowhere');

    expect(await checkCertificate(temporal, Date.now())).toEqual([]);
  });
});
